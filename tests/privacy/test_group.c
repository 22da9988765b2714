/* Group privacy: what one row gets, and how a lifted promise is told. */
#include "privacy/accounting/group.h"
#include "privacy/statement.h"
#include "test.h"

/* The sum, term by term, in long double. */
static long double sum_of_powers(size_t rows, double epsilon) {
    long double sum = 0.0L;
    for (size_t j = 0; j < rows; j++) sum += expl((long double)j * epsilon);
    return sum;
}

/* What it gives for a row means no more for all rows than was asked for, and hardly
 * less. */
static void test_inverse(void **state) {
    (void)state;
    const double epsilon[] = {1e-6, 0.1, 0.5, 1.0, 3.0, 50.0};
    const size_t rows[] = {1, 3, 10, 100, 1000000};
    for (size_t e = 0; e < 6; e++)
        for (size_t n = 0; n < 5; n++) {
            double row_epsilon, row_delta;
            bb_group_rows(rows[n], epsilon[e], 1e-5, &row_epsilon, &row_delta);
            assert_true((long double)rows[n] * row_epsilon <= epsilon[e]);
            assert_relative((double)rows[n] * row_epsilon, epsilon[e], 1e-15);
            if (rows[n] > 1000) continue;
            const double whole =
                (double)(row_delta * sum_of_powers(rows[n], row_epsilon));
            assert_true(whole <= 1e-5);
            assert_relative(whole, 1e-5, 1e-11);
        }
    double row_epsilon, row_delta;
    bb_group_rows(10, 1e4, 1e-5, &row_epsilon, &row_delta);
    assert_true(row_epsilon == 1e3 && row_delta == 0.0);
}

static void test_statement(void **state) {
    (void)state;
    bb_guarantee lifted = {.unit = "task",
                           .epsilon = 1.0,
                           .delta = 1e-5,
                           .sampling = "all",
                           .mechanism = "radial",
                           .accountant = "kov",
                           .rounds = 1,
                           .noise_multiplier = NAN,
                           .valid = true,
                           .lifted_rows = 40};
    bb_statement statement = {.method = "dp-aggr", .tasks = 100, .count = 1};
    char *text = NULL;
    statement.guarantee[0] = lifted;
    assert_ok(bb_statement_text(&statement, &text));
    assert_non_null(strstr(text, "at most 40 rows of a task are used"));
    free(text);
    json_t *json = bb_statement_json(&statement);
    const json_t *first = json_array_get(json_object_get(json, "guarantees"), 0);
    assert_int_equal(json_integer_value(json_object_get(first, "lifted_rows")), 40);
    json_decref(json);
    statement.guarantee[0].lifted_rows = 0;
    assert_ok(bb_statement_text(&statement, &text));
    assert_null(strstr(text, "Lifted"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_statement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
