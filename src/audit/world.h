/* world.h - synthetic populations for attacks: ordinary tasks, and canaries with two
 * data sets each, between which what they show differs as much as possible.
 *
 * A task's rows are u and -u in turn, |u| = 1, and their targets 1 and -1: its model is
 * u, up to its norm, which is the same for all tasks (so that a clip fits all of them).
 * Of a canary's two data sets the u are orthogonal, so that sums of products move by
 * sqrt(2) times the square of the norm. They are random directions, or features of
 * their own (where only squares of entries are shown): 2i and 2i + 1 for canary i,
 * again from 0 if there are more canaries. Ordinary tasks lie around two features. */
#ifndef BB_AUDIT_WORLD_H
#define BB_AUDIT_WORLD_H

#include "learners/local.h"

typedef struct bb_audit_world_options {
    size_t tasks, canaries, rows, features; /* canaries <= tasks; features >= 2 */
    bb_loss loss;
    bool intercept; /* the models have own ones */
    bool single;    /* canaries' directions are single features */
    uint64_t seed;
} bb_audit_world_options;

typedef struct bb_audit_world {
    size_t tasks, canaries;
    double *x, *y;
    bb_local *local; /* tasks, canaries first, with their data A */
    bb_local *other; /* canaries, with their data B */
} bb_audit_world;

/* The same options give the same world. BB_EUSAGE for sizes that make no sense. */
BB_MUST_CHECK bb_status bb_audit_world_open(bb_audit_world *out,
                                            const bb_audit_world_options *options);
/* Takes a zeroed one, too. */
void bb_audit_world_close(bb_audit_world *world);

#endif
