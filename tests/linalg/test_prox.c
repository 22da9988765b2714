/* Proximal operators: W = prox_{theta R}(V) exactly when (V - W)/theta is a subgradient
 * of R at W; and reference values. */
#include "linalg/linalg.h"
#include "linalg/naive.h"
#include "linalg/prox.h"
#include "test.h"

#include <string.h>

static int start(void **state) {
    (void)state;
    return bb_linalg_start() != BB_OK;
}

static void test_soft(void **state) {
    (void)state;
    assert_close(bb_soft(3, 1), 2, 0);
    assert_close(bb_soft(-3, 1), -2, 0);
    assert_close(bb_soft(0.5, 1), 0, 0);
    assert_close(bb_soft(-1, 1), 0, 0);
    assert_close(bb_soft(0.25, 0), 0.25, 0);
    assert_true(isnan(bb_soft(NAN, 1)));
    double w[3] = {2, -0.5, -4};
    bb_prox_l1(3, w, 1);
    assert_true(w[0] == 1 && w[1] == 0 && w[2] == -3);
}

/* Norms of columns: subgradient c/||c|| on columns that stay, inside the ball on
 * others. */
static void check_l21(size_t m, size_t p, double theta) {
    double *V = naive_vector(m * p, m + 100 * p), *W = naive_vector(m * p, m + 100 * p);
    assert_ok(bb_prox_l21(m, p, W, theta));
    for (size_t k = 0; k < p; k++) {
        double length = 0, rest = 0;
        for (size_t i = 0; i < m; i++) length += W[i * p + k] * W[i * p + k];
        length = sqrt(length);
        for (size_t i = 0; i < m; i++) {
            const double e = V[i * p + k] - W[i * p + k];
            rest += e * e;
            if (length > 0) assert_close(e, theta * W[i * p + k] / length, 1e-14);
        }
        if (length == 0) assert_true(sqrt(rest) <= theta * (1 + 1e-14));
    }
    free(V);
    free(W);
}

/* Singular values: E = V - W has spectral norm <= theta and <E, W> = theta ||W||_*. */
static void check_trace(size_t m, size_t p, double theta) {
    double *V = naive_vector(m * p, m + 100 * p), *W = naive_vector(m * p, m + 100 * p);
    double *E = naive_vector(m * p, 0), *value = naive_vector(p, 0), nuclear = 0;
    assert_ok(bb_prox_trace(m, p, W, theta));
    for (size_t k = 0; k < m * p; k++) E[k] = V[k] - W[k];
    naive_singular_values(m, p, E, value);
    for (size_t k = 0; k < p; k++) assert_true(value[k] <= theta + 1e-12);
    naive_singular_values(m, p, W, value);
    for (size_t k = 0; k < p; k++) nuclear += value[k];
    assert_close(naive_dot(m * p, E, W), theta * nuclear, 1e-6 * (1 + theta));
    free(V);
    free(W);
    free(E);
    free(value);
}

static void test_optimality(void **state) {
    (void)state;
    for (size_t m = 1; m < 12; m += 2)
        for (size_t p = 1; p < 12; p += 3)
            for (double theta = 0.05; theta < 20; theta *= 4) {
                check_l21(m, p, theta);
                check_trace(m, p, theta);
            }
    check_trace(139, 29, 2);
    check_trace(29, 60, 2);
}

static void test_limits(void **state) {
    (void)state;
    const size_t m = 9, p = 5;
    double *V = naive_vector(m * p, 1), *W = naive_vector(m * p, 1);
    assert_ok(bb_prox_trace(m, p, W, 0));
    assert_close(naive_largest_difference(m * p, V, W), 0, 1e-14);
    assert_ok(bb_prox_l21(m, p, W, 0));
    assert_close(naive_largest_difference(m * p, V, W), 0, 1e-14);
    assert_ok(bb_prox_trace(m, p, W, 1e3));
    for (size_t k = 0; k < m * p; k++) assert_true(W[k] == 0);
    memcpy(W, V, m * p * sizeof *W);
    assert_ok(bb_prox_l21(m, p, W, 1e3));
    for (size_t k = 0; k < m * p; k++) assert_true(W[k] == 0);
    assert_ok(bb_prox_trace(m, p, W, 1)); /* of zero */
    for (size_t k = 0; k < m * p; k++) assert_true(W[k] == 0);
    assert_ok(bb_prox_trace(0, p, W, 1));
    assert_ok(bb_prox_trace(m, 0, W, 1));
    assert_ok(bb_prox_l21(0, p, W, 1));
    free(V);
    free(W);
}

static void test_bad_numbers(void **state) {
    (void)state;
    double w[4] = {1, 2, 1e200, 4}, keep[4] = {1, 2, 1e200, 4};
    assert_fails(bb_prox_trace(2, 2, w, 1), BB_ENUMERIC, "inf");
    assert_memory_equal(w, keep, sizeof w);
    assert_fails(bb_prox_l21(2, 2, w, 1), BB_ENUMERIC, "not finite");
    assert_memory_equal(w, keep, sizeof w);
    w[2] = keep[2] = NAN;
    assert_fails(bb_prox_trace(2, 2, w, 1), BB_ENUMERIC, "nan");
    assert_fails(bb_prox_l21(2, 2, w, 1), BB_ENUMERIC, "not finite");
    assert_memory_equal(w, keep, sizeof w);
}

enum { FEATURES = 4, TASKS = 6 };

/* The reference files hold one task a column. */
static bool read_models(const char *name, double *w) {
    char path[4096];
    if (!shared_path(path, sizeof path, name)) return false;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (size_t k = 0; k < FEATURES; k++)
        for (size_t i = 0; i < TASKS; i++)
            assert_int_equal(fscanf(file, "%lf%*[,\n]", w + i * FEATURES + k), 1);
    fclose(file);
    return true;
}

static void test_reference_values(void **state) {
    (void)state;
    static const char *const file[4] = {
        "oracle/mpmtl/prox_l21_0.5.csv", "oracle/mpmtl/prox_l21_2.0.csv",
        "oracle/mpmtl/prox_trace_0.5.csv", "oracle/mpmtl/prox_trace_2.0.csv"};
    double w[FEATURES * TASKS], expected[FEATURES * TASKS];
    for (int k = 0; k < 4; k++) {
        if (!read_models("oracle/mpmtl/prox_in.csv", w)) skip();
        if (!read_models(file[k], expected)) skip();
        const double theta = k % 2 ? 2 : 0.5;
        if (k < 2)
            assert_ok(bb_prox_l21(TASKS, FEATURES, w, theta));
        else
            assert_ok(bb_prox_trace(TASKS, FEATURES, w, theta));
        assert_close(naive_largest_difference(FEATURES * TASKS, w, expected), 0, 1e-13);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_soft),
        cmocka_unit_test(test_optimality),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_bad_numbers),
        cmocka_unit_test(test_reference_values),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
