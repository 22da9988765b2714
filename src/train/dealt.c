#include "train/dealt.h"

#include "base/memory.h"
#include "core/tally.h"
#include "data/names.h"
#include "data/slice.h"
#include "train/dealt_rows.h"

#include <stdlib.h>
#include <string.h>

void bb_dealt_close(bb_dealt *d) {
    free(d->task_name);
    free(d->first);
    d->task_name = NULL;
    d->first = NULL;
    d->tasks = 0;
}

size_t bb_dealt_from(const bb_dealt *d) {
    return d->ranks ? d->first[d->ranks->number] : 0;
}

size_t bb_dealt_tasks(const bb_dealt *d, size_t own) {
    return d->ranks ? d->tasks : own;
}

/* -- reading -- */

/* What all ranks know of their parts of a file. */
static bb_status join_slices(bb_ranks *ranks, const char *path, bb_status status,
                             bb_slice *slice) {
    bb_message all;
    status = bb_ranks_gather_all(ranks, status, slice, sizeof *slice, &all);
    if (!status) status = bb_slices_join(path, ranks->count, all.at);
    if (!status) *slice = ((const bb_slice *)all.at)[ranks->number];
    free(all.at);
    return status;
}

/* This rank's part of a file, unless it turns out to be read as a whole. Which line a part
 * begins with is known when the parts before it have been read: where something is wrong,
 * it is read again, to say where. */
static bb_status read_slice(bb_ranks *ranks, const bb_source *source, bb_read_options o,
                            bb_slice *slice, bb_dataset *part) {
    bb_status status =
        bb_slice_cut(source->path, &o, ranks->number, ranks->count, slice);
    status = join_slices(ranks, source->path, status, slice);
    if (status || slice->whole) return status;
    o.slice = slice;
    status = bb_source_read(source, &o, part);
    if (status == BB_EDATA && slice->failed) status = BB_OK;
    status = join_slices(ranks, source->path, status, slice);
    if (!status && slice->failed && !slice->whole)
        status = bb_source_read(source, &o, part);
    else if (!status)
        bb_slice_number(slice, part);
    return status;
}

bb_status bb_dealt_read(const bb_dealt *d, const bb_source *source,
                        const bb_read_options *options, bb_dataset *part) {
    bb_slice slice = {.whole = true};
    bb_status status = BB_OK;
    if (!d->ranks) return bb_source_read(source, options, part);
    if (source->path) status = read_slice(d->ranks, source, *options, &slice, part);
    status = bb_ranks_agree(d->ranks, status);
    if (!status && slice.whole) {
        bb_dataset_free(part);
        if (d->ranks->number == 0) status = bb_source_read(source, options, part);
        status = bb_ranks_agree(d->ranks, status);
    }
    if (status) bb_dataset_free(part);
    return status;
}

/* -- figures -- */

typedef size_t joining(size_t a, size_t b);

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t sum(size_t a, size_t b) {
    return a + b;
}

static bb_status join(const bb_dealt *d, bb_status status, joining *both,
                      size_t *value) {
    bb_message all;
    if (!d->ranks) return status;
    status = bb_ranks_gather_all(d->ranks, status, value, sizeof *value, &all);
    if (status) return status;
    const size_t *of = all.at;
    *value = of[0];
    for (size_t r = 1; r < d->ranks->count; r++) *value = both(*value, of[r]);
    free(all.at);
    return BB_OK;
}

bb_status bb_dealt_most(const bb_dealt *d, bb_status status, size_t *value) {
    return join(d, status, bb_larger, value);
}

bb_status bb_dealt_least(const bb_dealt *d, bb_status status, size_t *value) {
    return join(d, status, smaller, value);
}

bb_status bb_dealt_sum(const bb_dealt *d, bb_status status, size_t *value) {
    return join(d, status, sum, value);
}

/* -- names of tasks: all ranks' together, in their order, and who has which -- */

typedef struct counted {
    const char *name;
    size_t rows;
} counted;

static int by_name(const void *a, const void *b) {
    return bb_names_compare(((const counted *)a)->name, ((const counted *)b)->name);
}

/* What a rank tells of its part: how many tasks, their rows, their names. */
static bb_status describe(const bb_dataset *rows, bb_writer *out) {
    bb_put_u64(out, rows->tasks);
    for (size_t i = 0; i < rows->tasks; i++)
        bb_put_u64(out, rows->first[i + 1] - rows->first[i]);
    bb_put_names(out, rows->tasks, rows->task_name);
    return out->status;
}

