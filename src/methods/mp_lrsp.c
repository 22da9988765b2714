/* mp-lrsp - algorithm 4 of Liang et al. (2020, supplement): each model is p + q, where
 * the p of all tasks have low rank, found through their noisy sum of outer products,
 * and q is the task's own sparse part, which never leaves it. Options take other
 * penalties for both (remark 3 of the supplement). Starts at p = w^(0), q =
 * 0 (as printed, p = q = w^(0), the first model would be twice the start).
 * docs/methods/mp-lrsp.md */
#include "linalg/linalg.h"
#include "linalg/prox.h"
#include "methods/mp_family.h"
#include "methods/registry.h"

#include <string.h>

typedef struct lrsp_options {
    bb_mp_options common;
    double sparse_lambda;
    int own;
} lrsp_options;

enum { OWN_L1, OWN_L12, OWN_FROBENIUS };

static const bb_option table[] = {
    BB_MP_PROXIMAL_ROWS,
    {.name = "sparse-lambda",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(lrsp_options, sparse_lambda),
     .fallback = "0.1",
     .least = 0.0,
     .most = 1e12,
     .argument = "LAMBDA",
     .help = "weight of the penalty on every task's own part"},
    {.name = "own",
     .kind = BB_OPTION_CHOICE,
     .offset = offsetof(lrsp_options, own),
     .fallback = "l1",
     .choices = "l1|l12|frobenius",
     .argument = "PENALTY",
     .help =
         "on a task's own part: the sum of its entries' sizes, its norm (a task has "
         "one or has not), or its squared norm"},
    BB_MP_PATTERN_ROW,
    BB_MP_START_ROWS,
    BB_MP_KEEP_ROW,
};

static size_t work_length(const bb_view *view) {
    return 5 * view->pub->features;
}

/* The proximal operator of the own part's penalty. */
static void soften(const bb_view *view, size_t d, const double *q, double *hat) {
    const lrsp_options *o = view->options;
    const double theta = bb_mp_step(view) * o->sparse_lambda;
    memcpy(hat, q, d * sizeof *hat);
    if (o->own == OWN_L1) {
        bb_prox_l1(d, hat, theta);
    } else if (o->own == OWN_L12) {
        const double norm = bb_norm(d, q);
        bb_scale(d, norm > theta ? 1.0 - theta / norm : 0.0, hat);
    } else {
        bb_scale(d, 1.0 / (1.0 + 2.0 * theta), hat);
    }
}

static void train(const bb_view *view, bb_task *task) {
    const bb_mp_state own = bb_mp_read(task);
    const uint32_t t = bb_mp_iterations(view);
    const size_t d = task->local->d;
    double *hat = task->work, *zp = hat + d, *zq = zp + d, *z = zq + d, *g = z + d;
    double *work = g + d;
    if (view->board->releases == 0) { /* q = 0: the state is zero at first */
        bb_mp_begin(view, task, own.w, own.intercept, work);
        own.intercept[1] = own.intercept[0];
    }
    if (t == 0 || bb_mp_is_voting(view)) return;
    const double beta = bb_mp_beta(view, t);
    bb_mp_shrink(view, own.w, hat);
    bb_mp_count(view, task, hat);
    if (t == 1) {
        memcpy(own.previous, own.w, d * sizeof *hat);
        memcpy(own.q_previous, own.q, d * sizeof *hat);
    }
    bb_mp_extrapolate(d, beta, hat, own.previous, zp);
    soften(view, d, own.q, hat);
    bb_mp_count(view, task, hat);
    bb_mp_extrapolate(d, beta, hat, own.q_previous, zq);
    for (size_t k = 0; k < d; k++) z[k] = zp[k] + zq[k];
    bb_mp_descend(view, task, &own, beta, z, g, work);
    for (size_t k = 0; k < d; k++) own.w[k] = zp[k] - g[k];
    for (size_t k = 0; k < d; k++) own.q[k] = zq[k] - g[k];
}

static bb_status finish(const bb_view *view, bb_task *task) {
    if (bb_mp_goes_home(view)) return bb_mp_home(view, task);
    const bb_mp_state own = bb_mp_read(task);
    const size_t d = task->local->d;
    double *hat = task->work;
    bb_mp_shrink(view, own.w, task->model);
    soften(view, d, own.q, hat);
    for (size_t k = 0; k < d; k++) task->model[k] += hat[k];
    bb_mp_average(view, task, task->model);
    *task->intercept = bb_local_intercept(task->local, task->model, hat + d);
    return BB_OK;
}

const bb_method bb_method_mp_lrsp = {
    .name = "mp-lrsp",
    .summary =
        "published: shared low-rank part plus own sparse part (Liang et al. 2020, "
        "algorithm 4)",
    .variant = BB_MP_TWO_PARTS,
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC,
    .takes = BB_TAKES_ROUNDS | BB_TAKES_SCHEDULE,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(lrsp_options),
    .shared_intercept = true,
    .own_intercept = bb_mp_own_intercept,
    .plan = bb_mp_plan,
    .board_length = bb_mp_board_length,
    .state_length = bb_mp_state_length,
    .work_length = work_length,
    .local_length = bb_mp_local_length,
    .digest_length = bb_mp_digest_length,
    .layout = bb_mp_layout,
    .descends = bb_mp_descends,
    .note = bb_mp_note,
    .train = train,
    .show = bb_mp_show,
    .digest = bb_mp_digest,
    .finish = finish,
};
