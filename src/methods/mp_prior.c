/* mp-prior - a private empirical-Bayes prior for the tasks' ridge models (squared
 * loss).
 *
 * At most four releases: the usual ridge penalty (a scalar), the mean model (sums of
 * Gram blocks), the covariance of the tasks' model directions (`outer`, or `square` for
 * shared features), and a vote on the priors made from them. Everything else is local
 * and free, or public post-processing. Conventions and figures:
 * docs/methods/mp-prior.md. Notation of one task: G = X'X/n, c = X'y/n, rows inside the
 * unit ball. */
#include "methods/mp_prior.h"

#include "base/memory.h"
#include "linalg/linalg.h"
#include "methods/registry.h"

#include <math.h>
#include <string.h>

/* Shares of mu^2; the covariance gets the rest. */
static const double lambda_share = 0.05, mean_share = 0.3, vote_share = 0.05;
/* A task's own penalty from which a candidate with the mean needs no odds. */
static const double heavy_penalty = 0.05;

typedef enum phase {
    PHASE_LAMBDA,
    PHASE_MEAN,
    PHASE_PRIOR,
    PHASE_VOTE,
    PHASE_END
} phase;

static const bb_option table[] = {
    {.name = "lambda",
     .kind = BB_OPTION_AUTO,
     .offset = offsetof(bb_prior_options, lambda),
     .fallback = "auto",
     .least = 1e-12,
     .most = 1e6,
     .argument = "LAMBDA",
     .help = "ridge penalty of every task, or auto: each task's own, around a centre "
             "released for 5 % of the budget"},
    {.name = "pattern",
     .kind = BB_OPTION_CHOICE,
     .offset = offsetof(bb_prior_options, pattern),
     .fallback = "low-rank",
     .choices = "low-rank|group-sparse",
     .argument = "PATTERN",
     .help =
         "what models share: directions (low-rank) or single features (group-sparse)"},
    {.name = "combine",
     .kind = BB_OPTION_CHOICE,
     .offset = offsetof(bb_prior_options, combine),
     .fallback = "average",
     .choices = "average|geometric",
     .argument = "WORD",
     .help =
         "a task's own model with an automatic penalty: the average over the likely "
         "penalties, or the model at their geometric mean"},
    {.name = "vote",
     .kind = BB_OPTION_FLAG,
     .offset = offsetof(bb_prior_options, vote),
     .fallback = "true",
     .argument = "",
     .help =
         "where the mean is released, let the tasks vote on the candidate priors, for "
         "5 % of the budget"},
    {.name = "odds",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(bb_prior_options, odds),
     .fallback = "10",
     .least = 1.0,
     .most = 1e9,
     .argument = "RATIO",
     .help =
         "prior odds against models without the mean, where a task has fewer rows than "
         "features"},
    {.name = "mean-gate",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(bb_prior_options, mean_gate),
     .fallback = "0.8",
     .least = 0.0,
     .most = 1e6,
     .argument = "FRACTION",
     .help = "release the mean model only if its noise, by public sizes, is below this "
             "fraction of the signal; 0: never"},
};

/* -- the public plan -- */

typedef struct shares {
    double lambda, mean, prior, vote;
} shares;

static shares shares_of(const bb_prior_options *o, const bb_public *pub) {
    const double r = pub->adjacency == BB_REPLACE_ONE ? sqrt(2.0) : 1.0;
    const double p = (double)pub->features + 1.0;
    const double noise = r / (pub->mu * sqrt(mean_share));
    shares s = {.lambda = isnan(o->lambda) ? lambda_share : 0.0};
    if (o->mean_gate > 0.0 &&
        p * noise * sqrt(2.0 * p) <= o->mean_gate * (double)pub->tasks)
        s.mean = mean_share;
    if (s.mean > 0.0 && o->vote) s.vote = vote_share;
    s.prior = 1.0 - s.lambda - s.mean - s.vote;
    return s;
}

/* What the release after `releases` others is, and its share. */
static phase phase_at(const bb_prior_options *o, const bb_public *pub,
                      uint32_t releases, double *share) {
    const shares s = shares_of(o, pub);
    const double of[] = {s.lambda, s.mean, s.prior, s.vote};
    for (int at = PHASE_LAMBDA; at < PHASE_END; at++) {
        if (of[at] <= 0.0 || releases-- > 0) continue;
        if (share) *share = of[at];
        return (phase)at;
    }
    return PHASE_END;
}

