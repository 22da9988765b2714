/* amount.h - exact sums of non-negative doubles in 128-bit fixed point; private to this
 * room. Whatever does not fit is rounded up, the safe side for what was spent. */
#ifndef BB_PRIVACY_AMOUNT_H
#define BB_PRIVACY_AMOUNT_H

#include "privacy/noise/wide.h"

/* Units per 1: sums of epsilon, and of costs (mu^2, RDP), stay below 2^27, sums of
 * delta below 2^7. */
enum {
    BB_AMOUNT_EPSILON_BITS = 100,
    BB_AMOUNT_COST_BITS = 100,
    BB_AMOUNT_DELTA_BITS = 120
};

/* x in units of 2^-bits, rounded up; 0 <= x < 2^(127 - bits). */
bb_u128 bb_amount(double x, int bits);
/* a + b, or the largest value. */
bb_u128 bb_amount_add(bb_u128 a, bb_u128 b);
/* The smallest double that is not below. */
double bb_amount_real(bb_u128 amount, int bits);

#endif
