/* What one task shows for the effects (mp_mixed_effects.h): its deviation from a centre,
 * as far as its rows tell, and quadratic forms of it beside what they are made of. */
#include "linalg/linalg.h"
#include "methods/mp_mixed_effects.h"

#include <math.h>
#include <string.h>

/* A working ratio of the residual's variance to that of the deviations: estimates are
 * right for any, and best where it is true (Liang and Zeger 1986). */
static const double ratio = 0.3;

typedef struct summary {
    double *score;       /* d: u */
    double *information; /* d x d: A */
    double *moments;     /* BB_MOMENTS */
    double *basis, *value, *residual, *turned, *eigen;
} summary;

static summary summary_in(double *at, const bb_local *local) {
    const size_t d = local->d;
    summary s = {.score = at, .information = at + d};
    s.moments = s.information + d * d;
    s.basis = s.moments + BB_MOMENTS;
    s.value = s.basis + d * d;
    s.turned = s.value + d;
    s.residual = s.turned + d;
    s.eigen = s.residual + local->n;
    return s;
}

size_t bb_mixed_effects_local_length(const bb_local *local) {
    const size_t d = local->d;
    return 2 * d * d + 3 * d + BB_MOMENTS + local->n + d * d +
           bb_eigen_work(d) / sizeof(double) + 8;
}

/* G = X'X, its eigenvectors and eigenvalues, and the residuals around the centre. */
static bb_status open_summary(const bb_local *local, const double *centre,
                              const summary *s) {
    const size_t n = local->n, d = local->d;
    bb_gram(n, d, 1.0, local->x, 0.0, s->basis);
    const bb_status status = bb_eigen(d, s->basis, s->value, s->eigen);
    if (status) return status;
    memcpy(s->residual, local->y, n * sizeof *s->residual);
    bb_multiply(n, d, -1.0, local->x, centre, 1.0, s->residual);
    for (size_t k = 0; k < d; k++) s->value[k] = fmax(0.0, s->value[k]);
    return BB_OK;
}

/* u = (G + ratio I)^-1 X'r, and A. */
static void summarise(const bb_local *local, const summary *s) {
    const size_t n = local->n, d = local->d;
    double *share = s->eigen, *room = s->eigen + d;
    bb_multiply_transposed(n, d, 1.0, local->x, s->residual, 0.0, s->score);
    bb_multiply(d, d, 1.0, s->basis, s->score, 0.0, s->turned);
    for (size_t k = 0; k < d; k++) {
        s->turned[k] /= s->value[k] + ratio;
        share[k] = s->value[k] / (s->value[k] + ratio);
    }
    bb_multiply_transposed(d, d, 1.0, s->basis, s->turned, 0.0, s->score);
    bb_spectral(d, d, s->basis, share, s->information, room);
}

/* N_kk. */
static double noise_of(const summary *s, size_t d, size_t k) {
    double sum = 0.0;
    for (size_t j = 0; j < d; j++) {
        const double u = s->basis[j * d + k], g = s->value[j];
        sum += u * u * g / ((g + ratio) * (g + ratio));
    }
    return sum;
}

static void measure(const bb_local *local, const summary *s) {
    const size_t n = local->n, d = local->d, last = d - 1;
    const double p = (double)d, others = d > 1 ? p - 1.0 : 1.0, rows = (double)n;
    double *m = s->moments, left = rows - p, slopes = 0.0;
    memset(m, 0, BB_MOMENTS * sizeof *m);
    for (size_t k = 0; k < last; k++) {
        const double across = s->information[last * d + k];
        m[BB_MOMENT_SLOPE] += s->score[k] * s->score[k] / (p * others);
        m[BB_MOMENT_OF_BOTH] += across * across;
        for (size_t j = 0; j < last; j++)
            m[BB_MOMENT_OF_SLOPE] +=
                s->information[j * d + k] * s->information[j * d + k] / others;
        slopes += noise_of(s, d, k);
    }
    for (size_t k = 0; k < d; k++) {
        const double kept = ratio / (s->value[k] + ratio);
        left += kept * kept;
    }
    const double own = s->information[last * d + last], noise = noise_of(s, d, last);
    m[BB_MOMENT_INTERCEPT] = s->score[last] * s->score[last] / p;
    m[BB_MOMENT_OF_INTERCEPT] = own * own;
    m[BB_MOMENT_INTERCEPT_NOISE] = noise / p;
    m[BB_MOMENT_SLOPE_NOISE] = slopes / (p * others);
    m[BB_MOMENT_RESIDUAL_INTERCEPT] = ratio * ratio * p * noise / rows;
    m[BB_MOMENT_RESIDUAL_SLOPE] = ratio * ratio * p * slopes / (rows * others);
    m[BB_MOMENT_RESIDUAL_NOISE] = left / rows;
    bb_multiply(n, d, -1.0, local->x, s->score, 1.0, s->residual);
    m[BB_MOMENT_RESIDUAL] = bb_dot(n, s->residual, s->residual) / rows;
}

/* Coefficients are made small, and products of the forms are added. */
static void pack(double *m) {
    double *square = m + BB_MOMENT_SQUARES;
    for (size_t k = BB_MOMENT_OF_INTERCEPT; k < BB_MOMENT_SQUARES; k++)
        m[k] *= BB_MOMENT_COEFFICIENT;
    for (size_t a = 0; a < BB_MOMENT_OF_INTERCEPT; a++)
        for (size_t b = a; b < BB_MOMENT_OF_INTERCEPT; b++)
            *square++ = BB_MOMENT_SQUARE * m[a] * m[b];
}

void bb_mixed_effects_train(const double *centre, bb_task *task) {
    const bb_local *local = task->local;
    const summary s = summary_in(task->work, local);
    memset(s.score, 0, (size_t)(s.basis - s.score) * sizeof *s.score);
    if (local->n == 0 || !local->x || open_summary(local, centre, &s)) return;
    summarise(local, &s);
    measure(local, &s);
    pack(s.moments);
}

void bb_mixed_effects_show(const bb_layout *layout, const bb_task *task,
                           double *const *block) {
    const size_t d = task->local->d;
    const summary s = summary_in(task->work, task->local);
    const bool fixed = layout->blocks > 1 && layout->block[1].form == BB_FORM_PSD;
    if (fixed) {
        memcpy(block[0], s.score, d * sizeof **block);
        memcpy(block[1], s.information, d * d * sizeof **block);
        return;
    }
    memcpy(block[0], s.moments, BB_MOMENTS * sizeof **block);
    if (layout->blocks > 1) memcpy(block[1], s.score, d * sizeof **block);
}
