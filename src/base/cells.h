/* cells.h - the cells of CSV that Billboard itself has written, cut out of its text in
 * place. Data of users have a reader of their own (data/csv.c). */
#ifndef BB_BASE_CELLS_H
#define BB_BASE_CELLS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct bb_text_cells {
    const char *path; /* for messages */
    char *at;         /* what is not read yet, ending with NUL */
    size_t line;
    bool line_ended; /* behind the last cell */
} bb_text_cells;

/* A file as text that ends with NUL, to be freed with free(). BB_EIO, BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_cells_read(const char *path, char **text);
/* Cuts the next cell; *last says that a line or the file ends behind it. BB_EDATA for
 * quotes that do not match. */
BB_MUST_CHECK bb_status bb_cells_next(bb_text_cells *cells, char **cell, bool *last);
/* BB_EDATA: "PATH: line N: expected ...". */
BB_MUST_CHECK bb_status bb_cells_bad(const bb_text_cells *cells, const char *expected);

#endif
