/* Ridge: the gradient of the penalised loss is zero at the solution. */
#include "learners/problem.h"
#include "learners/ridge_kept.h"
#include "test.h"

/* ||gradient of loss + lambda/2 ||w - centre||^2||, from the definition. */
static double stationarity(const problem *p, bb_loss loss, double s, double lambda,
                           const double *centre, const double *w, double b,
                           bool intercept) {
    double *g = naive_vector(p->d, 0), gb, sum = 0;
    (void)naive_loss(p, loss, s, w, b, g, &gb);
    for (size_t k = 0; k < p->d; k++) {
        g[k] += lambda * (w[k] - (centre ? centre[k] : 0));
        sum += g[k] * g[k];
    }
    if (intercept) sum += gb * gb;
    free(g);
    return sqrt(sum);
}

static void check_ridge(shape size, int setting, double lambda, double offset) {
    const bb_loss loss = setting & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
    const bool intercept = setting & 2, sum = setting & 4, sparse = setting & 8;
    problem p = problem_new(size.n, size.d, loss, offset, size.n);
    double *centre = setting & 16 ? naive_vector(p.d, 9) : NULL;
    double *w = naive_vector(p.d, 10), b = 1e9;
    const double s = sum ? 1 : 1 / (double)p.n;
    bb_local local;
    assert_ok(bb_local_open(&local, sparse ? p.sparse : p.dense, loss, intercept, sum));
    double *work = work_for(&local);
    const double scale =
        s * (double)p.n * (1 + fabs(offset)) * (1 + fabs(offset)) * sqrt((double)p.d);
    double *at = naive_vector(p.d, 11);
    bb_scale(p.d, lambda < 1 ? 0.1 : 0, at);
    for (int call = 0; call < (loss == BB_LOSS_LOGISTIC ? 3 : 1); call++) {
        if (call == 0)
            assert_ok(bb_local_ridge(&local, lambda, centre, w, &b, work));
        else /* from somewhere, and from the minimum */
            assert_ok(bb_local_ridge_again(&local, lambda, centre, at, w, &b, work));
        const double size_w = 1 + bb_norm(p.d, w);
        assert_close(stationarity(&p, loss, s, lambda, centre, w, b, intercept), 0,
                     (1e-13 * scale + 1e-15 * lambda) * size_w);
    }
    free(at);
    if (!intercept) assert_true(b == 0);
    free(work);
    bb_local_close(&local);
    free(centre);
    free(w);
    problem_free(&p);
}

static void test_stationarity(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++)
        for (int setting = 0; setting < 32; setting++)
            for (double lambda = 1e-12; lambda < 1e4; lambda *= 1000)
                check_ridge(shapes[i], setting, lambda, 0.3);
}

/* Around several centres with one inverse. */
static void check_kept(const problem *p, bool sparse, bool intercept, double lambda) {
    const double s = 1 / (double)p->n, scale = 4 * sqrt((double)p->d);
    bb_local local;
    assert_ok(bb_local_open(&local, sparse ? p->sparse : p->dense, BB_LOSS_SQUARED,
                            intercept, false));
    const size_t length = bb_ridge_kept_length(&local);
    assert_true(length > 0 || (!local.gram && (sparse || intercept)));
    if (length > 0) {
        double *kept = naive_vector(length, 0), *w = naive_vector(p->d, 3);
        double *work = naive_vector(bb_ridge_kept_work(&local), 4);
        double *usual = work_for(&local);
        assert_true(bb_ridge_kept_open(&local, lambda, kept, work) && kept[0] > 0);
        for (uint64_t seed = 5; seed < 8; seed++) {
            double *centre = naive_vector(p->d, seed);
            assert_true(bb_ridge_kept_solve(&local, centre, kept, w, work));
            const double b = bb_local_intercept(&local, w, usual);
            assert_close(
                stationarity(p, BB_LOSS_SQUARED, s, lambda, centre, w, b, intercept), 0,
                1e-14 * (1 + scale / lambda) * scale * (1 + bb_norm(p->d, w)));
            free(centre);
        }
        free(kept);
        free(w);
        free(work);
        free(usual);
    }
    bb_local_close(&local);
}

