/* rundir.h - a run directory: everything a run leaves behind, complete or not there.
 *
 *   RUN/public/    what epsilon covers: the billboard, the privacy statement, options
 *   RUN/operator/  metrics, models, hashes: for the one operator who holds all data
 *
 * It is built in a temporary sibling and renamed into place (docs/run-directory.md). */
#ifndef BB_TRAIN_RUNDIR_H
#define BB_TRAIN_RUNDIR_H

#include "base/lock.h"
#include "core/method.h"
#include "train/release_log.h"

#include <jansson.h>

#include <stdbool.h>
#include <stdio.h>

/* Of the public half: the model that all share, if there is one. */
#define BB_SHARED_FILE "shared.csv"

typedef struct bb_rundir {
    char *path;
    char *temporary; /* NULL: nothing is begun, or it is in place */
    bb_lock lock;    /* RUN.lock, until the end */
    bool replaces;
    FILE *billboard; /* open while releases come in; without a path, in memory: */
    char *bytes;
    size_t size; /* of those, as of the last release */
    json_t *releases;
    const char *note;    /* for the billboard's index; borrowed, may be NULL */
    size_t numbers;      /* in the billboard's file so far */
    bb_release_log *log; /* borrowed: where releases go for now, in place of it; NULL */
} bb_rundir;

/* Whether a run may be written to `path`: BB_EUSAGE if something is there, unless it is
 * a run directory and `force`. Creates nothing. */
BB_MUST_CHECK bb_status bb_rundir_check(const char *path, bool force);

/* A billboard in memory, and no directory: dir->path is NULL. It must not be moved. */
BB_MUST_CHECK bb_status bb_rundir_keep(bb_rundir *dir);
/* Writes what `from` keeps in memory to the billboard of a directory that was begun. */
BB_MUST_CHECK bb_status bb_rundir_copy(bb_rundir *dir, const bb_rundir *from);
/* Reserves RUN for this process and begins it with empty public/ and operator/, and
 * public/billboard.bin open. BB_EUSAGE as bb_rundir_check, and if another process has
 * reserved it. */
BB_MUST_CHECK bb_status bb_rundir_begin(bb_rundir *dir, const char *path, bool force);
/* The same, where a process that died had begun it: in place of what it left there. */
BB_MUST_CHECK bb_status bb_rundir_begin_again(bb_rundir *dir, const char *path,
                                              bool force, const char *temporary);
/* Takes room on the disk for so many bytes of files to come, as a file that
 * bb_rundir_give_room removes. BB_EIO if it is not there. */
BB_MUST_CHECK bb_status bb_rundir_take_room(const bb_rundir *dir, size_t bytes);
/* Does nothing where none was taken. */
BB_MUST_CHECK bb_status bb_rundir_give_room(const bb_rundir *dir);
/* Releases go to a log, which holds all so far, until bb_rundir_replay brings them. */
void bb_rundir_set_log(bb_rundir *dir, bb_release_log *log);
BB_MUST_CHECK bb_status bb_rundir_replay(bb_rundir *dir);
/* Appends a release to the billboard; has the shape of bb_observer.published. */
BB_MUST_CHECK bb_status bb_rundir_release(void *dir, const bb_release *release,
                                          size_t tasks);
/* The name of a file inside the directory that is being built ("public/x.json"), to be
 * freed with free(); after the commit, of the one in place. */
BB_MUST_CHECK bb_status bb_rundir_name(const bb_rundir *dir, const char *inside,
                                       char **name);
/* Writes a file inside; the JSON is released, NULL is BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_rundir_json(const bb_rundir *dir, const char *inside,
                                       json_t *json);
BB_MUST_CHECK bb_status bb_rundir_text(const bb_rundir *dir, const char *inside,
                                       const char *text);
/* Closes the billboard, writes its index, and puts the directory in place. BB_EIO
 * leaves RUN as it was, unless only making its folder durable failed. */
BB_MUST_CHECK bb_status bb_rundir_commit(bb_rundir *dir);
/* Removes what was begun and not committed, gives the place up, and frees; takes a
 * zeroed directory. */
void bb_rundir_close(bb_rundir *dir);

/* Reads RUN/inside; BB_EDATA if RUN is no run directory. */
BB_MUST_CHECK bb_status bb_rundir_read(const char *path, const char *inside,
                                       json_t **out);

#endif
