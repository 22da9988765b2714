#include "data/text.h"

#include "base/memory.h"
#include "data/scan.h"

#include <zlib.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 18 };

static bb_status open_stream(bb_text *text, const char *path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return bb_fail(BB_EIO, "%s: %s", path, strerror(errno));
    struct stat about = {0};
    if (fstat(file, &about) || S_ISDIR(about.st_mode)) {
        const int error = S_ISDIR(about.st_mode) ? EISDIR : errno;
        close(file);
        return bb_fail(BB_EIO, "%s: %s", path, strerror(error));
    }
    gzFile stream = gzdopen(file, "rb");
    if (!stream) {
        close(file);
        return bb_fail(BB_ENOMEM, "no memory to read %s", path);
    }
    gzbuffer(stream, CHUNK / 2);
    text->stream = stream;
    text->file = S_ISREG(about.st_mode) ? file : -1;
    return BB_OK;
}

bb_status bb_text_open(bb_text *text, const char *path) {
    *text = (bb_text){.path = path, .line = 1, .capacity = CHUNK, .left = SIZE_MAX};
    bb_status status = open_stream(text, path);
    if (!status)
        status =
            bb_allocate(&text->buffer, CHUNK + BB_SCAN_BEHIND, 1, "reading a file");
    if (!status) {
        text->at = text->end = text->buffer;
        *text->end = '\0';
        status = bb_text_more(text);
    }
    if (!status && !gzdirect(text->stream)) text->file = -1;
    if (status) bb_text_close(text);
    return status;
}

/* Keeps the unread bytes at the front of a buffer of this size. */
static bb_status move_up(bb_text *text, size_t capacity) {
    const size_t kept = (size_t)(text->end - text->at);
    if (capacity > text->capacity) {
        char *larger;
        bb_status status =
            bb_allocate(&larger, capacity + BB_SCAN_BEHIND, 1, "reading a file");
        if (status) return status;
        memcpy(larger, text->at, kept);
        free(text->buffer);
        text->buffer = larger;
        text->capacity = capacity;
    } else {
        memmove(text->buffer, text->at, kept);
    }
    text->at = text->buffer;
    text->end = text->buffer + kept;
    *text->end = '\0';
    return BB_OK;
}

static bb_status gz_failure(const bb_text *text) {
    int code = Z_OK;
    const char *const words = gzerror(text->stream, &code);
    if (code == Z_ERRNO) return bb_fail(BB_EIO, "%s: %s", text->path, strerror(errno));
    if (code == Z_MEM_ERROR)
        return bb_fail(BB_ENOMEM, "no memory to unpack %s", text->path);
    if (code == Z_BUF_ERROR)
        return bb_fail(BB_EDATA, "%s:%zu: the gzip file is cut off", text->path,
                       text->line);
    /* zlib puts the file's name, which it does not know, in front */
    const char *const colon = strstr(words, ": ");
    return bb_fail(BB_EDATA, "%s:%zu: the gzip file is damaged (%s)", text->path,
                   text->line, colon ? colon + 2 : words);
}

/* Reads on into what room there is. */
static bb_status read_on(bb_text *text) {
    size_t room = text->capacity - (size_t)(text->end - text->buffer);
    if (room > text->left) room = text->left;
    const int got = gzread(text->stream, text->end, (unsigned)room);
    int code = Z_OK;
    if (got <= 0) gzerror(text->stream, &code);
    if (got < 0 || code != Z_OK) return gz_failure(text);
    if (text->left != SIZE_MAX) text->left -= (size_t)got;
    text->ended = got == 0;
    text->end += got;
    *text->end = '\0';
    return BB_OK;
}

bb_status bb_text_endless(const bb_text *text) {
    return bb_fail(BB_EDATA, "%s:%zu: more than %d bytes without an end of the cell",
                   text->path, text->line, BB_TEXT_TOKEN);
}

bb_status bb_text_more(bb_text *text) {
    const size_t kept = (size_t)(text->end - text->at);
    if (text->ended) return BB_OK;
    if (kept > BB_TEXT_TOKEN) return bb_text_endless(text);
    const size_t enough = text->capacity / 2;
    const bb_status status = move_up(text, kept > enough ? 4 * enough : 0);
    return status ? status : read_on(text);
}

bb_status bb_text_fill(bb_text *text, size_t wanted) {
    bb_status status = move_up(text, wanted);
    while (!status && !text->ended && (size_t)(text->end - text->at) < wanted)
        status = read_on(text);
    return status;
}

/* The byte of the file at which the unread ones begin. */
static size_t place(const bb_text *text) {
    return (size_t)gztell(text->stream) - (size_t)(text->end - text->at);
}

bb_status bb_text_go(bb_text *text, size_t from, size_t line) {
    if (text->left != SIZE_MAX) text->left -= from - (size_t)gztell(text->stream);
    if (gzseek(text->stream, (z_off_t)from, SEEK_SET) < 0) return gz_failure(text);
    text->at = text->end = text->buffer;
    *text->end = '\0';
    text->ended = false;
    text->line = line;
    return BB_OK;
}

int bb_text_plain(const bb_text *text, size_t *from, size_t *to) {
    *from = place(text);
    *to = text->left == SIZE_MAX ? SIZE_MAX : (size_t)gztell(text->stream) + text->left;
    return text->file;
}

bb_status bb_text_part(bb_text *text, size_t from, size_t to, size_t line,
                       bool *first) {
    size_t here = place(text);
    *first = from <= here;
    if (!*first) {
        const bb_status status = bb_text_go(text, from, line);
        if (status) return status;
        here = from;
    }
    const size_t wanted = to > here ? to - here : 0;
    const size_t there = (size_t)(text->end - text->at);
    if (wanted < there) {
        text->end = text->at + wanted;
        text->file = -1; /* all is read, and more */
    }
    text->left = wanted < there ? 0 : wanted - there;
    *text->end = '\0';
    return BB_OK;
}

void bb_text_close(bb_text *text) {
    if (text->stream) gzclose_r(text->stream);
    free(text->buffer);
    *text = (bb_text){0};
}