static void test_kept(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        problem p = problem_new(shapes[i].n, shapes[i].d, BB_LOSS_SQUARED, 0.3, i);
        for (int setting = 0; setting < 4; setting++)
            for (double lambda = 1e-4; lambda < 1e4; lambda *= 100)
                check_kept(&p, setting & 1, setting & 2, lambda);
        problem_free(&p);
    }
}

/* What overflows is left to others. */
static void test_kept_is_finite(void **state) {
    (void)state;
    problem p = problem_new(4, 3, BB_LOSS_SQUARED, 0.3, 1);
    const double centre[3] = {1e308, 1e308, 1e308};
    double w[3] = {1, 2, 3};
    bb_local local;
    assert_ok(bb_local_open(&local, p.dense, BB_LOSS_SQUARED, false, false));
    double *kept = naive_vector(bb_ridge_kept_length(&local), 0);
    double *work = naive_vector(bb_ridge_kept_work(&local), 0);
    assert_true(bb_ridge_kept_open(&local, 100, kept, work));
    assert_false(bb_ridge_kept_solve(&local, centre, kept, w, work));
    assert_true(w[0] == 1 && w[1] == 2 && w[2] == 3);
    assert_false(bb_ridge_kept_open(&local, -1e9, kept, work));
    free(kept);
    free(work);
    bb_local_close(&local);
    problem_free(&p);
}

/* Features far from zero: the intercept and the model almost cancel. */
static void test_offset_features(void **state) {
    (void)state;
    const shape size[2] = {{40, 6}, {9, 30}};
    for (int i = 0; i < 2; i++)
        for (int setting = 0; setting < 32; setting++)
            check_ridge(size[i], setting, 1e-2, 100);
}

static void test_dense_equals_sparse(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++)
        for (int loss = 0; loss < 2; loss++) {
            problem p = problem_new(shapes[i].n, shapes[i].d, (bb_loss)loss, 0.2, i);
            bb_local dense, sparse;
            assert_ok(bb_local_open(&dense, p.dense, (bb_loss)loss, true, false));
            assert_ok(bb_local_open(&sparse, p.sparse, (bb_loss)loss, true, false));
            double *v = naive_vector(p.d, 0), *w = naive_vector(p.d, 0), b, c;
            double *work = work_for(&dense), *other = work_for(&sparse);
            assert_ok(bb_local_ridge(&dense, 0.01, NULL, v, &b, work));
            assert_ok(bb_local_ridge(&sparse, 0.01, NULL, w, &c, other));
            assert_close(naive_largest_difference(p.d, v, w), 0, 1e-11);
            assert_close(b, c, 1e-11);
            free(v);
            free(w);
            free(work);
            free(other);
            bb_local_close(&dense);
            bb_local_close(&sparse);
            problem_free(&p);
        }
}

/* Without a penalty these tasks have no solution: perfectly separable classes. */
static void test_separable(void **state) {
    (void)state;
    const double x[8] = {-3, -2, -1, -0.5, 0.5, 1, 2, 3};
    const double y[8] = {-1, -1, -1, -1, 1, 1, 1, 1};
    for (double lambda = 1; lambda > 1e-13; lambda *= 1e-3)
        for (int wide = 0; wide < 2; wide++) {
            double rows_x[8 * 9] = {0};
            const size_t d = wide ? 9 : 1;
            for (size_t j = 0; j < 8; j++) rows_x[j * d] = x[j];
            problem p = {.n = 8, .d = d, .x = rows_x, .y = NULL};
            double labels[8];
            memcpy(labels, y, sizeof y);
            p.y = labels;
            const bb_rows rows = {.n = 8, .d = d, .x = rows_x, .y = y};
            bb_local local;
            assert_ok(bb_local_open(&local, rows, BB_LOSS_LOGISTIC, true, true));
            double w[9], b, *work = work_for(&local);
            assert_ok(bb_local_ridge(&local, lambda, NULL, w, &b, work));
            assert_true(w[0] > 0 && isfinite(b));
            assert_close(b, 0, 1e-5); /* by symmetry */
            assert_true(stationarity(&p, BB_LOSS_LOGISTIC, 1, lambda, NULL, w, b,
                                     true) <= 1e-14 + 1e-9 * lambda * w[0]);
            free(work);
            bb_local_close(&local);
        }
}

