/* fedavg, fedprox, pmtl, pmtl-clusters, pmtl-graph, ppsgd, fedper - models that meet in
 * averages.
 *
 * Every round each task that takes part starts from a model, makes a few steps on its
 * own loss, and shows by how much the model changed; the door's noisy sum of clipped
 * changes, over the public size of the cohort, moves the shared model w~.
 *
 *   fedavg   starts from w~ (McMahan et al. 2017; with noise, McMahan et al. 2018)
 *   fedprox  the same with the penalty mu/2 ||w - w~||^2 (Li et al. 2020)
 *   pmtl     starts from the task's own model, which it keeps, with the penalty
 *            lambda/2 ||w - w~||^2 (Hu, Wu, Smith 2023, algorithm 1)
 *   pmtl-clusters  the same, with one w~ for each public cluster of tasks
 *   pmtl-graph  the same, with a centre for each task, the mean of those that it is
 *            publicly related to (relations.h)
 *   ppsgd    starts from w~ + theta, theta the task's own part, which it keeps; every
 *            step is divided, `personal-rate` to 1, between theta and the shared part,
 *            whose change is shown (Bietti et al. 2022, algorithm 1)
 *   fedper   starts from the trunk of w~, all of a network but its last layer, and the
 *            task's own last layer, which it keeps; the trunk's change is shown
 *            (Arivazhagan et al. 2019)
 *
 * At the end a task has the shared model (fedavg, fedprox), its own (pmtl), the sum
 * (ppsgd) or both parts (fedper); what it makes of it at home is another phase
 * (finetune.c). A task without rows shows zeros, and has the shared model.
 * docs/methods/pmtl.md, fedavg.md, ppsgd.md, fedper.md */
#include "base/memory.h"
#include "learners/ridge_kept.h"
#include "linalg/linalg.h"
#include "methods/descent.h"
#include "methods/hope.h"
#include "methods/personal.h"
#include "methods/quantile_clip.h"
#include "methods/registry.h"
#include "methods/relations.h"
#include "privacy/accounting/chi_square.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEDAVG, FEDPROX, PMTL, PMTL_CLUSTERS, PMTL_GRAPH, PPSGD, FEDPER };
enum { LOCAL_STEPS, LOCAL_EXACT };
enum { GUARD_AUTO, GUARD_ON, GUARD_OFF };
static const double false_alarm = 0.01;
/* Rounds if nobody says, by how far directions that all tasks share stand out of the noise:
 * fewer where tasks keep models of their own, which have little to show after the first
 * ones. */
enum { MOST_ROUNDS = 20 };
static const double part_of_reach = 0.5, part_with_own = 0.25;

typedef struct averaging_options {
    double clip, penalty, server_rate, personal_rate;
    bb_descent descent;
    int local, guard;
    uint64_t rank; /* pmtl-graph */
} averaging_options;

#define ROW(word, what, field, fallback_text, from, to, name_of_value, text)           \
    {                                                                                  \
        .name = (word), .kind = (what), .offset = offsetof(averaging_options, field),  \
        .fallback = (fallback_text), .least = (from), .most = (to),                    \
        .argument = (name_of_value), .help = (text)                                    \
    }
#define CHOICE(word, field, fallback_text, words, text)                                \
    {                                                                                  \
        .name = (word), .kind = BB_OPTION_CHOICE,                                      \
        .offset = offsetof(averaging_options, field), .fallback = (fallback_text),     \
        .choices = (words), .argument = "HOW", .help = (text)                          \
    }
#define COMMON_ROWS                                                                    \
    ROW("clip", BB_OPTION_AUTO, clip, "auto", 1e-12, 1e12, "C",                        \
        "changes are clipped to this public norm when they are shown; auto: to their " \
        "median norm, found privately on the way for 1 % of the budget"),              \
        BB_DESCENT_STEPS_ROW(averaging_options,                                        \
                             "descent steps of a task in a round; 0: as `epochs' "     \
                             "says"),                                                  \
        BB_DESCENT_ROWS(averaging_options,                                             \
                        "passes over the task's rows in a round; 0: one with "         \
                        "--batch, else 10, with the squared loss 100",                 \
                        "length of a step: over the task's own Lipschitz constant "    \
                        "without --batch, else as it is; auto: 1, with --batch and "   \
                        "networks 0.1",                                                \
                        "of the local steps", "the rate over a round's steps"),        \
        ROW("server-rate", BB_OPTION_REAL, server_rate, "1", 1e-12, 1e6, "R",          \
            "the shared model moves by this times the average change"),                \
        CHOICE("guard", guard, "auto", "auto|on|off",                                  \
               "if the releases look like noise alone, all start from scratch at the " \
               "end; auto: on, but for networks of which tasks keep their own")
