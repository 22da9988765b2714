#include "data/files.h"
#include "data/info.h"

static bb_info look(const char *name, const char *text) {
    const bb_read_options keep = {.keep_missing = true, .target_optional = true};
    bb_dataset data;
    bb_info info;
    assert_ok(read_text(name, text, name[2] == 'c' ? &keep : NULL, &data));
    assert_ok(bb_info_open(&info, &data));
    bb_dataset_free(&data);
    return info;
}

static void dense(void **state) {
    (void)state;
    bb_info i = look("t.csv", "task,y,a,b,c,d\n"
                              "1,0.5,1,7,,NA\n"
                              "1,2,2,7,3,NA\n"
                              "2,-3,2,7,3,NA\n"
                              "2,,2,7,3,NA\n"
                              "2,1,2,7,3,NA\n"
                              "3,1,2,7,,NA\n");
    assert_int_equal(i.tasks, 3);
    assert_int_equal(i.rows, 6);
    assert_int_equal(i.features, 4);
    assert_int_equal(i.least_rows, 1);
    assert_int_equal(i.most_rows, 3);
    assert_true(i.median_rows == 2);
    assert_false(i.sparse);
    assert_int_equal(i.target, BB_TARGET_REAL);
    assert_true(i.least_target == -3 && i.most_target == 2);
    assert_int_equal(i.missing_features, 8);
    assert_int_equal(i.missing_targets, 1);
    assert_int_equal(i.constants, 3);
    assert_int_equal(i.constant[0], 1);
    assert_int_equal(i.constant[2], 3);
    assert_int_equal(i.one_class, 1);
    bb_info_close(&i);
}

static void median_of_an_even_number(void **state) {
    (void)state;
    bb_info i =
        look("t.csv", "task,y,a\n1,1,1\n2,1,1\n2,1,1\n3,1,1\n3,1,1\n3,1,1\n3,1,1\n"
                      "3,1,1\n4,1,1\n4,1,1\n4,1,1\n4,1,1\n4,1,1\n4,1,1\n");
    assert_true(i.median_rows == 3.5);
    assert_int_equal(i.one_class, 4);
    bb_info_close(&i);
}

static void kinds_of_targets(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bb_target_kind kind;
        const char *words;
    } set[] = {
        {"task,y,a\n1,0,1\n1,1,1\n", BB_TARGET_BINARY, "binary (0, 1)"},
        {"task,y,a\n1,-1,1\n1,1,1\n", BB_TARGET_SIGN, "binary (-1, 1)"},
        {"task,y,a\n1,0,1\n1,-1,1\n", BB_TARGET_INTEGER, "integer"},
        {"task,y,a\n1,7,1\n1,1e3,1\n", BB_TARGET_INTEGER, "integer"},
        {"task,y,a\n1,0,1\n1,0.5,1\n", BB_TARGET_REAL, "real"},
        {"task,a\n1,0\n1,1\n", BB_TARGET_NONE, "none"},
    };
    for (size_t k = 0; k < sizeof set / sizeof *set; k++) {
        bb_info i = look("t.csv", set[k].text);
        assert_int_equal(i.target, set[k].kind);
        assert_string_equal(bb_target_text(i.target), set[k].words);
        assert_int_equal(i.missing_targets, 0);
        bb_info_close(&i);
    }
}

static void sparse(void **state) {
    (void)state;
    /* x1 is 5 in all rows, x2 never used, x3 in one row, x4 different, x5 only zeros */
    bb_info i =
        look("t.svm", "1 qid:1 1:5 4:1\n2 qid:1 1:5 3:2 4:2 5:0\n3 qid:2 1:5 4:3\n");
    assert_true(i.sparse);
    assert_int_equal(i.entries, 8);
    assert_int_equal(i.features, 5);
    assert_int_equal(i.constants, 3);
    assert_int_equal(i.constant[0], 0);
    assert_int_equal(i.constant[1], 1);
    assert_int_equal(i.constant[2], 4);
    bb_info_close(&i);
}

