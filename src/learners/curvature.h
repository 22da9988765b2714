/* curvature.h - inside the room: the largest eigenvalue of a task's Hessian. */
#ifndef BB_LEARNERS_CURVATURE_H
#define BB_LEARNERS_CURVATURE_H

#include "learners/local.h"

/* An upper bound, at most 1e-6 relative above the truth, of the largest eigenvalue of a
 * positive semidefinite n x n matrix M, by power iteration and a proof: c I - M has a
 * Cholesky factor, so M has no eigenvalue above c (up to rounding). Where the iteration
 * is too slow to be proven, all eigenvalues are computed. BB_ENUMERIC if M is not
 * finite. work: bb_largest_work(n) doubles. */
size_t bb_largest_work(size_t n);
BB_MUST_CHECK bb_status bb_largest_eigenvalue(size_t n, const double *M, double *out,
                                              double *work);

#endif
