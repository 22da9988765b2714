#include "methods/mp_family.h"

#include "base/memory.h"
#include "linalg/linalg.h"
#include "methods/mp_prior.h"
#include "methods/personal.h"
#include "methods/personal_vote.h"
#include "methods/theory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Public candidates for the clip: 10^-3 .. 10^3, four a decade. */
enum { CLIP_CANDIDATES = 25, CLIPS_A_DECADE = 4 };
static const double least_clip_exponent = -3.0;

enum { DEFAULT_ROUNDS = 20 };
static const char default_schedule[] = "uniform";
static const double default_shift = 1.5;
/* Automatic weights: of the shared penalty, over the singular value that half of the
 * directions do not exceed, or over a small part of the largest; of a start with the
 * logistic loss, beside the summed loss. */
static const double part_of_usual = 0.03, part_of_largest = 0.01;
static const double logistic_start = 0.3;
/* Squares tell a prior where they are above so many times the usual size of the noise;
 * the others, and those below this part of the largest, are all alike. */
static const double stands_out = 1.1, least_part = 1e-8;

static double clip_exponent(size_t k) {
    return least_clip_exponent + (double)k / CLIPS_A_DECADE;
}

/* -- the variant -- */

/* M is a full matrix, made of outer products; otherwise it is diagonal. */
static bool is_low_rank(const bb_view *view) {
    const bb_mp_options *o = view->options;
    const int variant = view->method->variant;
    const bool chosen = variant == BB_MP_BY_PATTERN || variant == BB_MP_TWO_PARTS;
    return (chosen ? o->pattern : variant) != BB_MP_GROUP_SPARSE;
}

/* Of how many summands a model is made. The loss sees p + q: its curvature in (p, q) is
 * twice that of a single model. */
static double parts(const bb_view *view) {
    return view->method->variant == BB_MP_TWO_PARTS ? 2 : 1;
}

/* -- the task's memory -- */

size_t bb_mp_state_length(const bb_view *view) {
    const bb_mp_options *o = view->options;
    const size_t vectors = view->method->variant == BB_MP_TWO_PARTS ? 4 : 2;
    const size_t sums = o->output == BB_MP_OUTPUT_AVERAGE;
    return (vectors + sums) * view->pub->features + 2;
}

/* The sum of the models so far, at the end. */
static double *models_sum(const bb_view *view, const bb_task *task) {
    return task->state + bb_mp_state_length(view) - view->pub->features;
}

bb_mp_state bb_mp_read(const bb_task *task) {
    const size_t d = task->local->d;
    double *at = task->state;
    return (bb_mp_state){.w = at,
                         .previous = at + d,
                         .intercept = at + 2 * d,
                         .q = at + 2 * d + 2,
                         .q_previous = at + 3 * d + 2};
}

/* -- the billboard: K, then M; where tasks keep what they fit at home, whether anything
 * stood out of the noise of the models' last release, and the prior that it tells:
 * deviations in directions (or features), and those directions; where tasks vote on their
 * fits, the odds -- */

static const double *matrix(const bb_view *view) {
    return view->board->at + 1;
}

static bool noiseless(const bb_public *pub) {
    return !isfinite(pub->epsilon);
}

bool bb_mp_own_intercept(const void *options) {
    const bb_mp_options *o = options;
    return o->keep == BB_MP_KEEP_OWN;
}

bool bb_mp_goes_home(const bb_view *view) {
    return !bb_mp_own_intercept(view->options);
}

/* Where the prior begins. */
static size_t prior_at(const bb_view *view) {
    const size_t d = view->pub->features;
    return 1 + (is_low_rank(view) ? d * d : d);
}

/* Where the odds begin. */
static size_t odds_at(const bb_view *view) {
    const size_t d = view->pub->features;
    const size_t prior =
        bb_mp_goes_home(view) ? 1 + d + (is_low_rank(view) ? d * d : 0) : 0;
    return prior_at(view) + prior;
}

/* Whether there is a last round for them. */
static bool votes(const bb_view *view) {
    const bb_public *pub = view->pub;
    return bb_mp_goes_home(view) && pub->loss == BB_LOSS_SQUARED &&
           !pub->as_published &&
           bb_vote_is_heard(pub, pub->mu * sqrt(bb_vote_share), BB_PERSONAL_OWN_CELLS);
}

bool bb_mp_is_voting(const bb_view *view) {
    return votes(view) && view->board->releases + 1 == view->plan->rounds;
}

