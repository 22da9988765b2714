/* vote - a phase after others, in place of finetune: the tasks vote on how they fit at home
 * around the shared model w~ (personal.h), and every task fits so.
 *
 * Few rows cannot tell penalties apart, nor whether w~ helps; those of hundreds of tasks
 * can. One round, of a small part of the budget, and only where public sizes say that it is
 * heard. docs/methods/finetune.md */
#include "linalg/linalg.h"
#include "methods/personal.h"
#include "methods/personal_vote.h"
#include "methods/registry.h"

#include <math.h>
#include <string.h>

/* Cells around zero and around w~. */
enum { CELLS = 30 };

/* What a task of this cluster knows at home, but for the odds. */
static bb_personal_public known_of(const bb_view *view, size_t cluster) {
    const double *start = bb_public_start(view->pub, cluster);
    bb_personal_public known = bb_personal_known(view->pub);
    if (start && bb_norm(view->pub->features, start) > 0.0) known.centre = start;
    return known;
}

static size_t cluster_of(const bb_view *view, const bb_task *task) {
    return view->pub->cluster ? view->pub->cluster[task->id] : 0;
}

/* -- public -- */

static bool is_heard(const bb_public *pub, double mu) {
    return !pub->as_published && bb_vote_is_heard(pub, mu, CELLS);
}

static double part(const bb_view *view) {
    const double mu = sqrt(bb_vote_around_share) * view->pub->mu;
    return is_heard(view->pub, mu) ? bb_vote_around_share : 0.0;
}

static bool votes(const bb_view *view) {
    return is_heard(view->pub, view->pub->mu);
}

static void layout(const bb_view *view, bb_layout *out) {
    (void)view;
    *out = bb_vote_layout(BB_PERSONAL_CELLS);
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    const bb_layout blocks = bb_vote_layout(BB_PERSONAL_CELLS);
    const bb_status status = bb_plan_rounds(out, votes(view));
    if (!status && votes(view)) bb_plan_room(out, view->pub, &blocks);
    return status;
}

static size_t board_length(const bb_view *view) {
    return votes(view) ? BB_PERSONAL_CELLS : 0;
}

/* A candidate is what some cluster's tasks have. */
static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    bb_personal_public known = {0};
    (void)work;
    for (size_t k = 0; k < view->pub->clusters && !known.centre; k++)
        known = known_of(view, k);
    bb_vote_take_fits(view->pub, &known, release, bb_vote_around, draft->at);
    return BB_OK;
}

/* -- one task -- */

static size_t local_length(const bb_view *view, const bb_local *local) {
    (void)view;
    return BB_PERSONAL_CELLS + bb_personal_work(local);
}

static void train(const bb_view *view, bb_task *task) {
    const bb_personal_public known = known_of(view, cluster_of(view, task));
    memset(task->work, 0, BB_PERSONAL_CELLS * sizeof *task->work);
    bb_vote_show_fits(task->local, &known, task->work, task->work + BB_PERSONAL_CELLS);
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    (void)view;
    memcpy(block[0], task->work, BB_PERSONAL_CELLS * sizeof **block);
}

/* A task without rows has the shared model. */
static bb_status finish(const bb_view *view, bb_task *task) {
    const size_t d = task->local->d;
    bb_personal_public known = known_of(view, cluster_of(view, task));
    *task->intercept = 0.0;
    if (votes(view)) known.odds = view->board->at;
    if (task->local->n > 0)
        return bb_personal_squared(task->local, &known, task->model, task->work);
    for (size_t k = 0; k < d; k++)
        task->model[k] = known.centre ? known.centre[k] : 0.0;
    return BB_OK;
}

const bb_method bb_method_vote = {
    .name = "vote",
    .summary = "a phase after others: models are fitted at home as the tasks vote",
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_SQUARED,
    .shared_intercept = true,
    .follows = true,
    .part = part,
    .plan = plan,
    .board_length = board_length,
    .local_length = local_length,
    .layout = layout,
    .train = train,
    .show = show,
    .digest = digest,
    .finish = finish,
};
