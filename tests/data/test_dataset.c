#include "data/files.h"
#include "data/names.h"

static const char table[] = "task,y,x1,x2\nb,1,2,3\na,4,5,6\nb,7,8,9\nc,10,11,12\n";
static const char entries[] =
    "1 qid:b 1:2\n4 qid:a 2:5 3:6\n7 qid:b\n10 qid:c 1:11 3:12\n";

static void select_rows(void **state) {
    (void)state;
    /* grouped order: a b b c */
    const unsigned char keep[] = {1, 0, 1, 0}, none[4] = {0};
    bb_dataset data, part;
    assert_ok(read_text("t.csv", table, NULL, &data));
    assert_ok(bb_dataset_select(&data, keep, &part));
    assert_int_equal(part.tasks, 3);
    assert_int_equal(part.rows, 2);
    assert_int_equal(part.line[1], 4);
    assert_string_equal(part.source, "t.csv");
    assert_string_equal(part.target_name, "y");
    assert_int_equal(part.target_column, 2);
    assert_rows(part, "a: 4 (5 6); b: 7 (8 9); c:");
    assert_ok(bb_dataset_select(&data, none, &part));
    assert_rows(part, "a:; b:; c:");
    bb_dataset_free(&data);
    assert_ok(read_text("t.svm", entries, NULL, &data));
    assert_ok(bb_dataset_select(&data, keep, &part));
    assert_rows(part, "a: 4 (1:5 2:6); b: 7 (); c:");
    const unsigned char others[] = {0, 1, 0, 1};
    assert_ok(bb_dataset_select(&data, others, &part));
    assert_rows(part, "a:; b: 1 (0:2); c: 10 (0:11 2:12)");
    bb_dataset_free(&data);
}

static void match_dense(void **state) {
    (void)state;
    char a[] = "a", b[] = "b", c[] = "c", d[] = "d", x1[] = "x1", x2[] = "x2",
         x3[] = "x3";
    char *const tasks[] = {c, d, a, b}, *const less[] = {a, b};
    char *const features[] = {x2, x1}, *const more[] = {x1, x2, x3};
    bb_dataset data, part;
    assert_ok(read_text("t.csv", table, NULL, &data));
    assert_ok(bb_dataset_match(&data, 4, tasks, 2, features, &part));
    assert_string_equal(part.feature_name[0], "x2");
    assert_int_equal(part.line[0], 5);
    assert_rows(part, "c: 10 (12 11); d:; a: 4 (6 5); b: 1 (3 2) 7 (9 8)");
    assert_message(bb_dataset_match(&data, 2, less, 2, features, &part), BB_EDATA,
                   "t.csv:5: task \"c\" has no model");
    char blank[] = "c ";
    char *const alike[] = {a, b, blank};
    assert_message(bb_dataset_match(&data, 3, alike, 2, features, &part), BB_EDATA,
                   "t.csv:5: task \"c\" has no model; \"c \" has one, which differs in "
                   "blanks at its ends");
    assert_message(bb_dataset_match(&data, 4, tasks, 3, more, &part), BB_EDATA,
                   "t.csv: no column \"x3\", which the model needs");
    assert_message(bb_dataset_match(&data, 4, tasks, 1, features, &part), BB_EDATA,
                   "t.csv: column \"x1\" is no feature of the model (leave it out with "
                   "--ignore)");
    bb_dataset_free(&data);
}

static void match_sparse(void **state) {
    (void)state;
    char a[] = "a", b[] = "b", c[] = "c";
    char *const tasks[] = {a, c, b};
    char **features;
    bb_dataset data, part;
    assert_ok(bb_names_count(&features, 5, "x"));
    assert_ok(read_text("t.svm", entries, NULL, &data));
    assert_ok(bb_dataset_match(&data, 3, tasks, 5, features, &part));
    assert_int_equal(part.features, 5);
    assert_rows(part, "a: 4 (1:5 2:6); c: 10 (0:11 2:12); b: 1 (0:2) 7 ()");
    assert_message(bb_dataset_match(&data, 3, tasks, 2, features, &part), BB_EDATA,
                   "t.svm:2: feature 3, but the model has 2");
    free(features);
    bb_dataset_free(&data);
}

