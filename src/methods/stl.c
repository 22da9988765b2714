/* stl - every task alone: its own ridge or l1 regularised model, and for models with
 * several outputs and networks descent from the public start. The baseline that all
 * others have to beat. docs/methods/stl.md */
#include "linalg/linalg.h"
#include "methods/descent.h"
#include "methods/registry.h"

#include <math.h>
#include <string.h>

enum { PENALTY_L2, PENALTY_L1 };

typedef struct stl_options {
    int penalty;
    double lambda, tolerance;
    bb_descent descent; /* several outputs, networks */
} stl_options;

static const bb_option table[] = {
    {.name = "penalty",
     .kind = BB_OPTION_CHOICE,
     .offset = offsetof(stl_options, penalty),
     .fallback = "l2",
     .choices = "l2|l1",
     .argument = "WORD",
     .help = "l2: lambda/2 ||w||^2, solved exactly; l1: lambda ||w||_1"},
    {.name = "lambda",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(stl_options, lambda),
     .fallback = "0.001",
     .least = 1e-12,
     .most = 1e12,
     .argument = "LAMBDA",
     .help = "weight of the penalty, the same for every task"},
    {.name = "tolerance",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(stl_options, tolerance),
     .fallback = "1e-6",
     .least = 1e-14,
     .most = 1.0,
     .argument = "FRACTION",
     .help = "l1: stop at a certified duality gap of this fraction of the objective"},
    BB_DESCENT_ROWS(
        stl_options,
        "several outputs, networks: passes over the rows; 0: 20 with --batch, else 500",
        "of their steps: over the task's own Lipschitz constant without --batch, else "
        "as it is; auto: 1, with --batch and networks 0.1",
        "of their steps", "of their steps' length"),
};

static size_t work_length(const bb_view *view) {
    return view->pub->features;
}

/* By strong convexity in w and convexity in b, the objective F is above its least value
 * by at most ||dF/dw||^2 / (2 lambda) + |dF/db| |b - b*|; local.h keeps |b*| <= 30.
 * With the squared loss b is profiled out and dF/db = 0: then this is the duality gap.
 */
static bb_status ridge(const stl_options *o, bb_task *task) {
    const size_t d = task->local->d;
    double *w = task->model, *b = task->intercept, *g = task->work, *work = g + d, gb;
    bb_status status = bb_local_ridge(task->local, o->lambda, NULL, w, b, work);
    if (status) return status;
    const double loss = bb_local_gradient(task->local, w, *b, g, &gb, work);
    bb_axpy(d, o->lambda, w, g);
    task->objective = loss + 0.5 * o->lambda * bb_dot(d, w, w);
    task->gap = 0.5 * bb_dot(d, g, g) / o->lambda + fabs(gb) * (fabs(*b) + 30.0);
    return BB_OK;
}

static bb_status lasso(const stl_options *o, bb_task *task) {
    const size_t d = task->local->d;
    double *w = task->model, *work = task->work, penalty = 0.0;
    bb_status status = bb_local_lasso(task->local, o->lambda, o->tolerance, w,
                                      task->intercept, &task->gap, work);
    if (status) return status;
    for (size_t k = 0; k < d; k++) penalty += fabs(w[k]);
    task->objective =
        bb_local_value(task->local, w, *task->intercept, work) + o->lambda * penalty;
    return BB_OK;
}

static bb_sgd descent_of(const bb_view *view) {
    const stl_options *o = view->options;
    return bb_descent_of(&o->descent, view->pub, (bb_descent_defaults){500, 20, 0.1});
}

static size_t local_length(const bb_view *view, const bb_local *local) {
    const bb_sgd sgd = descent_of(view);
    return bb_loss_is_solved(view->pub->loss, view->pub->network)
               ? 0
               : bb_sgd_work(local, &sgd) + local->length;
}

/* From the public start, with the penalty around it. */
static void descend(const bb_view *view, bb_task *task) {
    const stl_options *o = view->options;
    const size_t n = task->local->length;
    const bb_public *pub = view->pub;
    const double *start =
        bb_public_start(pub, pub->cluster ? pub->cluster[task->id] : 0);
    const bb_sgd sgd = descent_of(view);
    double *centre = task->work;
    memset(centre, 0, n * sizeof *centre);
    if (start) bb_local_gather(task->local, start, centre);
    memcpy(task->model, centre, n * sizeof *centre);
    bb_local_descend(task->local, &sgd,
                     &(bb_pull){.penalty = o->lambda, .centre = centre}, task->random,
                     task->model, NULL, centre + n);
}

/* A task without rows keeps the zero model, or the public start. */
static bb_status finish(const bb_view *view, bb_task *task) {
    const stl_options *o = view->options;
    if (!bb_loss_is_solved(view->pub->loss, view->pub->network)) {
        descend(view, task);
        return BB_OK;
    }
    task->objective = task->gap = 0.0;
    if (task->local->n == 0) return BB_OK;
    return o->penalty == PENALTY_L2 ? ridge(o, task) : lasso(o, task);
}

static void outcome(const bb_view *view, bb_outcome *reached) {
    const stl_options *o = view->options;
    reached->converged = reached->gap <= o->tolerance * reached->objective;
}

const bb_method bb_method_stl = {
    .name = "stl",
    .summary = "every task alone: ridge or l1",
    .kind = BB_METHOD_ALONE,
    .losses = BB_SUPPORTS_ALL,
    .takes = BB_TAKES_BATCH_OF_OUTPUTS,
    .draws = true,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(stl_options),
    .work_length = work_length,
    .local_length = local_length,
    .finish = finish,
    .outcome = outcome,
};
