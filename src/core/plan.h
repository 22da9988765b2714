/* plan.h - what a run will spend, before it starts. */
#ifndef BB_CORE_PLAN_H
#define BB_CORE_PLAN_H

#include "core/method.h"

/* How the budget is counted: which formula turns weights into noise. */
typedef enum bb_pricing {
    BB_PRICE_NOTHING,  /* no noise: every mu_t is INFINITY */
    BB_PRICE_GAUSSIAN, /* selections epsilon_sel; mu_t^2 = weight_t^2 / sum * mu^2, mu
                          what is left of (epsilon, delta) beside them */
    BB_PRICE_PUBLISHED /* epsilon_t by Kairouz, Oh, Viswanath, as the papers claim */
} bb_pricing;

/* Asks view's method for its plan and prices it: the whole, selections and
 * Gaussian rounds together, is (pub->epsilon, pub->delta)-DP. On failure *plan is not
 * written. The view needs no board and no plan. */
BB_MUST_CHECK bb_status bb_plan_make(bb_plan *plan, const bb_view *view,
                                     bb_pricing pricing);

/* What the first `rounds` rounds of a plan cost, at pub->delta; INFINITY where there is no
 * noise. Of the published pricing: what is claimed. */
BB_MUST_CHECK bb_status bb_plan_spent(const bb_plan *plan, const bb_public *pub,
                                      uint32_t rounds, double *epsilon);

/* One phase of a run. */
typedef struct bb_plan_part {
    bb_view view;    /* no board, no plan */
    double share;    /* of mu^2, and of the selections' epsilon */
    uint32_t from;   /* out: its first round in the whole plan, from 0 */
    uint32_t rounds; /* out */
} bb_plan_part;

/* The same for several phases behind each other, priced together: pub is the whole
 * run's, those of the views differ in what is the phase's own (rounds, mu). */
BB_MUST_CHECK bb_status bb_plan_join(bb_plan *plan, const bb_public *pub, size_t parts,
                                     bb_plan_part *part, bb_pricing pricing);
/* Without prices: the rounds and the room that the phases' methods ask for. */
BB_MUST_CHECK bb_status bb_plan_ask(bb_plan *plan, size_t parts, bb_plan_part *part);
/* What a phase's method sees of the whole plan, from which it is borrowed. */
bb_plan_view bb_plan_view_of(const bb_plan *plan, const bb_plan_part *part);
void bb_plan_free(bb_plan *plan);

#endif
