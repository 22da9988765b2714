#include "audit/run_attack.h"

#include "base/memory.h"
#include "core/contribution.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double score_steps = 0x1p20; /* of selections, see contribution.h */
/* Noise is never taken to be smaller than these fractions of what canaries move, and of
 * the sum, whose rounding errors are noise, too. */
static const double least_noise = 1e-4, rounding = 1e-10;
static const double least_chance = 1e-12; /* of a selection's candidate */

/* All that the attacker holds. Of tasks there are those of the run, and then the
 * canaries once more, with their other data. */
typedef struct replay {
    const bb_run *run;
    size_t tasks, canaries;
    const bb_local *other;
    bb_view view;
    bb_plan plan;
    bb_plan_view plan_view;
    bb_billboard billboard;
    bb_draft draft; /* of it */
    size_t state_length;
    double *state;       /* (tasks + canaries) x state_length */
    double *work, *show; /* of one task */
    double *model;       /* features + 1, where finish would write */
    double *digest_work;
    double *rest;     /* plan.sum_length: R - E, then in units of the noise */
    double *move;     /* canaries x length of the round's sums: D, likewise */
    double *round;    /* canaries x canaries: one round's part of */
    double *gram;     /* G */
    double *gradient; /* b */
    bb_random random;
    bool random_open;
} replay;

/* -- what a task shows -- */

/* One round of task `at`, which is task `id` of the run, with the data of `local`: what
 * the door gets of it, in replay.show, block after block. */
static void replay_task(replay *r, const bb_release *release, size_t at, size_t id,
                        const bb_local *local) {
    double *block[BB_MOST_BLOCKS] = {0}, *next = r->show;
    const bb_method *method = r->run->phase[0].method;
    bb_task task = {.id = id,
                    .local = local,
                    .state = r->state + at * r->state_length,
                    .model = r->model,
                    .intercept = r->model + r->run->pub.features,
                    .work = r->work,
                    .random = r->random_open ? &r->random : NULL,
                    .objective = NAN,
                    .gap = NAN};
    if (r->random_open && r->run->seeded &&
        bb_random_restart(&r->random, r->run->seed, BB_FOR_LOCAL, release->round,
                          bb_run_key(r->run, id)))
        bb_random_fail(&r->random, "it did not restart");
    if (method->train) method->train(&r->view, &task);
    memset(r->show, 0, r->plan.show_length * sizeof *r->show);
    for (size_t b = 0; b < release->layout->blocks; b++) {
        block[b] = next;
        next += bb_block_show_length(&release->layout->block[b]);
    }
    method->show(&r->view, &task, block);
    for (size_t b = 0; b < release->layout->blocks; b++)
        bb_contribution_fit(&release->layout->block[b], r->run->mechanism->clips, 0,
                            bb_block_show_length(&release->layout->block[b]), block[b]);
}

/* sum += c times what one task adds to the block's sum, v being what it showed. */
static void add_block(const bb_block *block, size_t id, double c, const double *v,
                      double *sum) {
    const size_t n = block->length;
    switch (block->form) {
    case BB_FORM_OUTER:
        for (size_t k = 0; k < n; k++) bb_axpy(n, c * v[k], v, sum + k * n);
        break;
    case BB_FORM_SQUARE:
        for (size_t k = 0; k < n; k++) sum[k] += c * v[k] * v[k];
        break;
    case BB_FORM_SLOT:
        bb_axpy(n, c, v, sum + id * n);
        break;
    case BB_FORM_SELECTION:
        bb_axpy(n, c / score_steps, v, sum);
        break;
    default:
        bb_axpy(bb_block_show_length(block), c, v, sum);
        break;
    }
}

static void add_shown(const replay *r, const bb_layout *layout, size_t id, double c,
                      double *sum) {
    const double *v = r->show;
    for (size_t b = 0; b < layout->blocks; b++) {
        add_block(&layout->block[b], id, c, v, sum);
        v += bb_block_show_length(&layout->block[b]);
        sum += bb_block_sum_length(&layout->block[b], r->tasks);
    }
}

/* -- one round -- */

static size_t sums_length(const bb_layout *layout, size_t tasks) {
    size_t length = 0;
    for (size_t b = 0; b < layout->blocks; b++)
        length += bb_block_sum_length(&layout->block[b], tasks);
    return length;
}

/* rest <- what the release is more than expected (of a selection: less the scores);
 * move <- what each canary's coin moves. */
