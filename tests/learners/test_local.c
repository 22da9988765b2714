/* Loss, gradient, conjugate, intercept and curvature against definitions. */
#include "learners/problem.h"
#include "test.h"

static void with_every_setting(void (*check)(const problem *, bb_local *, bool sum)) {
    for (size_t i = 0; i < SHAPES; i++)
        for (int setting = 0; setting < 16; setting++) {
            const bb_loss loss = setting & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
            const bool intercept = setting & 2, sum = setting & 4, sparse = setting & 8;
            problem p = problem_new(shapes[i].n, shapes[i].d, loss, 0.3, i);
            bb_local local;
            assert_ok(bb_local_open(&local, sparse ? p.sparse : p.dense, loss,
                                    intercept, sum));
            check(&p, &local, sum);
            bb_local_close(&local);
            problem_free(&p);
        }
}

/* With the squared loss b is the best one for w, which is also the point of the twin.
 */
static void check_gradient(const problem *p, bb_local *local, bool sum) {
    const double s = sum ? 1 : 1 / (double)p->n;
    double *w = naive_vector(p->d, 40), *g = naive_vector(p->d, 0), gb;
    double *plain = naive_vector(p->d, 0), plain_b, *work = work_for(local);
    double *u = naive_vector(p->n, 0);
    double b = local->intercept ? 0.4 : 0;
    if (local->loss == BB_LOSS_SQUARED) b = bb_local_intercept(local, w, work);
    const double value = naive_loss(p, local->loss, s, w, b, plain, &plain_b);
    const double scale = 1e-14 * (1 + s * (double)p->n * (double)p->d);
    assert_close(bb_local_gradient(local, w, b, g, &gb, work), value, scale);
    assert_close(bb_local_value(local, w, b, work), value, scale);
    for (size_t k = 0; k < p->d; k++) assert_close(g[k], plain[k], scale);
    if (!local->intercept)
        assert_true(gb == 0);
    else
        assert_close(gb, plain_b, scale);
    bb_local_residual(local, w, b, u);
    for (size_t k = 0; k < p->d; k++) {
        double sum_k = 0;
        for (size_t j = 0; j < p->n; j++) sum_k += u[j] * p->x[j * p->d + k];
        assert_close(sum_k, plain[k], scale);
    }
    free(w);
    free(g);
    free(plain);
    free(work);
    free(u);
}

static void test_gradient(void **state) {
    (void)state;
    with_every_setting(check_gradient);
}

static void check_differences(const problem *p, bb_local *local, bool sum) {
    double *w = naive_vector(p->d, 41), *g = naive_vector(p->d, 0), gb, unused;
    double *spare = naive_vector(p->d, 0), *work = work_for(local);
    const double h = 1e-5, b = local->intercept ? -0.2 : 0;
    const double scale = sum ? (double)p->n : 1;
    (void)bb_local_gradient(local, w, b, g, &gb, work);
    for (size_t k = 0; k < p->d; k++) {
        const double keep = w[k];
        w[k] = keep + h;
        const double up = bb_local_value(local, w, b, work);
        w[k] = keep - h;
        const double down = bb_local_gradient(local, w, b, spare, &unused, work);
        w[k] = keep;
        assert_close((up - down) / (2 * h), g[k], 1e-8 * scale);
    }
    if (local->loss == BB_LOSS_LOGISTIC && local->intercept) {
        const double up = bb_local_value(local, w, b + h, work);
        const double down = bb_local_value(local, w, b - h, work);
        assert_close((up - down) / (2 * h), gb, 1e-8 * scale);
    }
    free(w);
    free(g);
    free(spare);
    free(work);
}

static void test_finite_differences(void **state) {
    (void)state;
    with_every_setting(check_differences);
}

