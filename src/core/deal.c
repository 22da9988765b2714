/* deal.c - which rank has which tasks. */
#include "base/memory.h"
#include "core/phases.h"
#include "core/run_ranks.h"
#include "core/tally.h"

#include <stdlib.h>

/* Chunks that fit into ranks of at most this many rows: how many ranks they take, or one
 * too many. first[r] <- the chunk that rank r begins with, if not NULL. */
static size_t pack(size_t chunks, const size_t *rows, size_t most, size_t ranks,
                   size_t *first) {
    size_t used = 0, held = 0;
    if (first) first[0] = 0;
    for (size_t c = 0; c < chunks; c++) {
        if (c == 0 || held + rows[c] > most) {
            if (used == ranks) return ranks + 1;
            if (first) first[used] = c;
            used++;
            held = 0;
        }
        held += rows[c];
    }
    return used;
}

bb_status bb_deal_rows(size_t tasks, const size_t *rows, size_t chunks, size_t ranks,
                       size_t *first) {
    size_t *sum = NULL, most = 0, all = 0;
    const bb_status status = bb_allocate(&sum, chunks, sizeof *sum, "the deal");
    if (status) return status;
    for (size_t c = 0; c < chunks; c++) {
        const size_t to = bb_tally_first(tasks, chunks, c + 1);
        for (size_t i = bb_tally_first(tasks, chunks, c); i < to; i++)
            sum[c] += rows[i] + 1; /* a task without rows is some work, too */
        if (sum[c] > most) most = sum[c];
        all += sum[c];
    }
    size_t low = most ? most - 1 : 0, high = all; /* low is too few, high enough */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (pack(chunks, sum, middle, ranks, NULL) <= ranks)
            high = middle;
        else
            low = middle;
    }
    const size_t used = pack(chunks, sum, high, ranks, first);
    for (size_t r = 0; r <= ranks; r++)
        first[r] = r < used ? bb_tally_first(tasks, chunks, first[r]) : tasks;
    free(sum);
    return BB_OK;
}

bb_status bb_run_chunks(const bb_run *run, size_t *chunks) {
    bb_phases phases = {0};
    *chunks = run->pub.tasks;
    if (run->mechanism->grid) return BB_OK;
    const size_t length =
        (run->pub.clusters ? run->pub.clusters : 1) *
        (run->pub.parameters ? run->pub.parameters : run->pub.features);
    double *shared = NULL;
    bb_status status = bb_allocate(&shared, length, sizeof *shared, "a plan");
    if (!status) status = bb_phases_open(&phases, run, shared);
    if (!status) status = bb_phases_plan(&phases);
    if (!status) *chunks = bb_tally_chunks(run->pub.tasks, phases.plan.sum_length);
    bb_phases_close(&phases);
    free(shared);
    return status;
}
