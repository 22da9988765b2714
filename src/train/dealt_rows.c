#include "train/dealt_rows.h"

#include "base/memory.h"
#include "data/names.h"

#include <stdlib.h>
#include <string.h>

/* -- names -- */

void bb_put_names(bb_writer *out, size_t count, char *const *name) {
    for (size_t i = 0; i < count; i++) bb_put_bytes(out, name[i], strlen(name[i]) + 1);
}

bb_status bb_get_names(bb_reader *in, size_t count, char ***name) {
    bb_status status = bb_allocate(name, count, sizeof **name, "names");
    for (size_t i = 0; i < count && !status; i++) {
        const uint8_t *end = in->left ? memchr(in->at, 0, in->left) : NULL;
        if (!end) status = bb_fail(BB_EIO, "a rank's message is cut");
        if (!status)
            (*name)[i] = (char *)(uintptr_t)bb_get(in, (size_t)(end - in->at) + 1);
    }
    if (status) {
        free(*name);
        *name = NULL;
    }
    return status;
}

/* -- shapes -- */

/* The sizes of a data set, as they are sent. */
typedef struct sizes {
    uint64_t features, labels, height, width, channels, binary, target_column;
    uint64_t has_lines, sparse, listed, has_target;
} sizes;

static sizes sizes_of(const bb_dataset *d) {
    return (sizes){.features = d->features,
                   .labels = d->labels,
                   .height = d->height,
                   .width = d->width,
                   .channels = d->channels,
                   .binary = d->binary,
                   .target_column = d->target_column,
                   .has_lines = d->has_lines,
                   .sparse = d->sparse_first != NULL,
                   .listed = d->label_first != NULL,
                   .has_target = d->target_name != NULL};
}

static bb_status put_shape(const bb_dataset *d, bb_writer *out) {
    const sizes all = sizes_of(d);
    char *const texts[] = {d->source, d->target_name};
    bb_put_bytes(out, &all, sizeof all);
    bb_put_names(out, 1 + (d->target_name != NULL), texts);
    bb_put_names(out, d->features, d->feature_name);
    return out->status;
}

/* Arrays that are there or not: what they point to is never looked at. */
static bb_status take_shape(const bb_message *piece, bb_dataset *like) {
    static size_t there[1];
    bb_reader in = bb_reader_of((bb_bytes){piece->at, piece->length});
    const uint8_t *at = bb_get(&in, sizeof(sizes));
    char **text = NULL;
    sizes all = {0};
    if (!at) return bb_fail(BB_EIO, "a rank's message is cut");
    memcpy(&all, at, sizeof all);
    bb_status status = bb_get_names(&in, 1 + (all.has_target != 0), &text);
    *like = (bb_dataset){.features = all.features,
                         .labels = all.labels,
                         .height = all.height,
                         .width = all.width,
                         .channels = all.channels,
                         .binary = all.binary,
                         .target_column = (uint32_t)all.target_column,
                         .has_lines = all.has_lines != 0,
                         .sparse_first = all.sparse ? there : NULL,
                         .label_first = all.listed ? there : NULL};
    if (!status) like->source = text[0];
    if (!status && all.has_target) like->target_name = text[1];
    free(text);
    return status ? status : bb_get_names(&in, all.features, &like->feature_name);
}

static bb_status check_shape(const bb_dataset *rows, const bb_dataset *like) {
    bool same = rows->features == like->features;
    for (size_t k = 0; k < like->features && same; k++)
        same = strcmp(rows->feature_name[k], like->feature_name[k]) == 0;
    return same ? BB_OK
                : bb_fail(BB_EDATA, "%s: has not the same columns on all ranks",
                          rows->source);
}

bb_status bb_share_shape(bb_ranks *ranks, bb_status status, const bb_dataset *rows,
                         bb_dataset *like, bb_message *kept) {
    const size_t mine = rows->rows ? ranks->number : SIZE_MAX;
    const bb_dealt alone = {.ranks = ranks};
    size_t leader = mine;
    bb_writer out = {0};
    status = bb_dealt_least(&alone, status, &leader);
    if (!status && leader == ranks->number) status = put_shape(rows, &out);
    status = bb_ranks_gather_all(ranks, status, out.at, out.length, kept);
    if (!status) status = take_shape(kept, like);
    if (!status && rows->rows) status = check_shape(rows, like);
    bb_writer_close(&out);
    return status;
}

/* -- packing: the rows for one rank -- */

/* Numbers of 8 bytes first, so that all of them lie where numbers may. Of tasks: their
 * number among all ranks', and their rows. x is sent by itself. */
