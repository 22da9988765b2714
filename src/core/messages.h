/* messages.h - inside the room: what is in the frames of wire.h. */
#ifndef BB_CORE_MESSAGES_H
#define BB_CORE_MESSAGES_H

#include "core/phases.h"
#include "core/tally.h"
#include "core/wire.h"

/* The offer. Its terms are all that is public about a run beforehand: two places that
 * mean the same run write the same bytes. */
void bb_put_terms(bb_writer *writer, const bb_phases *phases);
/* Behind them the plan, which is the curator's: computed once, taken by silos as it is. */
void bb_put_plan(bb_writer *writer, const bb_phases *phases);
/* Fills the plan, its parts and budgets. BB_EDATA: it does not fit the phases. */
BB_MUST_CHECK bb_status bb_get_plan(bb_reader *reader, bb_phases *phases);

/* Whether what comes next are the terms of this very run. */
BB_MUST_CHECK bb_status bb_get_terms(bb_reader *reader, const bb_phases *phases,
                                     bool *same);

/* The plan with everything that its curator knows of it, which no offer tells: for a
 * curator that goes on. BB_EDATA: it is another run's, or none. */
void bb_put_priced(bb_writer *writer, const bb_plan *plan, bb_bytes offer);
BB_MUST_CHECK bb_status bb_get_priced(bb_reader *reader, bb_phases *phases);

/* A round's question. BB_EDATA: no layout that the plan has room for, or a clip or grid
 * that no door chooses. */
void bb_put_ask(bb_writer *writer, const bb_ask *ask);
BB_MUST_CHECK bb_status bb_get_ask(bb_reader *reader, const bb_phases *phases,
                                   bb_ask *ask);

/* A billboard: its numbers, how many releases made it, whether it is the last. */
void bb_put_board(bb_writer *writer, const bb_billboard *board);
/* `at`: where its numbers go, `length` of them. */
BB_MUST_CHECK bb_status bb_get_board(bb_reader *reader, bb_billboard *board, double *at,
                                     size_t length);

/* Part of the sum over all tasks, as 8-byte numbers (integers or doubles): of slots those
 * of `own` tasks with these numbers, ascending; of other blocks everything, or only what
 * is not zero where that is shorter. */
void bb_put_sums(bb_writer *writer, const bb_layout *layout, size_t tasks, size_t own,
                 const size_t *id, const void *sum);
/* Bytes that it can have at most with this layout. */
size_t bb_sums_bytes(const bb_layout *layout, size_t tasks, size_t own);
/* So many of them with any layout that the plan covers; 0 for several with slots, of
 * which each has its own tasks' only. */
size_t bb_sums_room(const bb_plan *plan, size_t count);
/* Calls `run` for every stretch of n numbers of block `b` that is there, which belong at
 * `at` of the sum. */
typedef void bb_sums_run(void *context, size_t b, size_t at, size_t n,
                         const uint8_t *words);
void bb_get_sums(bb_reader *reader, const bb_layout *layout, size_t tasks, size_t own,
                 const size_t *id, bb_sums_run *run, void *context);

#endif
