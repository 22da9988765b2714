#include "privacy/accounting/pld_side.h"

#include <math.h>

/* -- where a profile is at a point -- */

/* A bound of delta, which falls with x, is above `delta` at *low and not above at
 * *high: brings them together by secants of its logarithm, and bisection. */
static void solve(const bb_pld_direction *s, bool upper, double delta, double *low,
                  double *high) {
    double f_low = NAN, f_high = NAN;
    for (int k = 0; k < 200 && *high - *low > (upper ? 1e-13 : 1e-10) * *high; k++) {
        double x = (*low + *high) / 2.0, up, down;
        if (k % 3 != 2 && isfinite(f_low) && isfinite(f_high))
            x = *low +
                (*high - *low) * fmin(0.999, fmax(0.001, f_low / (f_low - f_high)));
        bb_pld_direction_profile(s, x, &up, &down);
        const double f = log((upper ? up : down) / delta);
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
static double from_above(const bb_pld_direction *s, double delta, double most) {
    double low = 0.0, high = most, up, down;
    bb_pld_direction_profile(s, 0.0, &up, &down);
    if (up <= delta) return 0.0;
    bb_pld_direction_profile(s, most, &up, &down);
    if (up <= delta) solve(s, true, delta, &low, &high);
    return high;
}

/* epsilon from below, given a bound from above: away from there, and back. */
static double from_below(const bb_pld_direction *s, double delta, double upper) {
    double high = upper, up, down;
    for (double away = 1e-9; away < 1.0; away *= 8.0) {
        double low = upper * (1.0 - away);
        bb_pld_direction_profile(s, low, &up, &down);
        if (down > delta) {
            solve(s, false, delta, &low, &high);
            return low;
        }
        high = low;
    }
    return 0.0;
}

/* The share of delta that is given up for large losses which are left out; nothing where
 * rounds are mixtures, whose moments must be ordered. */
#define GIVEN_UP      1e-8
#define WANTED        BB_PLD_WANTED
#define EPSILON_LEAST BB_PLD_EPSILON_LEAST
#define ENOUGH        (1.5 * WANTED)

static double given_up(bb_pld_plan *plan, double mass) {
    return plan->mixed ? 0.0 : mass;
}

/* mu of an added round that makes the bounds of epsilon about WANTED / 2 apart, where
 * the profile is smooth, and never more than that. */
static double first_smooth(const bb_pld_direction *s, double epsilon) {
    return fmin(1.0,
                sqrt(0.5 * WANTED * fmax(epsilon, EPSILON_LEAST) / (1.0 + s->tilt)));
}

/* After bounds that are `gap` apart, which falls with the square or with mu itself. */
static double smoother(double smooth, double gap) {
    return smooth * fmax(0.05, fmin(0.7, 0.8 * WANTED / gap));
}

/* Of lists of losses. */
#define FIRST_FINENESS 0.05
#define LAST_FINENESS  1e-3
/* How far apart bounds by the first are, as a rule. */
#define FIRST_GAP 0.01

/* After bounds that are `gap` apart, which falls with the square. */
static double finer(double fineness, double gap) {
    const double ratio = fmax(0.1, fmin(0.8, sqrt(0.8 * WANTED / gap)));
    return fmax(LAST_FINENESS, fineness * ratio);
}

/* For a profile near a point, delta and epsilon being the scales of lists. */
static bb_status compute(bb_pld_direction *s, double saddle, bb_goal near, double delta,
                         double epsilon) {
    bb_pld_method *m = &s->plan->method;
    bb_status status = BB_OK;
    if (m->smooth == 0.0) {
        s->tilt = saddle;
        status = bb_pld_direction_prepare(s, near.log_delta, near.epsilon, 0.0);
        if (status || s->terms) return status;
        m->smooth = first_smooth(s, epsilon);
    }
    if (m->fineness == 0.0) {
        s->tilt = saddle;
        status = bb_pld_direction_prepare(s, near.log_delta, near.epsilon, m->smooth);
        if (status || s->terms) return status;
        m->fineness = FIRST_FINENESS;
    }
    s->tilt = fmax(s->tilt, saddle);
    m->over = s->plan->work > s->plan->work_most;
    if (m->over) return BB_OK;
    return bb_pld_direction_compose(s, delta, epsilon, m->fineness);
}

/* Where the added round has to be that much smaller the profile is not smooth, and lists
 * are less work. */
#define ROUGH 0.4

/* What brings bounds closer that are `gap` apart; whether anything does. */
static bool improve(const bb_pld_direction *s, double epsilon, double gap) {
    bb_pld_method *m = &s->plan->method;
    if (!(gap > ENOUGH) || m->fineness == LAST_FINENESS) return false;
    if (m->smooth == 0.0 && s->plan->mixed) return false; /* only other mixtures do */
    if (m->fineness > 0.0)
        m->fineness = finer(m->fineness, gap);
    else if (m->smooth == 0.0)
        m->smooth = first_smooth(s, epsilon);
    else if (smoother(m->smooth, gap) >= ROUGH * m->smooth ||
             epsilon > BB_DISCRETE_PLD_LARGEST)
        m->smooth = smoother(m->smooth, gap);
    else
        m->fineness = FIRST_FINENESS;
    return true;
}

/* What mixtures do to log delta, about. */
static double between_chains(bb_pld_direction *s) {
    return s->plan->mixed ? bb_pld_direction_between(s) : 0.0;
}

/* Whether more losses are needed where mixtures make a gap, which falls with the square
 * of how many there are. */
static bool needs_finer(bb_pld_plan *plan, double gap) {
    if (!plan->mixed || plan->last || !(gap > WANTED / 2.0)) return false;
    if (plan->work > plan->work_most / 2.0) return false;
    plan->finer = fmax(plan->finer, sqrt(gap / (WANTED / 2.5)));
    return true;
}

/* Whether to go on with this plan after bounds that are `gap` apart, `mixed` of which is
 * what mixtures do, about. */
static bool go_on(bb_pld_direction *s, double epsilon, double gap, double mixed) {
    const bb_pld_method before = s->plan->method;
    const bool helps = improve(s, epsilon, gap - mixed);
    const bool exact = s->plan->method.smooth == 0.0;
    /* lists of few losses tell how fine they have to be */
    if (before.fineness == 0.0 && s->plan->method.fineness > 0.0) return true;
    if (!needs_finer(s->plan, exact ? gap : mixed)) return helps;
    if (!helps && before.fineness == FIRST_FINENESS)
        s->plan->method.fineness = finer(FIRST_FINENESS, FIRST_GAP);
    return false;
}

/* -- epsilon -- */

static double relative(double difference, double epsilon) {
    return difference / fmax(epsilon, EPSILON_LEAST);
}

/* What mixtures do to epsilon, about, as the terms say. */
static double apart_at(const bb_pld_direction *s, double epsilon) {
    const double aside = 1e-3;
    double up, more, down;
    if (!s->terms || !s->plan->mixed) return 0.0;
    bb_pld_direction_profile(s, epsilon, &up, &down);
    bb_pld_direction_profile(s, epsilon * (1.0 - aside), &more, &down);
    const double slope = log(more / up) / (aside * epsilon);
    return slope > 0.0 ? bb_pld_direction_apart(s, epsilon) / slope : 0.0;
}

/* What is better but does not bring bounds closer is not what keeps them apart. */
#define HARDLY 0.7

/* Nearer to *upper and *lower by what is computed at the saddle point. */
static bb_status refine_epsilon(bb_pld_direction *s, double log_delta, double delta,
                                double *upper, double *lower) {
    const double saddle = s->tilt;
    double between = between_chains(s) / saddle, last = INFINITY;
    bb_pld_direction_look_around(s, log_delta, *upper);
    for (int k = 0; k < 12 && *upper > 0.0; k++) {
        const double before = *upper;
        const bb_goal near = {log_delta, before};
        const bb_status status = compute(s, saddle, near, delta, before);
        if (status || s->plan->method.over) return status;
        *upper = fmin(before, from_above(s, delta, before));
        if (!s->terms && *upper > BB_DISCRETE_PLD_LARGEST) break;
        if (*upper == 0.0 || *upper < 0.7 * before) continue;
        *lower = fmax(*lower, from_below(s, delta, *upper));
        const double gap = relative(*upper - *lower, *upper);
        between = fmax(between, apart_at(s, *upper));
        if (s->plan->mixed && gap > HARDLY * last) between = *upper - *lower;
        last = gap;
        if (!go_on(s, *upper, gap, relative(between, *upper))) break;
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
    status = bb_pld_direction_bound_safely(s, &g, s->tilt, upper);
    if (status || isinf(*upper)) return status;
    *upper = fmin(*upper, known);
    return refine_epsilon(s, log_delta, delta, upper, lower);
}

bb_status bb_pld_side_epsilon(bb_pld_plan *plan, bb_direction direction, double delta,
                              double *upper, double *lower) {
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
        const bb_status status = compute(s, saddle, near, goal, scale);
        if (status || s->plan->method.over) return status;
        bb_pld_direction_profile(s, epsilon, &up, &down);
        *upper = fmin(before, up);
        *lower = fmax(*lower, down);
        const double left = *upper - s->infinite;
        if (left < 1e-2 * goal) continue;
        const double gap = (*upper - *lower) / left / steep;
        between = fmax(between, bb_pld_direction_apart(s, epsilon));
        if (s->plan->mixed && gap > HARDLY * last) between = gap * steep;
        last = gap;
        if (!go_on(s, scale, gap, between / steep)) break;
    }
    return BB_OK;
}

/* How much may be left out is known only afterwards, when less of it is. */
bb_status bb_pld_side_delta(bb_pld_plan *plan, bb_direction direction, double epsilon,
                            double *upper, double *lower) {
    const double least = *lower;
    double lose = 0.0;
    for (int k = 0; k < 6; k++) {
        const bb_goal g = {NAN, epsilon};
        double most = -INFINITY;
        bb_pld_direction s;
        bb_status status =
            bb_pld_direction_open(&s, plan, direction, given_up(plan, lose));
        if (status) return status;
        *upper = *lower = s.infinite;
        if (plan->rounds > 0.0)
            status = bb_pld_direction_try(
                &s, &g, fmax(log(fmax(0.0, least - s.infinite)), -750.0), &most);
        if (!status && isfinite(most))
            status = bb_pld_direction_bound_safely(&s, &g, s.tilt, &most);
        const double lost = s.lost;
        const double bound = s.infinite + lost + exp(most) * (1.0 + 0x1p-50);
        if (!status) *upper = fmin(1.0, bound);
        if (!status && bound > least && lose > 0.0)
            status = find_delta(&s, epsilon, most, upper, lower);
        bb_pld_direction_close(&s);
        if (status || bound <= least || plan->finer > 0.0 ||
            (lose > 0.0 && lost <= 1e-5 * *upper))
            return status;
        lose = (k ? GIVEN_UP : 1e-9) * *upper;
    }
    return BB_OK;
}
