/* What one task shows for the effects (mp_mixed_effects.h): its deviation from a centre,
 * as far as its rows tell, and quadratic forms of it beside what they are made of. */
#include "linalg/linalg.h"
#include "methods/mp_mixed_effects.h"

#include <math.h>
#include <string.h>

/* A working ratio of the residual's variance to that of the deviations: estimates are
 * right for any, and best where it is true (Liang and Zeger 1986). */
static const double ratio = 0.3;
/* A column that deviates in a task by less than this part of half its range is taken not
 * to vary there: it tells next to nothing of its slope. */
static const double least_deviation = 0.1;

typedef struct summary {
    double *score;       /* d: u */
    double *information; /* d x d: A */
    double *moments;     /* bb_mixed_moments */
    double *mean;        /* d: of the rows */
    double *basis, *value, *turned, *residual, *eigen;
} summary;

static summary summary_in(double *at, const bb_local *local) {
    const size_t d = local->d;
    summary s = {.score = at, .information = at + d};
    s.moments = s.information + d * d;
    s.mean = s.moments + bb_mixed_moments(d);
    s.basis = s.mean + d;
    s.value = s.basis + d * d;
    s.turned = s.value + d;
    s.residual = s.turned + d;
    s.eigen = s.residual + local->n;
    return s;
}

size_t bb_mixed_effects_local_length(const bb_local *local) {
    const size_t d = local->d;
    return 2 * d * d + 4 * d + bb_mixed_moments(d) + local->n + d * d +
           bb_eigen_work(d) / sizeof(double) + 8;
}

/* Residuals around the centre, and G = X'X. */
static void open_summary(const bb_local *local, const double *centre,
                         const summary *s) {
    const size_t n = local->n, d = local->d;
    memcpy(s->residual, local->y, n * sizeof *s->residual);
    bb_multiply(n, d, -1.0, local->x, centre, 1.0, s->residual);
    bb_multiply_transposed(n, d, 1.0, local->x, s->residual, 0.0, s->score);
    bb_gram(n, d, 1.0, local->x, 0.0, s->basis);
}

/* From G in the basis and X'r in the score: u = (G + ratio I)^-1 X'r, and A. */
static bb_status summarise(size_t d, const summary *s) {
    double *share = s->eigen, *room = s->eigen + d;
    const bb_status status = bb_eigen(d, s->basis, s->value, s->eigen);
    if (status) return status;
    bb_multiply(d, d, 1.0, s->basis, s->score, 0.0, s->turned);
    for (size_t k = 0; k < d; k++) {
        const double g = fmax(0.0, s->value[k]);
        s->value[k] = g;
        s->turned[k] /= g + ratio;
        share[k] = g / (g + ratio);
    }
    bb_multiply_transposed(d, d, 1.0, s->basis, s->turned, 0.0, s->score);
    bb_spectral(d, d, s->basis, share, s->information, room);
    return BB_OK;
}

/* -- moments -- */

size_t bb_mixed_moments(size_t d) {
    return BB_MOMENT_VARIES + d - 1;
}

double bb_mixed_varies(size_t d) {
    return BB_MOMENTS_VARY / sqrt((double)d - 1.0);
}

/* From G in the basis, X'r in the score and the mean of the residuals: the same of rows
 * around their mean, and of those columns only that vary. A column that does not says
 * nothing of a slope of its own, and what it does to a task's level is the intercept's.
 * mean <- 0 elsewhere. */
static void within(const bb_local *local, double level, const summary *s) {
    const size_t n = local->n, d = local->d, last = d - 1;
    const double rows = (double)n, unit = 1.0 / sqrt((double)d);
    memset(s->mean, 0, d * sizeof *s->mean);
    for (size_t j = 0; j < n; j++) bb_axpy(d, 1.0 / rows, local->x + j * d, s->mean);
    for (size_t k = 0; k < d; k++) {
        bb_axpy(d, -rows * s->mean[k], s->mean, s->basis + k * d);
        s->score[k] -= rows * s->mean[k] * level;
    }
    for (size_t k = 0; k < d; k++) {
        const double deviation = sqrt(fmax(0.0, s->basis[k * d + k]) / rows);
        if (k < last && deviation >= least_deviation * unit) {
            s->moments[BB_MOMENT_VARIES + k] = bb_mixed_varies(d);
            continue;
        }
        for (size_t j = 0; j < d; j++) s->basis[k * d + j] = s->basis[j * d + k] = 0.0;
        s->score[k] = s->mean[k] = 0.0;
    }
}

/* tr N, N = (G + ratio I)^-2 G. */
static double trace_of_noise(const summary *s, size_t d) {
    double sum = 0.0;
    for (size_t k = 0; k < d; k++)
        sum += s->value[k] / ((s->value[k] + ratio) * (s->value[k] + ratio));
    return sum;
}

