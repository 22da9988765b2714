/* phases.h - inside the room: the phases of a run, from the texts of --phase and
 * --finetune. */
#ifndef BB_TRAIN_PHASES_H
#define BB_TRAIN_PHASES_H

#include "train/options.h"

/* The method of this name; BB_EUSAGE. */
BB_MUST_CHECK bb_status bb_train_method(const char *name, const bb_method **method);
/* Its options' defaults. */
BB_MUST_CHECK bb_status bb_train_method_options(const bb_method *method,
                                                void **options);

/* Fills request->then from the options `phase` and `finetune`, and finetune with what
 * was chosen where nothing was said. Phases that share something and name no share of
 * the budget have equal parts of the rest. BB_EUSAGE with the phase. */
BB_MUST_CHECK bb_status bb_train_phases(bb_train_request *request);

#endif
