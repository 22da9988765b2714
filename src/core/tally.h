/* tally.h - the private half of the door: what tasks show is clipped, rounded toward
 * zero to a fixed-point grid, checked once more in integers, and added up.
 *
 * Integer sums do not depend on the order of addition, so any number of threads and any
 * number of places give the same bytes. Mechanisms off the grid (none, and those that
 * only reproduce a paper) use floating-point sums over fixed chunks of tasks, added in
 * fixed order, with the same effect. */
#ifndef BB_CORE_TALLY_H
#define BB_CORE_TALLY_H

#include "base/memory.h"
#include "core/mechanism.h"
#include "core/sum.h"

/* What a round asks every task for. Public. */
typedef struct bb_ask {
    uint32_t round; /* 1, 2, ... of the run; 0: none yet */
    bb_layout layout;
    int bits[BB_MOST_BLOCKS]; /* grid: one step is clip * 2^-bits */
} bb_ask;

typedef struct bb_tally {
    const bb_mechanism *mechanism;
    const bb_ask *ask; /* of the round that is open */
    size_t tasks;      /* of the whole run */
    size_t sum_length; /* room of a sum */
    size_t sums;       /* one a worker on the grid, one a chunk off it */
    size_t together;   /* of those, so many first ones become one at the end of a round:
                          all on the grid; off it at most the lead (else 1) */
    bb_sum *sum;
} bb_tally;

/* Chunks that the tasks are dealt in, always the same for the same public sizes. */
size_t bb_tally_chunks(size_t tasks, size_t sum_length);
/* The first task of a chunk, or behind the last one of the chunk before. */
size_t bb_tally_first(size_t tasks, size_t chunks, size_t chunk);

/* How many of the first chunks lie among these tasks: numbers, ascending. Their sums can
 * be added up where they are, in the order in which all are. */
size_t bb_tally_lead(size_t tasks, size_t chunks, size_t own, const size_t *id);

/* Adds to `arena` what bb_tally_open takes from it. */
void bb_tally_need(bb_arena *arena, const bb_mechanism *mechanism, const bb_plan *plan,
                   size_t sums);
void bb_tally_open(bb_tally *tally, bb_arena *arena, const bb_mechanism *mechanism,
                   const bb_plan *plan, size_t tasks, size_t sums);

/* Begins a round, which must fit the plan; `ask` is borrowed until the next one. */
void bb_tally_begin(bb_tally *tally, const bb_ask *ask);
/* Adds one task's contribution (block[b] as method->show wrote it; destroyed); `local`
 * says where the numbers of a model of its own length belong (NULL: nothing has one). A
 * value that is not finite makes the whole block zero: refusing it would itself reveal
 * something. Concurrent calls need different sums. */
void bb_tally_add(bb_tally *tally, size_t sum, size_t task, const bb_local *local,
                  double *const *block);
/* After the last one: what is together is in sum[0] then. */
void bb_tally_end(bb_tally *tally);

#endif
