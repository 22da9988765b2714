#include "core/run_ranks.h"

#include "base/memory.h"
#include "core/run_ranks_inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Seconds (ranks.h): a launcher that is interrupted itself does not wait much longer than
 * a second; but one that says in time that it will end a run that is kept does. */
static const double short_patience = 0.3, long_patience = 60.0;

/* The first ranks have tasks: silo number r + 1 is rank r's. */
static uint32_t count_silos(const bb_ranks_talk *t) {
    uint32_t silos = 0;
    while (silos < t->ranks->count && bb_ranks_tasks(t, silos)) silos++;
    return silos;
}

static bb_status open_silo(bb_ranks_talk *t) {
    const size_t rank = t->ranks->number, tasks = bb_ranks_tasks(t, rank);
    size_t *id = NULL;
    bb_status status = bb_allocate(&id, tasks, sizeof *id, "a rank's tasks");
    for (size_t k = 0; k < tasks && !status; k++) id[k] = t->deal->first[rank] + k;
    const bb_silo_terms terms = {.run = t->run,
                                 .number = (uint32_t)rank + 1,
                                 .tasks = tasks,
                                 .id = id,
                                 .sealed = true};
    if (!status) status = bb_silo_open(&t->silo, &terms);
    free(id);
    return status;
}

static bb_status open_curator(bb_ranks_talk *t) {
    const bb_keeper *keeper = t->run->keeper;
    const bb_curator_terms terms = {
        .run = t->run, .silos = count_silos(t), .sealed = true};
    if (keeper && keeper->curator.length)
        return bb_curator_restore(&t->curator, &terms, keeper->curator);
    return bb_curator_open(&t->curator, &terms);
}

static bb_status open_talk(bb_ranks_talk *t, bb_result *result) {
    const size_t count = t->ranks->count, rank = t->ranks->number;
    bb_status status = BB_OK;
    if (bb_ranks_tasks(t, rank)) status = open_silo(t);
    if (!status) status = bb_result_open(result, t->run, bb_ranks_tasks(t, rank));
    if (!status && rank == 0) status = open_curator(t);
    if (!status) status = bb_allocate(&t->out, count, sizeof *t->out, "the ranks");
    if (!status) status = bb_allocate(&t->send, count, sizeof *t->send, "the ranks");
    if (!status)
        status = bb_allocate(&t->receive, count, sizeof *t->receive, "the ranks");
    return status;
}

static void close_talk(bb_ranks_talk *t) {
    for (size_t r = 0; t->out && r < t->ranks->count; r++) bb_writer_close(&t->out[r]);
    free(t->out);
    free(t->send);
    bb_ranks_free(t->ranks, t->receive);
    bb_writer_close(&t->silo_kept);
    bb_writer_close(&t->curator_kept);
    bb_writer_close(&t->curator_next);
    bb_curator_close(t->curator);
    bb_silo_close(t->silo);
}

/* -- messages: a status, then its words, or the turn's flags, and frames -- */

static void begin_message(bb_writer *out, bb_status status, uint32_t flags) {
    out->length = 0;
    bb_put_u32(out, (uint32_t)status);
    if (status)
        bb_put_text(out, bb_last_error());
    else
        bb_put_u32(out, flags);
}

void bb_ranks_put_frame(bb_writer *out, bb_bytes frame) {
    bb_put_u64(out, frame.length);
    bb_put_bytes(out, frame.at, frame.length);
}

bb_bytes bb_ranks_get_frame(bb_reader *in) {
    const size_t length = (size_t)bb_get_u64(in);
    const uint8_t *at = bb_get(in, length);
    return (bb_bytes){at, at ? length : 0};
}

