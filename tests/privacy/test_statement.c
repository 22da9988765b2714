#include "privacy/statement.h"
#include "test.h"

#include <string.h>

static const bb_statement good = {.method = "mp-prior",
                                  .tasks = 139,
                                  .count = 1,
                                  .guarantee = {{.unit = "task",
                                                 .epsilon = 1.0,
                                                 .delta = 1e-5,
                                                 .adjacency = BB_REPLACE_ONE,
                                                 .sampling = "all",
                                                 .mechanism = "gaussian",
                                                 .accountant = "gdp",
                                                 .rounds = 2,
                                                 .noise_multiplier = 5.25,
                                                 .valid = true,
                                                 .true_delta_at_least = NAN}}};

static void assert_says(const bb_statement *statement, const char *words, bool yes) {
    char *text = NULL;
    assert_ok(bb_statement_text(statement, &text));
    if ((strstr(text, words) != NULL) != yes)
        fail_msg("%s \"%s\" in\n%s", yes ? "no" : "found", words, text);
    free(text);
}

static void private_run(void **state) {
    (void)state;
    const char *words[] = {("Simulated by an operator who holds all data; ε covers "
                            "`public/` only; this run "
                            "only, unless a ledger is named.\n"),
                           "each of the 139 tasks",
                           "ε = 1, δ = 1e-05",
                           "replace-one (one task's data replaced",
                           "Sampling: all",
                           "gaussian, 2 rounds, noise multiplier 5.25",
                           "gdp",
                           "Not covered: the personal models",
                           "options picked by looking",
                           "the curator"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        assert_says(&good, words[k], true);
    assert_says(&good, "NOT PRIVATE", false);
    assert_says(&good, "Warning", false);
    assert_says(&good, "Ledger:", false);
    assert_true(bb_statement_is_private(&good));
    bb_statement kept = good;
    kept.ledger = "schools.ledger";
    kept.guarantee[0].adjacency = BB_ADD_REMOVE;
    assert_says(&kept, "Ledger: schools.ledger", true);
    assert_says(&kept, "add-remove (one task shows zeros", true);
    kept.silos = 3;
    assert_says(&kept,
                "The plan names 3 silos, each with the data of its own tasks. Made by "
                "those that took part and a curator",
                true);
    assert_says(&kept, "Simulated", false);
    assert_says(&kept, "a curator, who adds the noise to their sums and is trusted",
                true);
    kept.guarantee[0].one_door = true;
    assert_says(&kept, "sums that neither can read alone", true);
    assert_says(&kept, "is trusted", false);
}

/* A number in a promise is never rounded: it reads back as the same double. */
static void exact_numbers(void **state) {
    (void)state;
    bb_statement odd = good;
    odd.guarantee[0].epsilon = 1.0000000000000002;
    odd.guarantee[0].delta = 0.00054175209775578257;
    char *text = NULL;
    assert_ok(bb_statement_text(&odd, &text));
    const char *epsilon = strstr(text, "(ε = "), *delta = strstr(text, ", δ = ");
    assert_non_null(epsilon);
    assert_non_null(delta);
    assert_true(strtod(epsilon + strlen("(ε = "), NULL) == odd.guarantee[0].epsilon);
    assert_true(strtod(delta + strlen(", δ = "), NULL) == odd.guarantee[0].delta);
    free(text);
}

static void plain_numbers(void **state) {
    (void)state;
    const struct {
        double epsilon;
        const char *words;
    } number[] = {
        {0.5, "(ε = 0.5, "},         {10.0, "(ε = 10, "},
        {20.0, "(ε = 20, "},         {25.0, "(ε = 25, "},
        {1000.25, "(ε = 1000.25, "}, {999999.9999999999, "(ε = 999999.9999999999, "},
        {1e6, "(ε = 1000000, "},     {1e-5, "(ε = 1e-05, "},
        {1e20, "(ε = 1e+20, "}};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        bb_statement one = good;
        one.guarantee[0].epsilon = number[k].epsilon;
        assert_says(&one, number[k].words, true);
    }
}

