/* Mixed models: the likelihood and its gradient against a plain one, the fit against lme4's
 * (tests/reference/lme4), and models around one centre against what they minimise. */
#include "base/parallel.h"
#include "data/read.h"
#include "eval_world.h"
#include "numbers.h"
#include "test.h"
#include "train/centred.h"
#include "train/design.h"
#include "train/mixed.h"
#include "train/reml.h"

#include <math.h>
#include <string.h>

/* -- a plain likelihood: V of all rows, by Gaussian elimination -- */

/* a (n x n) and b (n x columns) <- a^-1 b; returns log |a|. */
static double eliminate(size_t n, size_t columns, double *a, double *b) {
    double log_determinant = 0.0;
    for (size_t c = 0; c < n; c++) {
        log_determinant += log(a[c * n + c]); /* positive definite: no pivots needed */
        for (size_t r = 0; r < n; r++) {
            const double f = r == c ? 0.0 : a[r * n + c] / a[c * n + c];
            for (size_t k = c; k < n && r != c; k++) a[r * n + k] -= f * a[c * n + k];
            for (size_t k = 0; k < columns && r != c; k++)
                b[r * columns + k] -= f * b[c * columns + k];
        }
    }
    for (size_t r = 0; r < n; r++)
        for (size_t k = 0; k < columns; k++) b[r * columns + k] /= a[r * n + r];
    return log_determinant;
}

/* V = I + X L L' X' inside tasks; A = X'V^-1 X, beta = A^-1 X'V^-1 y. */
static double twin_value(const bb_design *d, const double *y, const double *L,
                         double *beta, double *effect) {
    const size_t n = d->rows, p = d->columns, q = p + 1;
    double *V = calloc(n * n, sizeof *V), *B = calloc(n * q, sizeof *B);
    double *D = calloc(p * p, sizeof *D), *A = calloc(p * p, sizeof *A);
    double *c = calloc(p, sizeof *c);
    for (size_t a = 0; a < p; a++)
        for (size_t b = 0; b < p; b++)
            for (size_t k = 0; k < p; k++) D[a * p + b] += L[a * p + k] * L[b * p + k];
    for (size_t i = 0; i < d->tasks; i++)
        for (size_t j = d->first[i]; j < d->first[i + 1]; j++)
            for (size_t l = d->first[i]; l < d->first[i + 1]; l++)
                for (size_t a = 0; a < p; a++)
                    for (size_t b = 0; b < p; b++)
                        V[j * n + l] +=
                            d->x[j * p + a] * D[a * p + b] * d->x[l * p + b];
    for (size_t j = 0; j < n; j++) {
        V[j * n + j] += 1.0;
        memcpy(B + j * q, d->x + j * p, p * sizeof *B);
        B[j * q + p] = y[j];
    }
    double value = eliminate(n, q, V, B), square = 0.0;
    for (size_t j = 0; j < n; j++) {
        square += y[j] * B[j * q + p];
        for (size_t a = 0; a < p; a++) {
            c[a] += d->x[j * p + a] * B[j * q + p];
            for (size_t b = 0; b < p; b++)
                A[a * p + b] += d->x[j * p + a] * B[j * q + b];
        }
    }
    memcpy(beta, c, p * sizeof *beta);
    value += eliminate(p, 1, A, beta);
    for (size_t a = 0; a < p; a++) square -= c[a] * beta[a];
    const double freedom = (double)(n - p);
    value += freedom * (1.0 + log(2.0 * 3.14159265358979323846 * square / freedom));
    for (size_t i = 0; i < d->tasks; i++)
        for (size_t a = 0; a < p; a++) {
            double *b = &effect[i * p + a];
            *b = 0.0;
            for (size_t j = d->first[i]; j < d->first[i + 1]; j++) {
                double r = B[j * q + p], z = 0.0;
                for (size_t k = 0; k < p; k++) {
                    r -= B[j * q + k] * beta[k];
                    z += D[a * p + k] * d->x[j * p + k];
                }
                *b += z * r;
            }
        }
    free(V);
    free(B);
    free(D);
    free(A);
    free(c);
    return value;
}

/* -- the likelihood -- */

static double entry(size_t a, size_t b) {
    return a == b ? 0.4 + 0.1 * (double)(a % 3) : 0.2 * sin((double)(3 * a + b));
}

