/* slice.h - parts of a CSV, NumPy or Billboard file, so that several processes each read
 * one of them.
 *
 * NumPy's files are cut at rows, where these are stored one behind the other, not packed.
 * What is wrong with one is found by whoever reads it as a whole then. A CSV file is cut
 * at ends of lines. That they are ends of rows, too, is seen while the parts are read: the
 * first part begins with a row; if a part does, and no line in it ends inside quotes, then
 * so does the next. */
#ifndef BB_DATA_SLICE_H
#define BB_DATA_SLICE_H

#include "data/read.h"

/* Of an array in an archive: what this part has of it. */
typedef struct bb_slice_member {
    uint32_t sum, expected; /* its checksum; that of the array */
    size_t length;          /* bytes */
} bb_slice_member;
enum { BB_SLICE_MEMBERS = 3 };

typedef struct bb_slice {
    bool whole; /* the file is read as a whole, by one process: it is of another format,
                        compressed, or, as its reader says, a line ends inside quotes, or
                        something is wrong with a NumPy file */
    size_t size; /* bytes of the file */
    size_t from,
        to; /* this part: bytes (NumPy: rows, BB: tasks) from .. to - 1, perhaps none */
    size_t line;  /* its first line's number, from 1: set by bb_slices_join */
    size_t lines; /* of it, set by its reader: `line` is 1 and they are the file's */
    bool first;   /* up to there, if the part begins before the first row */
    bool failed;  /* its reader found something wrong, in a line not known yet */
    bb_slice_member member[BB_SLICE_MEMBERS]; /* NumPy: set by its reader */
} bb_slice;

/* Part `number` of `count` of a file. BB_EIO, and BB_EUSAGE for a separator that is
 * none. */
BB_MUST_CHECK bb_status bb_slice_cut(const char *path, const bb_read_options *options,
                                     size_t number, size_t count, bb_slice *out);
/* Numbers the lines of all parts, read or not. BB_EDATA: they are not of the same file.
 * All of them are `whole` if one is, or if the checksum of an array is not what it should
 * be. */
BB_MUST_CHECK bb_status bb_slices_join(const char *path, size_t count, bb_slice *slice);
/* Rows that were read as if the part began with line 1 get their numbers. */
void bb_slice_number(const bb_slice *slice, bb_dataset *rows);

#endif
