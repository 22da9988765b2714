/* Eight logistic fits at once against one after the other, and the same bits by every
 * variant of the kernels. */
#include "learners/newton_eight.h"
#include "learners/problem.h"
#include "linalg/kernel.h"
#include "test.h"

/* Eight fits of n rows and half as many features: penalties of eight decades, every second
 * one around an offset, all stretched differently. */
typedef struct eight {
    problem p;
    double *K, *offset, *work;
    bb_eight e;
} eight;

static eight eight_new(size_t n, double start) {
    eight t = {.p = problem_new(n, n / 2 + 1, BB_LOSS_LOGISTIC, 0.2, n)};
    t.K = naive_vector(n * n, 0);
    t.offset = naive_vector(n * BB_EIGHT, 1);
    t.work = naive_vector(bb_newton_eight_work(n), 2);
    bb_gram_rows(n, t.p.d, 1, t.p.x, t.K);
    t.e = bb_newton_eight_open(n, t.work);
    t.e.K = t.K;
    t.e.y = t.p.y;
    t.e.offset = t.offset;
    for (size_t l = 0; l < BB_EIGHT; l++) {
        t.e.lambda[l] = pow(10, 3 - (double)l);
        t.e.more[l] = (double)l * 0.7;
        for (size_t j = 0; j < n; j++) {
            t.offset[j * BB_EIGHT + l] *= l % 2 ? 3 : 0;
            t.e.a[j * BB_EIGHT + l] = start * t.p.y[j];
        }
    }
    return t;
}

static void eight_free(eight *t) {
    free(t->K);
    free(t->offset);
    free(t->work);
    problem_free(&t->p);
}

/* The rows' products with what a stretched constant adds. */
static double *stretched(const eight *t, size_t l) {
    const size_t n = t->p.n;
    double *K = naive_vector(n * n, 0);
    for (size_t k = 0; k < n * n; k++) K[k] = t->K[k] + t->e.more[l];
    return K;
}

/* log det(I + R K R / lambda), R the root of the curvature at predictions p. */
static double log_det_by_hand(size_t n, const double *K, double lambda,
                              const double *p) {
    double *M = naive_vector(n * n, 0), sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            M[i * n + j] =
                (i == j) + K[i * n + j] / lambda / 4 / cosh(p[i] / 2) / cosh(p[j] / 2);
    assert_ok(bb_cholesky(n, M));
    for (size_t k = 0; k < n; k++) sum += 2 * log(M[k * n + k]);
    free(M);
    return sum;
}

static void check_lane(const eight *t, size_t l, double value, double log_det) {
    const size_t n = t->p.n;
    const double lambda = t->e.lambda[l];
    double *K = stretched(t, l), *offset = naive_vector(n, 0), *a = naive_vector(n, 0);
    double *p = naive_vector(n, 0), expected = 0;
    bb_local local;
    memset(a, 0, n * sizeof *a);
    for (size_t j = 0; j < n; j++) offset[j] = t->offset[j * BB_EIGHT + l];
    assert_ok(bb_local_open(&local, t->p.dense, BB_LOSS_LOGISTIC, false, true));
    double *work = naive_vector(bb_local_ridge_kernel_work(&local), 0);
    assert_ok(bb_local_ridge_kernel(&local, lambda, K, offset, a, work));
    bb_multiply(n, n, 1, K, a, 0, p);
    expected = 0.5 * lambda * bb_dot(n, a, p);
    bb_axpy(n, 1, offset, p);
    for (size_t j = 0; j < n; j++) expected += log1p(exp(-t->p.y[j] * p[j]));
    assert_close(value, expected, 1e-10 * (1 + expected));
    assert_close(log_det, log_det_by_hand(n, K, lambda, p), 1e-6 * (1 + fabs(log_det)));
    for (size_t j = 0; j < n; j++)
        assert_close(t->e.a[j * BB_EIGHT + l] * lambda, a[j] * lambda, 1e-8);
    free(K);
    free(offset);
    free(a);
    free(p);
    free(work);
    bb_local_close(&local);
}

