/* dealt_join.c - the rows of a rank's own tasks, from what the ranks have read. */
#include "base/memory.h"
#include "train/dealt_rows.h"

#include <stdlib.h>
#include <string.h>

/* What came from one rank. */

typedef struct bundle {
    size_t tasks, rows, at, row; /* at: the task that is next, row: its first */
    const uint64_t *task;        /* tasks pairs: number, rows */
    const double *y, *x, *value;
    const size_t *sparse, *listed; /* rows + 1, from any number on; or NULL */
    const uint32_t *line, *column, *label;
} bundle;

static const void *take(bb_reader *in, size_t count, size_t size) {
    return bb_get(in, count * size);
}

static bb_status open_bundle(const bb_message *piece, const bb_message *x,
                             const bb_dataset *like, bundle *b) {
    bb_reader in = bb_reader_of((bb_bytes){piece->at, piece->length});
    *b = (bundle){.x = x->at};
    if (!piece->length) return BB_OK;
    b->tasks = (size_t)bb_get_u64(&in);
    b->task = take(&in, b->tasks, 2 * sizeof *b->task);
    for (size_t k = 0; k < b->tasks && b->task; k++)
        b->rows += (size_t)b->task[2 * k + 1];
    b->y = take(&in, b->rows, sizeof *b->y);
    if (like->sparse_first) b->sparse = take(&in, b->rows + 1, sizeof *b->sparse);
    const size_t entries = b->sparse ? b->sparse[b->rows] - b->sparse[0] : 0;
    if (like->sparse_first) b->value = take(&in, entries, sizeof *b->value);
    if (like->label_first) b->listed = take(&in, b->rows + 1, sizeof *b->listed);
    const size_t labels = b->listed ? b->listed[b->rows] - b->listed[0] : 0;
    b->line = take(&in, b->rows, sizeof *b->line);
    if (like->sparse_first) b->column = take(&in, entries, sizeof *b->column);
    if (like->label_first) b->label = take(&in, labels, sizeof *b->label);
    return bb_read_all(&in, "rows of another rank");
}

static void add_row(const bundle *b, size_t r, bb_dataset *out, size_t to) {
    out->y[to] = b->y[r];
    out->line[to] = b->line[r];
    if (b->sparse) {
        const size_t from = b->sparse[r] - b->sparse[0], at = out->sparse_first[to];
        const size_t n = b->sparse[r + 1] - b->sparse[r];
        memcpy(out->sparse_column + at, b->column + from, n * sizeof *b->column);
        memcpy(out->sparse_value + at, b->value + from, n * sizeof *b->value);
        out->sparse_first[to + 1] = at + n;
    } else if (b->x) {
        memcpy(out->x + to * out->features, b->x + r * out->features,
               out->features * sizeof *out->x);
    }
    if (b->listed) {
        const size_t from = b->listed[r] - b->listed[0], at = out->label_first[to];
        const size_t n = b->listed[r + 1] - b->listed[r];
        memcpy(out->label + at, b->label + from, n * sizeof *b->label);
        out->label_first[to + 1] = at + n;
    }
}

/* Own tasks in their order, the rows of each in the order of ranks, which is that of the
 * file. */
static void add_rows(const bb_dealt *d, bundle *all, bb_dataset *out) {
    const size_t from = d->first[d->ranks->number];
    size_t to = 0;
    for (size_t i = 0; i < out->tasks; i++) {
        for (size_t s = 0; s < d->ranks->count; s++) {
            bundle *b = &all[s];
            if (b->at == b->tasks || b->task[2 * b->at] != from + i) continue;
            const size_t n = (size_t)b->task[2 * b->at++ + 1];
            for (size_t k = 0; k < n; k++) add_row(b, b->row + k, out, to++);
            b->row += n;
        }
        out->first[i + 1] = to;
    }
}

/* Where own rows of own tasks begin among all rows of them: to[k] of the k-th that has
 * some. */
