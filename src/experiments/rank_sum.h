/* rank_sum.h - Mann, Whitney and Wilcoxon's test of two samples. */
#ifndef BB_EXPERIMENTS_RANK_SUM_H
#define BB_EXPERIMENTS_RANK_SUM_H

#include "base/status.h"

#include <stddef.h>

/* *p: how likely the ranks of b's m values would be at least as low among a's n as they are
 * if both were drawn alike: small where b is smaller (one-sided; Mann, Whitney 1947). Exact
 * without ties up to 50 values, else the normal approximation with corrections for ties and
 * continuity. NAN: a sample is empty, or all values are the same. */
BB_MUST_CHECK bb_status bb_rank_sum(const double *a, size_t n, const double *b,
                                    size_t m, double *p);

#endif
