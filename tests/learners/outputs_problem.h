/* outputs_problem.h - random tasks with several outputs, and the plain twin of
 * everything that is done with them: loops over rows, features and outputs, as the
 * definitions say. */
#ifndef BB_TESTS_OUTPUTS_PROBLEM_H
#define BB_TESTS_OUTPUTS_PROBLEM_H

#include "learners/problem.h"
#include "learners/sgd.h"
#include "test.h"

typedef struct many {
    size_t n, d, outputs;
    size_t parameters;
    bb_loss loss;
    bool intercept;
    const struct bb_net *net; /* NULL: linear */
    problem rows;             /* its y are not used */
    double *y;
    double *t; /* n x outputs: 1 where the row has the label, else -1 */
    size_t *label_first;
    uint32_t *label;
    bb_rows dense, sparse;
} many;

static inline void *get(size_t count, size_t size) {
    void *out = calloc(count + 1, size);
    if (!out) abort();
    return out;
}

static inline void many_label(many *m, uint64_t *state) {
    size_t used = 3; /* positions are absolute */
    m->label = get(m->n * m->outputs + used, sizeof *m->label);
    for (size_t j = 0; j < m->n; j++) {
        const double u = naive_random(state);
        m->label_first[j] = used;
        m->y[j] = u;
        if (m->loss == BB_LOSS_LOGISTIC) m->y[j] = u > 0 ? 1 : -1;
        if (m->loss == BB_LOSS_SOFTMAX)
            m->y[j] = floor((u + 1) / 2 * (double)m->outputs);
        for (size_t c = 0; c < m->outputs; c++) {
            const bool has = naive_random(state) > 0.2;
            m->t[j * m->outputs + c] = has ? 1 : -1;
            if (has) m->label[used++] = (uint32_t)c;
        }
    }
    m->label_first[m->n] = used;
}

static inline many many_new(size_t n, size_t d, size_t outputs, bb_loss loss,
                            uint64_t seed) {
    many m = {
        .n = n, .d = d, .outputs = outputs, .parameters = d * outputs, .loss = loss};
    m.rows = problem_new(n, d, BB_LOSS_SQUARED, 0.2, seed);
    m.y = naive_vector(n, 0);
    m.t = naive_vector(n * outputs, 0);
    m.label_first = get(n + 1, sizeof *m.label_first);
    many_label(&m, &seed);
    m.dense = m.rows.dense;
    m.sparse = m.rows.sparse;
    m.dense.y = m.sparse.y = loss == BB_LOSS_MULTILABEL ? NULL : m.y;
    m.dense.label_first = m.sparse.label_first = m.label_first;
    m.dense.label = m.sparse.label = m.label;
    return m;
}

static inline void many_free(many *m) {
    problem_free(&m->rows);
    free(m->y);
    free(m->t);
    free(m->label_first);
    free(m->label);
}

static inline bool many_is_one(const many *m) {
    return m->loss == BB_LOSS_SQUARED || m->loss == BB_LOSS_LOGISTIC;
}

static inline bb_local many_open(many *m, bool sparse, bool intercept, bool sum) {
    bb_local local;
    const bb_rows rows = sparse ? m->sparse : m->dense;
    m->intercept = intercept;
    if (many_is_one(m) && !m->net)
        assert_ok(bb_local_open(&local, rows, m->loss, intercept, sum));
    else
        assert_ok(
            bb_local_open_outputs(&local, rows, m->loss, m->outputs, m->net, sum));
    return local;
}

/* -- the twin -- */

/* Of a linear model with W d x outputs, or of the network of test_sgd_net.c: z_c =
 * tanh(A_c x) + a_c, A outputs x d, then a. */
static inline void twin_outputs(const many *m, size_t j, const double *W, double b,
                                double *z) {
    const double *x = m->rows.x + j * m->d;
    for (size_t c = 0; c < m->outputs; c++) {
        z[c] = b;
        for (size_t k = 0; k < m->d; k++)
            z[c] += x[k] * (m->net ? W[c * m->d + k] : W[k * m->outputs + c]);
        if (m->net) z[c] = tanh(z[c]) + W[m->d * m->outputs + c];
    }
}

