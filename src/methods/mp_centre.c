/* mp-centre - a shared centre for classification, released a few times, and a guard
 * that leaves every task as it was alone where no centre is found.
 *
 * In each round a task shows the direction, of length one where it is far, in which it would
 * move from the centre; the noisy average of the directions, shrunk, moves the centre with
 * momentum. Rounds follow from public sizes; without ranges two for units come before them,
 * and tasks that are many enough vote behind them on how they fit at home.
 * Everything else is local and free.
 * docs/methods/mp-centre.md, docs/methods/mp-centre-details.md */
#include "linalg/linalg.h"
#include "methods/common_units.h"
#include "methods/hope.h"
#include "methods/personal.h"
#include "methods/personal_outputs.h"
#include "methods/personal_vote.h"
#include "methods/registry.h"
#include "methods/search.h"
#include "privacy/accounting/chi_square.h"

#include <math.h>
#include <string.h>

static const double false_alarm = 0.01;
/* Below it no tasks can have enough in common to be seen: nothing is published. */
static const double least_reach = 1.0;
/* The usual penalty, of the variance of a task's rows; that is at least a part of their
 * square. */
static const double usual = 0.3, least_variance = 0.2, least_penalty = 1e-6;
static const double least_odds = 5.0, most_odds = 50.0;
/* Of mu^2, what a vote has; and log odds of fits that count as one. */
static const double vote_share = 0.05, unit_of_fits = 3.0;
static const bb_vote_trust trust = {600.0, 1.5};

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
     .fallback = "0",
     .least = 0.0,
     .most = 1e6,
     .argument = "WEIGHT",
     .help = "of the distance from the centre, beside the summed loss, in the fit that "
             "shows a direction; 0: .3 of the variance of the task's rows"},
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
 * noise; units in common lie behind them. */
typedef struct centre_board {
    bb_search search;
    double *detected;
} centre_board;

static centre_board board_at(double *at, size_t d) {
    return (centre_board){{at, at + d, at + 2 * d, at + 3 * d}, at + 3 * d + 2};
}

static size_t units_at(const bb_view *view) {
    return 3 * view->pub->parameters + 3;
}

/* Whether anything can be seen of what all tasks share. */
static bool is_open(const bb_view *view) {
    const double root = sqrt((double)view->pub->outputs);
    return bb_hope_reach(view->pub, view->pub->mu) / root >= least_reach;
}

/* Whether tasks look for units in common before they look for a centre. */
static bool has_units(const bb_view *view) {
    return view->pub->own_units && is_open(view) && bb_units_rounds(view) > 0;
}

static uint32_t units_of(const bb_view *view) {
    return has_units(view) ? bb_units_rounds(view) : 0;
}

static bb_units units_read(const bb_view *view) {
    return has_units(view) ? bb_units_read(view, view->board->at + units_at(view))
                           : (bb_units){0};
}

/* Whether tasks vote on how they fit at home, after the search. */
static bool votes(const bb_view *view) {
    const double mu = view->pub->mu * sqrt(vote_share);
    return view->pub->constant && is_open(view) &&
           bb_vote_is_heard(view->pub, mu, BB_PERSONAL_LABEL_CELLS);
}

/* Log odds of fits, if tasks vote. */
static size_t odds_at(const bb_view *view) {
    return units_at(view) + bb_units_length(view, units_of(view));
}

static size_t board_length(const bb_view *view) {
    return odds_at(view) + (votes(view) ? BB_PERSONAL_LABEL_CELLS : 0);
}

/* The part of mu^2 that the search has. */
static double search_share(const bb_view *view) {
    return 1.0 - units_of(view) * bb_units_share(view) -
           (votes(view) ? vote_share : 0.0);
}

static double search_reach(const bb_view *view) {
    return bb_hope_reach(view->pub, view->pub->mu * sqrt(search_share(view)));
}

/* How far a direction that all tasks share stands out of the noise. */
static double reach_of(const bb_view *view) {
    return search_reach(view) / sqrt((double)view->pub->outputs);
}

/* As many rounds as leave the average of directions with a signal of this length above
 * its noise; none where nothing can be seen. */
static uint32_t rounds_of(const bb_view *view) {
    const centre_options *o = view->options;
    const double signal = o->signal * search_reach(view);
    if (!is_open(view)) return 0;
    return (uint32_t)fmin((double)o->most_rounds, fmax(1.0, round(signal * signal)));
}

/* Of the release that comes now. */
static bool is_of_units(const bb_view *view) {
    return view->board->releases < units_of(view);
}

