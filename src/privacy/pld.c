#include "privacy/pld.h"

#include "base/memory.h"
#include "privacy/law.h"
#include "privacy/profile.h"

#include <assert.h>
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#define TWO_PI 6.283185307179586476925
/* Where the sum over frequencies may end, and the terms k != 0 be forgotten, relative
 * to delta: e^-22 = 2.8e-10. */
#define SMALL       22.0
#define MOST_EXCESS 12.0
enum { MOST_TRIED = 256 };
static const double most_frequencies = 0x1p24;

/* One direction of a composition. */
typedef struct side {
    size_t count;
    bb_law *law;         /* count */
    const double *times; /* count */
    double infinite;     /* P(L = infinity) */
    double lost;         /* of what the laws leave out */
    size_t tried;        /* what was learnt while c was chosen */
    double tried_tilt[MOST_TRIED], tried_moment[MOST_TRIED];
    double tilt, log_moment;
    double effort;         /* how much more work is allowed than usual */
    double smooth;         /* mu of the additional release; 0: none */
    double step;           /* of the frequencies */
    size_t frequencies;    /* 0 .. frequencies - 1 */
    double complex *terms; /* phi / (s (s + 1)), doubled but for the first */
    double rounding, end;  /* of the sum of terms: rounding errors, what is missing */
    double relative;       /* error of e^log_moment */
} side;

/* log of max_L (1 - e^(-L))_+ e^(-c L) = c^c / (1 + c)^(1 + c) */
static double log_peak(double c) {
    return -c * log1p(1.0 / c) - log1p(c);
}

/* -- the moment at one c -- */

static bb_status tilt(side *s, double c, double *log_moment) {
    double sum = 0.0;
    for (size_t e = 0; e < s->count; e++) {
        const bb_status status = bb_law_tilt(&s->law[e], c, 0.0);
        if (status && status != BB_ENUMERIC) return status;
        /* too far out for its nodes: such a c promises nothing */
        sum += status ? INFINITY : s->times[e] * s->law[e].log_moment;
    }
    if (s->tried < MOST_TRIED) {
        s->tried_tilt[s->tried] = c;
        s->tried_moment[s->tried++] = sum;
    }
    *log_moment = sum;
    return BB_OK;
}

/* What c promises: an epsilon at delta, or a log delta at epsilon. */
typedef struct goal {
    double log_delta, epsilon; /* one is NAN: it is asked for */
} goal;

static bb_status promise(side *s, const goal *g, double c, double *value) {
    double moment;
    const bb_status status = tilt(s, c, &moment);
    if (status) return status;
    const double bound = moment + log_peak(c);
    *value = isnan(g->epsilon) ? (bound - g->log_delta) / c : bound - c * g->epsilon;
    if (isnan(*value)) *value = INFINITY;
    return BB_OK;
}

/* The c with the smallest promise: first by doubling, then by golden sections of log c.
 * Every c is valid; one whose promise is not above `enough` ends the search. */
static bb_status choose_tilt(side *s, const goal *g, double enough, double *best,
                             double *value) {
    const double ratio = 0.61803398874989484820;
    double c = ldexp(1.0, -16), least = INFINITY, at = c;
    bb_status status = BB_OK;
    for (int k = 0, worse = 0; k < 60 && worse < 3 && !status; k++, c *= 2.0) {
        double v;
        status = promise(s, g, c, &v);
        if (status) return status;
        if (v <= enough) {
            *best = c;
            *value = v;
            return BB_OK;
        }
        /* hardly better: a loss that is bounded, c could grow for ever */
        if (!(v < least - 1e-4 * fabs(least)) && isfinite(least))
            worse++;
        else
            worse = 0;
        if (v < least) {
            least = v;
            at = c;
        }
    }
    double low = log(at / 2.0), high = log(2.0 * at);
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    double va = INFINITY, vb = INFINITY;
    status = promise(s, g, exp(a), &va);
    if (!status) status = promise(s, g, exp(b), &vb);
    while (!status && high - low > 0.02) {
        if (va < vb) {
            high = b;
            b = a;
            vb = va;
            a = high - ratio * (high - low);
            status = promise(s, g, exp(a), &va);
        } else {
            low = a;
            a = b;
            va = vb;
            b = low + ratio * (high - low);
            status = promise(s, g, exp(b), &vb);
        }
    }
    *best = va < vb ? exp(a) : exp(b);
    *value = fmin(va, vb);
    return status;
}

