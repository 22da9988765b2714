#include "learners/ridge_kept.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

static size_t order_of(const bb_local *local) {
    return local->gram ? local->d : local->n;
}

static bool is_kept(const bb_local *local) {
    const bool rows = local->x && !local->x_mean;
    return local->loss == BB_LOSS_SQUARED && local->n > 0 && (local->gram || rows);
}

/* By the Gram matrix G of order d: lambda (G + lambda I)^-1 in strips, and behind them
 * -(G + lambda I)^-1 X'y; else, of order n, (weight X X' + lambda I)^-1 in strips. */
size_t bb_ridge_kept_length(const bb_local *local) {
    const size_t own = local->gram ? local->d : 0;
    return is_kept(local) ? bb_strips_length(order_of(local)) + own : 0;
}

size_t bb_ridge_kept_work(const bb_local *local) {
    const size_t order = is_kept(local) ? order_of(local) : 0;
    const size_t inverse = order * order + bb_invert_work(order) / sizeof(double);
    const size_t solve = 3 * order + local->d;
    return inverse > solve ? inverse : solve;
}

bool bb_ridge_kept_open(const bb_local *local, double lambda, double *kept,
                        double *work) {
    const size_t order = order_of(local);
    double *A = work;
    if (local->gram)
        bb_strips_unpack(order, local->gram, A);
    else
        bb_gram_rows(local->n, local->d, local->weight, local->x, A);
    for (size_t k = 0; k < order; k++) A[k * order + k] += lambda;
    if (bb_invert_spd(order, A, A + order * order)) return false;
    if (local->gram) {
        bb_multiply(order, order, -1, A, local->xy, 0, kept + bb_strips_length(order));
        bb_scale(order * order, lambda, A);
    }
    bb_strips_pack(order, A, kept);
    return kept[0] > 0;
}

/* w = centre + weight X' (weight X X' + lambda I)^-1 (y - X centre). */
static void solve_by_rows(const bb_local *local, const double *centre,
                          const double *kept, double *w, double *work) {
    const size_t n = local->n, d = local->d;
    double *left = work, *turned = left + n, *none = turned + n;
    memcpy(left, local->y, n * sizeof *left);
    bb_multiply(n, d, -1, local->x, centre, 1, left);
    memset(none, 0, n * sizeof *none);
    bb_strips_slope(n, kept, left, none, turned);
    memcpy(w, centre, d * sizeof *w);
    bb_multiply_transposed(n, d, local->weight, local->x, turned, 1, w);
}

bool bb_ridge_kept_solve(const bb_local *local, const double *centre,
                         const double *kept, double *w, double *work) {
    const size_t d = local->d;
    double *found = work;
    if (local->gram)
        bb_strips_slope(d, kept, centre, kept + bb_strips_length(d), found);
    else
        solve_by_rows(local, centre, kept, found, work + d);
    if (!isfinite(bb_dot(d, found, found))) return false;
    memcpy(w, found, d * sizeof *w);
    return true;
}
