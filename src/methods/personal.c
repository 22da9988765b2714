/* The logistic loss of personal.h. */
#include "methods/personal.h"

#include "learners/rows.h"
#include "linalg/linalg.h"
#include "methods/personal_average.h"
#include "methods/personal_logistic.h"
#include "methods/personal_outputs.h"
#include "methods/personal_squared.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double usual_odds = 5.0; /* of a centre */
static const bb_personal_usual usual = {-0.6, 0.7, 1.0};

size_t bb_personal_work(const bb_local *local) {
    if (local->loss == BB_LOSS_SQUARED) return bb_personal_squared_work(local);
    if (local->loss == BB_LOSS_SOFTMAX) return bb_personal_outputs_work(local);
    return local->d + bb_logistic_fits_work(local);
}

/* Laplace's approximation of the log evidence: -loss - penalty/2 ||w - centre||^2 - 1/2
 * log det of the matrix. */
static bb_status log_evidence(bb_logistic_fits *fits, double weight, double *out) {
    double log_det;
    const bb_status status = bb_logistic_fits_log_det(fits, &log_det);
    *out = -fits->loss - 0.5 * weight * fits->square - 0.5 * log_det;
    return status;
}

/* Rows x' = R'x under a covariance, R its root to a power: their models w' are w = R w'. */
typedef struct turned {
    const bb_covariance *told;
    int power;
    double scale; /* that leaves the trace of R R' at d */
    double *room; /* d */
} turned;

static double root_of(const turned *as, size_t a) {
    double root = as->scale;
    for (int k = 0; k < as->power; k++) root *= as->told->root[a];
    return root;
}

static turned to_power(const bb_covariance *told, int power, size_t d, double *room) {
    turned as = {told, power, 1.0, room};
    double trace = 0.0;
    for (size_t a = 0; a < d; a++) trace += pow(root_of(&as, a), 2.0);
    as.scale = sqrt((double)d / trace);
    return as;
}

static void turn_back(const turned *as, size_t d, double *w) {
    if (!as) return;
    for (size_t a = 0; a < d; a++) w[a] *= root_of(as, a);
    if (!as->told->basis) return;
    bb_multiply_transposed(d, d, 1.0, as->told->basis, w, 0.0, as->room);
    memcpy(w, as->room, d * sizeof *w);
}

/* size: of the rows; as: under which covariance they are, or NULL. */
static bb_status add_fits(bb_logistic_fits *fits, const double *centre, bool is_free,
                          double size, const turned *as, bb_personal_average *a) {
    double most = -INFINITY;
    for (size_t l = 0; l < BB_PERSONAL_PENALTIES; l++) {
        const double weight = size * bb_personal_penalty(l);
        double score;
        bb_status status = bb_logistic_fits_next(
            fits, weight, centre, is_free ? bb_personal_free_deviation : 0.0);
        if (!status) status = log_evidence(fits, weight, &score);
        if (status) return status;
        turn_back(as, fits->local->d, fits->w);
        if (!bb_personal_average_add(a, &usual, centre != NULL, l, fits->w, score,
                                     &most))
            return BB_OK;
    }
    return BB_OK;
}

static bb_status average(const bb_local *local, const double *centre, double odds,
                         double *model, double *work) {
    bb_logistic_fits fits;
    bb_personal_average a = bb_personal_average_open(model, local->d, odds);
    bb_logistic_fits_open(&fits, local, work + local->d);
    const double size = bb_personal_size(local, fits.constant != 0.0, work);
    for (int side = 0; side < (centre ? 2 : 1); side++) {
        for (int freed = 0; freed < (fits.constant != 0.0 ? 2 : 1); freed++) {
            const bb_status status =
                add_fits(&fits, side ? centre : NULL, freed, size, NULL, &a);
            if (status) return status;
        }
    }
    bb_personal_average_close(&a);
    return BB_OK;
}

bb_status bb_personal_model(const bb_local *local, const double *centre, double *model,
                            double *work) {
    return bb_personal_around(local, centre, usual_odds, model, work);
}

bb_status bb_personal_around(const bb_local *local, const double *centre, double odds,
                             double *model, double *work) {
    if (local->n == 0) {
        for (size_t k = 0; k < local->length; k++) model[k] = centre ? centre[k] : 0.0;
        return BB_OK;
    }
    if (local->loss == BB_LOSS_SQUARED) {
        const bb_personal_public known = {.centre = centre, .constant = true};
        return bb_personal_squared(local, &known, model, work);
    }
    if (local->loss == BB_LOSS_SOFTMAX)
        return bb_personal_outputs(local, centre, odds, model, work);
    return average(local, centre, odds, model, work);
}

/* -- under a covariance -- */

/* out (n x d) <- the rows under the covariance. */
static void turn_rows(const bb_local *local, const turned *as, double *out) {
    const bb_rows rows = bb_rows_of(local);
    const size_t d = local->d;
    for (size_t j = 0; j < local->n; j++) {
        double *x = out + j * d;
        bb_rows_copy(&rows, j, NULL, x);
        if (as->told->basis) {
            bb_multiply(d, d, 1.0, as->told->basis, x, 0.0, as->room);
            memcpy(x, as->room, d * sizeof *x);
        }
        for (size_t a = 0; a < d; a++) x[a] *= root_of(as, a);
    }
}

/* How sharply a covariance is taken: as it is, twice, four times. Few labels cannot tell that
 * a direction is worth so much. */
enum { MOST_POWER = 4 };

static size_t under_logistic_work(const bb_local *local) {
    const size_t n = local->n, d = local->d;
    return n * d + d + bb_logistic_fits_work(local);
}

static bb_status under_logistic(const bb_local *local, const bb_covariance *told,
                                double *model, double *work) {
    const size_t n = local->n, d = local->d;
    double *x = work, *room = x + n * d, *rest = room + d;
    bb_local flat = *local;
    bb_logistic_fits fits;
    bb_personal_average a = bb_personal_average_open(model, d, 1.0);
    bb_logistic_fits_open(&fits, local, rest);
    const double size = bb_personal_size(local, fits.constant != 0.0, room);
    for (int freed = 0; freed < (fits.constant != 0.0 ? 2 : 1); freed++) {
        const bb_status status = add_fits(&fits, NULL, freed, size, NULL, &a);
        if (status) return status;
    }
    const int most = n > d ? MOST_POWER : 1;
    for (int power = 1; told && power <= most; power *= 2) {
        const turned as = to_power(told, power, d, room);
        turn_rows(local, &as, x);
        flat.x = x;
        flat.sparse_first = NULL;
        flat.sparse_column = NULL;
        flat.sparse_value = NULL;
        bb_logistic_fits_open(&fits, &flat, rest);
        const bb_status status = add_fits(&fits, NULL, false, size, &as, &a);
        if (status) return status;
    }
    bb_personal_average_close(&a);
    return BB_OK;
}

size_t bb_personal_under_work(const bb_local *local) {
    return local->loss == BB_LOSS_SQUARED ? bb_personal_squared_work(local)
                                          : under_logistic_work(local);
}

bb_status bb_personal_under(const bb_local *local, const bb_covariance *told,
                            bool constant, double *model, double *work) {
    const bb_personal_public known = {.told = told, .constant = constant};
    memset(model, 0, local->d * sizeof *model);
    if (local->n == 0) return BB_OK;
    if (local->loss != BB_LOSS_SQUARED) return under_logistic(local, told, model, work);
    return bb_personal_squared(local, &known, model, work);
}
