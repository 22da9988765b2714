/* Other separators, missing values, and texts with public levels. */
#include "data/encode.h"
#include "data/files.h"
#include "data/info.h"
#include "data/scan.h"

static bb_status read_levels(const char *levels, const char *text,
                             const bb_read_options *options, bb_dataset *out) {
    write_text("levels.json", levels);
    const bb_status status = read_text("t.csv", text, options, out);
    unlink("levels.json");
    return status;
}

static void separators(void **state) {
    (void)state;
    static const struct {
        const char *separator, *text;
    } good[] = {{NULL, "task,y,x1,x2\na,1,2,3\n\"a,b\",4,\"5\",6\n"},
                {",", "task,y,x1,x2\na,1,2,3\n\"a,b\",4,\"5\",6\n"},
                {";", "task;y;x1;x2\na;1;2;3\na,b;4;\"5\";6\n"},
                {"tab", "task\ty\tx1\tx2\na\t1\t2\t3\na,b\t4\t\"5\"\t6\n"},
                {"\t", "task\ty\tx1\tx2\r\na\t1\t2\t3\r\na,b\t4\t\"5\"\t6"}};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        const bb_read_options options = {.separator = good[k].separator};
        bb_dataset data;
        assert_ok(read_text("t.csv", good[k].text, &options, &data));
        assert_rows(data, "a: 1 (2 3); a,b: 4 (5 6)");
    }
    const char *const bad[] = {"", "x", ";;", " ", "|"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const bb_read_options options = {.separator = bad[k]};
        bb_dataset data;
        assert_fails(read_text("t.csv", good[0].text, &options, &data), BB_EUSAGE,
                     "--separator expects \",\", \";\" or tab");
    }
    const bb_read_options semicolon = {.separator = ";"};
    bb_dataset data;
    assert_message(read_text("t.csv", "task;y;x1\na;1;2\na;1;2,5\n", &semicolon, &data),
                   BB_EDATA,
                   "t.csv:3:3 (column \"x1\"): expected a number, found \"2,5\"; "
                   "numbers are read with decimal points, and without other commas");
    assert_fails(read_text("t.svm", "1 qid:1 1:2\n", &semicolon, &data), BB_EUSAGE,
                 "are for CSV files");
}

static const char holes[] =
    "task,y,x1,x2\na,1,2,\na,2,3,4\nb,3,NA,5\nb,4,6,7\na,5,nan,null\nc,6,,1\n";

static void rows_with_holes_are_left_out(void **state) {
    (void)state;
    const bb_read_options drop = {.missing = "drop-rows"};
    bb_dataset data;
    assert_ok(read_text("t.csv", holes, &drop, &data));
    assert_int_equal(data.dropped, 4);
    assert_int_equal(data.line[1], 5);
    assert_int_equal(data.tasks, 3); /* that a task is there is public */
    assert_int_equal(data.first[3], 2);
    assert_string_equal(data.task_name[2], "c");
    assert_rows(data, "a: 2 (3 4); b: 4 (6 7); c:");
    assert_ok(read_text("t.csv", "task,y,x1\na,,2\na,2,3\n", &drop, &data));
    assert_int_equal(data.dropped, 1);
    assert_rows(data, "a: 2 (3)");
    assert_message(read_text("t.csv", "task,y,x1\na,1,\n", &drop, &data), BB_EDATA,
                   "t.csv: every row has a missing value");
    const bb_read_options labels = {.missing = "drop-rows", .multilabel = true};
    assert_ok(read_text("t.csv", "task,y,x1\na,1 5,\na,2,3\n", &labels, &data));
    assert_int_equal(data.label_first[1], 1); /* the labels went with their row */
    assert_int_equal(data.label[0], 2);
    bb_dataset_free(&data);
}

