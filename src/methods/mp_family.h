/* mp_family.h - what the published methods of Liang et al. (2020) have in common:
 * models are shown through their second moments, the noisy sum becomes a public matrix
 * M that shrinks models (algorithms 2 and 3, steps 3 to 9), and every task takes an
 * accelerated gradient step from its shrunk model (steps 10 and 11).
 *
 * Rounds: with an automatic clip, first a private selection of it; then iterations
 * t = 1 .. T; where tasks keep what they fit at home, last a vote on these fits, if public
 * sizes say that it is heard. Show in iteration t sees w^(t-1); train before it makes it. */
#ifndef BB_METHODS_MP_FAMILY_H
#define BB_METHODS_MP_FAMILY_H

#include "core/method.h"

enum { BB_MP_MOST_FEATURES = 4000 };

/* A method's variant: the penalty that tasks share, and what else a model is made of.
 */
typedef enum bb_mp_variant {
    BB_MP_LOW_RANK,
    BB_MP_GROUP_SPARSE,
    BB_MP_TWO_PARTS, /* option pattern: one of the first two, plus an own part */
    BB_MP_BY_PATTERN /* option pattern: one of the first two */
} bb_mp_variant;
typedef enum bb_mp_momentum {
    BB_MP_NESTEROV,
    BB_MP_STRONG,
    BB_MP_PLAIN
} bb_mp_momentum;
typedef enum bb_mp_start { BB_MP_START_RIDGE, BB_MP_START_ZERO } bb_mp_start;
typedef enum bb_mp_output { BB_MP_OUTPUT_LAST, BB_MP_OUTPUT_AVERAGE } bb_mp_output;
typedef enum bb_mp_keep { BB_MP_KEEP_OWN, BB_MP_KEEP_HOME } bb_mp_keep;

/* The options that all of them have, first in each method's own struct. */
typedef struct bb_mp_options {
    double lambda;    /* of the shared penalty; NaN: from the noisy sum */
    double step;      /* eta; NaN: from a public bound of the loss's curvature */
    double ridge;     /* mu / 2 ||w||^2 added to every task's loss */
    double convexity; /* for momentum strong; NaN: `ridge` */
    double shift;     /* c; NaN: automatic */
    double clip;      /* K; NaN: by private selection */
    double clip_share;
    double start_lambda; /* NaN: by the task's own rows */
    int momentum, start, output, keep;
    int pattern; /* for BB_MP_BY_PATTERN and BB_MP_TWO_PARTS */
} bb_mp_options;

#define BB_MP_REAL(text, field, value, low, high, unit, words)                         \
    {                                                                                  \
        .name = (text), .kind = BB_OPTION_REAL,                                        \
        .offset = offsetof(bb_mp_options, field), .fallback = (value), .least = (low), \
        .most = (high), .argument = (unit), .help = (words)                            \
    }
#define BB_MP_AUTO(text, field, low, high, unit, words)                                \
    {                                                                                  \
        .name = (text), .kind = BB_OPTION_AUTO,                                        \
        .offset = offsetof(bb_mp_options, field), .fallback = "auto", .least = (low),  \
        .most = (high), .argument = (unit), .help = (words)                            \
    }
#define BB_MP_CHOICE(text, field, value, words, meaning)                               \
    {                                                                                  \
        .name = (text), .kind = BB_OPTION_CHOICE,                                      \
        .offset = offsetof(bb_mp_options, field), .fallback = (value),                 \
        .choices = (words), .argument = "WORD", .help = (meaning)                      \
    }

