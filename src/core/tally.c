#include "core/tally.h"

#include "core/contribution.h"

#include <string.h>

enum {
    LEAST_CHUNK = 8, /* tasks */
    MOST_CHUNKS = 64
};
/* Numbers in all chunks' sums together. */
static const size_t most_chunk_memory = (size_t)1 << 26;

size_t bb_tally_chunks(size_t tasks, size_t sum_length) {
    size_t chunks = tasks / LEAST_CHUNK;
    if (chunks > MOST_CHUNKS) chunks = MOST_CHUNKS;
    if (sum_length && chunks > most_chunk_memory / sum_length)
        chunks = most_chunk_memory / sum_length;
    return chunks ? chunks : 1;
}

size_t bb_tally_first(size_t tasks, size_t chunks, size_t chunk) {
    return chunk * tasks / chunks;
}

size_t bb_tally_lead(size_t tasks, size_t chunks, size_t own, const size_t *id) {
    size_t lead = 0;
    while (lead < chunks) {
        const size_t behind = bb_tally_first(tasks, chunks, lead + 1);
        if (behind > own || id[behind - 1] != behind - 1) break;
        lead++;
    }
    return lead;
}

void bb_tally_need(bb_arena *arena, const bb_mechanism *mechanism, const bb_plan *plan,
                   size_t sums) {
    bb_arena_need(arena, sums, sizeof(bb_sum));
    for (size_t s = 0; s < sums; s++)
        bb_sum_need(arena, mechanism->grid, plan->sum_length, plan->outer_length);
}

void bb_tally_open(bb_tally *tally, bb_arena *arena, const bb_mechanism *mechanism,
                   const bb_plan *plan, size_t tasks, size_t sums) {
    *tally = (bb_tally){.mechanism = mechanism,
                        .tasks = tasks,
                        .sum_length = plan->sum_length,
                        .sums = sums,
                        .together = mechanism->grid ? sums : 1,
                        .sum = bb_arena_take(arena, sums, sizeof(bb_sum))};
    for (size_t s = 0; s < sums; s++)
        bb_sum_open(&tally->sum[s], arena, mechanism->grid, plan->sum_length,
                    plan->outer_length);
}

/* Of sums that end as one the first has all slots: each is of one task, whoever adds it. */
static bool is_elsewhere(const bb_tally *tally, size_t sum, const bb_block *block) {
    return block->form == BB_FORM_SLOT && sum > 0 && sum < tally->together;
}

static void clear(bb_tally *tally, size_t s) {
    const bb_layout *layout = &tally->ask->layout;
    size_t offset = 0;
    for (size_t b = 0; b < layout->blocks; b++) {
        const bb_block *block = &layout->block[b];
        const size_t n = bb_block_sum_length(block, tally->tasks);
        if (!is_elsewhere(tally, s, block))
            bb_sum_clear_part(&tally->sum[s], offset, n);
        offset += n;
    }
}

void bb_tally_begin(bb_tally *tally, const bb_ask *ask) {
    tally->ask = ask;
    for (size_t s = 0; s < tally->sums; s++) clear(tally, s);
}

static void add_block(const bb_tally *tally, bb_sum *sum, size_t offset, size_t b,
                      size_t task, const bb_local *local, double *v) {
    const bb_block *block = &tally->ask->layout.block[b];
    const size_t n = bb_block_task_length(block, local);
    bb_contribution_fit(block, tally->mechanism->clips,
                        tally->mechanism->grid ? tally->ask->bits[b] : 0, n, v);
    if (bb_block_is_part(block, local)) {
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

void bb_tally_add(bb_tally *tally, size_t sum, size_t task, const bb_local *local,
                  double *const *block) {
    size_t offset = 0;
    for (size_t b = 0; b < tally->ask->layout.blocks; b++) {
        const bb_block *now = &tally->ask->layout.block[b];
        bb_sum *to = &tally->sum[is_elsewhere(tally, sum, now) ? 0 : sum];
        add_block(tally, to, offset, b, task, local, block[b]);
        offset += bb_block_sum_length(now, tally->tasks);
    }
}

void bb_tally_end(bb_tally *tally) {
    const bb_layout *layout = &tally->ask->layout;
    size_t offset = 0;
    for (size_t b = 0; b < layout->blocks; b++) {
        const bb_block *block = &layout->block[b];
        for (size_t s = 0; block->form == BB_FORM_OUTER && s < tally->sums; s++)
            bb_sum_close(&tally->sum[s], offset, block->length);
        const size_t n = bb_block_sum_length(block, tally->tasks);
        for (size_t s = 1; s < tally->together && block->form != BB_FORM_SLOT; s++)
            bb_sum_merge(&tally->sum[0], &tally->sum[s], offset, n);
        offset += n;
    }
}
