/* Jobs and their results, from outside: training on arrays, models, predictions, run
 * directories, and many at once. */
#include "test.h"

#include <billboard/billboard.h>
#include <math.h>
#include <pthread.h>

#define ASSERT_OK(call)                                                                \
    do {                                                                               \
        if (call) fail_msg("%s: %s", #call, billboard_error());                        \
    } while (0)

static void assert_refused(billboard_status status, billboard_status expected,
                           const char *words) {
    if (status != expected || !strstr(billboard_error(), words))
        fail_msg("status %d, \"%s\": expected %d, \"%s\"", (int)status,
                 billboard_error(), (int)expected, words);
}

/* -- a population, as arrays and as files -- */

enum { TASKS = 12, EACH = 9, ROWS = TASKS * EACH, FEATURES = 3 };

static double x[ROWS * FEATURES], y[ROWS], sides[ROWS], by_columns[ROWS * FEATURES],
    classes[ROWS];
static float single[ROWS * FEATURES];
static int64_t owner[ROWS], row_start[ROWS + 1];
static int32_t column[ROWS * FEATURES];
static char text[ROWS][16];
static const char *name[ROWS];
static const char *const feature[FEATURES] = {"age", "height", "weight"};

/* Tasks in no order, rows of a task apart; multiples of 1/64, exact as texts and floats. */
static void make_rows(void) {
    for (size_t r = 0; r < ROWS; r++) {
        const size_t task = r * 5 % TASKS;
        owner[r] = (int64_t)task + 95; /* 95 .. 106: not in the order of texts */
        snprintf(text[r], sizeof text[r], "%d", (int)owner[r]);
        name[r] = text[r];
        y[r] = 0.0;
        row_start[r] = (int64_t)(r * FEATURES);
        for (size_t k = 0; k < FEATURES; k++) {
            const size_t e = r * FEATURES + k;
            const double value =
                (double)((r * 37 + k * 71 + r * r % 23) % 65) / 64 - 0.5;
            x[e] = by_columns[k * ROWS + r] = value;
            single[e] = (float)value;
            column[e] = (int32_t)k;
            y[r] += value * (double)(k + 1 + task % 3) / 4;
        }
        y[r] = round(64 * y[r]) / 64;
        sides[r] = y[r] > 0;
        classes[r] = y[r] > 0.25 ? 2 : y[r] > -0.25;
    }
    row_start[ROWS] = ROWS * FEATURES;
}

static billboard_arrays arrays(void) {
    return (billboard_arrays){.struct_size = sizeof(billboard_arrays),
                              .rows = ROWS,
                              .features = FEATURES,
                              .task_number = owner,
                              .x = x,
                              .y = y,
                              .feature_name = feature};
}

static billboard_data *data_of(const billboard_arrays *a) {
    billboard_data *data = NULL;
    ASSERT_OK(billboard_data_from_arrays(a, &data));
    return data;
}

static void write_csv(const char *path, const double *target) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("task,age,height,weight,y\n", file);
    for (size_t r = 0; r < ROWS; r++)
        fprintf(file, "%s,%.17g,%.17g,%.17g,%.17g\n", name[r], x[r * FEATURES],
                x[r * FEATURES + 1], x[r * FEATURES + 2], target[r]);
    assert_int_equal(fclose(file), 0);
}

static void write_libsvm(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t r = 0; r < ROWS; r++)
        fprintf(file, "%.17g qid:%s 1:%.17g 2:%.17g 3:%.17g\n", y[r], name[r],
                x[r * FEATURES], x[r * FEATURES + 1], x[r * FEATURES + 2]);
    assert_int_equal(fclose(file), 0);
}

/* -- jobs -- */

static billboard_job *job_of(const billboard_option *option, size_t options) {
    billboard_job *job = NULL;
    ASSERT_OK(billboard_job_new(&job));
    for (size_t k = 0; k < options; k++)
        ASSERT_OK(billboard_job_set(job, option[k].name, option[k].value));
    return job;
}

#define JOB(...)                                                                       \
    job_of((const billboard_option[]){__VA_ARGS__},                                    \
           sizeof((const billboard_option[]){__VA_ARGS__}) / sizeof(billboard_option))

