/* How uncertain one task's average of candidates is: the predictive variance of a row x
 * with its target is s + x'C x, within candidates and between them (Hoeting, Madigan,
 * Raftery, Volinsky 1999, equations 2 and 3). Local, and free. */
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"

#include <math.h>
#include <string.h>

/* The room of one task. */
typedef struct spread {
    const bb_mixed_board *mixed;
    const bb_local *local;
    const double *mean;  /* d: the average */
    bb_covariance prior; /* of the kind that is open */
    double *score, *root, *basis, *value, *turned, *residual, *scaled, *model, *share;
    double *eigen;
    double noise, *covariance; /* s, and C */
} spread;

size_t bb_mixed_spread_length(const bb_view *view) {
    const size_t d = view->pub->features;
    return BB_MIXED_SPREAD_MATRIX + d * d;
}

size_t bb_mixed_spread_work(const bb_local *local) {
    const size_t d = local->d, n = local->n;
    return BB_MIXED_FITS + bb_mixed_covariance_room(local) + 5 * d + 2 * d * d + n +
           n * d + bb_eigen_work(d) / sizeof(double) + 8;
}

static spread spread_in(double *at, const bb_mixed_board *mixed,
                        const bb_local *local) {
    const size_t d = local->d, n = local->n;
    spread s = {.mixed = mixed, .local = local, .score = at};
    s.root = at + BB_MIXED_FITS;
    s.value = s.root + bb_mixed_covariance_room(local);
    s.turned = s.value + d;
    s.model = s.turned + d;
    s.share = s.model + d;
    s.basis = s.share + 2 * d;
    s.residual = s.basis + 2 * d * d;
    s.scaled = s.residual + n;
    s.eigen = s.scaled + n * d;
    return s;
}

/* Rows times R, R R' the covariance of the kind; and the eigenvectors of their Gram
 * matrix. */
static bb_status open_kind(spread *s, bb_mixed_kind kind) {
    const size_t d = s->local->d, n = s->local->n;
    s->prior = bb_mixed_covariance(s->mixed, s->local, kind, s->root);
    const bb_covariance c = s->prior;
    memcpy(s->scaled, s->local->x, n * d * sizeof *s->scaled);
    for (size_t j = 0; j < n; j++) {
        double *row = s->scaled + j * d;
        if (c.basis) bb_multiply(d, d, 1.0, c.basis, s->local->x + j * d, 0.0, row);
        for (size_t k = 0; c.root && k < d; k++) row[k] *= c.root[k];
    }
    bb_gram(n, d, 1.0, s->scaled, 0.0, s->basis);
    return bb_eigen(d, s->basis, s->value, s->eigen);
}

/* w <- R V v: from the eigenvectors to the features. */
static void to_features(const spread *s, const double *v, double *w) {
    const size_t d = s->local->d;
    const bb_covariance c = s->prior;
    double *between = s->share + d;
    bb_multiply_transposed(d, d, 1.0, s->basis, v, 0.0, between);
    for (size_t k = 0; c.root && k < d; k++) between[k] *= c.root[k];
    if (c.basis)
        bb_multiply_transposed(d, d, 1.0, c.basis, between, 0.0, w);
    else
        memcpy(w, between, d * sizeof *w);
}

static void add_product(const spread *s, double weight, const double *w) {
    const size_t d = s->local->d;
    for (size_t k = 0; k < d; k++) bb_axpy(d, weight * w[k], w, s->covariance + k * d);
}

/* One penalty's candidates: their noise levels share a model. mass: their probability;
 * noise: times the noise that each believes in. */
static void add_penalty(spread *s, const double *centre, double penalty, double mass,
                        double noise, double *within) {
    const size_t d = s->local->d;
    double *v = s->share;
    for (size_t k = 0; k < d; k++) {
        const double g = fmax(0.0, s->value[k]) + penalty;
        v[k] = s->turned[k] / g;
        within[k] += noise / g;
    }
    to_features(s, v, s->model);
    for (size_t k = 0; k < d; k++)
        s->model[k] += (centre ? centre[k] : 0.0) - s->mean[k];
    add_product(s, mass, s->model);
    s->noise += noise;
}

