#include "core/board.h"

#include "core/contribution.h"
#include "privacy/noise.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    VECTOR_BITS = 32,
    PRODUCT_BITS = 20,
    LEAST_BITS = 8,
    LEAST_CHUNK = 8, /* tasks */
    MOST_CHUNKS = 64
};
/* Numbers in all chunks' sums together. */
static const size_t most_chunk_memory = (size_t)1 << 26;

static bool is_matrix(bb_form form) {
    return form == BB_FORM_PSD || form == BB_FORM_OUTER;
}

static bool is_product(bb_form form) {
    return form == BB_FORM_SQUARE || form == BB_FORM_OUTER;
}

/* -- sizes -- */

size_t bb_board_chunks(size_t tasks, size_t sum_length) {
    size_t chunks = tasks / LEAST_CHUNK;
    if (chunks > MOST_CHUNKS) chunks = MOST_CHUNKS;
    if (sum_length && chunks > most_chunk_memory / sum_length)
        chunks = most_chunk_memory / sum_length;
    return chunks ? chunks : 1;
}

size_t bb_board_sums(const bb_mechanism *mechanism, size_t workers, size_t tasks,
                     size_t sum_length) {
    return mechanism->grid ? workers : bb_board_chunks(tasks, sum_length);
}

static size_t open_length(const bb_mechanism *mechanism, const bb_plan *plan) {
    return mechanism->grid ? plan->outer_length * plan->outer_length : plan->sum_length;
}

