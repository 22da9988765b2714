/* noise_tail.h - the tail of bb_noise_gaussian by itself, which otherwise comes up once
 * in 10^15 samples. The sampler is given a buffer of words that lead straight there:
 * the slot is one of the tail's, at least `step` of its steps are taken, and the
 * point's height is below 2^bits. All points under the curve beyond `from` deviations
 * fulfil that, so the conditional law of those kept is that of |g| > from. Knows how a
 * word is used (noise.c). */
#ifndef BB_TESTS_PRIVACY_NOISE_TAIL_H
#define BB_TESTS_PRIVACY_NOISE_TAIL_H

#include "privacy/noise/noise.h"
#include "privacy/noise/noise_table.h"

#include <math.h>
#include <string.h>

typedef struct noise_tail {
    unsigned step, bits;
    double from; /* standard deviations */
    double kept; /* probability that a draw is kept */
} noise_tail;

/* f(x) of noise_table.h is 101 * 2^43 exp(-x^2 / 2); a step is 1/4 wide and doubles
 * heights, in units of 2^-64. from >= 4.5, a multiple of 1/4. */
static inline noise_tail noise_tail_open(double from) {
    noise_tail tail = {.step = (unsigned)((from - 3.0) * 4.0), .from = from};
    const double lift = ldexp(101.0, 43 + 64 + (int)tail.step);
    tail.bits = (unsigned)ilogb(lift * exp(-from * from / 2.0)) + 1;
    tail.kept =
        2.0 * ldexp(lift, -(int)tail.bits) * sqrt(M_PI / 2.0) * erfc(from / M_SQRT2);
    return tail;
}

/* A sample of deviation std beyond tail->from, or 0 if the point was not kept. */
static inline int64_t noise_tail_draw(const noise_tail *tail, bb_random *source,
                                      double std) {
    /* without a cipher; rejected, the sampler goes on with other words, in the end with
     * zeros, which give 0 */
    bb_random fed = {.used = 0};
    const bb_u128 height =
        ((bb_u128)bb_random_bits(source) << 64 | bb_random_bits(source)) >>
        (128 - tail->bits);
    const uint64_t word = bb_random_bits(source);
    const uint64_t t = bb_noise_rest[BB_NOISE_CELLS] +
                       (word & 15) * bb_noise_envelope[BB_NOISE_CELLS] +
                       (uint64_t)(height >> 64);
    const uint64_t slot = BB_NOISE_INSIDE + (t >> BB_NOISE_HEIGHT_BITS);
    const unsigned spare = BB_NOISE_PLACE_BITS - BB_NOISE_HEIGHT_BITS;
    fed.buffer[0] = slot << (64 - BB_NOISE_SLOT_BITS) |
                    (word >> 63) << BB_NOISE_PLACE_BITS |
                    (t & ((UINT64_C(1) << BB_NOISE_HEIGHT_BITS) - 1)) << spare;
    fed.buffer[1] = bb_random_bits(source); /* place */
    fed.buffer[2] = bb_random_bits(source); /* more of it */
    fed.buffer[3] = bb_random_bits(source) << tail->step;
    fed.buffer[4] = (uint64_t)height; /* the height's fraction, if it is asked for */
    int64_t value = 0;
    bb_noise_gaussian(&fed, std, 1, &value);
    return fabs((double)value) >= tail->from * std ? value : 0;
}

/* Uniform on (0, 1) for a sample beyond tail->from. */
static inline double noise_tail_rank(const noise_tail *tail, double std,
                                     int64_t value) {
    return erfc(fabs((double)value) / std / M_SQRT2) / erfc(tail->from / M_SQRT2);
}

#endif
