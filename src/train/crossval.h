/* crossval.h - models as good as rows allow, for those who hold all of them:
 * every task alone, or one model for all.
 *
 * They start from the rows as they were read, not as methods see them, and look at all
 * tasks' rows at once: fair opponents for an evaluation, never a part of a private run
 * (docs/methods/stl.md). */
#ifndef BB_TRAIN_CROSSVAL_H
#define BB_TRAIN_CROSSVAL_H

#include "train/locals.h"

#include <stdatomic.h>

enum { BB_CROSSVAL_FOLDS = 5 };

/* What is done to a task's rows before its penalty is looked for. */
typedef enum bb_ridge_columns {
    BB_COLUMNS_STANDARDIZED, /* by the task's own means and deviations; dense rows */
    BB_COLUMNS_AS_READ,
    BB_COLUMNS_FROM_ZERO /* as read, and the intercept is penalised like a weight */
} bb_ridge_columns;

/* Of one row that was predicted as p: the squared error, or with y = -1 or +1 the log
 * loss. */
double bb_row_loss(bb_loss loss, double y, double p);

/* What held-out rows of all tasks say: less is better, and `loss` decides where errors
 * are equal. */
typedef struct bb_held_out {
    double error; /* 1 - accuracy (softmax) or F1 (multilabel); else the loss */
    double loss;  /* squared error or log loss, summed */
} bb_held_out;

/* Minimises the sum over a task's rows of the loss (learners/local.h, s = 1) plus
 * penalty/2 ||w||^2. */
typedef struct bb_ridge {
    bb_ridge_columns columns;
    double penalty;
    bb_held_out held_out;
    bool edge; /* the penalty is the least or the largest that was tried */
} bb_ridge;

/* What is learned from rows. */
typedef struct bb_learnt {
    bb_loss loss;
    size_t outputs;
    const struct bb_net *net; /* NULL: linear models */
    const double *start;      /* where networks start */
} bb_learnt;

/* Which of the folds row j of the data is held out in: the rows of each task are
 * shuffled by the stream (seed, its name) and dealt out in turn, so a task with fewer rows
 * than folds is held out in fewer, and a task of one row never is (255). `singles': for
 * what is learned from all tasks' rows together, these rows are dealt out, too. */
BB_MUST_CHECK bb_status bb_crossval_folds(const bb_dataset *data, uint64_t seed,
                                          bool singles, unsigned char *fold);

typedef struct bb_crossval {
    const bb_dataset *rows;    /* as read; networks: as they look at them */
    const unsigned char *fold; /* rows */
    bb_learnt what;
    uint64_t seed; /* of the order of rows in networks' steps */
    const bb_engine *engine;
    const atomic_int *stop; /* may be NULL */
} bb_crossval;

/* How many of the folds are used: one where a fit to all rows takes more than 1e9
 * multiplications. */
unsigned bb_crossval_count(const bb_crossval *crossval);

/* held_out[k] <- what the rows say that were held out, with penalty[k]. The same for any
 * number of workers. */
BB_MUST_CHECK bb_status bb_crossval_errors(const bb_crossval *crossval,
                                           bb_ridge_columns columns, size_t penalties,
                                           const double *penalty,
                                           bb_held_out *held_out);

/* error (tasks x penalties) <- the same of every task's own held-out rows; squared and
 * logistic losses. */
BB_MUST_CHECK bb_status bb_crossval_tasks(const bb_crossval *crossval,
                                          bb_ridge_columns columns, size_t penalties,
                                          const double *penalty, double *error);

/* One way and one penalty for all tasks, each learning alone: those with the least
 * error, of the ways given, 1e-4, 1e-3, ..., 1e6, and half decades around the best. With
 * several outputs penalties below 1 are tried only where 1 is the best of those from 1
 * on, for the same way. BB_EINTERRUPTED if *stop was set. */
BB_MUST_CHECK bb_status bb_crossval_ridge(const bb_crossval *crossval, size_t forms,
                                          const bb_ridge_columns *columns,
                                          bb_ridge *best);

/* How networks descend: steps over BB_TRIAL_BATCH rows, without momentum or penalty. */
enum { BB_TRIAL_BATCH = 10 };
typedef struct bb_recipe {
    double rate;
    uint64_t epochs;
    bb_held_out held_out;
    bool edge; /* the most epochs that were tried */
} bb_recipe;

/* One rate of .03 and .1, and one number of 5, 10, 20 and 40 epochs for all tasks:
 * those with the least error on the first fold, learning from the others.
 * BB_EINTERRUPTED. */
BB_MUST_CHECK bb_status bb_crossval_network(const bb_crossval *crossval,
                                            bb_recipe *best);

/* Every task's model, for the rows as read: weight tasks x features, intercept tasks. A
 * task without rows gets zeros. */
BB_MUST_CHECK bb_status bb_ridge_fit(const bb_dataset *rows, bb_loss loss,
                                     bb_ridge_columns columns, double penalty,
                                     const bb_engine *engine, double *weight,
                                     double *intercept);

#endif
