/* split.h - training and test rows inside every task. */
#ifndef BB_DATA_SPLIT_H
#define BB_DATA_SPLIT_H

#include "data/dataset.h"

/* Divides the rows of every task with rows: max(1, fraction * n rounded to the nearest
 * whole number, halves to the even one) random rows train, the others test. Both parts
 * have all tasks, and rows in the order of `data`. Which rows of a task train depends
 * only on (seed, its name, n). 0 < fraction <= 1, else BB_EUSAGE. `untested`, if not NULL,
 * gets the number of tasks that have training rows but no test rows. */
BB_MUST_CHECK bb_status bb_split(const bb_dataset *data, double fraction, uint64_t seed,
                                 bb_dataset *train, bb_dataset *test, size_t *untested);

#endif
