/* checkpoint.h - a run between two rounds as a file, from which another process goes on.
 *
 * It holds PRIVATE bytes, what every task has learnt among them, and only the file's
 * owner may read it (mode 0600). It is written whole or not at all: a process that is
 * killed while it writes leaves the file that was there before. */
#ifndef BB_CORE_CHECKPOINT_H
#define BB_CORE_CHECKPOINT_H

#include "base/file.h"
#include "core/run.h"

enum { BB_CHECKPOINT_VERSION = 2 };

typedef struct bb_checkpoint {
    bb_bytes about;         /* the writer's: which run it is, of what data */
    bb_bytes curator, silo; /* as they were saved; empty: the run has not begun */
    bb_silo_stored stored[BB_SILO_STORED]; /* maps where they are written only */
} bb_checkpoint;

/* BB_EIO leaves what was there. One process at a time may write to a path: what it
 * writes is at `path`.new before. */
BB_MUST_CHECK bb_status bb_checkpoint_write(const char *path,
                                            const bb_checkpoint *checkpoint);

/* The same in two steps: a copy of what is now, at `path`.new, which replaces one that was
 * not committed; and its checksum, and the copy in place of `path`, durably. What lies in
 * files is copied from file to file (bb_map_write). */
typedef struct bb_checkpoint_copy {
    bb_file_private file;
    bb_hash hash;  /* of the bytes so far */
    uint64_t from; /* where those begin that are not in it */
} bb_checkpoint_copy;
BB_MUST_CHECK bb_status bb_checkpoint_begin(bb_checkpoint_copy *copy, const char *path,
                                            const bb_checkpoint *checkpoint);
BB_MUST_CHECK bb_status bb_checkpoint_commit(bb_checkpoint_copy *copy,
                                             const char *path);
/* Removes a copy that was not committed; takes a zeroed one, too. */
void bb_checkpoint_drop(bb_checkpoint_copy *copy);

/* Reads and checks it; what it says lies in the map, to be closed with bb_map_close. BB_EIO:
 * it cannot be read; BB_EDATA: it is no checkpoint, of another version, cut off, or not a
 * bit as it was written. */
BB_MUST_CHECK bb_status bb_checkpoint_read(const char *path, bb_checkpoint *checkpoint,
                                           bb_map *map);

#endif
