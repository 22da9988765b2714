/* What a run leaves behind: everything, or nothing. */
#include "cli.h"

#include <signal.h>
#include <sys/stat.h>

static const char endless[] = "train W.csv --method mp-lowrank --epsilon 1 --rounds "
                              "1000000 --threads 1 -o long";

static void make_world(void) {
    if (!cli_exists("W.csv"))
        cli_ok("synth low-rank --tasks 40 --samples 12 --features 5 --seed 2 -o W.csv");
}

/* Waits until the run publishes. */
static pid_t start_and_wait_for_releases(void) {
    const pid_t pid = cli_start(endless);
    for (int k = 0; k < 500 && !cli_count("long.tmp-*/public/billboard.bin"); k++)
        cli_sleep(0.02);
    assert_int_equal(cli_count("long.tmp-*/public/billboard.bin"), 1);
    cli_sleep(0.05);
    return pid;
}

static void a_run_leaves_two_halves(void **state) {
    (void)state;
    make_world();
    cli_ok(
        "train W.csv --method mp-groupsparse --epsilon 1 --rounds 6 --test W.test.csv "
        "-o run");
    const char *const file[] = {"public/billboard.bin", "public/billboard.json",
                                "public/privacy.json",  "public/statement.txt",
                                "public/options.json",  "operator/run.json",
                                "operator/models.csv",  "operator/preprocessing.json",
                                "operator/models.json", "operator/limits.csv"};
    for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
        char path[64];
        snprintf(path, sizeof path, "run/%s", file[k]);
        if (!cli_exists(path)) fail_msg("%s is missing", path);
    }
    assert_int_equal(cli_count("run/*/*"), sizeof file / sizeof *file);
    assert_int_equal(cli_count("run.*"), 0);
    char *models = cli_read("run/operator/models.csv");
    assert_ptr_equal(strstr(models, "task,intercept,x1,x2,x3,x4,x5\n"), models);
    free(models);
    models = cli_read("run/operator/models.json");
    assert_non_null(strstr(models, "its task alone"));
    free(models);
    /* the public half says nothing of rows, metrics or models */
    for (size_t k = 1; k < 5; k++) {
        char path[64];
        snprintf(path, sizeof path, "run/%s", file[k]);
        char *text = cli_read(path);
        assert_null(strstr(text, "nmse"));
        assert_null(strstr(text, "models_sha256"));
        assert_null(strstr(text, "\"rows\""));
        free(text);
    }
}

/* The public options and the same data are the same run, wherever: the ranges are in
 * them, and not only the name of their file. */
static void the_public_options_are_the_run(void **state) {
    (void)state;
    make_world();
    const char *const flags[] = {
        "--method mp-groupsparse --epsilon 1 --rounds 3 --scale ranges.json",
        "--method mp-lowrank --epsilon 1 --rounds 2 --mechanism wishart-published "
        "--allow-broken-privacy --scale ranges.json",
        "--method pmtl --epsilon 2 --sampling poisson:0.3 --set clip=0.7 --delta paper "
        "--finetune kl,penalty=0.5 --train-fraction 0.5 --split-seed 3 --no-intercept"};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        cli_write("ranges.json",
                  "{\"target\": [-20, 20], \"others\": [-5, 5.1], \"note\": \"n\"}");
        json_t *a =
            cli_json("train W.csv --seed 5 --json --force -o first %s", flags[k]);
        assert_int_equal(system("mkdir elsewhere && cp W.csv elsewhere/data && cp "
                                "first/public/options.json elsewhere/o && "
                                "rm ranges.json"),
                         0);
        json_t *b = cli_json("train elsewhere/data --format csv --config elsewhere/o "
                             "--json -o elsewhere/run");
        assert_string_equal(cli_text(a, "billboard_sha256"),
                            cli_text(b, "billboard_sha256"));
        assert_string_equal(cli_text(a, "models_sha256"), cli_text(b, "models_sha256"));
        assert_int_equal(system("rm -r elsewhere"), 0);
        json_decref(a);
        json_decref(b);
    }
}

/* Where files of the operator's machine lie, and how they are called, is nobody's
 * business: not one word of it is in the public half. */
