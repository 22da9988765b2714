#include "privacy/accounting/pld_direction.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* Where the sum over frequencies may end, and the terms k != 0 be forgotten, relative
 * to delta: e^-22 = 2.8e-10; e^-13 = 2.3e-6 where smoothing does more. */
#define SMALL        22.0
#define SMALL_SMOOTH 13.0

void bb_pld_direction_close(bb_pld_direction *s) {
    for (size_t e = 0; s->loss && e < s->plan->losses; e++)
        bb_privacy_loss_close(&s->loss[e]);
    bb_discrete_pld_close(&s->above);
    bb_discrete_pld_close(&s->below_atoms);
    free(s->loss);
    free(s->terms);
    free(s->below);
    free(s->log_moment_of);
    free(s->envelope_of);
    *s = (bb_pld_direction){0};
}

bb_status bb_pld_direction_open(bb_pld_direction *out, bb_pld_plan *plan,
                                bb_direction direction, double lose) {
    const size_t n = plan->losses + 1;
    bb_pld_direction s = {.plan = plan};
    double log_finite = 0.0, log_kept = 0.0;
    bb_status status = bb_allocate(&s.loss, n, sizeof *s.loss, "the accountant");
    if (!status)
        status =
            bb_allocate(&s.log_moment_of, n, sizeof *s.log_moment_of, "the accountant");
    if (!status)
        status =
            bb_allocate(&s.envelope_of, n, sizeof *s.envelope_of, "the accountant");
    for (size_t e = 0; e < plan->losses && !status; e++)
        bb_privacy_loss_open(&s.loss[e], &plan->loss[e], plan->adjacency, direction,
                             lose / plan->rounds);
    const bb_pld_chain *all = &plan->chain[BB_ABOVE];
    for (size_t f = 0; f < all->count && !status; f++) {
        const bb_pld_factor *x = &all->factor[f];
        const bb_privacy_loss *a = &s.loss[x->loss], *b = x->share > 0.0 ? a + 1 : a;
        const double infinite = a->infinite + x->share * (b->infinite - a->infinite);
        const double lost = a->lost + x->share * (b->lost - a->lost);
        log_finite += x->times * log1p(-infinite);
        log_kept += x->times * log1p(-infinite - lost);
    }
    s.infinite = -expm1(log_finite);
    s.lost = -expm1(log_kept) - s.infinite;
    if (status)
        bb_pld_direction_close(&s);
    else
        *out = s;
    return status;
}

/* -- the terms k != 0 -- */

/* What the round that is added does to log M(c). */
static double smoothed(const bb_pld_direction *s, double c) {
    return s->smooth * s->smooth * c * (c + 1.0) / 2.0;
}

/* Of those with k > 0, by the moment at another c. */
static double log_above(const bb_pld_direction *s, double c, double log_moment,
                        double period, double epsilon) {
    const double more = c - s->tilt;
    if (more <= 0.0 || !(log_moment < INFINITY)) return INFINITY;
    return log_moment + smoothed(s, c) + bb_pld_log_peak(c) - c * epsilon -
           more * period - log1p(-exp(-more * period));
}

void bb_pld_direction_make_sure(bb_pld_direction *s, double epsilon) {
    const double period = BB_TWO_PI / s->step;
    double least = INFINITY;
    size_t best = 0;
    for (size_t k = 0; k < s->tried; k++) {
        const double bound =
            log_above(s, s->tried_tilt[k], s->tried_moment[k], period, epsilon);
        if (!(bound < least)) continue;
        least = bound;
        best = k;
    }
    if (isinf(least)) return;
    s->sure_moment = bb_pld_direction_moment(s, s->tried_tilt[best]);
    s->sure_tilt = s->tried_tilt[best];
}

