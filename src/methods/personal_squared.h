/* personal_squared.h - the squared loss of personal.h. */
#ifndef BB_METHODS_PERSONAL_SQUARED_H
#define BB_METHODS_PERSONAL_SQUARED_H

#include "core/method.h"
#include "methods/ridge_path.h"

#include <stdbool.h>

/* What a fit at home knows beside its rows. */
typedef struct bb_personal_public {
    const double *centre;      /* d; NULL: none */
    const bb_covariance *told; /* of trace d; NULL: none */
    bool constant;             /* the last column is one, which may be freer */
    bool unranged;             /* columns and target have no ranges */
    const double
        *odds; /* log odds of candidates by the tasks' vote, BB_PERSONAL_CELLS or,
                           of classes, BB_PERSONAL_LABEL_CELLS; NULL: there was none */
} bb_personal_public;

/* What all tasks know before anything is published. */
bb_personal_public bb_personal_known(const bb_public *pub);

/* Candidates that tasks vote on: six ways to look at rows, around zero and around a
 * centre, each with five penalties, a decade apart. */
enum { BB_PERSONAL_CELLS = 60, BB_PERSONAL_OWN_CELLS = 25 }; /* around zero, at most */
/* is (BB_PERSONAL_CELLS) <- which of them tasks have that know this. */
void bb_personal_squared_cells(size_t d, const bb_personal_public *known, bool *is);
/* evidence (BB_PERSONAL_CELLS) <- what a task's rows alone say of each, a logarithm;
 * -INFINITY: no candidate. work as below. BB_ENUMERIC. */
BB_MUST_CHECK bb_status bb_personal_squared_evidence(const bb_local *local,
                                                     const bb_personal_public *known,
                                                     double *evidence, double *work);

/* bb_personal_model or bb_personal_under, and their work, for a task with rows; its
 * intercept, if it has one of its own, is the best for the model. Where there is a constant
 * column and nothing else is known, the model is that of bb_mixed_alone. */
size_t bb_personal_squared_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_personal_squared(const bb_local *local,
                                            const bb_personal_public *known,
                                            double *model, double *work);

#endif