static billboard_job *usual_job(void) {
    return JOB({"method", "mp-lowrank"}, {"epsilon", "8"}, {"rounds", "3"},
               {"seed", "5"}, {"train-fraction", "0.7"}, {"no-intercept", NULL});
}

static billboard_result *run_on(const billboard_job *job, billboard_data *data) {
    billboard_result *result = NULL;
    ASSERT_OK(billboard_job_run(job, data, NULL, NULL, &result));
    billboard_data_free(data);
    return result;
}

static const char *found(const billboard_result *result, const char *path) {
    const char *value = billboard_answer_text(billboard_result_answer(result), path);
    if (!value) fail_msg("no %s", path);
    return value;
}

static double figure(const billboard_result *result, const char *path) {
    return billboard_answer_number(billboard_result_answer(result), path);
}

static void assert_same_run(const billboard_result *a, const billboard_result *b) {
    assert_string_equal(found(a, "billboard_sha256"), found(b, "billboard_sha256"));
    assert_string_equal(found(a, "models_sha256"), found(b, "models_sha256"));
    assert_true(figure(a, "test.nmse") == figure(b, "test.nmse"));
}

/* -- the same rows, whichever way they come -- */

static void arrays_and_files_give_the_same_bytes(void **state) {
    (void)state;
    billboard_job *job = usual_job();
    billboard_arrays a = arrays();
    billboard_data *file = NULL;
    billboard_result *first = run_on(job, data_of(&a));
    write_csv("rows.csv", y);
    ASSERT_OK(billboard_data_from_file("rows.csv", &file));
    billboard_result *second = run_on(job, file);
    assert_same_run(first, second);
    billboard_result_free(second);
    a.columns_first = 1, a.x = by_columns;
    second = run_on(job, data_of(&a));
    assert_same_run(first, second);
    billboard_result_free(second);
    a = arrays(), a.x = single, a.x_type = BILLBOARD_FLOAT32;
    a.task_number = NULL, a.task_name = name;
    second = run_on(job, data_of(&a));
    assert_same_run(first, second);
    billboard_result_free(second);
    billboard_result_free(first);
    billboard_job_free(job);
}

static void compressed_rows_are_those_of_libsvm(void **state) {
    (void)state;
    billboard_job *job = usual_job(),
                  *reads = JOB({"method", "mp-lowrank"}, {"epsilon", "8"},
                               {"rounds", "3"}, {"seed", "5"}, {"features", "3"},
                               {"train-fraction", "0.7"}, {"no-intercept", NULL});
    billboard_arrays a = arrays();
    billboard_data *file = NULL;
    a.x = NULL, a.row_start = row_start, a.column = column, a.value = x;
    a.feature_name = NULL;
    billboard_result *first = run_on(job, data_of(&a));
    write_libsvm("rows.svm");
    ASSERT_OK(billboard_data_from_file("rows.svm", &file));
    billboard_result *second = run_on(reads, file);
    assert_same_run(first, second);
    billboard_result_free(first);
    billboard_result_free(second);
    billboard_job_free(job);
    billboard_job_free(reads);
}

/* -- results -- */

static void a_result_says_what_it_promises(void **state) {
    (void)state;
    billboard_job *job = JOB({"method", "mp-lowrank"}, {"epsilon", "2"},
                             {"delta", "1e-5"}, {"no-intercept", NULL});
    billboard_arrays a = arrays();
    billboard_result *result = run_on(job, data_of(&a));
    billboard_privacy p = {.struct_size = sizeof p};
    ASSERT_OK(billboard_result_privacy(result, &p));
    assert_true(p.is_private);
    assert_true(p.epsilon == 2.0 && p.delta == 1e-5 && p.noise_multiplier > 0.0);
    assert_string_equal(p.unit, "task");
    assert_string_equal(p.adjacency, "replace-one");
    assert_string_equal(p.sampling, "all");
    assert_non_null(strstr(p.statement, "Guarantee"));
    assert_non_null(strstr(billboard_result_text(result), p.statement));
    p.struct_size = 0;
    assert_refused(billboard_result_privacy(result, &p), BILLBOARD_USAGE,
                   "struct_size");
    billboard_result_free(result);
    billboard_job_free(job);
    job = JOB({"method", "stl"});
    result = run_on(job, data_of(&a));
    p.struct_size = sizeof p;
    ASSERT_OK(billboard_result_privacy(result, &p));
    assert_false(p.is_private);
    billboard_result_free(result);
    billboard_job_free(job);
}

