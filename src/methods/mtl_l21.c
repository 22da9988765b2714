/* mtl-l21 - group sparsity: models use the same few features.
 * docs/methods/mtl-l21.md */
#include "methods/mtl.h"
#include "methods/registry.h"

static const bb_option table[] = {
    BB_MTL_ROWS("sum over the features of the norms of their weights")};

const bb_method bb_method_mtl_l21 = {
    .name = "mtl-l21",
    .summary = "non-private: models with few shared features, to a certified optimum",
    .variant = BB_MTL_L21,
    .options = {table, sizeof table / sizeof *table},
    BB_MTL_METHOD,
};
