/* Whole runs in one process: what they find, and what they leave when something fails.
 */
#include "data/read.h"
#include "data/write.h"
#include "eval_world.h"
#include "models/models.h"
#include "test.h"
#include "torture.h"
#include "train/best_of.h"
#include "train/rundir.h"
#include "train/train.h"

#include <math.h>
#include <sys/stat.h>

static char folder[64];

static int open_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/billboard-test-XXXXXX");
    if (!mkdtemp(folder) || chdir(folder)) return 1;
    bb_dataset data = world_make(3, 32, 3, 6, false, false);
    assert_ok(bb_write_csv(&data, "data.csv"));
    bb_dataset_free(&data);
    return 0;
}

static int close_folder(void **state) {
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return chdir("/") || system(command);
}

static bool exists(const char *path) {
    struct stat there;
    return lstat(path, &there) == 0;
}

static bb_status run_flags(const bb_train_flag *flag, size_t flags,
                           const atomic_int *stop, bb_report *report) {
    const bb_watch watch = {.stop = stop};
    bb_train_request request = {0};
    bb_status status = bb_train_resolve(&request, flag, flags);
    if (!status) status = bb_train_run(&request, "data.csv", &watch, report);
    bb_train_request_free(&request);
    return status;
}

#define RUN(report, stop, ...)                                                         \
    run_flags((const bb_train_flag[]){__VA_ARGS__},                                    \
              sizeof((const bb_train_flag[]){__VA_ARGS__}) / sizeof(bb_train_flag),    \
              stop, report)

static void remove_run(void) {
    assert_int_equal(system("rm -r run"), 0);
}

/* The training metrics of stl are what its models say of the training rows. */
static void a_run_reports_what_its_models_do(void **state) {
    (void)state;
    bb_report report;
    bb_dataset data = {0};
    bb_models models = {0};
    assert_ok(RUN(&report, NULL, {"method", "stl"}, {"set", "lambda=0.5"},
                  {"output", "run"}));
    assert_ok(bb_models_read(&models, "run/operator/models.csv"));
    assert_ok(bb_read("data.csv", NULL, &data));
    double squares = 0.0;
    for (size_t i = 0; i < data.tasks; i++)
        for (size_t j = data.first[i]; j < data.first[i + 1]; j++) {
            double p = models.intercept[i];
            for (size_t k = 0; k < data.features; k++)
                p += world_x(&data, j, k) * models.weight[i * data.features + k];
            squares += (data.y[j] - p) * (data.y[j] - p);
        }
    assert_relative(report.train.rmse, sqrt(squares / (double)data.rows), 1e-12);
    assert_int_equal(report.statement.count, 0);
    assert_int_equal(report.rounds, 0);
    bb_models_free(&models);
    bb_dataset_free(&data);
    remove_run();
}

static void stop_ends_a_run_with_nothing(void **state) {
    (void)state;
    const atomic_int stop = 1;
    bb_report report;
    assert_fails(RUN(&report, &stop, {"method", "mp-lowrank"}, {"epsilon", "1"},
                     {"output", "run"}),
                 BB_EINTERRUPTED, "interrupted");
    assert_int_equal(system("ls | grep -q run"), 256);
}

typedef struct told {
    const char *stop_at; /* what is said */
    atomic_int stop;
    char warning[600];
} told;

static void stop_at(void *self, const char *what) {
    told *t = self;
    t->stop = t->stop || strcmp(what, t->stop_at) == 0;
}

static void keep_warning(void *self, const char *text) {
    snprintf(((told *)self)->warning, sizeof((told *)self)->warning, "%s", text);
}

static void no_progress(void *self, uint32_t round, uint32_t rounds) {
    (void)self, (void)round, (void)rounds;
    fail_msg("how many runs there are is told");
}

