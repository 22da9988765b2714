/* dp-mtrl - task relationships from noisy models (Gupta, Rana, Venkatesh 2016, on
 * Zhang, Yeung 2010): every task's noisy model is public, its noise as bounded.h has it.
 * docs/methods/dp-mtrl.md
 *
 * From the public models W^ (m x d, one a row) everybody computes
 *   Omega = (W^ W^' + e^2 I)^(1/2) / its trace,   P = Omega^-1,
 * and, with the other models as they are, task i's part of the objective
 *   L_i(w) + ridge/2 ||w||^2 + lambda/2 tr(P W W')
 * is L_i(w) + kappa_i/2 ||w - c_i||^2 + a constant, where
 *   kappa_i = ridge + lambda P_ii,  c_i = -(lambda / kappa_i) sum_{j != i} P_ij w^_j.
 * Before the first round W^ = 0: P = m I, c_i = 0. */
#include "linalg/linalg.h"
#include "methods/bounded.h"
#include "methods/personal.h"
#include "methods/personal_vote.h"
#include "methods/registry.h"

#include <math.h>
#include <string.h>

enum { MOST_FEATURES = 4000 };
/* Of the vote: around zero and around c_i. */
enum { VOTE_CELLS = 30 };

typedef struct mtrl_options {
    bb_bounded_options common;
    double lambda, ridge, floor;
    int keep;
} mtrl_options;

typedef enum kept { KEEP_HOME, KEEP_OWN, KEEP_NOISY } kept;

#define REAL(word, field, fallback_text, from, to, name_of_value, text)                \
    {                                                                                  \
        .name = (word), .kind = BB_OPTION_REAL,                                        \
        .offset = offsetof(mtrl_options, field), .fallback = (fallback_text),          \
        .least = (from), .most = (to), .argument = (name_of_value), .help = (text)     \
    }

static const bb_option table[] = {
    BB_BOUNDED_ROWS("1"),
    REAL("lambda", lambda, "1e-5", 0.0, 1e12, "LAMBDA",
         "weight of the penalty lambda/2 tr(W Omega^-1 W')"),
    REAL("ridge", ridge, "0.001", 1e-12, 1e12, "RIDGE",
         "weight of an own penalty RIDGE/2 ||w||^2 of every task"),
    REAL("floor", floor, "0.3", 1e-3, 1e3, "F",
         "keeps Omega invertible: e is F times the public models' root mean square"),
    {.name = "keep",
     .kind = BB_OPTION_CHOICE,
     .offset = offsetof(mtrl_options, keep),
     .fallback = "home",
     .choices = "home|own|noisy",
     .argument = "WHICH",
     .help = "the model of a task: an average over penalties around its centre, if the "
             "public models are more than noise, and around zero, by what its own rows "
             "believe in; its own solution given what is public; or the noisy one that "
             "all see, as published"},
};

/* The billboard, where digest writes it. */
typedef struct board {
    double *least;  /* 1: the smallest kappa */
    double *kappa;  /* m */
    double *centre; /* m x d */
    double *noisy;  /* m x d, with keep=noisy: W^; or log odds by the tasks' vote */
} board;

static board board_at(const bb_view *view, double *at) {
    board b = {.least = at, .kappa = at + 1};
    b.centre = b.kappa + view->pub->tasks;
    b.noisy = b.centre + view->pub->tasks * view->pub->features;
    return b;
}

/* kappa before the first release. */
static double first_kappa(const bb_view *view) {
    const mtrl_options *o = view->options;
    return o->ridge + o->lambda * (double)view->pub->tasks;
}

static double kappa_of(const bb_view *view, size_t i) {
    if (view->board->releases == 0) return first_kappa(view);
    return view->board->at[1 + i];
}

/* Zero before the first release, as the board is. */
static const double *centre_of(const bb_view *view, size_t i) {
    return view->board->at + 1 + view->pub->tasks + i * view->pub->features;
}

static const double *noisy_of(const bb_view *view, size_t i) {
    return centre_of(view, view->pub->tasks + i);
}

/* -- public -- */

/* Whether tasks vote on how they fit at home, in a last round. */
static bool votes(const bb_view *view) {
    const mtrl_options *o = view->options;
    const bb_public *pub = view->pub;
    return o->keep == KEEP_HOME && pub->loss == BB_LOSS_SQUARED && !pub->as_published &&
           !bb_bounded_is_instance(o) &&
           bb_vote_is_heard(pub, pub->mu * sqrt(bb_vote_around_share), VOTE_CELLS);
}

static bool is_voting(const bb_view *view) {
    return votes(view) && view->board &&
           view->board->releases + 1 == view->plan->rounds;
}

/* What a task knows at home, but for the odds. */
static bb_personal_public known_of(const bb_view *view, size_t i) {
    const double *c = centre_of(view, i);
    bb_personal_public known = bb_personal_known(view->pub);
    if (bb_norm(view->pub->features, c) > 0.0) known.centre = c;
    return known;
}

