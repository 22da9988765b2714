/* groups.h - the cells of an experiment, those that differ in nothing but the seed
 * together: data x method x axes. */
#ifndef BB_EXPERIMENTS_GROUPS_H
#define BB_EXPERIMENTS_GROUPS_H

#include "base/status.h"

#include <jansson.h>

#include <stddef.h>
#include <stdint.h>

typedef struct bb_group {
    json_t *labels;     /* {"data", "method", axes in their order}: of its columns */
    json_t *data;       /* NULL: none */
    json_t *options;    /* of the runner */
    json_t *candidates; /* [{NAME: value}]: settings to choose from; NULL: none */
} bb_group;

typedef struct bb_groups {
    const char *run;
    size_t count, room;
    bb_group *group;
} bb_groups;

/* All groups, in the order in which the definition names them. BB_EUSAGE, BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_groups_open(bb_groups *groups, const json_t *definition);
void bb_groups_close(bb_groups *groups);

/* What one cell does: {"run", "data", "options", "seed"}; candidate: its place in the
 * list, if there is one; seed 0: none. NULL: out of memory. */
json_t *bb_group_cell(const bb_groups *groups, const bb_group *group, size_t candidate,
                      uint64_t seed);

#endif
