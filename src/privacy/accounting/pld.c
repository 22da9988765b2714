#include "privacy/accounting/pld.h"

#include "privacy/accounting/pld_direction.h"
#include "privacy/accounting/profile.h"

#include <assert.h>
#include <math.h>

/* -- epsilon -- */

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
#define GIVEN_UP 1e-8
/* Bounds are brought so close, relative, in epsilon; below EPSILON_LEAST it is an absolute
 * difference. */
#define WANTED        4e-4
#define EPSILON_LEAST 1e-3

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

static bb_status refuse(const bb_pld_direction *s) {
    return bb_fail(
        BB_EUSAGE,
        "%.0f rounds, %zu of them different, are too much work for accountant pld: "
        "take fewer different noise multipliers, by rounding them down, "
        "or accountant rdp",
        s->plan->rounds, s->plan->different);
}

/* Of lists of losses. */
#define FIRST_FINENESS 0.05
#define LAST_FINENESS  1e-3

/* After bounds that are `gap` apart, which falls with the square. */
static double finer(double fineness, double gap) {
    const double ratio = fmax(0.1, fmin(0.8, sqrt(0.8 * WANTED / gap)));
    return fmax(LAST_FINENESS, fineness * ratio);
}

/* How a profile is computed: by the sum over frequencies as it is, with a round that is
 * added, and if that is too much work, by lists. */
typedef struct method {
    double smooth, fineness;
    int tried; /* smaller rounds that were added */
} method;

enum { SMOOTHER_MOST = 3 };

static bool can_be_lists(const bb_pld_plan *plan) {
    return !plan->mixed && plan->losses <= BB_PLD_PLAN_MOST;
}

/* For a profile near a point, delta and epsilon being the scales of lists. */
static bb_status compute(bb_pld_direction *s, double saddle, bb_goal near, double delta,
                         double epsilon, method *m) {
    bb_status status = BB_OK;
    s->tilt = saddle;
    if (m->smooth == 0.0 && !s->plan->mixed) {
        status = bb_pld_direction_prepare(s, near.log_delta, near.epsilon, 0.0);
        if (status || s->terms) return status;
        s->tilt = saddle;
    }
    if (m->fineness == 0.0) {
        if (m->smooth == 0.0) m->smooth = first_smooth(s, epsilon);
        status = bb_pld_direction_prepare(s, near.log_delta, near.epsilon, m->smooth);
        if (status || s->terms) return status;
        if (!can_be_lists(s->plan)) return refuse(s);
        m->fineness = FIRST_FINENESS;
    }
    s->tilt = fmax(s->tilt, saddle);
    return bb_pld_direction_compose(s, delta, epsilon, m->fineness);
}

/* What brings bounds closer that are `gap` apart; whether anything does. */
static bool improve(const bb_pld_direction *s, method *m, double epsilon, double gap) {
    if (gap <= WANTED || !s->plan->last || m->fineness == LAST_FINENESS) return false;
    const bool lists = can_be_lists(s->plan);
    if (m->fineness > 0.0)
        m->fineness = finer(m->fineness, gap);
    else if (m->smooth == 0.0)
        m->smooth = first_smooth(s, epsilon);
    else if (lists && m->tried >= SMOOTHER_MOST)
        m->fineness = FIRST_FINENESS;
    else
        m->smooth = smoother(m->smooth, gap);
    m->tried += m->smooth > 0.0;
    return lists || m->tried <= SMOOTHER_MOST;
}

/* `least`: a lower bound of the other side, below which nothing has to be shown; `known`
 * is not below the answer. */
static bb_status find_epsilon(bb_pld_direction *s, double delta, double least,
                              double known, double *upper, double *lower) {
    const double log_delta = log(delta - s->infinite - s->lost);
    const bb_goal g = {log_delta, NAN};
    double most = bb_pld_direction_choose(s, &g, least);
    method m = {0.0, 0.0, 0};
    const double saddle = s->tilt;
    bb_status status = BB_OK;
    *lower = 0.0;
    *upper = least;
    if (s->plan->work > s->plan->work_most) return refuse(s);
    if (most <= least) return BB_OK;
    status = bb_pld_direction_bound_safely(s, &g, saddle, upper);
    if (!status && s->plan->work > s->plan->work_most) status = refuse(s);
    if (status || isinf(*upper)) return status;
    *upper = fmin(*upper, known);
    bb_pld_direction_look_around(s, log_delta, *upper);
    for (int k = 0; k < 12 && *upper > 0.0; k++) {
        const double before = *upper;
        const bb_goal near = {log_delta, before};
        status = compute(s, saddle, near, delta, before, &m);
        if (status == BB_EUSAGE && k > 0) return BB_OK; /* as close as that */
        if (status) return status;
        *upper = fmin(before, from_above(s, delta, before));
        if (!s->terms && *upper > BB_DISCRETE_PLD_LARGEST) break;
        if (*upper == 0.0 || *upper < 0.7 * before) continue;
        *lower = fmax(*lower, from_below(s, delta, *upper));
        const double gap = (*upper - *lower) / fmax(*upper, EPSILON_LEAST);
        if (!improve(s, &m, *upper, gap)) break;
    }
    return BB_OK;
}

