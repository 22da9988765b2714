#include "data/files.h"
#include "data/ranges.h"

static bb_status read_json(const char *text, bb_ranges *ranges) {
    write_text("r.json", text);
    const bb_status status = bb_ranges_read(ranges, "r.json");
    unlink("r.json");
    return status;
}

static void read_ranges(void **state) {
    (void)state;
    bb_ranges r;
    assert_ok(read_json("{\"note\": \"by hand\", \"target\": [0, 10],"
                        " \"columns\": {\"age\": [-1.5, 120], \"dose\": 5}}",
                        &r));
    assert_int_equal(r.count, 2);
    assert_true(r.has_target && r.target.low == 0 && r.target.high == 10);
    assert_string_equal(r.name[0], "age");
    assert_true(r.column[0].low == -1.5 && r.column[0].high == 120);
    assert_string_equal(r.name[1], "dose");
    assert_true(r.column[1].low == -5 && r.column[1].high == 5);
    bb_ranges_free(&r);
    assert_ok(read_json("{\"columns\": {}, \"target\": null}", &r));
    assert_int_equal(r.count, 0);
    assert_false(r.has_target);
    bb_ranges_free(&r);
    assert_ok(read_json("{\"columns\": {\"age\": 3}, \"others\": [0, 255]}", &r));
    assert_true(r.has_others && r.others.low == 0 && r.others.high == 255);
    json_t *const json = bb_ranges_json(&r);
    bb_ranges_free(&r);
    assert_ok(bb_ranges_parse(&r, json, "again"));
    assert_true(r.has_others && r.others.high == 255 && r.count == 1);
    json_decref(json);
    bb_ranges_free(&r);
    assert_ok(read_json("{\"columns\": {\"age\": 3}, \"others\": \"open\"}", &r));
    assert_true(bb_range_is_open(r.others) && !bb_range_is_open(r.column[0]));
    json_t *const open = bb_ranges_json(&r);
    assert_string_equal(json_string_value(json_object_get(open, "others")), "open");
    json_decref(open);
    bb_ranges_free(&r);
    assert_true(bb_ranges_are_open("{\"columns\": {}, \"others\": \"open\"}"));
    assert_false(bb_ranges_are_open("{\"columns\": {}, \"others\": [0, 1]}"));
    assert_false(bb_ranges_are_open("none.json"));
    assert_ok(read_json("{\"others\": 1}", &r));
    assert_true(r.has_others && r.others.low == -1 && r.count == 0);
    bb_ranges_free(&r);
}

static void messages(void **state) {
    (void)state;
    static const char range[] =
        ": expected a range [low, high] with low <= high, or one "
        "number > 0";
    static const struct {
        const char *text, *message, *more;
    } bad[] = {
        {"[1, 2]", "r.json: expected a JSON object with \"columns\"", ""},
        {"{}", "r.json: expected \"columns\": {name: [low, high], ...}", ""},
        {"{\"columns\": [1, 2]}",
         "r.json: expected \"columns\": {name: [low, high], ...}", ""},
        {"{\"columns\": {}, \"targt\": [0, 1]}",
         "r.json: unknown member \"targt\"; expected \"target\", \"columns\", "
         "\"others\", \"note\", \"source\"",
         ""},
        {"{\"target\": [3, 3], \"columns\": {}}",
         "r.json: target: a range of one value tells nothing apart", ""},
        {"{\"columns\": {\"a\": [2, 1]}}", "r.json: \"a\"", range},
        {"{\"columns\": {\"a\": [1]}}", "r.json: \"a\"", range},
        {"{\"columns\": {}, \"others\": \"opne\"}", "r.json: \"others\"",
         ": expected a range, or \"open\""},
        {"{\"columns\": {\"a\": [1, 2, 3]}}", "r.json: \"a\"", range},
        {"{\"columns\": {\"a\": [\"1\", 2]}}", "r.json: \"a\"", range},
        {"{\"columns\": {\"a\": -1}}", "r.json: \"a\"", range},
        {"{\"columns\": {\"a\": 0}}", "r.json: \"a\"", range},
        {"{\"columns\": {\"a\": null}}", "r.json: \"a\"", range},
        {"{\"others\": [1, 0]}", "r.json: \"others\"", range},
        {"{\"others\": 1, \"columns\": 2}",
         "r.json: expected \"columns\": {name: [low, high], ...}", ""},
        {"{\"columns\": {}, \"target\": [0, null]}", "r.json: \"target\"", range},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bb_ranges r;
        char words[300];
        snprintf(words, sizeof words, "%s%s", bad[i].message, bad[i].more);
        assert_message(read_json(bad[i].text, &r), BB_EDATA, words);
    }
    bb_ranges r;
    assert_fails(bb_ranges_read(&r, "nowhere.json"), BB_EIO, "nowhere.json");
    assert_fails(read_json("{\"columns\": {\"a\": [1, 1e999]}}", &r), BB_EDATA,
                 "r.json");
}

