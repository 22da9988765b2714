/* Settings are compared by rows that are held out, and nothing else is looked at. */
#include "cli.h"

#include <math.h>
#include <string.h>

#define WORLD "--scale ranges.json --epsilon 20 --method pmtl --not-private --json"

static void make_world(void) {
    cli_ok("synth low-rank --tasks 40 --samples 15 --features 4 --seed 3 -o W.csv");
    cli_write("ranges.json", "{\"target\": [-40, 40], \"others\": [-1, 1]}");
}

static const json_t *tried(const json_t *a, size_t k) {
    return json_array_get(cli_at(a, "tried"), k);
}

/* The mean is that of the folds, the best is the least, and what a run with the same
 * rows held out reaches is what the table says. */
static void the_best_has_the_least_loss(void **state) {
    (void)state;
    make_world();
    json_t *a =
        cli_json("tune W.csv --method mtl-trace --set centre=zero --not-private --json "
                 "--grid lambda=1e6,1e-3,1");
    const size_t count = json_array_size(cli_at(a, "tried"));
    const size_t best = (size_t)cli_number(a, "best");
    assert_int_equal(count, 3);
    assert_string_equal(cli_text(a, "metric"), "nmse");
    for (size_t k = 0; k < count; k++) {
        const json_t *losses = json_object_get(tried(a, k), "losses");
        double sum = 0.0;
        assert_int_equal(json_array_size(losses), 5);
        for (size_t f = 0; f < 5; f++)
            sum += json_number_value(json_array_get(losses, f));
        assert_close(cli_number(tried(a, k), "loss"), sum / 5.0, 1e-12);
        assert_true(cli_number(tried(a, best), "loss") <=
                    cli_number(tried(a, k), "loss"));
    }
    /* a penalty that lets nothing through learns nothing */
    assert_true(best != 0);
    assert_true(cli_number(tried(a, 0), "loss") > 0.99);
    assert_true(cli_number(tried(a, best), "loss") < 0.9);
    json_decref(a);
}

static char *tuned(const char *more) {
    cli_result r = cli("tune W.csv " WORLD " --grid clip=1..10 --random 7 %s", more);
    assert_int_equal(r.code, 0);
    char *text = strdup(r.out);
    cli_free(&r);
    assert_non_null(text);
    return text;
}

/* Not of how many runs go on at once, and not of rows to test on. */
static void nothing_else_matters(void **state) {
    (void)state;
    make_world();
    char *one = tuned("--threads 1 --train-fraction 1");
    char *two = tuned("--threads 2 --train-fraction 1");
    assert_string_equal(one, two);
    free(two);
    cli_write("T.csv", "task,x0,x1,x2,x3,y\n1,1,1,1,1,30\n");
    two = tuned("--test T.csv --compare stl --ledger L --population p "
                "--budget-epsilon 100 --budget-delta 0.1 --checkpoint C");
    assert_false(cli_exists("L"));
    assert_false(cli_exists("C"));
    json_t *a = json_loads(one, 0, NULL), *b = json_loads(two, 0, NULL);
    assert_true(json_equal(cli_at(a, "tried"), cli_at(b, "tried")));
    json_decref(a);
    json_decref(b);
    free(two);
    two = tuned("--threads 2 --train-fraction 1 --seed 2");
    assert_true(strcmp(one, two) != 0);
    free(one);
    free(two);
}

/* Eleven settings, six of them tried twice, three of those on all folds; drawn from the
 * range, whole numbers whole. */
