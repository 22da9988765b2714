#include "train/reml.h"

#include "base/memory.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 32, BATCH = 256, SMALL = 16 };
static const double two_pi = 6.283185307179586;

/* What the tasks of a part add up to. */
struct bb_reml_part {
    double log_determinant, square; /* of V; of whitened targets */
    double *gram, *product;         /* p x p, p: W'W and W'z of the whitened rows */
    double *spread;                 /* p x p: what the gradient subtracts */
    bool failed;
};

/* -- opening -- */

/* Rows of another matrix with the same products as the n rows [x y]: roots of the
 * eigenvalues times eigenvectors; p + 1 rows. work: (p+1)^2 + p + 1 doubles, then
 * bb_eigen's. */
static bb_status reduce(size_t n, size_t p, const double *x, const double *y,
                        double *out_x, double *out_y, double *work) {
    const size_t q = p + 1;
    double *gram = work, *value = gram + q * q, *rows = value + q;
    void *room = rows + n * q;
    for (size_t j = 0; j < n; j++) {
        memcpy(rows + j * q, x + j * p, p * sizeof *rows);
        rows[j * q + p] = y[j];
    }
    bb_gram(n, q, 1.0, rows, 0.0, gram);
    const bb_status status = bb_eigen(q, gram, value, room);
    for (size_t k = 0; k < q && !status; k++) {
        bb_scale(q, sqrt(fmax(value[k], 0.0)), gram + k * q);
        memcpy(out_x + k * p, gram + k * q, p * sizeof *out_x);
        out_y[k] = gram[k * q + p];
    }
    return status;
}

static size_t rows_of(const bb_reml *r, size_t i) {
    return r->at[i + 1] - r->at[i];
}

/* Few rows are kept as they are. */
static size_t reduced(size_t n, size_t p) {
    return n > p + 1 ? p + 1 : n;
}

static bb_status take_rows(bb_reml *r, const bb_design *design, const double *y) {
    const size_t p = r->columns, q = p + 1;
    size_t longest = 0;
    double *room = NULL;
    for (size_t i = 0; i < r->tasks; i++) {
        const size_t n = design->first[i + 1] - design->first[i];
        if (n > longest) longest = n;
    }
    bb_status status = BB_OK;
    if (longest > q)
        status = bb_allocate(
            &room, q * q + q + longest * q + bb_eigen_work(q) / sizeof *room + 1,
            sizeof *room, "the mixed model");
    for (size_t i = 0; i < r->tasks && !status; i++) {
        const size_t from = design->first[i], n = design->first[i + 1] - from;
        double *x = r->x + r->at[i] * p, *t = r->y + r->at[i];
        if (n > q) {
            status = reduce(n, p, design->x + from * p, y + from, x, t, room);
            continue;
        }
        memcpy(x, design->x + from * p, n * p * sizeof *x);
        memcpy(t, y + from, n * sizeof *t);
    }
    free(room);
    return status;
}

static bb_status allocate(bb_reml *r) {
    const size_t p = r->columns, k = r->most, rows = r->at[r->tasks];
    const size_t each = 2 * p * p + p, batch = k > BATCH ? k : BATCH;
    const char *what = "the mixed model";
    bb_status status = bb_allocate(&r->x, rows * p, sizeof *r->x, what);
    r->work_length = 2 * p + batch * (2 * p + 1) + k * k;
    if (!status) status = bb_allocate(&r->y, rows, sizeof *r->y, what);
    if (!status) status = bb_allocate(&r->wx, rows * p, sizeof *r->wx, what);
    if (!status) status = bb_allocate(&r->wy, rows, sizeof *r->wy, what);
    if (!status) status = bb_allocate(&r->part, r->parts, sizeof *r->part, what);
    if (!status)
        status = bb_allocate(&r->block, r->parts * each, sizeof *r->block, what);
    if (!status)
        status = bb_allocate(&r->work, r->engine->workers * r->work_length,
                             sizeof *r->work, what);
    if (!status)
        status =
            bb_allocate(&r->information, 2 * p * p + p, sizeof *r->information, what);
    if (!status)
        status = bb_allocate(&r->root, p * p + bb_invert_work(p) / sizeof(double) + 1,
                             sizeof *r->root, what);
    if (!status) status = bb_allocate(&r->beta, p, sizeof *r->beta, what);
    for (size_t c = 0; c < r->parts && !status; c++) {
        r->part[c].gram = r->block + c * each;
        r->part[c].spread = r->part[c].gram + p * p;
        r->part[c].product = r->part[c].spread + p * p;
    }
    return status;
}

