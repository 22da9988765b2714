/* personal_squared.h - the squared loss of personal.h. */
#ifndef BB_METHODS_PERSONAL_SQUARED_H
#define BB_METHODS_PERSONAL_SQUARED_H

#include "methods/ridge_path.h"

#include <stdbool.h>

/* What a fit at home knows beside its rows. */
typedef struct bb_personal_public {
    const double *centre;      /* d; NULL: none */
    const bb_covariance *told; /* of trace d; NULL: none */
    bool constant;             /* the last column is one, which may be freer */
} bb_personal_public;

/* bb_personal_model or bb_personal_under, and their work, for a task with rows; its
 * intercept, if it has one of its own, is the best for the model. */
size_t bb_personal_squared_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_personal_squared(const bb_local *local,
                                            const bb_personal_public *known,
                                            double *model, double *work);

#endif
