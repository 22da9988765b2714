#include "core/door.h"

#include "core/contribution.h"
#include "core/grid.h"
#include "privacy/noise/noise.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    LEAST_CHUNK = 8, /* tasks */
    MOST_CHUNKS = 64
};
/* Numbers in all chunks' sums together. */
static const size_t most_chunk_memory = (size_t)1 << 26;

static bool is_matrix(bb_form form) {
    return form == BB_FORM_PSD || form == BB_FORM_OUTER;
}

/* -- sizes -- */

size_t bb_door_chunks(size_t tasks, size_t sum_length) {
    size_t chunks = tasks / LEAST_CHUNK;
    if (chunks > MOST_CHUNKS) chunks = MOST_CHUNKS;
    if (sum_length && chunks > most_chunk_memory / sum_length)
        chunks = most_chunk_memory / sum_length;
    return chunks ? chunks : 1;
}

size_t bb_door_sums(const bb_mechanism *mechanism, size_t workers, size_t tasks,
                    size_t sum_length) {
    return mechanism->grid ? workers : bb_door_chunks(tasks, sum_length);
}

static size_t open_length(const bb_mechanism *mechanism, const bb_plan *plan) {
    return mechanism->grid ? plan->outer_length * plan->outer_length : plan->sum_length;
}

void bb_door_need(const bb_run *run, const bb_plan *plan, bb_arena *arena) {
    const size_t sums = bb_door_sums(run->mechanism, run->engine->workers,
                                     run->pub.tasks, plan->sum_length);
    bb_arena_need(arena, sums, sizeof(bb_sum));
    for (size_t s = 0; s < sums; s++) {
        if (run->mechanism->grid)
            bb_arena_need(arena, plan->sum_length, sizeof(int64_t));
        bb_arena_need(arena, open_length(run->mechanism, plan), sizeof(double));
        bb_arena_need(arena, BB_SUM_ROWS * plan->outer_length, sizeof(double));
    }
    bb_arena_need(arena, plan->sum_length, sizeof(double));
}

/* -- opening -- */

static void take_memory(bb_door *door, const bb_run *run, bb_arena *arena) {
    const bb_plan *plan = door->plan;
    door->sums = bb_door_sums(run->mechanism, run->engine->workers, run->pub.tasks,
                              plan->sum_length);
    door->sum = bb_arena_take(arena, door->sums, sizeof(bb_sum));
    for (size_t s = 0; s < door->sums; s++) {
        bb_sum *sum = &door->sum[s];
        *sum = (bb_sum){0};
        if (run->mechanism->grid)
            sum->exact = bb_arena_take(arena, plan->sum_length, sizeof(int64_t));
        sum->open =
            bb_arena_take(arena, open_length(run->mechanism, plan), sizeof(double));
        sum->rows =
            bb_arena_take(arena, BB_SUM_ROWS * plan->outer_length, sizeof(double));
    }
    door->value = bb_arena_take(arena, plan->sum_length, sizeof(double));
}

static bb_status reserve(const bb_run *run, const bb_plan *plan) {
    char name[BB_RUN_NAME], what[BB_RUN_NAME];
    long long id;
    if (!run->ledger || plan->rounds == 0) return BB_OK;
    if (run->mechanism->pricing != BB_PRICE_GAUSSIAN)
        return bb_fail(BB_EUSAGE,
                       "mechanism %s has no price in a ledger: only gaussian runs "
                       "can be charged",
                       run->mechanism->name);
    /* kinds other than sum count a sampled round as if every task took part in it */
    bb_run_name(run->phases, run->phase, name);
    snprintf(what, sizeof what, "%.180s, %s, %u rounds", name, run->mechanism->name,
             plan->rounds);
    const bb_ledger_charge charge = {.epsilon = run->pub.epsilon,
                                     .delta = run->pub.delta,
                                     .rounds = plan->rounds,
                                     .mu = plan->mu,
                                     .pure = plan->pure};
    return bb_ledger_reserve(run->ledger, &charge, what, &id);
}

