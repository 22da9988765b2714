/* kernel_small.h - the part of the kernels' text for matrices of which rows of B and C
 * are at most BB_KERNEL_SMALL long, where a call of OpenBLAS costs more than the work. */
#include "linalg/kernel_lanes.h"

/* `height` rows and `width` pieces of columns of A B; A's entry (i, k) is at i down + k
 * along, rows of B and out are `stride` long. */
static inline void product_block(size_t height, size_t width, size_t depth,
                                 const double *restrict A, size_t down, size_t along,
                                 const double *restrict B, size_t stride,
                                 double *restrict out) {
    piece sum[4][2] = {0};
    for (size_t k = 0; k < depth; k++)
        for (size_t i = 0; i < height; i++)
            for (size_t b = 0; b < width; b++)
                sum[i][b] +=
                    A[i * down + k * along] * load_piece(B + k * stride + b * PIECE);
    for (size_t i = 0; i < height; i++)
        for (size_t b = 0; b < width; b++)
            store_piece(out + i * stride + b * PIECE, sum[i][b]);
}

/* Columns from `c` on. */
static inline void product_rows(size_t height, size_t depth, const double *A,
                                size_t down, size_t along, const double *B,
                                size_t stride, size_t c, double *out) {
    for (; c + 2 * PIECE <= stride; c += 2 * PIECE)
        product_block(height, 2, depth, A, down, along, B + c, stride, out + c);
    if (c < stride)
        product_block(height, 1, depth, A, down, along, B + c, stride, out + c);
}

/* padded (part x stride) <- rows of B, zeros behind their columns. */
static void pad_part(size_t part, size_t columns, size_t stride, const double *B,
                     size_t from, size_t across, double *padded) {
    for (size_t k = 0; k < part; k++) {
        double *row = padded + k * stride;
        const double *at = B + k * from;
        if (across == 1 && columns > LANES)
            memcpy(row, at, columns * sizeof *row);
        else
            for (size_t j = 0; j < columns; j++) row[j] = at[j * across];
        for (size_t j = columns; j < stride; j++) row[j] = 0;
    }
}

/* C (rows x columns) <- a A B + b C, columns <= BB_KERNEL_SMALL; A's entry (i, k) is at
 * i down + k along, B's (k, j) at k from + j across. C is not read if b = 0. `upper`:
 * only its upper triangle, and perhaps some of what is beside that. */
static void small_product(size_t rows, size_t depth, size_t columns, double a,
                          const double *A, size_t down, size_t along, const double *B,
                          size_t from, size_t across, double b, bool upper, double *C) {
    double padded[BB_KERNEL_SMALL * BB_KERNEL_SMALL], out[4 * BB_KERNEL_SMALL];
    const size_t stride = (columns + LANES - 1) / LANES * LANES;
    for (size_t first = 0; first == 0 || first < depth; first += BB_KERNEL_SMALL) {
        const size_t part =
            depth - first < BB_KERNEL_SMALL ? depth - first : BB_KERNEL_SMALL;
        const double keep = first ? 1 : b;
        pad_part(part, columns, stride, B + first * from, from, across, padded);
        for (size_t i = 0; i < rows; i += 4) {
            const size_t height = rows - i < 4 ? rows - i : 4;
            const size_t c = upper ? i / PIECE * PIECE : 0;
            const double *at = A + i * down + first * along;
            if (height == 4)
                product_rows(4, part, at, down, along, padded, stride, c, out);
            else
                for (size_t h = 0; h < height; h++)
                    product_rows(1, part, at + h * down, down, along, padded, stride, c,
                                 out + h * stride);
            for (size_t h = 0; h < height; h++)
                put(columns - c, a, out + h * stride + c, keep,
                    C + (i + h) * columns + c);
        }
    }
}

/* `width` pieces of row k of U from column c on, but for its scale: from A's the rows
 * above are taken away, one after the other. */
static inline void eliminate(size_t width, size_t k, size_t c, size_t stride,
                             double *restrict U) {
    piece left[4];
    double *row = U + k * stride + c;
    for (size_t b = 0; b < width; b++) left[b] = load_piece(row + b * PIECE);
    for (size_t i = 0; i < k; i++)
        for (size_t b = 0; b < width; b++)
            left[b] -= U[i * stride + k] * load_piece(U + i * stride + c + b * PIECE);
    for (size_t b = 0; b < width; b++) store_piece(row + b * PIECE, left[b]);
}

/* A (n x n, n <= BB_KERNEL_SMALL) = U'U, U into its upper triangle. Returns n, or the
 * row of which the pivot is not positive or not finite; then A is as it was. */
static size_t small_cholesky(size_t n, double *A) {
    double U[BB_KERNEL_SMALL * BB_KERNEL_SMALL];
    const size_t stride = (n + LANES - 1) / LANES * LANES;
    for (size_t i = 0; i < n; i++) {
        memcpy(U + i * stride, A + i * n, n * sizeof *A);
        for (size_t k = n; k < stride; k++) U[i * stride + k] = 0;
    }
    for (size_t k = 0; k < n; k++) {
        double *u = U + k * stride;
        size_t c = k / PIECE * PIECE;
        for (; c + 4 * PIECE <= stride; c += 4 * PIECE) eliminate(4, k, c, stride, U);
        for (; c < stride; c += PIECE) eliminate(1, k, c, stride, U);
        if (!(u[k] > 0 && isfinite(u[k]))) return k;
        const double inverse = 1 / sqrt(u[k]);
        for (c = k / PIECE * PIECE; c < stride; c += PIECE)
            store_piece(u + c, load_piece(u + c) * inverse);
    }
    for (size_t k = 0; k < n; k++)
        memcpy(A + k * n + k, U + k * stride + k, (n - k) * sizeof *A);
    return n;
}

/* b <- the solution of U'U x = b. */
static void small_solve(size_t n, const double *U, double *b) {
    for (size_t i = 0; i < n; i++) {
        const double *u = U + i * n;
        b[i] /= u[i];
        for (size_t k = i + 1; k < n; k++) b[k] -= b[i] * u[k];
    }
    for (size_t i = n; i-- > 0;) {
        const double *u = U + i * n;
        b[i] = (b[i] - dot(n - i - 1, u + i + 1, b + i + 1)) / u[i];
    }
}
