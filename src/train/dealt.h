/* dealt.h - rows that are read by several ranks, each a part of them, and dealt out: a rank
 * ends up with all rows of its own tasks, in the order of the file, and with none of other
 * tasks. */
#ifndef BB_TRAIN_DEALT_H
#define BB_TRAIN_DEALT_H

#include "core/run_ranks.h"
#include "train/source.h"

/* With ranks NULL nothing is dealt, and the functions below change nothing. */
typedef struct bb_dealt {
    bb_ranks *ranks;
    bool grid;        /* any task may be anywhere */
    size_t chunks;    /* off the grid: that tasks are dealt in; 0: not known yet */
    size_t tasks;     /* of all ranks */
    char **task_name; /* tasks */
    size_t *first;    /* ranks + 1: bb_deal */
} bb_dealt;

void bb_dealt_close(bb_dealt *dealt); /* but for ranks and grid */

/* The first own task, and how many there are; `own` without ranks. */
size_t bb_dealt_from(const bb_dealt *dealt);
size_t bb_dealt_tasks(const bb_dealt *dealt, size_t own);

/* Every rank reads its part: of a CSV file whose rows end where lines do (data/slice.h) its
 * share of the bytes; of everything else rank 0 all, and the others nothing. BB_EDATA,
 * with the place, where the lowest rank finds something wrong. Without ranks
 * bb_source_read. */
BB_MUST_CHECK bb_status bb_dealt_read(const bb_dealt *dealt, const bb_source *source,
                                      const bb_read_options *options, bb_dataset *part);
/* *value <- the largest that any rank has; the smallest. Statuses: base/ranks.h. */
BB_MUST_CHECK bb_status bb_dealt_most(const bb_dealt *dealt, bb_status status,
                                      size_t *value);
BB_MUST_CHECK bb_status bb_dealt_least(const bb_dealt *dealt, bb_status status,
                                       size_t *value);
/* *value <- the sum over the ranks. */
BB_MUST_CHECK bb_status bb_dealt_sum(const bb_dealt *dealt, bb_status status,
                                     size_t *value);

/* From what every rank has read to the rows of its own tasks. The first data set decides
 * who has which tasks, all later ones follow it: their tasks must be among its. *rows
 * becomes the rank's own. BB_EDATA: no rows at all, or a task that is not known. */
BB_MUST_CHECK bb_status bb_dealt_exchange(bb_dealt *dealt, bb_status status,
                                          bb_dataset *rows);

#endif
