/* csv_cells.h - the cells of a table as text, RFC 4180 with any line ends. */
#ifndef BB_DATA_CSV_CELLS_H
#define BB_DATA_CSV_CELLS_H

#include "data/dataset.h"
#include "data/names.h"
#include "data/text.h"

typedef enum bb_csv_end { BB_CSV_END_CELL, BB_CSV_END_ROW, BB_CSV_END_FILE } bb_csv_end;

/* One cell: its text is valid until the next one is taken. */
typedef struct bb_csv_cell {
    const char *text;
    size_t length, line; /* where it begins */
    bool quoted;
    bb_csv_end end;
} bb_csv_cell;

typedef struct bb_csv_cells {
    bb_text *text;
    char separator;
    const bb_names *header; /* the columns' names, for messages */
    char *unquoted;
    size_t unquoted_room;
    bool torn; /* a line has ended inside quotes */
} bb_csv_cells;

/* The next cell, the text moves behind it. BB_EDATA for bytes that are no text, or a
 * quote that does not end. */
BB_MUST_CHECK bb_status bb_csv_cell_take(bb_csv_cells *cells, size_t column,
                                         bb_csv_cell *out);
/* Is nothing left? Skips empty lines first. */
BB_MUST_CHECK bb_status bb_csv_at_end(bb_csv_cells *cells, bool *ended);
/* "data.csv:2:4" or, with the column's name, "data.csv:2:4 (column "city")". */
const char *bb_csv_place(const bb_csv_cells *cells, size_t line, size_t column,
                         char text[BB_WHERE_BYTES]);
/* What to do where others separate the columns. */
#define BB_CSV_SEPARATED "columns are separated by commas, or as --separator says"
/* BB_EDATA: the place, and these words. */
BB_MUST_CHECK bb_status bb_csv_bad(const bb_csv_cells *cells, size_t line,
                                   size_t column, const char *words);
/* Takes a zeroed one, too. */
void bb_csv_cells_close(bb_csv_cells *cells);

#endif
