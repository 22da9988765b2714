/* file.h - files and run directories that exist whole or not at all.
 *
 * A file is written to a temporary sibling, made durable and renamed into place. A run
 * directory is built as RUN.tmp-xxxxxxxx beside RUN, filled by whatever means, and
 * renamed to RUN when it is complete; a failure or an interrupt removes it. */
#ifndef BB_BASE_FILE_H
#define BB_BASE_FILE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "folder/name" as a new string, to be freed with free(). */
BB_MUST_CHECK bb_status bb_file_join(char **out, const char *folder, const char *name);

/* Are they one plain file, under whatever names and links? False if one is not there. */
bool bb_file_same(const char *a, const char *b);

/* Writes size bytes to `path`, durably, whole or not at all; replaces a file there, or
 * the one that a link there leads to. A pipe, terminal or device is written to, and
 * stays. A new file's permissions are the user's umask's. BB_EIO leaves `path` as it
 * was, unless only making its folder durable failed. BB_EUSAGE: "-", which elsewhere is
 * standard output. */
BB_MUST_CHECK bb_status bb_file_write(const char *path, const void *bytes, size_t size);

typedef struct bb_piece {
    const void *at;
    size_t size;
} bb_piece;
/* Writes pieces behind each other, durably, whole or not at all, to a file that only its
 * owner may read and write (mode 0600); what is at `path`, a link too, is replaced. It is
 * at `path`.new first, of which a failure leaves nothing, and a process that is killed no
 * more than the next one replaces: for one process at a time. BB_EIO leaves `path` as it
 * was, unless only making its folder durable failed. */
BB_MUST_CHECK bb_status bb_file_write_private(const char *path, const bb_piece *piece,
                                              size_t pieces);

/* The same in parts: what is written to the descriptor, at `path`.new; then the end, of
 * which a status that is not BB_OK makes nothing. */
typedef struct bb_file_private {
    int descriptor; /* to be read and written */
    char *name;     /* NULL: it has not begun, or has ended */
} bb_file_private;
BB_MUST_CHECK bb_status bb_file_private_begin(bb_file_private *file, const char *path);
BB_MUST_CHECK bb_status bb_file_private_write(const bb_file_private *file,
                                              const char *path, bb_piece piece);
BB_MUST_CHECK bb_status bb_file_private_end(bb_file_private *file, const char *path,
                                            bb_status status);

/* A file that is written piece by piece to a temporary sibling of `path`. */
typedef struct bb_file_new {
    int descriptor; /* to be read and written */
    char *name;
    char *target; /* what `path` leads to */
} bb_file_new;
BB_MUST_CHECK bb_status bb_file_begin(bb_file_new *file, const char *path);
/* Makes it durable and renames it to `path`, replacing what is there, or, after a failure,
 * removes it. The status is that failure, or BB_EIO. */
BB_MUST_CHECK bb_status bb_file_end(bb_file_new *file, const char *path,
                                    bb_status status);

/* Whether a file may be made at `path`, whose folder is looked at: BB_EIO says why not. */
BB_MUST_CHECK bb_status bb_file_check_folder(const char *path);

/* All bytes of a plain file, to be freed with free(). BB_EIO; BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_file_read(const char *path, uint8_t **bytes, size_t *size);

/* Makes what is in a directory (its names, not the files' contents) durable. */
BB_MUST_CHECK bb_status bb_file_sync_directory(const char *path);

/* Creates an empty temporary sibling of `path`; *temporary is its name, to be freed
 * with free(). BB_EUSAGE if something is at `path` already. */
BB_MUST_CHECK bb_status bb_directory_begin(char **temporary, const char *path);

/* The same under the name of one that was begun before, which is emptied if it is still
 * there. BB_EUSAGE: no such name. */
BB_MUST_CHECK bb_status bb_directory_again(char **temporary, const char *name);

/* Makes everything below the temporary directory durable and renames it to `path`. On
 * failure the temporary directory stays, for the caller to discard. */
BB_MUST_CHECK bb_status bb_directory_commit(const char *temporary, const char *path);

/* Removes a temporary directory and everything below it, following no links. Refuses
 * any name that bb_directory_begin could not have made. */
BB_MUST_CHECK bb_status bb_directory_discard(const char *temporary);

#endif
