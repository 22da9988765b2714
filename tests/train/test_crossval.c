#include "base/parallel.h"
#include "eval_world.h"
#include "test.h"
#include "train/crossval.h"

static const bb_ridge_columns ways[] = {BB_COLUMNS_STANDARDIZED, BB_COLUMNS_AS_READ,
                                        BB_COLUMNS_FROM_ZERO};
static const double penalties[] = {1e-3, 0.3, 20.0, 1e5};
enum { PENALTIES = sizeof penalties / sizeof *penalties, CLASSES = 3 };

/* Folds of their own, and the choice among all ways. */
static bb_ridge choose(const bb_dataset *data, bb_loss loss, size_t threads) {
    const bb_engine engine = bb_engine_threads(threads);
    unsigned char *fold = calloc(data->rows, 1);
    bb_ridge best;
    assert_ok(bb_crossval_folds(data, 1, false, fold));
    const bb_crossval c = {.rows = data,
                           .fold = fold,
                           .what = {.loss = loss, .outputs = CLASSES},
                           .engine = &engine};
    assert_ok(bb_crossval_ridge(&c, 3, ways, &best));
    free(fold);
    return best;
}

static void folds_are_dealt_out_in_every_task(void **state) {
    (void)state;
    bb_dataset data = world_make(5, 30, 2, 17, false, false);
    unsigned char *fold = calloc(data.rows, 1), *again = calloc(data.rows, 1),
                  *other = calloc(data.rows, 1);
    assert_ok(bb_crossval_folds(&data, 1, false, fold));
    assert_ok(bb_crossval_folds(&data, 1, false, again));
    assert_ok(bb_crossval_folds(&data, 2, false, other));
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

/* What is learned from all rows together holds rows out that are their tasks' only ones. */
static void single_rows_are_dealt_out_among_all(void **state) {
    (void)state;
    bb_dataset data = world_make(5, 90, 2, 3, false, false);
    unsigned char *fold = calloc(data.rows, 1), *all = calloc(data.rows, 1);
    size_t count[BB_CROSSVAL_FOLDS] = {0}, singles = 0, after = 0;
    assert_ok(bb_crossval_folds(&data, 1, false, fold));
    assert_ok(bb_crossval_folds(&data, 1, true, all));
    for (size_t j = 0, before = 0; j < data.rows; j++) {
        if (fold[j] != 255) assert_int_equal(fold[j], all[j]);
        if (fold[j] != 255) continue;
        assert_in_range(all[j], 0, BB_CROSSVAL_FOLDS - 1);
        count[all[j]]++;
        after += singles++ && all[j] == (before + 1) % BB_CROSSVAL_FOLDS;
        before = all[j];
    }
    assert_true(singles >= 10);
    assert_true(after < singles / 2); /* not in their order */
    for (size_t f = 0; f < BB_CROSSVAL_FOLDS; f++)
        assert_in_range(count[f], singles / BB_CROSSVAL_FOLDS,
                        (singles + BB_CROSSVAL_FOLDS - 1) / BB_CROSSVAL_FOLDS);
    free(fold);
    free(all);
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

/* Mean and inverse deviation of a column in the rows of task i that are used. */
static void twin_column(const bb_dataset *data, const unsigned char *use, size_t i,
                        size_t k, double *mean, double *inverse) {
    double n = 0.0, sum = 0.0, squares = 0.0;
    for (size_t j = data->first[i]; j < data->first[i + 1]; j++) {
        n += use[j];
        sum += use[j] * world_x(data, j, k);
    }
    *mean = n > 0.0 ? sum / n : 0.0;
    for (size_t j = data->first[i]; j < data->first[i + 1]; j++)
        squares += use[j] * pow(world_x(data, j, k) - *mean, 2.0);
    *inverse = squares > 0.0 ? 1.0 / sqrt(squares / (n - 1.0)) : 0.0;
}

/* Ridge by its normal equations in (w, b), for rows as they were read. */
static void twin_ridge(const bb_dataset *data, const unsigned char *use, size_t i,
                       bb_ridge_columns columns, double lambda, double *w) {
    double a[(D + 1) * (D + 1)] = {0}, mean[D] = {0}, inverse[D], n = 0.0;
    memset(w, 0, (D + 1) * sizeof *w);
    for (size_t j = data->first[i]; j < data->first[i + 1]; j++) n += use[j];
    if (n == 0.0) return;
    for (size_t k = 0; k < D; k++) {
        inverse[k] = 1.0;
        if (columns == BB_COLUMNS_STANDARDIZED)
            twin_column(data, use, i, k, &mean[k], &inverse[k]);
    }
    for (size_t j = data->first[i]; j < data->first[i + 1]; j++) {
        double row[D + 1] = {0};
        for (size_t k = 0; k < D; k++)
            row[k] = (world_x(data, j, k) - mean[k]) * inverse[k];
        row[D] = 1.0;
        for (size_t p = 0; p <= D && use[j]; p++) {
            for (size_t q = 0; q <= D; q++) a[p * (D + 1) + q] += row[p] * row[q];
            w[p] += row[p] * data->y[j];
        }
    }
    for (size_t k = 0; k < D + (columns == BB_COLUMNS_FROM_ZERO); k++)
        a[k * (D + 1) + k] += lambda;
    twin_solve(D + 1, a, w);
    for (size_t k = 0; k < D; k++) {
        w[k] *= inverse[k];
        w[D] -= w[k] * mean[k];
    }
}

static double twin_error(const bb_dataset *data, const unsigned char *fold,
                         bb_ridge_columns columns, double lambda) {
    unsigned char *use = calloc(data->rows, 1);
    double error = 0.0, w[D + 1];
    for (unsigned f = 0; f < BB_CROSSVAL_FOLDS; f++) {
        for (size_t j = 0; j < data->rows; j++) use[j] = fold[j] != f;
        for (size_t i = 0; i < data->tasks; i++) {
            twin_ridge(data, use, i, columns, lambda, w);
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
        assert_ok(bb_crossval_folds(&data, 9, false, fold));
        for (int way = sparse; way < 3; way++) {
            bb_held_out held_out[PENALTIES];
            const bb_crossval c = {.rows = &data, .fold = fold, .engine = &engine};
            assert_ok(
                bb_crossval_errors(&c, ways[way], PENALTIES, penalties, held_out));
            for (size_t k = 0; k < PENALTIES; k++)
                assert_relative(held_out[k].error,
                                twin_error(&data, fold, ways[way], penalties[k]), 1e-8);
        }
        free(fold);
        bb_dataset_free(&data);
    }
}

/* Nothing that is tried has a smaller error than what is chosen. */
static void the_least_error_is_chosen(void **state) {
    (void)state;
    bb_dataset data = world_make(6, 12, D, 15, false, false);
    unsigned char *fold = calloc(data.rows, 1);
    const bb_ridge best = choose(&data, BB_LOSS_SQUARED, 2);
    assert_ok(bb_crossval_folds(&data, 1, false, fold));
    assert_relative(best.held_out.error,
                    twin_error(&data, fold, best.columns, best.penalty), 1e-8);
    for (int way = 0; way < 3; way++)
        for (double penalty = 1e-4; penalty < 2e6; penalty *= 10.0)
            assert_true(best.held_out.error <=
                        twin_error(&data, fold, ways[way], penalty) * (1.0 + 1e-8));
    free(fold);
    bb_dataset_free(&data);
}

/* -- several outputs -- */

static void make_classes(bb_dataset *data) {
    for (size_t j = 0; j < data->rows; j++)
        data->y[j] = data->y[j] < -0.5 ? 0.0 : data->y[j] < 0.7 ? 1.0 : 2.0;
}

static void held_out(const bb_dataset *data, const bb_learnt *what,
                     bb_ridge_columns columns, size_t count, const double *penalty,
                     bb_held_out *out) {
    const bb_engine engine = bb_engine_threads(2);
    unsigned char *fold = calloc(data->rows, 1);
    const bb_crossval c = {
        .rows = data, .fold = fold, .what = *what, .engine = &engine};
    assert_ok(bb_crossval_folds(data, 1, false, fold));
    assert_ok(bb_crossval_errors(&c, columns, count, penalty, out));
    free(fold);
}

/* Softmax of two classes is the logistic loss, with half the penalty: W = (-w, w)/2. */
static void two_classes_are_the_logistic_loss(void **state) {
    static const double whole[] = {0.02, 2.0, 200.0}, half[] = {0.01, 1.0, 100.0};
    const bb_learnt logistic = {.loss = BB_LOSS_LOGISTIC, .outputs = 1};
    const bb_learnt softmax = {.loss = BB_LOSS_SOFTMAX, .outputs = 2};
    bb_held_out a[3], b[3];
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        bb_dataset data = world_make(6, 12, D, 25, sparse, true);
        bb_dataset_labels(&data, data.y);
        held_out(&data, &logistic, BB_COLUMNS_FROM_ZERO, 3, half, a);
        for (size_t j = 0; j < data.rows; j++) data.y[j] = data.y[j] > 0.0;
        held_out(&data, &softmax, BB_COLUMNS_FROM_ZERO, 3, whole, b);
        for (size_t k = 0; k < 3; k++) {
            assert_relative(b[k].loss, a[k].loss, 2e-4);
            assert_true(b[k].error > 0.0 && b[k].error < 0.5);
        }
        bb_dataset_free(&data);
    }
}

/* One column of small numbers tells the class, others of smaller ones are noise: rows as
 * read are best, with a penalty below 1. */
static void every_way_has_the_penalties_it_needs(void **state) {
    const bb_learnt softmax = {.loss = BB_LOSS_SOFTMAX, .outputs = CLASSES};
    (void)state;
    bb_dataset data = world_make(11, 12, D, 25, false, false);
    for (size_t j = 0; j < data.rows; j++) {
        double *x = data.x + j * D;
        data.y[j] = x[0] < -0.5 ? 0.0 : x[0] < 0.5 ? 1.0 : 2.0;
        x[0] *= 0.03;
        for (size_t k = 1; k < D; k++) x[k] *= 1e-4;
    }
    const bb_ridge best = choose(&data, BB_LOSS_SOFTMAX, 2);
    assert_true(best.penalty < 1.0);
    for (int way = 0; way < 3; way++)
        for (double penalty = 1e-4; penalty < 2e6; penalty *= 10.0) {
            bb_held_out other;
            held_out(&data, &softmax, ways[way], 1, &penalty, &other);
            assert_true(best.held_out.error <= other.error + 1e-12);
        }
    assert_int_not_equal(best.columns, BB_COLUMNS_STANDARDIZED);
    bb_dataset_free(&data);
}

static void units_of_columns_do_not_matter_for_classes(void **state) {
    static const double penalty[] = {0.1, 10.0};
    const bb_learnt softmax = {.loss = BB_LOSS_SOFTMAX, .outputs = CLASSES};
    bb_held_out before[2], after[2];
    (void)state;
    bb_dataset data = world_make(11, 12, D, 40, false, false);
    make_classes(&data);
    held_out(&data, &softmax, BB_COLUMNS_STANDARDIZED, 2, penalty, before);
    for (size_t j = 0; j < data.rows; j++) {
        data.x[j * D] = 1e3 + 1e4 * data.x[j * D];
        data.x[j * D + 1] *= 1e-5;
    }
    held_out(&data, &softmax, BB_COLUMNS_STANDARDIZED, 2, penalty, after);
    for (size_t k = 0; k < 2; k++) assert_relative(after[k].loss, before[k].loss, 1e-6);
    const bb_ridge best = choose(&data, BB_LOSS_SOFTMAX, 2);
    assert_int_equal(best.columns, BB_COLUMNS_STANDARDIZED);
    assert_true(best.held_out.error <= fmin(after[0].error, after[1].error));
    bb_dataset_free(&data);
}

static void same_for_any_number_of_threads(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_SOFTMAX; loss++) {
        bb_dataset data =
            world_make(8, 25, 3, 20, false, (bb_loss)loss == BB_LOSS_LOGISTIC);
        if (loss == BB_LOSS_SOFTMAX) make_classes(&data);
        const bb_ridge one = choose(&data, (bb_loss)loss, 1),
                       three = choose(&data, (bb_loss)loss, 3);
        assert_close(one.held_out.error, three.held_out.error, 0.0);
        assert_close(one.held_out.loss, three.held_out.loss, 0.0);
        assert_close(one.penalty, three.penalty, 0.0);
        assert_int_equal(one.columns, three.columns);
        bb_dataset_free(&data);
    }
}

/* Columns in any units: with their own scales they are worth what they are worth. */
static void units_do_not_matter(void **state) {
    (void)state;
    bb_dataset data = world_make(11, 20, D, 60, false, true);
    const bb_ridge before = choose(&data, BB_LOSS_LOGISTIC, 2);
    for (size_t j = 0; j < data.rows; j++) {
        data.x[j * D] = 1e6 + 1e4 * data.x[j * D];
        data.x[j * D + 1] *= 1e-5;
    }
    const bb_ridge after = choose(&data, BB_LOSS_LOGISTIC, 2);
    assert_int_equal(after.columns, BB_COLUMNS_STANDARDIZED);
    assert_true(after.held_out.error <= 1.05 * before.held_out.error);
    bb_dataset_free(&data);
}

/* Pure noise wants a large penalty; a clear signal and many rows a small one. */
static void picks_what_it_should(void **state) {
    (void)state;
    bb_dataset data = world_make(10, 10, 3, 200, false, false);
    const bb_ridge clear = choose(&data, BB_LOSS_SQUARED, 1);
    assert_true(clear.penalty <= 10.0);
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 3, BB_FOR_TEST, 0, 0));
    for (size_t j = 0; j < data.rows; j++) data.y[j] = bb_random_normal(&random);
    bb_random_close(&random);
    const bb_ridge noise = choose(&data, BB_LOSS_SQUARED, 1);
    assert_true(noise.penalty >= 100.0);
    bb_dataset_free(&data);
}

