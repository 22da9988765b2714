/* silo.h - a place of a run that has the rows of some of its tasks, and no others. */
#ifndef BB_TRAIN_SILO_H
#define BB_TRAIN_SILO_H

#include "core/silo.h"
#include "train/roster.h"
#include "train/train.h"

typedef struct bb_train_silo bb_train_silo;

/* Reads and prepares its rows. The request is that of all places of the run, but for where
 * and how rows are read; a ledger that it names is this silo's own, in place of the
 * policy's. One that its option checkpoint keeps already goes on from there. Request,
 * roster and watch are borrowed until bb_train_silo_close. BB_EUSAGE, BB_EDATA:
 * bb_place_open, bb_place_kept_open, bb_silo_open, a task that the roster does not name. */
BB_MUST_CHECK bb_status bb_train_silo_open(bb_train_silo **out,
                                           const bb_train_request *request,
                                           const bb_roster *roster, uint32_t number,
                                           const bb_source *data,
                                           const bb_silo_policy *policy,
                                           const bb_watch *watch);
/* bb_silo_check_policy, before any row is read: BB_EUSAGE, with a frame in `refusal` (else
 * empty) that tells the curator so. Errors of bb_place_open and bb_place_kept_check. */
BB_MUST_CHECK bb_status bb_train_silo_check(const bb_train_request *request,
                                            const bb_roster *roster, uint32_t number,
                                            const bb_silo_policy *policy,
                                            const bb_watch *watch, bb_writer *refusal);
/* For its operator, before it takes part: all that both look at, and what the run would ask for
 * (billboard_experimental_silo_look). Writes nothing. Makes the plan. */
BB_MUST_CHECK bb_status bb_train_silo_look(const bb_train_request *request,
                                           const bb_roster *roster, uint32_t number,
                                           const bb_source *data,
                                           const bb_silo_policy *policy,
                                           const bb_watch *watch, json_t **about);
void bb_train_silo_close(bb_train_silo *silo); /* NULL is allowed */
/* What takes and gives frames. */
bb_silo *bb_train_silo_core(bb_train_silo *silo);
/* Writes the file of the option checkpoint: before the frame leaves that bb_silo_give has.
 * BB_EUSAGE: there is no such option; BB_EIO. */
BB_MUST_CHECK bb_status bb_train_silo_keep(bb_train_silo *silo);
/* Removes it: what came of the run is stored. */
void bb_train_silo_forget(bb_train_silo *silo);
/* After BB_SILO_DONE, once: its tasks' models and what it knows of the run, without a
 * billboard. The request is borrowed until bb_training_close. */
BB_MUST_CHECK bb_status bb_train_silo_result(bb_train_silo *silo, bb_training **out);

#endif
