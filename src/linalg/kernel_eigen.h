/* kernel_eigen.h - the part of the kernels' text for eigenvalues and eigenvectors of
 * symmetric matrices of order up to BB_KERNEL_SMALL: tridiagonal form, then QL steps. Eigenvectors are rows, so that a
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

/* One QL step of rows l .. m of T (diagonal d, squares of what is beside it e, all e >= 0)
 * where no root waits for another (Reinsch 1971, as in LAPACK's dsterf). Its rotations, of
 * rows i and i + 1, are left in cosine and sine. Returns the sign that e_l would have. */
static double ql_step(size_t l, size_t m, double *restrict d, double *restrict e,
                      double *restrict cosine, double *restrict sine) {
    const double root = sqrt(e[l]), half = (d[l + 1] - d[l]) / (2 * root);
    const double shift = d[l] - root / (half + copysign(sqrt(half * half + 1), half));
    double gamma = d[m] - shift, p = gamma * gamma, c = 1, s = 0;
    double sign = copysign(1, gamma), sign_before = 1;
    for (size_t i = m; i-- > l;) {
        const double square = e[i], r = p + square, inverse = 1 / r, was = gamma;
        const double c_before = c, back = r / p, from_shift = d[i] - shift;
        const bool turns = p > 0x1p-960;
        if (i + 1 < m) e[i + 1] = s * r;
        c = turns ? p * inverse : 0;
        s = square * inverse;
        cosine[i] = sign * sqrt(c);
        sine[i] = sqrt(s);
        gamma = c * from_shift - s * was;
        d[i + 1] = was + (d[i] - gamma);
        p = turns ? gamma * gamma * back : c_before * square;
        const double next = turns ? copysign(sign, sign * gamma) : -sign_before;
        sign_before = sign;
        sign = next;
    }
    e[l] = s * p;
    e[m] = 0;
    d[l] = shift + gamma;
    return sign;
}

/* The row from l on behind which T falls apart, but for less than rounding has done: its
 * largest entries are near one. */
static size_t block_end(size_t n, size_t l, const double *d, const double *e) {
    size_t m = l;
    for (; m + 1 < n; m++) {
        const double small = 0x1p-53 * (fabs(d[m]) + fabs(d[m + 1])) + 0x1p-56;
        if (e[m] <= small * small) break;
    }
    return m;
}

static void negate(size_t stride, double *row) {
    for (size_t c = 0; c < stride; c += PIECE)
        store_piece(row + c, -load_piece(row + c));
}

/* What is beside T's diagonal becomes positive, and then its square. */
static void square_beside(size_t n, size_t stride, double *e, double *Z) {
    bool negative = false;
    for (size_t k = 0; k + 1 < n; k++) {
        negative = negative != (e[k] < 0);
        if (Z && negative) negate(stride, Z + (k + 1) * stride);
        e[k] *= e[k];
    }
}

/* T becomes its eigenvalues, in d, and Z (NULL: none) is turned with it. */
static bool diagonalise(size_t n, size_t stride, double *d, double *e, double *Z) {
    double cosine[BB_KERNEL_SMALL], sine[BB_KERNEL_SMALL];
    square_beside(n, stride, e, Z);
    for (size_t l = 0; l < n; l++) {
        size_t steps = 0, m;
        while ((m = block_end(n, l, d, e)) != l) {
            if (steps++ == EIGEN_STEPS) return false;
            const double sign = ql_step(l, m, d, e, cosine, sine);
            if (!Z) continue;
            rotate(m - l, stride, cosine + l, sine + l, Z + l * stride);
            if (sign < 0) negate(stride, Z + l * stride);
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