/* -- the terms k != 0 -- */

/* log of their sum at epsilon, for a period A. */
static double log_aliases(const side *s, double period, double epsilon) {
    const double c = s->tilt;
    const double below = -c * period - log1p(-exp(-c * period)); /* delta <= 1 */
    double above = INFINITY;
    for (size_t k = 0; k < s->tried; k++) {
        const double more = s->tried_tilt[k] - c;
        if (more <= 0.0 || !(s->tried_moment[k] < INFINITY)) continue;
        const double bound = s->tried_moment[k] + log_peak(s->tried_tilt[k]) -
                             s->tried_tilt[k] * epsilon - more * period -
                             log1p(-exp(-more * period));
        above = fmin(above, bound);
    }
    const double most = fmax(below, above);
    return most + log(exp(below - most) + exp(above - most));
}

/* The shortest period with which neither kind of alias counts, for c = tilt. */
static double period_of(side *s, double log_delta, double epsilon) {
    double period = (SMALL - log_delta) / s->tilt;
    for (int k = 0; k < 60 && log_aliases(s, period, epsilon) > log_delta - SMALL; k++)
        period *= 1.15;
    return period;
}

/* Among the c that were tried: the one with the shortest period, unless rounding
 * errors, which grow with e^(log M - c epsilon), would be seen. The saddle point itself
 * is too close to where M explodes if there are rare large losses. */
static void choose_period(side *s, double log_delta, double epsilon) {
    double best = INFINITY, at = s->tilt, allowed = log_delta + MOST_EXCESS;
    for (size_t k = 0; k < s->tried; k++)
        if (s->tried_tilt[k] == at)
            allowed =
                fmax(allowed, s->tried_moment[k] + log_peak(at) - at * epsilon + 1.0);
    for (size_t k = 0; k < s->tried; k++) {
        s->tilt = s->tried_tilt[k];
        const double excess =
            s->tried_moment[k] + log_peak(s->tilt) - s->tilt * epsilon;
        if (!(excess <= allowed) && s->tilt != at) continue;
        const double period = period_of(s, log_delta, epsilon);
        if (period < best) {
            best = period;
            at = s->tilt;
        }
    }
    s->tilt = at;
    s->step = TWO_PI / best;
}

/* -- the end of the sum over frequencies -- */

/* A bound of |product of phi| from omega on. */
static double log_envelope(const side *s, double omega, double smooth) {
    double sum = -smooth * smooth * omega * omega / 2.0;
    for (size_t e = 0; e < s->count; e++)
        sum += s->times[e] * log(bb_law_envelope(&s->law[e], omega));
    return sum;
}

/* The sum of 2 |terms| from the n-th on: each doubling of k by its own bound, with
 * sum_{k = a}^{b - 1} 1 / k^2 <= 1 / (a - 1) - 1 / (b - 1). */
static double log_end(const side *s, double n, double smooth) {
    double sum = 0.0;
    for (double k = n; k < 0x1p200; k *= 2.0) {
        const double bound = exp(log_envelope(s, k * s->step, smooth));
        const double part = 2.0 * bound / (s->step * s->step) *
                            (1.0 / (k - 1.0) - 1.0 / (2.0 * k - 1.0));
        sum += part;
        if (part < sum * 1e-6 || sum < 1e-300) break;
    }
    return log(sum);
}

/* Whether the work of n frequencies, in nodes, is at most `most`: each takes part in
 * some dozens of profiles, and each law has to be raised to its power. */
static bool is_bearable(const side *s, double n, double most) {
    double left = most / n - 600.0;
    for (size_t e = 0; e < s->count && left > 0.0; e++) {
        const size_t limit = (size_t)fmin(left, 0x1p22);
        left -= 100.0 + (double)bb_law_nodes(&s->law[e], n * s->step, limit);
    }
    return left >= 0.0;
}

/* The fewest frequencies (by steps of a quarter) with which the end is small. */
static double enough(const side *s, double goal_end, double smooth) {
    double n = 4.0;
    while (n < most_frequencies && log_end(s, n, smooth) > goal_end) n = ceil(n * 1.25);
    return n;
}

