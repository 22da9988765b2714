#include "core/run.h"

#include "core/board.h"

#include <math.h>
#include <stdlib.h>

/* Everything one training run needs between its first and last line. */
typedef struct conversation {
    const bb_run *run;
    const bb_method *method;
    bb_view view;
    bb_billboard billboard;
    bb_board board;
    bb_layout layout;
    bb_result *result;
    size_t chunks;
    size_t state_length, work_length, show_length;
    double *state; /* tasks x state_length */
    double *work;  /* workers x work_length */
    double *show;  /* workers x show_length */
    double *digest_work;
    double *objective, *gap; /* tasks */
    bb_status *finished;     /* tasks */
    bb_random *random;       /* workers; only for methods with own noise */
    size_t random_open;
    bool *picked; /* tasks: who takes part in this round; NULL: all do */
    bb_random draw;
    bool draw_open;
} conversation;

static size_t ask(size_t (*length)(const bb_view *), const bb_view *view) {
    return length ? length(view) : 0;
}

static void chunk_bounds(const conversation *c, size_t chunk, size_t *from,
                         size_t *to) {
    const size_t tasks = c->run->pub.tasks;
    *from = chunk * tasks / c->chunks;
    *to = (chunk + 1) * tasks / c->chunks;
}

static bb_task task_of(conversation *c, size_t i, size_t worker) {
    return (bb_task){.id = i,
                     .local = &c->run->local[i],
                     .state = c->state + i * c->state_length,
                     .model = c->result->model + i * c->run->pub.features,
                     .intercept = c->result->intercept + i,
                     .work = c->work + worker * c->work_length,
                     .random = c->random ? &c->random[worker] : NULL,
                     .objective = NAN,
                     .gap = NAN};
}

/* -- one round -- */

static void contribute_one(conversation *c, size_t i, size_t worker, size_t sum) {
    bb_task task = task_of(c, i, worker);
    double *block[BB_MOST_BLOCKS] = {0}, *buffer = c->show + worker * c->show_length;
    /* a seeded run's own noise depends on the task and the round, not on the worker */
    if (c->random && c->run->seeded &&
        bb_random_restart(task.random, c->run->seed, BB_FOR_LOCAL, c->board.round, i))
        abort();
    if (c->method->train) c->method->train(&c->view, &task);
    for (size_t b = 0; b < c->layout.blocks; b++) {
        const size_t length = bb_block_show_length(&c->layout.block[b]);
        block[b] = buffer;
        for (size_t k = 0; k < length; k++) buffer[k] = 0.0;
        buffer += length;
    }
    c->method->show(&c->view, &task, block);
    bb_board_add(&c->board, sum, i, block);
}

static void contribute(void *context, size_t chunk, size_t worker) {
    conversation *c = context;
    size_t from, to;
    chunk_bounds(c, chunk, &from, &to);
    for (size_t i = from; i < to; i++) {
        if (c->picked && !c->picked[i]) continue;
        contribute_one(c, i, worker, c->run->mechanism->grid ? worker : chunk);
    }
}

/* Who takes part, drawn anew for every round and told to nobody: each task with
 * probability q (rounded down to a multiple of 2^-64), or K of them. */
static bb_status draw_cohort(conversation *c) {
    const bb_public *pub = &c->run->pub;
    bb_status status = BB_OK;
    if (!c->picked) return BB_OK;
    if (c->run->seeded)
        status = bb_random_restart(&c->draw, c->run->seed, BB_FOR_COHORT,
                                   c->board.round + 1, 0);
    if (status) return status;
    if (pub->sampling == BB_SAMPLING_POISSON) {
        const uint64_t below = pub->rate < 1.0 ? (uint64_t)ldexp(pub->rate, 64) : 0;
        for (size_t i = 0; i < pub->tasks; i++)
            c->picked[i] = pub->rate >= 1.0 || bb_random_bits(&c->draw) < below;
        return BB_OK;
    }
    /* every set of K is as likely as any other (Fan, Muller, Rezucha 1962) */
    size_t left = pub->cohort;
    for (size_t i = 0; i < pub->tasks; i++) {
        c->picked[i] = bb_random_below(&c->draw, pub->tasks - i) < left;
        left -= c->picked[i];
    }
    return BB_OK;
}

static bb_status talk(conversation *c) {
    const bb_observer *observer = &c->run->observer;
    bb_release release;
    c->method->layout(&c->view, &c->layout);
    bb_status status = draw_cohort(c);
    if (!status) status = bb_board_ask(&c->board, &c->layout);
    if (status) return status;
    c->run->engine->each(c->run->engine, c->chunks, contribute, c);
    status = bb_board_publish(&c->board, &release);
    if (!status && observer->published)
        status = observer->published(observer->self, &release, c->run->pub.tasks);
    if (!status)
        status = c->method->digest(&c->view, &release, &c->billboard, c->digest_work);
    if (!status) c->billboard.releases++;
    return status;
}

