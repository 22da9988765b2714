#include "learners/local.h"
#include "learners/rows.h"
#include "linalg/linalg.h"

#include <string.h>

size_t bb_local_hessian_work(const bb_local *local) {
    const bb_rows rows = bb_rows_of(local);
    return 2 * local->n + bb_rows_block(&rows);
}

/* f (n) <- the second derivatives s l'' of the loss in the predictions. */
static void curvature(const bb_local *local, const double *w, double b, double *f,
                      double *p) {
    const bb_rows rows = bb_rows_of(local);
    bb_rows_multiply(&rows, w, p);
    if (local->intercept)
        for (size_t j = 0; j < rows.n; j++) p[j] += b;
    (void)bb_logistic_curved(rows.n, rows.y, p, f);
    bb_scale(rows.n, local->weight, f);
}

void bb_local_hessian(const bb_local *local, const double *w, double b, double *H,
                      double *mean, double *bend, double *work) {
    const bb_rows rows = bb_rows_of(local);
    double *f = work, *p = f + rows.n, *block = p + rows.n;
    memset(mean, 0, rows.d * sizeof *mean);
    *bend = 0.0;
    if (local->gram) {
        bb_strips_unpack(rows.d, local->gram, H);
        return;
    }
    if (local->loss == BB_LOSS_SQUARED || rows.n == 0) {
        bb_rows_covariance(&rows, local->weight, local->x_mean, NULL, false, H, block);
        return;
    }
    curvature(local, w, b, f, p);
    if (local->intercept) {
        for (size_t j = 0; j < rows.n; j++) *bend += f[j];
        bb_rows_combine(&rows, f, mean);
        if (*bend > 0.0) bb_scale(rows.d, 1.0 / *bend, mean);
    }
    bb_rows_covariance(&rows, 1.0, local->intercept ? mean : NULL, f, false, H, block);
}

double bb_local_spread(const bb_local *local, double *column, double *work) {
    const bb_rows rows = bb_rows_of(local);
    const size_t n = rows.n, d = rows.d;
    const double scale = local->weight * (local->loss == BB_LOSS_LOGISTIC ? 0.25 : 1.0);
    double *sum = work, *ones = work + d, spread = 0.0;
    memset(sum, 0, d * sizeof *sum);
    bb_rows_squares(&rows, column);
    if (local->intercept && n) {
        for (size_t j = 0; j < n; j++) ones[j] = 1.0;
        bb_rows_combine(&rows, ones, sum);
    }
    for (size_t k = 0; k < d; k++) {
        if (n) column[k] -= sum[k] * sum[k] / (double)n;
        column[k] = column[k] > 0.0 ? scale * column[k] : 0.0;
        spread += column[k];
    }
    return spread;
}
