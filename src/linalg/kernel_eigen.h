/* kernel_eigen.h - the part of the kernels' text for eigenvalues and eigenvectors of
 * symmetric matrices of order up to BB_KERNEL_SMALL: tridiagonal form, then implicit QL
 * steps (Bowdler, Martin, Reinsch, Wilkinson 1968). Eigenvectors are rows, so that a
 * rotation is of two rows. */
#include "linalg/kernel_tridiagonal.h"

enum { EIGEN_STEPS = 60 /* for an eigenvalue; two are usual */ };

/* Z (rows x stride; `width` pieces of its columns) <- (I - factor v v') Z. */
static inline void reflect_columns(size_t width, size_t rows, size_t stride,
                                   double factor, const double *restrict v,
                                   double *restrict Z) {
    piece sum[4] = {0};
    for (size_t j = 0; j < rows; j++)
        for (size_t b = 0; b < width; b++)
            sum[b] += v[j] * load_piece(Z + j * stride + b * PIECE);
    for (size_t b = 0; b < width; b++) sum[b] *= factor;
    for (size_t j = 0; j < rows; j++)
        for (size_t b = 0; b < width; b++) {
            double *at = Z + j * stride + b * PIECE;
            store_piece(at, load_piece(at) - v[j] * sum[b]);
        }
}

/* Z (n x stride) <- Q', the product of tridiagonal's reflectors, the last first. */
static void collect(size_t n, size_t stride, const double *V, const double *factor,
                    double *Z) {
    memset(Z, 0, n * stride * sizeof *Z);
    for (size_t k = 0; k < n; k++) Z[k * stride + k] = 1;
    for (size_t k = 0; k + 2 < n; k++) {
        const double *v = V + k * stride + k + 1;
        double *rest = Z + (k + 1) * stride;
        size_t c = 0;
        if (factor[k] == 0) continue;
        for (; c + 4 * PIECE <= stride; c += 4 * PIECE)
            reflect_columns(4, n - k - 1, stride, factor[k], v, rest + c);
        for (; c < stride; c += PIECE)
            reflect_columns(1, n - k - 1, stride, factor[k], v, rest + c);
    }
}

/* `width` pieces of rows 0 .. count of Z: rotations of rows i and i + 1, the last first.
 */
static inline void rotate_columns(size_t width, size_t count, size_t stride,
                                  const double *restrict cosine,
                                  const double *restrict sine, double *restrict Z) {
    piece below[4];
    for (size_t b = 0; b < width; b++)
        below[b] = load_piece(Z + count * stride + b * PIECE);
    for (size_t i = count; i-- > 0;)
        for (size_t b = 0; b < width; b++) {
            double *at = Z + i * stride + b * PIECE;
            const piece above = load_piece(at);
            store_piece(at + stride, sine[i] * above + cosine[i] * below[b]);
            below[b] = cosine[i] * above - sine[i] * below[b];
        }
    for (size_t b = 0; b < width; b++) store_piece(Z + b * PIECE, below[b]);
}

static void rotate(size_t count, size_t stride, const double *cosine,
                   const double *sine, double *Z) {
    size_t c = 0;
    for (; c + 4 * PIECE <= stride; c += 4 * PIECE)
        rotate_columns(4, count, stride, cosine, sine, Z + c);
    for (; c < stride; c += PIECE)
        rotate_columns(1, count, stride, cosine, sine, Z + c);
}

/* One QL step of rows l .. m of T (diagonal d, beside it e); its rotations, of rows i and
 * i + 1 for i from what it returns to m - 1, are left in cosine and sine. */
static size_t ql_step(size_t l, size_t m, double *d, double *e, double *cosine,
                      double *sine) {
    const double half = (d[l + 1] - d[l]) / (2 * e[l]), root = sqrt(half * half + 1);
    double g = d[m] - d[l] + e[l] / (half + copysign(root, half));
    double s = 1, c = 1, p = 0;
    for (size_t i = m; i-- > l;) {
        const double f = s * e[i], b = c * e[i], r = sqrt(f * f + g * g);
        e[i + 1] = r;
        if (r == 0) { /* T falls apart here */
            d[i + 1] -= p;
            e[m] = 0;
            return i + 1;
        }
        const double inverse = 1 / r;
        s = sine[i] = f * inverse;
        c = cosine[i] = g * inverse;
        g = d[i + 1] - p;
        const double turned = (d[i] - g) * s + 2 * c * b;
        p = s * turned;
        d[i + 1] = g + p;
        g = c * turned - b;
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
    return l;
}

/* The row from l on behind which T falls apart, but for less than rounding has done: its
 * largest entries are near one. */
static size_t block_end(size_t n, size_t l, const double *d, const double *e) {
    size_t m = l;
    while (m + 1 < n && fabs(e[m]) > 0x1p-53 * (fabs(d[m]) + fabs(d[m + 1])) + 0x1p-56)
        m++;
    return m;
}

/* T becomes its eigenvalues, in d, and Z (NULL: none) is turned with it. */
static bool diagonalise(size_t n, size_t stride, double *d, double *e, double *Z) {
    double cosine[BB_KERNEL_SMALL], sine[BB_KERNEL_SMALL];
    for (size_t l = 0; l < n; l++) {
        size_t steps = 0, m;
        while ((m = block_end(n, l, d, e)) != l) {
            if (steps++ == EIGEN_STEPS) return false;
            const size_t from = ql_step(l, m, d, e, cosine, sine);
            if (Z && from < m)
                rotate(m - from, stride, cosine + from, sine + from, Z + from * stride);
        }
    }
    return true;
}

/* The eigenvalues of A (n x stride, symmetric, zeros behind column n, entries near one),
 * ascending, into value; Z (n x stride): an eigenvector each row, in the order of
 * `order`; NULL: none. A is destroyed. work: 2 stride + 2 n. False: no convergence. */
static bool small_eigen(size_t n, size_t stride, double *A, double *value, double *Z,
                        size_t *order, double *work) {
    double *factor = work + 2 * stride, *beside = factor + n, d[BB_KERNEL_SMALL];
    tridiagonal(n, stride, A, factor, d, beside, work);
    if (Z) collect(n, stride, A, factor, Z);
    if (!diagonalise(n, stride, d, beside, Z)) return false;
    for (size_t k = 0; k < n; k++) {
        size_t at = k;
        for (; at > 0 && d[order[at - 1]] > d[k]; at--) order[at] = order[at - 1];
        order[at] = k;
    }
    for (size_t k = 0; k < n; k++) value[k] = d[order[k]];
    return true;
}
