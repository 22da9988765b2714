/* locals.h - the tasks' own problems, opened and solved in parallel. */
#ifndef BB_TRAIN_LOCALS_H
#define BB_TRAIN_LOCALS_H

#include "core/run.h"
#include "data/dataset.h"

/* One bb_local for each task of `data`, whose rows they borrow: of pub's loss, outputs,
 * intercept and scale_sum; net: which network, borrowed, NULL for linear models. Free
 * with bb_locals_close. */
BB_MUST_CHECK bb_status bb_locals_open(bb_local **out, const bb_dataset *data,
                                       const bb_public *pub, const struct bb_net *net,
                                       const bb_engine *engine);
void bb_locals_close(bb_local *local, size_t tasks);

#endif
