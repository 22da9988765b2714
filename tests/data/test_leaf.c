#include "data/files.h"

#define HEAD "{\"users\": [\"b\", \"a\"], \"num_samples\": [2, 1], \"user_data\": "
#define B    "\"b\": {\"x\": [[1, 2], [3, 4]], \"y\": [5, 6]}"
#define A    "\"a\": {\"x\": [[7, 8]], \"y\": [9]}"

static void rows(void **state) {
    (void)state;
    bb_dataset data;
    assert_ok(read_text("t.json", HEAD "{" B ", " A "}}\n", NULL, &data));
    assert_string_equal(data.feature_name[0], "x1");
    assert_string_equal(data.feature_name[1], "x2");
    assert_string_equal(data.target_name, "y");
    assert_string_equal(data.source, "t.json");
    assert_false(data.has_lines);
    assert_int_equal(data.line[0], 0);
    assert_int_equal(data.line[2], 1);
    assert_rows(data, "a: 9 (7 8); b: 5 (1 2) 6 (3 4)");
}

/* Members in any order, y before x, more members, every way to write a number and a
 * text, images as lists of lists. */
static void any_order(void **state) {
    (void)state;
    bb_dataset data;
    assert_ok(
        read_text("t.json",
                  "\r\n{\"user_data\":{\"\\u00e4\\ud83d\\ude00\\\"\\\\\\/\\n\":{\"y\":["
                  "-0,1E+2],\"z\":{\"deep\":[[{}],null,true,false,\"x\",-1.5e-3]},"
                  "\"x\":[[[0.5,-1],[2e0,3]],[[4,5],[6,0.1]]]}},\n"
                  "\"hierarchies\":[\"h\",[]],\"num_samples\":[2.0]\t,"
                  "\"users\":[\"\xc3\xa4\xf0\x9f\x98\x80\\u0022\\\\/\\u000A\"]}",
                  NULL, &data));
    assert_int_equal(data.features, 4);
    assert_true(data.x[7] == 0.1);
    assert_rows(data,
                "\xc3\xa4\xf0\x9f\x98\x80\"\\/\n: -0 (0.5 -1 2 3) 100 (4 5 6 0.1)");
    /* tasks are in the order of their names */
    assert_ok(read_text("t.json", HEAD "{" A ", " B "}}", NULL, &data));
    assert_rows(data, "a: 9 (7 8); b: 5 (1 2) 6 (3 4)");
}

static void compressed_and_named(void **state) {
    (void)state;
    static const char text[] = HEAD "{" B "," A "}}";
    const bb_read_options format = {.format = BB_FORMAT_LEAF};
    bb_dataset data;
    write_gz("t.json.gz", text, sizeof text - 1);
    assert_ok(read_once("t.json.gz", NULL, &data));
    assert_rows(data, "a: 9 (7 8); b: 5 (1 2) 6 (3 4)");
    assert_ok(read_text("t.txt", text, &format, &data));
    assert_rows(data, "a: 9 (7 8); b: 5 (1 2) 6 (3 4)");
}

/* Rows to predict need no y, where the reader is told so. */
static void without_targets(void **state) {
    (void)state;
    const bb_read_options format = {.target_optional = true};
    bb_dataset data;
    assert_ok(read_text("t.json",
                        HEAD "{\"b\": {\"x\": [[1, 2], [3, 4]]}, \"a\": {\"x\": [[7, "
                             "8]]}}}\n",
                        &format, &data));
    assert_null(data.target_name);
    assert_int_equal(data.rows, 3);
    for (size_t r = 0; r < 3; r++) assert_true(isnan(data.y[r]));
    assert_true(data.x[1] == 8);
    bb_dataset_free(&data);
    assert_ok(read_text("t.json", HEAD "{" B ", " A "}}\n", &format, &data));
    assert_string_equal(data.target_name, "y");
    assert_rows(data, "a: 9 (7 8); b: 5 (1 2) 6 (3 4)");
    assert_message(read_text("t.json", HEAD "{" B ", \"a\": {\"x\": [[7, 8]]}}}\n",
                             &format, &data),
                   BB_EDATA, "t.json: user \"a\" has no y, and others have");
}

