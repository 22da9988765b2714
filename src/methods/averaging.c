/* fedavg, fedprox, pmtl - models that are pulled towards a shared average.
 *
 * Every round each task that takes part starts from a model, makes a few steps on its
 * own loss, and shows by how much the model changed; the door's noisy sum of clipped
 * changes, over the public size of the cohort, moves the shared model w~.
 *
 *   fedavg   starts from w~ (McMahan et al. 2017; with noise, McMahan et al. 2018)
 *   fedprox  the same with the penalty mu/2 ||w - w~||^2 (Li et al. 2020)
 *   pmtl     starts from the task's own model, which it keeps, with the penalty
 *            lambda/2 ||w - w~||^2 (Hu, Wu, Smith 2023, algorithm 1)
 *
 * At the end a task keeps the shared model (fedavg, fedprox) or its own (pmtl), or fits
 * it to its own rows, which is free. A task without rows shows zeros, and keeps the
 * shared model. docs/methods/pmtl.md, docs/methods/fedavg.md */
#include "linalg/linalg.h"
#include "methods/registry.h"

#include <math.h>
#include <string.h>

enum { FEDAVG, FEDPROX, PMTL };
enum { FINETUNE_NONE, FINETUNE_VANILLA, FINETUNE_MEAN };
enum { LOCAL_STEPS, LOCAL_EXACT };

typedef struct averaging_options {
    double clip, penalty, rate, server_rate;
    uint64_t steps;
    int local, finetune;
    double finetune_penalty;
    uint64_t finetune_steps;
} averaging_options;

#define ROW(word, what, field, fallback_text, from, to, name_of_value, text)           \
    {                                                                                  \
        .name = (word), .kind = (what), .offset = offsetof(averaging_options, field),  \
        .fallback = (fallback_text), .least = (from), .most = (to),                    \
        .argument = (name_of_value), .help = (text)                                    \
    }
#define COMMON_ROWS                                                                    \
    ROW("clip", BB_OPTION_REAL, clip, "1", 1e-12, 1e12, "C",                           \
        "changes are clipped to this public norm when they are shown"),                \
        ROW("steps", BB_OPTION_COUNT, steps, "10", 1.0, 1e6, "E",                      \
            "gradient steps of a task in a round, over all its rows"),                 \
        ROW("rate", BB_OPTION_REAL, rate, "1", 1e-12, 1.99, "R",                       \
            "their length: R over the task's own Lipschitz constant"),                 \
        ROW("server-rate", BB_OPTION_REAL, server_rate, "1", 1e-12, 1e6, "R",          \
            "the shared model moves by this times the average change")
#define FINETUNE_ROWS(default_word)                                                    \
    {.name = "finetune",                                                               \
     .kind = BB_OPTION_CHOICE,                                                         \
     .offset = offsetof(averaging_options, finetune),                                  \
     .fallback = (default_word),                                                       \
     .choices = "none|vanilla|mean",                                                   \
     .argument = "HOW",                                                                \
     .help =                                                                           \
         "after the last round, on a task's own rows only: gradient steps "            \
         "(vanilla), or the exact minimum with a penalty on the distance from the "    \
         "shared model (mean)"},                                                       \
        ROW("finetune-penalty", BB_OPTION_REAL, finetune_penalty, "3e-4", 1e-12, 1e12, \
            "LAMBDA", "of finetune=mean"),                                             \
        ROW("finetune-steps", BB_OPTION_COUNT, finetune_steps, "20", 1.0, 1e6, "E",    \
            "of finetune=vanilla")

#define PENALTY_ROWS(word, name_of_value)                                              \
    ROW(word, BB_OPTION_REAL, penalty, "1e-4", 1e-12, 1e12, name_of_value,             \
        "weight of the penalty on the distance from the shared model"),                \
    {                                                                                  \
        .name = "local", .kind = BB_OPTION_CHOICE,                                     \
        .offset = offsetof(averaging_options, local), .fallback = "exact",             \
        .choices = "steps|exact", .argument = "HOW",                                   \
        .help = "a task's part of a round: gradient steps, or the exact minimum of "   \
                "its loss and the penalty"                                             \
    }

static const bb_option fedavg_table[] = {COMMON_ROWS, FINETUNE_ROWS("mean")};
static const bb_option fedprox_table[] = {COMMON_ROWS, FINETUNE_ROWS("mean"),
                                          PENALTY_ROWS("mu", "MU")};
static const bb_option pmtl_table[] = {COMMON_ROWS, FINETUNE_ROWS("none"),
                                       PENALTY_ROWS("lambda", "LAMBDA")};

static double penalty_of(const bb_view *view) {
    const averaging_options *o = view->options;
    return view->method->variant == FEDAVG ? 0.0 : o->penalty;
}

/* -- public -- */

