/* A task's own tuned ridge model against the same by refitting: every row left out in turn,
 * every penalty, by normal equations. */
#include "base/random.h"
#include "linalg/linalg.h"
#include "methods/ridge_tuned.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static double x[MOST * MOST], z[MOST * MOST], y[MOST];

/* Slopes (p) of the rows of z but for `out', and their level. */
static double refit(size_t n, size_t p, size_t out, double penalty, double *slope) {
    double G[MOST * MOST], mean[MOST] = {0}, level = 0.0;
    const double rows = (double)(n - (out < n));
    for (size_t j = 0; j < n; j++) {
        if (j == out) continue;
        level += y[j] / rows;
        for (size_t k = 0; k < p; k++) mean[k] += z[j * p + k] / rows;
    }
    memset(slope, 0, p * sizeof *slope);
    memset(G, 0, sizeof G);
    for (size_t j = 0; j < n; j++)
        for (size_t a = 0; a < p && j != out; a++) {
            const double from = z[j * p + a] - mean[a];
            slope[a] += from * (y[j] - level);
            for (size_t b = 0; b < p; b++)
                G[a * p + b] += from * (z[j * p + b] - mean[b]);
        }
    for (size_t a = 0; a < p; a++) G[a * p + a] += penalty;
    assert_int_equal(bb_solve_spd(p, G, slope), BB_OK);
    for (size_t k = 0; k < p; k++) level -= slope[k] * mean[k];
    return level;
}

static void expect(size_t n, size_t p, double *slope, double *level) {
    double least = INFINITY;
    for (int l = 0; l <= 12; l++) {
        const double u = 3.0 - 0.5 * l, penalty = (double)p * pow(10.0, u);
        double error = 0.0, fit[MOST];
        for (size_t j = 0; j < n; j++) {
            double missed = y[j] - refit(n, p, j, penalty, fit);
            for (size_t k = 0; k < p; k++) missed -= fit[k] * z[j * p + k];
            error += missed * missed;
        }
        const double found = (double)n * log(error) + (u - 0.3) * (u - 0.3);
        if (!(found < least)) continue;
        least = found;
        *level = refit(n, p, n, penalty, slope);
    }
}

static void check(size_t n, size_t p) {
    bb_random random;
    const size_t d = p + 1;
    double slope[MOST], level = 0.0, missed, w[MOST];
    const bb_local local = {
        .loss = BB_LOSS_SQUARED, .outputs = 1, .n = n, .d = d, .x = x, .y = y};
    assert_int_equal(bb_random_open_stream(&random, 3, BB_FOR_TEST, n, p), BB_OK);
    for (size_t j = 0; j < n; j++) {
        y[j] = 2.0 + 0.3 * bb_random_normal(&random);
        for (size_t k = 0; k < p; k++) {
            const double far = bb_random_normal(&random);
            x[j * d + k] = pow(10.0, (double)k - 2.0) * (far + 5.0);
            y[j] += k < 2 ? far : 0.0;
        }
        x[j * d + p] = 0.5;
    }
    bb_random_close(&random);
    for (size_t k = 0; k < p; k++) {
        double mean = 0.0, variance = 0.0;
        for (size_t j = 0; j < n; j++) mean += x[j * d + k] / (double)n;
        for (size_t j = 0; j < n; j++)
            variance += pow(x[j * d + k] - mean, 2.0) / (double)n;
        for (size_t j = 0; j < n; j++)
            z[j * p + k] = (x[j * d + k] - mean) / sqrt(variance);
    }
    double *work = calloc(bb_ridge_tuned_work(&local), sizeof *work);
    assert_non_null(work);
    expect(n, p, slope, &level);
    assert_int_equal(bb_ridge_tuned(&local, NULL, w, &missed, work), BB_OK);
    for (size_t j = 0; j < n; j++) {
        double wanted = level;
        for (size_t k = 0; k < p; k++) wanted += slope[k] * z[j * p + k];
        assert_close(bb_dot(d, w, x + j * d), wanted, 1e-7);
    }
    free(work);
}

static void rows_left_out_choose(void **state) {
    (void)state;
    check(12, 4);
    check(5, 9);
    check(7, 7);
}

static void columns_that_do_not_vary_say_nothing(void **state) {
    (void)state;
    const double rows[] = {3.0, 0.5, 3.0, 0.5, 3.0, 0.5, 3.0, 0.5};
    const double targets[] = {1.0, 2.0, 3.0, 6.0};
    bb_local local = {
        .loss = BB_LOSS_SQUARED, .outputs = 1, .n = 4, .d = 2, .x = rows, .y = targets};
    double w[2], missed, work[512];
    assert_true(bb_ridge_tuned_fits(&local));
    assert_true(bb_ridge_tuned_work(&local) <= 512);
    assert_int_equal(bb_ridge_tuned(&local, NULL, w, &missed, work), BB_OK);
    assert_true(missed == 1.0);
    assert_true(w[0] == 0.0);
    assert_close(w[1], 6.0, 1e-12);
    local.n = 3;
    assert_false(bb_ridge_tuned_fits(&local));
    /* two rows, proportional as they were read, foresee each other */
    const double factor[] = {0.01}, two[] = {1.0, 0.5, 2.0, 0.5}, twice[] = {2.0, 4.0};
    local.x = two;
    local.y = twice;
    local.own_factor = factor;
    local.n = 1;
    assert_false(bb_ridge_tuned_fits(&local));
    local.n = 2;
    assert_true(bb_ridge_tuned_fits(&local));
    assert_int_equal(bb_ridge_tuned(&local, NULL, w, &missed, work), BB_OK);
    assert_true(missed < 0.01);
    assert_close(w[0], 2.0, 0.01);
}

