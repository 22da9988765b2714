#include "privacy/accounting/pld_side.h"

#include "privacy/accounting/pld_apart.h"
#include "privacy/accounting/pld_refine.h"

#include <math.h>

/* -- epsilon -- */

/* The share of delta that is given up for large losses which are left out; nothing where
 * rounds are mixtures, whose moments must be ordered. */
#define GIVEN_UP 1e-8

static double given_up(bb_pld_plan *plan, double mass) {
    return plan->mixed ? 0.0 : mass;
}

/* What mixtures do to log delta, about. */
static double between_chains(bb_pld_direction *s) {
    return s->plan->mixed ? bb_pld_direction_between(s) : 0.0;
}

/* Nearer to *upper and *lower by what is computed at the saddle point. */
static bb_status refine_epsilon(bb_pld_direction *s, double log_delta, double delta,
                                double *upper, double *lower) {
    const double saddle = s->tilt;
    double between = between_chains(s) / saddle, last = INFINITY;
    bb_pld_direction_look_around(s, log_delta, *upper);
    for (int k = 0; k < 12 && *upper > 0.0; k++) {
        const double before = *upper;
        const bb_goal near = {log_delta, before};
        const bb_status status = bb_pld_compute(s, saddle, near, delta, before);
        if (status || s->plan->method.over || !(s->terms || s->above.ratio))
            return status;
        *upper = fmin(before, bb_pld_from_above(s, delta, before));
        if (*upper == 0.0 || *upper < 0.7 * before) continue;
        *lower = fmax(*lower, bb_pld_from_below(s, delta, *upper));
        const double gap = bb_pld_relative(*upper - *lower, *upper);
        between = fmax(between, bb_pld_apart_at(s, *upper));
        if (s->plan->mixed && gap > BB_PLD_HARDLY * last) between = *upper - *lower;
        last = gap;
        if (!bb_pld_go_on(s, *upper, gap, bb_pld_relative(between, *upper))) break;
    }
    return BB_OK;
}

/* `least`: a lower bound of the other side, below which nothing has to be shown; `known`
 * is not below the answer. */
static bb_status find_epsilon(bb_pld_direction *s, double delta, double least,
                              double known, double *upper, double *lower) {
    const double log_delta = log(delta - s->infinite - s->lost);
    const bb_goal g = {log_delta, NAN};
    double most;
    *lower = 0.0;
    *upper = least;
    bb_status status = bb_pld_direction_try(s, &g, least, &most);
    if (status || most <= least) return status;
    if (isinf(most) && isfinite(log_delta)) return bb_privacy_loss_too_large();
    status = bb_pld_direction_bound_safely(s, &g, s->tilt, upper);
    if (status || isinf(*upper)) return status;
    *upper = fmax(0.0, fmin(*upper, known));
    return refine_epsilon(s, log_delta, delta, upper, lower);
}

static bb_status find_epsilon_whole(bb_pld_plan *plan, bb_direction direction,
                                    double delta, double *upper, double *lower) {
    const double least = *lower, known = *upper;
    bb_pld_direction s;
    bb_status status =
        bb_pld_direction_open(&s, plan, direction, given_up(plan, GIVEN_UP * delta));
    if (status) return status;
    *upper = *lower = 0.0;
    if (delta <= s.infinite)
        *upper = *lower = INFINITY;
    else if (plan->rounds > 0.0)
        status = find_epsilon(&s, delta, least, known, upper, lower);
    bb_pld_direction_close(&s);
    return status;
}

/* -- delta -- */

/* So little was left out that it is not what keeps bounds apart. */
static bool lost_enough(double lost, double delta) {
    return lost <= 1e-5 * delta;
}

