/* models.csv is enough to predict, and one task's model can be handed out alone. */
#include "cli.h"

#include <sys/stat.h>

static bool python_is_there(void) {
    return system("python3 -c '' >/dev/null 2>&1") == 0;
}

/* Three columns of very different size, one of them with values outside its range and
 * one that never changes; and the public group of the task, which is no feature. */
static void make_rows(const char *path, int from, int to, bool labels) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("year,who,score,group,dose,one\n", file);
    for (int j = from; j < to; j++) {
        const int task = j * 8 % 35;
        const double year = 1990.0 + 30.0 * sin(j * 1.7), dose = 0.02 * cos(j * 0.9);
        const double y = 24.0 + 0.2 * (year - 1990.0) + 40.0 * dose + sin(j * 7.1);
        fprintf(file, "%.6f,\"t, %d\",%.6f,%d,%.6f,3\n", year, task,
                labels ? (double)(y > 24.0) : y, task % 3, dose);
    }
    fclose(file);
    cli_write("graph.json", "[[\"t, 0\", \"t, 1\", 1], [\"t, 1\", \"t, 5\", 2], "
                            "[\"t, 3\", \"t, 3\", 1]]");
    cli_write("ranges.json", "{\"target\": [10, 40], \"columns\": {\"year\": [1965, "
                             "2015], \"dose\": 0.02, \"one\": [3, 3]}}");
}

/* One text for Python's command line; runs are called p0, p1, ... */
static void expect_python(const char *data, int runs) {
    char command[4000];
    int used =
        snprintf(command, sizeof command, "python3 %s/tests/cli/repredict.py %s who",
                 BB_SOURCE_DIR, data);
    for (int k = 0; k < runs; k++)
        used += snprintf(command + used, sizeof command - (size_t)used, " p%d", k);
    if (system(command)) fail_msg("%s", command);
}

/* Methods and what they are told, ended by NULL. */
static const char *const squared[] = {
    "stl",
    "mtl-trace --set tolerance=1e-3",
    "mtl-l21 --set tolerance=1e-3",
    "mtl-mtrl --set tolerance=1e-3",
    "mp-lowrank --epsilon 2 --rounds 3",
    "mp-groupsparse --epsilon 2 --rounds 3",
    "mp-lrsp --epsilon 2 --rounds 3",
    "fedavg --epsilon 2 --rounds 2",
    "fedprox --epsilon 2 --rounds 2",
    "pmtl --epsilon 2 --rounds 2",
    "pmtl-clusters --epsilon 2 --rounds 2 --cluster group --clusters 3",
    "pmtl-graph --epsilon 2 --rounds 2 --graph graph.json",
    "ppsgd --epsilon 2 --rounds 2",
    "dp-aggr --epsilon 2",
    "dp-mtrl --epsilon 2",
    "mp-mixed --epsilon 2",
    "mp-prior --epsilon 2",
    "fedavg --epsilon 2 --rounds 2 --finetune vanilla",
    NULL};
static const char *const logistic[] = {
    "stl",
    "mp-lowrank --epsilon 2 --rounds 3",
    "dp-aggr --epsilon 2",
    "mp-centre --epsilon 2",
    "pmtl-clusters --epsilon 2 --rounds 2 --cluster group --clusters 3",
    NULL};
/* What protects single rows does not go with z-scores. */
static const char *const rows_alone[] = {"mp-instance --set instance-epsilon=1 --set "
                                         "gradient-clip=1 --set clip=1 --epsilon 2 "
                                         "--rounds 3",
                                         NULL};

/* Runs that learn from train.csv, named p0, p1, ...; how many there are now. */
static int train_with(const char *const *method, const char *loss,
                      const char *const *steps, int runs) {
    for (; *method; method++)
        for (size_t s = 0; steps[s]; s++, runs++) {
            const bool grouped = strstr(*method, "--cluster");
            cli_result r =
                cli("train train.csv --task who --target score --loss %s "
                    "--method %s %s %s -o p%d",
                    loss, *method, grouped ? "" : "--ignore group", steps[s], runs);
            if (r.code) fail_msg("%s %s: %s", *method, steps[s], r.err);
            cli_free(&r);
            cli_ok("predict p%d new.csv -o p%d.out", runs, runs);
        }
    return runs;
}

static void every_run_predicts_from_its_file(const char *const *method,
                                             const char *loss) {
    static const char *const steps[] = {
        "",
        "--no-intercept",
        "--standardize task",
        "--standardize magnitude",
        "--standardize unit-rows",
        "--scale ranges.json",
        "--scale ranges.json --no-intercept",
        "--scale ranges.json --standardize task",
        "--scale ranges.json --standardize unit-rows",
        NULL,
    };
    if (!python_is_there()) skip();
    make_rows("train.csv", 0, 300, *loss == 'l');
    make_rows("new.csv", 300, 400, false);
    expect_python("new.csv", train_with(method, loss, steps, 0));
    assert_int_equal(system("rm -r p*"), 0);
}

