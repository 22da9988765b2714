/* write.h - data sets to CSV and LIBSVM. */
#ifndef BB_DATA_WRITE_H
#define BB_DATA_WRITE_H

#include "data/dataset.h"

/* Writes a dense data set with the columns task, y (or the target's name) and the
 * features, numbers with 17 digits: bb_read gives back the same bits. Whole or not at
 * all. */
BB_MUST_CHECK bb_status bb_write_csv(const bb_dataset *data, const char *path);

/* Writes a sparse data set, whose targets may be lists of labels, in the same way.
 * BB_EUSAGE if a task's name is empty or has a space, tab, line end or #. */
BB_MUST_CHECK bb_status bb_write_libsvm(const bb_dataset *data, const char *path);

#endif
