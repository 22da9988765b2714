/* mtl-l21 - group sparsity: models use the same few features.
 * docs/methods/mtl-l21.md */
#include "methods/mtl.h"
#include "methods/registry.h"

static const bb_option table[] = {
    BB_MTL_ROWS("sum over the features of the norms of their weights")};

static bb_status plan(const void *options, const bb_public *pub, bb_plan *out) {
    (void)options;
    return bb_mtl_plan("mtl-l21", BB_MTL_L21, pub, out);
}

static size_t board_length(const void *options, const bb_public *pub) {
    (void)options;
    return bb_mtl_board_length(BB_MTL_L21, pub->features);
}

static size_t digest_length(const void *options, const bb_public *pub) {
    (void)options;
    return bb_mtl_digest_length(BB_MTL_L21, pub->features);
}

static void layout(const bb_view *view, bb_layout *out) {
    bb_mtl_layout(view, BB_MTL_L21, out);
}

static bb_status digest(const bb_view *view, const bb_release *release,
                        bb_billboard *board, double *work) {
    return bb_mtl_digest(view, BB_MTL_L21, release, board, work);
}

const bb_method bb_method_mtl_l21 = {
    .name = "mtl-l21",
    .summary = "non-private: models with few shared features, to a certified optimum",
    .kind = BB_METHOD_OPEN,
    .losses = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(bb_mtl_options),
    .plan = plan,
    .board_length = board_length,
    .state_length = bb_mtl_state_length,
    .work_length = bb_mtl_work_length,
    .digest_length = digest_length,
    .local_length = bb_mtl_local_length,
    .layout = layout,
    .train = bb_mtl_train,
    .show = bb_mtl_show,
    .digest = digest,
    .finish = bb_mtl_finish,
    .outcome = bb_mtl_outcome,
};
