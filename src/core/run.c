#include "core/run.h"

#include "core/door.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Everything one phase of a training run needs between its first and last line. */
typedef struct conversation {
    const bb_run *run;
    const bb_method *method;
    bb_public pub; /* as this phase has it */
    bb_view view;
    bb_billboard billboard;
    bb_draft draft; /* of the billboard */
    bb_door *door;  /* the door, of the whole run */
    bb_layout layout;
    bb_plan_view plan; /* this phase's part */
    uint32_t from;     /* rounds of the run before it */
    bb_result *result;
    bb_arena arena;
    size_t chunks; /* that contributions are added up in */
    size_t parts;  /* that work at home is dealt in */
    size_t work_length, show_length;
    size_t *state_first; /* tasks + 1 */
    double *state;       /* state_first[tasks] */
    double *work;        /* workers x work_length */
    double *show;        /* workers x show_length */
    double *digest_work;
    double *objective, *gap; /* tasks */
    bb_status *finished;     /* tasks */
    atomic_uint done;        /* tasks that are finished */
    bb_random *random;       /* workers; only for methods that draw */
    size_t random_open;
    bool *picked; /* tasks: who takes part in this round; NULL: all do */
    bb_random draw;
    bool draw_open;
} conversation;

static size_t ask(size_t (*length)(const bb_view *), const bb_view *view) {
    return length ? length(view) : 0;
}

/* Tasks *from to *to - 1 are part k of so many. */
static void bounds(const conversation *c, size_t parts, size_t k, size_t *from,
                   size_t *to) {
    const size_t tasks = c->run->pub.tasks;
    *from = k * tasks / parts;
    *to = (k + 1) * tasks / parts;
}

/* Few and heavy tasks are dealt one by one, where that does not change a sum: on the
 * grid, and at home. */
static void deal(conversation *c) {
    const size_t tasks = c->pub.tasks;
    c->chunks = bb_door_chunks(tasks, c->result->plan.sum_length);
    c->parts = c->pub.network ? tasks : c->chunks;
    if (c->run->mechanism->grid) c->chunks = c->parts;
}

uint64_t bb_run_key(const bb_run *run, size_t i) {
    return run->key ? run->key[i] : i;
}

/* A seeded run's own draws depend on the task and the round, not on the worker. Where
 * they fail check_work ends the run. */
static bb_task task_of(conversation *c, size_t i, size_t worker, bb_purpose purpose,
                       uint64_t round) {
    bb_random *random = c->random ? &c->random[worker] : NULL;
    if (random && c->run->seeded &&
        bb_random_restart(random, c->run->seed, purpose, round, bb_run_key(c->run, i)))
        bb_random_fail(random, "it did not restart");
    return (bb_task){.id = i,
                     .local = &c->run->local[i],
                     .state = c->state + c->state_first[i],
                     .model = c->result->model + c->result->first[i],
                     .intercept = c->result->intercept + i,
                     .work = c->work + worker * c->work_length,
                     .random = random,
                     .objective = NAN,
                     .gap = NAN};
}

/* Asked before every task: the work of one, not of all, delays the end. */
static bool is_stopped(const conversation *c) {
    return c->run->observer.stop && *c->run->observer.stop;
}

static bb_status interrupted(const conversation *c) {
    if (!c->result->plan.rounds)
        return bb_fail(BB_EINTERRUPTED, "stopped before the end");
    return bb_fail(BB_EINTERRUPTED, "stopped after round %u of %u",
                   c->from + c->billboard.releases, c->result->plan.rounds);
}

/* After tasks worked: whether all of them did, with bits that were random. Nothing they
 * made is published or kept before. */
static bb_status check_work(const conversation *c) {
    bb_status status = is_stopped(c) ? interrupted(c) : BB_OK;
    for (size_t w = 0; w < c->random_open && !status; w++)
        status = bb_random_check(&c->random[w]);
    return status;
}

/* -- one round -- */

static void contribute_one(conversation *c, size_t i, size_t worker, size_t sum) {
    bb_task task = task_of(c, i, worker, BB_FOR_LOCAL, c->door->round);
    double *block[BB_MOST_BLOCKS] = {0}, *buffer = c->show + worker * c->show_length;
    if (c->method->train) c->method->train(&c->view, &task);
    for (size_t b = 0; b < c->layout.blocks; b++) {
        const size_t length = bb_block_task_length(&c->layout.block[b], task.local);
        block[b] = buffer;
        for (size_t k = 0; k < length; k++) buffer[k] = 0.0;
        buffer += length;
    }
    c->method->show(&c->view, &task, block);
    bb_door_add(c->door, sum, i, task.local, block);
}