static void settings_are_halved(void **state) {
    (void)state;
    make_world();
    json_t *a = cli_json("tune W.csv " WORLD " --grid clip=1..10 --grid rounds=2..9 "
                         "--random 11");
    size_t folds[6] = {0};
    double best = INFINITY, other = INFINITY;
    assert_int_equal(json_array_size(cli_at(a, "tried")), 11);
    for (size_t k = 0; k < 11; k++) {
        const json_t *flags = json_object_get(tried(a, k), "flags");
        double clip = 0.0, rounds = 0.0;
        assert_int_equal(
            sscanf(cli_text(json_array_get(flags, 1), "value"), "clip=%lf", &clip), 1);
        assert_true(clip >= 1.0 && clip <= 10.0);
        assert_string_equal(cli_text(json_array_get(flags, 2), "name"), "rounds");
        rounds = strtod(cli_text(json_array_get(flags, 2), "value"), NULL);
        assert_true(rounds >= 2.0 && rounds <= 9.0 && rounds == floor(rounds));
        const size_t f = (size_t)cli_number(tried(a, k), "folds");
        const double loss = json_number_value(
            json_array_get(json_object_get(tried(a, k), "losses"), 0));
        folds[f]++;
        if (f > 1)
            best = fmin(best, -loss);
        else
            other = fmin(other, loss);
    }
    assert_int_equal(folds[1], 5);
    assert_int_equal(folds[2], 3);
    assert_int_equal(folds[5], 3);
    assert_true(-best <= other); /* the worst that stayed, and the best that did not */
    json_decref(a);
}

/* A private setting follows its runs; a public one does not. */
static void runs_say_how_they_were_tuned(void **state) {
    (void)state;
    static const char *const how[] = {"W.csv --not-private", "--public W.csv"};
    make_world();
    for (int open = 0; open < 2; open++) {
        cli_ok("tune %s --scale ranges.json --method pmtl --epsilon 5 --grid "
               "clip=2,4 --grid rounds=3 -o best.json",
               how[open]);
        json_t *a = cli_json("train W.csv --config best.json --json -o run%d", open);
        assert_int_equal(json_is_true(cli_at(a, "privacy.private")), open);
        assert_int_equal(json_is_true(cli_at(a, "privacy.options_from_data")), !open);
        assert_int_equal(strstr(cli_text(a, "privacy.statement"),
                                "NOT PRIVATE: options were chosen") != NULL,
                         !open);
        assert_close(cli_number(a, "options.rounds"), 3.0, 0.0);
        json_decref(a);
    }
}

/* -- inside the budget -- */

#define PRIVATELY                                                                      \
    "tune W.csv --scale ranges.json --method mp-prior --epsilon 2 --delta 1e-4 "       \
    "--json "                                                                          \
    "--private --grid lambda=0.1,1,auto "

/* One charge for the whole, whatever was made; the run says what it is of. */
static void the_search_is_inside_the_budget(void **state) {
    (void)state;
    make_world();
    json_t *a = cli_json(PRIVATELY "--runs 20 -o run --ledger L --population p "
                                   "--budget-epsilon 3 --budget-delta 1e-3");
    json_t *ledger = cli_json("ledger L --json");
    assert_int_equal(json_array_size(cli_at(ledger, "entries")), 1);
    assert_close(cli_number(ledger, "spent.epsilon"), 2.0, 1e-9);
    assert_close(cli_number(ledger, "spent.delta"), 1e-4, 1e-12);
    json_decref(ledger);
    assert_close(cli_number(a, "epsilon"), 2.0, 0.0);
    assert_null(json_object_get(a, "tried")); /* nothing of the others */
    assert_true(cli_number(a, "mu.composed") < cli_number(a, "mu.best_of"));
    assert_true(cli_number(a, "mu.best_of") < cli_number(a, "mu.alone"));
    json_decref(a);
    assert_true(cli_exists("run/public/privacy.json")); /* K = 0: once in 5e8 */
    json_t *p = json_load_file("run/public/privacy.json", 0, NULL);
    const json_t *g = json_array_get(cli_at(p, "guarantees"), 0);
    assert_true(json_is_true(cli_at(p, "private")));
    assert_close(cli_number(g, "epsilon"), 2.0, 0.0);
    assert_close(cli_number(g, "delta"), 1e-4, 0.0);
    assert_string_equal(cli_text(g, "accountant"), "rdp");
    assert_non_null(strstr(cli_text(g, "note"), "best of a random number"));
    json_decref(p);
    p = json_load_file("run/public/options.json", 0, NULL);
    assert_close(cli_number(p, "options.epsilon"), 2.0, 0.0);
    json_decref(p);
    cli_fails(3, "budget", PRIVATELY "--runs 20 -o other --ledger L");
    assert_false(cli_exists("other"));
    cli_fails(2, "run", PRIVATELY "--runs 20 -o run");
}

