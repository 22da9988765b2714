#include "privacy/accounting/pld_direction.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

#define MOST_EXCESS 12.0
/* Where the sum over frequencies may end, and the terms k != 0 be forgotten, relative
 * to delta: e^-22 = 2.8e-10; e^-13 = 2.3e-6 where smoothing does more. */
#define SMALL        22.0
#define SMALL_SMOOTH 13.0
/* While c is chosen, a moment of each of so many losses is enough. */
enum { ENOUGH_MOMENTS = 32 };

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

/* -- the moment at one c -- */

/* log of max_L (1 - e^(-L))_+ e^(-c L) = c^c / (1 + c)^(1 + c) */
static double log_peak(double c) {
    return -c * log1p(1.0 / c) - log1p(c);
}

/* log((1 - share) e^a + share e^b) */
static double log_mean(double a, double b, double share) {
    if (isinf(a) || isinf(b)) return INFINITY;
    return b - a > 300.0 ? b + log(share) : a + log1p(share * expm1(b - a));
}

double bb_pld_factor_log_moment(const bb_pld_factor *x, const double *log_moment) {
    if (x->share == 0.0) return log_moment[x->loss];
    return log_mean(log_moment[x->loss], log_moment[x->loss + 1], x->share);
}

double bb_pld_factor_share(const bb_pld_factor *x, const double *log_moment) {
    if (x->share == 0.0) return 0.0;
    const double more = log_moment[x->loss + 1] - log_moment[x->loss];
    return x->share / (x->share + (1.0 - x->share) * exp(-more));
}

double bb_pld_chain_log_moment(const bb_pld_chain *chain, const double *log_moment) {
    double sum = 0.0;
    for (size_t f = 0; f < chain->count; f++)
        sum += chain->factor[f].times *
               bb_pld_factor_log_moment(&chain->factor[f], log_moment);
    return sum;
}

/* Those of the losses between a and b, as chords: moments are convex in f(mu). */
static void fill_between(bb_pld_direction *s, size_t a, size_t b) {
    double whole = 0.0, part = 0.0;
    for (size_t e = a + 1; e <= b; e++) whole += s->plan->gap[e];
    for (size_t e = a + 1; e < b; e++) {
        part += s->plan->gap[e];
        s->log_moment_of[e] =
            log_mean(s->log_moment_of[a], s->log_moment_of[b], part / whole);
    }
}

/* Not below truth. A c too far out for the nodes of its quadrature promises nothing. */
static double moment(bb_pld_direction *s, double c) {
    const size_t n = s->plan->losses, stride = n / ENOUGH_MOMENTS + 1;
    for (size_t e = 0, last = 0; e < n; e++) {
        const bool first = s->plan->gap[e] == 0.0;
        const bool ends = e + 1 == n || s->plan->gap[e + 1] == 0.0;
        if (!first && !ends && e < last + stride) continue;
        s->log_moment_of[e] =
            s->plan->work > s->plan->work_most
                ? INFINITY
                : bb_privacy_loss_moment(&s->loss[e], c, &s->plan->work);
        if (!first) fill_between(s, last, e);
        last = e;
    }
    const double sum =
        bb_pld_chain_log_moment(&s->plan->chain[BB_ABOVE], s->log_moment_of);
    if (s->tried < BB_PLD_DIRECTION_TRIED) {
        s->tried_tilt[s->tried] = c;
        s->tried_moment[s->tried++] = sum;
    }
    return sum;
}

double bb_pld_direction_between(bb_pld_direction *s) {
    const bb_pld_chain *chain = s->plan->chain;
    return moment(s, s->tilt) -
           bb_pld_chain_log_moment(&chain[BB_BELOW], s->log_moment_of);
}

static double promise(const bb_goal *g, double c, double log_bound) {
    const double value =
        isnan(g->epsilon) ? (log_bound - g->log_delta) / c : log_bound - c * g->epsilon;
    return isnan(value) ? INFINITY : value;
}

double bb_pld_direction_bound(bb_pld_direction *s, const bb_goal *g, double c) {
    return promise(g, c, moment(s, c) + log_peak(c));
}

bb_status bb_pld_direction_bound_safely(bb_pld_direction *s, const bb_goal *g, double c,
                                        double *value) {
    double bound = log_peak(c), error = 0x1p-50 * fabs(bound);
    *value = bb_pld_direction_bound(s, g, c);
    if (isinf(*value)) return BB_OK; /* too many nodes */
    for (size_t e = 0; e < s->plan->losses; e++) {
        bb_privacy_loss *loss = &s->loss[e];
        const bb_status status = bb_privacy_loss_tilt(loss, c, 0.0);
        if (status) return status;
        s->log_moment_of[e] = loss->log_moment;
    }
    const bb_pld_chain *all = &s->plan->chain[BB_ABOVE];
    for (size_t f = 0; f < all->count; f++) {
        const bb_pld_factor *x = &all->factor[f];
        const bb_privacy_loss *loss = &s->loss[x->loss];
        const double log_moment = bb_pld_factor_log_moment(x, s->log_moment_of);
        const double wrong = fmax(loss->error, x->share > 0.0 ? loss[1].error : 0.0);
        bound += x->times * log_moment;
        error += x->times * (wrong + 0x1p-50 * fabs(log_moment));
    }
    error += 0x1p-50 * (isnan(g->epsilon) ? fabs(g->log_delta) : c * g->epsilon);
    *value = promise(g, c, bound + error);
    return BB_OK;
}

