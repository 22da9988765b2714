#include "learners/rows.h"
#include "learners/solvers.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The squared loss is solved in w if that is the smaller system. */
static bool by_features(const bb_local *local) {
    return local->loss == BB_LOSS_SQUARED && (local->gram || local->d <= local->n);
}

size_t bb_ridge_work(const bb_local *local) {
    const bb_rows rows = bb_rows_of(local);
    if (!by_features(local)) return bb_newton_work(local);
    const size_t block = local->gram ? 0 : bb_rows_block(&rows);
    return local->d * local->d + 2 * local->d + (block > local->n ? block : local->n);
}

/* A <- s X'X + shift I */
static void normal_matrix(const bb_local *local, double shift, double *A,
                          double *block) {
    const bb_rows rows = bb_rows_of(local);
    const size_t d = local->d;
    if (local->gram)
        bb_strips_unpack(d, local->gram, A);
    else
        bb_rows_covariance(&rows, local->weight, local->x_mean, NULL, false, A, block);
    for (size_t k = 0; k < d; k++) A[k * d + k] += shift;
}

/* As little as could make s X'X + lambda I definite. */
static bb_status least_help(const bb_local *local, double *help) {
    bb_local measured = *local;
    const bb_status status =
        isnan(local->lipschitz) ? bb_local_measure(&measured) : BB_OK;
    *help = 1e-16 * measured.lipschitz;
    return status;
}

/* A <- Cholesky factor of s X'X + lambda I. A penalty below the rounding of X'X is
 * helped by as little as makes the matrix numerically definite. */
static bb_status factorise(const bb_local *local, double lambda, double *A,
                           double *block, bool *helped) {
    double help = 0;
    normal_matrix(local, lambda, A, block);
    bb_status status = bb_cholesky(local->d, A);
    if (status && least_help(local, &help)) return status;
    for (int round = 0; round < 11 && status; round++, help *= 10) {
        normal_matrix(local, lambda + help, A, block);
        status = bb_cholesky(local->d, A);
        *helped = true;
    }
    return status;
}

/* (s X'X + lambda I) w = s X'y + lambda centre, where the matrix is there and small. False:
 * it needs help. */
static bool ridge_at_once(const bb_local *local, double lambda, const double *centre,
                          double *w, double *work) {
    const size_t d = local->d;
    double *diagonal = work, *v = work + d;
    if (!local->gram || d > BB_LINALG_SMALL) return false;
    for (size_t k = 0; k < d; k++) {
        diagonal[k] = lambda;
        v[k] = local->xy[k] + lambda * (centre ? centre[k] : 0);
    }
    if (!bb_strips_solve(d, local->gram, diagonal, v)) return false;
    if (!isfinite(bb_dot(d, v, v))) return false;
    memcpy(w, v, d * sizeof *w);
    return true;
}

/* One factorisation and one solve from the centre on; where the matrix was helped, and is
 * another, a step of iterative refinement. */
static bb_status ridge_by_features(const bb_local *local, double lambda,
                                   const double *centre, double *w, double *work) {
    const size_t d = local->d;
    double *A = work, *g = A + d * d, *v = g + d, *room = v + d, gb;
    bool helped = false;
    if (ridge_at_once(local, lambda, centre, w, work)) return BB_OK;
    const bb_status status = factorise(local, lambda, A, room, &helped);
    if (status) return bb_fail_context(status, "ridge with penalty %g", lambda);
    if (centre)
        memcpy(v, centre, d * sizeof *v);
    else
        memset(v, 0, d * sizeof *v);
    for (int round = 0; round < (helped ? 2 : 1); round++) {
        bb_local_slope(local, v, 0, g, &gb, room);
        for (size_t k = 0; k < d; k++)
            g[k] += lambda * (v[k] - (centre ? centre[k] : 0));
        bb_cholesky_solve(d, A, g);
        bb_axpy(d, -1, g, v);
    }
    for (size_t k = 0; k < d; k++)
        if (!isfinite(v[k]))
            return bb_fail(BB_ENUMERIC,
                           "ridge with penalty %g: the model is not finite", lambda);
    memcpy(w, v, d * sizeof *w);
    return BB_OK;
}

static bb_status ridge(const bb_local *local, double lambda, const double *centre,
                       double *at, double *w, double *b, double *work) {
    assert(lambda > 0);
    const bool hopeless = local->loss == BB_LOSS_LOGISTIC && local->intercept &&
                          bb_local_one_class(local) != 0;
    bb_status status = BB_OK;
    double intercept = 0;
    if (local->n == 0 || hopeless) {
        if (centre)
            memmove(w, centre, local->d * sizeof *w);
        else
            memset(w, 0, local->d * sizeof *w);
        *b = bb_local_intercept(local, w, work);
        return BB_OK;
    }
    if (by_features(local))
        status = ridge_by_features(local, lambda, centre, w, work);
    else
        status = bb_newton_ridge(local, lambda, centre, at, w, &intercept, work);
    if (status) return status;
    if (local->loss == BB_LOSS_SQUARED) intercept = bb_local_intercept(local, w, work);
    *b = intercept;
    return BB_OK;
}

bb_status bb_local_ridge(const bb_local *local, double lambda, const double *centre,
                         double *w, double *b, double *work) {
    return ridge(local, lambda, centre, NULL, w, b, work);
}

bb_status bb_local_ridge_again(const bb_local *local, double lambda,
                               const double *centre, double *at, double *w, double *b,
                               double *work) {
    assert(local->loss == BB_LOSS_LOGISTIC);
    return ridge(local, lambda, centre, at, w, b, work);
}
