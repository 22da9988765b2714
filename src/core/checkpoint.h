/* checkpoint.h - a run between two rounds as a file, from which another process goes on.
 *
 * It holds PRIVATE bytes, what every task has learnt among them, and only the file's
 * owner may read it (mode 0600). It is written whole or not at all: a process that is
 * killed while it writes leaves the file that was there before. */
#ifndef BB_CORE_CHECKPOINT_H
#define BB_CORE_CHECKPOINT_H

#include "core/wire.h"

enum { BB_CHECKPOINT_VERSION = 1 };

typedef struct bb_checkpoint {
    bb_bytes about;         /* the writer's: which run it is, of what data */
    bb_bytes curator, silo; /* as they were saved; empty: the run has not begun */
} bb_checkpoint;

/* BB_EIO leaves what was there. One process at a time may write to a path: what it
 * writes is at `path`.new before. */
BB_MUST_CHECK bb_status bb_checkpoint_write(const char *path,
                                            const bb_checkpoint *checkpoint);
/* Reads and checks it; what it says lies in *bytes, to be freed with free(). BB_EIO: it
 * cannot be read; BB_EDATA: it is no checkpoint, of another version, cut off, or not a
 * bit as it was written. */
BB_MUST_CHECK bb_status bb_checkpoint_read(const char *path, bb_checkpoint *checkpoint,
                                           uint8_t **bytes);

#endif