static void test_one_class(void **state) {
    (void)state;
    const double x[3] = {1, 2, 4}, y[3] = {-1, -1, -1}, centre[1] = {0.25};
    const bb_rows rows = {.n = 3, .d = 1, .x = x, .y = y};
    problem p = {.n = 3, .d = 1, .x = (double *)x, .y = (double *)y};
    bb_local local;
    double w[1], b;
    assert_ok(bb_local_open(&local, rows, BB_LOSS_LOGISTIC, true, false));
    double *work = work_for(&local);
    assert_ok(bb_local_ridge(&local, 0.1, centre, w, &b, work));
    assert_true(w[0] == 0.25 && b == -30);
    assert_ok(bb_local_ridge(&local, 0.1, NULL, w, &b, work));
    assert_true(w[0] == 0 && b == -30);
    free(work);
    bb_local_close(&local);
    assert_ok(bb_local_open(&local, rows, BB_LOSS_LOGISTIC, false, false));
    work = work_for(&local);
    assert_ok(bb_local_ridge(&local, 0.1, centre, w, &b, work));
    assert_true(w[0] < 0 && b == 0);
    assert_close(stationarity(&p, BB_LOSS_LOGISTIC, 1.0 / 3, 0.1, centre, w, b, false),
                 0, 1e-15);
    free(work);
    bb_local_close(&local);
}

static void test_no_rows(void **state) {
    (void)state;
    const bb_rows rows = {.d = 2, .x = (const double[1]){0}, .y = (const double[1]){0}};
    for (int loss = 0; loss < 2; loss++) {
        bb_local local;
        const double centre[2] = {4, 5};
        double w[2] = {1, 1}, b = 3;
        assert_ok(bb_local_open(&local, rows, (bb_loss)loss, true, false));
        double *work = work_for(&local);
        assert_ok(bb_local_ridge(&local, 1, centre, w, &b, work));
        assert_true(w[0] == 4 && w[1] == 5 && b == 0);
        assert_ok(bb_local_ridge(&local, 1, NULL, w, &b, work));
        assert_true(w[0] == 0 && w[1] == 0 && b == 0);
        free(work);
        bb_local_close(&local);
    }
}

/* A penalty below the rounding of singular squares still gives the fit. */
static void test_tiny_penalty(void **state) {
    (void)state;
    const double x[8] = {1, 1, 2, 2, 3, 3, 4, 4}, y[4] = {2, 4, 6, 8};
    const bb_rows rows = {.n = 4, .d = 2, .x = x, .y = y};
    for (int intercept = 0; intercept < 2; intercept++) {
        bb_local local;
        double w[2], b;
        assert_ok(bb_local_open(&local, rows, BB_LOSS_SQUARED, intercept, false));
        double *work = work_for(&local);
        assert_ok(bb_local_ridge(&local, 1e-30, NULL, w, &b, work));
        assert_close(w[0] + w[1], 2, 1e-12);
        assert_close(b, 0, 1e-11);
        free(work);
        bb_local_close(&local);
    }
}

/* An overflow on the way is an error, and nothing is written. */
static void test_overflow(void **state) {
    (void)state;
    problem p = problem_new(6, 3, BB_LOSS_LOGISTIC, 0, 1);
    problem q = problem_new(6, 30, BB_LOSS_SQUARED, 0, 1);
    const problem *both[2] = {&p, &q};
    for (int i = 0; i < 2; i++) {
        bb_local local;
        double *centre = naive_vector(both[i]->d, 2), *w = naive_vector(both[i]->d, 3);
        for (size_t k = 0; k < both[i]->d; k++) centre[k] = 1e307 * (k % 2 ? 1 : 15);
        double b = 5;
        const double first = w[0];
        assert_ok(bb_local_open(&local, both[i]->dense,
                                i ? BB_LOSS_SQUARED : BB_LOSS_LOGISTIC, true, true));
        double *work = work_for(&local);
        assert_int_equal(bb_local_ridge(&local, 1, centre, w, &b, work), BB_ENUMERIC);
        assert_true(w[0] == first && b == 5);
        free(work);
        free(centre);
        free(w);
        bb_local_close(&local);
    }
    problem_free(&p);
    problem_free(&q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stationarity),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_kept_is_finite),
        cmocka_unit_test(test_offset_features),
        cmocka_unit_test(test_dense_equals_sparse),
        cmocka_unit_test(test_separable),
        cmocka_unit_test(test_one_class),
        cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_tiny_penalty),
        cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests(tests, start_linalg, NULL);
}