#define PENALTY_ROWS(word, name_of_value)                                              \
    ROW(word, BB_OPTION_REAL, penalty, "1e-4", 0.0, 1e12, name_of_value,               \
        "weight of the penalty on the distance from the shared model"),                \
        CHOICE("local", local, "exact", "steps|exact",                                 \
               "a task's part of a round: descent steps, or the exact minimum of its " \
               "loss and the penalty, where there is a solver for it")

static const bb_option fedavg_table[] = {COMMON_ROWS};
static const bb_option fedprox_table[] = {COMMON_ROWS, PENALTY_ROWS("mu", "MU")};
static const bb_option pmtl_table[] = {COMMON_ROWS, PENALTY_ROWS("lambda", "LAMBDA")};
static const bb_option graph_table[] = {
    COMMON_ROWS, PENALTY_ROWS("lambda", "LAMBDA"),
    ROW("rank", BB_OPTION_COUNT, rank, "0", 0.0, 4000.0, "R",
        "so many parts of the relations, the largest ones; 0: all")};
static const bb_option ppsgd_table[] = {
    COMMON_ROWS,
    ROW("personal-rate", BB_OPTION_REAL, personal_rate, "0.1", 0.0, 1e6, "R",
        "of each step this much goes to the task's own part, for 1 to the shared one")};

static bool keeps_own(const bb_view *view) {
    return view->method->variant == PMTL || view->method->variant == PMTL_CLUSTERS ||
           view->method->variant == PMTL_GRAPH;
}

/* NULL: the centre of all tasks is their mean. */
static const bb_relations *relations(const bb_view *view) {
    return view->method->related ? view->pub->relations : NULL;
}

/* The last layer of a network stays with the task. */
static bool keeps_head(const bb_view *view) {
    return view->method->variant == FEDPER;
}

static size_t head_length(const bb_view *view) {
    return keeps_head(view) ? view->pub->parameters - view->pub->trunk : 0;
}

static double penalty_of(const bb_view *view) {
    const averaging_options *o = view->options;
    const int variant = view->method->variant;
    return variant == FEDAVG || variant == PPSGD || variant == FEDPER ? 0.0
                                                                      : o->penalty;
}

/* A solver exists for linear models of one output, and a minimum with a penalty. */
static bool is_exact(const bb_view *view) {
    const averaging_options *o = view->options;
    return o->local == LOCAL_EXACT && penalty_of(view) > 0.0 &&
           bb_loss_is_solved(view->pub->loss, view->pub->network);
}

static bool is_guarded(const bb_view *view) {
    const averaging_options *o = view->options;
    if (o->guard != GUARD_AUTO) return o->guard == GUARD_ON;
    return !view->pub->network || view->method->state_models == 0;
}

static bool descends(const bb_view *view) {
    return !is_exact(view) && view->pub->batch == 0;
}

/* Whether a task makes the model that it keeps, if the guard found nothing, by itself
 * (personal.h): else it has the public start. */
static bool goes_alone(const bb_view *view) {
    return is_guarded(view) && bb_loss_is_solved(view->pub->loss, view->pub->network) &&
           !view->pub->start;
}

static bb_sgd descent_of(const bb_view *view) {
    const averaging_options *o = view->options;
    const bool squared = view->pub->loss == BB_LOSS_SQUARED && !view->pub->network;
    return bb_descent_of(&o->descent, view->pub,
                         (bb_descent_defaults){squared ? 100 : 10, 1, 0.1});
}

/* -- public: the board is w~ (one for each cluster, or what the centres of related tasks
 * are made of), with the start's last layer where tasks keep theirs; then, with a guard,
 * the sum of all releases, whether it was ever too long for noise, its variance, and that
 * of all; at last, with an automatic clip, the clip of the coming round -- */

static size_t groups(const bb_view *view) {
    const averaging_options *o = view->options;
    const bb_relations *r = relations(view);
    if (r) return o->rank && o->rank < r->rank ? (size_t)o->rank : r->rank;
    return view->method->clustered && view->pub->cluster ? view->pub->clusters : 1;
}

static size_t shared_length(const bb_view *view) {
    return groups(view) * view->pub->parameters;
}

