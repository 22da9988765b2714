#include "privacy/noise/noise_table.h"

/* ln 2 and 1/ln 2. */
#define LN2_HIGH   UINT64_C(0xb17217f7d1cf79ab)
#define LN2_LOW    UINT64_C(0xc9e3b39803f2f6af)
#define PER_LN2_32 UINT64_C(6196328018) /* floor(2^32 / ln 2) */

/* floor(a b / 2^128), or one less. */
static bb_u128 multiply_high(bb_u128 a, bb_u128 b) {
    const uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a;
    const uint64_t b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
    const bb_u128 left = (bb_u128)a1 * b0, right = (bb_u128)a0 * b1;
    const bb_u128 low = ((bb_u128)a0 * b0 >> 64) + (uint64_t)left + (uint64_t)right;
    return (bb_u128)a1 * b1 + (left >> 64) + (right >> 64) + (low >> 64);
}

/* exp(-r) in units of 2^-127 for 0 <= r < 0.7 in the same units: 34 terms, the rest is
 * below 2^-144; every step adds less than 3 units, divided by what follows. */
static bb_u128 exp_minus(bb_u128 r) {
    const bb_u128 one = (bb_u128)1 << 127;
    bb_u128 sum = one;
    for (unsigned k = 34; k >= 1; k--) sum = one - (multiply_high(r, sum) << 1) / k;
    return sum;
}

bb_u128 bb_noise_curve(uint64_t place, uint64_t more, unsigned scale) {
    /* x in units of 2^-123, x^2/2 in units of 2^-119 (246 - 128 = 118 and the half) */
    const bb_u128 x = (bb_u128)place << 66 | (bb_u128)more << 2;
    const bb_u128 t = multiply_high(x, x);
    /* t = whole ln 2 + r; the estimate of whole is never too large and at most 1 low */
    uint64_t whole = (uint64_t)((bb_u128)(uint64_t)(t >> 87) * PER_LN2_32 >> 64);
    const bb_u128 ln2 = ((bb_u128)LN2_HIGH << 64 | LN2_LOW) >> 9;
    bb_u128 r =
        t - (((bb_u128)whole * LN2_HIGH << 55) + ((bb_u128)whole * LN2_LOW >> 9));
    if (r >= ln2) {
        r -= ln2;
        whole++;
    }
    const bb_u128 p = exp_minus(r << 8);                     /* in (1/2, 1] */
    const bb_u128 f = multiply_high(p, (bb_u128)101 << 108); /* p A 2^64 */
    return whole - scale < 128 ? f >> (whole - scale) : 0;
}
