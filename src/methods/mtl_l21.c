/* mtl-l21 - group sparsity: models use the same few features.
 * docs/methods/mtl-l21.md */
#include "methods/mtl.h"
#include "methods/registry.h"

static const bb_option table[] = {
    BB_MTL_ROWS("sum over the features of the norms of their weights", "0.1")};

const bb_method bb_method_mtl_l21 = {
    .name = "mtl-l21",
    .summary = "non-private: models with few shared features, to a certified optimum",
    .variant = BB_MTL_L21,
    .kind = BB_METHOD_OPEN,
    .losses = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC,
    .takes = BB_TAKES_ROUNDS,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(bb_mtl_options),
    .plan = bb_mtl_plan,
    .board_length = bb_mtl_board_length,
    .state_length = bb_mtl_state_length,
    .work_length = bb_mtl_work_length,
    .digest_length = bb_mtl_digest_length,
    .local_length = bb_mtl_local_length,
    .layout = bb_mtl_layout,
    .train = bb_mtl_train,
    .show = bb_mtl_show,
    .digest = bb_mtl_digest,
    .finish = bb_mtl_finish,
    .outcome = bb_mtl_outcome,
};
