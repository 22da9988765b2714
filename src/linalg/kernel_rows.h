/* kernel_rows.h - the part of the kernels' text for rows under a tridiagonal form, up to four
 * times LANES of them at once, a row each lane: X is n x (width LANES). */
#include "linalg/kernel_lanes.h"

/* X <- Q'X for `count` registers of columns of X, whose rows are `row` long. */
__attribute__((always_inline)) static inline void
turn_some(size_t count, size_t n, size_t stride, size_t row, const double *V,
          const double *factor, double *restrict X) {
    for (size_t k = 0; k + 2 < n; k++) {
        const double *v = V + k * stride;
        piece sum[4] = {0};
        for (size_t i = k + 1; i < n; i++)
            for (size_t q = 0; q < count; q++)
                sum[q] += v[i] * load_piece(X + i * row + q * PIECE);
        for (size_t q = 0; q < count; q++) sum[q] *= factor[k];
        for (size_t i = k + 1; i < n; i++)
            for (size_t q = 0; q < count; q++) {
                double *at = X + i * row + q * PIECE;
                store_piece(at, load_piece(at) - v[i] * sum[q]);
            }
    }
}

static void rows_turn(size_t width, size_t n, size_t stride, const double *V,
                      const double *factor, double *X) {
    const size_t row = width * LANES;
    for (size_t l = 0; l < row; l += 4 * PIECE) {
        const size_t left = (row - l) / PIECE;
        if (left >= 4)
            turn_some(4, n, stride, row, V, factor, X + l);
        else if (left == 3)
            turn_some(3, n, stride, row, V, factor, X + l);
        else if (left == 2)
            turn_some(2, n, stride, row, V, factor, X + l);
        else
            turn_some(1, n, stride, row, V, factor, X + l);
    }
}

/* For eight shifts the factors of T + shift I = L diag(pivot) L': table (n x 3 LANES) <- L's
 * entry below the diagonal before, one over the pivot, and that times L^-1 c. */
static void shifts_table(size_t n, const double *diagonal, const double *beside,
                         const double *c, const double *shift, double *table) {
    for (size_t p = 0; p < LANES; p += PIECE) {
        const piece least = load_piece(shift + p);
        piece inverse = {0}, z = {0};
        for (size_t i = 0; i < n; i++) {
            const piece b = spread(i ? beside[i - 1] : 0), l = b * inverse;
            const piece pivot = (spread(diagonal[i]) + least) - l * b;
            double *at = table + 3 * i * LANES + p;
            inverse = spread(1) / at_least(pivot, least);
            z = spread(c[i]) - l * z;
            store_piece(at, l);
            store_piece(at + LANES, inverse);
            store_piece(at + 2 * LANES, z * inverse);
        }
    }
}

/* The squares of (y - x'(T + shift I)^-1 c) / max(whole - weight x'(T + shift I)^-1 x, least)
 * for `count` registers of rows, columns of X from l on, are added to *sum;
 * table: from the shift's lane on. */
__attribute__((always_inline)) static inline void
left_out_some(size_t count, size_t n, size_t row, size_t l,
              const double *restrict table, const double *restrict X,
              const double *restrict y, double whole, double weight, double least,
              lanes *restrict sum) {
    piece z[4] = {0}, with_c[4] = {0}, own[4] = {0};
    for (size_t i = 0; i < n; i++) {
        const double *at = table + 3 * i * LANES;
        for (size_t q = 0; q < count; q++) {
            z[q] = load_piece(X + i * row + l + q * PIECE) - at[0] * z[q];
            with_c[q] += z[q] * at[2 * LANES];
            own[q] += (z[q] * z[q]) * at[LANES];
        }
    }
    for (size_t q = 0; q < count; q++) {
        const piece rest = spread(whole) - weight * own[q];
        const piece e =
            (load_piece(y + l + q * PIECE) - with_c[q]) / at_least(rest, spread(least));
        sum->at[(l / PIECE + q) % PIECES] += e * e;
    }
}

/* Over all rows. */
static double rows_left_out(size_t width, size_t n, const double *table,
                            const double *X, const double *y, double whole,
                            double weight, double least) {
    const size_t row = width * LANES;
    lanes sum = {0};
    for (size_t l = 0; l < row; l += 4 * PIECE) {
        const size_t left = (row - l) / PIECE;
#define LEFT_OUT(count)                                                                \
    left_out_some(count, n, row, l, table, X, y, whole, weight, least, &sum)
        if (left >= 4)
            LEFT_OUT(4);
        else if (left == 3)
            LEFT_OUT(3);
        else if (left == 2)
            LEFT_OUT(2);
        else
            LEFT_OUT(1);
#undef LEFT_OUT
    }
    return fold(sum);
}