size_t bb_mp_board_length(const bb_view *view) {
    return odds_at(view) + (votes(view) ? BB_PERSONAL_CELLS : 0);
}

/* What tasks know at home. told: room for the covariance, if there is one. */
static bb_personal_public known_of(const bb_view *view, bb_covariance *told) {
    const size_t d = view->pub->features;
    const double *at = view->board->at + prior_at(view), *root = at + 1;
    *told = (bb_covariance){is_low_rank(view) ? root + d : NULL, root};
    bb_personal_public known = bb_personal_known(view->pub);
    if (*at > 0.0) known.told = told;
    return known;
}

/* Whether the first round selects the clip. */
static bool selects(const bb_view *view) {
    const bb_mp_options *o = view->options;
    return isnan(o->clip) && !noiseless(view->pub);
}

/* Whether the coming round does. */
static bool selecting(const bb_view *view) {
    return view->board->releases == 0 && selects(view);
}

double bb_mp_clip(const bb_view *view) {
    const bb_mp_options *o = view->options;
    if (noiseless(view->pub) && !view->method->own_noise) return INFINITY;
    return isnan(o->clip) ? view->board->at[0] : o->clip;
}

uint32_t bb_mp_iterations(const bb_view *view) {
    const uint32_t releases = view->board->releases;
    const bool voted = votes(view) && releases == view->plan->rounds;
    return releases - (releases && selects(view)) - voted;
}

/* -- public numbers -- */

/* The curvature of a mean loss over rows inside the unit ball is at most this. */
static double curvature(const bb_public *pub) {
    if (pub->loss == BB_LOSS_SQUARED) return 1.0;
    return pub->intercept ? 0.5 : 0.25;
}

double bb_mp_step(const bb_view *view) {
    const bb_mp_options *o = view->options;
    if (!isnan(o->step)) return o->step;
    if (view->pub->scale_sum) return NAN;
    return 1.0 / (parts(view) * (curvature(view->pub) + o->ridge));
}

static double convexity(const bb_mp_options *o) {
    return isnan(o->convexity) ? o->ridge : o->convexity;
}

double bb_mp_beta(const bb_view *view, uint32_t t) {
    const bb_mp_options *o = view->options;
    if (o->momentum == BB_MP_NESTEROV) return ((double)t - 1.0) / ((double)t + 2.0);
    if (o->momentum == BB_MP_PLAIN) return 0.0;
    /* sqrt(mu / L), L = 1 / eta */
    const double root = sqrt(convexity(o) * bb_mp_step(view));
    return (1.0 - root) / (1.0 + root);
}

static bb_status check(const bb_view *view) {
    const bb_mp_options *o = view->options;
    const char *name = view->method->name;
    const size_t features = view->pub->features;
    const double step = bb_mp_step(view);
    if (is_low_rank(view) && features > BB_MP_MOST_FEATURES)
        return bb_fail(BB_EUSAGE,
                       "%s shares a matrix of features x features: at most %d "
                       "features, found %zu; mp-groupsparse shares a vector",
                       name, BB_MP_MOST_FEATURES, features);
    if (isnan(step))
        return bb_fail(BB_EUSAGE,
                       "%s: with loss scale sum the loss has no public curvature: "
                       "give option step",
                       name);
    if (o->momentum != BB_MP_STRONG) return BB_OK;
    if (convexity(o) > 0.0 && convexity(o) * step <= 1.0) return BB_OK;
    return bb_fail(BB_EUSAGE,
                   "%s: momentum strong needs 0 < strong-convexity * step <= 1, got "
                   "%g * %g; give ridge or strong-convexity",
                   name, convexity(o), step);
}

static const bb_layout clip_layout = {
    1, {{"clip", BB_FORM_SELECTION, CLIP_CANDIDATES, 1.0, 1.0}}};

static bb_layout models_layout(const bb_view *view, double clip) {
    const bb_form form = is_low_rank(view) ? BB_FORM_OUTER : BB_FORM_SQUARE;
    return (bb_layout){1, {{"models", form, view->pub->features, clip, 1.0}}};
}

/* `--schedule advised`: what theory has for the kind of losses that the momentum is for,
 * as bb_schedule reads it (docs/advise.md). */
