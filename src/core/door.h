/* door.h - the door: the only place where something private becomes public.
 *
 * Contributions are clipped and added up where the tasks are (tally.h); the door adds
 * exactly sampled rounded Gaussian noise to the sum, on the same integer grid, and
 * publishes. The whole plan is charged to the ledger before a round can be asked.
 *
 * Where there are two doors (share.h) each adds as much noise as the plan asks for. In one
 * process this is both; apart, each has a part of the sum, mod 2^64, which looks uniform. */
#ifndef BB_CORE_DOOR_H
#define BB_CORE_DOOR_H

#include "base/hash.h"
#include "core/run.h"
#include "core/tally.h"

typedef struct bb_door {
    const bb_public *pub;
    const bb_mechanism *mechanism;
    const bb_plan *plan;
    bool seeded;
    uint64_t seed;
    bool charged;
    unsigned noises;            /* which it adds: 1 the first, 2 the second, 3 both */
    bb_sum total;               /* of all tasks' contributions */
    bb_ask ask;                 /* the last round that was opened */
    bool asked;                 /* it is open, and not published yet */
    double std[BB_MOST_BLOCKS]; /* grid: noise standard deviation in steps of the sum */
    double scale;               /* of radial noise, in steps; lifted rounds only */
    int64_t *drawn;             /* plan->sum_length: noise alone; NULL with one door */
    double *value;              /* plan->sum_length: what is published */
    double *exact; /* as long: before the noise; NULL in runs that are not traced */
    double noise, signal; /* of the last round, squares of bb_traced's; likewise */
    double least_noise;   /* smallest noise multiplier so far */
    bb_random random;
    bool random_open;
    bb_hash hash;
} bb_door;

/* Adds to `arena` what bb_door_open takes from it. */
void bb_door_need(const bb_run *run, const bb_plan *plan, bb_arena *arena);
BB_MUST_CHECK bb_status bb_door_open(bb_door *door, const bb_run *run,
                                     const bb_plan *plan, bb_arena *arena);
void bb_door_close(bb_door *door);
/* Reserves the whole plan in run->ledger, if there is one: BB_EBUDGET leaves everything
 * untouched. No round is opened before. */
BB_MUST_CHECK bb_status bb_door_charge(bb_door *door, const bb_run *run);

/* Opens the next round with these blocks, at sums of zero; BB_EBUDGET if the plan does
 * not cover them. door->ask is what tasks are asked for. */
BB_MUST_CHECK bb_status bb_door_ask(bb_door *door, const bb_layout *layout);
/* Adds what is in a tally whose round has ended. */
void bb_door_add(bb_door *door, const bb_tally *tally);
/* Leaves out the rounds before `round` (0 is the first): what was planned for them is
 * not used. */
void bb_door_skip_to(bb_door *door, uint32_t round);
/* Adds noise, publishes: *release is valid until the next round. A
 * round is published once: BB_EBUDGET without a bb_door_ask before. BB_EIO if the
 * generator failed: then the noise is not what was paid for, and *release no release. */
BB_MUST_CHECK bb_status bb_door_publish(bb_door *door, bb_release *release);
/* The second of two doors: adds its noise to door->total, mod 2^64, and publishes nothing.
 * Once for a round that was asked. BB_EBUDGET, BB_EIO: as above. */
BB_MUST_CHECK bb_status bb_door_hide(bb_door *door);
/* The round that is asked was published already, by a door that was kept as bytes:
 * door->value is what. Sets the release's values. */
void bb_door_restore(bb_door *door, bb_release *release);
/* SHA-256 of all releases so far, as 64 hexadecimal digits. */
void bb_door_hash(const bb_door *door, char hex[BB_HASH_TEXT]);

#endif
