/* mp-lowrank - algorithm 2 of Liang et al. (2020): private trace-norm
 * regularisation through the noisy sum of the models' outer products.
 * docs/methods/mp-lowrank.md */
#include "methods/mp_family.h"
#include "methods/registry.h"

static const bb_option table[] = {BB_MP_PROXIMAL_ROWS, BB_MP_START_ROWS,
                                  BB_MP_KEEP_ROW};

const bb_method bb_method_mp_lowrank = {
    .name = "mp-lowrank",
    .summary = "published: trace norm through noisy sums of models (Liang et al. 2020, "
               "algorithm 2)",
    .variant = BB_MP_LOW_RANK,
    .options = {table, sizeof table / sizeof *table},
    BB_MP_PROXIMAL_METHOD,
};
