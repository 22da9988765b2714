/* The budget of a population, over runs that end well, badly, and by kill -9. */
#include "cli.h"

#include <math.h>
#include <signal.h>
#include <time.h>

static const char train[] = "train W.csv --method mp-groupsparse --ledger L.db";

static void make_world(void) {
    if (!cli_exists("W.csv"))
        cli_ok("synth low-rank --tasks 40 --samples 12 --features 5 --seed 2 -o W.csv");
    remove("L.db");
    remove("L.db-wal");
    remove("L.db-shm");
}

static double spent(const char *what) {
    char path[32];
    json_t *j = cli_json("ledger L.db --json");
    snprintf(path, sizeof path, "spent.%s", what);
    const double value = cli_number(j, path);
    json_decref(j);
    return value;
}

static size_t entries(void) {
    json_t *j = cli_json("ledger L.db --json");
    const size_t count = json_array_size(cli_at(j, "entries"));
    json_decref(j);
    return count;
}

static void runs_add_up_and_are_refused(void **state) {
    (void)state;
    make_world();
    cli_fails(2, "--budget-epsilon", "%s --epsilon 1 -o a", train);
    assert_false(cli_exists("L.db"));
    cli_ok(
        "%s --epsilon 1 --budget-epsilon 2.5 --budget-delta 1e-4 --population pupils "
        "-o a",
        train);
    cli_ok("%s --epsilon 1 -o b", train); /* joins, without naming the budget again */
    assert_close(spent("epsilon"), 2.0, 1e-9);
    assert_close(spent("delta"), 2e-5, 1e-12);
    cli_fails(3, "budget", "%s --epsilon 1 -o c", train);
    assert_int_equal(cli_count("c*"), 0);
    assert_close(spent("epsilon"), 2.0, 1e-9);
    cli_fails(3, "budget", "%s --epsilon 0.1 --delta 0.01 -o c", train);
    cli_ok("%s --epsilon 0.5 -o c", train);
    assert_close(spent("epsilon"), 2.5, 1e-9);
    json_t *j = cli_json("ledger L.db --json");
    assert_string_equal(cli_text(j, "population"), "pupils");
    assert_string_equal(cli_text(j, "adjacency"), "replace-one");
    assert_int_equal(cli_number(j, "tasks"), 40);
    assert_close(cli_number(j, "budget.epsilon"), 2.5, 0.0);
    assert_int_equal(json_array_size(cli_at(j, "entries")), 3);
    json_decref(j);
    cli_ok("ledger L.db");
    assert_int_equal(system("rm -r a b c"), 0);
}

static void other_terms_are_a_usage_error(void **state) {
    (void)state;
    make_world();
    cli_ok("%s --epsilon 1 --budget-epsilon 5 --budget-delta 1e-4 -o a", train);
    cli_fails(2, "epsilon", "%s --epsilon 1 --budget-epsilon 50 -o b", train);
    cli_fails(2, "delta", "%s --epsilon 1 --budget-delta 1e-3 -o b", train);
    cli_fails(2, "population", "%s --epsilon 1 --population others -o b", train);
    cli_fails(2, "adjacency", "%s --epsilon 1 --adjacency add-remove -o b", train);
    cli_ok("synth low-rank --tasks 41 --samples 12 --features 5 -o M.csv");
    cli_fails(2, "tasks",
              "train M.csv --method mp-groupsparse --ledger L.db --epsilon 1 "
              "-o b");
    assert_int_equal(entries(), 1);
    assert_int_equal(cli_count("b*"), 0);
    assert_int_equal(system("rm -r a"), 0);
}

