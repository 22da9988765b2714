/* curator.h - the place of a run that has no rows: the door, the ledger, the billboard. */
#ifndef BB_TRAIN_CURATOR_H
#define BB_TRAIN_CURATOR_H

#include "core/curator.h"
#include "train/roster.h"
#include "train/train.h"

typedef struct bb_train_curator bb_train_curator;

/* Makes the plan, or goes on: from what bb_train_curator_save made (`saved`; may be NULL),
 * or from the file of the option checkpoint, if it is there. The request is that of all
 * places, borrowed until bb_train_curator_close; a ledger that it names is charged.
 * BB_EUSAGE: bb_place_open, bb_curator_open; BB_EDATA: bytes of another run. */
BB_MUST_CHECK bb_status bb_train_curator_open(bb_train_curator **out,
                                              const bb_train_request *request,
                                              const bb_roster *roster,
                                              const bb_watch *watch,
                                              const bb_bytes *saved);
void bb_train_curator_close(bb_train_curator *curator); /* NULL is allowed */
/* What takes and gives frames. */
bb_curator *bb_train_curator_core(bb_train_curator *curator);
/* bb_curator_close_round, and keeps what is published. */
BB_MUST_CHECK bb_status bb_train_curator_close_round(bb_train_curator *curator);
/* Appends public bytes: bb_curator_save, and everything published so far. */
BB_MUST_CHECK bb_status bb_train_curator_save(const bb_train_curator *curator,
                                              bb_writer *bytes);
/* Writes the file of the option checkpoint: before anybody learns of a round that was
 * published. BB_EUSAGE: there is no such option; BB_EIO. */
BB_MUST_CHECK bb_status bb_train_curator_keep(bb_train_curator *curator);
/* Removes it: what came of the run is stored. */
void bb_train_curator_forget(bb_train_curator *curator);
/* What may be shown of a run that goes on, all of it public: state, silos, rounds, what is
 * charged (billboard.h). *json is the caller's. */
BB_MUST_CHECK bb_status bb_train_curator_progress(const bb_train_curator *curator,
                                                  json_t **json);
/* After BB_CURATOR_DONE, once: everything public, and no task's model. The request is
 * borrowed until bb_training_close. */
BB_MUST_CHECK bb_status bb_train_curator_result(bb_train_curator *curator,
                                                bb_training **out);

#endif
