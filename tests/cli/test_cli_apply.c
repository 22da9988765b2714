/* What evaluate says beside the models' own metrics. */
#include "cli.h"

static void write_labels(void) {
    FILE *file = fopen("labels.csv", "w");
    assert_non_null(file);
    fputs("task,y,a\n", file); /* task 0: always 1; task 1: 1 in 10; task 2: 4 in 10 */
    for (int j = 0; j < 30; j++)
        fprintf(file, "%d,%d,%.4f\n", j % 3, j % 3 == 0 || j / 3 < (j % 3 == 1 ? 1 : 4),
                sin(j * 1.3));
    fclose(file);
}

static void evaluate_says_what_the_commonest_class_reaches(void **state) {
    (void)state;
    write_labels();
    cli_ok("train labels.csv --method stl --loss logistic -o run");
    json_t *json = cli_json("evaluate run labels.csv --json");
    assert_close(cli_number(json, "majority.accuracy"), 15.0 / 30.0, 1e-15);
    assert_close(cli_number(json, "majority_task.accuracy"), 25.0 / 30.0, 1e-15);
    assert_string_equal(cli_text(json, "majority.of"), "these rows");
    assert_true(cli_number(json, "test.log_loss") > 0.0);
    json_decref(json);
    cli_result r = cli("evaluate run labels.csv");
    assert_int_equal(r.code, 0);
    const char *pooled = strstr(r.out, "commonest class of these rows"),
               *own = strstr(r.out, "each task's commonest class of these rows");
    assert_true(pooled && own && strstr(pooled, " 0.5000") && strstr(own, " 0.8333"));
    cli_free(&r);
}

static void targets_that_are_numbers_have_no_commonest(void **state) {
    (void)state;
    write_labels();
    cli_ok("train labels.csv --method stl -o numbers");
    json_t *json = cli_json("evaluate numbers labels.csv --json");
    assert_true(json_is_null(cli_at(json, "majority")) &&
                json_is_null(cli_at(json, "majority_task")));
    json_decref(json);
    cli_result r = cli("evaluate numbers labels.csv");
    assert_true(r.code == 0 && !strstr(r.out, "commonest"));
    cli_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluate_says_what_the_commonest_class_reaches),
        cmocka_unit_test(targets_that_are_numbers_have_no_commonest),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
