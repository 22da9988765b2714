#include "methods/bounded.h"

#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 300, MOST_FEATURES = 4000 };

bool bb_bounded_is_instance(const void *options) {
    const bb_bounded_options *o = options;
    return o->calibration == BB_CALIBRATION_INSTANCE;
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

bb_status bb_bounded_plan(const bb_view *view, double least, bb_plan *plan) {
    const bb_bounded_options *o = view->options;
    const char *name = view->method->name;
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

/* -- one task's rows -- */

typedef struct problem {
    const bb_local *local;
    size_t d, n;   /* rows that count */
    double weight; /* 1 / N */
    double bound;  /* B */
    double kappa;
    const double *centre;
    double *scale; /* n: rows are in the unit ball after it; 0: a row does not count */
    double *p, *u, *curvature;        /* n: predictions, derivatives of the loss */
    double *w, *g, *step, *trial, *x; /* d */
    double *H;                        /* d x d */
} problem;

size_t bb_bounded_length(const bb_view *view, const bb_local *local) {
    const size_t d = view->pub->features;
    return bb_bounded_is_instance(view->options) ? 4 * local->n + 5 * d + d * d : 0;
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

static void take_scales(problem *q) {
    for (size_t j = 0; j < q->n; j++) {
        q->scale[j] = 1.0;
        take_row(q, j, q->x);
        const double norm = bb_norm(q->d, q->x);
        q->scale[j] =
            norm <= DBL_MAX && isfinite(q->local->y[j]) ? 1.0 / fmax(1.0, norm) : 0.0;
    }
}

/* q->p <- predictions of the centre plus `moved`. */
static void predict(const problem *q, const double *moved) {
    memcpy(q->w, moved, q->d * sizeof *moved);
    if (q->centre) bb_axpy(q->d, 1.0, q->centre, q->w);
    for (size_t j = 0; j < q->n; j++) {
        q->p[j] = 0.0;
        if (q->scale[j] == 0.0) continue;
        take_row(q, j, q->x);
        q->p[j] = bb_dot(q->d, q->x, q->w);
    }
}

/* The loss's value at p; u and curvature are its derivatives. */
static double look(const problem *q) {
    const double *y = q->local->y;
    double value = 0.0;
    if (q->local->loss == BB_LOSS_LOGISTIC) {
        memcpy(q->u, q->p, q->n * sizeof *q->u);
        return q->weight * bb_logistic_curved(q->n, y, q->u, q->curvature);
    }
    for (size_t j = 0; j < q->n; j++) {
        const double r = q->scale[j] > 0.0 ? q->p[j] - y[j] : 0.0;
        const bool cut = fabs(r) > q->bound;
        q->u[j] = cut ? copysign(q->bound, r) : r;
        q->curvature[j] = cut ? 0.0 : 1.0;
        value += fabs(q->u[j]) * (fabs(r) - 0.5 * fabs(q->u[j]));
    }
    return q->weight * value;
}

static double value_at(const problem *q, const double *moved) {
    predict(q, moved);
    return look(q) + 0.5 * q->kappa * bb_dot(q->d, moved, moved);
}

/* g <- the gradient, H <- the Hessian (lower triangle, then both) at p. */
static void differentiate(const problem *q, const double *moved) {
    const size_t d = q->d;
    memset(q->H, 0, d * d * sizeof *q->H);
    for (size_t k = 0; k < d; k++) {
        q->g[k] = q->kappa * moved[k];
        q->H[k * d + k] = q->kappa;
    }
    for (size_t j = 0; j < q->n; j++) {
        const double bend = q->weight * q->curvature[j];
        if (q->scale[j] == 0.0) continue;
        take_row(q, j, q->x);
        bb_axpy(d, q->weight * q->u[j], q->x, q->g);
        for (size_t k = 0; bend > 0.0 && k < d; k++)
            if (q->x[k] != 0.0) bb_axpy(k + 1, bend * q->x[k], q->x, q->H + k * d);
    }
    for (size_t k = 0; k < d; k++)
        for (size_t l = k + 1; l < d; l++) q->H[k * d + l] = q->H[l * d + k];
}

/* moved <- the next point; whether there is one. */
static bool advance(const problem *q, double value, double *moved) {
    memcpy(q->step, q->g, q->d * sizeof *q->step);
    if (bb_solve_spd(q->d, q->H, q->step)) return false;
    const double slope = bb_dot(q->d, q->g, q->step);
    for (double length = 1.0; length > 1e-12; length *= 0.5) {
        memcpy(q->trial, moved, q->d * sizeof *moved);
        bb_axpy(q->d, -length, q->step, q->trial);
        const double now = value_at(q, q->trial);
        if (now <= value - 1e-4 * length * slope + 1e-14 * fabs(value)) {
            memcpy(moved, q->trial, q->d * sizeof *moved);
            return true;
        }
    }
    return false;
}

static problem lay_out(const bb_view *view, const bb_local *local, double *work) {
    const bb_bounded_options *o = view->options;
    const size_t d = view->pub->features, n = local->n;
    problem q = {.local = local, .d = d, .n = n < o->rows ? n : (size_t)o->rows};
    q.weight = 1.0 / (double)o->rows;
    q.bound = bb_bounded_gradient(view);
    q.scale = work;
    q.p = q.scale + n;
    q.u = q.p + n;
    q.curvature = q.u + n;
    q.w = q.curvature + n;
    q.g = q.w + d;
    q.step = q.g + d;
    q.trial = q.step + d;
    q.x = q.trial + d;
    q.H = q.x + d;
    return q;
}

void bb_bounded_solve(const bb_view *view, const bb_local *local, double kappa,
                      const double *centre, double *moved, double *work) {
    problem q = lay_out(view, local, work);
    q.kappa = kappa;
    q.centre = centre;
    take_scales(&q);
    memset(moved, 0, q.d * sizeof *moved);
    for (int step = 0; step < MOST_STEPS; step++) {
        const double value = value_at(&q, moved);
        differentiate(&q, moved);
        if (bb_norm(q.d, q.g) <= 0x1p-26 * q.bound) return;
        if (!advance(&q, value, moved)) break;
    }
    memset(moved, 0, q.d * sizeof *moved);
}
