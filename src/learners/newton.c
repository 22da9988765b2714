#include "learners/rows.h"
#include "learners/solvers.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* What the loss is like at a place: its predictions, and the two derivatives in them. */
typedef struct place {
    double *p, *u, *a;
    double loss;
} place;

/* The iteration sees predictions only: p = p(position) + b, moved along dp (which
 * includes db), and the penalty lambda/2 ||w - centre||^2, a parabola along the step.
 * The position is v = w - centre ("by features") or a, v = X'a ("by rows"). */
typedef struct newton {
    const bb_local *local;
    bb_rows rows;
    double lambda;
    bool by_rows;
    size_t size;       /* of position and step */
    double *position;  /* size */
    double *step;      /* size + 1 */
    double *offset;    /* n: X centre */
    place here, there; /* at the position, and where a step may end */
    double tried;      /* of the step, `there' */
    double *dp;
    const double *kernel; /* by rows: X X' */
    double *system;       /* the matrix to factorise */
    double *room;
    double b, db;
    bool seek;     /* is b far from its best? */
    double square; /* ||v||^2 at the position */
    double cross, step_square, decrement;
} newton;

/* A decrement, over the objective, whose square is nothing beside the objective. */
static const double negligible = 1e-17;

static bool uses_rows(const bb_local *local) {
    return local->loss == BB_LOSS_SQUARED || local->d > local->n;
}

/* Room of the iteration by rows, which starts from their products. */
static size_t by_rows_work(size_t n) {
    return 13 * n + 1 + n * n;
}

size_t bb_newton_work(const bb_local *local) {
    const bb_rows rows = bb_rows_of(local);
    const size_t n = local->n, d = local->d, block = bb_rows_block(&rows);
    if (uses_rows(local)) return by_rows_work(n) + n * n + d;
    return 2 * d + 1 + 8 * n + (d + 1) * (d + 1) + (block > d ? block : d);
}

static void lay_out(newton *s, const bb_local *local, bool by_rows, double *work) {
    const size_t n = local->n, width = local->d + 1;
    s->local = local;
    s->rows = bb_rows_of(local);
    s->by_rows = by_rows;
    s->size = by_rows ? n : local->d;
    s->position = work;
    s->step = s->position + s->size;
    s->offset = s->step + s->size + 1;
    s->here.p = s->offset + n;
    s->here.u = s->here.p + n;
    s->here.a = s->here.u + n;
    s->there.p = s->here.a + n;
    s->there.u = s->there.p + n;
    s->there.a = s->there.u + n;
    s->dp = s->there.a + n;
    s->system = s->dp + n;
    s->room = s->system + (by_rows ? n * n : width * width);
}

/* The rest of a place whose predictions are there. */
static void measure(const bb_local *local, place *at) {
    const size_t n = local->n;
    const double s = local->weight;
    memcpy(at->u, at->p, n * sizeof *at->u);
    if (local->loss == BB_LOSS_LOGISTIC) {
        at->loss = bb_logistic_curved(n, local->y, at->u, at->a);
    } else {
        for (size_t j = 0; j < n; j++) {
            at->u[j] -= local->y[j];
            at->a[j] = 1;
        }
        at->loss = 0.5 * bb_dot(n, at->u, at->u);
    }
    if (s == 1) return;
    bb_scale(n, s, at->u);
    bb_scale(n, s, at->a);
    at->loss *= s;
}

/* out (n) <- the predictions' change for a change of the position. */
static void predict(const newton *s, const double *position, double *out) {
    if (s->by_rows)
        bb_multiply_transposed(s->size, s->size, 1, s->kernel, position, 0, out);
    else
        bb_rows_multiply(&s->rows, position, out);
}

/* v'v' for the two positions, given the predictions of the second. */
static double product(const newton *s, const double *first, const double *second,
                      const double *predicted) {
    return bb_dot(s->size, first, s->by_rows ? predicted : second);
}