/* The noise of the rounds is that of mu, what is left of it when the score has its part;
 * the score has the noise of its own. */
static void noise_is_what_the_theorem_asks_for(void **state) {
    (void)state;
    make_world();
    json_t *one =
        cli_json("train W.csv --scale ranges.json --method mp-prior --epsilon "
                 "2 --delta 1e-4 --set lambda=1 --seed 1 --json -o one");
    json_t *a = cli_json("tune W.csv --scale ranges.json --method mp-prior --epsilon 2 "
                         "--delta 1e-4 --json --private --grid lambda=1 --runs 8 "
                         "--share 0.36 --seed 3 -o best");
    json_t *p = json_load_file("best/public/privacy.json", 0, NULL);
    const json_t *g = json_array_get(cli_at(p, "guarantees"), 0);
    const double mu = cli_number(a, "mu.best_of"), alone = cli_number(a, "mu.alone");
    assert_relative(cli_number(g, "noise_multiplier"),
                    cli_number(one, "privacy.noise_multiplier") * alone / (0.8 * mu),
                    1e-6);
    /* 40 tasks, each in [-1/2, 1/2], one replaced by any other */
    assert_relative(cli_number(a, "best.noise"), 1.0 / (0.6 * mu * 40.0), 1e-3);
    assert_false(json_is_true(cli_at(p, "private"))); /* seeded */
    json_t *again =
        cli_json("tune W.csv --scale ranges.json --method mp-prior "
                 "--epsilon 2 --delta 1e-4 --json --private --grid lambda=1 "
                 "--runs 8 --share 0.36 --seed 3 -o best --force");
    assert_true(json_equal(a, again));
    json_decref(one);
    json_decref(a);
    json_decref(again);
    json_decref(p);
}

/* The default method: its rounds, votes included, are Gaussian and of all tasks, and where
 * sizes say that it can see nothing, nothing is exchanged but the score. */
static void the_default_method_is_tuned_inside_the_budget(void **state) {
    (void)state;
    static const double epsilon[] = {50.0, 0.01};
    make_world();
    for (int k = 0; k < 2; k++) {
        json_t *a =
            cli_json("tune W.csv --scale ranges.json --epsilon %g --delta 1e-4 "
                     "--json --private --grid directions=true,false --runs 30 "
                     "-o mixed%d --ledger M%d --population p --budget-epsilon 60 "
                     "--budget-delta 1e-3",
                     epsilon[k], k, k);
        char path[40];
        snprintf(path, sizeof path, "mixed%d/public/privacy.json", k);
        json_t *p = json_load_file(path, 0, NULL);
        const json_t *g = json_array_get(cli_at(p, "guarantees"), 0);
        assert_string_equal(cli_text(a, "best.method"), "mp-mixed");
        assert_true(json_is_true(cli_at(p, "private")));
        assert_close(cli_number(g, "epsilon"), epsilon[k], 0.0);
        assert_string_equal(cli_text(g, "accountant"), "rdp");
        if (k == 0)
            assert_true(cli_number(g, "rounds") > 2.0);
        else
            assert_close(cli_number(g, "rounds"), 0.0, 0.0);
        json_decref(a);
        json_decref(p);
        json_t *ledger = cli_json("ledger M%d --json", k);
        assert_close(cli_number(ledger, "spent.epsilon"), epsilon[k], 1e-9);
        json_decref(ledger);
    }
}

/* With little noise the score is the error of the held-out rows, which tells a good
 * setting from one that learns nothing. */
static void the_least_score_is_published(void **state) {
    (void)state;
    make_world();
    for (int seed = 1; seed < 4; seed++) {
        json_t *a = cli_json("tune W.csv --scale ranges.json --method mp-prior "
                             "--epsilon 200 --delta 1e-4 --json --private --grid "
                             "lambda=1e6,0.01 --runs 20 --seed %d -o few%d",
                             seed, seed);
        assert_string_equal(
            cli_text(json_array_get(cli_at(a, "best.flags"), 1), "value"),
            "lambda=0.01");
        assert_true(cli_number(a, "best.score") > 0.0);
        assert_true(cli_number(a, "best.score") < 0.5);
        json_decref(a);
    }
}

