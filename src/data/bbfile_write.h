/* bbfile_write.h - inside the room: a file that rows are put into in any order. */
#ifndef BB_DATA_BBFILE_WRITE_H
#define BB_DATA_BBFILE_WRITE_H

#include "data/bbfile.h"

/* Set `path`, `file`, `threads`, `shape`, `features_public` and `like` (names of columns and
 * target, labels, image, binary), then begin; put all rows and tasks, in any order; end. */
typedef struct bb_bbfile_writer {
    const char *path; /* for messages */
    int file;
    size_t threads;
    bb_bbfile_shape shape;
    bool features_public;
    bb_dataset like; /* owned */
    bb_map map;
    size_t footer, at[BB_SECTIONS], bytes[BB_SECTIONS];
    double *least, *most; /* features; of sparse rows' entries */
    double target_least, target_most;
} bb_bbfile_writer;

/* Where a row goes: its number, and those of its first entry and label. */
typedef struct bb_bbfile_place {
    size_t row, entry, label;
} bb_bbfile_place;

BB_MUST_CHECK bb_status bb_bbfile_begin(bb_bbfile_writer *writer);
void bb_bbfile_put(bb_bbfile_writer *writer, const bb_dataset *data, size_t row,
                   bb_bbfile_place place);
/* rows: of all tasks up to this one; name_at: bytes of the names before it. */
void bb_bbfile_put_task(const bb_bbfile_writer *writer, size_t task, size_t rows,
                        const char *name, size_t name_at);
/* Gives the file's pages back, to be written by the system. */
void bb_bbfile_leave(const bb_bbfile_writer *writer);
/* Checksums, footer, header; *bytes: the file's. */
BB_MUST_CHECK bb_status bb_bbfile_end(bb_bbfile_writer *writer, size_t *bytes);
/* Takes a zeroed one, too; not the file. */
void bb_bbfile_close(bb_bbfile_writer *writer);

#endif
