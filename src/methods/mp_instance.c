/* mp-instance - after algorithm 5 of Liang et al. (2020, supplement): two guarantees at
 * once. What a task shows protects each of its rows by the task's own noise, before the
 * door protects the whole task. docs/methods/mp-instance.md
 *
 * Iteration t: w = z - eta sum_j clip_G(grad_j(z)) s + noise, where z is made of
 * earlier noisy w and of public matrices only. Replacing one row moves w by at most 2
 * eta G s (s = 1/n, or 1 for loss scale sum), and noise of density exp(-(epsilon_t /
 * that) ||b||) makes it epsilon_t-DP for rows (Chaudhuri, Monteleoni, Sarwate 2011).
 * The noise is drawn in floating point. */
#include "linalg/linalg.h"
#include "methods/mp_family.h"
#include "methods/registry.h"

#include <math.h>
#include <string.h>

typedef enum calibration { CALIBRATION_OURS, CALIBRATION_PUBLISHED } calibration;

typedef struct instance_options {
    bb_mp_options common;
    int calibration;
    double epsilon, delta, gradient_clip;
} instance_options;

static const bb_option table[] = {
    BB_MP_PROXIMAL_ROWS,
    BB_MP_REAL("clip", clip, "1", 1e-12, 1e12, "K",
               "models are clipped to this public norm when they are shown"),
    {.name = "pattern",
     .kind = BB_OPTION_CHOICE,
     .offset = offsetof(instance_options, common.pattern),
     .fallback = "low-rank",
     .choices = "low-rank|group-sparse",
     .argument = "PATTERN",
     .help = "the shared penalty: trace norm or group-sparse norm"},
    {.name = "instance-epsilon",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(instance_options, epsilon),
     .fallback = "1",
     .least = 1e-9,
     .most = 1e9,
     .argument = "EPSILON",
     .help = "of the guarantee for one row of a task, over all rounds"},
    {.name = "instance-delta",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(instance_options, delta),
     .fallback = "1e-6",
     .least = 0.0,
     .most = 0.5,
     .argument = "DELTA",
     .help = "of the guarantee for one row of a task, over all rounds"},
    {.name = "gradient-clip",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(instance_options, gradient_clip),
     .fallback = "1",
     .least = 1e-12,
     .most = 1e12,
     .argument = "G",
     .help = "gradients of single rows are clipped to this public norm"},
    {.name = "calibration",
     .kind = BB_OPTION_CHOICE,
     .offset = offsetof(instance_options, calibration),
     .fallback = "ours",
     .choices = "ours|published",
     .argument = "WORD",
     .help = "published: noise from the actual rows' gradients, which is not private"},
};

/* -- public
 * ---------------------------------------------------------------------------- */

static bb_status plan(const bb_view *view, bb_plan *out) {
    const instance_options *o = view->options;
    if (view->pub->intercept)
        return bb_fail(BB_EUSAGE,
                       "mp-instance: an own intercept would mix the rows; give "
                       "it as a constant feature");
    bb_status status = bb_mp_plan(view, out);
    if (!status) status = bb_plan_instance(out, o->epsilon, o->delta);
    if (!status) out->instance_broken = o->calibration == CALIBRATION_PUBLISHED;
    return status;
}

static size_t local_length(const bb_view *view, const bb_local *local) {
    (void)view;
    return local->n;
}

/* -- one task's rows
 * ------------------------------------------------------------------- */

static double row_norm(const bb_local *local, size_t j) {
    if (local->x) return bb_norm(local->d, local->x + j * local->d);
    const size_t first = local->sparse_first[j];
    return bb_norm(local->sparse_first[j + 1] - first, local->sparse_value + first);
}

/* g <- sum_j u_j x_j */
static void combine(const bb_local *local, const double *u, double *g) {
    if (local->x) {
        bb_multiply_transposed(local->n, local->d, 1.0, local->x, u, 0.0, g);
        return;
    }
    memset(g, 0, local->d * sizeof *g);
    for (size_t j = 0; j < local->n; j++)
        for (size_t k = local->sparse_first[j]; k < local->sparse_first[j + 1]; k++)
            g[local->sparse_column[k]] += u[j] * local->sparse_value[k];
}

/* g <- the gradient at z with every row's part, before the weight s, clipped to `clip`;
 * a part that is not finite counts as zero. Returns the largest norm of a part. u: n.
 */
static double row_gradient(const bb_local *local, const double *z, double clip,
                           double *g, double *u) {
    double largest = 0.0;
    bb_local_residual(local, z, 0.0, u);
    for (size_t j = 0; j < local->n; j++) {
        double norm = fabs(u[j]) / local->weight * row_norm(local, j);
        if (!isfinite(norm)) u[j] = norm = 0.0;
        if (norm > clip) {
            u[j] *= clip / norm;
            norm = clip;
        }
        largest = fmax(largest, norm);
    }
    combine(local, u, g);
    return largest;
}

/* w += b, with density of b proportional to exp(-||b|| / scale): its direction is
 * uniform, its norm Gamma(d, scale), a sum of d exponentials. direction: d. */
static void add_noise(bb_random *random, size_t d, double scale, double *w,
                      double *direction) {
    double radius = 0.0, norm = 0.0;
    while (norm == 0.0) {
        for (size_t k = 0; k < d; k++) direction[k] = bb_random_normal(random);
        norm = bb_norm(d, direction);
    }
    for (size_t k = 0; k < d; k++) radius -= log1p(-bb_random_uniform(random));
    bb_axpy(d, scale * radius / norm, direction, w);
}

/* z <- where the gradient is taken: 0 at first, then as in algorithm 2 from what was
 * shown. hat: d. */
static void look_ahead(const bb_view *view, const bb_mp_state *own, double *hat,
                       double *z) {
    const size_t d = view->pub->features;
    const uint32_t t = view->board->releases;
    if (t == 0) {
        memset(z, 0, d * sizeof *z);
        return;
    }
    bb_mp_shrink(view, own->w, hat);
    if (t == 1) memcpy(own->previous, own->w, d * sizeof *hat);
    bb_mp_extrapolate(d, bb_mp_beta(view, t), hat, own->previous, z);
}

static void train(const bb_view *view, bb_task *task) {
    const instance_options *o = view->options;
    const bb_mp_state own = bb_mp_read(task);
    const bb_local *local = task->local;
    const size_t d = local->d;
    double *hat = task->work, *z = hat + d, *g = z + d, *u = g + d;
    const double eta = bb_mp_step(view);
    const double epsilon = view->plan->instance[view->board->releases];
    if (local->n == 0) return;
    look_ahead(view, &own, hat, z);
    const bool ours = o->calibration == CALIBRATION_OURS;
    const double largest =
        row_gradient(local, z, ours ? o->gradient_clip : INFINITY, g, u);
    const double bound = ours ? o->gradient_clip : largest;
    for (size_t k = 0; k < d; k++)
        own.w[k] = z[k] - eta * (g[k] + o->common.ridge * z[k]);
    add_noise(task->random, d, 2.0 * eta * bound * local->weight / epsilon, own.w, hat);
}

static bb_status finish(const bb_view *view, bb_task *task) {
    bb_mp_shrink(view, bb_mp_read(task).w, task->model);
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
    .train = train,
    .show = bb_mp_show,
    .digest = bb_mp_digest,
    .finish = finish,
};