/* g += s dz' d z_j / d W; z at W. */
static inline void twin_add_gradient(const many *m, size_t j, const double *W,
                                     const double *z, const double *dz, double s,
                                     double *g) {
    const double *x = m->rows.x + j * m->d;
    for (size_t c = 0; c < m->outputs; c++) {
        const double *a = W + m->d * m->outputs;
        const double bend = m->net ? 1 - (z[c] - a[c]) * (z[c] - a[c]) : 1;
        for (size_t k = 0; k < m->d; k++)
            g[m->net ? c * m->d + k : k * m->outputs + c] += s * x[k] * bend * dz[c];
        if (m->net) g[m->d * m->outputs + c] += s * dz[c];
    }
}

static inline void twin_law(size_t n, const double *z, long double *p) {
    long double sum = 0, top = z[0];
    for (size_t c = 0; c < n; c++) top = fmaxl(top, z[c]);
    for (size_t c = 0; c < n; c++) sum += expl(z[c] - top);
    for (size_t c = 0; c < n; c++) p[c] = expl(z[c] - top) / sum;
}

/* Of row j at z, without s; dz may be NULL. */
static inline double twin_loss(const many *m, size_t j, const double *z, double *dz) {
    const double *t = m->loss == BB_LOSS_LOGISTIC ? m->y + j : m->t + j * m->outputs;
    long double value = 0, p[64];
    switch (m->loss) {
    case BB_LOSS_SQUARED:
        if (dz) dz[0] = z[0] - m->y[j];
        return 0.5 * (z[0] - m->y[j]) * (z[0] - m->y[j]);
    case BB_LOSS_LOGISTIC:
    case BB_LOSS_MULTILABEL:
        for (size_t c = 0; c < m->outputs; c++) {
            value += log1pl(expl(-(long double)t[c] * z[c]));
            if (dz) dz[c] = (double)(-t[c] / (1 + expl((long double)t[c] * z[c])));
        }
        return (double)value;
    case BB_LOSS_SOFTMAX:
        break;
    }
    twin_law(m->outputs, z, p);
    for (size_t c = 0; c < m->outputs && dz; c++)
        dz[c] = (double)(p[c] - ((double)c == m->y[j] ? 1 : 0));
    return -(double)logl(p[(size_t)m->y[j]]);
}

/* KL(p||q) + KL(q||p) from its definition, as a sum over outcomes. */
static inline double twin_divergence(const many *m, const double *z, const double *t) {
    long double sum = 0, p[64], q[64];
    if (m->loss == BB_LOSS_SQUARED) return (z[0] - t[0]) * (z[0] - t[0]);
    if (m->loss == BB_LOSS_SOFTMAX) {
        twin_law(m->outputs, z, p);
        twin_law(m->outputs, t, q);
        for (size_t c = 0; c < m->outputs; c++)
            sum += (p[c] - q[c]) * logl(p[c] / q[c]);
        return (double)sum;
    }
    for (size_t c = 0; c < m->outputs; c++) {
        const double z2[2] = {z[c], 0}, t2[2] = {t[c], 0};
        twin_law(2, z2, p);
        twin_law(2, t2, q);
        for (int k = 0; k < 2; k++) sum += (p[k] - q[k]) * logl(p[k] / q[k]);
    }
    return (double)sum;
}

