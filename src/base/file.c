#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUFFIX_DIGITS = 8, TRIES = 100, OPEN_FOLDERS = 16 };

static const char suffix[] = ".tmp-";

static bb_status failed(const char *path, const char *deed) {
    return bb_fail(BB_EIO, "%s: cannot be %s: %s", path, deed, strerror(errno));
}

bb_status bb_file_join(char **out, const char *folder, const char *name) {
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *joined = NULL;
    const bb_status status = bb_allocate(&joined, size, 1, "a file name");
    if (status) return status;
    snprintf(joined, size, "%s/%s", folder, name);
    *out = joined;
    return BB_OK;
}

bb_status bb_file_check_folder(const char *path) {
    size_t length = strlen(path);
    char *folder = NULL;
    while (length > 1 && path[length - 1] == '/') length--;
    while (length > 0 && path[length - 1] != '/') length--;
    bb_status status =
        length ? bb_duplicate(&folder, path, length) : bb_duplicate(&folder, ".", 1);
    if (status) return status;
    if (access(folder, W_OK | X_OK))
        status = errno == ENOENT
                     ? bb_fail(BB_EIO, "%s: cannot be created: there is no folder %s",
                               path, folder)
                     : failed(path, "created");
    free(folder);
    return status;
}

bool bb_file_same(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* A copy of `path`, less final slashes, with room for the suffix. */
static bb_status temporary_name(char **out, size_t *length, const char *path) {
    size_t kept = strlen(path);
    while (kept > 1 && path[kept - 1] == '/') kept--;
    char *name = NULL;
    const bb_status status =
        bb_allocate(&name, kept + sizeof suffix + SUFFIX_DIGITS, 1, "a file name");
    if (status) return status;
    memcpy(name, path, kept); /* NOLINT: bb_allocate has written the zeros */
    *out = name;
    *length = kept;
    return BB_OK;
}

/* Writes a new random suffix behind the first `length` bytes. */
static bb_status draw_suffix(char *name, size_t length) {
    uint32_t bits;
    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        return bb_fail(BB_EIO, "the operating system gave no random bits");
    snprintf(name + length, sizeof suffix + SUFFIX_DIGITS, "%s%08" PRIx32, suffix,
             bits);
    return BB_OK;
}

static bb_status create_file(const char *path, char *name, size_t length,
                             int *descriptor) {
    for (int i = 0; i < TRIES; i++) {
        const bb_status status = draw_suffix(name, length);
        if (status) return status;
        *descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*descriptor >= 0) return BB_OK;
        if (errno != EEXIST) break;
    }
    return failed(path, "created");
}

static bb_status write_all(int descriptor, const char *path, const void *data,
                           size_t size) {
    const char *bytes = data;
    while (size) {
        const ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failed(path, "written");
        bytes += written;
        size -= (size_t)written;
    }
    return BB_OK;
}

/* What is no file (a terminal, a pipe, a device) is written to, never replaced. */
static bb_status write_through(const char *path, const char *bytes, size_t size) {
    const int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) return failed(path, "opened");
    bb_status status = write_all(descriptor, path, bytes, size);
    if (close(descriptor) && !status) status = failed(path, "written");
    return status;
}

/* Makes the directory that holds `path` durable. */
static bb_status sync_parent(const char *path) {
    const char *const slash = strrchr(path, '/');
    if (!slash) return bb_file_sync_directory(".");
    char *parent = NULL;
    bb_status status =
        bb_duplicate(&parent, path, slash == path ? 1 : (size_t)(slash - path));
    if (!status) status = bb_file_sync_directory(parent);
    free(parent);
    return status;
}

static bb_status replace_file(const char *path, const char *bytes, size_t size) {
    char *name = NULL;
    size_t length = 0;
    int descriptor = -1;
    bool created = false;
    bb_status status = temporary_name(&name, &length, path);
    if (!status) status = create_file(path, name, length, &descriptor);
    if (status) goto done;
    created = true;
    status = write_all(descriptor, path, bytes, size);
    if (!status && fsync(descriptor)) status = failed(path, "made durable");
    if (close(descriptor) && !status) status = failed(path, "written");
    if (status) goto done;
    if (rename(name, path)) {
        status = failed(path, "replaced");
        goto done;
    }
    created = false;
    status = sync_parent(path);
done:
    if (created) unlink(name);
    free(name);
    return status;
}

