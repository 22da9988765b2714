#include "methods/bounded.h"

#include "linalg/linalg.h"
#include "privacy/accounting/chi_square.h"
#include "privacy/accounting/group.h"
#include "privacy/noise/noise.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 300, MOST_CUTS = 60, MOST_FEATURES = 4000 };

/* How often noise alone is taken for more. */
static const double false_alarm = 0.01;

bool bb_bounded_is_instance(const void *options) {
    const bb_bounded_options *o = options;
    return o->calibration == BB_CALIBRATION_INSTANCE;
}

bool bb_bounded_is_published(const void *options) {
    const bb_bounded_options *o = options;
    return o->calibration == BB_CALIBRATION_PUBLISHED;
}

double bb_bounded_gradient(const bb_view *view) {
    const bb_bounded_options *o = view->options;
    return view->pub->loss == BB_LOSS_LOGISTIC ? 1.0 : o->gradient;
}

/* A prediction of a model of norm a is off by at most d 2^-53 a, and a gradient by
 * little more: up to this norm by less than 2^-27 B. */
static double longest_model(const bb_view *view) {
    return 0x1p25 * bb_bounded_gradient(view) / (double)(view->pub->features + 1);
}

double bb_bounded_longest_centre(const bb_view *view) {
    return 0.5 * longest_model(view);
}

static bb_status plan_published(const bb_view *view, bb_plan *plan) {
    const bb_bounded_options *o = view->options;
    double epsilon, delta;
    if (view->pub->features > BB_RADIAL_MOST_LENGTH)
        return bb_fail(BB_EUSAGE,
                       "%s: calibration=published is for at most %d features, found "
                       "%zu",
                       view->method->name, BB_RADIAL_MOST_LENGTH, view->pub->features);
    if (!isfinite(view->pub->epsilon)) return BB_OK;
    bb_group_rows((size_t)o->rows, view->pub->epsilon, view->pub->delta, &epsilon,
                  &delta);
    plan->instance_broken = true;
    return bb_plan_instance(plan, epsilon, delta);
}

bb_status bb_bounded_plan(const bb_view *view, double least, bb_plan *plan) {
    const bb_bounded_options *o = view->options;
    const char *name = view->method->name;
    if (bb_bounded_is_published(o)) return plan_published(view, plan);
    if (!bb_bounded_is_instance(o)) return BB_OK;
    if (view->pub->scale_sum)
        return bb_fail(BB_EUSAGE,
                       "%s: calibration=instance divides losses by rows-cap, which is "
                       "public: it takes --loss-scale mean",
                       name);
    if (view->pub->features > MOST_FEATURES)
        return bb_fail(BB_EUSAGE,
                       "%s: calibration=instance is for at most %d features, found %zu",
                       name, MOST_FEATURES, view->pub->features);
    if (bb_bounded_gradient(view) / least > 0.5 * longest_model(view))
        return bb_fail(BB_EUSAGE,
                       "%s: with %zu features calibration=instance needs a penalty of "
                       "at least %.3g: models of less are too long to be computed "
                       "within its bounds",
                       name, view->pub->features,
                       2.0 * bb_bounded_gradient(view) / longest_model(view));
    return bb_plan_lift(plan, view->pub, (size_t)o->rows);
}

void bb_bounded_take_noise_out(size_t count, double noise, double *at) {
    const double square = bb_dot(count, at, at), variance = noise * noise;
    if (!(noise > 0.0)) return;
    const bool is_noise =
        square <= variance * bb_chi_square_quantile((double)count, false_alarm);
    const double excess = fmax(0.0, (double)count - 2.0) * variance;
    bb_scale(count, is_noise ? 0.0 : 1.0 - excess / square, at);
}

/* -- one task's rows -- */

typedef struct problem {
    const bb_local *local;
    size_t d, n;   /* rows that count */
    double weight; /* 1 / N */
    double bound;  /* B */
    double kappa;
    const double *centre;
    double *scale; /* n: rows are in the unit ball after it; 0: a row does not count */
    double *y;     /* n: targets that count */
    double *p, *u, *curvature;        /* n: predictions, derivatives of the loss */
    double *w, *g, *step, *trial, *x; /* d */
    double *H;                        /* d x d */
} problem;