/* Smoothing costs epsilon about smooth^2 c / 2: from nothing on, as much as it takes to
 * keep the work bearable. */
static void choose_frequencies(side *s, double log_delta, double epsilon) {
    static const struct {
        double cost, work;
    } level[] = {{0.0, 3e7},  {1e-7, 4e7},   {1e-6, 5e7}, {1e-5, 8e7},
                 {1e-4, 1e8}, {3e-4, 1.5e8}, {1e-3, 3e8}, {1e-2, INFINITY}};
    double n = 0.0, moment = 0.0;
    for (size_t e = 0; e < s->count; e++) moment += s->times[e] * s->law[e].log_moment;
    /* the scale of profile() */
    const double goal_end =
        log_delta - SMALL - moment + s->tilt * epsilon + log(TWO_PI / s->step);
    for (size_t k = 0; k < sizeof level / sizeof *level; k++) {
        s->smooth = sqrt(2.0 * level[k].cost * epsilon / s->tilt);
        n = enough(s, goal_end, s->smooth);
        if (n < most_frequencies && is_bearable(s, n, s->effort * level[k].work)) break;
    }
    s->frequencies = (size_t)n;
    s->end = exp(log_end(s, n, s->smooth));
}

/* -- the terms -- */

/* terms[k] *= phi_e^times; and their relative rounding errors. */
static bb_status multiply(side *s, size_t e, double *error, double *re, double *im) {
    bb_law *law = &s->law[e];
    const double times = s->times[e];
    const bb_status status =
        bb_law_tilt(law, s->tilt, (double)s->frequencies * s->step);
    if (status) return status;
    bb_law_spectrum(law, 0.0, s->step, s->frequencies, re, im);
    for (size_t k = 0; k < s->frequencies; k++) {
        const double omega = (double)k * s->step;
        /* near phi = 1, and away from it */
        const double more = re[k] * (2.0 + re[k]) + im[k] * im[k];
        const double log_size = more > -0.5
                                    ? fmin(0.0, 0.5 * log1p(more))
                                    : fmax(-1e3, log(hypot(1.0 + re[k], im[k])));
        const double wrong = fmin(0x1p-46, omega * law->slip);
        const double angle = remainder(times * atan2(im[k], 1.0 + re[k]), TWO_PI);
        error[k] += times * wrong / fmax(exp(log_size), 1e-30);
        s->terms[k] *= exp(times * log_size) * CMPLX(cos(angle), sin(angle));
    }
    return BB_OK;
}

static bb_status fill_terms(side *s) {
    double *work = NULL;
    const size_t n = s->frequencies;
    bb_status status = bb_allocate(&s->terms, n, sizeof *s->terms, "the accountant");
    if (!status) status = bb_allocate(&work, 3 * n, sizeof *work, "the accountant");
    double *error = work;
    for (size_t k = 0; k < n && !status; k++) {
        const double complex at = CMPLX(s->tilt, (double)k * s->step);
        const double complex smoothed =
            s->smooth * s->smooth / 2.0 * (at * (at + 1.0) - s->tilt * (s->tilt + 1.0));
        s->terms[k] = (k ? 2.0 : 1.0) * cexp(smoothed) / (at * (at + 1.0));
        error[k] = 0x1p-48;
    }
    for (size_t e = 0; e < s->count && !status; e++)
        status = multiply(s, e, error, work + n, work + 2 * n);
    s->log_moment = s->smooth * s->smooth * s->tilt * (s->tilt + 1.0) / 2.0;
    s->relative = 0x1p-46;
    for (size_t e = 0; e < s->count && !status; e++) {
        s->log_moment += s->times[e] * s->law[e].log_moment;
        s->relative += s->times[e] * s->law[e].error;
    }
    s->rounding = 0.0;
    for (size_t k = 0; k < s->frequencies && !status; k++)
        s->rounding += cabs(s->terms[k]) * error[k];
    free(work);
    return status;
}

