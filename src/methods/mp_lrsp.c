/* mp-lrsp - algorithm 4 of Liang et al. (2020, supplement): each model is p + q, where
 * the p of all tasks have low rank, found through their noisy sum of outer products,
 * and q is the task's own sparse part, which never leaves it. Starts at p = w^(0), q =
 * 0 (as printed, p = q = w^(0), the first model would be twice the start).
 * docs/methods/mp-lrsp.md */
#include "linalg/prox.h"
#include "methods/mp_family.h"
#include "methods/registry.h"

#include <string.h>

typedef struct lrsp_options {
    bb_mp_options common;
    double sparse_lambda;
} lrsp_options;

static const bb_option table[] = {
    BB_MP_PROXIMAL_ROWS,
    {.name = "sparse-lambda",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(lrsp_options, sparse_lambda),
     .fallback = "0.1",
     .least = 0.0,
     .most = 1e12,
     .argument = "LAMBDA",
     .help = "weight of the l1 penalty on every task's own sparse part"},
    BB_MP_START_ROWS,
};

/* The loss sees p + q: its curvature in (p, q) is twice that of a single model. */
static const double parts = 2;

static bb_status plan(const void *options, const bb_public *pub, bb_plan *out) {
    return bb_mp_plan("mp-lrsp", options, pub, BB_MP_LOW_RANK, parts, out);
}

static size_t board_length(const void *options, const bb_public *pub) {
    (void)options;
    return bb_mp_board_length(BB_MP_LOW_RANK, pub->features);
}

static size_t state_length(const void *options, const bb_public *pub) {
    (void)options;
    return bb_mp_state_length(pub->features, true);
}

static size_t work_length(const void *options, const bb_public *pub) {
    (void)options;
    return 5 * pub->features;
}

static size_t digest_length(const void *options, const bb_public *pub) {
    (void)options;
    return bb_mp_digest_length(BB_MP_LOW_RANK, pub->features);
}

static void layout(const bb_view *view, bb_layout *out) {
    bb_mp_layout(view, BB_MP_LOW_RANK, out);
}

static double sparse_threshold(const bb_view *view) {
    const lrsp_options *o = view->options;
    return bb_mp_step(&o->common, view->pub, parts) * o->sparse_lambda;
}

static void soften(const bb_view *view, size_t d, const double *q, double *hat) {
    const double threshold = sparse_threshold(view);
    memcpy(hat, q, d * sizeof *hat);
    bb_prox_l1(d, hat, threshold);
}

static void train(const bb_view *view, bb_task *task) {
    const lrsp_options *o = view->options;
    const bb_mp_state own = bb_mp_read(task);
    const uint32_t t = bb_mp_iterations(view);
    const size_t d = task->local->d;
    double *hat = task->work, *zp = hat + d, *zq = zp + d, *z = zq + d, *g = z + d;
    double *work = g + d;
    if (view->board->releases == 0) { /* q = 0: the state is zero at first */
        bb_mp_begin(view, task, own.w, own.intercept, work);
        own.intercept[1] = own.intercept[0];
    }
    if (t == 0) return;
    const double beta =
        bb_mp_beta(&o->common, bb_mp_step(&o->common, view->pub, parts), t);
    bb_mp_shrink(view, BB_MP_LOW_RANK, own.w, hat);
    if (t == 1) {
        memcpy(own.previous, own.w, d * sizeof *hat);
        memcpy(own.q_previous, own.q, d * sizeof *hat);
    }
    bb_mp_extrapolate(d, beta, hat, own.previous, zp);
    soften(view, d, own.q, hat);
    bb_mp_extrapolate(d, beta, hat, own.q_previous, zq);
    for (size_t k = 0; k < d; k++) z[k] = zp[k] + zq[k];
    bb_mp_descend(view, task, &own, beta, parts, z, g, work);
    for (size_t k = 0; k < d; k++) own.w[k] = zp[k] - g[k];
    for (size_t k = 0; k < d; k++) own.q[k] = zq[k] - g[k];
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    bb_mp_show(view, task, bb_mp_read(task).w, block[0]);
}

static bb_status digest(const bb_view *view, const bb_release *release,
                        bb_billboard *board, double *work) {
    return bb_mp_digest(view, BB_MP_LOW_RANK, parts, release, board, work);
}

static bb_status finish(const bb_view *view, bb_task *task) {
    const bb_mp_state own = bb_mp_read(task);
    const size_t d = task->local->d;
    double *hat = task->work;
    bb_mp_shrink(view, BB_MP_LOW_RANK, own.w, task->model);
    soften(view, d, own.q, hat);
    for (size_t k = 0; k < d; k++) task->model[k] += hat[k];
    *task->intercept = bb_local_intercept(task->local, task->model, hat + d);
    return BB_OK;
}

const bb_method bb_method_mp_lrsp = {
    .name = "mp-lrsp",
    .summary =
        "published: shared low-rank part plus own sparse part (Liang et al. 2020, "
        "algorithm 4)",
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(lrsp_options),
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
