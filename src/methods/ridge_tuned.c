#include "methods/ridge_tuned.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { LEAST_ROWS = 4, PENALTIES = 13, BLOCK = 64 };
/* Decades, over the number of columns that vary. */
static const double most = 3.0, step = 0.5, usual = 0.3;
/* Below it nothing varies: a variance by the square of the mean, an eigenvalue by the
 * largest, a sum of squares by that of the targets around their mean. */
static const double rounding = 1e-18, least_value = 1e-12, least_error = 1e-12;

typedef struct tuned {
    const bb_local *local;
    size_t n, p;    /* rows; columns but for the constant */
    size_t order;   /* the lesser of them */
    double *mean;   /* p */
    double *factor; /* p: one over the deviation */
    double
        *rows; /* as they are looked at: all, if they are no more than p, or a block */
    double *vector;  /* order x order: of the rows' products, an eigenvector each row */
    double *value;   /* order */
    double *score;   /* order: of one row */
    double *square;  /* order */
    double *towards; /* order: the sum over rows of score times target */
    double *inverse; /* PENALTIES x order: 1 / (value + penalty) */
    double *gain;    /* the same times towards */
    double *work;    /* bb_eigen_work(order) bytes, or p numbers and order */
    double level;    /* the targets' mean */
    double varying;  /* columns */
} tuned;

bool bb_ridge_tuned_fits(const bb_local *local) {
    return local->x && local->n >= LEAST_ROWS && local->x[local->d - 1] != 0.0;
}

static size_t least_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* How many rows are looked at together. */
static size_t block_of(size_t n, size_t p) {
    return n <= p ? n : least_of(n, BLOCK);
}

static tuned tuned_in(const bb_local *local, double *at) {
    tuned t = {.local = local, .n = local->n, .p = local->d - 1};
    const size_t order = least_of(t.n, t.p);
    t.order = order;
    t.mean = at;
    t.factor = t.mean + t.p;
    t.rows = t.factor + t.p;
    t.vector = t.rows + block_of(t.n, t.p) * t.p;
    t.value = t.vector + order * order;
    t.score = t.value + order;
    t.square = t.score + order;
    t.towards = t.square + order;
    t.inverse = t.towards + order;
    t.gain = t.inverse + PENALTIES * order;
    t.work = t.gain + PENALTIES * order;
    return t;
}

size_t bb_ridge_tuned_work(const bb_local *local) {
    if (!bb_ridge_tuned_fits(local)) return 0;
    const size_t n = local->n, p = local->d - 1, order = least_of(n, p);
    const size_t eigen = bb_eigen_work(order) / sizeof(double) + 1, model = p + order;
    return (2 + block_of(n, p)) * p + (order + 4 + 2 * PENALTIES) * order +
           (eigen > model ? eigen : model);
}

static void look_at_columns(tuned *t) {
    const size_t n = t->n, p = t->p, d = p + 1;
    const double *x = t->local->x;
    memset(t->mean, 0, p * sizeof *t->mean);
    memset(t->factor, 0, p * sizeof *t->factor);
    for (size_t j = 0; j < n; j++) bb_axpy(p, 1.0 / (double)n, x + j * d, t->mean);
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < p; k++) {
            const double from = x[j * d + k] - t->mean[k];
            t->factor[k] += from * from / (double)n;
        }
    t->varying = 0.0;
    for (size_t k = 0; k < p; k++) {
        const bool varies = t->factor[k] > rounding * t->mean[k] * t->mean[k];
        t->factor[k] = varies ? 1.0 / sqrt(t->factor[k]) : 0.0;
        t->varying += varies;
    }
    t->level = 0.0;
    for (size_t j = 0; j < n; j++) t->level += t->local->y[j] / (double)n;
}

/* rows <- rows first to last, around their means in units of their deviations. */
static void take_rows(const tuned *t, size_t first, size_t last) {
    const size_t p = t->p, d = p + 1;
    for (size_t j = first; j < last; j++) {
        const double *x = t->local->x + j * d;
        double *out = t->rows + (j - first) * p;
        for (size_t k = 0; k < p; k++) out[k] = (x[k] - t->mean[k]) * t->factor[k];
    }
}

/* What the rows' products are made of: eigenvectors and eigenvalues. */
static bb_status decompose(const tuned *t) {
    const size_t n = t->n, p = t->p, order = t->order, block = block_of(t->n, t->p);
    for (size_t first = 0; first < n; first += block) {
        const size_t last = least_of(n, first + block);
        take_rows(t, first, last);
        if (order == n)
            bb_gram_rows(n, p, 1.0, t->rows, t->vector);
        else
            bb_gram(last - first, p, 1.0, t->rows, first ? 1.0 : 0.0, t->vector);
    }
    const bb_status status = bb_eigen(order, t->vector, t->value, t->work);
    if (status) return status;
    const double least = least_value * t->value[order - 1];
    for (size_t k = 0; k < order; k++)
        if (!(t->value[k] > least)) t->value[k] = 0.0;
    return BB_OK;
}

