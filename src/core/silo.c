#include "core/silo.h"

#include "core/messages.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct bb_silo {
    bb_phases phases;
    bb_silo_policy policy;
    bool has_policy, sealed;
    uint32_t number;
    size_t own, *id; /* its tasks: their public numbers */
    bb_silo_state now;
    bool joined;     /* the offer was taken */
    bb_writer offer; /* its payload */
    uint8_t name[BB_HASH_BYTES];

    size_t phase;
    bool begun;          /* tasks have begun the phase */
    bb_ask ask;          /* the last round that was taken */
    uint32_t attempt;    /* and its attempt */
    bool ending;         /* work to do: the end of the phase, not a round */
    double *shared;      /* what phases before this one shared; public */
    double *next_shared; /* and this one */
    bb_billboard board;
    double *board_at;
    size_t board_room;

    bb_view view;
    bb_plan_view plan;
    bb_tally tally;
    size_t chunks, *chunk_first; /* own tasks that are added up together */
    size_t parts;                /* that work at home is dealt in */
    bb_arena arena;
    size_t work_length, states;
    size_t *first;       /* own + 1: where each task's model is */
    size_t *state_first; /* own + 1 */
    double *model, *intercept, *state;
    double *work;            /* workers x work_length */
    double *show;            /* workers x plan.show_length */
    double *objective, *gap; /* own */
    bb_status *finished;     /* own */
    bool *asked, *failed;    /* own */
    bool *picked;            /* own: who takes part; NULL: all do */
    atomic_uint done;        /* tasks that are finished */
    bb_random *random;       /* workers; only for methods that draw */
    size_t random_open;
    bb_random draw;
    bool draw_open;
    bb_writer out;
    bool out_ready;
};

static const bb_run *run_of(const bb_silo *silo) {
    return &silo->phases.run;
}

static const bb_method *method_of(const bb_silo *silo) {
    return silo->phases.part[silo->phase].view.method;
}

static bb_status failed(bb_silo *silo, bb_status status) {
    silo->now = BB_SILO_FAILED;
    return status;
}

/* -- opening -- */

static bb_status check_terms(const bb_silo_terms *terms) {
    const bb_run *run = terms->run;
    const bb_silo_policy *policy = terms->policy;
    for (size_t k = 0; k < terms->tasks; k++) {
        const size_t id = terms->id ? terms->id[k] : k;
        if (id >= run->pub.tasks || (terms->id && k && id <= terms->id[k - 1]))
            return bb_fail(BB_EUSAGE,
                           "a silo's tasks have ascending numbers below %zu, got %zu",
                           run->pub.tasks, id);
    }
    if (!policy) return BB_OK;
    if (!policy->allow_open && run->mechanism->pricing != BB_PRICE_GAUSSIAN)
        return bb_fail(BB_EUSAGE, "this silo's policy forbids mechanism %s",
                       run->mechanism->name);
    if (!policy->allow_open && run->seeded)
        return bb_fail(BB_EUSAGE, "this silo's policy forbids seeded noise");
    if (policy->most_epsilon > 0.0 && !(run->pub.epsilon <= policy->most_epsilon))
        return bb_fail(BB_EUSAGE, "this silo's policy allows epsilon %g, not %g",
                       policy->most_epsilon, run->pub.epsilon);
    if (policy->most_delta > 0.0 && !(run->pub.delta <= policy->most_delta))
        return bb_fail(BB_EUSAGE, "this silo's policy allows delta %g, not %g",
                       policy->most_delta, run->pub.delta);
    if (run->pub.tasks < policy->fewest_tasks)
        return bb_fail(BB_EUSAGE, "this silo's policy asks for %zu tasks, not %zu",
                       policy->fewest_tasks, run->pub.tasks);
    return BB_OK;
}

bb_status bb_silo_open(bb_silo **out, const bb_silo_terms *terms) {
    const bb_run *run = terms->run;
    const size_t clusters = run->pub.clusters ? run->pub.clusters : 1;
    const size_t parameters =
        run->pub.parameters ? run->pub.parameters : run->pub.features;
    bb_silo *silo = NULL;
    bb_status status = check_terms(terms);
    if (!status) status = bb_allocate(&silo, 1, sizeof *silo, "a silo");
    if (status) return status;
    silo->number = terms->number;
    silo->sealed = terms->sealed;
    silo->has_policy = terms->policy != NULL;
    if (terms->policy) silo->policy = *terms->policy;
    silo->own = terms->tasks;
    status = bb_allocate(&silo->id, silo->own, sizeof *silo->id, "a silo");
    for (size_t k = 0; k < silo->own && !status; k++)
        silo->id[k] = terms->id ? terms->id[k] : k;
    if (!status)
        status = bb_allocate(&silo->shared, 2 * clusters * parameters, sizeof(double),
                             "a silo");
    silo->next_shared = silo->shared + clusters * parameters;
    for (size_t k = 0; k < clusters && !status && run->pub.start; k++)
        memcpy(silo->shared + k * parameters, run->pub.start,
               parameters * sizeof *silo->shared);
    if (!status) status = bb_phases_open(&silo->phases, run, silo->shared);
    if (!status) status = bb_run_check_tasks(&silo->phases.run, silo->own);
    if (status)
        bb_silo_close(silo);
    else
        *out = silo;
    return status;
}

