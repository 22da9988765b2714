#include "api/account.h"
#include "base/memory.h"
#include "base/number.h"
#include "privacy/statement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS 0x1p40
/* Bounds of a curve over delta, and over epsilon as a multiple of the plan's own. */
enum {
    LEAST_DECADE = -12,
    MOST_DECADE = -1,
    A_DECADE = 2,
    EPSILONS = 24,
    ROUND_STEPS = 24
};

/* -- what is to be found -- */

static bb_status complete(const account_options *o, account_axis *found) {
    const bool budget = !isnan(o->epsilon);
    if (budget && (o->delta || o->slack))
        return bb_fail(BB_EUSAGE,
                       "account: nothing is left to be found: leave out one of "
                       "--noise-multiplier, --rounds, --epsilon and --delta");
    *found = budget ? ACCOUNT_DELTA : ACCOUNT_EPSILON;
    return BB_OK;
}

static bb_status choose(const account_options *o, const account_plan *plan,
                        account_axis *found) {
    const bool noise = o->noise, rounds = !isnan(o->rounds),
               budget = !isnan(o->epsilon);
    if (o->slack && !o->epsilons)
        return bb_fail(BB_EUSAGE, "account: --slack belongs to --epsilons");
    if (o->slack && o->delta)
        return bb_fail(BB_EUSAGE, "account: --slack and --delta are two names of one "
                                  "number: give one");
    if (noise == rounds) {
        if (noise || plan->others) return complete(o, found);
        return bb_fail(BB_EUSAGE,
                       "account: which plan? give --noise-multiplier and --rounds, or "
                       "one of them and --epsilon, or --epsilons, --selection, --step "
                       "or --events");
    }
    if (!budget)
        return bb_fail(BB_EUSAGE, "account: give --%s, or --epsilon to have it found",
                       noise ? "rounds" : "noise-multiplier");
    if (noise && plan->others)
        return bb_fail(BB_EUSAGE,
                       "account: rounds are found for a plan of equal rounds only: "
                       "give --rounds, or leave out --selection, --step, --epsilons "
                       "and --events");
    if (rounds && plan->mixed)
        return bb_fail(BB_EUSAGE,
                       "account: --events has rounds whose noise is given: give "
                       "--noise-multiplier, too");
    *found = noise ? ACCOUNT_ROUNDS : ACCOUNT_NOISE;
    return BB_OK;
}

static bb_status read_delta(const account_options *o, double *delta) {
    const char *text = o->slack ? o->slack : o->delta;
    double zero;
    if (text && bb_number_real(text, &zero) && zero == 0.0) {
        *delta = 0.0;
        return BB_OK;
    }
    if ((!text || strcmp(text, "paper") == 0) && isnan(o->tasks))
        return bb_fail(BB_EUSAGE, "account: epsilon means nothing without delta: give "
                                  "--delta, or --tasks for its default");
    return bb_delta_choose(text, isnan(o->tasks) ? 1 : (size_t)o->tasks, delta);
}

static bb_status check_adaptive(const account_options *o, account_axis found) {
    if (!o->adaptive && !isnan(o->order))
        return bb_fail(BB_EUSAGE, "account: --order belongs to --adaptive");
    if (o->order <= 1.0)
        return bb_fail(BB_EUSAGE, "account: --order must be above 1, got %g", o->order);
    if (o->adaptive && (found != ACCOUNT_EPSILON || o->curve == ACCOUNT_DELTA))
        return bb_fail(BB_EUSAGE, "account: with --adaptive only epsilon can be found: "
                                  "give --noise-multiplier, --rounds and --delta");
    return BB_OK;
}

/* -- prices -- */

