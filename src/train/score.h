/* score.h - how well a run does on rows that are held out, through the door. */
#ifndef BB_TRAIN_SCORE_H
#define BB_TRAIN_SCORE_H

#include "core/run.h"

typedef struct bb_score_plan {
    size_t tasks;
    bb_adjacency adjacency;
    double epsilon, delta; /* of this release: all tasks, one round */
    bool seeded;           /* reproducible noise: not private */
    uint64_t seed;
} bb_score_plan;

/* *mean <- the mean of the tasks' scores (tasks, each in [0, 1], private) plus Gaussian
 * noise of the door; *noise its standard deviation. Privacy cost: that of the plan, which
 * whoever calls has charged: there is no ledger here. */
BB_MUST_CHECK bb_status bb_score_release(const bb_score_plan *plan, const double *score,
                                         double *mean, double *noise);

#endif
