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

/* Two test rows do not tell a task's variance, and exact models are no better than others. */
static void few_rows_say_little_of_a_task(void **state) {
    (void)state;
    FILE *f = fopen("pairs.csv", "w"), *g = fopen("levels.csv", "w");
    assert_true(f && g);
    fputs("task,y,a\n", f);
    fputs("task,y,a\n", g);
    for (int r = 0; r < 300; r++) {
        fprintf(f, "%d,%.4f,%.4f\n", r / 5, sin(r * 7.7), cos(r * 3.1));
        fprintf(g, "%d,%d,%.4f\n", r / 60, r / 60, cos(r * 3.1));
    }
    fclose(f);
    fclose(g);
    cli_result r = cli("train pairs.csv --method stl --train-fraction 0.6 -o pairs");
    assert_true(r.code == 0 && !strstr(r.out, "one task's"));
    cli_free(&r);
    r = cli(
        "train levels.csv --method mp-prior --epsilon 1 --seed 1 --train-fraction 0.7 "
        "--compare stl -o levels");
    assert_true(r.code == 0 && strstr(r.out, "one task's nMSE") == NULL);
    assert_null(strstr(r.out, "squared error saved: -"));
    cli_free(&r);
}

static void write_whole(void) {
    write_labels();
    cli_ok("train labels.csv --method stl --loss logistic --force -o whole");
}

/* y near 3 x + the task, of x in [0, 1]: 8 rows a task. */
static void write_lines(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("task,y,x\n", file);
    for (int j = 0; j < 240; j++)
        fprintf(file, "%d,%.4f,%.4f\n", j / 8,
                j / 8 % 5 + 3.0 * (j % 8) / 8 + sin(j * 7.7), j % 8 / 8.0);
    fclose(file);
}

/* The prediction of the only row. */
static double said_of(const char *run, const char *data) {
    double z = NAN;
    cli_result r = cli("predict %s %s -o -", run, data);
    assert_int_equal(r.code, 0);
    assert_int_equal(sscanf(r.out, "task,prediction\n7,%lf\n", &z), 1);
    cli_free(&r);
    return z;
}

/* A row that is far away is predicted near what its task has seen: in training, again from the
 * run's files, in what its task is given; and what it is compared with has that, too. */
static void predictions_stay_near_what_a_task_has_seen(void **state) {
    (void)state;
    char line[200];
    double low, high;
    write_lines("lines.csv");
    cli_write("far.csv", "task,y,x\n7,3,10000\n");
    json_t *run = cli_json("train lines.csv --test far.csv --epsilon 5 --seed 1 "
                           "--compare stl --json -o line");
    const double error = cli_number(run, "test.rmse");
    assert_true(error < 200.0);
    assert_true(cli_number(run, "compare.stl.test.rmse") < 200.0);
    assert_true(cli_number(run, "compare.own.test.rmse") < 200.0);
    assert_true(cli_number(run, "compare.pooled.test.rmse") < 200.0);
    assert_true(cli_number(run, "compare.mixed.test.rmse") < 200.0);
    json_t *again = cli_json("evaluate line far.csv --json");
    assert_close(cli_number(again, "test.rmse"), error, 0.0);
    const double z = said_of("line", "far.csv");
    assert_close(fabs(z - 3.0), error, 0.0);
    cli_ok("export line --task 7 -o mine7");
    assert_close(said_of("mine7", "far.csv"), z, 0.0);
    FILE *file = fopen("mine7/task/limits.csv", "r");
    assert_non_null(file);
    assert_true(fgets(line, sizeof line, file) && fgets(line, sizeof line, file));
    assert_int_equal(sscanf(line, "7,%lf,%lf", &low, &high), 2);
    assert_true((z == low || z == high) && !fgets(line, sizeof line, file));
    fclose(file);
    cli_fails(2, "is read", "predict line far.csv -o line/operator/limits.csv");
    json_decref(run);
    json_decref(again);
    /* of a run of before, and of one that somebody changed */
    assert_int_equal(system("rm line/operator/limits.csv"), 0);
    assert_true(fabs(said_of("line", "far.csv")) > 1000.0);
    cli_write("line/operator/limits.csv", "task,low,high\n0,1\n");
    cli_fails(1, "limits.csv: line 2: expected", "predict line far.csv -o p");
    assert_int_equal(system("rm -r line mine7"), 0);
}

