/* pld_plan.h - a list of events as factors of few losses; private to pld*.c.
 *
 * Rounds that differ only in mu are brought to few mu by mixtures: a round of mu in [a,
 * b] becomes the round of b with chance `share`, that of a otherwise, and everybody is
 * told which. Its profile is share delta_b + (1 - share) delta_a. For every loss
 *   delta_mu is convex in f(mu), f' = e^(-mu^2 / 8) (Poisson samples under replace-one:
 *     e^(-mu^2 / 2)): with the share that keeps the mean of f the mixture is nowhere
 *     below the round;
 *   delta_mu is concave in mu^p, p = x^2 + 1, as long as the threshold of the best test
 *     stays within x deviations: with the share that keeps the mean of mu^p the mixture
 *     is nowhere above the round by more than the chance to be beyond.
 * (docs/privacy.md has the proofs.) What is composed stays ordered, so the first is an
 * upper and the second a lower bound, and both are off by the square of b - a. */
#ifndef BB_PRIVACY_PLD_PLAN_H
#define BB_PRIVACY_PLD_PLAN_H

#include "privacy/accounting/account.h"
#include "privacy/accounting/pld_discrete.h"

/* More different rounds than that are brought together. */
enum { BB_PLD_PLAN_MOST = 64 };

/* (1 - share) loss + share (loss + 1), `times` times. */
typedef struct bb_pld_factor {
    size_t loss;
    double share, times;
} bb_pld_factor;

typedef struct bb_pld_plan {
    bb_adjacency adjacency;
    bb_bound bound;
    size_t losses;
    bb_event *loss; /* once each */
    size_t count;
    bb_pld_factor *factor; /* in the order of their losses */
    bool mixed;            /* some share is not 0 */
    double rounds;         /* of all factors */
} bb_pld_plan;

/* A plan whose delta is not below that of the account (above), or not above it by more
 * than `slack` (below). BB_EUSAGE: the rounds are too different. */
BB_MUST_CHECK bb_status bb_pld_plan_open(bb_pld_plan *plan, const bb_account *account,
                                         bb_bound bound, double slack);
void bb_pld_plan_close(bb_pld_plan *plan);

/* The share of b that makes the mixture a bound of a round of mu in [a, b] on its side;
 * below, to within the rate times `slack`. `mirror`: Poisson samples, replace-one,
 * or hidden ones, add-remove. */
double bb_pld_plan_share(bool mirror, bb_bound bound, double slack, double a, double b,
                         double mu);

#endif