static void names_are_features(void **state) {
    (void)state;
    char age[] = "age", girl[] = "girl";
    char *both[] = {age, girl};
    bb_names left_out = {0};
    bb_ranges r;
    assert_ok(bb_names_parse(&left_out, "who", "test"));
    assert_ok(read_json("{\"columns\": {\"age\": 9, \"who\": 9}, \"others\": 1}", &r));
    assert_ok(bb_ranges_check_names(&r, "r.json", 2, both, &left_out));
    assert_message(bb_ranges_check_names(&r, "r.json", 2, both, &(bb_names){0}),
                   BB_EDATA,
                   "r.json: the range of \"who\" is of no feature; features without "
                   "one are \"girl\"");
    assert_message(bb_ranges_check_names(&r, "r.json", 1, both, &(bb_names){0}),
                   BB_EDATA,
                   "r.json: the range of \"who\" is of no feature; all have theirs");
    bb_ranges_free(&r);
    assert_ok(read_json("{\"columns\": {\"gril\": 9}}", &r));
    assert_ok(bb_ranges_check_names(&r, "r.json", 2, both, &left_out));
    bb_ranges_free(&r);
    bb_names_free(&left_out);
}

static void from_dense_data(void **state) {
    (void)state;
    const bb_read_options keep = {.keep_missing = true};
    char text[2048];
    bb_dataset data;
    bb_ranges r, again;
    assert_ok(
        read_text("t.csv", "task,y,a,b,c\n1,3,4,-5,\n2,-1,6,-5,\n", &keep, &data));
    assert_ok(bb_ranges_from_data(&r, &data));
    assert_int_equal(r.count, 3);
    assert_true(r.target.low == -1 && r.target.high == 3);
    assert_true(r.column[0].low == 4 && r.column[0].high == 6);
    assert_true(r.column[1].low == -5 && r.column[1].high == -5);
    assert_true(r.column[2].low == 0 && r.column[2].high == 0); /* all missing */
    assert_ok(bb_ranges_write(&r, "r.json"));
    folder_read(text, sizeof text, "r.json");
    assert_non_null(strstr(text,
                           "These ranges were taken from the data, so they are not "
                           "public: for simulations only."));
    assert_ok(bb_ranges_read(&again, "r.json"));
    assert_true(r.from_data && again.from_data); /* in a member that programs read */
    unlink("r.json");
    assert_int_equal(again.count, 3);
    assert_string_equal(again.name[2], "c");
    assert_memory_equal(again.column, r.column, 3 * sizeof *r.column);
    assert_memory_equal(&again.target, &r.target, sizeof r.target);
    bb_ranges_free(&again);
    bb_ranges_free(&r);
    bb_dataset_free(&data);
}

static void from_sparse_data(void **state) {
    (void)state;
    bb_dataset data;
    bb_ranges r;
    assert_ok(read_text("t.svm", "1 qid:1 1:2 3:-4\n2 qid:2 1:5\n", NULL, &data));
    assert_ok(bb_ranges_from_data(&r, &data));
    assert_true(r.column[0].low == 0 && r.column[0].high == 5);
    assert_true(r.column[1].low == 0 && r.column[1].high == 0);
    assert_true(r.column[2].low == -4 && r.column[2].high == 0);
    bb_ranges_free(&r);
    bb_dataset_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_ranges),        cmocka_unit_test(messages),
        cmocka_unit_test(names_are_features), cmocka_unit_test(from_dense_data),
        cmocka_unit_test(from_sparse_data),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
