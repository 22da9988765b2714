/* event.h - what a run publishes, as far as privacy is concerned.
 *
 * An event is one kind of release, repeated. A list of events, with one adjacency for
 * all of them, is what an accountant turns into (epsilon, delta) (account.h). */
#ifndef BB_PRIVACY_EVENT_H
#define BB_PRIVACY_EVENT_H

#include "privacy/accounting/accountant.h"

#include <stdbool.h>
#include <stddef.h>

/* Who takes part in a round. */
typedef enum bb_sampling {
    BB_SAMPLING_ALL,
    BB_SAMPLING_POISSON, /* each task with probability q, independently of all others */
    /* Exactly K of M tasks, uniformly. Visible: what other tasks keep may depend on
     * who was picked, so that they know together whether task i was, and there is no
     * amplification by secrecy. Hidden: nothing that anybody keeps depends on it. */
    BB_SAMPLING_FIXED_VISIBLE,
    BB_SAMPLING_FIXED_HIDDEN
} bb_sampling;

typedef enum bb_event_kind {
    BB_EVENT_ROUND,     /* Gaussian noise on everything the round publishes */
    BB_EVENT_SELECTION, /* the exponential mechanism, epsilon: bounded range */
    BB_EVENT_STEP,   /* any (epsilon, delta)-DP step: permute-and-flip, local noise */
    BB_EVENT_WISHART /* Wishart noise with k degrees of freedom, add-remove */
} bb_event_kind;

typedef struct bb_event {
    bb_event_kind kind;
    double rounds; /* how often: a count, 0 <= rounds <= 2^40 */
    /* A Gaussian round. All its blocks share the cohort and are charged together: with
     * noise multiplier z_b and sensitivity r_b of block b (form.h),
     *     absent  = sqrt(sum_b (1 / z_b)^2)    taking part against showing zeros
     *     replace = sqrt(sum_b (r_b / z_b)^2)  r_b of replace-one; absent <= replace <=
     *               2 absent */
    bb_sampling sampling;
    double rate; /* the chance to take part: 1, q, or K / M */
    double absent, replace;
    /* A block of form slot: what two tasks show cannot add up or cancel. */
    bool apart;
    double epsilon, delta; /* a selection (delta = 0) or a step */
    /* Wishart: E ~ W_d(k, s I) on sums of w w', ||w|| <= K: freedom = k - d + 1 >= 2,
     * ratio = K^2 / s. */
    double freedom, ratio;
} bb_event;

/* A Gaussian round in which all tasks take part and that moves by mu (docs/privacy.md:
 * r / z), in either adjacency. */
bb_event bb_event_gaussian(double mu, double rounds);
/* Blocks of one form with the multiplier z > 0. */
bb_event bb_event_round(bb_sampling sampling, double rate, double absent,
                        double replace, double rounds);
bb_event bb_event_selection(double epsilon, double rounds);
bb_event bb_event_step(double epsilon, double delta, double rounds);
bb_event bb_event_wishart(double freedom, double ratio, double rounds);

/* mu of a round for a task that is known to take part. */
double bb_event_mu(const bb_event *event, bb_adjacency adjacency);
/* Of a hidden cohort under add-remove: how far on the other side of zeros the task that
 * takes its place may be, replace - absent. */
double bb_event_back(const bb_event *event);
/* Every number in its range: rounds, rate in [0, 1] (1 for BB_SAMPLING_ALL), absent and
 * replace as above, epsilon >= 0, 0 <= delta < 1, freedom >= 2, ratio > 0. BB_EUSAGE
 * says which is not. */
BB_MUST_CHECK bb_status bb_event_check(const bb_event *event);

#endif
