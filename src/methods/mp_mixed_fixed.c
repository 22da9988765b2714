/* Fixed effects from what is published: the centre of the search, and one step of
 * generalised least squares from it (Liang and Zeger 1986), each by how much noise is in
 * it. The step's noise is known; how far the centre is off is believed to be what noise of
 * its search comes to, give or take a factor that all directions tell together, with tails
 * so long that a step far beyond it is believed (Efron and Morris 1973; Strawderman 1971).
 * Errors: what noise leaves open, and the sandwich of how scores spread over tasks. */
#include "linalg/linalg.h"
#include "methods/mp_mixed_effects.h"

#include <math.h>
#include <string.h>

/* A direction is resolved if its eigenvalue is this many times the norm of the noise, and
 * this part of the largest one. */
static const double stands_out = 2.0, rounding = 1e-9;
/* How far off an answer's noise moves the centre, in parts of a deviation; and what unit
 * directions lose to least squares, as a part of the variance. */
static const double moved = 1.1, lost_by_directions = 0.2;
/* How far the middle of skewed constants may be from their mean, as a part of their
 * variance: (1 - ln 2)^2 = .09 where they are exponential. */
static const double skewed = 0.2;
/* By which factor the centre is farther off than that, in all directions, from 2^-2.5 to
 * 2^2.5 and believed to be near 1 (a doubling is two deviations); and in single ones. */
enum { FACTORS = 11, TAILS = 4, BELIEFS = FACTORS * TAILS };
static const double tail[TAILS] = {1.0, 2.0, 6.0, 30.0},
                    part[TAILS] = {0.9, 0.06, 0.03, 0.01};

typedef struct fixed {
    const bb_mixed_sums *sums;
    double *basis, *value;  /* d x d, d: of the information */
    double *step, *hidden;  /* d: along each, and the variance of its noise */
    double *off;            /* d: how far the centre may be off, a variance */
    double *mean, *left;    /* d: what is believed of it */
    double *inverse, *room; /* d x d */
    double *work;
} fixed;

double bb_mixed_edge(double diagonal_noise, size_t d) {
    return diagonal_noise * sqrt(2.0 * (double)d);
}

size_t bb_mixed_fixed_work(size_t d) {
    return 3 * d * d + 7 * d + bb_eigen_work(d) / sizeof(double) + 8 + d * d;
}

static fixed fixed_in(const bb_mixed_sums *sums, double *at) {
    const size_t d = sums->d;
    fixed f = {.sums = sums, .basis = at, .value = at + d * d};
    f.step = f.value + d;
    f.hidden = f.step + d;
    f.off = f.hidden + d;
    f.mean = f.off + d;
    f.left = f.mean + d;
    f.inverse = f.left + d;
    f.room = f.inverse + d * d;
    f.work = f.room + d * d;
    return f;
}

static bool is_resolved(const fixed *f, size_t j) {
    const double edge = bb_mixed_edge(f->sums->information_noise, f->sums->d);
    const double most = f->value[f->sums->d - 1];
    return f->value[j] > stands_out * edge && f->value[j] > rounding * most;
}

/* Directions of the information, the step along each, the inverse of what is resolved,
 * and lost (d x d) <- the projection on the rest. */
static bb_status open_fixed(const fixed *f, double *lost) {
    const size_t d = f->sums->d;
    memcpy(f->basis, f->sums->information, d * d * sizeof *f->basis);
    const bb_status status = bb_eigen(d, f->basis, f->value, f->work);
    if (status) return status;
    memset(lost, 0, d * d * sizeof *lost);
    memset(f->inverse, 0, d * d * sizeof *f->inverse);
    for (size_t j = 0; j < d; j++) {
        const double *u = f->basis + j * d;
        const bool resolved = is_resolved(f, j);
        f->step[j] = resolved ? bb_dot(d, u, f->sums->score) / f->value[j] : 0.0;
        for (size_t k = 0; k < d; k++)
            bb_axpy(d, resolved ? u[k] / f->value[j] : u[k], u,
                    (resolved ? f->inverse : lost) + k * d);
    }
    return BB_OK;
}