static bb_public advised(const bb_view *view, char text[40]) {
    const bb_mp_options *o = view->options;
    const bool strong = o->momentum == BB_MP_STRONG;
    const bb_theory theory = {.smooth = 1.0,
                              .strong = strong ? convexity(o) * bb_mp_step(view) : 0.0,
                              .accelerated = o->momentum != BB_MP_PLAIN,
                              .composing = BB_COMPOSING_OPTIMAL};
    bb_public pub = *view->pub;
    if (!pub.schedule || strcmp(pub.schedule, "advised") != 0) return pub;
    snprintf(text, 40, strong ? "geometric:%.9g" : "power:%.9g",
             bb_theory_allocation(&theory));
    pub.schedule = text;
    return pub;
}

bb_status bb_mp_plan(const bb_view *view, bb_plan *plan) {
    const bb_mp_options *o = view->options;
    const bb_layout models = models_layout(view, 1.0);
    char text[40];
    bb_status status = check(view);
    if (!status) {
        const bb_public pub = advised(view, text);
        const bool once = bb_mp_goes_home(view);
        status = bb_plan_schedule(plan, &pub, selects(view) + votes(view),
                                  once ? 1 : DEFAULT_ROUNDS, default_schedule);
    }
    if (status) return status;
    if (votes(view)) {
        const bb_layout vote = bb_vote_layout(BB_PERSONAL_CELLS);
        bb_vote_plan(plan, selects(view), bb_vote_share);
        bb_plan_room(plan, view->pub, &vote);
    }
    if (selects(view)) {
        plan->step[0].selection = o->clip_share;
        bb_plan_room(plan, view->pub, &clip_layout);
    }
    bb_plan_room(plan, view->pub, &models);
    return BB_OK;
}

void bb_mp_layout(const bb_view *view, bb_layout *layout) {
    if (bb_mp_is_voting(view))
        *layout = bb_vote_layout(BB_PERSONAL_CELLS);
    else
        *layout = selecting(view) ? clip_layout : models_layout(view, bb_mp_clip(view));
}

/* -- the public matrix -- */

size_t bb_mp_digest_length(const bb_view *view) {
    const size_t d = view->pub->features;
    if (!is_low_rank(view)) return d;
    return 2 * d * d + d + (bb_eigen_work(d) + sizeof(double) - 1) / sizeof(double);
}

/* What the proximal operator leaves of a direction whose singular value is the root of
 * `square` (Liang et al. 2020, algorithm 2, step 7). */
static double kept(double square, double threshold) {
    if (threshold == 0.0) return 1.0;
    return square > 0.0 ? fmax(0.0, 1.0 - threshold / sqrt(square)) : 0.0;
}