bb_status bb_file_write(const char *path, const void *bytes, size_t size) {
    struct stat there, link;
    if (strcmp(path, "-") == 0)
        return bb_fail(BB_EUSAGE, "-: this goes to a file, which - does not name; "
                                  "/dev/stdout is standard output");
    if (stat(path, &there) || lstat(path, &link))
        return replace_file(path, bytes, size);
    if (!S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
        return write_through(path, bytes, size);
    if (!S_ISLNK(link.st_mode)) return replace_file(path, bytes, size);
    char *target = realpath(path, NULL);
    if (!target) return failed(path, "followed");
    const bb_status status = replace_file(target, bytes, size);
    free(target);
    return status;
}

bb_status bb_file_private_begin(bb_file_private *file, const char *path) {
    static const char word[] = ".new";
    const size_t size = strlen(path) + sizeof word;
    *file = (bb_file_private){.descriptor = -1};
    bb_status status = bb_allocate(&file->name, size, 1, "a file name");
    if (status) return status;
    snprintf(file->name, size, "%s%s", path, word);
    unlink(file->name); /* a dead process's, or one that others might read */
    file->descriptor =
        open(file->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file->descriptor >= 0) return BB_OK;
    status = failed(path, "written");
    free(file->name);
    file->name = NULL;
    return status;
}

bb_status bb_file_private_write(const bb_file_private *file, const char *path,
                                bb_piece piece) {
    return write_all(file->descriptor, path, piece.at, piece.size);
}

bb_status bb_file_private_end(bb_file_private *file, const char *path,
                              bb_status status) {
    if (!file->name) return status;
    if (!status && fsync(file->descriptor)) status = failed(path, "made durable");
    if (close(file->descriptor) && !status) status = failed(path, "written");
    if (!status && rename(file->name, path)) status = failed(path, "replaced");
    if (status)
        unlink(file->name);
    else
        status = sync_parent(path);
    free(file->name);
    *file = (bb_file_private){.descriptor = -1};
    return status;
}

bb_status bb_file_write_private(const char *path, const bb_piece *piece,
                                size_t pieces) {
    bb_file_private file;
    bb_status status = bb_file_private_begin(&file, path);
    for (size_t k = 0; k < pieces && !status; k++)
        status = bb_file_private_write(&file, path, piece[k]);
    return bb_file_private_end(&file, path, status);
}

bb_status bb_file_begin(bb_file_new *file, const char *path) {
    struct stat there;
    size_t length = 0;
    const bool is_there = stat(path, &there) == 0;
    bb_status status = BB_OK;
    *file = (bb_file_new){.descriptor = -1};
    if (is_there && !S_ISREG(there.st_mode))
        return bb_fail(BB_EUSAGE, "%s: expected the name of a plain file", path);
    if (is_there) {
        file->target = realpath(path, NULL);
        if (!file->target) return failed(path, "followed");
    } else {
        status = bb_duplicate(&file->target, path, strlen(path));
    }
    if (!status) status = temporary_name(&file->name, &length, file->target);
    if (!status) status = create_file(path, file->name, length, &file->descriptor);
    if (status) {
        free(file->name);
        free(file->target);
    }
    return status;
}

bb_status bb_file_end(bb_file_new *file, const char *path, bb_status status) {
    if (!status && fsync(file->descriptor)) status = failed(path, "made durable");
    if (close(file->descriptor) && !status) status = failed(path, "written");
    if (!status && rename(file->name, file->target)) status = failed(path, "replaced");
    if (status)
        unlink(file->name);
    else
        status = sync_parent(file->target);
    free(file->name);
    free(file->target);
    return status;
}

static bb_status read_all(int descriptor, const char *path, uint8_t *bytes,
                          size_t size) {
    while (size) {
        const ssize_t got = read(descriptor, bytes, size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed(path, "read");
        if (got == 0) return bb_fail(BB_EIO, "%s: became shorter while read", path);
        bytes += got;
        size -= (size_t)got;
    }
    return BB_OK;
}

bb_status bb_file_read(const char *path, uint8_t **bytes, size_t *size) {
    struct stat there;
    uint8_t *found = NULL;
    bb_status status = BB_OK;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return failed(path, "opened");
    if (fstat(descriptor, &there))
        status = failed(path, "read");
    else if (!S_ISREG(there.st_mode))
        status = bb_fail(BB_EIO, "%s: cannot be read: it is no plain file", path);
    if (!status) status = bb_allocate(&found, (size_t)there.st_size, 1, path);
    if (!status) status = read_all(descriptor, path, found, (size_t)there.st_size);
    close(descriptor);
    if (status) {
        free(found);
        return status;
    }
    *bytes = found;
    *size = (size_t)there.st_size;
    return BB_OK;
}

static bb_status sync_path(const char *path, int flags) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | flags);
    if (descriptor < 0) return failed(path, "opened");
    const bb_status status = fsync(descriptor) ? failed(path, "made durable") : BB_OK;
    close(descriptor);
    return status;
}

