/* solvers.h - inside the room: what the files of the solvers share. */
#ifndef BB_LEARNERS_SOLVERS_H
#define BB_LEARNERS_SOLVERS_H

#include "learners/local.h"

/* Doubles of work space of bb_local_ridge and bb_local_lasso. */
size_t bb_ridge_work(const bb_local *local);
size_t bb_lasso_work(const bb_local *local);

/* Minimises loss + lambda/2 ||w - centre||^2 by Newton steps from `at' (NULL: 0), in (w, b)
 * or, for more features than rows, in the coefficients a of w = centre + X'a, which the
 * solution has (representer theorem), as bb_local_ridge_again keeps it. w and *b are
 * written on success. One-class tasks with an intercept have no minimum and must not come
 * here. */
size_t bb_newton_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_newton_ridge(const bb_local *local, double lambda,
                                        const double *centre, double *at, double *w,
                                        double *b, double *work);

/* The root b of sum_j l'(p_j + b), logistic loss, two classes. work: 2 n doubles. */
double bb_logistic_intercept(const bb_local *local, const double *p, double *work);

#endif