/* Fenchel and Young: equality at the residual, inequality anywhere else. */
static void check_conjugate(const problem *p, bb_local *local, bool sum) {
    double *w = naive_vector(p->d, 42), *work = work_for(local);
    double *u = naive_vector(p->n, 0), *other = naive_vector(p->n, 43);
    const double scale = sum ? (double)p->n : 1;
    double b = local->intercept ? 0.7 : 0, exact = 0, inexact = 0;
    if (local->loss == BB_LOSS_SQUARED) b = bb_local_intercept(local, w, work);
    const double value = bb_local_value(local, w, b, work);
    bb_local_residual(local, w, b, u);
    for (size_t j = 0; j < p->n; j++) {
        const double prediction = naive_dot(p->d, p->x + j * p->d, w) + b;
        other[j] = local->loss == BB_LOSS_SQUARED
                       ? other[j]
                       : -p->y[j] * local->weight * fabs(other[j]);
        exact += u[j] * prediction;
        inexact += other[j] * prediction;
    }
    assert_close(value + bb_local_conjugate(local, u, 1), exact, 1e-13 * scale);
    for (double t = 1; t > 0.1; t -= 0.3) {
        assert_true(value + bb_local_conjugate(local, u, t) >=
                    t * exact - 1e-13 * scale);
        assert_true(value + bb_local_conjugate(local, other, t) >=
                    t * inexact - 1e-13 * scale);
    }
    if (local->loss == BB_LOSS_LOGISTIC) {
        assert_true(isinf(bb_local_conjugate(local, u, -1)));
        for (size_t j = 0; j < p->n; j++) u[j] = -p->y[j] * local->weight;
        assert_close(bb_local_conjugate(local, u, 1), 0, 0);
        assert_close(bb_local_conjugate(local, u, 0), 0, 0);
        assert_true(isinf(bb_local_conjugate(local, u, 1.001)));
    }
    free(w);
    free(work);
    free(u);
    free(other);
}

static void test_conjugate(void **state) {
    (void)state;
    with_every_setting(check_conjugate);
}

static void check_intercept(const problem *p, bb_local *local, bool sum) {
    double *w = naive_vector(p->d, 44), *work = work_for(local);
    double *g = naive_vector(p->d, 0), gb;
    for (size_t k = 0; k < p->d; k++) w[k] *= 10;
    const double b = bb_local_intercept(local, w, work), s = sum ? 1 : 1 / (double)p->n;
    if (!local->intercept) {
        assert_true(b == 0);
    } else if (local->loss == BB_LOSS_LOGISTIC && p->n == 1) {
        assert_close(b, 30 * p->y[0], 0);
    } else {
        (void)naive_loss(p, local->loss, s, w, b, g, &gb);
        assert_close(gb, 0, 1e-12 * s * (double)p->n * (double)p->d);
    }
    free(w);
    free(work);
    free(g);
}

static void test_intercept(void **state) {
    (void)state;
    with_every_setting(check_intercept);
}

/* The largest eigenvalue of the Hessian's bound, by Jacobi rotations. */
static void check_lipschitz(const problem *p, bb_local *local, bool sum) {
    const bool logistic = local->loss == BB_LOSS_LOGISTIC;
    const bool ones = logistic && local->intercept;
    const size_t width = p->d + (ones ? 1 : 0);
    double *X = naive_vector(p->n * width, 0), *value = naive_vector(width, 0);
    for (size_t j = 0; j < p->n; j++) {
        memcpy(X + j * width, p->x + j * p->d, p->d * sizeof *X);
        if (ones) X[j * width + p->d] = 1;
    }
    for (size_t k = 0; k < width; k++) {
        double mean = 0;
        for (size_t j = 0; j < p->n; j++) mean += X[j * width + k] / (double)p->n;
        if (!logistic && local->intercept)
            for (size_t j = 0; j < p->n; j++) X[j * width + k] -= mean;
    }
    naive_singular_values(p->n, width, X, value);
    double largest = 0;
    for (size_t k = 0; k < width; k++) largest = fmax(largest, value[k] * value[k]);
    largest *= (logistic ? 0.25 : 1) * (sum ? 1 : 1 / (double)p->n);
    assert_true(local->lipschitz >= largest * (1 - 1e-13));
    assert_true(local->lipschitz <= largest * (1 + 1.01e-6) + 1e-30);
    free(X);
    free(value);
}

static void test_lipschitz(void **state) {
    (void)state;
    with_every_setting(check_lipschitz);
}