/* Reads as far as the frames: the failure that was told. */
static bb_status begin_reading(const bb_message *piece, bb_reader *in,
                               uint32_t *flags) {
    *in = bb_reader_of((bb_bytes){piece->at, piece->length});
    const bb_status status = (bb_status)bb_get_u32(in);
    *flags = status ? 0 : bb_get_u32(in);
    if (!status) return in->bad ? bb_fail(BB_EIO, "a rank's message is cut") : BB_OK;
    const bb_bytes text = bb_ranks_get_frame(in);
    return bb_fail(status, "%.*s", (int)text.length, (const char *)text.at);
}

/* -- a turn: rank 0 says something to all, and all answer -- */

/* What the curator has for rank r. */
static bb_status fill(bb_ranks_talk *t, size_t r) {
    bb_bytes frame;
    bool given = true;
    bb_status status = BB_OK;
    begin_message(&t->out[r], BB_OK, t->flags);
    while (given && !status && bb_ranks_tasks(t, r)) {
        status = bb_curator_give(t->curator, (uint32_t)r + 1, &frame, &given);
        if (!status && given) bb_ranks_put_frame(&t->out[r], frame);
    }
    return status ? status : t->out[r].status;
}

/* Rank 0: everything for everybody; or that it has failed. */
static bb_status say(bb_ranks_talk *t, bb_status status) {
    const size_t count = t->ranks->count;
    if (bb_curator_now(t->curator) == BB_CURATOR_DONE) t->flags |= BB_TURN_LAST;
    for (size_t r = 0; r < count && !status; r++) status = fill(t, r);
    for (size_t r = 0; r < count && status; r++) begin_message(&t->out[r], status, 0);
    for (size_t r = 1; r < count; r++)
        t->send[r] = (bb_message){t->out[r].at, t->out[r].length};
    const bb_status sent = bb_ranks_exchange(t->ranks, t->send, t->receive);
    return sent ? sent : status;
}

static bb_status listen(bb_ranks_talk *t) {
    memset(t->send, 0, t->ranks->count * sizeof *t->send);
    return bb_ranks_exchange(t->ranks, t->send, t->receive);
}

/* Works on what rank 0 said; the answer is in `out`. */
static bb_status work(bb_ranks_talk *t, bb_reader *in, bb_writer *out) {
    bool news;
    bb_bytes frame;
    bb_status status = bb_ranks_keep(t);
    begin_message(out, BB_OK, 0);
    while (in->left && !status && t->silo) {
        status = bb_silo_take(t->silo, bb_ranks_get_frame(in), &news);
        if (!status && bb_silo_now(t->silo) == BB_SILO_WORK)
            status = bb_silo_work(t->silo);
        if (status || !bb_silo_give(t->silo, &frame)) continue;
        bb_ranks_put_frame(out, frame);
        bb_silo_gave(t->silo);
        status = out->status;
    }
    if (status) begin_message(out, status, 0);
    return status;
}

static bb_status take_answer(bb_ranks_talk *t, const bb_message *piece) {
    bool news;
    uint32_t flags;
    bb_reader in;
    bb_status status = begin_reading(piece, &in, &flags);
    while (in.left && !status)
        status = bb_curator_take(t->curator, bb_ranks_get_frame(&in), &news);
    return status;
}

void bb_ranks_forget(bb_ranks_talk *t) {
    for (size_t r = 0; r < t->ranks->count; r++) free(t->receive[r].at);
    memset(t->receive, 0, t->ranks->count * sizeof *t->receive);
}

/* Rank 0: hears all answers; the failure of the lowest rank that has one. */
static bb_status hear(bb_ranks_talk *t, bb_writer *own) {
    const bb_message mine = {own->at, own->length};
    bb_status status = BB_OK;
    memset(t->send, 0, t->ranks->count * sizeof *t->send);
    const bb_status heard = bb_ranks_exchange(t->ranks, t->send, t->receive);
    if (heard) return heard;
    for (size_t r = 0; r < t->ranks->count && !status; r++)
        status = take_answer(t, r ? &t->receive[r] : &mine);
    bb_ranks_forget(t);
    return status;
}

