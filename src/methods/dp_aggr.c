/* dp-aggr - every task takes the average of models that were learnt alone (Pathak,
 * Rane, Raj 2010): one release, calibrated as bounded.h has it.
 * docs/methods/dp-aggr.md */
#include "linalg/linalg.h"
#include "methods/bounded.h"
#include "methods/registry.h"

#include <math.h>
#include <string.h>

typedef struct aggr_options {
    bb_bounded_options common;
    double lambda;
} aggr_options;

static const bb_option table[] = {
    BB_BOUNDED_ROWS,
    {.name = "lambda",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(aggr_options, lambda),
     .fallback = "0.01",
     .least = 1e-12,
     .most = 1e12,
     .argument = "LAMBDA",
     .help = "penalty LAMBDA/2 ||w||^2 of every task's own model"},
};

static void layout(const bb_view *view, bb_layout *out) {
    const aggr_options *o = view->options;
    double clip = o->common.clip;
    if (bb_bounded_is_published(o)) clip = INFINITY;
    if (bb_bounded_is_instance(o)) clip = bb_bounded_gradient(view) / o->lambda;
    *out = (bb_layout){1, {{"models", BB_FORM_VECTOR, view->pub->features, clip, 1.0}}};
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    const aggr_options *o = view->options;
    bb_layout blocks;
    if (view->pub->rounds > 1)
        return bb_fail(BB_EUSAGE, "dp-aggr releases one average: it has one round");
    bb_status status = bb_plan_rounds(out, 1);
    layout(view, &blocks);
    if (!status) bb_plan_room(out, view->pub, &blocks);
    if (!status) status = bb_bounded_plan(view, o->lambda, out);
    return status;
}

static size_t features(const bb_view *view) {
    return view->pub->features;
}

/* A task whose solver fails shows zeros. */
static void train(const bb_view *view, bb_task *task) {
    const aggr_options *o = view->options;
    double *w = task->state, b;
    if (bb_bounded_is_instance(o)) {
        bb_bounded_solve(view, task->local, o->lambda, NULL, w, task->work);
        return;
    }
    if (bb_local_ridge(task->local, o->lambda, NULL, w, &b, task->work))
        memset(w, 0, view->pub->features * sizeof *w);
    if (bb_bounded_is_published(o))
        bb_bounded_disturb(view, task, o->lambda, (double)view->pub->tasks, w);
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    memcpy(block[0], task->state, view->pub->features * sizeof **block);
}

static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    (void)work;
    memcpy(draft->at, release->value[0], draft->length * sizeof *draft->at);
    bb_scale(draft->length, 1.0 / (double)view->pub->tasks, draft->at);
    return BB_OK;
}

static const double *shared(const bb_view *view) {
    return view->board->at;
}

static bb_status finish(const bb_view *view, bb_task *task) {
    memcpy(task->model, view->board->at, view->pub->features * sizeof *task->model);
    *task->intercept = 0.0;
    return BB_OK;
}

const bb_method bb_method_dp_aggr = {
    .name = "dp-aggr",
    .summary = "every task takes the noisy average of models learnt alone (Pathak et "
               "al. 2010)",
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC,
    .takes = BB_TAKES_ROUNDS,
    .shared_intercept = true,
    .finetune = "mean",
    .finetune_solved = true,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(aggr_options),
    .draws = true,
    .for_rows = bb_bounded_is_instance,
    .noise_by_tasks = bb_bounded_is_published,
    .plan = plan,
    .board_length = features,
    .state_length = features,
    .local_length = bb_bounded_length,
    .layout = layout,
    .train = train,
    .show = show,
    .digest = digest,
    .finish = finish,
    .shared = shared,
};
