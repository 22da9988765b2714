#include "privacy/accounting/pld.h"

#include "privacy/accounting/pld_side.h"
#include "privacy/accounting/profile.h"

#include <assert.h>
#include <math.h>

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
#define WORK_MOST  1.7e9
#define WORK_UPPER 3.2e8

static bb_status ask_both(const bb_account *account, question ask, double at,
                          double *first, double *second) {
    bb_pld_plan plan;
    bb_status status = bb_pld_plan_open(&plan, account, BB_PLD_PLAN_MOST, 1.0, NULL);
    if (status) return status;
    plan.work_most = WORK_MOST;
    status = both(&plan, ask, at, first, second);
    bb_pld_plan_close(&plan);
    return status;
}

/* Different rounds are brought together to few losses, and to more of them as long as the
 * bounds are not close enough. */
#define LOSSES_LEAST 48.0
#define LOSSES_MOST  640.0

/* Before anything is known of it. */
#define FIRST_DELTA 1e-12

/* A search for noise ends with closer bounds; likewise where only one is asked for. */
#define ROUGHLY 1e-2

/* Of all work, for the first direction: the other one is mostly not needed. What it would
 * be refused for is refused at once; in a search, which is not long, when it comes to it. */
#define FIRST_SHARE  0.85
#define SECOND_LEAST 0.4

/* A question, and bounds of the answer for each direction. */
typedef struct asked {
    question ask;
    double at, delta;           /* about; of the profile */
    double least, wanted, most; /* the gap, relative above `least`; work */
    double upper[2], lower[2];
    bb_pld_method method[2];
    double work;
} asked;

static bool is_close(const asked *q, int d) {
    const double least = fmax(q->lower[0], q->lower[1]);
    return q->upper[d] <= least ||
           q->upper[d] - q->lower[d] <= q->wanted * fmax(q->upper[d], q->least);
}

/* What a plan says of the directions that are not close; plan->finer as it is. */
static bb_status ask_plan(asked *q, bb_pld_plan *plan) {
    const int directions = is_symmetric(plan) ? 1 : 2;
    plan->work = q->work;
    for (int d = 0; d < directions; d++) {
        double up = q->upper[d], low = d ? q->lower[0] : 0.0;
        if (isfinite(up) && is_close(q, d)) continue;
        /* the second direction shall have some left, and always enough for a bound */
        plan->work_most = q->most;
        plan->other_most = INFINITY;
        if (d == 0 && directions == 2) {
            plan->work_most = q->work + FIRST_SHARE * (q->most - q->work);
            if (q->most == WORK_MOST) plan->other_most = SECOND_LEAST * q->most;
        }
        if (d == 1)
            plan->work_most = fmax(q->most, plan->work + SECOND_LEAST * q->most);
        plan->method = q->method[d];
        const bb_status status =
            q->ask(plan, d ? BB_WITHOUT : BB_WITH, q->at, &up, &low);
        const bool refused = status == BB_EUSAGE || status == BB_ENUMERIC;
        if (refused && isfinite(q->upper[d])) { /* as close as that */
            plan->work = INFINITY;
            continue;
        }
        if (status) return status;
        q->method[d] = plan->method;
        q->upper[d] = fmin(q->upper[d], up);
        q->lower[d] = fmax(q->lower[d], low);
    }
    if (directions == 1) {
        q->upper[1] = q->upper[0];
        q->lower[1] = q->lower[0];
    }
    q->work = plan->work;
    return BB_OK;
}

static bb_status ask_finer(const bb_account *account, asked *q, double *upper,
                           double *lower) {
    double losses = LOSSES_LEAST;
    bb_status status = BB_OK;
    bb_pld_plan coarser = {0};
    bool done = false;
    for (int d = 0; d < 2; d++) {
        q->upper[d] = INFINITY;
        q->lower[d] = 0.0;
    }
    while (!done && !status) {
        bb_pld_plan plan;
        status = bb_pld_plan_open(&plan, account, (size_t)losses, q->delta,
                                  coarser.losses ? &coarser : NULL);
        if (status) break;
        plan.last = losses >= LOSSES_MOST;
        status = ask_plan(q, &plan);
        done = plan.last || !plan.mixed || q->work > q->most ||
               (is_close(q, 0) && is_close(q, 1));
        losses = fmin(LOSSES_MOST, losses * fmin(5.0, fmax(1.5, plan.finer)));
        if (q->ask == bb_pld_side_delta) q->delta = fmax(q->upper[0], q->upper[1]);
        bb_pld_plan_close(&coarser);
        coarser = plan;
    }
    bb_pld_plan_close(&coarser);
    if (status) return status;
    *upper = fmax(q->upper[0], q->upper[1]);
    *lower = fmax(q->lower[0], q->lower[1]);
    return BB_OK;
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
    asked q = {.ask = bb_pld_side_epsilon,
               .at = delta,
               .delta = delta,
               .least = BB_PLD_EPSILON_LEAST,
               .wanted = wanted ? 2.0 * BB_PLD_WANTED : ROUGHLY,
               .most = wanted ? WORK_MOST : WORK_UPPER};
    return ask_finer(account, &q, upper, lower);
}

bb_status bb_pld_delta(const bb_account *account, double epsilon, double *upper,
                       double *lower) {
    assert(epsilon >= 0.0);
    double unwanted;
    const bool wanted = lower;
    if (!wanted) lower = &unwanted;
    if (account->count == 1 && bb_profile_knows(account->event, account->adjacency)) {
        bb_profile(account->event, account->adjacency, epsilon, upper, lower);
        return BB_OK;
    }
    asked q = {.ask = bb_pld_side_delta,
               .at = epsilon,
               .delta = FIRST_DELTA,
               .wanted = 10.0 * (wanted ? BB_PLD_WANTED : ROUGHLY),
               .most = wanted ? WORK_MOST : WORK_UPPER};
    return ask_finer(account, &q, upper, lower);
}

bb_status bb_pld_renyi_epsilon(const bb_account *account, double delta, double *epsilon,
                               double *order) {
    *order = NAN;
    return ask_both(account, bb_pld_side_renyi_epsilon, delta, epsilon, order);
}

bb_status bb_pld_renyi_delta(const bb_account *account, double epsilon, double *delta,
                             double *order) {
    *order = NAN;
    return ask_both(account, bb_pld_side_renyi_delta, epsilon, delta, order);
}

bb_status bb_pld_renyi_at(const bb_account *account, double order, double delta,
                          double *epsilon) {
    return ask_both(account, bb_pld_side_renyi_epsilon, delta, epsilon, &order);
}
