/* pld_side.h - what is asked of one direction of a plan: epsilon at delta, delta at
 * epsilon, and what a single c promises of either; private to pld*.c. */
#ifndef BB_PRIVACY_PLD_SIDE_H
#define BB_PRIVACY_PLD_SIDE_H

#include "privacy/accounting/pld_refine.h"

/* In *upper: what is known already; in *lower: a lower bound of the other direction,
 * below which nothing has to be shown. Bounds are as close as the plan's work allows;
 * plan->finer is set, and bounds are not close, where more losses are needed. */
BB_MUST_CHECK bb_status bb_pld_side_epsilon(bb_pld_plan *plan, bb_direction direction,
                                            double delta, double *upper, double *lower);
BB_MUST_CHECK bb_status bb_pld_side_delta(bb_pld_plan *plan, bb_direction direction,
                                          double epsilon, double *upper, double *lower);

/* By one c, of order c + 1: *order is in, or NAN for the best. */
BB_MUST_CHECK bb_status bb_pld_side_renyi_epsilon(bb_pld_plan *plan,
                                                  bb_direction direction, double delta,
                                                  double *epsilon, double *order);
BB_MUST_CHECK bb_status bb_pld_side_renyi_delta(bb_pld_plan *plan,
                                                bb_direction direction, double epsilon,
                                                double *delta, double *order);

#endif