static void squared_models_predict_from_their_file(void **state) {
    (void)state;
    every_run_predicts_from_its_file(squared, "squared");
}

static void logistic_models_predict_from_their_file(void **state) {
    (void)state;
    every_run_predicts_from_its_file(logistic, "logistic");
}

static void row_private_models_predict_from_their_file(void **state) {
    (void)state;
    if (!python_is_there()) skip();
    make_rows("train.csv", 0, 300, false);
    make_rows("new.csv", 300, 400, false);
    static const char *const steps[] = {
        "--standardize unit-rows", "--scale ranges.json",
        "--scale ranges.json --standardize unit-rows", NULL};
    expect_python("new.csv", train_with(rows_alone, "squared", steps, 0));
    assert_int_equal(system("rm -r p*"), 0);
}

static bool is_among(const char *const *list, const char *name, size_t length) {
    while (*list && (strncmp(*list, name, length) != 0 ||
                     ((*list)[length] && (*list)[length] != ' ')))
        list++;
    return *list != NULL;
}

/* `billboard methods' begins a method in the first column: NAME (kind; losses). */
static void no_method_is_forgotten(void **state) {
    (void)state;
    size_t methods = 0;
    cli_result r = cli("methods");
    for (const char *line = r.out; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const size_t length = strcspn(line, " \n");
        if (!length || strncmp(line + length, " (", 2) != 0) continue;
        if (strncmp(line, "finetune ", 9) == 0 || strncmp(line, "vote ", 5) == 0)
            continue; /* after another one */
        const char *end = strchr(line, '\n');
        if (end && strncmp(end - 9, "networks)", 9) == 0) continue;
        methods++;
        if (!is_among(squared, line, length) && !is_among(logistic, line, length) &&
            !is_among(rows_alone, line, length))
            fail_msg("%.*s", (int)length, line);
    }
    assert_true(methods >= 17);
    cli_free(&r);
}

/* -- export
 * ----------------------------------------------------------------------------- */

/* Everything in the folder's files, one behind the other. */
static char *all_of(const char *folder) {
    char command[200];
    snprintf(command, sizeof command,
             "cat $(find %s -type f ! -name '*.bin') >everything", folder);
    assert_int_equal(system(command), 0);
    return cli_read("everything");
}

static void a_task_gets_its_model_and_nothing_else(void **state) {
    (void)state;
    make_rows("train.csv", 0, 300, false);
    cli_result run =
        cli("train train.csv --task who --target score --ignore group "
            "--method mp-lowrank --epsilon 2 --rounds 3 --scale ranges.json -o run");
    assert_int_equal(run.code, 0);
    cli_free(&run);
    run = cli("export run --task 't, 7' -o mine");
    assert_true(run.code == 0 && !*run.err && strstr(run.out, "t, 7"));
    cli_free(&run);
    assert_int_equal(cli_count("mine/*"), 2);
    assert_int_equal(cli_count("mine/task/*"), 4);
    assert_int_equal(system("diff -r run/public mine/public"), 0);
    struct stat folder;
    assert_int_equal(stat("mine/task", &folder), 0);
    assert_int_equal(folder.st_mode & 0777, 0700);
    char *text = all_of("mine");
    for (int i = 0; i < 35; i++) {
        char name[20];
        snprintf(name, sizeof name, "t, %d\"", i);
        assert_true((strstr(text, name) != NULL) == (i == 7));
    }
    free(text);
    cli_write("new.csv", "who,year,dose,one\n\"t, 7\",2001,0.01,3\n");
    cli_ok("predict run new.csv -o theirs.csv");
    cli_ok("predict mine new.csv -o own.csv");
    assert_int_equal(system("cmp theirs.csv own.csv"), 0);
    cli_write("seen.csv", "who,year,dose,one,score\n\"t, 7\",2001,0.01,3,25\n");
    json_t *own = cli_json("evaluate mine seen.csv --json"),
           *all = cli_json("evaluate run seen.csv --json");
    assert_close(cli_number(own, "test.rmse"), cli_number(all, "test.rmse"), 0.0);
    json_decref(own);
    json_decref(all);
    cli_write("new.csv", "who,year,dose,one\n\"t, 8\",2001,0.01,3\n");
    cli_fails(1, "t, 8", "predict mine new.csv -o other.csv");
}

