/* From a Renyi curve to (epsilon, delta), and budgets at one order. */
#include "privacy/accounting/rdp.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

double bb_rdp_to_epsilon(double rdp, double order, double delta) {
    assert(rdp >= 0.0 && order > 1.0 && delta == delta);
    if (delta >= sqrt(-expm1(-rdp)) * (1.0 + 0x1p-50)) return 0.0;
    if (delta <= 0.0 || isinf(rdp)) return INFINITY;
    const double gain = log((order - 1.0) / order);
    const double price = (log(delta) + log(order)) / (order - 1.0);
    const double size = rdp - gain + (fabs(log(delta)) + log(order)) / (order - 1.0);
    return fmax(0.0, rdp + gain - price + size * 0x1p-49);
}

/* log of e^{(a-1)(r - epsilon + log(1 - 1/a))} / a, for finite arguments */
static double log_delta(double rdp, double order, double epsilon) {
    const double b = order - 1.0, gain = log(b / order);
    const double size = b * (rdp + epsilon - gain) + log(order);
    return b * (rdp - epsilon + gain) - log(order) + size * 0x1p-49;
}

double bb_rdp_to_delta(double rdp, double order, double epsilon) {
    assert(rdp >= 0.0 && order > 1.0 && epsilon >= 0.0);
    const double distance = sqrt(-expm1(-rdp)) * (1.0 + 0x1p-50);
    if (isinf(rdp) || rdp == 0.0) return fmin(1.0, distance);
    if (isinf(epsilon)) return 0.0;
    const double delta =
        exp(log_delta(rdp, order, epsilon)) * (1.0 + 0x1p-50) + DBL_MIN;
    return fmin(1.0, fmin(distance, delta));
}

/* ---- the best order ---- */

typedef struct search {
    size_t count;
    const bb_rdp_event *events;
    double target; /* delta, or epsilon */
    bool for_delta;
    double best, best_order;
} search;

/* Keeps the better answer at order 1 + e^x; returns what has one valley in x: epsilon,
 * or log delta without the bounds that cut it flat. */
static double try_order(search *s, double x) {
    const double order = 1.0 + exp(x);
    const double rdp = bb_rdp_compose(s->count, s->events, order);
    const double value = s->for_delta ? bb_rdp_to_delta(rdp, order, s->target)
                                      : bb_rdp_to_epsilon(rdp, order, s->target);
    if (value < s->best) {
        s->best = value;
        s->best_order = order;
    }
    const bool finite = isfinite(rdp) && isfinite(s->target);
    return s->for_delta && finite ? log_delta(rdp, order, s->target) : value;
}

/* (a - 1) RDP(a) is convex in a (the fixed-size bound: nearly), and so is what the
 * conversion adds to it: the objective falls, then rises. Steps of 1/4 in x = log(order
 * - 1) find the valley and golden sections its ground. */
static void find_order(search *s) {
    const double first = log(1e-5), last = log(BB_RDP_ORDER_MAX - 1.0), step = 0.25;
    const double golden = 0.61803398874989484820;
    double valley = INFINITY, at = first;
    int rises = 0;
    for (int k = 0; rises < 3 && first + k * step <= last; k++) {
        const double value = try_order(s, first + k * step);
        rises = value > valley ? rises + 1 : 0;
        if (value < valley) {
            valley = value;
            at = first + k * step;
        }
    }
    double low = at - step;
    double high = fmin(at + step, last);
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double at_left = try_order(s, left), at_right = try_order(s, right);
    while (high - low > 1e-7) {
        if (at_left <= at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            at_left = try_order(s, left);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            at_right = try_order(s, right);
        }
    }
}

/* The best value over all orders, and the order if it is asked for. */
static double best_of(search s, double *order) {
    s.best_order = 2.0;
    find_order(&s);
    if (order) *order = s.best_order;
    return s.best;
}

double bb_rdp_epsilon(size_t count, const bb_rdp_event *events, double delta,
                      double *order) {
    const search s = {
        .count = count, .events = events, .target = delta, .best = INFINITY};
    return best_of(s, order);
}

double bb_rdp_delta(size_t count, const bb_rdp_event *events, double epsilon,
                    double *order) {
    const search s = {.count = count,
                      .events = events,
                      .target = epsilon,
                      .for_delta = true,
                      .best = 1.0};
    return best_of(s, order);
}

/* ---- a budget at one order ---- */

bb_status bb_rdp_limit(double *out, double epsilon, double delta, double order) {
    if (!(epsilon > 0.0) || isinf(epsilon))
        return bb_fail(BB_EUSAGE, "epsilon must be positive and finite, got %g",
                       epsilon);
    if (!(delta > 0.0 && delta < 1.0))
        return bb_fail(BB_EUSAGE, "delta must be in (0, 1), got %g", delta);
    if (!(order > 1.0) || isinf(order))
        return bb_fail(BB_EUSAGE, "the Renyi order must be above 1 and finite, got %g",
                       order);
    const double gain = log((order - 1.0) / order);
    const double price = (log(delta) + log(order)) / (order - 1.0);
    const double size =
        epsilon - gain + (fabs(log(delta)) + log(order)) / (order - 1.0);
    const double limit = epsilon - gain + price - size * 0x1p-49;
    if (!(limit > 0.0))
        return bb_fail(BB_EUSAGE,
                       "Renyi order %g leaves nothing of the budget epsilon %g, delta "
                       "%g: choose a larger order",
                       order, epsilon, delta);
    *out = limit;
    return BB_OK;
}