static void models_predict_as_they_say(void **state) {
    (void)state;
    billboard_job *job = JOB({"method", "stl"});
    billboard_arrays a = arrays();
    billboard_result *result = run_on(job, data_of(&a));
    a.y = NULL;
    billboard_data *data = data_of(&a);
    billboard_predictions *said = NULL;
    billboard_values v = {.struct_size = sizeof v};
    const char *csv = NULL;
    ASSERT_OK(billboard_predict(result, data, NULL, 0, &said));
    ASSERT_OK(billboard_predictions_values(said, &v));
    assert_int_equal(v.rows, ROWS);
    assert_int_equal(billboard_result_tasks(result), TASKS);
    assert_string_equal(billboard_result_task(result, 0), "95");
    assert_null(billboard_result_task(result, TASKS));
    for (size_t r = 0; r < ROWS; r++) {
        billboard_model m = {.struct_size = sizeof m};
        ASSERT_OK(billboard_result_model(result, name[r], &m));
        assert_int_equal(m.features, FEATURES);
        assert_string_equal(m.feature_name[1], "height");
        double z = m.intercept;
        for (size_t k = 0; k < FEATURES; k++) z += m.weight[k] * x[r * FEATURES + k];
        assert_close(v.value[r], z, 1e-12);
    }
    ASSERT_OK(billboard_predictions_csv(said, &csv));
    assert_int_equal(strncmp(csv, "task,prediction\n95,", 19), 0);
    ASSERT_OK(billboard_predictions_write(said, "said.csv"));
    billboard_model m = {.struct_size = sizeof m};
    assert_refused(billboard_result_model(result, "7", &m), BILLBOARD_FAILED, "\"7\"");
    assert_refused(billboard_result_model(result, NULL, &m), BILLBOARD_USAGE,
                   "no model that all tasks share");
    billboard_predictions_free(said);
    billboard_data_free(data);
    billboard_result_free(result);
    billboard_job_free(job);
}

static void classes_are_named(void **state) {
    (void)state;
    billboard_job *job = JOB({"method", "stl"}, {"loss", "softmax"}, {"classes", "3"});
    billboard_arrays a = arrays();
    a.y = classes;
    billboard_data *data = data_of(&a);
    billboard_result *result = NULL;
    billboard_predictions *said = NULL;
    billboard_values v = {.struct_size = sizeof v};
    size_t right = 0;
    ASSERT_OK(billboard_job_run(job, data, NULL, NULL, &result));
    ASSERT_OK(billboard_predict(result, data, NULL, 0, &said));
    ASSERT_OK(billboard_predictions_values(said, &v));
    for (size_t r = 0; r < ROWS; r++) {
        assert_in_range(v.classes[r], 0, 2);
        assert_true(v.value[r] > 1.0 / 3 && v.value[r] <= 1.0);
        right += (double)v.classes[r] == classes[r];
    }
    assert_close((double)right / ROWS, figure(result, "train.accuracy"), 1e-12);
    billboard_model m = {.struct_size = sizeof m};
    ASSERT_OK(billboard_result_model(result, "95", &m));
    assert_int_equal(m.outputs, 3);
    billboard_predictions_free(said);
    billboard_result_free(result);
    billboard_data_free(data);
    billboard_job_free(job);
}

