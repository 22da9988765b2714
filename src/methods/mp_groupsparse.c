/* mp-groupsparse - algorithm 3 of Liang et al. (2020): private
 * group-sparse regularisation. Of the sum of outer products only the diagonal is read,
 * so only the diagonal is released. docs/methods/mp-groupsparse.md */
#include "methods/mp_family.h"
#include "methods/registry.h"

static const bb_option table[] = {BB_MP_PROXIMAL_ROWS, BB_MP_START_ROWS};

const bb_method bb_method_mp_groupsparse = {
    .name = "mp-groupsparse",
    .summary = "published: group-sparse norm through noisy sums of models (Liang et "
               "al. 2020, algorithm 3)",
    .variant = BB_MP_GROUP_SPARSE,
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC,
    .takes = BB_TAKES_ROUNDS | BB_TAKES_SCHEDULE,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(bb_mp_options),
    .plan = bb_mp_plan,
    .board_length = bb_mp_board_length,
    .state_length = bb_mp_state_length,
    .work_length = bb_mp_work_length,
    .digest_length = bb_mp_digest_length,
    .layout = bb_mp_layout,
    .train = bb_mp_train,
    .show = bb_mp_show,
    .digest = bb_mp_digest,
    .finish = bb_mp_finish,
};
