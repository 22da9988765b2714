/* table.h - a CSV file of a run directory with names in its first column, and in the
 * others numbers, or NAN for what is none: operator/tasks.csv, a row a task, and
 * operator/trace.csv, a row a round. */
#ifndef BB_REPORT_TABLE_H
#define BB_REPORT_TABLE_H

#include "base/status.h"

#include <stddef.h>

typedef struct bb_table {
    size_t rows, columns; /* columns without the first */
    const char **column;  /* columns: their names */
    const char **name;    /* rows: the first cell */
    double *value;        /* rows x columns; NAN: an empty cell, or no number */
    char *text;           /* what all names point into */
    size_t column_room, name_room, value_room;
} bb_table;

/* BB_EDATA, with the line, where a row has not as many cells as the header. */
BB_MUST_CHECK bb_status bb_table_read(bb_table *table, const char *path);
/* Takes a zeroed one, too. */
void bb_table_free(bb_table *table);
/* The place of a column, or SIZE_MAX. */
size_t bb_table_column(const bb_table *table, const char *name);

#endif
