/* What moments say of a direction. */
#include "privacy/accounting/pld_direction.h"

#include <math.h>

/* While c is chosen, a moment of each of so many losses is enough; of fewer where they are
 * guesses. */
enum { ENOUGH_MOMENTS = 16, ENOUGH_GUESSES = 12 };

/* log of max_L (1 - e^(-L))_+ e^(-c L) = c^c / (1 + c)^(1 + c) */
double bb_pld_log_peak(double c) {
    return -c * log1p(1.0 / c) - log1p(c);
}

/* log((1 - share) e^a + share e^b) */
static double log_mean(double a, double b, double share) {
    if (isinf(a) || isinf(b)) return INFINITY;
    return b - a > 300.0 ? b + log(share) : a + log1p(share * expm1(b - a));
}

static double factor_log_moment(const bb_pld_factor *x, const double *log_moment) {
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
        sum +=
            chain->factor[f].times * factor_log_moment(&chain->factor[f], log_moment);
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

/* Not below truth, but for chords after a cut. A c too far out for the nodes of its
 * quadrature promises nothing. */
static double moment_by(bb_pld_direction *s, double c, size_t stride) {
    const size_t n = s->plan->losses;
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
    return bb_pld_chain_log_moment(&s->plan->chain[BB_ABOVE], s->log_moment_of);
}

static double moment(bb_pld_direction *s, double c) {
    const double sum = moment_by(
        s, c, s->plan->losses / (s->guesses ? ENOUGH_GUESSES : ENOUGH_MOMENTS) + 1);
    if (s->tried < BB_PLD_DIRECTION_TRIED) {
        s->tried_tilt[s->tried] = c;
        s->tried_moment[s->tried++] = sum;
    }
    return sum;
}

double bb_pld_direction_moment(bb_pld_direction *s, double c) {
    return moment_by(s, c, 1);
}

double bb_pld_direction_between(bb_pld_direction *s) {
    const bb_pld_chain *chain = s->plan->chain;
    return moment(s, s->tilt) -
           bb_pld_chain_log_moment(&chain[BB_BELOW], s->log_moment_of);
}

void bb_pld_direction_tell_apart(bb_pld_direction *s) {
    bb_pld_plan *plan = s->plan;
    double *part = s->envelope_of, sum = 0.0;
    for (size_t e = 0; e < plan->losses; e++) part[e] = 0.0;
    bb_pld_direction_moment(s, s->tilt);
    for (int k = 0; k < BB_BOUNDS; k++) {
        const bb_pld_chain *chain = &plan->chain[k];
        for (size_t f = 0; f < chain->count; f++) {
            const bb_pld_factor *x = &chain->factor[f];
            if (x->share > 0.0)
                part[x->loss] += (k == BB_ABOVE ? x->times : -x->times) *
                                 factor_log_moment(x, s->log_moment_of);
        }
    }
    for (size_t e = 0; e < plan->losses; e++) sum += part[e] = fmax(0.0, part[e]);
    if (!(sum > 0.0 && isfinite(sum))) return;
    for (size_t e = 0; e < plan->losses; e++) plan->apart[e] += part[e] / sum;
}

static double promise(const bb_goal *g, double c, double log_bound) {
    const double value =
        isnan(g->epsilon) ? (log_bound - g->log_delta) / c : log_bound - c * g->epsilon;
    return isnan(value) ? INFINITY : value;
}

double bb_pld_direction_bound(bb_pld_direction *s, const bb_goal *g, double c) {
    return promise(g, c, moment(s, c) + bb_pld_log_peak(c));
}

bb_status bb_pld_direction_bound_safely(bb_pld_direction *s, const bb_goal *g, double c,
                                        double *value) {
    double bound = bb_pld_log_peak(c), error = 0x1p-50 * fabs(bound);
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
        const double log_moment = factor_log_moment(x, s->log_moment_of);
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
    return MOMENTS * taken > fmin(left, s->plan->other_most);
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
    for (int k = 1; k < 80 && excess < log_delta + BB_PLD_MOST_EXCESS; k++) {
        const double c = s->tilt * exp2(k < 5 ? k / 8.0 : (k - 4) / 2.0);
        excess = moment(s, c) + bb_pld_log_peak(c) - c * epsilon;
    }
}

void bb_pld_direction_look_near(bb_pld_direction *s, double c) {
    s->tilt = c;
    for (int k = -4; k <= 12; k++) moment(s, c * exp2(k / 4.0));
}
