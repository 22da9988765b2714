/* csv_rows.h - the rows of a CSV file behind its header, one after the other (csv_rows.c),
 * or many at once (csv_blocks.c). */
#ifndef BB_DATA_CSV_ROWS_H
#define BB_DATA_CSV_ROWS_H

#include "data/builder.h"
#include "data/columns.h"
#include "data/csv_cells.h"
#include "data/csv_marks.h"
#include "data/encode.h"

typedef struct bb_csv {
    bb_text *text;
    const bb_read_options *options;
    const bb_names *header;
    const bb_columns *columns;
    const bb_encoding *encoding;
    bb_csv_cells cells;
    bb_builder builder;
    char *advice;          /* text columns of the first row, "city,name"; NULL: none */
    bb_csv_cell text_cell; /* the first of them; its text is in `shown` */
    size_t text_column;
    char shown[BB_SHOWN_BYTES];
    size_t dropped;       /* rows with a missing value, left out */
    unsigned spelt;       /* how missing values are: bits, of bb_scan_spelling */
    bb_text_count *texts; /* encoding->categories */
    bool later;           /* the text begins behind the file's first row */
} bb_csv;

/* Room for `texts', zeroed; freed by who has the rows. BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_csv_open_texts(bb_csv *csv);

/* Rows of plain cells (csv_plain.c). */
typedef struct bb_csv_plain {
    bool possible;      /* no column needs more than that */
    bb_csv_marks marks; /* of the text, `base` */
    const char *base;
    size_t next; /* the first mark of the next row */
    const char *name;
    size_t length, task; /* that of the row before: its text and number */
} bb_csv_plain;

/* A text that has ended is read: finds its marks. It has BB_SCAN_BEFORE bytes before it,
 * and BB_CSV_BEHIND behind, that can be read. BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_csv_plain_open(bb_csv_plain *plain, const bb_csv *csv);
/* The next row, if there is one and all its cells are numbers, or short texts without
 * quotes. False: it is none such, or something is wrong, and nothing has changed: then
 * it is for bb_csv_row. */
bool bb_csv_plain_row(bb_csv_plain *plain, bb_csv *csv);

/* The next row, of which there is one (bb_csv_at_end), into the builder. BB_EDATA. */
BB_MUST_CHECK bb_status bb_csv_row(bb_csv *csv);

/* Many rows, by several threads, in the order of the file, as if bb_csv_row had read
 * them. Leaves what it cannot read to that: rows that go over lines, and from a row on that
 * has something wrong. */
BB_MUST_CHECK bb_status bb_csv_blocks(bb_csv *csv, size_t threads);

#endif
