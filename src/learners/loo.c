#include "learners/rows.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* With the model of all rows, residual r_j and leverage h_j, the residual of row j by
 * the model of the others is r_j / (1 - h_j). */
static const double LEAST = 1e-10, FLOOR = 1e-300;

static bool by_rows(const bb_local *local) {
    return local->n < local->d;
}

size_t bb_local_loo_work(const bb_local *local, size_t count) {
    const bb_rows rows = bb_rows_of(local);
    const size_t n = local->n, d = local->d, order = by_rows(local) ? n : d;
    const size_t eigen = (bb_eigen_work(order) + sizeof(double) - 1) / sizeof(double);
    const size_t block = bb_rows_block(&rows) > n + d ? bb_rows_block(&rows) : n + d;
    const size_t room = eigen > block ? eigen : block;
    const size_t own =
        by_rows(local) ? n * n + 4 * n : 2 * count * d + 3 * d + 2 * count;
    return order * order + 2 * order + own + room;
}

static double left_out(double r, double rest) {
    const double e = r / fmax(rest, LEAST);
    return e * e;
}

/* The free intercept makes constants an eigenvector of the eigenvalue 0, perhaps among
 * others; this makes it the last one by far, so that it can be left out exactly. */
static void set_constants_apart(size_t n, double *K) {
    double trace = 0;
    for (size_t k = 0; k < n; k++) trace += K[k * n + k];
    for (size_t k = 0; k < n * n; k++) K[k] += (2 * trace + 1e-300) / (double)n;
}

/* Eigenvectors in the space of the rows: K = s X X', 1 - h = diag of lambda (K +
 * lambda)^-1. */
static bb_status loo_by_rows(const bb_local *local, size_t count, const double *lambda,
                             double *error, double *work) {
    const bb_rows rows = bb_rows_of(local);
    const size_t n = local->n;
    double *V = work, *value = V + n * n, *cy = value + n, *squares = cy + n;
    double *shrink = squares + n * n, *r = shrink + n, *rest = r + n, *y = rest + n,
           *room = y + n;
    bb_rows_kernel(&rows, V, room);
    if (local->intercept) bb_rows_centre(n, V, room);
    bb_scale(n * n, local->weight, V);
    if (local->intercept) set_constants_apart(n, V);
    const bb_status status = bb_eigen(n, V, value, room);
    if (status) return status;
    for (size_t j = 0; j < n; j++) y[j] = local->y[j] - local->y_mean;
    bb_multiply(n, n, 1, V, y, 0, cy);
    for (size_t k = 0; k < n * n; k++) squares[k] = V[k] * V[k];
    for (size_t l = 0; l < count; l++) {
        for (size_t k = 0; k < n; k++)
            shrink[k] = lambda[l] / (fmax(value[k], 0) + lambda[l]);
        if (local->intercept) shrink[n - 1] = 0;
        bb_multiply_transposed(n, n, 1, squares, shrink, 0, rest);
        for (size_t k = 0; k < n; k++) shrink[k] *= cy[k];
        bb_multiply_transposed(n, n, 1, V, shrink, 0, r);
        double sum = 0;
        for (size_t j = 0; j < n; j++) sum += left_out(r[j], rest[j]);
        error[l] = fmax(sum / (double)n, FLOOR);
    }
    return BB_OK;
}

/* Eigenvectors in the space of the features; rows are rotated one by one. */
static bb_status loo_by_features(const bb_local *local, size_t count,
                                 const double *lambda, double *error, double *work) {
    const bb_rows rows = bb_rows_of(local);
    const size_t n = local->n, d = local->d;
    double *U = work, *value = U + d * d, *cy = value + d, *fit = cy + d;
    double *leverage = fit + count * d, *x = leverage + count * d, *z = x + d,
           *predicted = z + d, *h = predicted + count, *room = h + count;
    if (local->gram)
        memcpy(U, local->gram, d * d * sizeof *U);
    else
        bb_rows_covariance(&rows, local->weight, local->x_mean, NULL, false, U, room);
    const bb_status status = bb_eigen(d, U, value, room);
    if (status) return status;
    bb_multiply(d, d, 1, U, local->xy, 0, cy);
    for (size_t l = 0; l < count; l++)
        for (size_t k = 0; k < d; k++) {
            const double inverse = 1 / (fmax(value[k], 0) + lambda[l]);
            fit[l * d + k] = inverse * cy[k];
            leverage[l * d + k] = local->weight * inverse;
        }
    memset(error, 0, count * sizeof *error);
    const double constant = local->intercept ? 1 / (double)n : 0;
    for (size_t j = 0; j < n; j++) {
        bb_rows_copy(&rows, j, local->x_mean, x);
        bb_multiply(d, d, 1, U, x, 0, z);
        bb_multiply(count, d, 1, fit, z, 0, predicted);
        for (size_t k = 0; k < d; k++) z[k] *= z[k];
        bb_multiply(count, d, 1, leverage, z, 0, h);
        for (size_t l = 0; l < count; l++)
            error[l] += left_out((local->y[j] - local->y_mean) - predicted[l],
                                 (1 - constant) - h[l]);
    }
    for (size_t l = 0; l < count; l++) error[l] = fmax(error[l] / (double)n, FLOOR);
    return BB_OK;
}

bb_status bb_local_loo(const bb_local *local, size_t count, const double *lambda,
                       double *error, double *work) {
    assert(local->loss == BB_LOSS_SQUARED);
    if (local->n == 0) {
        for (size_t l = 0; l < count; l++) error[l] = FLOOR;
        return BB_OK;
    }
    if (by_rows(local)) return loo_by_rows(local, count, lambda, error, work);
    return loo_by_features(local, count, lambda, error, work);
}