/* By what the information is multiplied, column by column, in what is usual: scores spread
 * as it says if tasks differ as they are weighed for, and constants and slopes by as much
 * more or less as they are longer than that. */
static void usual_spread(const fixed *f, double *factor) {
    const bb_mixed_sums *s = f->sums;
    const size_t d = s->d, last = d - 1;
    double slopes = 0.0;
    for (size_t k = 0; k < last; k++) slopes += s->information[k * d + k];
    const double constant = s->information[last * d + last];
    for (size_t k = 0; k < d; k++) {
        const double told = k == last ? constant : slopes;
        const double square = s->tasks * s->size[k == last ? 0 : 1];
        factor[k] = told > 0.0 ? sqrt(square / told) : 0.0;
    }
}

/* room <- what the scores' products sum to around their mean; drawn, as far as it may be
 * noise (Ledoit and Wolf 2004), to what is usual. */
static void spread_of_scores(const fixed *f) {
    const bb_mixed_sums *s = f->sums;
    const size_t d = s->d;
    double *usual = f->work, apart = 0.0;
    usual_spread(f, usual);
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < d; k++) {
            const double here =
                s->spread[j * d + k] - s->score[j] * s->score[k] / s->tasks;
            const double off = here - usual[j] * usual[k] * s->information[j * d + k];
            f->room[j * d + k] = off;
            apart += off * off;
        }
    const double noise =
        s->spread_noise * s->spread_noise * (double)(d * (d + 1)) / 2.0;
    const double kept = apart > noise ? 1.0 - noise / apart : 0.0;
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < d; k++)
            f->room[j * d + k] = kept * f->room[j * d + k] +
                                 usual[j] * usual[k] * s->information[j * d + k];
}

/* spread (d x d) <- inverse room inverse, of tasks that are few beside the features. */
static void sandwich(const fixed *f, double *spread) {
    const size_t d = f->sums->d;
    const double p = (double)d, m = f->sums->tasks, few = m > p ? m / (m - p) : 1.0;
    for (size_t k = 0; k < d; k++)
        bb_multiply(d, d, 1.0, f->room, f->inverse + k * d, 0.0, f->work + k * d);
    for (size_t k = 0; k < d; k++)
        bb_multiply(d, d, few, f->inverse, f->work + k * d, 0.0, spread + k * d);
}

/* How far the centre may be off along each direction. */
static void look_back(const fixed *f, const bb_mixed_end *end, const double *spread) {
    const bb_mixed_sums *s = f->sums;
    const size_t d = s->d;
    const double way = end->still * bb_norm(d, end->centre);
    for (size_t j = 0; j < d; j++) {
        const double *u = f->basis + j * d;
        bb_multiply(d, d, 1.0, spread, u, 0.0, f->work);
        const double one = fmax(f->value[j] / s->tasks, 1e-9);
        const double noise = moved * end->noise * sqrt(s->size[0] + s->size[1]) / one;
        f->off[j] = noise * noise + way * way / (double)d +
                    lost_by_directions * fmax(0.0, bb_dot(d, u, f->work));
        f->off[j] += skewed * s->size[0] * u[d - 1] * u[d - 1];
        f->off[j] = end->found ? fmax(f->off[j], 1e-24) : 1e6 * (double)d;
    }
}

/* The variance of the noise in each step: that of the score, and of the information times
 * how far the centre is off (mean, left), whose covariance is t^2/2 (|step|^2 I + step step'). */
static void noise_of_steps(const fixed *f) {
    const size_t d = f->sums->d;
    const double s = f->sums->score_noise, t = f->sums->information_noise;
    double square = 0.0;
    for (size_t j = 0; j < d; j++) square += f->mean[j] * f->mean[j] + f->left[j];
    for (size_t j = 0; j < d; j++) {
        const double along = f->mean[j] * f->mean[j] + f->left[j];
        f->hidden[j] = is_resolved(f, j) ? (s * s + 0.5 * t * t * (square + along)) /
                                               (f->value[j] * f->value[j])
                                         : 0.0;
    }
}

static double doublings(size_t factor) {
    return 0.5 * ((double)factor - (FACTORS - 1) / 2.0);
}

