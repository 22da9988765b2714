/* trial.h - inside the room: models of several outputs and networks, every task's
 * learned from some of its rows and judged by others. For baselines: they look at all
 * tasks, and are for the operator only. */
#ifndef BB_TRAIN_TRIAL_H
#define BB_TRAIN_TRIAL_H

#include "eval/assess.h"
#include "train/crossval.h"

typedef struct bb_trial {
    const bb_dataset *kept, *out; /* the same tasks; as read (networks: as they look at
                                     them); those learned from and those judged by */
    const bb_learnt *what;
    bb_ridge_columns columns; /* linear models */
    size_t count;
    const double *value; /* count: penalties (networks: rates of descent) */
    size_t stages;
    const uint64_t *epochs; /* stages, ascending: networks are judged after so many
                               passes; linear models: 1 stage, NULL */
    uint64_t seed;          /* of the order of rows in networks' steps */
    const bb_engine *engine;
    const atomic_int *stop; /* may be NULL: BB_EINTERRUPTED once it is set */
} bb_trial;

/* hits[k * stages + s] += what the rows of all tasks add up to with value[k] after
 * epochs[s]; of losses of one output `loss` only (squared errors, log loss). The same for
 * any number of workers. */
BB_MUST_CHECK bb_status bb_trial_count(const bb_trial *trial, bb_hits *hits);
/* The metrics of one value after its last stage on the rows `out`, which are those of
 * `test` in its order, whose tasks are counted. */
BB_MUST_CHECK bb_status bb_trial_assess(const bb_trial *trial, const bb_dataset *test,
                                        bb_assessed *assessed);

#endif