static void broken_runs(void **state) {
    (void)state;
    bb_statement seeded = good;
    seeded.seeded = true;
    assert_false(bb_statement_is_private(&seeded));
    assert_says(&seeded, "NOT PRIVATE: seeded", true);
    bb_statement wishart = good;
    wishart.guarantee[0].mechanism = "wishart-published";
    wishart.guarantee[0].valid = false;
    wishart.guarantee[0].true_delta_at_least = 0.0951625;
    assert_false(bb_statement_is_private(&wishart));
    assert_says(&wishart, "no valid (ε, δ) at the requested δ", true);
    assert_says(&wishart, "true δ is at least 0.09516", true);
    assert_says(&wishart, "Guarantee:", false);
    assert_says(&wishart, "Protected:", false);
    /* not more than is true: below the delta asked for, it may hold after all */
    wishart.guarantee[0].true_delta_at_least = 1e-9;
    assert_says(&wishart, "no valid (ε, δ)", false);
    assert_says(&wishart, "NOT PRIVATE", false);
    assert_says(&wishart, "NOT PROVED PRIVATE: ", true);
    assert_says(&wishart, "true δ is at least 1e-09", true);
    assert_says(&wishart, "not above the δ asked for", true);
    wishart.guarantee[0].true_delta_at_least = NAN;
    assert_says(&wishart, "no proof", true);
    assert_says(&wishart, "no valid (ε, δ)", false);
    bb_statement scaled = good;
    scaled.data_ranges = true;
    assert_false(bb_statement_is_private(&scaled));
    assert_says(&scaled, "NOT PRIVATE: rows were scaled by ranges", true);
    bb_statement tuned = good;
    tuned.data_options = true;
    assert_false(bb_statement_is_private(&tuned));
    assert_says(&tuned, "NOT PRIVATE: options were chosen by looking at the data",
                true);
    const bb_statement none = {.method = "mtl-trace", .tasks = 139};
    assert_false(bb_statement_is_private(&none));
    char *text = NULL;
    assert_ok(bb_statement_text(&none, &text));
    assert_non_null(strstr(text, "No privacy: mtl-trace"));
    assert_true(strchr(text, '\n') == text + strlen(text) - 1); /* one line */
    free(text);
}

/* Every object that stands for a guarantee says that it does not hold. */
static void nothing_is_valid_that_does_not_hold(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        bb_statement s = good;
        s.count = 2;
        s.guarantee[1] = good.guarantee[0];
        s.seeded = k == 1;
        s.data_ranges = k == 2;
        s.data_options = k == 3;
        json_t *json = bb_statement_json(&s);
        const json_t *list = json_object_get(json, "guarantees");
        for (size_t g = 0; g < 2; g++) {
            const json_t *one = json_array_get(list, g);
            assert_true(json_is_true(json_object_get(one, "valid")) == (k == 0));
            assert_true(json_is_null(json_object_get(one, "epsilon")) == (k > 0));
            assert_true(json_is_real(json_object_get(one, "claimed_epsilon")) ==
                        (k > 0));
        }
        assert_true(json_is_true(json_object_get(json, "private")) == (k == 0));
        json_decref(json);
    }
}

/* A hidden cohort is hidden from some: the statement says from whom. */
static void adversaries(void **state) {
    (void)state;
    bb_statement hidden = good;
    assert_says(&hidden, "from everybody who sees what is published", true);
    hidden.guarantee[0].hidden_cohort = true;
    assert_says(&hidden, "from everybody", false);
    assert_says(&hidden, "but not who was asked in which round", true);
    assert_says(&hidden, "the curator sees it, and tasks may tell", true);
    json_t *json = bb_statement_json(&hidden);
    const json_t *g = json_array_get(json_object_get(json, "guarantees"), 0);
    assert_non_null(strstr(json_string_value(json_object_get(g, "adversary")),
                           "not who was asked"));
    json_decref(json);
}

/* A method that shares nothing reveals nothing: no noise, and no alarm either. */
static void alone(void **state) {
    (void)state;
    const bb_statement stl = {.method = "stl", .tasks = 139, .alone = true};
    assert_false(bb_statement_is_private(&stl));
    assert_says(&stl, "Nothing was exchanged", true);
    assert_says(&stl, "every task learned alone", true);
    assert_says(&stl, "do not publish them", true);
    assert_says(&stl, "may reveal", false);
    json_t *json = bb_statement_json(&stl);
    assert_true(json_is_false(json_object_get(json, "exchanged")));
    json_decref(json);
}

/* The factor e^ε is rounded up, whatever ε. */
static void factors(void **state) {
    (void)state;
    bb_statement s = good;
    s.guarantee[0].epsilon = 1.0;
    assert_says(&s, "the factor 2.719 (e^ε)", true);
    s.guarantee[0].epsilon = 1e-6;
    assert_says(&s, "the factor 1.001 (e^ε)", true);
    s.guarantee[0].epsilon = 10.0;
    assert_says(&s, "the factor 2.203e+04 (e^ε)", true);
    s.guarantee[0].epsilon = 1e6;
    assert_says(&s, "the factor e^1000000, plus δ", true);
    assert_says(&s, "inf", false);
}