void bb_board_need(const bb_run *run, const bb_plan *plan, bb_arena *arena) {
    const size_t sums = bb_board_sums(run->mechanism, run->engine->workers,
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

static void take_memory(bb_board *board, const bb_run *run, bb_arena *arena) {
    const bb_plan *plan = board->plan;
    board->sums = bb_board_sums(run->mechanism, run->engine->workers, run->pub.tasks,
                                plan->sum_length);
    board->sum = bb_arena_take(arena, board->sums, sizeof(bb_sum));
    for (size_t s = 0; s < board->sums; s++) {
        bb_sum *sum = &board->sum[s];
        *sum = (bb_sum){0};
        if (run->mechanism->grid)
            sum->exact = bb_arena_take(arena, plan->sum_length, sizeof(int64_t));
        sum->open =
            bb_arena_take(arena, open_length(run->mechanism, plan), sizeof(double));
        sum->rows =
            bb_arena_take(arena, BB_SUM_ROWS * plan->outer_length, sizeof(double));
    }
    board->value = bb_arena_take(arena, plan->sum_length, sizeof(double));
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
    bb_run_name(run, name);
    snprintf(what, sizeof what, "%.180s, %s, %u rounds", name, run->mechanism->name,
             plan->rounds);
    const bb_ledger_charge charge = {.epsilon = run->pub.epsilon,
                                     .delta = run->pub.delta,
                                     .rounds = plan->rounds,
                                     .mu = plan->mu,
                                     .pure = plan->pure};
    return bb_ledger_reserve(run->ledger, &charge, what, &id);
}

bb_status bb_board_open(bb_board *board, const bb_run *run, const bb_plan *plan,
                        bb_arena *arena) {
    *board = (bb_board){.pub = &run->pub,
                        .mechanism = run->mechanism,
                        .plan = plan,
                        .seeded = run->seeded,
                        .seed = run->seed,
                        .least_noise = INFINITY};
    take_memory(board, run, arena);
    bb_status status = run->seeded ? bb_random_open_stream(&board->random, run->seed,
                                                           BB_FOR_NOISE, 0, 0)
                                   : bb_random_open_secure(&board->random);
    board->random_open = !status;
    if (!status) status = bb_hash_open(&board->hash);
    if (!status) status = reserve(run, plan);
    if (status) bb_board_close(board);
    return status;
}

void bb_board_close(bb_board *board) {
    if (board->random_open) bb_random_close(&board->random);
    bb_hash_close(&board->hash);
    *board = (bb_board){0};
}

/* -- a round opens -- */

/* Picks the finest grid on which the sum and 40 standard deviations of noise fit in an
 * int64: bits and noise of block b. */
static bb_status choose_grid(bb_board *board, size_t b, double mu) {
    const bb_block *block = &board->layout.block[b];
    const double r = bb_form_sensitivity(block->form, board->pub->adjacency);
    int bits = is_product(block->form) ? PRODUCT_BITS : VECTOR_BITS;
    for (; bits >= LEAST_BITS; bits--) {
        const double unit = ldexp(1.0, is_product(block->form) ? 2 * bits : bits);
        double moved = r * unit;
        /* rounding a positive semi-definite matrix may leave the cone: count its steps
         */
        if (block->form == BB_FORM_PSD) moved += 2.0 * (double)block->length;
        const double std = nextafter(moved / mu * (1.0 + 1e-15), INFINITY);
        if ((double)board->pub->tasks * unit + 40.0 * std >= 0x1p63) continue;
        if (std >= BB_NOISE_MOST_STD) continue;
        if (std * sqrt(0.5) < BB_NOISE_LEAST_STD) break;
        board->bits[b] = bits;
        board->std[b] = std;
        board->least_noise = fmin(board->least_noise, std / unit);
        return BB_OK;
    }
    return bb_fail(BB_EUSAGE,
                   "block \"%s\" of round %u: noise multiplier %g for %zu tasks "
                   "does not fit the 64-bit grid",
                   block->name, board->round + 1, r / mu, board->pub->tasks);
}

/* The same for radial noise, which is (pure, 0)-DP at this scale for a task, whatever
 * it shows, and, where one row moves a contribution by at most 2 clip / rows and 2^-24
 * clip, (pure / rows, 0)-DP for rows, too: rounding adds less than two steps a number.
 * Beyond pure = 32 the noise is more than asked for. */
static bb_status choose_radial_grid(bb_board *board, size_t b, double pure) {
    const bb_block *block = &board->layout.block[b];
    const double n = (double)block->length, rows = (double)board->plan->lifted_rows;
    for (int bits = VECTOR_BITS; bits >= LEAST_BITS; bits--) {
        const double unit = ldexp(1.0, bits);
        const double error = rows * (2.0 * sqrt(n) + 0x1p-24 * unit);
        const double moved = 2.0 * unit + error;
        const double scale = fmax(moved / pure * (1.0 + 1e-12), BB_RADIAL_LEAST_SCALE);
        const double reach = (n + 13.0 * sqrt(n) + 80.0) * scale;
        if ((double)board->pub->tasks * (unit + reach) >= 0x1p63) continue;
        if (scale > BB_RADIAL_MOST_SCALE) continue;
        if (error > 0.02 * unit) break;
        board->bits[b] = bits;
        board->scale = scale;
        board->std[b] = scale * sqrt(n + 1.0);
        board->least_noise = fmin(board->least_noise, board->std[b] / unit);
        return BB_OK;
    }
    return bb_fail(BB_EUSAGE,
                   "block \"%s\" of round %u: epsilon %g for each of %g rows of %zu "
                   "tasks does not fit the 64-bit grid",
                   block->name, board->round + 1, pure / rows, rows, board->pub->tasks);
}

/* A lifted round is its only block's, and has radial noise. */
static bb_status check_lifted(bb_board *board, size_t b) {
    const bb_block *block = &board->layout.block[b];
    const double pure = board->plan->pure[board->round];
    const bool fits = block->form == BB_FORM_VECTOR || block->form == BB_FORM_SLOT;
    if (board->layout.blocks != 1 || !fits || !(pure > 0.0) ||
        block->length > BB_RADIAL_MOST_LENGTH)
        return bb_fail(BB_EBUDGET,
                       "block \"%s\" of round %u: radial noise pays for one vector, "
                       "of at most %d numbers, a round",
                       block->name, board->round + 1, BB_RADIAL_MOST_LENGTH);
    return choose_radial_grid(board, b, pure);
}

static bb_status check_selection(const bb_board *board, const bb_block *block) {
    const double pure = board->plan->pure[board->round];
    if (block->length < 1 || block->length > BB_MOST_CANDIDATES)
        return bb_fail(BB_EUSAGE,
                       "block \"%s\" of round %u: a selection has 1 to %d "
                       "candidates, found %zu",
                       block->name, board->round + 1, BB_MOST_CANDIDATES,
                       block->length);
    if (pure > 0.0) return BB_OK;
    return bb_fail(BB_EBUDGET,
                   "block \"%s\" of round %u: the plan has no budget for a "
                   "selection",
                   block->name, board->round + 1);
}

static bb_status check_block(bb_board *board, size_t b, size_t *outer, double *share) {
    const bb_block *block = &board->layout.block[b];
    const uint32_t t = board->round;
    if (block->form == BB_FORM_SELECTION) return check_selection(board, block);
    if (board->pub->sampling != BB_SAMPLING_ALL && block->form != BB_FORM_VECTOR &&
        block->form != BB_FORM_SLOT)
        return bb_fail(BB_EUSAGE,
                       "block \"%s\" of round %u: a sample of the tasks "
                       "can be asked for vectors only",
                       block->name, t + 1);
    if (block->form == BB_FORM_OUTER && ++*outer > 1)
        return bb_fail(BB_EUSAGE, "round %u has two outer blocks; one fits", t + 1);
    if (board->mechanism->clips && !(block->clip > 0.0 && isfinite(block->clip)))
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
    if (!board->mechanism->grid) return BB_OK;
    if (board->plan->lifted_rows) return check_lifted(board, b);
    if (!(board->plan->mu[t] > 0.0))
        return bb_fail(BB_EBUDGET,
                       "block \"%s\" of round %u: the plan has no budget for it",
                       block->name, t + 1);
    return choose_grid(board, b, board->plan->mu[t] * sqrt(block->share));
}

static void clear_sums(bb_board *board) {
    const bb_plan *plan = board->plan;
    for (size_t s = 0; s < board->sums; s++) {
        bb_sum *sum = &board->sum[s];
        if (sum->exact) memset(sum->exact, 0, plan->sum_length * sizeof *sum->exact);
        memset(sum->open, 0, open_length(board->mechanism, plan) * sizeof *sum->open);
        sum->held = sum->products = 0;
    }
}

/* The plan made room for these blocks. */
static bb_status check_room(const bb_board *board, const bb_layout *layout) {
    bb_plan need = {0};
    if (layout->blocks >= 1 && layout->blocks <= BB_MOST_BLOCKS) {
        bb_plan_room(&need, board->pub, layout);
        if (need.show_length <= board->plan->show_length &&
            need.sum_length <= board->plan->sum_length &&
            need.outer_length <= board->plan->outer_length)
            return BB_OK;
    }
    return bb_fail(BB_EBUDGET, "round %u: the plan does not cover its %zu blocks",
                   board->round + 1, layout->blocks);
}

/* The round's pure epsilon pays for one release: a selection, or a published step. */
static bb_status check_pure(const bb_board *board, const bb_layout *layout) {
    const bool published = board->mechanism->pricing == BB_PRICE_PUBLISHED;
    size_t pure = 0;
    for (size_t b = 0; b < layout->blocks; b++)
        pure += published || layout->block[b].form == BB_FORM_SELECTION;
    if (pure <= 1) return BB_OK;
    return bb_fail(BB_EBUDGET,
                   "round %u: its pure epsilon pays for one release, not for %zu",
                   board->round + 1, pure);
}

bb_status bb_board_ask(bb_board *board, const bb_layout *layout) {
    size_t outer = 0;
    double share = 0.0;
    bb_status status = check_room(board, layout);
    if (!status) status = check_pure(board, layout);
    if (status) return status;
    board->asked = false;
    if (board->round >= board->plan->rounds)
        return bb_fail(BB_EBUDGET, "round %u: the plan has %u", board->round + 1,
                       board->plan->rounds);
    board->layout = *layout;
    for (size_t b = 0; b < layout->blocks && !status; b++)
        status = check_block(board, b, &outer, &share);
    if (status) return status;
    clear_sums(board);
    board->round++;
    board->asked = true;
    return BB_OK;
}

/* -- contributions -- */

static void add_block(bb_board *board, bb_sum *sum, size_t offset, size_t b,
                      size_t task, const bb_local *local, double *v) {
    const bb_block *block = &board->layout.block[b];
    const size_t n = bb_block_task_length(block, local);
    bb_contribution_fit(block, board->mechanism->clips,
                        board->mechanism->grid ? board->bits[b] : 0, n, v);
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

void bb_board_add(bb_board *board, size_t sum, size_t task, const bb_local *local,
                  double *const *block) {
    size_t offset = 0;
    for (size_t b = 0; b < board->layout.blocks; b++) {
        add_block(board, &board->sum[sum], offset, b, task, local, block[b]);
        offset += bb_block_sum_length(&board->layout.block[b], board->pub->tasks);
    }
}

void bb_board_skip_to(bb_board *board, uint32_t round) {
    assert(round >= board->round && !board->asked);
    board->round = round;
}

/* -- publishing -- */

/* Finishes the outer block of every sum and adds all sums into the first, in order. */
static void total(bb_board *board) {
    size_t offset = 0;
    for (size_t b = 0; b < board->layout.blocks; b++) {
        const bb_block *block = &board->layout.block[b];
        for (size_t s = 0; block->form == BB_FORM_OUTER && s < board->sums; s++)
            bb_sum_close(&board->sum[s], offset, block->length);
        offset += bb_block_sum_length(block, board->pub->tasks);
    }
    for (size_t s = 1; s < board->sums; s++)
        bb_sum_merge(&board->sum[0], &board->sum[s], offset);
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

static void publish_on_grid(bb_board *board, size_t b, int64_t *sum, double *value,
                            double *noise) {
    const bb_block *block = &board->layout.block[b];
    const size_t n = bb_block_sum_length(block, board->pub->tasks);
    double step = ldexp(block->clip, -board->bits[b]);
    if (is_product(block->form)) step *= step;
    if (board->plan->lifted_rows) /* to each slot its own */
        for (size_t k = 0; k < n; k += block->length)
            bb_noise_radial(&board->random, board->scale, block->length, sum + k);
    else if (is_matrix(block->form))
        add_symmetric_noise(&board->random, board->std[b], block->length, sum);
    else
        bb_noise_gaussian(&board->random, board->std[b], n, sum);
    for (size_t k = 0; k < n; k++) value[k] = (double)sum[k] * step;
    *noise = board->std[b] * step;
}

static bb_status publish_off_grid(bb_board *board, size_t b, double *sum, double *value,
                                  double *noise) {
    const bb_block *block = &board->layout.block[b];
    const bb_mechanism *mechanism = board->mechanism;
    bb_status status = BB_OK;
    *noise = 0.0;
    if (mechanism->add)
        status = mechanism->add(mechanism->self, &board->random, board->round, block,
                                board->plan->pure[board->round - 1], sum, noise);
    memcpy(value, sum, bb_block_sum_length(block, board->pub->tasks) * sizeof *sum);
    return status;
}

static size_t select_winner(bb_board *board, const bb_block *block, size_t offset,
                            double *value) {
    const double epsilon = board->plan->pure[board->round - 1];
    bb_sum *sum = &board->sum[0];
    int64_t score[BB_MOST_CANDIDATES];
    size_t winner = 0;
    for (size_t k = 0; k < block->length; k++) {
        score[k] = sum->exact ? sum->exact[offset + k] : (int64_t)sum->open[offset + k];
        if (score[k] > score[winner]) winner = k;
    }
    if (isfinite(epsilon))
        winner =
            bb_select_permute_and_flip(&board->random, epsilon, block->length, score);
    for (size_t k = 0; k < block->length; k++) value[k] = k == winner ? 1.0 : 0.0;
    return winner;
}

static bb_status publish_block(bb_board *board, size_t b, size_t offset,
                               bb_release *release) {
    const bb_block *block = &board->layout.block[b];
    double *value = board->value + offset;
    bb_status status = BB_OK;
    if (board->seeded)
        status = bb_random_restart(&board->random, board->seed, BB_FOR_NOISE,
                                   board->round, b);
    if (status) return status;
    release->value[b] = value;
    if (block->form == BB_FORM_SELECTION)
        release->winner[b] = select_winner(board, block, offset, value);
    else if (board->mechanism->grid)
        publish_on_grid(board, b, board->sum[0].exact + offset, value,
                        &release->noise[b]);
    else
        status = publish_off_grid(board, b, board->sum[0].open + offset, value,
                                  &release->noise[b]);
    if (!status)
        bb_hash_add_doubles(&board->hash, value,
                            bb_block_sum_length(block, board->pub->tasks));
    return status;
}

bb_status bb_board_publish(bb_board *board, bb_release *release) {
    bb_status status = BB_OK;
    size_t offset = 0;
    if (!board->asked)
        return bb_fail(BB_EBUDGET, "round %u was published already", board->round);
    board->asked = false;
    *release = (bb_release){.round = board->round,
                            .layout = &board->layout,
                            .psd_noise = board->mechanism->psd_noise};
    total(board);
    for (size_t b = 0; b < board->layout.blocks && !status; b++) {
        status = publish_block(board, b, offset, release);
        offset += bb_block_sum_length(&board->layout.block[b], board->pub->tasks);
    }
    return status;
}

bb_status bb_board_hash(bb_board *board, char hex[BB_HASH_TEXT]) {
    return bb_hash_text(&board->hash, hex);
}