void bb_silo_close(bb_silo *silo) {
    if (!silo) return;
    for (size_t w = 0; w < silo->random_open; w++) bb_random_close(&silo->random[w]);
    if (silo->draw_open) bb_random_close(&silo->draw);
    bb_phases_close(&silo->phases);
    bb_writer_close(&silo->offer);
    bb_writer_close(&silo->out);
    bb_arena_close(&silo->arena);
    free(silo->chunk_first);
    free(silo->shared);
    free(silo->id);
    free(silo);
}

/* -- the offer: everything that a run needs -- */

/* Off the grid a sum is over a fixed chunk of tasks: all of it is here, or none. */
static bb_status deal_chunks(bb_silo *silo) {
    const size_t tasks = run_of(silo)->pub.tasks;
    const size_t chunks = bb_tally_chunks(tasks, silo->phases.plan.sum_length);
    silo->chunks = 0;
    for (size_t k = 0; k < silo->own;) {
        size_t c = silo->id[k] * chunks / tasks;
        while (c + 1 < chunks && (c + 1) * tasks / chunks <= silo->id[k]) c++;
        while (c * tasks / chunks > silo->id[k]) c--;
        const size_t from = c * tasks / chunks, to = (c + 1) * tasks / chunks;
        if (silo->id[k] != from || k + (to - from) > silo->own ||
            silo->id[k + (to - from) - 1] != to - 1)
            return bb_fail(BB_EUSAGE,
                           "mechanism %s adds up tasks %zu to %zu together: they "
                           "must be in one silo",
                           run_of(silo)->mechanism->name, from + 1, to);
        silo->chunk_first[silo->chunks++] = k;
        k += to - from;
    }
    silo->chunk_first[silo->chunks] = silo->own;
    return BB_OK;
}

/* Few and heavy tasks are dealt one by one, where that does not change a sum: on the
 * grid, and at home. */
static bb_status deal(bb_silo *silo) {
    const bb_run *run = run_of(silo);
    silo->parts = run->pub.network
                      ? silo->own
                      : bb_tally_chunks(silo->own, silo->phases.plan.sum_length);
    const size_t most = run->pub.tasks > silo->parts ? run->pub.tasks : silo->parts;
    const bb_status status =
        bb_allocate(&silo->chunk_first, most + 1, sizeof *silo->chunk_first, "a silo");
    if (status) return status;
    if (!run->mechanism->grid) return deal_chunks(silo);
    silo->chunks = silo->parts;
    for (size_t c = 0; c <= silo->chunks; c++)
        silo->chunk_first[c] = silo->chunks ? c * silo->own / silo->chunks : 0;
    return BB_OK;
}

static size_t ask_length(size_t (*length)(const bb_view *), const bb_view *view) {
    return length ? length(view) : 0;
}

/* Of one worker, in a phase. */
static size_t local_work(const bb_silo *silo, const bb_view *view) {
    size_t most = 0;
    for (size_t k = 0; k < silo->own; k++) {
        const bb_local *local = &run_of(silo)->local[k];
        size_t work = bb_local_work(local);
        if (view->method->local_length) work += view->method->local_length(view, local);
        if (work > most) most = work;
    }
    return ask_length(view->method->work_length, view) + most + 8;
}

/* Doubles of states in a phase, and where each begins (first may be NULL). */
static size_t state_length(const bb_silo *silo, const bb_view *view, size_t *first) {
    const size_t each = ask_length(view->method->state_length, view);
    size_t length = 0;
    for (size_t k = 0; k < silo->own; k++) {
        if (first) first[k] = length;
        length += each + view->method->state_models * run_of(silo)->local[k].length;
    }
    if (first) first[silo->own] = length;
    return length;
}

static void measure(bb_silo *silo, bool *draws, size_t *models) {
    *draws = false;
    *models = 0;
    silo->work_length = silo->states = 0;
    for (size_t p = 0; p < silo->phases.count; p++) {
        const bb_view *view = &silo->phases.part[p].view;
        const size_t work = local_work(silo, view);
        const size_t states = state_length(silo, view, NULL);
        if (work > silo->work_length) silo->work_length = work;
        if (states > silo->states) silo->states = states;
        *draws = *draws || view->method->own_noise || view->method->draws;
    }
    for (size_t k = 0; k < silo->own; k++) *models += run_of(silo)->local[k].length;
    silo->board_room = bb_phases_board(&silo->phases);
}