/* What singular values lose, from the lifted squares of all, ascending. */
static double threshold_of(const bb_view *view, size_t d, const double *square,
                           double lift) {
    const bb_mp_options *o = view->options;
    const double largest = sqrt(fmax(0.0, square[d - 1] - lift));
    const double usual = sqrt(fmax(0.0, square[(d - 1) / 2] - lift));
    const double lambda = isnan(o->lambda)
                              ? part_of_usual * fmax(usual, part_of_largest * largest)
                              : o->lambda;
    return bb_mp_step(view) * lambda;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The usual size of the noise: its spectral norm, about s sqrt(2 d), or its largest entry,
 * about s sqrt(2 ln 2d). */
static double noise_size(const bb_view *view, const bb_release *release) {
    const double d = (double)view->pub->features;
    return release->noise[0] * sqrt(is_low_rank(view) ? 2.0 * d : 2.0 * log(2.0 * d));
}

/* c times that. */
static double shift(const bb_view *view, const bb_release *release) {
    const bb_mp_options *o = view->options;
    const double c =
        isnan(o->shift) ? (release->psd_noise ? 0.0 : default_shift) : o->shift;
    return c * noise_size(view, release);
}

/* The prior of models at home, from the released squares (d) of directions or features:
 * the trace norm's variational form has singular values for variances (Argyriou, Evgeniou,
 * Pontil 2008), so deviations are fourth roots of the squares. Those that noise alone
 * reaches tell nothing apart: they count as what it reaches. vector (d x d): a direction
 * each row, or NULL. */
static void tell_prior(const bb_view *view, const bb_release *release,
                       const double *square, const double *vector, double *at) {
    const size_t d = view->pub->features;
    const double base = stands_out * noise_size(view, release);
    double largest = base, total = 0.0, *root = at + 1;
    for (size_t k = 0; k < d; k++) largest = fmax(largest, square[k]);
    *at = largest > base;
    for (size_t k = 0; k < d; k++) {
        const double over = fmax(square[k], fmax(base, least_part * largest));
        root[k] = over > 0.0 ? sqrt(over) : 1.0;
        total += root[k] * root[k];
    }
    bb_scale(d, sqrt((double)d / total), root);
    if (vector) memcpy(root + d, vector, d * d * sizeof *vector);
}

const char *bb_mp_note(const bb_view *view) {
    if (!bb_mp_goes_home(view) || view->board->at[prior_at(view)] > 0.0) return NULL;
    return "the last release of models is no more than its noise: every task was left "
           "as it is alone";
}

static void digest_vote(const bb_view *view, const bb_release *release,
                        bb_draft *draft) {
    bb_covariance told;
    const bb_personal_public known = known_of(view, &told);
    bb_vote_take_fits(view->pub, &known, release, bb_vote_usual,
                      draft->at + odds_at(view));
}

bb_status bb_mp_digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                       double *work) {
    const size_t d = view->pub->features;
    if (selecting(view)) {
        draft->at[0] = pow(10.0, clip_exponent(release->winner[0]));
        return BB_OK;
    }
    if (bb_mp_is_voting(view)) {
        digest_vote(view, release, draft);
        return BB_OK;
    }
    const double lift = shift(view, release);
    if (!is_low_rank(view)) {
        double *square = work, *diagonal = draft->at + 1;
        for (size_t k = 0; k < d; k++)
            square[k] = diagonal[k] = release->value[0][k] + lift;
        qsort(square, d, sizeof *square, by_size);
        const double threshold = threshold_of(view, d, square, lift);
        for (size_t k = 0; k < d; k++) diagonal[k] = kept(diagonal[k], threshold);
        if (bb_mp_goes_home(view))
            tell_prior(view, release, release->value[0], NULL,
                       draft->at + prior_at(view));
        return BB_OK;
    }
    double *vector = work, *value = vector + d * d, *scratch = value + d;
    memcpy(vector, release->value[0], d * d * sizeof *vector);
    bb_status status = bb_eigen(d, vector, value, scratch + d * d);
    if (status) return status;
    if (bb_mp_goes_home(view))
        tell_prior(view, release, value, vector, draft->at + prior_at(view));
    for (size_t k = 0; k < d; k++) value[k] += lift;
    const double threshold = threshold_of(view, d, value, lift);
    for (size_t k = 0; k < d; k++) value[k] = kept(value[k], threshold);
    bb_spectral(d, d, vector, value, (draft->at + 1), scratch);
    return BB_OK;
}

/* -- one task -- */

/* The penalty of the task's own first model. */
static double start_penalty(const bb_view *view, const bb_local *local, double *work) {
    const bb_mp_options *o = view->options;
    double *error = work, *weight = error + BB_PRIOR_EXPONENTS;
    if (!isnan(o->start_lambda)) return o->start_lambda;
    if (local->loss != BB_LOSS_SQUARED) return logistic_start * local->weight;
    bb_prior_errors(local, error, weight + BB_PRIOR_EXPONENTS);
    return bb_prior_penalty(error, (double)local->n, bb_prior_centre(0.0, INFINITY, 1),
                            weight);
}

size_t bb_mp_local_length(const bb_view *view, const bb_local *local) {
    const bb_mp_options *o = view->options;
    const size_t home = bb_mp_goes_home(view) ? bb_personal_under_work(local) : 0;
    if (!isnan(o->start_lambda) || local->loss != BB_LOSS_SQUARED) return home;
    const size_t start =
        2 * BB_PRIOR_EXPONENTS + bb_local_loo_work(local, BB_PRIOR_EXPONENTS);
    return start > home ? start : home;
}

void bb_mp_begin(const bb_view *view, const bb_task *task, double *w, double *b,
                 double *work) {
    const bb_mp_options *o = view->options;
    const size_t d = task->local->d;
    if (o->start == BB_MP_START_RIDGE && task->local->n > 0 &&
        !bb_local_ridge(task->local, start_penalty(view, task->local, work), NULL, w, b,
                        work))
        return;
    memset(w, 0, d * sizeof *w);
    *b = bb_local_intercept(task->local, w, work);
}

/* How well a clip suits a task: 1 at its norm, 0 a decade above and a third of a decade
 * below, where clipping damages the model. The sum over tasks is best near the upper
 * quartile of the norms. */