/* Texts and numbers across the borders of what is read at once. */
static void long_files(void **state) {
    (void)state;
    enum { ROWS = 700, COLUMNS = 300 };
    bb_dataset data;
    FILE *const file = fopen("t.json", "w");
    assert_non_null(file);
    fprintf(file, "{\"note\": \"");
    for (int i = 0; i < 300000; i++) fputs(i % 3 ? "\\u00e9" : "e", file);
    fprintf(file,
            "\", \"users\": [\"u\"], \"num_samples\": [%d],\n \"user_data\": ", ROWS);
    fprintf(file, "{\"u\": {\"x\": [");
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < COLUMNS; k++)
            fprintf(file, "%s%.17g",
                    k   ? ", "
                    : r ? "],\n["
                        : "[",
                    (r * COLUMNS + k) / 1024.0);
    fprintf(file, "]], \"y\": [");
    for (int r = 0; r < ROWS; r++) fprintf(file, "%s%d", r ? "," : "", r);
    fprintf(file, "]}}}");
    assert_int_equal(fclose(file), 0);
    assert_ok(read_once("t.json", NULL, &data));
    assert_int_equal(data.rows, ROWS);
    for (size_t e = 0; e < (size_t)ROWS * COLUMNS; e++)
        assert_true(data.x[e] == (double)e / 1024);
    for (size_t r = 0; r < ROWS; r++) assert_true(data.y[r] == (double)r);
    bb_dataset_free(&data);
}

typedef struct bad_file {
    const char *text, *message;
} bad_file;

static void expect_all(const bad_file *bad, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bb_dataset data;
        assert_message(read_text("t.json", bad[i].text, NULL, &data), BB_EDATA,
                       bad[i].message);
    }
}

#define ONE(members)                                                                   \
    "{\"users\": [\"a\"], \"num_samples\": [1],\n\"user_data\": {\"a\": {" members "}" \
    "}"                                                                                \
    "}"

static void wrong_users(void **state) {
    (void)state;
    static const bad_file bad[] = {
        {"{}", "t.json: no \"users\"; a LEAF file has users, num_samples, user_data"},
        {"{\"users\": [\"a\"], \"user_data\": {" A "}}",
         "t.json: no \"num_samples\"; a LEAF file has users, num_samples, user_data"},
        {"{\"users\": [\"a\"], \"num_samples\": [1]}",
         "t.json: no \"user_data\"; a LEAF file has users, num_samples, user_data"},
        {"{\"users\": [], \"num_samples\": [], \"user_data\": {}}",
         "t.json: the file has no users"},
        {HEAD "{" B "}}", "t.json: user \"a\" is not in user_data"},
        {HEAD "{" B ", " A ", \"c\": {\"x\": [[1, 2]], \"y\": [1]}}}",
         "t.json: user \"c\" of user_data is not in users"},
        {HEAD "{" B ", " A ", " B "}}", "t.json: user \"b\" is in user_data twice"},
        {"{\"users\": [\"a\", \"a\"]", "t.json: user \"a\" is in users twice"},
        {"{\"users\": [\"\"]", "t.json:1:13: expected a user's name, found \"\""},
        {"{\"users\": [\"a\"], \"users\": []}", "t.json:1:25: \"users\" a second time"},
        {"{\"users\": [\"a\"], \"num_samples\": [1, 2], \"user_data\": {" A "}}",
         "t.json: num_samples has 2 numbers for 1 user"},
        {"{\"users\": [\"a\"], \"num_samples\": [2], \"user_data\": {" A "}}",
         "t.json: user \"a\" has 1 row, but num_samples[0] is 2"},
        {"{\"users\": [\"a\"], \"num_samples\": [null]}",
         "t.json:1:34 (num_samples[0]): expected a number, found \"null\""},
        {"{\"users\": [1]}",
         "t.json:1:12 (users[0]): expected a text in quotes, found \"1\""},
        {"{\"users\": \"a\"}", "t.json:1:11 (users[0]): expected a list, found a text"},
        {"{\"user_data\": []}", "t.json:1:15: expected an object, found \"[\""},
    };
    expect_all(bad, sizeof bad / sizeof *bad);
}

