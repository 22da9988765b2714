/* ridge_tuned.h - one task's ridge model as it would tune it alone: slopes of columns in units
 * of its own deviations, a level that is free, one penalty by rows that are left out. The
 * squared loss; local, and free. */
#ifndef BB_METHODS_RIDGE_TUNED_H
#define BB_METHODS_RIDGE_TUNED_H

#include "learners/local.h"

/* Whether the task can: it needs dense rows, four of them, and a constant, which is not 0, for
 * its last column. */
bool bb_ridge_tuned_fits(const bb_local *local);
/* w (d) <- that model, for the rows as they are. The penalty, beside the sum of squares, is
 * 10^u times how many columns vary, u = -3, -2.5, ..., 3: where n ln E + (u - 0.3)^2 is
 * least, E the sum of squares by which rows that are left out are missed (Allen 1974; means
 * and deviations are those of all rows) and the rest a normal belief about u. A column that
 * does not vary gets no slope. O(n d min(n, d)). work: bb_ridge_tuned_work doubles.
 * BB_ENUMERIC if numbers overflow. */
size_t bb_ridge_tuned_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_ridge_tuned(const bb_local *local, double *w, double *work);

#endif
