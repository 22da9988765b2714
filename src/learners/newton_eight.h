/* newton_eight.h - eight logistic fits of the same rows at once: what one task asks its rows
 * differs in penalty, in centre, and in how free a constant is. */
#ifndef BB_LEARNERS_NEWTON_EIGHT_H
#define BB_LEARNERS_NEWTON_EIGHT_H

#include "linalg/eight.h"

#include <stdbool.h>
#include <stddef.h>

/* With e.a zero; K, y, more, lambda and offset are the caller's. work: bb_newton_eight_work(n)
 * doubles, which are kept. */
size_t bb_newton_eight_work(size_t n);
bb_eight bb_newton_eight_open(size_t n, double *work);

/* Minimises the eight problems from e->a on to machine precision, each as
 * bb_local_ridge_kernel would: e->a; value (8), the minima; log_det (8), of eight.h there.
 * False where one of them gets nowhere, which is rare: then the numbers of
 * all eight mean nothing. */
bool bb_newton_eight(bb_eight *e, double *value, double *log_det);

#endif
