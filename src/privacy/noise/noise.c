/* Rejection under a table of cells, with bits drawn lazily.
 *
 * Write |g| = x. A point uniform under the curve f(x) = A exp(-x^2/2) has abscissa x of
 * the right distribution. The 4096 slots of noise_table.h have equal areas, so 12 bits
 * pick one. A slot under the curve is a rectangle: x is uniform in its cell (96 % of
 * the samples, one word). The other slots are one interval of integers, shared out to
 * what rests between slots and envelope in each cell, and to the tail; there the point
 * also has a height y, and is kept if y < f(x), else everything is drawn anew. Since
 * the envelope is nowhere below f, and slots and rests have exactly their areas'
 * probabilities, the kept x is exact, whatever the envelope's slack.
 *
 * Heights are integers y plus a fraction of 64 bits, and f is known with an error below
 * 2^-62: points within that distance of the curve are decided without regard to the
 * truth. Their share is at most 193 * 2^-61 of 3920 * 2^44 kept areas, < 2^-108.
 *
 * x = (place + theta) 2^-57 with a place of 51 bits inside its cell and theta uniform
 * in [0, 1), so far not drawn. The value is floor(std x + 1/2) = floor((step * (place +
 * theta) + 2^63) / 2^64), where step is std's significand, scaled (for small std the
 * last `drop` bits of place belong to theta). It is decided by place unless step *
 * theta may carry into the next integer: then theta's bits are compared with the ratio
 * at which it does, digit by digit, until they differ. */
#include "privacy/noise/noise.h"

#include "privacy/noise/noise_table.h"

#include <math.h>
#include <stdbool.h>

#define LOW_BITS(n) ((UINT64_C(1) << (n)) - 1)

/* std in the form that the loop uses. */
typedef struct bb_scale {
    uint64_t step;
    unsigned drop;
} bb_scale;

static bb_scale scale_of(double std) {
    int exponent;
    const uint64_t significand = (uint64_t)ldexp(frexp(std, &exponent), 53);
    /* std x = significand 2^(exponent - 53) place 2^-57 = significand place 2^-shift */
    const int shift = 110 - exponent; /* 53 .. 89 */
    if (shift >= 64) return (bb_scale){significand, (unsigned)(shift - 64)};
    return (bb_scale){significand << (64 - shift), 0};
}

/* Whether step * theta >= 2^64 - low, low != 0; `known` are theta's first digits. */
static bool carries(bb_random *random, uint64_t step, uint64_t low,
                    const uint64_t *known, int count) {
    uint64_t gap = 0 - low; /* 2^64 - low < step: theta against gap / step */
    for (int k = 0;; k++) {
        const bb_u128 wide = (bb_u128)gap << 64;
        const uint64_t digit = (uint64_t)(wide / step);
        const uint64_t drawn = k < count ? known[k] : bb_random_bits(random);
        gap = (uint64_t)(wide % step);
        if (drawn != digit) return drawn > digit;
        if (gap == 0) return true;
    }
}

/* |value| from a place, when theta's bits are still to be drawn. */
static inline uint64_t magnitude(bb_random *random, bb_scale s, uint64_t place) {
    const bb_u128 sum = (bb_u128)s.step * (place >> s.drop) + ((bb_u128)1 << 63);
    const uint64_t whole = (uint64_t)(sum >> 64), low = (uint64_t)sum;
    if (low <= 0 - s.step) return whole;
    return whole + carries(random, s.step, low, NULL, 0);
}

/* The same when all of place and 64 bits more are known. */
static uint64_t known_magnitude(bb_random *random, bb_scale s, uint64_t place,
                                uint64_t more) {
    const bb_u128 sum = (bb_u128)s.step * (place >> s.drop) + ((bb_u128)1 << 63);
    const uint64_t whole = (uint64_t)(sum >> 64), low = (uint64_t)sum;
    if (low <= 0 - s.step) return whole;
    uint64_t digit[2] = {more, bb_random_bits(random)};
    if (s.drop) {
        digit[1] = more << (64 - s.drop) | digit[1] >> s.drop;
        digit[0] = place << (64 - s.drop) | more >> s.drop;
    }
    return whole + carries(random, s.step, low, digit, 2);
}

