/* clusters.h - public groups of tasks, from a column of the data. */
#ifndef BB_TRAIN_CLUSTERS_H
#define BB_TRAIN_CLUSTERS_H

#include "train/dealt.h"

/* Takes the column out of the features: *cluster (tasks of all ranks, free with free())
 * gets each task's group, and *clusters how many there are. known > 0: so many, and the
 * column has their numbers, from 0; 0: those of the data, in ascending order of the
 * column's values, which any row can change: not for private runs. BB_EUSAGE if there is
 * no such column; BB_EDATA, with the place, where rows of one task differ in it, or a
 * value is no number of a group. A task without rows is in group 0. */
BB_MUST_CHECK bb_status bb_clusters_take(bb_dataset *data, const char *column,
                                         size_t known, const bb_dealt *dealt,
                                         uint32_t **cluster, size_t *clusters);
/* Takes it out if it is there. */
BB_MUST_CHECK bb_status bb_clusters_drop(bb_dataset *data, const char *column);

#endif
