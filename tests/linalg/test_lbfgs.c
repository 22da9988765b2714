/* L-BFGS on functions whose least values are known. */
#include "linalg/lbfgs.h"
#include "test.h"

#include <math.h>

enum { N = 12 };

/* sum_k k (w_k - k)^2 / 2 */
static double bowl(void *context, const double *w, double *g) {
    double value = 0.0;
    size_t *calls = context;
    ++*calls;
    for (size_t k = 0; k < N; k++) {
        const double a = (double)k + 1.0;
        g[k] = a * (w[k] - a);
        value += 0.5 * g[k] * (w[k] - a);
    }
    return value;
}

static double rosenbrock(void *context, const double *w, double *g) {
    const double a = w[1] - w[0] * w[0], b = 1.0 - w[0];
    ++*(size_t *)context;
    g[0] = -400.0 * w[0] * a - 2.0 * b;
    g[1] = 200.0 * a;
    return 100.0 * a * a + b * b;
}

/* Has no value left of 1. */
static double half_line(void *context, const double *w, double *g) {
    (void)context;
    g[0] = 1.0 - 1.0 / (w[0] - 1.0);
    return w[0] > 1.0 ? w[0] - log(w[0] - 1.0) : INFINITY;
}

static double minimise(double (*value)(void *, const double *, double *), size_t size,
                       double *w, size_t *calls) {
    double work[16 * N];
    assert_true(bb_lbfgs_work(size) <= sizeof work / sizeof *work);
    const bb_lbfgs problem = {.size = size,
                              .value = value,
                              .context = calls,
                              .first = 0.1,
                              .most_steps = 500,
                              .small_gradient = 1e-12};
    return bb_lbfgs_minimise(&problem, w, work);
}

static void finds_least_values(void **state) {
    (void)state;
    double w[N] = {0}, v[2] = {-1.2, 1.0};
    size_t calls = 0;
    assert_true(minimise(bowl, N, w, &calls) < 1e-15);
    for (size_t k = 0; k < N; k++) assert_close(w[k], (double)k + 1.0, 1e-7);
    assert_in_range(calls, 1, 60);
    calls = 0;
    assert_true(minimise(rosenbrock, 2, v, &calls) < 1e-15);
    assert_close(v[0], 1.0, 1e-6);
    assert_in_range(calls, 1, 100);
}

static void steps_back_where_there_is_no_value(void **state) {
    (void)state;
    double w = 1.001;
    minimise(half_line, 1, &w, NULL);
    assert_close(w, 2.0, 1e-5);
}

static void never_goes_up(void **state) {
    (void)state;
    double v[2] = {-1.2, 1.0}, work[16 * N], g[2];
    size_t calls = 0;
    const double before = rosenbrock(&calls, v, g);
    for (size_t steps = 0; steps < 10; steps++) {
        double w[2] = {-1.2, 1.0};
        const bb_lbfgs problem = {.size = 2,
                                  .value = rosenbrock,
                                  .context = &calls,
                                  .first = 1.0, /* far too long */
                                  .most_steps = steps};
        const double value = bb_lbfgs_minimise(&problem, w, work);
        assert_close(value, rosenbrock(&calls, w, g), 0.0);
        assert_true(value <= before);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_least_values),
        cmocka_unit_test(steps_back_where_there_is_no_value),
        cmocka_unit_test(never_goes_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