static bool is_of_vote(const bb_view *view, uint32_t releases) {
    return votes(view) && releases == units_of(view) + rounds_of(view);
}

static bb_block block_of(const bb_view *view, uint32_t releases) {
    if (releases < units_of(view)) return bb_units_block(view, releases);
    if (is_of_vote(view, releases))
        return bb_vote_layout(BB_PERSONAL_LABEL_CELLS).block[0];
    return (bb_block){"directions", BB_FORM_VECTOR, view->pub->parameters, 1.0, 1.0};
}

static void layout(const bb_view *view, bb_layout *out) {
    *out = (bb_layout){1, {block_of(view, view->board->releases)}};
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    if (view->pub->rounds || view->pub->schedule)
        return bb_fail(BB_EUSAGE, "mp-centre makes its own rounds from public sizes; "
                                  "rounds and schedule cannot be chosen");
    const uint32_t units = units_of(view), rounds = rounds_of(view);
    const uint32_t all = units + rounds + votes(view);
    const bb_status status = bb_plan_rounds(out, all);
    for (uint32_t t = 0; t < all && !status; t++) {
        const bb_layout blocks = {1, {block_of(view, t)}};
        double share = search_share(view) / rounds;
        if (t < units) share = bb_units_share(view);
        if (is_of_vote(view, t)) share = vote_share;
        out->step[t].weight = sqrt(share);
        bb_plan_room(out, view->pub, &blocks);
    }
    return status;
}

static const double *shared(const bb_view *view) {
    return view->board->at;
}

static bool was_detected(const bb_view *view) {
    return view->board->at[3 * view->pub->parameters + 2] > 0.0;
}

static void take_vote(const bb_view *view, const bb_release *release, double *odds) {
    bool is[BB_PERSONAL_LABEL_CELLS];
    const bb_personal_public known = {.centre =
                                          was_detected(view) ? shared(view) : NULL};
    bb_personal_label_cells(&known, is);
    bb_vote_take(BB_PERSONAL_LABEL_CELLS, is, release->value[0], release->noise[0],
                 trust, view->pub->tasks, odds);
}

static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    const size_t d = view->pub->parameters, outputs = view->pub->outputs;
    const centre_options *o = view->options;
    const centre_board at = board_at(draft->at, d);
    const uint32_t rounds = rounds_of(view);
    double *units = draft->at + units_at(view);
    bb_release seen = *release; /* of the search */
    if (is_of_units(view)) {
        if (view->board->releases == 0)
            bb_units_take(view, release, units);
        else
            bb_units_take_places(view, release, units + bb_units_length(view, 1));
        return BB_OK;
    }
    if (is_of_vote(view, view->board->releases)) {
        take_vote(view, release, draft->at + odds_at(view));
        return BB_OK;
    }
    seen.round -= units_of(view);
    const double tasks = (double)view->pub->tasks, t = seen.round;
    const double sd = seen.noise[0] / tasks;
    /* Rows have a length of about one, so models grow with the root of their numbers. */
    const double step = o->step * sqrt((double)d);
    const double square = bb_search_move(&at.search, &seen, d, false, outputs, tasks,
                                         step, o->momentum, work);
    const double noise =
        bb_chi_square_quantile(bb_search_freedom(d, outputs), false_alarm / rounds);
    if (square > t * sd * sd * noise) *at.detected = 1.0;
    if (seen.round == rounds && *at.detected == 0.0)
        memset(at.search.centre, 0, d * sizeof *at.search.centre);
    return BB_OK;
}

static const char *note(const bb_view *view) {
    if (rounds_of(view) == 0) return bb_hope_gone;
    return was_detected(view)
               ? "a centre that tasks share was found: every task averages what it "
                 "learns around that and alone"
               : "the guard found no centre that stands out of the noise: "
                 "every task was left as it is alone";
}

static size_t parameters(const bb_view *view) {
    return view->pub->parameters;
}

/* -- one task -- */

static size_t units_state(const bb_view *view) {
    return has_units(view) ? bb_units_state(view) : 0;
}

static size_t state_length(const bb_view *view) {
    const size_t two = view->pub->loss == BB_LOSS_LOGISTIC ? 2 : 1;
    return units_state(view) + parameters(view) * two + 1;
}

static size_t local_length(const bb_view *view, const bb_local *local) {
    const bb_units units = {.state = units_state(view)};
    return bb_units_work(&units, local) + 2 * local->length + bb_personal_work(local);
}

/* The task's part of the centre. */
static double *gather(const bb_view *view, const bb_task *task) {
    bb_local_gather(task->local, shared(view), task->work);
    return task->work;
}