static void an_export_is_complete_or_not_there(void **state) {
    (void)state;
    make_rows("train.csv", 0, 300, false);
    cli_ok("train train.csv --task who --target score --method stl -o whole");
    cli_fails(1, "has no task \"nobody\"", "export whole --task nobody -o x");
    cli_fails(2, "exists", "export whole --task 't, 1' -o train.csv");
    cli_fails(1, "not a run directory", "export train.csv --task 't, 1' -o x");
    cli_fails(2, "--task", "export whole -o x");
    assert_int_equal(system("rm whole/public/statement.txt && mkdir "
                            "whole/public/statement.txt && chmod 0 "
                            "whole/public/privacy.json"),
                     0);
    if (geteuid() != 0) /* whom no file refuses */
        cli_fails(3, "privacy.json", "export whole --task 't, 1' -o x");
    assert_int_equal(cli_count("x*"), 0);
}

/* Several outputs: one task's matrix. */
static void an_export_of_several_outputs(void **state) {
    (void)state;
    cli_ok("synth classes -o C.csv --tasks 6 --samples 20");
    cli_ok("train C.csv --method stl --loss softmax -o classes");
    cli_ok("predict classes C.csv -o all.csv");
    assert_int_equal(system("(head -1 C.csv; grep '^3,' C.csv) >C3.csv"), 0);
    cli_ok("predict classes C3.csv -o theirs.csv");
    cli_result r = cli("export classes --task 3 -o three");
    assert_int_equal(r.code, 0);
    cli_free(&r);
    cli_ok("predict three C3.csv -o own.csv");
    assert_int_equal(system("cmp theirs.csv own.csv"), 0);
    cli_fails(1, "task", "predict three C.csv -o other.csv");
}

/* Several outputs in units of each task's own: moved and stretched columns change next
 * to no class that is predicted, of 1,200, since models in files are for columns as they are. */
static void classes_in_own_units(void **state) {
    (void)state;
    static const struct {
        const char *options, *change;
    } how[] = {
        {"--method stl --standardize task", "$k * ($1 < 30 ? 100 : 1000) + 7 * $1"},
        {"--method stl --standardize magnitude", "$k * ($1 < 30 ? 100 : 1000)"},
        {"--method mp-centre --mechanism none", "$k * 100"}};
    char change[200];
    cli_ok("synth classes -o C.csv --tasks 60 --samples 20 --features 4 --labels 4");
    for (size_t run = 0; run < sizeof how / sizeof *how; run++) {
        snprintf(change, sizeof change,
                 "awk -F, -v OFS=, 'NR > 1 {for (k = 3; k < 7; k++) $k = %s} 1' C.csv "
                 ">D.csv",
                 how[run].change);
        assert_int_equal(system(change), 0);
        for (const char *data = "CD"; *data; data++) {
            cli_ok("train %c.csv --loss softmax %s -o own%c", *data, how[run].options,
                   *data);
            cli_ok("predict own%c %c.csv -o own%c.csv", *data, *data, *data);
        }
        assert_int_equal(
            system("for k in C D; do cut -d, -f1,2 own$k.csv >$k.cut; done; "
                   "test $(diff C.cut D.cut | grep -c '^<') -lt 4"),
            0);
        assert_int_equal(system("rm -r ownC ownD ownC.csv ownD.csv"), 0);
    }
}

/* Sparse rows: the shared matrix and the task's own rows of it. */
static void an_export_of_sparse_models(void **state) {
    (void)state;
    cli_ok("synth multilabel -o M.svm --tasks 12 --labels 20 --features 40");
    cli_result r = cli("train M.svm --method fedavg --loss multilabel --epsilon 5 "
                       "--rounds 2 --features 40 --classes 20 -o many");
    if (r.code) fail_msg("%s", r.err);
    cli_free(&r);
    assert_int_equal(system("grep ' qid:2 ' M.svm >M2.svm"), 0);
    cli_ok("predict many M2.svm -o theirs.csv");
    r = cli("export many --task 2 -o two");
    assert_int_equal(r.code, 0);
    cli_free(&r);
    cli_ok("predict two M2.svm -o own.csv");
    assert_int_equal(system("cmp theirs.csv own.csv"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squared_models_predict_from_their_file),
        cmocka_unit_test(logistic_models_predict_from_their_file),
        cmocka_unit_test(row_private_models_predict_from_their_file),
        cmocka_unit_test(no_method_is_forgotten),
        cmocka_unit_test(a_task_gets_its_model_and_nothing_else),
        cmocka_unit_test(an_export_is_complete_or_not_there),
        cmocka_unit_test(an_export_of_several_outputs),
        cmocka_unit_test(classes_in_own_units),
        cmocka_unit_test(an_export_of_sparse_models),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