/* delta at epsilon, from above and below; the tail beyond infinity included. */
static void profile(const side *s, double epsilon, double *upper, double *lower) {
    double sum = 0.0;
    for (size_t k = 0; k < s->frequencies; k++) {
        const double angle = (double)k * s->step * epsilon;
        sum += creal(s->terms[k]) * cos(angle) + cimag(s->terms[k]) * sin(angle);
    }
    const double log_scale = s->log_moment - s->tilt * epsilon + log(s->step / TWO_PI);
    const double scale = exp(log_scale), error = (s->rounding + s->end) * scale;
    const double rounded =
        fabs(sum) * scale *
        (s->relative + 0x1p-50 * (fabs(s->log_moment) + s->tilt * epsilon));
    if (!isfinite(sum * scale + error)) { /* nothing is known */
        *upper = 1.0;
        *lower = s->infinite * (1.0 - 0x1p-30);
        return;
    }
    const double most = sum * scale + error + rounded;
    const double least =
        sum * scale - error - rounded - exp(log_aliases(s, TWO_PI / s->step, epsilon));
    *upper = fmin(1.0, (s->infinite + s->lost) * (1.0 + 0x1p-30) + fmax(0.0, most));
    *lower = fmax(0.0, s->infinite * (1.0 - 0x1p-30) + fmax(0.0, least));
}

/* -- one side -- */

static void side_close(side *s) {
    for (size_t e = 0; s->law && e < s->count; e++) bb_law_close(&s->law[e]);
    free(s->law);
    free(s->terms);
    free((void *)s->times);
    *s = (side){0};
}

/* Of large losses that are too rare to matter a mass of `lose` may be left out. */
static bb_status side_open(side *out, const bb_account *account, bb_direction direction,
                           double lose) {
    side s = {.effort = 1.0};
    double *times = NULL, log_finite = 0.0, log_kept = 0.0, rounds = 0.0;
    bb_status status =
        bb_allocate(&s.law, account->count, sizeof *s.law, "the accountant");
    if (!status)
        status = bb_allocate(&times, account->count, sizeof *times, "the accountant");
    s.times = times;
    for (size_t e = 0; e < account->count; e++) rounds += account->event[e].rounds;
    for (size_t e = 0; e < account->count && !status; e++) {
        if (account->event[e].rounds == 0.0) continue;
        bb_law *law = &s.law[s.count];
        times[s.count++] = account->event[e].rounds;
        bb_law_open(law, &account->event[e], account->adjacency, direction,
                    lose / rounds);
        log_finite += account->event[e].rounds * log1p(-law->infinite);
        log_kept += account->event[e].rounds * log1p(-law->infinite - law->lost);
    }
    s.infinite = -expm1(log_finite);
    s.lost = -expm1(log_kept) - s.infinite;
    if (status)
        side_close(&s);
    else
        *out = s;
    return status;
}

/* Tries c on both sides of the best one, for choose_period: upwards until its promise
 * is so bad that rounding errors would be seen. */
static bb_status look_around(side *s, double log_delta, double epsilon) {
    bb_status status = BB_OK;
    double moment, excess = -INFINITY;
    for (int k = -16; k < 0 && !status; k++)
        status = tilt(s, s->tilt * exp2(k / 2.0), &moment);
    for (int k = 1; k < 80 && excess < log_delta + MOST_EXCESS && !status; k++) {
        const double c = s->tilt * exp2(k < 5 ? k / 8.0 : (k - 4) / 2.0);
        status = tilt(s, c, &moment);
        excess = moment + log_peak(c) - c * epsilon;
    }
    return status;
}

/* Everything for profiles near (epsilon, delta). */
static bb_status prepare(side *s, double log_delta, double epsilon) {
    free(s->terms);
    s->terms = NULL;
    double moment;
    choose_period(s, log_delta, epsilon);
    const bb_status status = tilt(s, s->tilt, &moment);
    if (status) return status;
    choose_frequencies(s, log_delta, epsilon);
    return fill_terms(s);
}

/* -- without the additional release -- */

/* With it, delta at x is the mean of delta(x - w^2 / 2 - w g), g ~ N(0, 1). At x = y +
 * w^2 / 2 + w a the g below a have delta at y or beyond, and the others at most its
 * upper bound: so delta(y) is not below the mean, less those others', over P(g < a). */
