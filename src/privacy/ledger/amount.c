#include "privacy/ledger/amount.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

bb_u128 bb_amount(double x, int bits) {
    int exponent;
    assert(x >= 0.0 && x < ldexp(1.0, 127 - bits));
    const bb_u128 significand = (uint64_t)ldexp(frexp(x, &exponent), 53);
    const int shift = exponent - 53 + bits;
    if (significand == 0) return 0;
    if (shift >= 0) return significand << shift;
    if (shift <= -64) return 1;
    const bb_u128 lost = ((bb_u128)1 << -shift) - 1;
    return (significand + lost) >> -shift;
}

bb_u128 bb_amount_add(bb_u128 a, bb_u128 b) {
    const bb_u128 sum = a + b;
    return sum < a ? ~(bb_u128)0 : sum;
}

double bb_amount_real(bb_u128 amount, int bits) {
    int shift = 0;
    while (amount >> 53) {
        amount = (amount >> 1) + (amount & 1);
        shift++;
    }
    return ldexp((double)(uint64_t)amount, shift - bits);
}
