/* `billboard audit`: what it says, and its exit code. Each audit is right with
 * probability 1 - 1e-9 at least, and its seed is fixed. */
#include "cli.h"

#include <string.h>

static const char sure[] = "--confidence 0.999999999 --trials 20000 --seed 3";

/* A refuted claim is said on stdout like any other answer, with its own exit code. */
static json_t *violated(const char *arguments) {
    json_error_t error;
    cli_result r = cli("%s", arguments);
    assert_int_equal(r.code, 4);
    assert_string_equal(r.err, "");
    json_t *json = json_loads(r.out, 0, &error);
    assert_non_null(json);
    cli_free(&r);
    return json;
}

static void what_holds_is_consistent(void **state) {
    (void)state;
    json_t *j =
        cli_json("audit --form psd --adjacency add-remove --blocks 2 --rounds 3 "
                 "--epsilon 2 --delta 0.01 --json %s",
                 sure);
    assert_string_equal(cli_text(j, "mechanism"), "gaussian");
    assert_string_equal(cli_text(j, "form"), "psd");
    assert_string_equal(cli_text(j, "adjacency"), "add-remove");
    assert_string_equal(cli_text(j, "sampling"), "all");
    assert_int_equal(cli_number(j, "rounds"), 3);
    assert_int_equal(cli_number(j, "trials"), 20000);
    assert_close(cli_number(j, "epsilon"), 2.0, 1e-6);
    assert_close(cli_number(j, "delta"), 0.01, 0.0);
    assert_close(cli_number(j, "confidence"), 0.999999999, 0.0);
    assert_true(cli_number(j, "epsilon_lower") > 0.5);
    assert_true(cli_number(j, "epsilon_lower") < 2.0);
    assert_true(cli_number(j, "delta_lower") <= 0.01);
    assert_non_null(strstr(cli_text(j, "event"), "statistic"));
    assert_true(json_is_false(cli_at(j, "violated")));
    assert_true(json_is_true(cli_at(j, "noise.enough")));
    assert_close(cli_number(j, "noise.ratio"), 1.0, 0.05);
    json_decref(j);
    j = cli_json("audit --mechanism selection --json %s", sure);
    assert_true(json_is_null(cli_at(j, "noise")));
    assert_string_equal(cli_text(j, "form"), "selection");
    assert_true(json_is_false(cli_at(j, "violated")));
    json_decref(j);
}

static void wishart_noise_is_refuted(void **state) {
    (void)state;
    char line[300];
    snprintf(line, sizeof line,
             "audit --mechanism wishart-published --epsilon 0.5 --json %s", sure);
    json_t *j = violated(line);
    assert_true(json_is_true(cli_at(j, "violated")));
    assert_true(cli_number(j, "delta_lower") > 0.3);
    assert_true(cli_number(j, "delta_lower") < 1.0 - exp(-0.5));
    json_decref(j);
    cli_result r = cli("audit --mechanism wishart-published %s", sure);
    assert_int_equal(r.code, 4);
    assert_non_null(strstr(r.out, "verdict    violated"));
    assert_non_null(strstr(r.out, "claimed    epsilon 1 at delta 1e-05, replace-one"));
    cli_free(&r);
}

/* A seed gives the same bytes for any number of threads; none is drawn and reported. */
static void seeds(void **state) {
    (void)state;
    cli_result one = cli("audit --trials 500 --seed 9 --threads 1 --json");
    cli_result three = cli("audit --trials 500 --seed 9 --threads 3 --json");
    cli_result any = cli("audit --trials 500 --json");
    assert_string_equal(one.out, three.out);
    assert_string_not_equal(one.out, any.out);
    assert_non_null(strstr(any.out, "\"seed\""));
    cli_free(&one);
    cli_free(&three);
    cli_free(&any);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    cli_fails(2, "mechanism", "audit --mechanism laplace");
    cli_fails(2, "outer", "audit --form outer --blocks 2");
    cli_fails(2, "outer", "audit --mechanism wishart-published --form psd");
    cli_fails(2, "blocks", "audit --mechanism selection --blocks 2");
    cli_fails(2, "confidence", "audit --confidence 1");
    cli_fails(2, "trials", "audit --trials 1");
    cli_fails(2, "epsilon", "audit --epsilon 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_holds_is_consistent),
        cmocka_unit_test(wishart_noise_is_refuted),
        cmocka_unit_test(seeds),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
