#include "data/slice.h"

#include "base/memory.h"
#include "data/encode.h"
#include "data/readers.h"

#include <zlib.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 18 };

typedef struct scan {
    const char *path;
    int file;
    char *block;
    bb_slice slice;
} scan;

static bb_status failed(const char *path) {
    return bb_fail(BB_EIO, "%s: %s", path, strerror(errno));
}

/* As much of the file from `at` on as there is, up to BLOCK and `to`. */
static bb_status read_block(const scan *s, size_t at, size_t to, size_t *got) {
    const size_t most = to - at < BLOCK ? to - at : BLOCK;
    ssize_t n;
    do n = pread(s->file, s->block, most, (off_t)at);
    while (n < 0 && errno == EINTR);
    if (n < 0) return failed(s->path);
    *got = (size_t)n;
    return BB_OK;
}

/* The first line that begins at or behind a share of the file, or its end. */
static bb_status find_cut(const scan *s, size_t number, size_t count, size_t *cut) {
    const size_t size = s->slice.size;
    *cut = number == 0 ? 0 : size;
    if (number == 0 || number == count) return BB_OK;
    size_t got = 1;
    for (size_t at = size / count * number; at > 0 && at < size && got; at += got) {
        const bb_status status = read_block(s, at - 1, size, &got);
        if (status) return status;
        const char *end = memchr(s->block, '\n', got);
        if (!end) continue;
        *cut = at + (size_t)(end - s->block);
        return BB_OK;
    }
    return BB_OK;
}

/* Whether it is a plain file that is not compressed, and how long. */
static bb_status measure(scan *s) {
    static const unsigned char gzip[] = {0x1f, 0x8b};
    struct stat about;
    size_t got = 0;
    if (fstat(s->file, &about)) return failed(s->path);
    s->slice.size = (size_t)about.st_size;
    const bb_status status = read_block(s, 0, s->slice.size, &got);
    if (!status && got >= 2) s->slice.whole = memcmp(s->block, gzip, 2) == 0;
    return status;
}

static bb_status cut(scan *s, size_t number, size_t count) {
    bb_status status = measure(s);
    if (status || s->slice.whole) return status;
    status = find_cut(s, number, count, &s->slice.from);
    return status ? status : find_cut(s, number + 1, count, &s->slice.to);
}

bb_status bb_slice_cut(const char *path, const bb_read_options *o, size_t number,
                       size_t count, bb_slice *out) {
    scan s = {.path = path, .file = -1, .slice = {.line = 1}};
    char separator;
    bb_format format = BB_FORMAT_AUTO;
    struct stat about;
    bb_status status = stat(path, &about) ? failed(path) : BB_OK;
    if (!status && !S_ISREG(about.st_mode)) { /* what is read of a pipe is gone */
        *out = (bb_slice){.whole = true};
        return BB_OK;
    }
    if (!status) status = bb_read_format(path, o, &format);
    if (!status) status = bb_csv_separator(o->separator, &separator);
    if (!status) status = bb_allocate(&s.block, BLOCK, 1, "a file's part");
    if (!status && format == BB_FORMAT_NPY)
        status = bb_numpy_cut(path, o, number, count, &s.slice);
    else if (!status && format == BB_FORMAT_BB)
        status = bb_bbfile_cut(path, o, number, count, &s.slice);
    else
        s.slice.whole = format != BB_FORMAT_CSV;
    if (!status && format == BB_FORMAT_CSV) {
        s.file = open(path, O_RDONLY | O_CLOEXEC);
        status = s.file < 0 ? failed(path) : cut(&s, number, count);
    }
    if (s.file >= 0) close(s.file);
    free(s.block);
    if (!status) *out = s.slice;
    return status;
}

/* Whether the parts of an array have the checksum that it should have. */
static bool is_intact(size_t count, const bb_slice *slice, size_t k) {
    uLong sum = slice[0].member[k].sum;
    for (size_t s = 1; s < count; s++)
        sum = crc32_combine(sum, slice[s].member[k].sum,
                            (z_off_t)slice[s].member[k].length);
    return (uint32_t)sum == slice[0].member[k].expected;
}

bb_status bb_slices_join(const char *path, size_t count, bb_slice *slice) {
    bool whole = false, same = true;
    size_t line = 1;
    for (size_t k = 0; k < count; k++) {
        whole = whole || slice[k].whole;
        same = same && slice[k].size == slice[0].size &&
               (!k || slice[k].whole || slice[k].from == slice[k - 1].to);
        slice[k].line = slice[k].first ? 1 : line;
        line = slice[k].line + slice[k].lines;
    }
    for (size_t k = 0; k < BB_SLICE_MEMBERS; k++)
        whole = whole || !is_intact(count, slice, k);
    for (size_t k = 0; k < count; k++) slice[k].whole = whole;
    if (same || whole) return BB_OK;
    return bb_fail(BB_EDATA, "%s: is not the same file on all ranks", path);
}

void bb_slice_number(const bb_slice *slice, bb_dataset *rows) {
    const size_t before = slice->line - 1;
    for (size_t r = 0; r < rows->rows; r++) {
        const size_t line = rows->line[r] + before;
        rows->line[r] = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
    }
}