static void show_scores(const double *w, size_t d, double *score) {
    const double norm = bb_norm(d, w);
    for (size_t k = 0; k < CLIP_CANDIDATES; k++) {
        const double above = clip_exponent(k) - log10(norm);
        const double away = above >= 0.0 ? above : -3.0 * above;
        score[k] = norm > 0.0 ? 1.0 - fmin(1.0, away) : 0.0;
    }
}

static void clip_to(size_t d, double *w, double clip) {
    const double norm = bb_norm(d, w);
    if (norm > clip) bb_scale(d, clip / norm, w);
}

void bb_mp_show(const bb_view *view, const bb_task *task, double *const *block) {
    const bb_mp_options *o = view->options;
    const size_t d = task->local->d;
    const double *w = bb_mp_read(task).w;
    double *shown = block[0];
    if (bb_mp_is_voting(view)) {
        bb_covariance told;
        const bb_personal_public known = known_of(view, &told);
        bb_vote_show_fits(task->local, &known, shown, task->work);
        return;
    }
    if (!selecting(view)) {
        memcpy(shown, w, d * sizeof *w);
        /* to the same K the door clips, but for methods with noise of their own */
        if (view->method->own_noise) clip_to(d, shown, bb_mp_clip(view));
        return;
    }
    /* a start from zero has no norm: score the ridge model that it leads to */
    double *own = task->work, b;
    if (o->start == BB_MP_START_ZERO && task->local->n > 0 &&
        !bb_local_ridge(task->local, start_penalty(view, task->local, own + d), NULL,
                        own, &b, own + d))
        w = own;
    show_scores(w, d, shown);
}

void bb_mp_shrink(const bb_view *view, double *w, double *out) {
    const size_t d = view->pub->features;
    const double *M = matrix(view);
    clip_to(d, w, bb_mp_clip(view));
    if (is_low_rank(view)) /* M is symmetric */
        bb_multiply_transposed(d, d, 1.0, M, w, 0.0, out);
    else
        for (size_t k = 0; k < d; k++) out[k] = M[k] * w[k];
}

void bb_mp_extrapolate(size_t d, double beta, const double *hat, double *previous,
                       double *z) {
    for (size_t k = 0; k < d; k++) {
        z[k] = hat[k] + beta * (hat[k] - previous[k]);
        previous[k] = hat[k];
    }
}

void bb_mp_count(const bb_view *view, const bb_task *task, const double *part) {
    const bb_mp_options *o = view->options;
    if (o->output == BB_MP_OUTPUT_AVERAGE)
        bb_axpy(view->pub->features, 1.0, part, models_sum(view, task));
}

void bb_mp_average(const bb_view *view, const bb_task *task, double *model) {
    const bb_mp_options *o = view->options;
    const size_t d = view->pub->features;
    const uint32_t iterations = bb_mp_iterations(view);
    if (o->output == BB_MP_OUTPUT_LAST || iterations == 0) return;
    bb_axpy(d, 1.0, models_sum(view, task), model);
    bb_scale(d, 1.0 / iterations, model);
}

bool bb_mp_descends(const bb_view *view) {
    (void)view;
    return true;
}

/* The public eta, or the task's own 1/L_i where that is smaller. */
static double own_step(const bb_view *view, const bb_local *local) {
    const bb_mp_options *o = view->options;
    const double curve = parts(view) * (local->lipschitz + o->ridge);
    const double eta = bb_mp_step(view);
    assert(!isnan(local->lipschitz));
    return curve * eta > 1.0 ? 1.0 / curve : eta;
}

void bb_mp_descend(const bb_view *view, const bb_task *task, const bb_mp_state *state,
                   double beta, const double *z, double *g, double *work) {
    const bb_mp_options *o = view->options;
    const size_t d = task->local->d;
    const double step = own_step(view, task->local);
    const double *b = state->intercept;
    const double moved = b[0] + beta * (b[0] - b[1]);
    double gb;
    bb_local_slope(task->local, z, moved, g, &gb, work);
    if (o->ridge > 0.0) bb_axpy(d, o->ridge, z, g);
    bb_scale(d, step, g);
    state->intercept[1] = b[0];
    state->intercept[0] = moved - step * gb;
}

/* -- algorithms 2 and 3 -- */

size_t bb_mp_work_length(const bb_view *view) {
    return 3 * view->pub->features;
}

/* What follows in bb_mp_train, at once; a Gram matrix has no intercept of its own. work:
 * 2 d. */