/* A private search says what it has paid, and how far it is to nobody. */
static void a_search_that_is_stopped_says_what_it_paid(void **state) {
    (void)state;
    static const bb_train_flag flag[] = {
        {"scale", "{\"target\": [-9, 9], \"others\": [-9, 9]}"},
        {"epsilon", "1"},
        {"ledger", "search.ledger"},
        {"population", "p"},
        {"budget-epsilon", "3"},
        {"budget-delta", "1e-3"}};
    static const char *const when[] = {"checking", "searching", "never"};
    const bb_source data = {.path = "data.csv"};
    bb_settings settings = {0};
    assert_ok(bb_settings_open(&settings, "mp-prior", "lambda=0.1,1", 0, 1));
    const bb_tune tune = {.flag = flag,
                          .flags = sizeof flag / sizeof *flag,
                          .settings = &settings,
                          .data = &data,
                          .at_once = 1};
    const bb_best_of best = {.tune = &tune, .mean = 20, .share = 0.1, .output = "run"};
    for (int k = 0; k < 3; k++) {
        told t = {.stop_at = when[k]};
        const bb_watch watch = {
            .self = &t, .say = stop_at, .progress = no_progress, .stop = &t.stop};
        bb_best_found found;
        const bb_status status = bb_best_of_run(&best, &watch, &found);
        assert_int_equal(status, k < 2 ? BB_EINTERRUPTED : BB_OK);
        if (k == 1)
            assert_non_null(strstr(bb_last_error(),
                                   "keeps the charge of (epsilon = 1, delta = 1e-05), "
                                   "adjacency replace-one, sampling: all"));
        if (k < 2) assert_null(strstr(bb_last_error(), "nothing was charged"));
        assert_int_equal(exists("search.ledger"), k > 0);
        assert_int_equal(exists("run"), k == 2);
    }
    bb_settings_close(&settings);
    remove_run();
}

/* Once a run has paid, Ctrl-C ends its comparisons and no more. */
static void stop_spares_what_was_paid_for(void **state) {
    (void)state;
    told t = {.stop_at = "comparing"};
    const bb_watch watch = {
        .self = &t, .say = stop_at, .warn = keep_warning, .stop = &t.stop};
    const bb_train_flag flag[] = {
        {"method", "mp-lowrank"},  {"epsilon", "1"},
        {"rounds", "2"},           {"train-fraction", "0.5"},
        {"compare", "no-privacy"}, {"standardize", "unit-rows"},
        {"output", "run"}};
    bb_train_request request = {0};
    bb_report report;
    json_t *run = NULL;
    assert_ok(bb_train_resolve(&request, flag, sizeof flag / sizeof *flag));
    assert_ok(bb_train_run(&request, "data.csv", &watch, &report));
    assert_true(t.stop);
    assert_non_null(strstr(t.warning, "no-privacy is left out: stopped"));
    assert_false(report.no_privacy.there);
    assert_ok(bb_rundir_read("run", "operator/run.json", &run));
    assert_true(
        json_is_null(json_object_get(json_object_get(run, "compare"), "no-privacy")));
    assert_true(json_is_number(json_object_get(json_object_get(run, "test"), "nmse")));
    json_decref(run);
    bb_train_request_free(&request);
    assert_true(exists("run/public/privacy.json"));
    assert_true(exists("run/operator/models.csv"));
    remove_run();
}

/* Twenty tasks; in the units of its rows, the first one's model has no finite numbers: its
 * targets are as large as numbers are, or its column, where targets are classes, as small. */
static void write_beyond(bool classes) {
    FILE *file = fopen("beyond.csv", "w");
    assert_non_null(file);
    fputs("task,y,x\n", file);
    for (int k = 0; k < 240; k++) {
        const int task = k / 12, row = k % 12, sign = row % 2 ? 1 : -1;
        double y = 0.1 * sign, x = 0.1 * sign * (1 + row % 3);
        if (task == 0 && !classes) y = 1e308 * sign;
        if (task == 0 && classes) x = sign * (row < 2 ? 9.9e-308 : 1.2e-308);
        if (classes) y = row % 2;
        fprintf(file, "%d,%.17g,%.17g\n", task, y, x);
    }
    assert_int_equal(fclose(file), 0);
}

static void count_failed(void *self, const char *text) {
    *(int *)self += strstr(text, "of 1 task failed, or their models are not") != NULL;
}

