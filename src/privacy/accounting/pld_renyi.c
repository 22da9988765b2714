/* What a single c promises. */
#include "privacy/accounting/pld_side.h"

#include <math.h>

/* Beside P(L = infinity), by the best c where *order is NAN; *order is the one. `promise`
 * is written where there is one. */
static bb_status promise_of(bb_pld_direction *s, const bb_goal *goal, double *promise,
                            double *order) {
    if (isnan(*order)) {
        const bb_status status = bb_pld_direction_try(s, goal, -INFINITY, promise);
        if (status) return status;
        *order = s->tilt + 1.0;
    }
    return bb_pld_direction_bound_safely(s, goal, *order - 1.0, promise);
}

bb_status bb_pld_side_renyi_epsilon(bb_pld_plan *plan, bb_direction direction,
                                    double delta, double *epsilon, double *order) {
    const bool best = isnan(*order);
    bb_pld_direction s;
    bb_status status = bb_pld_direction_open(&s, plan, direction, 0.0);
    if (status) return status;
    *epsilon = plan->rounds > 0.0 ? INFINITY : 0.0;
    if (plan->rounds > 0.0 && delta > s.infinite) {
        const bb_goal g = {log(delta - s.infinite), NAN};
        status = promise_of(&s, &g, epsilon, order);
        if (!status && best && isinf(*epsilon)) status = bb_privacy_loss_too_large();
        *epsilon = fmax(0.0, *epsilon);
    }
    bb_pld_direction_close(&s);
    return status;
}

bb_status bb_pld_side_renyi_delta(bb_pld_plan *plan, bb_direction direction,
                                  double epsilon, double *delta, double *order) {
    const bb_goal g = {NAN, epsilon};
    double value = -INFINITY;
    bb_pld_direction s;
    bb_status status = bb_pld_direction_open(&s, plan, direction, 0.0);
    if (status) return status;
    if (plan->rounds > 0.0) status = promise_of(&s, &g, &value, order);
    *delta = fmin(1.0, s.infinite + exp(value) * (1.0 + 0x1p-50));
    bb_pld_direction_close(&s);
    return status;
}