static void layout(const bb_view *view, bb_layout *out) {
    const averaging_options *o = view->options;
    *out = (bb_layout){
        1, {{"model changes", BB_FORM_VECTOR, view->pub->features, o->clip, 1.0}}};
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    bb_layout blocks;
    const bb_status status = bb_plan_schedule(out, view->pub, 0, 20, "uniform");
    layout(view, &blocks);
    if (!status) bb_plan_room(out, view->pub, &blocks);
    return status;
}

static size_t features(const bb_view *view) {
    return view->pub->features;
}

/* The board is w~, zero before the first release. */
static bb_status digest(const bb_view *view, const bb_release *release,
                        bb_billboard *board, double *work) {
    const averaging_options *o = view->options;
    (void)work;
    bb_axpy(board->length, o->server_rate / bb_cohort_size(view->pub),
            release->value[0], board->at);
    return BB_OK;
}

/* -- one task -- */

/* pmtl's state: the task's own model, then the change that it will show. The others
 * keep the change only. */
static size_t state_length(const bb_view *view) {
    return (view->method->variant == PMTL ? 2 : 1) * view->pub->features;
}

static double *change_of(const bb_view *view, const bb_task *task) {
    return task->state + (view->method->variant == PMTL ? view->pub->features : 0);
}

static size_t work_length(const bb_view *view) {
    return 2 * view->pub->features;
}

/* w <- w after gradient steps on the task's loss and the penalty around `centre`. */
static void descend(const bb_view *view, bb_task *task, uint64_t steps, double penalty,
                    const double *centre, double *w) {
    const averaging_options *o = view->options;
    const size_t d = view->pub->features;
    double *g = task->work, *work = g + 2 * d, gb;
    const double length = o->rate / (task->local->lipschitz + penalty);
    if (task->local->n == 0 || !(length < INFINITY)) return;
    for (uint64_t k = 0; k < steps; k++) {
        bb_local_gradient(task->local, w, 0.0, g, &gb, work);
        for (size_t j = 0; j < d; j++)
            w[j] -= length * (g[j] + penalty * (w[j] - centre[j]));
    }
}

/* w <- the minimum of the task's loss and the penalty; w stays as it is where there is
 * none. */
static void solve(const bb_view *view, bb_task *task, const double *shared, double *w) {
    const size_t d = view->pub->features;
    double *found = task->work, *work = found + 2 * d, intercept;
    if (task->local->n == 0) return;
    if (!bb_local_ridge(task->local, penalty_of(view), shared, found, &intercept, work))
        memcpy(w, found, d * sizeof *w);
}

static void train(const bb_view *view, bb_task *task) {
    const averaging_options *o = view->options;
    const size_t d = view->pub->features;
    const double *shared = view->board->at;
    const double *start = view->method->variant == PMTL ? task->state : shared;
    double *w = task->work + d, *change = change_of(view, task);
    memcpy(w, start, d * sizeof *w);
    if (o->local == LOCAL_EXACT)
        solve(view, task, shared, w);
    else
        descend(view, task, o->steps, penalty_of(view), shared, w);
    for (size_t j = 0; j < d; j++) change[j] = w[j] - start[j];
    if (view->method->variant == PMTL) memcpy(task->state, w, d * sizeof *w);
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    memcpy(block[0], change_of(view, task), view->pub->features * sizeof **block);
}

static bb_status finish(const bb_view *view, bb_task *task) {
    const averaging_options *o = view->options;
    const double *shared = view->board->at;
    const bool has_own = view->method->variant == PMTL && task->local->n > 0;
    const double *own = has_own ? task->state : shared;
    *task->intercept = 0.0;
    memcpy(task->model, own, view->pub->features * sizeof *own);
    if (o->finetune == FINETUNE_VANILLA)
        descend(view, task, o->finetune_steps, 0.0, shared, task->model);
    if (o->finetune == FINETUNE_MEAN && task->local->n > 0)
        return bb_local_ridge(task->local, o->finetune_penalty, shared, task->model,
                              task->intercept, task->work);
    return BB_OK;
}

#define METHOD(word, number, words, keep, rows)                                        \
    {                                                                                  \
        .name = (word), .summary = (words), .variant = (number),                       \
        .kind = BB_METHOD_PRIVATE,                                                     \
        .losses = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC, .sampled = true,         \
        .keeps = (keep), .shared_intercept = true,                                     \
        .options = {(rows), sizeof(rows) / sizeof *(rows)},                            \
        .options_size = sizeof(averaging_options), .plan = plan,                       \
        .board_length = features, .state_length = state_length,                        \
        .work_length = work_length, .layout = layout, .train = train, .show = show,    \
        .digest = digest, .finish = finish                                             \
    }

const bb_method bb_method_fedavg =
    METHOD("fedavg", FEDAVG, "one shared model, by averaging what tasks change in it",
           false, fedavg_table);
const bb_method bb_method_fedprox =
    METHOD("fedprox", FEDPROX, "fedavg whose local steps stay near the shared model",
           false, fedprox_table);
const bb_method bb_method_pmtl =
    METHOD("pmtl", PMTL, "personal models, each pulled towards their shared average",
           true, pmtl_table);