bb_status bb_door_open(bb_door *door, const bb_run *run, const bb_plan *plan,
                       bb_arena *arena) {
    *door = (bb_door){.pub = &run->pub,
                      .mechanism = run->mechanism,
                      .plan = plan,
                      .seeded = run->seeded,
                      .seed = run->seed,
                      .least_noise = INFINITY};
    take_memory(door, run, arena);
    bb_status status = run->seeded ? bb_random_open_stream(&door->random, run->seed,
                                                           BB_FOR_NOISE, 0, 0)
                                   : bb_random_open_secure(&door->random);
    door->random_open = !status;
    if (!status) status = bb_hash_open(&door->hash);
    if (!status) status = reserve(run, plan);
    if (status) bb_door_close(door);
    return status;
}

void bb_door_close(bb_door *door) {
    if (door->random_open) bb_random_close(&door->random);
    bb_hash_close(&door->hash);
    *door = (bb_door){0};
}

/* -- a round opens -- */

/* A lifted round is its only block's, and has radial noise. */
static bb_status check_lifted(bb_door *door, size_t b) {
    const bb_block *block = &door->layout.block[b];
    const double pure = door->plan->pure[door->round];
    const bool fits = block->form == BB_FORM_VECTOR || block->form == BB_FORM_SLOT;
    if (door->layout.blocks != 1 || !fits || !(pure > 0.0) ||
        block->length > BB_RADIAL_MOST_LENGTH)
        return bb_fail(BB_EBUDGET,
                       "block \"%s\" of round %u: radial noise pays for one vector, "
                       "of at most %d numbers, a round",
                       block->name, door->round + 1, BB_RADIAL_MOST_LENGTH);
    return bb_grid_choose_radial(door, b, pure);
}

static bb_status check_selection(const bb_door *door, const bb_block *block) {
    const double pure = door->plan->pure[door->round];
    if (block->length < 1 || block->length > BB_MOST_CANDIDATES)
        return bb_fail(BB_EUSAGE,
                       "block \"%s\" of round %u: a selection has 1 to %d "
                       "candidates, found %zu",
                       block->name, door->round + 1, BB_MOST_CANDIDATES, block->length);
    if (pure > 0.0) return BB_OK;
    return bb_fail(BB_EBUDGET,
                   "block \"%s\" of round %u: the plan has no budget for a "
                   "selection",
                   block->name, door->round + 1);
}

static bb_status check_block(bb_door *door, size_t b, size_t *outer, double *share) {
    const bb_block *block = &door->layout.block[b];
    const uint32_t t = door->round;
    if (block->form == BB_FORM_SELECTION) return check_selection(door, block);
    if (door->pub->sampling != BB_SAMPLING_ALL && block->form != BB_FORM_VECTOR &&
        block->form != BB_FORM_SLOT)
        return bb_fail(BB_EUSAGE,
                       "block \"%s\" of round %u: a sample of the tasks "
                       "can be asked for vectors only",
                       block->name, t + 1);
    if (block->form == BB_FORM_OUTER && ++*outer > 1)
        return bb_fail(BB_EUSAGE, "round %u has two outer blocks; one fits", t + 1);
    if (door->mechanism->clips && !(block->clip > 0.0 && isfinite(block->clip)))
        return bb_fail(BB_EUSAGE,
                       "block \"%s\": the clip must be positive and finite, got %g",
                       block->name, block->clip);
    *share += block->share;
    /* what rounding adds to 1 is within the ledger's margin */
    if (!(block->share > 0.0 && *share <= 1.0 + 0x1p-50))
        return bb_fail(BB_EBUDGET,
                       "block \"%s\" of round %u: the shares of the round's budget "
                       "must be positive and add up to at most 1",
                       block->name, t + 1);
    if (!door->mechanism->grid) return BB_OK;
    if (door->plan->lifted_rows) return check_lifted(door, b);
    if (!(door->plan->mu[t] > 0.0))
        return bb_fail(BB_EBUDGET,
                       "block \"%s\" of round %u: the plan has no budget for it",
                       block->name, t + 1);
    return bb_grid_choose(door, b, door->plan->mu[t] * sqrt(block->share));
}

static void clear_sums(bb_door *door) {
    const bb_plan *plan = door->plan;
    for (size_t s = 0; s < door->sums; s++) {
        bb_sum *sum = &door->sum[s];
        if (sum->exact) memset(sum->exact, 0, plan->sum_length * sizeof *sum->exact);
        memset(sum->open, 0, open_length(door->mechanism, plan) * sizeof *sum->open);
        sum->held = sum->products = 0;
    }
}

