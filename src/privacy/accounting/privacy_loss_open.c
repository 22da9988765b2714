#include "privacy/accounting/chi_square.h"
#include "privacy/accounting/privacy_loss.h"

#include <math.h>

#define SQRT_HALF 0.70710678118654752440

bool bb_privacy_loss_is_symmetric(const bb_event *event, bb_adjacency adjacency) {
    if (event->kind == BB_EVENT_WISHART) return false;
    return event->kind != BB_EVENT_ROUND || event->rate == 1.0 ||
           adjacency == BB_REPLACE_ONE || event->sampling == BB_SAMPLING_FIXED_VISIBLE;
}

static double chi_square_cdf(double freedom, double x) {
    double below, above;
    bb_chi_square(freedom, x, &below, &above);
    return below;
}

/* Without the task the loss has no upper limit, as chi^2 comes down to the ratio. */
static double cut_central(const bb_event *event, double mass) {
    double low = -700.0, high = log(event->freedom + 1.0);
    for (int k = 0; k < 60; k++) {
        const double t = (low + high) / 2.0;
        if (chi_square_cdf(event->freedom, event->ratio + exp(t)) <= mass)
            low = t;
        else
            high = t;
    }
    return low;
}

static void open_wishart(bb_privacy_loss *law, const bb_event *event,
                         bb_direction direction, double lose) {
    const bool with = direction == BB_WITH;
    law->curves = 1;
    law->curve[0] = (bb_curve){.kind = with ? BB_CURVE_WISHART : BB_CURVE_CENTRAL,
                               .freedom = event->freedom,
                               .ratio = event->ratio,
                               .log_norm = event->freedom / 2.0 * log(2.0) +
                                           lgamma(event->freedom / 2.0),
                               .from = -INFINITY,
                               .to = INFINITY};
    if (with) return;
    law->infinite = chi_square_cdf(event->freedom, event->ratio);
    law->curve[0].from = cut_central(event, law->infinite * (1.0 + 0x1p-24) + lose);
    law->lost = chi_square_cdf(event->freedom, event->ratio + exp(law->curve[0].from)) -
                law->infinite;
}

static double upper_tail(double x) {
    return 0.5 * erfc(x * SQRT_HALF);
}

/* Where the tail of (1-q) N(-back,1) + q N(mu,1) has less than that mass; *tail gets
 * it. */
static double cut_mixture(double q, double mu, double back, double mass, double *tail) {
    double low = 0.0, high = mu + 38.0;
    if (mass < 1e-300) return INFINITY;
    for (int k = 0; k < 60; k++) {
        const double t = (low + high) / 2.0;
        const double left = (1.0 - q) * upper_tail(t + back) + q * upper_tail(t - mu);
        if (left <= mass) {
            high = t;
            *tail = left;
        } else {
            low = t;
        }
    }
    return high;
}

/* Of hidden cohorts the profile on loss > 0 and, seen from the other world, on loss < 0
 * (docs/privacy.md); what is left is at loss 0. Under replace-one both are those of the
 * mixture (Balle, Barthe, Gaboardi 2018). */
static void open_hidden(bb_privacy_loss *law, const bb_event *event,
                        bb_adjacency adjacency, bb_direction direction, double lose) {
    const bool zeros = adjacency == BB_ADD_REMOVE, with = direction == BB_WITH;
    const double mu = bb_event_mu(event, adjacency);
    const double back = zeros ? bb_event_back(event) : 0.0;
    law->loss_atom = (1.0 - event->rate) / 2.0 *
                     (erf(mu / 2.0 * SQRT_HALF) + erf((back + mu / 2.0) * SQRT_HALF));
    law->curves = 2;
    for (int k = 0; k < 2; k++)
        law->curve[k] = (bb_curve){.kind = k ? BB_CURVE_PLAIN : BB_CURVE_MIXTURE,
                                   .q = event->rate,
                                   .mu = mu,
                                   .from = mu / 2.0,
                                   .to = INFINITY};
    if (zeros) {
        bb_curve *curve = &law->curve[with ? 0 : 1];
        curve->kind = with ? BB_CURVE_HIDDEN : BB_CURVE_HIDDEN_PLAIN;
        curve->back = back;
    }
    law->curve[0].to = fmax(
        mu / 2.0, cut_mixture(event->rate, mu, law->curve[0].back, lose, &law->lost));
}

static void open_round(bb_privacy_loss *law, const bb_event *event,
                       bb_adjacency adjacency, bb_direction direction, double lose) {
    law->rate = 1.0;
    law->mu = bb_event_mu(event, adjacency);
    if (event->sampling == BB_SAMPLING_FIXED_VISIBLE) law->rate = event->rate;
    if (event->rate == 0.0) law->mu = 0.0;
    if (event->rate == 0.0 || event->rate == 1.0 || law->mu == 0.0) return;
    if (event->sampling == BB_SAMPLING_FIXED_HIDDEN) {
        law->kind = BB_PRIVACY_LOSS_CURVES;
        open_hidden(law, event, adjacency, direction, lose);
    } else if (event->sampling == BB_SAMPLING_POISSON) {
        law->kind = BB_PRIVACY_LOSS_CURVES;
        law->curves = 1;
        law->curve[0] = (bb_curve){.kind = adjacency == BB_REPLACE_ONE ? BB_CURVE_MIRROR
                                           : direction == BB_WITH ? BB_CURVE_MIXTURE
                                                                  : BB_CURVE_PLAIN,
                                   .q = event->rate,
                                   .mu = event->absent,
                                   .from = -INFINITY,
                                   .to = INFINITY};
        if (law->curve[0].kind != BB_CURVE_PLAIN)
            law->curve[0].to =
                cut_mixture(event->rate, event->absent, 0.0, lose, &law->lost);
    }
}

void bb_privacy_loss_open(bb_privacy_loss *law, const bb_event *event,
                          bb_adjacency adjacency, bb_direction direction, double lose) {
    *law = (bb_privacy_loss){.kind = BB_PRIVACY_LOSS_GAUSSIAN};
    switch (event->kind) {
    case BB_EVENT_ROUND:
        open_round(law, event, adjacency, direction, lose);
        break;
    case BB_EVENT_SELECTION:
    case BB_EVENT_STEP:
        law->kind = event->kind == BB_EVENT_STEP ? BB_PRIVACY_LOSS_STEP
                                                 : BB_PRIVACY_LOSS_SELECTION;
        law->epsilon = event->epsilon;
        law->infinite = event->delta;
        if (event->epsilon == 0.0) law->kind = BB_PRIVACY_LOSS_STEP;
        break;
    case BB_EVENT_WISHART:
        law->kind = BB_PRIVACY_LOSS_CURVES;
        open_wishart(law, event, direction, lose);
        break;
    }
}
