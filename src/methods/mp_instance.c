/* mp-instance - after algorithm 5 of Liang et al. (2020, preprint and supplement): two
 * guarantees at once. What a task shows protects each of its rows by the task's own noise,
 * before the door protects the whole task. docs/methods/mp-instance.md
 *
 * Iteration t: w = z - eta s (sum_j clip_G(grad_j(z)) + b), where z is made of earlier
 * noisy w and of public matrices only, and s = 1/n, or 1 for loss scale sum. Every clipped
 * gradient is rounded to a vector of integers, of norm at most c where c steps are G; the
 * sum is exact, so that replacing one row moves it by at most 2 c steps whatever floating
 * point does, and noise b on the same grid, of scale 2 c / epsilon_t, makes it
 * epsilon_t-DP for rows. The rest is computed from that noisy sum.
 *
 * With calibration=model, as in the preprint, w = clip_K(z - eta s sum_j grad_j(z)) + b:
 * replacing one row moves the clipped model by at most 2 K, whatever its gradient is. */
#include "linalg/linalg.h"
#include "methods/mp_family.h"
#include "methods/registry.h"
#include "privacy/noise/noise.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef enum calibration {
    CALIBRATION_OURS,
    CALIBRATION_PUBLISHED,
    CALIBRATION_MODEL
} calibration;

typedef struct instance_options {
    bb_mp_options common;
    int calibration;
    double epsilon, delta, gradient_clip;
} instance_options;

static const bb_option table[] = {
    BB_MP_PROXIMAL_ROWS,
    BB_MP_AUTO(
        "clip", clip, 1e-12, 1e12, "K",
        "models are clipped to this public norm when they are shown; to be given"),
    BB_MP_PATTERN_ROW,
    {.name = "instance-epsilon",
     .kind = BB_OPTION_AUTO,
     .offset = offsetof(instance_options, epsilon),
     .fallback = "auto",
     .least = 1e-9,
     .most = 1e9,
     .argument = "EPSILON",
     .help = "of the guarantee for one row of a task, over all rounds; to be given"},
    {.name = "instance-delta",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(instance_options, delta),
     .fallback = "1e-6",
     .least = 0.0,
     .most = 0.5,
     .argument = "DELTA",
     .help = "of the guarantee for one row of a task, over all rounds"},
    {.name = "gradient-clip",
     .kind = BB_OPTION_AUTO,
     .offset = offsetof(instance_options, gradient_clip),
     .fallback = "auto",
     .least = 1e-12,
     .most = 1e12,
     .argument = "G",
     .help = "gradients of single rows are clipped to this public norm; to be given, "
             "but for calibration=model"},
    {.name = "calibration",
     .kind = BB_OPTION_CHOICE,
     .offset = offsetof(instance_options, calibration),
     .fallback = "ours",
     .choices = "ours|published|model",
     .argument = "WORD",
     .help =
         "what has the noise: ours: the sum of clipped gradients; model: the model, "
         "clipped to K, as in the preprint; published: ours with noise from the "
         "actual rows' gradients, which is not private"},
};

/* -- public -- */

/* Nothing public says any of these: what a row is promised is for people to decide, and
 * norms are in the units of the targets. */
static bb_status check_given(const instance_options *o) {
    const bool model = o->calibration == CALIBRATION_MODEL;
    if (!isnan(o->epsilon) && !isnan(o->common.clip) &&
        (model || !isnan(o->gradient_clip)))
        return BB_OK;
    return bb_fail(
        BB_EUSAGE,
        "mp-instance guesses neither what a row is promised nor norms, which "
        "are in the units of the targets: give --set instance-epsilon=E --set "
        "clip=K%s; without a promise for rows: mp-lowrank",
        model ? "" : " --set gradient-clip=G");
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    const instance_options *o = view->options;
    const bb_status given = check_given(o);
    if (given) return given;
    if (view->pub->intercept)
        return bb_fail(BB_EUSAGE,
                       "mp-instance: an own intercept would mix the rows; give "
                       "it as a constant feature");
    if (view->pub->features > BB_RADIAL_MOST_LENGTH)
        return bb_fail(BB_EUSAGE, "mp-instance: at most %d features, found %zu",
                       BB_RADIAL_MOST_LENGTH, view->pub->features);
    bb_status status = bb_mp_plan(view, out);
    if (!status) status = bb_plan_instance(out, o->epsilon, o->delta);
    if (!status) out->instance_broken = o->calibration == CALIBRATION_PUBLISHED;
    return status;
}

