/* pld_shares.h - mixtures of two rounds that are nowhere below, or nowhere above, the
 * rounds between them; private to pld*.c.
 *
 * For every loss delta_mu is convex in f(mu), f' = e^(-mu^2 / 8), and up to any loss
 * concave in g(mu), which grows the faster the larger that loss is: docs/accountant.md
 * has both, with proofs. So the share that keeps the mean of f is for the upper bound,
 * that which keeps the mean of g for the lower one. */
#ifndef BB_PRIVACY_PLD_SHARES_H
#define BB_PRIVACY_PLD_SHARES_H

#include "privacy/accounting/pld_plan.h"

/* f(b) - f(a), a <= b. `mirror`: Poisson samples, replace-one, or hidden ones,
 * add-remove, where f' = e^(-mu^2 / 2). */
double bb_pld_gap(bool mirror, double a, double b);

/* Shares of rounds of mu in [a, b]. */
typedef struct bb_pld_shares {
    bool mirror;
    double a, b;
    double gap;    /* f(b) - f(a) */
    double reach;  /* up to which loss the share below holds, inside the sample */
    double panels; /* of the integral for g; INFINITY: too many */
    double weight; /* g(b) - g(a) */
    /* For every mixture below: its profile is at most e^excess (delta_mu + spare). */
    double spare, excess;
} bb_pld_shares;

/* Rounds of a and b of one family, a < b, in each of which a mass of about `spare` may
 * be given up. */
bb_pld_shares bb_pld_shares_of(bool mirror, const bb_event *a, const bb_event *b,
                               double spare);
/* The share of b, in [0, 1], on the side of the bound. */
double bb_pld_share(const bb_pld_shares *shares, bb_bound bound, double mu);

#endif
