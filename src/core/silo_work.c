/* What a silo does with its tasks: the only file of it that looks at rows. */
#include "base/memory.h"
#include "core/silo_inside.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the streams of own task k in a seeded run. */
static uint64_t key_of(const bb_silo *silo, size_t k) {
    return bb_silo_run(silo)->key ? bb_silo_run(silo)->key[k] : silo->id[k];
}

/* A seeded run's own draws depend on the task and the round, not on the worker. Where
 * they fail check_work ends the run. */
static bb_task task_of(bb_silo *silo, size_t k, size_t worker, bb_purpose purpose,
                       uint64_t round) {
    const bb_run *run = bb_silo_run(silo);
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
    const bb_observer *observer = &bb_silo_run(silo)->observer;
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

/* A pass has come behind task `to` - 1: what lies in files may leave memory. */
static void passed(const bb_silo *silo, size_t from, size_t to) {
    const bb_observer *observer = &bb_silo_run(silo)->observer;
    bb_map_passed(&silo->model_at, silo->model + silo->first[from],
                  silo->model + silo->first[to]);
    bb_map_passed(&silo->state_at, silo->state + silo->state_first[from],
                  silo->state + silo->state_first[to]);
    if (observer->passed) observer->passed(observer->self, from, to);
}

static void begin(void *context, size_t part, size_t worker) {
    bb_silo *silo = context;
    const size_t from = part * silo->own / silo->parts;
    const size_t to = (part + 1) * silo->own / silo->parts;
    for (size_t k = from; k < to && !is_stopped(silo); k++) {
        bb_task task = task_of(silo, k, worker, BB_FOR_FINISH, silo->phase);
        bb_silo_method(silo)->begin(&silo->view, &task);
        passed(silo, k, k + 1);
    }
}

static void begin_phase(bb_silo *silo) {
    const bb_engine *engine = bb_silo_run(silo)->engine;
    if (!silo->begun && bb_silo_method(silo)->begin)
        engine->each(engine, silo->parts, begin, silo);
    silo->begun = true;
}

/* Who takes part in a round with Poisson sampling, told to nobody: each task with
 * probability q, rounded down to a multiple of 2^-64, by a coin of its own. */
static bb_status toss_coins(bb_silo *silo) {
    const bb_run *run = bb_silo_run(silo);
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
    const bb_method *method = bb_silo_method(silo);
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

/* Asks memory for the beginning of what task k keeps, while another one works: of few
 * numbers that a round reads once, most of the time is waiting for them. */
static void fetch(const bb_silo *silo, size_t k) {
    enum { LINE = 64 / sizeof(double), MOST = 64 * LINE };
    const size_t length = silo->state_first[k + 1] - silo->state_first[k];
    for (size_t at = 0; at < length && at < MOST; at += LINE)
        __builtin_prefetch(silo->state + silo->state_first[k] + at);
}

static void contribute(void *context, size_t chunk, size_t worker) {
    bb_silo *silo = context;
    const bool grid = bb_silo_run(silo)->mechanism->grid;
    const size_t from = silo->chunk_first[chunk], to = silo->chunk_first[chunk + 1];
    for (size_t k = from, left = from; k < to && !is_stopped(silo); k++) {
        if (silo->picked && !silo->picked[k]) continue;
        silo->asked[k] = true;
        if (k + 1 < to) fetch(silo, k + 1);
        contribute_one(silo, k, worker, grid ? worker : chunk);
        passed(silo, left, k + 1);
        left = k + 1;
    }
}

/* Off the grid: behind the own chunks from c on whose sums are one. */
static size_t next_group(const bb_silo *silo, size_t c) {
    return c ? c + 1 : silo->lead;
}

/* Of the frame, at most. */
static size_t sums_bytes(const bb_silo *silo) {
    const bool grid = bb_silo_run(silo)->mechanism->grid;
    const size_t tasks = bb_silo_run(silo)->pub.tasks, *first = silo->chunk_first;
    size_t bytes = BB_FRAME_HEADER + (silo->two_doors ? 4 + BB_SEAL_BYTES : 0);
    if (grid) return bytes + bb_sums_bytes(&silo->ask.layout, tasks, silo->own);
    for (size_t c = 0, next; c < silo->chunks; c = next) {
        next = next_group(silo, c);
        bytes += bb_sums_bytes(&silo->ask.layout, tasks, first[next] - first[c]);
    }
    return bytes;
}

/* The sums become a share: a new seed for every one that is made, so that no stream hides
 * two. What opens the rest is sealed for the helper. */
static void put_share(bb_silo *silo, const bb_frame *frame) {
    uint8_t seed[BB_SEAL_SECRET], context[BB_HASH_BYTES], sealed[BB_SEAL_BYTES];
    const size_t tasks = bb_silo_run(silo)->pub.tasks;
    bb_status status = bb_random_secret(seed, sizeof seed);
    if (!status) status = bb_share_context(frame, &silo->ask, context);
    if (!status) status = bb_seal(silo->helper_key, context, seed, sealed);
    if (!status)
        status = bb_share_mask(seed, context, &silo->ask.layout, tasks, silo->own,
                               silo->id, true, silo->tally.sum[0].exact);
    explicit_bzero(seed, sizeof seed);
    if (status) {
        silo->out.status = status;
        return;
    }
    bb_put_u32(&silo->out, frame->attempt);
    bb_put_bytes(&silo->out, sealed, sizeof sealed);
}

static void put_sums(bb_silo *silo) {
    const bb_layout *layout = &silo->ask.layout;
    const size_t tasks = bb_silo_run(silo)->pub.tasks, *first = silo->chunk_first;
    bb_frame frame = {.kind = BB_FRAME_SUM,
                      .phase = (uint32_t)silo->phase,
                      .round = silo->ask.round,
                      .attempt = silo->attempt,
                      .silo = silo->number};
    memcpy(frame.run, silo->name, sizeof frame.run);
    silo->out.status = bb_writer_reserve(&silo->out, sums_bytes(silo));
    bb_frame_begin(&silo->out, &frame);
    if (silo->two_doors) put_share(silo, &frame);
    if (bb_silo_run(silo)->mechanism->grid)
        bb_put_sums(&silo->out, layout, tasks, silo->own, silo->id,
                    silo->tally.sum[0].exact);
    else
        for (size_t c = 0, next; c < silo->chunks && !silo->out.status; c = next) {
            next = next_group(silo, c);
            bb_put_sums(&silo->out, layout, tasks, first[next] - first[c],
                        silo->id + first[c], silo->tally.sum[c].open);
        }
    bb_frame_end(&silo->out, &silo->stamp);
    silo->out_ready = true;
}

static bb_status work_round(bb_silo *silo) {
    const bb_engine *engine = bb_silo_run(silo)->engine;
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

/* What the task may keep beside its model, behind the last phase. */
static void spread(const bb_silo *silo, size_t k, bb_task *task) {
    const bb_method *method = bb_silo_method(silo);
    double *out = bb_silo_run(silo)->spread;
    if (!out || !method->spread || silo->phase + 1 < silo->phases.count) return;
    const size_t length = method->spread_length(&silo->view);
    out += k * length;
    if (silo->finished[k] == BB_OK && method->spread(&silo->view, task, out) == BB_OK)
        return;
    for (size_t j = 0; j < length; j++) out[j] = NAN;
}

/* last: the model is what the task keeps. */
static bool is_finite(const bb_silo *silo, size_t k, size_t worker, const bb_task *task,
                      bool last) {
    const bb_observer *observer = &bb_silo_run(silo)->observer;
    if (!bb_all_finite(task->local->length, task->model) || !isfinite(*task->intercept))
        return false;
    return !last || !observer->keeps ||
           observer->keeps(observer->self, k, worker, task->model, *task->intercept);
}

static void finish(void *context, size_t part, size_t worker) {
    bb_silo *silo = context;
    const bb_observer *observer = &bb_silo_run(silo)->observer;
    const bb_method *method = bb_silo_method(silo);
    const size_t from = part * silo->own / silo->parts;
    const size_t to = (part + 1) * silo->own / silo->parts;
    const bool last = silo->phase + 1 == silo->phases.count;
    for (size_t k = from; k < to && !is_stopped(silo); k++) {
        bb_task task = task_of(silo, k, worker, BB_FOR_FINISH, silo->phase);
        silo->finished[k] = method->finish(&silo->view, &task);
        silo->objective[k] = task.objective;
        silo->gap[k] = task.gap;
        if (!is_finite(silo, k, worker, &task, last)) silo->finished[k] = BB_ENUMERIC;
        spread(silo, k, &task);
        passed(silo, k, k + 1);
    }
    const unsigned done =
        atomic_fetch_add(&silo->done, (unsigned)(to - from)) + (unsigned)(to - from);
    if (worker == 0 && observer->at_home)
        observer->at_home(observer->self, method->name, done, (uint32_t)silo->own);
}

/* Whether a run ends well must not depend on one task's data once something was
 * released: in a private run a task whose solver fails, or whose model is not finite,
 * keeps the zero model. */
static bb_status excuse(bb_silo *silo, size_t k) {
    silo->failed[k] = silo->finished[k] != BB_OK;
    if (!silo->failed[k]) return BB_OK;
    if (bb_silo_run(silo)->mechanism->pricing == BB_PRICE_NOTHING)
        return bb_fail(silo->finished[k],
                       "task number %zu: its model is not finite or its "
                       "solver failed",
                       silo->id[k] + 1);
    for (size_t j = silo->first[k]; j < silo->first[k + 1]; j++) silo->model[j] = 0.0;
    silo->intercept[k] = 0.0;
    return BB_OK;
}

/* As the curator has it, made of the same billboard. */
static void keep_note(bb_silo *silo) {
    const bb_method *method = bb_silo_method(silo);
    const char *note = method->note ? method->note(&silo->view) : NULL;
    assert(!note || strlen(note) < BB_SILO_NOTE);
    if (note) snprintf(silo->note, sizeof silo->note, "%s", note);
}

static bb_status work_end(bb_silo *silo) {
    const bb_run *run = bb_silo_run(silo);
    silo->done = 0;
    run->engine->each(run->engine, silo->parts, finish, silo);
    bb_status status = check_work(silo);
    for (size_t k = 0; k < silo->own && !status; k++) status = excuse(silo, k);
    if (status) return status;
    if (bb_silo_method(silo)->shared)
        memcpy(silo->shared, silo->next_shared,
               run->pub.clusters * run->pub.parameters * sizeof *silo->shared);
    keep_note(silo);
    silo->rounds += silo->board.releases;
    silo->board.releases = 0;
    silo->phase++;
    bb_silo_open_phase(silo);
    return BB_OK;
}

/* -- between rounds, for the operator of a simulation -- */

const bb_method *bb_silo_finishes(const bb_silo *silo) {
    return silo->board.releases ? bb_silo_method(silo) : NULL;
}

static void preview(void *context, size_t part, size_t worker) {
    bb_silo *silo = context;
    const size_t from = part * silo->own / silo->parts;
    const size_t to = (part + 1) * silo->own / silo->parts;
    for (size_t k = from; k < to && !is_stopped(silo); k++) {
        bb_task task = task_of(silo, k, worker, BB_FOR_FINISH, silo->phase);
        if (!bb_silo_method(silo)->finish(&silo->view, &task) &&
            is_finite(silo, k, worker, &task, true))
            continue;
        memset(task.model, 0, task.local->length * sizeof *task.model);
        *task.intercept = 0.0;
    }
}

/* Of the models as they are: the losses of linear models and what their method adds, or
 * what the method itself says; NAN where it says nothing. */
static bb_status preview_objective(const bb_silo *silo, double *out) {
    const bb_run *run = bb_silo_run(silo);
    const bb_method *method = bb_silo_method(silo);
    const size_t d = run->pub.features;
    bb_outcome said = {.objective = NAN};
    if (method->outcome) method->outcome(&silo->view, &said);
    *out = said.objective;
    if (!method->penalty) return BB_OK;
    double losses = 0.0, penalty = NAN;
    for (size_t k = 0; k < silo->own; k++) {
        const bb_local *local = &run->local[k];
        if (run->pub.parameters != d || local->length != d) return BB_OK;
        losses +=
            bb_local_value(local, silo->model + k * d, silo->intercept[k], silo->work);
    }
    const bb_status status = method->penalty(&silo->view, silo->model, &penalty);
    *out = losses + penalty;
    return status;
}

static bb_status preview_all(bb_silo *silo, bb_result *result) {
    const bb_run *run = bb_silo_run(silo);
    const bb_method *method = bb_silo_method(silo);
    const size_t shared = run->pub.clusters * run->pub.parameters;
    run->engine->each(run->engine, silo->parts, preview, silo);
    bb_status status = check_work(silo);
    if (!status && !result->shared)
        status = bb_allocate(&result->shared, shared, sizeof(double), "the models");
    if (!status) status = preview_objective(silo, &result->outcome.objective);
    if (status) return status;
    memcpy(result->model, silo->model, silo->first[silo->own] * sizeof(double));
    memcpy(result->intercept, silo->intercept, silo->own * sizeof(double));
    const double *now = method->shared ? method->shared(&silo->view) : silo->shared;
    const size_t each = run->pub.parameters;
    for (size_t k = 0; now && k < run->pub.clusters; k++)
        memcpy(result->shared + k * each,
               method->shared && !method->clustered ? now : now + k * each,
               each * sizeof *now);
    return BB_OK;
}

/* Methods may change a task's state and model when they finish: both are put back. */
bb_status bb_silo_preview(bb_silo *silo, bb_result *result) {
    const size_t states = silo->state_first[silo->own],
                 numbers = silo->first[silo->own];
    double *kept = NULL;
    bb_status status =
        bb_allocate(&kept, states + numbers + silo->own, sizeof *kept, "a trace");
    if (status) return status;
    memcpy(kept, silo->state, states * sizeof *kept);
    memcpy(kept + states, silo->model, numbers * sizeof *kept);
    memcpy(kept + states + numbers, silo->intercept, silo->own * sizeof *kept);
    status = preview_all(silo, result);
    memcpy(silo->state, kept, states * sizeof *kept);
    memcpy(silo->model, kept + states, numbers * sizeof *kept);
    memcpy(silo->intercept, kept + states + numbers, silo->own * sizeof *kept);
    free(kept);
    return status;
}

bb_status bb_silo_work(bb_silo *silo) {
    if (silo->now == BB_SILO_STOPPED) return bb_silo_stopped(silo);
    if (silo->now != BB_SILO_WORK) return bb_fail(BB_EUSAGE, "there is no work to do");
    begin_phase(silo);
    const bb_status status = silo->ending ? work_end(silo) : work_round(silo);
    return status ? bb_silo_failed(silo, status) : BB_OK;
}
