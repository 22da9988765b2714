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

/* `width` pieces of row k of U from column c on: from A's the rows above are taken away,
 * one after the other, by L, their entries over their pivots. */
static inline void eliminate(size_t width, size_t k, size_t c, size_t stride,
                             double *restrict U, const double *restrict L) {
    piece left[4];
    double *row = U + k * stride + c;
    for (size_t b = 0; b < width; b++) left[b] = load_piece(row + b * PIECE);
    for (size_t i = 0; i < k; i++)
        for (size_t b = 0; b < width; b++)
            left[b] -= L[i * stride + k] * load_piece(U + i * stride + c + b * PIECE);
    for (size_t b = 0; b < width; b++) store_piece(row + b * PIECE, left[b]);
}

/* The whole row, from its diagonal on. */
static inline void eliminate_row(size_t k, size_t stride, double *U, const double *L) {
    for (size_t c = k / PIECE * PIECE; c < stride; c += 4 * PIECE) {
        const size_t left = (stride - c) / PIECE;
        if (left >= 4)
            eliminate(4, k, c, stride, U, L);
        else if (left == 3)
            eliminate(3, k, c, stride, U, L);
        else if (left == 2)
            eliminate(2, k, c, stride, U, L);
        else
            eliminate(1, k, c, stride, U, L);
    }
}

/* Row k of `to` <- factor times that of `from`, from its diagonal on. */
static inline void scale_row(size_t k, size_t stride, double factor,
                             const double *restrict from, double *restrict to) {
    for (size_t c = k * stride + k / PIECE * PIECE; c < (k + 1) * stride; c += PIECE)
        store_piece(to + c, load_piece(from + c) * factor);
}

/* n rows of n numbers; what whole vectors write behind a row, up to `width`, the next one
 * writes over. */
static inline void copy_rows(size_t n, size_t width, const double *restrict from,
                             size_t stride, double *restrict to, size_t to_stride) {
    const size_t whole = n < LANES ? 0 : n - 1;
    for (size_t i = 0; i < whole; i++)
        for (size_t c = 0; c < width; c += PIECE)
            store_piece(to + i * to_stride + c, load_piece(from + i * stride + c));
    for (size_t i = whole; i < n; i++)
        memcpy(to + i * to_stride, from + i * stride, n * sizeof *to);
}

/* A (n x n, n <= BB_KERNEL_SMALL) = U'U, U into its upper triangle and U' into its lower
 * one. Returns n, or the row of which the pivot is not positive or not finite; then A is
 * as it was. Roots are taken at the end, where no row waits for them. */
static size_t cholesky_in(size_t n, double *A, double *U, double *L) {
    const size_t stride = (n + LANES - 1) / LANES * LANES;
    memset(U + (n - 1) * stride, 0, stride * sizeof *U);
    copy_rows(n, stride, A, n, U, stride);
    for (size_t k = 0; k < n; k++) {
        eliminate_row(k, stride, U, L);
        const double pivot = U[k * stride + k];
        if (!(pivot > 0 && isfinite(pivot))) return k;
        scale_row(k, stride, 1 / pivot, U, L);
    }
    for (size_t k = 0; k < n; k++) scale_row(k, stride, sqrt(U[k * stride + k]), L, U);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < k; i++) U[k * stride + i] = U[i * stride + k];
    copy_rows(n, stride, U, stride, A, n);
    return n;
}

/* Matrices of the least tasks need few pages of the stack. */
static size_t cholesky_few(size_t n, double *A) {
    _Alignas(64) double U[24 * 24], L[24 * 24];
    return cholesky_in(n, A, U, L);
}

static size_t cholesky_many(size_t n, double *A) {
    _Alignas(64) double U[BB_KERNEL_SMALL * BB_KERNEL_SMALL],
        L[BB_KERNEL_SMALL * BB_KERNEL_SMALL];
    return cholesky_in(n, A, U, L);
}

static size_t small_cholesky(size_t n, double *A) {
    if (n == 0) return 0;
    return n <= 24 ? cholesky_few(n, A) : cholesky_many(n, A);
}

/* b <- the solution of U'U x = b, for fewer numbers than lanes. */
static void solve_few(size_t n, const double *U, double *b) {
    for (size_t i = 0; i < n; i++) {
        const double *u = U + i * n;
        b[i] /= u[i];
        for (size_t k = i + 1; k < n; k++) b[k] -= b[i] * u[k];
    }
    for (size_t i = n; i-- > 0;) {
        const double *u = U + i * n;
        b[i] /= u[i];
        for (size_t k = 0; k < i; k++) b[k] -= b[i] * u[k];
    }
}

/* b <- the solution of U'U x = b; U as small_cholesky leaves it. Numbers of `left` that
 * are solved, or behind the end, lose what nobody reads. */
