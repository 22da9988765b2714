#include "base/parallel.h"
#include "eval_world.h"
#include "test.h"
#include "train/crossval.h"

static const bb_problem squared = {BB_LOSS_SQUARED, true, false};
static const bb_problem logistic = {BB_LOSS_LOGISTIC, true, false};

static void folds_are_dealt_out_in_every_task(void **state) {
    (void)state;
    bb_dataset data = world_make(5, 30, 2, 17, false, false);
    unsigned char *fold = calloc(data.rows, 1), *again = calloc(data.rows, 1),
                  *other = calloc(data.rows, 1);
    assert_ok(bb_crossval_folds(&data, 1, fold));
    assert_ok(bb_crossval_folds(&data, 1, again));
    assert_ok(bb_crossval_folds(&data, 2, other));
    assert_memory_equal(fold, again, data.rows);
    assert_memory_not_equal(fold, other, data.rows);
    for (size_t i = 0; i < data.tasks; i++) {
        const size_t n = data.first[i + 1] - data.first[i];
        size_t count[BB_CROSSVAL_FOLDS] = {0};
        for (size_t j = data.first[i]; j < data.first[i + 1]; j++) {
            if (n == 1) assert_int_equal(fold[j], 255);
            if (n == 1) continue;
            assert_in_range(fold[j], 0, BB_CROSSVAL_FOLDS - 1);
            count[fold[j]]++;
        }
        for (size_t f = 0; f < BB_CROSSVAL_FOLDS && n > 1; f++)
            assert_in_range(count[f], n / BB_CROSSVAL_FOLDS,
                            (n + BB_CROSSVAL_FOLDS - 1) / BB_CROSSVAL_FOLDS);
    }
    free(fold);
    free(again);
    free(other);
    bb_dataset_free(&data);
}

/* A small dense solver of its own: Gaussian elimination with pivoting. */
static void twin_solve(size_t n, double *a, double *b) {
    for (size_t c = 0; c < n; c++) {
        size_t p = c;
        for (size_t r = c + 1; r < n; r++)
            if (fabs(a[r * n + c]) > fabs(a[p * n + c])) p = r;
        for (size_t k = 0; k < n; k++) {
            const double t = a[c * n + k];
            a[c * n + k] = a[p * n + k];
            a[p * n + k] = t;
        }
        const double t = b[c];
        b[c] = b[p];
        b[p] = t;
        for (size_t r = c + 1; r < n; r++) {
            const double f = a[r * n + c] / a[c * n + c];
            for (size_t k = c; k < n; k++) a[r * n + k] -= f * a[c * n + k];
            b[r] -= f * b[c];
        }
    }
    for (size_t c = n; c-- > 0;) {
        for (size_t k = c + 1; k < n; k++) b[c] -= a[c * n + k] * b[k];
        b[c] /= a[c * n + c];
    }
}

enum { D = 4 };

/* Ridge with an intercept that is not penalised, by its normal equations in (w, b). */
static void twin_ridge(const bb_dataset *data, const unsigned char *use, size_t i,
                       double lambda, double *w) {
    double a[(D + 1) * (D + 1)] = {0}, n = 0.0;
    memset(w, 0, (D + 1) * sizeof *w);
    for (size_t j = data->first[i]; j < data->first[i + 1]; j++) n += use[j];
    if (n == 0.0) return;
    for (size_t j = data->first[i]; j < data->first[i + 1]; j++) {
        double row[D + 1] = {0};
        for (size_t k = 0; k < D; k++) row[k] = world_x(data, j, k);
        row[D] = 1.0;
        for (size_t p = 0; p <= D && use[j]; p++) {
            for (size_t q = 0; q <= D; q++) a[p * (D + 1) + q] += row[p] * row[q] / n;
            w[p] += row[p] * data->y[j] / n;
        }
    }
    for (size_t k = 0; k < D; k++) a[k * (D + 1) + k] += lambda;
    twin_solve(D + 1, a, w);
}

static double twin_error(const bb_dataset *data, const unsigned char *fold,
                         double lambda) {
    unsigned char *use = calloc(data->rows, 1);
    double error = 0.0, w[D + 1];
    for (unsigned f = 0; f < BB_CROSSVAL_FOLDS; f++) {
        for (size_t j = 0; j < data->rows; j++) use[j] = fold[j] != f;
        for (size_t i = 0; i < data->tasks; i++) {
            twin_ridge(data, use, i, lambda, w);
            for (size_t j = data->first[i]; j < data->first[i + 1]; j++) {
                double p = w[D];
                if (fold[j] != f) continue;
                for (size_t k = 0; k < D; k++) p += world_x(data, j, k) * w[k];
                error += (data->y[j] - p) * (data->y[j] - p);
            }
        }
    }
    free(use);
    return error;
}

static void errors_equal_their_twin(void **state) {
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        bb_dataset data = world_make(6, 12, D, 15, sparse, false);
        const bb_engine engine = bb_engine_threads(2);
        unsigned char *fold = calloc(data.rows, 1);
        double lambda, error[BB_CROSSVAL_PENALTIES];
        size_t best = 0;
        assert_ok(bb_crossval_folds(&data, 9, fold));
        assert_ok(bb_crossval_ridge(&data, squared, &engine, 9, &lambda, error));
        for (size_t k = 0; k < BB_CROSSVAL_PENALTIES; k++) {
            const double twin = twin_error(&data, fold, bb_crossval_penalty(k));
            assert_relative(error[k], twin, 1e-8);
            if (error[k] <= error[best]) best = k;
        }
        assert_close(lambda, bb_crossval_penalty(best), 0.0);
        free(fold);
        bb_dataset_free(&data);
    }
}

static void same_for_any_number_of_threads(void **state) {
    (void)state;
    const bb_problem problem[] = {squared, logistic};
    for (int labels = 0; labels < 2; labels++) {
        bb_dataset data = world_make(8, 25, 3, 20, false, labels);
        const bb_engine one = bb_engine_threads(1), three = bb_engine_threads(3);
        double a, b, first[BB_CROSSVAL_PENALTIES], second[BB_CROSSVAL_PENALTIES];
        assert_ok(bb_crossval_ridge(&data, problem[labels], &one, 1, &a, first));
        assert_ok(bb_crossval_ridge(&data, problem[labels], &three, 1, &b, second));
        assert_memory_equal(first, second, sizeof first);
        assert_memory_equal(&a, &b, sizeof a);
        bb_dataset_free(&data);
    }
}

/* Pure noise wants the largest penalty; a clear signal and many rows a small one. */
static void picks_what_it_should(void **state) {
    (void)state;
    const bb_engine engine = bb_engine_threads(1);
    bb_dataset data = world_make(10, 10, 3, 200, false, false);
    double lambda;
    assert_ok(bb_crossval_ridge(&data, squared, &engine, 1, &lambda, NULL));
    assert_true(lambda <= 0.1);
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 3, BB_FOR_TEST, 0, 0));
    for (size_t j = 0; j < data.rows; j++) data.y[j] = bb_random_normal(&random);
    bb_random_close(&random);
    assert_ok(bb_crossval_ridge(&data, squared, &engine, 1, &lambda, NULL));
    assert_true(lambda >= 1.0);
    bb_dataset_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_are_dealt_out_in_every_task),
        cmocka_unit_test(errors_equal_their_twin),
        cmocka_unit_test(same_for_any_number_of_threads),
        cmocka_unit_test(picks_what_it_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
