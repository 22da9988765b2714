/* csv_marks.h - where the cells of a text may end, found many bytes at once. */
#ifndef BB_DATA_CSV_MARKS_H
#define BB_DATA_CSV_MARKS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { BB_CSV_BEHIND = 64 }; /* bytes that may be read from the end of the text on */

typedef struct bb_csv_marks {
    uint32_t *at; /* count, ascending */
    size_t count, room;
} bb_csv_marks;

/* All separators and line feeds of a text of less than 2^32 bytes, in quotes or not. */
BB_MUST_CHECK bb_status bb_csv_marks_find(bb_csv_marks *marks, const char *text,
                                          size_t length, char separator);
/* Takes zeroed ones, too. */
void bb_csv_marks_close(bb_csv_marks *marks);

#endif
