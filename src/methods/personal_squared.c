#include "methods/personal_squared.h"

#include "linalg/linalg.h"
#include "methods/ridge_path.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Beside the summed loss. */
static const double penalty[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0};
enum { PENALTIES = sizeof penalty / sizeof *penalty, SIDES = 2, FREED = 2 };
/* The variance of a row's target around the model has an inverse gamma law worth one
 * row, around the variance of the targets times these. */
static const double part[] = {1.0, 0.1, 0.01, 1e-3};
enum { PARTS = sizeof part / sizeof *part };
/* How much freer than the other weights the constant may be. */
static const double freedom = 10.0;
/* Beforehand: log10 of the penalty of models alone; and the odds of a centre. */
static const double usual = -2.0, spread = 1.5, centre_odds = 2.0;

static double target_variance(const bb_local *local) {
    double mean = 0.0, square = 0.0;
    for (size_t j = 0; j < local->n; j++) mean += local->y[j] / (double)local->n;
    for (size_t j = 0; j < local->n; j++)
        square += (local->y[j] - mean) * (local->y[j] - mean);
    return square / (double)local->n;
}

/* share (PENALTIES) <- log evidence of the penalties, the noise's variance out of it. */
static void weigh(const bb_local *local, const bb_ridge_path *path, bool around,
                  double variance, double *score) {
    const double n = (double)local->n;
    double own[PENALTIES], log_det[PENALTIES], least[PENALTIES];
    for (size_t l = 0; l < PENALTIES; l++) own[l] = local->weight * penalty[l];
    bb_ridge_path_weigh(path, PENALTIES, own, log_det, least);
    for (size_t l = 0; l < PENALTIES; l++) {
        const double rest = fmax(0.0, least[l] / local->weight);
        const double far = (log10(penalty[l]) - usual) / spread;
        double sum = 0.0;
        for (size_t k = 0; k < PARTS; k++) {
            const double prior = variance * part[k];
            sum += exp(-0.5 * (n + 1.0) * log((rest + prior) / (n * variance)) +
                       0.5 * log(part[k]));
        }
        score[l] = log(sum) - 0.5 * log_det[l] +
                   (around ? log(centre_odds) : -0.5 * far * far);
    }
}

/* The candidates: [freed][side][penalty]. */
typedef struct scores {
    double at[FREED][SIDES][PENALTIES];
} scores;

typedef struct room {
    double *root, *path;
} room;

static bb_status open_path(const bb_local *local, int freed, const room *r,
                           bb_ridge_path *path) {
    for (size_t k = 0; k < local->d; k++) r->root[k] = 1.0;
    if (freed) r->root[local->d - 1] = freedom;
    return bb_ridge_path_open(path, local, &(bb_covariance){NULL, r->root}, r->path);
}

static bb_status weigh_all(const bb_local *local, const double *centre, const room *r,
                           scores *s, double *most) {
    const double variance = fmax(target_variance(local), 1e-12);
    *most = -INFINITY;
    for (int freed = 0; freed < FREED; freed++) {
        bb_ridge_path path;
        const bb_status status = open_path(local, freed, r, &path);
        if (status) return status;
        for (int side = 0; side < (centre ? SIDES : 1); side++) {
            double *score = s->at[freed][side];
            bb_ridge_path_centre(&path, side ? centre : NULL);
            weigh(local, &path, side, variance, score);
            for (size_t l = 0; l < PENALTIES; l++) *most = fmax(*most, score[l]);
        }
    }
    return BB_OK;
}

size_t bb_personal_squared_work(const bb_local *local) {
    return local->d + bb_ridge_path_length(local);
}

bb_status bb_personal_squared(const bb_local *local, const double *centre,
                              double *model, double *work) {
    const size_t d = local->d;
    const room r = {work, work + d};
    double most, total = 0.0, own[PENALTIES];
    scores s;
    bb_status status = weigh_all(local, centre, &r, &s, &most);
    if (status) return status;
    memset(model, 0, d * sizeof *model);
    for (size_t l = 0; l < PENALTIES; l++) own[l] = local->weight * penalty[l];
    for (int freed = 0; freed < FREED; freed++) {
        bb_ridge_path path;
        status = open_path(local, freed, &r, &path);
        if (status) return status;
        for (int side = 0; side < (centre ? SIDES : 1); side++) {
            double share[PENALTIES], mass = 0.0;
            for (size_t l = 0; l < PENALTIES; l++)
                mass += share[l] = exp(s.at[freed][side][l] - most);
            bb_ridge_path_centre(&path, side ? centre : NULL);
            bb_ridge_path_add(&path, PENALTIES, own, share, model);
            if (side) bb_axpy(d, mass, centre, model);
            total += mass;
        }
    }
    if (!(total > 0.0)) return bb_fail(BB_ENUMERIC, "a fit at home overflows");
    bb_scale(d, 1.0 / total, model);
    return BB_OK;
}
