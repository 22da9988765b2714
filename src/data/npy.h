/* npy.h - arrays in NumPy's file format, and the archives that hold several. */
#ifndef BB_DATA_NPY_H
#define BB_DATA_NPY_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An array of one or two dimensions, in a file's bytes. */
typedef struct bb_npy {
    const unsigned char *data; /* borrowed */
    char kind;                 /* 'f', 'i', 'u', 'b' numbers; 'S', 'U' texts */
    size_t width;              /* bytes of an element */
    bool big_endian, fortran;
    size_t rank, rows, columns; /* columns is 1 for a vector */
} bb_npy;

/* Understands the bytes of a .npy file. `name` is for messages: "data.npz: X.npy". */
BB_MUST_CHECK bb_status bb_npy_open(bb_npy *array, const char *name,
                                    const unsigned char *bytes, size_t size);
/* An element of a numeric array. Integers beyond 2^53 are rounded. */
double bb_npy_number(const bb_npy *array, size_t row, size_t column);
/* An element of any array as UTF-8 text without its end; at most `size` bytes of it.
 * Returns the length, or SIZE_MAX if it does not fit or is no text. Integers and whole
 * floats have their decimal digits. */
size_t bb_npy_text(const bb_npy *array, size_t row, size_t column, char *text,
                   size_t size);

/* A ZIP archive's member, unpacked and checked, as a new block. `name` without ".npy".
 * BB_EDATA if the archive is damaged or has no such member. */
BB_MUST_CHECK bb_status bb_npz_member(const char *path, const unsigned char *bytes,
                                      size_t size, const char *name,
                                      unsigned char **member, size_t *member_size);

#endif
