/* messages.h - inside the room: what is in the frames of wire.h. */
#ifndef BB_CORE_MESSAGES_H
#define BB_CORE_MESSAGES_H

#include "core/phases.h"
#include "core/tally.h"
#include "core/wire.h"

/* The offer. Its terms are all that is public about a run beforehand: two places that
 * mean the same run write the same bytes. */
void bb_put_terms(bb_writer *writer, const bb_phases *phases);
/* Reads them; BB_EDATA names the first of them that is not that of the phases, behind
 * `what`. bb_check_kept: of an offer that was kept (bb_fail_kept); BB_EUSAGE does. */
BB_MUST_CHECK bb_status bb_check_terms(bb_reader *reader, const bb_phases *phases,
                                       const char *what);
BB_MUST_CHECK bb_status bb_check_kept(bb_reader *reader, const bb_phases *phases,
                                      const char *file);
/* Behind them who takes part, and the plan: the curator's, computed once. */
typedef struct bb_roll {
    uint32_t silos, fewest; /* of the run; that every round needs */
    uint8_t
        nonce[BB_HASH_BYTES]; /* of this run alone, so that no other one has its name */
    uint8_t
        roster[BB_HASH_BYTES]; /* of the keys of its places; zeros: they have none */
} bb_roll;
void bb_put_plan(bb_writer *writer, const bb_roll *roll, const bb_phases *phases);
/* Fills the plan, its parts and budgets. BB_EDATA: it does not fit the phases. */
BB_MUST_CHECK bb_status bb_get_plan(bb_reader *reader, bb_roll *roll,
                                    bb_phases *phases);

/* Behind the billboard of an END, and what is shared: f64 the smallest noise multiplier so
 * far, and the SHA-256 of all releases so far as hexadecimal digits. */
enum { BB_END_SUMMARY = 8 + BB_HASH_TEXT - 1 };

/* An offer that its curator kept, with its length before it: terms, roll, whose nonce is
 * taken, and plan. BB_EUSAGE: it is another run's, in this file; BB_EDATA: it is none. */
BB_MUST_CHECK bb_status bb_get_kept(bb_reader *reader, bb_roll *roll, bb_phases *phases,
                                    const char *file);

/* The head of what a curator or a silo saves: its offer is that of frames of the same
 * version. BB_EDATA: nothing that `what` saved, or in another version. */
void bb_put_saved(bb_writer *writer, uint32_t magic);
BB_MUST_CHECK bb_status bb_get_saved(bb_reader *reader, uint32_t magic,
                                     const char *what);

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