/* Of the first task, which has seen 0 and 1 in two rows. */
static void assert_limits(const char *options, double low, double high) {
    char line[200];
    double found[2];
    json_decref(cli_json("train two.csv --epsilon 1 --seed 1 --json -o two --force%s",
                         options));
    FILE *file = fopen("two/operator/limits.csv", "r");
    assert_non_null(file);
    assert_true(fgets(line, sizeof line, file) && fgets(line, sizeof line, file));
    assert_int_equal(sscanf(line, "0,%lf,%lf", &found[0], &found[1]), 2);
    fclose(file);
    assert_close(found[0], low, 1e-9);
    assert_close(found[1], high, 1e-9);
}

/* Where somebody has written down a range, others may know of rows that are far away. */
static void without_ranges_predictions_stay_nearer(void **state) {
    (void)state;
    FILE *file = fopen("two.csv", "w");
    assert_non_null(file);
    fputs("task,y,x,z\n", file);
    for (int j = 0; j < 80; j++)
        fprintf(file, "%d,%d,%d,%d\n", j / 2, j % 2, 7 * j % 5, 3 * j % 11);
    fclose(file);
    assert_limits("", -10.0, 11.0);
    assert_limits(" --scale '{\"columns\": {\"x\": [0, 5]}, \"others\": \"open\"}'",
                  -37.0, 38.0);
    assert_limits(
        " --scale '{\"target\": [0, 1], \"columns\": {\"x\": [0, 5], \"z\": [0, 11]}}'",
        -37.0, 38.0);
}

/* Tasks that the shared model answers for have none: they have no rows. */
static void the_shared_model_has_no_limits(void **state) {
    (void)state;
    double known, unknown;
    write_lines("lines.csv");
    cli_write("far.csv", "task,x\n7,10000\n");
    cli_write("both.csv", "task,x\n7,10000\nnew,10000\n");
    json_decref(
        cli_json("train lines.csv --method dp-aggr --standardize none --epsilon 50 "
                 "--seed 1 --json -o share"));
    cli_result r = cli("predict share both.csv --unknown shared -o -");
    assert_int_equal(
        sscanf(r.out, "task,prediction\n7,%lf\nnew,%lf\n", &known, &unknown), 2);
    assert_close(known, said_of("share", "far.csv"), 0.0);
    assert_true(fabs(known) < 200.0 && fabs(unknown) > 1000.0);
    cli_free(&r);
    assert_int_equal(system("rm -r share"), 0);
}

/* Rows without a target are predicted, and evaluate counts them out. */
static void targets_may_be_missing(void **state) {
    (void)state;
    write_whole();
    cli_write("new.csv", "task,y,a\n0,1,0.5\n1,,0.25\n2,NA,0.5\n1,0,0.1\n");
    cli_write("bare.csv", "task,a\n0,0.5\n1,0.25\n2,0.5\n1,0.1\n");
    cli_write("seen.csv", "task,y,a\n0,1,0.5\n1,0,0.1\n");
    cli_ok("predict whole new.csv -o new.out");
    cli_ok("predict whole bare.csv -o bare.out");
    assert_int_equal(system("cmp new.out bare.out"), 0);
    json_t *some = cli_json("evaluate whole new.csv --json"),
           *all = cli_json("evaluate whole seen.csv --json");
    assert_true(json_equal(cli_at(some, "test"), cli_at(all, "test")));
    assert_int_equal((int)cli_number(some, "rows_without_target"), 2);
    json_decref(some);
    json_decref(all);
    cli_result r = cli("evaluate whole new.csv");
    assert_true(r.code == 0 && strstr(r.err, "2 rows without a target"));
    cli_free(&r);
    cli_write("new.csv", "task,y,a\n0,NA,0.5\n");
    cli_fails(1, "no row has a target", "evaluate whole new.csv");
}

/* What is wrong with new rows is not mended by options that only training has. */
static void messages_are_of_the_run(void **state) {
    (void)state;
    write_whole();
    cli_write("new.csv", "task,y,a\n0,1,\n");
    cli_fails(
        1,
        "new.csv:2:3 (column \"a\"): expected a number, found an empty cell; the run "
        "was trained without a rule for it (train --missing), so that such rows",
        "predict whole new.csv -o p");
    cli_fails(1, "such rows have to be left out of the file", "evaluate whole new.csv");
    cli_write("new.csv", "task,a,b\n0,1,x\n");
    cli_fails(
        1,
        "found \"x\"; the run was trained without levels of such texts; columns that "
        "it did not learn from are left out: --ignore b",
        "predict whole new.csv -o p");
    cli_ok("predict whole new.csv --ignore b -o new.out");
    cli_write("new.csv", "task,y,a\n0,no idea,1\n");
    cli_result r = cli("evaluate whole new.csv");
    assert_true(r.code == 1 && !strstr(r.err, "--categories"));
    cli_free(&r);
}

