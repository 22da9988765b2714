/* world.h - synthetic populations for attacks: ordinary tasks, and canaries with two
 * data sets each, between which what they show differs as much as possible.
 *
 * A task's rows are u and -u in turn, |u| = 1, and their targets 1 and -1: its model is
 * u, up to its norm, which is the same for all tasks (so that a clip fits all of them).
 * A canary's two data sets are the pair that its method's sums tell apart best:
 *   random    orthogonal random u, which move sums of products by sqrt(2) times the
 *             square of the norm
 *   entries   features of their own, 2i and 2i + 1 for canary i, again from 0 if there
 *             are more canaries: for methods that show squares of entries only
 *   opposite  feature i and its opposite, with targets so large that what is shown fills
 *             any clip: for methods that show models as they are, 2 C apart
 * Ordinary tasks lie around two features. */
#ifndef BB_AUDIT_WORLD_H
#define BB_AUDIT_WORLD_H

#include "learners/local.h"

typedef enum bb_audit_pair {
    BB_AUDIT_PAIR_RANDOM,
    BB_AUDIT_PAIR_ENTRIES,
    BB_AUDIT_PAIR_OPPOSITE
} bb_audit_pair;

typedef struct bb_audit_world_options {
    size_t tasks, canaries, rows, features; /* canaries <= tasks; features >= 2 */
    bb_loss loss;
    bool intercept;     /* the models have own ones */
    bb_audit_pair pair; /* of the canaries */
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
