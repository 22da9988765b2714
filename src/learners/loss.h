/* loss.h - the losses that models are learned with, and what is true of each. The
 * formulas are in local.h. */
#ifndef BB_LEARNERS_LOSS_H
#define BB_LEARNERS_LOSS_H

#include <stdbool.h>

typedef enum bb_loss {
    BB_LOSS_SQUARED,
    BB_LOSS_LOGISTIC,
    BB_LOSS_SOFTMAX,
    BB_LOSS_MULTILABEL
} bb_loss;

/* "squared", "logistic", "softmax", "multilabel", and back. */
const char *bb_loss_name(bb_loss loss);
bool bb_loss_find(const char *name, bb_loss *loss);
/* Squared and logistic: a row has one output, and one number as its target. */
bool bb_loss_is_single(bb_loss loss);
/* Linear models of one output: those for which there are exact solvers. */
bool bb_loss_is_solved(bb_loss loss, bool network);
/* The one metric that tasks are summed up and compared by: "nmse", "auc", "accuracy",
 * "f1". */
const char *bb_loss_metric(bb_loss loss);

#endif
