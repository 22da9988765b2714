/* door.h - the real door (core/door.h) opened by hand: one plan, any number of runs.
 */
#ifndef BB_AUDIT_DOOR_H
#define BB_AUDIT_DOOR_H

#include "core/door.h"

typedef struct bb_audit_door {
    bb_method method;
    bb_engine engine;
    bb_run run;
    bb_layout layout; /* of every round */
    bb_plan plan;     /* priced; a test may spoil it before the first run */
    bb_arena arena;
    bb_door door; /* while a run is open */
    bb_tally tally;
    double *shown; /* what one task shows, copied */
} bb_audit_door;

/* What is known about the door's runs: pub->rounds rounds of equal weight with this
 * layout, priced by the mechanism at pub->epsilon and pub->delta. Selections share
 * epsilon equally. The door is closed by bb_audit_door_close, also after a failure. It
 * must not be moved. */
BB_MUST_CHECK bb_status bb_audit_door_open(bb_audit_door *door,
                                           const bb_mechanism *mechanism,
                                           const bb_public *pub,
                                           const bb_layout *layout);
void bb_audit_door_close(bb_audit_door *door);

/* Begins a run whose noise comes from `seed`, ending the one before. */
BB_MUST_CHECK bb_status bb_audit_door_start(bb_audit_door *door, uint64_t seed);
/* Opens the next round. */
BB_MUST_CHECK bb_status bb_audit_door_ask(bb_audit_door *door);
/* Adds one task's contribution; block[b] stays as it is. */
void bb_audit_door_show(bb_audit_door *door, size_t task, const double *const *block);
BB_MUST_CHECK bb_status bb_audit_door_publish(bb_audit_door *door, bb_release *release);

#endif