static double profile_below(const side *s, double y) {
    enum { BINS = 20 };
    const double a = 1.5, w = s->smooth, wide = 0.5;
    double up, down, others = 0.0, below = 0.5 * erfc(-a / sqrt(2.0));
    if (w == 0.0) {
        profile(s, y, &up, &down);
        return down;
    }
    for (int k = 1; k <= BINS; k++) {
        const double g = a + wide * k;
        profile(s, fmax(0.0, y - w * wide * k), &up, &down);
        if (y - w * wide * k < 0.0) up = 1.0;
        others += up * 0.5 * (erfc((g - wide) / sqrt(2.0)) - erfc(g / sqrt(2.0)));
    }
    others += 0.5 * erfc((a + wide * BINS) / sqrt(2.0));
    profile(s, y + w * w / 2.0 + w * a, &up, &down);
    return fmax(0.0, (down - others * (1.0 + 0x1p-40)) / below);
}

/* A bound of delta, which falls with x, is above `delta` at *low and not above at
 * *high: brings them together by secants of its logarithm, and bisection. */
static void solve(const side *s, bool upper, double delta, double *low, double *high) {
    double f_low = NAN, f_high = NAN;
    for (int k = 0; k < 200 && *high - *low > (upper ? 1e-13 : 1e-10) * *high; k++) {
        double x = (*low + *high) / 2.0, delta_at, down;
        if (k % 3 != 2 && isfinite(f_low) && isfinite(f_high))
            x = *low +
                (*high - *low) * fmin(0.999, fmax(0.001, f_low / (f_low - f_high)));
        if (upper)
            profile(s, x, &delta_at, &down);
        else
            delta_at = profile_below(s, x);
        const double f = log(delta_at / delta);
        if (f > 0.0) {
            *low = x;
            f_low = f;
        } else {
            *high = x;
            f_high = f;
        }
    }
}

/* epsilon <= most, from above. */
static double from_above(const side *s, double delta, double most) {
    double low = 0.0, high = most, up, down;
    profile(s, 0.0, &up, &down);
    if (up <= delta) return 0.0;
    profile(s, most, &up, &down);
    if (up <= delta) solve(s, true, delta, &low, &high);
    return high;
}

/* epsilon from below, given a bound from above: away from there, and back. */
static double from_below(const side *s, double delta, double upper) {
    double high = upper;
    for (double away = 1e-9; away < 1.0; away *= 8.0) {
        double low = upper * (1.0 - away);
        if (profile_below(s, low) > delta) {
            solve(s, false, delta, &low, &high);
            return low;
        }
        high = low;
    }
    return 0.0;
}

/* The share of delta that is given up for large losses which are left out. */
#define GIVEN_UP 1e-8
/* Bounds further apart than this are worth more work. */
#define SEEN        0.02
#define MOST_EFFORT 8.0

/* `least`: a lower bound of the other side, below which nothing has to be shown. */
static bb_status find_epsilon(side *s, double delta, double least, double *upper,
                              double *lower) {
    const double log_delta = log(delta - s->infinite - s->lost);
    const goal g = {log_delta, NAN};
    double most;
    *lower = 0.0;
    bb_status status = choose_tilt(s, &g, least, &s->tilt, &most);
    *upper = most <= least ? least : most * (1.0 + 1e-9);
    if (status || most <= least || isinf(most)) return status;
    const double saddle = s->tilt;
    status = look_around(s, log_delta, most);
    for (int k = 0; k < 4 && !status; k++) {
        const double before = *upper;
        s->tilt = saddle;
        status = prepare(s, log_delta, before);
        if (!status) *upper = fmin(before, from_above(s, delta, before));
        if (*upper > 0.8 * before || *upper == 0.0) break;
    }
    if (!status && *upper > 0.0) *lower = from_below(s, delta, *upper);
    /* smoothing was seen: more work, and less of it */
    while (!status && *upper - *lower > SEEN * *upper && s->smooth > 0.0 &&
           s->effort < MOST_EFFORT) {
        s->effort *= 8.0;
        s->tilt = saddle;
        status = prepare(s, log_delta, *upper);
        if (status) break;
        *upper = fmin(*upper, from_above(s, delta, *upper));
        if (*upper > 0.0) *lower = fmax(*lower, from_below(s, delta, *upper));
    }
    return status;
}

static bb_status side_epsilon(const bb_account *account, bb_direction direction,
                              double delta, double *upper, double *lower) {
    const double least = *lower;
    side s;
    bb_status status = side_open(&s, account, direction, GIVEN_UP * delta);
    if (status) return status;
    *upper = *lower = 0.0;
    if (delta <= s.infinite)
        *upper = *lower = INFINITY;
    else if (s.count)
        status = find_epsilon(&s, delta, least, upper, lower);
    side_close(&s);
    return status;
}