/* From what one c promises at log delta = most to the profile itself. */
static bb_status find_delta(bb_pld_direction *s, double epsilon, double most,
                            double *upper, double *lower) {
    const double saddle = s->tilt, scale = fmax(epsilon, fmin(0.01, 0.03 / saddle));
    const double steep = 1.0 + saddle * epsilon;
    double between = between_chains(s), last = INFINITY;
    *upper = fmin(1.0, s->infinite + s->lost + exp(most));
    *lower = s->infinite;
    bb_pld_direction_look_around(s, most, epsilon);
    for (int k = 0; k < 12 && *upper > s->infinite; k++) {
        const double before = *upper, goal = before - s->infinite;
        const bb_goal near = {log(goal), epsilon};
        double up, down;
        const bb_status status = bb_pld_compute(s, saddle, near, goal, scale);
        if (status || s->plan->method.over || !(s->terms || s->above.ratio))
            return status;
        bb_pld_direction_profile(s, epsilon, &up, &down);
        *upper = fmin(before, up);
        *lower = fmax(*lower, down);
        if (!lost_enough(s->lost, *upper)) return BB_OK; /* first of all, less is */
        const double left = *upper - s->infinite;
        if (left < 1e-2 * goal) continue;
        const double gap = (*upper - *lower) / left / steep;
        between = fmax(between, bb_pld_direction_apart(s, epsilon));
        if (s->plan->mixed && gap > BB_PLD_HARDLY * last) between = gap * steep;
        last = gap;
        if (!bb_pld_go_on(s, scale, gap, between / steep)) break;
    }
    return BB_OK;
}

/* With a mass of about `lose` left out; *lost: what it is, in fact. */
static bb_status find_delta_without(bb_pld_plan *plan, bb_direction direction,
                                    double epsilon, double lose, double least,
                                    double *lost, double *upper, double *lower) {
    const bb_goal g = {NAN, epsilon};
    double most = -INFINITY;
    bb_pld_direction s;
    bb_status status = bb_pld_direction_open(&s, plan, direction, given_up(plan, lose));
    if (status) return status;
    *lower = s.infinite;
    *lost = s.lost;
    if (plan->rounds > 0.0)
        status = bb_pld_direction_try(
            &s, &g, fmax(log(fmax(0.0, least - s.infinite)), -750.0), &most);
    if (!status && isfinite(most))
        status = bb_pld_direction_bound_safely(&s, &g, s.tilt, &most);
    *upper = fmin(1.0, s.infinite + s.lost + exp(most) * (1.0 + 0x1p-50));
    if (!status && *upper > least && lose > 0.0)
        status = find_delta(&s, epsilon, most, upper, lower);
    bb_pld_direction_close(&s);
    return status;
}

/* How much may be left out is known only afterwards, when less of it is. */
static bb_status find_delta_whole(bb_pld_plan *plan, bb_direction direction,
                                  double epsilon, double *upper, double *lower) {
    const double least = *lower;
    double lose = 0.0, lost, up, down;
    for (int k = 0; k < 6; k++) {
        const bb_status status = find_delta_without(plan, direction, epsilon, lose,
                                                    least, &lost, &up, &down);
        if (k > 0 && status == BB_EUSAGE) break; /* too much work: as close as that */
        if (status) return status;
        *upper = k ? fmin(*upper, up) : up;
        *lower = k ? fmax(*lower, down) : down;
        if (*upper <= least || plan->finer > 0.0 ||
            plan->method.cut == BB_PLD_CUT_WANTED ||
            (lose > 0.0 && lost_enough(lost, *upper)))
            break;
        lose = (k ? GIVEN_UP : 1e-9) * *upper;
    }
    return BB_OK;
}

/* -- with large losses apart, and without -- */

typedef bb_status (*question)(bb_pld_plan *, bb_direction, double, double *, double *);

static bb_status ask(bb_pld_plan *plan, bb_direction direction, double at,
                     question whole, question apart, double *upper, double *lower) {
    const double known = *upper, low = *lower;
    bb_status status = BB_OK;
    if (plan->method.cut == BB_PLD_CUT_USED) {
        *lower = 0.0;
    } else {
        status = whole(plan, direction, at, upper, lower);
        if (status || plan->method.cut != BB_PLD_CUT_WANTED) return status;
        *upper = fmin(known, *upper);
    }
    status = apart(plan, direction, at, upper, lower);
    if (status || plan->method.cut == BB_PLD_CUT_USED) return status;
    const double most = *upper, least = *lower;
    *lower = low;
    status = whole(plan, direction, at, upper, lower);
    *upper = fmin(most, *upper);
    *lower = fmax(least, *lower);
    return status;
}

bb_status bb_pld_side_epsilon(bb_pld_plan *plan, bb_direction direction, double delta,
                              double *upper, double *lower) {
    return ask(plan, direction, delta, find_epsilon_whole, bb_pld_apart_epsilon, upper,
               lower);
}

bb_status bb_pld_side_delta(bb_pld_plan *plan, bb_direction direction, double epsilon,
                            double *upper, double *lower) {
    return ask(plan, direction, epsilon, find_delta_whole, bb_pld_apart_delta, upper,
               lower);
}