static void step_with_gram(const bb_view *view, const bb_task *task,
                           const bb_mp_state *own, double beta, double *work) {
    const bb_mp_options *o = view->options;
    const bb_local *local = task->local;
    const size_t d = local->d;
    clip_to(d, own->w, bb_mp_clip(view));
    if (bb_mp_iterations(view) == 1) memcpy(own->previous, own->w, d * sizeof *work);
    bb_accelerated_step(d, matrix(view), local->gram, local->xy, beta,
                        own_step(view, local), o->ridge, own->w, own->previous, work);
    bb_mp_count(view, task, own->previous);
}

void bb_mp_train(const bb_view *view, bb_task *task) {
    const bb_mp_state own = bb_mp_read(task);
    const uint32_t t = bb_mp_iterations(view);
    const size_t d = task->local->d;
    double *hat = task->work, *z = hat + d, *g = z + d, *work = g + d;
    if (view->board->releases == 0) {
        bb_mp_begin(view, task, own.w, own.intercept, work);
        own.intercept[1] = own.intercept[0];
    }
    if (t == 0 || bb_mp_is_voting(view)) return;
    const double beta = bb_mp_beta(view, t);
    if (task->local->gram && is_low_rank(view)) {
        step_with_gram(view, task, &own, beta, hat);
        return;
    }
    bb_mp_shrink(view, own.w, hat);
    bb_mp_count(view, task, hat);
    if (t == 1) memcpy(own.previous, own.w, d * sizeof *hat);
    bb_mp_extrapolate(d, beta, hat, own.previous, z);
    bb_mp_descend(view, task, &own, beta, z, g, work);
    for (size_t k = 0; k < d; k++) own.w[k] = z[k] - g[k];
}

bb_status bb_mp_home(const bb_view *view, bb_task *task) {
    bb_covariance told;
    bb_personal_public known = known_of(view, &told);
    if (votes(view)) known.odds = view->board->at + odds_at(view);
    *task->intercept = 0.0;
    return bb_personal_under(task->local, &known, task->model, task->work);
}

bb_status bb_mp_finish(const bb_view *view, bb_task *task) {
    if (bb_mp_goes_home(view)) return bb_mp_home(view, task);
    bb_mp_shrink(view, bb_mp_read(task).w, task->model);
    bb_mp_average(view, task, task->model);
    *task->intercept = bb_local_intercept(task->local, task->model, task->work);
    return BB_OK;
}

/* -- for the operator of a simulation -- */

/* The sum of the singular values of W (m x d), from the smaller of WW' and W'W. */
static bb_status trace_norm(size_t m, size_t d, const double *W, double *out) {
    const size_t n = m < d ? m : d;
    double *turned = NULL, *gram = NULL, *value = NULL, *work = NULL;
    bb_status status = bb_allocate(&turned, m * d, sizeof *turned, "a trace");
    if (!status) status = bb_allocate(&gram, n * n, sizeof *gram, "a trace");
    if (!status) status = bb_allocate(&value, n, sizeof *value, "a trace");
    if (!status) status = bb_allocate(&work, bb_eigenvalues_work(n), 1, "a trace");
    if (!status) {
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < d; k++) turned[k * m + i] = W[i * d + k];
        bb_gram(m < d ? d : m, n, 1.0, m < d ? turned : W, 0.0, gram);
        status = bb_eigenvalues(n, gram, value, work);
    }
    *out = 0.0;
    for (size_t k = 0; k < n && !status; k++) *out += sqrt(fmax(0.0, value[k]));
    free(turned);
    free(gram);
    free(value);
    free(work);
    return status;
}

/* The sum over the features of the norms of their weights in all tasks. */
static double group_norm(size_t m, size_t d, const double *W) {
    double sum = 0.0;
    for (size_t k = 0; k < d; k++) {
        double square = 0.0;
        for (size_t i = 0; i < m; i++) square += W[i * d + k] * W[i * d + k];
        sum += sqrt(square);
    }
    return sum;
}

bb_status bb_mp_penalty(const bb_view *view, const double *models, double *out) {
    const size_t d = view->pub->features, m = view->pub->tasks;
    const bb_mp_options *o = view->options;
    bb_status status = BB_OK;
    double norm = group_norm(m, d, models);
    if (is_low_rank(view)) status = trace_norm(m, d, models, &norm);
    *out = o->lambda * norm + o->ridge / 2.0 * bb_dot(m * d, models, models);
    return status;
}
