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

/* Where an array's bytes are in an archive that does not pack it. */
typedef struct bb_npz_place {
    size_t local;      /* the member's own header, of at most BB_NPZ_LOCAL bytes */
    size_t from, size; /* its bytes, once that header has been read */
    uint32_t checksum;
    bool stored; /* false: it is packed */
} bb_npz_place;
enum { BB_NPZ_END = 22 + 65535, BB_NPZ_LOCAL = 30 + 2 * 65535 };

/* Finds a member by what stands at the archive's end, of which at least BB_NPZ_END bytes
 * must be there: `local`, `size`, `checksum`, `stored`. BB_EDATA as bb_npz_member. */
BB_MUST_CHECK bb_status bb_npz_find(const char *path, const unsigned char *bytes,
                                    size_t size, const char *name, bb_npz_place *place);
/* place->from, by the member's header. */
BB_MUST_CHECK bb_status bb_npz_locate(const char *path, const unsigned char *bytes,
                                      size_t size, bb_npz_place *place);

/* A ZIP archive's member, unpacked and checked, as a new block. `name` without ".npy".
 * BB_EDATA if the archive is damaged or has no such member. */
BB_MUST_CHECK bb_status bb_npz_member(const char *path, const unsigned char *bytes,
                                      size_t size, const char *name,
                                      unsigned char **member, size_t *member_size);

#endif
