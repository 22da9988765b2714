/* Classes, lists of labels and images: synthetic worlds, what `info` says, and a run's table. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static void classes(void **state) {
    (void)state;
    cli_ok("synth classes --tasks 6 --samples 20 --features 6 --labels 4 -o C.csv");
    json_t *j = cli_json("info C.test.csv --image 1x2x3 --json");
    assert_int_equal(cli_number(j, "rows"), 6 * 180);
    assert_string_equal(cli_text(j, "target.kind"), "integer");
    assert_int_equal(cli_number(j, "classes.count"), 4);
    assert_true(cli_number(j, "classes.majority_share") > 0.25);
    assert_true(json_is_null(cli_at(j, "labels")));
    assert_int_equal(json_array_size(cli_at(j, "image")), 3);
    assert_int_equal(json_integer_value(json_array_get(cli_at(j, "image"), 2)), 3);
    json_decref(j);
    cli_result r = cli("info C.csv --image 2x3");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "image            2 x 3 x 1\n"));
    assert_non_null(strstr(r.out, "\nclasses          4, "));
    cli_free(&r);
    r = cli("train C.csv --test C.test.csv --method stl --loss softmax -o run");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "   accuracy   log loss     rows\n"));
    assert_non_null(strstr(r.out, "\ncommonest class of training "));
    assert_non_null(strstr(r.out, "\neach task's commonest class of training "));
    cli_free(&r);
    cli_fails(1, "C.csv: --image expected 28*28*1 = 784 columns, found 6",
              "info C.csv --image 28x28");
    cli_fails(2, "--image expects HxW or HxWxC", "info C.csv --image 28");
}

static void labels(void **state) {
    (void)state;
    cli_ok(
        "synth multilabel --tasks 6 --samples 20 --features 100 --labels 9 -o M.svm");
    assert_true(cli_exists("M.test.svm"));
    json_t *j = cli_json("info M.test.svm --multilabel --json");
    assert_int_equal(cli_number(j, "rows"), 6 * 180);
    assert_string_equal(cli_text(j, "target.kind"), "labels");
    assert_int_equal(cli_number(j, "labels.count"), 9);
    assert_true(cli_number(j, "labels.mean_per_row") > 1);
    assert_true(json_is_null(cli_at(j, "classes")));
    assert_true(json_is_null(cli_at(j, "image")));
    assert_true(json_is_null(cli_at(j, "target.min")));
    json_decref(j);
    cli_result r = cli("info M.svm --multilabel");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "target           labels, 0 to 8, "));
    assert_null(strstr(r.out, "\nimage"));
    assert_null(strstr(r.out, "\nclasses"));
    cli_free(&r);
    cli_fails(1, "M.svm:1:1: expected a number", "info M.svm");
    cli_fails(2, "lists of labels are read from CSV and LIBSVM files only",
              "info M.svm --format leaf --multilabel");
}

static void worlds_without_a_file(void **state) {
    (void)state;
    cli_fails(2, "ends in .svm or .libsvm, got \"L.csv\"", "synth multilabel -o L.csv");
    cli_fails(2, "ends in .svm or .libsvm, got \"L\"", "synth multilabel -o L");
    cli_fails(
        2,
        "a world is low-rank, group-sparse, outliers, anomaly, classes or multilabel, "
        "got \"new\"",
        "synth new -o L.csv");
    cli_fails(2, "--output", "synth classes");
    cli_fails(2, "labels", "synth classes --labels 1 -o L.csv");
    assert_int_equal(cli_count("L*"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),
        cmocka_unit_test(labels),
        cmocka_unit_test(worlds_without_a_file),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
