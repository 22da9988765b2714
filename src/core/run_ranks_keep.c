/* run_ranks_keep.c - a run of several ranks that is kept: where all of them are between two
 * rounds, stored by rank 0, and gone on with by as many. */
#include "core/run_ranks_inside.h"

#include <stdlib.h>

/* Rank 0 stores what all ranks have kept. */
static bb_status save(bb_ranks_talk *t, bb_status status) {
    const bb_keeper *keeper = t->run->keeper;
    bb_writer own = {0};
    bb_message all;
    bb_ranks_put_frame(&own, (bb_bytes){t->silo_kept.at, t->silo_kept.length});
    if (!status) status = own.status;
    status = bb_ranks_gather(t->ranks, status, own.at, own.length, &all);
    if (!status && t->ranks->number == 0)
        status = keeper->save(keeper->self,
                              (bb_bytes){t->curator_kept.at, t->curator_kept.length},
                              (bb_bytes){all.at, all.length});
    t->unsaved = false;
    bb_writer_close(&own);
    free(all.at);
    return status;
}

static bb_status copy(bb_ranks_talk *t) {
    const bb_writer before = t->curator_kept;
    t->curator_kept = t->curator_next;
    t->curator_next = before;
    t->silo_kept.length = 0;
    if (t->silo) bb_silo_save(t->silo, &t->silo_kept);
    t->unsaved = true;
    return t->silo_kept.status ? t->silo_kept.status : t->curator_kept.status;
}

/* Where the run could go on from, if rank 0 says so. */
bb_status bb_ranks_keep(bb_ranks_talk *t) {
    const bb_status status = t->flags & BB_TURN_COPY ? copy(t) : BB_OK;
    return t->flags & BB_TURN_SEND ? save(t, status) : status;
}

/* Rank 0: what it has to say to each about the run that is gone on with: whether it is
 * kept, and the silo as it was. */
static bb_status put_begun(bb_ranks_talk *t) {
    const bb_keeper *keeper = t->run->keeper;
    const size_t count = t->ranks->count;
    bb_reader in = bb_reader_of(keeper ? keeper->silo : (bb_bytes){NULL, 0});
    size_t saved = 0;
    for (; in.left && !in.bad; saved++) {
        const bb_bytes silo = bb_ranks_get_frame(&in);
        if (saved < count) bb_ranks_put_frame(&t->out[saved], silo);
    }
    if (!saved || (saved == count && !in.bad)) return BB_OK;
    return bb_fail(BB_EDATA,
                   "the run was saved by %zu rank%s, not by %zu: go on with as many",
                   saved, bb_plural((double)saved), count);
}

/* Every silo gets what rank 0 has of it. */
bb_status bb_ranks_keep_begin(bb_ranks_talk *t) {
    bb_message keeps = {NULL, t->run->keeper ? 1 : 0};
    const bool first = t->ranks->number == 0;
    char one = 1;
    if (keeps.length) keeps.at = &one;
    bb_status status = bb_ranks_share(t->ranks, first ? put_begun(t) : BB_OK, &keeps);
    t->keeps = !status && keeps.length > 0;
    if (!first) free(keeps.at);
    for (size_t r = 1; r < t->ranks->count && first; r++)
        t->send[r] = (bb_message){t->out[r].at, t->out[r].length};
    if (!status) status = bb_ranks_exchange(t->ranks, t->send, t->receive);
    if (status) return status;
    if (first) t->receive[0] = (bb_message){t->out[0].at, t->out[0].length};
    bb_reader in = bb_reader_of((bb_bytes){t->receive[0].at, t->receive[0].length});
    if (in.left && t->silo)
        status = bb_silo_restore(t->silo, bb_ranks_get_frame(&in), NULL);
    if (first) t->receive[0] = (bb_message){NULL, 0};
    bb_ranks_forget(t);
    return bb_ranks_agree(t->ranks, status);
}

/* Nobody may interrupt this: all are there, and it does not take long. */
bb_status bb_ranks_keep_end(bb_ranks_talk *t, bb_status status) {
    const atomic_int *stop = t->ranks->stop;
    bb_status kept = BB_OK;
    if (!t->keeps || t->ranks->broken) return status;
    t->ranks->stop = NULL;
    if (!status) {
        t->curator_next.length = 0;
        if (t->curator) { /* of rank 0, whose keeper notes the moment */
            (void)t->run->keeper->due(t->run->keeper->self, true);
            bb_curator_save(t->curator, &t->curator_next);
        }
        kept = save(t, copy(t));
    } else if (status == BB_EINTERRUPTED && t->unsaved) {
        kept = save(t, BB_OK);
        if (kept) bb_fail_context(kept, "interrupted, and not saved");
    }
    kept = bb_ranks_agree(t->ranks, kept);
    t->ranks->stop = stop;
    return kept ? kept : status;
}