static void small_solve(size_t n, const double *U, double *b) {
    _Alignas(64) double left[BB_KERNEL_SMALL + LANES], inverse[BB_KERNEL_SMALL];
    if (n < LANES) {
        solve_few(n, U, b);
        return;
    }
    memcpy(left, b, n * sizeof *b);
    memset(left + n, 0, LANES * sizeof *left);
    for (size_t i = 0; i < n; i++) inverse[i] = 1 / U[i * n + i];
    for (size_t i = 0; i < n; i++) {
        const double x = b[i] = left[i] * inverse[i], *u = U + i * n;
        if (i + 1 == n) break;
        for (size_t c = (i + 1) / PIECE * PIECE; c < n; c += PIECE)
            store_piece(left + c, load_piece(left + c) - x * load_piece(u + c));
    }
    memcpy(left, b, n * sizeof *b);
    for (size_t i = n; i-- > 0;) {
        const double x = b[i] = left[i] * inverse[i], *u = U + i * n;
        if (i + 1 == n)
            for (size_t k = 0; k < i; k++) left[k] -= x * u[k];
        else
            for (size_t c = 0; c < i; c += PIECE)
                store_piece(left + c, load_piece(left + c) - x * load_piece(u + c));
    }
}

/* Rows of B that are worked on at once, side by side: four pieces. */
enum { ABREAST = 4 * PIECE };

/* `height` rows of T (n x ABREAST), `width` pieces of each, from row k on: those of U'^-1 T,
 * where the rows above are so already; sum += their squares. */
static inline void whiten_some(size_t height, size_t width, size_t n, size_t k,
                               const double *restrict U, const double *restrict inverse,
                               double *restrict T, piece *restrict sum) {
    piece left[2][4];
    double *at = T + k * ABREAST;
    for (size_t h = 0; h < height; h++)
        for (size_t b = 0; b < width; b++)
            left[h][b] = load_piece(at + h * ABREAST + b * PIECE);
    for (size_t i = 0; i < k; i++)
        for (size_t b = 0; b < width; b++) {
            const piece t = load_piece(T + i * ABREAST + b * PIECE);
            for (size_t h = 0; h < height; h++) left[h][b] -= U[(k + h) * n + i] * t;
        }
    for (size_t b = 0; b < width; b++) {
        left[0][b] *= inverse[k];
        if (height > 1)
            left[1][b] =
                (left[1][b] - U[(k + 1) * n + k] * left[0][b]) * inverse[k + 1];
        for (size_t h = 0; h < height; h++) {
            store_piece(at + h * ABREAST + b * PIECE, left[h][b]);
            sum[b] += left[h][b] * left[h][b];
        }
    }
}

/* form (width pieces) <- the squared lengths of the columns of U'^-1 T. */
static inline void forms_of(size_t width, size_t n, const double *U,
                            const double *inverse, double *T, double *form) {
    piece sum[4] = {0};
    size_t k = 0;
    for (; k + 2 <= n; k += 2) whiten_some(2, width, n, k, U, inverse, T, sum);
    if (k < n) whiten_some(1, width, n, k, U, inverse, T, sum);
    for (size_t b = 0; b < width; b++) store_piece(form + b * PIECE, sum[b]);
}

/* form_j <- |U'^-1 b_j|^2 of the `count` rows b_j of B; U as small_cholesky leaves it. */
static void small_forms(size_t n, const double *U, size_t count, const double *B,
                        double *form) {
    _Alignas(64) double T[BB_KERNEL_SMALL * ABREAST], inverse[BB_KERNEL_SMALL];
    double out[ABREAST];
    for (size_t i = 0; i < n; i++) inverse[i] = 1 / U[i * n + i];
    for (size_t first = 0; first < count; first += ABREAST) {
        const size_t rows = count - first < ABREAST ? count - first : ABREAST;
        for (size_t r = 0; r < ABREAST; r++)
            for (size_t i = 0; i < n; i++)
                T[i * ABREAST + r] = r < rows ? B[(first + r) * n + i] : 0;
        if (rows > 2 * PIECE)
            forms_of(4, n, U, inverse, T, out);
        else if (rows > PIECE)
            forms_of(2, n, U, inverse, T, out);
        else
            forms_of(1, n, U, inverse, T, out);
        memcpy(form + first, out, rows * sizeof *form);
    }
}

/* -- one system at a time: A + diag(diagonal) = L D L', its right side an extra column -- */

/* U (n x stride) <- the upper triangle of A with the diagonal's addends, b, and zeros.
 * strips: of A's rows only what begins with their own eight columns is there. */
static inline void copy_system(size_t n, size_t stride, bool strips,
                               const double *restrict A,
                               const double *restrict diagonal,
                               const double *restrict b, double *restrict U) {
    const size_t whole = n < LANES ? 0 : n - 1;
    for (size_t i = 0; i < n; i++) {
        const size_t from = strips ? i / LANES * LANES : 0;
        double *row = U + i * stride + from;
        if (i < whole)
            for (size_t c = i / PIECE * PIECE - from; c < n - from; c += PIECE)
                store_piece(row + c, load_piece(A + c));
        else
            memcpy(row, A, (n - from) * sizeof *U);
        A += n - from;
    }
    for (size_t i = 0; i < n; i++) {
        U[i * stride + i] += diagonal[i];
        U[i * stride + n] = b[i];
        for (size_t c = n + 1; c < stride; c++) U[i * stride + c] = 0;
    }
}

