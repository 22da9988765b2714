/* csv_rows.h - the rows of a CSV file behind its header, one after the other (csv_rows.c),
 * or many at once (csv_blocks.c). */
#ifndef BB_DATA_CSV_ROWS_H
#define BB_DATA_CSV_ROWS_H

#include "data/builder.h"
#include "data/columns.h"
#include "data/csv_cells.h"
#include "data/encode.h"

typedef struct bb_csv {
    bb_text *text;
    const bb_read_options *options;
    const bb_names *header;
    const bb_columns *columns;
    const bb_encoding *encoding;
    bb_csv_cells cells;
    bb_builder builder;
    char advice[256];      /* text columns of the first row, "city,name" */
    bb_csv_cell text_cell; /* the first of them; its text is in `shown` */
    size_t text_column;
    char shown[BB_SHOWN_BYTES];
    size_t dropped; /* rows with a missing value, left out */
    bool later;     /* the text begins behind the file's first row */
} bb_csv;

/* The next row, of which there is one (bb_csv_at_end), into the builder. BB_EDATA. */
BB_MUST_CHECK bb_status bb_csv_row(bb_csv *csv);

/* Many rows by several threads, in the order of the file, as if one had read them. Leaves
 * what they cannot read to bb_csv_row: a last part that is not worth it, rows that go
 * over lines, and from a row on that has something wrong. */
BB_MUST_CHECK bb_status bb_csv_blocks(bb_csv *csv, size_t threads);

#endif