/* dz += a times the derivative of the divergence in z. */
static inline void twin_divergence_slope(const many *m, const double *z,
                                         const double *t, double a, double *dz) {
    long double p[64], q[64], mean = 0;
    if (m->loss == BB_LOSS_SQUARED) dz[0] += 2 * a * (z[0] - t[0]);
    if (m->loss == BB_LOSS_SQUARED) return;
    if (m->loss == BB_LOSS_SOFTMAX) {
        twin_law(m->outputs, z, p);
        twin_law(m->outputs, t, q);
        for (size_t c = 0; c < m->outputs; c++) mean += p[c] * (z[c] - t[c]);
        for (size_t c = 0; c < m->outputs; c++)
            dz[c] += a * (double)((p[c] - q[c]) + p[c] * ((z[c] - t[c]) - mean));
        return;
    }
    for (size_t c = 0; c < m->outputs; c++) {
        const long double P = 1 / (1 + expl(-z[c])), Q = 1 / (1 + expl(-t[c]));
        dz[c] += a * (double)((P - Q) + P * (1 - P) * (z[c] - t[c]));
    }
}

/* Objective of all rows with the pull. */
static inline double twin_objective(const many *m, const bb_local *local,
                                    const bb_pull *pull, const double *W, double b) {
    double z[64], t[64], sum = 0, square = 0;
    for (size_t j = 0; j < m->n; j++) {
        twin_outputs(m, j, W, b, z);
        sum += twin_loss(m, j, z, NULL);
        if (!(pull->kl > 0)) continue;
        twin_outputs(m, j, pull->teacher, pull->teacher_intercept, t);
        sum += pull->kl * twin_divergence(m, z, t);
    }
    for (size_t k = 0; k < m->parameters; k++) {
        const double D = W[k] - (pull->centre ? pull->centre[k] : 0);
        square += (pull->fisher ? pull->fisher[k] : 1) * D * D;
    }
    return local->weight * sum + 0.5 * pull->penalty * square;
}

/* One step of the definition; the rows are index[0 .. count-1]. */
static inline void twin_step(const many *m, const bb_local *local, const bb_pull *pull,
                             const size_t *index, size_t count, double rate,
                             double momentum, double *v, double *W, double *b) {
    const size_t size = m->parameters;
    const double s = local->weight * (double)m->n / (double)count;
    double *g = naive_vector(size + 1, 0), z[64], t[64], dz[64];
    memset(g, 0, (size + 1) * sizeof *g);
    for (size_t r = 0; r < count; r++) {
        const size_t j = index[r];
        twin_outputs(m, j, W, *b, z);
        (void)twin_loss(m, j, z, dz);
        if (pull->kl > 0) {
            twin_outputs(m, j, pull->teacher, pull->teacher_intercept, t);
            twin_divergence_slope(m, z, t, pull->kl, dz);
        }
        twin_add_gradient(m, j, W, z, dz, s, g);
        for (size_t c = 0; c < m->outputs; c++) g[size] += s * dz[c];
    }
    for (size_t k = 0; k < size; k++) {
        const double D = W[k] - (pull->centre ? pull->centre[k] : 0);
        g[k] += pull->penalty * (pull->fisher ? pull->fisher[k] : 1) * D;
        v[k] = momentum * v[k] + g[k];
    }
    v[size] = momentum * v[size] + g[size];
    for (size_t k = 0; k < size; k++) W[k] -= rate * v[k];
    if (m->intercept) *b -= rate * v[size];
    free(g);
}

/* The best b of a quadratic in b, from three of its values. */
static inline double twin_best_intercept(const many *m, const bb_local *local,
                                         const bb_pull *pull, const double *W) {
    const double low = twin_objective(m, local, pull, W, -1);
    const double at = twin_objective(m, local, pull, W, 0);
    const double high = twin_objective(m, local, pull, W, 1);
    return (low - high) / (2 * (low + high - 2 * at));
}

static inline double twin_rate(const bb_sgd *sgd, double rate, uint64_t k,
                               uint64_t steps) {
    if (sgd->decay == BB_DECAY_LINEAR) rate *= 1 - (double)k / (double)steps;
    if (sgd->decay == BB_DECAY_INVERSE) rate /= sqrt((double)(k + 1));
    return rate;
}

