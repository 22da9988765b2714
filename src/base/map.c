#define _GNU_SOURCE /* NOLINT: copy_file_range */
#include "base/map.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t stretch = (size_t)8 << 20;

static bb_status failed(const char *path, int error) {
    return bb_fail(BB_EIO, "%s: %s", path, strerror(error));
}

static bb_status map_it(bb_map *map, int descriptor, size_t size, int protection,
                        const char *path) {
    char *const at = mmap(NULL, size, protection, MAP_SHARED, descriptor, 0);
    if (at == MAP_FAILED) return failed(path, errno);
    *map = (bb_map){.at = at, .size = size};
    return BB_OK;
}

bb_status bb_map_file(bb_map *map, const char *path) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    bb_status status = BB_OK;
    if (descriptor < 0)
        return bb_fail(BB_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    if (fstat(descriptor, &about))
        status = failed(path, errno);
    else if (!S_ISREG(about.st_mode))
        status = bb_fail(BB_EIO, "%s: expected a plain file", path);
    else if (about.st_size == 0)
        status = bb_fail(BB_EDATA, "%s: the file is empty", path);
    if (!status)
        status = map_it(map, descriptor, (size_t)about.st_size, PROT_READ, path);
    close(descriptor);
    return status;
}

bb_status bb_map_descriptor(bb_map *map, int descriptor, size_t size) {
    return map_it(map, descriptor, size, PROT_READ | PROT_WRITE, "a file");
}

bb_status bb_map_scratch(bb_map *map, size_t size) {
    const char *const given = getenv("TMPDIR"),
                      *folder = given && *given ? given : "/var/tmp";
    const size_t length = strlen(folder) + 32;
    char *name = NULL;
    bb_status status = bb_allocate(&name, length, 1, "a file name");
    if (status) return status;
    snprintf(name, length, "%s/billboard-XXXXXX", folder);
    const int descriptor = mkstemp(name);
    if (descriptor < 0) {
        status = failed(folder, errno);
    } else {
        unlink(name);
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        const int error = posix_fallocate(descriptor, 0, (off_t)(size ? size : 1));
        if (error)
            status =
                bb_fail(BB_EIO, "%s: no room for a temporary file of %zu bytes: %s",
                        folder, size, strerror(error));
        if (!status)
            status = map_it(map, descriptor, size ? size : 1, PROT_READ | PROT_WRITE,
                            folder);
        if (status)
            close(descriptor);
        else
            map->file = descriptor;
    }
    free(name);
    return status;
}

bool bb_map_has(const bb_map *map, const void *at) {
    const uintptr_t place = (uintptr_t)at, begin = (uintptr_t)map->at;
    return map->at && place >= begin && place < begin + map->size;
}

void bb_map_passed(const bb_map *map, const void *from, const void *to) {
    if (!bb_map_has(map, from)) return;
    const size_t left = (size_t)((const char *)from - map->at) / stretch * stretch;
    size_t come = (size_t)((const char *)to - map->at);
    come = come < map->size ? come / stretch * stretch : map->size;
    if (left < come) madvise(map->at + left, come - left, MADV_DONTNEED);
}

bb_status bb_map_block(bb_map *map, size_t memory, void *out, size_t count, size_t size,
                       const char *what) {
    if (!memory || !size || count <= memory / 8 / size)
        return bb_allocate(out, count, size, what);
    if (count > SIZE_MAX / 2 / size)
        return bb_fail(BB_ENOMEM, "no room for %zu times %zu bytes", count, size);
    const bb_status status = bb_map_scratch(map, count * size);
    if (status) return bb_fail_context(status, "%s", what);
    memcpy(out, &map->at, sizeof map->at);
    return BB_OK;
}

void bb_map_release(bb_map *map, void *block) {
    if (block && bb_map_has(map, block))
        bb_map_close(map);
    else
        free(block);
}

void bb_map_copy(const bb_map *to_map, void *to, const bb_map *from_map,
                 const void *from, size_t size) {
    for (size_t at = 0, step; at < size; at += step) {
        step = size - at < stretch ? size - at : stretch;
        char *const there = (char *)to + at;
        const char *const here = (const char *)from + at;
        memcpy(there, here, step);
        bb_map_passed(to_map, there, there + step);
        bb_map_passed(from_map, here, here + step);
    }
}

/* What the kernel cannot copy from file to file, as between two file systems. */
static bb_status write_pages(const bb_map *map, const char *from, size_t size,
                             int descriptor, const char *path) {
    while (size) {
        const size_t most = size < stretch ? size : stretch;
        const ssize_t written = write(descriptor, from, most);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failed(path, errno);
        bb_map_passed(map, from, from + written);
        from += written;
        size -= (size_t)written;
    }
    return BB_OK;
}

bb_status bb_map_write(const bb_map *map, const void *from, size_t size, int descriptor,
                       const char *path) {
    const char *here = from;
    off_t at = here - map->at;
    while (size) {
        const ssize_t copied =
            copy_file_range(map->file, &at, descriptor, NULL, size, 0);
        if (copied < 0 && errno == EINTR) continue;
        if (copied < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
            return failed(path, errno);
        if (copied <= 0) return write_pages(map, here, size, descriptor, path);
        here += copied;
        size -= (size_t)copied;
    }
    return BB_OK;
}

void bb_map_leave(const bb_map *map) {
    if (map->at) madvise(map->at, map->size, MADV_DONTNEED);
}

void bb_map_close(bb_map *map) {
    if (map->at) munmap(map->at, map->size);
    if (map->file) close(map->file);
    *map = (bb_map){0};
}