static bb_status take_memory(bb_silo *silo) {
    const bb_run *run = run_of(silo);
    const bb_plan *plan = &silo->phases.plan;
    bb_arena *arena = &silo->arena;
    const size_t workers = run->engine->workers, own = silo->own;
    const bool sample = run->pub.sampling != BB_SAMPLING_ALL;
    const size_t sums = run->mechanism->grid ? workers : silo->chunks;
    bool draws;
    size_t models;
    measure(silo, &draws, &models);
    bb_arena_need(arena, silo->board_room, sizeof(double));
    bb_arena_need(arena, 2 * (own + 1), sizeof(size_t));
    bb_arena_need(arena, models, sizeof(double));
    bb_arena_need(arena, own, sizeof(double));
    bb_arena_need(arena, silo->states, sizeof(double));
    bb_arena_need(arena, workers * silo->work_length, sizeof(double));
    bb_arena_need(arena, workers * plan->show_length, sizeof(double));
    bb_arena_need(arena, 2 * own, sizeof(double));
    bb_arena_need(arena, own, sizeof(bb_status));
    bb_arena_need(arena, 2 * own, sizeof(bool));
    bb_arena_need(arena, sample ? own : 0, sizeof(bool));
    bb_arena_need(arena, draws ? workers : 0, sizeof(bb_random));
    bb_tally_need(arena, run->mechanism, plan, sums);
    bb_status status = bb_arena_open(arena, "the training run");
    if (status) return status;
    silo->board_at = bb_arena_take(arena, silo->board_room, sizeof(double));
    silo->first = bb_arena_take(arena, 2 * (own + 1), sizeof(size_t));
    silo->state_first = silo->first + own + 1;
    silo->model = bb_arena_take(arena, models, sizeof(double));
    silo->intercept = bb_arena_take(arena, own, sizeof(double));
    silo->state = bb_arena_take(arena, silo->states, sizeof(double));
    silo->work = bb_arena_take(arena, workers * silo->work_length, sizeof(double));
    silo->show = bb_arena_take(arena, workers * plan->show_length, sizeof(double));
    silo->objective = bb_arena_take(arena, 2 * own, sizeof(double));
    silo->gap = silo->objective + own;
    silo->finished = bb_arena_take(arena, own, sizeof(bb_status));
    silo->asked = bb_arena_take(arena, 2 * own, sizeof(bool));
    silo->failed = silo->asked + own;
    if (sample) silo->picked = bb_arena_take(arena, own, sizeof(bool));
    if (draws) silo->random = bb_arena_take(arena, workers, sizeof(bb_random));
    bb_tally_open(&silo->tally, arena, run->mechanism, plan, run->pub.tasks, sums);
    for (size_t k = 0; k < own; k++)
        silo->first[k + 1] = silo->first[k] + run->local[k].length;
    return bb_writer_reserve(
        &silo->out, BB_FRAME_HEADER + 8 * (own + 1) +
                        bb_sums_room(plan, run->mechanism->grid ? 1 : silo->chunks));
}

static bb_status open_random(bb_silo *silo) {
    const bb_run *run = run_of(silo);
    bb_status status = BB_OK;
    for (size_t w = 0; silo->random && w < run->engine->workers && !status; w++) {
        status = run->seeded ? bb_random_open_stream(&silo->random[w], run->seed,
                                                     BB_FOR_LOCAL, 0, 0)
                             : bb_random_open_secure(&silo->random[w]);
        if (!status) silo->random_open++;
    }
    if (silo->picked && !status) {
        status = run->seeded ? bb_random_open_stream(&silo->draw, run->seed,
                                                     BB_FOR_COHORT, 0, 0)
                             : bb_random_open_secure(&silo->draw);
        silo->draw_open = !status;
    }
    return status;
}

/* The silo's own ledger, if it has one, pays for the whole plan, too. */
static bb_status charge(const bb_silo *silo) {
    const bb_run *run = run_of(silo);
    const bb_plan *plan = &silo->phases.plan;
    char name[BB_RUN_NAME];
    long long id;
    if (!silo->has_policy || !silo->policy.ledger || !plan->rounds) return BB_OK;
    bb_run_name(run->phases, run->phase, name);
    const bb_ledger_charge price = {.epsilon = run->pub.epsilon,
                                    .delta = run->pub.delta,
                                    .rounds = plan->rounds,
                                    .mu = plan->mu,
                                    .pure = plan->pure};
    return bb_ledger_reserve(silo->policy.ledger, &price, name, &id);
}

static void open_phase(bb_silo *silo) {
    if (silo->phase == silo->phases.count) {
        silo->now = BB_SILO_DONE;
        return;
    }
    silo->view = silo->phases.part[silo->phase].view;
    silo->plan = bb_plan_view_of(&silo->phases.plan, &silo->phases.part[silo->phase]);
    silo->view.board = &silo->board;
    silo->view.plan = &silo->plan;
    silo->begun = silo->phase == 0;
    state_length(silo, &silo->phases.part[silo->phase].view, silo->state_first);
    memset(silo->state, 0, silo->state_first[silo->own] * sizeof *silo->state);
    silo->now = BB_SILO_WAITING;
}

static void put_join(bb_silo *silo) {
    bb_frame frame = {.kind = BB_FRAME_JOIN, .silo = silo->number};
    memcpy(frame.run, silo->name, sizeof frame.run);
    bb_frame_begin(&silo->out, &frame);
    bb_put_u64(&silo->out, silo->own);
    for (size_t k = 0; k < silo->own; k++) bb_put_u64(&silo->out, silo->id[k]);
    bb_frame_end(&silo->out, silo->sealed);
    silo->out_ready = true;
}

