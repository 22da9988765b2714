#include "methods/personal.h"

#include "linalg/linalg.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* A task with fewer rows cannot judge what helps it. */
static const size_t least_rows_to_judge = 30;
static const double factors[] = {0.1, 1.0, 10.0, 100.0}; /* of the weight alone */

bb_status bb_personal_fit(const bb_local *local, double weight, const double *centre,
                          double *w, double *work) {
    double intercept;
    return bb_local_ridge(local, weight * local->weight, centre, w, &intercept, work);
}

static void copy_row(const bb_local *local, size_t j, double *x) {
    if (local->x) {
        memcpy(x, local->x + j * local->d, local->d * sizeof *x);
        return;
    }
    memset(x, 0, local->d * sizeof *x);
    for (size_t k = local->sparse_first[j]; k < local->sparse_first[j + 1]; k++)
        x[local->sparse_column[k]] = local->sparse_value[k];
}

/* loss[j] <- the loss of row j under the model without it, to first order (approximate
 * leave-one-out: Rad, Maleki 2020): its prediction moves by h l' / (1 - h l''), h = x'
 * H^-1 x, H the Hessian of the summed loss and penalty; *sum, of all. work: 2 d + d^2,
 * then bb_local_hessian_work. */
static bb_status leave_one_out(const bb_local *local, double weight, const double *w,
                               double *loss, double *sum, double *work) {
    const size_t d = local->d;
    double *x = work, *solved = x + d, *hessian = solved + d, *mean = solved, bend;
    bb_local_hessian(local, w, 0.0, hessian, mean, &bend, hessian + d * d);
    for (size_t k = 0; k < d; k++) hessian[k * d + k] += weight * local->weight;
    const bb_status status = bb_cholesky(d, hessian);
    if (status) return status;
    *sum = 0.0;
    for (size_t j = 0; j < local->n; j++) {
        copy_row(local, j, x);
        memcpy(solved, x, d * sizeof *x);
        bb_cholesky_solve(d, hessian, solved);
        const double h = local->weight * bb_dot(d, x, solved), y = local->y[j];
        const double eta = bb_dot(d, x, w), p = 1.0 / (1.0 + exp(y * eta));
        const double moved = eta - h * y * p / (1.0 - h * p * (1.0 - p));
        loss[j] = y * moved > 0.0 ? log1p(exp(-y * moved))
                                  : log1p(exp(y * moved)) - y * moved;
        *sum += loss[j];
    }
    return BB_OK;
}

/* model <- the average of the fits around the centre with all weights, each by exp(-its
 * leave-one-out loss); best <- the losses of the rows under the best of them. work: d +
 * n, then that of a fit or of leave_one_out. */
static bb_status average(const bb_local *local, const double *centre, double *model,
                         double *best, double *work) {
    const size_t d = local->d, n = local->n;
    double *w = work, *loss = w + d, *rest = loss + n, least = INFINITY, total = 0.0;
    memset(model, 0, d * sizeof *model);
    for (size_t k = 0; k < sizeof factors / sizeof *factors; k++) {
        const double weight = factors[k] * BB_ALONE_WEIGHT;
        double sum;
        bb_status status = bb_personal_fit(local, weight, centre, w, rest);
        if (!status) status = leave_one_out(local, weight, w, loss, &sum, rest);
        if (status) return status;
        if (sum < least) {
            bb_scale(d, exp(sum - least), model);
            total *= exp(sum - least);
            least = sum;
            memcpy(best, loss, n * sizeof *loss);
        }
        bb_axpy(d, exp(least - sum), w, model);
        total += exp(least - sum);
    }
    bb_scale(d, 1.0 / total, model);
    return BB_OK;
}

/* Whether losses a are worse than losses b by more than one standard error. */
static bool is_worse(size_t n, const double *a, const double *b) {
    double mean = 0.0, square = 0.0;
    for (size_t j = 0; j < n; j++) mean += (a[j] - b[j]) / (double)n;
    for (size_t j = 0; j < n; j++)
        square += (a[j] - b[j] - mean) * (a[j] - b[j] - mean);
    return mean > sqrt(square / (double)(n - 1) / (double)n);
}

static bb_status judge(const bb_local *local, const double *centre, double *model,
                       double *work) {
    const size_t d = local->d, n = local->n;
    double *own = work, *own_loss = own + d, *loss = own_loss + n, *rest = loss + n;
    bb_status status = average(local, NULL, own, own_loss, rest);
    if (!status && centre) status = average(local, centre, model, loss, rest);
    if (!status && (!centre || is_worse(n, loss, own_loss)))
        memcpy(model, own, d * sizeof *own);
    return status;
}

size_t bb_personal_work(const bb_local *local) {
    const size_t d = local->d, fit = bb_local_work(local);
    const size_t judged = 2 * d + d * d + bb_local_hessian_work(local);
    return 2 * d + 3 * local->n + (fit > judged ? fit : judged);
}

bb_status bb_personal_model(const bb_local *local, const double *centre, double *model,
                            double *work) {
    if (local->n == 0) {
        for (size_t k = 0; k < local->d; k++) model[k] = centre ? centre[k] : 0.0;
        return BB_OK;
    }
    if (local->n >= least_rows_to_judge) return judge(local, centre, model, work);
    return bb_personal_fit(local, centre ? BB_DEVIATION_WEIGHT : BB_ALONE_WEIGHT,
                           centre, model, work);
}
