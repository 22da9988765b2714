/* slice.h - parts of a CSV file, so that several processes each read one of them.
 *
 * A file is cut at ends of lines. That they are ends of rows, too, every process checks in
 * its own part: if it begins with a row, then no line in it ends inside quotes. Where all
 * parts say so, all parts begin with a row, since the first does. */
#ifndef BB_DATA_SLICE_H
#define BB_DATA_SLICE_H

#include "data/read.h"

typedef struct bb_slice {
    bool whole; /* the file is read as a whole, by one process: it is no CSV file, it is
                        compressed, or it cannot be cut at ends of lines */
    size_t size;     /* bytes of the file */
    size_t from, to; /* this part: bytes from .. to - 1, perhaps none */
    size_t line;     /* its first line's number: set by bb_slices_join */
    size_t lines;    /* that end in it */
} bb_slice;

/* Looks at part `number` of `count` of a file, without keeping any of it. BB_EIO, and
 * BB_EUSAGE for a separator that is none. */
BB_MUST_CHECK bb_status bb_slice_look(const char *path, const bb_read_options *options,
                                      size_t number, size_t count, bb_slice *out);
/* Numbers the lines of all parts. BB_EDATA: they are not of the same file. All of them are
 * `whole` if one is. */
BB_MUST_CHECK bb_status bb_slices_join(const char *path, size_t count, bb_slice *slice);

#endif