/* Numbers of what a task shows of its change. */
static size_t shown_length(const bb_view *view) {
    return shared_length(view) - head_length(view);
}

static bool finds_clip(const bb_view *view) {
    const averaging_options *o = view->options;
    return isnan(o->clip);
}

static size_t board_length(const bb_view *view) {
    const size_t sum = is_guarded(view) ? shown_length(view) + 3 : 0;
    return shared_length(view) + sum + finds_clip(view);
}

static double clip_of(const bb_view *view) {
    const averaging_options *o = view->options;
    if (!finds_clip(view)) return o->clip;
    return view->board ? view->board->at[board_length(view) - 1]
                       : BB_QUANTILE_CLIP_FIRST;
}

static void open_board(const bb_view *view, bb_draft *draft) {
    const size_t p = view->pub->parameters;
    if (finds_clip(view)) draft->at[board_length(view) - 1] = BB_QUANTILE_CLIP_FIRST;
    if (relations(view)) return; /* centres begin at the start, and add these to it */
    for (size_t k = 0; k < groups(view); k++) {
        const double *start = bb_public_start(view->pub, k);
        if (start) memcpy(draft->at + k * p, start, p * sizeof *start);
    }
}

static void layout(const bb_view *view, bb_layout *out) {
    const bb_relations *r = relations(view);
    const double stretch = r ? bb_relations_norm(r, groups(view)) : 1.0;
    *out = (bb_layout){1,
                       {{"model changes", BB_FORM_VECTOR, shown_length(view),
                         stretch * clip_of(view), 1.0}}};
    if (finds_clip(view)) bb_quantile_clip_ask(out);
}

static uint32_t default_rounds(const bb_view *view) {
    bb_public pub = *view->pub;
    if (pub.network || pub.sampling != BB_SAMPLING_ALL) return MOST_ROUNDS;
    pub.features = pub.parameters;
    const double stands_out =
        (view->method->state_models ? part_with_own : part_of_reach) *
        bb_hope_reach(&pub, pub.mu);
    return (uint32_t)fmin(MOST_ROUNDS, fmax(1.0, round(stands_out * stands_out)));
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    const averaging_options *o = view->options;
    bb_layout blocks;
    if (view->pub->batch == 0 && !view->pub->network && !isnan(o->descent.rate) &&
        o->descent.rate >= 2.0 && !is_exact(view))
        return bb_fail(BB_EUSAGE,
                       "option rate: steps over all rows are stable below 2 (times one "
                       "over the Lipschitz constant), got %g",
                       o->descent.rate);
    if (keeps_head(view) && view->pub->trunk == 0)
        return bb_fail(BB_EUSAGE,
                       "method %s shares what a network has below its last layer, and "
                       "this one has no parameters there",
                       view->method->name);
    const bb_status status =
        bb_plan_schedule(out, view->pub, 0, default_rounds(view), "uniform");
    layout(view, &blocks);
    if (!status) bb_plan_room(out, view->pub, &blocks);
    return status;
}

static bool was_detected(const bb_view *view) {
    return !is_guarded(view) ||
           view->board->at[shared_length(view) + shown_length(view)] > 0.0;
}

/* Under noise alone the sum of releases has the sum of their variances times chi^2 as
 * its squared length. Where tasks keep their own models these follow the noise in w~,
 * and what they show afterwards is no longer without it: the first release alone tells.
 */
static void look(const bb_view *view, const bb_release *release, bb_draft *draft) {
    const size_t n = shown_length(view);
    double *sum = draft->at + shared_length(view), *detected = sum + n,
           *variance = detected + 1;
    const double looks = keeps_own(view) ? 1.0 : view->plan->rounds;
    if (release->round > looks) return;
    bb_axpy(n, 1.0, release->value[0], sum);
    *variance += release->noise[0] * release->noise[0];
    const double length = bb_norm(n, sum);
    if (length * length >
        *variance * bb_chi_square_quantile((double)n, false_alarm / looks))
        *detected = 1.0;
}

/* Where tasks keep their own models nobody takes the noise of earlier rounds out of w~
 * again: at the end it is shrunk toward the start by that noise (James, Stein 1961). */
static void shrink(const bb_view *view, double variance, double *shared) {
    const averaging_options *o = view->options;
    const size_t p = view->pub->parameters;
    const double scale = o->server_rate / bb_cohort_size(view->pub);
    for (size_t k = 0; k < groups(view); k++) {
        const double *start = bb_public_start(view->pub, k);
        double *w = shared + k * p;
        if (start) bb_axpy(p, -1.0, start, w);
        const double square = bb_dot(p, w, w);
        const double excess = fmax(0.0, (double)p - 2.0) * scale * scale * variance;
        bb_scale(p, square > excess ? 1.0 - excess / square : 0.0, w);
        if (start) bb_axpy(p, 1.0, start, w);
    }
}