static bb_status side_epsilon(bb_pld_plan *plan, bb_direction direction, double delta,
                              double *upper, double *lower) {
    const double least = *lower, known = *upper;
    bb_pld_direction s;
    bb_status status =
        bb_pld_direction_open(&s, plan, direction, given_up(plan, GIVEN_UP * delta));
    if (status) return status;
    *upper = *lower = 0.0;
    if (delta <= s.infinite)
        *upper = *lower = INFINITY;
    else if (s.plan->count)
        status = find_epsilon(&s, delta, least, known, upper, lower);
    bb_pld_direction_close(&s);
    return status;
}

/* -- delta -- */

/* From what one c promises at log delta = most to the profile itself. */
static bb_status find_delta(bb_pld_direction *s, double epsilon, double most,
                            double *upper, double *lower) {
    const double saddle = s->tilt, scale = fmax(epsilon, fmin(0.01, 0.03 / saddle));
    method m = {0.0, 0.0, 0};
    bb_pld_direction_look_around(s, most, epsilon);
    *upper = fmin(1.0, s->infinite + s->lost + exp(most));
    *lower = s->infinite;
    for (int k = 0; k < 12 && *upper > s->infinite; k++) {
        const double before = *upper, goal = before - s->infinite;
        const bb_goal near = {log(goal), epsilon};
        double up, down;
        const bb_status status = compute(s, saddle, near, goal, scale, &m);
        if (status == BB_EUSAGE && k > 0) return BB_OK; /* as close as that */
        if (status) return status;
        bb_pld_direction_profile(s, epsilon, &up, &down);
        *upper = fmin(before, up);
        *lower = fmax(*lower, down);
        const double left = *upper - s->infinite;
        if (left < 1e-2 * goal) continue;
        const double gap = (*upper - *lower) / left / (1.0 + saddle * epsilon);
        if (!improve(s, &m, scale, gap)) break;
    }
    return BB_OK;
}

/* How much may be left out is known only afterwards, when less of it is. */
static bb_status side_delta(bb_pld_plan *plan, bb_direction direction, double epsilon,
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
        if (s.plan->count)
            most = bb_pld_direction_choose(
                &s, &g, fmax(log(fmax(0.0, least - s.infinite)), -750.0));
        if (isfinite(most))
            status = bb_pld_direction_bound_safely(&s, &g, s.tilt, &most);
        const double lost = s.lost;
        const double bound = s.infinite + lost + exp(most) * (1.0 + 0x1p-50);
        if (bound > least && lose > 0.0)
            status = find_delta(&s, epsilon, most, upper, lower);
        else
            *upper = fmin(1.0, bound);
        bb_pld_direction_close(&s);
        if (status || bound <= least || (lose > 0.0 && lost <= 1e-5 * *upper))
            return status;
        lose = (k ? GIVEN_UP : 1e-9) * *upper;
    }
    return BB_OK;
}

/* -- one c -- */

/* What one c promises beside P(L = infinity), the best c where *order is NAN; *order is
 * the one. `promise` is written where there is one. */
static bb_status renyi(bb_pld_direction *s, const bb_goal *goal, double *promise,
                       double *order) {
    if (isnan(*order)) {
        *promise = bb_pld_direction_choose(s, goal, -INFINITY);
        *order = s->tilt + 1.0;
    }
    return bb_pld_direction_bound_safely(s, goal, *order - 1.0, promise);
}

/* *order: in, or NAN for the best. */
static bb_status renyi_epsilon(bb_pld_plan *plan, bb_direction direction, double delta,
                               double *epsilon, double *order) {
    bb_pld_direction s;
    bb_status status = bb_pld_direction_open(&s, plan, direction, 0.0);
    if (status) return status;
    *epsilon = s.plan->count ? INFINITY : 0.0;
    if (s.plan->count && delta > s.infinite) {
        const bb_goal g = {log(delta - s.infinite), NAN};
        status = renyi(&s, &g, epsilon, order);
        *epsilon = fmax(0.0, *epsilon);
    }
    bb_pld_direction_close(&s);
    return status;
}

static bb_status renyi_delta(bb_pld_plan *plan, bb_direction direction, double epsilon,
                             double *delta, double *order) {
    const bb_goal g = {NAN, epsilon};
    double value = -INFINITY;
    bb_pld_direction s;
    bb_status status = bb_pld_direction_open(&s, plan, direction, 0.0);
    if (status) return status;
    if (s.plan->count) status = renyi(&s, &g, &value, order);
    *delta = fmin(1.0, s.infinite + exp(value) * (1.0 + 0x1p-50));
    bb_pld_direction_close(&s);
    return status;
}

/* -- both sides -- */

static bool is_symmetric(bb_pld_plan *plan) {
    for (size_t e = 0; e < plan->losses; e++)
        if (!bb_privacy_loss_is_symmetric(&plan->loss[e], plan->adjacency))
            return false;
    return true;
}