/* -- the end -- */

static void finish(void *context, size_t chunk, size_t worker) {
    conversation *c = context;
    size_t from, to;
    chunk_bounds(c, chunk, &from, &to);
    for (size_t i = from; i < to; i++) {
        bb_task task = task_of(c, i, worker);
        c->finished[i] = c->method->finish(&c->view, &task);
        c->objective[i] = task.objective;
        c->gap[i] = task.gap;
        for (size_t k = 0; k < c->run->pub.features; k++)
            if (!isfinite(task.model[k])) c->finished[i] = BB_ENUMERIC;
        if (!isfinite(*task.intercept)) c->finished[i] = BB_ENUMERIC;
    }
}

/* Whether a run ends well must not depend on one task's data once something was
 * released: in a private run a task whose solver fails keeps the zero model. */
static bb_status excuse(conversation *c, size_t i) {
    const size_t d = c->run->pub.features;
    if (c->run->mechanism->pricing == BB_PRICE_NOTHING)
        return bb_fail(c->finished[i],
                       "task number %zu: its model is not finite or its "
                       "solver failed",
                       i + 1);
    for (size_t k = 0; k < d; k++) c->result->model[i * d + k] = 0.0;
    c->result->intercept[i] = 0.0;
    c->result->failed++;
    return BB_OK;
}

static bb_status collect(conversation *c) {
    bb_outcome *outcome = &c->result->outcome;
    *outcome = (bb_outcome){.objective = 0.0, .gap = 0.0, .converged = true};
    for (size_t i = 0; i < c->run->pub.tasks; i++) {
        const bb_status status = c->finished[i] ? excuse(c, i) : BB_OK;
        if (status) return status;
        outcome->objective += c->objective[i];
        outcome->gap += c->gap[i];
    }
    if (c->method->outcome) c->method->outcome(&c->view, outcome);
    c->result->rounds = c->billboard.releases;
    c->result->noise_multiplier =
        isfinite(c->board.least_noise) ? c->board.least_noise : NAN;
    return bb_board_hash(&c->board, c->result->billboard_sha256);
}

/* -- setting up -- */

static bb_status check(const bb_run *run) {
    if (!(run->method->losses & (1U << run->pub.loss)))
        return bb_fail(BB_EUSAGE, "method %s does not support the %s loss",
                       run->method->name,
                       run->pub.loss == BB_LOSS_SQUARED ? "squared" : "logistic");
    if (run->method->kind == BB_METHOD_OPEN &&
        run->mechanism->pricing != BB_PRICE_NOTHING)
        return bb_fail(BB_EUSAGE,
                       "method %s exchanges everything in the clear and is never "
                       "private: it runs with mechanism none only",
                       run->method->name);
    return BB_OK;
}

static bb_status check_sampling(const bb_run *run) {
    const bb_public *pub = &run->pub;
    if (pub->sampling == BB_SAMPLING_ALL) return BB_OK;
    if (!run->method->sampled)
        return bb_fail(BB_EUSAGE,
                       "method %s asks all tasks in every round: it cannot be run with "
                       "a sample of them",
                       run->method->name);
    if (run->mechanism->pricing == BB_PRICE_PUBLISHED)
        return bb_fail(BB_EUSAGE, "mechanism %s has no price for a sample of the tasks",
                       run->mechanism->name);
    if (pub->sampling == BB_SAMPLING_FIXED_HIDDEN && run->method->keeps)
        return bb_fail(BB_EUSAGE,
                       "method %s moves a task's model only when it is picked, so a "
                       "cohort of fixed size is visible",
                       run->method->name);
    if (pub->sampling == BB_SAMPLING_POISSON)
        return pub->rate > 0.0 && pub->rate <= 1.0
                   ? BB_OK
                   : bb_fail(BB_EUSAGE, "a sampling rate must be in (0, 1], got %g",
                             pub->rate);
    return pub->cohort >= 1 && pub->cohort <= pub->tasks
               ? BB_OK
               : bb_fail(BB_EUSAGE, "a sample of %zu tasks cannot be drawn from %zu",
                         pub->cohort, pub->tasks);
}

static size_t local_work(const conversation *c) {
    size_t most = 0;
    for (size_t i = 0; i < c->run->pub.tasks; i++) {
        const bb_local *local = &c->run->local[i];
        size_t work = bb_local_work(local);
        if (c->method->local_length) work += c->method->local_length(&c->view, local);
        if (work > most) most = work;
    }
    return most;
}

