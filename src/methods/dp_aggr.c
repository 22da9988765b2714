/* dp-aggr - every task takes the average of models that were learnt alone (Pathak,
 * Rane, Raj 2010): one release, calibrated as bounded.h has it.
 * docs/methods/dp-aggr.md */
#include "linalg/linalg.h"
#include "methods/bounded.h"
#include "methods/personal.h"
#include "methods/registry.h"

#include <math.h>
#include <string.h>

typedef struct aggr_options {
    bb_bounded_options common;
    double lambda;
    int guard;
} aggr_options;

enum { GUARD_ON, GUARD_OFF };
/* An automatic lambda: averaging takes out what little penalties leave of noise, but not
 * what large ones take from the models; where one row's reach follows from it, larger. */
static const double least_lambda = 1e-4, bounding_lambda = 0.01;

static const bb_option table[] = {
    BB_BOUNDED_ROWS("3"),
    {.name = "lambda",
     .kind = BB_OPTION_AUTO,
     .offset = offsetof(aggr_options, lambda),
     .fallback = "auto",
     .least = 1e-12,
     .most = 1e12,
     .argument = "LAMBDA",
     .help = "penalty LAMBDA/2 ||w||^2 of every task's own model; auto: 1e-4, with "
             "calibration=instance or published 0.01"},
    {.name = "guard",
     .kind = BB_OPTION_CHOICE,
     .offset = offsetof(aggr_options, guard),
     .fallback = "on",
     .choices = "on|off",
     .argument = "HOW",
     .help = "on: what its noise makes longer is taken out of the average, and if it "
             "looks like noise alone every task learns by itself at the end"},
};

static bool is_guarded(const bb_view *view) {
    const aggr_options *o = view->options;
    return o->guard == GUARD_ON;
}

static double lambda_of(const bb_view *view) {
    const aggr_options *o = view->options;
    if (!isnan(o->lambda)) return o->lambda;
    return o->common.calibration == BB_CALIBRATION_TASK ? least_lambda
                                                        : bounding_lambda;
}

static void layout(const bb_view *view, bb_layout *out) {
    const aggr_options *o = view->options;
    double clip = o->common.clip;
    if (bb_bounded_is_published(o)) clip = INFINITY;
    if (bb_bounded_is_instance(o)) clip = bb_bounded_gradient(view) / lambda_of(view);
    *out = (bb_layout){1, {{"models", BB_FORM_VECTOR, view->pub->features, clip, 1.0}}};
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    bb_layout blocks;
    if (view->pub->rounds > 1)
        return bb_fail(BB_EUSAGE, "dp-aggr releases one average: it has one round");
    bb_status status = bb_plan_rounds(out, 1);
    layout(view, &blocks);
    if (!status) bb_plan_room(out, view->pub, &blocks);
    if (!status) status = bb_bounded_plan(view, lambda_of(view), out);
    return status;
}

static size_t features(const bb_view *view) {
    return view->pub->features;
}

/* A task whose solver fails shows zeros. */
static void train(const bb_view *view, bb_task *task) {
    const aggr_options *o = view->options;
    const double lambda = lambda_of(view);
    double *w = task->state, b;
    if (bb_bounded_is_instance(o)) {
        bb_bounded_solve(view, task->local, lambda, NULL, w, task->work);
        return;
    }
    if (bb_local_ridge(task->local, lambda, NULL, w, &b, task->work))
        memset(w, 0, view->pub->features * sizeof *w);
    if (bb_bounded_is_published(o))
        bb_bounded_disturb(view, task, lambda, (double)view->pub->tasks, w);
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    memcpy(block[0], task->state, view->pub->features * sizeof **block);
}

static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    (void)work;
    memcpy(draft->at, release->value[0], draft->length * sizeof *draft->at);
    if (is_guarded(view))
        bb_bounded_take_noise_out(draft->length, release->noise[0], draft->at);
    bb_scale(draft->length, 1.0 / (double)view->pub->tasks, draft->at);
    return BB_OK;
}

static const double *shared(const bb_view *view) {
    return view->board->at;
}

static bool was_detected(const bb_view *view) {
    return !is_guarded(view) || bb_norm(view->pub->features, view->board->at) > 0.0;
}

static const char *note(const bb_view *view) {
    if (was_detected(view)) return NULL;
    return "the average is no more than its noise: tasks share no model";
}

static size_t local_length(const bb_view *view, const bb_local *local) {
    const size_t bounded = bb_bounded_length(view, local);
    const size_t alone = is_guarded(view) ? bb_personal_work(local) : 0;
    return bounded > alone ? bounded : alone;
}

static bb_status finish(const bb_view *view, bb_task *task) {
    *task->intercept = 0.0;
    const bb_personal_public known = bb_personal_known(view->pub);
    if (!was_detected(view))
        return bb_personal_model(task->local, &known, task->model, task->work);
    memcpy(task->model, view->board->at, view->pub->features * sizeof *task->model);
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
    .local_length = local_length,
    .note = note,
    .layout = layout,
    .train = train,
    .show = show,
    .digest = digest,
    .finish = finish,
    .shared = shared,
};
