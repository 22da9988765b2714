/* personal_squared.h - the squared loss of personal.h. */
#ifndef BB_METHODS_PERSONAL_SQUARED_H
#define BB_METHODS_PERSONAL_SQUARED_H

#include "learners/local.h"

/* bb_personal_model and its work, for a task with rows. */
size_t bb_personal_squared_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_personal_squared(const bb_local *local, const double *centre,
                                            double *model, double *work);

#endif