static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    const averaging_options *o = view->options;
    const size_t n = shown_length(view);
    (void)work;
    /* means divide by all relations already: what a sample leaves out is made up for */
    const double all = relations(view) ? (double)view->pub->tasks : 1.0;
    bb_axpy(n, o->server_rate * all / bb_cohort_size(view->pub), release->value[0],
            draft->at);
    if (finds_clip(view))
        draft->at[board_length(view) - 1] =
            bb_quantile_clip_next(clip_of(view), release->value[1][0],
                                  release->noise[1], bb_cohort_size(view->pub));
    if (!is_guarded(view)) return BB_OK;
    double *detected = draft->at + shared_length(view) + n, *all_noise = detected + 2;
    look(view, release, draft);
    *all_noise += release->noise[0] * release->noise[0];
    if (release->round < view->plan->rounds) return BB_OK;
    if (keeps_own(view) && view->method->shared) shrink(view, *all_noise, draft->at);
    if (*detected == 0.0) {
        memset(draft->at, 0, shared_length(view) * sizeof *draft->at);
        open_board(view, draft);
    }
    return BB_OK;
}

static const double *shared(const bb_view *view) {
    return view->board->at;
}

static const char *note(const bb_view *view) {
    if (was_detected(view)) return NULL;
    return goes_alone(view)
               ? "the guard found nothing that stands out of the noise: tasks share no "
                 "model"
               : "the guard found nothing that stands out of the noise: every task was "
                 "left at the public start";
}

/* -- one task: numbers are those of its own model, local->length of them -- */

static size_t group_of(const bb_view *view, const bb_task *task) {
    return !relations(view) && groups(view) > 1 ? view->pub->cluster[task->id] : 0;
}

/* The task's public start, in its own numbers. */
static void gather_start(const bb_view *view, const bb_task *task, double *out) {
    const double *start = bb_public_start(view->pub, group_of(view, task));
    if (start)
        bb_local_gather(task->local, start, out);
    else
        memset(out, 0, task->local->length * sizeof *out);
}

/* out <- w~, or the centre of its relations. */
static void gather_centre(const bb_view *view, const bb_task *task, double *out) {
    const bb_relations *r = relations(view);
    const size_t p = view->pub->parameters;
    if (!r) {
        bb_local_gather(task->local, view->board->at + group_of(view, task) * p, out);
        return;
    }
    gather_start(view, task, out);
    for (size_t part = 0; part < groups(view); part++)
        bb_axpy(p, r->see[task->id * r->rank + part], view->board->at + part * p, out);
}

/* The work of a task: w~, its model, what the exact solver found, or what a step needs.
 */
typedef struct desk {
    double *shared, *model, *rest;
} desk;

static desk desk_of(const bb_view *view, const bb_task *task) {
    const size_t n = task->local->length;
    const desk d = {task->work, task->work + n, task->work + 2 * n};
    gather_centre(view, task, d.shared);
    return d;
}

static size_t local_length(const bb_view *view, const bb_local *local) {
    const bb_sgd sgd = descent_of(view);
    const size_t alone = goes_alone(view) ? bb_personal_work(local) : 0;
    const size_t kept = is_exact(view) ? bb_ridge_kept_work(local) : 0;
    return 4 * local->length + bb_sgd_work(local, &sgd) + alone + kept;
}

static size_t kept_length(const bb_view *view, const bb_local *local) {
    return is_exact(view) ? bb_ridge_kept_length(local) : 0;
}

/* Whether tasks remember what the clip has cut off of what they showed, and show it later:
 * where their model is an exact minimum nothing else would ever bring it back. */
static bool remembers(const bb_view *view) {
    return keeps_own(view) && is_exact(view);
}

/* How long a change may be that the door leaves as it is. */
static double longest_change(const bb_view *view, const bb_task *task) {
    const bb_relations *r = relations(view);
    if (!isfinite(view->pub->epsilon)) return INFINITY; /* nothing is clipped */
    if (!r) return clip_of(view);
    const double own = bb_norm(groups(view), r->show + task->id * r->rank);
    return clip_of(view) * bb_relations_norm(r, groups(view)) / fmax(own, 1e-300);
}

