#include "privacy/accounting/pld_refine.h"

#include "privacy/accounting/pld_cut.h"

#include <math.h>

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
double bb_pld_from_above(const bb_pld_direction *s, double delta, double most) {
    double low = 0.0, high = most, up, down;
    bb_pld_direction_profile(s, 0.0, &up, &down);
    if (up <= delta) return 0.0;
    bb_pld_direction_profile(s, most, &up, &down);
    if (up <= delta) solve(s, true, delta, &low, &high);
    return high;
}

/* epsilon from below, given a bound from above: away from there, and back. */
double bb_pld_from_below(const bb_pld_direction *s, double delta, double upper) {
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

#define WANTED        BB_PLD_WANTED
#define EPSILON_LEAST BB_PLD_EPSILON_LEAST

/* mu of an added round that makes the bounds of epsilon about WANTED / 2 apart, where
 * the profile is smooth, and never more than that. */
static double first_smooth(const bb_pld_direction *s, double epsilon) {
    return fmin(1.0,
                sqrt(0.5 * WANTED * fmax(epsilon, EPSILON_LEAST) / (1.0 + s->tilt)));
}

/* After bounds that are `gap` apart, which falls with the square, or with mu itself where
 * there are large losses. */
static double smoother(const bb_pld_direction *s, double gap) {
    const double ratio = 0.8 * WANTED / gap, smooth = s->plan->method.smooth;
    if (s->cut) return smooth * fmax(0.1, fmin(0.7, sqrt(ratio)));
    return smooth * fmax(0.05, fmin(0.7, ratio));
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

/* Before lists of mixtures, large losses may be taken apart: elsewhere lists are short. */
static bool wants_cut(bb_pld_direction *s) {
    bb_pld_method *m = &s->plan->method;
    if (!s->cut && s->plan->mixed && m->cut == BB_PLD_CUT_UNKNOWN)
        m->cut = bb_pld_can_cut(s) ? BB_PLD_CUT_WANTED : BB_PLD_CUT_USELESS;
    return m->cut == BB_PLD_CUT_WANTED;
}

/* For a profile near a point, delta and epsilon being the scales of lists. */
bb_status bb_pld_compute(bb_pld_direction *s, double saddle, bb_goal near, double delta,
                         double epsilon) {
    bb_pld_method *m = &s->plan->method;
    bb_status status = BB_OK;
    if (m->smooth == 0.0) { /* the sum as it is */
        s->tilt = saddle;
        status = bb_pld_direction_prepare(s, near.log_delta, near.epsilon, 0.0);
        if (status || s->terms || wants_cut(s)) return status;
        m->smooth = first_smooth(s, epsilon);
    }
    if (m->fineness == 0.0) {
        s->tilt = saddle;
        status = bb_pld_direction_prepare(s, near.log_delta, near.epsilon, m->smooth);
        if (status || s->terms || wants_cut(s)) return status;
        m->fineness = FIRST_FINENESS;
    }
    if (s->cut) return BB_OK;
    s->tilt = fmax(s->tilt, saddle);
    m->over = s->plan->work > s->plan->work_most;
    if (m->over) return BB_OK;
    return bb_pld_direction_compose(s, delta, epsilon, m->fineness);
}

/* Where the added round has to be that much smaller the profile is not smooth, and lists
 * are less work. */
#define ROUGH 0.4

/* What brings bounds closer that are `gap` apart; whether anything does. */
static bool improve(bb_pld_direction *s, double epsilon, double gap) {
    bb_pld_method *m = &s->plan->method;
    if (!(gap > BB_PLD_ENOUGH) || m->fineness == LAST_FINENESS) return false;
    if (m->smooth == 0.0 && s->plan->mixed) return false; /* only other mixtures do */
    if (m->fineness > 0.0)
        m->fineness = finer(m->fineness, gap);
    else if (m->smooth == 0.0)
        m->smooth = first_smooth(s, epsilon);
    else if (smoother(s, gap) >= ROUGH * m->smooth || s->cut ||
             epsilon > BB_DISCRETE_PLD_LARGEST)
        m->smooth = smoother(s, gap);
    else if (!wants_cut(s))
        m->fineness = FIRST_FINENESS;
    return true;
}

/* Whether more losses are needed where mixtures make a gap, which falls with the square
 * of how many there are. */
static bool needs_finer(bb_pld_plan *plan, double gap) {
    if (!plan->mixed || plan->last || !(gap > WANTED / 2.0)) return false;
    if (plan->work > plan->work_most / 2.0) return false;
    /* a sum with large losses apart is much work for each loss */
    const double goal = plan->method.cut == BB_PLD_CUT_USED ? WANTED : WANTED / 2.5;
    plan->finer = fmax(plan->finer, sqrt(gap / goal));
    return true;
}

/* Whether to go on with this plan after bounds that are `gap` apart, `mixed` of which is
 * what mixtures do, about. */
bool bb_pld_go_on(bb_pld_direction *s, double epsilon, double gap, double mixed) {
    const bb_pld_method before = s->plan->method;
    const bool helps = improve(s, epsilon, gap - mixed);
    const bool exact = s->plan->method.smooth == 0.0;
    if (s->plan->method.cut == BB_PLD_CUT_WANTED) return false;
    /* lists of few losses tell how fine they have to be */
    if (before.fineness == 0.0 && s->plan->method.fineness > 0.0) return true;
    if (!needs_finer(s->plan, exact ? gap : mixed)) return helps;
    bb_pld_direction_tell_apart(s);
    if (!helps && before.fineness == FIRST_FINENESS)
        s->plan->method.fineness = finer(FIRST_FINENESS, FIRST_GAP);
    return false;
}

double bb_pld_relative(double difference, double epsilon) {
    return difference / fmax(epsilon, EPSILON_LEAST);
}

/* What mixtures do to epsilon, about, as the terms say. */
double bb_pld_apart_at(const bb_pld_direction *s, double epsilon) {
    const double aside = 1e-3;
    double up, more, down;
    if (!s->terms || !s->plan->mixed) return 0.0;
    bb_pld_direction_profile(s, epsilon, &up, &down);
    bb_pld_direction_profile(s, epsilon * (1.0 - aside), &more, &down);
    const double slope = log(more / up) / (aside * epsilon);
    return slope > 0.0 ? bb_pld_direction_apart(s, epsilon) / slope : 0.0;
}
