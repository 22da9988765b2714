/* target_parts.h - one worker's copy of the attacked door; private to target*.c. */
#ifndef BB_AUDIT_TARGET_PARTS_H
#define BB_AUDIT_TARGET_PARTS_H

#include "audit/door.h"
#include "audit/target.h"

/* The changed task, one that the adversary knows, and one that shows zeros. */
enum { AUDIT_TASKS = 3, AUDIT_CHANGED = 0, AUDIT_KNOWN = 1 };
/* The changed task takes turns: its two contributions, one after the other, in rounds of
 * even and of odd number, so that noise that returns in another round shows. */
enum { AUDIT_TURNS = 2 };

typedef struct bb_audit_state {
    const bb_audit_spec *spec;
    bb_audit_door door;
    double *shown[2][AUDIT_TURNS]; /* by the changed task, in each world */
    double *known;                 /* by the known task */
    double *mean[2][AUDIT_TURNS];  /* each world's sum without noise */
    double *before;                /* blocks x sum: the release of the round before */
    double *rest;                  /* work: a sum */
    double *work;                  /* work: a vector */
} bb_audit_state;

/* Statistics of Gaussian rounds. The last two are logarithms of how far the
 * releases are from world 1 over how far they are from world 0. */
enum { AUDIT_LIKELIHOOD, AUDIT_NORM, AUDIT_CLOSEST, AUDIT_CHANGES, AUDIT_STATISTICS };

/* BB_EUSAGE for a spec that makes no sense. */
BB_MUST_CHECK bb_status bb_audit_state_open(bb_audit_state **out,
                                            const bb_audit_spec *spec);
/* Takes NULL. */
void bb_audit_state_close(bb_audit_state *state);
/* One round of the open run, in this world; adds to the statistics, and leaves a
 * Gaussian release in `before`. */
BB_MUST_CHECK bb_status bb_audit_state_round(bb_audit_state *state, uint32_t round,
                                             int world, double *statistic);

#endif