static void two_units(void **state) {
    (void)state;
    bb_statement both = good;
    both.count = 2;
    both.guarantee[1] = good.guarantee[0];
    both.guarantee[1].unit = "instance";
    both.guarantee[1].epsilon = 0.25;
    assert_says(&both, "ε = 1, δ", true);
    assert_says(&both, "ε = 0.25, δ", true);
    assert_says(&both, "each single row", true);
    assert_true(bb_statement_is_private(&both));
    both.guarantee[1].valid = false;
    assert_false(bb_statement_is_private(&both));
}

static void warnings(void **state) {
    (void)state;
    bb_statement few = good;
    few.tasks = 29;
    assert_says(&few, "Warning: only 29 tasks", true);
    few.tasks = 1;
    assert_says(&few, "each of the 1 task,", true);
    assert_says(&few, "Warning: only 1 task: with", true);
    few.tasks = 30;
    assert_says(&few, "Warning", false);
    few.guarantee[0].delta = 1.0 / 30.0;
    assert_says(&few, "is not below 1/(number of tasks)", true);
    few.guarantee[0].unit = "instance";
    assert_says(&few, "Warning", false);
    few.tasks = 3;
    few.count = 0; /* no promise, nothing to warn of */
    assert_says(&few, "Warning", false);
}

static void json(void **state) {
    (void)state;
    json_t *json = bb_statement_json(&good);
    const char *unit, *adjacency, *statement;
    double epsilon, delta, multiplier;
    int private, seeded, tasks, rounds, valid;
    assert_int_equal(
        json_unpack(
            json,
            "{s:b, s:b, s:i, s:n, s:[{s:s, s:b, s:F, s:F, s:s, s:i, s:F, s:n}!], "
            "s:[!], s:s}",
            "private", &private, "seeded", &seeded, "tasks", &tasks, "ledger",
            "guarantees", "unit", &unit, "valid", &valid, "epsilon", &epsilon, "delta",
            &delta, "adjacency", &adjacency, "rounds", &rounds, "noise_multiplier",
            &multiplier, "note", "warnings", "statement", &statement),
        0);
    assert_true(private && !seeded && valid && tasks == 139 && rounds == 2);
    assert_true(epsilon == 1.0 && delta == 1e-5 && multiplier == 5.25);
    assert_string_equal(unit, "task");
    assert_string_equal(adjacency, "replace-one");
    assert_null(json_object_get(json_array_get(json_object_get(json, "guarantees"), 0),
                                "true_delta_at_least"));
    json_decref(json);

    bb_statement wishart = good;
    wishart.guarantee[0].valid = false;
    wishart.guarantee[0].true_delta_at_least = 0.5;
    wishart.guarantee[0].noise_multiplier = NAN;
    json = bb_statement_json(&wishart);
    double claimed, truth;
    assert_int_equal(json_unpack(json, "{s:b, s:[{s:n, s:n, s:F, s:F, s:n}]}",
                                 "private", &private, "guarantees", "epsilon", "delta",
                                 "claimed_epsilon", &claimed, "true_delta_at_least",
                                 &truth, "noise_multiplier"),
                     0);
    assert_true(!private && claimed == 1.0 && truth == 0.5);
    json_decref(json);
}

static void delta_options(void **state) {
    (void)state;
    double delta = 7.0;
    assert_ok(bb_delta_choose(NULL, 139, &delta));
    assert_true(delta == 1e-5);
    assert_ok(bb_delta_choose("paper", 139, &delta));
    assert_relative(delta, 1.0 / (139.0 * log(139.0)), 1e-15);
    assert_ok(bb_delta_choose("1e-6", 139, &delta));
    assert_true(delta == 1e-6);
    const char *bad[] = {"0", "1", "-1e-5", "", "papers", "nan", "1e-5x"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_fails(bb_delta_choose(bad[k], 139, &delta), BB_EUSAGE, "delta");
    assert_fails(bb_delta_choose("paper", 1, &delta), BB_EUSAGE, "two tasks");
    assert_fails(bb_delta_choose(NULL, 0, &delta), BB_EUSAGE, "one task");
    assert_true(delta == 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_run),
        cmocka_unit_test(exact_numbers),
        cmocka_unit_test(plain_numbers),
        cmocka_unit_test(broken_runs),
        cmocka_unit_test(alone),
        cmocka_unit_test(factors),
        cmocka_unit_test(two_units),
        cmocka_unit_test(warnings),
        cmocka_unit_test(json),
        cmocka_unit_test(delta_options),
        cmocka_unit_test(adversaries),
        cmocka_unit_test(nothing_is_valid_that_does_not_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
