/* mat.h - what the child process that opens a MATLAB file tells its parent.
 *
 * libmatio and HDF5 print, abort and, on hostile files, crash. They run in a child
 * process without stdout and stderr, which writes plain records into a pipe; the parent
 * trusts no record. Only the child loads the libraries: the parent, which may be somebody
 * else's program, is left without them. Order: START, then X{1}, Y{1}, X{2}, ... as DENSE
 * or SPARSE, END; or at any place FAILED. */
#ifndef BB_DATA_MAT_H
#define BB_DATA_MAT_H

#include "data/read.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    BB_MAT_START = 1, /* rows: number of cells */
    BB_MAT_DENSE,     /* followed by rows x columns doubles, column-major */
    BB_MAT_SPARSE, /* followed by columns + 1 offsets, `entries` row numbers (uint32_t
                      both) and `entries` doubles: compressed columns */
    BB_MAT_END,
    BB_MAT_FAILED /* followed by `rows` bytes of a message; `columns` is BB_EDATA, or
                     BB_EIO where there is no libmatio */
};

typedef struct bb_mat_record {
    uint64_t kind, rows, columns, entries;
} bb_mat_record;

/* The child: loads libmatio, or tells why not to `pipe`. */
BB_MUST_CHECK bool bb_mat_load(int pipe);

/* The child, then: reads the cell arrays x and y of a file and writes records to `pipe`.
 * Nothing it allocates is freed: it ends with the process. */
void bb_mat_child(int pipe, const char *path, const char *x, const char *y);

/* The parent: makes the records that come from `pipe` a data set. BB_EDATA if they end
 * early or make no sense. */
BB_MUST_CHECK bb_status bb_mat_parent(FILE *pipe, const char *path, const char *x,
                                      const char *y, bool keep_missing,
                                      bb_dataset *out);

#endif
