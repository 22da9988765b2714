
#include "data/builder.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bb_status bb_builder_row(bb_builder *b, double **x) {
    const size_t used = b->rows * b->features;
    bb_status status =
        bb_grow(&b->x, &b->x_room, used + b->features, sizeof *b->x, "rows");
    if (!status) *x = b->x + used;
    return status;
}

bb_status bb_builder_entry(bb_builder *b, uint32_t column, double value) {
    bb_status status = bb_grow(&b->sparse_column, &b->column_room, b->entries + 1,
                               sizeof *b->sparse_column, "rows");
    if (!status)
        status = bb_grow(&b->sparse_value, &b->value_room, b->entries + 1,
                         sizeof *b->sparse_value, "rows");
    if (status) return status;
    b->sparse_column[b->entries] = column;
    b->sparse_value[b->entries++] = value;
    if (column >= b->features) b->features = (size_t)column + 1;
    return BB_OK;
}

bb_status bb_builder_label(bb_builder *b, uint32_t label) {
    bb_status status =
        bb_grow(&b->label, &b->label_room, b->listed + 1, sizeof *b->label, "rows");
    if (status) return status;
    b->label[b->listed++] = label;
    if (label > b->most_label) b->most_label = label;
    return BB_OK;
}

static int compare_labels(const void *a, const void *b) {
    const uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    return (p > q) - (p < q);
}

/* The labels of the row that ends: ascending, none twice. */
static void order_labels(bb_builder *b) {
    const size_t begin = b->rows ? b->label_end[b->rows - 1] : 0;
    if (b->listed == begin) return;
    qsort(b->label + begin, b->listed - begin, sizeof *b->label, compare_labels);
    size_t kept = begin + 1;
    for (size_t k = kept; k < b->listed; k++)
        if (b->label[k] != b->label[kept - 1]) b->label[kept++] = b->label[k];
    b->listed = kept;
}

bb_status bb_builder_task(bb_builder *b, const char *name, size_t length,
                          size_t *task) {
    return bb_names_add(&b->tasks, name, length, task);
}

/* Room for `need` rows but for their x. */
static bb_status make_room(bb_builder *b, size_t need) {
    if (need <= b->room) return BB_OK;
    bb_status status = bb_grow(&b->task, &b->task_room, need, sizeof *b->task, "rows");
    if (!status)
        status = bb_grow(&b->line, &b->line_room, need, sizeof *b->line, "rows");
    if (!status) status = bb_grow(&b->y, &b->y_room, need, sizeof *b->y, "rows");
    if (!status && !b->x)
        status =
            bb_grow(&b->sparse_end, &b->end_room, need, sizeof *b->sparse_end, "rows");
    if (!status && b->multilabel)
        status = bb_grow(&b->label_end, &b->label_end_room, need, sizeof *b->label_end,
                         "rows");
    if (!status) b->room = b->task_room; /* as that of all: they grow alike */
    return status;
}

bb_status bb_builder_commit(bb_builder *b, size_t task, double y, size_t line) {
    const bb_status status = make_room(b, b->rows + 1);
    if (status) return status;
    b->task[b->rows] = (uint32_t)task;
    b->line[b->rows] = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
    b->y[b->rows] = y;
    if (!b->x) b->sparse_end[b->rows] = b->entries;
    if (b->multilabel) {
        order_labels(b);
        b->label_end[b->rows] = b->listed;
    }
    b->rows++;
    return BB_OK;
}

/* number <- the builder's numbers of the other's tasks. */
static bb_status find_tasks(bb_builder *b, const bb_builder *more, uint32_t *number) {
    bb_status status = BB_OK;
    size_t task = 0;
    for (size_t i = 0; i < more->tasks.count && !status; i++) {
        const char *name = bb_names_at(&more->tasks, i);
        status = bb_names_add(&b->tasks, name, strlen(name), &task);
        number[i] = (uint32_t)task;
    }
    return status;
}

bb_status bb_builder_append(bb_builder *b, const bb_builder *more, size_t lines,
                            bb_builder_part *part) {
    const size_t need = b->rows + more->rows, listed = b->listed + more->listed;
    bb_status status = bb_grow(&part->number, &part->number_room, more->tasks.count,
                               sizeof *part->number, "tasks");
    if (!status) status = find_tasks(b, more, part->number);
    if (!status)
        status = bb_grow(&b->x, &b->x_room, need * b->features, sizeof *b->x, "rows");
    if (!status) status = make_room(b, need);
    if (!status && more->listed)
        status = bb_grow(&b->label, &b->label_room, listed, sizeof *b->label, "rows");
    if (status) return status;
    part->row = b->rows;
    part->listed = b->listed;
    part->lines = lines;
    b->rows = need;
    b->listed = listed;
    if (more->most_label > b->most_label) b->most_label = more->most_label;
    return BB_OK;
}