static void contribute(void *context, size_t chunk, size_t worker) {
    conversation *c = context;
    size_t from, to;
    bounds(c, c->chunks, chunk, &from, &to);
    for (size_t i = from; i < to && !is_stopped(c); i++) {
        if (c->picked && !c->picked[i]) continue;
        if (c->picked) c->result->asked[i] = true;
        contribute_one(c, i, worker, c->run->mechanism->grid ? worker : chunk);
    }
}

/* Who takes part, drawn anew for every round and told to nobody: each task with
 * probability q (rounded down to a multiple of 2^-64), or K of them. */
static bb_status draw_cohort(conversation *c) {
    const bb_run *run = c->run;
    const bb_public *pub = &run->pub;
    const uint32_t round = c->door->round + 1;
    bb_status status = BB_OK;
    if (!c->picked) return BB_OK;
    if (pub->sampling == BB_SAMPLING_POISSON) {
        const uint64_t below = pub->rate < 1.0 ? (uint64_t)ldexp(pub->rate, 64) : 0;
        for (size_t i = 0; i < pub->tasks && !status; i++) {
            if (run->seeded) /* in such a run, by a coin of the task's own */
                status = bb_random_restart(&c->draw, run->seed, BB_FOR_COHORT, round,
                                           bb_run_key(run, i));
            if (status) break;
            c->picked[i] = pub->rate >= 1.0 || bb_random_bits(&c->draw) < below;
        }
        return status ? status : bb_random_check(&c->draw);
    }
    if (run->seeded)
        status = bb_random_restart(&c->draw, run->seed, BB_FOR_COHORT, round, 0);
    if (status) return status;
    /* every set of K is as likely as any other (Fan, Muller, Rezucha 1962) */
    size_t left = pub->cohort;
    for (size_t i = 0; i < pub->tasks; i++) {
        c->picked[i] = bb_random_below(&c->draw, pub->tasks - i) < left;
        left -= c->picked[i];
    }
    return bb_random_check(&c->draw);
}

static bb_status talk(conversation *c) {
    const bb_observer *observer = &c->run->observer;
    bb_release release;
    c->method->layout(&c->view, &c->layout);
    bb_status status = draw_cohort(c);
    if (!status) status = bb_door_ask(c->door, &c->layout);
    if (status) return status;
    c->run->engine->each(c->run->engine, c->chunks, contribute, c);
    status = check_work(c);
    if (!status) status = bb_door_publish(c->door, &release);
    if (!status && observer->published)
        status = observer->published(observer->self, &release, c->run->pub.tasks);
    if (!status) {
        release.round -= c->from;
        status = c->method->digest(&c->view, &release, &c->draft, c->digest_work);
    }
    c->billboard.done = c->draft.done;
    if (!status) c->billboard.releases++;
    return status;
}

/* -- the end of a phase -- */

static void finish(void *context, size_t part, size_t worker) {
    conversation *c = context;
    const bb_observer *observer = &c->run->observer;
    size_t from, to;
    bounds(c, c->parts, part, &from, &to);
    for (size_t i = from; i < to && !is_stopped(c); i++) {
        bb_task task = task_of(c, i, worker, BB_FOR_FINISH, c->pub.phase);
        c->finished[i] = c->method->finish(&c->view, &task);
        c->objective[i] = task.objective;
        c->gap[i] = task.gap;
        for (size_t k = 0; k < task.local->length; k++)
            if (!isfinite(task.model[k])) c->finished[i] = BB_ENUMERIC;
        if (!isfinite(*task.intercept)) c->finished[i] = BB_ENUMERIC;
    }
    const unsigned done =
        atomic_fetch_add(&c->done, (unsigned)(to - from)) + (unsigned)(to - from);
    if (worker == 0 && observer->at_home)
        observer->at_home(observer->self, c->method->name, done,
                          (uint32_t)c->run->pub.tasks);
}

/* Whether a run ends well must not depend on one task's data once something was
 * released: in a private run a task whose solver fails keeps the zero model. */
