/* One task's half of mp-prior: ridge models and their evidence under a few public
 * priors. */
#include "linalg/linalg.h"
#include "methods/mp_prior.h"

#include <math.h>
#include <string.h>

/* The path of candidates with this power of the prior's covariance, from that of another
 * one (NULL: none). */
static bb_status open_path(const bb_prior_fits *fits, int power,
                           const bb_ridge_path *from, double *root,
                           bb_ridge_path *path) {
    const bb_prior *prior = fits->prior;
    for (size_t a = 0; a < prior->d; a++)
        root[a] = power == 1 ? sqrt(prior->variance[a]) : prior->variance[a];
    const bb_covariance covariance = {power ? prior->basis : NULL, power ? root : NULL};
    return bb_ridge_path_open_from(path, from, fits->local, &covariance,
                                   root + prior->d);
}

static size_t path_length(const bb_local *local) {
    return local->d + bb_ridge_path_length(local);
}

size_t bb_prior_fits_length(const bb_local *local) {
    return BB_PRIOR_POWERS * path_length(local);
}

bb_status bb_prior_fits_open(bb_prior_fits *fits, const bb_prior *prior,
                             const bb_local *local, double lambda, size_t count,
                             const bb_prior_candidate *candidate, double *work) {
    bool open[BB_PRIOR_POWERS] = {false};
    bb_status status = BB_OK;
    *fits = (bb_prior_fits){.prior = prior,
                            .local = local,
                            .lambda = lambda,
                            .count = count,
                            .candidate = candidate};
    for (size_t k = 0; k < count && local->n > 0 && !status; k++) {
        const int power = candidate[k].power;
        if (open[power]) continue;
        open[power] = true;
        status =
            open_path(fits, power, power == 2 && open[1] ? &fits->path[1] : NULL,
                      work + (size_t)power * path_length(local), &fits->path[power]);
    }
    return status;
}

/* The next candidates that differ by their penalty alone, and the path around their centre;
 * penalty: theirs. Returns how many. */
static size_t next_fits(bb_prior_fits *fits, size_t from, bb_ridge_path **path,
                        double *penalty) {
    const bb_prior_candidate *own = fits->candidate + from;
    size_t many = 0;
    while (from + many < fits->count && own[many].power == own->power &&
           own[many].with_mean == own->with_mean) {
        penalty[many] = fits->lambda * own[many].multiplier;
        many++;
    }
    *path = &fits->path[own->power];
    if (fits->local->n > 0)
        bb_ridge_path_centre(*path, own->with_mean ? fits->prior->mean : NULL);
    return many;
}

/* Without rows all candidates are equally likely. */
void bb_prior_weigh(bb_prior_fits *fits, double *evidence) {
    const bb_local *local = fits->local;
    double penalty[BB_PRIOR_MOST_CANDIDATES], log_det[BB_PRIOR_MOST_CANDIDATES];
    bb_ridge_path *path;
    for (size_t from = 0, many; from < fits->count; from += many) {
        double *least = evidence + from;
        many = next_fits(fits, from, &path, penalty);
        if (local->n > 0) bb_ridge_path_weigh(path, many, penalty, log_det, least);
        for (size_t k = 0; k < many; k++)
            least[k] = local->n == 0
                           ? 0.0
                           : -0.5 * log_det[k] -
                                 0.5 * (double)local->n *
                                     log(fmax(least[k], 1e-9 * local->yy + 1e-30));
    }
}

void bb_prior_average(bb_prior_fits *fits, const double *share, double *w) {
    const size_t d = fits->prior->d;
    double penalty[BB_PRIOR_MOST_CANDIDATES];
    bb_ridge_path *path;
    memset(w, 0, d * sizeof *w);
    for (size_t from = 0, many; from < fits->count; from += many) {
        many = next_fits(fits, from, &path, penalty);
        for (size_t k = from; fits->candidate[from].with_mean && k < from + many; k++)
            bb_axpy(d, share[k], fits->prior->mean, w);
        if (fits->local->n > 0) bb_ridge_path_keep(path, many, penalty, share + from);
    }
    for (int power = 0; power < BB_PRIOR_POWERS; power++)
        if (fits->path[power].local) bb_ridge_path_add(&fits->path[power], w);
}
