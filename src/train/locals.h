/* locals.h - the tasks' own problems, opened and solved in parallel. */
#ifndef BB_TRAIN_LOCALS_H
#define BB_TRAIN_LOCALS_H

#include "core/run.h"
#include "data/dataset.h"

#include <stdbool.h>

/* What every task's problem is; scale_sum: sum in place of mean over rows. */
typedef struct bb_problem {
    bb_loss loss;
    bool intercept, scale_sum;
} bb_problem;

/* One bb_local for each task of `data`, whose rows they borrow. Free with
 * bb_locals_close. */
BB_MUST_CHECK bb_status bb_locals_open(bb_local **out, const bb_dataset *data,
                                       bb_problem problem, const bb_engine *engine);
/* The same for models with several outputs, and networks (NULL: linear), which are
 * borrowed. */
BB_MUST_CHECK bb_status bb_locals_open_outputs(bb_local **out, const bb_dataset *data,
                                               bb_problem problem, size_t outputs,
                                               const struct bb_net *net,
                                               const bb_engine *engine);
void bb_locals_close(bb_local *local, size_t tasks);

#endif
