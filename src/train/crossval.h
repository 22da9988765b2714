/* crossval.h - the penalty of tasks that learn alone, by pooled cross-validation.
 *
 * It looks at all tasks' rows at once: a fair opponent for an evaluation by somebody
 * who holds all data, and never a part of a private run. */
#ifndef BB_TRAIN_CROSSVAL_H
#define BB_TRAIN_CROSSVAL_H

#include "train/locals.h"

enum { BB_CROSSVAL_FOLDS = 5, BB_CROSSVAL_PENALTIES = 15 };

/* The k-th penalty of the grid: 1e-5, 10^-4.5, ..., 1e2. */
double bb_crossval_penalty(size_t k);

/* Which of the folds row j of the data is held out in: the rows of each task are
 * shuffled by the stream (seed, its name) and dealt out in turn, so a task with fewer rows
 * than folds is held out in fewer, and a task of one row never is (255). */
BB_MUST_CHECK bb_status bb_crossval_folds(const bb_dataset *data, uint64_t seed,
                                          unsigned char *fold);

/* One ridge penalty for all tasks, each learning alone with the mean loss: the one with
 * the least summed squared error (logistic: log loss) on held-out rows of all tasks;
 * the larger of two that are equal. error (BB_CROSSVAL_PENALTIES, may be NULL) gets
 * those sums. The same for any number of workers. */
BB_MUST_CHECK bb_status bb_crossval_ridge(const bb_dataset *data, bb_problem problem,
                                          const bb_engine *engine, uint64_t seed,
                                          double *lambda, double *error);

#endif
