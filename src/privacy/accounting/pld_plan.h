/* pld_plan.h - a list of events as factors of few losses; private to pld*.c.
 *
 * Rounds that differ only in mu are brought to few mu by mixtures: a round of mu in [a,
 * b] becomes the round of b with chance `share`, that of a otherwise, and everybody is
 * told which. Its profile is share delta_b + (1 - share) delta_a. There are two chains of
 * such factors: shares of one make its profile nowhere lower than the round's, those of
 * the other nowhere higher (pld_shares.h). What is composed stays ordered, so the profile
 * of all rounds is between those of the chains. Both are off by the square of b - a. */
#ifndef BB_PRIVACY_PLD_PLAN_H
#define BB_PRIVACY_PLD_PLAN_H

#include "privacy/accounting/account.h"

/* Up to so many events are taken as they are. */
enum { BB_PLD_PLAN_MOST = 64 };

typedef enum bb_bound { BB_ABOVE, BB_BELOW } bb_bound;
enum { BB_BOUNDS = 2 };

/* `times` rounds, each (1 - share) loss + share (loss + 1). */
typedef struct bb_pld_factor {
    size_t loss;
    double share, times;
} bb_pld_factor;

/* A composition of them, in the order of their losses. */
typedef struct bb_pld_chain {
    size_t count;
    bb_pld_factor *factor;
} bb_pld_chain;

/* How a profile is computed: by the sum over frequencies as it is, with a round that is
 * added, and if that is too much work, by lists (pld.h). */
typedef enum bb_pld_cut {
    BB_PLD_CUT_UNKNOWN,
    BB_PLD_CUT_WANTED, /* nothing else but lists is left */
    BB_PLD_CUT_USED,
    BB_PLD_CUT_USELESS
} bb_pld_cut;

typedef struct bb_pld_method {
    bb_pld_cut cut;          /* large losses apart (pld_cut.h) */
    double loss, tilt;       /* where they are, and what a sum of the rest takes */
    double smooth, fineness; /* 0: not yet */
    double scale, spread;    /* of lists: of the total loss, if they are known */
    bool over;               /* everything is too much work */
} bb_pld_method;

typedef struct bb_pld_plan {
    bb_adjacency adjacency;
    size_t losses;
    bb_event *loss; /* once each */
    double *gap;    /* f(loss) - f(loss before); 0: another family */
    double *apart;  /* what the mixtures of a loss and the next do to log delta, once
                       that is known, as a share of what all do; else 0 */
    bb_pld_chain chain[BB_BOUNDS];
    bool mixed;   /* some share is not 0 */
    bool two;     /* the chains are not the same */
    double spare; /* delta of the chain below is at most e^excess (truth + spare) */
    double excess;
    double rounds;          /* of all factors */
    size_t different;       /* events */
    bool last;              /* there will be none of more losses */
    bb_pld_method method;   /* in: to begin with; out: what would do */
    double finer;           /* times as many losses would do, where they are too few */
    double work, work_most; /* in multiplications or so: what was done, and may be */
    double other_most;      /* that of the other direction, if it is still to come */
} bb_pld_plan;

/* A plan of at most `most` losses if there are more than BB_PLD_PLAN_MOST events; delta:
 * about that for which the lower bound shall be good; `coarser`, or NULL: a plan of fewer
 * losses, and what it says of where they are needed. BB_EUSAGE: the rounds are too
 * different. */
BB_MUST_CHECK bb_status bb_pld_plan_open(bb_pld_plan *plan, const bb_account *account,
                                         size_t most, double delta,
                                         const bb_pld_plan *coarser);
void bb_pld_plan_close(bb_pld_plan *plan);

#endif