/* With probability 1/e, and one run on average, nothing is made. */
static void no_run_is_an_answer(void **state) {
    (void)state;
    size_t none = 0;
    make_world();
    for (int seed = 1; seed <= 12; seed++) {
        json_t *a = cli_json(PRIVATELY "--runs 1 --seed %d -o m%d", seed, seed);
        char path[20];
        snprintf(path, sizeof path, "m%d", seed);
        const bool there = !json_is_null(cli_at(a, "best"));
        assert_int_equal(cli_exists(path), there);
        none += !there;
        json_decref(a);
    }
    assert_in_range(none, 1, 11);
}

static void what_has_no_price_is_refused(void **state) {
    (void)state;
    make_world();
    cli_fails(2, "epsilon",
              "tune W.csv --scale ranges.json --method mp-prior --private "
              "--grid lambda=1 -o no");
    cli_fails(2, "directory", PRIVATELY);
    cli_fails(2, "kind gdp",
              PRIVATELY "-o no --ledger G --population p --ledger-kind "
                        "gdp --budget-epsilon 3 --budget-delta 1e-3");
    cli_fails(2, "seed",
              PRIVATELY "-o no --ledger S --population p --seed 1 "
                        "--budget-epsilon 3 --budget-delta 1e-3");
    cli_fails(2, "Gaussian rounds",
              "tune W.csv --scale ranges.json --method pmtl "
              "--sampling poisson:0.5 --epsilon 2 --private "
              "--grid clip=1 --runs 30 -o no");
    cli_fails(2, "selects its clip",
              "tune W.csv --scale ranges.json --method mp-prior,mp-lowrank --epsilon 2 "
              "--private --grid lambda=1 -o no --ledger C --population p "
              "--budget-epsilon 3 --budget-delta 1e-3");
    cli_fails(2, "single rows",
              "tune W.csv --scale ranges.json --method dp-aggr --epsilon 2 --private "
              "--set calibration=instance --grid lambda=1 -o no");
    cli_fails(2, "two doors",
              "tune W.csv --scale ranges.json --doors 2 --epsilon 2 --private "
              "--grid vote=true -o no");
    cli_fails(2, "public range",
              "tune W.csv --standardize unit-rows --method pmtl "
              "--epsilon 2 --private --grid clip=1 --runs 30 -o no --ledger R "
              "--population p --budget-epsilon 3 --budget-delta 1e-3");
    cli_write("own.json", "{\"target\": [-40, 40], \"others\": [-1, 1], "
                          "\"source\": \"data\"}");
    cli_fails(2, "taken from the rows",
              "tune W.csv --scale own.json --method pmtl --epsilon 2 --private "
              "--grid clip=1 -o no --ledger R --population p --budget-epsilon 3 "
              "--budget-delta 1e-3");
    cli_write("draft.json", "{\"x1\": [\"a\"], \"source\": \"data\"}");
    cli_fails(2, "needs public levels of texts",
              "tune W.csv --scale ranges.json --categories draft.json --method pmtl "
              "--epsilon 2 --private "
              "--grid clip=1 -o no --ledger R --population p --budget-epsilon 3 "
              "--budget-delta 1e-3");
    assert_false(cli_exists("no"));
    assert_false(cli_exists("G"));
    assert_false(cli_exists("S"));
    assert_false(cli_exists("C")); /* nothing was charged */
    assert_false(cli_exists("R"));
}

#define CHARGED                                                                        \
    "--private --runs 20 -o no --ledger N --population p --budget-epsilon 9 "          \
    "--budget-delta 1e-2 "

