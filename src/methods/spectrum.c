/* Eigenproblems of one task's Gram matrix under a prior's covariance. */
#include "methods/spectrum.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Rows of the task, dense, centred if it has an own intercept. */
static void copy_rows(const bb_local *local, double *x) {
    const size_t n = local->n, d = local->d;
    if (local->x) {
        memcpy(x, local->x, n * d * sizeof *x);
    } else {
        memset(x, 0, n * d * sizeof *x);
        for (size_t j = 0; j < n; j++)
            for (size_t k = local->sparse_first[j]; k < local->sparse_first[j + 1]; k++)
                x[j * d + local->sparse_column[k]] = local->sparse_value[k];
    }
    for (size_t j = 0; local->x_mean && j < n; j++)
        bb_axpy(d, -1.0, local->x_mean, x + j * d);
}

void bb_spectrum_gram(const bb_local *local, double *gram, double *work) {
    if (local->gram) {
        memcpy(gram, local->gram, local->d * local->d * sizeof *gram);
    } else {
        copy_rows(local, work);
        bb_gram(local->n, local->d, local->weight, work, 0.0, gram);
    }
}

/* x <- R' x, and back: y <- R q (into another array). */
static void into(const bb_covariance *prior, size_t d, double *x, double *work) {
    if (prior->basis) {
        bb_multiply(d, d, 1.0, prior->basis, x, 0.0, work);
        memcpy(x, work, d * sizeof *x);
    }
    for (size_t a = 0; prior->root && a < d; a++) x[a] *= prior->root[a];
}

static void back(const bb_covariance *prior, size_t d, double *q, double *y) {
    for (size_t a = 0; prior->root && a < d; a++) q[a] *= prior->root[a];
    if (prior->basis)
        bb_multiply_transposed(d, d, 1.0, prior->basis, q, 0.0, y);
    else
        memcpy(y, q, d * sizeof *y);
}

/* matrix <- R' gram R. */
static void rotate(const bb_covariance *prior, size_t d, const double *gram,
                   double *matrix, double *column) {
    if (!prior->basis) memcpy(matrix, gram, d * d * sizeof *gram);
    for (size_t a = 0; prior->basis && a < d; a++) {
        const double root = prior->root ? prior->root[a] : 1.0;
        bb_multiply(d, d, root, gram, prior->basis + a * d, 0.0, column);
        bb_multiply(d, d, 1.0, prior->basis, column, 0.0, matrix + a * d);
    }
    for (size_t a = 0; prior->root && a < d; a++)
        for (size_t b = 0; b < d; b++)
            matrix[a * d + b] *=
                prior->basis ? prior->root[b] : prior->root[a] * prior->root[b];
}

/* n >= d: eigenvectors q_e of weight R'X'X R (d x d). */
static bb_status primal(const bb_local *local, const bb_covariance *prior,
                        bb_spectrum *out, double *work) {
    const size_t d = local->d;
    double *gram = work, *matrix = gram + d * d, *column = matrix + d * d;
    double *eigen_work = column + d;
    bb_spectrum_gram(local, gram, eigen_work);
    rotate(prior, d, gram, matrix, column);
    const bb_status status = bb_eigen(d, matrix, out->g, eigen_work);
    if (status) return status;
    out->rank = d;
    for (size_t e = 0; e < d; e++) {
        out->g[e] = fmax(out->g[e], 0.0);
        back(prior, d, matrix + e * d, out->f + e * d);
    }
    return BB_OK;
}

/* n < d: eigenvectors v_e of K = weight X R R' X' (n x n); f_e = R R' X' v_e
 * sqrt(weight / g_e). */
static bb_status dual(const bb_local *local, const bb_covariance *prior,
                      bb_spectrum *out, double *work) {
    const size_t n = local->n, d = local->d;
    double *x = work, *kernel = x + n * d, *column = kernel + n * n;
    double *eigen_work = column + d, most;
    copy_rows(local, x);
    for (size_t j = 0; j < n; j++) into(prior, d, x + j * d, column);
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k <= j; k++)
            kernel[j * n + k] = kernel[k * n + j] =
                local->weight * bb_dot(d, x + j * d, x + k * d);
    const bb_status status = bb_eigen(n, kernel, out->g, eigen_work);
    if (status) return status;
    most = fmax(out->g[n - 1], 0.0);
    out->rank = n;
    for (size_t e = 0; e < n; e++) {
        if (out->g[e] <= 1e-15 * most) { /* nothing of the data lies here */
            out->g[e] = 0.0;
            memset(out->f + e * d, 0, d * sizeof *out->f);
            continue;
        }
        bb_multiply_transposed(n, d, sqrt(local->weight / out->g[e]), x, kernel + e * n,
                               0.0, column);
        back(prior, d, column, out->f + e * d);
    }
    return BB_OK;
}

bb_status bb_spectrum_open(bb_spectrum *spectrum, const bb_local *local,
                           const bb_covariance *covariance, double *room,
                           double *work) {
    const size_t n = local->n, d = local->d, rank = n < d ? n : d;
    *spectrum = (bb_spectrum){.f = room, .g = room + rank * d};
    if (n == 0) return BB_OK;
    return n < d ? dual(local, covariance, spectrum, work)
                 : primal(local, covariance, spectrum, work);
}

size_t bb_spectrum_length(size_t n, size_t d) {
    const size_t rank = n < d ? n : d;
    return rank * d + rank;
}

size_t bb_spectrum_work(size_t n, size_t d) {
    const size_t eigen = bb_eigen_work(n < d ? n : d) / sizeof(double) + 8;
    const size_t by_primal = 2 * d * d + d + (eigen > n * d ? eigen : n * d);
    const size_t by_dual = n * d + n * n + d + eigen;
    size_t most = n < d ? by_dual : by_primal;
    if (n * d + n > most) most = n * d + n;
    if (d * d + n * d > most) most = d * d + n * d; /* bb_spectrum_gram */
    return most;
}

double bb_spectrum_residual(const bb_local *local, const double *centre,
                            double *residual, double *work) {
    const size_t d = local->d;
    memcpy(residual, local->xy, d * sizeof *residual);
    if (!centre) return local->yy;
    if (local->gram) {
        bb_multiply(d, d, -1.0, local->gram, centre, 1.0, residual);
    } else {
        double *x = work, *product = x + local->n * d;
        copy_rows(local, x);
        bb_multiply(local->n, d, 1.0, x, centre, 0.0, product);
        bb_multiply_transposed(local->n, d, -local->weight, x, product, 1.0, residual);
    }
    return local->yy - bb_dot(d, centre, local->xy) - bb_dot(d, centre, residual);
}
