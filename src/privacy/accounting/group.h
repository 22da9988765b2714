/* group.h - what a promise for single rows means for all rows of a task. */
#ifndef BB_PRIVACY_GROUP_H
#define BB_PRIVACY_GROUP_H

#include <stddef.h>

/* Group privacy (Vadhan 2017, lemma 2.2; proposition 3 of Liang et al. 2020 rounds it
 * up): what is (epsilon, delta)-DP for one row is, for `rows` rows at once,
 * (rows epsilon, delta')-DP with delta' = delta sum_{j < rows} exp(j epsilon). Here the
 * other way: the largest promise for one row, both numbers rounded down, that means
 * (epsilon, delta) for `rows` >= 1 rows. row_delta underflows to 0 for epsilon in the
 * hundreds: then only what is pure can keep it. epsilon > 0, delta >= 0. */
void bb_group_rows(size_t rows, double epsilon, double delta, double *row_epsilon,
                   double *row_delta);

#endif