static void the_public_half_names_no_file(void **state) {
    (void)state;
    make_world();
    cli_write("ranges-of-nobody.json", "{\"target\": [-20, 20], \"others\": [-5, 5]}");
    cli_write("config-of-nobody.json", "{\"delta\": \"0.001\"}");
    /* its models may be worse than the mean, which draws a warning */
    cli_result r = cli("train W.csv --method mp-groupsparse --epsilon 1 --rounds 3 "
                       "--scale $PWD/ranges-of-nobody.json --test $PWD/W.test.csv "
                       "--ledger $PWD/spent-of-nobody --population nobody "
                       "--budget-epsilon 5 --budget-delta 0.01 "
                       "--config $PWD/config-of-nobody.json -o out-of-nobody");
    assert_int_equal(r.code, 0);
    cli_free(&r);
    char folder[1024];
    assert_non_null(getcwd(folder, sizeof folder));
    const char *const file[] = {"billboard.json", "privacy.json", "statement.txt",
                                "options.json"};
    for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
        char path[64];
        snprintf(path, sizeof path, "out-of-nobody/public/%s", file[k]);
        char *text = cli_read(path);
        const char *const word[] = {folder, "ranges-of-nobody", "W.test",
                                    "out-of-nobody", "config-of-nobody"};
        for (size_t w = 0; w < sizeof word / sizeof *word; w++)
            if (strstr(text, word[w])) fail_msg("%s has \"%s\"", path, word[w]);
        free(text);
    }
    char *options = cli_read("out-of-nobody/public/options.json");
    assert_null(strstr(options, "spent-of-nobody"));
    free(options);
}

/* The file is the hashed billboard, and the index covers it. */
static void the_billboard_is_whole(void **state) {
    (void)state;
    make_world();
    json_t *run =
        cli_json("train W.csv --method mp-lowrank --epsilon 1 --rounds 4 --json "
                 "-o bill");
    assert_int_equal(system("sha256sum <bill/public/billboard.bin >sum"), 0);
    char *sum = cli_read("sum");
    assert_memory_equal(sum, cli_text(run, "billboard_sha256"), 64);
    free(sum);
    json_t *index = json_load_file("bill/public/billboard.json", 0, NULL);
    const json_t *releases = cli_at(index, "releases");
    size_t at = 0;
    assert_int_equal(json_array_size(releases), cli_number(run, "rounds"));
    for (size_t t = 0; t < json_array_size(releases); t++) {
        const json_t *release = json_array_get(releases, t);
        assert_int_equal(cli_number(release, "round"), t + 1);
        for (size_t b = 0; b < json_array_size(cli_at(release, "blocks")); b++) {
            const json_t *block = json_array_get(cli_at(release, "blocks"), b);
            size_t count = 1;
            for (size_t k = 0; k < json_array_size(cli_at(block, "shape")); k++)
                count *= (size_t)json_integer_value(
                    json_array_get(cli_at(block, "shape"), k));
            assert_int_equal(cli_number(block, "at"), at);
            at += count;
        }
    }
    struct stat file;
    assert_int_equal(stat("bill/public/billboard.bin", &file), 0);
    assert_int_equal(file.st_size, 8 * at);
    assert_int_equal(cli_number(index, "count"), at);
    json_decref(index);
    json_decref(run);
}

static void an_open_method_has_no_public_billboard(void **state) {
    (void)state;
    make_world();
    cli_ok("train W.csv --method mtl-trace -o clear");
    struct stat file;
    assert_int_equal(stat("clear/public/billboard.bin", &file), 0);
    assert_int_equal(file.st_size, 0);
    char *statement = cli_read("clear/public/statement.txt");
    assert_non_null(strstr(statement, "No privacy"));
    free(statement);
}

static void interrupted(int number) {
    make_world();
    const pid_t pid = start_and_wait_for_releases();
    assert_int_equal(kill(pid, number), 0);
    assert_int_equal(cli_wait(pid), 130);
    assert_int_equal(cli_count("long*"), 0);
    char *out = cli_read(".out"), *err = cli_read(".err");
    assert_string_equal(out, "");
    assert_int_equal(strncmp(err, "billboard: ", 11), 0);
    assert_non_null(strstr(err, "nothing was written, nothing was charged\n"));
    free(out);
    free(err);
}

static void ctrl_c_leaves_nothing(void **state) {
    (void)state;
    interrupted(SIGINT);
}

static void sigterm_leaves_nothing(void **state) {
    (void)state;
    interrupted(SIGTERM);
}

/* The terminal was closed. */
static void sighup_leaves_nothing(void **state) {
    (void)state;
    interrupted(SIGHUP);
}

