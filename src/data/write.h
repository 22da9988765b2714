/* write.h - data sets to CSV. */
#ifndef BB_DATA_WRITE_H
#define BB_DATA_WRITE_H

#include "data/dataset.h"

/* Writes a dense data set with the columns task, y (or the target's name) and the
 * features, numbers with 17 digits: bb_read gives back the same bits. Whole or not at
 * all. */
BB_MUST_CHECK bb_status bb_write_csv(const bb_dataset *data, const char *path);

#endif
