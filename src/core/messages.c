#include "core/messages.h"

#include "core/grid.h"

#include <string.h>

/* -- the offer -- */

static void put_options(bb_writer *writer, const bb_phase *phase) {
    /* json_dumps loses a key where memory ends: a buffer of our own does not end */
    json_t *json = bb_options_json(phase->method->options, phase->options);
    const size_t length = json ? json_dumpb(json, NULL, 0, JSON_COMPACT) : 0;
    bb_put_u64(writer, length);
    uint8_t *at = length ? bb_put(writer, length) : NULL;
    if (!at || json_dumpb(json, (char *)at, length, JSON_COMPACT) != length)
        writer->status = bb_fail(BB_ENOMEM, "no memory for an offer");
    json_decref(json);
}

/* Long arrays count by their SHA-256. */
static void put_digest(bb_writer *writer, const void *bytes, size_t size) {
    uint8_t digest[BB_HASH_BYTES] = {0};
    bb_hash hash;
    bb_hash_open(&hash);
    if (bytes) bb_hash_add(&hash, bytes, size);
    if (bytes) bb_hash_digest(&hash, digest);
    bb_put_bytes(writer, digest, sizeof digest);
}

static void put_public(bb_writer *writer, const bb_public *pub) {
    const uint64_t count[] = {
        pub->tasks,     pub->features, pub->outputs, pub->parameters, pub->network,
        pub->batch,     pub->clusters, pub->loss,    pub->intercept,  pub->scale_sum,
        pub->adjacency, pub->sampling, pub->cohort};
    for (size_t k = 0; k < sizeof count / sizeof *count; k++)
        bb_put_u64(writer, count[k]);
    bb_put_double(writer, pub->epsilon);
    bb_put_double(writer, pub->delta);
    bb_put_double(writer, pub->rate);
    bb_put_text(writer, pub->schedule ? pub->schedule : "");
    put_digest(writer, pub->cluster, pub->cluster ? pub->tasks * sizeof(uint32_t) : 0);
    put_digest(writer, pub->start, pub->start ? pub->parameters * sizeof(double) : 0);
}

void bb_put_terms(bb_writer *writer, const bb_phases *phases) {
    const bb_run *run = &phases->run;
    bb_put_text(writer, run->mechanism->name);
    bb_put_u32(writer, run->seeded);
    bb_put_u64(writer, run->seeded ? run->seed : 0);
    put_public(writer, &run->pub);
    bb_put_u32(writer, (uint32_t)run->phases);
    for (size_t k = 0; k < run->phases; k++) {
        const bb_phase *phase = &run->phase[k];
        bb_put_text(writer, phase->method->name);
        put_options(writer, phase);
        bb_put_u32(writer, phase->rounds);
        bb_put_double(writer, phase->share);
    }
}

void bb_put_plan(bb_writer *writer, const bb_phases *phases) {
    const bb_plan *plan = &phases->plan;
    bb_put_u32(writer, plan->rounds);
    bb_put_u32(writer, plan->forms);
    bb_put_u64(writer, plan->show_length);
    bb_put_u64(writer, plan->sum_length);
    bb_put_u64(writer, plan->outer_length);
    bb_put_u64(writer, plan->lifted_rows);
    bb_put_u32(writer, plan->instance_broken);
    bb_put_double(writer, plan->instance_epsilon);
    bb_put_double(writer, plan->instance_delta);
    for (size_t k = 0; k < phases->count; k++) {
        bb_put_u32(writer, phases->part[k].from);
        bb_put_u32(writer, phases->part[k].rounds);
        bb_put_double(writer, phases->pub[k].mu);
    }
    bb_put_doubles(writer, plan->mu, plan->rounds);
    bb_put_doubles(writer, plan->pure, plan->rounds);
    bb_put_u32(writer, plan->instance != NULL);
    if (plan->instance) bb_put_doubles(writer, plan->instance, plan->rounds);
}