/* Of the level: what the mean of the residuals says, drawn to 0 as u is. */
static void measure_level(const bb_local *local, double level, const summary *s) {
    const size_t d = local->d;
    const double p = (double)d, rows = (double)local->n;
    const double others = d > 1 ? p - 1.0 : 1.0, kept = rows / (rows + ratio * p);
    double *m = s->moments;
    m[BB_MOMENT_INTERCEPT] = kept * kept * level * level;
    m[BB_MOMENT_OF_INTERCEPT] = kept * kept;
    m[BB_MOMENT_OF_BOTH] = kept * kept * p * bb_dot(d, s->mean, s->mean) / others;
    m[BB_MOMENT_INTERCEPT_NOISE] = kept * kept / rows;
}

/* Of the slopes and of what they leave; squares: of the residuals around their mean. */
static bb_status measure_within(const bb_local *local, double squares,
                                const summary *s) {
    const size_t d = local->d;
    const double p = (double)d, rows = (double)local->n;
    const double others = d > 1 ? p - 1.0 : 1.0;
    double *m = s->moments, left = rows - 1.0 - p, explained = 0.0;
    const bb_status status = summarise(d, s);
    if (status) return status;
    const double noise = trace_of_noise(s, d);
    for (size_t k = 0; k < d; k++) {
        const double g = s->value[k], kept = ratio / (g + ratio);
        left += kept * kept;
        explained += (g + 2.0 * ratio) * s->turned[k] * s->turned[k];
    }
    m[BB_MOMENT_SLOPE] = bb_dot(d, s->score, s->score) / p;
    m[BB_MOMENT_OF_SLOPE] = bb_dot(d * d, s->information, s->information) / others;
    m[BB_MOMENT_SLOPE_NOISE] = noise / p;
    m[BB_MOMENT_RESIDUAL] = fmax(0.0, squares - explained) / rows;
    m[BB_MOMENT_RESIDUAL_SLOPE] = ratio * ratio * p * noise / (rows * others);
    m[BB_MOMENT_RESIDUAL_NOISE] = left / rows;
    return BB_OK;
}

/* Coefficients are made small, and products of the forms are added. Which columns vary has
 * the room that is left: all else counts as it would without. */
static void pack(double *m, size_t d) {
    double *square = m + BB_MOMENT_SQUARES, *varies = m + BB_MOMENT_VARIES;
    for (size_t k = BB_MOMENT_OF_INTERCEPT; k < BB_MOMENT_SIZE; k++)
        m[k] *= BB_MOMENT_COEFFICIENT;
    for (size_t a = 0; a < BB_MOMENT_OF_INTERCEPT; a++)
        for (size_t b = a; b < BB_MOMENT_OF_INTERCEPT; b++)
            *square++ = BB_MOMENT_SQUARE * m[a] * m[b];
    const double all = bb_dot(BB_MOMENT_VARIES, m, m);
    const double room = sqrt(fmax(0.0, BB_MOMENTS_CLIP * BB_MOMENTS_CLIP - all));
    const double length = bb_norm(d - 1, varies);
    if (length > room) bb_scale(d - 1, room / length, varies);
}

static void measure(const bb_local *local, const double *centre, const summary *s) {
    const size_t n = local->n, d = local->d;
    double level = 0.0;
    const double all = bb_dot(d, s->score, s->score) / (double)d;
    const double size = s->score[d - 1] * s->score[d - 1] / (double)d;
    open_summary(local, centre, s);
    for (size_t j = 0; j < n; j++) level += s->residual[j] / (double)n;
    const double squares =
        bb_dot(n, s->residual, s->residual) - (double)n * level * level;
    within(local, level, s);
    measure_level(local, level, s);
    if (measure_within(local, squares, s)) {
        memset(s->moments, 0, bb_mixed_moments(d) * sizeof *s->moments);
        return;
    }
    s->moments[BB_MOMENT_SIZE] = size;
    s->moments[BB_MOMENT_SIZE_OF_SLOPES] = fmax(0.0, all - size);
    pack(s->moments, d);
}

/* -- shown -- */

static bool asks_for_moments(const bb_layout *layout) {
    return layout->blocks == 1;
}

void bb_mixed_effects_train(const bb_layout *layout, const double *centre,
                            bb_task *task) {
    const bb_local *local = task->local;
    const summary s = summary_in(task->work, local);
    memset(s.score, 0, (size_t)(s.basis - s.score) * sizeof *s.score);
    if (local->n == 0 || !local->x) return;
    open_summary(local, centre, &s);
    if (summarise(local->d, &s)) {
        memset(s.score, 0, local->d * sizeof *s.score);
        return;
    }
    if (asks_for_moments(layout)) measure(local, centre, &s);
}

void bb_mixed_effects_show(const bb_layout *layout, double radius, const bb_task *task,
                           double *const *block) {
    const size_t d = task->local->d;
    const summary s = summary_in(task->work, task->local);
    if (asks_for_moments(layout)) {
        memcpy(block[0], s.moments, bb_mixed_moments(d) * sizeof **block);
        return;
    }
    /* A deviation that is far too long is a task of less weight, all of it. */
    const double norm = bb_norm(d, s.score);
    const double weight = norm > radius ? radius / norm : 1.0;
    const double stretch = weight * layout->block[0].clip / radius;
    for (size_t k = 0; k < d; k++) block[0][k] = block[2][k] = stretch * s.score[k];
    for (size_t k = 0; k < d * d; k++) block[1][k] = weight * s.information[k];
}
