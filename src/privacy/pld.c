#include "privacy/pld.h"

#include "privacy/pld_side.h"
#include "privacy/profile.h"

#include <assert.h>
#include <math.h>

/* -- without the additional release -- */

/* With it, delta at x is the mean of delta(x - w^2 / 2 - w g), g ~ N(0, 1). At x = y +
 * w^2 / 2 + w a the g below a have delta at y or beyond, and the others at most its
 * upper bound: so delta(y) is not below the mean, less those others', over P(g < a). */
static double profile_below(const bb_side *s, double y) {
    enum { BINS = 20 };
    const double a = 1.5, w = s->smooth, wide = 0.5;
    double up, down, others = 0.0, below = 0.5 * erfc(-a / sqrt(2.0));
    if (w == 0.0) {
        bb_side_profile(s, y, &up, &down);
        return down;
    }
    for (int k = 1; k <= BINS; k++) {
        const double g = a + wide * k;
        bb_side_profile(s, fmax(0.0, y - w * wide * k), &up, &down);
        if (y - w * wide * k < 0.0) up = 1.0;
        others += up * 0.5 * (erfc((g - wide) / sqrt(2.0)) - erfc(g / sqrt(2.0)));
    }
    others += 0.5 * erfc((a + wide * BINS) / sqrt(2.0));
    bb_side_profile(s, y + w * w / 2.0 + w * a, &up, &down);
    return fmax(0.0, (down - others * (1.0 + 0x1p-40)) / below);
}

/* A bound of delta, which falls with x, is above `delta` at *low and not above at
 * *high: brings them together by secants of its logarithm, and bisection. */