static void compare(replay *r, const bb_release *release) {
    const bb_layout *layout = release->layout;
    const size_t length = sums_length(layout, r->tasks);
    double *rest = r->rest;
    for (size_t b = 0; b < layout->blocks; b++) {
        const size_t n = bb_block_sum_length(&layout->block[b], r->tasks);
        if (layout->block[b].form == BB_FORM_SELECTION)
            memset(rest, 0, n * sizeof *rest);
        else
            memcpy(rest, release->value[b], n * sizeof *rest);
        rest += n;
    }
    memset(r->move, 0, r->canaries * length * sizeof *r->move);
    for (size_t i = 0; i < r->tasks; i++) {
        const bool canary = i < r->canaries;
        double *move = r->move + i * length;
        replay_task(r, release, i, i, &r->run->local[i]);
        add_shown(r, layout, i, canary ? -0.5 : -1.0, r->rest);
        if (!canary) continue;
        add_shown(r, layout, i, 1.0, move);
        replay_task(r, release, r->tasks + i, i, &r->other[i]);
        add_shown(r, layout, i, -0.5, r->rest);
        add_shown(r, layout, i, -1.0, move);
    }
}

/* A block of sums, in units of its noise. stride: between canaries. */
static void weigh_sum(size_t canaries, size_t n, size_t stride, double noise,
                      const double *sum, double *rest, double *move) {
    double squares = 0.0;
    for (size_t i = 0; i < canaries; i++)
        squares += bb_dot(n, move + i * stride, move + i * stride);
    const double moved = sqrt(squares / (double)canaries);
    const double unit =
        fmax(noise, fmax(least_noise * moved, rounding * bb_norm(n, sum)));
    const double scale = unit > 0.0 ? 1.0 / unit : 0.0;
    bb_scale(n, scale, rest);
    for (size_t i = 0; i < canaries; i++) bb_scale(n, scale, move + i * stride);
}

/* A selection among n: `move` becomes (epsilon / 2) sqrt(p_k) (D_k - mean), whose
 * products are Fisher's information, and `rest` picks the winner. */
static void weigh_selection(size_t canaries, size_t n, size_t stride, double epsilon,
                            size_t winner, double *rest, double *move) {
    double chance[BB_MOST_CANDIDATES], total = 0.0, best = INFINITY;
    for (size_t k = 0; k < n; k++) best = fmin(best, rest[k]);
    for (size_t k = 0; k < n; k++) {
        chance[k] = fmax(least_chance, exp(-0.5 * epsilon * (rest[k] - best)));
        total += chance[k];
    }
    for (size_t k = 0; k < n; k++) chance[k] /= total;
    for (size_t i = 0; i < canaries; i++) {
        double *D = move + i * stride;
        const double mean = bb_dot(n, chance, D);
        for (size_t k = 0; k < n; k++)
            D[k] = 0.5 * epsilon * sqrt(chance[k]) * (D[k] - mean);
    }
    for (size_t k = 0; k < n; k++) rest[k] = k == winner ? 1.0 / sqrt(chance[k]) : 0.0;
}

static void weigh(replay *r, const bb_release *release) {
    const bb_layout *layout = release->layout;
    const size_t length = sums_length(layout, r->tasks);
    const double pure = r->plan.pure[release->round - 1];
    double *rest = r->rest, *move = r->move;
    for (size_t b = 0; b < layout->blocks; b++) {
        const size_t n = bb_block_sum_length(&layout->block[b], r->tasks);
        if (layout->block[b].form != BB_FORM_SELECTION)
            weigh_sum(r->canaries, n, length, release->noise[b], release->value[b],
                      rest, move);
        else /* without noise a winner is worth no more than some budget */
            weigh_selection(r->canaries, n, length, fmin(pure, 1.0 / least_noise),
                            release->winner[b], rest, move);
        rest += n;
        move += n;
    }
}

/* bb_observer.published */
static bb_status watch(void *self, const bb_release *release, size_t tasks) {
    replay *r = self;
    const size_t n = r->canaries, length = sums_length(release->layout, tasks);
    compare(r, release);
    bb_status status = r->random_open ? bb_random_check(&r->random) : BB_OK;
    if (status) return status;
    weigh(r, release);
    bb_multiply(n, length, 1.0, r->move, r->rest, 1.0, r->gradient);
    bb_gram_rows(n, length, 1.0, r->move, r->round);
    bb_axpy(n * n, 1.0, r->round, r->gram);
    status =
        r->run->phase[0].method->digest(&r->view, release, &r->draft, r->digest_work);
    r->billboard.done = r->draft.done;
    if (!status) r->billboard.releases++;
    return status;
}

/* -- the attack -- */

static size_t ask(size_t (*length)(const bb_view *), const bb_view *view) {
    return length ? length(view) : 0;
}

/* Room for what a task works in, and for what it keeps. */
static void widen(replay *r, const bb_local *local, size_t *work) {
    const bb_method *method = r->run->phase[0].method;
    size_t need = bb_local_work(local), keep = ask(method->state_length, &r->view) +
                                               method->state_models * local->length;
    if (method->local_length) need += method->local_length(&r->view, local);
    if (method->kept_length) keep += method->kept_length(&r->view, local);
    if (need > *work) *work = need;
    if (keep > r->state_length) r->state_length = keep;
}