/* The plan made room for these blocks. */
static bb_status check_room(const bb_door *door, const bb_layout *layout) {
    bb_plan need = {0};
    if (layout->blocks >= 1 && layout->blocks <= BB_MOST_BLOCKS) {
        bb_plan_room(&need, door->pub, layout);
        if (need.show_length <= door->plan->show_length &&
            need.sum_length <= door->plan->sum_length &&
            need.outer_length <= door->plan->outer_length)
            return BB_OK;
    }
    return bb_fail(BB_EBUDGET, "round %u: the plan does not cover its %zu blocks",
                   door->round + 1, layout->blocks);
}

/* The round's pure epsilon pays for one release: a selection, or a published step. */
static bb_status check_pure(const bb_door *door, const bb_layout *layout) {
    const bool published = door->mechanism->pricing == BB_PRICE_PUBLISHED;
    size_t pure = 0;
    for (size_t b = 0; b < layout->blocks; b++)
        pure += published || layout->block[b].form == BB_FORM_SELECTION;
    if (pure <= 1) return BB_OK;
    return bb_fail(BB_EBUDGET,
                   "round %u: its pure epsilon pays for one release, not for %zu",
                   door->round + 1, pure);
}

bb_status bb_door_ask(bb_door *door, const bb_layout *layout) {
    size_t outer = 0;
    double share = 0.0;
    bb_status status = check_room(door, layout);
    if (!status) status = check_pure(door, layout);
    if (status) return status;
    door->asked = false;
    if (door->round >= door->plan->rounds)
        return bb_fail(BB_EBUDGET, "round %u: the plan has %u", door->round + 1,
                       door->plan->rounds);
    door->layout = *layout;
    for (size_t b = 0; b < layout->blocks && !status; b++)
        status = check_block(door, b, &outer, &share);
    if (status) return status;
    clear_sums(door);
    door->round++;
    door->asked = true;
    return BB_OK;
}

/* -- contributions -- */

static void add_block(bb_door *door, bb_sum *sum, size_t offset, size_t b, size_t task,
                      const bb_local *local, double *v) {
    const bb_block *block = &door->layout.block[b];
    const size_t n = bb_block_task_length(block, local);
    bb_contribution_fit(block, door->mechanism->clips,
                        door->mechanism->grid ? door->bits[b] : 0, n, v);
    if (block->form == BB_FORM_VECTOR && local && local->touched) {
        bb_sum_add_at(sum, offset, local->touched_count, local->touched, local->outputs,
                      v);
        return;
    }
    switch (block->form) {
    case BB_FORM_SQUARE:
        for (size_t k = 0; k < n; k++) v[k] *= v[k]; /* at most 2^40: exact */
        bb_sum_add(sum, offset, n, v);
        break;
    case BB_FORM_SLOT:
        bb_sum_add(sum, offset + task * n, n, v);
        break;
    case BB_FORM_OUTER:
        bb_sum_add_outer(sum, offset, n, v);
        break;
    default:
        bb_sum_add(sum, offset, n, v);
        break;
    }
}

void bb_door_add(bb_door *door, size_t sum, size_t task, const bb_local *local,
                 double *const *block) {
    size_t offset = 0;
    for (size_t b = 0; b < door->layout.blocks; b++) {
        add_block(door, &door->sum[sum], offset, b, task, local, block[b]);
        offset += bb_block_sum_length(&door->layout.block[b], door->pub->tasks);
    }
}

void bb_door_skip_to(bb_door *door, uint32_t round) {
    assert(round >= door->round && !door->asked);
    door->round = round;
}

/* -- publishing -- */

/* Finishes the outer block of every sum and adds all sums into the first, in order. */
static void total(bb_door *door) {
    size_t offset = 0;
    for (size_t b = 0; b < door->layout.blocks; b++) {
        const bb_block *block = &door->layout.block[b];
        for (size_t s = 0; block->form == BB_FORM_OUTER && s < door->sums; s++)
            bb_sum_close(&door->sum[s], offset, block->length);
        offset += bb_block_sum_length(block, door->pub->tasks);
    }
    for (size_t s = 1; s < door->sums; s++)
        bb_sum_merge(&door->sum[0], &door->sum[s], offset);
}

/* Symmetric Gaussian noise: std on the diagonal, std / sqrt 2 off it, so that it is
 * spherical in an orthonormal basis of symmetric matrices. */