/* Under nohup it goes on. */
static void an_ignored_sighup_stays_ignored(void **state) {
    (void)state;
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    make_world();
    assert_int_equal(sigaction(SIGHUP, &ignore, &before), 0);
    const pid_t pid = cli_start("train W.csv --method mp-lowrank --epsilon 1 --rounds "
                                "20000 --threads 1 -o hup");
    assert_int_equal(sigaction(SIGHUP, &before, NULL), 0);
    for (int k = 0; k < 500 && !cli_count("hup.tmp-*"); k++) cli_sleep(0.02);
    kill(pid, SIGHUP);
    assert_int_equal(cli_wait(pid), 0);
    assert_true(cli_exists("hup/public/statement.txt"));
}

static void kill_9_leaves_only_the_temporary_directory(void **state) {
    (void)state;
    make_world();
    const pid_t pid = start_and_wait_for_releases();
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(cli_wait(pid), 128 + SIGKILL);
    assert_false(cli_exists("long"));
    assert_int_equal(cli_count("long.tmp-*"), 1);
    /* which is in nobody's way, nor is the lock's file */
    cli_ok("train W.csv --method stl -o long");
    assert_int_equal(cli_count("long.lock"), 0);
    assert_int_equal(system("rm -r long.tmp-* long"), 0);
}

/* None while there is no ledger yet, or only its empty file. */
static size_t charges(void) {
    cli_result r = cli("ledger L.db --json");
    json_t *j = r.code ? NULL : json_loads(r.out, 0, NULL);
    const size_t count = json_array_size(json_object_get(j, "entries"));
    json_decref(j);
    cli_free(&r);
    return count;
}

/* The place is reserved before the ledger is charged. */
static void one_run_at_a_time_has_a_place(void **state) {
    (void)state;
    const char train[] = "train W.csv --method mp-lowrank --epsilon 1 --ledger L.db "
                         "--budget-epsilon 9 --budget-delta 1e-3 --threads 1";
    char line[300];
    make_world();
    snprintf(line, sizeof line, "%s --rounds 1000000 -o long", train);
    const pid_t pid = cli_start(line);
    for (int k = 0; k < 500 && !cli_count("long.tmp-*/public/billboard.bin"); k++)
        cli_sleep(0.02);
    for (int k = 0; k < 500 && !charges(); k++) cli_sleep(0.02);
    cli_fails(2, "another run", "%s -o long", train);
    cli_fails(2, "another run", "%s --force -o long/", train);
    assert_int_equal(charges(), 1);
    assert_int_equal(kill(pid, SIGINT), 0);
    assert_int_equal(cli_wait(pid), 130);
    assert_int_equal(cli_count("long*"), 0);
    cli_ok("%s -o long", train);
    cli_fails(2, "exists already", "%s -o long", train);
    assert_int_equal(charges(), 2);
    assert_int_equal(system("rm -r long L.db*"), 0);
}

/* Without clipping this diverges to infinity: the run has paid, and stays. */
static void a_baseline_that_fails_takes_nothing_along(void **state) {
    (void)state;
    make_world();
    cli_result r =
        cli("train W.csv --method fedavg --batch 4 --set rate=50 --rounds 200 "
            "--finetune none --epsilon 1 --compare stl,no-privacy "
            "--ledger L.db --budget-epsilon 9 --budget-delta 1e-3 "
            "--test W.test.csv --json -o paid");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "comparison with no-privacy is left out"));
    json_t *printed = json_loads(r.out, 0, NULL);
    json_t *kept = json_load_file("paid/operator/run.json", 0, NULL);
    assert_true(json_is_null(cli_at(printed, "compare.no-privacy")));
    assert_true(json_is_null(cli_at(kept, "compare.no-privacy")));
    assert_true(cli_number(kept, "compare.stl.test.nmse") > 0.0);
    assert_true(cli_exists("paid/public/statement.txt"));
    assert_true(cli_exists("paid/operator/models.csv"));
    assert_int_equal(charges(), 1);
    json_decref(printed);
    json_decref(kept);
    cli_free(&r);
    assert_int_equal(system("rm -r paid L.db*"), 0);
}

