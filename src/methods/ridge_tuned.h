/* ridge_tuned.h - one task's ridge model as it would tune it alone, by rows that are left out:
 * of columns in units of its own deviations around a level that is free and, where it knows
 * how rows were read, of columns as they were around zero, the level one more slope (what is
 * proportional to columns, or a sum of some, is so). The squared loss; local, and free. */
#ifndef BB_METHODS_RIDGE_TUNED_H
#define BB_METHODS_RIDGE_TUNED_H

#include "learners/local.h"

/* Whether the task can: it needs dense rows, four of them, or two where it knows how they were
 * read, and a constant, which is not 0, for its last column. */
bool bb_ridge_tuned_fits(const bb_local *local);
/* w (d) <- that model, for the rows as they are. Each way has one penalty beside the sum of
 * squares, 10^u times what a row has on average for the sum of its squares, u in steps of a
 * half: where S = n ln E + (u - v)^2 / s^2 is least, E the mean square by which rows that are
 * left out are missed (Allen 1974; means and deviations are those of all rows) and the rest
 * a normal belief about u (v = .3, s = 1; as read -2 and 3, and S is 4 more). The ways are
 * averaged by exp(-S / 2). A column that does not vary gets no slope around a free level.
 * least (d - 1; NULL: none): of a column's deviation (personal_units.h).
 * *missed <- the average's E by that of the mean of the other rows, at most 1. O(n d min(n,
 * d)). work: bb_ridge_tuned_work doubles. BB_ENUMERIC if numbers overflow. */
size_t bb_ridge_tuned_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_ridge_tuned(const bb_local *local, const double *least,
                                       double *w, double *missed, double *work);

#endif
