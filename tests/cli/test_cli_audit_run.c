/* `billboard audit --method`: attacks on whole runs. All are seeded. */
#include "cli.h"

static void canaries(void **state) {
    (void)state;
    json_t *j =
        cli_json("audit --method mp-lowrank --epsilon 1 --tasks 60 --features 12 "
                 "--seed 1 --json");
    assert_string_equal(cli_text(j, "attack"), "canary");
    assert_string_equal(cli_text(j, "method"), "mp-lowrank");
    assert_string_equal(cli_text(j, "unit"), "task");
    assert_string_equal(cli_text(j, "adjacency"), "replace-one");
    assert_string_equal(cli_text(j, "sampling"), "all");
    assert_string_equal(cli_text(j, "mechanism"), "gaussian");
    assert_close(cli_number(j, "epsilon"), 1.0, 0.0);
    assert_close(cli_number(j, "delta"), 1e-5, 1e-18);
    assert_int_equal(cli_number(j, "tasks"), 60);
    assert_int_equal(cli_number(j, "canaries"), 60);
    assert_true(cli_number(j, "guesses") <= 60.0);
    assert_true(cli_number(j, "correct") <= cli_number(j, "guesses"));
    assert_close(cli_number(j, "confidence"), 0.95, 1e-15);
    assert_true(cli_number(j, "epsilon_lower") <= 1.0);
    assert_true(json_is_false(cli_at(j, "violated")));
    json_decref(j);
}

static void membership(void **state) {
    (void)state;
    json_t *j = cli_json("audit --method mp-prior --attack membership --epsilon 2 "
                         "--trials 200 --tasks 8 --features 4 --seed 1 --json");
    assert_string_equal(cli_text(j, "attack"), "membership");
    assert_int_equal(cli_number(j, "runs"), 200);
    assert_true(cli_number(j, "auc") > 0.3 && cli_number(j, "auc") < 0.9);
    assert_close(cli_number(j, "auc_limit"), 0.8808, 1e-3);
    assert_int_equal(json_array_size(cli_at(j, "tpr_at_fpr")), 3);
    assert_true(json_is_false(cli_at(j, "violated")));
    json_decref(j);
}

/* Where nothing is claimed there is nothing to refute, however much is found. */
static void no_claim(void **state) {
    (void)state;
    json_t *j = cli_json("audit --method mtl-l21 --rounds 2 --tasks 60 --features 40 "
                         "--seed 1 --json");
    assert_true(json_is_null(cli_at(j, "epsilon")));
    assert_string_equal(cli_text(j, "mechanism"), "none");
    assert_int_equal(cli_number(j, "canaries"), 20);
    assert_int_equal(cli_number(j, "correct"), cli_number(j, "guesses"));
    assert_true(cli_number(j, "epsilon_lower") > 1.0);
    assert_true(json_is_false(cli_at(j, "violated")));
    json_decref(j);
    cli_result r = cli("audit --method mp-groupsparse --mechanism none --attack "
                       "membership --trials 40 --tasks 8 --features 4 --seed 1");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "AUC 1.000"));
    assert_non_null(strstr(r.out, "claimed    nothing"));
    assert_non_null(strstr(r.out, "at delta 1e-05, replace-one, sampling: all;"));
    cli_free(&r);
}

/* A run that spends 30 and claims 1 is found, and the figures are printed all the same.
 */
static void wrong_claim(void **state) {
    (void)state;
    cli_result r = cli("audit --method mp-lowrank --epsilon 1 --run-epsilon 30 --tasks "
                       "200 --features 40 --seed 1");
    assert_int_equal(r.code, 4);
    assert_non_null(strstr(r.out, "violated"));
    cli_free(&r);
    r = cli("audit --method mp-prior --attack membership --epsilon 1 --run-epsilon 30 "
            "--trials 300 --tasks 8 --features 4 --seed 1 --json");
    assert_int_equal(r.code, 4);
    json_t *j = json_loads(r.out, 0, NULL);
    assert_true(json_is_true(cli_at(j, "violated")));
    assert_true(cli_number(j, "epsilon_lower") > 1.0);
    json_decref(j);
    cli_free(&r);
}

/* Methods that show models as they are: their canaries are opposite. */
static void wrong_claims_of_averages(void **state) {
    (void)state;
    const char *const method[] = {"pmtl", "ppsgd", "fedavg", "mp-mixed"};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        cli_result r =
            cli("audit --method %s --epsilon 1 --run-epsilon 30 --seed 2", method[k]);
        if (r.code != 4) fail_msg("%s was not caught: %s", method[k], r.out);
        cli_free(&r);
        r = cli("audit --method %s --epsilon 1 --seed 2", method[k]);
        if (r.code != 0) fail_msg("%s was accused: %s%s", method[k], r.out, r.err);
        cli_free(&r);
    }
}

/* The same seed, the same figures, for any number of threads; without one it runs, too.
 */
static void seeds(void **state) {
    static const char line[] = "audit --method mp-instance --epsilon 4 --tasks 30 "
                               "--features 6 --set instance-epsilon=100 --set clip=1 "
                               "--set gradient-clip=1";
    (void)state;
    cli_result a = cli("%s --seed 5", line), b = cli("%s --seed 5 --threads 2", line);
    assert_int_equal(a.code, 0);
    assert_string_equal(a.out, b.out);
    cli_free(&a);
    cli_free(&b);
    cli_ok("%s", line);
    cli_ok(
        "audit --method mp-lrsp --loss logistic --epsilon 4 --tasks 20 --features 6");
}

static void mistakes(void **state) {
    (void)state;
    cli_fails(2, "--epsilon", "audit --method mp-lowrank");
    cli_fails(2, "not private", "audit --method stl --epsilon 1 --mechanism gaussian");
    cli_fails(2, "unknown method", "audit --method nothing");
    cli_fails(2, "unknown mechanism", "audit --method stl --mechanism nothing");
    cli_fails(2, "whole number", "audit --method stl --seed x");
    cli_fails(2, "canaries", "audit --method stl --tasks 5 --canaries 6");
    cli_fails(2, "--attack canary",
              "audit --method stl --attack membership --canaries 6");
    cli_fails(2, "features", "audit --method stl --features 1");
    cli_fails(2, "logistic", "audit --method mp-prior --loss logistic --epsilon 1");
    cli_fails(2, "unknown option", "audit --method stl --set nothing=1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canaries),
        cmocka_unit_test(membership),
        cmocka_unit_test(no_claim),
        cmocka_unit_test(wrong_claim),
        cmocka_unit_test(wrong_claims_of_averages),
        cmocka_unit_test(seeds),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
