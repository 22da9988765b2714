/* run_ranks_inside.h - the parts of the driver of ranks: turns (run_ranks.c), what is kept of
 * them (run_ranks_keep.c), the result (run_ranks_result.c). */
#ifndef BB_CORE_RUN_RANKS_INSIDE_H
#define BB_CORE_RUN_RANKS_INSIDE_H

#include "core/curator.h"
#include "core/run_ranks.h"
#include "core/silo.h"

/* What rank 0 says with a turn. */
enum {
    BB_TURN_LAST = 1, /* there is no further one */
    BB_TURN_COPY = 2, /* keep what there is, before anything is done */
    BB_TURN_SEND = 4  /* and give it to rank 0 */
};

typedef struct bb_ranks_talk {
    const bb_run *run;
    bb_ranks *ranks;
    const bb_deal *deal;
    bb_curator *curator;                  /* rank 0 */
    bb_silo *silo;                        /* ranks with tasks */
    bb_writer *out;                       /* ranks: what goes to each */
    bb_message *send, *receive;           /* ranks */
    bool keeps;                           /* rank 0 has a keeper */
    uint32_t flags;                       /* of the turn, as above */
    bb_writer silo_kept;                  /* as it was when a turn began */
    bb_writer curator_kept, curator_next; /* rank 0: and before that; not yet told */
    bool unsaved;                         /* the keeper has not stored them */
} bb_ranks_talk;

/* How many tasks a rank has. */
static inline size_t bb_ranks_tasks(const bb_ranks_talk *t, size_t rank) {
    return t->deal->first[rank + 1] - t->deal->first[rank];
}

/* A frame behind its length. */
void bb_ranks_put_frame(bb_writer *out, bb_bytes frame);
bb_bytes bb_ranks_get_frame(bb_reader *in);
/* Frees what was received. */
void bb_ranks_forget(bb_ranks_talk *t);

/* Whether the run is kept, and every silo as it was, if it is gone on with. */
BB_MUST_CHECK bb_status bb_ranks_keep_begin(bb_ranks_talk *t);
/* Where the run could go on from, if rank 0 has said so with this turn. */
BB_MUST_CHECK bb_status bb_ranks_keep(bb_ranks_talk *t);
/* The last that is kept, of a run that has ended with this status. */
BB_MUST_CHECK bb_status bb_ranks_keep_end(bb_ranks_talk *t, bb_status status);

/* Everything of *result, on all ranks. */
BB_MUST_CHECK bb_status bb_ranks_collect(const bb_ranks_talk *t, bb_status status,
                                         bb_result *result);

#endif
