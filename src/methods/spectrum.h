/* spectrum.h - one task's ridge problems for many penalties at once, under a Gaussian
 * prior with any covariance: one eigenproblem of order min(n, d) serves them all. The
 * squared loss; local, and free. */
#ifndef BB_METHODS_SPECTRUM_H
#define BB_METHODS_SPECTRUM_H

#include "learners/local.h"

/* The covariance R R' of a prior, R = basis' diag(root). */
typedef struct bb_covariance {
    const double
        *basis; /* d x d, a direction each row, orthonormal; NULL: the features */
    const double *root; /* d: standard deviations in these directions; NULL: all 1 */
} bb_covariance;

/* Directions f_e (rows of `f`, rank x d) and curvatures g_e such that for every penalty
 * the minimum of
 *     weight/2 ||X w - y||^2 + penalty/2 (w - centre)' (R R')^-1 (w - centre)
 * is centre + sum_e f_e (f_e . r) / (g_e + penalty), r = weight (X'y - X'X centre): the
 * g_e are the nonzero eigenvalues of weight R'X'X R, q_e its eigenvectors, f_e = R q_e.
 */
typedef struct bb_spectrum {
    size_t rank;
    double *f, *g;
} bb_spectrum;

/* Doubles of work that the functions below need, beside the spectrum's own. */
size_t bb_spectrum_work(size_t n, size_t d);
/* Doubles that a spectrum takes: f and g. */
size_t bb_spectrum_length(size_t n, size_t d);
/* f and g: into `room`, bb_spectrum_length doubles. A task without rows has rank 0. */
BB_MUST_CHECK bb_status bb_spectrum_open(bb_spectrum *spectrum, const bb_local *local,
                                         const bb_covariance *covariance, double *room,
                                         double *work);

/* gram (d x d) <- weight X'X; work: n d doubles. */
void bb_spectrum_gram(const bb_local *local, double *gram, double *work);
/* residual (d) <- weight (X'y - X'X centre); returns weight ||y - X centre||^2. centre
 * NULL: 0. work: n d + n doubles. */
double bb_spectrum_residual(const bb_local *local, const double *centre,
                            double *residual, double *work);

#endif
