/* One task's half of mp-prior: ridge models and their evidence under a few public
 * priors. */
#include "linalg/linalg.h"
#include "methods/mp_prior.h"
#include "methods/ridge_path.h"

#include <math.h>
#include <string.h>

/* Model and log evidence of one candidate. */
static double fit_one(const bb_local *local, const bb_ridge_path *path,
                      const double *centre, double penalty, double *model) {
    const double whole = 1.0;
    double log_det, least;
    bb_ridge_path_weigh(path, 1, &penalty, &log_det, &least);
    if (centre)
        memcpy(model, centre, local->d * sizeof *model);
    else
        memset(model, 0, local->d * sizeof *model);
    bb_ridge_path_add(path, 1, &penalty, &whole, model);
    return -0.5 * log_det -
           0.5 * (double)local->n * log(fmax(least, 1e-9 * local->yy + 1e-30));
}

/* A task without rows: every candidate is its centre, and all are equally likely. */
static void fit_nothing(const bb_prior *prior, size_t count,
                        const bb_prior_candidate *candidate, double *evidence,
                        double *model) {
    for (size_t k = 0; k < count; k++) {
        evidence[k] = 0.0;
        for (size_t a = 0; a < prior->d; a++)
            model[k * prior->d + a] = candidate[k].with_mean ? prior->mean[a] : 0.0;
    }
}

/* The path of candidates with this power of the prior's covariance. */
static bb_status open_path(const bb_prior *prior, const bb_local *local, int power,
                           double *root, double *room, bb_ridge_path *path) {
    for (size_t a = 0; a < prior->d; a++)
        root[a] = power == 1 ? sqrt(prior->variance[a]) : prior->variance[a];
    const bb_covariance covariance = {power ? prior->basis : NULL, power ? root : NULL};
    return bb_ridge_path_open(path, local, &covariance, room);
}

bb_status bb_prior_fit(const bb_prior *prior, const bb_local *local, double lambda,
                       size_t count, const bb_prior_candidate *candidate,
                       double *evidence, double *model, double *work) {
    const size_t d = prior->d;
    double *root = work, *room = root + d;
    bb_ridge_path path = {0};
    if (local->n == 0) {
        fit_nothing(prior, count, candidate, evidence, model);
        return BB_OK;
    }
    for (size_t k = 0; k < count; k++) {
        const bb_prior_candidate *own = &candidate[k], *last = k ? own - 1 : NULL;
        const double *centre = own->with_mean ? prior->mean : NULL;
        const bool turned = !last || own->power != last->power; /* sorted by power */
        bb_status status = BB_OK;
        if (turned) status = open_path(prior, local, own->power, root, room, &path);
        if (status) return status;
        if (turned || own->with_mean != last->with_mean)
            bb_ridge_path_centre(&path, centre);
        evidence[k] =
            fit_one(local, &path, centre, lambda * own->multiplier, model + k * d);
    }
    return BB_OK;
}

size_t bb_prior_fit_length(const bb_local *local) {
    return local->d + bb_ridge_path_length(local);
}
