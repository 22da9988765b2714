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

static void open_wishart(bb_privacy_loss *loss, const bb_event *event,
                         bb_direction direction, double lose) {
    const bool with = direction == BB_WITH;
    loss->curves = 1;
    loss->curve[0] = (bb_curve){.kind = with ? BB_CURVE_WISHART : BB_CURVE_CENTRAL,
                                .freedom = event->freedom,
                                .ratio = event->ratio,
                                .log_norm = event->freedom / 2.0 * log(2.0) +
                                            lgamma(event->freedom / 2.0),
                                .from = -INFINITY,
                                .to = INFINITY};
    if (with) return;
    loss->infinite = chi_square_cdf(event->freedom, event->ratio);
    loss->curve[0].from = cut_central(event, loss->infinite * (1.0 + 0x1p-24) + lose);
    loss->lost =
        chi_square_cdf(event->freedom, event->ratio + exp(loss->curve[0].from)) -
        loss->infinite;
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
static void open_hidden(bb_privacy_loss *loss, const bb_event *event,
                        bb_adjacency adjacency, bb_direction direction, double lose) {
    const bool zeros = adjacency == BB_ADD_REMOVE, with = direction == BB_WITH;
    const double mu = bb_event_mu(event, adjacency);
    const double back = zeros ? bb_event_back(event) : 0.0;
    loss->loss_atom = (1.0 - event->rate) / 2.0 *
                      (erf(mu / 2.0 * SQRT_HALF) + erf((back + mu / 2.0) * SQRT_HALF));
    loss->curves = 2;
    for (int k = 0; k < 2; k++)
        loss->curve[k] = (bb_curve){.kind = k ? BB_CURVE_PLAIN : BB_CURVE_MIXTURE,
                                    .q = event->rate,
                                    .mu = mu,
                                    .from = mu / 2.0,
                                    .to = INFINITY};
    if (zeros) {
        bb_curve *curve = &loss->curve[with ? 0 : 1];
        curve->kind = with ? BB_CURVE_HIDDEN : BB_CURVE_HIDDEN_PLAIN;
        curve->back = back;
    }
    loss->curve[0].to = fmax(
        mu / 2.0, cut_mixture(event->rate, mu, loss->curve[0].back, lose, &loss->lost));
}

void bb_privacy_loss_cut(bb_privacy_loss *loss, double most) {
    bb_curve *curve = &loss->curve[0];
    /* there a mixture has that loss, and the others more */
    double low = 0.0,
           high = curve->mu + log1p(expm1(most) / curve->q) / curve->mu + 1.0;
    loss->beyond_p = loss->beyond_q = 0.0;
    if (loss->kind != BB_PRIVACY_LOSS_CURVES || loss->curves == 0 ||
        (curve->kind != BB_CURVE_MIXTURE && curve->kind != BB_CURVE_MIRROR &&
         curve->kind != BB_CURVE_HIDDEN))
        return;
    curve->to = INFINITY;
    if (!(bb_curve_point(curve, 0.0, high).loss > most)) return;
    if (curve->from > 0.0) low = curve->from;
    for (int k = 0; k < 60; k++) {
        const double t = (low + high) / 2.0;
        if (bb_curve_point(curve, 0.0, t).loss <= most)
            low = t;
        else
            high = t;
    }
    curve->to = high;
    bb_curve_tails(curve, high, &loss->beyond_p, &loss->beyond_q);
}

static void open_round(bb_privacy_loss *loss, const bb_event *event,
                       bb_adjacency adjacency, bb_direction direction, double lose) {
    loss->rate = 1.0;
    loss->mu = bb_event_mu(event, adjacency);
    if (event->sampling == BB_SAMPLING_FIXED_VISIBLE) loss->rate = event->rate;
    if (event->rate == 0.0) loss->mu = 0.0;
    if (event->rate == 0.0 || event->rate == 1.0 || loss->mu == 0.0) return;
    if (event->sampling == BB_SAMPLING_FIXED_HIDDEN) {
        loss->kind = BB_PRIVACY_LOSS_CURVES;
        open_hidden(loss, event, adjacency, direction, lose);
    } else if (event->sampling == BB_SAMPLING_POISSON) {
        loss->kind = BB_PRIVACY_LOSS_CURVES;
        loss->curves = 1;
        loss->curve[0] =
            (bb_curve){.kind = adjacency == BB_REPLACE_ONE ? BB_CURVE_MIRROR
                               : direction == BB_WITH      ? BB_CURVE_MIXTURE
                                                           : BB_CURVE_PLAIN,
                       .q = event->rate,
                       .mu = event->absent,
                       .from = -INFINITY,
                       .to = INFINITY};
        if (loss->curve[0].kind != BB_CURVE_PLAIN)
            loss->curve[0].to =
                cut_mixture(event->rate, event->absent, 0.0, lose, &loss->lost);
    }
}

void bb_privacy_loss_open(bb_privacy_loss *loss, const bb_event *event,
                          bb_adjacency adjacency, bb_direction direction, double lose) {
    *loss = (bb_privacy_loss){.kind = BB_PRIVACY_LOSS_GAUSSIAN};
    switch (event->kind) {
    case BB_EVENT_ROUND:
        open_round(loss, event, adjacency, direction, lose);
        break;
    case BB_EVENT_SELECTION:
    case BB_EVENT_STEP:
        loss->kind = event->kind == BB_EVENT_STEP ? BB_PRIVACY_LOSS_STEP
                                                  : BB_PRIVACY_LOSS_SELECTION;
        loss->epsilon = event->epsilon;
        loss->infinite = event->delta;
        if (event->epsilon == 0.0) loss->kind = BB_PRIVACY_LOSS_STEP;
        break;
    case BB_EVENT_WISHART:
        loss->kind = BB_PRIVACY_LOSS_CURVES;
        open_wishart(loss, event, direction, lose);
        break;
    }
}