static void lists_of_labels_are_said(void **state) {
    (void)state;
    static int64_t start[ROWS + 1];
    static int32_t label[2 * ROWS];
    billboard_job *job =
        JOB({"method", "stl"}, {"loss", "multilabel"}, {"classes", "3"});
    billboard_arrays a = arrays();
    for (size_t r = 0; r < ROWS; r++) {
        start[r + 1] = start[r];
        if (x[r * FEATURES] > 0) label[start[r + 1]++] = 0;
        if (x[r * FEATURES + 1] > 0) label[start[r + 1]++] = 2;
    }
    a.y = NULL, a.label_start = start, a.label = label;
    billboard_data *data = data_of(&a);
    billboard_result *result = NULL;
    billboard_predictions *said = NULL;
    billboard_values v = {.struct_size = sizeof v};
    ASSERT_OK(billboard_job_run(job, data, NULL, NULL, &result));
    ASSERT_OK(billboard_predict(result, data, NULL, 0, &said));
    ASSERT_OK(billboard_predictions_values(said, &v));
    assert_null(v.value);
    assert_int_equal(v.label_start[0], 0);
    size_t both = 0;
    for (size_t r = 0; r < ROWS; r++)
        for (int64_t e = v.label_start[r]; e < v.label_start[r + 1]; e++)
            for (int64_t f = start[r]; f < start[r + 1]; f++)
                both += v.label[e] == label[f];
    assert_true(both * 10 > (size_t)start[ROWS] * 6);
    billboard_predictions_free(said);
    billboard_result_free(result);
    billboard_data_free(data);
    billboard_job_free(job);
}

/* -- tasks that were not there -- */

static void unknown_tasks_are_refused_skipped_or_answered(void **state) {
    (void)state;
    const double row[2 * FEATURES] = {0.25, -0.5, 0.125, 0.5, 0.25, -0.25};
    const int64_t whose[2] = {1234, 95};
    billboard_arrays a = arrays(), few = {.struct_size = sizeof few,
                                          .rows = 2,
                                          .features = FEATURES,
                                          .task_number = whose,
                                          .x = row,
                                          .feature_name = feature};
    billboard_job *job = JOB({"method", "dp-aggr"}, {"epsilon", "8"}, {"seed", "1"});
    billboard_result *result = run_on(job, data_of(&a));
    billboard_data *data = data_of(&few);
    billboard_predictions *said = NULL;
    billboard_values v = {.struct_size = sizeof v};
    billboard_model shared = {.struct_size = sizeof shared};
    assert_refused(billboard_predict(result, data, NULL, 0, &said), BILLBOARD_FAILED,
                   "1234");
    const billboard_option skip = {"unknown", "skip"}, share = {"unknown", "shared"},
                           wrong = {"unknown", "guess"}, typo = {"unknwn", "skip"};
    ASSERT_OK(billboard_predict(result, data, &skip, 1, &said));
    ASSERT_OK(billboard_predictions_values(said, &v));
    assert_int_equal(v.rows, 2);
    assert_int_equal(v.skipped, 1);
    assert_true(isnan(v.value[0]) && isfinite(v.value[1]));
    billboard_predictions_free(said);
    ASSERT_OK(billboard_result_model(result, NULL, &shared));
    for (int again = 0; again < 2; again++) { /* the result does not change */
        ASSERT_OK(billboard_predict(result, data, &share, 1, &said));
        ASSERT_OK(billboard_predictions_values(said, &v));
        assert_int_equal(v.shared, 1);
        double z = shared.intercept;
        for (size_t k = 0; k < FEATURES; k++) z += shared.weight[k] * row[k];
        assert_close(v.value[0], z, 1e-12);
        billboard_predictions_free(said);
    }
    assert_int_equal(billboard_result_tasks(result), TASKS);
    assert_refused(billboard_predict(result, data, &wrong, 1, &said), BILLBOARD_USAGE,
                   "guess");
    assert_refused(billboard_predict(result, data, &typo, 1, &said), BILLBOARD_USAGE,
                   "the nearest is unknown");
    billboard_data_free(data);
    billboard_result_free(result);
    billboard_job_free(job);
}

/* -- run directories -- */

static char *content(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s is not there", path);
    char *bytes = calloc(1, 1 << 20);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    return bytes;
}

static void assert_same_file(const char *a, const char *b, const char *inside) {
    char path[200];
    size_t n, m;
    snprintf(path, sizeof path, "%s/%s", a, inside);
    char *first = content(path, &n);
    snprintf(path, sizeof path, "%s/%s", b, inside);
    char *second = content(path, &m);
    if (n != m || memcmp(first, second, n) != 0) fail_msg("%s differs", inside);
    free(first);
    free(second);
}