static void check_likelihood(size_t tasks, size_t features, size_t most) {
    const bb_engine engine = bb_engine_threads(2);
    bb_dataset data = world_make(7, tasks, features, most, false, false);
    bb_design design;
    bb_reml reml;
    assert_ok(bb_design_open(&design, &data, true));
    assert_ok(bb_reml_open(&reml, &design, data.y, &engine));
    const size_t p = design.columns;
    assert_int_equal(p, features + 1);
    double *L = calloc(p * p, sizeof *L), *G = calloc(p * p, sizeof *G);
    double *beta = calloc(p, sizeof *beta), *other = calloc(p * p, sizeof *other);
    double *effect = calloc(tasks * p, sizeof *effect);
    double *found = calloc(tasks * p, sizeof *found);
    for (int form = 0; form < 3; form++) {
        const bool slopes = form > 0, full = form > 1;
        for (size_t a = 0; a < p; a++)
            for (size_t b = 0; b <= a; b++)
                if (full || (a == b && (slopes || a == 0))) L[a * p + b] = entry(a, b);
        const double value = twin_value(&design, data.y, L, beta, effect);
        assert_close(bb_reml_value(&reml, L, slopes, full), value, 1e-9 * fabs(value));
        for (size_t a = 0; a < p; a++) assert_close(reml.beta[a], beta[a], 1e-8);
        bb_reml_gradient(&reml, G);
        bb_reml_effects(&reml, found);
        for (size_t k = 0; k < tasks * p; k++) assert_close(found[k], effect[k], 1e-8);
        for (size_t a = 0; a < p; a += 1 + p / 3) /* by L: 2 G L */
            for (size_t b = 0; b <= a; b++) {
                if (L[a * p + b] == 0.0) continue;
                double slope = 0.0;
                for (size_t k = 0; k < p; k++)
                    slope += 2.0 * G[a * p + k] * L[k * p + b];
                memcpy(other, L, p * p * sizeof *L);
                other[a * p + b] += 1e-5;
                double difference = bb_reml_value(&reml, other, slopes, full);
                other[a * p + b] -= 2e-5;
                difference -= bb_reml_value(&reml, other, slopes, full);
                assert_close(slope, difference / 2e-5, 1e-4 * (1.0 + fabs(slope)));
            }
    }
    L[0] = NAN;
    assert_true(isinf(bb_reml_value(&reml, L, true, true)));
    free(L);
    free(G);
    free(beta);
    free(other);
    free(effect);
    free(found);
    bb_reml_close(&reml);
    bb_design_close(&design);
    bb_dataset_free(&data);
}

/* Tasks with fewer rows than columns, and with more, whose rows are replaced; blocks that
 * are multiplied by loops of our own, and larger ones. */
static void likelihood_is_the_plain_one(void **state) {
    (void)state;
    check_likelihood(9, 3, 3);
    check_likelihood(40, 3, 12);
    check_likelihood(6, 20, 15);
    check_likelihood(7, 19, 40);
}

/* -- the fit -- */

static void read_chem97(bb_dataset *data) {
    assert_ok(bb_read(BB_SOURCE_DIR "/examples/schools/chem97.csv",
                      &(bb_read_options){0}, data));
}

/* lme4 stops its search a little earlier. */
static void fits_are_those_of_lme4(void **state) {
    (void)state;
    static const bb_mixed_form form[] = {BB_MIXED_INTERCEPT, BB_MIXED_DIAGONAL,
                                         BB_MIXED_FULL};
    numbers lme4 = numbers_open(BB_SOURCE_DIR "/tests/reference/lme4/chem97.csv", 1);
    const bb_engine engine = bb_engine_threads(1);
    bb_dataset data;
    bb_mixed best, tried[BB_MIXED_FORMS];
    read_chem97(&data);
    double *weight = calloc(data.tasks * data.features, sizeof *weight);
    double *intercept = calloc(data.tasks, sizeof *intercept);
    assert_ok(bb_mixed_fit(&data, &engine, NULL, &best, tried, weight, intercept));
    for (size_t k = 0; k < 3; k++) {
        const double theirs = numbers_at(&lme4, k, 1), ours = tried[form[k]].deviance;
        assert_true(ours < theirs + 1e-3);
        assert_close(ours, theirs, 0.05);
    }
    assert_int_equal(best.form, BB_MIXED_FULL);
    assert_close(best.residual, numbers_at(&lme4, 2, 2), 1e-3);
    assert_close(best.intercept, numbers_at(&lme4, 2, 3), 1e-2);
    assert_close(best.icc,
                 best.intercept * best.intercept /
                     (best.intercept * best.intercept + best.residual * best.residual),
                 1e-12);
    free(weight);
    free(intercept);
    free(lme4.at);
    bb_dataset_free(&data);
}