/* Too many rows and features for a proof: the iteration through the rows. */
static void test_lipschitz_of_a_large_task(void **state) {
    (void)state;
    const size_t n = 1100, d = 1200;
    double *x = naive_vector(n * d, 0), *y = naive_vector(n, 3);
    memset(x, 0, n * d * sizeof *x);
    for (size_t j = 0; j < n; j++) x[j * d + j] = 1 + 1 / (double)(j + 1);
    for (int loss = 0; loss < 2; loss++) {
        for (size_t j = 0; loss && j < n; j++) y[j] = y[j] > 0 ? 1 : -1;
        bb_local local;
        const bb_rows rows = {.n = n, .d = d, .x = x, .y = y};
        assert_ok(bb_local_open(&local, rows, loss ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED,
                                false, true));
        assert_relative(local.lipschitz, loss ? 1 : 4, 2e-6);
        bb_local_close(&local);
    }
    free(x);
    free(y);
}

static void test_no_rows(void **state) {
    (void)state;
    for (int setting = 0; setting < 8; setting++) {
        problem p = problem_new(0, 3, BB_LOSS_SQUARED, 0, 1);
        bb_local local;
        const bb_loss loss = setting & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
        assert_ok(bb_local_open(&local, setting & 2 ? p.sparse : p.dense, loss,
                                setting & 4, false));
        double w[3] = {1, 2, 3}, g[3] = {1, 1, 1}, gb = 1, *work = work_for(&local);
        assert_true(bb_local_gradient(&local, w, 1, g, &gb, work) == 0);
        assert_true(g[0] == 0 && g[1] == 0 && g[2] == 0 && gb == 0);
        assert_true(bb_local_value(&local, w, 1, work) == 0);
        assert_true(bb_local_intercept(&local, w, work) == 0);
        assert_true(bb_local_conjugate(&local, g, 1) == 0);
        assert_true(local.lipschitz == 0);
        free(work);
        bb_local_close(&local);
        problem_free(&p);
    }
}

static void test_constant_and_zero_features(void **state) {
    (void)state;
    const double x[6] = {3, 0, 3, 0, 3, 0}, y[3] = {1, 2, 6};
    const bb_rows rows = {.n = 3, .d = 2, .x = x, .y = y};
    bb_local local;
    assert_ok(bb_local_open(&local, rows, BB_LOSS_SQUARED, true, false));
    assert_true(local.lipschitz == 0);
    double w[2] = {5, 7}, g[2], gb, *work = work_for(&local);
    assert_close(bb_local_gradient(&local, w, 0, g, &gb, work), 14.0 / 6, 1e-14);
    assert_true(g[0] == 0 && g[1] == 0);
    assert_close(bb_local_intercept(&local, w, work), 3 - 15, 1e-14);
    free(work);
    bb_local_close(&local);
}

static void test_huge_values_are_refused(void **state) {
    (void)state;
    const double bad[] = {1e200, 1e308, INFINITY, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int setting = 0; setting < 16; setting++) {
            const bb_loss loss = setting & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
            problem p = problem_new(4, setting & 2 ? 3 : 40, loss, 0.1, 3);
            p.x[1] = bad[i];
            p.value[8] = bad[i];
            bb_local local = {.n = 77};
            assert_int_equal(bb_local_open(&local, setting & 4 ? p.sparse : p.dense,
                                           loss, setting & 8, false),
                             BB_ENUMERIC);
            assert_int_equal(local.n, 77);
            problem_free(&p);
        }
    const double x[2] = {1, 2}, y[2] = {1e200, 1};
    const bb_rows rows = {.n = 2, .d = 1, .x = x, .y = y};
    bb_local local;
    assert_fails(bb_local_open(&local, rows, BB_LOSS_SQUARED, true, false), BB_ENUMERIC,
                 "targets");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_finite_differences),
        cmocka_unit_test(test_conjugate),
        cmocka_unit_test(test_intercept),
        cmocka_unit_test(test_lipschitz),
        cmocka_unit_test(test_lipschitz_of_a_large_task),
        cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_constant_and_zero_features),
        cmocka_unit_test(test_huge_values_are_refused),
    };
    return cmocka_run_group_tests(tests, start_linalg, NULL);
}