static phase phase_of(const bb_view *view) {
    return phase_at(view->options, view->pub, view->board->releases, NULL);
}

static bool automatic(const bb_view *view) {
    return isnan(((const bb_prior_options *)view->options)->lambda);
}

/* The block of a phase; a vote has `candidates` of them. */
static bb_block block_of(const bb_prior_options *o, const bb_public *pub, phase at,
                         size_t candidates) {
    switch (at) {
    case PHASE_LAMBDA:
        return (bb_block){"penalty exponent", BB_FORM_VECTOR, 1,
                          0.5 * BB_PRIOR_EXPONENT_RANGE, 1.0};
    case PHASE_MEAN:
        return (bb_block){"gram blocks", BB_FORM_PSD, pub->features + 1, 1.0, 1.0};
    case PHASE_VOTE:
        return (bb_block){"vote", BB_FORM_VECTOR, candidates, 1.0, 1.0};
    default:
        return (bb_block){"model directions",
                          o->pattern == BB_PRIOR_LOW_RANK ? BB_FORM_OUTER
                                                          : BB_FORM_SQUARE,
                          pub->features, 1.0, 1.0};
    }
}

static uint32_t rounds_of(const bb_prior_options *o, const bb_public *pub) {
    uint32_t rounds = 0;
    while (phase_at(o, pub, rounds, NULL) != PHASE_END) rounds++;
    return rounds;
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    const bb_prior_options *o = view->options;
    const bb_public *pub = view->pub;
    const uint32_t rounds = rounds_of(o, pub);
    if (pub->scale_sum)
        return bb_fail(BB_EUSAGE,
                       "mp-prior works with loss scale mean; its penalties are "
                       "those of the mean loss");
    if (pub->rounds || pub->schedule)
        return bb_fail(BB_EUSAGE,
                       "mp-prior makes %u releases with fixed shares; rounds and "
                       "schedule cannot be chosen",
                       rounds);
    if (pub->features > BB_PRIOR_MOST_FEATURES)
        return bb_fail(BB_EUSAGE,
                       "mp-prior shares a matrix of features x features: at most "
                       "%d features, found %zu; mp-groupsparse shares a vector",
                       BB_PRIOR_MOST_FEATURES, pub->features);
    bb_status status = bb_plan_rounds(out, rounds);
    for (uint32_t t = 0; t < rounds && !status; t++) {
        double share = 0.0;
        const phase at = phase_at(o, pub, t, &share);
        const bb_layout layout = {1, {block_of(o, pub, at, BB_PRIOR_MOST_CANDIDATES)}};
        out->step[t].weight = sqrt(share);
        bb_plan_room(out, pub, &layout);
    }
    return status;
}

static void layout(const bb_view *view, bb_layout *out) {
    const phase at = phase_of(view);
    bb_prior_candidate candidate[BB_PRIOR_MOST_CANDIDATES];
    const bb_prior prior = bb_prior_read(view);
    const size_t count =
        at == PHASE_VOTE ? bb_prior_candidates(&prior, automatic(view), candidate) : 0;
    *out = (bb_layout){1, {block_of(view->options, view->pub, at, count)}};
}

/* -- one task: what it keeps and shows -- */

/* A task keeps its leave-one-out errors, then its penalty. */
enum { STATE_ERRORS = 0, STATE_LAMBDA = BB_PRIOR_EXPONENTS, STATE_LENGTH };

static size_t state_length(const bb_view *view) {
    (void)view;
    return STATE_LENGTH;
}

static void train(const bb_view *view, bb_task *task) {
    const bb_prior_options *o = view->options;
    const phase at = phase_of(view);
    double *error = task->state + STATE_ERRORS, weight[BB_PRIOR_EXPONENTS];
    if (at == PHASE_LAMBDA) bb_prior_errors(task->local, error, task->work);
    if (at != PHASE_PRIOR) return;
    task->state[STATE_LAMBDA] = o->lambda;
    if (automatic(view))
        task->state[STATE_LAMBDA] = bb_prior_penalty(
            error, (double)task->local->n, *bb_prior_read(view).centre, weight);
}