/* First by doubling, then by golden sections of log c. */
double bb_pld_direction_choose(bb_pld_direction *s, const bb_goal *g, double enough) {
    const double ratio = 0.61803398874989484820;
    double least = INFINITY;
    s->tilt = 0x1p-16;
    for (double c = s->tilt, worse = 0.0; c < 0x1p44 && worse < 3.0; c *= 2.0) {
        const double v = bb_pld_direction_bound(s, g, c);
        /* hardly better: a loss that is bounded, c could grow for ever */
        const bool better = v < least - 1e-4 * fabs(least) || isinf(least);
        worse = better ? 0.0 : worse + 1.0;
        if (v < least) {
            least = v;
            s->tilt = c;
        }
        if (v <= enough) return v;
    }
    double low = log(s->tilt / 2.0), high = log(2.0 * s->tilt);
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    double va = bb_pld_direction_bound(s, g, exp(a)),
           vb = bb_pld_direction_bound(s, g, exp(b));
    while (high - low > 0.02) {
        if (va < vb) {
            high = b;
            b = a;
            vb = va;
            a = high - ratio * (high - low);
            va = bb_pld_direction_bound(s, g, exp(a));
        } else {
            low = a;
            a = b;
            va = vb;
            b = low + ratio * (high - low);
            vb = bb_pld_direction_bound(s, g, exp(b));
        }
    }
    s->tilt = va < vb ? exp(a) : exp(b);
    return fmin(va, vb);
}

/* How many moments it takes to choose c, about. */
enum { MOMENTS = 60 };

/* By what one moment takes; some work is for the other direction. */
static bool is_too_much(bb_pld_direction *s) {
    const double before = s->plan->work;
    moment(s, 1.0);
    const double taken = s->plan->work - before;
    s->plan->work = before;
    const double all = s->plan->work_most, left = fmin(0.6 * all, all - before);
    return MOMENTS * taken > left;
}

bb_status bb_pld_direction_try(bb_pld_direction *s, const bb_goal *g, double enough,
                               double *promise) {
    const bool too_much = is_too_much(s);
    if (!too_much) *promise = bb_pld_direction_choose(s, g, enough);
    if (!too_much && !(isinf(*promise) && s->plan->work > s->plan->work_most))
        return BB_OK;
    return bb_fail(BB_EUSAGE,
                   "%zu different events, %.0f in all, are too much work: take fewer "
                   "different ones, by rounding noise multipliers down and rates up",
                   s->plan->different, s->plan->rounds);
}

void bb_pld_direction_look_around(bb_pld_direction *s, double log_delta,
                                  double epsilon) {
    double excess = -INFINITY;
    for (int k = -16; k < 0; k++) moment(s, s->tilt * exp2(k / 2.0));
    for (int k = 1; k < 80 && excess < log_delta + MOST_EXCESS; k++) {
        const double c = s->tilt * exp2(k < 5 ? k / 8.0 : (k - 4) / 2.0);
        excess = moment(s, c) + log_peak(c) - c * epsilon;
    }
}

/* -- the terms k != 0 -- */

/* What the round that is added does to log M(c). */
static double smoothed(const bb_pld_direction *s, double c) {
    return s->smooth * s->smooth * c * (c + 1.0) / 2.0;
}

double bb_pld_direction_log_aliases(const bb_pld_direction *s, double period,
                                    double epsilon) {
    const double c = s->tilt;
    const double below = -c * period - log1p(-exp(-c * period)); /* delta <= 1 */
    double above = INFINITY;
    for (size_t k = 0; k < s->tried; k++) {
        const double more = s->tried_tilt[k] - c;
        if (more <= 0.0 || !(s->tried_moment[k] < INFINITY)) continue;
        const double bound = s->tried_moment[k] + smoothed(s, s->tried_tilt[k]) +
                             log_peak(s->tried_tilt[k]) - s->tried_tilt[k] * epsilon -
                             more * period - log1p(-exp(-more * period));
        above = fmin(above, bound);
    }
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
    return s->tried_moment[k] + log_peak(c) - c * epsilon - log_delta;
}

double bb_pld_direction_set_period(bb_pld_direction *s, double log_delta,
                                   double epsilon) {
    double best = INFINITY, least = INFINITY;
    double allowed = s->smooth > 0.0 ? 0.0 : MOST_EXCESS;
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