static bb_status excuse(conversation *c, size_t i) {
    bb_result *result = c->result;
    if (c->run->mechanism->pricing == BB_PRICE_NOTHING)
        return bb_fail(c->finished[i],
                       "task number %zu: its model is not finite or its "
                       "solver failed",
                       i + 1);
    for (size_t k = result->first[i]; k < result->first[i + 1]; k++)
        result->model[k] = 0.0;
    result->intercept[i] = 0.0;
    result->failed++;
    return BB_OK;
}

/* For every cluster what the method shares: one model for all, or one for each. */
static void keep_shared(conversation *c) {
    const size_t p = c->pub.parameters;
    if (!c->method->shared) return;
    c->result->shares = true;
    const double *model = c->method->shared(&c->view);
    for (size_t k = 0; k < c->pub.clusters; k++)
        memcpy(c->result->shared + k * p, c->method->clustered ? model + k * p : model,
               p * sizeof *model);
}

static bb_status collect(conversation *c) {
    bb_outcome *outcome = &c->result->outcome;
    *outcome = (bb_outcome){.objective = 0.0, .gap = 0.0, .converged = true};
    c->result->failed = 0; /* in a phase before, which this one went on from */
    for (size_t i = 0; i < c->run->pub.tasks; i++) {
        const bb_status status = c->finished[i] ? excuse(c, i) : BB_OK;
        if (status) return status;
        outcome->objective += c->objective[i];
        outcome->gap += c->gap[i];
    }
    if (c->method->outcome) c->method->outcome(&c->view, outcome);
    const char *note = c->method->note ? c->method->note(&c->view) : NULL;
    if (note) c->result->note = note;
    keep_shared(c);
    c->result->rounds += c->billboard.releases;
    return BB_OK;
}

/* -- setting up a phase -- */

static size_t local_work(const conversation *c) {
    size_t most = 0;
    for (size_t i = 0; i < c->pub.tasks; i++) {
        const bb_local *local = &c->run->local[i];
        size_t work = bb_local_work(local);
        if (c->method->local_length) work += c->method->local_length(&c->view, local);
        if (work > most) most = work;
    }
    return most;
}

static bb_status measure_states(conversation *c) {
    const size_t own = ask(c->method->state_length, &c->view);
    bb_status status = bb_allocate(&c->state_first, c->pub.tasks + 1,
                                   sizeof *c->state_first, "the training run");
    for (size_t i = 0; i < c->pub.tasks && !status; i++)
        c->state_first[i + 1] =
            c->state_first[i] + own + c->method->state_models * c->run->local[i].length;
    return status;
}

static bb_status take_memory(conversation *c) {
    const bb_run *run = c->run;
    bb_arena *arena = &c->arena;
    const size_t workers = run->engine->workers, tasks = c->pub.tasks;
    const size_t digest = ask(c->method->digest_length, &c->view);
    const size_t states = c->state_first[tasks];
    const bool draws = c->method->own_noise || c->method->draws;
    const bool sample = c->pub.sampling != BB_SAMPLING_ALL;
    c->billboard.length = ask(c->method->board_length, &c->view);
    c->work_length = ask(c->method->work_length, &c->view) + local_work(c) + 8;
    c->show_length = c->result->plan.show_length;
    bb_arena_need(arena, c->billboard.length, sizeof(double));
    bb_arena_need(arena, states, sizeof(double));
    bb_arena_need(arena, workers * c->work_length, sizeof(double));
    bb_arena_need(arena, workers * c->show_length, sizeof(double));
    bb_arena_need(arena, digest, sizeof(double));
    bb_arena_need(arena, 2 * tasks, sizeof(double));
    bb_arena_need(arena, tasks, sizeof(bb_status));
    bb_arena_need(arena, draws ? workers : 0, sizeof(bb_random));
    bb_arena_need(arena, sample ? tasks : 0, sizeof(bool));
    bb_status status = bb_arena_open(arena, "the training run");
    if (status) return status;
    c->draft.at = bb_arena_take(arena, c->billboard.length, sizeof(double));
    c->draft.length = c->billboard.length;
    c->billboard.at = c->draft.at;
    c->state = bb_arena_take(arena, states, sizeof(double));
    c->work = bb_arena_take(arena, workers * c->work_length, sizeof(double));
    c->show = bb_arena_take(arena, workers * c->show_length, sizeof(double));
    c->digest_work = bb_arena_take(arena, digest, sizeof(double));
    c->objective = bb_arena_take(arena, 2 * tasks, sizeof(double));
    c->gap = c->objective + tasks;
    c->finished = bb_arena_take(arena, tasks, sizeof(bb_status));
    if (draws) c->random = bb_arena_take(arena, workers, sizeof(bb_random));
    if (sample) c->picked = bb_arena_take(arena, tasks, sizeof(bool));
    return BB_OK;
}