bb_status bb_file_sync_directory(const char *path) {
    return sync_path(path, O_DIRECTORY);
}

bb_status bb_directory_begin(char **temporary, const char *path) {
    char *name = NULL;
    size_t length = 0;
    struct stat there;
    bb_status status = temporary_name(&name, &length, path);
    if (status) return status;
    if (lstat(name, &there) == 0) {
        status = bb_fail(BB_EUSAGE,
                         "%s: exists already; choose another name or remove it", path);
        goto done;
    }
    for (int i = 0; i < TRIES; i++) {
        status = draw_suffix(name, length);
        if (status) goto done;
        if (mkdir(name, 0777) == 0) {
            *temporary = name;
            return BB_OK;
        }
        if (errno != EEXIST) break;
    }
    status = failed(path, "created");
done:
    free(name);
    return status;
}

/* nftw's callbacks: a non-zero value stops the walk. */
static int sync_one(const char *path, const struct stat *info, int type,
                    struct FTW *level) {
    (void)info;
    (void)level;
    if (type == FTW_F) return (int)sync_path(path, O_NOFOLLOW);
    if (type == FTW_DP) return (int)bb_file_sync_directory(path);
    return 0;
}

static int remove_one(const char *path, const struct stat *info, int type,
                      struct FTW *level) {
    (void)info;
    (void)type;
    (void)level;
    return remove(path) ? (int)failed(path, "removed") : 0;
}

static bb_status walk(const char *path, __nftw_func_t visit) {
    const int result = nftw(path, visit, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    return result < 0 ? failed(path, "walked through") : (bb_status)result;
}

bb_status bb_directory_commit(const char *temporary, const char *path) {
    const bb_status status = walk(temporary, sync_one);
    if (status) return status;
    if (rename(temporary, path)) return failed(path, "put in place");
    return sync_parent(temporary); /* which is path's, and has no final slash */
}

bb_status bb_directory_again(char **temporary, const char *name) {
    struct stat there;
    char *own = NULL;
    bb_status status = BB_OK;
    if (lstat(name, &there) == 0) status = bb_directory_discard(name);
    if (!status) status = bb_duplicate(&own, name, strlen(name));
    if (!status && mkdir(own, 0777)) status = failed(own, "created");
    if (status)
        free(own);
    else
        *temporary = own;
    return status;
}

bb_status bb_directory_discard(const char *temporary) {
    const size_t length = strlen(temporary), tail = sizeof suffix - 1 + SUFFIX_DIGITS;
    const char *const end = temporary + (length < tail ? 0 : length - tail);
    if (length <= tail || strncmp(end, suffix, sizeof suffix - 1) != 0)
        return bb_fail(BB_EUSAGE, "%s: is not a temporary run directory; not removed",
                       temporary);
    return walk(temporary, remove_one);
}