/* Whether the offer begins with what this silo agreed to. */
static bb_status check_offer(const bb_silo *silo, bb_reader *reader) {
    bb_writer terms = {0};
    bb_put_terms(&terms, &silo->phases);
    bb_status status = terms.status;
    if (!status) {
        const uint8_t *found = bb_get(reader, terms.length);
        if (!found || memcmp(found, terms.at, terms.length) != 0)
            status = bb_fail(BB_EDATA, "the run that is offered is not the one that "
                                       "this silo agreed to");
    }
    bb_writer_close(&terms);
    return status;
}

/* Everything but the price. */
static bb_status accept(bb_silo *silo, bb_bytes offer) {
    bb_reader reader = bb_reader_of(offer);
    bb_hash hash;
    bb_status status = check_offer(silo, &reader);
    if (status) return status;
    status = bb_get_plan(&reader, &silo->phases);
    if (!status) status = deal(silo);
    if (!status) status = take_memory(silo);
    if (!status) status = open_random(silo);
    bb_put_bytes(&silo->offer, offer.at, offer.length);
    if (!status) status = silo->offer.status;
    if (status) return failed(silo, status);
    bb_hash_open(&hash);
    bb_hash_add(&hash, offer.at, offer.length);
    bb_hash_digest(&hash, silo->name);
    open_phase(silo);
    return BB_OK;
}

static bb_status take_offer(bb_silo *silo, const bb_frame *frame, bool *news) {
    if (silo->joined) {
        /* the answer to it was lost */
        *news = silo->phase == 0 && silo->ask.round == 0 && !silo->out_ready;
        silo->out_ready = silo->out_ready || *news;
        return BB_OK;
    }
    bb_status status = accept(silo, frame->payload);
    if (status) return status;
    if (memcmp(frame->run, silo->name, sizeof frame->run) != 0)
        status = bb_fail(BB_EDATA, "an offer under another run's name");
    if (!status) status = charge(silo);
    if (status) return failed(silo, status);
    silo->joined = *news = true;
    put_join(silo);
    return BB_OK;
}

/* -- taking rounds and ends -- */

/* Of the payload of a round: what is asked, who is picked, the billboard. */
typedef struct question {
    bb_ask ask;
    bool picks;           /* some tasks were picked; else all, or by their own coins */
    uint64_t count;       /* of them */
    const uint8_t *words; /* their numbers, ascending */
    bb_reader board;
} question;

static bb_status read_question(const bb_silo *silo, const bb_frame *frame,
                               question *q) {
    const bb_run *run = run_of(silo);
    bb_reader reader = bb_reader_of(frame->payload);
    *q = (question){.ask = {.round = frame->round}};
    const bb_status status = bb_get_ask(&reader, &silo->phases, &q->ask);
    if (status) return status;
    q->picks = bb_get_u32(&reader) != 0;
    q->count = q->picks ? bb_get_u64(&reader) : 0;
    if (q->count > silo->own) reader.bad = true;
    q->words = reader.bad ? NULL : bb_get(&reader, 8 * q->count);
    for (uint64_t j = 0, k = 0; j < q->count && !reader.bad; j++, k++) {
        const uint64_t id = (uint64_t)bb_integer_at(q->words, j);
        while (k < silo->own && silo->id[k] < id) k++;
        if (k == silo->own || silo->id[k] != id) reader.bad = true;
    }
    const bool drawn = run->pub.sampling != BB_SAMPLING_ALL &&
                       run->pub.sampling != BB_SAMPLING_POISSON;
    if (reader.bad || drawn != q->picks)
        return bb_fail(BB_EDATA, "round %u picks tasks that this silo does not have",
                       frame->round);
    q->board = reader;
    return BB_OK;
}

/* Whether it is the question that was answered last. */
static bool is_same(const bb_silo *silo, const question *q) {
    bb_reader reader = q->board;
    const bb_ask *a = &q->ask, *b = &silo->ask;
    if (a->layout.blocks != b->layout.blocks) return false;
    for (size_t k = 0; k < a->layout.blocks; k++) {
        const bb_block *x = &a->layout.block[k], *y = &b->layout.block[k];
        if (x->form != y->form || x->length != y->length || x->clip != y->clip ||
            x->share != y->share || a->bits[k] != b->bits[k])
            return false;
    }
    for (uint64_t k = 0, j = 0; q->picks && k < silo->own; k++) {
        const bool now =
            j < q->count && (uint64_t)bb_integer_at(q->words, j) == silo->id[k];
        if (now != silo->picked[k]) return false;
        j += now;
    }
    if (bb_get_u32(&reader) != silo->board.releases) return false;
    if ((bb_get_u32(&reader) != 0) != silo->board.done) return false;
    if (bb_get_u64(&reader) != silo->board.length) return false;
    const uint8_t *words = bb_get(&reader, 8 * silo->board.length);
    for (size_t k = 0; words && k < silo->board.length; k++)
        if (memcmp(&(double){bb_double_at(words, k)}, &silo->board.at[k],
                   sizeof(double)) != 0)
            return false;
    return words != NULL;
}