static void solve(const bb_side *s, bool upper, double delta, double *low,
                  double *high) {
    double f_low = NAN, f_high = NAN;
    for (int k = 0; k < 200 && *high - *low > (upper ? 1e-13 : 1e-10) * *high; k++) {
        double x = (*low + *high) / 2.0, delta_at, down;
        if (k % 3 != 2 && isfinite(f_low) && isfinite(f_high))
            x = *low +
                (*high - *low) * fmin(0.999, fmax(0.001, f_low / (f_low - f_high)));
        if (upper)
            bb_side_profile(s, x, &delta_at, &down);
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
static double from_above(const bb_side *s, double delta, double most) {
    double low = 0.0, high = most, up, down;
    bb_side_profile(s, 0.0, &up, &down);
    if (up <= delta) return 0.0;
    bb_side_profile(s, most, &up, &down);
    if (up <= delta) solve(s, true, delta, &low, &high);
    return high;
}

/* epsilon from below, given a bound from above: away from there, and back. */
static double from_below(const bb_side *s, double delta, double upper) {
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
static bb_status find_epsilon(bb_side *s, double delta, double least, double *upper,
                              double *lower) {
    const double log_delta = log(delta - s->infinite - s->lost);
    const bb_goal g = {log_delta, NAN};
    const double most = bb_side_choose(s, &g, least), saddle = s->tilt;
    bb_status status = BB_OK;
    *lower = 0.0;
    *upper = most <= least ? least : most * (1.0 + 1e-9);
    if (most <= least || isinf(most)) return BB_OK;
    bb_side_look_around(s, log_delta, most);
    for (int k = 0; k < 4 && !status; k++) {
        const double before = *upper;
        s->tilt = saddle;
        status = bb_side_prepare(s, log_delta, before);
        if (!status) *upper = fmin(before, from_above(s, delta, before));
        if (*upper > 0.8 * before || *upper == 0.0) break;
    }
    if (!status && *upper > 0.0) *lower = from_below(s, delta, *upper);
    /* smoothing was seen: more work, and less of it */
    while (!status && *upper - *lower > SEEN * *upper && s->smooth > 0.0 &&
           s->effort < MOST_EFFORT) {
        s->effort *= 8.0;
        s->tilt = saddle;
        status = bb_side_prepare(s, log_delta, *upper);
        if (status) break;
        *upper = fmin(*upper, from_above(s, delta, *upper));
        if (*upper > 0.0) *lower = fmax(*lower, from_below(s, delta, *upper));
    }
    return status;
}

static bb_status side_epsilon(const bb_account *account, bb_direction direction,
                              double delta, double *upper, double *lower) {
    const double least = *lower;
    bb_side s;
    bb_status status = bb_side_open(&s, account, direction, GIVEN_UP * delta);
    if (status) return status;
    *upper = *lower = 0.0;
    if (delta <= s.infinite)
        *upper = *lower = INFINITY;
    else if (s.count)
        status = find_epsilon(&s, delta, least, upper, lower);
    bb_side_close(&s);
    return status;
}

/* From what one c promises at log delta = most to the profile itself. */
static bb_status find_delta(bb_side *s, double epsilon, double most, double *upper,
                            double *lower) {
    const double saddle = s->tilt;
    bb_status status = BB_OK;
    bb_side_look_around(s, most, epsilon);
    *upper = fmin(1.0, s->infinite + s->lost + exp(most) * (1.0 + 1e-9));
    for (int k = 0; k < 4 && !status && *upper > s->infinite; k++) {
        const double before = *upper;
        double up, down;
        s->tilt = saddle;
        status = bb_side_prepare(s, log(before - s->infinite), epsilon);
        if (status) return status;
        bb_side_profile(s, epsilon, &up, &down);
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
        const bb_goal g = {NAN, epsilon};
        double most = -INFINITY;
        bb_side s;
        bb_status status = bb_side_open(&s, account, direction, lose);
        if (status) return status;
        *upper = *lower = s.infinite;
        if (s.count)
            most = bb_side_choose(&s, &g,
                                  fmax(log(fmax(0.0, least - s.infinite)), -750.0));
        const double bound = s.infinite + s.lost + exp(most) * (1.0 + 1e-9);
        if (bound > least && lose > 0.0)
            status = find_delta(&s, epsilon, most, upper, lower);
        else
            *upper = fmin(1.0, bound);
        bb_side_close(&s);
        if (status || bound <= least || (lose > 0.0 && s.lost <= 1e-5 * *upper))
            return status;
        lose = (k ? GIVEN_UP : 1e-9) * *upper;
    }
    return BB_OK;
}

/* -- one c -- */

static bb_status renyi_epsilon(const bb_account *account, bb_direction direction,
                               double delta, double *epsilon, double *order) {
    bb_side s;
    const bb_status status = bb_side_open(&s, account, direction, 0.0);
    if (status) return status;
    *epsilon = s.count ? INFINITY : 0.0;
    *order = NAN;
    if (s.count && delta > s.infinite) {
        const bb_goal g = {log(delta - s.infinite), NAN};
        *epsilon = fmax(0.0, bb_side_choose(&s, &g, -INFINITY) * (1.0 + 1e-9));
        *order = s.tilt + 1.0;
    }
    bb_side_close(&s);
    return BB_OK;
}

static bb_status renyi_delta(const bb_account *account, bb_direction direction,
                             double epsilon, double *delta, double *order) {
    const bb_goal g = {NAN, epsilon};
    double value = -INFINITY;
    bb_side s;
    const bb_status status = bb_side_open(&s, account, direction, 0.0);
    if (status) return status;
    if (s.count) value = bb_side_choose(&s, &g, -INFINITY);
    *delta = fmin(1.0, s.infinite + exp(value) * (1.0 + 1e-9));
    *order = s.count ? s.tilt + 1.0 : NAN;
    bb_side_close(&s);
    return BB_OK;
}

/* *order: in. */
static bb_status renyi_at(const bb_account *account, bb_direction direction,
                          double delta, double *epsilon, double *order) {
    bb_side s;
    const bb_status status = bb_side_open(&s, account, direction, 0.0);
    if (status) return status;
    *epsilon = s.count ? INFINITY : 0.0;
    if (s.count && delta > s.infinite) {
        const bb_goal g = {log(delta - s.infinite), NAN};
        *epsilon = fmax(0.0, bb_side_promise(&s, &g, *order - 1.0) * (1.0 + 1e-9));
    }
    bb_side_close(&s);
    return BB_OK;
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