size_t bb_bounded_length(const bb_view *view, const bb_local *local) {
    const size_t d = view->pub->features;
    if (bb_bounded_is_published(view->options)) return local->n + d;
    return bb_bounded_is_instance(view->options) ? 5 * local->n + 5 * d + d * d : 0;
}

/* x <- row j. */
static void take_row(const problem *q, size_t j, double *x) {
    const bb_local *local = q->local;
    if (local->x) {
        memcpy(x, local->x + j * q->d, q->d * sizeof *x);
    } else {
        memset(x, 0, q->d * sizeof *x);
        for (size_t e = local->sparse_first[j]; e < local->sparse_first[j + 1]; e++)
            x[local->sparse_column[e]] = local->sparse_value[e];
    }
    bb_scale(q->d, q->scale[j], x);
}

/* Rows into the unit ball; targets to where residuals are cut at every model that can
 * be the minimum, which beyond that does not change with them, but the arithmetic
 * would. */
static void take_rows(problem *q) {
    const double length = (q->centre ? bb_norm(q->d, q->centre) : 0.0);
    const double most = q->local->loss == BB_LOSS_LOGISTIC
                            ? 1.0
                            : length + q->bound / q->kappa + q->bound;
    for (size_t j = 0; j < q->n; j++) {
        const double y = q->local->y[j];
        q->scale[j] = 1.0;
        take_row(q, j, q->x);
        const double norm = bb_norm(q->d, q->x);
        const bool counts = norm <= DBL_MAX && isfinite(y);
        q->scale[j] = counts ? 1.0 / fmax(1.0, norm) : 0.0;
        q->y[j] = counts ? fmin(fmax(y, -most), most) : 0.0;
    }
}

/* u and curvature <- the loss's derivatives at the predictions p. */
static void look(const problem *q) {
    if (q->local->loss == BB_LOSS_LOGISTIC) {
        memcpy(q->u, q->p, q->n * sizeof *q->u);
        (void)bb_logistic_curved(q->n, q->y, q->u, q->curvature);
        return;
    }
    for (size_t j = 0; j < q->n; j++) {
        const double r = q->p[j] - q->y[j];
        const bool cut = fabs(r) > q->bound;
        q->u[j] = cut ? copysign(q->bound, r) : r;
        q->curvature[j] = cut ? 0.0 : 1.0;
    }
}

/* g <- the gradient at the centre plus `moved`; u, curvature. */
static void differentiate(const problem *q, const double *moved) {
    memcpy(q->w, moved, q->d * sizeof *moved);
    if (q->centre) bb_axpy(q->d, 1.0, q->centre, q->w);
    for (size_t j = 0; j < q->n; j++) {
        q->p[j] = 0.0;
        if (q->scale[j] == 0.0) continue;
        take_row(q, j, q->x);
        q->p[j] = bb_dot(q->d, q->x, q->w);
    }
    look(q);
    memcpy(q->g, moved, q->d * sizeof *moved);
    bb_scale(q->d, q->kappa, q->g);
    for (size_t j = 0; j < q->n; j++) {
        if (q->scale[j] == 0.0) continue;
        take_row(q, j, q->x);
        bb_axpy(q->d, q->weight * q->u[j], q->x, q->g);
    }
}

/* H <- the Hessian (lower triangle, then both) where differentiate was. */
static void bend(const problem *q) {
    const size_t d = q->d;
    memset(q->H, 0, d * d * sizeof *q->H);
    for (size_t k = 0; k < d; k++) q->H[k * d + k] = q->kappa;
    for (size_t j = 0; j < q->n; j++) {
        const double curvature = q->weight * q->curvature[j];
        if (q->scale[j] == 0.0 || curvature == 0.0) continue;
        take_row(q, j, q->x);
        for (size_t k = 0; k < d; k++)
            if (q->x[k] != 0.0) bb_axpy(k + 1, curvature * q->x[k], q->x, q->H + k * d);
    }
    for (size_t k = 0; k < d; k++)
        for (size_t l = k + 1; l < d; l++) q->H[k * d + l] = q->H[l * d + k];
}

/* moved <- the next point, by a step of Newton's that is bisected until the slope at
 * its end is small where it is beyond the minimum on the way (values, of which nothing
 * is needed, would cancel); g <- the gradient there; whether there is one. */