static size_t state_length(const bb_view *view) {
    return remembers(view) ? view->pub->parameters : head_length(view);
}

/* state: pmtl, the task's model less the public start, and if tasks remember what of it was
 * shown; ppsgd, theta; fedper, the task's last layer less that of the public start. Behind it
 * what exact minima have in common (ridge_kept.h), 0 in front before the first one, and -1
 * where there is nothing. */
static void begin(const bb_view *view, bb_task *task) {
    const size_t n = task->local->length, trunk = view->pub->trunk;
    if (!task->local->n) return;
    for (size_t k = 0; k < head_length(view); k++)
        task->state[k] = task->model[trunk + k] - view->board->at[trunk + k];
    if (view->method->state_models == 0) return;
    gather_start(view, task, task->state);
    for (size_t k = 0; k < n; k++) task->state[k] = task->model[k] - task->state[k];
    if (remembers(view)) memcpy(task->state + n, task->state, n * sizeof *task->state);
}

/* w <- where the round starts: state is what the task adds to `base`. */
static void set_out(const bb_view *view, const bb_task *task, const desk *d) {
    const size_t n = task->local->length;
    if (keeps_own(view))
        gather_start(view, task, d->model);
    else
        memcpy(d->model, d->shared, n * sizeof *d->model);
    if (view->method->state_models) bb_axpy(n, 1.0, task->state, d->model);
    bb_axpy(head_length(view), 1.0, task->state, d->model + view->pub->trunk);
}

/* Whether w <- the exact minimum, from what is kept of the round before, or is made now. */
static bool improve_again(const bb_view *view, const bb_task *task, const desk *d) {
    const bb_local *local = task->local;
    double *kept =
        task->state + view->method->state_models * local->length + state_length(view);
    if (!kept_length(view, local)) return false;
    if (kept[0] == 0.0 && !bb_ridge_kept_open(local, penalty_of(view), kept, d->rest))
        kept[0] = -1.0;
    return kept[0] > 0.0 &&
           bb_ridge_kept_solve(local, d->shared, kept, d->model, d->rest);
}

static void improve(const bb_view *view, bb_task *task, const desk *d) {
    const double penalty = penalty_of(view);
    const size_t n = task->local->length;
    if (is_exact(view)) {
        double intercept, *found = d->rest;
        if (improve_again(view, task, d)) return;
        if (!bb_local_ridge(task->local, penalty, d->shared, found, &intercept,
                            d->rest + n))
            memcpy(d->model, found, n * sizeof *found);
        return;
    }
    const bb_sgd sgd = descent_of(view);
    const bb_pull pull = {.penalty = penalty, .centre = d->shared};
    bb_local_descend(task->local, &sgd, &pull, task->random, d->model, NULL, d->rest);
}

/* The change that will be shown stays at the end of the desk: where w~ was. */
static void train(const bb_view *view, bb_task *task) {
    const averaging_options *o = view->options;
    const size_t n = task->local->length;
    const desk d = desk_of(view, task);
    double *change = d.shared;
    if (task->local->n == 0) {
        memset(change, 0, n * sizeof *change);
        return;
    }
    set_out(view, task, &d);
    double *start = d.rest + n;
    improve(view, task, &d);
    /* rest is free again: the start once more, to take the difference */
    const desk again = {d.shared, start, d.rest};
    set_out(view, task, &again);
    for (size_t k = 0; k < n; k++) change[k] = d.model[k] - start[k];
    if (view->method->variant == PPSGD)
        bb_scale(n, 1.0 / (1.0 + o->personal_rate), change);
    if (keeps_own(view)) bb_axpy(n, 1.0, change, task->state);
    if (remembers(view)) {
        double *shown = task->state + n;
        for (size_t k = 0; k < n; k++) change[k] = task->state[k] - shown[k];
        const double norm = bb_norm(n, change), most = longest_change(view, task);
        bb_axpy(n, norm > most ? most / norm : 1.0, change, shown);
    }
    if (view->method->variant == PPSGD)
        bb_axpy(n, o->personal_rate, change, task->state);
    bb_axpy(head_length(view), 1.0, change + view->pub->trunk, task->state);
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    const bb_relations *r = relations(view);
    const size_t p = view->pub->parameters, n = task->local->length - head_length(view);
    if (finds_clip(view) && task->local->n > 0)
        block[1][0] = bb_quantile_clip_bit(bb_norm(n, task->work), clip_of(view));
    for (size_t part = 0; r && part < groups(view); part++)
        bb_axpy(p, r->show[task->id * r->rank + part], task->work, block[0] + part * p);
    if (r) return;
    memcpy(block[0] + group_of(view, task) * p, task->work, n * sizeof **block);
}

