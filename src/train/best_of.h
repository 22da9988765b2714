/* best_of.h - private tuning: the best of a random number of runs, all of it inside one
 * budget (Papernot and Steinke 2022; docs/tune.md, privacy/accounting/best_of.h).
 *
 * K runs are made, K from the Poisson law, each with a setting drawn at random; each ends
 * with a score of its own, the mean error on rows that it did not learn from, through the
 * door; the run with the least score is published, and nothing of the others, K included. */
#ifndef BB_TRAIN_BEST_OF_H
#define BB_TRAIN_BEST_OF_H

#include "train/tune.h"

typedef struct bb_best_of {
    const bb_tune *tune; /* its seed is not used */
    uint64_t mean;       /* runs on average; at least 1 */
    double share;        /* of a run's mu^2 that its score has; in (0, 1) */
    const char *seed;    /* a number; NULL: secure noise. With one it is not private */
    const char *output;  /* the run directory */
} bb_best_of;

/* What was published, and what it cost. */
typedef struct bb_best_found {
    bool there;          /* false: K was 0, which tells nothing */
    size_t setting;      /* of those of the tuning */
    double score, noise; /* as published, and the standard deviation in it */
    size_t tasks;
    double epsilon, delta; /* of the whole */
    bb_adjacency adjacency;
    double mu;          /* of each run, its score included */
    double mu_alone;    /* what a single run with the same budget would have, */
    double mu_composed; /* and each of `mean` runs that are all paid for, the best
                              found by the exponential mechanism for a tenth of epsilon */
} bb_best_found;

/* Looks at the data as every setting reads them, charges the whole to the ledger that the
 * flags name, makes the runs, and writes the best one's directory. Nothing about data ends
 * it once it has charged; before, they do whichever setting they do not suit. The watch is
 * not told how many runs there are. BB_EUSAGE: no epsilon; runs whose price is not that of
 * Gaussian rounds of all tasks alone; a target without a public range; settings with other
 * tasks; a ledger that does not add up epsilon and delta. BB_EBUDGET: nothing was published;
 * BB_EINTERRUPTED: likewise, the charge stays. Privacy cost: (epsilon, delta), as the run's
 * statement says. */
BB_MUST_CHECK bb_status bb_best_of_run(const bb_best_of *best, const bb_watch *watch,
                                       bb_best_found *found);

#endif