/* The order that suits the plan best as it stands; no output has been seen. */
static bb_status fix_order(const account_options *o, const bb_account *account,
                           double delta, double *order) {
    const bb_accountant which = (bb_accountant)o->accountant;
    bb_answer best;
    *order = isnan(o->order) ? 2.0 : o->order;
    if (!o->adaptive || !isnan(o->order) ||
        (which != BB_ACCOUNTANT_AUTO && which != BB_ACCOUNTANT_RDP))
        return BB_OK;
    const bb_status status =
        bb_account_epsilon(account, BB_ACCOUNTANT_RDP, delta, &best);
    if (!status && best.order > 1.0) *order = best.order;
    return status;
}

static bb_status epsilon_at(const account_options *o, const bb_account *account,
                            double order, double delta, bb_answer *answer) {
    const bb_accountant which = (bb_accountant)o->accountant;
    return o->adaptive ? bb_account_adaptive(account, which, order, delta, answer)
                       : bb_account_epsilon(account, which, delta, answer);
}

static bb_status find_epsilon(const account_options *o, const bb_account *account,
                              account_price *price) {
    bb_status status = fix_order(o, account, price->delta, &price->order);
    if (!status)
        status = epsilon_at(o, account, price->order, price->delta, &price->answer);
    if (!status && isinf(price->answer.upper))
        status =
            bb_fail(BB_EUSAGE,
                    "account: no epsilon is valid at delta %g: it is too small for "
                    "this plan",
                    price->delta);
    return status;
}

static bb_status find_noise(const account_options *o, const bb_account *account,
                            account_plan *plan, account_price *price) {
    double factor;
    const bb_status status =
        bb_account_noise(account, (bb_accountant)o->accountant, price->epsilon,
                         price->delta, &factor, &price->answer);
    for (size_t b = 0; b < plan->blocks && !status; b++) plan->multiplier[b] *= factor;
    return status;
}

static bb_status find_rounds(const account_options *o, const bb_account *account,
                             account_plan *plan, account_price *price) {
    const bb_status status =
        bb_account_rounds(account, (bb_accountant)o->accountant, price->epsilon,
                          price->delta, MOST_ROUNDS, &plan->rounds, &price->answer);
    if (!status && plan->rounds < 1.0)
        return bb_fail(BB_EBUDGET,
                       "account: not even one round fits into epsilon %g at delta %g",
                       price->epsilon, price->delta);
    return status;
}

static void keep_answer(account_price *price) {
    const bb_answer *a = &price->answer;
    price->epsilon_lower = price->delta_lower = NAN;
    if (price->found == ACCOUNT_DELTA) {
        price->delta = a->upper;
        price->delta_lower = a->lower;
    } else {
        price->epsilon = a->upper;
        price->epsilon_lower = a->lower;
    }
}

bb_status account_solve(const account_options *options, account_plan *plan,
                        account_price *price) {
    account_price p = {.epsilon = options->epsilon, .order = NAN};
    bb_event *event = NULL;
    size_t count = 0;
    bb_status status = choose(options, plan, &p.found);
    if (!status) status = check_adaptive(options, p.found);
    if (!status && p.found != ACCOUNT_DELTA) status = read_delta(options, &p.delta);
    if (!status) status = account_plan_events(plan, plan->rounds, &event, &count);
    const bb_account account = {plan->adjacency, count, event};
    if (!status && p.found == ACCOUNT_EPSILON)
        status = find_epsilon(options, &account, &p);
    else if (!status && p.found == ACCOUNT_DELTA)
        status = bb_account_delta(&account, (bb_accountant)options->accountant,
                                  p.epsilon, &p.answer);
    else if (!status && p.found == ACCOUNT_NOISE)
        status = find_noise(options, &account, plan, &p);
    else if (!status)
        status = find_rounds(options, &account, plan, &p);
    free(event);
    if (status) return status;
    keep_answer(&p);
    *price = p;
    return BB_OK;
}

/* -- curves -- */

/* Half decades, down to the plan's own delta. */
static size_t delta_grid(const account_price *price, double *x) {
    int first = LEAST_DECADE;
    if (price->delta > 0.0) first = (int)fmin(first, floor(log10(price->delta)));
    const int count = A_DECADE * (MOST_DECADE - first) + 1;
    for (int k = 0; x && k < count; k++) x[k] = pow(10.0, first + (double)k / A_DECADE);
    return (size_t)count;
}

