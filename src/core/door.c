#include "core/door.h"

#include "core/grid.h"
#include "core/phases.h"
#include "privacy/noise/noise.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool is_matrix(bb_form form) {
    return form == BB_FORM_PSD || form == BB_FORM_OUTER;
}

/* -- opening -- */

void bb_door_need(const bb_run *run, const bb_plan *plan, bb_arena *arena) {
    bb_sum_need(arena, run->mechanism->grid, plan->sum_length, plan->outer_length);
    bb_arena_need(arena, plan->sum_length, sizeof(double));
    if (run->observer.traced) bb_arena_need(arena, plan->sum_length, sizeof(double));
    if (run->pub.doors > 1) bb_arena_need(arena, plan->sum_length, sizeof(int64_t));
}

bb_status bb_door_open(bb_door *door, const bb_run *run, const bb_plan *plan,
                       bb_arena *arena) {
    *door = (bb_door){.pub = &run->pub,
                      .mechanism = run->mechanism,
                      .plan = plan,
                      .seeded = run->seeded,
                      .seed = run->seed,
                      .noises = run->pub.doors > 1 ? 1U | 2U : 1U,
                      .least_noise = INFINITY};
    bb_sum_open(&door->total, arena, run->mechanism->grid, plan->sum_length,
                plan->outer_length);
    door->value = bb_arena_take(arena, plan->sum_length, sizeof(double));
    if (run->observer.traced)
        door->exact = bb_arena_take(arena, plan->sum_length, sizeof(double));
    if (run->pub.doors > 1)
        door->drawn = bb_arena_take(arena, plan->sum_length, sizeof(int64_t));
    bb_hash_open(&door->hash);
    const bb_status status =
        run->seeded
            ? bb_random_open_stream(&door->random, run->seed, BB_FOR_NOISE, 0, 0)
            : bb_random_open_secure(&door->random);
    door->random_open = !status;
    return status;
}

void bb_door_close(bb_door *door) {
    if (door->random_open) bb_random_close(&door->random);
    *door = (bb_door){0};
}

bb_status bb_door_charge(bb_door *door, const bb_run *run) {
    const bb_plan *plan = door->plan;
    char name[BB_RUN_NAME], what[BB_RUN_NAME];
    long long id;
    bb_status status = BB_OK;
    if (run->ledger && plan->rounds) {
        if (run->mechanism->pricing != BB_PRICE_GAUSSIAN)
            return bb_fail(BB_EUSAGE,
                           "mechanism %s has no price in a ledger: only gaussian runs "
                           "can be charged",
                           run->mechanism->name);
        /* kinds other than sum count a sampled round as if every task took part */
        bb_run_name(run->phases, run->phase, name);
        snprintf(what, sizeof what, "%.180s, %s, %u round%s", name,
                 run->mechanism->name, plan->rounds, bb_plural(plan->rounds));
        const bb_ledger_charge charge = bb_run_price(run, plan);
        status = bb_ledger_reserve(run->ledger, &charge, what, &id);
    }
    door->charged = !status;
    return status;
}

/* -- a round opens -- */

/* A lifted round is its only block's, and has radial noise. */
static bb_status check_lifted(bb_door *door, size_t b) {
    const bb_block *block = &door->ask.layout.block[b];
    const double pure = door->plan->pure[door->ask.round];
    const bool fits = block->form == BB_FORM_VECTOR || block->form == BB_FORM_SLOT;
    if (door->ask.layout.blocks != 1 || !fits || !(pure > 0.0) ||
        block->length > BB_RADIAL_MOST_LENGTH)
        return bb_fail(BB_EBUDGET,
                       "block \"%s\" of round %u: radial noise pays for one vector, "
                       "of at most %d numbers, a round",
                       block->name, door->ask.round + 1, BB_RADIAL_MOST_LENGTH);
    return bb_grid_choose_radial(door, b, pure);
}

static bb_status check_selection(const bb_door *door, const bb_block *block) {
    const double pure = door->plan->pure[door->ask.round];
    if (block->length < 1 || block->length > BB_MOST_CANDIDATES)
        return bb_fail(BB_EUSAGE,
                       "block \"%s\" of round %u: a selection has 1 to %d "
                       "candidates, found %zu",
                       block->name, door->ask.round + 1, BB_MOST_CANDIDATES,
                       block->length);
    if (pure > 0.0) return BB_OK;
    return bb_fail(BB_EBUDGET,
                   "block \"%s\" of round %u: the plan has no budget for a "
                   "selection",
                   block->name, door->ask.round + 1);
}

