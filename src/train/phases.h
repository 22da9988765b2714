/* phases.h - inside the room: the phases of a run, from the texts of --phase and
 * --finetune. */
#ifndef BB_TRAIN_PHASES_H
#define BB_TRAIN_PHASES_H

#include "train/options.h"

/* Appends a phase of the method of this name, with its options' defaults. BB_EUSAGE. */
BB_MUST_CHECK bb_status bb_train_add_phase(bb_train_request *request, const char *name);
/* The options of a request's phase, which are its own. */
void *bb_train_phase_options(const bb_phase *phase);

/* Appends the phases after the first from the options `phase` and `finetune`, and finetune
 * with what was chosen where nothing was said, and so with `mechanism`. Phases that share
 * something and name no share of the budget have equal parts of the rest. BB_EUSAGE with
 * the phase. */
BB_MUST_CHECK bb_status bb_train_phases(bb_train_request *request);

#endif