static bb_status take_memory(replay *r, bb_arena *arena) {
    const bb_method *method = r->run->phase[0].method;
    size_t work = 0;
    for (size_t i = 0; i < r->tasks; i++) widen(r, &r->run->local[i], &work);
    for (size_t i = 0; i < r->canaries; i++) widen(r, &r->other[i], &work);
    r->billboard.length = r->draft.length = ask(method->board_length, &r->view);
    const struct piece {
        double **at;
        size_t count, size;
    } piece[] = {
        {&r->draft.at, r->draft.length, 1},
        {&r->state, r->tasks + r->canaries, r->state_length},
        {&r->work, 1, ask(method->work_length, &r->view) + work + 8},
        {&r->show, 1, r->plan.show_length},
        {&r->model, 1, r->run->pub.features + 1},
        {&r->digest_work, 1, ask(method->digest_length, &r->view)},
        {&r->rest, 1, r->plan.sum_length},
        {&r->move, r->canaries, r->plan.sum_length},
        {&r->round, r->canaries, r->canaries},
        {&r->gram, r->canaries, r->canaries},
        {&r->gradient, r->canaries, 1},
    };
    enum { PIECES = sizeof piece / sizeof *piece };
    for (size_t k = 0; k < PIECES; k++)
        bb_arena_need(arena, piece[k].count, piece[k].size * sizeof(double));
    const bb_status status = bb_arena_open(arena, "the attack");
    for (size_t k = 0; k < PIECES && !status; k++)
        *piece[k].at =
            bb_arena_take(arena, piece[k].count, piece[k].size * sizeof(double));
    return status;
}

static bb_status estimate(replay *r, double *score) {
    const size_t n = r->canaries;
    bb_scale(n * n, 0.25, r->gram);
    for (size_t i = 0; i < n; i++) {
        r->gram[i * n + i] += 1.0;
        r->gradient[i] *= 0.5;
    }
    const bb_status status = bb_solve_spd(n, r->gram, r->gradient);
    if (!status) memcpy(score, r->gradient, n * sizeof *score);
    return status;
}

static bb_status open_own_noise(replay *r) {
    if (!r->run->phase[0].method->own_noise && !r->run->phase[0].method->draws)
        return BB_OK;
    if (!r->run->seeded && r->run->phase[0].method->own_noise)
        return bb_fail(BB_EUSAGE,
                       "method %s has noise of its own: to be attacked it needs a "
                       "seed, from which the attacker knows that noise",
                       r->run->phase[0].method->name);
    const bb_status status =
        r->run->seeded
            ? bb_random_open_stream(&r->random, r->run->seed, BB_FOR_LOCAL, 0, 0)
            : bb_random_open_secure(&r->random);
    r->random_open = !status;
    return status;
}

bb_status bb_run_attack(const bb_run *asked, size_t canaries, const bb_local *other,
                        const bool *first, double *score) {
    bb_run known = bb_run_priced(asked), run = *asked;
    replay r = {
        .run = &known, .tasks = run.pub.tasks, .canaries = canaries, .other = other};
    bb_result result = {0};
    bb_arena arena = {0};
    bb_local *local = NULL;
    known.pub.rounds = known.phase[0].rounds; /* as its phase sees it */
    r.view = (bb_view){known.phase[0].method, known.phase[0].options, &known.pub, NULL,
                       NULL};
    bb_status status = bb_plan_make(&r.plan, &r.view, known.mechanism->pricing);
    if (!status) status = take_memory(&r, &arena);
    if (!status) status = open_own_noise(&r);
    if (!status) status = bb_allocate(&local, r.tasks, sizeof *local, "the attack");
    if (status) goto done;
    r.view.board = &r.billboard;
    r.billboard.at = r.draft.at;
    r.plan_view = (bb_plan_view){r.plan.rounds, r.plan.instance};
    r.view.plan = &r.plan_view;
    if (known.phase[0].method->open) known.phase[0].method->open(&r.view, &r.draft);
    for (size_t i = 0; i < r.tasks; i++)
        local[i] = i < canaries && !first[i] ? other[i] : run.local[i];
    run.local = local;
    run.observer.self = &r;
    run.observer.published = watch;
    run.observer.progress = NULL;
    status = bb_run_train(&run, &result);
    if (!status) status = estimate(&r, score);
    bb_result_free(&result);
done:
    if (r.random_open) bb_random_close(&r.random);
    free(local);
    bb_arena_close(&arena);
    bb_plan_free(&r.plan);
    return status;
}
