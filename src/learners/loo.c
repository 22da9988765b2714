#include "learners/rows.h"
#include "linalg/linalg.h"
#include "linalg/tridiagonal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* With the model of all rows, residual r_j and leverage h_j, the residual of row j by
 * the model of the others is r_j / (1 - h_j). */
static const double LEAST = 1e-10, FLOOR = 1e-300;

static bool by_rows(const bb_local *local) {
    return local->n < local->d;
}

/* A tridiagonal form and a factor for every penalty take less than eigenvectors of small
 * matrices. */
static bool by_shifts(const bb_local *local) {
    return (by_rows(local) ? local->n : local->d) <= BB_LINALG_SMALL;
}

/* A matrix of this order, or what makes it. */
static size_t shifts_work(const bb_local *local, size_t count, size_t order) {
    const bb_rows rows = bb_rows_of(local);
    const size_t block = bb_rows_block(&rows), d = local->d + local->n;
    return order * order + (block > d ? block : d) + bb_tridiagonal_length(order) +
           bb_tridiagonal_table_length(order, count) + 2 * count + 2 * order +
           (order + 1) * BB_TRIDIAGONAL_ROWS;
}

size_t bb_local_loo_work(const bb_local *local, size_t count) {
    const bb_rows rows = bb_rows_of(local);
    const size_t n = local->n, d = local->d, order = by_rows(local) ? n : d;
    if (by_shifts(local)) return shifts_work(local, count, order);
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
 * others; this makes it the last one by far, so that it can be left out exactly. Returns it. */
static double set_constants_apart(size_t n, double *K) {
    double trace = 0;
    for (size_t k = 0; k < n; k++) trace += K[k * n + k];
    const double value = 2 * trace + 1e-300;
    for (size_t k = 0; k < n * n; k++) K[k] += value / (double)n;
    return value;
}

/* K <- s X X'; returns the eigenvalue of the constants where there is an intercept. */
static double products(const bb_local *local, double *K, double *room) {
    const bb_rows rows = bb_rows_of(local);
    const size_t n = local->n;
    bb_rows_kernel(&rows, K, room);
    if (local->intercept) bb_rows_centre(n, K, room);
    bb_scale(n * n, local->weight, K);
    return local->intercept ? set_constants_apart(n, K) : 0;
}

/* Eigenvectors in the space of the rows: K = s X X', 1 - h = diag of lambda (K +
 * lambda)^-1. */
static bb_status loo_by_rows(const bb_local *local, size_t count, const double *lambda,
                             double *error, double *work) {
    const size_t n = local->n;
    double *V = work, *value = V + n * n, *cy = value + n, *squares = cy + n;
    double *shrink = squares + n * n, *r = shrink + n, *rest = r + n, *y = rest + n,
           *room = y + n;
    (void)products(local, V, room);
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

/* -- T + lambda I, factored for every penalty, of the smaller of the two matrices -- */

typedef struct shifted {
    bb_tridiagonal t;
    double *c, *table, *whole, *least, *x, *y, *X, *matrix;
    double weight, constants; /* the eigenvalue of the constants, by rows */
} shifted;

static shifted lay_out(size_t order, size_t count, double *work) {
    shifted s = {.c = work + bb_tridiagonal_length(order)};
    s.table = s.c + order;
    s.whole = s.table + bb_tridiagonal_table_length(order, count);
    s.least = s.whole + count;
    s.y = s.least + count;
    s.X = s.y + BB_TRIDIAGONAL_ROWS;
    s.matrix = s.X + order * BB_TRIDIAGONAL_ROWS;
    s.x = s.matrix + order * order;
    return s;
}

/* c <- Q' times the right-hand side. By rows an example j is e_j, and its residual and 1 - h
 * over lambda are those of (K + lambda)^-1 y and the diagonal of (K + lambda)^-1. */
static bb_status open_shifted(const bb_local *local, shifted *s, double *work) {
    const bb_rows rows = bb_rows_of(local);
    const size_t n = local->n, d = local->d;
    bb_status status;
    if (by_rows(local)) {
        s->constants = products(local, s->matrix, s->x);
        status = bb_tridiagonal_open(&s->t, n, s->matrix, work);
        for (size_t j = 0; j < n; j++) s->c[j] = local->y[j] - local->y_mean;
    } else {
        if (local->gram)
            bb_strips_unpack(d, local->gram, s->matrix);
        else
            bb_rows_covariance(&rows, local->weight, local->x_mean, NULL, false,
                               s->matrix, s->x);
        status = bb_tridiagonal_open(&s->t, d, s->matrix, work);
        memcpy(s->c, local->xy, d * sizeof *s->c);
    }
    if (!status) bb_tridiagonal_into(&s->t, s->c);
    return status;
}

static void set_leverages(const bb_local *local, shifted *s, size_t count,
                          const double *lambda) {
    const double n = (double)local->n, constant = local->intercept ? 1 / n : 0;
    for (size_t l = 0; l < count; l++) {
        s->whole[l] = 1 - constant;
        s->least[l] = LEAST;
        if (!by_rows(local)) continue;
        s->whole[l] = -constant / (s->constants + lambda[l]);
        s->least[l] = LEAST / lambda[l];
    }
    s->weight = by_rows(local) ? -1 : local->weight;
}

/* X (order x width) <- the next examples as columns, zeros behind them; y (width). */
static void next_columns(const bb_local *local, const shifted *s, size_t first,
                         size_t count, size_t width) {
    const bb_rows rows = bb_rows_of(local);
    memset(s->X, 0, s->t.n * width * sizeof *s->X);
    memset(s->y, 0, width * sizeof *s->y);
    for (size_t j = 0; j < count; j++) {
        if (by_rows(local)) {
            s->X[(first + j) * width + j] = 1;
            continue;
        }
        bb_rows_copy(&rows, first + j, local->x_mean, s->x);
        for (size_t k = 0; k < local->d; k++) s->X[k * width + j] = s->x[k];
        s->y[j] = local->y[first + j] - local->y_mean;
    }
}

static bb_status loo_by_shifts(const bb_local *local, size_t count,
                               const double *lambda, double *error, double *work) {
    const size_t n = local->n, order = by_rows(local) ? n : local->d;
    shifted s = lay_out(order, count, work);
    const bb_status status = open_shifted(local, &s, work);
    if (status) return status;
    set_leverages(local, &s, count, lambda);
    bb_tridiagonal_table(&s.t, s.c, count, lambda, s.table);
    memset(error, 0, count * sizeof *error);
    for (size_t j = 0; j < n; j += BB_TRIDIAGONAL_ROWS) {
        const size_t left = n - j;
        const size_t some = left < BB_TRIDIAGONAL_ROWS ? left : BB_TRIDIAGONAL_ROWS;
        next_columns(local, &s, j, some, (some + 7) / 8 * 8);
        bb_tridiagonal_left_out(&s.t, s.table, count, some, s.X, s.y, s.whole, s.weight,
                                s.least, error);
    }
    for (size_t l = 0; l < count; l++) error[l] = fmax(error[l] / (double)n, FLOOR);
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
        bb_strips_unpack(d, local->gram, U);
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
    if (by_shifts(local)) return loo_by_shifts(local, count, lambda, error, work);
    if (by_rows(local)) return loo_by_rows(local, count, lambda, error, work);
    return loo_by_features(local, count, lambda, error, work);
}