static bb_status check_block(bb_door *door, size_t b, size_t *outer, double *share) {
    const bb_block *block = &door->ask.layout.block[b];
    const uint32_t t = door->ask.round;
    if (block->form == BB_FORM_SELECTION) return check_selection(door, block);
    if (door->pub->sampling != BB_SAMPLING_ALL && block->form != BB_FORM_VECTOR &&
        block->form != BB_FORM_SLOT)
        return bb_fail(BB_EUSAGE,
                       "block \"%s\" of round %u: a sample of the tasks "
                       "can be asked for vectors only",
                       block->name, t + 1);
    if (block->form == BB_FORM_OUTER && ++*outer > 1)
        return bb_fail(BB_EUSAGE, "round %u has two outer blocks; one fits", t + 1);
    if (door->mechanism->clips && !bb_grid_is_clip(block->clip))
        return bb_fail(BB_EUSAGE,
                       "block \"%s\": the clip must be from 2^-500 to 2^500, got %g",
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
                   door->ask.round + 1, layout->blocks);
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
                   door->ask.round + 1, pure);
}

bb_status bb_door_ask(bb_door *door, const bb_layout *layout) {
    size_t outer = 0;
    double share = 0.0;
    bb_status status = check_room(door, layout);
    if (!status) status = check_pure(door, layout);
    if (status) return status;
    door->asked = false;
    if (!door->charged)
        return bb_fail(BB_EBUDGET, "round %u: the plan was not charged",
                       door->ask.round + 1);
    if (door->ask.round >= door->plan->rounds)
        return bb_fail(BB_EBUDGET, "round %u: the plan has %u", door->ask.round + 1,
                       door->plan->rounds);
    door->ask = (bb_ask){.round = door->ask.round, .layout = *layout};
    for (size_t b = 0; b < layout->blocks && !status; b++)
        status = check_block(door, b, &outer, &share);
    if (status) return status;
    bb_sum_clear(&door->total);
    door->ask.round++;
    door->asked = true;
    return BB_OK;
}

void bb_door_add(bb_door *door, const bb_tally *tally) {
    size_t length = 0;
    for (size_t b = 0; b < door->ask.layout.blocks; b++)
        length += bb_block_sum_length(&door->ask.layout.block[b], door->pub->tasks);
    const size_t sums = door->mechanism->grid ? 1 : tally->sums;
    for (size_t s = 0; s < sums; s++)
        bb_sum_merge(&door->total, &tally->sum[s], 0, length);
}

void bb_door_skip_to(bb_door *door, uint32_t round) {
    assert(round >= door->ask.round && !door->asked);
    door->ask.round = round;
}

/* -- publishing -- */

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

static void add_noise(bb_door *door, size_t b, int64_t *sum) {
    const bb_block *block = &door->ask.layout.block[b];
    const size_t n = bb_block_sum_length(block, door->pub->tasks);
    if (door->plan->lifted_rows) /* to each slot its own */
        for (size_t k = 0; k < n; k += block->length)
            bb_noise_radial(&door->random, door->scale, block->length, sum + k);
    else if (is_matrix(block->form))
        add_symmetric_noise(&door->random, door->std[b], block->length, sum);
    else
        bb_noise_gaussian(&door->random, door->std[b], n, sum);
}

/* In a seeded run each block of a round has its own. */
static bb_status restart_noise(bb_door *door, size_t b, bb_purpose purpose) {
    if (!door->seeded) return BB_OK;
    return bb_random_restart(&door->random, door->seed, purpose, door->ask.round, b);
}

/* What two doors add, mod 2^64: a sum that saturated would say something of a share. */
static bb_status add_noises(bb_door *door, size_t b, int64_t *sum) {
    static const bb_purpose purpose[2] = {BB_FOR_NOISE, BB_FOR_SECOND_DOOR};
    const size_t n = bb_block_sum_length(&door->ask.layout.block[b], door->pub->tasks);
    for (unsigned which = 0; which < 2; which++) {
        if (!(door->noises & 1U << which)) continue;
        const bb_status status = restart_noise(door, b, purpose[which]);
        if (status) return status;
        memset(door->drawn, 0, n * sizeof *door->drawn);
        add_noise(door, b, door->drawn);
        for (size_t k = 0; k < n; k++)
            sum[k] = (int64_t)((uint64_t)sum[k] + (uint64_t)door->drawn[k]);
    }
    return BB_OK;
}

/* Both shares together are a sum that tasks can have, and noise: what is not was not the same
 * silos' at both doors, or not of the same seeds. Said of what would be published. */
static bb_status check_sum(const bb_door *door, size_t b, size_t n,
                           const int64_t *sum) {
    const bb_form form = door->ask.layout.block[b].form;
    const int bits = door->ask.bits[b];
    const double most =
        ldexp((double)door->pub->tasks, bb_form_is_product(form) ? 2 * bits : bits) +
        40.0 * door->std[b];
    for (size_t k = 0; k < n; k++)
        if (!(fabs((double)sum[k]) <= most))
            return bb_fail(
                BB_EDATA,
                "round %u: the two doors do not have shares of the same sums: "
                "together they are more than all tasks' clips allow",
                door->ask.round);
    return BB_OK;
}

