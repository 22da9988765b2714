/* mp-centre - a shared centre for classification, released a few times, and a guard
 * that leaves every task as it was alone where no centre is found.
 *
 * In each round a task shows the direction, of length one where it is far, in which it would
 * move from the centre; the noisy average of the directions, shrunk, moves the centre with
 * momentum. Rounds follow from public sizes. Everything else is local and free.
 * docs/methods/mp-centre.md, docs/methods/mp-centre-details.md */
#include "linalg/linalg.h"
#include "methods/hope.h"
#include "methods/personal.h"
#include "methods/personal_outputs.h"
#include "methods/registry.h"
#include "methods/search.h"
#include "privacy/accounting/chi_square.h"

#include <math.h>
#include <string.h>

static const double false_alarm = 0.01;
/* Below it no tasks can have enough in common to be seen: nothing is published. */
static const double least_reach = 1.0;
static const double least_odds = 5.0, most_odds = 50.0;

typedef struct centre_options {
    double step, momentum, signal, penalty, length;
    uint64_t most_rounds;
} centre_options;

#define AT(field) offsetof(centre_options, field)
static const bb_option table[] = {
    {.name = "step",
     .kind = BB_OPTION_REAL,
     .offset = AT(step),
     .fallback = "1",
     .least = 1e-6,
     .most = 1e6,
     .argument = "LENGTH",
     .help = "how far a common direction moves the centre in a round, times the square "
             "root of how many numbers a model has"},
    {.name = "momentum",
     .kind = BB_OPTION_REAL,
     .offset = AT(momentum),
     .fallback = "0.7",
     .least = 0.0,
     .most = 0.999,
     .argument = "BETA",
     .help = "the most that the centre keeps of its movement"},
    {.name = "penalty",
     .kind = BB_OPTION_REAL,
     .offset = AT(penalty),
     .fallback = "0.02",
     .least = 1e-6,
     .most = 1e6,
     .argument = "WEIGHT",
     .help = "of the distance from the centre, beside the summed loss, in the fit that "
             "shows a direction"},
    {.name = "length",
     .kind = BB_OPTION_REAL,
     .offset = AT(length),
     .fallback = "0.5",
     .least = 0.0,
     .most = 1.0,
     .argument = "PART",
     .help = "a fit that goes less far than this part of the way that the first one "
             "went is shown by so much shorter: a task that has what it wants says "
             "little"},
    {.name = "signal",
     .kind = BB_OPTION_REAL,
     .offset = AT(signal),
     .fallback = "0.7",
     .least = 1e-6,
     .most = 1.0,
     .argument = "LENGTH",
     .help = "as many rounds as leave a common direction of this length above the "
             "noise of each"},
    {.name = "most-rounds",
     .kind = BB_OPTION_COUNT,
     .offset = AT(most_rounds),
     .fallback = "24",
     .least = 1.0,
     .most = 1000.0,
     .argument = "T",
     .help = "but no more than these"},
};

/* Where digest writes the billboard: the search, and whether its sum was ever too long for
 * noise. */
typedef struct centre_board {
    bb_search search;
    double *detected;
} centre_board;

static centre_board board_at(double *at, size_t d) {
    return (centre_board){{at, at + d, at + 2 * d}, at + 3 * d};
}

static size_t board_length(const bb_view *view) {
    return 3 * view->pub->parameters + 1;
}

static void layout(const bb_view *view, bb_layout *out) {
    *out = (bb_layout){
        1, {{"directions", BB_FORM_VECTOR, view->pub->parameters, 1.0, 1.0}}};
}

/* How far a direction that all tasks share stands out of the noise. */
static double reach_of(const bb_view *view) {
    return bb_hope_reach(view->pub, view->pub->mu) / sqrt((double)view->pub->outputs);
}

/* As many rounds as leave the average of directions with a signal of this length above
 * its noise; none where nothing can be seen. */
static uint32_t rounds_of(const bb_view *view) {
    const centre_options *o = view->options;
    const double signal = o->signal * bb_hope_reach(view->pub, view->pub->mu);
    if (reach_of(view) < least_reach) return 0;
    return (uint32_t)fmin((double)o->most_rounds, fmax(1.0, round(signal * signal)));
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    bb_layout blocks;
    if (view->pub->rounds || view->pub->schedule)
        return bb_fail(BB_EUSAGE, "mp-centre makes its own rounds from public sizes; "
                                  "rounds and schedule cannot be chosen");
    const uint32_t rounds = rounds_of(view);
    const bb_status status = bb_plan_rounds(out, rounds);
    layout(view, &blocks);
    if (rounds && !status) bb_plan_room(out, view->pub, &blocks);
    return status;
}

