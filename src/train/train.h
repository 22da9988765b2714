/* train.h - a whole training run: read, prepare, train, evaluate, write. */
#ifndef BB_TRAIN_TRAIN_H
#define BB_TRAIN_TRAIN_H

#include "train/report.h"

#include <signal.h>

/* What a run tells those who wait for it; every member may be NULL. */
typedef struct bb_watch {
    void *self;
    void (*say)(void *self, const char *what); /* what it is doing now */
    void (*progress)(void *self, uint32_t round, uint32_t rounds);
    void (*at_home)(void *self, const char *method, uint32_t done, uint32_t tasks);
    void (*warn)(void *self, const char *text);
    const volatile sig_atomic_t *stop; /* non-zero: end with BB_EINTERRUPTED */
} bb_watch;

/* Trains on the data at `path` as the request says, writes the run directory that it
 * names, and fills *report, which borrows from the request. The directory is reserved,
 * then the ledger is charged. On failure nothing is written, and *report is untouched;
 * BB_EBUDGET: nothing was published either. After the charge nothing about data is a
 * failure: figures or baselines that fail are missing in the report, with a warning.
 * Baselines are made when the directory is in place; a stop ends them and no more.
 * Privacy cost: that of the plan, reserved in the ledger before the first release. */
BB_MUST_CHECK bb_status bb_train_run(const bb_train_request *request, const char *path,
                                     const bb_watch *watch, bb_report *report);

#endif
