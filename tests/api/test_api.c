/* The library as a program sees it: libbillboard.so and its header, and nothing else of
 * Billboard. */
#include "test.h"

#include <billboard/billboard.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static void assert_refused(billboard_status status, billboard_status expected,
                           const char *words) {
    if (status != expected || !strstr(billboard_error(), words))
        fail_msg("status %d, \"%s\": expected %d, \"%s\"", (int)status,
                 billboard_error(), (int)expected, words);
}

#define ASSERT_OK(call)                                                                \
    do {                                                                               \
        if (call) fail_msg("%s: %s", #call, billboard_error());                        \
    } while (0)

/* -- which one it is -- */

static void the_library_is_the_one_of_the_header(void **state) {
    (void)state;
    assert_int_equal(billboard_abi(), BILLBOARD_ABI);
    assert_string_equal(billboard_version(), BB_VERSION);
}

/* -- plans -- */

static billboard_answer *price(const billboard_option *option, size_t options) {
    billboard_answer *answer = NULL;
    ASSERT_OK(billboard_account(option, options, NULL, &answer));
    return answer;
}

static void a_plan_is_priced_and_calibrated(void **state) {
    (void)state;
    const billboard_option noise[] = {
        {"rounds", "10"}, {"epsilon", "1"}, {"delta", "1e-5"}};
    billboard_answer *found = price(noise, 3);
    char z[32];
    assert_string_equal(billboard_answer_text(found, "found"), "noise_multiplier");
    snprintf(z, sizeof z, "%.17g", billboard_answer_number(found, "noise_multiplier"));
    billboard_answer_free(found);
    const billboard_option epsilon[] = {
        {"rounds", "10"}, {"noise-multiplier", z}, {"delta", "1e-5"}};
    found = price(epsilon, 3);
    assert_string_equal(billboard_answer_text(found, "found"), "epsilon");
    const double e = billboard_answer_number(found, "epsilon");
    if (!(e > 0.9999 && e <= 1.0000001)) fail_msg("epsilon %.17g", e);
    assert_non_null(strstr(billboard_answer_text(found, "statement"), "replace-one"));
    billboard_answer_free(found);
    const billboard_option rounds[] = {
        {"epsilon", "1"}, {"noise-multiplier", z}, {"delta", "1e-5"}};
    found = price(rounds, 3);
    assert_true(billboard_answer_number(found, "rounds") == 10.0);
    billboard_answer_free(found);
}

static void what_makes_no_sense_is_refused_by_name(void **state) {
    (void)state;
    billboard_answer *answer = NULL;
    const billboard_option wrong[] = {{"epsilo", "1"}};
    assert_refused(billboard_account(wrong, 1, NULL, &answer), BILLBOARD_USAGE,
                   "unknown option \"epsilo\"; the nearest is epsilon");
    const billboard_option none[] = {
        {"rounds", "10"}, {"epsilon", "1"}, {"delta", "two"}};
    assert_refused(billboard_account(none, 3, NULL, &answer), BILLBOARD_USAGE, "delta");
    const billboard_option dear[] = {
        {"noise-multiplier", "0.01"}, {"epsilon", "0.1"}, {"delta", "1e-9"}};
    assert_refused(billboard_account(dear, 3, NULL, &answer), BILLBOARD_BUDGET,
                   "not even one round");
    assert_refused(billboard_account(dear, 3, NULL, NULL), BILLBOARD_USAGE, "NULL");
    assert_refused(billboard_account(NULL, 3, NULL, &answer), BILLBOARD_USAGE, "NULL");
    assert_null(answer);
}

static billboard_flag stop;

static void stop_at_third(void *self, const char *what, uint32_t done, uint32_t all) {
    size_t *calls = self;
    assert_non_null(what);
    assert_true(done <= all);
    stop = ++*calls == 3;
}

static void a_watch_can_stop_a_call(void **state) {
    (void)state;
    const billboard_option plan[] = {{"rounds", "10"},
                                     {"noise-multiplier", "5"},
                                     {"delta", "1e-5"},
                                     {"curve", "epsilon"}};
    size_t calls = 0;
    billboard_watch watch = {.struct_size = sizeof watch,
                             .self = &calls,
                             .progress = stop_at_third,
                             .stop = &stop};
    billboard_answer *answer = NULL;
    assert_refused(billboard_account(plan, 4, &watch, &answer), BILLBOARD_INTERRUPTED,
                   "interrupted");
    assert_int_equal(calls, 3);
    assert_null(answer);
    watch.struct_size = 0;
    assert_refused(billboard_account(plan, 4, &watch, &answer), BILLBOARD_USAGE,
                   "struct_size is 0");
}

static void a_watch_can_stop_an_audit(void **state) {
    (void)state;
    const billboard_option attack[] = {{"trials", "20000"}, {"threads", "1"}};
    size_t calls = 0;
    const billboard_watch watch = {.struct_size = sizeof watch,
                                   .self = &calls,
                                   .progress = stop_at_third,
                                   .stop = &stop};
    billboard_answer *verdict = NULL;
    stop = 0;
    assert_refused(billboard_audit(attack, 2, &watch, &verdict), BILLBOARD_INTERRUPTED,
                   "interrupted");
    assert_int_equal(calls, 3);
    assert_null(verdict);
}

/* -- audits -- */

static void audits_find_what_is_wrong_and_nothing_else(void **state) {
    (void)state;
    const billboard_option fine[] = {{"trials", "2000"},
                                     {"seed", "3"},
                                     {"threads", "1"}},
                           wrong[] = {{"method", "mp-lowrank"}, {"epsilon", "1"},
                                      {"run-epsilon", "10000"}, {"tasks", "200"},
                                      {"features", "30"},       {"seed", "3"}},
                           typo[] = {{"trails", "3"}};
    billboard_answer *verdict = NULL;
    ASSERT_OK(billboard_audit(fine, 3, NULL, &verdict));
    assert_true(billboard_answer_number(verdict, "violated") == 0.0);
    assert_true(billboard_answer_number(verdict, "epsilon_lower") <= 1.0);
    billboard_answer_free(verdict);
    ASSERT_OK(billboard_audit(wrong, 6, NULL, &verdict));
    assert_true(billboard_answer_number(verdict, "violated") == 1.0);
    assert_true(billboard_answer_number(verdict, "epsilon_lower") > 1.0);
    billboard_answer_free(verdict);
    assert_refused(billboard_audit(typo, 1, NULL, &verdict), BILLBOARD_USAGE,
                   "the nearest is trials");
    assert_refused(billboard_audit(NULL, 1, NULL, &verdict), BILLBOARD_USAGE, "NULL");
}

/* -- answers -- */

static void answers_are_asked_by_paths(void **state) {
    (void)state;
    billboard_answer *methods = NULL;
    ASSERT_OK(billboard_methods(NULL, &methods));
    const size_t count = billboard_answer_count(methods, "methods");
    assert_true(count > 10);
    assert_int_equal(billboard_answer_count(methods, ""), 1);
    assert_string_equal(billboard_answer_text(methods, "methods.0.name"), "stl");
    assert_true(billboard_answer_number(methods, "methods.0.follows") == 0.0);
    assert_non_null(strstr(billboard_answer_json(methods), "\"mp-lowrank\""));
    static const char *const nowhere[] = {"method",          "methods.x", "methods.99",
                                          "methods.-1",      ".methods",  "methods..0",
                                          "methods.0.name.x"};
    for (size_t k = 0; k < sizeof nowhere / sizeof *nowhere; k++) {
        assert_null(billboard_answer_text(methods, nowhere[k]));
        assert_true(isnan(billboard_answer_number(methods, nowhere[k])));
        assert_int_equal(billboard_answer_count(methods, nowhere[k]), 0);
    }
    billboard_answer_free(methods);
    billboard_answer_free(NULL);
    assert_refused(billboard_methods("mp-low", &methods), BILLBOARD_USAGE, "mp-low");
}

static void options_are_those_of_the_program(void **state) {
    (void)state;
    billboard_answer *options = NULL;
    ASSERT_OK(billboard_options("train", &options));
    assert_true(billboard_answer_count(options, "options") > 40);
    assert_string_equal(billboard_answer_text(options, "options.0.name"), "task");
    assert_string_equal(billboard_answer_text(options, "options.0.group"), "Data:");
    billboard_answer_free(options);
    static const char *const of[] = {"account", "synth", "tune", "audit",
                                     "audit-method"};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        ASSERT_OK(billboard_options(of[k], &options));
        assert_non_null(billboard_answer_text(options, "options.0.expects"));
        billboard_answer_free(options);
    }
    assert_refused(billboard_options("fly", &options), BILLBOARD_USAGE, "fly");
}

