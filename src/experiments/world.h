/* world.h - the synthetic population of a cell. */
#ifndef BB_EXPERIMENTS_WORLD_H
#define BB_EXPERIMENTS_WORLD_H

#include "data/worlds.h"

#include <jansson.h>

typedef struct bb_cell_world {
    bb_world_spec world; /* its name is borrowed */
    size_t test_tasks;   /* test rows of the first so many tasks only; 0: of all */
} bb_cell_world;

/* {"world", "tasks", "samples", "features", "labels", "test-tasks"}, with the defaults of
 * `billboard synth`. BB_EUSAGE: another member, no such world, a size out of range. */
BB_MUST_CHECK bb_status bb_cell_world_read(const json_t *data, uint64_t seed,
                                           bb_cell_world *world);
/* *model: the true ones, tasks x features, to be freed with free(); NULL where the world
 * has none. */
BB_MUST_CHECK bb_status bb_cell_world_draw(const bb_cell_world *world,
                                           bb_dataset *train, bb_dataset *test,
                                           double **model);

#endif
