/* The logistic loss of personal.h. */
#include "methods/personal.h"

#include "linalg/linalg.h"
#include "methods/personal_outputs.h"
#include "methods/personal_squared.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Beside the summed loss, from the strongest on: weaker ones than one that hardly counts
 * are not tried. */
static const double penalty[] = {100.0, 10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4};
enum { PENALTIES = sizeof penalty / sizeof *penalty };
static const double hardly = 12.0; /* log odds */
/* A task with fewer rows cannot judge by leaving them out, one after the other. */
static const size_t least_rows_to_judge = 30;
/* Then what is believed beforehand: log10 of the penalty, of models alone and of their
 * distance from a centre; and of the centre. */
static const double usual = 0.0, spread = 1.5;
static const double usual_distance = 0.5, spread_of_distance = 1.0, centre_odds = 5.0;
/* Standard deviation of the log odds that a free constant stands for. */
static const double free_deviation = 2.0;

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

static bool by_rows(const bb_local *local) {
    return local->n < local->d;
}

static size_t order_of(const bb_local *local) {
    return by_rows(local) ? local->n : local->d;
}

/* The room of all fits of one task. */
typedef struct room {
    bb_local as; /* the task, with rows as a prior of variance 1 / penalty sees them */
    double constant;    /* what the last column is in all rows; 0: it is none */
    double *rows;       /* n x d */
    double *half;       /* n x d: roots of the curvature over the penalty, times rows */
    double *centre, *w; /* d */
    double *eta, *curvature; /* n */
    double *matrix;          /* order x order */
    double *rest;            /* of a fit, or max(n, d) */
} room;

size_t bb_personal_work(const bb_local *local) {
    const size_t d = local->d, n = local->n, order = order_of(local);
    const size_t fit = bb_local_work(local), longer = n > d ? n : d;
    if (local->loss == BB_LOSS_SQUARED) return bb_personal_squared_work(local);
    if (local->loss == BB_LOSS_SOFTMAX) return bb_personal_outputs_work(local);
    return 2 * n * d + 2 * d + 2 * n + order * order + (fit > longer ? fit : longer);
}

static room lay_out(const bb_local *local, double *work) {
    const size_t d = local->d, n = local->n, order = order_of(local);
    room r = {.as = *local, .rows = work};
    r.half = r.rows + n * d;
    r.centre = r.half + n * d;
    r.w = r.centre + d;
    r.eta = r.w + d;
    r.curvature = r.eta + n;
    r.matrix = r.curvature + n;
    r.rest = r.matrix + order * order;
    for (size_t j = 0; j < n; j++) copy_row(local, j, r.rows + j * d);
    r.constant = r.rows[d - 1];
    for (size_t j = 1; j < n; j++)
        if (r.rows[j * d + d - 1] != r.constant) r.constant = 0.0;
    r.as.x = r.rows;
    r.as.sparse_first = NULL;
    r.as.sparse_column = NULL;
    r.as.sparse_value = NULL;
    return r;
}

static double loss_of_margin(double margin) {
    return fmax(0.0, -margin) + log1p(exp(-fabs(margin)));
}

/* matrix <- the factor of I + curvature/penalty of the rows (or X'X), at w; returns the
 * summed loss. */
static bb_status look(const room *r, double weight, const double *w, double *loss) {
    const size_t n = r->as.n, d = r->as.d, order = order_of(&r->as);
    *loss = 0.0;
    for (size_t j = 0; j < n; j++) {
        const double *x = r->rows + j * d, y = r->as.y[j];
        const double eta = bb_dot(d, x, w), p = 1.0 / (1.0 + exp(y * eta));
        r->eta[j] = eta;
        r->curvature[j] = p * (1.0 - p);
        *loss += loss_of_margin(y * eta);
        const double root = sqrt(r->curvature[j] / weight);
        for (size_t k = 0; k < d; k++) r->half[j * d + k] = root * x[k];
    }
    if (by_rows(&r->as))
        bb_gram_rows(n, d, 1.0, r->half, r->matrix);
    else
        bb_gram(n, d, 1.0, r->half, 0.0, r->matrix);
    for (size_t k = 0; k < order; k++) r->matrix[k * order + k] += 1.0;
    return bb_cholesky(order, r->matrix);
}

/* How far row j's own label pulls its prediction: curvature_j x_j' H^-1 x_j. */
static double leverage(const room *r, size_t j) {
    const size_t n = r->as.n, d = r->as.d;
    double *z = r->rest;
    if (by_rows(&r->as)) {
        memset(z, 0, n * sizeof *z);
        z[j] = 1.0;
        bb_cholesky_solve(n, r->matrix, z);
        return 1.0 - z[j];
    }
    memcpy(z, r->half + j * d, d * sizeof *z);
    bb_cholesky_solve(d, r->matrix, z);
    return bb_dot(d, z, r->half + j * d);
}