static void indicators_say_what_is_missing(void **state) {
    (void)state;
    const bb_read_options all = {.missing = "indicator"},
                          one = {.missing = "indicator:x1", .keep_missing = true},
                          strict = {.missing = "indicator:x1"};
    bb_dataset data;
    assert_ok(read_text("t.csv", holes, &all, &data));
    assert_int_equal(data.features, 4);
    assert_int_equal(data.binary, 2);
    assert_string_equal(data.feature_name[2], "x1_missing");
    assert_string_equal(data.feature_name[3], "x2_missing");
    assert_rows(data,
                "a: 1 (2 0 0 1) 2 (3 4 0 0) 5 (0 0 1 1); b: 3 (0 5 1 0) 4 (6 7 0 0); "
                "c: 6 (0 1 1 0)");
    /* whether anything is missing changes no column */
    assert_ok(read_text("t.csv", "task,y,x1,x2\na,1,2,3\n", &all, &data));
    assert_rows(data, "a: 1 (2 3 0 0)");
    assert_ok(read_text("t.csv", holes, &one, &data));
    assert_int_equal(data.features, 3);
    assert_true(isnan(data.x[1]) && data.x[2] == 0);
    bb_dataset_free(&data);
    assert_message(read_text("t.csv", holes, &strict, &data), BB_EDATA,
                   "t.csv:2:4 (column \"x2\"): expected a number, found an empty cell; "
                   "--missing drop-rows leaves its row out");
    assert_ok(read_text("t.csv", "task,y,x1\na,,2\na,4,\n", &all, &data));
    assert_rows(data, "a: 4 (0 1)");
    /* columns may be called so already */
    assert_ok(read_text("t.csv", "task,y,x1,x1_missing,x1_missing_2\na,1,,3,4\n", &all,
                        &data));
    assert_string_equal(data.feature_name[3], "x1_missing_3");
    assert_string_equal(data.feature_name[4], "x1_missing_missing");
    assert_string_equal(data.feature_name[5], "x1_missing_2_missing");
    assert_rows(data, "a: 1 (0 3 4 1 0 0)");
    const bb_read_options other = {.missing = "indicator:y"},
                          what = {.missing = "zero"};
    assert_message(read_text("t.csv", holes, &other, &data), BB_EDATA,
                   "--missing indicator: \"y\" is no feature's column");
    assert_fails(read_text("t.csv", holes, &what, &data), BB_EUSAGE,
                 "--missing expects error, drop-rows, indicator");
}

/* Who has the names of features only knows as much of them as who has read the rows. */
static void names_tell_what_is_binary(void **state) {
    (void)state;
    static const char text[] = "task,y,age,age_missing,b,c\n1,2,3,4,5,foo\n";
    static const struct {
        const char *missing, *categories, *ignore;
        size_t binary;
    } way[] = {
        {NULL, NULL, "c", 0},
        {"drop-rows", NULL, "c", 0},
        {"indicator:b", NULL, "c", 1},
        {"indicator", NULL, "c", 3},
        {NULL, "{\"c\": [\"foo\", \"foo_missing\"]}", NULL, 2},
        {"indicator", "{\"c\": [\"foo\", \"foo_missing\"]}", NULL, 6},
        {"indicator:b,c", "{\"c\": [\"foo\"], \"source\": \"public\"}", NULL, 3},
        {"indicator", "{\"c\": [\"foo\"]}", "age,age_missing,b", 2},
        {"indicator", "{\"c\": [\"foo\"], \"y\": [\"2\"]}", "b", 4},
    };
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        const bb_read_options options = {.missing = way[k].missing,
                                         .categories = way[k].categories,
                                         .ignore = way[k].ignore};
        bb_dataset data;
        size_t binary;
        assert_ok(read_text("t.csv", text, &options, &data));
        assert_int_equal(data.binary, way[k].binary);
        assert_ok(
            bb_encoding_binary(&options, data.features, data.feature_name, &binary));
        assert_int_equal(binary, way[k].binary);
        bb_dataset_free(&data);
    }
    /* clusters are no feature, but what says where they are missing stays one */
    char a[] = "a", indicator[] = "a_missing", cluster[] = "cluster_missing";
    char *const feature[] = {a, indicator, cluster};
    const bb_read_options all = {.missing = "indicator"};
    size_t binary;
    assert_ok(bb_encoding_binary(&all, 3, feature, &binary));
    assert_int_equal(binary, 2);
}