static size_t local_length(const bb_view *view, const bb_local *local) {
    (void)view;
    return local->n;
}

/* -- one task's rows -- */

static double row_norm(const bb_local *local, size_t j) {
    if (local->x) return bb_norm(local->d, local->x + j * local->d);
    const size_t first = local->sparse_first[j];
    return bb_norm(local->sparse_first[j + 1] - first, local->sparse_value + first);
}

/* The norm of row j's gradient, u_j = s times the derivative of its loss. */
static double gradient_norm(const bb_local *local, size_t j, double u) {
    return fabs(u) / local->weight * row_norm(local, j);
}

static double largest_norm(const bb_local *local, const double *u) {
    double largest = 0.0;
    for (size_t j = 0; j < local->n; j++) {
        const double norm = gradient_norm(local, j, u[j]);
        if (isfinite(norm)) largest = fmax(largest, norm);
    }
    return largest;
}

/* sum += f x_j, rounded toward zero. */
static void add_row(const bb_local *local, size_t j, double f, int64_t *sum) {
    if (local->x) {
        const double *x = local->x + j * local->d;
        for (size_t k = 0; k < local->d; k++) sum[k] += (int64_t)(f * x[k]);
        return;
    }
    for (size_t k = local->sparse_first[j]; k < local->sparse_first[j + 1]; k++)
        sum[local->sparse_column[k]] += (int64_t)(f * local->sparse_value[k]);
}

/* sum <- the rows' gradients, where `bound` is `steps`, none longer than that. Rows are
 * clipped a little earlier: the norm is wrong by less than that, in double and up to
 * 2^22 features. A row whose norm or derivative is not finite, or vanishes, counts as
 * zero. */
static void add_rows(const bb_local *local, const double *u, double bound, double steps,
                     int64_t *sum) {
    const double most = steps * (1.0 - 0x1p-29);
    for (size_t k = 0; k < local->d; k++) sum[k] = 0;
    for (size_t j = 0; j < local->n; j++) {
        const double norm = row_norm(local, j);
        if (u[j] == 0.0 || !isfinite(u[j])) continue;
        if (!(norm > 1e-280 && norm <= DBL_MAX)) continue;
        double f = u[j] / local->weight / bound * steps;
        if (!(fabs(f) * norm <= most)) f = copysign(most / norm, u[j]);
        add_row(local, j, f, sum);
    }
}

/* How many steps of the grid the clip is: the noise's scale is 2^36 steps, less where
 * epsilon is above 32, or to keep sums below 2^60. n may be used: it does not change
 * when a row is replaced. */
static double clip_steps(double epsilon, size_t n) {
    return fmin(fmin(epsilon * 0x1p35, 0x1p40), 0x1p60 / (double)n);
}

/* z <- where the gradient is taken: 0 at first, then as in algorithm 2 from what was
 * shown. hat: d. */
static void look_ahead(const bb_view *view, const bb_task *task, double *hat,
                       double *z) {
    const bb_mp_state own = bb_mp_read(task);
    const size_t d = view->pub->features;
    const uint32_t t = view->board->releases;
    if (t == 0) {
        memset(z, 0, d * sizeof *z);
        return;
    }
    bb_mp_shrink(view, own.w, hat);
    bb_mp_count(view, task, hat);
    if (t == 1) memcpy(own.previous, own.w, d * sizeof *hat);
    bb_mp_extrapolate(d, bb_mp_beta(view, t), hat, own.previous, z);
}

