#include "base/lock.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file is this library's own affair: what is said is of the path. */
static bb_status not_created(const char *path, const char *name) {
    const char *end = strrchr(name, '/');
    if (errno != ENOENT || !end || end == name)
        return bb_fail(BB_EIO, "%s: cannot be created: %s", path, strerror(errno));
    return bb_fail(BB_EIO, "%s: cannot be created: there is no folder %.*s", path,
                   (int)(end - name), name);
}

static bb_status failed(const char *path, const char *deed) {
    return bb_fail(BB_EIO, "%s: cannot be %s: %s", path, deed, strerror(errno));
}

/* Whether a descriptor is of the file that has this name now. */
static bool is_at(int descriptor, const char *name) {
    struct stat open_file, there;
    return !fstat(descriptor, &open_file) && !lstat(name, &there) &&
           open_file.st_dev == there.st_dev && open_file.st_ino == there.st_ino;
}

/* The kernel frees the lock of a process that dies; its holder removes the file, so a
 * lock on a file that is gone is none: try again. */
static bb_status take(bb_lock *lock, char *name, const char *path, const char *held) {
    for (;;) {
        const int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (file < 0) return not_created(path, name);
        if (flock(file, LOCK_EX | LOCK_NB)) {
            const bb_status status = errno == EWOULDBLOCK
                                         ? bb_fail(BB_EUSAGE, "%s: %s", path, held)
                                         : failed(name, "locked");
            close(file);
            return status;
        }
        if (is_at(file, name)) {
            *lock = (bb_lock){name, file};
            return BB_OK;
        }
        close(file);
    }
}

static bb_status name_lock(const char *path, char **name) {
    static const char word[] = ".lock";
    size_t kept = strlen(path);
    const size_t size = kept + sizeof word;
    const bb_status status = bb_allocate(name, size, 1, "a file name");
    if (status) return status;
    while (kept > 1 && path[kept - 1] == '/') kept--;
    snprintf(*name, size, "%.*s%s", (int)kept, path, word);
    return BB_OK;
}

bb_status bb_lock_take(bb_lock *lock, const char *path, const char *held) {
    char *name = NULL;
    bb_status status = name_lock(path, &name);
    if (!status) status = take(lock, name, path, held);
    if (status) free(name);
    return status;
}

/* Shared, and for no longer than the call: two that look see nobody. */
bb_status bb_lock_check(const char *path, const char *held) {
    char *name = NULL;
    bb_status status = name_lock(path, &name);
    const int file = status ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file >= 0 && flock(file, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK)
        status = bb_fail(BB_EUSAGE, "%s: %s", path, held);
    if (file >= 0) close(file);
    free(name);
    return status;
}

void bb_lock_give(bb_lock *lock) {
    if (lock->name) {
        unlink(lock->name);
        close(lock->descriptor);
    }
    free(lock->name);
    *lock = (bb_lock){0};
}
