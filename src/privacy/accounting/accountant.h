/* accountant.h - what releases cost: exact Gaussian composition, and the composition
 * bound of (epsilon, delta) steps. Nothing here depends on data.
 *
 * One meaning everywhere: a Gaussian release with noise multiplier z (noise standard
 * deviation over the block's unit U) whose sum moves by at most r*U when one task
 * changes is mu-GDP with mu = r/z; all-task rounds compose as mu^2 = sum mu_t^2.
 *
 * Every result is rounded to the safe side, by a margin that covers the floating-point
 * error of its computation. NaN arguments are a broken precondition. */
#ifndef BB_PRIVACY_ACCOUNTANT_H
#define BB_PRIVACY_ACCOUNTANT_H

#include "base/status.h"

#include <stddef.h>

typedef enum bb_adjacency { BB_REPLACE_ONE, BB_ADD_REMOVE } bb_adjacency;
const char *bb_adjacency_name(bb_adjacency adjacency); /* "replace-one", "add-remove" */

/* log Phi(x), accurate in the far tail: relative error below 1e-13 for x <= 0, absolute
 * error below 1e-16 for x > 0; -inf only at -inf or where -x^2/2 overflows. */
double bb_log_normal_cdf(double x);

/* delta(epsilon) of a mu-GDP mechanism: Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)
 * (Balle, Wang 2018, theorem 8; Dong, Roth, Su 2019, corollary 2.13), for mu >= 0 and
 * epsilon >= 0, either may be infinite. Never below truth, and at most 2^-39 relative
 * above it (for delta that a normal double can hold). */
double bb_gdp_delta(double mu, double epsilon);
/* The smallest epsilon with delta(epsilon) <= delta, rounded up; 0 if delta(0) <=
 * delta; INFINITY if there is none (delta <= 0 and mu > 0, or mu = INFINITY). */
double bb_gdp_epsilon(double mu, double delta);
/* The largest mu with delta(epsilon; mu) <= delta, rounded down (so that noise is
 * rounded up). epsilon >= 0, 0 < delta < 1; 0 for delta <= 0, INFINITY for delta >= 1.
 */
double bb_gdp_mu(double epsilon, double delta);

/* The composition bound of Kairouz, Oh, Viswanath (2015, theorem 3.5; eq. 6 of Liang et
 * al. 2020, all three branches) for steps (epsilon_t, 0), epsilon_t >= 0: the epsilon
 * of the whole at delta. At delta = 0 it is the sum; INFINITY at delta < 0; 0 at delta
 * >= 1. */
double bb_kov_epsilon(size_t steps, const double *epsilon_t, double delta);
/* For steps (epsilon_t, delta_t): what of the total delta is left for bb_kov_epsilon,
 * delta~ with 1 - delta = (1 - delta~) prod (1 - delta_t), rounded down. Negative if
 * the delta_t alone exceed delta: then no epsilon is valid. 0 <= delta < 1. */
double bb_kov_slack(size_t steps, const double *delta_t, double delta);
/* Both for steps that are made times[t] times each, a count; NULL: once. The work does
 * not depend on how often. */
double bb_kov_epsilon_repeated(size_t kinds, const double *epsilon_t,
                               const double *times, double delta);
double bb_kov_slack_repeated(size_t kinds, const double *delta_t, const double *times,
                             double delta);
/* Scales the weights a_t > 0 to epsilon_t = c a_t with the largest c such that
 * bb_kov_epsilon(...) <= epsilon, by bisection, rounded down. BB_EUSAGE if steps = 0, a
 * weight or epsilon is not positive and finite, or delta is not in [0, 1). */
BB_MUST_CHECK bb_status bb_kov_allocate(size_t steps, const double *weight,
                                        double epsilon, double delta,
                                        double *epsilon_t);

/* A true lower bound on delta of Wishart noise as published, over steps with pure
 * claims epsilon_t: 1 - exp(-sum epsilon_t) (docs/privacy.md). */
double bb_wishart_true_delta(size_t steps, const double *epsilon_t);
/* The same where only the diagonal of d x d matrices is released, which is independent
 * chi^2 noise of d + 1 degrees of freedom on its entries: 1 - prod(1 - P(chi^2_{d+1} <
 * 2 epsilon_t)), in d not smaller than the true number. What is below all a task can
 * show has probability 0 in one world. */
double bb_wishart_diagonal_delta(size_t steps, const double *epsilon_t, size_t d);

/* The default delta of a population of `tasks` >= 1 tasks: min(1e-5, 1/(10 tasks)). */
double bb_delta_default(size_t tasks);
/* The papers' delta, 1/(m ln m); tasks >= 2. Below 30 tasks it is nearly no promise. */
double bb_delta_paper(size_t tasks);

#endif
