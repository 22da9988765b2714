/* Private selection from rational arithmetic: no probability is ever a floating-point
 * number. */
#include "privacy/noise/noise.h"
#include "privacy/noise/noise_table.h"

#include <stdbool.h>

/* epsilon is k / 2^32 and scores are multiples of 2^-20, so that the exponents
 * epsilon * (best - score) / 2 are multiples of 2^-53. */
enum { EPSILON_BITS = 32, EXPONENT_BITS = 53 };
#define MOST_EPSILON 0x1p20

/* True with probability exp(-a / 2^53), 0 <= a <= 2^53 (Canonne, Kamath, Steinke 2020,
 * algorithm 1: the k-th draw succeeds with probability a / (2^53 k), and the first
 * failure comes at an odd k with probability exp(-a / 2^53)). */
static bool keep_fraction(bb_random *random, uint64_t a) {
    for (uint64_t k = 1;; k++) {
        const bool hit = bb_random_bits(random) >> (64 - EXPONENT_BITS) < a &&
                         bb_random_below(random, k) == 0;
        if (!hit) return k % 2 == 1;
    }
}

/* True with probability exp(-exponent / 2^53). */
static bool keep(bb_random *random, bb_u128 exponent) {
    const uint64_t one = UINT64_C(1) << EXPONENT_BITS;
    if (!keep_fraction(random, (uint64_t)exponent & (one - 1))) return false;
    for (bb_u128 whole = exponent >> EXPONENT_BITS; whole > 0; whole--)
        if (!keep_fraction(random, one)) return false;
    return true;
}

static uint64_t rounded_down(double epsilon) {
    return (uint64_t)((epsilon < MOST_EPSILON ? epsilon : MOST_EPSILON) *
                      (double)(UINT64_C(1) << EPSILON_BITS));
}

static int64_t best_of(size_t n, const int64_t *score) {
    int64_t best = score[0];
    for (size_t i = 1; i < n; i++)
        if (score[i] > best) best = score[i];
    return best;
}

static bb_u128 exponent_of(uint64_t epsilon, int64_t best, int64_t score) {
    return (bb_u128)epsilon * ((uint64_t)best - (uint64_t)score);
}

size_t bb_select_permute_and_flip(bb_random *random, double epsilon, size_t n,
                                  const int64_t *score) {
    if (n < 1 || n > BB_SELECT_MOST || !(epsilon >= 0.0)) {
        bb_random_fail(random, "it selects among no such number of candidates, or with "
                               "no such epsilon");
        return 0;
    }
    const uint64_t k = rounded_down(epsilon);
    const int64_t best = best_of(n, score);
    uint16_t order[BB_SELECT_MOST];
    for (size_t i = 0; i < n; i++) order[i] = (uint16_t)i;
    /* a random permutation, made as far as it is needed; the best is always kept */
    for (size_t left = n;; left--) {
        const size_t j = (size_t)bb_random_below(random, left);
        const size_t i = order[j];
        if (keep(random, exponent_of(k, best, score[i]))) return i;
        order[j] = order[left - 1];
    }
}
