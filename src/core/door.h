/* door.h - the door: the only place where something private becomes public.
 *
 * A contribution is clipped, rounded toward zero to a fixed-point grid, checked once
 * more in integers, and added to an integer sum; exactly sampled rounded Gaussian noise
 * is added to the sum on the same grid. Integer sums do not depend on the order of
 * addition, so any number of threads publishes the same bytes. Mechanisms off the grid
 * (none, and those that only reproduce a paper) use floating-point sums over fixed
 * chunks of tasks in fixed order, with the same effect. */
#ifndef BB_CORE_DOOR_H
#define BB_CORE_DOOR_H

#include "base/hash.h"
#include "base/memory.h"
#include "core/run.h"
#include "core/sum.h"

typedef struct bb_door {
    const bb_public *pub;
    const bb_mechanism *mechanism;
    const bb_plan *plan;
    bool seeded;
    uint64_t seed;
    size_t sums;
    bb_sum *sum;
    bb_layout layout;           /* of the round that is open */
    uint32_t round;             /* the last one opened, 1, 2, ...; 0 before the first */
    bool asked;                 /* it is open, and not published yet */
    int bits[BB_MOST_BLOCKS];   /* grid: one step is clip * 2^-bits */
    double std[BB_MOST_BLOCKS]; /* grid: noise standard deviation in steps of the sum */
    double scale;               /* of radial noise, in steps; lifted rounds only */
    double *value;              /* plan->sum_length: what is published */
    double least_noise;         /* smallest noise multiplier so far */
    bb_random random;
    bool random_open;
    bb_hash hash;
} bb_door;

/* Number of accumulators that a run with this mechanism needs: workers on the grid,
 * fixed chunks of tasks off it. */
size_t bb_door_sums(const bb_mechanism *mechanism, size_t workers, size_t tasks,
                    size_t sum_length);
/* Chunks that the tasks are dealt in, always the same for the same public sizes. */
size_t bb_door_chunks(size_t tasks, size_t sum_length);

/* Adds to `arena` what bb_door_open takes from it. */
void bb_door_need(const bb_run *run, const bb_plan *plan, bb_arena *arena);
/* Reserves the whole plan in run->ledger, if there is one, before anything else:
 * BB_EBUDGET leaves everything untouched. */
BB_MUST_CHECK bb_status bb_door_open(bb_door *door, const bb_run *run,
                                     const bb_plan *plan, bb_arena *arena);
void bb_door_close(bb_door *door);

/* Opens the next round with these blocks; BB_EBUDGET if the plan does not cover them.
 */
BB_MUST_CHECK bb_status bb_door_ask(bb_door *door, const bb_layout *layout);
/* Adds one task's contribution (block[b] as method->show wrote it; destroyed); `local`
 * says where the numbers of a model of its own length belong (NULL: nothing has one). A
 * value that is not finite makes the whole block zero: refusing it would itself reveal
 * something. Concurrent calls need different sums. */
void bb_door_add(bb_door *door, size_t sum, size_t task, const bb_local *local,
                 double *const *block);
/* Leaves out the rounds before `round` (0 is the first): what was planned for them is
 * not used. */
void bb_door_skip_to(bb_door *door, uint32_t round);
/* Charges the round, adds noise, publishes: *release is valid until the next round. A
 * round is published once: BB_EBUDGET without a bb_door_ask before. BB_EIO if the
 * generator failed: then the noise is not what was paid for, and *release no release. */
BB_MUST_CHECK bb_status bb_door_publish(bb_door *door, bb_release *release);
/* SHA-256 of all releases so far, as 64 hexadecimal digits. */
BB_MUST_CHECK bb_status bb_door_hash(bb_door *door, char hex[BB_HASH_TEXT]);

#endif