/* At the position: predictions, loss, derivatives, ||v||^2. */
static void look(newton *s) {
    const size_t n = s->local->n;
    double *p = s->here.p;
    predict(s, s->position, p);
    s->square = product(s, s->position, s->position, p);
    for (size_t j = 0; j < n; j++) p[j] += s->offset[j];
    if (s->seek) s->b = bb_logistic_intercept(s->local, p, s->there.u);
    for (size_t j = 0; j < n; j++) p[j] += s->b;
    measure(s->local, &s->here);
}

/* Every prediction is decided so far that the intercept does not matter, as far as
 * numbers can tell: it stays. */
static bool is_settled(const newton *s) {
    return bb_sum(s->local->n, s->here.a) <= 1e-30 * s->local->weight;
}

/* The Newton step solves (X'AX + lambda I, with a border for b) step = -gradient. */
static bb_status direction_by_features(newton *s) {
    const size_t d = s->local->d, width = d + (s->local->intercept ? 1 : 0);
    double *g = s->step, *gradient = s->room;
    const double settled = is_settled(s) ? s->local->weight : 0;
    bb_status status = BB_ENUMERIC;
    double help = 0;
    for (int round = 0; round < 8 && status; round++) {
        bb_rows_covariance(&s->rows, 1, NULL, s->here.a, s->local->intercept, s->system,
                           s->room);
        for (size_t k = 0; k < width; k++) {
            s->system[k * width + k] += k < d ? s->lambda : settled;
            s->system[k * width + k] *= 1 + help;
        }
        status = bb_cholesky(width, s->system);
        help = help > 0 ? 100 * help : 1e-14;
    }
    if (status) return status;
    bb_rows_combine(&s->rows, s->here.u, gradient);
    bb_axpy(d, s->lambda, s->position, gradient);
    for (size_t k = 0; k < d; k++) g[k] = -gradient[k];
    const double slope = s->local->intercept ? bb_sum(s->local->n, s->here.u) : 0;
    if (s->local->intercept) g[d] = -slope;
    bb_cholesky_solve(width, s->system, g);
    s->db = s->local->intercept ? g[d] : 0;
    s->decrement = -(bb_dot(d, gradient, s->step) + slope * s->db);
    return BB_OK;
}

/* x <- (A K + lambda I)^-1 x = R (R K R + lambda I)^-1 R^-1 x with R = A^1/2, `root'; the
 * factor of the matrix in the middle is in s->system. */
static void solve_by_rows(const newton *s, const double *root, double *x) {
    const size_t n = s->size;
    for (size_t j = 0; j < n; j++) x[j] /= root[j];
    bb_cholesky_solve(n, s->system, x);
    for (size_t j = 0; j < n; j++) x[j] *= root[j];
}

/* M (n x n) <- diag(root) K diag(root). */
static void scale_both(size_t n, const double *restrict root, const double *restrict K,
                       double *restrict M) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) M[i * n + j] = root[i] * K[i * n + j] * root[j];
}

static bb_status factorise_by_rows(const newton *s, const double *root) {
    const size_t n = s->size;
    double *M = s->system, help = 0, trace = 0;
    bb_status status = BB_ENUMERIC;
    for (size_t j = 0; j < n; j++) trace += s->here.a[j] * s->kernel[j * n + j];
    for (int round = 0; round < 8 && status; round++) {
        scale_both(n, root, s->kernel, M);
        for (size_t i = 0; i < n; i++) M[i * n + i] += s->lambda + help * trace;
        status = bb_cholesky(n, M);
        help = help > 0 ? 10 * help : 1e-16;
    }
    return status;
}

/* Without intercept, and few rows: (K + lambda A^-1) step = -A^-1 (u + lambda position). z:
 * n. False: a matrix that needs help. */