/* The models, or with calibration=instance how far they are from their centres. */
static void layout(const bb_view *view, bb_layout *out) {
    const mtrl_options *o = view->options;
    const bool begun = view->board && view->board->releases > 0;
    double clip = o->common.clip;
    if (bb_bounded_is_published(o)) clip = INFINITY;
    if (bb_bounded_is_instance(o))
        clip = bb_bounded_gradient(view) /
               (begun ? view->board->at[0] : first_kappa(view));
    *out = (bb_layout){1, {{"models", BB_FORM_SLOT, view->pub->features, clip, 1.0}}};
    if (is_voting(view)) *out = bb_vote_layout(BB_PERSONAL_CELLS);
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    const mtrl_options *o = view->options;
    bb_layout blocks;
    if (view->pub->features > MOST_FEATURES)
        return bb_fail(BB_EUSAGE, "dp-mtrl: at most %d features, found %zu",
                       MOST_FEATURES, view->pub->features);
    bb_status status = bb_plan_schedule(out, view->pub, votes(view), 1, "uniform");
    if (!status && votes(view)) {
        blocks = bb_vote_layout(BB_PERSONAL_CELLS);
        bb_vote_plan(out, 0, bb_vote_around_share);
        bb_plan_room(out, view->pub, &blocks);
    }
    layout(view, &blocks);
    if (!status) bb_plan_room(out, view->pub, &blocks);
    if (!status) status = bb_bounded_plan(view, o->ridge, out);
    return status;
}

static size_t board_length(const bb_view *view) {
    const mtrl_options *o = view->options;
    const size_t d = view->pub->features;
    return 1 + view->pub->tasks * (1 + d + (o->keep == KEEP_NOISY ? d : 0)) +
           (votes(view) ? BB_PERSONAL_CELLS : 0);
}

static size_t digest_length(const bb_view *view) {
    const size_t d = view->pub->features;
    const size_t eigen = bb_eigen_work(d) / sizeof(double) + 1;
    return view->pub->tasks * d + 4 * d * d + 3 * d + eigen;
}

/* Where digest works. */
typedef struct desk {
    double *model;           /* m x d: W^ */
    double *vector, *A, *R;  /* d x d */
    double *room;            /* d x d, or eigen's */
    double *value, *f, *row; /* d */
} desk;

static desk lay_out(const bb_view *view, double *work) {
    const size_t d = view->pub->features;
    desk k = {.model = work};
    k.vector = k.model + view->pub->tasks * d;
    k.A = k.vector + d * d;
    k.R = k.A + d * d;
    k.value = k.R + d * d;
    k.f = k.value + d;
    k.row = k.f + d;
    k.room = k.row + d;
    return k;
}

/* With eigenpairs s_k^2, v_k of W^'W^ and r_k = sqrt(s_k^2 + e^2), in d x d only:
 *   P = tau (I/e - W^ A W^'),   P W^ = tau W^ R,   tau = sum r_k + (m - d) e,
 *   A = sum v_k v_k' / (e r_k (r_k + e)),          R = sum v_k v_k' / r_k. */
static bb_status relate(size_t m, size_t d, double e, const desk *k, double *tau) {
    bb_gram(m, d, 1.0, k->model, 0.0, k->vector);
    const bb_status status = bb_eigen(d, k->vector, k->value, k->room);
    if (status) return status;
    *tau = ((double)m - (double)d) * e;
    for (size_t l = 0; l < d; l++) {
        k->value[l] = sqrt(fmax(0.0, k->value[l]) + e * e);
        *tau += k->value[l];
        k->f[l] = 1.0 / (e * k->value[l] * (k->value[l] + e));
    }
    bb_spectral(d, d, k->vector, k->f, k->A, k->room);
    for (size_t l = 0; l < d; l++) k->f[l] = 1.0 / k->value[l];
    bb_spectral(d, d, k->vector, k->f, k->R, k->room);
    return BB_OK;
}

/* kappa_i and c_i; P_ii is at least tau over the largest r_k. */
static void relate_task(const bb_view *view, const desk *k, double e, double tau,
                        size_t i, const board *b) {
    const mtrl_options *o = view->options;
    const size_t d = view->pub->features;
    const double *w = k->model + i * d;
    double *c = b->centre + i * d;
    bb_multiply_transposed(d, d, 1.0, k->A, w, 0.0, k->row);
    const double own = fmax(1.0 / e - bb_dot(d, w, k->row), 1.0 / k->value[d - 1]);
    bb_multiply_transposed(d, d, -1.0, k->R, w, 0.0, c);
    bb_axpy(d, own, w, c);
    b->kappa[i] = o->ridge + o->lambda * tau * own;
    bb_scale(d, o->lambda * tau / b->kappa[i], c);
    const double longest = bb_bounded_longest_centre(view), norm = bb_norm(d, c);
    if (bb_bounded_is_instance(o) && norm > longest) bb_scale(d, longest / norm, c);
    *b->least = fmin(*b->least, b->kappa[i]);
}