static void a_random_intercept_is_that_of_lme4(void **state) {
    (void)state;
    const bb_engine engine = bb_engine_threads(1);
    bb_dataset data;
    bb_design design;
    bb_reml reml;
    read_chem97(&data);
    numbers lme4 = numbers_open(BB_SOURCE_DIR "/tests/reference/lme4/chem97.csv", 1);
    assert_ok(bb_design_open(&design, &data, true));
    assert_ok(bb_reml_open(&reml, &design, data.y, &engine));
    const size_t p = design.columns;
    double *L = calloc(p * p, sizeof *L);
    double *found = calloc(data.tasks * p, sizeof *found);
    L[0] = numbers_at(&lme4, 0, 3) / numbers_at(&lme4, 0, 2);
    assert_close(bb_reml_value(&reml, L, false, false), numbers_at(&lme4, 0, 1), 1e-6);
    assert_close(reml.s, numbers_at(&lme4, 0, 2), 1e-6);
    bb_reml_effects(&reml, found);
    for (size_t i = 0; i < 3; i++)
        assert_close(found[i * p], numbers_at(&lme4, 3, i + 1), 1e-6);
    free(L);
    free(found);
    free(lme4.at);
    bb_reml_close(&reml);
    bb_design_close(&design);
    bb_dataset_free(&data);
}

/* Of real data that may lie beside the repository, with columns that are linear in
 * others: which of them is left out does not matter. */
static void school_is_that_of_lme4(void **state) {
    (void)state;
    const bb_engine engine = bb_engine_threads(2);
    char path[1024];
    bb_dataset data;
    bb_design design;
    bb_reml reml;
    if (!shared_path(path, sizeof path, "data/school/data.csv")) skip();
    numbers lme4 = numbers_open(BB_SOURCE_DIR "/tests/reference/lme4/school.csv", 1);
    assert_ok(bb_read(path, &(bb_read_options){0}, &data));
    assert_ok(bb_design_open(&design, &data, true));
    assert_ok(bb_reml_open(&reml, &design, data.y, &engine));
    const size_t p = design.columns;
    double *L = calloc(p * p, sizeof *L);
    double *found = calloc(data.tasks * p, sizeof *found);
    const double ratio = numbers_at(&lme4, 0, 1) / numbers_at(&lme4, 0, 0);
    double least[3]; /* around lme4's: it is the best */
    for (size_t k = 0; k < 3; k++) {
        L[0] = ratio * (1.0 + 0.01 * ((double)k - 1.0));
        least[k] = bb_reml_value(&reml, L, false, false);
    }
    assert_true(least[1] < least[0] && least[1] < least[2]);
    L[0] = ratio;
    assert_true(isfinite(bb_reml_value(&reml, L, false, false)));
    assert_close(reml.s, numbers_at(&lme4, 0, 0), 1e-6);
    bb_reml_effects(&reml, found);
    for (size_t i = 0; i < 3; i++)
        assert_close(found[i * p], numbers_at(&lme4, 1 + i / 2, i % 2), 1e-5);
    free(L);
    free(found);
    free(lme4.at);
    bb_reml_close(&reml);
    bb_design_close(&design);
    bb_dataset_free(&data);
}

static void workers_change_nothing(void **state) {
    (void)state;
    const bb_engine one = bb_engine_threads(1), three = bb_engine_threads(3);
    bb_dataset data = world_make(3, 60, 4, 9, false, false);
    double w[2][60 * 4], b[2][60];
    bb_mixed fit[2] = {{0}};
    assert_ok(bb_mixed_fit(&data, &one, NULL, &fit[0], NULL, w[0], b[0]));
    assert_ok(bb_mixed_fit(&data, &three, NULL, &fit[1], NULL, w[1], b[1]));
    assert_memory_equal(w[0], w[1], sizeof w[0]);
    assert_memory_equal(b[0], b[1], sizeof b[0]);
    assert_close(fit[0].deviance, fit[1].deviance, 0.0);
    bb_dataset_free(&data);
}

/* Columns that are constant, or linear in others, change no prediction; and neither do
 * the units of columns and target. */