void bb_builder_fill(bb_builder *b, const bb_builder *more,
                     const bb_builder_part *part) {
    const size_t d = b->features, row = part->row;
    if (more->rows == 0) return;
    memcpy(b->x + row * d, more->x, more->rows * d * sizeof *b->x);
    memcpy(b->y + row, more->y, more->rows * sizeof *b->y);
    for (size_t r = 0; r < more->rows; r++) {
        const size_t line = more->line[r] + part->lines;
        b->task[row + r] = part->number[more->task[r]];
        b->line[row + r] = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
        if (b->multilabel) b->label_end[row + r] = part->listed + more->label_end[r];
    }
    if (more->listed)
        memcpy(b->label + part->listed, more->label, more->listed * sizeof *b->label);
}

void bb_builder_clear(bb_builder *b) {
    bb_names_free(&b->tasks);
    b->rows = b->listed = b->most_label = 0;
}

typedef struct named {
    char *name;
    uint32_t met; /* its number so far: tasks in order of first appearance */
} named;

static int compare_names(const void *a, const void *b) {
    return bb_names_compare(((const named *)a)->name, ((const named *)b)->name);
}

/* Numbers the tasks by name. */
static bb_status order_tasks(bb_builder *b, bb_dataset *out) {
    const size_t tasks = b->tasks.count;
    named *list = NULL;
    uint32_t *number = NULL;
    bb_status status = bb_names_list(&out->task_name, &b->tasks);
    if (!status) status = bb_allocate(&list, tasks, sizeof *list, "tasks");
    if (!status) status = bb_allocate(&number, tasks, sizeof *number, "tasks");
    if (status) goto done;
    for (size_t i = 0; i < tasks; i++)
        list[i] = (named){out->task_name[i], (uint32_t)i};
    qsort(list, tasks, sizeof *list, compare_names);
    for (size_t i = 0; i < tasks; i++) {
        out->task_name[i] = list[i].name;
        number[list[i].met] = (uint32_t)i;
    }
    for (size_t r = 0; r < b->rows; r++) b->task[r] = number[b->task[r]];
done:
    free(list);
    free(number);
    return status;
}

void bb_builder_drop(bb_builder *b) {
    b->listed = b->rows && b->multilabel ? b->label_end[b->rows - 1] : 0;
}

/* first[i] from the rows' tasks, and each row's place in the grouped order. */
static bool order_rows(const bb_builder *b, size_t *first, size_t *place) {
    bool grouped = true;
    for (size_t r = 0; r < b->rows; r++) first[b->task[r] + 1]++;
    for (size_t i = 0; i < b->tasks.count; i++) first[i + 1] += first[i];
    for (size_t r = 0; r < b->rows; r++) {
        place[r] = first[b->task[r]]++;
        grouped = grouped && place[r] == r;
    }
    /* first[i] now is where task i ends */
    memmove(first + 1, first, b->tasks.count * sizeof *first);
    first[0] = 0;
    return grouped;
}

static void swap_numbers(double *restrict p, double *restrict q, size_t count) {
    for (size_t k = 0; k < count; k++) {
        const double value = p[k];
        p[k] = q[k];
        q[k] = value;
    }
}

/* `count` rows from r on with as many from s on; they do not overlap. */
static void swap_rows(bb_builder *b, size_t r, size_t s, size_t count) {
    const size_t d = b->features;
    for (size_t k = 0; k < count; k++) {
        const uint32_t line = b->line[r + k];
        b->line[r + k] = b->line[s + k];
        b->line[s + k] = line;
    }
    swap_numbers(b->y + r, b->y + s, count);
    if (b->x) swap_numbers(b->x + r * d, b->x + s * d, count * d);
}

/* Moves every row to its place by swaps along the permutation's cycles, with those behind it
 * that go behind it; `place` becomes the identity. No second copy of the rows is needed. */
