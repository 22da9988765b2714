/* Results, from outside: promises, models, predictions, run directories and ledgers. */
#include "rows.h"

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
    assert_null(v.output); /* nobody asked for them */
    billboard_models all = {.struct_size = sizeof all};
    ASSERT_OK(billboard_result_models(result, &all));
    assert_int_equal(all.tasks, TASKS);
    for (size_t i = 0; i < TASKS; i++) {
        billboard_model m = {.struct_size = sizeof m};
        assert_string_equal(all.task_name[i], billboard_result_task(result, i));
        ASSERT_OK(billboard_result_model(result, all.task_name[i], &m));
        assert_ptr_equal(all.weight + i * FEATURES, m.weight);
        assert_true(all.intercept[i] == m.intercept);
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

/* Where a row's task is known, by as much as the CSV says. */
static void intervals_lie_around_predictions(void **state) {
    (void)state;
    billboard_job *job = JOB({"method", "mp-mixed"}, {"epsilon", "30"},
                             {"scale", "{\"others\": [-1, 1], \"target\": [-3, 3]}"},
                             {"intervals", NULL}, {"seed", "1"});
    billboard_arrays a = arrays();
    billboard_result *result = run_on(job, data_of(&a));
    char *names[ROWS];
    memcpy(names, name, sizeof names);
    names[1] = (char *)"nobody";
    a.task_number = NULL;
    a.task_name = (const char *const *)names;
    a.y = NULL;
    billboard_data *data = data_of(&a);
    billboard_predictions *said = NULL;
    billboard_values v = {.struct_size = sizeof v};
    const billboard_option how[] = {{"unknown", "shared"}, {"intervals", "0.9"}};
    const char *csv = NULL;
    double value, low, high;
    ASSERT_OK(billboard_predict(result, data, how, 1, &said));
    ASSERT_OK(billboard_predictions_values(said, &v));
    assert_null(v.half_width); /* nobody asked for it */
    billboard_predictions_free(said);
    ASSERT_OK(billboard_predict(result, data, how, 2, &said));
    ASSERT_OK(billboard_predictions_values(said, &v));
    assert_true(isnan(v.half_width[1]) && isfinite(v.value[1]));
    assert_true(v.half_width[0] > 0.0 && isfinite(v.half_width[0]));
    ASSERT_OK(billboard_predictions_csv(said, &csv));
    assert_int_equal(
        sscanf(csv, "task,prediction,lower,upper\n95,%lf,%lf,%lf", &value, &low, &high),
        3); /* the first row, which is the first of task 95 */
    assert_true(value == v.value[0] && low == value - v.half_width[0] &&
                high == value + v.half_width[0]);
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
    const billboard_option outputs = {"outputs", NULL};
    ASSERT_OK(billboard_job_run(job, data, NULL, NULL, &result));
    ASSERT_OK(billboard_predict(result, data, &outputs, 1, &said));
    ASSERT_OK(billboard_predictions_values(said, &v));
    assert_int_equal(v.outputs, 3);
    for (size_t r = 0; r < ROWS; r++) {
        assert_in_range(v.classes[r], 0, 2);
        assert_true(v.value[r] > 1.0 / 3 && v.value[r] <= 1.0);
        const double *z = v.output + 3 * r, best = z[v.classes[r]];
        double sum = 0.0;
        for (size_t c = 0; c < 3; c++) sum += exp(z[c] - best);
        assert_close(v.value[r], 1.0 / sum, 1e-12);
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
    billboard_job *job = JOB({"method", "dp-aggr"}, {"epsilon", "8"}, {"seed", "1"},
                             {"standardize", "none"});
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
        "operator/models.csv",  "operator/models.json",  "operator/preprocessing.json",
        "operator/limits.csv"};
    billboard_job *job = JOB({"method", "dp-aggr"}, {"epsilon", "4"}, {"seed", "3"},
                             {"standardize", "none"}, {"train-fraction", "0.6"});
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_says_what_it_promises),
        cmocka_unit_test(models_predict_as_they_say),
        cmocka_unit_test(intervals_lie_around_predictions),
        cmocka_unit_test(classes_are_named),
        cmocka_unit_test(lists_of_labels_are_said),
        cmocka_unit_test(unknown_tasks_are_refused_skipped_or_answered),
        cmocka_unit_test(a_result_is_saved_and_loaded),
        cmocka_unit_test(a_ledger_is_charged_and_refuses),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