/* What the data are up to is found before the charge, with every setting that may be drawn. */
static void data_end_nothing_that_was_charged(void **state) {
    (void)state;
    static const char before[] = "before anything was charged or published";
    cli_write("ranges.json", "{\"target\": [-40, 40], \"others\": [-1, 1]}");
    FILE *gaps = fopen("gaps.csv", "w"), *huge = fopen("huge.csv", "w");
    assert_true(gaps && huge);
    fputs("task,half,y,x\n", gaps);
    fputs("task,y,x\n", huge);
    for (int k = 0; k < 80; k++) {
        fprintf(gaps, "%d,%d,%d,%s\n", k % 8, k % 2, k % 5, k == 3 ? "" : "0.5");
        fprintf(huge, "%d,%d,%s\n", k % 8, k / 8 % 2, k == 3 ? "1e200" : "0.5");
    }
    assert_int_equal(fclose(gaps) | fclose(huge), 0);
    for (int turn = 0; turn < 3; turn++) {
        cli_fails(1, before,
                  "tune gaps.csv --scale ranges.json --epsilon 2 --method mp-prior "
                  "--grid missing=drop-rows,error " CHARGED);
        cli_fails(1, before,
                  "tune huge.csv --loss logistic --standardize none --epsilon 2 "
                  "--method mp-centre --grid no-intercept=false " CHARGED);
        cli_fails(2, "same tasks",
                  "tune gaps.csv --scale ranges.json --epsilon 2 --method mp-prior "
                  "--missing drop-rows --features x --grid task=task,half " CHARGED);
        assert_false(cli_exists("N"));
        assert_false(cli_exists("no"));
    }
}

static void what_makes_no_sense_is_said(void **state) {
    (void)state;
    make_world();
    cli_fails(2, "whose data",
              "tune W.csv --scale ranges.json --method pmtl --epsilon "
              "1 --grid clip=1");
    cli_fails(2, "not both", "tune W.csv --not-private --public W.csv --grid clip=1");
    cli_fails(2, "what is to be tried", "tune W.csv --method pmtl --not-private");
    cli_fails(2, "no method \"pmtk\"",
              "tune W.csv --method stl,pmtk --not-private "
              "--grid clip=1");
    cli_fails(2, "an option \"clop\"",
              "tune W.csv --method pmtl --not-private "
              "--epsilon 1 --grid clop=1");
    cli_fails(2, "clip",
              "tune W.csv --method pmtl --not-private --epsilon 1 "
              "--grid clip=much");
    cli_fails(2, "has a range",
              "tune W.csv --method pmtl --not-private --epsilon 1 "
              "--grid clip=1..2");
    cli_fails(2, "ends before it begins",
              "tune W.csv --method pmtl --not-private "
              "--epsilon 1 --random 3 --grid clip=2..1");
    cli_fails(2, "more than 10000",
              "tune W.csv --method pmtl --not-private --grid "
              "clip=1,2,3,4,5,6,7,8,9,10,11 --grid "
              "lambda=1,2,3,4,5,6,7,8,9,10,11 --grid "
              "momentum=.1,.2,.3,.4,.5,.6,.7,.8,.9,.95 --grid "
              "server-rate=1,2,3,4,5,6,7,8,9,10");
    cli_fails(1, "nowhere.csv",
              "tune nowhere.csv --method stl --not-private --random 1 "
              "--grid no-intercept=true,false");
    /* one method of two has it: the other is in the table, with the reason */
    json_t *a =
        cli_json("tune W.csv --json --not-private --scale ranges.json --epsilon "
                 "5 --method mp-prior,pmtl --grid rounds=2,3");
    assert_non_null(strstr(cli_text(tried(a, 0), "failure"), "rounds"));
    assert_true(cli_number(a, "best") >= 2.0);
    json_decref(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_has_the_least_loss),
        cmocka_unit_test(nothing_else_matters),
        cmocka_unit_test(settings_are_halved),
        cmocka_unit_test(runs_say_how_they_were_tuned),
        cmocka_unit_test(the_search_is_inside_the_budget),
        cmocka_unit_test(noise_is_what_the_theorem_asks_for),
        cmocka_unit_test(the_default_method_is_tuned_inside_the_budget),
        cmocka_unit_test(the_least_score_is_published),
        cmocka_unit_test(no_run_is_an_answer),
        cmocka_unit_test(what_has_no_price_is_refused),
        cmocka_unit_test(data_end_nothing_that_was_charged),
        cmocka_unit_test(what_makes_no_sense_is_said),
    };
    return cmocka_run_group_tests_name("tune", tests, cli_open, cli_close);
}