/* The frame's billboard, which is all that is left of it. `behind` it may come so many
 * bytes more. */
static bb_status take_board(bb_silo *silo, bb_reader *reader, size_t behind) {
    const bb_view *view = &silo->phases.part[silo->phase].view;
    const size_t length = ask_length(view->method->board_length, view);
    if (reader->left < behind || reader->left - behind != 16 + 8 * length)
        return bb_fail(BB_EDATA,
                       "a billboard of %zu bytes; that of phase %zu has %zu numbers",
                       reader->left, silo->phase + 1, length);
    return bb_get_board(reader, &silo->board, silo->board_at, length);
}

static bb_status take_round(bb_silo *silo, const bb_frame *frame, bool *news) {
    const bb_plan_part *part = &silo->phases.part[silo->phase];
    question q;
    if (frame->phase < silo->phase || frame->round < silo->ask.round ||
        (frame->round == silo->ask.round && frame->attempt < silo->attempt))
        return BB_OK; /* over */
    if (frame->phase > silo->phase)
        return bb_fail(BB_EDATA, "round %u of phase %u before the end of phase %zu",
                       frame->round, frame->phase + 1, silo->phase + 1);
    if (frame->round <= part->from || frame->round > part->from + part->rounds ||
        frame->attempt < 1)
        return bb_fail(BB_EDATA, "round %u, attempt %u: phase %zu has no such round",
                       frame->round, frame->attempt, silo->phase + 1);
    bb_status status = read_question(silo, frame, &q);
    if (status) return status;
    if (frame->round == silo->ask.round) {
        const bool same = is_same(silo, &q);
        if (same) bb_frame_again(&silo->out, frame->attempt, silo->sealed);
        if (same) silo->attempt = frame->attempt;
        if (same || frame->attempt == silo->attempt) {
            *news = !silo->out_ready;
            silo->out_ready = true; /* the answer was lost, or is to be used again */
            return BB_OK;
        }
    }
    status = take_board(silo, &q.board, 0);
    if (status) return status;
    for (uint64_t k = 0, j = 0; q.picks && k < silo->own; k++) {
        silo->picked[k] =
            j < q.count && (uint64_t)bb_integer_at(q.words, j) == silo->id[k];
        j += silo->picked[k];
    }
    silo->ask = q.ask;
    silo->attempt = frame->attempt;
    silo->ending = silo->out_ready = false;
    silo->now = BB_SILO_WORK;
    *news = true;
    return BB_OK;
}

static bb_status take_end(bb_silo *silo, const bb_frame *frame, bool *news) {
    const bb_run *run = run_of(silo);
    const size_t length = run->pub.clusters * run->pub.parameters;
    const bool shares = method_of(silo)->shared != NULL;
    bb_reader reader = bb_reader_of(frame->payload);
    if (frame->phase < silo->phase) return BB_OK;
    if (frame->phase > silo->phase)
        return bb_fail(BB_EDATA, "the end of phase %u before that of phase %zu",
                       frame->phase + 1, silo->phase + 1);
    const bb_status status = take_board(silo, &reader, shares ? 8 * length : 0);
    if (status) return status;
    /* what phases before shared stays as it is until this one is finished */
    silo->ending = true;
    silo->out_ready = false;
    silo->now = BB_SILO_WORK;
    *news = true;
    if (shares) bb_get_doubles(&reader, silo->next_shared, length);
    return BB_OK;
}

bb_status bb_silo_take(bb_silo *silo, bb_bytes bytes, bool *news) {
    bb_frame frame;
    *news = false;
    if (silo->now == BB_SILO_FAILED)
        return bb_fail(BB_EUSAGE, "this silo has failed: it takes no more frames");
    bb_status status = bb_frame_read(bytes, silo->sealed, &frame);
    if (status) return status;
    if (frame.silo != silo->number)
        return bb_fail(BB_EDATA, "a frame for silo %u came to silo %u", frame.silo,
                       silo->number);
    if (frame.kind == BB_FRAME_OFFER) {
        if (silo->joined && memcmp(frame.run, silo->name, sizeof frame.run) != 0)
            return bb_fail(BB_EDATA, "an offer of another run");
        return take_offer(silo, &frame, news);
    }
    if (frame.kind != BB_FRAME_ROUND && frame.kind != BB_FRAME_END)
        return bb_fail(BB_EDATA, "a frame of kind %d, which no silo takes", frame.kind);
    if (!silo->joined || memcmp(frame.run, silo->name, sizeof frame.run) != 0)
        return bb_fail(BB_EDATA, "a frame of a run that this silo has not joined");
    if (silo->now == BB_SILO_DONE) return BB_OK;
    if (silo->now == BB_SILO_WORK)
        return bb_fail(BB_EUSAGE, "this silo has work to do before it takes a frame");
    return frame.kind == BB_FRAME_ROUND ? take_round(silo, &frame, news)
                                        : take_end(silo, &frame, news);
}

bb_silo_state bb_silo_now(const bb_silo *silo) {
    return silo->now;
}

/* -- work -- */

/* Of the streams of own task k in a seeded run. */
static uint64_t key_of(const bb_silo *silo, size_t k) {
    return run_of(silo)->key ? run_of(silo)->key[k] : silo->id[k];
}

