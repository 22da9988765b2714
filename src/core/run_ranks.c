#include "core/run_ranks.h"

#include "base/memory.h"
#include "core/curator.h"
#include "core/silo.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct talk {
    const bb_run *run;
    bb_ranks *ranks;
    const bb_deal *deal;
    bb_curator *curator;                  /* rank 0 */
    bb_silo *silo;                        /* ranks with tasks */
    bb_writer *out;                       /* ranks: what goes to each */
    bb_message *send, *receive;           /* ranks */
    bool keeps;                           /* rank 0 has a keeper */
    uint32_t flags;                       /* of the turn, as below */
    bb_writer silo_kept;                  /* as it was when a turn began */
    bb_writer curator_kept, curator_next; /* rank 0: and before that; not yet told */
    bool unsaved;                         /* the keeper has not stored them */
} talk;

/* Seconds (ranks.h): a launcher that is interrupted itself does not wait much longer than
 * a second; but one that says in time that it will end a run that is kept does. */
static const double short_patience = 0.3, long_patience = 60.0;

/* What rank 0 says with a turn. */
enum {
    LAST = 1, /* there is no further one */
    COPY = 2, /* keep what there is, before anything is done */
    SEND = 4  /* and give it to rank 0 */
};

static size_t tasks_of(const bb_deal *deal, size_t rank) {
    return deal->first[rank + 1] - deal->first[rank];
}

/* The first ranks have tasks: silo number r + 1 is rank r's. */
static uint32_t count_silos(const talk *t) {
    uint32_t silos = 0;
    while (silos < t->ranks->count && tasks_of(t->deal, silos)) silos++;
    return silos;
}

