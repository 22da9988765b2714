/* Leave-one-out errors: the formula against really leaving rows out. */
#include "learners/problem.h"
#include "test.h"

enum { GRID = 4 };
static const double lambda[GRID] = {1e-3, 0.03, 0.5, 20};

/* Fits the other rows, with the penalty's weight against them unchanged. */
static double left_out(const problem *p, bool intercept, bool sum, double penalty) {
    const size_t n = p->n, d = p->d;
    double *x = naive_vector(n * d, 0), *y = naive_vector(n, 0),
           *w = naive_vector(d, 0);
    double total = 0;
    for (size_t j = 0; j < n; j++) {
        memcpy(x, p->x, j * d * sizeof *x);
        memcpy(x + j * d, p->x + (j + 1) * d, (n - j - 1) * d * sizeof *x);
        memcpy(y, p->y, j * sizeof *y);
        memcpy(y + j, p->y + j + 1, (n - j - 1) * sizeof *y);
        const bb_rows rows = {.n = n - 1, .d = d, .x = x, .y = y};
        bb_local local;
        double b;
        assert_ok(bb_local_open(&local, rows, BB_LOSS_SQUARED, intercept, true));
        double *work = work_for(&local);
        assert_ok(
            bb_local_ridge(&local, penalty * (sum ? 1 : (double)n), NULL, w, &b, work));
        const double e = p->y[j] - naive_dot(d, p->x + j * d, w) - b;
        total += e * e / (double)n;
        free(work);
        bb_local_close(&local);
    }
    free(x);
    free(y);
    free(w);
    return total;
}

static double *loo_work(const bb_local *local, size_t count) {
    double *work = malloc((bb_local_loo_work(local, count) + 1) * sizeof *work);
    if (!work) abort();
    return work;
}

/* Eigenvectors do it for matrices of more than 64 rows. */
static const shape large[] = {{90, 70}, {70, 90}};

static void test_really_leaving_out(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES + 1; i++)
        for (int setting = 0; setting < 8; setting++) {
            const bool intercept = setting & 1, sum = setting & 2, sparse = setting & 4;
            const shape size = i < SHAPES - 1 ? shapes[i] : large[i - (SHAPES - 1)];
            problem p = problem_new(size.n, size.d, BB_LOSS_SQUARED, 0.3, i);
            if (p.n == 1) {
                problem_free(&p);
                continue;
            }
            bb_local local;
            double error[GRID];
            assert_ok(bb_local_open(&local, sparse ? p.sparse : p.dense,
                                    BB_LOSS_SQUARED, intercept, sum));
            double *work = loo_work(&local, GRID);
            assert_ok(bb_local_loo(&local, GRID, lambda, error, work));
            for (size_t l = 0; l < GRID; l++)
                assert_relative(error[l], left_out(&p, intercept, sum, lambda[l]),
                                1e-9);
            free(work);
            bb_local_close(&local);
            problem_free(&p);
        }
}

static void test_degenerate(void **state) {
    (void)state;
    const double x[2] = {2, 3}, y[1] = {5};
    double error[GRID];
    bb_rows rows = {.n = 1, .d = 2, .x = x, .y = y};
    bb_local local;
    assert_ok(bb_local_open(&local, rows, BB_LOSS_SQUARED, false, false));
    double *work = loo_work(&local, GRID);
    assert_ok(bb_local_loo(&local, GRID, lambda, error, work));
    for (size_t l = 0; l < GRID; l++) assert_relative(error[l], 25, 1e-9);
    free(work);
    bb_local_close(&local);
    assert_ok(bb_local_open(&local, rows, BB_LOSS_SQUARED, true, false));
    work = loo_work(&local, GRID);
    assert_ok(bb_local_loo(&local, GRID, lambda, error, work));
    for (size_t l = 0; l < GRID; l++) assert_true(error[l] >= 0 && isfinite(error[l]));
    free(work);
    bb_local_close(&local);
    rows.n = 0;
    assert_ok(bb_local_open(&local, rows, BB_LOSS_SQUARED, true, false));
    work = loo_work(&local, GRID);
    assert_ok(bb_local_loo(&local, GRID, lambda, error, work));
    for (size_t l = 0; l < GRID; l++) assert_true(error[l] == 1e-300);
    free(work);
    bb_local_close(&local);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_really_leaving_out),
        cmocka_unit_test(test_degenerate),
    };
    return cmocka_run_group_tests(tests, start_linalg, NULL);
}