static void add_symmetric_noise(bb_random *random, double std, size_t d, int64_t *sum) {
    for (size_t i = 0; i < d; i++) {
        bb_noise_gaussian(random, std * sqrt(0.5), i, sum + i * d);
        bb_noise_gaussian(random, std, 1, sum + i * d + i);
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++) sum[i * d + j] = sum[j * d + i];
}

static void publish_on_grid(bb_door *door, size_t b, int64_t *sum, double *value,
                            double *noise) {
    const bb_block *block = &door->layout.block[b];
    const size_t n = bb_block_sum_length(block, door->pub->tasks);
    double step = ldexp(block->clip, -door->bits[b]);
    if (bb_form_is_product(block->form)) step *= step;
    if (door->plan->lifted_rows) /* to each slot its own */
        for (size_t k = 0; k < n; k += block->length)
            bb_noise_radial(&door->random, door->scale, block->length, sum + k);
    else if (is_matrix(block->form))
        add_symmetric_noise(&door->random, door->std[b], block->length, sum);
    else
        bb_noise_gaussian(&door->random, door->std[b], n, sum);
    for (size_t k = 0; k < n; k++) value[k] = (double)sum[k] * step;
    *noise = door->std[b] * step;
}

static bb_status publish_off_grid(bb_door *door, size_t b, double *sum, double *value,
                                  double *noise) {
    const bb_block *block = &door->layout.block[b];
    const bb_mechanism *mechanism = door->mechanism;
    bb_status status = BB_OK;
    *noise = 0.0;
    if (mechanism->add)
        status = mechanism->add(mechanism->self, &door->random, door->round, block,
                                door->plan->pure[door->round - 1], sum, noise);
    memcpy(value, sum, bb_block_sum_length(block, door->pub->tasks) * sizeof *sum);
    return status;
}

static size_t select_winner(bb_door *door, const bb_block *block, size_t offset,
                            double *value) {
    const double epsilon = door->plan->pure[door->round - 1];
    bb_sum *sum = &door->sum[0];
    int64_t score[BB_MOST_CANDIDATES];
    size_t winner = 0;
    for (size_t k = 0; k < block->length; k++) {
        score[k] = sum->exact ? sum->exact[offset + k] : (int64_t)sum->open[offset + k];
        if (score[k] > score[winner]) winner = k;
    }
    if (isfinite(epsilon))
        winner =
            bb_select_permute_and_flip(&door->random, epsilon, block->length, score);
    for (size_t k = 0; k < block->length; k++) value[k] = k == winner ? 1.0 : 0.0;
    return winner;
}

static bb_status publish_block(bb_door *door, size_t b, size_t offset,
                               bb_release *release) {
    const bb_block *block = &door->layout.block[b];
    double *value = door->value + offset;
    bb_status status = BB_OK;
    if (door->seeded)
        status =
            bb_random_restart(&door->random, door->seed, BB_FOR_NOISE, door->round, b);
    if (status) return status;
    release->value[b] = value;
    if (block->form == BB_FORM_SELECTION)
        release->winner[b] = select_winner(door, block, offset, value);
    else if (door->mechanism->grid)
        publish_on_grid(door, b, door->sum[0].exact + offset, value,
                        &release->noise[b]);
    else
        status = publish_off_grid(door, b, door->sum[0].open + offset, value,
                                  &release->noise[b]);
    if (!status) status = bb_random_check(&door->random);
    if (!status)
        bb_hash_add_doubles(&door->hash, value,
                            bb_block_sum_length(block, door->pub->tasks));
    return status;
}

bb_status bb_door_publish(bb_door *door, bb_release *release) {
    bb_status status = BB_OK;
    size_t offset = 0;
    if (!door->asked)
        return bb_fail(BB_EBUDGET, "round %u was published already", door->round);
    door->asked = false;
    *release = (bb_release){.round = door->round,
                            .layout = &door->layout,
                            .psd_noise = door->mechanism->psd_noise};
    total(door);
    for (size_t b = 0; b < door->layout.blocks && !status; b++) {
        status = publish_block(door, b, offset, release);
        offset += bb_block_sum_length(&door->layout.block[b], door->pub->tasks);
    }
    return status;
}

bb_status bb_door_hash(bb_door *door, char hex[BB_HASH_TEXT]) {
    return bb_hash_text(&door->hash, hex);
}