/* Such a task keeps the zero model, which its operator is told, and those of the others are
 * there. In the clear the run fails. */
static void models_are_finite_where_they_are_kept(void **state) {
    (void)state;
    static const char *const loss[] = {"squared", "logistic", "softmax"};
    for (int k = 0; k < 3; k++) {
        int told_of = 0;
        const bb_watch watch = {.self = &told_of, .warn = count_failed};
        const bb_train_flag flag[] = {
            {"loss", loss[k]},     {"standardize", "magnitude"},
            {"method", "fedprox"}, {"set", "epochs=500"},
            {"epsilon", "10"},     {"seed", "1"},
            {"output", "run"},     {"classes", "2"}};
        bb_train_request request = {0};
        bb_report report;
        bb_models models = {0};
        write_beyond(k > 0);
        assert_ok(bb_train_resolve(&request, flag, k == 2 ? 8 : 7));
        assert_ok(bb_train_run(&request, "beyond.csv", &watch, &report));
        bb_train_request_free(&request);
        assert_int_equal(told_of, 1);
        assert_ok(bb_models_read(&models, k == 2 ? "run/operator/models.safetensors"
                                                 : "run/operator/models.csv"));
        const size_t each = models.features * models.outputs;
        for (size_t j = 0; j < each; j++) assert_true(models.weight[j] == 0.0);
        for (size_t j = each; j < 2 * each; j++)
            assert_true(isfinite(models.weight[j]) && models.weight[j] != 0.0);
        bb_models_free(&models);
        remove_run();
    }
    write_beyond(false);
    bb_report report;
    bb_train_request request = {0};
    const bb_train_flag open[] = {
        {"method", "stl"}, {"standardize", "magnitude"}, {"output", "run"}};
    assert_ok(bb_train_resolve(&request, open, sizeof open / sizeof *open));
    assert_fails(bb_train_run(&request, "beyond.csv", &(bb_watch){0}, &report),
                 BB_ENUMERIC, "its model is not finite");
    bb_train_request_free(&request);
    assert_false(exists("run"));
}

/* So are the numbers that intervals are made of: of such a task nothing is known. */
static void intervals_are_finite_where_they_are_kept(void **state) {
    (void)state;
    bb_models intervals = {0};
    const bb_watch watch = {0};
    const bb_train_flag flag[] = {
        {"intervals", NULL}, {"epsilon", "1"}, {"output", "run"}};
    bb_train_request request = {0};
    bb_report report;
    write_beyond(false);
    assert_ok(bb_train_resolve(&request, flag, sizeof flag / sizeof *flag));
    assert_ok(bb_train_run(&request, "beyond.csv", &watch, &report));
    bb_train_request_free(&request);
    assert_ok(bb_models_read(&intervals, "run/operator/intervals.csv"));
    assert_true(intervals.intercept[0] == -1.0 && intervals.intercept[1] > 0.0);
    bb_models_free(&intervals);
    remove_run();
}

/* Its figures may fail, too: here there is no memory for them. */
static void figures_that_fail_are_missing(void **state) {
    (void)state;
    size_t without = 0;
    for (size_t n = 1; !without; n += 1) {
        bb_report report;
        torture_arm_memory(n);
        const bb_status status =
            RUN(&report, NULL, {"method", "mp-lowrank"}, {"epsilon", "1"},
                {"rounds", "1"}, {"threads", "1"}, {"output", "run"});
        const bool reached = torture_disarm();
        without += !status && isnan(report.train.nmse);
        if (!status) remove_run();
        assert_true(reached); /* before the last allocation */
    }
}

/* Baselines start from the rows as read: what is done for the methods' sake (rows in
 * the unit ball, batches, rounds) is not theirs. */
