#include "learners/rows.h"
#include "learners/solvers.h"
#include "linalg/linalg.h"
#include "linalg/prox.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 200000, CHECK = 10, PATIENCE = 20000 };

/* Everything both solvers know at a point (w, b). */
typedef struct lasso {
    const bb_local *local;
    double lambda, tolerance;
    double *w, *g; /* d */
    double b, objective, gap;
    double best;  /* smallest gap that was clearly an improvement */
    size_t since; /* round of it */
    double *work; /* n + d, for products with the rows */
    double *full; /* d x d: the Gram matrix, if there is one */
} lasso;

static double sum_abs(size_t n, const double *v) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += fabs(v[k]);
    return sum;
}

static double largest_abs(size_t n, const double *v) {
    double largest = 0;
    for (size_t k = 0; k < n; k++) largest = fmax(largest, fabs(v[k]));
    return largest;
}

/* Largest t that keeps |t g| <= lambda. */
static double feasible(const lasso *s) {
    const double steepest = largest_abs(s->local->d, s->g);
    return steepest > 0 ? s->lambda / steepest : INFINITY;
}

/* Squared loss: t u is dual feasible for |t| <= feasible, and the dual value there is
 * -(t^2 loss + t slope), slope = u.(y centred): the best t is known. */
static void certify_squared(lasso *s) {
    const bb_local *local = s->local;
    double gb;
    const double value = bb_local_gradient(local, s->w, 0, s->g, &gb, s->work);
    const double slope = bb_dot(local->d, local->xy, s->w) - local->yy;
    const double most = feasible(s);
    double t = value > 0 ? -slope / (2 * value) : 0;
    t = fmin(fmax(t, -most), most);
    s->objective = value + s->lambda * sum_abs(local->d, s->w);
    s->gap = s->objective + t * (t * value + slope);
}

/* The dual point must sum to zero for the free intercept. Each u_j / (-s y_j) is in
 * [0, 1]; shortening those of the class with the larger sum keeps that and balances. */
static void balance(const bb_local *local, double *u) {
    double positive = 0, negative = 0;
    for (size_t j = 0; j < local->n; j++) {
        if (u[j] > 0) positive += u[j];
        if (u[j] < 0) negative -= u[j];
    }
    const double least = fmin(positive, negative);
    for (size_t j = 0; j < local->n; j++) {
        if (u[j] > 0) u[j] *= least / positive;
        if (u[j] < 0) u[j] *= least / negative;
    }
}

static void certify_logistic(lasso *s) {
    const bb_local *local = s->local;
    const bb_rows rows = bb_rows_of(local);
    double *u = s->work;
    s->b = bb_local_intercept(local, s->w, s->work);
    double gb;
    const double value = bb_local_gradient(local, s->w, s->b, s->g, &gb, s->work);
    s->objective = value + s->lambda * sum_abs(local->d, s->w);
    if (local->intercept) {
        balance(local, u);
        bb_rows_combine(&rows, u, s->g);
    }
    s->gap = s->objective + bb_local_conjugate(local, u, fmin(1, feasible(s)));
}

/* Objective and certified gap at w; with the logistic loss b moves to its best. The
 * true gap is not negative, so a negative one is rounding. Done? */
static bool certify(lasso *s) {
    if (s->local->loss == BB_LOSS_SQUARED)
        certify_squared(s);
    else
        certify_logistic(s);
    if (s->gap < 0) s->gap = 0;
    return s->gap <= s->tolerance * s->objective;
}

/* Certified, or no longer getting better: rounding hides a smaller gap. */
static bool finished(lasso *s, size_t round) {
    if (certify(s) || !isfinite(s->gap)) return true;
    if (s->gap < 0.99 * s->best) {
        s->best = s->gap;
        s->since = round;
    }
    return round - s->since >= PATIENCE;
}

/* One round of exact minimisation in each coordinate; g = G w - X'y is kept up to date.
 */
