/* prox.h - proximal operators prox_{theta R}(v) = argmin_w 1/2 ||w - v||^2 + theta R(w),
 * theta >= 0. */
#ifndef BB_LINALG_PROX_H
#define BB_LINALG_PROX_H

#include <stddef.h>

/* Soft threshold of one number. */
double bb_soft(double value, double theta);
/* In place: R = sum of |w_k| (Tibshirani 1996). */
void bb_prox_l1(size_t n, double *w, double theta);

#endif
