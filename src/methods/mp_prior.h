/* mp_prior.h - the two halves of mp-prior that its hooks call: the public prior made
 * from noisy sums, and one task's fit under it. */
#ifndef BB_METHODS_MP_PRIOR_H
#define BB_METHODS_MP_PRIOR_H

#include "core/method.h"
#include "methods/ridge_path.h"

enum {
    BB_PRIOR_EXPONENTS = 21,
    BB_PRIOR_MOST_CANDIDATES = 21,
    BB_PRIOR_POWERS = 3,
    BB_PRIOR_MOST_FEATURES = 4000
};

#define BB_PRIOR_EXPONENT_RANGE 5.0 /* log10 of penalties: -5 .. 0 in 20 steps */

typedef enum bb_prior_combine { BB_PRIOR_AVERAGE, BB_PRIOR_GEOMETRIC } bb_prior_combine;
typedef enum bb_prior_pattern {
    BB_PRIOR_LOW_RANK,
    BB_PRIOR_GROUP_SPARSE
} bb_prior_pattern;

typedef struct bb_prior_options {
    double lambda; /* NaN: automatic */
    int pattern;
    double mean_gate;
    int combine;
    bool vote;
    double odds;
} bb_prior_options;

/* The billboard: everything released so far, after post-processing. */
typedef struct bb_prior {
    size_t d;
    const double *centre;      /* log10 of the usual penalty */
    const double *mean_kept;   /* 1 or 0 */
    const double *directions;  /* how many were detected */
    const double *reliability; /* of what was detected, in [0, 1] */
    const double *vote; /* BB_PRIOR_MOST_CANDIDATES: log prior odds, 0 before a vote */
    const double *mean; /* d */
    const double *variance; /* d: D_j, 1 where nothing was detected */
    const double *basis;    /* d x d: row j is u_j */
} bb_prior;

/* The same where digest writes it. */
typedef struct bb_prior_draft {
    size_t d;
    double *centre, *mean_kept, *directions, *reliability, *vote;
    double *mean, *variance, *basis;
} bb_prior_draft;

bb_prior bb_prior_read(const bb_view *view);
bb_prior_draft bb_prior_write(const bb_view *view, const bb_draft *draft);
/* bb_method's hooks. */
size_t bb_prior_board_length(const bb_view *view);
size_t bb_prior_digest_length(const bb_view *view);

/* From the noisy sum of Gram blocks ((d+1) x (d+1), noise s on the diagonal): a ridge
 * mean, kept only if its gain is twice its noise. work: bb_prior_digest_length. */
BB_MUST_CHECK bb_status bb_prior_mean(const bb_prior_draft *prior, const double *sum,
                                      double s, double *work);
/* From the noisy sum of direction products (d x d, or d for group-sparse): the spiked
 * covariance estimate (docs/methods/mp-prior.md, step 4). */
BB_MUST_CHECK bb_status bb_prior_covariance(const bb_prior_draft *prior, int pattern,
                                            const double *sum, double s, double *work);

/* -- the penalty -- */

/* The k-th penalty of the grid, 10^-5 .. 1. */
double bb_prior_grid(size_t k);
/* Leave-one-out errors of a task over the grid; all equal without rows. */
void bb_prior_errors(const bb_local *local, double *error, double *work);
/* The exponent with the least error, ties averaged, relative to the middle of the
 * range: what a task shows. */
double bb_prior_exponent(const double *error);
/* The centre from the noisy sum of exponents, drawn toward -3.5 by its noise. */
double bb_prior_centre(double sum, double noise, size_t tasks);
/* weight (grid): the errors as a likelihood, the public centre as a prior; returns the
 * task's own penalty, the geometric mean. */
double bb_prior_penalty(const double *error, double n, double centre, double *weight);

/* -- the candidates -- */

/* One candidate for the local averaging: centre (mean or 0), variances D^power, and a
 * multiplier of the task's penalty. */
typedef struct bb_prior_candidate {
    bool with_mean;
    int power; /* below BB_PRIOR_POWERS */
    double multiplier;
} bb_prior_candidate;

/* Fills the public list of candidates and returns how many. */
size_t bb_prior_candidates(const bb_prior *prior, bool automatic,
                           bb_prior_candidate *candidate);

/* The noisy sum of votes becomes log prior odds: shrunk toward none by its noise (James
 * and Stein 1961), never against a candidate by more than 100 : 1. */
void bb_prior_vote(const bb_prior_draft *prior, size_t count, const double *sum,
                   double s, size_t tasks);

/* The candidates' models, of which the one of candidate k minimises
 *     1/(2n) ||X w - y||^2 + lambda k.multiplier / 2 (w - k.mean)' D^-power (w - k.mean).
 * Borrows what it is opened with. */
typedef struct bb_prior_fits {
    const bb_prior *prior;
    const bb_local *local;
    double lambda;
    size_t count;
    const bb_prior_candidate *candidate;
    bb_ridge_path path[BB_PRIOR_POWERS]; /* those that candidates have */
} bb_prior_fits;

/* work: bb_prior_fits_length doubles, which the functions below work in, too. */
size_t bb_prior_fits_length(const bb_local *local);
BB_MUST_CHECK bb_status bb_prior_fits_open(bb_prior_fits *fits, const bb_prior *prior,
                                           const bb_local *local, double lambda,
                                           size_t count,
                                           const bb_prior_candidate *candidate,
                                           double *work);
/* evidence (count) <- log marginal likelihoods, up to a constant. */
void bb_prior_weigh(bb_prior_fits *fits, double *evidence);
/* w (d) <- the sum of share times the candidates' models; shares add up to one. */
void bb_prior_average(bb_prior_fits *fits, const double *share, double *w);

#endif
