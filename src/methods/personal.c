/* The logistic loss of personal.h. */
#include "methods/personal.h"

#include "learners/rows.h"
#include "linalg/linalg.h"
#include "methods/personal_logistic.h"
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
/* What is believed beforehand: log10 of the penalty, of models alone and of their distance
 * from a centre; and of the centre. */
static const double usual = 0.0, spread = 1.5;
static const double usual_distance = 0.5, spread_of_distance = 1.0, centre_odds = 5.0;
/* Standard deviation of the log odds that a free constant stands for. */
static const double free_deviation = 2.0;

bb_status bb_personal_fit(const bb_local *local, double weight, const double *centre,
                          double *w, double *work) {
    double intercept;
    return bb_local_ridge(local, weight * local->weight, centre, w, &intercept, work);
}

size_t bb_personal_work(const bb_local *local) {
    if (local->loss == BB_LOSS_SQUARED) return bb_personal_squared_work(local);
    if (local->loss == BB_LOSS_SOFTMAX) return bb_personal_outputs_work(local);
    return local->n + bb_logistic_fits_work(local);
}

/* The rows' summed loss under models without them, to first order (Rad, Maleki 2020):
 * a prediction moves by h l' / (1 - h l''), h l'' the pull of the row's own label. */
static bb_status left_out(bb_logistic_fits *fits, double *pull, double *sum) {
    const bb_status status = bb_logistic_fits_pulls(fits, pull);
    *sum = 0.0;
    for (size_t j = 0; j < fits->local->n && !status; j++) {
        const double margin = fits->local->y[j] * fits->eta[j];
        const double p = 1.0 / (1.0 + exp(margin));
        const double curvature = fits->curvature[j];
        const double h = curvature > 0.0 ? pull[j] / curvature : 0.0;
        *sum += bb_loss_of_margin(margin - h * p / fmax(1.0 - pull[j], 1e-10));
    }
    return status;
}

/* Laplace's approximation of the log evidence: -loss - penalty/2 ||w - centre||^2 - 1/2
 * log det of the matrix. */
static bb_status log_evidence(bb_logistic_fits *fits, double weight, double *out) {
    double log_det;
    const bb_status status = bb_logistic_fits_log_det(fits, &log_det);
    *out = -fits->loss - 0.5 * weight * fits->square - 0.5 * log_det;
    return status;
}

/* A logarithm, up to what all fits share. */
static double beforehand(double weight, bool around) {
    const double decades = log10(weight);
    const double far = around ? (decades - usual_distance) / spread_of_distance
                              : (decades - usual) / spread;
    return (around ? log(centre_odds) : 0.0) - 0.5 * far * far;
}