/* -- data -- */

enum { ROWS = 4, FEATURES = 2 };
static const double dense[ROWS * FEATURES] = {1, 2, 3, 4, 5, 6, 7, 8};
static const double target[ROWS] = {1, 0, 1, 0};
static const int64_t owner[ROWS] = {7, 7, -1, 10};

static billboard_arrays arrays(void) {
    return (billboard_arrays){.struct_size = sizeof(billboard_arrays),
                              .rows = ROWS,
                              .features = FEATURES,
                              .task_number = owner,
                              .x = dense,
                              .y = target};
}

static void arrays_become_data(void **state) {
    (void)state;
    billboard_arrays a = arrays();
    billboard_data *data = NULL;
    ASSERT_OK(billboard_data_from_arrays(&a, &data));
    billboard_data_free(data);
    billboard_data_free(NULL);
    a.y = NULL; /* for predictions */
    ASSERT_OK(billboard_data_from_arrays(&a, &data));
    billboard_data_free(data);
    ASSERT_OK(billboard_data_from_file("not there", &data));
    billboard_data_free(data);
}

static void refuse(const billboard_arrays *a, billboard_status expected,
                   const char *words) {
    billboard_data *data = NULL;
    assert_refused(billboard_data_from_arrays(a, &data), expected, words);
    assert_null(data);
}

