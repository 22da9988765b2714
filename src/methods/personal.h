/* personal.h - one task's own fit of a classification model around a public centre, and
 * whether it believes in that centre: local, and free. Linear models of one output, the
 * logistic loss, a constant column in place of an intercept. */
#ifndef BB_METHODS_PERSONAL_H
#define BB_METHODS_PERSONAL_H

#include "learners/local.h"

/* Weights of the penalty 1/2 ||w - centre||^2 beside the summed loss: of a task alone
 * (3/pi^2, one over the variance of the logistic law), and of its deviation from a
 * centre. */
#define BB_ALONE_WEIGHT     0.30396355092701331
#define BB_DEVIATION_WEIGHT 1.0

/* The minimum of the summed loss plus weight/2 ||w - centre||^2; centre NULL: 0. work:
 * bb_local_work. */
BB_MUST_CHECK bb_status bb_personal_fit(const bb_local *local, double weight,
                                        const double *centre, double *w, double *work);

/* The model that the task keeps: fitted around the centre (NULL: none was found, fitted
 * alone), unless the task has at least 30 rows and they speak against the centre: its
 * approximate leave-one-out loss (Rad, Maleki 2020) is worse than that of the model
 * alone by more than one standard error. Without rows: the centre, or zero. work:
 * bb_personal_work doubles. */
size_t bb_personal_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_personal_model(const bb_local *local, const double *centre,
                                          double *model, double *work);

#endif
