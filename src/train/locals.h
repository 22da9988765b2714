/* locals.h - the tasks' own problems, opened and solved in parallel. */
#ifndef BB_TRAIN_LOCALS_H
#define BB_TRAIN_LOCALS_H

#include "core/run.h"
#include "data/dataset.h"

/* Where they are, and what they compute of their rows. */
typedef struct bb_locals_room {
    bb_map local_at, number_at;
    double *number;
    size_t *first; /* tasks + 1: where in number a task's begin */
} bb_locals_room;

/* One bb_local for each task of `data`, whose rows they borrow: of pub's loss, outputs,
 * intercept and scale_sum.
 * room: to be given back to bb_locals_close, in files where memory is bounded (data->memory);
 * NULL: each task has its own, in memory.
 * net: which network, borrowed; NULL for linear models.
 * curvature: with their `lipschitz` (bb_local_open_exact). */
BB_MUST_CHECK bb_status bb_locals_open(bb_local **out, bb_locals_room *room,
                                       const bb_dataset *data, const bb_public *pub,
                                       const struct bb_net *net, bool curvature,
                                       const bb_engine *engine);
void bb_locals_close(bb_local *local, bb_locals_room *room, size_t tasks);
/* A pass has come behind task `to` - 1: bb_map_passed. */
void bb_locals_passed(const bb_locals_room *room, const bb_local *local, size_t from,
                      size_t to);

#endif