/* A seeded run's own draws depend on the task and the round, not on the worker. Where
 * they fail check_work ends the run. */
static bb_task task_of(bb_silo *silo, size_t k, size_t worker, bb_purpose purpose,
                       uint64_t round) {
    const bb_run *run = run_of(silo);
    bb_random *random = silo->random ? &silo->random[worker] : NULL;
    if (random && run->seeded &&
        bb_random_restart(random, run->seed, purpose, round, key_of(silo, k)))
        bb_random_fail(random, "it did not restart");
    return (bb_task){.id = silo->id[k],
                     .local = &run->local[k],
                     .state = silo->state + silo->state_first[k],
                     .model = silo->model + silo->first[k],
                     .intercept = silo->intercept + k,
                     .work = silo->work + worker * silo->work_length,
                     .random = random,
                     .objective = NAN,
                     .gap = NAN};
}

/* Asked before every task: the work of one, not of all, delays the end. */
static bool is_stopped(const bb_silo *silo) {
    const bb_observer *observer = &run_of(silo)->observer;
    return observer->stop && *observer->stop;
}

/* After tasks worked: whether all of them did, with bits that were random. Nothing they
 * made is shown or kept before. */
static bb_status check_work(const bb_silo *silo) {
    const uint32_t rounds = silo->phases.plan.rounds;
    const uint32_t from = silo->phases.part[silo->phase].from;
    bb_status status = BB_OK;
    if (is_stopped(silo))
        return rounds ? bb_fail(BB_EINTERRUPTED, "stopped after round %u of %u",
                                from + silo->board.releases, rounds)
                      : bb_fail(BB_EINTERRUPTED, "stopped before the end");
    for (size_t w = 0; w < silo->random_open && !status; w++)
        status = bb_random_check(&silo->random[w]);
    return status;
}

static void begin(void *context, size_t part, size_t worker) {
    bb_silo *silo = context;
    const size_t from = part * silo->own / silo->parts;
    const size_t to = (part + 1) * silo->own / silo->parts;
    for (size_t k = from; k < to && !is_stopped(silo); k++) {
        bb_task task = task_of(silo, k, worker, BB_FOR_FINISH, silo->phase);
        method_of(silo)->begin(&silo->view, &task);
    }
}

static void begin_phase(bb_silo *silo) {
    const bb_engine *engine = run_of(silo)->engine;
    if (!silo->begun && method_of(silo)->begin)
        engine->each(engine, silo->parts, begin, silo);
    silo->begun = true;
}

/* Who takes part in a round with Poisson sampling, told to nobody: each task with
 * probability q, rounded down to a multiple of 2^-64, by a coin of its own. */
static bb_status toss_coins(bb_silo *silo) {
    const bb_run *run = run_of(silo);
    const double rate = run->pub.rate;
    const uint64_t below = rate < 1.0 ? (uint64_t)ldexp(rate, 64) : 0;
    bb_status status = BB_OK;
    if (run->pub.sampling != BB_SAMPLING_POISSON) return BB_OK;
    for (size_t k = 0; k < silo->own && !status; k++) {
        if (run->seeded)
            status = bb_random_restart(&silo->draw, run->seed, BB_FOR_COHORT,
                                       silo->ask.round, key_of(silo, k));
        if (!status)
            silo->picked[k] = rate >= 1.0 || bb_random_bits(&silo->draw) < below;
    }
    return status ? status : bb_random_check(&silo->draw);
}

static void contribute_one(bb_silo *silo, size_t k, size_t worker, size_t sum) {
    const bb_method *method = method_of(silo);
    const bb_layout *layout = &silo->ask.layout;
    bb_task task = task_of(silo, k, worker, BB_FOR_LOCAL, silo->ask.round);
    double *block[BB_MOST_BLOCKS] = {0};
    double *buffer = silo->show + worker * silo->phases.plan.show_length;
    if (method->train) method->train(&silo->view, &task);
    for (size_t b = 0; b < layout->blocks; b++) {
        const size_t length = bb_block_task_length(&layout->block[b], task.local);
        block[b] = buffer;
        for (size_t j = 0; j < length; j++) buffer[j] = 0.0;
        buffer += length;
    }
    method->show(&silo->view, &task, block);
    bb_tally_add(&silo->tally, sum, task.id, task.local, block);
}

static void contribute(void *context, size_t chunk, size_t worker) {
    bb_silo *silo = context;
    const bool grid = run_of(silo)->mechanism->grid;
    const size_t from = silo->chunk_first[chunk], to = silo->chunk_first[chunk + 1];
    for (size_t k = from; k < to && !is_stopped(silo); k++) {
        if (silo->picked && !silo->picked[k]) continue;
        silo->asked[k] = true;
        contribute_one(silo, k, worker, grid ? worker : chunk);
    }
}