static void units_and_needless_columns_do_not_matter(void **state) {
    (void)state;
    enum { D = 3, M = 40 };
    const bb_engine engine = bb_engine_threads(1);
    bb_dataset data = world_make(11, M, D, 9, false, false);
    bb_dataset more = world_make(11, M, D + 2, 9, false, false);
    double w[M * D], b[M], v[M * (D + 2)], c[M];
    bb_mixed fit;
    more.rows = data.rows;
    memcpy(more.first, data.first, (M + 1) * sizeof *more.first);
    more.x = realloc(more.x, data.rows * (D + 2) * sizeof *more.x);
    more.y = realloc(more.y, data.rows * sizeof *more.y);
    for (size_t j = 0; j < data.rows; j++) {
        const double *x = data.x + j * D;
        const double row[] = {100.0 + 50.0 * x[0], 7.0, x[1], x[0] - x[1], 1e-4 * x[2]};
        memcpy(more.x + j * (D + 2), row, sizeof row);
        more.y[j] = 1e3 * data.y[j] - 5.0;
    }
    assert_ok(bb_mixed_fit(&data, &engine, NULL, &fit, NULL, w, b));
    assert_ok(bb_mixed_fit(&more, &engine, NULL, &fit, NULL, v, c));
    for (size_t i = 0; i < M; i++) {
        double p = b[i], q = c[i];
        const double x[] = {0.3, -1.0, 2.0}, z[] = {115.0, 7.0, -1.0, 1.3, 2e-4};
        for (size_t k = 0; k < D; k++) p += x[k] * w[i * D + k];
        for (size_t k = 0; k < D + 2; k++) q += z[k] * v[i * (D + 2) + k];
        assert_close(q, 1e3 * p - 5.0, 1.0);
    }
    bb_dataset_free(&data);
    bb_dataset_free(&more);
}

static void says_what_it_cannot_fit(void **state) {
    (void)state;
    const bb_engine engine = bb_engine_threads(1);
    bb_dataset wide = world_make(5, 3, 12, 2, false, false);
    bb_dataset flat = world_make(5, 30, 2, 9, false, false);
    double w[60], b[30];
    bb_mixed fit = {.icc = 5.0};
    atomic_int stop = 1;
    assert_int_equal(bb_mixed_fit(&wide, &engine, NULL, &fit, NULL, w, b), BB_EDATA);
    assert_int_equal(bb_mixed_fit(&flat, &engine, &stop, &fit, NULL, w, b),
                     BB_EINTERRUPTED);
    for (size_t j = 0; j < flat.rows; j++) flat.y[j] = 2.0;
    assert_int_equal(bb_mixed_fit(&flat, &engine, NULL, &fit, NULL, w, b), BB_ENUMERIC);
    assert_close(fit.icc, 5.0, 0.0);
    bb_dataset_free(&wide);
    bb_dataset_free(&flat);
}

/* -- around one centre -- */

enum { TASKS = 24, FEATURES = 3 };

enum { CLASSES = 3 };

static bb_centred fit_centred(const bb_dataset *data, bb_loss loss, size_t threads,
                              double *w, double *b) {
    const bb_engine engine = bb_engine_threads(threads);
    unsigned char *fold = calloc(data->rows, 1);
    bb_centred fit = {0};
    assert_ok(bb_crossval_folds(data, 1, false, fold));
    const bb_crossval c = {.rows = data,
                           .fold = fold,
                           .what = {.loss = loss, .outputs = CLASSES},
                           .engine = &engine};
    assert_ok(bb_centred_fit(&c, 0.5, &fit, w, b));
    free(fold);
    return fit;
}

/* Labels of which tasks agree, or are opposed. */
static bb_dataset labels(bool opposed) {
    bb_dataset data = world_make(2, TASKS, FEATURES, 60, false, true);
    for (size_t i = 0; i < TASKS; i++)
        for (size_t j = data.first[i]; j < data.first[i + 1]; j++) {
            const double *x = data.x + j * FEATURES;
            const double z = 2.0 * x[0] - x[1] + (j % 7 == 0 ? 2.0 : 0.1);
            data.y[j] = (z > 0.0) == (opposed && i % 2) ? -1.0 : 1.0;
        }
    return data;
}

/* At a task's model the losses' slopes are balanced by the pull to the centre: so they
 * add up to penalty times what the models' mean is from it, the same centre for all. */