/* score <- row j in the directions of the eigenvectors, row: where it is among `rows'. */
static void score_of(const tuned *t, size_t j, size_t row) {
    const size_t order = t->order;
    if (order == t->n)
        for (size_t k = 0; k < order; k++)
            t->score[k] = t->vector[k * order + j] * sqrt(t->value[k]);
    else
        bb_multiply(order, order, 1.0, t->vector, t->rows + row * t->p, 0.0, t->score);
}

/* What is done with every row, whose score is there. */
typedef void visit(const tuned *t, double y, double *out);

static void visit_rows(const tuned *t, visit *with, double *out) {
    const size_t block = block_of(t->n, t->p);
    for (size_t first = 0; first < t->n; first += block) {
        const size_t last = least_of(t->n, first + block);
        if (block < t->n) take_rows(t, first, last);
        for (size_t j = first; j < last; j++) {
            score_of(t, j, j - first);
            with(t, t->local->y[j] - t->level, out);
        }
    }
}

static void add_towards(const tuned *t, double y, double *towards) {
    bb_axpy(t->order, y, t->score, towards);
}

/* error: by which the row is missed when it is left out, squared. */
static void add_errors(const tuned *t, double y, double *error) {
    const size_t order = t->order;
    for (size_t k = 0; k < order; k++) t->square[k] = t->score[k] * t->score[k];
    for (size_t l = 0; l < PENALTIES; l++) {
        const double fit = bb_dot(order, t->score, t->gain + l * order);
        const double weight =
            1.0 / (double)t->n + bb_dot(order, t->square, t->inverse + l * order);
        const double missed = (y - fit) / fmax(1.0 - weight, 1e-9);
        error[l] += missed * missed;
    }
}

static double decades(size_t l) {
    return most - step * (double)l;
}

/* The largest of those that are best. */
static size_t best_penalty(const tuned *t) {
    double error[PENALTIES] = {0}, squares = 0.0, least = INFINITY;
    size_t best = 0;
    visit_rows(t, add_errors, error);
    for (size_t j = 0; j < t->n; j++) {
        const double from = t->local->y[j] - t->level;
        squares += from * from;
    }
    for (size_t l = 0; l < PENALTIES; l++) {
        const double far = decades(l) - usual;
        const double found =
            (double)t->n * log(error[l] + least_error * squares) + far * far;
        if (!(found < least)) continue;
        least = found;
        best = l;
    }
    return best;
}

/* slope (p) <- of the columns as they are looked at. */
static void slopes_of(const tuned *t, size_t l, double *slope) {
    const size_t order = t->order;
    double *gain = t->gain + l * order, *dual = t->work + t->p;
    if (order < t->n) {
        bb_multiply_transposed(order, order, 1.0, t->vector, gain, 0.0, slope);
        return;
    }
    for (size_t k = 0; k < order; k++)
        gain[k] = t->value[k] > 0.0 ? gain[k] / sqrt(t->value[k]) : 0.0;
    bb_multiply_transposed(order, order, 1.0, t->vector, gain, 0.0, dual);
    bb_multiply_transposed(t->n, t->p, 1.0, t->rows, dual, 0.0, slope);
}

static void solve(const tuned *t, double *slope) {
    const size_t order = t->order;
    memset(t->towards, 0, order * sizeof *t->towards);
    visit_rows(t, add_towards, t->towards);
    for (size_t l = 0; l < PENALTIES; l++)
        for (size_t k = 0; k < order; k++) {
            double *const inverse = t->inverse + l * order + k;
            *inverse = 1.0 / (t->value[k] + t->varying * pow(10.0, decades(l)));
            t->gain[l * order + k] = *inverse * t->towards[k];
        }
    slopes_of(t, best_penalty(t), slope);
}

bb_status bb_ridge_tuned(const bb_local *local, double *w, double *work) {
    tuned t = tuned_in(local, work);
    const double constant = local->x[t.p];
    double *slope = t.work, level;
    memset(w, 0, local->d * sizeof *w);
    look_at_columns(&t);
    level = t.level;
    if (t.varying > 0.0) {
        const bb_status status = decompose(&t);
        if (status) return status;
        solve(&t, slope);
        for (size_t k = 0; k < t.p; k++) {
            w[k] = slope[k] * t.factor[k];
            level -= w[k] * t.mean[k];
        }
    }
    w[t.p] = level / constant;
    return BB_OK;
}