/* Rows of the options table: the proximal gradient method. */
#define BB_MP_PROXIMAL_ROWS                                                            \
    BB_MP_AUTO("lambda", lambda, 0.0, 1e12, "LAMBDA",                                  \
               "weight of the shared penalty (trace norm or group-sparse); auto: a "   \
               "fixed part of the size that most directions of the noisy sum have"),   \
        BB_MP_AUTO("step", step, 1e-12, 1e12, "ETA",                                   \
                   "public step size; auto: for rows inside the unit ball"),           \
        BB_MP_REAL("ridge", ridge, "0", 0.0, 1e12, "MU",                               \
                   "weight of an own penalty MU/2 ||w||^2 of every task"),             \
        BB_MP_CHOICE(                                                                  \
            "momentum", momentum, "nesterov", "nesterov|strong|none",                  \
            "acceleration: (t-1)/(t+2), constant for strongly convex losses, "         \
            "or none"),                                                                \
        BB_MP_AUTO("strong-convexity", convexity, 1e-15, 1e12, "MU",                   \
                   "of the losses, for momentum strong; auto: the ridge"),             \
        BB_MP_CHOICE("output", output, "last", "last|average",                         \
                     "the model of the last iteration, or the mean over all of them"), \
        BB_MP_AUTO("shift", shift, 0.0, 1e6, "C",                                      \
                   "lifts the noisy sum by C times the size of its noise; auto: 1.5 "  \
                   "for Gaussian noise, 0 for Wishart noise")

/* The clip and the start of methods whose models stay free of noise at home. */
#define BB_MP_START_ROWS                                                               \
    BB_MP_AUTO(                                                                        \
        "clip", clip, 1e-12, 1e12, "K",                                                \
        "models are clipped to this norm; auto: near the upper quartile of the "       \
        "tasks' norms, selected privately"),                                           \
        BB_MP_REAL("clip-share", clip_share, "0.1", 0.001, 0.9, "FRACTION",            \
                   "of epsilon, for the automatic clip"),                              \
        BB_MP_CHOICE("start", start, "ridge", "ridge|zero",                            \
                     "first models: each task's own ridge model, or zero"),            \
        BB_MP_AUTO("start-lambda", start_lambda, 1e-12, 1e12, "LAMBDA",                \
                   "penalty of that ridge model; auto: each task's own, by leaving "   \
                   "its rows out (logistic: 0.3 beside the summed loss)")

/* What a task keeps. */
#define BB_MP_KEEP_ROW                                                                 \
    BB_MP_CHOICE("keep", keep, "home", "own|home",                                     \
                 "the model of a task: home: an average of what it fits alone, under " \
                 "the directions (features) that stand out of the noise and without "  \
                 "them, by what its own rows believe in; own: that of the "            \
                 "iterations, as published")

/* The row of `pattern`, for the variants that have it. */
#define BB_MP_PATTERN_ROW                                                              \
    BB_MP_CHOICE("pattern", pattern, "low-rank", "low-rank|group-sparse",              \
                 "the shared penalty: trace norm or group-sparse norm")

/* What a task keeps between rounds; q and q_previous of BB_MP_TWO_PARTS only. */
typedef struct bb_mp_state {
    double *w; /* d: w^(t) after the gradient step (two parts: the low-rank one) */
    double *previous;  /* d: the shrunk model of the iteration before */
    double *intercept; /* 2: logistic loss, now and before */
    double *q, *q_previous;
} bb_mp_state;

bb_mp_state bb_mp_read(const bb_task *task);

/* -- public -- */

/* The clip K that holds now; INFINITY without any noise, where nothing is clipped. */
double bb_mp_clip(const bb_view *view);
/* Iterations whose matrix M is on the billboard. */
uint32_t bb_mp_iterations(const bb_view *view);
/* eta; NaN where no public bound exists. */
double bb_mp_step(const bb_view *view);
/* beta_t of iteration t = 1, 2, ... */
double bb_mp_beta(const bb_view *view, uint32_t t);

/* bb_method's hooks, for every variant. */
BB_MUST_CHECK bb_status bb_mp_plan(const bb_view *view, bb_plan *plan);
size_t bb_mp_board_length(const bb_view *view);
size_t bb_mp_state_length(const bb_view *view);
size_t bb_mp_digest_length(const bb_view *view);
void bb_mp_layout(const bb_view *view, bb_layout *layout);
/* The scores of the clip's selection, or the task's w, which the door clips to K. */
void bb_mp_show(const bb_view *view, const bb_task *task, double *const *block);
/* M from the noisy sum: eigenvalues (or entries) Lambda + shift become
 * max(0, 1 - eta lambda / sqrt(Lambda)), 0 where Lambda <= 0. */