/* Equal steps from 0 to about twice the plan's epsilon. */
static size_t epsilon_grid(const account_price *price, double *x) {
    const double wide = fmax(2.0 * price->epsilon, 1e-6) / EPSILONS,
                 unit = pow(10.0, floor(log10(wide))),
                 step = wide <= unit       ? unit
                        : wide <= 2 * unit ? 2 * unit
                        : wide <= 5 * unit ? 5 * unit
                                           : 10 * unit;
    const size_t count = (size_t)ceil(EPSILONS * wide / step - 1e-9) + 1;
    for (size_t k = 0; x && k < count; k++) x[k] = (double)k * step;
    return count;
}

/* Whole numbers in about equal ratios, from 1 to the plan's. */
static size_t round_grid(const account_plan *plan, double *x) {
    size_t count = 0;
    double last = 0.0;
    for (int k = 0; k <= ROUND_STEPS; k++) {
        const double t = k < ROUND_STEPS
                             ? round(pow(plan->rounds, (double)k / ROUND_STEPS))
                             : plan->rounds;
        if (t <= last) continue;
        if (x) x[count] = t;
        last = t;
        count++;
    }
    return count;
}

static size_t grid(account_axis of, const account_plan *plan,
                   const account_price *price, double *x) {
    return of == ACCOUNT_EPSILON ? delta_grid(price, x)
           : of == ACCOUNT_DELTA ? epsilon_grid(price, x)
                                 : round_grid(plan, x);
}

static bb_status curve_point(const account_options *o, const account_plan *plan,
                             const account_price *price, double x, bb_answer *answer) {
    const account_axis of = (account_axis)o->curve;
    bb_event *event = NULL;
    size_t count = 0;
    bb_status status = account_plan_events(
        plan, of == ACCOUNT_ROUNDS ? x : plan->rounds, &event, &count);
    const bb_account account = {plan->adjacency, count, event};
    if (!status && of == ACCOUNT_DELTA)
        status = bb_account_delta(&account, (bb_accountant)o->accountant, x, answer);
    else if (!status)
        status = epsilon_at(o, &account, price->order,
                            of == ACCOUNT_EPSILON ? x : price->delta, answer);
    free(event);
    return status;
}

bb_status account_curve_open(const account_options *options, const account_plan *plan,
                             const account_price *price,
                             bb_status (*tick)(void *self, size_t point, size_t points),
                             void *self, account_curve *curve) {
    account_curve c = {.of = (account_axis)options->curve};
    *curve = c;
    if (c.of == ACCOUNT_NOTHING) return BB_OK;
    if (c.of == ACCOUNT_ROUNDS && plan->rounds < 2.0)
        return bb_fail(BB_EUSAGE, "account: a curve over rounds needs at least two");
    c.count = grid(c.of, plan, price, NULL);
    bb_status status = bb_allocate(&c.x, c.count, sizeof *c.x, "the curve");
    if (!status) status = bb_allocate(&c.upper, c.count, sizeof *c.upper, "the curve");
    if (!status) status = bb_allocate(&c.lower, c.count, sizeof *c.lower, "the curve");
    if (!status) grid(c.of, plan, price, c.x);
    for (size_t k = 0; k < c.count && !status; k++) {
        bb_answer answer = {0};
        status = tick(self, k + 1, c.count);
        if (!status) status = curve_point(options, plan, price, c.x[k], &answer);
        c.upper[k] = answer.upper;
        c.lower[k] = answer.lower;
    }
    if (status)
        account_curve_close(&c);
    else
        *curve = c;
    return status;
}

void account_curve_close(account_curve *curve) {
    free(curve->x);
    free(curve->upper);
    free(curve->lower);
    *curve = (account_curve){0};
}
