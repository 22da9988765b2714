/* info.h - what is in a data set. */
#ifndef BB_DATA_INFO_H
#define BB_DATA_INFO_H

#include "data/dataset.h"

#include <stdbool.h>

typedef enum bb_target_kind {
    BB_TARGET_NONE,   /* no targets at all */
    BB_TARGET_BINARY, /* 0 and 1 */
    BB_TARGET_SIGN,   /* -1 and 1 */
    BB_TARGET_INTEGER,
    BB_TARGET_REAL,
    BB_TARGET_LABELS /* lists of labels */
} bb_target_kind;

typedef struct bb_info {
    size_t tasks, rows, features;
    size_t least_rows, most_rows; /* of a task */
    double median_rows;           /* the mean of the middle two of an even number */
    bool sparse;
    size_t entries; /* sparse: numbers kept */
    bb_target_kind target;
    double least_target, most_target; /* NAN without targets */
    size_t classes;  /* different targets if they look like classes: whole numbers from
                        0, more than 2, and largest < rows; else 0 */
    double majority; /* the share of the most frequent class; 0 without classes */
    size_t labels, listed;          /* how many labels; of all rows together */
    size_t height, width, channels; /* of images; 0: unknown */
    size_t one_class;               /* tasks with one target value only */
    size_t missing_features, missing_targets; /* cells (NAN) */
    size_t
        complete_rows; /* without a missing value; all of sparse ones with a target */
    size_t constants;  /* columns with one value in all rows */
    size_t *constant;  /* their numbers, ascending */
    size_t binaries;   /* dense: columns of 0 and 1, but for levels and indicators */
    size_t *binary;    /* likewise */
    size_t numberings; /* dense: columns that number the rows, from 0 or 1 on */
    size_t *numbering; /* likewise */
} bb_info;

/* "none", "binary (0, 1)", "binary (-1, 1)", "integer", "real", "labels". */
const char *bb_target_text(bb_target_kind kind);

/* Looks at everything once. Missing values are counted and otherwise passed over. */
BB_MUST_CHECK bb_status bb_info_open(bb_info *info, const bb_dataset *data);
/* Takes a zeroed one, too. */
void bb_info_close(bb_info *info);

#endif