/* Every name once, with the rows of all ranks. */
static bb_status count_rows(bb_reader *in, bb_names *names, size_t **rows) {
    size_t room = 0;
    bb_status status = BB_OK;
    while (in->left && !in->bad && !status) {
        const size_t tasks = (size_t)bb_get_u64(in), before = names->count;
        const uint8_t *words = bb_get(in, 8 * tasks);
        char **name = NULL;
        status = bb_get_names(in, tasks, &name);
        if (!status)
            status = bb_grow(rows, &room, before + tasks, sizeof **rows, "tasks");
        for (size_t i = 0; i < tasks && !status; i++) {
            const size_t known = names->count;
            size_t at;
            status = bb_names_add(names, name[i], strlen(name[i]), &at);
            if (names->count > known) (*rows)[at] = 0;
            if (!status) (*rows)[at] += (size_t)bb_integer_at(words, i);
        }
        free(name);
    }
    return status;
}

/* Rank 0: *out <- tasks, who begins where, and the names. */
static bb_status deal(const bb_dealt *d, const bb_message *all, bb_writer *out) {
    bb_reader in = bb_reader_of((bb_bytes){all->at, all->length});
    bb_names names = {0};
    size_t *rows = NULL, *first = NULL, *in_order = NULL;
    counted *list = NULL;
    bb_status status = count_rows(&in, &names, &rows);
    const size_t tasks = names.count, ranks = d->ranks->count;
    if (!status) status = bb_allocate(&list, tasks, sizeof *list, "tasks");
    if (!status) status = bb_allocate(&in_order, tasks, sizeof *in_order, "tasks");
    if (!status) status = bb_allocate(&first, ranks + 1, sizeof *first, "tasks");
    for (size_t i = 0; i < tasks && !status; i++)
        list[i] = (counted){bb_names_at(&names, i), rows[i]};
    if (!status) qsort(list, tasks, sizeof *list, by_name);
    for (size_t i = 0; i < tasks && !status; i++) in_order[i] = list[i].rows;
    size_t chunks = d->chunks ? d->chunks : bb_tally_chunks(tasks, 0);
    if (d->grid) chunks = tasks;
    if (!status) status = bb_deal_rows(tasks, in_order, chunks, ranks, first);
    bb_put_u64(out, tasks);
    for (size_t r = 0; r <= ranks && !status; r++) bb_put_u64(out, first[r]);
    for (size_t i = 0; i < tasks && !status; i++)
        bb_put_bytes(out, list[i].name, strlen(list[i].name) + 1);
    bb_names_free(&names);
    free(rows);
    free(first);
    free(in_order);
    free(list);
    return status ? status : out->status;
}

static bb_status take_deal(bb_dealt *d, const bb_message *piece) {
    bb_reader in = bb_reader_of((bb_bytes){piece->at, piece->length});
    const size_t ranks = d->ranks->count;
    char **name = NULL;
    d->tasks = (size_t)bb_get_u64(&in);
    if (!d->chunks) d->chunks = bb_tally_chunks(d->tasks, 0);
    bb_status status = bb_allocate(&d->first, ranks + 1, sizeof *d->first, "tasks");
    for (size_t r = 0; r <= ranks && !status; r++)
        d->first[r] = (size_t)bb_get_u64(&in);
    if (!status) status = bb_get_names(&in, d->tasks, &name);
    if (!status) status = bb_names_copy(&d->task_name, d->tasks, name);
    free(name);
    return status;
}

static bb_status deal_tasks(bb_dealt *d, bb_status status, const bb_dataset *rows) {
    bb_writer own = {0}, out = {0};
    bb_message all, dealt = {NULL, 0};
    if (!status) status = describe(rows, &own);
    status = bb_ranks_gather(d->ranks, status, own.at, own.length, &all);
    if (!status && d->ranks->number == 0) {
        status = deal(d, &all, &out);
        dealt = (bb_message){out.at, out.length};
    }
    status = bb_ranks_share(d->ranks, status, &dealt);
    if (!status) status = take_deal(d, &dealt);
    bb_writer_close(&own);
    bb_writer_close(&out);
    free(all.at);
    if (d->ranks->number) free(dealt.at);
    return status;
}

/* -- rows -- */

/* Someone must have rows. */
static bb_status check_rows(const bb_dealt *d, bb_status status,
                            const bb_dataset *rows) {
    size_t all = rows->rows, dropped = rows->dropped;
    status = bb_dealt_sum(d, status, &all);
    status = bb_dealt_sum(d, status, &dropped);
    if (status || all) return status;
    const char *source = rows->source ? rows->source : "the data";
    return bb_fail(BB_EDATA,
                   dropped ? "%s: every row has a missing value"
                           : "%s: no row follows the header",
                   source);
}

bb_status bb_dealt_exchange(bb_dealt *d, bb_status status, bb_dataset *rows) {
    bb_dataset like = {0};
    bb_message kept = {NULL, 0};
    if (!d->ranks) return status;
    status = check_rows(d, status, rows);
    status = bb_share_shape(d->ranks, status, rows, &like, &kept);
    if (!d->task_name) status = deal_tasks(d, status, rows);
    status = bb_exchange_rows(d, status, &like, rows);
    free(like.feature_name);
    free(kept.at);
    return status;
}
