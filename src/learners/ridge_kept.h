/* ridge_kept.h - one task's exact minima of the squared loss with one penalty around many
 * centres (bb_local_ridge), of which the matrix is inverted once: of order d where the task
 * has its Gram matrix, else of order n. */
#ifndef BB_LEARNERS_RIDGE_KEPT_H
#define BB_LEARNERS_RIDGE_KEPT_H

#include "learners/local.h"

#include <stdbool.h>

/* Doubles that are kept, little more than half of the matrix; 0: for bb_local_ridge. The
 * functions below are not called then. */
size_t bb_ridge_kept_length(const bb_local *local);
/* Doubles of work of both functions. */
size_t bb_ridge_kept_work(const bb_local *local);
/* kept <- what is needed with lambda > 0, its first number above 0. False: this matrix is
 * one for bb_local_ridge, which helps it. O(min(n, d)^3). */
bool bb_ridge_kept_open(const bb_local *local, double lambda, double *kept,
                        double *work);
/* w (d) <- the minimum of loss + lambda/2 ||w - centre||^2, with that lambda. False, and w
 * as it was, if it is not finite. O(d^2) or O(n d). */
bool bb_ridge_kept_solve(const bb_local *local, const double *centre,
                         const double *kept, double *w, double *work);

#endif
