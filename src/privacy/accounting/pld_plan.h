/* pld_plan.h - a list of events as factors of few losses; private to pld*.c.
 *
 * Rounds that differ only in mu are brought to few mu by mixtures: a round of mu in [a,
 * b] becomes the round of b with chance `share`, that of a otherwise, and everybody is
 * told which. Its profile is share delta_b + (1 - share) delta_a. For every loss delta_mu
 * is convex in f(mu), f' = e^(-mu^2 / 8) (Poisson samples under replace-one and hidden
 * ones under add-remove: e^(-mu^2 / 2)): with the share that keeps the mean of f the
 * mixture is nowhere below the round (docs/privacy.md has the proofs). What is composed
 * stays ordered, so the upper bound stays one; and by how much it is above follows from
 * the moments, which are convex in f, too: so the lower bound (pld_terms.c). Both are
 * off by the square of b - a. */
#ifndef BB_PRIVACY_PLD_PLAN_H
#define BB_PRIVACY_PLD_PLAN_H

#include "privacy/accounting/account.h"

/* Up to so many events are taken as they are. */
enum { BB_PLD_PLAN_MOST = 64 };

/* `times` rounds, each (1 - its share) loss + its share (loss + 1). */
typedef struct bb_pld_factor {
    size_t loss;
    double share;  /* the mean */
    double spread; /* the sum of (its share - share)^2 */
    double times;
} bb_pld_factor;

typedef struct bb_pld_plan {
    bb_adjacency adjacency;
    size_t losses;
    bb_event *loss; /* once each */
    double *gap;    /* f(loss) - f(loss before); 0: another family */
    size_t count;
    bb_pld_factor *factor; /* in the order of their losses */
    bool mixed;            /* some share is not 0 */
    double rounds;         /* of all factors */
    size_t different;      /* events */
    double raised; /* relative: what mu^2 of all tasks' rounds may be above truth */
    bool last;     /* there will be none of more losses */
    double work, work_most; /* in multiplications or so: what was done, and may be */
} bb_pld_plan;

/* A plan of at most `most` losses if there are more than BB_PLD_PLAN_MOST events, whose
 * delta is not below that of the account. BB_EUSAGE: the rounds are too different. */
BB_MUST_CHECK bb_status bb_pld_plan_open(bb_pld_plan *plan, const bb_account *account,
                                         size_t most);
void bb_pld_plan_close(bb_pld_plan *plan);

/* f(b) - f(a), a <= b. `mirror`: Poisson samples, replace-one, or hidden ones,
 * add-remove. */
double bb_pld_plan_gap(bool mirror, double a, double b);

#endif