/* Is the point at abscissa (place + more 2^-64) 2^-57 and height (y + fraction)
 * 2^-lift, fraction not yet drawn, under the curve? */
static bool under(bb_random *random, uint64_t place, uint64_t more, uint64_t y,
                  unsigned lift) {
    const double x = (double)place * 0x1p-57;
    const double f = 101.0 * 0x1p43 * ldexp(exp(-x * x / 2.0), (int)lift);
    const double margin = f * 0x1p-42 + 2.0; /* > errors of x (18 at most), exp and y */
    if ((double)y < f - margin) return true;
    if ((double)y > f + margin) return false;
    const bb_u128 height = (bb_u128)y << 64 | bb_random_bits(random);
    return height < bb_noise_curve(place, more, lift);
}

/* A point of the rests, t-th of their integers; false: rejected. */
static bool outside(bb_random *random, bb_scale s, uint64_t t, uint64_t *value) {
    if (t >= bb_noise_rest[BB_NOISE_CELLS + 1]) return false;
    size_t k = 0;
    for (size_t half = 128; half > 0; half /= 2)
        if (k + half <= BB_NOISE_CELLS && bb_noise_rest[k + half] <= t) k += half;
    uint64_t y = t - bb_noise_rest[k];
    uint64_t place = bb_random_bits(random) >> (64 - BB_NOISE_PLACE_BITS);
    const uint64_t more = bb_random_bits(random);
    if (k < BB_NOISE_CELLS) {
        const uint64_t next = bb_noise_envelope[k + 1] - 1; /* < f in the whole cell */
        y += next >> BB_NOISE_HEIGHT_BITS << BB_NOISE_HEIGHT_BITS;
        place |= (uint64_t)k << BB_NOISE_PLACE_BITS;
        if (y >= next && !under(random, place, more, y, 0)) return false;
    } else {
        /* Steps of width 1/4 (16 cells) and height envelope / 2^step, never below f
         * since exp(-3/4) < 1/2. y / envelope is uniform on 0 .. 31: four bits pick the
         * cell. */
        const uint64_t word = bb_random_bits(random);
        const unsigned step = word ? (unsigned)__builtin_ctzll(word) : 64;
        if (step > 60) return false; /* x > 18 */
        const uint64_t cell = y / bb_noise_envelope[BB_NOISE_CELLS] % 16;
        y %= bb_noise_envelope[BB_NOISE_CELLS];
        place |= (BB_NOISE_CELLS + 16 * (uint64_t)step + cell) << BB_NOISE_PLACE_BITS;
        if (!under(random, place, more, y, step)) return false;
    }
    *value = known_magnitude(random, s, place, more);
    return true;
}

static int64_t add_saturated(int64_t a, int64_t b) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

void bb_noise_gaussian(bb_random *random, double std, size_t n, int64_t *value) {
    /* never a smaller noise than asked for, in release builds, too */
    if (!(std >= BB_NOISE_LEAST_STD && std < BB_NOISE_MOST_STD)) {
        bb_random_fail(random, "its noise has no such standard deviation");
        return;
    }
    const bb_scale s = scale_of(std);
    for (size_t i = 0; i < n;) {
        /* slot: 12 bits, sign: 1, place in the cell: 51 */
        const uint64_t word = bb_random_bits(random);
        const uint64_t slot = word >> (64 - BB_NOISE_SLOT_BITS);
        const uint64_t place = word & LOW_BITS(BB_NOISE_PLACE_BITS);
        uint64_t size;
        if (slot < BB_NOISE_INSIDE) {
            const uint64_t cell = bb_noise_cell[slot];
            size = magnitude(random, s, cell << BB_NOISE_PLACE_BITS | place);
        } else {
            const uint64_t t = (slot - BB_NOISE_INSIDE) << BB_NOISE_HEIGHT_BITS |
                               place >> (BB_NOISE_PLACE_BITS - BB_NOISE_HEIGHT_BITS);
            if (!outside(random, s, t, &size)) continue;
        }
        const bool negative = word >> BB_NOISE_PLACE_BITS & 1;
        value[i] = add_saturated(value[i], negative ? -(int64_t)size : (int64_t)size);
        i++;
    }
}