/* From what one c promises at log delta = most to the profile itself. */
static bb_status find_delta(side *s, double epsilon, double most, double *upper,
                            double *lower) {
    const double saddle = s->tilt;
    bb_status status = look_around(s, most, epsilon);
    *upper = fmin(1.0, s->infinite + s->lost + exp(most) * (1.0 + 1e-9));
    for (int k = 0; k < 4 && !status && *upper > s->infinite; k++) {
        const double before = *upper;
        double up, down;
        s->tilt = saddle;
        status = prepare(s, log(before - s->infinite), epsilon);
        if (status) return status;
        profile(s, epsilon, &up, &down);
        *upper = fmin(before, up);
        if (*upper - s->infinite > 1e-3 * (before - s->infinite)) break;
    }
    if (!status) *lower = s->terms ? profile_below(s, epsilon) : s->infinite;
    return status;
}

/* How much may be left out is known only afterwards. */
static bb_status side_delta(const bb_account *account, bb_direction direction,
                            double epsilon, double *upper, double *lower) {
    const double least = *lower;
    double lose = 0.0;
    for (int k = 0; k < 3; k++) {
        const goal g = {NAN, epsilon};
        double most = -INFINITY;
        side s;
        bb_status status = side_open(&s, account, direction, lose);
        if (status) return status;
        *upper = *lower = s.infinite;
        if (s.count)
            status =
                choose_tilt(&s, &g, fmax(log(fmax(0.0, least - s.infinite)), -750.0),
                            &s.tilt, &most);
        const double bound = s.infinite + s.lost + exp(most) * (1.0 + 1e-9);
        if (!status && bound > least && lose > 0.0)
            status = find_delta(&s, epsilon, most, upper, lower);
        else
            *upper = fmin(1.0, bound);
        side_close(&s);
        if (status || bound <= least || (lose > 0.0 && s.lost <= 1e-5 * *upper))
            return status;
        lose = (k ? GIVEN_UP : 1e-9) * *upper;
    }
    return BB_OK;
}

/* -- one c -- */

static bb_status renyi_epsilon(const bb_account *account, bb_direction direction,
                               double delta, double *epsilon, double *order) {
    double c = INFINITY;
    side s;
    bb_status status = side_open(&s, account, direction, 0.0);
    if (status) return status;
    *epsilon = s.count ? INFINITY : 0.0;
    *order = NAN;
    if (s.count && delta > s.infinite) {
        const goal g = {log(delta - s.infinite), NAN};
        status = choose_tilt(&s, &g, -INFINITY, &c, epsilon);
        *epsilon = fmax(0.0, *epsilon * (1.0 + 1e-9));
        *order = c + 1.0;
    }
    side_close(&s);
    return status;
}

static bb_status renyi_delta(const bb_account *account, bb_direction direction,
                             double epsilon, double *delta, double *order) {
    const goal g = {NAN, epsilon};
    double c = INFINITY, value = -INFINITY;
    side s;
    bb_status status = side_open(&s, account, direction, 0.0);
    if (status) return status;
    if (s.count) status = choose_tilt(&s, &g, -INFINITY, &c, &value);
    *delta = fmin(1.0, s.infinite + exp(value) * (1.0 + 1e-9));
    *order = s.count ? c + 1.0 : NAN;
    side_close(&s);
    return status;
}

/* *order: in. */
static bb_status renyi_at(const bb_account *account, bb_direction direction,
                          double delta, double *epsilon, double *order) {
    side s;
    bb_status status = side_open(&s, account, direction, 0.0);
    if (status) return status;
    *epsilon = s.count ? INFINITY : 0.0;
    if (s.count && delta > s.infinite) {
        const goal g = {log(delta - s.infinite), NAN};
        status = promise(&s, &g, *order - 1.0, epsilon);
        *epsilon = fmax(0.0, *epsilon * (1.0 + 1e-9));
    }
    side_close(&s);
    return status;
}

/* -- both sides -- */

static bool is_symmetric(const bb_account *account) {
    for (size_t e = 0; e < account->count; e++)
        if (!bb_law_is_symmetric(&account->event[e], account->adjacency)) return false;
    return true;
}

