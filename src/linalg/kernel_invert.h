/* kernel_invert.h - the part of the kernels' text for inverses of matrices of which rows
 * are at most BB_KERNEL_SMALL long. */
#include "linalg/kernel_lanes.h"

/* The masks from all_but + 7 - k on keep all of eight numbers but the k-th. */
static const int64_t all_but[2 * LANES - 1] = {-1, -1, -1, -1, -1, -1, -1, 0,
                                               -1, -1, -1, -1, -1, -1, -1};

/* U (n x stride) <- its inverse, by Gauss and Jordan, without looking for pivots. Returns n,
 * or the row of which the pivot is not positive or not finite. row: stride. */
static size_t invert_in(size_t n, size_t stride, double *restrict U,
                        double *restrict row) {
    for (size_t k = 0; k < n; k++) {
        const double pivot = U[k * stride + k];
        const size_t start = k / PIECE * PIECE;
        const bits mask = load_bits(all_but + LANES - 1 - (k - start));
        const piece inverse = spread(1 / pivot);
        if (!(pivot > 0 && isfinite(pivot))) return k;
        for (size_t c = 0; c < stride; c += PIECE)
            store_piece(row + c, load_piece(U + k * stride + c) * inverse);
        store_piece(row + start, choose(mask, load_piece(row + start), inverse));
        for (size_t i = 0; i < n; i++) {
            double *at = U + i * stride;
            const piece by = spread(at[k]);
            if (i == k) continue;
            store_piece(at + start, keep(mask, load_piece(at + start)));
            for (size_t c = 0; c < stride; c += PIECE)
                store_piece(at + c, load_piece(at + c) - by * load_piece(row + c));
        }
        memcpy(U + k * stride, row, stride * sizeof *row);
    }
    return n;
}

static size_t invert_with(size_t n, double *A, double *U, double *row) {
    const size_t stride = (n + LANES - 1) / LANES * LANES;
    memset(U, 0, n * stride * sizeof *U);
    for (size_t i = 0; i < n; i++) memcpy(U + i * stride, A + i * n, n * sizeof *A);
    const size_t done = invert_in(n, stride, U, row);
    for (size_t i = 0; done == n && i < n; i++)
        memcpy(A + i * n, U + i * stride, n * sizeof *A);
    return done;
}

static size_t invert_few(size_t n, double *A) {
    _Alignas(64) double U[24 * 24], row[24];
    return invert_with(n, A, U, row);
}

static size_t invert_many(size_t n, double *A) {
    _Alignas(64) double U[BB_KERNEL_SMALL * BB_KERNEL_SMALL], row[BB_KERNEL_SMALL];
    return invert_with(n, A, U, row);
}

/* A (n x n, n <= BB_KERNEL_SMALL) <- its inverse. Returns n, or the row that fails; then A
 * is as it was. */
static size_t small_invert(size_t n, double *A) {
    return n <= 24 ? invert_few(n, A) : invert_many(n, A);
}