static void labels(void **state) {
    (void)state;
    static const struct {
        const char *text, *message; /* NULL: good */
        double first;
    } sets[] = {
        {"task,y,x1\n1,0,1\n1,1,1\n2,1,1\n", NULL, -1},
        {"task,y,x1\n1,-1,1\n1,1,1\n2,1,1\n", NULL, -1},
        {"task,y,x1\n1,1,1\n", NULL, 1},
        {"task,y,x1\n1,0,1\n", NULL, -1},
        {"task,y,x1\n1,-1,1\n", NULL, -1},
        {"task,y,x1\n1,0,1\n2,3,1\n1,2,1\n",
         "t.csv:3:2 (column \"y\"): the logistic loss expected 0 or 1 (or -1 or 1), "
         "found "
         "3",
         0},
        {"task,y,x1\n1,0,1\n2,-1,1\n1,1,1\n",
         "t.csv:3:2 (column \"y\"): the logistic loss expected 0 or 1 as before, found "
         "-1",
         0},
        {"task,y,x1\n2,1,1\n1,-1,1\n2,0,1\n",
         "t.csv:4:2 (column \"y\"): the logistic loss expected -1 or 1 as before, "
         "found 0",
         0},
        {"task,y,x1\n1,0.5,1\n",
         "t.csv:2:2 (column \"y\"): the logistic loss expected 0 or 1 (or -1 or 1), "
         "found "
         "0.5",
         0},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        bb_dataset data;
        double label[3];
        assert_ok(read_text("t.csv", sets[i].text, NULL, &data));
        if (sets[i].message) {
            assert_message(bb_dataset_label_check(&data, NULL), BB_EDATA,
                           sets[i].message);
        } else {
            assert_ok(bb_dataset_label_check(&data, NULL));
            bb_dataset_labels(&data, label);
            assert_true(label[0] == sets[i].first);
            assert_true(data.rows == 1 || label[2] == 1);
        }
        bb_dataset_free(&data);
    }
}

static void classes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t given, found;
        const char *message; /* NULL: good */
    } sets[] = {
        {"task,y,x1\n1,0,1\n2,2,1\n1,9,1\n", 0, 10, NULL},
        {"task,y,x1\n1,0,1\n2,2,1\n1,9,1\n", 10, 10, NULL},
        {"task,y,x1\n1,0,1\n", 0, 2, NULL},
        {"task,y,x1\n1,0,1\n", 62, 62, NULL},
        {"task,y,x1\n1,16777215,1\n", 0, 16777216, NULL},
        {"task,y,x1\n1,16777216,1\n", 0, 0,
         "t.csv:2:2 (column \"y\"): the softmax loss expected a whole number from 0 to "
         "16777215, found 16777216"},
        {"task,y,x1\n1,0,1\n2,10,1\n1,11,1\n1,9,1\n2,12,1\n", 10, 10,
         "t.csv:3:2 (column \"y\"): the softmax loss expected a whole number from 0 to "
         "9, found 10"},
        {"task,y,x1\n1,0,1\n2,1.5,1\n1,-1,1\n1,9,1\n", 0, 0,
         "t.csv:3:2 (column \"y\"): the softmax loss expected a whole number from 0 to "
         "16777215, found 1.5"},
        {"task,y,x1\n1,-1,1\n", 0, 0,
         "t.csv:2:2 (column \"y\"): the softmax loss expected a whole number from 0 to "
         "16777215, found -1"},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        bb_dataset data;
        size_t count = sets[i].given;
        assert_ok(read_text("t.csv", sets[i].text, NULL, &data));
        if (sets[i].message)
            assert_message(bb_dataset_class_check(&data, &count), BB_EDATA,
                           sets[i].message);
        else
            assert_ok(bb_dataset_class_check(&data, &count));
        assert_int_equal(count, sets[i].found);
        bb_dataset_free(&data);
    }
    const bb_read_options lists = {.multilabel = true};
    bb_dataset data;
    size_t count = 0;
    assert_ok(read_text("t.csv", "task,y,x1\n1,0,1\n", &lists, &data));
    assert_message(bb_dataset_class_check(&data, &count), BB_EDATA,
                   "t.csv:2:2 (column \"y\"): the softmax loss expected a whole number "
                   "from 0 to 16777215, found nan");
    bb_dataset_free(&data);
}

static void nothing_to_free(void **state) {
    (void)state;
    bb_dataset data = {0};
    bb_dataset_free(NULL);
    bb_dataset_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(select_rows),  cmocka_unit_test(match_dense),
        cmocka_unit_test(match_sparse), cmocka_unit_test(labels),
        cmocka_unit_test(classes),      cmocka_unit_test(nothing_to_free),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