static void find_places(const bb_dealt *d, const bundle *all, size_t *at, size_t *to) {
    const size_t rank = d->ranks->number, own = all[rank].tasks;
    size_t row = 0;
    for (size_t k = 0; k < own; k++) {
        const uint64_t task = all[rank].task[2 * k];
        for (size_t s = 0; s < d->ranks->count; s++) {
            const bundle *b = &all[s];
            const uint64_t end =
                s < rank ? task + 1 : task; /* what comes before them */
            for (; s != rank && at[s] < b->tasks && b->task[2 * at[s]] < end; at[s]++)
                row += (size_t)b->task[2 * at[s] + 1];
        }
        to[k] = row;
        row += (size_t)all[rank].task[2 * k + 1];
    }
}

/* Own rows, from row `from` of x on, move to their places, without a second copy of them:
 * in an order in which none is written over before it has moved. */
static void move_rows(const bundle *own, size_t from, const size_t *to, size_t features,
                      double *x) {
    const size_t size = features * sizeof *x;
    size_t k = 0, row = from;
    for (; k < own->tasks && to[k] <= row; k++) { /* forwards, */
        const size_t n = (size_t)own->task[2 * k + 1];
        if (to[k] != row) memmove(x + to[k] * features, x + row * features, n * size);
        row += n;
    }
    row = from + own->rows;
    for (size_t last = own->tasks; last-- > k;) { /* and the others backwards */
        const size_t n = (size_t)own->task[2 * last + 1];
        row -= n;
        memmove(x + to[last] * features, x + row * features, n * size);
    }
}

/* The rank's own rows of features make room for those of others, which come between. */
static bb_status spread(const bb_dealt *d, bundle *all, size_t count, size_t features,
                        bb_dataset *rows) {
    bundle *own = &all[d->ranks->number];
    const size_t from = own->x && features ? (size_t)(own->x - rows->x) / features : 0;
    size_t *at = NULL, *to = NULL, room = rows->rows * features;
    bb_status status = bb_allocate(&at, d->ranks->count, sizeof *at, "rows");
    if (!status) status = bb_allocate(&to, own->tasks, sizeof *to, "rows");
    if (!status)
        status =
            bb_grow(&rows->x, &room, count * features + 1, sizeof *rows->x, "rows");
    if (!status) {
        find_places(d, all, at, to);
        move_rows(own, from, to, features, rows->x);
        own->x = NULL; /* they are where they belong */
        double *less = realloc(rows->x, (count * features + 1) * sizeof *rows->x);
        if (less) rows->x = less;
    }
    free(at);
    free(to);
    return status;
}

bb_status bb_join_rows(const bb_dealt *d, const bb_message *piece, const bb_message *x,
                       const bb_dataset *like, bb_dataset *rows, bb_dataset *out) {
    const size_t ranks = d->ranks->count, rank = d->ranks->number;
    bundle *all = NULL;
    bb_shape shape = {.tasks = d->first[rank + 1] - d->first[rank],
                      .task_name = d->task_name + d->first[rank],
                      .features = like->features,
                      .feature_name = like->feature_name};
    bb_status status = bb_allocate(&all, ranks, sizeof *all, "rows");
    for (size_t s = 0; s < ranks && !status; s++) {
        bundle *b = &all[s];
        status = open_bundle(&piece[s], &x[s], like, b);
        shape.rows += b->rows;
        if (b->sparse) shape.entries += b->sparse[b->rows] - b->sparse[0];
        if (b->listed) shape.listed += b->listed[b->rows] - b->listed[0];
    }
    if (!status && !like->sparse_first) {
        status = spread(d, all, shape.rows, like->features, rows);
        shape.x = rows->x;
    }
    if (!status) status = bb_dataset_open(out, like, shape);
    if (!status && shape.x) rows->x = NULL;
    if (!status) add_rows(d, all, out);
    free(all);
    return status;
}