/* Of the frame, at most. */
static size_t sums_bytes(const bb_silo *silo) {
    const bool grid = run_of(silo)->mechanism->grid;
    const size_t tasks = run_of(silo)->pub.tasks, *first = silo->chunk_first;
    size_t bytes = BB_FRAME_HEADER;
    if (grid) return bytes + bb_sums_bytes(&silo->ask.layout, tasks, silo->own);
    for (size_t c = 0; c < silo->chunks; c++)
        bytes += bb_sums_bytes(&silo->ask.layout, tasks, first[c + 1] - first[c]);
    return bytes;
}

static void put_sums(bb_silo *silo) {
    const bb_layout *layout = &silo->ask.layout;
    const size_t tasks = run_of(silo)->pub.tasks, *first = silo->chunk_first;
    bb_frame frame = {.kind = BB_FRAME_SUM,
                      .phase = (uint32_t)silo->phase,
                      .round = silo->ask.round,
                      .attempt = silo->attempt,
                      .silo = silo->number};
    memcpy(frame.run, silo->name, sizeof frame.run);
    silo->out.status = bb_writer_reserve(&silo->out, sums_bytes(silo));
    bb_frame_begin(&silo->out, &frame);
    if (run_of(silo)->mechanism->grid)
        bb_put_sums(&silo->out, layout, tasks, silo->own, silo->id,
                    silo->tally.sum[0].exact);
    else
        for (size_t c = 0; c < silo->chunks && !silo->out.status; c++)
            bb_put_sums(&silo->out, layout, tasks, first[c + 1] - first[c],
                        silo->id + first[c], silo->tally.sum[c].open);
    bb_frame_end(&silo->out, silo->sealed);
    silo->out_ready = true;
}

static bb_status work_round(bb_silo *silo) {
    const bb_engine *engine = run_of(silo)->engine;
    bb_status status = toss_coins(silo);
    if (status) return status;
    bb_tally_begin(&silo->tally, &silo->ask);
    engine->each(engine, silo->chunks, contribute, silo);
    status = check_work(silo);
    if (status) return status;
    bb_tally_end(&silo->tally);
    put_sums(silo);
    silo->now = BB_SILO_WAITING;
    return silo->out.status;
}

static void finish(void *context, size_t part, size_t worker) {
    bb_silo *silo = context;
    const bb_observer *observer = &run_of(silo)->observer;
    const bb_method *method = method_of(silo);
    const size_t from = part * silo->own / silo->parts;
    const size_t to = (part + 1) * silo->own / silo->parts;
    for (size_t k = from; k < to && !is_stopped(silo); k++) {
        bb_task task = task_of(silo, k, worker, BB_FOR_FINISH, silo->phase);
        silo->finished[k] = method->finish(&silo->view, &task);
        silo->objective[k] = task.objective;
        silo->gap[k] = task.gap;
        for (size_t j = 0; j < task.local->length; j++)
            if (!isfinite(task.model[j])) silo->finished[k] = BB_ENUMERIC;
        if (!isfinite(*task.intercept)) silo->finished[k] = BB_ENUMERIC;
    }
    const unsigned done =
        atomic_fetch_add(&silo->done, (unsigned)(to - from)) + (unsigned)(to - from);
    if (worker == 0 && observer->at_home)
        observer->at_home(observer->self, method->name, done, (uint32_t)silo->own);
}

/* Whether a run ends well must not depend on one task's data once something was
 * released: in a private run a task whose solver fails keeps the zero model. */
static bb_status excuse(bb_silo *silo, size_t k) {
    silo->failed[k] = silo->finished[k] != BB_OK;
    if (!silo->failed[k]) return BB_OK;
    if (run_of(silo)->mechanism->pricing == BB_PRICE_NOTHING)
        return bb_fail(silo->finished[k],
                       "task number %zu: its model is not finite or its "
                       "solver failed",
                       silo->id[k] + 1);
    for (size_t j = silo->first[k]; j < silo->first[k + 1]; j++) silo->model[j] = 0.0;
    silo->intercept[k] = 0.0;
    return BB_OK;
}

static bb_status work_end(bb_silo *silo) {
    const bb_run *run = run_of(silo);
    silo->done = 0;
    run->engine->each(run->engine, silo->parts, finish, silo);
    bb_status status = check_work(silo);
    for (size_t k = 0; k < silo->own && !status; k++) status = excuse(silo, k);
    if (status) return status;
    if (method_of(silo)->shared)
        memcpy(silo->shared, silo->next_shared,
               run->pub.clusters * run->pub.parameters * sizeof *silo->shared);
    silo->phase++;
    open_phase(silo);
    return BB_OK;
}

bb_status bb_silo_work(bb_silo *silo) {
    if (silo->now != BB_SILO_WORK) return bb_fail(BB_EUSAGE, "there is no work to do");
    begin_phase(silo);
    const bb_status status = silo->ending ? work_end(silo) : work_round(silo);
    return status ? failed(silo, status) : BB_OK;
}

bool bb_silo_give(const bb_silo *silo, bb_bytes *frame) {
    *frame = (bb_bytes){silo->out.at, silo->out.length};
    return silo->out_ready;
}

void bb_silo_gave(bb_silo *silo) {
    silo->out_ready = false;
}