static void models_balance_loss_and_centre(void **state) {
    (void)state;
    bb_dataset data = labels(true);
    bb_design design;
    double w[TASKS * FEATURES], b[TASKS], centre[FEATURES] = {0};
    const bb_centred fit = fit_centred(&data, BB_LOSS_LOGISTIC, 2, w, b);
    assert_ok(bb_design_open(&design, &data, false));
    for (size_t i = 0; i < TASKS; i++)
        for (size_t c = 1; c < design.columns; c++) {
            const double s = design.deviation[c];
            double slope = 0.0;
            for (size_t j = data.first[i]; j < data.first[i + 1]; j++) {
                double z = b[i];
                for (size_t k = 0; k < FEATURES; k++)
                    z += data.x[j * FEATURES + k] * w[i * FEATURES + k];
                slope -= data.y[j] / (1.0 + exp(data.y[j] * z)) *
                         design.x[j * design.columns + c];
            }
            const double here = w[i * FEATURES + c - 1] * s + slope / fit.penalty;
            if (i == 0) centre[c - 1] = here;
            assert_close(here, centre[c - 1], 1e-6);
        }
    bb_design_close(&design);
    bb_dataset_free(&data);
}

/* The same of classes: each class's slopes, and the chances that a model gives it. */
static void models_of_classes_balance_too(void **state) {
    (void)state;
    enum { ALL = FEATURES * CLASSES };
    bb_dataset data = labels(true);
    bb_design design;
    double w[TASKS * ALL], b[TASKS * CLASSES], centre[ALL] = {0};
    for (size_t j = 0; j < data.rows; j++)
        data.y[j] = data.x[j * FEATURES + 2] > 0.5 ? 2.0 : data.y[j] > 0.0;
    const bb_centred fit = fit_centred(&data, BB_LOSS_SOFTMAX, 2, w, b);
    assert_ok(bb_design_open(&design, &data, false));
    for (size_t i = 0; i < TASKS; i++) {
        double slope[ALL] = {0};
        for (size_t j = data.first[i]; j < data.first[i + 1]; j++) {
            double p[CLASSES], sum = 0.0;
            for (size_t c = 0; c < CLASSES; c++) {
                p[c] = b[i * CLASSES + c];
                for (size_t k = 0; k < FEATURES; k++)
                    p[c] += data.x[j * FEATURES + k] * w[i * ALL + k * CLASSES + c];
                sum += p[c] = exp(p[c]);
            }
            for (size_t k = 0; k < ALL; k++)
                slope[k] +=
                    (p[k % CLASSES] / sum - (data.y[j] == (double)(k % CLASSES))) *
                    design.x[j * design.columns + 1 + k / CLASSES];
        }
        for (size_t k = 0; k < ALL; k++) {
            const double here = w[i * ALL + k] * design.deviation[1 + k / CLASSES] +
                                slope[k] / fit.penalty;
            if (i == 0) centre[k] = here;
            assert_close(here, centre[k], 2e-3);
        }
    }
    bb_design_close(&design);
    bb_dataset_free(&data);
}

static void deviations_are_as_large_as_they_should_be(void **state) {
    (void)state;
    bb_dataset same = labels(false), other = labels(true);
    double w[TASKS * FEATURES], b[TASKS], v[TASKS * FEATURES], c[TASKS];
    assert_true(fit_centred(&same, BB_LOSS_LOGISTIC, 1, w, b).penalty >
                30.0 * fit_centred(&other, BB_LOSS_LOGISTIC, 1, w, b).penalty);
    fit_centred(&other, BB_LOSS_LOGISTIC, 3, v, c);
    assert_memory_equal(w, v, sizeof w);
    assert_memory_equal(b, c, sizeof b);
    bb_dataset_free(&same);
    bb_dataset_free(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(likelihood_is_the_plain_one),
        cmocka_unit_test(fits_are_those_of_lme4),
        cmocka_unit_test(a_random_intercept_is_that_of_lme4),
        cmocka_unit_test(school_is_that_of_lme4),
        cmocka_unit_test(workers_change_nothing),
        cmocka_unit_test(units_and_needless_columns_do_not_matter),
        cmocka_unit_test(says_what_it_cannot_fit),
        cmocka_unit_test(models_balance_loss_and_centre),
        cmocka_unit_test(models_of_classes_balance_too),
        cmocka_unit_test(deviations_are_as_large_as_they_should_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
