/* mp-groupsparse - algorithm 3 of Liang et al. (2020): private
 * group-sparse regularisation. Of the sum of outer products only the diagonal is read,
 * so only the diagonal is released. docs/methods/mp-groupsparse.md */
#include "methods/mp_family.h"
#include "methods/registry.h"

static const bb_option table[] = {BB_MP_PROXIMAL_ROWS, BB_MP_START_ROWS,
                                  BB_MP_KEEP_ROW};

const bb_method bb_method_mp_groupsparse = {
    .name = "mp-groupsparse",
    .summary = "published: group-sparse norm through noisy sums of models (Liang et "
               "al. 2020, algorithm 3)",
    .variant = BB_MP_GROUP_SPARSE,
    .options = {table, sizeof table / sizeof *table},
    BB_MP_PROXIMAL_METHOD,
};
