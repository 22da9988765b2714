/* place.h - inside the room: what a silo and the curator of a run have in common, each of
 * which sees only a part of what train.c sees. */
#ifndef BB_TRAIN_PLACE_H
#define BB_TRAIN_PLACE_H

#include "train/experiment.h"
#include "train/roster.h"

/* Resolves the request and prepares the rows of `data` (NULL: a place without rows) as
 * the roster says, with everything public in training->e.run. Whatever a run in one
 * place finds by looking at all rows must be given: BB_EUSAGE names the option. Request,
 * roster and watch are borrowed, the watch until bb_place_end. bb_training_close also
 * after a failure. */
BB_MUST_CHECK bb_status bb_place_open(bb_training *training,
                                      const bb_train_request *request,
                                      const bb_roster *roster, const bb_source *data,
                                      const bb_watch *watch);
/* The same without the ledger, which it leaves as it is. */
BB_MUST_CHECK bb_status bb_place_prepare(bb_training *training,
                                         const bb_train_request *request,
                                         const bb_roster *roster, const bb_source *data,
                                         const bb_watch *watch);
/* Warns where a ledger is named that is not there yet, or has such a run that has not ended: a place that
 * begins anew, whose checkpoint was lost, or is another's, is charged beside it. Not for one
 * that goes on. */
BB_MUST_CHECK bb_status bb_place_warn_of_charge(const bb_experiment *e);
/* Statement, models and report from what training->e.result has; then forgets the rows
 * and the watch. In the ledger the run is done, or is so with bb_training_save if there is a
 * checkpoint, from which what cannot be stored is made again. */
BB_MUST_CHECK bb_status bb_place_end(bb_training *training);

#endif
