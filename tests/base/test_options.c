#include "base/json.h"
#include "base/options.h"
#include "test.h"
#include "torture.h"

#include <stdbool.h>

typedef struct sample {
    double lambda, step;
    uint64_t rounds, seed;
    bool warm;
    int penalty;
    char *target, *task;
} sample;

enum { MANY = 1000 };

static const bb_option rows[] = {
    {.name = "lambda",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(sample, lambda),
     .fallback = "0.1",
     .least = 0.0,
     .most = INFINITY},
    {.name = "step",
     .kind = BB_OPTION_AUTO,
     .offset = offsetof(sample, step),
     .fallback = "auto",
     .least = -1.0,
     .most = 1.0},
    {.name = "rounds",
     .kind = BB_OPTION_COUNT,
     .offset = offsetof(sample, rounds),
     .fallback = "30",
     .least = 1.0,
     .most = MANY},
    {.name = "seed",
     .kind = BB_OPTION_COUNT,
     .offset = offsetof(sample, seed),
     .fallback = "0",
     .least = 0.0,
     .most = 0x1p64},
    {.name = "warm",
     .kind = BB_OPTION_FLAG,
     .offset = offsetof(sample, warm),
     .fallback = "false"},
    {.name = "penalty",
     .kind = BB_OPTION_CHOICE,
     .offset = offsetof(sample, penalty),
     .fallback = "l2",
     .choices = "l1|l2|none"},
    {.name = "target", .kind = BB_OPTION_TEXT, .offset = offsetof(sample, target)},
    {.name = "task",
     .kind = BB_OPTION_TEXT,
     .offset = offsetof(sample, task),
     .fallback = "id"},
};
static const bb_options table = {rows, sizeof rows / sizeof *rows};

static sample defaults(void) {
    sample values = {0};
    assert_ok(bb_options_default(table, &values));
    return values;
}

static void defaults_come_from_the_table(void **state) {
    (void)state;
    sample values = defaults();
    assert_true(values.lambda == 0.1);
    assert_true(isnan(values.step));
    assert_int_equal(values.rounds, 30);
    assert_false(values.warm);
    assert_int_equal(values.penalty, 1);
    assert_null(values.target);
    assert_string_equal(values.task, "id");
    bb_options_free(table, &values);
    assert_null(values.task);
}

static void every_kind_is_set_from_text(void **state) {
    (void)state;
    sample values = defaults();
    const char *const set[][2] = {{"lambda", "1e-3"}, {"step", "-0.5"},
                                  {"rounds", "1000"}, {"seed", "18446744073709551615"},
                                  {"warm", "true"},   {"penalty", "none"},
                                  {"target", "y"},    {"target", "score of the pupil"},
                                  {"task", ""}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        assert_ok(bb_options_set(table, &values, "train", set[i][0], set[i][1]));
    assert_true(values.lambda == 1e-3 && values.step == -0.5);
    assert_int_equal(values.rounds, 1000);
    assert_true(values.seed == UINT64_MAX);
    assert_true(values.warm);
    assert_int_equal(values.penalty, 2);
    assert_string_equal(values.target, "score of the pupil");
    assert_string_equal(values.task, "");
    assert_ok(bb_options_set(table, &values, "train", "warm", "false"));
    assert_false(values.warm);
    assert_ok(bb_options_set(table, &values, "train", "warm", NULL));
    assert_true(values.warm);
    assert_ok(bb_options_set(table, &values, "train", "step", "auto"));
    assert_true(isnan(values.step));
    bb_options_free(table, &values);
}

static void every_mistake_has_its_message(void **state) {
    (void)state;
    const char *const wrong[][3] = {
        {"lambda", "abc",
         "mp: option \"lambda\" expects a number in [0, inf], got \"abc\""},
        {"lambda", "-1",
         "mp: option \"lambda\" expects a number in [0, inf], got \"-1\""},
        {"lambda", "nan",
         "mp: option \"lambda\" expects a number in [0, inf], got \"nan\""},
        {"lambda", "inf",
         "mp: option \"lambda\" expects a number in [0, inf], got \"inf\""},
        {"lambda", "auto",
         "mp: option \"lambda\" expects a number in [0, inf], got \"auto\""},
        {"lambda", "1 ",
         "mp: option \"lambda\" expects a number in [0, inf], got \"1 \""},
        {"lambda", NULL,
         "mp: option \"lambda\" expects a number in [0, inf], got nothing"},
        {"step", "2",
         "mp: option \"step\" expects a number in [-1, 1] or \"auto\", got \"2\""},
        {"rounds", "0",
         "mp: option \"rounds\" expects a whole number in [1, 1000], got \"0\""},
        {"rounds", "1001",
         "mp: option \"rounds\" expects a whole number in [1, 1000], got \"1001\""},
        {"rounds", "2.5",
         "mp: option \"rounds\" expects a whole number in [1, 1000], got \"2.5\""},
        {"seed", "18446744073709551616",
         "expects a whole number in [0, 18446744073709551616]"},
        {"warm", "yes", "mp: option \"warm\" expects true or false, got \"yes\""},
        {"penalty", "l", "mp: option \"penalty\" expects one of l1|l2|none, got \"l\""},
        {"penalty", "l1|l2", "expects one of l1|l2|none, got \"l1|l2\""},
        {"penalty", "", "expects one of l1|l2|none, got \"\""},
        {"target", NULL, "mp: option \"target\" expects a text, got nothing"},
        {"lamda", "1",
         "mp: unknown option \"lamda\"; the nearest is lambda; known are lambda, step, "
         "rounds, seed, "
         "warm, penalty, target, task"},
        {"qqq", "1", "mp: unknown option \"qqq\"; known are lambda, "},
    };
    sample values = defaults(), before;
    memcpy(&before, &values, sizeof before);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_fails(bb_options_set(table, &values, "mp", wrong[i][0], wrong[i][1]),
                     BB_EUSAGE, wrong[i][2]);
        assert_memory_equal(&values, &before, sizeof values);
    }
    assert_fails(bb_options_set((bb_options){0}, &values, "stl", "x", "1"), BB_EUSAGE,
                 "stl: unknown option \"x\"; there are none");
    bb_options_free(table, &values);
}

