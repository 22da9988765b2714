/* mtl-trace - trace norm: models share a few directions.
 * docs/methods/mtl-trace.md */
#include "methods/mtl.h"
#include "methods/registry.h"

static const bb_option table[] = {BB_MTL_ROWS("trace norm")};

const bb_method bb_method_mtl_trace = {
    .name = "mtl-trace",
    .summary = "non-private: trace-norm regularised models to a certified optimum",
    .variant = BB_MTL_TRACE,
    .options = {table, sizeof table / sizeof *table},
    BB_MTL_METHOD,
};
