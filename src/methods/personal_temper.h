/* personal_temper.h - inside the fit at home: probabilities that are as sure as a task's rows
 * allow. An average of fits is as sure as if it were known to be right, which five to fifteen
 * rows do not make it. */
#ifndef BB_METHODS_PERSONAL_TEMPER_H
#define BB_METHODS_PERSONAL_TEMPER_H

#include "methods/personal_logistic.h"

/* w (d) <- slope * w, and another level for the constant if there is one, so that they are
 * nearest to what the posterior predictive distribution says of the rows, sigma(eta / sqrt(1 + pi
 * v / 8)) with v the variance of a row's prediction eta (MacKay 1992, The evidence framework
 * applied to classification networks; here by Laplace's approximation at w with this penalty).
 * The slope is between 0 and 1, so the order of a task's predictions stays as it is. Where
 * numbers are too large w stays. fits: open, of the task. p: n doubles. */
void bb_personal_temper(bb_logistic_fits *fits, double weight, double *w, double *p);

#endif