bb_silo_task bb_silo_result(const bb_silo *silo, size_t k) {
    return (bb_silo_task){.model = silo->model + silo->first[k],
                          .intercept = silo->intercept[k],
                          .objective = silo->objective[k],
                          .gap = silo->gap[k],
                          .asked = silo->asked[k],
                          .failed = silo->failed[k]};
}

/* -- saving -- */

static const uint32_t silo_magic = 0x53534242; /* "BBSS" */

void bb_silo_save(const bb_silo *silo, bb_writer *bytes) {
    const size_t own = silo->own;
    const bb_run *run = run_of(silo);
    bb_put_u32(bytes, silo_magic);
    bb_put_u32(bytes, silo->joined);
    if (!silo->joined) return;
    bb_put_u64(bytes, silo->offer.length);
    bb_put_bytes(bytes, silo->offer.at, silo->offer.length);
    bb_put_u32(bytes, silo->now);
    bb_put_u64(bytes, silo->phase);
    bb_put_u32(bytes, silo->begun);
    bb_put_u32(bytes, silo->ending);
    bb_put_u32(bytes, silo->ask.round);
    bb_put_u32(bytes, silo->attempt);
    if (silo->ask.round) bb_put_ask(bytes, &silo->ask);
    bb_put_doubles(bytes, silo->shared, 2 * run->pub.clusters * run->pub.parameters);
    bb_put_board(bytes, &silo->board);
    bb_put_doubles(bytes, silo->model, silo->first[own]);
    bb_put_doubles(bytes, silo->intercept, own);
    bb_put_doubles(bytes, silo->objective, 2 * own);
    bb_put_doubles(bytes, silo->state, silo->states);
    bb_put_bytes(bytes, silo->asked, 2 * own * sizeof(bool));
    if (silo->picked) bb_put_bytes(bytes, silo->picked, own * sizeof(bool));
    bb_put_u32(bytes, silo->out_ready);
    bb_put_u64(bytes, silo->out.length);
    bb_put_bytes(bytes, silo->out.at, silo->out.length);
}

static void get_flags(bb_reader *reader, bool *flag, size_t count) {
    const uint8_t *at = bb_get(reader, count);
    for (size_t k = 0; at && k < count; k++) flag[k] = at[k] != 0;
}

static bb_status restore(bb_silo *silo, bb_reader *reader) {
    const bb_run *run = run_of(silo);
    const size_t own = silo->own;
    const uint32_t now = bb_get_u32(reader);
    bb_status status = BB_OK;
    silo->phase = bb_get_u64(reader);
    if (silo->phase > silo->phases.count || now > BB_SILO_DONE)
        return bb_fail(BB_EDATA, "a saved silo in phase %zu of %zu", silo->phase + 1,
                       silo->phases.count);
    open_phase(silo);
    silo->now = (bb_silo_state)now;
    silo->begun = bb_get_u32(reader) != 0;
    silo->ending = bb_get_u32(reader) != 0;
    silo->ask.round = bb_get_u32(reader);
    silo->attempt = bb_get_u32(reader);
    if (silo->ask.round) status = bb_get_ask(reader, &silo->phases, &silo->ask);
    bb_get_doubles(reader, silo->shared, 2 * run->pub.clusters * run->pub.parameters);
    bb_reader length = *reader;
    bb_get(&length, 8);
    const uint64_t board = bb_get_u64(&length);
    if (board > silo->board_room) reader->bad = true;
    if (!status && !reader->bad)
        status = bb_get_board(reader, &silo->board, silo->board_at, board);
    bb_get_doubles(reader, silo->model, silo->first[own]);
    bb_get_doubles(reader, silo->intercept, own);
    bb_get_doubles(reader, silo->objective, 2 * own);
    bb_get_doubles(reader, silo->state, silo->states);
    get_flags(reader, silo->asked, 2 * own);
    if (silo->picked) get_flags(reader, silo->picked, own);
    silo->out_ready = bb_get_u32(reader) != 0;
    const uint64_t out = bb_get_u64(reader);
    const uint8_t *at = bb_get(reader, out);
    silo->out.length = 0;
    if (at) bb_put_bytes(&silo->out, at, out);
    if (!status) status = silo->out.status;
    return status ? status : bb_read_all(reader, "a saved silo");
}

bb_status bb_silo_restore(bb_silo *silo, bb_bytes saved) {
    bb_reader reader = bb_reader_of(saved);
    if (silo->joined)
        return failed(silo, bb_fail(BB_EUSAGE, "this silo has begun already"));
    if (bb_get_u32(&reader) != silo_magic)
        return failed(silo, bb_fail(BB_EDATA, "no saved silo"));
    silo->joined = bb_get_u32(&reader) != 0;
    if (!silo->joined) {
        const bb_status status = bb_read_all(&reader, "a saved silo");
        return status ? failed(silo, status) : BB_OK;
    }
    const uint64_t length = bb_get_u64(&reader);
    const uint8_t *offer = bb_get(&reader, length);
    if (!offer) return failed(silo, bb_read_all(&reader, "a saved silo"));
    bb_status status = accept(silo, (bb_bytes){offer, length});
    if (!status) status = restore(silo, &reader);
    return status ? failed(silo, status) : BB_OK;
}