static bb_status open_silo(talk *t) {
    const size_t rank = t->ranks->number, tasks = tasks_of(t->deal, rank);
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

static bb_status open_curator(talk *t) {
    const bb_keeper *keeper = t->run->keeper;
    const bb_curator_terms terms = {
        .run = t->run, .silos = count_silos(t), .sealed = true};
    if (keeper && keeper->curator.length)
        return bb_curator_restore(&t->curator, &terms, keeper->curator);
    return bb_curator_open(&t->curator, &terms);
}

static bb_status open_talk(talk *t, bb_result *result) {
    const size_t count = t->ranks->count, rank = t->ranks->number;
    bb_status status = BB_OK;
    if (tasks_of(t->deal, rank)) status = open_silo(t);
    if (!status) status = bb_result_open(result, t->run, tasks_of(t->deal, rank));
    if (!status && rank == 0) status = open_curator(t);
    if (!status) status = bb_allocate(&t->out, count, sizeof *t->out, "the ranks");
    if (!status) status = bb_allocate(&t->send, count, sizeof *t->send, "the ranks");
    if (!status)
        status = bb_allocate(&t->receive, count, sizeof *t->receive, "the ranks");
    return status;
}

static void close_talk(talk *t) {
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

static void put_frame(bb_writer *out, bb_bytes frame) {
    bb_put_u64(out, frame.length);
    bb_put_bytes(out, frame.at, frame.length);
}

static bb_bytes get_frame(bb_reader *in) {
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
    const bb_bytes text = get_frame(in);
    return bb_fail(status, "%.*s", (int)text.length, (const char *)text.at);
}

/* -- a turn: rank 0 says something to all, and all answer -- */

/* What the curator has for rank r. */
static bb_status fill(talk *t, size_t r) {
    bb_bytes frame;
    bool given = true;
    bb_status status = BB_OK;
    begin_message(&t->out[r], BB_OK, t->flags);
    while (given && !status && tasks_of(t->deal, r)) {
        status = bb_curator_give(t->curator, (uint32_t)r + 1, &frame, &given);
        if (!status && given) put_frame(&t->out[r], frame);
    }
    return status ? status : t->out[r].status;
}

/* Rank 0: everything for everybody; or that it has failed. */
static bb_status say(talk *t, bb_status status) {
    const size_t count = t->ranks->count;
    if (bb_curator_now(t->curator) == BB_CURATOR_DONE) t->flags |= LAST;
    for (size_t r = 0; r < count && !status; r++) status = fill(t, r);
    for (size_t r = 0; r < count && status; r++) begin_message(&t->out[r], status, 0);
    for (size_t r = 1; r < count; r++)
        t->send[r] = (bb_message){t->out[r].at, t->out[r].length};
    const bb_status sent = bb_ranks_exchange(t->ranks, t->send, t->receive);
    return sent ? sent : status;
}

static bb_status listen(talk *t) {
    memset(t->send, 0, t->ranks->count * sizeof *t->send);
    return bb_ranks_exchange(t->ranks, t->send, t->receive);
}

/* Rank 0 stores what all ranks have kept. */
static bb_status save(talk *t, bb_status status) {
    const bb_keeper *keeper = t->run->keeper;
    bb_writer own = {0};
    bb_message all;
    put_frame(&own, (bb_bytes){t->silo_kept.at, t->silo_kept.length});
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

static bb_status copy(talk *t) {
    const bb_writer before = t->curator_kept;
    t->curator_kept = t->curator_next;
    t->curator_next = before;
    t->silo_kept.length = 0;
    if (t->silo) bb_silo_save(t->silo, &t->silo_kept);
    t->unsaved = true;
    return t->silo_kept.status ? t->silo_kept.status : t->curator_kept.status;
}

/* Where the run could go on from, if rank 0 says so. */
static bb_status keep(talk *t) {
    const bb_status status = t->flags & COPY ? copy(t) : BB_OK;
    return t->flags & SEND ? save(t, status) : status;
}

/* Works on what rank 0 said; the answer is in `out`. */
static bb_status work(talk *t, bb_reader *in, bb_writer *out) {
    bool news;
    bb_bytes frame;
    bb_status status = keep(t);
    begin_message(out, BB_OK, 0);
    while (in->left && !status && t->silo) {
        status = bb_silo_take(t->silo, get_frame(in), &news);
        if (!status && bb_silo_now(t->silo) == BB_SILO_WORK)
            status = bb_silo_work(t->silo);
        if (status || !bb_silo_give(t->silo, &frame)) continue;
        put_frame(out, frame);
        bb_silo_gave(t->silo);
        status = out->status;
    }
    if (status) begin_message(out, status, 0);
    return status;
}

static bb_status take_answer(talk *t, const bb_message *piece) {
    bool news;
    uint32_t flags;
    bb_reader in;
    bb_status status = begin_reading(piece, &in, &flags);
    while (in.left && !status)
        status = bb_curator_take(t->curator, get_frame(&in), &news);
    return status;
}

static void forget(talk *t) {
    for (size_t r = 0; r < t->ranks->count; r++) free(t->receive[r].at);
    memset(t->receive, 0, t->ranks->count * sizeof *t->receive);
}

/* Rank 0: hears all answers; the failure of the lowest rank that has one. */
static bb_status hear(talk *t, bb_writer *own) {
    const bb_message mine = {own->at, own->length};
    bb_status status = BB_OK;
    memset(t->send, 0, t->ranks->count * sizeof *t->send);
    const bb_status heard = bb_ranks_exchange(t->ranks, t->send, t->receive);
    if (heard) return heard;
    for (size_t r = 0; r < t->ranks->count && !status; r++)
        status = take_answer(t, r ? &t->receive[r] : &mine);
    forget(t);
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
static bb_status go_on(talk *t) {
    const bb_observer *observer = &t->run->observer;
    const bb_keeper *keeper = t->run->keeper;
    const uint32_t round = bb_curator_round(t->curator);
    const bb_keep how = keeper ? keeper->due(keeper->self, false) : BB_KEEP_NOTHING;
    if (how != BB_KEEP_NOTHING) {
        t->flags = how == BB_KEEP_SAVE ? COPY | SEND : COPY;
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
static bb_status lead(talk *t) {
    bb_status status = BB_OK;
    for (;;) {
        t->flags = 0;
        if (!status && bb_curator_now(t->curator) == BB_CURATOR_PUBLISHED)
            status = go_on(t);
        status = say(t, status);
        if (status) return status;
        forget(t);
        bb_reader in = bb_reader_of((bb_bytes){t->out[0].at, t->out[0].length});
        bb_writer answer = {0};
        (void)bb_get_u64(&in); /* how it begins */
        /* in its answer, like the failures of others */
        const bb_status own = work(t, &in, &answer);
        status = answer.status ? answer.status : hear(t, &answer);
        bb_writer_close(&answer);
        if (t->ranks->broken) return own ? own : status;
        if (t->flags & LAST) return status;
        if (!status) status = bb_curator_close_round(t->curator);
    }
}

static bb_status follow(talk *t) {
    for (t->flags = 0; !(t->flags & LAST);) {
        bb_reader in;
        bb_status status = listen(t);
        if (status) return status;
        status = begin_reading(&t->receive[0], &in, &t->flags);
        if (status) return status; /* rank 0 knows */
        const bb_status own = work(t, &in, &t->out[0]);
        forget(t);
        t->send[0] = (bb_message){t->out[0].at, t->out[0].length};
        status = bb_ranks_exchange(t->ranks, t->send, t->receive);
        if (status) return own ? own : status;
        forget(t);
    }
    return BB_OK;
}

/* -- a run that is kept -- */

/* Rank 0: what it has to say to each about the run that is gone on with: whether it is
 * kept, and the silo as it was. */
static bb_status put_begun(talk *t) {
    const bb_keeper *keeper = t->run->keeper;
    const size_t count = t->ranks->count;
    bb_reader in = bb_reader_of(keeper ? keeper->silo : (bb_bytes){NULL, 0});
    size_t saved = 0;
    for (; in.left && !in.bad; saved++) {
        const bb_bytes silo = get_frame(&in);
        if (saved < count) put_frame(&t->out[saved], silo);
    }
    if (!saved || (saved == count && !in.bad)) return BB_OK;
    return bb_fail(BB_EDATA,
                   "the run was saved by %zu ranks, not by %zu: go on with as many",
                   saved, count);
}

/* Every silo gets what rank 0 has of it. */
static bb_status begin(talk *t) {
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
    if (in.left && t->silo) status = bb_silo_restore(t->silo, get_frame(&in));
    if (first) t->receive[0] = (bb_message){NULL, 0};
    forget(t);
    return bb_ranks_agree(t->ranks, status);
}

/* Nobody may interrupt this: all are there, and it does not take long. */
static bb_status end(talk *t, bb_status status) {
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

/* -- the result -- */

/* Rank 0: what finish said of every task, added up in their order. */
static bb_status add_up(const talk *t, const bb_message *all, bb_result *result) {
    const size_t tasks = t->run->pub.tasks;
    const bb_silo_task *task = all->at;
    bb_status status = BB_OK;
    if (result->asked) {
        free(result->asked); /* of the own tasks */
        result->asked = NULL;
        status = bb_allocate(&result->asked, tasks, sizeof(bool), "the models");
    }
    result->outcome = (bb_outcome){.converged = true};
    result->failed = 0;
    for (size_t i = 0; i < tasks && !status; i++) {
        result->outcome.objective += task[i].objective;
        result->outcome.gap += task[i].gap;
        result->failed += task[i].failed;
        if (result->asked) result->asked[i] = task[i].asked;
    }
    return status ? status : bb_curator_result(t->curator, result);
}

static bb_status share_model(const talk *t, bb_status status, bb_result *result) {
    const bb_public *pub = &t->run->pub;
    const size_t p = pub->parameters ? pub->parameters : pub->features;
    const size_t length = (pub->clusters ? pub->clusters : 1) * p * sizeof(double);
    bb_message shared = {result->shared, length};
    bb_message shares = {&result->shares, sizeof result->shares};
    status = bb_ranks_share(t->ranks, status, &shared);
    status = bb_ranks_share(t->ranks, status, &shares);
    if (t->ranks->number == 0) return status;
    result->shared = shared.at;
    if (!status) memcpy(&result->shares, shares.at, sizeof result->shares);
    free(shares.at);
    return status;
}

static bb_status collect(const talk *t, bb_status status, bb_result *result) {
    const size_t tasks = tasks_of(t->deal, t->ranks->number);
    bb_silo_task *own = NULL;
    bb_message all;
    if (!status && t->silo) bb_silo_models(t->silo, result);
    if (!status) status = bb_allocate(&own, tasks, sizeof *own, "the models");
    for (size_t k = 0; k < tasks && !status; k++) {
        own[k] = bb_silo_result(t->silo, k);
        own[k].model = NULL; /* it stays */
    }
    status = bb_ranks_gather(t->ranks, status, own, tasks * sizeof *own, &all);
    if (!status && t->ranks->number == 0) status = add_up(t, &all, result);
    free(all.at);
    free(own);
    return share_model(t, status, result);
}

bb_status bb_run_train_ranks(const bb_run *run, bb_ranks *ranks, const bb_deal *deal,
                             bb_result *result) {
    talk t = {.run = run, .ranks = ranks, .deal = deal};
    bb_result made = {0};
    if (!ranks) return bb_run_train(run, result);
    bb_status status = bb_ranks_agree(ranks, open_talk(&t, &made));
    const bool ready = !status && t.out && t.send && t.receive;
    if (ready) status = begin(&t);
    ranks->patience = t.keeps ? long_patience : short_patience;
    if (ready && !status) status = ranks->number ? follow(&t) : lead(&t);
    status = end(&t, bb_ranks_agree(ranks, status));
    status = collect(&t, status, &made);
    close_talk(&t);
    if (status)
        bb_result_free(&made);
    else
        *result = made;
    return status;
}
