/* One task's half of mp-prior: ridge models and their evidence under a few public
 * priors. */
#include "linalg/linalg.h"
#include "methods/mp_prior.h"
#include "methods/spectrum.h"

#include <math.h>
#include <string.h>

/* Model and log evidence of one candidate. */
static double fit_one(const bb_local *local, const bb_spectrum *fam,
                      const double *centre, double penalty, double *model,
                      double *work) {
    const size_t d = local->d;
    double *residual = work, *b = work + d;
    double explained = 0.0, log_det = 0.0;
    const double square = bb_spectrum_residual(local, centre, residual, b + fam->rank);
    bb_multiply(fam->rank, d, 1.0, fam->f, residual, 0.0, b);
    for (size_t e = 0; e < fam->rank; e++) {
        const double shrunk = b[e] / (fam->g[e] + penalty);
        explained += b[e] * shrunk;
        log_det += log1p(fam->g[e] / penalty);
        b[e] = shrunk;
    }
    bb_multiply_transposed(fam->rank, d, 1.0, fam->f, b, 0.0, model);
    if (centre) bb_axpy(d, 1.0, centre, model);
    return -0.5 * log_det - 0.5 * (double)local->n *
                                log(fmax(square - explained, 1e-9 * local->yy + 1e-30));
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

bb_status bb_prior_fit(const bb_prior *prior, const bb_local *local, double lambda,
                       size_t count, const bb_prior_candidate *candidate,
                       double *evidence, double *model, double *work) {
    const size_t d = prior->d;
    double *root = work, *room = root + d;
    bb_spectrum fam = {0};
    int power = -1;
    work = room + bb_spectrum_length(local->n, d);
    if (local->n == 0) {
        fit_nothing(prior, count, candidate, evidence, model);
        return BB_OK;
    }
    for (size_t k = 0; k < count; k++) {
        if (candidate[k].power != power) { /* candidates come sorted by power */
            power = candidate[k].power;
            for (size_t a = 0; a < d; a++)
                root[a] = power == 1 ? sqrt(prior->variance[a]) : prior->variance[a];
            const bb_covariance covariance = {power ? prior->basis : NULL,
                                              power ? root : NULL};
            const bb_status status =
                bb_spectrum_open(&fam, local, &covariance, room, work);
            if (status) return status;
        }
        evidence[k] = fit_one(local, &fam, candidate[k].with_mean ? prior->mean : NULL,
                              lambda * candidate[k].multiplier, model + k * d, work);
    }
    return BB_OK;
}

size_t bb_prior_fit_length(size_t n, size_t d) {
    const size_t rank = n < d ? n : d, fit_one_length = d + rank + n * d + n;
    const size_t spectrum = bb_spectrum_work(n, d);
    return d + bb_spectrum_length(n, d) +
           (fit_one_length > spectrum ? fit_one_length : spectrum);
}
