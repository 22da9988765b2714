#include "methods/personal_outputs.h"

#include "linalg/linalg.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Beside the summed loss, from the strongest on: weaker ones than one that hardly counts
 * are not tried. */
static const double penalty[] = {100.0, 10.0, 1.0, 0.1, 1e-2, 1e-3};
enum { PENALTIES = sizeof penalty / sizeof *penalty };
static const double hardly = 12.0; /* log odds */
/* Of sparse rows, which are too many columns to weigh penalties by. */
static const double sparse_weight = 1.0;

void bb_personal_outputs_fit(const bb_local *local, double weight, const double *centre,
                             double *w, double *work) {
    bb_local_ridge_outputs(local, weight * local->weight, centre, false, w, work);
}

static bool by_rows(const bb_local *local) {
    return local->n < local->d;
}

static size_t order_of(const bb_local *local) {
    return by_rows(local) ? local->n : local->d;
}

typedef struct room {
    double *w;      /* length */
    double *z;      /* n x outputs: what w says of the rows */
    double *p;      /* n x outputs: probabilities */
    double *half;   /* n x d */
    double *matrix; /* order x order */
    double *rest;   /* of a fit, or max(n, d) */
} room;

static size_t rest_length(const bb_local *local) {
    const size_t fit = bb_local_ridge_outputs_work(local);
    const size_t outputs = bb_local_outputs_work(local);
    const size_t longer = local->n > local->d ? local->n : local->d;
    const size_t most = fit > outputs ? fit : outputs;
    return most > longer ? most : longer;
}

size_t bb_personal_outputs_work(const bb_local *local) {
    const size_t order = order_of(local);
    if (!local->x) return rest_length(local);
    return local->length + 2 * local->n * local->outputs + local->n * local->d +
           order * order + rest_length(local);
}

static room lay_out(const bb_local *local, double *work) {
    const size_t scores = local->n * local->outputs, order = order_of(local);
    room r = {.w = work};
    r.z = r.w + local->length;
    r.p = r.z + scores;
    r.half = r.p + scores;
    r.matrix = r.half + local->n * local->d;
    r.rest = r.matrix + order * order;
    return r;
}

/* p (of one row) <- the probabilities of its outputs z; returns -log of label's. */
static double softmax(size_t outputs, const double *z, size_t label, double *p) {
    double most = z[0], sum = 0.0;
    for (size_t c = 1; c < outputs; c++) most = fmax(most, z[c]);
    for (size_t c = 0; c < outputs; c++) sum += exp(z[c] - most);
    for (size_t c = 0; c < outputs; c++) p[c] = exp(z[c] - most) / sum;
    return most + log(fmax(1.0, sum)) - z[label]; /* the largest one adds 1 */
}

static size_t label_of(const bb_local *local, size_t j) {
    return (size_t)local->y[j];
}

/* matrix <- the factor of I + X D_c X'/weight (or X'D_c X), D_c output c's curvature. */
static bb_status factor(const bb_local *local, double weight, size_t c, const room *r) {
    const size_t n = local->n, d = local->d, outputs = local->outputs;
    const size_t order = order_of(local);
    for (size_t j = 0; j < n; j++) {
        const double p = r->p[j * outputs + c], root = sqrt(p * (1.0 - p) / weight);
        for (size_t k = 0; k < d; k++) r->half[j * d + k] = root * local->x[j * d + k];
    }
    if (by_rows(local))
        bb_gram_rows(n, d, 1.0, r->half, r->matrix);
    else
        bb_gram(n, d, 1.0, r->half, 0.0, r->matrix);
    for (size_t k = 0; k < order; k++) r->matrix[k * order + k] += 1.0;
    return bb_cholesky(order, r->matrix);
}

static double leverage(const bb_local *local, size_t j, const room *r) {
    const size_t n = local->n, d = local->d;
    double *s = r->rest;
    if (by_rows(local)) {
        memset(s, 0, n * sizeof *s);
        s[j] = 1.0;
        bb_cholesky_solve(n, r->matrix, s);
        return 1.0 - s[j];
    }
    memcpy(s, r->half + j * d, d * sizeof *s);
    bb_cholesky_solve(d, r->matrix, s);
    return bb_dot(d, s, r->half + j * d);
}

/* score <- minus the rows' summed loss under models without them, to first order, and
 * with the Hessian's blocks of single outputs only (personal.c, left_out). */
static bb_status weigh(const bb_local *local, double weight, const room *r,
                       double *score) {
    const size_t n = local->n, outputs = local->outputs;
    bb_local_outputs(local, r->w, 0, n, r->z, r->rest);
    for (size_t j = 0; j < n; j++)
        (void)softmax(outputs, r->z + j * outputs, 0, r->p + j * outputs);
    for (size_t c = 0; c < outputs; c++) {
        const bb_status status = factor(local, weight, c, r);
        if (status) return status;
        for (size_t j = 0; j < n; j++) {
            const double p = r->p[j * outputs + c], curvature = p * (1.0 - p);
            const double pull = leverage(local, j, r);
            const double h = curvature > 0.0 ? pull / curvature : 0.0;
            const double slope = p - (label_of(local, j) == c ? 1.0 : 0.0);
            r->z[j * outputs + c] += h * slope / fmax(1.0 - pull, 1e-10);
        }
    }
    *score = 0.0;
    for (size_t j = 0; j < n; j++)
        *score -= softmax(outputs, r->z + j * outputs, label_of(local, j),
                          r->p + j * outputs);
    return BB_OK;
}

bb_status bb_personal_outputs(const bb_local *local, const double *centre,
                              double *model, double *work) {
    const size_t length = local->length;
    double best = -INFINITY, total = 0.0;
    if (!local->x) {
        bb_personal_outputs_fit(local, sparse_weight, centre, model, work);
        return BB_OK;
    }
    const room r = lay_out(local, work);
    memset(model, 0, length * sizeof *model);
    for (int side = 0; side < (centre ? 2 : 1); side++) {
        double most = -INFINITY;
        for (size_t l = 0; l < PENALTIES; l++) {
            double score;
            bb_personal_outputs_fit(local, penalty[l], side ? centre : NULL, r.w,
                                    r.rest);
            const bb_status status = weigh(local, penalty[l], &r, &score);
            if (status) return status;
            if (score > best) {
                bb_scale(length, exp(best - score), model);
                total *= exp(best - score);
                best = score;
            }
            bb_axpy(length, exp(score - best), r.w, model);
            total += exp(score - best);
            if (score < most - hardly) break;
            most = fmax(most, score);
        }
    }
    bb_scale(length, 1.0 / total, model);
    return BB_OK;
}
