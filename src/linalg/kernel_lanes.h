/* kernel_lanes.h - eight numbers at once, in the compilers' generic vectors; and for the
 * hottest loops, in which lanes do not meet, as many as a register has
 * (BB_KERNEL_BYTES). */
#ifndef BB_LINALG_KERNEL_LANES_H
#define BB_LINALG_KERNEL_LANES_H

#include "linalg/kernel.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = BB_KERNEL_LANES };
typedef double lanes __attribute__((vector_size(64)));
typedef int64_t bits __attribute__((vector_size(64)));

enum { PIECE = BB_KERNEL_BYTES / sizeof(double) };
typedef double piece __attribute__((vector_size(BB_KERNEL_BYTES)));

static inline piece load_piece(const double *x) {
    piece v;
    memcpy(&v, x, sizeof v);
    return v;
}

static inline void store_piece(double *x, piece v) {
    memcpy(x, &v, sizeof v);
}

/* bits at tail_mask + k keep the last k of eight lanes. */
static const int64_t tail_mask[2 * LANES] = {0,  0,  0,  0,  0,  0,  0,  0,
                                             -1, -1, -1, -1, -1, -1, -1, -1};

static inline lanes load(const double *x) {
    lanes v;
    memcpy(&v, x, sizeof v);
    return v;
}

static inline void store(double *x, lanes v) {
    memcpy(x, &v, sizeof v);
}

static inline lanes spread(double a) {
    return (lanes){a, a, a, a, a, a, a, a};
}

/* What keeps the last `rest` of eight lanes. */
static inline bits load_mask(size_t rest) {
    bits mask;
    memcpy(&mask, tail_mask + rest, sizeof mask);
    return mask;
}

static inline lanes keep_last(size_t rest, lanes x) {
    return (lanes)((bits)x & load_mask(rest));
}

/* The eight numbers that end at x + n, those before x + n - rest set to zero; n >= 8.
 */
static inline lanes load_tail(const double *x, size_t n, size_t rest) {
    bits v;
    memcpy(&v, x + n - LANES, sizeof v);
    v &= load_mask(rest);
    lanes out;
    memcpy(&out, &v, sizeof out);
    return out;
}

static inline double fold(lanes v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

static inline lanes choose(bits mask, lanes yes, lanes no) {
    return (lanes)(((bits)yes & mask) | ((bits)no & ~mask));
}

#endif