static void baselines_do_not_depend_on_the_method(void **state) {
    (void)state;
    bb_report plain, other;
    json_t *run = NULL;
    assert_ok(RUN(&plain, NULL, {"method", "stl"}, {"train-fraction", "0.5"},
                  {"compare", "stl"}, {"output", "run"}));
    remove_run();
    assert_ok(RUN(&other, NULL, {"method", "fedavg"}, {"train-fraction", "0.5"},
                  {"standardize", "unit-rows"}, {"epsilon", "1"}, {"batch", "3"},
                  {"no-intercept", "true"}, {"compare", "stl"}, {"output", "run"}));
    assert_close(plain.stl.test.nmse, other.stl.test.nmse, 0.0);
    assert_close(plain.pooled.test.nmse, other.pooled.test.nmse, 0.0);
    assert_true(plain.stl.test.nmse < plain.mean.test.nmse);
    assert_true(plain.own_mean.there);
    assert_true(plain.own.there && plain.own.test.rows == plain.stl.test.rows);
    assert_true(plain.own.test.nmse != plain.stl.test.nmse);
    assert_true(plain.own.test.nmse < plain.mean.test.nmse);
    assert_close(plain.own.test.nmse, other.own.test.nmse, 0.0);
    const bb_gain *gain = &plain.pooled.gain;
    assert_true(gain->improvement_range[0] <= gain->improvement);
    assert_true(gain->improvement <= gain->improvement_range[1]);
    assert_true(gain->better_range[0] < gain->better_range[1]);
    assert_ok(bb_rundir_read("run", "operator/run.json", &run));
    const json_t *compare = json_object_get(run, "compare");
    assert_true(json_is_object(json_object_get(compare, "pooled")));
    assert_true(json_is_object(json_object_get(compare, "mean_task")));
    assert_true(json_is_object(json_object_get(compare, "own")));
    const json_t *mixed = json_object_get(compare, "mixed");
    assert_true(json_is_string(json_object_get(mixed, "model")));
    assert_true(json_is_real(json_object_get(mixed, "icc")));
    assert_true(json_is_null(json_object_get(mixed, "lambda")));
    assert_close(plain.mixed.test.nmse, other.mixed.test.nmse, 0.0);
    assert_true(plain.mixed.test.nmse < plain.stl.test.nmse);
    assert_true(plain.mixed.gain.improvement_range[0] <= plain.mixed.gain.improvement);
    assert_true(json_is_array(
        json_object_get(json_object_get(json_object_get(compare, "gain"), "stl"),
                        "improvement_interval")));
    json_decref(run);
    assert_int_equal(system("head -1 run/operator/tasks.csv | grep -q "
                            "'^task,train_rows,test_rows,rmse,rmse_alone,rmse_own,"
                            "rmse_pooled,rmse_mixed,rmse_mean$'"),
                     0);
    char count[80];
    snprintf(count, sizeof count, "[ $(wc -l <run/operator/tasks.csv) = %zu ]",
             plain.tasks + 1);
    assert_int_equal(system(count), 0);
    char same[160]; /* the tasks' rmse_own together */
    snprintf(same, sizeof same,
             "awk -F, 'NR > 1 {n += $3; s += $3 * $6 ^ 2} "
             "END {exit (sqrt(s / n) / %.17g - 1) ^ 2 > 1e-8}' run/operator/tasks.csv",
             plain.own.test.rmse);
    assert_int_equal(system(same), 0);
    remove_run();
}

/* What mp-instance does not guess. */
#define GIVEN                                                                          \
    {"set", "instance-epsilon=1"}, {"set", "gradient-clip=1"}, {                       \
        "set", "clip=1"                                                                \
    }

/* What standardising by task does to a row depends on all rows of the task. */
static void rows_are_protected_one_by_one(void **state) {
    (void)state;
    bb_report report;
    assert_fails(RUN(&report, NULL, {"method", "mp-instance"}, {"epsilon", "1"}, GIVEN,
                     {"standardize", "task"}, {"output", "run"}),
                 BB_EUSAGE, "single rows");
    assert_ok(RUN(&report, NULL, {"method", "mp-instance"}, {"epsilon", "1"}, GIVEN,
                  {"standardize", "unit-rows"}, {"output", "run"}));
    assert_int_equal(report.statement.count, 2);
    assert_string_equal(report.statement.guarantee[1].unit, "instance");
    assert_true(report.statement.guarantee[1].valid);
    assert_null(report.statement.guarantee[1].note);
    remove_run();
    assert_ok(RUN(&report, NULL, {"method", "mp-lowrank"}, {"epsilon", "1"},
                  {"standardize", "task"}, {"output", "run"}));
    remove_run();
}