/* Classes keep their names, which the run has under its target's. */
static void new_rows_may_call_their_columns_otherwise(void **state) {
    (void)state;
    cli_write("names.json", "{\"y\": [\"dead\", \"alive\"], \"city\": [\"Bergen\"]}");
    cli_write("old.csv", "task,city,y,a\n0,Oslo,alive,1\n0,Bergen,dead,2\n"
                         "1,Oslo,dead,3\n1,Bergen,alive,5\n");
    cli_write("new.csv", "fate,ward,a,city\nalive,0,1,Oslo\ndead,0,2,Bergen\n"
                         "dead,1,3,Oslo\nalive,1,5,Bergen\n");
    cli_ok(
        "train old.csv --method stl --loss logistic --categories names.json -o named");
    cli_ok("predict named old.csv -o old.out");
    cli_ok("predict named new.csv --task ward --target fate -o new.out");
    assert_int_equal(system("cmp old.out new.out && grep -q alive new.out"), 0);
    json_t *old = cli_json("evaluate named old.csv --json"),
           *new = cli_json("evaluate named new.csv --task ward --target fate --json");
    assert_true(json_equal(cli_at(old, "test"), cli_at(new, "test")));
    json_decref(old);
    json_decref(new);
    cli_write("bare.csv", "ward,a,city\n0,1,Oslo\n0,2,Bergen\n1,3,Oslo\n1,5,Bergen\n");
    cli_ok("predict named bare.csv --task ward -o bare.out");
    assert_int_equal(system("cmp old.out bare.out"), 0);
    cli_fails(1, "bare.csv: no column \"task\" for --task; the columns are \"ward\"",
              "predict named bare.csv -o p");
    cli_fails(1, "bare.csv: no column \"fate\" for --target",
              "evaluate named bare.csv --task ward --target fate");
    cli_fails(2, "cannot be both task and target",
              "evaluate named bare.csv --task ward --target ward");
}

static void unknown_tasks_are_an_error_or_skipped(void **state) {
    (void)state;
    write_whole();
    cli_write("new.csv", "task,a,y\n9,0.5,1\n1,0.25,0\n9,0.1,0\n");
    cli_write("known.csv", "task,a,y\n1,0.25,0\n");
    cli_fails(1, "new.csv:2: task \"9\" has no model", "predict whole new.csv -o p");
    cli_fails(2, "--unknown expects", "predict whole new.csv --unknown x -o p");
    cli_result r = cli("predict whole new.csv --unknown skip -o some.out");
    assert_true(r.code == 0 && strstr(r.err, "2 rows of tasks without a model"));
    cli_free(&r);
    cli_ok("predict whole known.csv -o known.out");
    assert_int_equal(system("cmp some.out known.out"), 0);
    json_t *json = cli_json("evaluate whole new.csv --unknown skip --json");
    assert_int_equal((int)cli_number(json, "test.rows"), 1);
    assert_int_equal((int)cli_number(json, "rows_of_unknown_tasks"), 2);
    json_decref(json);
}

/* What is left out, or answered by a model that is not its own, may be there in another
 * spelling. */
static void unknown_tasks_that_look_like_known_ones(void **state) {
    (void)state;
    const char hint[] =
        "task \"Ko\xcc\x88ln\" has no model; \"K\xc3\xb6ln\" has one, which "
        "looks the same, and is in another normal form of Unicode";
    cli_write("towns.csv", "task,a,y\nK\xc3\xb6ln,1,2\nK\xc3\xb6ln,2,3\nBonn,1,1\n");
    cli_write("new.csv", "task,a,y\nAachen,1,2\nKo\xcc\x88ln,1,2\nBonn,1,2\n");
    cli_result trained = cli("train towns.csv --method stl -o towns");
    assert_non_null(strstr(trained.out, "2 tasks, 1 feature, 3 rows"));
    cli_free(&trained);
    const char *const line[] = {"predict towns new.csv --unknown skip -o p",
                                "evaluate towns new.csv --unknown skip"};
    for (size_t k = 0; k < sizeof line / sizeof *line; k++) {
        cli_result r = cli("%s", line[k]);
        assert_true(r.code == 0 && strstr(r.err, "2 rows of tasks without a model"));
        assert_non_null(strstr(r.err, hint));
        cli_free(&r);
    }
    json_t *json = cli_json("evaluate towns new.csv --unknown skip --json");
    const json_t *note = json_array_get(cli_at(json, "notes"), 0);
    assert_true(json_is_string(note) && strstr(json_string_value(note), hint));
    json_decref(json);
    cli_write("new.csv", "task,a,y\nAachen,1,2\nBonn,1,2\n");
    cli_result r = cli("predict towns new.csv --unknown skip -o p");
    assert_true(r.code == 0 && !strstr(r.err, "warning"));
    cli_free(&r);
}

