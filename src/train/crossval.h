/* crossval.h - ridge models as good as rows allow, for those who hold all of them:
 * every task alone, or one model for all.
 *
 * They start from the rows as they were read, not as methods see them, and look at all
 * tasks' rows at once: fair opponents for an evaluation, never a part of a private run
 * (docs/methods/stl.md). */
#ifndef BB_TRAIN_CROSSVAL_H
#define BB_TRAIN_CROSSVAL_H

#include "train/locals.h"

#include <signal.h>

enum { BB_CROSSVAL_FOLDS = 5 };

/* What is done to a task's rows before its penalty is looked for. */
typedef enum bb_ridge_columns {
    BB_COLUMNS_STANDARDIZED, /* by the task's own means and deviations; dense rows */
    BB_COLUMNS_AS_READ,
    BB_COLUMNS_FROM_ZERO /* as read, and the intercept is penalised like a weight */
} bb_ridge_columns;

/* Minimises the sum over a task's rows of the loss (learners/local.h, s = 1) plus
 * penalty/2 ||w||^2. */
typedef struct bb_ridge {
    bb_ridge_columns columns;
    double penalty;
    double error; /* summed over held-out rows */
    bool edge;    /* the penalty is the least or the largest that was tried */
} bb_ridge;

/* Which of the folds row j of the data is held out in: the rows of each task are
 * shuffled by the stream (seed, its name) and dealt out in turn, so a task with fewer rows
 * than folds is held out in fewer, and a task of one row never is (255). */
BB_MUST_CHECK bb_status bb_crossval_folds(const bb_dataset *data, uint64_t seed,
                                          unsigned char *fold);

/* error[k] <- squared error (logistic: log loss) with penalty[k], summed over the rows
 * of all tasks that were held out; in one fold of five where a fit to all rows takes
 * more than 1e9 multiplications. The same for any number of workers. */
BB_MUST_CHECK bb_status bb_crossval_errors(const bb_dataset *rows,
                                           const unsigned char *fold, bb_loss loss,
                                           bb_ridge_columns columns, size_t penalties,
                                           const double *penalty,
                                           const bb_engine *engine, double *error);

/* One way and one penalty for all tasks, each learning alone: those with the least such
 * error, of the ways given, 1e-4, 1e-3, ..., 1e6, and half decades around the best.
 * BB_EINTERRUPTED if *stop (may be NULL) was set. */
BB_MUST_CHECK bb_status bb_crossval_ridge(const bb_dataset *rows,
                                          const unsigned char *fold, bb_loss loss,
                                          size_t forms, const bb_ridge_columns *columns,
                                          const bb_engine *engine,
                                          const volatile sig_atomic_t *stop,
                                          bb_ridge *best);

/* Every task's model, for the rows as read: weight tasks x features, intercept tasks. A
 * task without rows gets zeros. */
BB_MUST_CHECK bb_status bb_ridge_fit(const bb_dataset *rows, bb_loss loss,
                                     bb_ridge_columns columns, double penalty,
                                     const bb_engine *engine, double *weight,
                                     double *intercept);

#endif
