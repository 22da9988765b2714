/* dataset.h - the rows of many tasks, in memory.
 *
 * Rows are grouped by task, tasks in order of their names (as strverscmp has it: numbers
 * in a name by size), rows of a task in file order. So where a task is among the others
 * depends on their names alone, which are public. Features are dense (row-major) or sparse
 * (compressed rows), never both. A data set does not change after it was read;
 * preprocessing and splitting make new ones.
 *
 * Every member that is a pointer is one block of malloc, names included: the strings of
 * task_name and feature_name lie behind their array of pointers (bb_names_copy). But rows
 * (x, the sparse arrays and those of labels) may lie in `file` or `scratch`: those of a
 * file are never written to. */
#ifndef BB_DATA_DATASET_H
#define BB_DATA_DATASET_H

#include "base/map.h"
#include "base/status.h"
#include "data/text_counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bb_dataset {
    size_t tasks, rows, features;
    char **task_name;    /* tasks */
    char **feature_name; /* features */
    char *target_name;   /* NULL: the source has no targets, y is all NAN */
    size_t
        *first; /* tasks + 1: task i has rows first[i] .. first[i+1]-1, perhaps none */
    double *y;  /* rows; all NAN with label_first */
    double *x;  /* rows x features, row-major; NULL when sparse */
    size_t *sparse_first;    /* rows + 1; NULL when dense */
    uint32_t *sparse_column; /* ascending inside a row */
    double *sparse_value;
    size_t *label_first; /* rows + 1: row r has the labels label[label_first[r]] ..
                            label[label_first[r + 1] - 1], perhaps none; NULL: one
                            target a row, y */
    uint32_t *label;     /* from 0, ascending inside a row, none twice */
    size_t labels;       /* how many labels there are; 0 without label_first */
    size_t height, width, channels; /* rows are images, H x W x C; 0: unknown */
    char *source;                   /* the file's name, for messages */
    uint32_t *line;         /* rows: line (or row number) in the source, for messages */
    bool has_lines;         /* `line` counts lines of a text, not rows of a task */
    size_t binary;          /* so many last features are 0 or 1 by how they are made */
    size_t dropped;         /* rows that the reader left out for a missing value; it is
                               about private rows, so for the operator alone */
    bb_text_counts texts;   /* likewise, of what it made numbers of by their levels */
    unsigned spelt;         /* likewise, how missing values were: bits, of
                               bb_scan_spelling */
    uint32_t target_column; /* 1-based column of the target in a text, else 0 */
    bb_map file, scratch;   /* where rows are, if not in memory */
    size_t
        memory; /* what it was made with, and what is made of it: rows of more than an
                      eighth of so many bytes are in `scratch`; 0: never */
} bb_dataset;

/* Frees everything; takes half-built and zeroed data sets. */
void bb_dataset_free(bb_dataset *data);

/* What a new data set is to hold; `entries` counts for sparse ones only, `listed` is
 * how many labels all rows have together where rows have lists of them. */
typedef struct bb_shape {
    size_t tasks;
    char *const *task_name;
    size_t features;
    char *const *feature_name;
    size_t rows, entries, listed;
    double *x; /* dense: a block for the rows that is taken over on success; NULL: a new
                  one */
} bb_shape;

/* A pass over rows has come from row `from` to row `to`, rows - 1 at most: bb_map_passed.
 */
void bb_dataset_passed(const bb_dataset *data, size_t from, size_t to);
/* How many tasks have one row only; and what is to be said to the operator where nearly all
 * of `tasks' do: false, nothing. */
size_t bb_dataset_single_rows(const bb_dataset *data);
enum { BB_SINGLE_BYTES = 160 };
bool bb_single_rows_say(size_t tasks, size_t single_rows, char text[BB_SINGLE_BYTES]);
/* Forgets the rows' features; targets, and how many rows whose they are, stay. */
void bb_dataset_drop_features(bb_dataset *data);
/* Rows of a file become own ones, which may be written to. */
BB_MUST_CHECK bb_status bb_dataset_unmap(bb_dataset *data);

/* A data set of zeros with the given names and room; its source and target, and whether
 * it is sparse and rows have lists of labels, are those of `like`, and so is the shape
 * of images if there are as many features. */
BB_MUST_CHECK bb_status bb_dataset_open(bb_dataset *out, const bb_dataset *like,
                                        bb_shape shape);

/* Room for rows x features zeros at x, in memory or, where `memory` says so, behind a
 * temporary file. */
BB_MUST_CHECK bb_status bb_dataset_open_dense(bb_dataset *data);

/* A dense or sparse copy of the given rows. `keep` has data->rows flags; tasks stay,
 * with fewer rows, perhaps none. */
BB_MUST_CHECK bb_status bb_dataset_select(const bb_dataset *data,
                                          const unsigned char *keep, bb_dataset *out);

/* A copy with the given tasks and features in the given order, as a model needs it:
 * tasks without rows in `data` have none, and features in another order are no images
 * any more. BB_EDATA, with the place, if a row belongs to no task of the list, or a
 * feature is missing or too many. */
BB_MUST_CHECK bb_status bb_dataset_match(const bb_dataset *data, size_t tasks,
                                         char *const *task_name, size_t features,
                                         char *const *feature_name, bb_dataset *out);

/* For each wanted task its number in `data`, or SIZE_MAX. BB_EDATA, with the place, if a
 * row is of another task. */
struct bb_names;
BB_MUST_CHECK bb_status bb_dataset_match_tasks(const bb_dataset *data,
                                               const struct bb_names *wanted,
                                               size_t *number);

/* Are all targets labels of the logistic loss, {0, 1} or {-1, 1}? BB_EDATA names the
 * first place (in the order of the source's lines) where one is not. line[0], line[1] get
 * the first lines with a 0 and a -1, SIZE_MAX where there is none; line may be NULL. */
BB_MUST_CHECK bb_status bb_dataset_label_check(const bb_dataset *data, size_t line[2]);
/* The same of rows that passed, with the first lines of a data set that others have parts
 * of: BB_EDATA if it has both, and these rows the later one. */
BB_MUST_CHECK bb_status bb_dataset_label_conflict(const bb_dataset *data,
                                                  const size_t line[2]);
/* Writes rows labels -1 or +1: the targets of a checked data set, 0 becoming -1. */
void bb_dataset_labels(const bb_dataset *data, double *label);

enum { BB_MOST_CLASSES = 1 << 24 }; /* and labels */
/* Are all targets classes of the softmax loss, whole numbers from 0 to *classes - 1?
 * *classes = 0 becomes the largest + 1, and at least 2. BB_EDATA names the first place
 * (in the order of the source's lines) where one is not. */
BB_MUST_CHECK bb_status bb_dataset_class_check(const bb_dataset *data, size_t *classes);

enum { BB_WHERE_BYTES = 512 };
/* Where a row comes from: `data.csv:17`, or `school.mat: task "3", row 5`. */
void bb_dataset_where(const bb_dataset *data, size_t row, char text[BB_WHERE_BYTES]);

#endif
