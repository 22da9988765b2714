/* baseline.h - what can be had without the run: every task alone, one model for all,
 * and no learning at all. They look at everything, and are for the operator only
 * (docs/methods/stl.md). */
#ifndef BB_TRAIN_BASELINE_H
#define BB_TRAIN_BASELINE_H

#include "eval/assess.h"
#include "train/crossval.h"
#include "train/report.h"

typedef struct bb_baseline_rows {
    const bb_dataset *train,
        *test; /* as read (networks: as they look at them), the same
                                       tasks */
    bb_learnt what;
    uint64_t seed; /* of the folds */
    const bb_engine *engine;
    const atomic_int *stop;
} bb_baseline_rows;

/* What each task's linear model says of its test rows, or (pooled) one of all rows, which
 * is standardised by their means and deviations, with the intercept free; sparse rows are
 * not. The penalty and what is done to rows is chosen by bb_crossval_ridge. Networks: what
 * bb_crossval_network chooses. Fills all of *figures but the gain, and *test. BB_ENUMERIC
 * where predictions are not finite; BB_EINTERRUPTED; errors of those two. */
BB_MUST_CHECK bb_status bb_baseline_learnt(const bb_baseline_rows *rows, bool pooled,
                                           bb_baseline *figures, bb_assessed *test);
/* The same, alone, where each task chooses its own way and penalty (1e-4, 1e-3, ..., 1e6)
 * by its own held-out rows: what it could do without the others' rows. The one that
 * penalises most, where held-out rows do not decide. Losses of one output, and where five
 * folds are not too much work (bb_crossval_count): else figures->there stays false. */
BB_MUST_CHECK bb_status bb_baseline_own(const bb_baseline_rows *rows,
                                        bb_baseline *figures, bb_assessed *test);
/* What a statistician would do who may see all rows: a linear mixed model (bb_mixed_fit),
 * or with classes models around one of all rows (bb_centred_fit), whose penalty is that
 * of `pooled`. Fills figures and *test as above. */
BB_MUST_CHECK bb_status bb_baseline_mixed(const bb_baseline_rows *rows,
                                          const bb_baseline *pooled,
                                          bb_baseline *figures, bb_assessed *test);
/* Whether there is one: squared, logistic and (dense rows) softmax losses of linear
 * models, at most BB_MIXED_FEATURES features. */
bool bb_baseline_has_mixed(const bb_baseline_rows *rows);
/* The mean target of all training rows, or (own) of each task's: where it has none, of
 * all. Squared loss; fills there, test and *test. */
BB_MUST_CHECK bb_status bb_baseline_mean(const bb_baseline_rows *rows, bool own,
                                         bb_baseline *figures, bb_assessed *test);

/* What linear models of one output reach on the test rows, their predictions limited with the
 * squared loss by each task's own rows (models/limits.h). train, other: rows->train and
 * rows->test as the models have them, by task or as those of one; apart: each model is of one
 * task's rows and nothing else, and its limits are the narrow ones, since it does not know what
 * others have seen; weight: train->tasks x features. */
BB_MUST_CHECK bb_status bb_baseline_assess(const bb_baseline_rows *rows,
                                           const bb_dataset *train,
                                           const bb_dataset *other, bool apart,
                                           const double *weight,
                                           const double *intercept, bb_assessed *test);

/* BB_ENUMERIC where models predicted something that is not finite. */
BB_MUST_CHECK bb_status bb_assessed_check(const bb_assessed *assessed);

#endif