static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    const mtrl_options *o = view->options;
    const size_t m = view->pub->tasks, d = view->pub->features;
    const board b = board_at(view, draft->at);
    const desk k = lay_out(view, work);
    double tau = (double)m, e = 1.0; /* P = m I */
    if (is_voting(view)) {
        const bb_personal_public known = known_of(view, 0);
        bb_vote_take_fits(view->pub, &known, release, bb_vote_around, b.noisy);
        return BB_OK;
    }
    memcpy(k.model, release->value[0], m * d * sizeof *k.model);
    if (o->keep == KEEP_HOME)
        bb_bounded_take_noise_out(m * d, release->noise[0], k.model);
    if (bb_bounded_is_instance(o)) bb_axpy(m * d, 1.0, b.centre, k.model);
    const double size = bb_norm(m * d, k.model) / sqrt((double)m);
    if (size > 0.0) e = o->floor * size;
    const bb_status status = relate(m, d, e, &k, &tau);
    if (status) return status;
    *b.least = INFINITY;
    for (size_t i = 0; i < m; i++) relate_task(view, &k, e, tau, i, &b);
    if (o->keep == KEEP_NOISY) memcpy(b.noisy, k.model, m * d * sizeof *k.model);
    return BB_OK;
}

static const char *note(const bb_view *view) {
    const mtrl_options *o = view->options;
    const size_t count = view->pub->tasks * view->pub->features;
    if (o->keep != KEEP_HOME || bb_norm(count, centre_of(view, 0)) > 0.0) return NULL;
    return votes(view)
               ? "the public models are no more than their noise: every task was "
                 "left as it is alone, but for the vote on penalties"
               : "the public models are no more than their noise: every task was "
                 "left as it is alone";
}

/* -- one task -- */

static size_t features(const bb_view *view) {
    return view->pub->features;
}

/* The state is what is shown. A task whose solver fails shows zeros. */
static void train(const bb_view *view, bb_task *task) {
    const mtrl_options *o = view->options;
    const double kappa = kappa_of(view, task->id), *c = centre_of(view, task->id);
    double *w = task->state, b;
    if (is_voting(view)) {
        const bb_personal_public known = known_of(view, task->id);
        memset(task->work, 0, BB_PERSONAL_CELLS * sizeof *task->work);
        bb_vote_show_fits(task->local, &known, task->work,
                          task->work + BB_PERSONAL_CELLS);
        return;
    }
    if (bb_bounded_is_instance(o)) {
        bb_bounded_solve(view, task->local, kappa, c, w, task->work);
        return;
    }
    if (bb_local_ridge(task->local, kappa, c, w, &b, task->work))
        memset(w, 0, view->pub->features * sizeof *w);
    if (bb_bounded_is_published(o)) bb_bounded_disturb(view, task, kappa, 1.0, w);
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    const bool voting = is_voting(view);
    memcpy(block[0], voting ? task->work : task->state,
           (voting ? BB_PERSONAL_CELLS : view->pub->features) * sizeof **block);
}

static size_t local_length(const bb_view *view, const bb_local *local) {
    const size_t bounded = bb_bounded_length(view, local);
    const size_t home = BB_PERSONAL_CELLS + bb_personal_work(local);
    return bounded > home ? bounded : home;
}

/* The own solution given what is public, of all rows and the loss as it is; after
 * instance calibration on the scale of 1/N. */
static bb_status finish(const bb_view *view, bb_task *task) {
    const mtrl_options *o = view->options;
    const double *c = centre_of(view, task->id);
    double kappa = kappa_of(view, task->id);
    if (o->keep == KEEP_HOME) {
        *task->intercept = 0.0;
        bb_personal_public known = known_of(view, task->id);
        if (votes(view)) known.odds = noisy_of(view, 0);
        return bb_personal_model(task->local, &known, task->model, task->work);
    }
    if (o->keep == KEEP_NOISY) {
        memcpy(task->model, noisy_of(view, task->id),
               view->pub->features * sizeof *task->model);
        *task->intercept = 0.0;
        return BB_OK;
    }
    if (bb_bounded_is_instance(o) && task->local->n > 0)
        kappa *= (double)o->common.rows / (double)task->local->n;
    return bb_local_ridge(task->local, kappa, c, task->model, task->intercept,
                          task->work);
}

const bb_method bb_method_dp_mtrl = {
    .name = "dp-mtrl",
    .summary = "noisy models of all tasks are public, and relate the tasks (Gupta et "
               "al. 2016)",
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC,
    .takes = BB_TAKES_ROUNDS | BB_TAKES_SCHEDULE,
    .shared_intercept = true,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(mtrl_options),
    .draws = true,
    .for_rows = bb_bounded_is_instance,
    .noise_by_tasks = bb_bounded_is_published,
    .plan = plan,
    .board_length = board_length,
    .state_length = features,
    .digest_length = digest_length,
    .local_length = local_length,
    .note = note,
    .layout = layout,
    .train = train,
    .show = show,
    .digest = digest,
    .finish = finish,
};