static void arrays_that_contradict_are_refused(void **state) {
    (void)state;
    static const char *const name[ROWS] = {"a", "b", "", "d"};
    static const char *const same[FEATURES] = {"age", "age"};
    static const int64_t start[ROWS + 1] = {0, 1, 1, 2, 3}, back[] = {0, 2, 1, 2, 3},
                                      later[] = {1, 1, 1, 2, 3};
    static const int32_t column[] = {0, 1, 2}, good[] = {0, 1, 1}, label[] = {0, -1, 2};
    static const double value[] = {1, 2, 3}, wild[ROWS] = {1, 0, NAN, 0};
    billboard_arrays a = arrays();
    a.rows = 0;
    refuse(&a, BILLBOARD_USAGE, "no rows");
    a = arrays(), a.features = 0;
    refuse(&a, BILLBOARD_USAGE, "features");
    a = arrays(), a.task_name = name;
    refuse(&a, BILLBOARD_USAGE, "not both");
    a.task_number = NULL;
    refuse(&a, BILLBOARD_FAILED, "row 3: the task's name is empty");
    a = arrays(), a.x = NULL;
    refuse(&a, BILLBOARD_USAGE, "give x, or row_start");
    a.row_start = start;
    refuse(&a, BILLBOARD_USAGE, "needs column and value");
    a.column = column, a.value = value;
    refuse(&a, BILLBOARD_FAILED, "row 4: expected columns");
    a.column = good, a.row_start = back;
    refuse(&a, BILLBOARD_USAGE, "row_start[2] is 1, less than");
    a.row_start = later;
    refuse(&a, BILLBOARD_USAGE, "row_start[0] is 1");
    a = arrays(), a.y = wild;
    refuse(&a, BILLBOARD_FAILED, "row 3: target: expected a finite number");
    a = arrays(), a.label_start = start, a.label = label;
    refuse(&a, BILLBOARD_USAGE, "y or lists of labels");
    a.y = NULL;
    refuse(&a, BILLBOARD_FAILED, "row 3: expected a label");
    a = arrays(), a.feature_name = same;
    refuse(&a, BILLBOARD_USAGE, "feature_name[1] is \"age\", as feature_name[0]");
    a = arrays(), a.struct_size = 0;
    refuse(&a, BILLBOARD_USAGE, "struct_size is 0");
    refuse(NULL, BILLBOARD_USAGE, "NULL");
}