/* Of the same run, in memory and then saved, or written by the run itself. */
static void a_result_is_saved_and_loaded(void **state) {
    (void)state;
    static const char *const same[] = {
        "public/billboard.bin", "public/billboard.json", "public/options.json",
        "public/privacy.json",  "public/statement.txt",  "public/shared.csv",
        "operator/models.csv",  "operator/models.json",  "operator/preprocessing.json"};
    billboard_job *job = JOB({"method", "dp-aggr"}, {"epsilon", "4"}, {"seed", "3"},
                             {"train-fraction", "0.6"});
    billboard_arrays a = arrays();
    billboard_data *data = data_of(&a);
    billboard_result *kept = NULL, *written = NULL, *loaded = NULL;
    ASSERT_OK(billboard_job_run(job, data, NULL, NULL, &kept));
    ASSERT_OK(billboard_result_save(kept, "saved", 0));
    assert_refused(billboard_result_save(kept, "saved", 0), BILLBOARD_USAGE,
                   "exists already");
    ASSERT_OK(billboard_result_save(kept, "saved", 1));
    ASSERT_OK(billboard_job_set(job, "output", "written"));
    ASSERT_OK(billboard_job_run(job, data, NULL, NULL, &written));
    assert_refused(billboard_result_save(written, "other", 0), BILLBOARD_USAGE,
                   "is in written already");
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        assert_same_file("saved", "written", same[k]);
    assert_int_not_equal(access("written.lock", F_OK), 0);
    ASSERT_OK(billboard_result_load("saved", &loaded));
    assert_same_run(kept, loaded);
    assert_non_null(strstr(billboard_result_text(loaded), "NOT PRIVATE"));
    assert_refused(billboard_result_save(loaded, "other", 0), BILLBOARD_USAGE,
                   "is in saved already");
    billboard_predictions *p = NULL, *q = NULL;
    billboard_values v = {.struct_size = sizeof v}, w = {.struct_size = sizeof w};
    ASSERT_OK(billboard_predict(kept, data, NULL, 0, &p));
    ASSERT_OK(billboard_predict(loaded, data, NULL, 0, &q));
    ASSERT_OK(billboard_predictions_values(p, &v));
    ASSERT_OK(billboard_predictions_values(q, &w));
    assert_memory_equal(v.value, w.value, ROWS * sizeof *v.value);
    billboard_answer *figures = NULL;
    ASSERT_OK(billboard_evaluate(loaded, data, NULL, 0, &figures));
    assert_true(billboard_answer_number(figures, "test.rows") == ROWS);
    billboard_answer_free(figures);
    billboard_predictions_free(p);
    billboard_predictions_free(q);
    billboard_result_free(kept);
    billboard_result_free(written);
    billboard_result_free(loaded);
    ASSERT_OK(billboard_export("saved", "97", "for-97"));
    ASSERT_OK(billboard_result_load("for-97", &loaded));
    assert_int_equal(billboard_result_tasks(loaded), 1);
    assert_true(billboard_answer_count(billboard_result_answer(loaded), "privacy") > 0);
    billboard_result_free(loaded);
    assert_refused(billboard_result_load("nowhere", &loaded), BILLBOARD_FAILED,
                   "nowhere");
    billboard_data_free(data);
    billboard_job_free(job);
}