static bb_status open_random(conversation *c) {
    const bb_run *run = c->run;
    bb_status status = BB_OK;
    for (size_t w = 0; c->random && w < run->engine->workers && !status; w++) {
        status = run->seeded ? bb_random_open_stream(&c->random[w], run->seed,
                                                     BB_FOR_LOCAL, 0, 0)
                             : bb_random_open_secure(&c->random[w]);
        if (!status) c->random_open++;
    }
    if (c->picked && !status) {
        status = run->seeded
                     ? bb_random_open_stream(&c->draw, run->seed, BB_FOR_COHORT, 0, 0)
                     : bb_random_open_secure(&c->draw);
        c->draw_open = !status;
    }
    return status;
}

static void close_phase(conversation *c) {
    for (size_t w = 0; w < c->random_open; w++) bb_random_close(&c->random[w]);
    if (c->draw_open) bb_random_close(&c->draw);
    free(c->state_first);
    bb_arena_close(&c->arena);
}

/* -- the loop -- */

static void begin(void *context, size_t part, size_t worker) {
    conversation *c = context;
    size_t from, to;
    bounds(c, c->parts, part, &from, &to);
    for (size_t i = from; i < to && !is_stopped(c); i++) {
        bb_task task = task_of(c, i, worker, BB_FOR_FINISH, c->pub.phase);
        c->method->begin(&c->view, &task);
    }
}

static bb_status converse(conversation *c) {
    const bb_run *run = c->run;
    const uint32_t rounds = c->result->plan.rounds;
    bb_status status = BB_OK;
    if (c->method->open) c->method->open(&c->view, &c->draft);
    if (c->pub.phase && c->method->begin)
        run->engine->each(run->engine, c->parts, begin, c);
    if (c->plan.rounds) bb_door_skip_to(c->door, c->from);
    while (!status && c->billboard.releases < c->plan.rounds && !c->billboard.done) {
        if (is_stopped(c)) return interrupted(c);
        status = talk(c);
        if (!status && run->observer.progress)
            run->observer.progress(run->observer.self, c->door->round, rounds);
    }
    if (status) return status;
    run->engine->each(run->engine, c->parts, finish, c);
    status = check_work(c);
    return status ? status : collect(c);
}

/* One phase: `part` is what the plan gave it. */
static bb_status run_phase(const bb_run *run, const bb_plan_part *part, bb_door *door,
                           bb_result *result) {
    conversation c = {.run = run,
                      .method = part->view.method,
                      .pub = *part->view.pub,
                      .door = door,
                      .plan = bb_plan_view_of(&result->plan, part),
                      .from = part->from,
                      .result = result};
    deal(&c);
    if (c.pub.phase) c.pub.start = result->shares ? result->shared : NULL;
    c.view = (bb_view){c.method, part->view.options, &c.pub, NULL, NULL};
    bb_status status = measure_states(&c);
    if (!status) status = take_memory(&c);
    if (!status) status = open_random(&c);
    c.view.board = &c.billboard;
    c.view.plan = &c.plan;
    if (!status) status = converse(&c);
    close_phase(&c);
    return status;
}

/* -- the run -- */

/* The phases of a run, as the plan asks for them. */
typedef struct phases {
    size_t count;
    bb_public pub[BB_MOST_PHASES];
    bb_plan_part part[BB_MOST_PHASES];
} phases;

/* What each phase has of mu^2, all of it together (bb_run_check): the first of those
 * that say nothing has what the others leave. */
static void divide(const bb_run *run, double *share) {
    double rest = 1.0, others = 0.0;
    size_t without = 0, first = run->phases;
    for (size_t k = 0; k < run->phases; k++) {
        const bb_phase *phase = &run->phase[k];
        share[k] = phase->method->kind == BB_METHOD_ALONE ? 0.0 : phase->share;
        rest -= share[k];
        if (phase->method->kind == BB_METHOD_ALONE || phase->share > 0.0) continue;
        if (without++ == 0) first = k;
    }
    for (size_t k = 0; k < run->phases; k++) {
        const bb_phase *phase = &run->phase[k];
        if (phase->method->kind != BB_METHOD_ALONE && phase->share == 0.0 && k != first)
            share[k] = rest / (double)without;
        if (k != first) others += share[k];
    }
    if (without) share[first] = 1.0 - others;
    for (size_t k = 0; k < run->phases && !without && others > 0.0; k++)
        share[k] /= others;
}

