#include "learners/local.h"

#include "base/memory.h"
#include "learners/rows.h"
#include "learners/sgd.h"
#include "learners/solvers.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Is a product with the Gram matrix cheaper than a pass over the rows? */
static bool gram_pays(const bb_rows *rows) {
    if (rows->n == 0 || rows->d == 0) return false;
    return (double)rows->d * (double)rows->d <= 2.0 * (double)bb_rows_entries(rows);
}

static bb_status check_finite(size_t n, const double *v, const char *what) {
    for (size_t k = 0; k < n; k++)
        if (!isfinite(v[k]))
            return bb_fail(BB_ENUMERIC,
                           "a task's %s are not finite: its rows hold values "
                           "that are too large or not numbers",
                           what);
    return BB_OK;
}

/* work: bb_local_open_work. */
static bb_status summarise(bb_local *local, double *work) {
    const bb_rows rows = bb_rows_of(local);
    const size_t n = rows.n, d = rows.d;
    double *y = work;
    if (local->intercept && n) {
        for (size_t j = 0; j < n; j++) y[j] = 1 / (double)n;
        bb_rows_combine(&rows, y, local->x_mean);
        local->y_mean = bb_sum(n, rows.y) / (double)n;
    }
    for (size_t j = 0; j < n; j++) y[j] = rows.y[j] - local->y_mean;
    bb_rows_combine(&rows, y, local->xy);
    if (local->x_mean) bb_axpy(d, -bb_sum(n, y), local->x_mean, local->xy);
    bb_scale(d, local->weight, local->xy);
    local->yy = local->weight * bb_dot(n, y, y);
    if (local->gram) {
        double *full = work + n;
        bb_rows_covariance(&rows, local->weight, local->x_mean, NULL, false, full,
                           full + d * d);
        bb_strips_pack(d, full, local->gram);
    }
    bb_status status = check_finite(1, &local->yy, "targets");
    if (!status) status = check_finite(d, local->xy, "sums of products");
    if (!status && local->gram)
        status = check_finite(bb_strips_length(d), local->gram, "sums of squares");
    return status;
}

/* Numbers of a vector, in whole lines of the cache. */
static size_t in_lines(size_t d) {
    return (d + 7) / 8 * 8;
}

size_t bb_local_room(bb_rows rows, bb_loss loss, bool intercept) {
    if (loss != BB_LOSS_SQUARED) return 0;
    return in_lines(rows.d) * (1 + intercept) +
           (gram_pays(&rows) ? in_lines(bb_strips_length(rows.d)) : 0);
}

size_t bb_local_open_work(bb_rows rows, bb_loss loss) {
    if (loss != BB_LOSS_SQUARED) return 0;
    return rows.n + (gram_pays(&rows) ? rows.d * rows.d + bb_rows_block(&rows) : 0);
}

static bb_status open_squared(bb_local *local, double *room, double *work) {
    const bb_rows rows = bb_rows_of(local);
    const size_t vector = in_lines(rows.d);
    double *own = NULL;
    bb_status status = BB_OK;
    if (!room)
        status = bb_allocate(&local->room,
                             bb_local_room(rows, BB_LOSS_SQUARED, local->intercept),
                             sizeof(double), "a task's sums");
    if (status) return status;
    if (!room) room = local->room;
    local->xy = room;
    if (local->intercept) local->x_mean = room += vector;
    if (gram_pays(&rows)) local->gram = room + vector;
    if (!work)
        status = bb_allocate(&own, bb_local_open_work(rows, BB_LOSS_SQUARED),
                             sizeof *own, "a task's centred rows");
    if (!status) status = summarise(local, work ? work : own);
    free(own);
    return status;
}

/* Newton's method and Gram matrices square the rows. */
static bb_status check_squares(const bb_rows *rows) {
    double sum = 0;
    if (rows->x)
        sum = bb_dot(rows->n * rows->d, rows->x, rows->x);
    else if (rows->n)
        for (size_t k = rows->sparse_first[0]; k < rows->sparse_first[rows->n]; k++)
            sum += rows->sparse_value[k] * rows->sparse_value[k];
    if (isfinite(sum)) return BB_OK;
    return bb_fail(BB_ENUMERIC, "the rows are too large: their squares are not finite");
}