bb_status bb_reml_open(bb_reml *reml, const bb_design *design, const double *y,
                       const bb_engine *engine) {
    bb_reml r = {.tasks = design->tasks,
                 .columns = design->columns,
                 .rows = (double)design->rows,
                 .engine = engine,
                 .parts = design->tasks < PARTS ? design->tasks : PARTS};
    if (design->rows <= design->columns)
        return bb_fail(BB_EDATA, "a mixed model needs more rows than columns: %zu, %zu",
                       design->rows, design->columns);
    bb_status status = bb_allocate(&r.at, r.tasks + 1, sizeof *r.at, "the mixed model");
    for (size_t i = 0; i < r.tasks && !status; i++) {
        const size_t n = reduced(design->first[i + 1] - design->first[i], r.columns);
        r.at[i + 1] = r.at[i] + n;
        if (n > r.most) r.most = n;
    }
    if (!status) status = allocate(&r);
    if (!status) status = take_rows(&r, design, y);
    if (status)
        bb_reml_close(&r);
    else
        *reml = r;
    return status;
}

void bb_reml_close(bb_reml *r) {
    free(r->at);
    free(r->x);
    free(r->y);
    free(r->wx);
    free(r->wy);
    free(r->part);
    free(r->block);
    free(r->work);
    free(r->information);
    free(r->root);
    free(r->beta);
    *r = (bb_reml){0};
}

double bb_reml_cost(const bb_reml *r) {
    const double p = (double)r->columns;
    double sum = 0.0;
    for (size_t i = 0; i < r->tasks; i++) {
        const double k = (double)rows_of(r, i);
        sum += k * p * (4.0 * p + 3.0 * k) + k * k * k / 3.0;
    }
    return sum;
}

/* -- batches: tasks one after the other, whose rows are multiplied together -- */

typedef struct batch {
    size_t from, to;   /* tasks */
    size_t rows;       /* of all of them */
    double *x, *w, *z; /* rows x p, rows x p, rows: as they are, whitened; targets */
} batch;

static size_t part_begin(const bb_reml *r, size_t c) {
    return c * r->tasks / r->parts;
}

/* The next batch of a part of the tasks, at most BATCH rows or one task. */
static bool next_batch(const bb_reml *r, size_t part, batch *b) {
    const size_t end = part_begin(r, part + 1), p = r->columns;
    b->from = b->to;
    if (b->from == end) return false;
    for (b->to++; b->to < end && r->at[b->to + 1] - r->at[b->from] <= BATCH; b->to++) {}
    b->rows = r->at[b->to] - r->at[b->from];
    b->x = r->x + r->at[b->from] * p;
    b->w = r->wx + r->at[b->from] * p;
    b->z = r->wy + r->at[b->from];
    return true;
}

/* C (k x k) <- A A' of the k x n matrix. */
static void outer(size_t k, size_t n, const double *A, double *C) {
    if (k > SMALL) {
        bb_gram_rows(k, n, 1.0, A, C);
        return;
    }
    for (size_t a = 0; a < k; a++)
        for (size_t b = a; b < k; b++)
            C[a * k + b] = C[b * k + a] = bb_dot(n, A + a * n, A + b * n);
}

/* B (k x n) <- U'^-1 B */
static void solve_rows(size_t k, size_t n, const double *U, double *B) {
    if (k > SMALL) {
        bb_cholesky_whiten(k, U, n, B);
        return;
    }
    for (size_t a = 0; a < k; a++) {
        for (size_t b = 0; b < a; b++) bb_axpy(n, -U[b * k + a], B + b * n, B + a * n);
        bb_scale(n, 1.0 / U[a * k + a], B + a * n);
    }
}

/* C (k x n) <- E B, E k x k */
static void multiply_rows(size_t k, size_t n, const double *E, const double *B,
                          double *C) {
    if (k > SMALL) {
        bb_product(k, k, n, 1.0, E, B, 0.0, C);
        return;
    }
    memset(C, 0, k * n * sizeof *C);
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++) bb_axpy(n, E[a * k + b], B + b * n, C + a * n);
}

/* -- the value -- */

/* Z <- X L, of the batch's rows: rows x p, or rows x 1 without slopes; its width. */
static size_t loadings(const bb_reml *r, const batch *b, double *Z) {
    const size_t p = r->columns, q = r->slopes ? p : 1;
    if (r->full) {
        bb_product(b->rows, p, p, 1.0, b->x, r->L, 0.0, Z);
        return p;
    }
    for (size_t j = 0; j < b->rows; j++)
        for (size_t c = 0; c < q; c++) Z[j * q + c] = b->x[j * p + c] * r->L[c * p + c];
    return q;
}