/* The variance of a task's rows, which says how long models are: of all features together
 * but the constant, and no less than a part of their square, as one row has none. That of
 * sparse rows is their square, or nearly. work: d doubles, of dense rows. */
static double variance_of(const bb_view *view, const bb_local *local, double *work) {
    const size_t columns = local->d - view->pub->constant;
    const double n = (double)local->n;
    const double square = bb_local_squares(local, columns, local->x ? work : NULL) / n;
    if (!local->x) return square;
    return fmax(square - bb_dot(columns, work, work) / (n * n),
                least_variance * square);
}

/* w <- the fit that shows a direction; at: where that of the round before ended. */
static bb_status look(const bb_view *view, const bb_local *local, const double *centre,
                      double *at, double *w, double *work) {
    const centre_options *o = view->options;
    double penalty = o->penalty;
    if (penalty == 0.0)
        penalty = fmax(usual * variance_of(view, local, w), least_penalty);
    double intercept;
    if (local->loss == BB_LOSS_LOGISTIC)
        return bb_local_ridge_again(local, penalty * local->weight, centre, at, w,
                                    &intercept, work);
    bb_personal_outputs_fit(local, penalty, centre, w, work);
    return BB_OK;
}

/* state: the direction that the task will show, with two classes where its fit ended, and how
 * far its first one went. A task of one class would go on for ever towards it. */
static void train(const bb_view *view, bb_task *given) {
    const centre_options *o = view->options;
    const bb_units units = units_read(view);
    bb_local local;
    if (is_of_units(view) || is_of_vote(view, view->board->releases)) return;
    const bb_task task = bb_units_in(view, &units, given, &local);
    const size_t n = local.length;
    const double *centre = gather(view, &task);
    double *w = task.work + n, *u = given->state + units.state;
    double *first = given->state + state_length(view) - 1;
    memset(u, 0, n * sizeof *u);
    if (local.n == 0 || look(view, &local, centre, u + n, w, w + n)) return;
    for (size_t k = 0; k < n; k++) u[k] = w[k] - centre[k];
    const double norm = bb_norm(n, u);
    if (view->board->releases == units_of(view)) *first = norm;
    const double whole = fmax(norm, o->length * *first);
    bb_scale(n, whole > 0.0 ? 1.0 / whole : 0.0, u);
}

/* What a centre is believed before a task's rows are looked at: more the farther a common
 * direction stands out of the noise. */
static double odds_of(const bb_view *view) {
    const double reach = reach_of(view);
    return fmin(most_odds, fmax(least_odds, reach * reach / least_odds));
}

static bb_personal_public known_of(const bb_view *view, const bb_task *task) {
    bb_personal_public known = bb_personal_known(view->pub);
    if (was_detected(view)) known.centre = gather(view, task);
    return known;
}

static void show_vote(const bb_view *view, const bb_task *given, double *vote) {
    const bb_units units = units_read(view);
    double evidence[BB_PERSONAL_LABEL_CELLS];
    bb_local local;
    const bb_task task = bb_units_in(view, &units, given, &local);
    const bb_personal_public known = known_of(view, &task);
    if (!bb_personal_label_evidence(&local, &known, evidence, task.work + local.length))
        bb_vote_show(BB_PERSONAL_LABEL_CELLS, evidence, unit_of_fits, vote);
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    const bb_units units = units_read(view);
    const double *u = task->state + units.state;
    if (is_of_vote(view, view->board->releases))
        show_vote(view, task, block[0]);
    else if (!is_of_units(view))
        memcpy(block[0], u, task->local->length * sizeof **block);
    else if (units.unit)
        bb_units_show_places(view, units.unit, task->local, block[0]);
    else
        bb_units_show(view, task->local, block[0]);
}

static bb_status finish(const bb_view *view, bb_task *task) {
    const bb_units units = units_read(view);
    bb_local local;
    bb_task own = bb_units_in(view, &units, task, &local);
    bb_personal_public known = known_of(view, &own);
    if (votes(view)) known.odds = view->board->at + odds_at(view);
    *task->intercept = 0.0;
    const bb_status status = bb_personal_around(&local, &known, odds_of(view),
                                                own.model, own.work + local.length);
    if (!status) bb_units_take_model(view, &own, task);
    return status;
}

const bb_method bb_method_mp_centre = {
    .name = "mp-centre",
    .summary = "a shared centre for classification, or nothing where there is none",
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_LOGISTIC | BB_SUPPORTS_SOFTMAX,
    .common_units = true,
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
