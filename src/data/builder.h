/* builder.h - collects rows in the order of a file and groups them by task, tasks in
 * order of name. */
#ifndef BB_DATA_BUILDER_H
#define BB_DATA_BUILDER_H

#include "data/dataset.h"
#include "data/names.h"

#include <stdbool.h>

typedef struct bb_builder {
    size_t features; /* dense: fixed; sparse: as many as were met */
    size_t rows, entries;
    bb_names tasks;
    uint32_t *task, *line;
    double *y, *x;
    size_t *sparse_end; /* where each row's entries end */
    uint32_t *sparse_column;
    double *sparse_value;
    bool multilabel;   /* rows have lists of labels; set before the first row */
    size_t *label_end; /* where each row's labels end */
    uint32_t *label;
    size_t listed, most_label; /* labels of all rows; the largest */
    size_t room;               /* rows that all of these have room for, but for x: */
    size_t task_room, line_room, y_room, x_room, end_room, column_room, value_room,
        label_room, label_end_room;
} bb_builder;

/* Where the rows of another builder go. */
typedef struct bb_builder_part {
    size_t row, listed, lines;
    uint32_t *number; /* its tasks' numbers; free with free() */
    size_t number_room;
} bb_builder_part;

/* Dense: makes room for the next row's `features` numbers at *x. */
BB_MUST_CHECK bb_status bb_builder_row(bb_builder *builder, double **x);
/* Sparse: adds an entry to the next row. */
BB_MUST_CHECK bb_status bb_builder_entry(bb_builder *builder, uint32_t column,
                                         double value);
/* Adds a label to the next row, in any order; twice is once. */
BB_MUST_CHECK bb_status bb_builder_label(bb_builder *builder, uint32_t label);
/* The number of a task, new or known, among those met so far; a task may stay without
 * rows. */
BB_MUST_CHECK bb_status bb_builder_task(bb_builder *builder, const char *name,
                                        size_t length, size_t *task);
/* Ends the row. */
BB_MUST_CHECK bb_status bb_builder_commit(bb_builder *builder, size_t task, double y,
                                          size_t line);
/* Forgets the dense row that was begun, but not its task. */
void bb_builder_drop(bb_builder *builder);
/* Adds all rows of another builder of dense rows, whose tasks may be others; `lines` more
 * lines lie before them. Their numbers are not there before bb_builder_fill, which several
 * threads may call, each with a part of its own; *part is zeroed at first, or used again. */
BB_MUST_CHECK bb_status bb_builder_append(bb_builder *builder, const bb_builder *more,
                                          size_t lines, bb_builder_part *part);
void bb_builder_fill(bb_builder *builder, const bb_builder *more,
                     const bb_builder_part *part);
/* Forgets rows and tasks, and keeps its room. */
void bb_builder_clear(bb_builder *builder);
/* Moves everything into *out, which gets rows, tasks, first, y, x or sparse arrays,
 * label arrays, line, and the number of features, but no other names and not `labels`.
 * The builder is then empty, also on failure. */
BB_MUST_CHECK bb_status bb_builder_finish(bb_builder *builder, bb_dataset *out);
/* Takes a zeroed builder, too. */
void bb_builder_free(bb_builder *builder);

#endif