static void check(size_t n, double start) {
    eight t = eight_new(n, start);
    double value[BB_EIGHT], log_det[BB_EIGHT];
    assert_true(bb_newton_eight(&t.e, value, log_det));
    for (size_t l = 0; l < BB_EIGHT; l++) check_lane(&t, l, value[l], log_det[l]);
    eight_free(&t);
}

static void test_minima(void **state) {
    (void)state;
    for (size_t n = 1; n <= 24; n++) check(n, 0);
    check(37, 0);
    check(64, 0);
}

/* Where full steps do not descend. */
static void test_far_starts(void **state) {
    (void)state;
    for (size_t n = 2; n < 30; n += 3) {
        check(n, 20);
        check(n, -5);
    }
}

static void test_no_numbers(void **state) {
    (void)state;
    eight t = eight_new(6, 0);
    double value[BB_EIGHT], log_det[BB_EIGHT];
    t.offset[3 * BB_EIGHT + 5] = NAN;
    assert_false(bb_newton_eight(&t.e, value, log_det));
    t.offset[3 * BB_EIGHT + 5] = 0;
    t.K[7] = -1e6; /* K_1,1: not semidefinite */
    memset(t.e.a, 0, 6 * BB_EIGHT * sizeof *t.e.a);
    assert_false(bb_newton_eight(&t.e, value, log_det));
    eight_free(&t);
}

static void step(const bb_kernel *kernel, eight *t) {
    const double far[BB_EIGHT] = {1, 0.5, 0, 2, 1, 1, 0.25, 1};
    memset(t->e.change, 0, t->p.n * BB_EIGHT * sizeof(double));
    kernel->eight_predict(&t->e);
    kernel->eight_look(&t->e, far);
    t->e.here = t->e.there;
    kernel->eight_direction(&t->e);
    t->e.there.p = t->e.room; /* of which the rest may differ */
    t->e.there.slope = t->e.room + t->p.n * BB_EIGHT;
    t->e.there.curvature = t->e.room + 2 * t->p.n * BB_EIGHT;
    kernel->eight_look(&t->e, far);
}

static void compare(const bb_kernel *kernel, size_t n) {
    eight one = eight_new(n, 0.3), other = eight_new(n, 0.3);
    const size_t bytes = n * BB_EIGHT * sizeof(double);
    step(kernel, &one);
    step(&bb_kernel_baseline, &other);
    assert_memory_equal(one.e.step, other.e.step, bytes);
    assert_memory_equal(one.e.change, other.e.change, bytes);
    assert_memory_equal(one.e.here.p, other.e.here.p, bytes);
    assert_memory_equal(one.e.there.p, other.e.there.p, 3 * bytes);
    assert_memory_equal(one.e.there.loss, other.e.there.loss, sizeof one.e.there.loss);
    assert_memory_equal(one.e.square, other.e.square, sizeof one.e.square);
    assert_memory_equal(one.e.decrement, other.e.decrement, sizeof one.e.decrement);
    assert_memory_equal(one.e.cross, other.e.cross, sizeof one.e.cross);
    assert_memory_equal(one.e.step_square, other.e.step_square,
                        sizeof one.e.step_square);
    assert_memory_equal(one.e.log_det, other.e.log_det, sizeof one.e.log_det);
    assert_memory_equal(one.e.pivot, other.e.pivot, sizeof one.e.pivot);
    eight_free(&one);
    eight_free(&other);
}

static void test_variants_give_the_same_bits(void **state) {
    (void)state;
    for (size_t n = 1; n <= BB_EIGHT_MOST; n++) {
        compare(bb_kernel_pick(), n);
#ifdef __x86_64__
        if (__builtin_cpu_supports("avx2")) compare(&bb_kernel_avx2, n);
#endif
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minima),
        cmocka_unit_test(test_far_starts),
        cmocka_unit_test(test_no_numbers),
        cmocka_unit_test(test_variants_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
