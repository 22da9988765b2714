/* account.h - inside the room: the parts of billboard_account, which prices a plan
 * without any data: options -> plan (account_plan.c, account_events.c) -> price and curve
 * (account_price.c) -> JSON and words (account.c). */
#ifndef BB_API_ACCOUNT_H
#define BB_API_ACCOUNT_H

#include "base/options.h"
#include "privacy/accounting/account.h"
#include "privacy/accounting/form.h"

#include <stdbool.h>
#include <stddef.h>

/* What was asked for. A real that is not given is NAN, a text NULL. */
typedef struct account_options {
    char *noise, *sampling, *cohort, *form, *delta, *schedule, *selection, *step,
        *epsilons, *slack, *events;
    double rounds, tasks, epsilon, wishart, order;
    int adjacency, accountant, curve; /* bb_adjacency, bb_accountant, account_axis */
    bool adaptive;
} account_options;

/* One row for each option. */
bb_options account_table(void);

enum { ACCOUNT_BLOCKS_MOST = 16 };

/* Rounds that differ in weight only, and whatever else is published. */
typedef struct account_plan {
    bb_adjacency adjacency;
    bb_sampling sampling;
    double rate;
    size_t blocks; /* of a round; 0: there are no rounds but those in `other` */
    bb_form form[ACCOUNT_BLOCKS_MOST];
    double multiplier[ACCOUNT_BLOCKS_MOST]; /* of the round with the least noise */
    double freedom;                         /* of Wishart noise; NAN: Gaussian */
    double rounds;
    double *weight; /* of each round, the largest is 1; NULL: all are equal */
    bb_event *other;
    size_t others, room;
    bool mixed; /* `other` has rounds of its own */
} account_plan;

/* Reads all that describes the plan and checks its ranges. Noise that is not given is
 * 1, a number of rounds that is not given is 1: account_solve finds them. */
BB_MUST_CHECK bb_status account_plan_open(account_plan *plan,
                                          const account_options *options);
void account_plan_close(account_plan *plan);

/* The first `rounds` rounds, equal neighbours merged, and then the others: a new array,
 * to be freed with free(). */
BB_MUST_CHECK bb_status account_plan_events(const account_plan *plan, double rounds,
                                            bb_event **event, size_t *count);

/* Who takes part, from the text of --sampling (NULL: all) and --cohort. `what` names
 * the place in messages. */
BB_MUST_CHECK bb_status account_read_sampling(const char *what, const char *sampling,
                                              const char *cohort, double tasks,
                                              account_plan *plan);
/* The blocks of a round, from the texts of --form (NULL: vector) and
 * --noise-multiplier (NULL: 1 for every block). */
BB_MUST_CHECK bb_status account_read_blocks(const char *what, const char *form,
                                            const char *noise, account_plan *plan);
/* A round with this weight, repeated. */
bb_event account_round(const account_plan *plan, double weight, double rounds);
/* BB_EUSAGE unless the value is whole, or NAN. */
BB_MUST_CHECK bb_status account_check_whole(const char *what, const char *name,
                                            double value);

/* Appends what --selection, --step, --epsilons and --events name. */
BB_MUST_CHECK bb_status account_read_others(account_plan *plan,
                                            const account_options *options);

typedef enum account_axis {
    ACCOUNT_NOTHING,
    ACCOUNT_EPSILON,
    ACCOUNT_DELTA,
    ACCOUNT_ROUNDS,
    ACCOUNT_NOISE
} account_axis;

typedef struct account_price {
    account_axis found;
    double epsilon, delta;
    double epsilon_lower, delta_lower; /* NAN: not known */
    double order;                      /* fixed beforehand, if adaptive */
    bb_answer answer;
} account_price;

/* Finds the one of epsilon, delta, noise and rounds that is not given, and completes
 * the plan with it. */
BB_MUST_CHECK bb_status account_solve(const account_options *options,
                                      account_plan *plan, account_price *price);

/* A table of bounds: of epsilon over delta or over rounds, or of delta over epsilon. */
typedef struct account_curve {
    account_axis of; /* what options.curve says */
    size_t count;
    double *x, *upper, *lower; /* INFINITY: no bound; NAN: not known */
} account_curve;

/* Calls tick before each point, which may take seconds; it may stop all. */
BB_MUST_CHECK bb_status account_curve_open(const account_options *options,
                                           const account_plan *plan,
                                           const account_price *price,
                                           bb_status (*tick)(void *self, size_t point,
                                                             size_t points),
                                           void *self, account_curve *curve);
void account_curve_close(account_curve *curve);

#endif