BB_MUST_CHECK bb_status bb_mp_digest(const bb_view *view, const bb_release *release,
                                     bb_draft *draft, double *work);

/* Whether a task keeps what it fits at home. */
bool bb_mp_goes_home(const bb_view *view);
/* Whether the coming round is the tasks' vote on these fits (personal_vote.h). */
bool bb_mp_is_voting(const bb_view *view);
/* Then the intercept is one of its numbers. */
bool bb_mp_own_intercept(const void *options);
/* That model, given the last release. */
BB_MUST_CHECK bb_status bb_mp_home(const bb_view *view, bb_task *task);
/* Nothing stood out, so that tasks are as they are alone; or NULL. */
const char *bb_mp_note(const bb_view *view);

/* bb_method's hooks of algorithms 2 and 3. */
size_t bb_mp_work_length(const bb_view *view);
size_t bb_mp_local_length(const bb_view *view, const bb_local *local);
/* lambda times the trace norm or the group-sparse norm of all models (Liang et al. 2020,
 * equation 1), and the ridge; NAN where lambda is automatic: it then changes. */
BB_MUST_CHECK bb_status bb_mp_penalty(const bb_view *view, const double *models,
                                      double *out);
void bb_mp_train(const bb_view *view, bb_task *task);
BB_MUST_CHECK bb_status bb_mp_finish(const bb_view *view, bb_task *task);

/* All that they have in common, in their bb_method. */
/* clang-format off */
#define BB_MP_PROXIMAL_METHOD                                                          \
    .kind = BB_METHOD_PRIVATE,                                                         \
    .losses = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC,                              \
    .takes = BB_TAKES_ROUNDS | BB_TAKES_SCHEDULE,                                      \
    .options_size = sizeof(bb_mp_options),                                             \
    .shared_intercept = true,                                                          \
    .own_intercept = bb_mp_own_intercept,                                              \
    .plan = bb_mp_plan,                                                                \
    .board_length = bb_mp_board_length,                                                \
    .state_length = bb_mp_state_length,                                                \
    .work_length = bb_mp_work_length,                                                  \
    .descends = bb_mp_descends,                                                        \
    .local_length = bb_mp_local_length,                                                \
    .digest_length = bb_mp_digest_length,                                              \
    .layout = bb_mp_layout,                                                            \
    .penalty = bb_mp_penalty,                                                          \
    .note = bb_mp_note,                                                                \
    .train = bb_mp_train,                                                              \
    .show = bb_mp_show,                                                                \
    .digest = bb_mp_digest,                                                            \
    .finish = bb_mp_finish
/* clang-format on */

/* -- one task -- */

/* Always. */
bool bb_mp_descends(const bb_view *view);
/* w <- the first model; b its intercept. */
void bb_mp_begin(const bb_view *view, const bb_task *task, double *w, double *b,
                 double *work);
/* w <- w clipped to K, out <- M w. */
void bb_mp_shrink(const bb_view *view, double *w, double *out);
/* z <- hat + beta (hat - previous), previous <- hat. */
void bb_mp_extrapolate(size_t d, double beta, const double *hat, double *previous,
                       double *z);
/* With output average: adds a part of this iteration's model to what its task keeps; the
 * mean over all iterations, of which `model` is the last (Liang et al. 2020, theorems of
 * the algorithms without acceleration). Otherwise both do nothing. */
void bb_mp_count(const bb_view *view, const bb_task *task, const double *part);
void bb_mp_average(const bb_view *view, const bb_task *task, double *model);
/* g <- step * gradient at z of the task's loss and ridge; moves state.intercept. The
 * step is the public eta, or the task's own 1/L_i where that is smaller. */
void bb_mp_descend(const bb_view *view, const bb_task *task, const bb_mp_state *state,
                   double beta, const double *z, double *g, double *work);

#endif