static bool advance(const problem *q, double *moved) {
    memcpy(q->step, q->g, q->d * sizeof *q->step);
    if (bb_solve_spd(q->d, q->H, q->step)) return false;
    const double slope = bb_dot(q->d, q->g, q->step);
    double low = 0.0, high = 1.0, length = 1.0;
    for (int cut = 0; cut < MOST_CUTS; cut++) {
        memcpy(q->trial, moved, q->d * sizeof *moved);
        bb_axpy(q->d, -length, q->step, q->trial);
        differentiate(q, q->trial);
        const double here = bb_dot(q->d, q->g, q->step);
        if (here >= -0.1 * slope && (here <= 0.1 * slope || length == 1.0)) {
            memcpy(moved, q->trial, q->d * sizeof *moved);
            return true;
        }
        if (here > 0.0)
            low = length;
        else
            high = length;
        length = 0.5 * (low + high);
    }
    return false;
}

/* From 0; whether the gradient got small enough. */
static bool newton(const problem *q, double *moved) {
    memset(moved, 0, q->d * sizeof *moved);
    differentiate(q, moved);
    for (int step = 0; step < MOST_STEPS; step++) {
        if (bb_norm(q->d, q->g) <= 0x1p-26 * q->bound) return true;
        bend(q);
        if (!advance(q, moved)) return false;
    }
    return false;
}

/* Every step of 1 / L, L = 1 + kappa at least the largest curvature, brings the minimum
 * nearer by the factor 1 - kappa / L, but for what the gradient e is off by, which in
 * all moves it by at most e / kappa, 2^-27 B / kappa. */
static void descend(const problem *q, double *moved) {
    const double largest = 1.0 + q->kappa;
    const double steps = ceil(largest / q->kappa * 28.0 * log(2.0));
    memset(moved, 0, q->d * sizeof *moved);
    for (double step = 0.0; step < steps; step++) {
        differentiate(q, moved);
        bb_axpy(q->d, -1.0 / largest, q->g, moved);
    }
}

static problem lay_out(const bb_view *view, const bb_local *local, double kappa,
                       const double *centre, double *work) {
    const bb_bounded_options *o = view->options;
    const size_t d = view->pub->features, n = local->n;
    problem q = {.local = local, .d = d, .n = n < o->rows ? n : (size_t)o->rows};
    q.weight = 1.0 / (double)o->rows;
    q.bound = bb_bounded_gradient(view);
    q.kappa = kappa;
    q.centre = centre;
    q.scale = work;
    q.y = q.scale + n;
    q.p = q.y + n;
    q.u = q.p + n;
    q.curvature = q.u + n;
    q.w = q.curvature + n;
    q.g = q.w + d;
    q.step = q.g + d;
    q.trial = q.step + d;
    q.x = q.trial + d;
    q.H = q.x + d;
    take_rows(&q);
    return q;
}

void bb_bounded_descend(const bb_view *view, const bb_local *local, double kappa,
                        const double *centre, double *moved, double *work) {
    const problem q = lay_out(view, local, kappa, centre, work);
    descend(&q, moved);
}

void bb_bounded_solve(const bb_view *view, const bb_local *local, double kappa,
                      const double *centre, double *moved, double *work) {
    const problem q = lay_out(view, local, kappa, centre, work);
    if (!newton(&q, moved)) descend(&q, moved);
}

/* -- as published -- */

void bb_bounded_disturb(const bb_view *view, const bb_task *task, double kappa,
                        double parts, double *w) {
    const double unit = BB_RADIAL_MOST_SCALE, *epsilon = view->plan->instance;
    const size_t d = view->pub->features, n = task->local->n;
    double *u = task->work, largest = 0.0;
    void *room = u + n;
    int64_t *noise = room;
    if (!epsilon) return;
    bb_local_residual(task->local, w, 0.0, u); /* derivatives times the loss's scale */
    for (size_t j = 0; j < n; j++) largest = fmax(largest, fabs(u[j]));
    const double scale =
        2.0 * largest / (kappa * epsilon[view->board->releases] * sqrt(parts));
    memset(noise, 0, d * sizeof *noise);
    bb_noise_radial(task->random, unit, d, noise);
    for (size_t k = 0; k < d; k++) w[k] += scale / unit * (double)noise[k];
}