static void open_phases(const bb_run *run, phases *all) {
    double share[BB_MOST_PHASES];
    divide(run, share);
    all->count = run->phases;
    for (size_t k = 0; k < all->count; k++) {
        const bb_phase *phase = &run->phase[k];
        bb_public *pub = &all->pub[k];
        *pub = run->pub;
        pub->phase = k;
        pub->rounds = phase->rounds;
        if (all->count > 1) pub->mu = share[k] > 0.0 ? sqrt(share[k]) * pub->mu : 0.0;
        all->part[k] =
            (bb_plan_part){.view = {phase->method, phase->options, pub, NULL, NULL},
                           .share = share[k]};
    }
}

static bb_status open_result(const bb_run *run, phases *all, bb_result *result) {
    const size_t tasks = run->pub.tasks;
    bb_status status = bb_plan_join(&result->plan, &run->pub, all->count, all->part,
                                    run->mechanism->pricing);
    if (!status)
        status =
            bb_allocate(&result->first, tasks + 1, sizeof *result->first, "the models");
    for (size_t i = 0; i < tasks && !status; i++)
        result->first[i + 1] = result->first[i] + run->local[i].length;
    if (!status)
        status = bb_allocate(&result->model, result->first[tasks], sizeof(double),
                             "the models");
    if (!status)
        status = bb_allocate(&result->intercept, tasks, sizeof(double), "the models");
    if (!status && run->pub.sampling != BB_SAMPLING_ALL)
        status = bb_allocate(&result->asked, tasks, sizeof(bool), "the models");
    if (!status)
        status = bb_allocate(&result->shared, run->pub.clusters * run->pub.parameters,
                             sizeof(double), "the models");
    result->shares = run->pub.start != NULL;
    for (size_t k = 0; k < run->pub.clusters && !status && run->pub.start; k++)
        memcpy(result->shared + k * run->pub.parameters, run->pub.start,
               run->pub.parameters * sizeof *result->shared);
    return status;
}

/* The Gaussian budget of the whole run; without noise everything is unlimited. */
static bb_run priced(const bb_run *asked) {
    bb_run run = *asked;
    const bool noise = run.mechanism->pricing != BB_PRICE_NOTHING;
    run.pub.epsilon = noise ? run.pub.epsilon : INFINITY;
    run.pub.delta = noise ? run.pub.delta : 0.0;
    run.pub.mu = noise ? bb_gdp_mu(run.pub.epsilon, run.pub.delta) : INFINITY;
    if (!run.pub.outputs) run.pub.outputs = 1;
    if (!run.pub.clusters) run.pub.clusters = 1;
    if (!run.pub.parameters) run.pub.parameters = run.pub.features;
    return run;
}

bb_status bb_run_train(const bb_run *asked, bb_result *result) {
    const bb_run priced_run = priced(asked), *run = &priced_run;
    phases all;
    bb_result made = {0};
    bb_arena arena = {0};
    bb_door door = {0};
    bb_status status = bb_run_check(run);
    if (!status) {
        open_phases(run, &all);
        status = open_result(run, &all, &made);
    }
    if (!status) {
        bb_door_need(run, &made.plan, &arena);
        status = bb_arena_open(&arena, "the training run");
    }
    if (!status) status = bb_door_open(&door, run, &made.plan, &arena);
    for (size_t k = 0; !status && k < all.count; k++)
        status = run_phase(run, &all.part[k], &door, &made);
    if (!status) {
        made.noise_multiplier = isfinite(door.least_noise) ? door.least_noise : NAN;
        status = bb_door_hash(&door, made.billboard_sha256);
    }
    if (door.plan) bb_door_close(&door);
    bb_arena_close(&arena);
    if (status)
        bb_result_free(&made);
    else
        *result = made;
    return status;
}

void bb_result_free(bb_result *result) {
    free(result->first);
    free(result->model);
    free(result->intercept);
    free(result->shared);
    free(result->asked);
    bb_plan_free(&result->plan);
    *result = (bb_result){0};
}