static void sweep(size_t d, const double *full, double lambda, double *w, double *g) {
    for (size_t k = 0; k < d; k++) {
        const double *row = full + k * d, bend = row[k];
        const double next = bend > 0 ? bb_soft(w[k] * bend - g[k], lambda) / bend : 0;
        const double change = next - w[k];
        if (change == 0) continue;
        w[k] = next;
        bb_axpy(d, change, row, g);
    }
}

static void descend(lasso *s) {
    bb_strips_unpack(s->local->d, s->local->gram, s->full);
    for (size_t round = 1; round <= ROUNDS; round++) {
        sweep(s->local->d, s->full, s->lambda, s->w, s->g);
        if (round % CHECK == 0 && finished(s, round)) return;
    }
}

/* Accelerated proximal gradient (Beck and Teboulle 2009) with restarts (O'Donoghue and
 * Candes 2015). Features are centred by the intercept and measured by their own second
 * moments D, so the step is 1/(L D_k), with L found by doubling. */
typedef struct fista {
    lasso *s;
    double *mean, *D;          /* d */
    double *z, *last, *change; /* d */
    double centre_b, z_b, last_b, D_b, L, bend;
} fista;

static void moments(fista *f) {
    const bb_local *local = f->s->local;
    const bb_rows rows = bb_rows_of(local);
    const size_t n = rows.n, d = rows.d;
    double *one = f->s->work, largest = 0;
    memset(f->mean, 0, d * sizeof *f->mean);
    if (local->intercept) {
        for (size_t j = 0; j < n; j++) one[j] = 1 / (double)n;
        bb_rows_combine(&rows, one, f->mean);
    }
    bb_rows_squares(&rows, f->D);
    const double factor = local->weight * (local->loss == BB_LOSS_LOGISTIC ? 0.25 : 1);
    f->bend = factor;
    for (size_t k = 0; k < d; k++) {
        f->D[k] = factor * (f->D[k] - (double)n * f->mean[k] * f->mean[k]);
        largest = fmax(largest, f->D[k]);
    }
    for (size_t k = 0; k < d; k++) f->D[k] = fmax(f->D[k], 1e-10 * largest);
    for (size_t k = 0; k < d && largest == 0; k++) f->D[k] = 1;
    f->D_b = factor * (double)n;
}

/* Loss and gradient at w, with the intercept of centred features. */
static double smooth(fista *f, const double *w, double centre_b, double *g,
                     double *gb) {
    lasso *s = f->s;
    const size_t d = s->local->d;
    const double b = centre_b - bb_dot(d, f->mean, w);
    const double value = bb_local_gradient(s->local, w, b, g, gb, s->work);
    bb_axpy(d, -*gb, f->mean, g);
    return value;
}

/* The curvature of the loss along `change` (and db, of centred features) is at most
 * this; p gets the change of the predictions. */
static double curvature(const fista *f, const double *change, double db, double *p) {
    const bb_local *local = f->s->local;
    const bb_rows rows = bb_rows_of(local);
    const double shift = db - bb_dot(rows.d, f->mean, change);
    bb_rows_multiply(&rows, change, p);
    for (size_t j = 0; j < rows.n; j++) p[j] += shift;
    return f->bend * bb_dot(rows.n, p, p);
}

/* The step from z with the smallest L (doubled from the last) that bounds the
 * curvature. */
static void step(fista *f) {
    lasso *s = f->s;
    const size_t d = s->local->d;
    double gb;
    (void)smooth(f, f->z, f->z_b, s->g, &gb);
    for (int doubling = 0; doubling < 60; doubling++) {
        const double db = -gb / (f->L * f->D_b);
        double square = f->D_b * db * db;
        for (size_t k = 0; k < d; k++) {
            const double scale = 1 / (f->L * f->D[k]);
            s->w[k] = bb_soft(f->z[k] - s->g[k] * scale, s->lambda * scale);
            f->change[k] = s->w[k] - f->z[k];
            square += f->D[k] * f->change[k] * f->change[k];
        }
        f->centre_b = f->z_b + db;
        if (!(curvature(f, f->change, db, s->work) > f->L * square)) break;
        f->L *= 2;
    }
}

