/* rdp.h - Renyi differential privacy: the curve order -> RDP of sampled Gaussian
 * rounds, its composition, its conversion to (epsilon, delta), and a filter at one
 * fixed order for budgets that are spent adaptively. Nothing here depends on data.
 *
 * Orders are real numbers > 1, RDP and epsilon are in nats. Every result is rounded up
 * (budgets: down) by a margin that covers the floating-point error of its computation.
 * NaN arguments and arguments outside the stated ranges are a broken precondition. */
#ifndef BB_PRIVACY_RDP_H
#define BB_PRIVACY_RDP_H

#include "base/status.h"

#include <stddef.h>

/* A larger order gets only what costs nothing: the unamplified curve. */
#define BB_RDP_ORDER_MAX       1e6    /* Poisson sampling */
#define BB_RDP_FIXED_ORDER_MAX 1024.0 /* fixed-size samples */

/* RDP of a mu-GDP Gaussian release: order mu^2 / 2 (Mironov 2017, proposition 7).
 * mu >= 0, order > 1. */
double bb_rdp_gaussian(double mu, double order);

/* One round in which every task takes part with probability q, independently;
 * add-remove; sigma = noise standard deviation / sensitivity of the round's sum. Exact
 * to 1e-12 relative, never below truth:
 *     E_{x ~ N(0, sigma^2)} [(1 + u)^a] = 1 + E[(1 + u)^a - 1 - a u],
 *     u = q (e^((2x - 1) / (2 sigma^2)) - 1),
 * the moment of Mironov, Talwar, Zhang (2019, section 3.3), who show that this
 * direction is the larger one. 0 <= q <= 1, sigma >= 0, order > 1. Where order >
 * BB_RDP_ORDER_MAX or sigma < 0.05: the unamplified order / (2 sigma^2), for q > 0. */
double bb_rdp_poisson(double q, double sigma, double order);

/* One round with a sample of fixed size without replacement, a share gamma of all
 * tasks; replace-one; sigma = noise standard deviation / replace-one sensitivity of the
 * round's sum (2 C for clipped vectors). Only for hidden cohorts: no other task's
 * retained state may depend on who was picked. The bound of Wang, Balle,
 * Kasiviswanathan (2019, with its improvement by moments for Gaussian noise),
 * at most order / (2 sigma^2). Between integer orders (order - 1) RDP is convex and so
 * at most its linear interpolation. 0 <= gamma <= 1, sigma >= 0, order > 1; unamplified
 * where order > BB_RDP_FIXED_ORDER_MAX or sigma < 0.05, for gamma > 0. Work O(order).
 */
double bb_rdp_without_replacement(double gamma, double sigma, double order);

typedef enum bb_rdp_sampling {
    BB_RDP_POISSON,            /* bb_rdp_poisson; q = 1 is the plain Gaussian */
    BB_RDP_WITHOUT_REPLACEMENT /* bb_rdp_without_replacement, gamma = q */
} bb_rdp_sampling;

/* `rounds` equal rounds; q and sigma as in the function of their kind. The events of
 * one composition must be in one adjacency: both kinds together only for q = 1. */
typedef struct bb_rdp_event {
    bb_rdp_sampling sampling;
    double q, sigma;
    double rounds; /* a count, >= 0 */
} bb_rdp_event;

/* The RDP of all events together: the sum (Mironov 2017, proposition 1). */
double bb_rdp_compose(size_t count, const bb_rdp_event *events, double order);

/* epsilon at delta from RDP r at one order a: r + log(1 - 1/a) - log(delta a) / (a - 1)
 * (Canonne, Kamath, Steinke 2020, proposition 12), at least 0; 0 too if
 * delta^2 >= 1 - e^-r (Bretagnolle, Huber 1979). INFINITY if delta <= 0 and r > 0. */
double bb_rdp_to_epsilon(double rdp, double order, double delta);
/* The same solved for delta, at most 1. epsilon >= 0. */
double bb_rdp_to_delta(double rdp, double order, double epsilon);

/* The same for a composition, minimised over the order. Every order is valid, so the
 * search can only cost tightness. *order gets the order used, if not NULL. */
double bb_rdp_epsilon(size_t count, const bb_rdp_event *events, double delta,
                      double *order);
double bb_rdp_delta(size_t count, const bb_rdp_event *events, double epsilon,
                    double *order);

/* *limit <- E - log(1-1/a) + (log D + log a)/(a-1), rounded down: a budget that may be
 * spent adaptively. RDP at one order a, fixed before the first charge, adds up (Feldman,
 * Zrnic 2021); optimising the order after outputs were seen is not allowed. BB_EUSAGE
 * unless epsilon > 0 finite, 0 < delta < 1, order > 1 finite and the limit is positive
 * (else the order is too small for the budget). */
BB_MUST_CHECK bb_status bb_rdp_limit(double *limit, double epsilon, double delta,
                                     double order);

#endif
