/* Lists of labels as targets. */
#include "data/labels.h"
#include "data/preprocess.h"
#include "data/split.h"

static const bb_read_options lists = {.multilabel = true};

static const char entries[] = "3,17,25 qid:b 1:2 3:1\n"
                              " qid:a 2:5\n"
                              "0\tqid:b 2:1\n"
                              "4,2,4 qid:a 1:7 # two\n"
                              "qid:c\n";
static const char table[] = "task,y,x1,x2\n"
                            "b,3 17 25,2,0\n"
                            "a,,0,5\n"
                            "b,\"0\",0,1\n"
                            "a, 4 ; 2;4 ,7,0\n"
                            "c,\"\",0,0\n";
#define LABELS "a: {} {2 4}; b: {3 17 25} {0}; c: {}"

static void libsvm(void **state) {
    (void)state;
    bb_dataset data;
    assert_ok(read_text("t.svm", entries, &lists, &data));
    assert_labels(data, LABELS);
    assert_int_equal(data.labels, 26);
    assert_string_equal(data.target_name, "y");
    assert_int_equal(data.line[3], 3);
    for (size_t r = 0; r < data.rows; r++) data.y[r] = 0;
    assert_rows(data, "a: 0 (1:5) 0 (0:7); b: 0 (0:2 2:1) 0 (1:1); c: 0 ()");
}

/* Without a name that tells, a first line without labels is no header. */
static void libsvm_by_bytes(void **state) {
    (void)state;
    bb_dataset data;
    assert_ok(read_text("t", "qid:b 1:2\n1 qid:b 1:1\n", &lists, &data));
    assert_labels(data, "b: {} {1}");
    bb_dataset_free(&data);
    assert_ok(read_text("t", " qid:b 1:2\n1 qid:b 1:1\n", &lists, &data));
    assert_labels(data, "b: {} {1}");
    bb_dataset_free(&data);
}

static void csv(void **state) {
    (void)state;
    const bb_read_options optional = {.multilabel = true, .target_optional = true};
    bb_dataset data;
    assert_ok(read_text("t.csv", table, &lists, &data));
    assert_labels(data, LABELS);
    assert_int_equal(data.labels, 26);
    assert_int_equal(data.target_column, 2);
    for (size_t r = 0; r < data.rows; r++) data.y[r] = 0;
    assert_rows(data, "a: 0 (0 5) 0 (7 0); b: 0 (2 0) 0 (0 1); c: 0 (0 0)");
    assert_ok(read_text("t.csv", "task,x\na,1\n", &optional, &data));
    assert_null(data.label_first);
    assert_int_equal(data.labels, 0);
    assert_rows(data, "a: nan (1)");
}

/* Lists of other rows do not say how many labels there are when it is public. */
static void public_count(void **state) {
    (void)state;
    const bb_read_options some = {.multilabel = true, .outputs = 30},
                          few = {.multilabel = true, .outputs = 25},
                          most = {.multilabel = true, .outputs = BB_MOST_CLASSES + 1};
    bb_dataset data;
    assert_ok(read_text("t.svm", entries, &some, &data));
    assert_int_equal(data.labels, 30);
    bb_dataset_free(&data);
    assert_ok(read_text("t.csv", "task,y,x\na,,1\n", &some, &data));
    assert_int_equal(data.labels, 30);
    assert_labels(data, "a: {}");
    bb_dataset_free(&data);
    assert_message(read_text("t.svm", entries, &few, &data), BB_EDATA,
                   "t.svm:1:1: expected a label from 0 to 24, found \"25\"");
    assert_message(read_text("t.csv", table, &few, &data), BB_EDATA,
                   "t.csv:2:2 (column \"y\"): expected a label from 0 to 24, found "
                   "\"25\"");
    assert_message(read_text("t.csv", table, &most, &data), BB_EUSAGE,
                   "at most 16777216 labels can be told apart, got 16777217");
}