bb_status bb_local_open_exact(bb_local *local, bb_rows rows, bb_loss loss,
                              bool intercept, bool scale_sum, double *room,
                              double *work) {
    bb_local new = {.loss = loss,
                    .intercept = intercept,
                    .n = rows.n,
                    .d = rows.d,
                    .outputs = 1,
                    .length = rows.d,
                    .x = rows.x,
                    .sparse_first = rows.sparse_first,
                    .sparse_column = rows.sparse_column,
                    .sparse_value = rows.sparse_value,
                    .y = rows.y,
                    .lipschitz = NAN};
    if (rows.n) new.weight = scale_sum ? 1 : 1 / (double)rows.n;
    bb_status status = bb_linalg_ready();
    if (!status && loss == BB_LOSS_SQUARED) status = open_squared(&new, room, work);
    if (!status) status = check_squares(&rows);
    if (status)
        bb_local_close(&new);
    else
        *local = new;
    return status;
}

bb_status bb_local_open(bb_local *local, bb_rows rows, bb_loss loss, bool intercept,
                        bool scale_sum) {
    bb_local new;
    bb_status status =
        bb_local_open_exact(&new, rows, loss, intercept, scale_sum, NULL, NULL);
    if (status) return status;
    status = bb_local_measure(&new);
    if (status)
        bb_local_close(&new);
    else
        *local = new;
    return status;
}

void bb_local_close(bb_local *local) {
    if (!local) return;
    free(local->room);
    free(local->touched);
    free(local->place);
    *local = (bb_local){0};
}

/* r <- s (x_j.w + b - y_j) with the best b; returns the loss. */
static double squared_residual(const bb_local *local, const double *w, double *r) {
    const bb_rows rows = bb_rows_of(local);
    double shift = local->y_mean;
    if (local->x_mean) shift -= bb_dot(rows.d, local->x_mean, w);
    bb_rows_multiply(&rows, w, r);
    for (size_t j = 0; j < rows.n; j++) r[j] = (r[j] + shift) - rows.y[j];
    const double value = 0.5 * local->weight * bb_dot(rows.n, r, r);
    bb_scale(rows.n, local->weight, r);
    return value;
}

/* u <- s l'(x_j.w + b); returns the loss. */
static double logistic_residual(const bb_local *local, const double *w, double b,
                                double *u) {
    const bb_rows rows = bb_rows_of(local);
    bb_rows_multiply(&rows, w, u);
    if (local->intercept)
        for (size_t j = 0; j < rows.n; j++) u[j] += b;
    const double value = bb_logistic(rows.n, rows.y, u);
    bb_scale(rows.n, local->weight, u);
    return local->weight * value;
}

/* g <- G w - X'y */
static void gram_slope(const bb_local *local, const double *w, double *g) {
    bb_strips_slope(local->d, local->gram, w, local->xy, g);
}

/* The loss is 1/2 (w'Gw - 2 w'X'y + y'y). */
static double gram_gradient(const bb_local *local, const double *w, double *g) {
    const size_t d = local->d;
    gram_slope(local, w, g);
    const double twice = (bb_dot(d, w, g) - bb_dot(d, w, local->xy)) + local->yy;
    return twice < 0 ? 0 : 0.5 * twice;
}

double bb_local_value(const bb_local *local, const double *w, double b, double *work) {
    if (local->gram) return gram_gradient(local, w, work);
    if (local->loss == BB_LOSS_SQUARED) return squared_residual(local, w, work);
    return logistic_residual(local, w, b, work);
}

double bb_local_gradient(const bb_local *local, const double *w, double b, double *g,
                         double *gb, double *work) {
    *gb = 0;
    if (local->gram) return gram_gradient(local, w, g);
    const bb_rows rows = bb_rows_of(local);
    double value;
    if (local->loss == BB_LOSS_SQUARED) {
        value = squared_residual(local, w, work);
        bb_rows_combine(&rows, work, g);
        /* The residuals' sum is zero but for rounding, which large means would amplify.
         */
        if (local->x_mean) bb_axpy(rows.d, -bb_sum(rows.n, work), local->x_mean, g);
    } else {
        value = logistic_residual(local, w, b, work);
        bb_rows_combine(&rows, work, g);
        if (local->intercept) *gb = bb_sum(rows.n, work);
    }
    return value;
}