/* Calibrated for rows, two promises from one noise; for tasks, one and no such rule. */
static void a_promise_lifted_from_rows(void **state) {
    (void)state;
    bb_report report;
    assert_fails(RUN(&report, NULL, {"method", "dp-aggr"}, {"epsilon", "1"},
                     {"set", "calibration=instance"}, {"standardize", "task"},
                     {"output", "run"}),
                 BB_EUSAGE, "single rows");
    assert_fails(RUN(&report, NULL, {"method", "dp-aggr"}, {"epsilon", "1e-3"},
                     {"set", "calibration=instance"}, {"set", "rows-cap=1000000"},
                     {"output", "run"}),
                 BB_EUSAGE,
                 "epsilon 1e-09, delta 0 for each of 1e+06 rows (replace-one, "
                 "sampling: all)");
    assert_ok(RUN(&report, NULL, {"method", "dp-aggr"}, {"epsilon", "1"},
                  {"set", "calibration=instance"}, {"ledger", "lifted.ledger"},
                  {"budget-epsilon", "5"}, {"budget-delta", "1e-3"},
                  {"output", "run"}));
    const bb_guarantee *g = report.statement.guarantee;
    assert_int_equal(report.statement.count, 2);
    assert_true(g[0].valid && g[0].epsilon == 1.0 && g[0].lifted_rows == 100);
    assert_string_equal(g[0].mechanism, "radial");
    assert_string_equal(g[1].unit, "instance");
    assert_true(g[1].valid && fabs(g[1].epsilon - 0.01) < 1e-15);
    remove_run();
    assert_ok(RUN(&report, NULL, {"method", "dp-aggr"}, {"epsilon", "1"},
                  {"standardize", "task"}, {"output", "run"}));
    assert_int_equal(report.statement.count, 1);
    assert_int_equal(report.statement.guarantee[0].lifted_rows, 0);
    remove_run();
}

/* A ledger adds up what tasks were promised, and nothing else. */
static void a_ledger_does_not_vouch_for_rows(void **state) {
    (void)state;
    bb_report report;
    assert_ok(RUN(&report, NULL, {"method", "mp-instance"}, {"epsilon", "1"}, GIVEN,
                  {"ledger", "population.ledger"}, {"budget-epsilon", "5"},
                  {"budget-delta", "1e-3"}, {"output", "run"}));
    assert_null(report.statement.guarantee[0].note);
    assert_non_null(strstr(report.statement.guarantee[1].note, "this run only"));
    remove_run();
    assert_ok(RUN(&report, NULL, {"method", "mp-instance"}, {"epsilon", "1"}, GIVEN,
                  {"set", "calibration=published"}, {"ledger", "population.ledger"},
                  {"output", "run"}));
    assert_true(report.statement.guarantee[0].valid);
    assert_false(report.statement.guarantee[1].valid);
    assert_null(report.statement.guarantee[1].note);
    assert_int_equal(
        system("grep -q 'NOT PRIVATE for single rows' run/public/statement.txt"), 0);
    remove_run();
}

/* Wishart noise: the bound on delta is proved for whole matrices. On the diagonal alone
 * it would be false: with 3 features chi-square noise has 4 degrees of freedom, not 2.
 */