static bb_status pack(const bb_dealt *d, size_t rank, const bb_dataset *like,
                      const bb_dataset *rows, const size_t *number, bb_writer *out,
                      bb_message *x) {
    size_t tasks = 0, from = SIZE_MAX, to = 0;
    bb_put_u64(out, 0); /* tasks */
    for (size_t i = d->first[rank]; i < d->first[rank + 1]; i++) {
        const size_t k = number[i];
        if (k == SIZE_MAX || rows->first[k] == rows->first[k + 1]) continue;
        if (from == SIZE_MAX) from = rows->first[k];
        to = rows->first[k + 1]; /* both lists are in the order of names */
        bb_put_u64(out, i);
        bb_put_u64(out, to - rows->first[k]);
        tasks++;
    }
    if (out->status || !tasks) {
        out->length = 0;
        return out->status;
    }
    const uint64_t count = tasks;
    memcpy(out->at, &count, sizeof count);
    bb_put_bytes(out, rows->y + from, (to - from) * sizeof *rows->y);
    if (like->sparse_first) {
        const size_t first = rows->sparse_first[from];
        bb_put_bytes(out, rows->sparse_first + from, (to - from + 1) * sizeof(size_t));
        bb_put_bytes(out, rows->sparse_value + first,
                     (rows->sparse_first[to] - first) * sizeof *rows->sparse_value);
    } else {
        *x = (bb_message){rows->x + from * rows->features,
                          (to - from) * rows->features * sizeof *rows->x};
    }
    if (like->label_first)
        bb_put_bytes(out, rows->label_first + from, (to - from + 1) * sizeof(size_t));
    bb_put_bytes(out, rows->line + from, (to - from) * sizeof *rows->line);
    if (like->sparse_first) {
        const size_t first = rows->sparse_first[from];
        bb_put_bytes(out, rows->sparse_column + first,
                     (rows->sparse_first[to] - first) * sizeof *rows->sparse_column);
    }
    if (like->label_first) {
        const size_t first = rows->label_first[from];
        bb_put_bytes(out, rows->label + first,
                     (rows->label_first[to] - first) * sizeof *rows->label);
    }
    return out->status;
}

/* -- from rank to rank -- */

typedef struct parcel {
    bb_writer *out;                          /* ranks */
    bb_message *send, *send_x, *got, *got_x; /* ranks */
    size_t *number; /* tasks of all ranks: which of the own part's it is, or SIZE_MAX */
} parcel;

static bb_status find_tasks(const bb_dealt *d, const bb_dataset *rows, size_t *number) {
    bb_names wanted = {0};
    bb_status status = bb_names_add_all(&wanted, d->tasks, d->task_name);
    if (!status) status = bb_dataset_match_tasks(rows, &wanted, number);
    bb_names_free(&wanted);
    return status;
}

static bb_status fill(const bb_dealt *d, const bb_dataset *like, const bb_dataset *rows,
                      parcel *p) {
    const size_t ranks = d->ranks->count;
    bb_status status = bb_allocate(&p->out, ranks, sizeof *p->out, "rows");
    bb_message **const pieces[] = {&p->send, &p->send_x, &p->got, &p->got_x};
    for (size_t k = 0; k < 4 && !status; k++)
        status = bb_allocate(pieces[k], ranks, sizeof(bb_message), "rows");
    if (!status) status = bb_allocate(&p->number, d->tasks, sizeof *p->number, "rows");
    if (!status) status = find_tasks(d, rows, p->number);
    for (size_t r = 0; r < ranks && !status; r++) {
        status = pack(d, r, like, rows, p->number, &p->out[r], &p->send_x[r]);
        p->send[r] = (bb_message){p->out[r].at, p->out[r].length};
    }
    return status;
}

static void empty(const bb_ranks *ranks, parcel *p) {
    for (size_t r = 0; p->out && r < ranks->count; r++) bb_writer_close(&p->out[r]);
    free(p->out);
    free(p->send);
    free(p->send_x);
    free(p->number);
    bb_ranks_free(ranks, p->got);
    bb_ranks_free(ranks, p->got_x);
}

bb_status bb_exchange_rows(const bb_dealt *d, bb_status status, const bb_dataset *like,
                           bb_dataset *rows) {
    bb_ranks *ranks = d->ranks;
    const size_t rank = ranks->number;
    const size_t dropped = rows->dropped;
    bb_text_counts texts = rows->texts;
    bb_dataset own = {0};
    parcel p = {0};
    /* dense rows make room for others where they are */
    if (!status && rows->x) status = bb_dataset_unmap(rows);
    if (!status) status = fill(d, like, rows, &p);
    status = bb_ranks_agree(ranks, status);
    const bool ready = !status && p.send && p.send_x && p.got && p.got_x;
    if (ready) status = bb_ranks_exchange(ranks, p.send, p.got);
    if (ready && !status) status = bb_ranks_exchange(ranks, p.send_x, p.got_x);
    if (ready && !status) {
        p.got[rank] = p.send[rank];
        p.got_x[rank] = p.send_x[rank];
        status = bb_join_rows(d, p.got, p.got_x, like, rows, &own);
        p.got[rank] = p.got_x[rank] = (bb_message){NULL, 0};
    }
    empty(ranks, &p);
    status = bb_ranks_agree(ranks, status);
    rows->texts = (bb_text_counts){0};
    bb_dataset_free(rows);
    if (status) {
        bb_text_counts_close(&texts);
        bb_dataset_free(&own);
        return status;
    }
    own.dropped = dropped;
    own.texts = texts;
    *rows = own;
    return BB_OK;
}