static bb_status take_memory(conversation *c, bb_arena *arena) {
    const bb_run *run = c->run;
    const size_t workers = run->engine->workers, tasks = run->pub.tasks;
    const size_t digest = ask(c->method->digest_length, &c->view);
    c->billboard.length = ask(c->method->board_length, &c->view);
    c->state_length = ask(c->method->state_length, &c->view);
    c->work_length = ask(c->method->work_length, &c->view) + local_work(c) + 8;
    c->show_length = c->result->plan.show_length;
    bb_arena_need(arena, c->billboard.length, sizeof(double));
    bb_arena_need(arena, tasks * c->state_length, sizeof(double));
    bb_arena_need(arena, workers * c->work_length, sizeof(double));
    bb_arena_need(arena, workers * c->show_length, sizeof(double));
    bb_arena_need(arena, digest, sizeof(double));
    bb_arena_need(arena, 2 * tasks, sizeof(double));
    bb_arena_need(arena, tasks, sizeof(bb_status));
    bb_arena_need(arena, c->method->own_noise ? workers : 0, sizeof(bb_random));
    bb_arena_need(arena, run->pub.sampling != BB_SAMPLING_ALL ? tasks : 0,
                  sizeof(bool));
    bb_board_need(run, &c->result->plan, arena);
    bb_status status = bb_arena_open(arena, "the training run");
    if (status) return status;
    c->billboard.at = bb_arena_take(arena, c->billboard.length, sizeof(double));
    c->state = bb_arena_take(arena, tasks * c->state_length, sizeof(double));
    c->work = bb_arena_take(arena, workers * c->work_length, sizeof(double));
    c->show = bb_arena_take(arena, workers * c->show_length, sizeof(double));
    c->digest_work = bb_arena_take(arena, digest, sizeof(double));
    c->objective = bb_arena_take(arena, 2 * tasks, sizeof(double));
    c->gap = c->objective + tasks;
    c->finished = bb_arena_take(arena, tasks, sizeof(bb_status));
    if (c->method->own_noise)
        c->random = bb_arena_take(arena, workers, sizeof(bb_random));
    if (run->pub.sampling != BB_SAMPLING_ALL)
        c->picked = bb_arena_take(arena, tasks, sizeof(bool));
    return BB_OK;
}

static bb_status open_own_noise(conversation *c) {
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

static bb_status open_result(const bb_run *run, const bb_view *view,
                             bb_result *result) {
    const size_t tasks = run->pub.tasks;
    bb_status status = bb_plan_make(&result->plan, view, run->mechanism->pricing);
    if (!status)
        status = bb_allocate(&result->model, tasks * run->pub.features, sizeof(double),
                             "the models");
    if (!status)
        status = bb_allocate(&result->intercept, tasks, sizeof(double), "the models");
    return status;
}

/* -- the loop -- */

static bb_status converse(conversation *c) {
    const bb_run *run = c->run;
    const uint32_t rounds = c->result->plan.rounds;
    bb_status status = BB_OK;
    c->view.board = &c->billboard;
    c->view.plan = &c->result->plan;
    while (!status && c->billboard.releases < rounds && !c->billboard.done) {
        if (run->observer.stop && *run->observer.stop)
            return bb_fail(BB_EINTERRUPTED, "stopped after round %u of %u",
                           c->billboard.releases, rounds);
        status = talk(c);
        if (!status && run->observer.progress)
            run->observer.progress(run->observer.self, c->billboard.releases, rounds);
    }
    if (status) return status;
    run->engine->each(run->engine, c->chunks, finish, c);
    return collect(c);
}

/* The Gaussian budget of the whole run; without noise everything is unlimited. */
static bb_run priced(const bb_run *asked) {
    bb_run run = *asked;
    const bool noise = run.mechanism->pricing != BB_PRICE_NOTHING;
    run.pub.epsilon = noise ? run.pub.epsilon : INFINITY;
    run.pub.delta = noise ? run.pub.delta : 0.0;
    run.pub.mu = noise ? bb_gdp_mu(run.pub.epsilon, run.pub.delta) : INFINITY;
    return run;
}

bb_status bb_run_train(const bb_run *asked, bb_result *result) {
    const bb_run priced_run = priced(asked), *run = &priced_run;
    bb_result made = {0};
    bb_arena arena = {0};
    conversation c = {.run = run, .method = run->method, .result = &made};
    c.view = (bb_view){run->method, run->options, &run->pub, NULL, NULL};
    bb_status status = check(run);
    if (!status) status = check_sampling(run);
    if (!status) status = open_result(run, &c.view, &made);
    c.chunks = bb_board_chunks(run->pub.tasks, made.plan.sum_length);
    if (!status) status = take_memory(&c, &arena);
    if (!status) status = open_own_noise(&c);
    if (!status) status = bb_board_open(&c.board, run, &made.plan, &arena);
    if (!status) status = converse(&c);
    if (c.board.plan) bb_board_close(&c.board);
    for (size_t w = 0; w < c.random_open; w++) bb_random_close(&c.random[w]);
    if (c.draw_open) bb_random_close(&c.draw);
    bb_arena_close(&arena);
    if (status)
        bb_result_free(&made);
    else
        *result = made;
    return status;
}

void bb_result_free(bb_result *result) {
    free(result->model);
    free(result->intercept);
    bb_plan_free(&result->plan);
    *result = (bb_result){0};
}