static void a_ledger_is_charged_and_refuses(void **state) {
    (void)state;
    billboard_job *job =
        JOB({"method", "mp-lowrank"}, {"epsilon", "2"}, {"delta", "1e-6"},
            {"no-intercept", NULL}, {"ledger", "budget.ledger"}, {"population", "us"},
            {"budget-epsilon", "3"}, {"budget-delta", "1e-5"});
    billboard_arrays a = arrays();
    billboard_data *data = data_of(&a);
    billboard_result *result = NULL;
    billboard_answer *ledger = NULL;
    ASSERT_OK(billboard_job_run(job, data, NULL, NULL, &result));
    billboard_result_free(result);
    assert_refused(billboard_job_run(job, data, NULL, NULL, &result), BILLBOARD_BUDGET,
                   "left");
    ASSERT_OK(billboard_ledger("budget.ledger", NULL, &ledger));
    assert_string_equal(billboard_answer_text(ledger, "population"), "us");
    assert_int_equal(billboard_answer_count(ledger, "entries"), 1);
    assert_string_equal(billboard_answer_text(ledger, "entries.0.state"), "done");
    assert_close(billboard_answer_number(ledger, "left.epsilon"), 1.0, 1e-9);
    billboard_answer_free(ledger);
    assert_refused(billboard_ledger("rows.none", NULL, &ledger), BILLBOARD_FAILED,
                   "rows.none");
    billboard_data_free(data);
    billboard_job_free(job);
}

/* -- what is refused -- */

static void jobs_refuse_by_name(void **state) {
    (void)state;
    billboard_job *job = JOB({"method", "stl"});
    billboard_answer *options = NULL;
    billboard_result *result = NULL;
    billboard_arrays a = arrays();
    assert_refused(billboard_job_set(job, "epsilom", "1"), BILLBOARD_USAGE,
                   "the nearest is epsilon");
    assert_refused(billboard_job_set(job, "epsilon", "much"), BILLBOARD_USAGE, "much");
    assert_refused(billboard_job_set(job, "penalty", "l1"), BILLBOARD_USAGE,
                   "set \"set\" to \"penalty=l1\"");
    assert_refused(billboard_job_set(job, "set", "penalty"), BILLBOARD_USAGE,
                   "key=value");
    ASSERT_OK(billboard_job_set(job, "set", "penalty=l1"));
    ASSERT_OK(billboard_job_options(job, &options));
    assert_string_equal(billboard_answer_text(options, "set.penalty"), "l1");
    assert_string_equal(billboard_answer_text(options, "loss"), "squared");
    billboard_answer_free(options);
    ASSERT_OK(billboard_job_set(job, "task", "school"));
    billboard_data *data = data_of(&a);
    assert_refused(billboard_job_run(job, data, NULL, NULL, &result), BILLBOARD_USAGE,
                   "--task is for files");
    billboard_data_free(data);
    billboard_job_free(job);
    job = JOB({"method", "mp-lowrank"});
    data = data_of(&a);
    assert_refused(billboard_job_run(job, data, NULL, NULL, &result), BILLBOARD_USAGE,
                   "epsilon");
    billboard_job_free(job);
    billboard_data_free(data);
    job = JOB({"method", "stl"});
    a.y = NULL;
    data = data_of(&a);
    assert_refused(billboard_job_run(job, data, NULL, NULL, &result), BILLBOARD_USAGE,
                   "no targets");
    billboard_data_free(data);
    a.y = y;
    data = data_of(&a);
    ASSERT_OK(billboard_job_set(job, "loss", "logistic"));
    assert_refused(billboard_job_run(job, data, NULL, NULL, &result), BILLBOARD_FAILED,
                   "arrays: task");
    ASSERT_OK(billboard_job_set(job, "output", ""));
    assert_refused(billboard_job_run(job, data, NULL, NULL, &result), BILLBOARD_USAGE,
                   "where to?");
    billboard_data_free(data);
    billboard_job_free(job);
    assert_refused(billboard_job_run(NULL, NULL, NULL, NULL, &result), BILLBOARD_USAGE,
                   "NULL");
}

static void test_rows_can_be_data(void **state) {
    (void)state;
    billboard_job *job = JOB({"method", "stl"});
    billboard_arrays a = arrays();
    billboard_data *data = data_of(&a);
    billboard_result *result = NULL;
    ASSERT_OK(billboard_job_run(job, data, data, NULL, &result));
    assert_true(figure(result, "test.rows") == ROWS);
    assert_true(figure(result, "test.nmse") == figure(result, "train.nmse"));
    billboard_result_free(result);
    ASSERT_OK(billboard_job_set(job, "test", "rows.csv"));
    assert_refused(billboard_job_run(job, data, data, NULL, &result), BILLBOARD_USAGE,
                   "given twice");
    billboard_data_free(data);
    billboard_job_free(job);
}