static bb_status finish(const bb_view *view, bb_task *task) {
    const desk d = desk_of(view, task);
    *task->intercept = 0.0;
    if (!was_detected(view) && goes_alone(view)) {
        const bb_personal_public known = bb_personal_known(view->pub);
        return bb_personal_model(task->local, &known, task->model, d.rest);
    }
    if (task->local->n == 0 || !was_detected(view))
        memcpy(d.model, d.shared, task->local->length * sizeof *d.model);
    else
        set_out(view, task, &d);
    memcpy(task->model, d.model, task->local->length * sizeof *d.model);
    return BB_OK;
}

/* Hu, Wu, Smith (2023), equation 1, for the models as they are; without models of their own
 * tasks minimise the losses' sum alone. */
static bb_status penalty(const bb_view *view, const double *models, double *out) {
    const size_t d = view->pub->features, m = view->pub->tasks;
    const int variant = view->method->variant;
    double *mean = NULL;
    *out = variant == FEDAVG || variant == FEDPROX ? 0.0 : NAN;
    if (variant != PMTL) return BB_OK;
    const bb_status status = bb_allocate(&mean, d, sizeof *mean, "a trace");
    if (status) return status;
    for (size_t i = 0; i < m; i++) bb_axpy(d, 1.0 / (double)m, models + i * d, mean);
    *out = 0.0;
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < d; k++) {
            const double apart = models[i * d + k] - mean[k];
            *out += penalty_of(view) / 2.0 * apart * apart;
        }
    free(mean);
    return BB_OK;
}

#define METHOD(word, number, words, keep, states, many, how, rows, share)              \
    {                                                                                  \
        .name = (word), .summary = (words), .variant = (number),                       \
        .kind = BB_METHOD_PRIVATE, .draws = true,                                      \
        .losses = BB_SUPPORTS_ALL | ((number) == FEDPER ? BB_NETWORKS_ONLY : 0),       \
        .note = note, .takes = BB_TAKES_ROUNDS | BB_TAKES_SCHEDULE | BB_TAKES_BATCH,   \
        .sampled = true, .keeps = (keep), .clustered = (many), .finetune = (how),      \
        .finetune_solved = (keep) && (number) != FEDPER, .shared_intercept = true,     \
        .options = {(rows), sizeof(rows) / sizeof *(rows)},                            \
        .options_size = sizeof(averaging_options), .plan = plan,                       \
        .board_length = board_length, .state_models = (states),                        \
        .state_length = state_length, .kept_length = kept_length,                      \
        .descends = descends, .local_length = local_length, .open = open_board,        \
        .begin = begin, .layout = layout, .train = train, .show = show,                \
        .digest = digest, .finish = finish, .shared = (share), .penalty = penalty,     \
        .related = (number) == PMTL_GRAPH                                              \
    }

const bb_method bb_method_fedavg =
    METHOD("fedavg", FEDAVG, "one shared model, by averaging what tasks change in it",
           false, 0, false, "mean", fedavg_table, shared);
const bb_method bb_method_fedprox =
    METHOD("fedprox", FEDPROX, "fedavg whose local steps stay near the shared model",
           false, 0, false, "mean", fedprox_table, shared);
const bb_method bb_method_pmtl =
    METHOD("pmtl", PMTL, "personal models, each pulled towards their shared average",
           true, 1, false, "mean", pmtl_table, shared);
const bb_method bb_method_pmtl_clusters =
    METHOD("pmtl-clusters", PMTL_CLUSTERS,
           "pmtl with one average for each public cluster of tasks", true, 1, true,
           "mean", pmtl_table, shared);
const bb_method bb_method_ppsgd =
    METHOD("ppsgd", PPSGD, "a shared model plus a part that stays with the task", true,
           1, false, "mean", ppsgd_table, shared);
const bb_method bb_method_fedper =
    METHOD("fedper", FEDPER, "a shared network whose last layer stays with the task",
           true, 0, false, "vanilla,epochs=20,rate=0.1", fedavg_table, shared);
const bb_method bb_method_pmtl_graph =
    METHOD("pmtl-graph", PMTL_GRAPH,
           "pmtl with a centre for each task, the mean of those it is related to", true,
           1, false, NULL, graph_table, NULL);
