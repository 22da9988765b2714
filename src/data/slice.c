#include "data/slice.h"

#include "base/memory.h"
#include "data/encode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 18 };

/* Where a byte is in its row. */
typedef enum place {
    CELL,        /* a cell begins */
    PLAIN,       /* in a cell without quotes */
    QUOTED,      /* in quotes */
    AFTER_QUOTE, /* which ended, or it is one of two */
    RETURN       /* behind a carriage return */
} place;

typedef struct scan {
    const char *path;
    int file;
    char separator, *block;
    place now;
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

/* One byte after the other. */
static void walk(scan *s, const char *block, size_t length) {
    for (size_t k = 0; k < length && !s->slice.whole; k++) {
        const char c = block[k];
        const bool ends = c == '\n' || c == '\r';
        if ((s->now == QUOTED && ends) || (s->now == RETURN && c != '\n')) {
            s->slice.whole = true;
        } else if (s->now == QUOTED) {
            if (c == '"') s->now = AFTER_QUOTE;
        } else if (c == '"' && s->now != PLAIN) {
            s->now = QUOTED;
        } else if (c == '\r') {
            s->now = RETURN;
        } else {
            s->slice.lines += c == '\n';
            s->now = ends || c == s->separator ? CELL : PLAIN;
        }
    }
}

/* A block without quotes and carriage returns: only its line ends count, and its end. */
static void jump(scan *s, size_t length) {
    size_t lines = 0;
    for (size_t k = 0; k < length; k++) lines += s->block[k] == '\n';
    if (s->now == QUOTED) {
        s->slice.whole = lines > 0;
        return;
    }
    s->slice.lines += lines;
    const char last = s->block[length - 1];
    s->now = last == '\n' || last == s->separator ? CELL : PLAIN;
}

static bb_status look(scan *s) {
    static const char bom[] = "\xef\xbb\xbf";
    for (size_t at = s->slice.from, got = 0; at < s->slice.to && !s->slice.whole;
         at += got) {
        const bb_status status = read_block(s, at, s->slice.to, &got);
        if (status) return status;
        if (!got) return bb_fail(BB_EIO, "%s: has become shorter", s->path);
        const size_t skip = at == 0 && got > 3 && memcmp(s->block, bom, 3) == 0 ? 3 : 0;
        if (skip || s->now == RETURN || memchr(s->block, '"', got) ||
            memchr(s->block, '\r', got))
            walk(s, s->block + skip, got - skip);
        else
            jump(s, got);
    }
    s->slice.whole = s->slice.whole || s->now == QUOTED || s->now == RETURN;
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

static bb_status look_at(scan *s, size_t number, size_t count) {
    bb_status status = measure(s);
    if (status || s->slice.whole) return status;
    status = find_cut(s, number, count, &s->slice.from);
    if (!status) status = find_cut(s, number + 1, count, &s->slice.to);
    return status ? status : look(s);
}

bb_status bb_slice_look(const char *path, const bb_read_options *o, size_t number,
                        size_t count, bb_slice *out) {
    scan s = {.path = path, .file = -1};
    bb_format format = BB_FORMAT_AUTO;
    struct stat about;
    bb_status status = stat(path, &about) ? failed(path) : BB_OK;
    if (!status && !S_ISREG(about.st_mode)) { /* what is read of a pipe is gone */
        *out = (bb_slice){.whole = true};
        return BB_OK;
    }
    if (!status) status = bb_read_format(path, o, &format);
    if (!status) status = bb_csv_separator(o->separator, &s.separator);
    if (!status) status = bb_allocate(&s.block, BLOCK, 1, "a file's part");
    s.slice.whole = format != BB_FORMAT_CSV;
    if (!status && !s.slice.whole) {
        s.file = open(path, O_RDONLY | O_CLOEXEC);
        status = s.file < 0 ? failed(path) : look_at(&s, number, count);
    }
    if (s.file >= 0) close(s.file);
    free(s.block);
    if (!status) *out = s.slice;
    return status;
}

bb_status bb_slices_join(const char *path, size_t count, bb_slice *slice) {
    bool whole = false, same = true;
    size_t line = 1;
    for (size_t k = 0; k < count; k++) {
        whole = whole || slice[k].whole;
        same = same && slice[k].size == slice[0].size &&
               (!k || slice[k].whole || slice[k].from == slice[k - 1].to);
        slice[k].line = line;
        line += slice[k].lines;
    }
    for (size_t k = 0; k < count; k++) slice[k].whole = whole;
    if (same || whole) return BB_OK;
    return bb_fail(BB_EDATA, "%s: is not the same file on all ranks", path);
}