/* V = I + Z Z' of a task is factored, and its rows are whitened by it. */
static bool whiten(const bb_reml *r, size_t i, size_t width, const double *Z, double *V,
                   bb_reml_part *part) {
    const size_t p = r->columns, k = rows_of(r, i);
    outer(k, width, Z, V);
    for (size_t j = 0; j < k; j++) V[j * k + j] += 1.0;
    if (bb_cholesky(k, V)) return false;
    for (size_t j = 0; j < k; j++) part->log_determinant += 2.0 * log(V[j * k + j]);
    solve_rows(k, p, V, r->wx + r->at[i] * p);
    solve_rows(k, 1, V, r->wy + r->at[i]);
    return true;
}

static void add_values(void *context, size_t item, size_t worker) {
    const bb_reml *r = context;
    const size_t p = r->columns, start = part_begin(r, item);
    bb_reml_part *part = &r->part[item];
    double *V = r->work + worker * r->work_length, *Z = V + r->most * r->most;
    batch b = {.to = start};
    part->log_determinant = part->square = 0.0;
    part->failed = false;
    memset(part->gram, 0, p * p * sizeof *part->gram);
    memset(part->product, 0, p * sizeof *part->product);
    while (next_batch(r, item, &b)) {
        const size_t width = loadings(r, &b, Z);
        memcpy(b.w, b.x, b.rows * p * sizeof *b.w);
        memcpy(b.z, r->y + r->at[b.from], b.rows * sizeof *b.z);
        for (size_t i = b.from; i < b.to; i++)
            if (!whiten(r, i, width, Z + (r->at[i] - r->at[b.from]) * width, V, part))
                part->failed = true;
        bb_gram(b.rows, p, 1.0, b.w, 1.0, part->gram);
        bb_multiply_transposed(b.rows, p, 1.0, b.w, b.z, 1.0, part->product);
        part->square += bb_dot(b.rows, b.z, b.z);
    }
}

/* beta and s from the sums; A's factor and R. */
static bool solve(bb_reml *r, const double *product, double square, double *log_a) {
    const size_t p = r->columns;
    double *factor = r->information + p * p, *inverse = r->root;
    memcpy(factor, r->information, p * p * sizeof *factor);
    if (bb_cholesky(p, factor)) return false;
    *log_a = 0.0;
    for (size_t c = 0; c < p; c++) *log_a += 2.0 * log(factor[c * p + c]);
    memcpy(r->beta, product, p * sizeof *r->beta);
    bb_cholesky_solve(p, factor, r->beta);
    r->sum_of_squares = square - bb_dot(p, product, r->beta);
    memcpy(inverse, r->information, p * p * sizeof *inverse);
    if (bb_invert_spd(p, inverse, inverse + p * p) || bb_cholesky(p, inverse))
        return false;
    for (size_t a = 0; a < p; a++) /* U'U: R = U' */
        for (size_t b = 0; b < a; b++) {
            inverse[a * p + b] = inverse[b * p + a];
            inverse[b * p + a] = 0.0;
        }
    return true;
}

double bb_reml_value(bb_reml *r, const double *L, bool slopes, bool full) {
    const size_t p = r->columns;
    const double freedom = r->rows - (double)p;
    double log_v = 0.0, square = 0.0, log_a;
    double *product = r->information + 2 * p * p;
    r->L = L;
    r->slopes = slopes;
    r->full = full;
    for (size_t k = 0; k < p * p; k++)
        if (!isfinite(L[k])) return INFINITY;
    r->engine->each(r->engine, r->parts, add_values, r);
    memset(r->information, 0, (2 * p * p + p) * sizeof *r->information);
    for (size_t c = 0; c < r->parts; c++) { /* always in one order */
        if (r->part[c].failed) return INFINITY;
        log_v += r->part[c].log_determinant;
        square += r->part[c].square;
        bb_axpy(p * p, 1.0, r->part[c].gram, r->information);
        bb_axpy(p, 1.0, r->part[c].product, product);
    }
    if (!solve(r, product, square, &log_a)) return INFINITY;
    if (!(r->sum_of_squares > 1e-12 * r->rows)) /* a perfect fit of targets near 1 */
        r->sum_of_squares = 1e-12 * r->rows;
    r->s = sqrt(r->sum_of_squares / freedom);
    return log_v + log_a + freedom * (1.0 + log(two_pi * r->s * r->s));
}

