/* lock.h - names that one process at a time may use. */
#ifndef BB_BASE_LOCK_H
#define BB_BASE_LOCK_H

#include "base/status.h"

/* PATH.lock, locked; zero: it is not. */
typedef struct bb_lock {
    char *name; /* NULL: nothing is locked */
    int descriptor;
} bb_lock;

/* Locks `path` (less final slashes) by a file PATH.lock beside it. BB_EUSAGE, with the
 * words `held`, if it is locked already: by whichever process, thread or job. What a
 * process that died left of it is in nobody's way. */
BB_MUST_CHECK bb_status bb_lock_take(bb_lock *lock, const char *path, const char *held);
/* Fails where bb_lock_take would because somebody has it, and leaves nothing behind. */
BB_MUST_CHECK bb_status bb_lock_check(const char *path, const char *held);
/* Gives it up and removes the file; takes a zeroed lock. */
void bb_lock_give(bb_lock *lock);

#endif
