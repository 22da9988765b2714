/* kernel_lanes.h - as many numbers as a register has (BB_KERNEL_BYTES) in the compilers'
 * generic vectors; and eight, in which sums run, as the registers that hold them. A generic
 * vector wider than a register is of no use: gcc 12 keeps it in memory. */
#ifndef BB_LINALG_KERNEL_LANES_H
#define BB_LINALG_KERNEL_LANES_H

#include "linalg/kernel.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* -- a register -- */

enum {
    LANES = BB_KERNEL_LANES,
    PIECE = BB_KERNEL_BYTES / sizeof(double),
    PIECES = LANES / PIECE
};
typedef double piece __attribute__((vector_size(BB_KERNEL_BYTES)));
typedef int64_t bits __attribute__((vector_size(BB_KERNEL_BYTES)));
typedef uint64_t unsigned_bits __attribute__((vector_size(BB_KERNEL_BYTES)));

static inline piece load_piece(const double *x) {
    piece v;
    memcpy(&v, x, sizeof v);
    return v;
}

static inline void store_piece(double *x, piece v) {
    memcpy(x, &v, sizeof v);
}

static inline piece spread(double a) {
    return a - (piece){0};
}

static inline bits load_bits(const int64_t *mask) {
    bits v;
    memcpy(&v, mask, sizeof v);
    return v;
}

static inline piece keep(bits mask, piece x) {
    return (piece)((bits)x & mask);
}

static inline piece choose(bits mask, piece yes, piece no) {
    return (piece)(((bits)yes & mask) | ((bits)no & ~mask));
}

static inline piece at_least(piece x, piece least) {
    return choose(x > least, x, least);
}

/* -- eight numbers -- */

typedef struct lanes {
    piece at[PIECES];
} lanes;

/* The masks from tail_mask + k on keep the last k of eight lanes. */
static const int64_t tail_mask[2 * LANES] = {0,  0,  0,  0,  0,  0,  0,  0,
                                             -1, -1, -1, -1, -1, -1, -1, -1};

static inline lanes load(const double *x) {
    lanes v;
    for (size_t p = 0; p < PIECES; p++) v.at[p] = load_piece(x + p * PIECE);
    return v;
}

static inline void store(double *x, lanes v) {
    for (size_t p = 0; p < PIECES; p++) store_piece(x + p * PIECE, v.at[p]);
}

static inline lanes plus(lanes v, lanes w) {
    for (size_t p = 0; p < PIECES; p++) v.at[p] += w.at[p];
    return v;
}

static inline lanes minus(lanes v, lanes w) {
    for (size_t p = 0; p < PIECES; p++) v.at[p] -= w.at[p];
    return v;
}

static inline lanes times(double a, lanes v) {
    for (size_t p = 0; p < PIECES; p++) v.at[p] *= a;
    return v;
}

static inline lanes product(lanes v, lanes w) {
    for (size_t p = 0; p < PIECES; p++) v.at[p] *= w.at[p];
    return v;
}

static inline void add_product(lanes *sum, lanes v, lanes w) {
    for (size_t p = 0; p < PIECES; p++) sum->at[p] += v.at[p] * w.at[p];
}

static inline void add_times(lanes *sum, double a, lanes v) {
    for (size_t p = 0; p < PIECES; p++) sum->at[p] += a * v.at[p];
}

static inline lanes keep_last(size_t rest, lanes v) {
    for (size_t p = 0; p < PIECES; p++)
        v.at[p] = keep(load_bits(tail_mask + rest + p * PIECE), v.at[p]);
    return v;
}

/* The eight numbers that end at x + n, those before x + n - rest set to zero; n >= 8. */
static inline lanes load_tail(const double *x, size_t n, size_t rest) {
    return keep_last(rest, load(x + n - LANES));
}

/* ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)) */
static inline double fold(lanes v) {
    double half[PIECE];
    for (size_t n = PIECES / 2; n > 0; n /= 2)
        for (size_t p = 0; p < n; p++) v.at[p] += v.at[p + n];
    memcpy(half, &v.at[0], sizeof half);
    for (size_t n = PIECE / 2; n > 0; n /= 2)
        for (size_t k = 0; k < n; k++) half[k] += half[k + n];
    return half[0];
}

#endif