static bb_status publish_on_grid(bb_door *door, size_t b, int64_t *sum, double *value,
                                 double *noise) {
    const bb_block *block = &door->ask.layout.block[b];
    const size_t n = bb_block_sum_length(block, door->pub->tasks);
    bb_status status = BB_OK;
    double step = ldexp(block->clip, -door->ask.bits[b]);
    if (bb_form_is_product(block->form)) step *= step;
    for (size_t k = 0; door->exact && k < n; k++)
        door->exact[k] = (double)sum[k] * step;
    if (door->drawn)
        status = add_noises(door, b, sum);
    else
        add_noise(door, b, sum);
    if (!status && door->noises == 1 && door->drawn)
        status = check_sum(door, b, n, sum);
    if (status) return status;
    for (size_t k = 0; k < n; k++) value[k] = (double)sum[k] * step;
    *noise = door->std[b] * step * (door->drawn ? sqrt(2.0) : 1.0);
    return BB_OK;
}

static bb_status publish_off_grid(bb_door *door, size_t b, double *sum, double *value,
                                  double *noise) {
    const bb_block *block = &door->ask.layout.block[b];
    const bb_mechanism *mechanism = door->mechanism;
    const size_t n = bb_block_sum_length(block, door->pub->tasks);
    bb_status status = BB_OK;
    *noise = 0.0;
    if (door->exact) memcpy(door->exact, sum, n * sizeof *sum);
    if (mechanism->add)
        status = mechanism->add(mechanism->self, &door->random, door->ask.round, block,
                                door->plan->pure[door->ask.round - 1], sum, noise);
    memcpy(value, sum, n * sizeof *sum);
    return status;
}

static size_t select_winner(bb_door *door, const bb_block *block, size_t offset,
                            double *value) {
    const double epsilon = door->plan->pure[door->ask.round - 1];
    const bb_sum *sum = &door->total;
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

/* For the operator of a simulation: how large noise and signal were. */
static void measure(bb_door *door, size_t n, const double *value) {
    for (size_t k = 0; door->exact && k < n; k++) {
        const double noise = value[k] - door->exact[k];
        door->noise += noise * noise;
        door->signal += door->exact[k] * door->exact[k];
    }
}

static bb_status publish_block(bb_door *door, size_t b, size_t offset,
                               bb_release *release) {
    const bb_block *block = &door->ask.layout.block[b];
    const size_t n = bb_block_sum_length(block, door->pub->tasks);
    double *value = door->value + offset;
    bb_status status = restart_noise(door, b, BB_FOR_NOISE);
    if (status) return status;
    release->value[b] = value;
    if (block->form == BB_FORM_SELECTION)
        release->winner[b] = select_winner(door, block, offset, value);
    else if (door->mechanism->grid)
        status = publish_on_grid(door, b, door->total.exact + offset, value,
                                 &release->noise[b]);
    else
        status = publish_off_grid(door, b, door->total.open + offset, value,
                                  &release->noise[b]);
    if (!status) status = bb_random_check(&door->random);
    if (!status) bb_hash_add_doubles(&door->hash, value, n);
    if (!status && block->form != BB_FORM_SELECTION) measure(door, n, value);
    return status;
}

bb_status bb_door_publish(bb_door *door, bb_release *release) {
    bb_status status = BB_OK;
    size_t offset = 0;
    if (!door->asked)
        return bb_fail(BB_EBUDGET, "round %u was published already", door->ask.round);
    door->asked = false;
    door->noise = door->signal = 0.0;
    *release = (bb_release){.round = door->ask.round,
                            .layout = &door->ask.layout,
                            .psd_noise = door->mechanism->psd_noise};
    for (size_t b = 0; b < door->ask.layout.blocks && !status; b++) {
        status = publish_block(door, b, offset, release);
        offset += bb_block_sum_length(&door->ask.layout.block[b], door->pub->tasks);
    }
    return status;
}

bb_status bb_door_hide(bb_door *door) {
    bb_status status = BB_OK;
    size_t offset = 0;
    if (!door->asked)
        return bb_fail(BB_EBUDGET, "round %u was answered already", door->ask.round);
    door->asked = false;
    for (size_t b = 0; b < door->ask.layout.blocks && !status; b++) {
        status = add_noises(door, b, door->total.exact + offset);
        offset += bb_block_sum_length(&door->ask.layout.block[b], door->pub->tasks);
    }
    return status ? status : bb_random_check(&door->random);
}

void bb_door_restore(bb_door *door, bb_release *release) {
    size_t offset = 0;
    door->asked = false;
    for (size_t b = 0; b < door->ask.layout.blocks; b++) {
        release->value[b] = door->value + offset;
        offset += bb_block_sum_length(&door->ask.layout.block[b], door->pub->tasks);
    }
}

void bb_door_hash(const bb_door *door, char hex[BB_HASH_TEXT]) {
    bb_hash_text(&door->hash, hex);
}