/* -- the gradient --
 * By D = L L': sum_i H - H A^-1 H - u u' / s^2 with H = X'V^-1 X, A their sum and
 * u = X'V^-1 (y - X beta). */

/* residual (rows) <- V^-1/2 (y - X beta) of the batch. */
static void residuals(const bb_reml *r, const batch *b, double *residual) {
    memcpy(residual, b->z, b->rows * sizeof *residual);
    bb_multiply(b->rows, r->columns, -1.0, b->w, r->beta, 1.0, residual);
}

/* spread += h h' a, or its diagonal, or the diagonal's first entry. */
static void add_square(const bb_reml *r, double a, const double *h, double *spread) {
    const size_t p = r->columns, q = r->slopes ? p : 1;
    for (size_t c = 0; c < q; c++) {
        if (r->full)
            bb_axpy(p, a * h[c], h, spread + c * p);
        else
            spread[c * p + c] += a * h[c] * h[c];
    }
}

/* H A^-1 H of a task: its first entry, |R'h|^2 of H's first column h. room: 2 p */
static double intercept_part(const bb_reml *r, size_t k, const double *w,
                             double *room) {
    const size_t p = r->columns;
    double *h = room, *t = h + p;
    memset(h, 0, p * sizeof *h);
    for (size_t j = 0; j < k; j++) bb_axpy(p, w[j * p], w + j * p, h);
    bb_multiply_transposed(p, p, 1.0, r->root, h, 0.0, t);
    return bb_dot(p, t, t);
}

/* H A^-1 H = W' (W A^-1 W') W of all tasks of the batch. */
static void add_slopes(const bb_reml *r, const batch *b, double *spread, double *E,
                       double *T) {
    const size_t p = r->columns;
    double *G = T + b->rows * p;
    bb_product(b->rows, p, p, 1.0, b->w, r->root, 0.0, T);
    for (size_t i = b->from; i < b->to; i++) {
        const size_t at = (r->at[i] - r->at[b->from]) * p, k = rows_of(r, i);
        outer(k, p, T + at, E);
        multiply_rows(k, p, E, b->w + at, G + at);
    }
    if (r->full) {
        bb_product_transposed(p, b->rows, p, 1.0, b->w, G, 1.0, spread);
        return;
    }
    for (size_t j = 0; j < b->rows; j++)
        for (size_t c = 0; c < p; c++)
            spread[c * p + c] += b->w[j * p + c] * G[j * p + c];
}

static void add_gradients(void *context, size_t item, size_t worker) {
    const bb_reml *r = context;
    const size_t p = r->columns;
    double *spread = r->part[item].spread, *work = r->work + worker * r->work_length;
    double *u = work, *E = u + 2 * p, *residual = E + r->most * r->most;
    batch b = {.to = part_begin(r, item)};
    memset(spread, 0, p * p * sizeof *spread);
    while (next_batch(r, item, &b)) {
        residuals(r, &b, residual);
        for (size_t i = b.from; i < b.to; i++) {
            const size_t at = r->at[i] - r->at[b.from], k = rows_of(r, i);
            bb_multiply_transposed(k, p, 1.0, b.w + at * p, residual + at, 0.0, u);
            add_square(r, 1.0 / (r->s * r->s), u, spread);
            if (!r->slopes) spread[0] += intercept_part(r, k, b.w + at * p, u);
        }
        if (r->slopes) add_slopes(r, &b, spread, E, residual + b.rows);
    }
}

void bb_reml_gradient(bb_reml *r, double *G) {
    const size_t p = r->columns;
    r->engine->each(r->engine, r->parts, add_gradients, r);
    memcpy(G, r->information, p * p * sizeof *G);
    for (size_t c = 0; c < r->parts; c++) bb_axpy(p * p, -1.0, r->part[c].spread, G);
}

/* -- the effects -- */

void bb_reml_effects(bb_reml *r, double *effect) {
    const size_t p = r->columns;
    double *u = r->work, *t = u + p, *residual = t + p;
    batch b = {0};
    memset(effect, 0, r->tasks * p * sizeof *effect);
    for (size_t part = 0; part < r->parts; part++)
        while (next_batch(r, part, &b)) {
            residuals(r, &b, residual);
            for (size_t i = b.from; i < b.to; i++) {
                const size_t at = r->at[i] - r->at[b.from];
                bb_multiply_transposed(rows_of(r, i), p, 1.0, b.w + at * p,
                                       residual + at, 0.0, u);
                bb_multiply_transposed(p, p, 1.0, r->L, u, 0.0, t);
                bb_multiply(p, p, 1.0, r->L, t, 0.0, effect + i * p);
            }
        }
}
