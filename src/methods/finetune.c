/* finetune - a phase after any other: every task goes on from its model with its own
 * rows alone, which shows nothing and is free.
 *
 *   vanilla  descent steps on the task's own loss
 *   mean     the loss plus penalty/2 ||w - w~||^2 (Hu, Wu, Smith 2023, section 3.4):
 *            the exact minimum where there is a solver, else descent steps
 *   kl       descent steps with penalty times the symmetrised Kullback-Leibler
 *            divergence of the model's outputs from those of w~ (Yu, Bagdasaryan,
 *            Shmatikov 2020)
 *   ewc      descent steps with penalty/2 sum_k F_k (w_k - w~_k)^2, F the task's own
 *            diagonal Fisher information at w~ (Kirkpatrick et al. 2017)
 *
 * w~ is the shared model of the phases before, or the task's own as it comes in if they
 * shared none.
 *
 * docs/methods/finetune.md */
#include "methods/descent.h"
#include "methods/personal.h"
#include "methods/registry.h"

#include <math.h>
#include <string.h>

enum { HOW_VANILLA, HOW_MEAN, HOW_KL, HOW_EWC };

typedef struct finetune_options {
    double penalty;
    bb_descent descent;
    int how;
} finetune_options;

#define AT(field) offsetof(finetune_options, field)
static const bb_option table[] = {
    {.name = "how",
     .kind = BB_OPTION_CHOICE,
     .offset = AT(how),
     .fallback = "mean",
     .choices = "vanilla|mean|kl|ewc",
     .argument = "HOW",
     .help = "what keeps the model near the shared one: nothing, their distance, that "
             "of their outputs, or their distance where the rows tell them apart"},
    {.name = "penalty",
     .kind = BB_OPTION_AUTO,
     .offset = AT(penalty),
     .fallback = "auto",
     .least = 0.0,
     .most = 1e12,
     .argument = "WEIGHT",
     .help =
         "its weight beside the loss; auto: mean and one linear output or classes: an "
         "average "
         "over "
         "penalties around the shared model and around zero, by what the task's own "
         "rows believe in; else 3e-4 with the squared loss, and 0.1"},
    BB_DESCENT_STEPS_ROW(finetune_options, "descent steps; 0: as `epochs' says"),
    BB_DESCENT_ROWS(finetune_options,
                    "passes over the task's rows; 0: 5 with --batch, else 20",
                    "length of a step: over the task's own Lipschitz constant without "
                    "--batch, else as it is; auto: 1, with --batch 0.1, networks 0.01",
                    "of the steps", "the rate over the steps"),
};

static double penalty_of(const bb_view *view) {
    const finetune_options *o = view->options;
    if (!isnan(o->penalty)) return o->penalty;
    return view->pub->loss == BB_LOSS_SQUARED ? 3e-4 : 0.1;
}

static bb_sgd descent_of(const bb_view *view) {
    const finetune_options *o = view->options;
    return bb_descent_of(&o->descent, view->pub, (bb_descent_defaults){20, 5, 0.01});
}

/* Whether the task makes its model of all that its rows believe in (personal.h). */
static bool goes_home(const bb_view *view) {
    const finetune_options *o = view->options;
    const bb_public *pub = view->pub;
    if (o->how != HOW_MEAN || !isnan(o->penalty) || pub->network) return false;
    return pub->loss == BB_LOSS_SOFTMAX ||
           (bb_loss_is_solved(pub->loss, false) && !pub->intercept);
}

/* Whether it is an exact minimum around the shared model. */
static bool goes_near(const bb_view *view) {
    const finetune_options *o = view->options;
    return o->how == HOW_MEAN &&
           bb_loss_is_solved(view->pub->loss, view->pub->network) &&
           penalty_of(view) > 0.0;
}

static bool descends(const bb_view *view) {
    return !goes_home(view) && !goes_near(view) && view->pub->batch == 0;
}

/* The shared model and, where they are needed, weights of the distance from it. */
static size_t local_length(const bb_view *view, const bb_local *local) {
    const bb_sgd sgd = descent_of(view);
    size_t work = bb_sgd_work(local, &sgd);
    if (bb_loss_is_solved(view->pub->loss, view->pub->network) || goes_home(view))
        work += bb_personal_work(local);
    return 2 * local->length + work;
}

/* The task's part of the shared model, or its own model as it comes in where nothing is
 * shared; whether that is not zero. */
static bool gather_shared(const bb_view *view, const bb_task *task, double *out) {
    const bb_public *pub = view->pub;
    const size_t n = task->local->length;
    const double *shared =
        bb_public_start(pub, pub->cluster ? pub->cluster[task->id] : 0);
    bool zero = true;
    if (shared)
        bb_local_gather(task->local, shared, out);
    else
        memcpy(out, task->model, n * sizeof *out);
    for (size_t k = 0; k < n; k++) zero = zero && out[k] == 0.0;
    return !zero;
}

/* Exact minima, for linear models of one output. */
static bb_status nearest(const bb_view *view, bb_task *task, const double *shared,
                         double *work) {
    return bb_local_ridge(task->local, penalty_of(view), shared, task->model,
                          task->intercept, work);
}

static void descend(const bb_view *view, bb_task *task, const double *shared,
                    double *fisher, double *work) {
    const finetune_options *o = view->options;
    const bb_local *local = task->local;
    const bb_sgd sgd = descent_of(view);
    bb_pull pull = {0};
    if (o->how == HOW_MEAN || o->how == HOW_EWC)
        pull = (bb_pull){.penalty = penalty_of(view), .centre = shared};
    if (o->how == HOW_KL) pull = (bb_pull){.kl = penalty_of(view), .teacher = shared};
    /* its own model's intercept goes with it; the shared one's is the best for it */
    const double b = !local->intercept ? 0.0
                     : view->pub->start == NULL
                         ? *task->intercept
                         : bb_local_intercept(local, shared, work);
    if (o->how == HOW_KL) pull.teacher_intercept = b;
    if (o->how == HOW_EWC) {
        bb_local_fisher(local, shared, b, fisher, work);
        pull.fisher = fisher;
    }
    bb_local_descend(local, &sgd, &pull, task->random, task->model,
                     local->intercept ? task->intercept : NULL, work);
}

static bb_status finish(const bb_view *view, bb_task *task) {
    const size_t n = task->local->length;
    double *shared = task->work, *fisher = shared + n, *work = fisher + n;
    if (task->local->n == 0) return BB_OK;
    const bool there = gather_shared(view, task, shared);
    if (goes_home(view)) {
        bb_personal_public known = bb_personal_known(view->pub);
        if (there) known.centre = shared;
        return bb_personal_model(task->local, &known, task->model, work);
    }
    if (goes_near(view)) return nearest(view, task, shared, work);
    descend(view, task, shared, fisher, work);
    return BB_OK;
}

const bb_method bb_method_finetune = {
    .name = "finetune",
    .summary = "a phase after any other: every task improves its model at home",
    .kind = BB_METHOD_ALONE,
    .losses = BB_SUPPORTS_ALL,
    .takes = BB_TAKES_BATCH,
    .draws = true,
    .follows = true,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(finetune_options),
    .descends = descends,
    .local_length = local_length,
    .finish = finish,
};
