/* run_ranks.h - the driver of a run in several processes: rank 0 has the curator, and
 * every rank with tasks a silo. The same bytes as bb_run_train. */
#ifndef BB_CORE_RUN_RANKS_H
#define BB_CORE_RUN_RANKS_H

#include "base/ranks.h"
#include "core/run.h"

/* Which tasks each rank has: those from first[r] on, up to first[r + 1]. */
typedef struct bb_deal {
    const size_t *first; /* ranks + 1; first[0] = 0, first[ranks] = pub.tasks */
} bb_deal;

/* Deals tasks to ranks, so that the most rows that a rank has are few: first (ranks + 1)
 * <- whose tasks begin where, and the last ranks have none if there are too few. `rows`
 * (tasks) are of the operator's own data: whoever sees how tasks are dealt sees something
 * of them. Tasks of one chunk (bb_run_chunks) stay together. */
BB_MUST_CHECK bb_status bb_deal_rows(size_t tasks, const size_t *rows, size_t chunks,
                                     size_t ranks, size_t *first);
/* In how many chunks tasks can be dealt: *chunks <- tasks on the grid, where any task may
 * be anywhere, and else what bb_tally_chunks says for the plan of this run. `local` is not
 * looked at. Errors of planning. */
BB_MUST_CHECK bb_status bb_run_chunks(const bb_run *run, size_t *chunks);

/* Trains as bb_run_train, called by all ranks at once with their own tasks: run->local and
 * key are of those that `deal` gives this rank; ledger, observer and keeper are rank 0's,
 * but for observer.stop; what the keeper stores as its silo is of all ranks, and another
 * run of as many goes on from it. *result: first, model and intercept are of the own
 * tasks; `shared` and `shares` are everybody's, and all the rest (asked: of all tasks)
 * rank 0's. ranks NULL: bb_run_train. All ranks return the same. */
BB_MUST_CHECK bb_status bb_run_train_ranks(const bb_run *run, bb_ranks *ranks,
                                           const bb_deal *deal, bb_result *result);

#endif