double bb_pld_direction_log_aliases(const bb_pld_direction *s, double period,
                                    double epsilon) {
    const double c = s->tilt;
    const double below = -c * period - log1p(-exp(-c * period)); /* delta <= 1 */
    double above = INFINITY;
    if (s->sure_tilt > 0.0)
        above = log_above(s, s->sure_tilt, s->sure_moment, period, epsilon);
    for (size_t k = 0; k < s->tried && s->sure_tilt == 0.0; k++)
        above = fmin(
            above, log_above(s, s->tried_tilt[k], s->tried_moment[k], period, epsilon));
    const double most = fmax(below, above);
    return most + log(exp(below - most) + exp(above - most));
}

double bb_pld_direction_small(const bb_pld_direction *s) {
    return s->smooth > 0.0 ? SMALL_SMOOTH : SMALL;
}

/* The shortest period with which neither kind of alias counts, for c = tilt. */
static double period_of(bb_pld_direction *s, double log_delta, double epsilon) {
    double period = (bb_pld_direction_small(s) - log_delta) / s->tilt;
    for (int k = 0; k < 60 && bb_pld_direction_log_aliases(s, period, epsilon) >
                                  log_delta - bb_pld_direction_small(s);
         k++)
        period *= 1.15;
    return period;
}

/* log of what one c promises for delta, over delta: by so much the terms exceed their
 * sum. */
static double excess_of(const bb_pld_direction *s, size_t k, double log_delta,
                        double epsilon) {
    const double c = s->tried_tilt[k];
    return s->tried_moment[k] + bb_pld_log_peak(c) - c * epsilon - log_delta;
}

double bb_pld_direction_set_period(bb_pld_direction *s, double log_delta,
                                   double epsilon) {
    double best = INFINITY, least = INFINITY;
    double allowed = s->smooth > 0.0 ? 0.0 : BB_PLD_MOST_EXCESS;
    size_t at = 0;
    for (size_t k = 0; k < s->tried; k++)
        least = fmin(least, excess_of(s, k, log_delta, epsilon));
    allowed = fmax(allowed, least + 1.0);
    for (size_t k = 0; k < s->tried; k++) {
        s->tilt = s->tried_tilt[k];
        if (!(excess_of(s, k, log_delta, epsilon) <= allowed)) continue;
        const double period = period_of(s, log_delta, epsilon);
        if (period < best) {
            best = period;
            at = k;
        }
    }
    s->tilt = s->tried_tilt[at];
    s->step = BB_TWO_PI / best;
    return excess_of(s, at, log_delta, epsilon);
}

bb_status bb_pld_direction_compose(bb_pld_direction *s, double delta, double epsilon,
                                   double fineness) {
    bb_discrete_pld_plan plan = {
        .tilt = s->tilt, .epsilon = epsilon, .fineness = fineness, .delta = delta};
    bb_status status = BB_OK;
    free(s->terms);
    s->terms = NULL;
    plan.rounds = s->plan->rounds;
    plan.work_most = s->plan->work_most;
    plan.epsilon = fmax(fmax(epsilon, 1e-9), s->plan->method.scale);
    plan.spread = s->plan->method.spread;
    if (!s->above.ratio) status = bb_discrete_pld_room(&s->above);
    if (!status && !s->below_atoms.ratio)
        status = bb_discrete_pld_room(&s->below_atoms);
    if (!status)
        status = bb_discrete_pld_compose(&s->above, BB_ABOVE, &s->plan->chain[BB_ABOVE],
                                         s->loss, plan, &s->plan->work);
    if (!status)
        status = bb_discrete_pld_compose(&s->below_atoms, BB_BELOW,
                                         &s->plan->chain[BB_BELOW], s->loss, plan,
                                         &s->plan->work);
    s->plan->method.scale = bb_discrete_pld_quantile(&s->above, 0.75) -
                            bb_discrete_pld_quantile(&s->above, 0.25);
    s->plan->method.spread = bb_discrete_pld_quantile(&s->above, 0.99) -
                             bb_discrete_pld_quantile(&s->above, 0.01);
    return status;
}
