/* synth.h - the synthetic worlds of the model-protected multi-task learning paper, and one
 * for its algorithm 4.
 *
 * Rows are Gaussian with norm 1, targets y = x.w_i + N(0, 1).
 *   low-rank:     five blocks of identical tasks, w ~ N(0, 10.24^2) in every entry of a
 *                 block's model. The first four blocks have floor(75 tasks / 320) tasks
 *                 each and the fifth the rest: 75, 75, 75, 75, 20 of 320.
 *   outliers:     low-rank, and every entry of a task's model has with probability 1/20
 *                 something of its own added, uniform on [-50, -1] and [1, 50].
 *   anomaly:      w uniform on [0, 1], the last task's 100 times as large; no noise.
 *   group-sparse: four features (all, if there are fewer) that are drawn once matter to
 * all tasks, with weights uniform on [-50, -1] and [1, 50], drawn for each task. Task i
 * depends only on (seed, i) and the sizes, not on how many tasks or samples there are
 * elsewhere; test rows do not change the training rows. */
#ifndef BB_DATA_SYNTH_H
#define BB_DATA_SYNTH_H

#include "data/dataset.h"

typedef enum bb_world {
    BB_WORLD_LOW_RANK,
    BB_WORLD_GROUP_SPARSE,
    BB_WORLD_OUTLIERS,
    BB_WORLD_ANOMALY
} bb_world;

typedef struct bb_synth_options {
    bb_world world;
    size_t tasks, samples, features;
    uint64_t seed;
} bb_synth_options;

enum { BB_SYNTH_TEST = 9 }; /* test rows for one training row */

/* *train gets `samples` rows a task, *test BB_SYNTH_TEST times as many; model, if not
 * NULL, the tasks x features true weights. Names are 1, 2, ... and x1, x2, ...;
 * BB_EUSAGE if a size is 0 or too large. */
BB_MUST_CHECK bb_status bb_synth(const bb_synth_options *options, bb_dataset *train,
                                 bb_dataset *test, double *model);

/* The name of the test file beside a training file: W.csv -> W.test.csv (.svm and
 * .libsvm likewise), W -> W.test;
 * to be freed with free(). */
BB_MUST_CHECK bb_status bb_synth_test_name(char **out, const char *path);

#endif
