/* columns.h - which column of a table is the task, the target, a feature, or nothing.
 */
#ifndef BB_DATA_COLUMNS_H
#define BB_DATA_COLUMNS_H

#include "data/names.h"
#include "data/read.h"

typedef enum bb_role {
    BB_ROLE_FEATURE,
    BB_ROLE_IGNORED,
    BB_ROLE_TASK,
    BB_ROLE_TARGET,
    BB_ROLE_LEVELS /* texts, of which encode.h makes features */
} bb_role;

typedef struct bb_columns {
    size_t count, features;
    size_t task, target; /* columns; target is SIZE_MAX if there is none */
    unsigned char *role; /* count, of bb_role */
    char **feature_name; /* features; one block */
} bb_columns;

/* The target's name in a table with names. */
const char *bb_target_option(const bb_read_options *options);
/* Gives every column of `header` its role; the first has none if it has the rows' names.
 * `path` is for messages; BB_EUSAGE (options->for_run: BB_EDATA) if a column that the options
 * or their defaults name is not there, BB_EDATA if no feature is left. */
BB_MUST_CHECK bb_status bb_columns_open(bb_columns *columns, const char *path,
                                        const bb_names *header, bool row_names,
                                        const bb_read_options *options);
/* Takes zeroed columns, too. */
void bb_columns_close(bb_columns *columns);

#endif
