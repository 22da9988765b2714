/* text.h - a text file, perhaps compressed by gzip, read piece by piece. */
#ifndef BB_DATA_TEXT_H
#define BB_DATA_TEXT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { BB_TEXT_TOKEN = 1 << 20 }; /* bytes of the longest cell or token */

/* Unread bytes are at .. end-1, and *end is 0. The reader moves `at` on and counts
 * `line`. */
typedef struct bb_text {
    const char *path;
    void *stream; /* gzFile */
    int file;     /* that it reads; -1: it is not plain, or can only be read on */
    char *buffer;
    size_t capacity;
    char *at, *end;
    bool ended; /* nothing follows `end` */
    size_t line;
    size_t left; /* of a part: bytes that were not read yet; SIZE_MAX: up to the end */
} bb_text;

/* Opens a file (`path` is borrowed) and reads its first piece. */
BB_MUST_CHECK bb_status bb_text_open(bb_text *text, const char *path);
/* Reads on: the unread bytes stay (but move), new ones follow, or `ended` becomes true.
 * BB_EDATA if the gzip stream is cut off or damaged, or BB_TEXT_TOKEN bytes are unread.
 */
BB_MUST_CHECK bb_status bb_text_more(bb_text *text);
/* The same until at least `wanted` bytes are unread, or nothing follows. */
BB_MUST_CHECK bb_status bb_text_fill(bb_text *text, size_t wanted);
/* Goes on at byte `from` of the file, the first of this line, unless the reader is behind
 * it already (*first: it is, or there), and ends before byte `to`. Not for compressed
 * files. */
BB_MUST_CHECK bb_status bb_text_part(bb_text *text, size_t from, size_t to, size_t line,
                                     bool *first);
/* Of a file that is not compressed: a descriptor for pread, at which byte the unread ones
 * begin, and before which they end (SIZE_MAX: where the file does). -1: it is no such
 * file. The text is then as it was; bb_text_go moves it. */
int bb_text_plain(const bb_text *text, size_t *from, size_t *to);
/* Goes on at byte `from` of such a file, which is in this line. */
BB_MUST_CHECK bb_status bb_text_go(bb_text *text, size_t from, size_t line);
/* BB_EDATA: a cell or token is longer than BB_TEXT_TOKEN. */
BB_MUST_CHECK bb_status bb_text_endless(const bb_text *text);
/* Takes a zeroed or closed text, too. */
void bb_text_close(bb_text *text);

#endif
