/* roster.h - what the places of a run have agreed on beforehand, where each has only its
 * own tasks' rows: everything that one process finds by looking at all of them. Public. */
#ifndef BB_TRAIN_ROSTER_H
#define BB_TRAIN_ROSTER_H

#include "base/hash.h"
#include "core/wire.h"
#include "data/dataset.h"

#include <jansson.h>

typedef struct bb_roster {
    size_t tasks;
    char **task_name; /* tasks: in the order that data sets have, so that task i has the
                          same number as where all rows are together; one block */
    uint32_t *cluster; /* tasks: their groups, from 0; NULL: there are none */
    size_t features;
    char **feature_name; /* features, as the rows have them before they are prepared */
    uint32_t silos, fewest; /* silos of the run; how many every round needs, 0: all */
    const char *const *silo_name; /* for messages; NULL: they have numbers. Borrowed */
    char *target; /* its name at all places, set by hand; NULL: as each calls it */
    const bb_identity *identity; /* this place's keys; NULL: frames are not signed */
} bb_roster;

/* In any order; `cluster` may be NULL, and `feature`, which is x1, x2, ... then. BB_EUSAGE:
 * no task, no feature, an empty name, or one that is there twice. */
BB_MUST_CHECK bb_status bb_roster_open(bb_roster *out, size_t tasks,
                                       const char *const *task, const uint32_t *cluster,
                                       size_t features, const char *const *feature);
void bb_roster_close(bb_roster *roster); /* takes a zeroed one, too */

/* id (data->tasks, to be freed with free) <- the tasks' numbers, ascending. BB_EDATA
 * names a task that is not one of the run's. */
BB_MUST_CHECK bb_status bb_roster_numbers(const bb_roster *roster,
                                          const bb_dataset *data, size_t **id);
/* Makes rows have the roster's features in its order: BB_EDATA, with the place. */
BB_MUST_CHECK bb_status bb_roster_fit(const bb_roster *roster, bb_dataset *data);
/* Whether the groups that rows tell are those of the roster: BB_EDATA names a task. */
BB_MUST_CHECK bb_status bb_roster_check_clusters(const bb_roster *roster,
                                                 const bb_dataset *data,
                                                 const uint32_t *cluster);
/* SHA-256 of the names, and of how rows are prepared (`how`, whose keys are sorted). */
BB_MUST_CHECK bb_status bb_roster_digest(const bb_roster *roster, const json_t *how,
                                         uint8_t digest[BB_HASH_BYTES]);

#endif