static void add_group(spread *s, size_t group, const double *cell, double total,
                      double *within) {
    const size_t d = s->local->d, n = s->local->n;
    const double *centre = group % 2 == 0 ? s->mixed->centre : NULL;
    const double belief = bb_mixed_belief(s->mixed);
    const double rows =
        bb_mixed_freedom(s->mixed, s->local, (bb_mixed_kind)(group / 2));
    memcpy(s->residual, s->local->y, n * sizeof *s->residual);
    if (centre) bb_multiply(n, d, -1.0, s->local->x, centre, 1.0, s->residual);
    bb_multiply_transposed(n, d, 1.0, s->scaled, s->residual, 0.0, s->model);
    bb_multiply(d, d, 1.0, s->basis, s->model, 0.0, s->turned);
    const double squares = bb_dot(n, s->residual, s->residual);
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        double rest = squares, mass = 0.0, noise = 0.0;
        for (size_t k = 0; k < d; k++)
            rest -= s->turned[k] * s->turned[k] /
                    (fmax(0.0, s->value[k]) + bb_mixed_penalty[l]);
        for (size_t k = 0; k < BB_MIXED_LEVELS; k++) {
            const double p = exp(cell[l * BB_MIXED_LEVELS + k] - total);
            mass += p;
            noise +=
                p * (fmax(rest, 0.0) + belief * bb_mixed_noise(s->local, k)) / rows;
        }
        add_penalty(s, centre, bb_mixed_penalty[l], mass, noise, within);
    }
}

/* R V diag(within) V' R'. */
static void add_within(const spread *s, const double *within) {
    const size_t d = s->local->d;
    for (size_t j = 0; j < d; j++) {
        memset(s->share, 0, d * sizeof *s->share);
        s->share[j] = 1.0;
        to_features(s, s->share, s->model);
        add_product(s, within[j], s->model);
    }
}

static bb_status measure(const bb_view *view, const bb_task *task, double *out) {
    bb_mixed_board mixed = bb_mixed_read(view);
    mixed.slopes = true;
    const size_t d = mixed.d;
    spread s = spread_in(task->work, &mixed, task->local);
    double *within = s.basis + d * d;
    s.covariance = out + BB_MIXED_SPREAD_MATRIX;
    s.mean = task->model;
    memset(out, 0, bb_mixed_spread_length(view) * sizeof *out);
    if (!task->local->x) return bb_fail(BB_EUSAGE, "intervals need dense rows");
    const double total = bb_mixed_scores(&mixed, task, s.score);
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++) {
        if (!bb_mixed_can(&mixed, task->local, (bb_mixed_kind)kind)) continue;
        const bb_status status = open_kind(&s, (bb_mixed_kind)kind);
        if (status) return status;
        memset(within, 0, d * sizeof *within);
        for (size_t group = 2 * kind; group < 2 * kind + 2; group++)
            if (bb_mixed_has(&mixed, group))
                add_group(&s, group, s.score + group * BB_MIXED_CELLS, total, within);
        add_within(&s, within);
    }
    out[BB_MIXED_SPREAD_NOISE] = s.noise;
    out[BB_MIXED_SPREAD_FREEDOM] = bb_mixed_freedom(&mixed, task->local, BB_MIXED_FREE);
    return BB_OK;
}

bb_status bb_mixed_spread(const bb_view *view, bb_task *task, double *out) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    bb_local local;
    const bb_task own = bb_units_in(view, &mixed.units, task, &local);
    const bb_status status = measure(view, &own, out);
    if (!status)
        bb_units_take_matrix(&own, task, &out[BB_MIXED_SPREAD_NOISE],
                             out + BB_MIXED_SPREAD_MATRIX);
    return status;
}