/* A struct of a later header: fine while it asks for nothing that is not known here. */
static void larger_structs_are_taken_if_they_ask_for_nothing(void **state) {
    (void)state;
    struct {
        billboard_arrays arrays;
        int64_t more;
    } later = {.arrays = arrays()};
    billboard_data *data = NULL;
    later.arrays.struct_size = sizeof later;
    ASSERT_OK(billboard_data_from_arrays(&later.arrays, &data));
    billboard_data_free(data);
    later.more = 1;
    assert_refused(billboard_data_from_arrays(&later.arrays, &data), BILLBOARD_USAGE,
                   "are not 0");
}

static void data_say_what_is_in_them(void **state) {
    (void)state;
    billboard_arrays a = arrays();
    billboard_data *data = NULL;
    billboard_answer *info = NULL;
    ASSERT_OK(billboard_data_from_arrays(&a, &data));
    ASSERT_OK(billboard_info(data, NULL, 0, &info));
    assert_true(billboard_answer_number(info, "tasks") == 3.0);
    assert_true(billboard_answer_number(info, "rows_per_task.max") == 2.0);
    assert_string_equal(billboard_answer_text(info, "target.kind"), "binary (0, 1)");
    assert_null(billboard_answer_text(info, "start"));
    billboard_answer_free(info);
    const billboard_option wrong = {"target", "score"};
    assert_refused(billboard_info(data, &wrong, 1, &info), BILLBOARD_USAGE,
                   "--target is for files");
    billboard_data_free(data);
    const billboard_option world[] = {
        {"tasks", "3"}, {"samples", "4"}, {"features", "2"}, {"output", "world.csv"}};
    ASSERT_OK(billboard_synth("low-rank", world, 4, &info));
    assert_string_equal(billboard_answer_text(info, "test"), "world.test.csv");
    billboard_answer_free(info);
    ASSERT_OK(billboard_data_from_file("world.csv", &data));
    ASSERT_OK(billboard_info(data, NULL, 0, &info));
    assert_true(billboard_answer_number(info, "rows") == 12.0);
    assert_non_null(strstr(billboard_answer_text(info, "start"), "train world.csv"));
    billboard_answer_free(info);
    billboard_data_free(data);
    assert_int_equal(remove("world.csv") + remove("world.test.csv"), 0);
    assert_refused(billboard_synth("flat", world, 4, &info), BILLBOARD_USAGE, "flat");
}

/* -- threads -- */

static void *fail_in_thread(void *self) {
    billboard_answer *answer = NULL;
    (void)self;
    if (*billboard_error()) return self;
    const billboard_option wrong = {"thread", "1"};
    if (billboard_account(&wrong, 1, NULL, &answer) != BILLBOARD_USAGE) return self;
    return strstr(billboard_error(), "thread") ? NULL : self;
}

static void errors_belong_to_threads(void **state) {
    pthread_t thread;
    int failed = 1;
    void *wrong = NULL;
    billboard_answer *answer = NULL;
    (void)state;
    const billboard_option here = {"here", "1"};
    assert_refused(billboard_account(&here, 1, NULL, &answer), BILLBOARD_USAGE, "here");
    assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, &failed), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    assert_non_null(strstr(billboard_error(), "here"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_belong_to_threads),
        cmocka_unit_test(the_library_is_the_one_of_the_header),
        cmocka_unit_test(a_plan_is_priced_and_calibrated),
        cmocka_unit_test(what_makes_no_sense_is_refused_by_name),
        cmocka_unit_test(a_watch_can_stop_a_call),
        cmocka_unit_test(a_watch_can_stop_an_audit),
        cmocka_unit_test(audits_find_what_is_wrong_and_nothing_else),
        cmocka_unit_test(answers_are_asked_by_paths),
        cmocka_unit_test(options_are_those_of_the_program),
        cmocka_unit_test(arrays_become_data),
        cmocka_unit_test(data_say_what_is_in_them),
        cmocka_unit_test(arrays_that_contradict_are_refused),
        cmocka_unit_test(larger_structs_are_taken_if_they_ask_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