/* [G c; c' yy] inside the unit Frobenius ball. */
static void show_gram(const bb_task *task, double *a) {
    const size_t d = task->local->d, p = d + 1;
    double *gram = task->work, *mean = gram + d * d, bend;
    bb_local_hessian(task->local, NULL, 0.0, gram, mean, &bend, mean + d);
    for (size_t i = 0; i < d; i++) {
        memcpy(a + i * p, gram + i * d, d * sizeof *a);
        a[i * p + d] = a[d * p + i] = task->local->xy[i];
    }
    a[d * p + d] = task->local->yy;
    const double norm = bb_norm(p * p, a);
    if (norm > 1.0) bb_scale(p * p, 1.0 / norm, a);
}

/* The task's own model, ridge towards the public mean if it is kept: w (d). */
static bb_status own_model(const bb_view *view, const bb_task *task, double *w) {
    const bb_prior prior = bb_prior_read(view);
    const bb_prior_options *o = view->options;
    const size_t d = task->local->d;
    const double *centre = *prior.mean_kept > 0.0 ? prior.mean : NULL;
    const bb_covariance alike = {NULL, NULL};
    double weight[BB_PRIOR_EXPONENTS], penalty[BB_PRIOR_EXPONENTS], b;
    bb_ridge_path path;
    if (!automatic(view) || o->combine == BB_PRIOR_GEOMETRIC || task->local->n == 0)
        return bb_local_ridge(task->local, task->state[STATE_LAMBDA], centre, w, &b,
                              task->work);
    (void)bb_prior_penalty(task->state + STATE_ERRORS, (double)task->local->n,
                           *prior.centre, weight);
    const bb_status status = bb_ridge_path_open(&path, task->local, &alike, task->work);
    for (size_t k = 0; k < BB_PRIOR_EXPONENTS; k++) penalty[k] = bb_prior_grid(k);
    for (size_t k = 0; k < d; k++) w[k] = centre ? centre[k] : 0.0;
    if (status) return status;
    bb_ridge_path_centre(&path, centre);
    bb_ridge_path_keep(&path, BB_PRIOR_EXPONENTS, penalty, weight);
    bb_ridge_path_add(&path, w);
    return BB_OK;
}

/* Direction of the own model from the public mean, shortened when rows are few. */
static void show_direction(const bb_view *view, const bb_task *task, double *v) {
    const size_t d = task->local->d;
    const bb_prior prior = bb_prior_read(view);
    if (task->local->n == 0 || own_model(view, task, v)) {
        memset(v, 0, d * sizeof *v);
        return;
    }
    if (*prior.mean_kept > 0.0) bb_axpy(d, -1.0, prior.mean, v);
    const double norm = bb_norm(d, v);
    if (norm > 0.0)
        bb_scale(d, sqrt(fmin(1.0, (double)task->local->n / (double)d)) / norm, v);
}

/* The fits of all candidates, and their log evidences. */
static bb_status fit(const bb_view *view, const bb_task *task, const bb_prior *prior,
                     bb_prior_candidate *candidate, bb_prior_fits *fits,
                     double *score) {
    const size_t count = bb_prior_candidates(prior, automatic(view), candidate);
    const bb_status status =
        bb_prior_fits_open(fits, prior, task->local, task->state[STATE_LAMBDA], count,
                           candidate, task->work);
    if (!status) bb_prior_weigh(fits, score);
    return status;
}

/* The log evidences around their mean, inside the unit ball. */
static void show_vote(const bb_view *view, const bb_task *task, double *vote) {
    bb_prior_candidate candidate[BB_PRIOR_MOST_CANDIDATES];
    double score[BB_PRIOR_MOST_CANDIDATES], mean = 0.0;
    const bb_prior prior = bb_prior_read(view);
    bb_prior_fits fits;
    if (fit(view, task, &prior, candidate, &fits, score)) return;
    const size_t count = fits.count;
    for (size_t k = 0; k < count; k++) mean += score[k] / (double)count;
    for (size_t k = 0; k < count; k++) vote[k] = score[k] - mean;
    const double norm = bb_norm(count, vote);
    if (norm > 1.0) bb_scale(count, 1.0 / norm, vote);
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    switch (phase_of(view)) {
    case PHASE_LAMBDA:
        block[0][0] = bb_prior_exponent(task->state + STATE_ERRORS);
        break;
    case PHASE_MEAN:
        show_gram(task, block[0]);
        break;
    case PHASE_VOTE:
        show_vote(view, task, block[0]);
        break;
    default:
        show_direction(view, task, block[0]);
        break;
    }
}

