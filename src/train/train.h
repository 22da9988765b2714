/* train.h - a whole training run: read, prepare, train, evaluate, write. */
#ifndef BB_TRAIN_TRAIN_H
#define BB_TRAIN_TRAIN_H

#include "base/ranks.h"
#include "train/report.h"
#include "train/source.h"
#include "train/trained.h"

#include <stdatomic.h>

/* What a run tells those who wait for it; every member may be NULL. */
typedef struct bb_watch {
    void *self;
    void (*say)(void *self, const char *what); /* what it is doing now */
    void (*progress)(void *self, uint32_t round, uint32_t rounds);
    void (*at_home)(void *self, const char *method, uint32_t done, uint32_t tasks);
    void (*warn)(void *self, const char *text);
    const atomic_int *stop; /* non-zero: end with BB_EINTERRUPTED */
} bb_watch;

/* A run that has ended well, without its data. */
typedef struct bb_training bb_training;

/* Trains on the data as the request says, and tests on the rows of `test` (NULL: those
 * that the request says). If the request names a run directory it is reserved, then the
 * ledger is charged, and it is written; else everything stays in memory. The request is
 * borrowed until bb_training_close, and so are the texts of the report. On failure nothing
 * is written; BB_EBUDGET: nothing was published either. After the charge nothing about
 * data is a failure: figures or baselines that fail are missing in the report, with a
 * warning. Baselines are made when the directory is in place; a stop ends them and no more.
 * Several ranks (NULL: none) call it at once with the same request: the run is that of one
 * process, to the byte, but each has the rows of its own tasks only. Rank 0 has door,
 * ledger and directory, and gets the run; the others get NULL, and must watch silently.
 * Baselines need all rows: rank 0 reads them again for those.
 * Privacy cost: that of the plan, reserved in the ledger before the first release. */
BB_MUST_CHECK bb_status bb_training_open(bb_training **out,
                                         const bb_train_request *request,
                                         const bb_source *data, const bb_source *test,
                                         const bb_watch *watch, bb_ranks *ranks);
/* Everything that data can have against such a run in memory, and no more of it: neither
 * is anything charged nor published. *tasks <- how many it has. For whoever pays for runs
 * before they are made. Errors as above. */
BB_MUST_CHECK bb_status bb_training_check(const bb_train_request *request,
                                          const bb_source *data, const bb_watch *watch,
                                          size_t *tasks);
/* The status; if it is the data's doing, the message says that nothing was charged or
 * published before. */
BB_MUST_CHECK bb_status bb_ended_by_data(bb_status status);
void bb_training_close(bb_training *training); /* NULL is allowed */
const bb_report *bb_training_report(const bb_training *training);
/* The object of operator/run.json; NULL: out of memory. */
json_t *bb_training_json(const bb_training *training);
/* Its models, as they would be read back from its directory; all is borrowed. */
bb_trained bb_training_trained(const bb_training *training);
/* Writes the run directory of a run that is in memory. Errors of bb_rundir_check and of
 * writing; BB_EUSAGE if the run has a directory. */
BB_MUST_CHECK bb_status bb_training_save(const bb_training *training, const char *path,
                                         bool force);

/* All of it, for a file, and then forgets it but for the report, which borrows from the
 * request. */
BB_MUST_CHECK bb_status bb_train_run(const bb_train_request *request, const char *path,
                                     const bb_watch *watch, bb_report *report);

#endif