static void texts_have_levels(void **state) {
    (void)state;
    static const char text[] =
        "task,city,y,x1\na,Oslo,1,2\na, Bergen ,2,3\nb,\"Rome\",3,4\n";
    const bb_read_options levels = {.categories = "levels.json"},
                          ignored = {.categories = "levels.json", .ignore = "city"};
    bb_dataset data;
    assert_ok(read_levels("{\"city\": [\"Oslo\", \"Bergen\"]}", text, &levels, &data));
    assert_int_equal(data.binary, 2);
    assert_string_equal(data.feature_name[0], "x1");
    assert_string_equal(data.feature_name[1], "city=Oslo");
    assert_string_equal(data.feature_name[2], "city=Bergen");
    assert_rows(data, "a: 1 (2 1 0) 2 (3 0 1); b: 3 (4 0 0)");
    assert_ok(read_levels("{\"city\": [\"Oslo\"]}", text, &ignored, &data));
    assert_rows(data, "a: 1 (2) 2 (3); b: 3 (4)");
    static const struct {
        const char *levels, *message;
    } bad[] = {
        {"[1]", "levels.json: expected a JSON object with the levels of each column"},
        {"{\"town\": [\"a\"]}", "levels.json: the data have no column \"town\""},
        {"{\"task\": [\"a\"]}", "levels.json: column \"task\" is the task"},
        {"{\"y\": []}",
         "levels.json: column \"y\": expected a list of different texts, "
         "its levels"},
        {"{\"city\": []}", "levels.json: column \"city\": expected a list of different "
                           "texts, its levels"},
        {"{\"city\": [\"a\", \"a\"]}", "levels.json: column \"city\": expected a list "
                                       "of different texts, its levels"},
        {"{\"city\": [1]}", "levels.json: column \"city\": expected a list of "
                            "different texts, its levels"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_message(read_levels(bad[k].levels, text, &levels, &data), BB_EDATA,
                       bad[k].message);
}

/* A level may be called NA; else a missing text is as a missing number. */
static void texts_may_be_missing(void **state) {
    (void)state;
    static const char text[] = "task,city,y,x1\na,NA,1,2\na,,2,3\na,x,3,\n";
    static const char levels[] = "{\"city\": [\"NA\", \"x\"]}";
    bb_read_options options = {.categories = "levels.json"};
    bb_dataset data;
    assert_message(read_levels(levels, text, &options, &data), BB_EDATA,
                   "t.csv:3:2 (column \"city\"): expected a level, found an empty "
                   "cell; --missing drop-rows leaves its row out");
    options.missing = "drop-rows";
    assert_ok(read_levels(levels, text, &options, &data));
    assert_int_equal(data.dropped, 2);
    assert_rows(data, "a: 1 (2 1 0)");
    options.missing = "indicator";
    assert_ok(read_levels(levels, text, &options, &data));
    assert_string_equal(data.feature_name[3], "city_missing");
    assert_string_equal(data.feature_name[4], "x1_missing");
    assert_rows(data, "a: 1 (2 1 0 0 0) 2 (3 0 0 1 0) 3 (0 0 1 0 1)");
}

/* Among texts `none' is one of them, level or not; among numbers it is missing. How missing
 * values are spelt is told. */
static void none_is_a_text_among_texts(void **state) {
    (void)state;
    static const char text[] = "task,city,y,x1\na,none,1,2\na,x,2,None\na,NA,3,\n";
    const bb_read_options kept = {.categories = "levels.json", .keep_missing = true},
                          all = {.categories = "levels.json", .missing = "indicator"};
    bb_dataset data;
    assert_ok(read_levels("{\"city\": [\"none\", \"x\"]}", text, &kept, &data));
    assert_int_equal(data.texts.count[0].unknown, 0);
    assert_int_equal(data.spelt, 1U << 0 | 1U << 1 | 1U << BB_SCAN_NONE);
    assert_true(data.x[1] == 1 && isnan(data.x[3]) && isnan(data.x[7]));
    bb_dataset_free(&data);
    assert_ok(read_levels("{\"city\": [\"x\"]}", text, &all, &data));
    assert_int_equal(data.texts.count[0].unknown, 1);
    assert_rows(data, "a: 1 (2 0 0 0) 2 (0 1 0 1) 3 (0 0 1 1)");
    const bb_read_options named = {.categories = "levels.json", .missing = "drop-rows"};
    assert_fails(read_levels("{\"y\": [\"a\", \"b\"]}", "task,y,x1\na,a,1\na,none,2\n",
                             &named, &data),
                 BB_EDATA, "expected a class that --categories names, found \"none\"");
}

/* Levels that are numbers are so however they are written. */
static void levels_may_be_numbers(void **state) {
    (void)state;
    const bb_read_options levels = {.categories = "levels.json"};
    bb_dataset data;
    assert_ok(
        read_levels("{\"y\": [\"1\", \"2.5\"], \"wave\": [\"3.0\", \"03\"]}",
                    "task,wave,y,x\na,3,1.0,5\na,03,2.50,6\na,3.00,1,7\na,4,1,8\n",
                    &levels, &data));
    assert_int_equal(data.texts.count[0].unknown, 1);
    assert_rows(data, "a: 0 (5 1 0) 1 (6 0 1) 0 (7 1 0) 0 (8 0 0)");
    assert_fails(
        read_levels("{\"y\": [\"1\", \"two\"]}", "task,y,x\na,2.0,5\n", &levels, &data),
        BB_EDATA, "expected a class that --categories names, found \"2.0\"");
}

/* Levels of the target are classes by their place in the list. */
static void classes_have_names(void **state) {
    (void)state;
    static const char text[] = "task,y,x1\na,dead,1\na, alive ,2\nb,\"dead\",3\n",
                      holes_too[] = "task,y,x1\na,dead,1\na,NA,2\n",
                      levels[] = "{\"y\": [\"alive\", \"dead\"]}";
    const bb_read_options named = {.categories = "levels.json"},
                          drop = {.categories = "levels.json", .missing = "drop-rows"},
                          pass = {.categories = "levels.json", .target_ignored = true},
                          kept = {.categories = "levels.json", .target_missing = true},
                          listed = {.categories = "levels.json", .multilabel = true};
    bb_dataset data;
    assert_ok(read_levels(levels, text, &named, &data));
    assert_string_equal(data.target_name, "y");
    assert_rows(data, "a: 1 (1) 0 (2); b: 1 (3)");
    assert_ok(read_levels("{\"y\": [\"2\", \"1\"]}", "task,y,x1\na,1,5\na,2,6\n",
                          &named, &data));
    assert_rows(data, "a: 1 (5) 0 (6)");
    assert_ok(read_levels(levels, holes_too, &drop, &data));
    assert_rows(data, "a: 1 (1)");
    assert_ok(read_levels(levels, holes_too, &kept, &data));
    assert_true(isnan(data.y[1]));
    bb_dataset_free(&data);
    assert_ok(read_levels(levels, text, &pass, &data));
    assert_null(data.target_name);
    bb_dataset_free(&data);
    assert_ok(read_levels(levels, "task,x1\na,1\n", &pass, &data));
    bb_dataset_free(&data);
    assert_message(read_levels(levels, holes_too, &named, &data), BB_EDATA,
                   "t.csv:3:2 (column \"y\"): expected a class, found a missing value "
                   "(\"NA\"); --missing drop-rows leaves its row out");
    assert_message(
        read_levels("{\"y\": [\"alive\"]}", text, &named, &data), BB_EDATA,
        "t.csv:2:2 (column \"y\"): expected a class that --categories names, "
        "found \"dead\"");
    assert_message(read_levels(levels, text, &listed, &data), BB_EDATA,
                   "levels.json: column \"y\" is for lists of labels");
    assert_message(
        read_text("t.csv", text, NULL, &data), BB_EDATA,
        "t.csv:2:2 (column \"y\"): expected a number, found \"dead\"; texts of "
        "the target are classes, whose names are public: --categories FILE, "
        "which `billboard info' drafts where they are few");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separators),
        cmocka_unit_test(rows_with_holes_are_left_out),
        cmocka_unit_test(indicators_say_what_is_missing),
        cmocka_unit_test(names_tell_what_is_binary),
        cmocka_unit_test(texts_have_levels),
        cmocka_unit_test(texts_may_be_missing),
        cmocka_unit_test(none_is_a_text_among_texts),
        cmocka_unit_test(levels_may_be_numbers),
        cmocka_unit_test(classes_have_names),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
