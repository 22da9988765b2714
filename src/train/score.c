#include "train/score.h"

#include "base/memory.h"

#include <stdlib.h>

/* -- a method in which every task shows its one number -- */

/* Scores are shown as what they differ from it by: at most as much. */
static const double middle = 0.5;

static void layout(const bb_view *view, bb_layout *out) {
    (void)view;
    *out = (bb_layout){1, {{"score", BB_FORM_VECTOR, 1, middle, 1.0}}};
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    bb_layout blocks;
    const bb_status status = bb_plan_rounds(out, 1);
    layout(view, &blocks);
    if (!status) bb_plan_room(out, view->pub, &blocks);
    return status;
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    (void)view;
    block[0][0] = *task->local->y - middle;
}

static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    (void)work;
    draft->at[0] = middle + release->value[0][0] / (double)view->pub->tasks;
    draft->at[1] = release->noise[0] / (double)view->pub->tasks;
    draft->done = true;
    return BB_OK;
}

/* The mean, and how much noise is in it. */
static size_t board_length(const bb_view *view) {
    (void)view;
    return 2;
}

/* Nothing is learned from it. */
static bb_status finish(const bb_view *view, bb_task *task) {
    (void)view;
    task->model[0] = task->model[1] = 0.0;
    return BB_OK;
}

static const double *shared(const bb_view *view) {
    return view->board->at;
}

static const bb_method method = {.name = "score",
                                 .summary = "the mean of one number of each task",
                                 .kind = BB_METHOD_PRIVATE,
                                 .losses = BB_SUPPORTS_SQUARED,
                                 .plan = plan,
                                 .board_length = board_length,
                                 .layout = layout,
                                 .show = show,
                                 .digest = digest,
                                 .finish = finish,
                                 .shared = shared};

bb_status bb_score_release(const bb_score_plan *p, const double *score, double *mean,
                           double *noise) {
    const bb_engine engine = bb_engine_threads(1);
    bb_local *local = NULL;
    bb_result result = {0};
    bb_status status = bb_allocate(&local, p->tasks, sizeof *local, "scores");
    for (size_t i = 0; i < p->tasks && !status; i++)
        local[i] =
            (bb_local){.n = 1, .d = 2, .outputs = 1, .length = 2, .y = &score[i]};
    const bb_run run = {.phases = 1,
                        .phase = {{.method = &method}},
                        .pub = {.tasks = p->tasks,
                                .features = 2,
                                .outputs = 1,
                                .parameters = 2,
                                .adjacency = p->adjacency,
                                .epsilon = p->epsilon,
                                .delta = p->delta},
                        .mechanism = &bb_mechanism_gaussian,
                        .engine = &engine,
                        .seeded = p->seeded,
                        .seed = p->seed,
                        .local = local};
    if (!status) status = bb_run_train(&run, &result);
    if (!status) {
        *mean = result.shared[0];
        *noise = result.shared[1];
    }
    bb_result_free(&result);
    free(local);
    return status;
}