/* -- watching -- */

typedef struct watched {
    size_t rounds, warnings;
    volatile sig_atomic_t stop;
    uint32_t stop_at;
} watched;

static void see(void *self, const char *what, uint32_t done, uint32_t all) {
    watched *w = self;
    if (strcmp(what, "round") != 0) return;
    assert_true(done <= all);
    w->rounds++;
    if (w->stop_at && done == w->stop_at) w->stop = 1;
}

static void hear(void *self, const char *words) {
    assert_true(*words);
    ((watched *)self)->warnings++;
}

static void a_run_is_watched_and_stopped(void **state) {
    (void)state;
    billboard_job *job = usual_job();
    billboard_arrays a = arrays();
    billboard_data *data = data_of(&a);
    billboard_result *result = NULL;
    watched w = {0};
    const billboard_watch watch = {sizeof watch, &w, see, hear, &w.stop};
    ASSERT_OK(billboard_job_run(job, data, NULL, &watch, &result));
    assert_true((double)w.rounds == figure(result, "rounds"));
    assert_true(w.warnings > 0); /* a seed, few tasks */
    billboard_result_free(result);
    w = (watched){.stop_at = 2};
    assert_refused(billboard_job_run(job, data, NULL, &watch, &result),
                   BILLBOARD_INTERRUPTED, "after round 2 of ");
    billboard_data_free(data);
    billboard_job_free(job);
}

/* -- several at once -- */

enum { THREADS = 4 };

static void *run_alone(void *out) {
    billboard_job *job = NULL;
    billboard_arrays a = arrays();
    billboard_data *data = NULL;
    static const billboard_option option[] = {
        {"method", "mp-lowrank"},  {"epsilon", "8"},
        {"rounds", "3"},           {"seed", "5"},
        {"train-fraction", "0.7"}, {"no-intercept", NULL},
        {"threads", "2"}};
    billboard_status status = billboard_job_new(&job);
    for (size_t k = 0; k < sizeof option / sizeof *option && !status; k++)
        status = billboard_job_set(job, option[k].name, option[k].value);
    if (!status) status = billboard_data_from_arrays(&a, &data);
    if (!status) status = billboard_job_run(job, data, NULL, NULL, out);
    billboard_data_free(data);
    billboard_job_free(job);
    return status ? out : NULL;
}

static void jobs_run_at_once_in_several_threads(void **state) {
    (void)state;
    pthread_t thread[THREADS];
    billboard_result *result[THREADS] = {NULL};
    billboard_job *job = usual_job();
    billboard_arrays a = arrays();
    billboard_result *alone = run_on(job, data_of(&a));
    for (size_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, run_alone, &result[t]), 0);
    for (size_t t = 0; t < THREADS; t++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(thread[t], &failed), 0);
        assert_null(failed);
        assert_same_run(alone, result[t]);
        billboard_result_free(result[t]);
    }
    billboard_result_free(alone);
    billboard_job_free(job);
}

static char folder[] = "jobs-XXXXXX";

static int set_up(void **state) {
    (void)state;
    make_rows();
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int tear_down(void **state) {
    char command[40];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return chdir("..") || system(command) ? -1 : 0; /* NOLINT: cert-env33-c */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_and_files_give_the_same_bytes),
        cmocka_unit_test(compressed_rows_are_those_of_libsvm),
        cmocka_unit_test(a_result_says_what_it_promises),
        cmocka_unit_test(models_predict_as_they_say),
        cmocka_unit_test(classes_are_named),
        cmocka_unit_test(lists_of_labels_are_said),
        cmocka_unit_test(unknown_tasks_are_refused_skipped_or_answered),
        cmocka_unit_test(a_result_is_saved_and_loaded),
        cmocka_unit_test(a_ledger_is_charged_and_refuses),
        cmocka_unit_test(jobs_refuse_by_name),
        cmocka_unit_test(test_rows_can_be_data),
        cmocka_unit_test(a_run_is_watched_and_stopped),
        cmocka_unit_test(jobs_run_at_once_in_several_threads),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
