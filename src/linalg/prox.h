/* prox.h - proximal operators prox_{theta R}(V) = argmin_W 1/2 ||W - V||_F^2 + theta
 * R(W). All matrices are m x p row-major, one task per row (the papers' W transposed).
 * theta >= 0. BB_ENUMERIC, and W unchanged, if W is not finite (or its squares are
 * not). */
#ifndef BB_LINALG_PROX_H
#define BB_LINALG_PROX_H

#include "base/status.h"

#include <stddef.h>

/* Soft threshold of one number. */
double bb_soft(double value, double theta);
/* In place: R = sum of |w_k| (Tibshirani 1996). */
void bb_prox_l1(size_t n, double *w, double theta);
/* In place: R = sum over the p features of the norm of their column (Liu, Ji, Ye 2009).
 */
BB_MUST_CHECK bb_status bb_prox_l21(size_t m, size_t p, double *w, double theta);
/* In place: R = sum of singular values (Ji, Ye 2009), through the eigenproblem of the
 * smaller of W'W and WW'. */
BB_MUST_CHECK bb_status bb_prox_trace(size_t m, size_t p, double *w, double theta);

#endif
