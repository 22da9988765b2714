/* cell.h - one training run of an experiment, in memory, on one thread. */
#ifndef BB_EXPERIMENTS_CELL_H
#define BB_EXPERIMENTS_CELL_H

#include "base/status.h"

#include <jansson.h>

#include <stdatomic.h>

/* What a cell may use besides its own description. */
typedef struct bb_cell_place {
    const char *folder; /* where files of data are; NULL: not given */
    const atomic_int *stop;
} bb_cell_place;

/* Resolves the cell's options without running it: BB_EUSAGE as a run would say. *options:
 * all of them, with the values that a run would take. */
BB_MUST_CHECK bb_status bb_cell_check(const json_t *cell, const bb_cell_place *place,
                                      json_t **options);
/* Runs {"data", "options", "seed", "fold"}: worlds are drawn, and rows split, by the seed;
 * noise comes from it, too. With a fold (1 ..) that part of the training rows tests, and
 * rows to test on are not looked at. *answer: the object of operator/run.json, with
 * "metric" and in that metric "test_value", "train_value", "alone", "pooled", "mixed",
 * "no_privacy"; of worlds with true models also "similarity" (similarity.h). */
BB_MUST_CHECK bb_status bb_cell_train(const json_t *cell, const bb_cell_place *place,
                                      json_t **answer);

#endif