/* The variance of how far the centre is off along j, under factor and tail a. */
static double off_by(const fixed *f, size_t j, size_t factor, size_t a) {
    return f->off[j] * exp2(2.0 * doublings(factor)) * tail[a] * tail[a];
}

/* ln of how likely a step of this variance is. */
static double log_normal(double step, double variance) {
    return -0.5 * (step * step / variance + log(variance));
}

/* belief (FACTORS) <- of every factor, by all steps together. */
static void weigh_factors(const fixed *f, double belief[FACTORS]) {
    double most = -INFINITY, sum = 0.0;
    for (size_t c = 0; c < FACTORS; c++) {
        belief[c] = -2.0 * doublings(c) * doublings(c);
        for (size_t j = 0; j < f->sums->d; j++) {
            double likely = 0.0;
            if (!is_resolved(f, j)) continue;
            const double widest = f->hidden[j] + off_by(f, j, c, TAILS - 1);
            const double least = log_normal(f->step[j], widest);
            for (size_t a = 0; a < TAILS; a++) {
                const double v = f->hidden[j] + off_by(f, j, c, a);
                likely += part[a] * exp(log_normal(f->step[j], v) - least);
            }
            belief[c] += least + log(likely);
        }
        most = fmax(most, belief[c]);
    }
    for (size_t c = 0; c < FACTORS; c++) sum += belief[c] = exp(belief[c] - most);
    for (size_t c = 0; c < FACTORS; c++) belief[c] /= sum;
}

/* mean_j, left_j <- how far the centre is off along j: a mixture of normals. */
static void believe(const fixed *f, size_t j, const double belief[FACTORS]) {
    double all = 0.0, mean = 0.0, square = 0.0;
    const double least =
        log_normal(f->step[j], f->hidden[j] + off_by(f, j, FACTORS - 1, TAILS - 1));
    for (size_t k = 0; k < BELIEFS; k++) {
        const double off = off_by(f, j, k / TAILS, k % TAILS);
        const double v = f->hidden[j] + off, way = f->step[j] * off / v;
        const double p = belief[k / TAILS] * part[k % TAILS] *
                         exp(log_normal(f->step[j], v) - least);
        all += p;
        mean += p * way;
        square += p * (way * way + f->hidden[j] * off / v);
    }
    if (!(all > 0.0)) { /* far beyond any belief */
        f->mean[j] = f->step[j];
        f->left[j] = f->hidden[j];
        return;
    }
    f->mean[j] = mean / all;
    f->left[j] = fmax(0.0, square / all - f->mean[j] * f->mean[j]);
}

/* Twice, since the noise of a step depends on how far it is. */
static void combine(const fixed *f) {
    const size_t d = f->sums->d;
    memset(f->mean, 0, d * sizeof *f->mean);
    memset(f->left, 0, d * sizeof *f->left);
    for (int again = 0; again < 2; again++) {
        double belief[FACTORS];
        noise_of_steps(f);
        weigh_factors(f, belief);
        for (size_t j = 0; j < d; j++)
            if (is_resolved(f, j)) believe(f, j, belief);
    }
}

bb_status bb_mixed_fixed(const bb_mixed_sums *sums, const bb_mixed_end *end,
                         double *centre, double *error, double *noise, double *spread,
                         double *lost, double *work) {
    const size_t d = sums->d;
    const fixed f = fixed_in(sums, work);
    const bb_status status = open_fixed(&f, lost);
    if (status) return status;
    spread_of_scores(&f);
    sandwich(&f, spread);
    look_back(&f, end, spread);
    combine(&f);
    memcpy(centre, end->centre, d * sizeof *centre);
    bb_multiply_transposed(d, d, 1.0, f.basis, f.mean, 1.0, centre);
    bb_spectral(d, d, f.basis, f.left, noise, f.work);
    for (size_t k = 0; k < d; k++)
        error[k] = lost[k * d + k] > BB_EFFECTS_MOST_LOST
                       ? -1.0
                       : sqrt(noise[k * d + k] + fmax(0.0, spread[k * d + k]));
    return BB_OK;
}