/* z <- w + momentum (w - last); true if the momentum points uphill. */
static bool extrapolate(fista *f, double momentum) {
    const size_t d = f->s->local->d;
    const double *w = f->s->w;
    double uphill = f->D_b * (f->z_b - f->centre_b) * (f->centre_b - f->last_b);
    for (size_t k = 0; k < d; k++)
        uphill += f->D[k] * (f->z[k] - w[k]) * (w[k] - f->last[k]);
    if (uphill > 0) momentum = 0;
    for (size_t k = 0; k < d; k++) {
        f->z[k] = w[k] + momentum * (w[k] - f->last[k]);
        f->last[k] = w[k];
    }
    f->z_b = f->centre_b + momentum * (f->centre_b - f->last_b);
    f->last_b = f->centre_b;
    return uphill > 0;
}

static void accelerate(fista *f) {
    lasso *s = f->s;
    const size_t d = s->local->d;
    double inertia = 1;
    moments(f);
    f->L = 1;
    f->last_b = f->z_b = s->b + bb_dot(d, f->mean, s->w);
    memcpy(f->z, s->w, d * sizeof *f->z);
    memcpy(f->last, s->w, d * sizeof *f->last);
    for (size_t round = 1; round <= ROUNDS; round++) {
        step(f);
        const double next = 0.5 * (1 + sqrt(1 + 4 * inertia * inertia));
        inertia = extrapolate(f, (inertia - 1) / next) ? 1 : next;
        if (round % CHECK == 0 && finished(s, round)) return;
    }
}

size_t bb_lasso_work(const bb_local *local) {
    const size_t d = local->d, square = local->gram ? d * d : 0;
    return 3 * d + 4 * local->n + (square > 5 * d ? square : 5 * d);
}

/* All labels equal: w = 0 and a far intercept; the loss is what is left to gain. */
static bool solved_at_once(lasso *s) {
    const bb_local *local = s->local;
    const bool hopeless = local->loss == BB_LOSS_LOGISTIC && local->intercept &&
                          bb_local_one_class(local) != 0;
    if (local->n && !hopeless) return false;
    memset(s->w, 0, local->d * sizeof *s->w);
    s->b = bb_local_intercept(local, s->w, s->work);
    s->gap = bb_local_value(local, s->w, s->b, s->work);
    return true;
}

bb_status bb_local_lasso(const bb_local *local, double lambda, double tolerance,
                         double *w, double *b, double *gap, double *work) {
    assert(lambda > 0 && tolerance > 0);
    const size_t d = local->d;
    lasso s = {.local = local,
               .lambda = lambda,
               .tolerance = tolerance,
               .b = *b,
               .best = INFINITY};
    s.w = work;
    s.g = s.w + d;
    s.work = s.g + d;
    double *room = s.full = s.work + 4 * local->n + d;
    memcpy(s.w, w, d * sizeof *w);
    if (!solved_at_once(&s) && !certify(&s)) {
        fista f = {.s = &s,
                   .mean = room,
                   .D = room + d,
                   .z = room + 2 * d,
                   .last = room + 3 * d,
                   .change = room + 4 * d};
        if (local->gram)
            descend(&s);
        else
            accelerate(&f);
    }
    if (!isfinite(s.gap) || !isfinite(bb_sum(d, s.w)))
        return bb_fail(BB_ENUMERIC, "lasso with penalty %g: the model is not finite",
                       lambda);
    memcpy(w, s.w, d * sizeof *w);
    *b = local->loss == BB_LOSS_SQUARED ? bb_local_intercept(local, w, work) : s.b;
    *gap = s.gap;
    return BB_OK;
}