/* bb_local_descend as its contract says, on all d x outputs parameters. */
static inline void twin_descend(const many *m, const bb_local *local, const bb_sgd *sgd,
                                const bb_pull *pull, bb_random *random, double *W,
                                double *b) {
    const size_t n = m->n, batch = sgd->batch && sgd->batch < n ? sgd->batch : n;
    const size_t per_epoch = (n + batch - 1) / batch, size = m->parameters;
    const uint64_t steps = sgd->steps ? sgd->steps : sgd->epochs * per_epoch;
    const bool profiled = !sgd->batch && m->intercept && m->loss == BB_LOSS_SQUARED;
    double *v = get(size + 1, sizeof *v), rate = sgd->rate, heaviest = 1;
    size_t *index = get(n, sizeof *index);
    if (pull->fisher) {
        heaviest = 0;
        for (size_t k = 0; k < size; k++) heaviest = fmax(heaviest, pull->fisher[k]);
    }
    if (!sgd->batch && !m->net)
        rate /= local->lipschitz * (1 + 2 * pull->kl) + pull->penalty * heaviest;
    for (size_t j = 0; j < n; j++) index[j] = j;
    for (uint64_t k = 0; k < steps; k++) {
        const size_t first = (size_t)(k % per_epoch) * batch;
        for (size_t i = n; sgd->batch && first == 0 && i > 1; i--) {
            const size_t j = (size_t)bb_random_below(random, i), kept = index[i - 1];
            index[i - 1] = index[j];
            index[j] = kept;
        }
        if (profiled) *b = twin_best_intercept(m, local, pull, W);
        twin_step(m, local, pull, index + first, n - first < batch ? n - first : batch,
                  twin_rate(sgd, rate, k, steps), sgd->momentum, v, W, b);
    }
    if (profiled) *b = twin_best_intercept(m, local, pull, W);
    free(v);
    free(index);
}

/* Work space of exactly the size that is promised. */
static inline double *sgd_work_for(const bb_local *local, const bb_sgd *sgd) {
    const size_t size = bb_sgd_work(local, sgd);
    double *work = malloc((size ? size : 1) * sizeof *work);
    if (!work) abort();
    for (size_t k = 0; k < size; k++) work[k] = NAN;
    return work;
}

static inline bb_random many_random(uint64_t seed) {
    bb_random random;
    assert_ok(bb_random_open_stream(&random, seed, BB_FOR_TEST, 0, 0));
    return random;
}

/* The task's part of a vector for all features, or NULL for NULL. */
static inline double *many_gather(const bb_local *local, const double *all) {
    if (!all) return NULL;
    double *own = naive_vector(local->length, 0);
    bb_local_gather(local, all, own);
    return own;
}

/* Runs both from W0 (d x outputs) and b = 0.3 or 0; returns their largest difference on
 * the task's part. */
static inline double many_compare(many *m, const bb_local *local, const bb_sgd *sgd,
                                  const bb_pull *pull) {
    const size_t size = m->parameters;
    double *W = naive_vector(size, 99), *own = many_gather(local, W), *work;
    double *centre = many_gather(local, pull->centre);
    double *fisher = many_gather(local, pull->fisher);
    double *teacher = many_gather(local, pull->teacher);
    double b = local->intercept ? 0.3 : 0, twin_b = b;
    bb_pull own_pull = *pull;
    bb_random random = many_random(5), twin_random = many_random(5);
    own_pull.centre = centre;
    own_pull.fisher = fisher;
    own_pull.teacher = teacher;
    work = sgd_work_for(local, sgd);
    bb_local_descend(local, sgd, &own_pull, &random, own, local->intercept ? &b : NULL,
                     work);
    twin_descend(m, local, sgd, pull, &twin_random, W, &twin_b);
    double *expected = many_gather(local, W);
    double difference = naive_largest_difference(local->length, own, expected);
    if (!(fabs(b - twin_b) <= difference)) difference = fabs(b - twin_b);
    bb_random_close(&random);
    bb_random_close(&twin_random);
    free(W);
    free(own);
    free(centre);
    free(fisher);
    free(teacher);
    free(work);
    free(expected);
    return difference;
}

#endif