/* -- both sides of the conversation -- */

static bb_status published(const bb_run *run, const bb_curator *curator) {
    const bb_observer *observer = &run->observer;
    if (!observer->published) return BB_OK;
    return observer->published(observer->self, bb_curator_release(curator),
                               run->pub.tasks);
}

/* A round is over: the curator is kept, if it is due, and goes on. */
static bb_status go_on(bb_ranks_talk *t) {
    const bb_observer *observer = &t->run->observer;
    const bb_keeper *keeper = t->run->keeper;
    const uint32_t round = bb_curator_round(t->curator);
    const bb_keep how = keeper ? keeper->due(keeper->self, false) : BB_KEEP_NOTHING;
    if (how != BB_KEEP_NOTHING) {
        t->flags = how == BB_KEEP_SAVE ? BB_TURN_COPY | BB_TURN_SEND : BB_TURN_COPY;
        t->curator_next.length = 0;
        bb_curator_save(t->curator, &t->curator_next);
    }
    bb_status status = published(t->run, t->curator);
    if (!status) status = bb_curator_go_on(t->curator);
    if (!status && observer->progress)
        observer->progress(observer->self, round, bb_curator_plan(t->curator)->rounds);
    return status;
}

/* What rank 0 does until all silos have their models. A failure of its own, too, is told
 * at the beginning of a turn. */
static bb_status lead(bb_ranks_talk *t) {
    bb_status status = BB_OK;
    for (;;) {
        t->flags = 0;
        if (!status && bb_curator_now(t->curator) == BB_CURATOR_PUBLISHED)
            status = go_on(t);
        status = say(t, status);
        if (status) return status;
        bb_ranks_forget(t);
        bb_reader in = bb_reader_of((bb_bytes){t->out[0].at, t->out[0].length});
        bb_writer answer = {0};
        (void)bb_get_u64(&in); /* how it begins */
        /* in its answer, like the failures of others */
        const bb_status own = work(t, &in, &answer);
        status = answer.status ? answer.status : hear(t, &answer);
        bb_writer_close(&answer);
        if (t->ranks->broken) return own ? own : status;
        if (t->flags & BB_TURN_LAST) return status;
        if (!status) status = bb_curator_close_round(t->curator);
    }
}

static bb_status follow(bb_ranks_talk *t) {
    for (t->flags = 0; !(t->flags & BB_TURN_LAST);) {
        bb_reader in;
        bb_status status = listen(t);
        if (status) return status;
        status = begin_reading(&t->receive[0], &in, &t->flags);
        if (status) return status; /* rank 0 knows */
        const bb_status own = work(t, &in, &t->out[0]);
        bb_ranks_forget(t);
        t->send[0] = (bb_message){t->out[0].at, t->out[0].length};
        status = bb_ranks_exchange(t->ranks, t->send, t->receive);
        if (status) return own ? own : status;
        bb_ranks_forget(t);
    }
    return BB_OK;
}

bb_status bb_run_train_ranks(const bb_run *run, bb_ranks *ranks, const bb_deal *deal,
                             bb_result *result) {
    bb_ranks_talk t = {.run = run, .ranks = ranks, .deal = deal};
    bb_result made = {0};
    if (!ranks) return bb_run_train(run, result);
    bb_status status = bb_ranks_agree(ranks, open_talk(&t, &made));
    const bool ready = !status && t.out && t.send && t.receive;
    if (ready) status = bb_ranks_keep_begin(&t);
    ranks->patience = t.keeps ? long_patience : short_patience;
    if (ready && !status) status = ranks->number ? follow(&t) : lead(&t);
    status = bb_ranks_keep_end(&t, bb_ranks_agree(ranks, status));
    status = bb_ranks_collect(&t, status, &made);
    close_talk(&t);
    if (status)
        bb_result_free(&made);
    else
        *result = made;
    return status;
}
