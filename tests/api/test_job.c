/* Jobs, from outside: training on arrays and files, what is refused, watching, and many at
 * once. */
#include "rows.h"

#include <pthread.h>
#include <unistd.h>

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
                   "such as stl: set \"set\" to \"penalty=l1\"");
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
    ASSERT_OK(billboard_job_set(job, "categories", "{\"x1\": [\"a\", \"b\"]}"));
    assert_refused(billboard_job_run(job, data, NULL, NULL, &result), BILLBOARD_USAGE,
                   "--categories of column \"x1\" is for files");
    ASSERT_OK(billboard_job_set(job, "categories", "{\"y\": [\"a\", \"a\"]}"));
    assert_refused(billboard_job_run(job, data, NULL, NULL, &result), BILLBOARD_FAILED,
                   "a list of different texts");
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
    billboard_flag stop;
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

/* -- tuning -- */

/* Once a run has ended, or settings are looked at before any, the file is gone. */
static void take_away(void *self, const char *what, uint32_t done, uint32_t all) {
    (void)all;
    if (done == 1 || strcmp(what, "checking") == 0) remove(self);
}

static void tuning_reads_its_rows_once(void **state) {
    (void)state;
    char path[] = "once.csv";
    const billboard_watch watch = {sizeof watch, path, take_away, NULL, NULL};
    billboard_job *job = JOB({"method", "mp-prior"}, {"epsilon", "8"},
                             {"scale", "{\"target\": [-40, 40], \"others\": [-9, 9]}"});
    const billboard_option open[] = {{"data", "not-private"},
                                     {"grid", "lambda=0.1,1,10"},
                                     {"threads", "1"}},
                           closed[] = {{"data", "private"}, {"grid", "lambda=0.1,1,10"},
                                       {"runs", "30"},      {"seed", "1"},
                                       {"threads", "1"},    {"output", "tuned"}};
    for (int k = 0; k < 2; k++) {
        billboard_data *data = NULL;
        billboard_answer *answer = NULL;
        write_csv(path, y);
        ASSERT_OK(billboard_data_from_file(path, &data));
        ASSERT_OK(
            billboard_tune(job, data, k ? closed : open, k ? 6 : 3, &watch, &answer));
        assert_int_not_equal(access(path, F_OK), 0);
        billboard_answer_free(answer);
        billboard_data_free(data);
    }
    billboard_job_free(job);
}

/* -- going on -- */

static billboard_job *resuming_job(const char *path) {
    billboard_job *job = NULL;
    ASSERT_OK(billboard_job_new(&job));
    ASSERT_OK(billboard_job_set(job, "resume", path));
    return job;
}

/* In memory, from arrays, which are given again. */
static void a_stopped_job_goes_on(void **state) {
    (void)state;
    billboard_job *job = usual_job(), *rest;
    billboard_arrays a = arrays();
    billboard_data *data = data_of(&a);
    billboard_result *whole = NULL, *result = NULL;
    watched w = {.stop_at = 2};
    const billboard_watch watch = {sizeof watch, &w, see, NULL, &w.stop};
    ASSERT_OK(billboard_job_set(job, "checkpoint", "kept"));
    ASSERT_OK(billboard_job_run(job, data, NULL, NULL, &whole));
    assert_int_equal(access("kept", F_OK), -1);
    assert_refused(billboard_job_run(job, data, NULL, &watch, &result),
                   BILLBOARD_INTERRUPTED,
                   "go on with it: billboard train --resume kept");
    assert_refused(billboard_job_run(job, data, NULL, NULL, &result), BILLBOARD_USAGE,
                   "kept: exists already");
    rest = resuming_job("kept");
    assert_refused(billboard_job_run(rest, NULL, NULL, NULL, &result), BILLBOARD_USAGE,
                   "rows from arrays: give them again");
    assert_null(result);
    ASSERT_OK(billboard_job_run(rest, data, NULL, NULL, &result));
    assert_int_equal(access("kept", F_OK), -1);
    static const char *const same[] = {"billboard_sha256", "models_sha256"};
    for (size_t k = 0; k < 2; k++)
        assert_string_equal(
            billboard_answer_text(billboard_result_answer(whole), same[k]),
            billboard_answer_text(billboard_result_answer(result), same[k]));
    billboard_result_free(whole);
    billboard_result_free(result);
    billboard_data_free(data);
    billboard_job_free(rest);
    rest = resuming_job("kept");
    assert_refused(billboard_job_run(rest, NULL, NULL, NULL, &result), BILLBOARD_FAILED,
                   "kept: cannot be opened");
    billboard_job_free(rest);
    billboard_job_free(job);
    job = usual_job();
    assert_refused(billboard_job_run(job, NULL, NULL, NULL, &result), BILLBOARD_USAGE,
                   "data is NULL");
    billboard_job_free(job);
}

typedef struct canceller {
    billboard_flag stop, begun;
} canceller;

static void note_round(void *self, const char *what, uint32_t done, uint32_t all) {
    (void)done, (void)all;
    if (strcmp(what, "round") == 0) ((canceller *)self)->begun = 1;
}

static void *cancel(void *self) {
    canceller *c = self;
    while (!c->begun) sched_yield();
    c->stop = 1;
    return NULL;
}

static void another_thread_cancels(void **state) {
    (void)state;
    canceller c = {0};
    const billboard_watch watch = {sizeof watch, &c, note_round, NULL, &c.stop};
    billboard_job *job = usual_job();
    billboard_arrays a = arrays();
    billboard_data *data = data_of(&a);
    billboard_result *result = NULL;
    pthread_t thread;
    ASSERT_OK(billboard_job_set(job, "rounds", "1000000"));
    assert_int_equal(pthread_create(&thread, NULL, cancel, &c), 0);
    assert_refused(billboard_job_run(job, data, NULL, &watch, &result),
                   BILLBOARD_INTERRUPTED, "of 1000001");
    assert_int_equal(pthread_join(thread, NULL), 0);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_and_files_give_the_same_bytes),
        cmocka_unit_test(compressed_rows_are_those_of_libsvm),
        cmocka_unit_test(jobs_refuse_by_name),
        cmocka_unit_test(test_rows_can_be_data),
        cmocka_unit_test(a_run_is_watched_and_stopped),
        cmocka_unit_test(tuning_reads_its_rows_once),
        cmocka_unit_test(a_stopped_job_goes_on),
        cmocka_unit_test(another_thread_cancels),
        cmocka_unit_test(jobs_run_at_once_in_several_threads),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