static void permute_rows(bb_builder *b, size_t *place) {
    for (size_t r = 0; r < b->rows; r++)
        while (place[r] != r) {
            const size_t to = place[r]; /* behind r: all before r are in their places */
            size_t count = 1;
            while (r + count < to && place[r + count] == to + count) count++;
            swap_rows(b, r, to, count);
            for (size_t k = 0; k < count; k++) {
                place[r + k] = place[to + k];
                place[to + k] = to + k;
            }
        }
}

/* first[place[r] + 1] becomes the end of what was row r, and first[0] is 0. */
static void group_ends(const size_t *end, const size_t *place, size_t rows,
                       size_t *first) {
    for (size_t r = 0; r < rows; r++)
        first[place[r] + 1] = end[r] - (r ? end[r - 1] : 0);
    for (size_t r = 0; r < rows; r++) first[r + 1] += first[r];
}

/* The labels in grouped order; `place` is still the permutation. */
static bb_status group_labels(const bb_builder *b, const size_t *place,
                              bb_dataset *out) {
    bb_status status =
        bb_allocate(&out->label_first, b->rows + 1, sizeof *out->label_first, "rows");
    if (!status)
        status = bb_allocate(&out->label, b->listed, sizeof *out->label, "rows");
    if (status) return status;
    group_ends(b->label_end, place, b->rows, out->label_first);
    for (size_t r = 0, from = 0; r < b->rows; from = b->label_end[r++])
        if (from < b->label_end[r])
            memcpy(out->label + out->label_first[place[r]], b->label + from,
                   (b->label_end[r] - from) * sizeof *b->label);
    return BB_OK;
}

/* The entries likewise. */
static bb_status group_entries(const bb_builder *b, const size_t *place,
                               bb_dataset *out) {
    bb_status status =
        bb_allocate(&out->sparse_first, b->rows + 1, sizeof *out->sparse_first, "rows");
    if (!status)
        status = bb_allocate(&out->sparse_column, b->entries,
                             sizeof *out->sparse_column, "rows");
    if (!status)
        status = bb_allocate(&out->sparse_value, b->entries, sizeof *out->sparse_value,
                             "rows");
    if (status) return status;
    size_t *const first = out->sparse_first;
    group_ends(b->sparse_end, place, b->rows, first);
    for (size_t r = 0; r < b->rows; r++) {
        const size_t from = r ? b->sparse_end[r - 1] : 0, n = b->sparse_end[r] - from;
        if (n == 0) continue;
        memcpy(out->sparse_column + first[place[r]], b->sparse_column + from,
               n * sizeof *b->sparse_column);
        memcpy(out->sparse_value + first[place[r]], b->sparse_value + from,
               n * sizeof *b->sparse_value);
    }
    return BB_OK;
}

/* Gives the room behind the last row back, where that is possible. */
static void *shrink(void *block, size_t count, size_t size) {
    void *const smaller = count ? realloc(block, count * size) : NULL;
    return smaller ? smaller : block;
}

bb_status bb_builder_finish(bb_builder *b, bb_dataset *out) {
    bb_dataset data = {
        .tasks = b->tasks.count, .rows = b->rows, .features = b->features};
    size_t *place = NULL;
    bb_status status = order_tasks(b, &data);
    if (!status)
        status = bb_allocate(&data.first, data.tasks + 1, sizeof *data.first, "tasks");
    if (!status) status = bb_allocate(&place, b->rows, sizeof *place, "rows");
    if (status) goto done;
    const bool grouped = order_rows(b, data.first, place);
    if (!b->x) status = group_entries(b, place, &data);
    if (!status && b->multilabel) status = group_labels(b, place, &data);
    if (status) goto done;
    if (!grouped) permute_rows(b, place);
    data.y = shrink(b->y, b->rows, sizeof *b->y);
    data.line = shrink(b->line, b->rows, sizeof *b->line);
    if (b->x) data.x = shrink(b->x, b->rows * b->features, sizeof *b->x);
    b->y = b->x = NULL;
    b->line = NULL;
    *out = data;
    data = (bb_dataset){0};
done:
    free(place);
    bb_dataset_free(&data);
    bb_builder_free(b);
    return status;
}

void bb_builder_free(bb_builder *b) {
    bb_names_free(&b->tasks);
    free(b->task);
    free(b->line);
    free(b->y);
    free(b->x);
    free(b->sparse_end);
    free(b->sparse_column);
    free(b->sparse_value);
    free(b->label_end);
    free(b->label);
    *b = (bb_builder){0};
}