static bb_status get_prices(bb_reader *reader, bb_plan *plan, uint32_t rounds) {
    if (rounds > reader->left / 16)
        return bb_fail(BB_EDATA, "an offer whose plan ends too early");
    bb_status status = bb_plan_rounds(plan, rounds);
    if (status) return status;
    bb_get_doubles(reader, plan->mu, rounds);
    bb_get_doubles(reader, plan->pure, rounds);
    if (!bb_get_u32(reader)) return BB_OK;
    status = bb_allocate(&plan->instance, rounds, sizeof *plan->instance, "the plan");
    if (!status) bb_get_doubles(reader, plan->instance, rounds);
    return status;
}

bb_status bb_get_plan(bb_reader *reader, bb_phases *phases) {
    bb_plan *plan = &phases->plan;
    uint64_t rounds = 0;
    const uint32_t total = bb_get_u32(reader);
    plan->forms = bb_get_u32(reader);
    plan->show_length = bb_get_u64(reader);
    plan->sum_length = bb_get_u64(reader);
    plan->outer_length = bb_get_u64(reader);
    plan->lifted_rows = bb_get_u64(reader);
    plan->instance_broken = bb_get_u32(reader) != 0;
    plan->instance_epsilon = bb_get_double(reader);
    plan->instance_delta = bb_get_double(reader);
    for (size_t k = 0; k < phases->count; k++) {
        phases->part[k].from = bb_get_u32(reader);
        phases->part[k].rounds = bb_get_u32(reader);
        phases->pub[k].mu = bb_get_double(reader);
        if (phases->part[k].rounds && phases->part[k].from != rounds)
            return bb_fail(BB_EDATA, "an offer whose phases do not follow each other");
        rounds += phases->part[k].rounds;
    }
    if (rounds != total)
        return bb_fail(BB_EDATA, "an offer of %u rounds for phases of %llu", total,
                       (unsigned long long)rounds);
    bb_status status = get_prices(reader, plan, total);
    if (!status) status = bb_read_all(reader, "an offer");
    return status ? status : bb_phases_check(phases);
}

bb_status bb_get_terms(bb_reader *reader, const bb_phases *phases, bool *same) {
    bb_writer terms = {0};
    bb_put_terms(&terms, phases);
    const bb_status status = terms.status;
    const uint8_t *found = bb_get(reader, terms.length);
    *same = found && !status && memcmp(found, terms.at, terms.length) == 0;
    bb_writer_close(&terms);
    return status;
}

/* -- a plan that is kept -- */

void bb_put_priced(bb_writer *writer, const bb_plan *plan, bb_bytes offer) {
    bb_put_u64(writer, offer.length);
    bb_put_bytes(writer, offer.at, offer.length);
    bb_put_u32(writer, plan->accountant);
    for (uint32_t t = 0; t < plan->rounds; t++) {
        bb_put_double(writer, plan->step[t].weight);
        bb_put_double(writer, plan->step[t].selection);
    }
}

bb_status bb_get_priced(bb_reader *reader, bb_phases *phases) {
    bb_plan *plan = &phases->plan;
    const uint64_t length = bb_get_u64(reader);
    const uint8_t *at = bb_get(reader, length);
    bb_reader offer = bb_reader_of((bb_bytes){at, at ? length : 0});
    bool same;
    bb_status status = bb_get_terms(&offer, phases, &same);
    if (!status && !same) status = bb_fail(BB_EDATA, "a saved curator of another run");
    if (!status) status = bb_get_plan(&offer, phases);
    if (status) return status;
    const uint32_t accountant = bb_get_u32(reader);
    if (accountant > BB_ACCOUNTANT_KOV)
        return bb_fail(BB_EDATA, "a saved plan of accountant %u", accountant);
    plan->accountant = (bb_accountant)accountant;
    for (uint32_t t = 0; t < plan->rounds; t++) {
        plan->step[t].weight = bb_get_double(reader);
        plan->step[t].selection = bb_get_double(reader);
    }
    return reader->bad ? bb_fail(BB_EDATA, "a saved plan that ends too early") : BB_OK;
}

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