/* Who asks says that they are the same tasks and one more; what is spent stays. */
static void a_ledger_goes_on_with_more_tasks(void **state) {
    const char more[] = "train M.csv --method mp-groupsparse --ledger L.db --epsilon 1";
    (void)state;
    make_world();
    cli_ok("synth low-rank --tasks 41 --samples 12 --features 5 -o M.csv");
    cli_ok("%s --epsilon 1 --budget-epsilon 3 --budget-delta 1e-4 -o a", train);
    cli_fails(2, "billboard ledger L.db --tasks 41", "%s -o b", more);
    cli_fails(1, "none.db", "ledger none.db --tasks 41");
    cli_result r = cli("ledger L.db --tasks 4x");
    assert_int_equal(r.code, 2);
    assert_non_null(strstr(r.err, "expected a number of tasks"));
    cli_free(&r);
    r = cli("ledger L.db --tasks 41");
    assert_int_equal(r.code, 0);
    assert_non_null(
        strstr(r.out, "40 or 41 tasks, replace-one, sampling: each run's "));
    assert_non_null(strstr(r.err, "--tasks -41 takes that back"));
    cli_free(&r);
    assert_close(spent("epsilon"), 1.0, 1e-9);
    r = cli("ledger L.db --tasks 410"); /* a typing mistake */
    assert_non_null(strstr(r.err, "--tasks -410 takes that back"));
    cli_free(&r);
    cli_fails(2, "begun for 40", "ledger L.db --tasks -40");
    cli_fails(2, "400 tasks cannot be taken back", "ledger L.db --tasks -400");
    r = cli("ledger L.db --tasks -410");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "40 or 41 tasks, replace-one"));
    cli_free(&r);
    cli_ok("%s -o b", more);
    cli_ok("%s --epsilon 1 -o c", train); /* those of before may go on, too */
    cli_fails(3, "budget", "%s -o d", more);
    json_t *j = cli_json("ledger L.db --json");
    assert_int_equal(cli_number(j, "tasks"), 40);
    assert_string_equal(cli_text(j, "sampling"), "each run's own");
    assert_int_equal(json_integer_value(json_array_get(cli_at(j, "also_tasks"), 0)),
                     41);
    json_decref(j);
    assert_int_equal(entries(), 3);
    assert_int_equal(system("rm -r a b c"), 0);
}

static void what_has_no_price_is_refused(void **state) {
    (void)state;
    make_world();
    const char budget[] = "--ledger L.db --budget-epsilon 5 --budget-delta 1e-4 -o x";
    cli_fails(2, "no price", "train W.csv --method mtl-trace %s", budget);
    cli_fails(2, "no price", "train W.csv --method stl %s", budget);
    cli_fails(2, "no price", "train W.csv --method mp-lowrank --mechanism none %s",
              budget);
    cli_fails(2, "no price",
              "train W.csv --method mp-lowrank --mechanism wishart-published "
              "--allow-broken-privacy --epsilon 1 %s",
              budget);
    cli_fails(2, "no price", "train W.csv --method mp-lowrank --epsilon 1 --seed 1 %s",
              budget);
    assert_false(cli_exists("L.db"));
    cli_write("no.db", "this is no ledger, and must stay what it is\n");
    cli_fails(1, "no.db",
              "train W.csv --method mp-lowrank --epsilon 1 --ledger no.db -o x");
    cli_fails(1, "no.db", "ledger no.db");
    cli_fails(1, "cannot open ledger none.db: No such file or directory",
              "ledger none.db");
    assert_false(cli_exists("none.db"));
    char *text = cli_read("no.db");
    assert_string_equal(text, "this is no ledger, and must stay what it is\n");
    free(text);
    assert_int_equal(cli_count("x*"), 0);
}

static const char long_run[] =
    "train W.csv --method mp-lowrank --rounds 400 --epsilon 0.5 "
    "--threads 1 --ledger L.db -o ";

static void assert_state(size_t entry, const char *state, const char *directory) {
    json_t *j = cli_json("ledger L.db --json");
    const json_t *e = json_array_get(cli_at(j, "entries"), entry);
    const char *found = cli_text(e, "directory"), *slash = strrchr(found, '/');
    assert_string_equal(cli_text(e, "state"), state);
    assert_true(*found == '/' && slash);
    assert_string_equal(slash + 1, directory);
    json_decref(j);
}

static void entries_say_what_became_of_runs(void **state) {
    (void)state;
    make_world();
    cli_ok("%s --epsilon 1 --budget-epsilon 5 --budget-delta 1e-3 -o good", train);
    assert_state(0, "done", "good");
    const pid_t pid = cli_start("train W.csv --method mp-lowrank --rounds 1000000 "
                                "--epsilon 0.5 --threads 1 --ledger L.db -o bad");
    for (int k = 0; k < 500 && entries() < 2; k++) cli_sleep(0.02);
    assert_state(1, "running", "bad");
    kill(pid, SIGKILL);
    cli_wait(pid);
    assert_state(1, "died", "bad");
    assert_close(spent("epsilon"), 1.5, 1e-9); /* all the same */
    cli_result r = cli("ledger L.db");
    assert_non_null(strstr(r.out, "  done     epsilon 1 "));
    assert_non_null(strstr(r.out, "  died     epsilon 0.5 "));
    cli_free(&r);
    assert_int_equal(system("rm -rf good bad*"), 0);
}

