/* curvature.c - the largest eigenvalue of a task's Hessian. */
#include "base/memory.h"
#include "learners/local.h"
#include "learners/rows.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROVABLE = 1000, PATIENCE = 1000 };

static size_t work_of(size_t n) {
    return n * n + n + bb_eigenvalues_work(n) / sizeof(double);
}

/* A start that no data set is orthogonal to by construction. */
static void start_vector(size_t n, double *v) {
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (size_t k = 0; k < n; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        v[k] = 1 + (double)(state >> 11) * 0x1p-53;
    }
}

/* Continues the power iteration from v; *estimate is its last Rayleigh quotient. */
static void power(size_t n, const double *M, size_t rounds, double *v, double *next,
                  double *estimate) {
    for (size_t r = 0; r < rounds; r++) {
        const double length = bb_norm(n, v);
        if (!(length > 0)) return;
        bb_scale(n, 1 / length, v);
        bb_multiply_transposed(n, n, 1, M, v, 0, next);
        const double before = *estimate;
        *estimate = bb_dot(n, v, next);
        memcpy(v, next, n * sizeof *v);
        if (fabs(*estimate - before) <= 1e-9 * *estimate) return;
    }
}

static bool proven(size_t n, const double *M, double c, double *work) {
    for (size_t k = 0; k < n * n; k++) work[k] = -M[k];
    for (size_t k = 0; k < n; k++) work[k * n + k] += c;
    return bb_cholesky(n, work) == BB_OK;
}

/* An upper bound, at most 1e-6 relative above the truth, of the largest eigenvalue of a
 * positive semidefinite n x n matrix M, by power iteration and a proof: c I - M has a
 * Cholesky factor, so M has no eigenvalue above c (up to rounding). Where the iteration
 * is too slow to be proven, all eigenvalues are computed. BB_ENUMERIC if M is not
 * finite. work: work_of(n) doubles. */
static bb_status find_largest(size_t n, const double *M, double *out, double *work) {
    double *copy = work, *v = work + n * n, *next = v + n, estimate = 0, trace = 0;
    for (size_t k = 0; k < n; k++) trace += M[k * n + k];
    if (!isfinite(trace))
        return bb_fail(BB_ENUMERIC,
                       "the rows are too large: their squares are not finite");
    *out = 0;
    if (!(trace > 0)) return BB_OK;
    start_vector(n, v);
    for (size_t rounds = 50; rounds <= 200; rounds *= 2) {
        power(n, M, rounds, v, next, &estimate);
        *out = estimate * (1 + 1e-6);
        if (*out > 0 && proven(n, M, *out, copy)) return BB_OK;
    }
    memcpy(copy, M, n * n * sizeof *copy);
    const bb_status status = bb_eigenvalues(n, copy, v, v + n);
    if (!status) *out = v[n - 1] * (1 + 1e-12);
    return status;
}

/* v <- Hessian v / s through the rows; v has a last entry for the intercept if `ones`.
 */
static void apply(const bb_local *local, bool ones, double *v, double *p) {
    const bb_rows rows = bb_rows_of(local);
    const size_t n = rows.n, d = rows.d;
    bb_rows_multiply(&rows, v, p);
    double shift = ones ? v[d] : 0, sum = 0;
    if (local->x_mean) shift = -bb_dot(d, local->x_mean, v);
    for (size_t j = 0; j < n; j++) sum += p[j] += shift;
    bb_rows_combine(&rows, p, v);
    if (local->x_mean) bb_axpy(d, -sum, local->x_mean, v);
    if (ones) v[d] = sum;
}

static bb_status measure_by_rows(const bb_local *local, bool ones, double *out) {
    const size_t width = local->d + (ones ? 1 : 0);
    double *v = NULL, estimate = 0;
    const bb_status status =
        bb_allocate(&v, width + local->n, sizeof *v, "a task's curvature");
    if (status) return status;
    start_vector(width, v);
    for (size_t r = 0; r < PATIENCE; r++) {
        const double length = bb_norm(width, v), before = estimate;
        if (!(length > 0)) break;
        bb_scale(width, 1 / length, v);
        apply(local, ones, v, v + width);
        estimate = bb_norm(width, v);
        if (fabs(estimate - before) <= 1e-10 * estimate) break;
    }
    free(v);
    *out = estimate * (1 + 1e-6);
    return BB_OK;
}

/* The smaller of X'X and XX', of centred rows or with the column of ones. */
static void smaller_square(const bb_local *local, bool ones, size_t order, double *M,
                           double *work) {
    const bb_rows rows = bb_rows_of(local);
    if (order == local->n) {
        bb_rows_kernel(&rows, M, work);
        if (local->x_mean) bb_rows_centre(order, M, work);
        if (ones)
            for (size_t k = 0; k < order * order; k++) M[k] += 1;
    } else {
        bb_rows_covariance(&rows, 1, local->x_mean, NULL, ones, M, work);
    }
}

static bb_status measure(const bb_local *local, bool ones, double *out) {
    const size_t width = local->d + (ones ? 1 : 0);
    const size_t order = local->n < width ? local->n : width;
    if (order > PROVABLE) return measure_by_rows(local, ones, out);
    const bb_rows rows = bb_rows_of(local);
    size_t room = work_of(order);
    const size_t block = order == local->n ? local->n + local->d : bb_rows_block(&rows);
    if (room < block) room = block;
    double *M = NULL;
    bb_status status =
        bb_allocate(&M, order * order + room, sizeof *M, "a task's curvature");
    if (status) return status;
    smaller_square(local, ones, order, M, M + order * order);
    status = find_largest(order, M, out, M + order * order);
    free(M);
    return status;
}

/* The largest eigenvalue of the loss's Hessian in the outputs, over s (softmax: Bohning
 * 1992). */
static double bend(bb_loss loss) {
    switch (loss) {
    case BB_LOSS_SQUARED:
        break;
    case BB_LOSS_LOGISTIC:
    case BB_LOSS_MULTILABEL:
        return 0.25;
    case BB_LOSS_SOFTMAX:
        return 0.5;
    }
    return 1;
}

bb_status bb_local_measure(bb_local *local) {
    double value = 0, factor = local->weight;
    bb_status status = BB_OK;
    local->lipschitz = 0;
    if (local->n == 0 || local->d == 0) return BB_OK;
    if (local->gram && local->d <= PROVABLE) {
        const size_t d = local->d;
        double *full = NULL;
        status =
            bb_allocate(&full, d * d + work_of(d), sizeof *full, "a task's curvature");
        if (!status) {
            bb_strips_unpack(d, local->gram, full);
            status = find_largest(d, full, &value, full + d * d);
        }
        free(full);
        factor = 1;
    } else {
        const bool ones = local->loss == BB_LOSS_LOGISTIC && local->intercept;
        status = measure(local, ones, &value);
        factor *= bend(local->loss);
    }
    if (status) return status;
    if (!isfinite(value * factor))
        return bb_fail(BB_ENUMERIC,
                       "the rows are too large: their squares are not finite");
    local->lipschitz = value * factor;
    return BB_OK;
}