void bb_local_slope(const bb_local *local, const double *w, double b, double *g,
                    double *gb, double *work) {
    *gb = 0;
    if (local->gram)
        gram_slope(local, w, g);
    else
        (void)bb_local_gradient(local, w, b, g, gb, work);
}

void bb_local_residual(const bb_local *local, const double *w, double b, double *u) {
    if (local->loss == BB_LOSS_SQUARED)
        (void)squared_residual(local, w, u);
    else
        (void)logistic_residual(local, w, b, u);
}

double bb_local_conjugate(const bb_local *local, const double *u, double t) {
    const double s = local->weight, *y = local->y;
    const size_t n = local->n;
    double sum = 0;
    if (n == 0) return 0;
    if (local->loss == BB_LOSS_SQUARED)
        return t * (t * bb_dot(n, u, u) / (2 * s) + bb_dot(n, u, y));
    for (size_t j = 0; j < n; j++) {
        const double a = -y[j] * t * u[j] / s;
        if (!(a >= 0 && a <= 1)) return INFINITY;
        if (a > 0) sum += a * log(a);
        if (a < 1) sum += (1 - a) * log1p(-a);
    }
    return s * sum;
}

double bb_local_one_class(const bb_local *local) {
    for (size_t j = 1; j < local->n; j++)
        if (local->y[j] != local->y[0]) return 0;
    return local->n ? local->y[0] : 0;
}

/* Root of the increasing function sum_j l'(p_j + b), by Newton steps kept in a bracket.
 */
double bb_logistic_intercept(const bb_local *local, const double *p, double *work) {
    const size_t n = local->n;
    double *u = work, *curvature = work + n, low = -INFINITY, high = INFINITY, b = 0;
    for (size_t j = 0; j < n; j++) b -= p[j] / (double)n;
    for (size_t round = 0; round < 200; round++) {
        for (size_t j = 0; j < n; j++) u[j] = p[j] + b;
        (void)bb_logistic_curved(n, local->y, u, curvature);
        const double slope = bb_sum(n, u), bend = bb_sum(n, curvature);
        if (slope == 0 || isnan(slope)) break;
        if (slope > 0)
            high = b;
        else
            low = b;
        double next = b - slope / bend;
        const double reach = 2 + 2 * fabs(b);
        if (!(fabs(next - b) <= reach)) next = slope > 0 ? b - reach : b + reach;
        if (next <= low || next >= high) next = 0.5 * (low + high);
        if (fabs(next - b) <= 1e-15 * (1 + fabs(b)) || next == low || next == high)
            break;
        b = next;
    }
    return b;
}

double bb_local_intercept(const bb_local *local, const double *w, double *work) {
    if (!local->intercept || local->n == 0) return 0;
    if (local->loss == BB_LOSS_SQUARED)
        return local->y_mean - bb_dot(local->d, local->x_mean, w);
    const double label = bb_local_one_class(local);
    if (label != 0) return 30 * label;
    const bb_rows rows = bb_rows_of(local);
    bb_rows_multiply(&rows, w, work);
    return bb_logistic_intercept(local, work, work + local->n);
}

size_t bb_local_work(const bb_local *local) {
    if (!bb_loss_is_solved(local->loss, local->net))
        return bb_sgd_work(local, &(bb_sgd){.batch = 0});
    const size_t here = local->d + 3 * local->n;
    return bb_larger(here, bb_larger(bb_ridge_work(local), bb_lasso_work(local)));
}

/* One number of a row. */
static double add_entry(double *sum, size_t column, double value) {
    if (sum) sum[column] += value;
    return value * value;
}

double bb_local_squares(const bb_local *local, size_t columns, double *sum) {
    const size_t n = local->n, d = local->d;
    double squares = 0.0;
    if (sum) memset(sum, 0, columns * sizeof *sum);
    for (size_t j = 0; local->x && j < n; j++) {
        const double *row = local->x + j * d;
        if (sum) bb_axpy(columns, 1.0, row, sum);
        squares += bb_dot(columns, row, row);
    }
    for (size_t j = 0; !local->x && j < n; j++)
        for (size_t e = local->sparse_first[j]; e < local->sparse_first[j + 1]; e++)
            if (local->sparse_column[e] < columns)
                squares +=
                    add_entry(sum, local->sparse_column[e], local->sparse_value[e]);
    return squares;
}
