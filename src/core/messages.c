#include "core/messages.h"

#include "core/grid.h"

/* -- a round -- */

void bb_put_ask(bb_writer *writer, const bb_ask *ask) {
    bb_put_u32(writer, (uint32_t)ask->layout.blocks);
    for (size_t b = 0; b < ask->layout.blocks; b++) {
        const bb_block *block = &ask->layout.block[b];
        bb_put_u32(writer, block->form);
        bb_put_u32(writer, (uint32_t)ask->bits[b]);
        bb_put_u64(writer, block->length);
        bb_put_double(writer, block->clip);
        bb_put_double(writer, block->share);
    }
}

/* Whether a door could have asked for this block. */
static bool is_block(const bb_phases *phases, const bb_block *block, uint32_t bits) {
    const bb_mechanism *mechanism = phases->run.mechanism;
    if (block->form > BB_FORM_SELECTION || block->length > phases->plan.sum_length)
        return false;
    if (!(phases->plan.forms & 1U << block->form)) return false;
    if (block->form == BB_FORM_SELECTION) return block->length <= BB_MOST_CANDIDATES;
    if (mechanism->clips && !bb_grid_is_clip(block->clip)) return false;
    if (!mechanism->grid) return bits == 0;
    return bits >= 8 && bits <= (bb_form_is_product(block->form) ? 20 : 32);
}

bb_status bb_get_ask(bb_reader *reader, const bb_phases *phases, bb_ask *ask) {
    bb_plan need = {0};
    const uint32_t blocks = bb_get_u32(reader);
    bool fits = blocks >= 1 && blocks <= BB_MOST_BLOCKS;
    if (fits) ask->layout.blocks = blocks;
    for (size_t b = 0; fits && b < blocks; b++) {
        bb_block *block = &ask->layout.block[b];
        *block = (bb_block){.name = "block", .form = (bb_form)bb_get_u32(reader)};
        const uint32_t bits = bb_get_u32(reader);
        block->length = bb_get_u64(reader);
        block->clip = bb_get_double(reader);
        block->share = bb_get_double(reader);
        ask->bits[b] = (int)bits;
        fits = is_block(phases, block, bits);
    }
    if (fits) bb_plan_room(&need, &phases->run.pub, &ask->layout);
    if (fits && need.show_length <= phases->plan.show_length &&
        need.sum_length <= phases->plan.sum_length &&
        need.outer_length <= phases->plan.outer_length)
        return BB_OK;
    return bb_fail(BB_EDATA, "round %u asks for what the offer does not cover",
                   ask->round);
}

void bb_put_board(bb_writer *writer, const bb_billboard *board) {
    bb_put_u32(writer, board->releases);
    bb_put_u32(writer, board->done);
    bb_put_u64(writer, board->length);
    bb_put_doubles(writer, board->at, board->length);
}

bb_status bb_get_board(bb_reader *reader, bb_billboard *board, double *at,
                       size_t length) {
    board->releases = bb_get_u32(reader);
    board->done = bb_get_u32(reader) != 0;
    const uint64_t found = bb_get_u64(reader);
    if (found != length)
        return bb_fail(BB_EDATA, "a billboard of %llu numbers; it has %zu",
                       (unsigned long long)found, length);
    bb_get_doubles(reader, at, length);
    board->at = at;
    board->length = length;
    return BB_OK;
}

/* -- sums -- */

enum { DENSE = 0, SPARSE = 1, GAP = 3 /* zeros that do not end a stretch */ };

size_t bb_sums_room(const bb_plan *plan, size_t count) {
    if (count > 1 && (plan->forms & 1U << BB_FORM_SLOT)) return 0;
    return count * 8 * (plan->sum_length + BB_MOST_BLOCKS);
}

size_t bb_sums_bytes(const bb_layout *layout, size_t tasks, size_t own) {
    size_t bytes = 0;
    for (size_t b = 0; b < layout->blocks; b++)
        bytes += 8 + 8 * bb_block_sum_length(
                             &layout->block[b],
                             layout->block[b].form == BB_FORM_SLOT ? own : tasks);
    return bytes;
}

/* The next stretch of numbers from *from on: false at the end. */
static bool next_stretch(size_t n, const uint64_t *word, size_t *from, size_t *to) {
    size_t k = *from, last;
    while (k < n && word[k] == 0) k++;
    if (k == n) return false;
    *from = last = k;
    for (; k < n && k - last <= GAP; k++)
        if (word[k] != 0) last = k;
    *to = last + 1;
    return true;
}

static void put_stretches(bb_writer *writer, size_t n, const uint64_t *word) {
    size_t count = 0, numbers = 0;
    for (size_t from = 0, to = 0; next_stretch(n, word, &from, &to); from = to) {
        numbers += to - from;
        count++;
    }
    if (2 * count + numbers + 1 >= n) { /* as it is */
        bb_put_u64(writer, DENSE);
        bb_put_integers(writer, (const int64_t *)(const void *)word, n);
        return;
    }
    bb_put_u64(writer, SPARSE);
    bb_put_u64(writer, count);
    for (size_t from = 0, to = 0; next_stretch(n, word, &from, &to); from = to) {
        bb_put_u64(writer, from);
        bb_put_u64(writer, to - from);
        bb_put_integers(writer, (const int64_t *)(const void *)(word + from),
                        to - from);
    }
}

void bb_put_sums(bb_writer *writer, const bb_layout *layout, size_t tasks, size_t own,
                 const size_t *id, const void *sum) {
    const uint64_t *word = sum;
    for (size_t b = 0; b < layout->blocks; b++) {
        const bb_block *block = &layout->block[b];
        const size_t n = bb_block_sum_length(block, tasks);
        if (block->form != BB_FORM_SLOT)
            put_stretches(writer, n, word);
        else
            for (size_t k = 0; k < own; k++)
                bb_put_integers(
                    writer,
                    (const int64_t *)(const void *)(word + id[k] * block->length),
                    block->length);
        word += n;
    }
}

static void get_stretches(bb_reader *reader, size_t b, size_t offset, size_t n,
                          bb_sums_run *run, void *context) {
    size_t end = 0;
    uint64_t count = 1;
    const uint64_t kind = bb_get_u64(reader);
    if (kind == SPARSE) count = bb_get_u64(reader);
    if (kind > SPARSE) reader->bad = true;
    for (uint64_t k = 0; k < count && !reader->bad; k++) {
        const uint64_t from = kind == SPARSE ? bb_get_u64(reader) : 0;
        const uint64_t length = kind == SPARSE ? bb_get_u64(reader) : n;
        if (from < end || from > n || length > n - from) {
            reader->bad = true;
            return;
        }
        const uint8_t *words = bb_get(reader, 8 * length);
        if (words) run(context, b, offset + from, length, words);
        end = from + length;
    }
}

void bb_get_sums(bb_reader *reader, const bb_layout *layout, size_t tasks, size_t own,
                 const size_t *id, bb_sums_run *run, void *context) {
    size_t offset = 0;
    for (size_t b = 0; b < layout->blocks && !reader->bad; b++) {
        const bb_block *block = &layout->block[b];
        const size_t n = bb_block_sum_length(block, tasks), slot = block->length;
        if (block->form != BB_FORM_SLOT)
            get_stretches(reader, b, offset, n, run, context);
        for (size_t k = 0; block->form == BB_FORM_SLOT && k < own; k++) {
            const uint8_t *words = bb_get(reader, 8 * slot);
            if (!words) return;
            run(context, b, offset + id[k] * slot, slot, words);
        }
        offset += n;
    }
}
