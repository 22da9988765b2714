/* What simulations have: traces, populations cut short, true models. */
#include "cli.h"

static void lines_of(const char *path, size_t count) {
    char *text = cli_read(path);
    size_t lines = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    assert_int_equal(lines, count);
    free(text);
}

static void a_trace_has_a_line_a_round(void **state) {
    (void)state;
    static const char run[] = "train w.csv --test w.test.csv --method mp-lowrank "
                              "--set clip=50 --epsilon 1 --rounds 5 --seed 3 --json";
    cli_ok(
        "synth low-rank -o w.csv --tasks 40 --samples 8 --features 6 --models m.csv");
    lines_of("m.csv", 41);
    json_t *plain = cli_json("%s -o plain", run),
           *traced = cli_json("%s --trace -o t", run);
    lines_of("t/operator/trace.csv", 6);
    assert_false(cli_exists("plain/operator/trace.csv"));
    assert_int_equal(system("diff -r plain/public t/public"), 0);
    assert_int_equal(system("cmp plain/operator/models.csv t/operator/models.csv"), 0);
    assert_int_equal(json_array_size(cli_at(traced, "trace")), 5);
    const json_t *last = json_array_get(cli_at(traced, "trace"), 4);
    assert_close(cli_number(last, "test_nmse"), cli_number(plain, "test.nmse"), 1e-12);
    assert_close(cli_number(last, "epsilon"), 1.0, 1e-9);
    assert_true(json_is_null(json_object_get(last, "objective"))); /* lambda: auto */
    assert_true(cli_number(last, "delta") == 1e-5);
    assert_string_equal(cli_text(last, "sampling"), "all");
    json_decref(plain);
    json_decref(traced);
    traced = cli_json("%s --set lambda=1 --trace -o weighed", run);
    last = json_array_get(cli_at(traced, "trace"), 4);
    assert_true(cli_number(last, "objective") > 0.0);
    json_decref(traced);
    cli_fails(2, "leave --checkpoint out", "%s --trace --checkpoint f -o x", run);
}

static void first_tasks_are_all_there_are(void **state) {
    (void)state;
    static const char run[] =
        "--method mp-lowrank --set clip=50 --epsilon 1 --rounds 2 "
        "--seed 3 --json";
    cli_ok("synth low-rank -o w.csv --tasks 40 --samples 8 --features 6");
    assert_int_equal(system("awk -F, 'NR == 1 || $1 <= 9' w.csv >nine.csv; "
                            "awk -F, 'NR == 1 || $1 <= 9' w.test.csv >nine.test.csv"),
                     0);
    json_t *cut =
        cli_json("train w.csv --test w.test.csv --first-tasks 9 %s -o cut", run);
    json_t *file = cli_json("train nine.csv --test nine.test.csv %s -o file", run);
    assert_true(json_equal(cli_at(cut, "test"), cli_at(file, "test")));
    assert_string_equal(cli_text(cut, "models_sha256"),
                        cli_text(file, "models_sha256"));
    json_decref(cut);
    json_decref(file);
    cli_fails(2, "there are 40 tasks",
              "train w.csv --first-tasks 41 --method stl -o more");
}

static void worlds_without_models_say_so(void **state) {
    (void)state;
    cli_ok("synth outliers -o o.csv --tasks 5 --models o.models.csv");
    lines_of("o.models.csv", 6);
    cli_fails(2, "--models is for", "synth classes -o c.csv --models m2.csv");
    assert_false(cli_exists("c.csv") || cli_exists("m2.csv"));
    cli_fails(1, "nowhere", "synth low-rank -o l.csv --tasks 5 --models nowhere/m.csv");
    assert_false(cli_exists("l.csv") || cli_exists("l.test.csv"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_trace_has_a_line_a_round),
                                       cmocka_unit_test(first_tasks_are_all_there_are),
                                       cmocka_unit_test(worlds_without_models_say_so)};
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
