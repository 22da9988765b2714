/* release_log.h - inside the room: what a run has released, in a file that nobody but its
 * operator sees, until the run has ended.
 *
 * For each release: u64 bytes of its entry in the billboard's index, u64 how many numbers;
 * the entry, JSON; the numbers as the billboard has them. Little endian. */
#ifndef BB_TRAIN_RELEASE_LOG_H
#define BB_TRAIN_RELEASE_LOG_H

#include "base/hash.h"

#include <jansson.h>

#include <stdio.h>

typedef struct bb_release_log {
    char *name;
    FILE *file;     /* NULL: not open */
    uint64_t bytes; /* so far */
    bb_hash hash;   /* of them */
} bb_release_log;

/* Whether a new log may have this name: BB_EUSAGE if something is there. */
BB_MUST_CHECK bb_status bb_release_log_check(const char *name);
/* Makes the file if there is none. `name` becomes the log's, also after a failure. */
BB_MUST_CHECK bb_status bb_release_log_open(bb_release_log *log, char *name);
/* Removes the file, if it is open. */
void bb_release_log_remove(const bb_release_log *log);
void bb_release_log_close(bb_release_log *log);

/* Appends a release, of which so many numbers follow; and them, piece by piece. */
BB_MUST_CHECK bb_status bb_release_log_begin(bb_release_log *log, const json_t *entry,
                                             uint64_t numbers);
BB_MUST_CHECK bb_status bb_release_log_bytes(bb_release_log *log, const void *bytes,
                                             size_t size);
/* Makes it durable. */
BB_MUST_CHECK bb_status bb_release_log_sync(bb_release_log *log);
/* Forgets what is behind its first `bytes`. BB_EIO: there are fewer, or their SHA-256 is
 * not `digest`. */
BB_MUST_CHECK bb_status bb_release_log_rewind(bb_release_log *log, uint64_t bytes,
                                              const char *digest);
/* All entries to the end of a list, all numbers to a stream. */
BB_MUST_CHECK bb_status bb_release_log_replay(bb_release_log *log, json_t *entries,
                                              FILE *numbers);

#endif
