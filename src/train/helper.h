/* helper.h - the place of a run that keeps the second of two doors: no rows, no sums. */
#ifndef BB_TRAIN_HELPER_H
#define BB_TRAIN_HELPER_H

#include "core/helper.h"
#include "train/roster.h"
#include "train/train.h"

typedef struct bb_train_helper bb_train_helper;

/* The request is that of all places; a ledger that it names is the helper's own, charged
 * when it joins. One that its option checkpoint keeps already goes on from there. Borrowed
 * until bb_train_helper_close. BB_EUSAGE: bb_place_open, bb_helper_open; BB_EDATA: a file
 * of another run. */
BB_MUST_CHECK bb_status bb_train_helper_open(bb_train_helper **out,
                                             const bb_train_request *request,
                                             const bb_roster *roster,
                                             const bb_watch *watch);
void bb_train_helper_close(bb_train_helper *helper); /* NULL is allowed */
/* What takes and gives frames. */
bb_helper *bb_train_helper_core(bb_train_helper *helper);
/* Writes the file of the option checkpoint: before the frame leaves that bb_helper_give has.
 * BB_EUSAGE: there is no such option; BB_EIO. */
BB_MUST_CHECK bb_status bb_train_helper_keep(bb_train_helper *helper);
/* Writes RUN/operator/record.json, and nothing else, at its end: BB_EUSAGE before, or where RUN
 * is there already; BB_EIO. */
BB_MUST_CHECK bb_status bb_train_helper_store(bb_train_helper *helper,
                                              const char *path);
/* The run is over: the ledger says so, and the file goes, with this run's key. */
void bb_train_helper_forget(bb_train_helper *helper);

#endif