static json_t *object(const char *text) {
    json_t *const json = json_loads(text, 0, NULL);
    assert_non_null(json);
    return json;
}

static void a_json_object_sets_members(void **state) {
    (void)state;
    sample values = defaults();
    json_t *const json =
        object("{\"lambda\": 2, \"step\": 0.1, \"rounds\": 12, \"seed\": "
               "\"18446744073709551615\","
               " \"warm\": true, \"penalty\": \"l1\", \"target\": \"y\"}");
    assert_ok(bb_options_set_json(table, &values, "train", json));
    json_decref(json);
    assert_true(values.lambda == 2.0 && values.step == 0.1);
    assert_int_equal(values.rounds, 12);
    assert_true(values.seed == UINT64_MAX && values.warm);
    assert_int_equal(values.penalty, 0);
    assert_string_equal(values.target, "y");
    bb_options_free(table, &values);
}

static void a_wrong_json_object_changes_nothing(void **state) {
    (void)state;
    const char *const wrong[][2] = {
        {"{\"target\": \"y\", \"lambda\": -1}",
         "\"lambda\" expects a number in [0, inf], got \"-1\""},
        {"{\"target\": \"y\", \"lambda\": true}", "got \"true\""},
        {"{\"target\": \"y\", \"lambda\": null}", "got \"null\""},
        {"{\"target\": \"y\", \"lambda\": [1, 2]}", "got \"[1, 2]\""},
        {"{\"target\": \"y\", \"rounds\": 1.5}", "got \"1.5\""},
        {"{\"target\": \"y\", \"task\": 7}", "option \"task\" expects a text, got 7"},
        {"{\"target\": \"y\", \"task\": null}",
         "option \"task\" expects a text, got null"},
        {"{\"target\": \"y\", \"nothing\": 7}", "unknown option \"nothing\""},
        {"[]", "must be a JSON object"}};
    sample values = defaults(), before;
    memcpy(&before, &values, sizeof before);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *const json = object(wrong[i][0]);
        assert_fails(bb_options_set_json(table, &values, "c.json", json), BB_EUSAGE,
                     wrong[i][1]);
        assert_memory_equal(&values, &before, sizeof values);
        json_decref(json);
    }
    assert_fails(bb_options_set_json(table, &values, "c.json", NULL), BB_EUSAGE,
                 "object");
    bb_options_free(table, &values);
}

static void resolved_options_can_be_read_back(void **state) {
    (void)state;
    sample values = defaults(), again = defaults();
    assert_ok(bb_options_set(table, &again, "train", "target", "to be overwritten"));
    assert_ok(bb_options_set(table, &values, "train", "lambda", "0.30000000000000004"));
    assert_ok(bb_options_set(table, &values, "train", "seed", "9223372036854775808"));
    json_t *const json = bb_options_json(table, &values);
    char *const text = bb_json_text(json, 0);
    assert_string_equal(text, "{\"lambda\": 0.30000000000000004, \"step\": \"auto\", "
                              "\"rounds\": 30, \"seed\": \"9223372036854775808\", "
                              "\"warm\": false, \"penalty\": \"l2\", \"target\": null, "
                              "\"task\": \"id\"}");
    assert_ok(bb_options_set_json(table, &again, "run.json", json));
    assert_true(again.lambda == 0.30000000000000004);
    assert_true(again.seed == values.seed && isnan(again.step));
    assert_null(again.target);
    assert_string_equal(again.task, "id");
    free(text);
    json_decref(json);
    bb_options_free(table, &values);
    bb_options_free(table, &again);
}

static bb_status there_and_back(void *context) {
    sample values = {0};
    json_t *json = NULL;
    (void)context;
    bb_status status = bb_options_default(table, &values);
    if (!status) status = bb_options_set(table, &values, "train", "target", "y");
    if (!status && !(json = bb_options_json(table, &values)))
        status = bb_fail(BB_ENOMEM, "no memory");
    if (!status) status = bb_options_set_json(table, &values, "train", json);
    json_decref(json);
    bb_options_free(table, &values);
    return status;
}

static void options_survive_torture(void **state) {
    (void)state;
    assert_true(torture_memory((bb_torture){.attempt = there_and_back}) > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_come_from_the_table),
        cmocka_unit_test(every_kind_is_set_from_text),
        cmocka_unit_test(every_mistake_has_its_message),
        cmocka_unit_test(a_json_object_sets_members),
        cmocka_unit_test(a_wrong_json_object_changes_nothing),
        cmocka_unit_test(resolved_options_can_be_read_back),
        cmocka_unit_test(options_survive_torture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
