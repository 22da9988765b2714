/* pld_apart.h - questions about one direction with large losses apart; private to pld*.c. */
#ifndef BB_PRIVACY_PLD_APART_H
#define BB_PRIVACY_PLD_APART_H

#include "privacy/accounting/pld_direction.h"

/* Where plan->method.cut is wanted or used: nearer to *upper and *lower, bounds of epsilon
 * at delta, or of delta at epsilon, that there are; method.cut says whether that was useful. */
BB_MUST_CHECK bb_status bb_pld_apart_epsilon(bb_pld_plan *plan, bb_direction direction,
                                             double delta, double *upper,
                                             double *lower);
BB_MUST_CHECK bb_status bb_pld_apart_delta(bb_pld_plan *plan, bb_direction direction,
                                           double epsilon, double *upper,
                                           double *lower);

#endif