static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    const bb_prior_options *o = view->options;
    const bb_prior_draft prior = bb_prior_write(view, draft);
    const double *value = release->value[0], noise = release->noise[0];
    switch (phase_of(view)) {
    case PHASE_LAMBDA:
        *prior.centre = bb_prior_centre(value[0], noise, view->pub->tasks);
        return BB_OK;
    case PHASE_MEAN:
        return bb_prior_mean(&prior, value, noise, work);
    case PHASE_VOTE:
        bb_prior_vote(&prior, release->layout->block[0].length, value, noise,
                      view->pub->tasks);
        return BB_OK;
    default:
        return bb_prior_covariance(&prior, o->pattern, value, noise, work);
    }
}

/* -- one task: its final model -- */

/* ln prior odds of a candidate: the tasks' vote, and for a task with fewer rows than
 * features what speaks for the mean. */
static double log_odds(const bb_view *view, const bb_task *task, size_t k,
                       const bb_prior_candidate *candidate) {
    const bb_prior prior = bb_prior_read(view);
    const double lambda = task->state[STATE_LAMBDA] * candidate->multiplier;
    const double odds = ((const bb_prior_options *)view->options)->odds;
    if (*prior.mean_kept <= 0.0 || task->local->n >= task->local->d)
        return prior.vote[k];
    if (candidate->with_mean && lambda >= heavy_penalty) return prior.vote[k];
    return prior.vote[k] - log(odds);
}

/* The softmax of scores. */
static void softmax(size_t count, double *score) {
    double most = -INFINITY, total = 0.0;
    for (size_t k = 0; k < count; k++) most = fmax(most, score[k]);
    for (size_t k = 0; k < count; k++) total += score[k] = exp(score[k] - most);
    bb_scale(count, 1.0 / total, score);
}

static bb_status finish(const bb_view *view, bb_task *task) {
    bb_prior_candidate candidate[BB_PRIOR_MOST_CANDIDATES];
    double score[BB_PRIOR_MOST_CANDIDATES];
    const bb_prior prior = bb_prior_read(view);
    bb_prior_fits fits;
    bb_status status;
    if (*prior.mean_kept <= 0.0 && *prior.directions <= 0.0) {
        status = own_model(view, task, task->model); /* nothing to learn from others */
    } else {
        status = fit(view, task, &prior, candidate, &fits, score);
        if (status) return status;
        for (size_t k = 0; k < fits.count; k++)
            score[k] += log_odds(view, task, k, &candidate[k]);
        softmax(fits.count, score);
        bb_prior_average(&fits, score, task->model);
    }
    *task->intercept = bb_local_intercept(task->local, task->model, task->work);
    return status;
}

static const char *note(const bb_view *view) {
    const bb_prior prior = bb_prior_read(view);
    return *prior.mean_kept > 0.0 || *prior.directions > 0.0
               ? NULL
               : "nothing that tasks share stands out of the noise: every task was "
                 "left "
                 "as it is alone";
}

static size_t local_length(const bb_view *view, const bb_local *local) {
    (void)view;
    const size_t d = local->d;
    const size_t loo = bb_local_loo_work(local, BB_PRIOR_EXPONENTS);
    const size_t gram = d * d + d + bb_local_hessian_work(local);
    const size_t fits = bb_prior_fits_length(local);
    return bb_larger(bb_larger(loo, gram), bb_larger(fits, bb_local_work(local)));
}

const bb_method bb_method_mp_prior = {
    .name = "mp-prior",
    .summary =
        "a private prior for the tasks' models: few releases, exact local solves",
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_SQUARED,
    .shared_intercept = true,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(bb_prior_options),
    .plan = plan,
    .board_length = bb_prior_board_length,
    .state_length = state_length,
    .digest_length = bb_prior_digest_length,
    .local_length = local_length,
    .layout = layout,
    .train = train,
    .show = show,
    .digest = digest,
    .finish = finish,
    .note = note,
};