/* The target is a fifth of a column as it was read, and four columns that are a thousandth of
 * it have nothing to do with that. In units of their own deviations all five are as likely,
 * and six rows do not tell. */
static void what_is_proportional_as_read_is_found(void **state) {
    (void)state;
    enum { ROWS = 6, COLUMNS = 6 };
    const double factor[] = {0.1, 50.0, 70.0, 100.0, 90.0};
    double rows[ROWS * COLUMNS], targets[ROWS], w[COLUMNS], missed[2], work[2048];
    for (size_t j = 0; j < ROWS; j++) {
        const double first = 5.0 + sin(3.0 * (double)j);
        for (size_t k = 0; k + 1 < COLUMNS; k++) {
            const double other = 0.005 * sin((double)((j + 2) * (k + 3)));
            rows[j * COLUMNS + k] = factor[k] * (k ? other : first);
        }
        rows[j * COLUMNS + COLUMNS - 1] = 0.5;
        targets[j] = 0.2 * first + (j % 2 ? 0.01 : -0.01);
    }
    bb_local local = {.loss = BB_LOSS_SQUARED,
                      .outputs = 1,
                      .n = ROWS,
                      .d = COLUMNS,
                      .x = rows,
                      .y = targets,
                      .own_factor = factor};
    const double new_row[COLUMNS] = {0.1 * 5.0, 0.5, 0.7, -1.0, 0.9, 0.5};
    assert_true(bb_ridge_tuned_work(&local) <= 2048);
    assert_int_equal(bb_ridge_tuned(&local, NULL, w, &missed[0], work), BB_OK);
    assert_true(fabs(bb_dot(COLUMNS, w, new_row) - 0.2 * 5.0) < 0.01);
    /* and so it is of columns and target in ranges, from whose middles they are */
    const double shift[] = {3.0, -1.0, 2.0, 0.0, 1.0}, of_target = -4.0;
    double moved[COLUMNS];
    for (size_t k = 0; k + 1 < COLUMNS; k++)
        for (size_t j = 0; j < ROWS; j++)
            rows[j * COLUMNS + k] -= shift[k] / sqrt((double)COLUMNS);
    for (size_t j = 0; j < ROWS; j++) targets[j] -= of_target;
    local.own_shift = shift;
    local.target_shift = of_target;
    assert_int_equal(bb_ridge_tuned(&local, NULL, moved, &missed[1], work), BB_OK);
    for (size_t k = 0; k + 1 < COLUMNS; k++) {
        assert_close(moved[k], w[k], 1e-9);
        w[COLUMNS - 1] += w[k] * shift[k] / (0.5 * sqrt((double)COLUMNS));
    }
    assert_close(moved[COLUMNS - 1], w[COLUMNS - 1] - of_target / 0.5, 1e-9);
    assert_close(missed[1], missed[0], 1e-9);
    local.own_factor = NULL;
    assert_int_equal(bb_ridge_tuned(&local, NULL, w, &missed[1], work), BB_OK);
    assert_true(missed[0] < 0.1 * missed[1]);
}

/* Where a column has one value in all rows, it must not stand for the constant, which next to
 * it is small: of years that differ it would be a part that is wrong for any other. */
static void what_does_not_vary_is_no_level(void **state) {
    (void)state;
    enum { ROWS = 4, COLUMNS = 3 };
    const double factor[] = {1e-4, 1e-4};
    double rows[ROWS * COLUMNS], targets[ROWS], w[COLUMNS], missed, work[2048];
    for (size_t j = 0; j < ROWS; j++) {
        rows[j * COLUMNS] = 0.4261;
        rows[j * COLUMNS + 1] = 0.1980 + 1e-4 * (double)j;
        rows[j * COLUMNS + 2] = 0.5;
        targets[j] = 0.9 + 0.1 * (double)j;
    }
    const bb_local local = {.loss = BB_LOSS_SQUARED,
                            .outputs = 1,
                            .n = ROWS,
                            .d = COLUMNS,
                            .x = rows,
                            .y = targets,
                            .own_factor = factor};
    assert_true(bb_ridge_tuned_work(&local) <= 2048);
    assert_int_equal(bb_ridge_tuned(&local, NULL, w, &missed, work), BB_OK);
    assert_true(w[0] == 0.0 && w[1] > 500.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_left_out_choose),
        cmocka_unit_test(columns_that_do_not_vary_say_nothing),
        cmocka_unit_test(what_is_proportional_as_read_is_found),
        cmocka_unit_test(what_does_not_vary_is_no_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