/* Names of rows are the numbers from 0 or 1 on, each once, in any order. */
static void numbers_of_rows(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t numberings;
    } set[] = {
        {"task,y,a\n1,0,1\n1,0,2\n1,0,3\n1,0,4\n1,0,5\n"
         "2,0,6\n2,0,7\n2,0,8\n2,0,9\n2,0,10\n",
         1},
        {"task,y,a\n1,0,9\n2,0,8\n1,0,7\n2,0,6\n1,0,5\n"
         "2,0,4\n1,0,3\n2,0,2\n1,0,1\n2,0,0\n",
         1},
        {"task,y,a\n1,0,1\n1,0,2\n1,0,2\n1,0,4\n1,0,5\n"
         "2,0,6\n2,0,7\n2,0,8\n2,0,9\n2,0,10\n",
         0},
        {"task,y,a\n1,0,1\n1,0,2\n1,0,3.5\n1,0,4\n1,0,5\n"
         "2,0,6\n2,0,7\n2,0,8\n2,0,9\n2,0,10\n",
         0},
        {"task,y,a\n1,0,1\n1,0,2\n1,0,\n1,0,4\n1,0,5\n"
         "2,0,6\n2,0,7\n2,0,8\n2,0,9\n2,0,10\n",
         0},
        {"task,y,a\n1,0,1\n1,0,2\n1,0,3\n2,0,4\n2,0,5\n", 0},
    };
    for (size_t k = 0; k < sizeof set / sizeof *set; k++) {
        bb_info i = look("t.csv", set[k].text);
        assert_int_equal(i.numberings, set[k].numberings);
        if (i.numberings) assert_int_equal(i.numbering[0], 0);
        bb_info_close(&i);
    }
}

/* Whole numbers from 0 look like classes where more than two occur, and none is as
 * large as the number of rows. */
static void classes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t classes;
        double majority;
    } set[] = {
        {"task,y,a\n1,0,1\n1,1,1\n2,3,1\n2,3,1\n", 3, 0.5},
        {"task,y,a\n1,0,1\n1,1,1\n2,2,1\n", 3, 1.0 / 3},
        {"task,y,a\n1,0,1\n1,1,1\n2,,1\n2,2,1\n2,2,1\n", 3, 0.5},
        {"task,y,a\n1,0,1\n1,1,1\n2,3,1\n", 0, 0},
        {"task,y,a\n1,0,1\n1,1,1\n2,1,1\n", 0, 0},
        {"task,y,a\n1,0,1\n1,2,1\n2,2,1\n", 0, 0},
        {"task,y,a\n1,1,1\n1,2,1\n2,3,1\n2,3,1\n", 0, 0},
        {"task,y,a\n1,-1,1\n1,0,1\n2,1,1\n", 0, 0},
        {"task,y,a\n1,0,1\n1,0.5,1\n2,1,1\n", 0, 0},
        {"task,y,a\n1,0,1\n1,1,1\n2,1e300,1\n", 0, 0},
        {"task,a\n1,0\n1,1\n", 0, 0},
    };
    for (size_t k = 0; k < sizeof set / sizeof *set; k++) {
        bb_info i = look("t.csv", set[k].text);
        assert_int_equal(i.classes, set[k].classes);
        assert_true(i.majority == set[k].majority);
        bb_info_close(&i);
    }
}

static void labels_and_images(void **state) {
    (void)state;
    const bb_read_options options = {.multilabel = true, .image = "1x2"};
    bb_dataset data;
    bb_info i;
    assert_ok(read_text("t.csv",
                        "task,y,a,b\n1,0 4,1,2\n1,,1,3\n2,7;2;4,1,4\n2,2,1,5\n",
                        &options, &data));
    assert_ok(bb_info_open(&i, &data));
    assert_int_equal(i.target, BB_TARGET_LABELS);
    assert_string_equal(bb_target_text(i.target), "labels");
    assert_int_equal(i.labels, 8);
    assert_int_equal(i.listed, 6);
    assert_int_equal(i.missing_targets, 0);
    assert_int_equal(i.one_class, 0);
    assert_int_equal(i.classes, 0);
    assert_true(i.height == 1 && i.width == 2 && i.channels == 1);
    bb_info_close(&i);
    bb_dataset_free(&data);
    i = look("t.csv", "task,y,a\n1,0,1\n1,1,1\n");
    assert_int_equal(i.labels + i.listed + i.height + i.width + i.channels, 0);
    bb_info_close(&i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense),
        cmocka_unit_test(median_of_an_even_number),
        cmocka_unit_test(kinds_of_targets),
        cmocka_unit_test(sparse),
        cmocka_unit_test(numbers_of_rows),
        cmocka_unit_test(classes),
        cmocka_unit_test(labels_and_images),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
