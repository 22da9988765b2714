/* How much noise the attacked door really adds. */
#include "audit/target_parts.h"
#include "base/memory.h"
#include "privacy/accounting/chi_square.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_RUNS = 20000 };
static const double most_numbers = 0x1p25; /* drawn for this */

/* One check: squares of numbers that are standard normal if the noise is as claimed. */
typedef struct bin {
    double squares, count;
} bin;

typedef struct noise_check {
    bb_audit_state *state;
    size_t n;       /* numbers in a block's sum */
    bin *entry;     /* blocks x n */
    bin *change;    /* blocks: differences of two rounds behind each other */
    double *std;    /* rounds: that each block's noise needs */
    double *before; /* blocks x n */
} noise_check;

static double distance(size_t n, const double *a, const double *b) {
    double squares = 0.0;
    for (size_t k = 0; k < n; k++) squares += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(squares);
}

static bool is_symmetric(bb_form form) {
    return form == BB_FORM_PSD || form == BB_FORM_OUTER;
}

/* Off the diagonal symmetric noise has 1 / sqrt 2 of its standard deviation; below it
 * nothing of its own. */
static double weight_of(const bb_block *block, size_t k) {
    if (!is_symmetric(block->form)) return 1.0;
    const size_t i = k / block->length, j = k % block->length;
    if (i < j) return 0.0;
    return i == j ? 1.0 : sqrt(0.5);
}

static void count_block(noise_check *c, uint32_t round, size_t b, int world,
                        const double *value) {
    const bb_block *block = &c->state->door.layout.block[b];
    const double *mean = c->state->mean[world][round % AUDIT_TURNS];
    double *before = c->before + b * c->n;
    for (size_t k = 0; k < c->n; k++) {
        const double std = c->std[round] * weight_of(block, k);
        if (std <= 0.0) continue;
        const double off = (value[k] - mean[k]) / std;
        bin *entry = &c->entry[b * c->n + k];
        entry->squares += off * off;
        entry->count += 1.0;
        if (round % 2) { /* rounds 0 and 1, 2 and 3, ...: independent pairs */
            c->change[b].squares += 0.5 * (off - before[k]) * (off - before[k]);
            c->change[b].count += 1.0;
        }
        before[k] = off;
    }
}

static bb_status count_run(noise_check *c, int world, uint64_t seed) {
    bb_audit_state *s = c->state;
    double statistic[AUDIT_STATISTICS] = {0.0};
    bb_status status = bb_audit_door_start(&s->door, seed);
    for (uint32_t t = 0; t < s->spec->rounds && !status; t++) {
        status = bb_audit_state_round(s, t, world, statistic);
        for (size_t b = 0; b < s->spec->blocks && !status;
             b++) /* run_round keeps them */
            count_block(c, t, b, world, s->before + b * c->n);
    }
    return status;
}

/* The bin that has the least to do with a standard normal, from below. */
static void judge(const bin *bins, size_t count, double level, bool change, size_t n,
                  bb_audit_noise *out) {
    for (size_t k = 0; k < count; k++) {
        double below, above;
        if (bins[k].count == 0.0) continue;
        bb_chi_square(bins[k].count, bins[k].squares, &below, &above);
        if (!(below < out->chance)) continue;
        out->chance = below;
        out->change = change;
        out->block = change ? k : k / n;
        out->entry = change ? 0 : k % n;
        out->ratio = sqrt(bins[k].squares / bins[k].count);
        out->weak = below < level;
    }
}

static bb_status open_check(noise_check *c, const bb_audit_spec *spec) {
    static const char what[] = "the audit";
    const bb_plan *plan = &c->state->door.plan;
    const double share = 1.0 / (double)spec->blocks;
    c->n = bb_block_sum_length(&c->state->door.layout.block[0], AUDIT_TASKS);
    bb_status status =
        bb_allocate(&c->entry, spec->blocks * c->n, sizeof *c->entry, what);
    if (!status)
        status = bb_allocate(&c->change, spec->blocks, sizeof *c->change, what);
    if (!status) status = bb_allocate(&c->std, spec->rounds, sizeof *c->std, what);
    if (!status)
        status = bb_allocate(&c->before, spec->blocks * c->n, sizeof(double), what);
    const double moved = distance(c->n, c->state->mean[0][0], c->state->mean[1][0]);
    for (uint32_t t = 0; t < spec->rounds && !status; t++)
        c->std[t] = moved / (plan->mu[t] * sqrt(share));
    return status;
}

static bb_status run_check(noise_check *c, uint64_t seed) {
    const bb_audit_spec *spec = c->state->spec;
    const double numbers = (double)spec->rounds * (double)(spec->blocks * c->n + 1);
    const uint64_t runs = (uint64_t)fmin(MOST_RUNS, ceil(most_numbers / numbers));
    bb_status status = BB_OK;
    for (uint64_t run = 0; run < runs && !status; run++)
        status = count_run(c, (int)(run % 2), seed + run);
    return status;
}

static void judge_all(const noise_check *c, double level, bb_audit_noise *out) {
    const size_t blocks = c->state->spec->blocks, entries = blocks * c->n;
    level /= (double)(entries + blocks);
    judge(c->entry, entries, level, false, c->n, out);
    judge(c->change, blocks, level, true, c->n, out);
}

bb_status bb_audit_noise_check(const bb_audit_spec *spec, uint64_t seed, double level,
                               bb_audit_noise *out) {
    noise_check c = {0};
    bb_audit_noise found = {.chance = INFINITY, .ratio = NAN};
    bb_status status = bb_audit_state_open(&c.state, spec);
    if (!status && spec->kind == BB_AUDIT_GAUSSIAN) {
        status = open_check(&c, spec);
        if (!status) status = run_check(&c, seed);
        if (!status) judge_all(&c, level, &found);
    }
    if (!status) *out = found;
    free(c.entry);
    free(c.change);
    free(c.std);
    free(c.before);
    bb_audit_state_close(c.state);
    return status;
}