static void an_interrupted_run_names_its_charge(void **state) {
    (void)state;
    make_world();
    cli_ok("%s --epsilon 1 --budget-epsilon 5 --budget-delta 1e-3 -o good", train);
    const pid_t pid = cli_start("train W.csv --method mp-lowrank --rounds 1000000 "
                                "--epsilon 0.5 --threads 1 --ledger L.db -o bad");
    for (int k = 0; k < 500 && entries() < 2; k++) cli_sleep(0.02);
    kill(pid, SIGINT);
    assert_int_equal(cli_wait(pid), 130);
    char *err = cli_read(".err");
    const char words[] =
        "ledger L.db keeps the charge of (epsilon = 0.5, delta = 1e-05), "
        "adjacency replace-one, sampling: all\n";
    if (!strstr(err, words)) fail_msg("%s", err);
    free(err);
    assert_state(1, "died", "bad");
    assert_int_equal(system("rm -rf good bad*"), 0);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Was anything of the k-th run published, in a run directory or on the way to one? */
static bool is_published(int k) {
    char line[200];
    snprintf(line, sizeof line,
             "find k%d k%d.tmp-* -name billboard.bin -size +0 2>.null | grep -q .", k,
             k);
    return system(line) == 0;
}

/* A run that is killed at any moment has paid if anything of it was published. */
static void kill_9_never_under_counts(void **state) {
    (void)state;
    enum { RUNS = 60 };
    char line[300];
    size_t published = 0, silent = 0;
    make_world();
    cli_ok("%s --epsilon 0.5 --budget-epsilon 1000 --budget-delta 0.1 -o first", train);
    const double start = now();
    cli_ok("%slast", long_run);
    const double whole = now() - start;
    for (int k = 0; k < RUNS; k++) {
        snprintf(line, sizeof line, "%sk%d", long_run, k);
        const pid_t pid = cli_start(line);
        cli_sleep(whole * k / RUNS); /* from before its start to near its end */
        kill(pid, SIGKILL);
        cli_wait(pid);
        const bool shown = is_published(k);
        published += shown;
        silent += !shown;
        assert_true(entries() >= 2 + published);
        assert_true(spent("epsilon") >= 0.5 * (double)(2 + published) - 1e-9);
    }
    assert_true(silent > 0 && published > 0); /* moments on both sides */
    cli_ok("%s --epsilon 0.5 -o end", train);
    assert_true(entries() >= 3 + published);
    assert_int_equal(system("rm -rf k* first last end"), 0);
}

/* Two runs at once never get more than the budget. */
static void runs_at_once_share_the_budget(void **state) {
    (void)state;
    enum { RUNS = 6 };
    pid_t pid[RUNS];
    char line[300];
    int done = 0, refused = 0;
    make_world();
    cli_ok("%s --epsilon 1 --budget-epsilon 4 --budget-delta 1e-3 -o once", train);
    for (int k = 0; k < RUNS; k++) {
        snprintf(line, sizeof line,
                 "train W.csv --method mp-groupsparse --epsilon 1 --threads 1 --ledger "
                 "L.db -o p%d",
                 k);
        pid[k] = cli_start(line);
    }
    for (int k = 0; k < RUNS; k++) {
        const int code = cli_wait(pid[k]);
        done += code == 0;
        refused += code == 3;
    }
    assert_int_equal(done, 3);
    assert_int_equal(refused, RUNS - 3);
    assert_close(spent("epsilon"), 4.0, 1e-9);
    assert_int_equal(cli_count("p?"), 3);
}

/* Runs until the ledger refuses, and says how many there were. */
static int fill(const char *options) {
    char arguments[400];
    int runs = 0, code = 0;
    while (code == 0 && runs < 40) {
        snprintf(arguments, sizeof arguments, "%s --epsilon 0.5 %s -o full%d", train,
                 options, runs);
        cli_result r = cli("%s", arguments);
        code = r.code;
        runs += code == 0;
        cli_free(&r);
    }
    assert_int_equal(code, 3);
    assert_int_equal(cli_count("full*"), runs); /* nothing of the refused one */
    assert_int_equal(entries(), runs);
    assert_int_equal(system("rm -r full*"), 0);
    return runs;
}

/* The same budget holds more runs when it is counted in mu^2 or Renyi divergence. */
static void kinds_hold_more_runs(void **state) {
    (void)state;
    const char budget[] = "--set clip=1 --budget-epsilon 1.5 --budget-delta 3e-5 "
                          "--ledger-kind";
    char options[200];
    make_world();
    snprintf(options, sizeof options, "%s sum", budget);
    assert_int_equal(fill(options), 3);
    json_t *j = cli_json("ledger L.db --json");
    assert_string_equal(cli_text(j, "kind"), "sum");
    assert_true(json_is_null(cli_at(j, "order")));
    assert_close(cli_number(j, "left.epsilon"), 0.0, 1e-9);
    json_decref(j);
    make_world();
    snprintf(options, sizeof options, "%s gdp", budget);
    const int gdp = fill(options);
    assert_in_range(gdp, 7, 9);
    j = cli_json("ledger L.db --json");
    assert_string_equal(cli_text(j, "kind"), "gdp");
    assert_true(json_is_null(cli_at(j, "order")));
    const double one =
        cli_number(json_array_get(cli_at(j, "entries"), 0), "mu_squared");
    const double limit = cli_number(j, "budget.mu_squared");
    assert_int_equal(gdp, (int)floor(limit / one));
    assert_relative(cli_number(j, "spent.mu_squared"), gdp * one, 1e-12);
    assert_relative(cli_number(j, "left.mu_squared"), limit - gdp * one, 1e-9);
    assert_true(cli_number(j, "spent.epsilon") < 1.5);
    assert_true(cli_number(j, "spent.epsilon") > 1.2);
    assert_close(cli_number(j, "spent.delta"), 3e-5, 0.0);
    json_decref(j);
    make_world();
    snprintf(options, sizeof options, "%s rdp", budget);
    assert_in_range(fill(options), 6, gdp);
    j = cli_json("ledger L.db --json");
    assert_string_equal(cli_text(j, "kind"), "rdp");
    assert_true(cli_number(j, "order") > 1.0);
    assert_true(cli_number(j, "spent.rdp") <= cli_number(j, "budget.rdp"));
    json_decref(j);
    cli_result r = cli("ledger L.db");
    assert_non_null(strstr(r.out, "kind        rdp, order "));
    cli_free(&r);
}

static void kinds_are_kept(void **state) {
    (void)state;
    const char budget[] = "--epsilon 0.5 --budget-epsilon 2 --budget-delta 1e-4";
    make_world();
    cli_fails(2, "earlier results", "%s %s --ledger-kind pld -o a", train, budget);
    cli_fails(2, "sum, gdp or rdp", "%s %s --ledger-kind renyi -o a", train, budget);
    cli_fails(2, "no Renyi order", "%s %s --ledger-kind gdp --ledger-order 9 -o a",
              train, budget);
    cli_fails(2, "larger order", "%s %s --ledger-order 1.5 -o a", train, budget);
    cli_fails(2, "needs a ledger",
              "train W.csv --method mp-prior --epsilon 1 --ledger-kind gdp -o a");
    assert_false(cli_exists("L.db"));
    /* the automatic clip is a private selection, which Gaussian DP cannot count */
    cli_fails(2, "private selections", "%s %s --ledger-kind gdp -o a", train, budget);
    /* and neither can it radial noise */
    cli_fails(2, "no price for private selections and radial noise",
              "train W.csv --method dp-aggr --set calibration=instance --epsilon 1 "
              "--set lambda=1 --ledger L.db %s --ledger-kind gdp -o a",
              budget);
    assert_false(cli_exists("L.db")); /* they have fixed no kind */
    cli_ok("%s %s --set clip=1 --ledger-kind gdp -o a", train, budget);
    cli_fails(2, "of kind gdp, not sum", "%s %s --ledger-kind sum -o b", train, budget);
    cli_fails(2, "of kind gdp, not rdp", "%s %s --ledger-order 9 -o b", train, budget);
    assert_int_equal(entries(), 1);
    make_world();
    cli_ok("%s %s --ledger-kind rdp --ledger-order 9 -o b", train, budget);
    cli_fails(2, "order 9, not 8", "%s %s --ledger-order 8 -o c", train, budget);
    cli_ok("%s %s -o c", train, budget);
    assert_int_equal(entries(), 2);
    assert_int_equal(system("rm -r a b c"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_add_up_and_are_refused),
        cmocka_unit_test(other_terms_are_a_usage_error),
        cmocka_unit_test(a_ledger_goes_on_with_more_tasks),
        cmocka_unit_test(what_has_no_price_is_refused),
        cmocka_unit_test(kinds_hold_more_runs),
        cmocka_unit_test(kinds_are_kept),
        cmocka_unit_test(entries_say_what_became_of_runs),
        cmocka_unit_test(an_interrupted_run_names_its_charge),
        cmocka_unit_test(kill_9_never_under_counts),
        cmocka_unit_test(runs_at_once_share_the_budget),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
