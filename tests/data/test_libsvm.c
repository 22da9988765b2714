#include "data/files.h"

static void rows(void **state) {
    (void)state;
    bb_dataset data;
    assert_ok(read_text("t.libsvm",
                        "# a comment\n"
                        "1 qid:b 1:2 3:0.5\n"
                        "\n"
                        "-1.5\tqid:a  2:4e1 # 7:8\r\n"
                        "+2 qid:b\n"
                        "3 qid:a 4:-1",
                        NULL, &data));
    assert_int_equal(data.features, 4);
    assert_null(data.x);
    assert_string_equal(data.feature_name[3], "x4");
    assert_string_equal(data.target_name, "y");
    assert_int_equal(data.target_column, 1);
    assert_int_equal(data.line[0], 4);
    assert_int_equal(data.line[2], 2);
    assert_int_equal(data.line[3], 5);
    assert_rows(data, "a: -1.5 (1:40) 3 (3:-1); b: 1 (0:2 2:0.5) 2 ()");
}

/* Found by its content where the name says nothing; compressed, too. */
static void any_name(void **state) {
    (void)state;
    static const char text[] = "1 qid:1 1:2\n0 qid:2 1:3\n";
    const bb_read_options format = {.format = BB_FORMAT_LIBSVM};
    bb_dataset data;
    assert_ok(read_text("train.txt", text, NULL, &data));
    assert_rows(data, "1: 1 (0:2); 2: 0 (0:3)");
    write_gz("t.gz", text, sizeof text - 1);
    assert_ok(read_once("t.gz", NULL, &data));
    assert_rows(data, "1: 1 (0:2); 2: 0 (0:3)");
    assert_ok(read_text("t.csv", text, &format, &data));
    assert_rows(data, "1: 1 (0:2); 2: 0 (0:3)");
}

static void long_lines(void **state) {
    (void)state;
    bb_dataset data;
    FILE *const file = fopen("t.svm", "w");
    assert_non_null(file);
    for (int r = 0; r < 3; r++) {
        fputs("1 qid:1", file);
        for (int k = 1; k <= 100000; k++) fprintf(file, " %d:%d", k, k + r);
        fputs(" # and so on\n", file);
    }
    fclose(file);
    assert_ok(read_once("t.svm", NULL, &data));
    assert_int_equal(data.features, 100000);
    assert_int_equal(data.sparse_first[3], 300000);
    for (size_t e = 0; e < 300000; e++) {
        assert_int_equal(data.sparse_column[e], e % 100000);
        assert_true(data.sparse_value[e] == (double)(e % 100000 + 1 + e / 100000));
    }
    bb_dataset_free(&data);
}

static void messages(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "t.svm: the file has no rows"},
        {"# nothing\n", "t.svm: the file has no rows"},
        {"1 qid:1\n", "t.svm: no row has a feature"},
        {"1 1:2\n", "t.svm:1:2: expected the task as qid:NAME, found \"1:2\""},
        {"1\n", "t.svm:1:2: expected the task as qid:NAME, found the end of the line"},
        {"1 qid: 1:2\n", "t.svm:1:2: expected the task as qid:NAME, found \"qid:\""},
        {"1 qid:\xff 1:2\n",
         "t.svm:1:2: expected the task's name in UTF-8, found \"qid:?\""},
        {"1 qid:1 1:2\nyes qid:1 1:2\n", "t.svm:2:1: expected a number, found \"yes\""},
        {"nan qid:1 1:2\n", "t.svm:1:1: expected a number, found \"nan\""},
        {"inf qid:1 1:2\n", "t.svm:1:1: expected a finite number, found \"inf\""},
        {"1 qid:1 1:2 3\n", "t.svm:1:4: expected index:value, found \"3\""},
        {"1 qid:1 1:2 x:3\n", "t.svm:1:4: expected index:value, found \"x:3\""},
        {"1 qid:1 -1:2\n", "t.svm:1:3: expected index:value, found \"-1:2\""},
        {"1 qid:1 1:\n", "t.svm:1:3: expected a number, found the end of the line"},
        {"1 qid:1 1:2x\n", "t.svm:1:3: expected a number, found \"2x\""},
        {"1 qid:1 1:2:3\n", "t.svm:1:3: expected a number, found \"2:3\""},
        {"1 qid:1 1:1e999\n", "t.svm:1:3: expected a finite number, found \"1e999\""},
        {"1 qid:1 0:2\n", "t.svm:1:3: expected an index from 1, found \"0:2\""},
        {"1 qid:1 2:2 2:3\n", "t.svm:1:4: expected an index above 2, found \"2:3\""},
        {"1 qid:1 5:2 4:3\n", "t.svm:1:4: expected an index above 5, found \"4:3\""},
        {"1 qid:1 16777217:1\n",
         "t.svm:1:3: expected an index of at most 16777216, found \"16777217:1\""},
        {"1 qid:1 99999999999999999999:1\n",
         "t.svm:1:3: expected an index of at most 16777216, found "
         "\"99999999999999999999:1\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bb_dataset data;
        assert_message(read_text("t.svm", bad[i].text, NULL, &data), BB_EDATA,
                       bad[i].message);
    }
    static const char zero[] = "1 qid:1 1:2\0\n";
    bb_dataset data;
    write_bytes("t.svm", zero, sizeof zero - 1);
    assert_message(read_once("t.svm", NULL, &data), BB_EDATA,
                   "t.svm:1:3: a zero byte: this is no text");
}

/* A public number of features does not depend on what any task uses. */
static void number_of_features(void **state) {
    (void)state;
    const bb_read_options ten = {.features = "10"}, two = {.features = "2"};
    const bb_read_options none = {.features = "0"}, name = {.features = "x1"};
    bb_dataset data;
    assert_ok(read_text("t.svm", "1 qid:1 1:2 3:1\n0 qid:2 2:1\n", &ten, &data));
    assert_int_equal(data.features, 10);
    assert_string_equal(data.feature_name[9], "x10");
    bb_dataset_free(&data);
    assert_message(read_text("t.svm", "1 qid:1 1:2\n0 qid:1 3:1\n", &two, &data),
                   BB_EDATA,
                   "t.svm:2:3: expected an index of at most 2, found \"3:1\"");
    assert_message(read_text("t.svm", "1 qid:1 1:2\n", &none, &data), BB_EUSAGE,
                   "t.svm: for a LIBSVM file --features expects how many there are, 1 "
                   "to 16777216, got \"0\"");
    assert_message(read_text("t.svm", "1 qid:1 1:2\n", &name, &data), BB_EUSAGE,
                   "t.svm: for a LIBSVM file --features expects how many there are, 1 "
                   "to 16777216, got \"x1\"");
}

static void options_that_do_not_apply(void **state) {
    (void)state;
    const bb_read_options options = {.ignore = "x1"}, keep = {.keep_missing = true};
    bb_dataset data;
    assert_message(read_text("t.svm", "1 qid:1 1:2\n", &options, &data), BB_EUSAGE,
                   "t.svm: LIBSVM files have no column names; --task, --target and "
                   "--ignore do not apply");
    assert_ok(read_text("t.svm", "NA qid:1 1:2\n", &keep, &data));
    assert_true(isnan(data.y[0]));
    bb_dataset_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(any_name),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(messages),
        cmocka_unit_test(number_of_features),
        cmocka_unit_test(options_that_do_not_apply),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