/* w <- z - eta gradient(z), clipped to K and rounded toward zero to integers, of norm at
 * most `steps`, and noise. A model that is not finite counts as 0. room: d. */
static void noise_on_model(const bb_view *view, bb_task *task, double epsilon,
                           double *z, void *room, double *work) {
    const instance_options *o = view->options;
    const size_t d = view->pub->features;
    const double steps = clip_steps(epsilon, 1), eta = bb_mp_step(view);
    const double clip = o->common.clip;
    double *w = bb_mp_read(task).w, *gradient = room, none;
    int64_t *sum = room;
    bb_local_slope(task->local, z, 0.0, gradient, &none, work);
    for (size_t k = 0; k < d; k++) z[k] -= eta * (gradient[k] + o->common.ridge * z[k]);
    const double norm = bb_norm(d, z);
    const bool whole = isfinite(norm) && norm > 1e-280;
    const double most = steps * (1.0 - 0x1p-29);
    double f = steps / clip;
    if (whole && !(f * norm <= most)) f = most / norm;
    for (size_t k = 0; k < d; k++) sum[k] = whole ? (int64_t)(f * z[k]) : 0;
    bb_noise_radial(task->random, fmax(2.0 * steps / epsilon, BB_RADIAL_LEAST_SCALE), d,
                    sum);
    for (size_t k = 0; k < d; k++) w[k] = clip / steps * (double)sum[k];
}

static void train(const bb_view *view, bb_task *task) {
    const instance_options *o = view->options;
    const bb_mp_state own = bb_mp_read(task);
    const bb_local *local = task->local;
    const size_t d = local->d;
    double *hat = task->work, *z = hat + d, *u = z + d;
    const double eta = bb_mp_step(view);
    const double epsilon = view->plan->instance[view->board->releases];
    if (local->n == 0) return;
    look_ahead(view, task, hat, z);
    if (o->calibration == CALIBRATION_MODEL) {
        noise_on_model(view, task, epsilon, z, hat, u);
        return;
    }
    bb_local_residual(local, z, 0.0, u);
    const bool ours = o->calibration == CALIBRATION_OURS;
    const double bound = ours ? o->gradient_clip : largest_norm(local, u);
    const double steps = clip_steps(epsilon, local->n);
    void *room = hat; /* free again, and of the same size */
    int64_t *sum = room;
    add_rows(local, u, bound, steps, sum);
    /* beyond epsilon_t = 2^13 the noise is more than asked for */
    bb_noise_radial(task->random, fmax(2.0 * steps / epsilon, BB_RADIAL_LEAST_SCALE), d,
                    sum);
    const double step = eta * local->weight * bound / steps;
    for (size_t k = 0; k < d; k++)
        own.w[k] = z[k] - (eta * o->common.ridge * z[k] + step * (double)sum[k]);
}

static bb_status finish(const bb_view *view, bb_task *task) {
    bb_mp_shrink(view, bb_mp_read(task).w, task->model);
    bb_mp_average(view, task, task->model);
    return BB_OK;
}

const bb_method bb_method_mp_instance = {
    .name = "mp-instance",
    .summary =
        "protects single rows at the task and whole tasks at the door (after Liang "
        "et al. 2020, algorithm 5)",
    .variant = BB_MP_BY_PATTERN,
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC,
    .takes = BB_TAKES_ROUNDS | BB_TAKES_SCHEDULE,
    .own_noise = true,
    .shared_intercept = true,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(instance_options),
    .plan = plan,
    .board_length = bb_mp_board_length,
    .state_length = bb_mp_state_length,
    .work_length = bb_mp_work_length,
    .digest_length = bb_mp_digest_length,
    .local_length = local_length,
    .layout = bb_mp_layout,
    .penalty = bb_mp_penalty,
    .train = train,
    .show = bb_mp_show,
    .digest = bb_mp_digest,
    .finish = finish,
};
