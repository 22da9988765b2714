/* mp-lowrank - algorithm 2 of Liang et al. (2020): private trace-norm
 * regularisation through the noisy sum of the models' outer products.
 * docs/methods/mp-lowrank.md */
#include "methods/mp_family.h"
#include "methods/registry.h"

static const bb_option table[] = {BB_MP_PROXIMAL_ROWS, BB_MP_START_ROWS};

static bb_status plan(const void *options, const bb_public *pub, bb_plan *out) {
    return bb_mp_plan("mp-lowrank", options, pub, BB_MP_LOW_RANK, 1, out);
}

static size_t board_length(const void *options, const bb_public *pub) {
    (void)options;
    return bb_mp_board_length(BB_MP_LOW_RANK, pub->features);
}

static size_t state_length(const void *options, const bb_public *pub) {
    (void)options;
    return bb_mp_state_length(pub->features, false);
}

static size_t work_length(const void *options, const bb_public *pub) {
    (void)options;
    return bb_mp_work_length(pub->features);
}

static size_t digest_length(const void *options, const bb_public *pub) {
    (void)options;
    return bb_mp_digest_length(BB_MP_LOW_RANK, pub->features);
}

static void layout(const bb_view *view, bb_layout *out) {
    bb_mp_layout(view, BB_MP_LOW_RANK, out);
}

static void train(const bb_view *view, bb_task *task) {
    bb_mp_train(view, task, BB_MP_LOW_RANK);
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    bb_mp_show(view, task, bb_mp_read(task).w, block[0]);
}

static bb_status digest(const bb_view *view, const bb_release *release,
                        bb_billboard *board, double *work) {
    return bb_mp_digest(view, BB_MP_LOW_RANK, 1, release, board, work);
}

static bb_status finish(const bb_view *view, bb_task *task) {
    bb_mp_finish(view, task, BB_MP_LOW_RANK);
    return BB_OK;
}

const bb_method bb_method_mp_lowrank = {
    .name = "mp-lowrank",
    .summary = "published: trace norm through noisy sums of models (Liang et al. 2020, "
               "algorithm 2)",
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(bb_mp_options),
    .plan = plan,
    .board_length = board_length,
    .state_length = state_length,
    .work_length = work_length,
    .digest_length = digest_length,
    .layout = layout,
    .train = train,
    .show = show,
    .digest = digest,
    .finish = finish,
};
