#include "methods/personal.h"

#include "linalg/linalg.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* A task with fewer rows cannot judge whether the centre helps it. */
static const size_t least_rows_to_judge = 30;

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
 * H^-1 x, H the Hessian of the summed loss and penalty. work: 2 d + d^2, then
 * bb_local_hessian_work. */
static bb_status leave_one_out(const bb_local *local, double weight, const double *w,
                               double *loss, double *work) {
    const size_t d = local->d;
    double *x = work, *solved = x + d, *hessian = solved + d, *mean = solved, bend;
    bb_local_hessian(local, w, 0.0, hessian, mean, &bend, hessian + d * d);
    for (size_t k = 0; k < d; k++) hessian[k * d + k] += weight * local->weight;
    const bb_status status = bb_cholesky(d, hessian);
    if (status) return status;
    for (size_t j = 0; j < local->n; j++) {
        copy_row(local, j, x);
        memcpy(solved, x, d * sizeof *x);
        bb_cholesky_solve(d, hessian, solved);
        const double h = local->weight * bb_dot(d, x, solved), y = local->y[j];
        const double eta = bb_dot(d, x, w), p = 1.0 / (1.0 + exp(y * eta));
        const double moved = eta - h * y * p / (1.0 - h * p * (1.0 - p));
        loss[j] = y * moved > 0.0 ? log1p(exp(-y * moved))
                                  : log1p(exp(y * moved)) - y * moved;
    }
    return BB_OK;
}

/* Whether the task's own rows speak against the joint model: by one standard error. */
static bool rejects(const bb_local *local, const double *joint, const double *own,
                    double *work) {
    const size_t n = local->n;
    double *a = work, *b = a + n, mean = 0.0, square = 0.0;
    if (leave_one_out(local, BB_DEVIATION_WEIGHT, joint, a, b + n) ||
        leave_one_out(local, BB_ALONE_WEIGHT, own, b, b + n))
        return true;
    for (size_t j = 0; j < n; j++) mean += (a[j] - b[j]) / (double)n;
    for (size_t j = 0; j < n; j++)
        square += (a[j] - b[j] - mean) * (a[j] - b[j] - mean);
    return mean > sqrt(square / (double)(n - 1) / (double)n);
}

size_t bb_personal_work(const bb_local *local) {
    const size_t d = local->d;
    return 3 * d + d * d + 2 * local->n + bb_local_hessian_work(local) +
           bb_local_work(local);
}

bb_status bb_personal_model(const bb_local *local, const double *centre, double *model,
                            double *work) {
    const size_t d = local->d;
    double *own = work, *rest = own + d;
    if (local->n == 0) {
        for (size_t k = 0; k < d; k++) model[k] = centre ? centre[k] : 0.0;
        return BB_OK;
    }
    bb_status status = bb_personal_fit(local, BB_ALONE_WEIGHT, NULL, own, rest);
    if (!status && centre)
        status = bb_personal_fit(local, BB_DEVIATION_WEIGHT, centre, model, rest);
    if (status) return status;
    if (!centre ||
        (local->n >= least_rows_to_judge && rejects(local, model, own, rest)))
        memcpy(model, own, d * sizeof *own);
    return BB_OK;
}
