/* Lasso: the certificate bounds the truth, optimality conditions, degenerate tasks. */
#include "learners/problem.h"
#include "test.h"

/* Largest violation of -gradient in lambda * subgradient of ||w||_1. */
static double violation(const problem *p, bb_loss loss, double s, double lambda,
                        const double *w, double b, bool intercept) {
    double *g = naive_vector(p->d, 0), gb, worst = 0;
    (void)naive_loss(p, loss, s, w, b, g, &gb);
    for (size_t k = 0; k < p->d; k++) {
        double e = fmax(0, fabs(g[k]) - lambda);
        if (w[k] != 0) e = fabs(g[k] + (w[k] > 0 ? lambda : -lambda));
        worst = fmax(worst, e);
    }
    if (intercept) worst = fmax(worst, fabs(gb));
    free(g);
    return worst;
}

static double objective(const bb_local *local, double lambda, const double *w, double b,
                        double *work) {
    double sum = bb_local_value(local, w, b, work);
    for (size_t k = 0; k < local->d; k++) sum += lambda * fabs(w[k]);
    return sum;
}

static void check_lasso(shape size, int setting, double share, double offset) {
    const bb_loss loss = setting & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
    const bool intercept = setting & 2, sum = setting & 4, sparse = setting & 8;
    problem p = problem_new(size.n, size.d, loss, offset, size.n);
    double *w = naive_vector(p.d, 0), *v, b = 0, c, gap = -1, rough = -1;
    memset(w, 0, p.d * sizeof *w);
    const double s = sum ? 1 : 1 / (double)p.n, lambda = share * s * (double)p.n;
    bb_local local;
    assert_ok(bb_local_open(&local, sparse ? p.sparse : p.dense, loss, intercept, sum));
    double *work = work_for(&local);
    assert_ok(bb_local_lasso(&local, lambda, 1e-10, w, &b, &gap, work));
    const double best = objective(&local, lambda, w, b, work);
    const bool hopeless = loss == BB_LOSS_LOGISTIC && intercept && p.n == 1;
    if (!hopeless) assert_true(gap >= 0 && gap <= 1e-10 * best);
    const double scale = s * (double)p.n * (1 + fabs(offset));
    assert_close(violation(&p, loss, s, lambda, w, b, intercept), 0, 3e-4 * scale);
    /* The certificate of a rough solution, from elsewhere, holds. */
    v = naive_vector(p.d, 77);
    c = 0.3;
    assert_ok(bb_local_lasso(&local, lambda, 0.01, v, &c, &rough, work));
    const double reached = objective(&local, lambda, v, c, work);
    assert_true(reached - best <= rough + 1e-12 * scale);
    if (!hopeless) assert_true(rough <= 0.01 * reached);
    free(work);
    free(w);
    free(v);
    bb_local_close(&local);
    problem_free(&p);
}

static void test_certified(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++)
        for (int setting = 0; setting < 16; setting++)
            for (double share = 0.003; share < 1; share *= 8)
                check_lasso(shapes[i], setting, share, 0.3);
}

static void test_offset_features(void **state) {
    (void)state;
    const shape size[2] = {{40, 6}, {9, 30}};
    for (int i = 0; i < 2; i++)
        for (int setting = 2; setting < 16; setting += 4) {
            check_lasso(size[i], setting, 0.02, 100);
            check_lasso(size[i], setting + 1, 0.02, 30);
        }
}

/* From this penalty on the model is zero: the largest |x'(y - mean)| or |x'u(0)|. */
static void test_zero_above_the_largest_penalty(void **state) {
    (void)state;
    for (int setting = 0; setting < 4; setting++) {
        const bb_loss loss = setting & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
        problem p = problem_new(30, setting & 2 ? 80 : 7, loss, 0.3, 4);
        bb_local local;
        assert_ok(bb_local_open(&local, p.dense, loss, true, false));
        double *w = naive_vector(p.d, 0), *g = naive_vector(p.d, 0), gb, b, gap,
               top = 0;
        double *work = work_for(&local);
        memset(w, 0, p.d * sizeof *w);
        b = bb_local_intercept(&local, w, work);
        (void)bb_local_gradient(&local, w, b, g, &gb, work);
        for (size_t k = 0; k < p.d; k++) top = fmax(top, fabs(g[k]));
        for (size_t k = 0; k < p.d; k++) w[k] = 0.1;
        assert_ok(bb_local_lasso(&local, 1.01 * top, 1e-12, w, &b, &gap, work));
        for (size_t k = 0; k < p.d; k++) assert_true(w[k] == 0);
        b = 0;
        assert_ok(bb_local_lasso(&local, 0.99 * top, 1e-12, w, &b, &gap, work));
        size_t used = 0;
        for (size_t k = 0; k < p.d; k++) used += w[k] != 0;
        assert_true(used >= 1 && used <= 3);
        free(w);
        free(g);
        free(work);
        bb_local_close(&local);
        problem_free(&p);
    }
}

static void test_separable(void **state) {
    (void)state;
    const double x[6] = {-3, -2, -1, 1, 2, 3}, y[6] = {-1, -1, -1, 1, 1, 1};
    const bb_rows rows = {.n = 6, .d = 1, .x = x, .y = y};
    for (double lambda = 1; lambda > 1e-8; lambda *= 0.01) {
        bb_local local;
        double w[1] = {0}, b = 0, gap;
        assert_ok(bb_local_open(&local, rows, BB_LOSS_LOGISTIC, true, true));
        double *work = work_for(&local);
        assert_ok(bb_local_lasso(&local, lambda, 1e-6, w, &b, &gap, work));
        assert_true(gap <= 1e-6 * objective(&local, lambda, w, b, work));
        free(work);
        bb_local_close(&local);
    }
}

static void test_degenerate(void **state) {
    (void)state;
    const double x[3] = {1, 2, 4}, same[3] = {-1, -1, -1}, zero[3] = {0, 0, 0};
    bb_rows rows = {.n = 3, .d = 1, .x = x, .y = same};
    bb_local local;
    double w[1] = {1}, b = 0, gap = -1;
    assert_ok(bb_local_open(&local, rows, BB_LOSS_LOGISTIC, true, false));
    double *work = work_for(&local);
    assert_ok(bb_local_lasso(&local, 0.1, 1e-9, w, &b, &gap, work));
    assert_true(w[0] == 0 && b == -30 && gap >= 0 && gap < 1e-12);
    free(work);
    bb_local_close(&local);
    rows.y = zero; /* nothing to explain */
    assert_ok(bb_local_open(&local, rows, BB_LOSS_SQUARED, true, false));
    work = work_for(&local);
    w[0] = 1;
    assert_ok(bb_local_lasso(&local, 0.1, 1e-9, w, &b, &gap, work));
    assert_true(w[0] == 0 && b == 0 && gap == 0);
    free(work);
    bb_local_close(&local);
    rows.n = 0;
    for (int loss = 0; loss < 2; loss++) {
        assert_ok(bb_local_open(&local, rows, (bb_loss)loss, true, false));
        work = work_for(&local);
        w[0] = 1;
        assert_ok(bb_local_lasso(&local, 0.1, 1e-9, w, &b, &gap, work));
        assert_true(w[0] == 0 && b == 0 && gap == 0);
        free(work);
        bb_local_close(&local);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_certified),
        cmocka_unit_test(test_offset_features),
        cmocka_unit_test(test_zero_above_the_largest_penalty),
        cmocka_unit_test(test_separable),
        cmocka_unit_test(test_degenerate),
    };
    return cmocka_run_group_tests(tests, start_linalg, NULL);
}