static bool step_at_once(newton *s, const double *r, double *z) {
    const size_t n = s->size;
    if (s->local->intercept || n > BB_LINALG_SMALL) return false;
    for (size_t j = 0; j < n; j++) {
        const double a = s->here.a[j] > 1e-100 ? s->here.a[j] : 1e-100;
        z[j] = s->lambda / a;
        s->step[j] = -r[j] / a;
    }
    return bb_solve_shifted(n, s->kernel, z, s->step);
}

/* In the coefficients: (A K + lambda I) step + a db = -(u + lambda position), and with
 * an intercept the coefficients after the step sum to zero. */
static bb_status direction_by_rows(newton *s) {
    const size_t n = s->size;
    double *r = s->room, *z = r + n, *root = z + n;
    for (size_t j = 0; j < n; j++) r[j] = s->here.u[j] + s->lambda * s->position[j];
    s->db = 0;
    if (!step_at_once(s, r, z)) {
        for (size_t j = 0; j < n; j++) root[j] = sqrt(s->here.a[j]);
        for (size_t j = 0; j < n; j++) s->step[j] = -r[j];
        const bb_status status = factorise_by_rows(s, root);
        if (status) return status;
        solve_by_rows(s, root, s->step);
    }
    if (s->local->intercept && !is_settled(s)) {
        memcpy(z, s->here.a, n * sizeof *z);
        solve_by_rows(s, root, z);
        s->db = (bb_sum(n, s->position) + bb_sum(n, s->step)) / bb_sum(n, z);
        bb_axpy(n, -s->db, z, s->step);
    }
    predict(s, s->step, s->dp);
    s->decrement = -(bb_dot(n, r, s->dp) + bb_sum(n, s->here.u) * s->db);
    return BB_OK;
}

/* ||v||^2 behind this much of the step. */
static double square_at(const newton *s, double t) {
    return s->square + t * (2 * s->cross + t * s->step_square);
}

/* Looks `there', behind this much of the step. */
static double objective(newton *s, double t) {
    for (size_t j = 0; j < s->local->n; j++)
        s->there.p[j] = s->here.p[j] + t * s->dp[j];
    measure(s->local, &s->there);
    s->tried = t;
    return s->there.loss + 0.5 * s->lambda * square_at(s, t);
}

/* What was `there' is `here'. */
static void arrive(newton *s, double t) {
    const place left = s->here;
    if (s->tried != t) (void)objective(s, t);
    s->square = square_at(s, t);
    s->here = s->there;
    s->there = left;
    s->tried = 0;
}

/* The length of the step: by halving until the objective falls enough (Armijo). 0: the
 * parabola is no picture of the objective here. */
static double step_length(newton *s, double value) {
    for (double t = 1; t > 1e-12; t *= 0.5)
        if (objective(s, t) <= value - 1e-4 * t * s->decrement) return t;
    return 0;
}

static bb_status direction(newton *s) {
    const bb_status status =
        s->by_rows ? direction_by_rows(s) : direction_by_features(s);
    if (status) return status;
    if (!s->by_rows) predict(s, s->step, s->dp);
    s->tried = 0;
    s->cross = product(s, s->position, s->step, s->dp);
    s->step_square = product(s, s->step, s->step, s->dp);
    for (size_t j = 0; j < s->local->n; j++) s->dp[j] += s->db;
    return BB_OK;
}

/* Where most predictions are far from deciding, their curvature says nothing about the
 * way to the minimum. With its upper bound, a quarter, the full step always descends
 * (Bohning 1992), and often so do much longer ones. */
static bb_status careful_direction(newton *s, double *length) {
    for (size_t j = 0; j < s->local->n; j++) s->here.a[j] = 0.25 * s->local->weight;
    const bb_status status = direction(s);
    double t = 1, value = status ? 0 : objective(s, t);
    for (int doubling = 0; doubling < 60 && !status; doubling++) {
        const double further = objective(s, 2 * t);
        if (!(further < value)) break;
        value = further;
        t *= 2;
    }
    *length = t;
    return status;
}

