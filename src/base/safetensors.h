/* safetensors.h - named arrays in one file, as the safetensors format has them.
 *
 * A file is 8 bytes, least significant first, that say how long the header is; the
 * header, one JSON object padded with spaces to a multiple of 8; then the arrays'
 * numbers without gaps, row-major, least significant byte first. The header says of
 * each array {"dtype", "shape", "data_offsets": [begin, end]} (counted from the
 * header's end), and under "__metadata__" has texts. */
#ifndef BB_BASE_SAFETENSORS_H
#define BB_BASE_SAFETENSORS_H

#include "base/status.h"

#include <jansson.h>

#include <stdint.h>
#include <stdio.h>

typedef enum bb_dtype {
    BB_DTYPE_F64,
    BB_DTYPE_I64,
    BB_DTYPE_F32,
    BB_DTYPE_U32
} bb_dtype;

enum { BB_TENSOR_DIMENSIONS = 4 }; /* most */

typedef struct bb_tensor {
    const char *name;
    bb_dtype type;
    size_t dimensions; /* 0: one number */
    size_t shape[BB_TENSOR_DIMENSIONS];
    const void *value; /* double, int64_t, float or uint32_t; NULL if there are none */
} bb_tensor;

/* Writes the arrays, those of 8-byte numbers first, whole or not at all
 * (bb_file_write); needs memory for the whole file. `texts`: an object of strings, or
 * NULL; borrowed. BB_EUSAGE: two arrays of one name; BB_EIO, BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_safetensors_write(const char *path, const bb_tensor *tensor,
                                             size_t tensors, const json_t *texts);

/* A file that is open for reading. */
typedef struct bb_safetensors {
    char *path;
    FILE *stream;
    json_t *header; /* checked: every entry lies in the file */
    size_t tensors;
    uint64_t data; /* where the numbers begin */
} bb_safetensors;

/* Opens a file and checks its header and size: names that differ, the four types above,
 * shapes that fit their place, numbers that follow each other without a gap up to the
 * end of the file. BB_EDATA with one message if anything is otherwise; BB_EIO. */
BB_MUST_CHECK bb_status bb_safetensors_open(bb_safetensors *file, const char *path);
/* Takes a zeroed one, too. */
void bb_safetensors_close(bb_safetensors *file);

/* The text under this name of __metadata__; BB_EDATA if there is none. Valid until the
 * file is closed. */
BB_MUST_CHECK bb_status bb_safetensors_text(const bb_safetensors *file,
                                            const char *name, const char **text);
/* The shape of an array that must be there with this many dimensions. */
BB_MUST_CHECK bb_status bb_safetensors_shape(const bb_safetensors *file,
                                             const char *name, size_t dimensions,
                                             size_t *shape);
/* Does the file have this array, of this type and shape? BB_EDATA says what it has
 * instead; expected->value is not used. */
BB_MUST_CHECK bb_status bb_safetensors_check(const bb_safetensors *file,
                                             const bb_tensor *expected);
/* Checks it, and reads its numbers into `value`, which has room for them. */
BB_MUST_CHECK bb_status bb_safetensors_read(const bb_safetensors *file,
                                            const bb_tensor *expected, void *value);

#endif