/* That a run ends here depends on private data: it says so, and costs nothing. */
static void data_that_end_a_run_end_it_before_the_charge(void **state) {
    (void)state;
    make_world();
    assert_int_equal(system("sed '7s/,.*/,1,1e200,0,0,0,0/' W.csv >huge.csv"), 0);
    cli_result r =
        cli("train huge.csv --method mp-lowrank --standardize none --epsilon 1 "
            "--ledger L.db --budget-epsilon 9 --budget-delta 1e-3 -o huge");
    assert_int_equal(r.code, 1);
    assert_non_null(strstr(r.err, "before anything was charged or published"));
    assert_false(cli_exists("L.db"));
    assert_int_equal(cli_count("huge*"), 1);
    cli_free(&r);
}

static void an_existing_run_stays(void **state) {
    (void)state;
    make_world();
    cli_ok("train W.csv --method stl --set lambda=0.1 -o twice");
    char *before = cli_read("twice/operator/models.csv");
    cli_fails(2, "exists already", "train W.csv --method stl --set lambda=1 -o twice");
    cli_fails(2, "exists already", "train W.csv --method stl --set lambda=1 -o twice/");
    char *after = cli_read("twice/operator/models.csv");
    assert_string_equal(before, after);
    free(after);
    cli_ok("train W.csv --method stl --set lambda=1 --force -o twice");
    after = cli_read("twice/operator/models.csv");
    assert_string_not_equal(before, after);
    free(before);
    free(after);
    assert_int_equal(cli_count("twice.*"), 0);
    assert_int_equal(mkdir("precious", 0777), 0);
    cli_write("precious/thesis.txt", "years of work");
    cli_fails(2, "not a run directory", "train W.csv --method stl --force -o precious");
    cli_fails(2, "not a run directory", "train W.csv --method stl --force -o W.csv");
    assert_true(cli_exists("precious/thesis.txt"));
    cli_fails(1, "nowhere/run", "train W.csv --method stl -o nowhere/run");
}

/* A forced run that fails leaves the old one. */
static void a_failed_replacement_keeps_the_old(void **state) {
    (void)state;
    make_world();
    cli_write("empty.csv", "task,y,x\n");
    cli_ok("train W.csv --method stl -o kept");
    char *before = cli_read("kept/operator/run.json");
    cli_fails(2, "W.csv", "train W.csv --target z --method stl --force -o kept");
    cli_fails(1, "empty.csv", "train empty.csv --method stl --force -o kept");
    cli_fails(2, "schedule",
              "train W.csv --method mp-lowrank --epsilon 1 --schedule x "
              "--force -o kept");
    char *after = cli_read("kept/operator/run.json");
    assert_string_equal(before, after);
    assert_int_equal(cli_count("kept.*"), 0);
    free(before);
    free(after);
}

/* Where sizes forbid that anything is published no line speaks of noise, or of an ε. */
static void what_is_not_published_has_no_noise(void **state) {
    (void)state;
    make_world();
    cli_result r = cli("train W.csv --test W.test.csv --first-tasks 6 --epsilon 0.5 "
                       "-o few");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "\ntest rows: mp-mixed  "));
    assert_non_null(strstr(r.out, "Nothing was exchanged"));
    assert_null(strstr(r.out, "gaussian noise *"));
    assert_null(strstr(r.out, "\n* a whole task"));
    cli_free(&r);
    char *privacy = cli_read("few/public/privacy.json");
    assert_non_null(strstr(privacy, "\"exchanged\": false"));
    free(privacy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_leaves_two_halves),
        cmocka_unit_test(the_public_options_are_the_run),
        cmocka_unit_test(the_public_half_names_no_file),
        cmocka_unit_test(the_billboard_is_whole),
        cmocka_unit_test(an_open_method_has_no_public_billboard),
        cmocka_unit_test(ctrl_c_leaves_nothing),
        cmocka_unit_test(sigterm_leaves_nothing),
        cmocka_unit_test(sighup_leaves_nothing),
        cmocka_unit_test(an_ignored_sighup_stays_ignored),
        cmocka_unit_test(kill_9_leaves_only_the_temporary_directory),
        cmocka_unit_test(one_run_at_a_time_has_a_place),
        cmocka_unit_test(a_baseline_that_fails_takes_nothing_along),
        cmocka_unit_test(data_that_end_a_run_end_it_before_the_charge),
        cmocka_unit_test(an_existing_run_stays),
        cmocka_unit_test(a_failed_replacement_keeps_the_old),
        cmocka_unit_test(what_is_not_published_has_no_noise),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
