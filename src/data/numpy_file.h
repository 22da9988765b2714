/* numpy_file.h - the bytes of a NumPy file: all of them, or those that are asked for. */
#ifndef BB_DATA_NUMPY_FILE_H
#define BB_DATA_NUMPY_FILE_H

#include "base/status.h"

#include <stddef.h>

typedef struct bb_numpy_file {
    const char *path;
    unsigned char *bytes; /* size; what was not fetched is room that takes no memory */
    size_t size;
    int handle; /* 0: all is there */
} bb_numpy_file;

/* Reads a file as a whole, or opens it for parts of it, of which the first and the last
 * ones, with what a file says of itself, are there. BB_EIO, BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_numpy_file_read(bb_numpy_file *file, const char *path);
BB_MUST_CHECK bb_status bb_numpy_file_open(bb_numpy_file *file, const char *path);
/* Sees to it that so many bytes from `from` on are there, as far as the file has them. */
BB_MUST_CHECK bb_status bb_numpy_file_fetch(const bb_numpy_file *file, size_t from,
                                            size_t length);
void bb_numpy_file_close(bb_numpy_file *file);

#endif