/* An answer about one side: the answer, and what goes with it. */
typedef bb_status (*question)(const bb_account *, bb_direction, double, double *,
                              double *);

/* The larger answer. The second question is asked with what went with the first one. */
static bb_status both(const bb_account *account, question ask, double at, double *first,
                      double *second) {
    const bool symmetric = is_symmetric(account);
    double most = -1.0, beside = *second;
    for (int d = 0; d < (symmetric ? 1 : 2); d++) {
        double a = 0.0, b = beside;
        const bb_status status = ask(account, d ? BB_WITHOUT : BB_WITH, at, &a, &b);
        if (status) return status;
        if (a > most) {
            most = a;
            beside = b;
        }
    }
    *first = most;
    *second = beside;
    return BB_OK;
}

static bb_status known_epsilon(const bb_account *account, double delta, double *upper,
                               double *lower) {
    const bb_event *event = account->event;
    double low = 0.0, high = 1.0, up, down;
    bb_profile(event, account->adjacency, 0.0, &up, &down);
    *upper = *lower = 0.0;
    if (up <= delta) return BB_OK;
    for (bb_profile(event, account->adjacency, high, &up, &down);
         up > delta && high < 1e300;
         bb_profile(event, account->adjacency, high, &up, &down))
        high *= 2.0;
    for (int k = 0; k < 100 && high - low > 1e-15 * high; k++) {
        const double x = (low + high) / 2.0;
        bb_profile(event, account->adjacency, x, &up, &down);
        if (up > delta)
            low = x;
        else
            high = x;
    }
    *upper = high;
    for (double away = 1e-13; away < 1.0; away *= 4.0) {
        *lower = high * (1.0 - away);
        bb_profile(event, account->adjacency, *lower, &up, &down);
        if (down > delta) return BB_OK;
    }
    *lower = 0.0;
    return BB_OK;
}

/* A bound of delta at epsilon = 0: the sum of the events' own. */
static double delta_at_zero(const bb_account *account) {
    double sum = 0.0;
    for (size_t e = 0; e < account->count; e++) {
        const bb_event *event = &account->event[e];
        bb_event once = *event;
        double upper = 1.0, lower;
        once.rounds = 1.0;
        if (bb_profile_knows(&once, account->adjacency))
            bb_profile(&once, account->adjacency, 0.0, &upper, &lower);
        else if (event->kind == BB_EVENT_STEP || event->kind == BB_EVENT_SELECTION)
            upper = event->delta +
                    tanh(event->epsilon / (event->kind == BB_EVENT_STEP ? 2.0 : 4.0));
        sum += event->rounds * upper * (1.0 + 0x1p-40);
    }
    return sum;
}

bb_status bb_pld_epsilon(const bb_account *account, double delta, double *upper,
                         double *lower) {
    assert(delta > 0.0 && delta < 1.0);
    if (delta_at_zero(account) <= delta) {
        *upper = *lower = 0.0;
        return BB_OK;
    }
    if (account->count == 1 && bb_profile_knows(account->event, account->adjacency))
        return known_epsilon(account, delta, upper, lower);
    *lower = 0.0;
    return both(account, side_epsilon, delta, upper, lower);
}

bb_status bb_pld_delta(const bb_account *account, double epsilon, double *upper,
                       double *lower) {
    assert(epsilon >= 0.0);
    if (account->count == 1 && bb_profile_knows(account->event, account->adjacency)) {
        bb_profile(account->event, account->adjacency, epsilon, upper, lower);
        return BB_OK;
    }
    *lower = 0.0;
    return both(account, side_delta, epsilon, upper, lower);
}

bb_status bb_pld_renyi_epsilon(const bb_account *account, double delta, double *epsilon,
                               double *order) {
    *order = NAN;
    return both(account, renyi_epsilon, delta, epsilon, order);
}

bb_status bb_pld_renyi_delta(const bb_account *account, double epsilon, double *delta,
                             double *order) {
    *order = NAN;
    return both(account, renyi_delta, epsilon, delta, order);
}

bb_status bb_pld_renyi_at(const bb_account *account, double order, double delta,
                          double *epsilon) {
    return both(account, renyi_at, delta, epsilon, &order);
}