/* What speaks for the fit, a logarithm. */
static bb_status judge(bb_logistic_fits *fits, double weight, bool around, double *pull,
                       double *score) {
    const bool few = fits->local->n < least_rows_to_judge;
    const bb_status status =
        few ? log_evidence(fits, weight, score) : left_out(fits, pull, score);
    *score = beforehand(weight, around) + (few ? *score : -*score);
    return status;
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

/* Rows x' = R'x under a covariance, beside a constant: their models w' are w = R w'. */
typedef struct turned {
    const bb_covariance *told;
    double *room; /* d */
} turned;

static void turn_back(const turned *as, size_t d, double *w) {
    if (!as || !as->told) return;
    for (size_t a = 0; a < d; a++) w[a] *= as->told->root[a];
    if (!as->told->basis) return;
    bb_multiply_transposed(d, d, 1.0, as->told->basis, w, 0.0, as->room);
    memcpy(w, as->room, d * sizeof *w);
}

/* as: under which covariance the rows are, or NULL. */
static bb_status add_fits(bb_logistic_fits *fits, const double *centre, bool is_free,
                          const turned *as, double *pull, mean *m) {
    double most = -INFINITY;
    for (size_t l = 0; l < PENALTIES; l++) {
        double score;
        bb_status status = bb_logistic_fits_next(fits, penalty[l], centre,
                                                 is_free ? free_deviation : 0.0);
        if (!status) status = judge(fits, penalty[l], centre != NULL, pull, &score);
        if (status) return status;
        turn_back(as, fits->local->d - 1, fits->w);
        add(m, fits->local->d, fits->w, score);
        if (score < most - hardly) return BB_OK;
        most = fmax(most, score);
    }
    return BB_OK;
}

static bb_status average(const bb_local *local, const double *centre, double *model,
                         double *work) {
    bb_logistic_fits fits;
    mean m = {.model = model, .best = -INFINITY};
    double *pull = work;
    bb_logistic_fits_open(&fits, local, work + local->n);
    memset(model, 0, local->d * sizeof *model);
    for (int side = 0; side < (centre ? 2 : 1); side++) {
        for (int freed = 0; freed < (fits.constant != 0.0 ? 2 : 1); freed++) {
            const bb_status status =
                add_fits(&fits, side ? centre : NULL, freed, NULL, pull, &m);
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
    if (local->loss == BB_LOSS_SQUARED) {
        const bb_personal_public known = {.centre = centre, .constant = true};
        return bb_personal_squared(local, &known, model, work);
    }
    if (local->loss == BB_LOSS_SOFTMAX)
        return bb_personal_outputs(local, centre, model, work);
    return average(local, centre, model, work);
}

/* -- with an own intercept, and under a covariance -- */

/* out (n x d+1) <- the rows, under the covariance if there is one, and a column of 1 for
 * an own intercept, else 0. room: d. */
static void turn_rows(const bb_local *local, const bb_covariance *told, double *out,
                      double *room) {
    const bb_rows rows = bb_rows_of(local);
    const size_t d = local->d;
    for (size_t j = 0; j < local->n; j++) {
        double *x = out + j * (d + 1);
        bb_rows_copy(&rows, j, NULL, x);
        x[d] = local->intercept ? 1.0 : 0.0;
        if (!told) continue;
        if (told->basis) {
            bb_multiply(d, d, 1.0, told->basis, x, 0.0, room);
            memcpy(x, room, d * sizeof *x);
        }
        for (size_t a = 0; a < d; a++) x[a] *= told->root[a];
    }
}

/* The same rows beside a constant in place of the intercept. */
static bb_local beside_constant(const bb_local *local, const double *x) {
    bb_local flat = *local;
    flat.intercept = false;
    flat.x = x;
    flat.sparse_first = NULL;
    flat.sparse_column = NULL;
    flat.sparse_value = NULL;
    flat.d = flat.length = local->d + 1;
    return flat;
}

static size_t under_logistic_work(const bb_local *local) {
    const bb_local flat = beside_constant(local, local->x);
    const size_t n = local->n;
    return n * flat.d + flat.d + local->d + n + bb_logistic_fits_work(&flat);
}

static bb_status under_logistic(const bb_local *local, const bb_covariance *told,
                                double *model, double *intercept, double *work) {
    const size_t n = local->n, d = local->d;
    double *x = work, *average = x + n * (d + 1), *room = average + d + 1;
    double *pull = room + d, *rest = pull + n;
    const bb_local flat = beside_constant(local, x);
    mean m = {.model = average, .best = -INFINITY};
    memset(average, 0, (d + 1) * sizeof *average);
    for (int side = 0; side < (told ? 2 : 1); side++) {
        const turned as = {side ? told : NULL, room};
        bb_logistic_fits fits;
        turn_rows(local, as.told, x, room);
        bb_logistic_fits_open(&fits, &flat, rest);
        for (int freed = 0; freed < (local->intercept ? 2 : 1); freed++) {
            const bb_status status = add_fits(&fits, NULL, freed, &as, pull, &m);
            if (status) return status;
        }
    }
    bb_scale(d + 1, 1.0 / m.total, average);
    memcpy(model, average, d * sizeof *model);
    *intercept = local->intercept ? average[d] : 0.0;
    return BB_OK;
}

size_t bb_personal_under_work(const bb_local *local) {
    return local->loss == BB_LOSS_SQUARED ? bb_personal_squared_work(local)
                                          : under_logistic_work(local);
}

bb_status bb_personal_under(const bb_local *local, const bb_covariance *told,
                            double *model, double *intercept, double *work) {
    const bb_personal_public known = {.told = told};
    *intercept = 0.0;
    memset(model, 0, local->d * sizeof *model);
    if (local->n == 0) return BB_OK;
    if (local->loss != BB_LOSS_SQUARED)
        return under_logistic(local, told, model, intercept, work);
    const bb_status status = bb_personal_squared(local, &known, model, work);
    if (!status) *intercept = bb_local_intercept(local, model, work);
    return status;
}
