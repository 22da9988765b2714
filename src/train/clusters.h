/* clusters.h - public groups of tasks, from a column of the data. */
#ifndef BB_TRAIN_CLUSTERS_H
#define BB_TRAIN_CLUSTERS_H

#include "data/dataset.h"

/* Takes the column out of the features: *cluster (data->tasks, free with free()) gets
 * each task's group, 0, 1, ... in ascending order of the column's values, and *clusters
 * how many there are. BB_EUSAGE if there is no such column; BB_EDATA, with the place,
 * where rows of one task differ in it. A task without rows is in group 0. */
BB_MUST_CHECK bb_status bb_clusters_take(bb_dataset *data, const char *column,
                                         uint32_t **cluster, size_t *clusters);
/* Takes it out if it is there. */
BB_MUST_CHECK bb_status bb_clusters_drop(bb_dataset *data, const char *column);

#endif