static void wrong_rows(void **state) {
    (void)state;
    static const bad_file bad[] = {
        {ONE("\"y\": [1]"), "t.json: user \"a\" has no x"},
        {ONE("\"x\": [[1]]"), "t.json: user \"a\" has no y"},
        {ONE("\"x\": [], \"y\": []"), "t.json: user \"a\" has no rows"},
        {ONE("\"x\": [[1]], \"x\": [[1]]"), "t.json: user \"a\" has x twice"},
        {ONE("\"y\": [1], \"y\": [1]"), "t.json: user \"a\" has y twice"},
        {ONE("\"x\": [[1], [2]], \"y\": [1]"),
         "t.json: user \"a\" has 2 rows in x, but 1 number in y"},
        {ONE("\"x\": [[1]], \"y\": [1, 2]"),
         "t.json: user \"a\" has 1 row in x, but 2 numbers in y"},
        {ONE("\"x\": [[1, 2], [3]], \"y\": [1, 2]"),
         "t.json: user \"a\" has x[1] of 1 number, expected 2 as in the first row"},
        {ONE("\"x\": [[1, 2], [3, 4, 5]], \"y\": [1, 2]"),
         "t.json: user \"a\" has x[1] of 3 numbers, expected 2 as in the first row"},
        {ONE("\"x\": [[]], \"y\": [1]"),
         "t.json: user \"a\" has x[0] of 0 numbers, expected 1 or more"},
        {ONE("\"x\": [1, 2], \"y\": [1]"),
         "t.json:2:27 (user \"a\", x[0][0]): expected a list, found \"1\""},
        {ONE("\"x\": [[1, 2], [3, NaN]]"),
         "t.json:2:39 (user \"a\", x[1][1]): expected a number, found \"NaN\""},
        {ONE("\"x\": [[[1, 2], [3, -Infinity]]]"),
         "t.json:2:40 (user \"a\", x[0][3]): expected a number, found \"-Infinity\""},
        {ONE("\"x\": [[1e999]]"),
         "t.json:2:28 (user \"a\", x[0][0]): expected a finite "
         "number of at most 1023 characters, found \"1e999\""},
        {ONE("\"x\": [[1, null]]"),
         "t.json:2:31 (user \"a\", x[0][1]): expected a number, found \"null\""},
        {ONE("\"x\": [[true]]"),
         "t.json:2:28 (user \"a\", x[0][0]): expected a number, found \"true\""},
        {ONE("\"x\": [\"a phrase\"]"),
         "t.json:2:27 (user \"a\", x[0][0]): expected a list, found a text"},
        {ONE("\"y\": [1, \"cat\"]"),
         "t.json:2:30 (user \"a\", y[1]): expected a number, found a text"},
        {ONE("\"y\": [[1]]"),
         "t.json:2:27 (user \"a\", y[0]): expected a number, found \"[\""},
    };
    expect_all(bad, sizeof bad / sizeof *bad);
}

