#include "data/numpy_file.h"

#include "base/memory.h"
#include "data/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bb_status failed(const bb_numpy_file *f) {
    return bb_fail(BB_EIO, "%s: %s", f->path, strerror(errno));
}

bb_status bb_numpy_file_read(bb_numpy_file *f, const char *path) {
    *f = (bb_numpy_file){.path = path};
    FILE *const file = fopen(path, "rb");
    if (!file) return failed(f);
    size_t room = 0, got;
    bb_status status;
    do {
        status = bb_grow(&f->bytes, &room, f->size + (1 << 16), 1, "a NumPy file");
        got = status ? 0 : fread(f->bytes + f->size, 1, room - f->size, file);
        f->size += got;
    } while (got);
    if (!status && ferror(file)) status = failed(f);
    fclose(file);
    return status;
}

bb_status bb_numpy_file_open(bb_numpy_file *f, const char *path) {
    struct stat about;
    size_t room = 0;
    *f = (bb_numpy_file){.path = path, .handle = open(path, O_RDONLY | O_CLOEXEC)};
    if (f->handle < 0) {
        f->handle = 0;
        return failed(f);
    }
    if (fstat(f->handle, &about)) return failed(f);
    f->size = (size_t)about.st_size;
    /* not bb_allocate, which would touch all of it */
    bb_status status = bb_grow(&f->bytes, &room, f->size + 1, 1, "a NumPy file");
    if (!status) status = bb_numpy_file_fetch(f, 0, BB_NPZ_END);
    if (!status && f->size > BB_NPZ_END)
        status = bb_numpy_file_fetch(f, f->size - BB_NPZ_END, BB_NPZ_END);
    return status;
}

bb_status bb_numpy_file_fetch(const bb_numpy_file *f, size_t from, size_t length) {
    if (!f->handle || from >= f->size) return BB_OK;
    if (length > f->size - from) length = f->size - from;
    while (length) {
        const ssize_t n = pread(f->handle, f->bytes + from, length, (off_t)from);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return failed(f);
        if (n == 0) return bb_fail(BB_EIO, "%s: became shorter", f->path);
        from += (size_t)n;
        length -= (size_t)n;
    }
    return BB_OK;
}

void bb_numpy_file_close(bb_numpy_file *f) {
    if (f->handle) close(f->handle);
    free(f->bytes);
    *f = (bb_numpy_file){0};
}
