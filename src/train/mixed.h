/* mixed.h - what a statistician would do who may see all rows: a mixed model, with
 * effects that are common to all tasks (fixed) and deviations of each task from them
 * (random), without privacy. For the operator only (docs/methods/stl.md). */
#ifndef BB_TRAIN_MIXED_H
#define BB_TRAIN_MIXED_H

#include "base/parallel.h"
#include "data/dataset.h"

#include <stdatomic.h>

/* What varies between tasks: covariance matrices of the random effects of the columns,
 * which are standardised by all rows. */
typedef enum bb_mixed_form {
    BB_MIXED_INTERCEPT, /* the intercept */
    BB_MIXED_EQUAL,     /* and the slopes, independent, with one variance */
    BB_MIXED_DIAGONAL,  /* and with a variance each */
    BB_MIXED_FULL       /* any covariance */
} bb_mixed_form;
enum { BB_MIXED_FORMS = 4 };

/* "random-intercept", "equal-slopes", "independent-slopes", "correlated-slopes". */
const char *bb_mixed_form_name(bb_mixed_form form);

typedef struct bb_mixed {
    bb_mixed_form form;
    double deviance;  /* -2 log restricted likelihood of the targets, given the
                         standardised columns; infinite: not tried */
    double residual;  /* standard deviations, in the target's unit: of e, */
    double intercept; /* and of the random intercept, where columns have their means */
    double icc;       /* intercept^2 / (intercept^2 + residual^2) */
} bb_mixed;

enum { BB_MIXED_FEATURES = 1000 }; /* with more, nobody should ask */

/* y_i = X_i (beta + b_i) + e_i by restricted maximum likelihood, and the tasks'
 * predictions (BLUP) beta + b_i as models of the features as read: weight tasks x
 * features, intercept tasks. Features that are linear in others are left out. Of the forms
 * that the sizes allow, that with the least AIC, deviance + 2 parameters: slopes where
 * all forms' values cost less than 4e11 multiplications (reml.h; 40 values of one form, 150
 * of the last), the last form for up to 40 columns
 * and at least 8 tasks a column. tried: BB_MIXED_FORMS of them, or NULL.
 * BB_EDATA without more rows than columns; BB_ENUMERIC where targets do not vary;
 * BB_EINTERRUPTED. The same for any number of workers. */
BB_MUST_CHECK bb_status bb_mixed_fit(const bb_dataset *rows, const bb_engine *engine,
                                     const atomic_int *stop, bb_mixed *out,
                                     bb_mixed *tried, double *weight,
                                     double *intercept);

#endif
