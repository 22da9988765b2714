/* zoo_door.h - what the animals of the zoo have in common: a real door and a claim. */
#ifndef BB_TESTS_ZOO_DOOR_H
#define BB_TESTS_ZOO_DOOR_H

#include "audit/door.h"
#include "privacy/accounting/account.h"
#include "zoo.h"

#include <math.h>
#include <stdlib.h>

enum { ZOO_MOST_LENGTH = 400 };

typedef struct zoo_cage {
    bool broken;
    bb_audit_door door;
} zoo_cage;

/* A door of `tasks` tasks with `rounds` rounds of `blocks` equal vector blocks that
 * cost mu each round in its adjacency. */
typedef struct zoo_plan {
    size_t tasks, blocks, length;
    uint32_t rounds;
    bb_form form;
    bb_adjacency adjacency;
    double clip, mu, pure;
} zoo_plan;

bb_status zoo_open(bool broken, const zoo_plan *plan, void **worker);
void zoo_close(void *worker);

/* One round in which task 0 shows v in every block (NULL: nothing), `others` tasks show
 * the number w. */
bb_status zoo_round(zoo_cage *cage, const double *v, size_t others, double w,
                    bb_release *release);

/* What the best accountant says of the event at delta. */
bb_status zoo_claim_of(const bb_event *event, bb_adjacency adjacency, double delta,
                       zoo_claim *claim);

/* The animals of zoo_sampled.c. */
extern const zoo_animal zoo_fixed_as_poisson, zoo_visible_as_hidden, zoo_blocks_apart;
/* The animal of zoo_shared.c. */
extern const zoo_animal zoo_shared_model;
/* The animals of zoo_doors.c. */
extern const zoo_animal zoo_seed_again, zoo_idle_helper, zoo_asked_twice,
    zoo_counted_often, zoo_old_share, zoo_told_coins;

#endif