/* The rows' summed loss under models without them, to first order (Rad, Maleki 2020):
 * a prediction moves by h l' / (1 - h l''), h l'' the leverage. */
static double left_out(const room *r) {
    double sum = 0.0;
    for (size_t j = 0; j < r->as.n; j++) {
        const double y = r->as.y[j], eta = r->eta[j], p = 1.0 / (1.0 + exp(y * eta));
        const double pull = leverage(r, j);
        const double h = r->curvature[j] > 0.0 ? pull / r->curvature[j] : 0.0;
        sum += loss_of_margin(y * eta - h * p / fmax(1.0 - pull, 1e-10));
    }
    return sum;
}

/* Laplace's approximation of the log evidence: -loss - penalty/2 ||w - centre||^2 - 1/2
 * log det of the matrix; and what is believed beforehand. */
static double log_evidence(const room *r, double weight, const double *centre,
                           double loss) {
    const size_t d = r->as.d, order = order_of(&r->as);
    const double decades = log10(weight);
    const double far = centre ? (decades - usual_distance) / spread_of_distance
                              : (decades - usual) / spread;
    double square = 0.0, log_det = 0.0;
    for (size_t k = 0; k < d; k++) {
        const double moved = r->w[k] - (centre ? centre[k] : 0.0);
        square += moved * moved;
    }
    for (size_t k = 0; k < order; k++) log_det += 2.0 * log(r->matrix[k * order + k]);
    return -loss - 0.5 * weight * square - 0.5 * log_det - 0.5 * far * far +
           (centre ? log(centre_odds) : 0.0);
}

/* w <- the fit around the centre (NULL: 0); score <- what speaks for it, a logarithm. The
 * constant's column is stretched so that the penalty leaves it free. */
static bb_status fit(const room *r, double weight, const double *centre, bool is_free,
                     double *score) {
    const size_t d = r->as.d, n = r->as.n;
    const double stretch =
        is_free ? sqrt(weight) * free_deviation / fabs(r->constant) : 1.0;
    const double *around = centre ? r->centre : NULL;
    double loss;
    for (size_t j = 0; r->constant != 0.0 && j < n; j++)
        r->rows[j * d + d - 1] = stretch * r->constant;
    if (centre) {
        memcpy(r->centre, centre, d * sizeof *centre);
        r->centre[d - 1] /= stretch;
    }
    bb_status status = bb_personal_fit(&r->as, weight, around, r->w, r->rest);
    if (!status) status = look(r, weight, r->w, &loss);
    if (status) return status;
    *score =
        n < least_rows_to_judge ? log_evidence(r, weight, around, loss) : -left_out(r);
    r->w[d - 1] *= stretch;
    return BB_OK;
}

/* A running average of models by exp(score). */
typedef struct mean {
    double *model, best, total;
} mean;

static void add(mean *m, size_t d, const double *w, double score) {
    if (score > m->best) {
        bb_scale(d, exp(m->best - score), m->model);
        m->total *= exp(m->best - score);
        m->best = score;
    }
    bb_axpy(d, exp(score - m->best), w, m->model);
    m->total += exp(score - m->best);
}

static bb_status add_fits(const room *r, const double *centre, bool is_free, mean *m) {
    double most = -INFINITY;
    for (size_t l = 0; l < PENALTIES; l++) {
        double score;
        const bb_status status = fit(r, penalty[l], centre, is_free, &score);
        if (status) return status;
        add(m, r->as.d, r->w, score);
        if (score < most - hardly) return BB_OK;
        most = fmax(most, score);
    }
    return BB_OK;
}

static bb_status average(const bb_local *local, const double *centre, double *model,
                         double *work) {
    const room r = lay_out(local, work);
    mean m = {.model = model, .best = -INFINITY};
    memset(model, 0, local->d * sizeof *model);
    for (int side = 0; side < (centre ? 2 : 1); side++) {
        for (int freed = 0; freed < (r.constant != 0.0 ? 2 : 1); freed++) {
            const bb_status status = add_fits(&r, side ? centre : NULL, freed, &m);
            if (status) return status;
        }
    }
    bb_scale(local->d, 1.0 / m.total, model);
    return BB_OK;
}

bb_status bb_personal_model(const bb_local *local, const double *centre, double *model,
                            double *work) {
    if (local->n == 0) {
        for (size_t k = 0; k < local->length; k++) model[k] = centre ? centre[k] : 0.0;
        return BB_OK;
    }
    if (local->loss == BB_LOSS_SQUARED)
        return bb_personal_squared(local, centre, model, work);
    if (local->loss == BB_LOSS_SOFTMAX)
        return bb_personal_outputs(local, centre, model, work);
    return average(local, centre, model, work);
}