/* What is no JSON. */
static void wrong_syntax(void **state) {
    (void)state;
    static const bad_file bad[] = {
        {"", "t.json:1:1: expected an object, found the end of the file"},
        {"[1]", "t.json:1:1: expected an object, found \"[\""},
        {"{\"a\": 1\n \"b\"}", "t.json:2:2: expected \",\" or \"}\", found a text"},
        {"{\"a\": [1 2]}", "t.json:1:10: expected \",\" or \"]\", found \"2\""},
        {"{\"a\": 1,}", "t.json:1:9: expected a text in quotes, found \"}\""},
        {"{a: 1}", "t.json:1:2: expected a text in quotes, found \"a\""},
        {"{\"a\" 1}", "t.json:1:6: expected \":\", found \"1\""},
        {"{\"a\": 01}", "t.json:1:7: expected a number, found \"01\""},
        {"{\"a\": 1.}", "t.json:1:7: expected a number, found \"1.\""},
        {"{\"a\": -}", "t.json:1:7: expected a number, found \"-\""},
        {"{\"a\": 1e}", "t.json:1:7: expected a number, found \"1e\""},
        {"{\"a\": .5}", "t.json:1:7: expected a value, found \".5\""},
        {"{\"a\": nul}", "t.json:1:7: expected a value, found \"nul\""},
        {"{\"a\": \"b", "t.json:1:9: expected a character of a text, or its closing "
                        "quote, found the end of the file"},
        {"{\"a\tb\": 1}", "t.json:1:4: expected a character of a text, or its closing "
                          "quote, found \"?\""},
        {"{\"\\x\": 1}", "t.json:1:4: expected a letter of an escape, found \"x\""},
        {"{\"\\u12g4\": 1}",
         "t.json:1:7: expected a character as \\uXXXX, not 0, found \"g4\""},
        {"{\"\\u0000\": 1}",
         "t.json:1:9: expected a character as \\uXXXX, not 0, found a text"},
        {"{\"\\ud800x\": 1}",
         "t.json:1:9: expected the second half of a character, found \"x\""},
        {"{\"\xff\": 1}", "t.json:1:4: the text that ends here is not UTF-8"},
        {HEAD "{" B "," A "}} {}",
         "t.json:1:135: expected the end of the file, found \"{\""},
    };
    char deep[200] = "{\"a\": ";
    bb_dataset data;
    expect_all(bad, sizeof bad / sizeof *bad);
    memset(deep + 6, '[', 100);
    assert_message(read_text("t.json", deep, NULL, &data), BB_EDATA,
                   "t.json:1:70: expected at most 64 levels of brackets, found \"[\"");
}

/* A file that is cut off anywhere gives a message. */
static void cut_off(void **state) {
    (void)state;
    static const char text[] = HEAD "{" B "," A "}}";
    for (size_t size = 0; size + 1 < sizeof text; size++) {
        bb_dataset data;
        write_bytes("t.json", text, size);
        assert_fails(read_once("t.json", NULL, &data), BB_EDATA,
                     "found the end of the file");
    }
}

static void options(void **state) {
    (void)state;
    static const char text[] = ONE("\"x\": [[1, null]], \"y\": [null]");
    const bb_read_options keep = {.keep_missing = true}, target = {.target = "z"},
                          tasks = {.tasks = "t.csv"};
    bb_dataset data;
    assert_ok(read_text("t.json", text, &keep, &data));
    assert_true(isnan(data.y[0]) && isnan(data.x[1]) && data.x[0] == 1);
    bb_dataset_free(&data);
    assert_message(read_text("t.json", text, &target, &data), BB_EUSAGE,
                   "t.json: LEAF files have no column names; --task, --target, "
                   "--features and --ignore do not apply");
    assert_message(read_text("t.json", text, &tasks, &data), BB_EUSAGE,
                   "t.json: --labels and --tasks are for IDX files (--format idx)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(any_order),
        cmocka_unit_test(compressed_and_named),
        cmocka_unit_test(without_targets),
        cmocka_unit_test(long_files),
        cmocka_unit_test(wrong_users),
        cmocka_unit_test(wrong_rows),
        cmocka_unit_test(wrong_syntax),
        cmocka_unit_test(cut_off),
        cmocka_unit_test(options),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