/* One step; *done if the decrement (twice the expected descent) is at the rounding
 * floor: negligible, or small and no longer falling; or if the step leaves one of about
 * its square (twice as many digits are right), which is. Close to the minimum, where the
 * objective's rounding hides the descent, steps are full. */
static bb_status advance(newton *s, double *before, bool *done) {
    const double value = s->here.loss + 0.5 * s->lambda * s->square;
    if (!isfinite(value)) return bb_fail(BB_ENUMERIC, "the objective is not finite");
    bb_status status = direction(s);
    if (!status && !isfinite(s->decrement))
        status = bb_fail(BB_ENUMERIC, "a Newton step is not finite");
    if (status) return status;
    const bool near =
        s->local->loss == BB_LOSS_SQUARED || s->decrement <= 1e-10 * value;
    *done = s->decrement <= 1e-30 * value + 1e-40 * s->local->weight ||
            (near && s->decrement > 0.25 * *before);
    if (*done) return BB_OK;
    *before = near ? s->decrement : INFINITY;
    double t = near ? 1 : step_length(s, value);
    if (t == 0) {
        status = careful_direction(s, &t);
        if (status) return status;
    }
    s->seek = s->local->intercept && s->local->loss == BB_LOSS_LOGISTIC && t != 1;
    bb_axpy(s->size, t, s->step, s->position);
    s->b += t * s->db;
    *done = s->local->loss == BB_LOSS_LOGISTIC && s->decrement <= negligible * value;
    if (*done) return BB_OK;
    arrive(s, t);
    if (s->seek) look(s);
    return BB_OK;
}

static bb_status iterate(newton *s) {
    double before = INFINITY;
    bool done = false;
    look(s);
    for (int round = 0; round < 1000; round++) {
        const bb_status status = advance(s, &before, &done);
        if (status || done) return status;
    }
    return bb_fail(BB_ENUMERIC, "Newton's method does not converge in 1000 steps");
}

bb_status bb_newton_ridge(const bb_local *local, double lambda, const double *centre,
                          double *at, double *w, double *b, double *work) {
    const size_t n = local->n;
    newton s = {.lambda = lambda};
    lay_out(&s, local, uses_rows(local), work);
    if (at)
        memcpy(s.position, at, s.size * sizeof *at);
    else
        memset(s.position, 0, s.size * sizeof *s.position);
    memset(s.offset, 0, n * sizeof *s.offset);
    if (centre) bb_rows_multiply(&s.rows, centre, s.offset);
    s.seek = local->loss == BB_LOSS_LOGISTIC && local->intercept;
    double *v = s.position;
    if (s.by_rows) {
        double *kernel = work + by_rows_work(n);
        v = kernel + n * n;
        bb_rows_kernel(&s.rows, kernel, v);
        s.kernel = kernel;
    }
    const bb_status status = iterate(&s);
    if (status) return bb_fail_context(status, "penalty %g", lambda);
    if (s.by_rows) bb_rows_combine(&s.rows, s.position, v);
    for (size_t k = 0; k < local->d; k++) w[k] = v[k] + (centre ? centre[k] : 0);
    if (at) memcpy(at, s.position, s.size * sizeof *at);
    *b = s.b;
    return BB_OK;
}

size_t bb_local_ridge_kernel_work(const bb_local *local) {
    return by_rows_work(local->n);
}

bb_status bb_local_ridge_kernel(const bb_local *local, double lambda, const double *K,
                                const double *offset, double *a, double *work) {
    newton s = {.lambda = lambda, .kernel = K};
    assert(lambda > 0.0 && !local->intercept);
    lay_out(&s, local, true, work);
    memcpy(s.position, a, s.size * sizeof *a);
    memcpy(s.offset, offset, s.size * sizeof *offset);
    const bb_status status = iterate(&s);
    if (status) return bb_fail_context(status, "penalty %g", lambda);
    memcpy(a, s.position, s.size * sizeof *a);
    return BB_OK;
}