/* intercept and weight of the only row of shared.csv */
static void read_shared(const char *path, double *intercept, double *weight) {
    char *text = cli_read(path), *row = strstr(text, "\nshared,");
    assert_non_null(row);
    assert_int_equal(sscanf(row, "\nshared,%lf,%lf", intercept, weight), 2);
    free(text);
}

static void unknown_tasks_get_the_shared_model(void **state) {
    (void)state;
    double intercept, weight;
    write_whole();
    cli_write("ranges.json", "{\"target\": [-1, 3], \"columns\": {\"a\": [-2, 2]}}");
    cli_write("new.csv", "task,a\n9,0.5\nx,-0.25\n");
    cli_fails(2, "no model that all tasks share",
              "predict whole new.csv --unknown shared -o p");
    cli_result r = cli("train labels.csv --method fedavg --mechanism none --scale "
                       "ranges.json -o averaged");
    assert_int_equal(r.code, 0);
    cli_free(&r);
    read_shared("averaged/public/shared.csv", &intercept, &weight);
    assert_true(fabs(weight) > 1e-6);
    cli_ok("export averaged --task 1 -o own");
    const char *const run[] = {"averaged", "own"};
    for (int k = 0; k < 2; k++) {
        double p[2];
        r = cli("predict %s new.csv --unknown shared -o -", run[k]);
        assert_true(r.code == 0 && strstr(r.err, "2 rows of tasks without a model "
                                                 "answered by the shared model"));
        assert_int_equal(sscanf(r.out, "task,prediction\n9,%lf\nx,%lf\n", &p[0], &p[1]),
                         2);
        assert_close(p[0], intercept + 0.5 * weight, 1e-12);
        assert_close(p[1], intercept - 0.25 * weight, 1e-12);
        cli_free(&r);
    }
    r = cli(
        "train labels.csv --method fedavg --mechanism none --standardize task -o z");
    assert_int_equal(r.code, 0);
    cli_free(&r);
    assert_false(cli_exists("z/public/shared.csv"));
}

static void predictions_go_to_standard_output_alone(void **state) {
    (void)state;
    write_whole();
    cli_ok("predict whole labels.csv -o labels.out");
    cli_result r = cli("predict whole labels.csv -o -");
    char *file = cli_read("labels.out");
    assert_true(r.code == 0 && !*r.err);
    assert_string_equal(r.out, file);
    assert_false(cli_exists("-"));
    free(file);
    cli_free(&r);
}

static void predictions_never_replace_what_is_read(void **state) {
    (void)state;
    write_whole();
    assert_int_equal(system("ln -sf labels.csv link.csv; ln -f labels.csv hard.csv"),
                     0);
    char *before = cli_read("labels.csv");
    cli_fails(2, "is read", "predict whole labels.csv -o ./labels.csv");
    cli_fails(2, "is read", "predict whole labels.csv -o link.csv");
    cli_fails(2, "is read", "predict whole labels.csv -o hard.csv");
    cli_fails(2, "is read", "predict whole labels.csv -o whole/operator/models.csv");
    char *after = cli_read("labels.csv");
    assert_string_equal(before, after);
    free(before);
    free(after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluate_says_what_the_commonest_class_reaches),
        cmocka_unit_test(targets_that_are_numbers_have_no_commonest),
        cmocka_unit_test(few_rows_say_little_of_a_task),
        cmocka_unit_test(targets_may_be_missing),
        cmocka_unit_test(messages_are_of_the_run),
        cmocka_unit_test(new_rows_may_call_their_columns_otherwise),
        cmocka_unit_test(unknown_tasks_are_an_error_or_skipped),
        cmocka_unit_test(unknown_tasks_that_look_like_known_ones),
        cmocka_unit_test(unknown_tasks_get_the_shared_model),
        cmocka_unit_test(predictions_stay_near_what_a_task_has_seen),
        cmocka_unit_test(without_ranges_predictions_stay_nearer),
        cmocka_unit_test(the_shared_model_has_no_limits),
        cmocka_unit_test(predictions_go_to_standard_output_alone),
        cmocka_unit_test(predictions_never_replace_what_is_read),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
