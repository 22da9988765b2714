/* rows.h - for tests of jobs and results: a small population as arrays, jobs on it, and a
 * folder to work in. */
#ifndef BB_TESTS_API_ROWS_H
#define BB_TESTS_API_ROWS_H

#include "test.h"

#include <billboard/billboard.h>
#include <math.h>

#define ASSERT_OK(call)                                                                \
    do {                                                                               \
        if (call) fail_msg("%s: %s", #call, billboard_error());                        \
    } while (0)

static inline void assert_refused(billboard_status status, billboard_status expected,
                                  const char *words) {
    if (status != expected || !strstr(billboard_error(), words))
        fail_msg("status %d, \"%s\": expected %d, \"%s\"", (int)status,
                 billboard_error(), (int)expected, words);
}

/* -- a population, as arrays and as files -- */

enum { TASKS = 12, EACH = 9, ROWS = TASKS * EACH, FEATURES = 3 };

static double x[ROWS * FEATURES], y[ROWS], by_columns[ROWS * FEATURES], classes[ROWS];
static float single[ROWS * FEATURES];
static int64_t owner[ROWS], row_start[ROWS + 1];
static int32_t column[ROWS * FEATURES];
static char text[ROWS][16];
static const char *name[ROWS];
static const char *const feature[FEATURES] = {"age", "height", "weight"};

/* Tasks in no order, rows of a task apart; multiples of 1/64, exact as texts and floats. */
static inline void make_rows(void) {
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
        classes[r] = y[r] > 0.25 ? 2 : y[r] > -0.25;
    }
    row_start[ROWS] = ROWS * FEATURES;
}

static inline billboard_arrays arrays(void) {
    return (billboard_arrays){.struct_size = sizeof(billboard_arrays),
                              .rows = ROWS,
                              .features = FEATURES,
                              .task_number = owner,
                              .x = x,
                              .y = y,
                              .feature_name = feature};
}

static inline billboard_data *data_of(const billboard_arrays *a) {
    billboard_data *data = NULL;
    ASSERT_OK(billboard_data_from_arrays(a, &data));
    return data;
}

/* -- jobs -- */

static inline billboard_job *job_of(const billboard_option *option, size_t options) {
    billboard_job *job = NULL;
    ASSERT_OK(billboard_job_new(&job));
    for (size_t k = 0; k < options; k++)
        ASSERT_OK(billboard_job_set(job, option[k].name, option[k].value));
    return job;
}

#define JOB(...)                                                                       \
    job_of((const billboard_option[]){__VA_ARGS__},                                    \
           sizeof((const billboard_option[]){__VA_ARGS__}) / sizeof(billboard_option))

static inline billboard_job *usual_job(void) {
    return JOB({"method", "mp-lowrank"}, {"epsilon", "8"}, {"rounds", "3"},
               {"seed", "5"}, {"train-fraction", "0.7"}, {"no-intercept", NULL});
}

static inline billboard_result *run_on(const billboard_job *job, billboard_data *data) {
    billboard_result *result = NULL;
    ASSERT_OK(billboard_job_run(job, data, NULL, NULL, &result));
    billboard_data_free(data);
    return result;
}

static inline const char *found(const billboard_result *result, const char *path) {
    const char *value = billboard_answer_text(billboard_result_answer(result), path);
    if (!value) fail_msg("no %s", path);
    return value;
}

static inline double figure(const billboard_result *result, const char *path) {
    return billboard_answer_number(billboard_result_answer(result), path);
}

static inline void assert_same_run(const billboard_result *a,
                                   const billboard_result *b) {
    assert_string_equal(found(a, "billboard_sha256"), found(b, "billboard_sha256"));
    assert_string_equal(found(a, "models_sha256"), found(b, "models_sha256"));
    assert_true(figure(a, "test.nmse") == figure(b, "test.nmse"));
}

static char folder[] = "jobs-XXXXXX";

static inline int set_up(void **state) {
    (void)state;
    make_rows();
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static inline int tear_down(void **state) {
    char command[40];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return chdir("..") || system(command) ? -1 : 0; /* NOLINT: cert-env33-c */
}

#endif
