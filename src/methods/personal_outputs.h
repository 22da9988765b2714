/* personal_outputs.h - the softmax loss of personal.h: linear models of several outputs,
 * the last feature a constant column. */
#ifndef BB_METHODS_PERSONAL_OUTPUTS_H
#define BB_METHODS_PERSONAL_OUTPUTS_H

#include "methods/personal_squared.h"

/* The minimum of the summed loss plus weight/2 ||W - centre||^2 (local->length; centre
 * NULL: 0), the constant's weights like the others. work:
 * bb_local_ridge_outputs_work doubles. */
void bb_personal_outputs_fit(const bb_local *local, double weight, const double *centre,
                             double *w, double *work);

/* bb_personal_around and its work, for a task with rows. */
size_t bb_personal_outputs_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_personal_outputs(const bb_local *local,
                                            const bb_personal_public *known,
                                            double odds, double *model, double *work);
/* bb_personal_label_evidence, likewise: what fits count by at home, of three rows or more. */
BB_MUST_CHECK bb_status bb_personal_outputs_evidence(const bb_local *local,
                                                     const bb_personal_public *known,
                                                     double *evidence, double *work);

#endif