/* The model that is fitted is the one whose errors were counted. */
static void fits_are_for_rows_as_read(void **state) {
    (void)state;
    bb_dataset data = world_make(12, 6, D, 15, false, false);
    const bb_engine engine = bb_engine_threads(1);
    unsigned char *use = malloc(data.rows);
    double *weight = calloc(data.tasks * D, sizeof *weight),
           *intercept = calloc(data.tasks, sizeof *intercept), w[D + 1];
    memset(use, 1, data.rows);
    for (int way = 0; way < 3; way++) {
        assert_ok(bb_ridge_fit(&data, BB_LOSS_SQUARED, ways[way], 0.7, &engine, weight,
                               intercept));
        for (size_t i = 0; i < data.tasks; i++) {
            twin_ridge(&data, use, i, ways[way], 0.7, w);
            assert_close(intercept[i], w[D], 1e-9);
            for (size_t k = 0; k < D; k++) assert_close(weight[i * D + k], w[k], 1e-9);
        }
    }
    free(use);
    free(weight);
    free(intercept);
    bb_dataset_free(&data);
}

/* What tasks say of themselves adds up to what all say. */
static void tasks_add_up(void **state) {
    (void)state;
    const bb_engine engine = bb_engine_threads(2);
    for (int labels = 0; labels < 2; labels++) {
        bb_dataset data = world_make(7, 25, D, 3, false, labels);
        unsigned char *fold = calloc(data.rows, 1);
        double *error = calloc(data.tasks * PENALTIES, sizeof *error);
        if (labels) bb_dataset_labels(&data, data.y);
        assert_ok(bb_crossval_folds(&data, 1, false, fold));
        const bb_crossval c = {
            .rows = &data,
            .fold = fold,
            .what = {.loss = labels ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED, .outputs = 1},
            .engine = &engine};
        for (size_t v = 0; v < sizeof ways / sizeof *ways; v++) {
            bb_held_out all[PENALTIES];
            assert_ok(bb_crossval_errors(&c, ways[v], PENALTIES, penalties, all));
            assert_ok(bb_crossval_tasks(&c, ways[v], PENALTIES, penalties, error));
            for (size_t k = 0; k < PENALTIES; k++) {
                double sum = 0.0;
                for (size_t i = 0; i < data.tasks; i++) sum += error[i * PENALTIES + k];
                assert_true(sum > 0.0);
                assert_close(sum, all[k].loss, 1e-12 * sum);
            }
        }
        free(error);
        free(fold);
        bb_dataset_free(&data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_add_up),
        cmocka_unit_test(folds_are_dealt_out_in_every_task),
        cmocka_unit_test(single_rows_are_dealt_out_among_all),
        cmocka_unit_test(errors_equal_their_twin),
        cmocka_unit_test(same_for_any_number_of_threads),
        cmocka_unit_test(two_classes_are_the_logistic_loss),
        cmocka_unit_test(every_way_has_the_penalties_it_needs),
        cmocka_unit_test(units_of_columns_do_not_matter_for_classes),
        cmocka_unit_test(the_least_error_is_chosen),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(picks_what_it_should),
        cmocka_unit_test(fits_are_for_rows_as_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
