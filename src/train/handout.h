/* handout.h - what is written beside a model, so that whoever holds it can use it: in
 * RUN/operator for all tasks, in the folder `task` of an export for one (docs/
 * run-directory.md). */
#ifndef BB_TRAIN_HANDOUT_H
#define BB_TRAIN_HANDOUT_H

#include "data/preprocess.h"
#include "models/models.h"

/* Writes the models (`lines`: bb_models_write_lines), `models.json` (one linear output:
 * whose they are, and the formula of a prediction), `limits.csv` (where there are some) and
 * `preprocessing.json` into a folder that is there; steps are those that the models expect to
 * be done to rows. */
BB_MUST_CHECK bb_status bb_handout_write(const char *folder, const bb_models *models,
                                         const bb_piece *lines, bb_loss loss,
                                         const bb_preprocess *steps);

/* Writes intervals.csv (train/intervals.h) beside them; nothing where there are none. */
BB_MUST_CHECK bb_status bb_handout_intervals(const char *folder,
                                             const bb_models *intervals);

/* Makes DIR, complete or not there (BB_EUSAGE if something is), with task NAME's model
 * out of the run directory RUN: RUN's public half as it is, and DIR/task, with that
 * model and nothing of another task. BB_EDATA: RUN has no such task, or no operator's
 * half. No privacy cost: a task's own model is its own. */
BB_MUST_CHECK bb_status bb_handout_export(const char *run, const char *task,
                                          const char *dir);

#endif