static void messages(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *message;
    } bad[] = {
        {"t.svm", "1,x qid:1 1:2\n",
         "t.svm:1:1: expected a label from 0 to 16777215, found \"x\""},
        {"t.svm", "1 qid:1 1:2\n1,-2 qid:1 1:2\n",
         "t.svm:2:1: expected a label from 0 to 16777215, found \"-2\""},
        {"t.svm", "1,,2 qid:1 1:2\n",
         "t.svm:1:1: expected a label from 0 to 16777215, found \"1,,2\""},
        {"t.svm", "1, qid:1 1:2\n",
         "t.svm:1:1: expected a label from 0 to 16777215, found \"1,\""},
        {"t.svm", ",1 qid:1 1:2\n",
         "t.svm:1:1: expected a label from 0 to 16777215, found \",1\""},
        {"t.svm", "16777216 qid:1 1:2\n",
         "t.svm:1:1: expected a label from 0 to 16777215, found \"16777216\""},
        {"t.svm", "99999999999999999999 qid:1 1:2\n",
         "t.svm:1:1: expected a label from 0 to 16777215, found "
         "\"99999999999999999999\""},
        {"t.svm", "1,2 1:2\n",
         "t.svm:1:2: expected the task as qid:NAME, found \"1:2\""},
        {"t.svm", "1:2\n",
         "t.svm:1:1: expected a label from 0 to 16777215, found \"1:2\""},
        {"t.svm", "qid: 1:2\n",
         "t.svm:1:1: expected the task as qid:NAME, found \"qid:\""},
        {"t.svm", "qid:1 1:2\n", "t.svm: no row has a label"},
        {"t.csv", "task,y,x\na,1 2.5,1\n",
         "t.csv:2:2 (column \"y\"): expected a label from 0 to 16777215, found "
         "\"2.5\""},
        {"t.csv", "task,y,x\na,1,1\nb,NA,1\n",
         "t.csv:3:2 (column \"y\"): expected a label from 0 to 16777215, found "
         "\"NA\""},
        {"t.csv", "task,y,x\na,\"1,2\",1\n",
         "t.csv:2:2 (column \"y\"): expected a label from 0 to 16777215, found "
         "\"1,2\""},
        {"t.csv", "task,y,x\na,1;;2,1\n",
         "t.csv:2:2 (column \"y\"): expected a label from 0 to 16777215, found "
         "\"1;;2\""},
        {"t.csv", "task,y,x\na,1\n", "t.csv:2:3: expected 3 columns, found 2"},
        {"t.csv", "task,y,x\na,,1\n", "t.csv: no row has a label"},
    };
    const bb_read_options keep = {.multilabel = true, .keep_missing = true};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bb_dataset data;
        assert_message(read_text(bad[i].name, bad[i].text, &lists, &data), BB_EDATA,
                       bad[i].message);
        assert_message(read_text(bad[i].name, bad[i].text, &keep, &data), BB_EDATA,
                       bad[i].message);
    }
}

static void other_formats(void **state) {
    (void)state;
    static const char *const name[] = {"t.mat", "t.npy", "t.npz", "t.json", "t.idx"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char message[150];
        bb_dataset data;
        snprintf(message, sizeof message,
                 "%s: lists of labels are read from CSV and LIBSVM files only, "
                 "and from what `billboard convert' makes of them",
                 name[i]);
        assert_message(read_text(name[i], "", &lists, &data), BB_EUSAGE, message);
    }
}

/* The rows of all tasks of `part` that have the line numbers of rows of `data` have
 * their labels. */
static void check_part(const bb_dataset *data, const bb_dataset *part) {
    assert_int_equal(part->labels, data->labels);
    assert_non_null(part->label_first);
    for (size_t r = 0; r < part->rows; r++) {
        size_t from = 0;
        while (data->line[from] != part->line[r]) from++;
        const size_t n = data->label_first[from + 1] - data->label_first[from];
        assert_true(isnan(part->y[r]));
        assert_int_equal(part->label_first[r + 1] - part->label_first[r], n);
        if (n)
            assert_memory_equal(part->label + part->label_first[r],
                                data->label + data->label_first[from],
                                n * sizeof *data->label);
    }
    assert_int_equal(part->label_first[0], 0);
}

static void copies(void **state) {
    (void)state;
    static const char *const text[] = {entries, table};
    static const char *const name[] = {"t.svm", "t.csv"};
    char a[] = "a", b[] = "b", c[] = "c", d[] = "d";
    char *const tasks[] = {c, d, a, b};
    const unsigned char keep[] = {0, 1, 1, 0, 1};
    for (size_t i = 0; i < 2; i++) {
        bb_dataset data, part, other;
        assert_ok(read_text(name[i], text[i], &lists, &data));
        assert_ok(bb_dataset_select(&data, keep, &part));
        assert_labels(part, "a: {2 4}; b: {3 17 25}; c: {}");
        assert_int_equal(part.labels, 26);
        bb_dataset_free(&part);
        assert_ok(
            bb_dataset_match(&data, 4, tasks, data.features, data.feature_name, &part));
        assert_labels(part, "c: {}; d:; a: {} {2 4}; b: {3 17 25} {0}");
        bb_dataset_free(&part);
        assert_ok(bb_split(&data, 0.5, 1, &part, &other, NULL));
        assert_int_equal(part.rows + other.rows, 5);
        check_part(&data, &part);
        check_part(&data, &other);
        bb_dataset_free(&part);
        bb_dataset_free(&other);
        bb_dataset_free(&data);
    }
}

/* A range of the target, which no list can have, changes nothing. */
static void preprocessing(void **state) {
    (void)state;
    static const char *const text[] = {entries, table};
    static const char *const name[] = {"t.svm", "t.csv"};
    for (size_t i = 0; i < 2; i++) {
        bb_dataset data, made;
        bb_preprocess p;
        const bb_preprocess_options options = {.standardize = BB_STANDARDIZE_UNIT_ROWS,
                                               .constant = true};
        assert_ok(read_text(name[i], text[i], &lists, &data));
        assert_ok(bb_preprocess_open(&p, &options, &data));
        p.has_target = true;
        p.target = (bb_range){0, 10};
        assert_ok(bb_preprocess_apply(&p, &data, true, &made));
        assert_labels(made, LABELS);
        assert_int_equal(made.labels, 26);
        bb_preprocess_free(&p);
        bb_dataset_free(&made);
        bb_dataset_free(&data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libsvm),   cmocka_unit_test(libsvm_by_bytes),
        cmocka_unit_test(csv),      cmocka_unit_test(public_count),
        cmocka_unit_test(messages), cmocka_unit_test(other_formats),
        cmocka_unit_test(copies),   cmocka_unit_test(preprocessing),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