static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    const size_t d = view->pub->parameters, outputs = view->pub->outputs;
    const centre_options *o = view->options;
    const centre_board at = board_at(draft->at, d);
    const double tasks = (double)view->pub->tasks, t = release->round;
    const double sd = release->noise[0] / tasks;
    /* Rows have a length of about one, so models grow with the root of their numbers. */
    const double step = o->step * sqrt((double)d);
    const double square = bb_search_move(&at.search, release, d, false, outputs, tasks,
                                         step, o->momentum, work);
    const double noise = bb_chi_square_quantile(bb_search_freedom(d, outputs),
                                                false_alarm / view->plan->rounds);
    if (square > t * sd * sd * noise) *at.detected = 1.0;
    if (release->round == view->plan->rounds && *at.detected == 0.0)
        memset(at.search.centre, 0, d * sizeof *at.search.centre);
    return BB_OK;
}

static const double *shared(const bb_view *view) {
    return view->board->at;
}

static bool was_detected(const bb_view *view) {
    return view->board->at[3 * view->pub->parameters] > 0.0;
}

static const char *note(const bb_view *view) {
    if (rounds_of(view) == 0) return bb_hope_gone;
    return was_detected(view)
               ? NULL
               : "the guard found no centre that stands out of the noise: "
                 "every task was left as it is alone";
}

static size_t parameters(const bb_view *view) {
    return view->pub->parameters;
}

/* -- one task -- */

static size_t state_length(const bb_view *view) {
    return parameters(view) * (view->pub->loss == BB_LOSS_LOGISTIC ? 2 : 1) + 1;
}

static size_t local_length(const bb_view *view, const bb_local *local) {
    (void)view;
    return 2 * local->length + bb_personal_work(local);
}

/* The task's part of the centre. */
static double *gather(const bb_view *view, const bb_task *task) {
    bb_local_gather(task->local, shared(view), task->work);
    return task->work;
}

/* w <- the fit that shows a direction; at: where that of the round before ended. */
static bb_status look(const bb_view *view, const bb_local *local, const double *centre,
                      double *at, double *w, double *work) {
    const centre_options *o = view->options;
    double intercept;
    if (local->loss == BB_LOSS_LOGISTIC)
        return bb_local_ridge_again(local, o->penalty * local->weight, centre, at, w,
                                    &intercept, work);
    bb_personal_outputs_fit(local, o->penalty, centre, w, work);
    return BB_OK;
}

/* state: the direction that the task will show, with two classes where its fit ended, and how
 * far its first one went. A task of one class would go on for ever towards it. */
static void train(const bb_view *view, bb_task *task) {
    const centre_options *o = view->options;
    const size_t n = task->local->length;
    const double *centre = gather(view, task);
    double *w = task->work + n, *u = task->state;
    double *first = u + state_length(view) - 1;
    memset(u, 0, n * sizeof *u);
    if (task->local->n == 0 || look(view, task->local, centre, u + n, w, w + n)) return;
    for (size_t k = 0; k < n; k++) u[k] = w[k] - centre[k];
    const double norm = bb_norm(n, u);
    if (view->board->releases == 0) *first = norm;
    const double whole = fmax(norm, o->length * *first);
    bb_scale(n, whole > 0.0 ? 1.0 / whole : 0.0, u);
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    (void)view;
    memcpy(block[0], task->state, task->local->length * sizeof **block);
}

/* What a centre is believed before a task's rows are looked at: more the farther a common
 * direction stands out of the noise. */
static double odds_of(const bb_view *view) {
    const double reach = reach_of(view);
    return fmin(most_odds, fmax(least_odds, reach * reach / least_odds));
}

static bb_status finish(const bb_view *view, bb_task *task) {
    bb_personal_public known = bb_personal_known(view->pub);
    if (was_detected(view)) known.centre = gather(view, task);
    *task->intercept = 0.0;
    return bb_personal_around(task->local, &known, odds_of(view), task->model,
                              task->work + task->local->length);
}

const bb_method bb_method_mp_centre = {
    .name = "mp-centre",
    .summary = "a shared centre for classification, or nothing where there is none",
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_LOGISTIC | BB_SUPPORTS_SOFTMAX,
    .foreseen = true,
    .shared_intercept = true,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(centre_options),
    .plan = plan,
    .board_length = board_length,
    .state_length = state_length,
    .digest_length = parameters,
    .local_length = local_length,
    .layout = layout,
    .train = train,
    .show = show,
    .digest = digest,
    .finish = finish,
    .shared = shared,
    .note = note,
};
