/* synth_labels.h - synthetic worlds of classes and of lists of labels.
 *
 *   classes: rows are Gaussian with norm 1. The class is that of a softmax model with
 *            the scores 5 x.(s_c + t_ic / 2), s and t with N(0, 1) in every entry: s is
 *            shared by the tasks, t_i is task i's own.
 *   lists:   rows have 20 ones (or as many as there are features) at random places.
 *            Each label has a few features, the same for all tasks but for one in five,
 *            which a task draws anew; so many that a row has one of them for about
 * three labels. 19 of 20 such labels are given, and one in 500 of the others. Task i
 * depends only on (seed, i) and the sizes, as in synth.h. */
#ifndef BB_DATA_SYNTH_LABELS_H
#define BB_DATA_SYNTH_LABELS_H

#include "data/dataset.h"

typedef struct bb_label_world {
    bool lists;
    size_t tasks, samples, features, labels; /* or classes */
    uint64_t seed;
} bb_label_world;

/* *train gets `samples` rows a task, *test BB_SYNTH_TEST times as many; dense rows with
 * classes, sparse ones with lists. Names are 1, 2, ... and x1, x2, ... BB_EUSAGE if a
 * size is 0 or too large. */
BB_MUST_CHECK bb_status bb_synth_labels(const bb_label_world *world, bb_dataset *train,
                                        bb_dataset *test);

#endif