/* `width` pieces of rows k and k + 1 of U from column c on lose what the rows above take
 * off; L: those over their pivots. */
static inline void eliminate_two(size_t width, size_t k, size_t c, size_t stride,
                                 double *restrict U, const double *restrict L) {
    piece first[4], second[4];
    double *row = U + k * stride + c, *next = row + stride;
    for (size_t b = 0; b < width; b++) {
        first[b] = load_piece(row + b * PIECE);
        second[b] = load_piece(next + b * PIECE);
    }
    for (size_t i = 0; i < k; i++)
        for (size_t b = 0; b < width; b++) {
            const piece u = load_piece(U + i * stride + c + b * PIECE);
            first[b] -= L[i * stride + k] * u;
            second[b] -= L[i * stride + k + 1] * u;
        }
    for (size_t b = 0; b < width; b++) {
        store_piece(row + b * PIECE, first[b]);
        store_piece(next + b * PIECE, second[b]);
    }
}

static inline bool is_pivot(double pivot) {
    return pivot > 0 && isfinite(pivot);
}

/* Rows k and k + 1, from their diagonal on. */
static inline bool factor_two(size_t k, size_t stride, double *U, double *L) {
    const size_t start = k / PIECE * PIECE;
    for (size_t c = start; c < stride; c += 4 * PIECE) {
        const size_t left = (stride - c) / PIECE;
        if (left >= 4)
            eliminate_two(4, k, c, stride, U, L);
        else if (left == 3)
            eliminate_two(3, k, c, stride, U, L);
        else if (left == 2)
            eliminate_two(2, k, c, stride, U, L);
        else
            eliminate_two(1, k, c, stride, U, L);
    }
    double *row = U + k * stride, *next = row + stride;
    const double inverse = 1 / row[k], corner = row[k + 1] * inverse;
    const double pivot = next[k + 1] - corner * row[k + 1], last = 1 / pivot;
    for (size_t c = start; c < stride; c += PIECE) {
        const piece u = load_piece(row + c), v = load_piece(next + c) - corner * u;
        store_piece(next + c, v);
        store_piece(L + k * stride + c, u * inverse);
        store_piece(L + (k + 1) * stride + c, v * last);
    }
    return is_pivot(row[k]) && is_pivot(pivot);
}

/* x (stride, zeros behind n) <- the solution, eight rows at a time: only those wait for
 * each other. */
static inline void solve_back(size_t n, size_t stride, const double *L, double *x) {
    memset(x, 0, stride * sizeof *x);
    for (size_t from = (n - 1) / LANES * LANES, end = n;; from -= LANES) {
        double left[LANES];
        for (size_t r = from; r < end; r++) {
            lanes sum = {0};
            for (size_t c = from + LANES; c < stride; c += LANES)
                add_product(&sum, load(L + r * stride + c), load(x + c));
            left[r - from] = L[r * stride + n] - fold(sum);
        }
        for (size_t r = end; r-- > from;) {
            for (size_t q = end; --q > r;)
                left[r - from] -= L[r * stride + q] * left[q - from];
            x[r] = left[r - from];
        }
        if (from == 0) return;
        end = from;
    }
}

static bool shifted_in(size_t n, bool strips, const double *A, const double *diagonal,
                       double *b, double *U, double *L) {
    const size_t stride = (n + LANES) / LANES * LANES;
    double x[BB_KERNEL_SMALL + LANES];
    copy_system(n, stride, strips, A, diagonal, b, U);
    size_t k = 0;
    for (; k + 2 <= n; k += 2)
        if (!factor_two(k, stride, U, L)) return false;
    if (k < n) {
        eliminate_row(k, stride, U, L);
        if (!is_pivot(U[k * stride + k])) return false;
        scale_row(k, stride, 1 / U[k * stride + k], U, L);
    }
    solve_back(n, stride, L, x);
    memcpy(b, x, n * sizeof *b);
    return true;
}

static bool shifted_few(size_t n, bool strips, const double *A, const double *diagonal,
                        double *b) {
    _Alignas(64) double U[24 * 24], L[24 * 24];
    return shifted_in(n, strips, A, diagonal, b, U, L);
}

static bool shifted_many(size_t n, bool strips, const double *A, const double *diagonal,
                         double *b) {
    _Alignas(64) double U[BB_KERNEL_SMALL * (BB_KERNEL_SMALL + LANES)],
        L[BB_KERNEL_SMALL * (BB_KERNEL_SMALL + LANES)];
    return shifted_in(n, strips, A, diagonal, b, U, L);
}

/* b <- (A + diag(diagonal))^-1 b; of A, symmetric, the upper triangle is read. False, and b
 * as it was, where a pivot is not positive or not finite. */
static bool small_shifted(size_t n, bool strips, const double *A,
                          const double *diagonal, double *b) {
    if (n == 0) return true;
    return n < 24 ? shifted_few(n, strips, A, diagonal, b)
                  : shifted_many(n, strips, A, diagonal, b);
}
