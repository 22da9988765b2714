/* centred.h - the mixed model's stand-in where targets are classes, without privacy: a
 * model of all rows, from which every task's own one deviates as far as its rows insist.
 *
 *     w_i = argmin  sum of task i's log losses + penalty/2 (||v||^2 + ratio b^2),
 *     (v, b) = w_i - centre: slopes of columns standardised by all rows, and intercept
 *
 * which is the mode of a logistic mixed model's random effects with variances 1/penalty
 * and 1/(ratio penalty), given its fixed effects; the two numbers are chosen by
 * cross-validation instead of a likelihood. For the operator only (docs/methods/stl.md).
 */
#ifndef BB_TRAIN_CENTRED_H
#define BB_TRAIN_CENTRED_H

#include "train/crossval.h"

typedef struct bb_centred {
    double penalty, ratio;
    bool edge; /* the penalty is the least or the largest that was tried */
} bb_centred;

/* Chooses among 1e-2, 1e-1, ..., 1e5 and half decades around the best, and ratios 1 and
 * .1, by the held-out rows' log loss, folds as for every task alone; then weight (tasks x
 * features x outputs) and intercept (tasks x outputs) for the features as read. `centre`:
 * the penalty of the model of all rows, on slopes alone. crossval->rows: all tasks' rows,
 * labels -1 and +1, or classes (softmax). BB_ENUMERIC, BB_ENOMEM, BB_EINTERRUPTED. The
 * same for any number of workers. */
BB_MUST_CHECK bb_status bb_centred_fit(const bb_crossval *crossval, double centre,
                                       bb_centred *out, double *weight,
                                       double *intercept);

#endif
