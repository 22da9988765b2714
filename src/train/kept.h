/* kept.h - inside the room: a run that survives its process (docs/checkpoint.md).
 *
 * FILE            where it stands: core/checkpoint.h, whole or not at all
 * FILE.billboard  what it has released so far, shown to nobody before the run has ended
 * FILE.lock       one process at a time goes on with it
 *
 * FILE is there before anything is charged, with a token under which the ledger charges
 * the run once. All are PRIVATE, and removed when the run has ended well. */
#ifndef BB_TRAIN_KEPT_H
#define BB_TRAIN_KEPT_H

#include "base/lock.h"
#include "core/checkpoint.h"
#include "core/run.h"
#include "train/population.h"
#include "train/rundir.h"
#include "train/train.h"

enum { BB_KEPT_TOKEN = 33 }; /* 32 hexadecimal digits and a zero */

typedef struct bb_kept {
    const char *path; /* of FILE, borrowed; NULL: the run is not kept */
    bb_lock lock;
    bb_release_log log;
    char token[BB_KEPT_TOKEN];
    json_t
        *about; /* what a file says of its run, but for how many releases there are */
    bb_rundir *dir; /* borrowed: whose releases they are */
    bb_keeper keeper;
    double every, saved_at, copied_at; /* seconds */
    uint64_t bytes_then,
        numbers_then; /* of the releases, at the moment that is saved */
    bb_hash hash_then;
    bb_checkpoint_copy
        copy;       /* that is not stored yet, of a run with files of its own */
    double copying; /* seconds that the last copy took */
    bb_map map; /* of the file that the run goes on from, until the next is stored */
    bool resumed, copies_begun;
    bool begun; /* the file says more than how the run began */
} bb_kept;

/* A name that no other run has. BB_EIO: the system gives no random bits. */
BB_MUST_CHECK bb_status bb_kept_draw_token(char token[BB_KEPT_TOKEN]);

/* What FILE says of its run, to be released with json_decref: "options" as bb_train_json
 * has them, and "data", the name of its file or null. BB_EIO; BB_EDATA: it is no checkpoint
 * or damaged; BB_EUSAGE: another version's. */
BB_MUST_CHECK bb_status bb_kept_about(const char *path, json_t **about);

/* Whether a run may be kept as the request says, before its data are read: BB_EUSAGE for
 * a new one without a file of its own. */
BB_MUST_CHECK bb_status bb_kept_check(const bb_train_request *request);
/* Where the run's directory was built that goes on; NULL: nowhere, or it is new. */
const char *bb_kept_temporary(const bb_train_request *request);

/* Of everything that a run sees of its data: on rank 0 of all ranks' (base/ranks.h). */
BB_MUST_CHECK bb_status bb_kept_fingerprint(const bb_population *population,
                                            const bb_dealt *dealt, bb_status status,
                                            char text[BB_HASH_TEXT]);
/* Keeps a run from now on, whose directory was begun: a new one is saved as it begins, one
 * that goes on has its releases again. `data`: the name of their file, or NULL;
 * `fingerprint`: of them, on so many ranks. BB_EUSAGE: they are other data, or as many ranks
 * as before are not there, or another process has the file; nothing has changed then. */
BB_MUST_CHECK bb_status bb_kept_open(bb_kept *kept, const bb_train_request *request,
                                     const char *data,
                                     const char fingerprint[BB_HASH_TEXT], size_t ranks,
                                     bb_rundir *dir);
/* The run's charge is made once in this ledger. BB_EUSAGE: it has begun, and the ledger
 * knows of no charge; or is done. */
BB_MUST_CHECK bb_status bb_kept_charge_once(const bb_kept *kept, bb_ledger *ledger);
/* The run's releases go to its directory. */
BB_MUST_CHECK bb_status bb_kept_release(bb_kept *kept);
/* What is left of a run that has failed: "nothing was written", or where it can be gone on
 * from; returns which. */
bool bb_kept_says(const bb_kept *kept, bool charged, char *text, size_t size);
/* The run has ended well, and its directory is in place. */
void bb_kept_remove(bb_kept *kept);
/* Frees; what was saved stays, unless it is no more than that a run began which was not
 * charged. */
void bb_kept_close(bb_kept *kept, bool charged);

#endif
