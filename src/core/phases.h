/* phases.h - inside the room: the phases of a run, as both halves of the loop have them. */
#ifndef BB_CORE_PHASES_H
#define BB_CORE_PHASES_H

#include "core/run.h"

/* It points into itself: not to be moved. part[k].view is what the functions of phase k
 * see, without board and plan. */
typedef struct bb_phases {
    bb_run run; /* with its Gaussian budget; without noise everything is unlimited */
    size_t count;
    bb_public pub[BB_MOST_PHASES]; /* as each phase has it */
    bb_plan_part part[BB_MOST_PHASES];
    bool starts[BB_MOST_PHASES]; /* something is shared before it */
    bb_plan plan;
} bb_phases;

/* What each phase is, but for the plan, which is empty. `shared`: clusters x parameters,
 * where phases after the first find what those before shared. BB_EUSAGE: bb_run_check. */
BB_MUST_CHECK bb_status bb_phases_open(bb_phases *phases, const bb_run *run,
                                       const double *shared);
/* Asks the methods for their plans, and prices them. */
BB_MUST_CHECK bb_status bb_phases_plan(bb_phases *phases);
/* What a plan costs in a ledger. It borrows the plan's rounds. */
bb_ledger_charge bb_run_price(const bb_run *run, const bb_plan *plan);
/* For a plan that somebody else made. Whether it has the rounds and the room that the
 * methods ask for at their parts of the budget: BB_EDATA. */
BB_MUST_CHECK bb_status bb_phases_check(const bb_phases *phases);
/* Whether no round of it has less noise than a plan made here, with the accountant of this
 * place: BB_EDATA names the first one that has. Machines round differently: one part in a
 * million is passed over. Takes as long as making a plan. */
BB_MUST_CHECK bb_status bb_phases_check_prices(bb_phases *phases);
void bb_phases_close(bb_phases *phases);

/* The most that `length` gives for any phase. */
size_t bb_phases_most(const bb_phases *phases, size_t (*length)(const bb_view *view));
/* Doubles of the longest billboard. */
size_t bb_phases_board(const bb_phases *phases);

#endif
