#include "privacy/accounting/pld_cut.h"

#include <math.h>

/* What bounds of what is beyond may be apart, relative to delta. */
#define SPARE         4e-5
#define REVERSE_SPARE 1e-4
/* Covers the rounding of tails. */
#define MARGIN 1e-10
/* Of the search for a cut. */
#define STEP 1.2

bool bb_pld_can_cut(const bb_pld_direction *s) {
    bool some = false;
    for (size_t e = 0; e < s->plan->losses; e++) {
        const bb_curve_kind kind = s->loss[e].curve[0].kind;
        if (s->plan->loss[e].kind == BB_EVENT_WISHART) return false;
        if (s->loss[e].kind != BB_PRIVACY_LOSS_CURVES) continue;
        some = some || (kind != BB_CURVE_PLAIN && kind != BB_CURVE_HIDDEN_PLAIN);
    }
    return some && s->infinite == 0.0;
}

static double sum_of(double x, double y, double share) {
    return x + share * (y - x);
}

/* Both sums of a chain. */
static void add_up(bb_pld_direction *s, bb_bound bound) {
    const bb_pld_chain *chain = &s->plan->chain[bound];
    double p = 0.0, q = 0.0;
    for (size_t f = 0; f < chain->count; f++) {
        const bb_pld_factor *x = &chain->factor[f];
        const bb_privacy_loss *a = &s->loss[x->loss], *b = x->share > 0.0 ? a + 1 : a;
        p += x->times * sum_of(a->beyond_p, b->beyond_p, x->share);
        q += x->times * sum_of(a->beyond_q, b->beyond_q, x->share);
    }
    s->beyond_p[bound] = p;
    s->beyond_q[bound] = q;
}

double bb_pld_cut_losses(bb_pld_direction *s, double loss) {
    for (size_t e = 0; e < s->plan->losses; e++) bb_privacy_loss_cut(&s->loss[e], loss);
    add_up(s, BB_ABOVE);
    add_up(s, BB_BELOW);
    return s->beyond_p[BB_ABOVE];
}

double bb_pld_cut_nearest(bb_pld_direction *s, double delta, double from) {
    const double goal = sqrt(SPARE * delta);
    double loss = from;
    while (loss < 600.0 && bb_pld_cut_losses(s, loss) > goal) loss *= STEP;
    while (loss > 1e-9 && bb_pld_cut_losses(s, loss / STEP) <= goal) loss /= STEP;
    bb_pld_cut_losses(s, loss);
    return loss;
}

/* A bound of the profile that the other direction has at epsilon: by Renyi's below its own
 * cut, what is beyond being lost. */
static bb_status reverse_profile(bb_pld_plan *plan, bb_direction other, double cut,
                                 double epsilon, double *profile) {
    bb_pld_direction s;
    const bb_status status = bb_pld_direction_open(&s, plan, other, 0.0);
    double least = INFINITY;
    if (status) return status;
    const double lost = bb_pld_cut_losses(&s, cut);
    const double first = fmin(50.0, fmax(5.0, -log(lost))) / cut;
    for (int k = -1; k < 1; k++) {
        const double c = first * exp2(k);
        const double log_bound = bb_pld_direction_moment(&s, c) + bb_pld_log_peak(c);
        least = fmin(least, log_bound - c * epsilon);
    }
    *profile = (lost + exp(least)) * (1.0 + 1e-6) + 1e-9;
    bb_pld_direction_close(&s);
    return BB_OK;
}

bb_status bb_pld_cut_at(bb_pld_direction *s, bb_direction other, double delta,
                        double loss) {
    s->cut_most = loss / BB_PLD_CUT_AWAY;
    bb_pld_cut_losses(s, loss);
    const bb_status status = reverse_profile(
        s->plan, other, loss, loss * (1.0 - MARGIN) - s->cut_most, &s->reverse);
    if (status) return status;
    s->cut =
        exp(s->cut_most) * s->beyond_q[BB_ABOVE] * s->reverse <= REVERSE_SPARE * delta;
    return BB_OK;
}

double bb_pld_beyond(const bb_pld_direction *s, bb_bound bound, double epsilon) {
    const double p = s->beyond_p[bound], q = s->beyond_q[bound];
    if (!s->cut) return 0.0;
    if (bound == BB_BELOW)
        return fmax(0.0, p * (1.0 - p - MARGIN) - exp(epsilon) * q * (1.0 + MARGIN));
    const double less = 1.0 - q - s->reverse - MARGIN;
    const bool known = epsilon <= s->cut_most && less > 0.0;
    return p * (1.0 + MARGIN) - (known ? exp(epsilon) * q * less : 0.0);
}