static void published_noise_claims_no_more_than_is_true(void **state) {
    (void)state;
    bb_report report;
    assert_ok(RUN(&report, NULL, {"method", "mp-lowrank"}, {"epsilon", "1"},
                  {"mechanism", "wishart-published"}, {"allow-broken-privacy", "true"},
                  {"set", "clip=1"}, {"rounds", "1"}, {"output", "run"}));
    assert_false(report.statement.guarantee[0].valid);
    assert_close(report.statement.guarantee[0].true_delta_at_least, 1.0 - exp(-1.0),
                 1e-9);
    remove_run();
    assert_ok(RUN(&report, NULL, {"method", "mp-groupsparse"}, {"epsilon", "1"},
                  {"mechanism", "wishart-published"}, {"allow-broken-privacy", "true"},
                  {"set", "clip=1"}, {"rounds", "1"}, {"output", "run"}));
    assert_false(report.statement.guarantee[0].valid);
    const double diagonal = report.statement.guarantee[0].true_delta_at_least;
    assert_true(diagonal > 0.0 && diagonal < 1.0 - exp(-1.0));
    remove_run();
}

/* Noise by a Lipschitz constant read off the rows: behind the same flag, and denied. */
static void noise_from_rows_promises_nothing(void **state) {
    (void)state;
    bb_report report;
    assert_fails(RUN(&report, NULL, {"method", "dp-mtrl"}, {"epsilon", "1"},
                     {"mechanism", "lipschitz-published"},
                     {"set", "calibration=published"}, {"output", "run"}),
                 BB_EUSAGE, "--allow-broken-privacy");
    assert_ok(RUN(&report, NULL, {"method", "dp-mtrl"}, {"epsilon", "1"},
                  {"mechanism", "lipschitz-published"},
                  {"allow-broken-privacy", "true"}, {"set", "calibration=published"},
                  {"set", "keep=noisy"}, {"output", "run"}));
    assert_int_equal(report.statement.count, 2);
    assert_false(report.statement.guarantee[0].valid);
    assert_false(report.statement.guarantee[1].valid);
    assert_close(report.statement.guarantee[0].true_delta_at_least, 1.0, 0.0);
    assert_int_equal(system("grep -q 'mechanism lipschitz-published claims ε = 1, .* "
                            "its true δ is at least 1,' run/public/statement.txt"),
                     0);
    remove_run();
}

static bb_status attempt(void *context) {
    bb_report report;
    (void)context;
    return RUN(&report, NULL, {"method", "mp-groupsparse"}, {"epsilon", "1"},
               {"rounds", "2"}, {"threads", "1"}, {"train-fraction", "0.5"},
               {"compare", "stl,no-privacy"}, {"output", "run"});
}

static void all_or_nothing(void *context, bb_status status) {
    (void)context;
    assert_int_not_equal(system("ls | grep -q run."), 0);
    if (!exists("run")) {
        assert_int_not_equal(status, BB_OK);
        return;
    }
    /* complete but for comparisons, if its figures could not be written again */
    assert_true(status == BB_OK || status == BB_EIO || status == BB_ENOMEM);
    assert_true(exists("run/operator/run.json"));
    assert_true(exists("run/operator/models.csv"));
    assert_true(exists("run/public/billboard.json"));
    remove_run();
}

static void a_run_survives_torture(void **state) {
    (void)state;
    const bb_torture torture = {.attempt = attempt, .check = all_or_nothing};
    assert_true(torture_memory(torture) >= 100);
    assert_true(torture_files(torture) >= 20);
    assert_true(torture_disk(torture) >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_reports_what_its_models_do),
        cmocka_unit_test(stop_ends_a_run_with_nothing),
        cmocka_unit_test(a_search_that_is_stopped_says_what_it_paid),
        cmocka_unit_test(stop_spares_what_was_paid_for),
        cmocka_unit_test(models_are_finite_where_they_are_kept),
        cmocka_unit_test(intervals_are_finite_where_they_are_kept),
        cmocka_unit_test(figures_that_fail_are_missing),
        cmocka_unit_test(baselines_do_not_depend_on_the_method),
        cmocka_unit_test(rows_are_protected_one_by_one),
        cmocka_unit_test(a_promise_lifted_from_rows),
        cmocka_unit_test(a_ledger_does_not_vouch_for_rows),
        cmocka_unit_test(published_noise_claims_no_more_than_is_true),
        cmocka_unit_test(noise_from_rows_promises_nothing),
        cmocka_unit_test(a_run_survives_torture),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