/* An answer about one side: the answer, and what goes with it. */
typedef bb_status (*question)(bb_pld_plan *, bb_direction, double, double *, double *);

/* The larger answer. The second question is asked with what went with the first one. */
static bb_status both(bb_pld_plan *plan, question ask, double at, double *first,
                      double *second) {
    const bool symmetric = is_symmetric(plan);
    double most = -1.0, beside = *second;
    for (int d = 0; d < (symmetric ? 1 : 2); d++) {
        double a = *first, b = beside;
        const bb_status status = ask(plan, d ? BB_WITHOUT : BB_WITH, at, &a, &b);
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

/* Whether a bound of delta at epsilon = 0, the sum of the events' own, is not above. */
static bool is_nothing(const bb_account *account, double delta) {
    double sum = 0.0;
    for (size_t e = 0; e < account->count && sum <= delta; e++) {
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
    return sum <= delta;
}

/* What all of it may take, in multiplications or so: well under two seconds, and under
 * ten for a search of some twenty upper bounds. */
#define WORK_MOST  1.3e9
#define WORK_UPPER 3.5e8

static bb_status ask_both(const bb_account *account, question ask, double at,
                          double *first, double *second) {
    bb_pld_plan plan;
    bb_status status = bb_pld_plan_open(&plan, account, BB_PLD_PLAN_MOST);
    if (status) return status;
    plan.work_most = WORK_MOST;
    status = both(&plan, ask, at, first, second);
    bb_pld_plan_close(&plan);
    return status;
}

/* Different rounds are brought together to few losses, and to more of them as long as the
 * bounds are not close enough. */
static const size_t losses_most[] = {48, 144, 512};
enum { STAGES = sizeof losses_most / sizeof *losses_most };

/* Bounds of what is asked, the gap being relative above `least`. */
static bb_status ask_finer(const bb_account *account, question ask, double at,
                           double least, double wanted, double most, double *upper,
                           double *lower) {
    bb_status status = BB_OK;
    double work = 0.0;
    *upper = INFINITY;
    *lower = 0.0;
    for (int k = 0; k < STAGES; k++) {
        bb_pld_plan plan;
        double up = *upper, low = 0.0;
        status = bb_pld_plan_open(&plan, account, losses_most[k]);
        if (status == BB_EUSAGE) continue; /* more of them may do */
        if (status) return status;
        if (k == 1 && plan.mixed && plan.different <= losses_most[2]) {
            bb_pld_plan_close(&plan);
            continue;
        }
        plan.last = !plan.mixed || k == STAGES - 1;
        plan.work = work;
        plan.work_most = most * (plan.last || most < WORK_MOST ? 1.0
                                 : k == 0                      ? 0.3
                                                               : 0.5);
        status = both(&plan, ask, at, &up, &low);
        work = plan.work;
        const bool last = plan.last;
        bb_pld_plan_close(&plan);
        if (status == BB_ENOMEM) return status;
        if (status) continue;
        *upper = fmin(*upper, up);
        *lower = fmax(*lower, low);
        if (last || *upper - *lower <= wanted * fmax(*upper, least)) break;
    }
    return isinf(*upper) ? status : BB_OK;
}

bb_status bb_pld_epsilon(const bb_account *account, double delta, double *upper,
                         double *lower) {
    assert(delta > 0.0 && delta < 1.0);
    double unwanted;
    const bool wanted = lower;
    if (!wanted) lower = &unwanted;
    *upper = *lower = 0.0;
    if (is_nothing(account, delta)) return BB_OK;
    if (account->count == 1 && bb_profile_knows(account->event, account->adjacency)) {
        bb_profile_epsilon(account->event, account->adjacency, delta, upper, lower);
        return BB_OK;
    }
    return ask_finer(account, side_epsilon, delta, EPSILON_LEAST, WANTED,
                     wanted ? WORK_MOST : WORK_UPPER, upper, lower);
}

bb_status bb_pld_delta(const bb_account *account, double epsilon, double *upper,
                       double *lower) {
    assert(epsilon >= 0.0);
    if (account->count == 1 && bb_profile_knows(account->event, account->adjacency)) {
        bb_profile(account->event, account->adjacency, epsilon, upper, lower);
        return BB_OK;
    }
    return ask_finer(account, side_delta, epsilon, 0.0, 10.0 * WANTED, WORK_MOST, upper,
                     lower);
}

bb_status bb_pld_renyi_epsilon(const bb_account *account, double delta, double *epsilon,
                               double *order) {
    *order = NAN;
    return ask_both(account, renyi_epsilon, delta, epsilon, order);
}

bb_status bb_pld_renyi_delta(const bb_account *account, double epsilon, double *delta,
                             double *order) {
    *order = NAN;
    return ask_both(account, renyi_delta, epsilon, delta, order);
}

bb_status bb_pld_renyi_at(const bb_account *account, double order, double delta,
                          double *epsilon) {
    return ask_both(account, renyi_epsilon, delta, epsilon, &order);
}
