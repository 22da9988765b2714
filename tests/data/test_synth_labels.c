/* Worlds of classes and lists of labels; the seeds are fixed. */
#include "data/labels.h"
#include "data/synth.h"
#include "data/synth_labels.h"
#include "data/write.h"

static const bb_label_world classes = {false, 50, 40, 20, 10, 1},
                            lists = {true, 50, 40, 1000, 50, 1};

static void sizes(void **state) {
    (void)state;
    const bb_label_world *const world[] = {&classes, &lists};
    for (size_t k = 0; k < 2; k++) {
        bb_dataset train, test;
        assert_ok(bb_synth_labels(world[k], &train, &test));
        assert_int_equal(train.tasks, 50);
        assert_int_equal(train.rows, 2000);
        assert_int_equal(test.rows, 2000 * BB_SYNTH_TEST);
        assert_int_equal(test.first[7], 7 * 360);
        assert_int_equal(train.features, world[k]->features);
        assert_string_equal(train.task_name[49], "50");
        assert_string_equal(train.feature_name[19], "x20");
        bb_dataset_free(&train);
        bb_dataset_free(&test);
    }
}

/* Sums of the rows of every class, over some of the tasks. */
static void add_rows(const bb_dataset *data, size_t from, size_t to, double *sum) {
    for (size_t r = data->first[from]; r < data->first[to]; r++)
        for (size_t k = 0; k < 20; k++)
            sum[20 * (size_t)data->y[r] + k] += data->x[20 * r + k];
}

static void tasks_share_classes(void **state) {
    (void)state;
    bb_dataset train, test;
    size_t count = 0;
    double sum[2][200] = {0};
    assert_ok(bb_synth_labels(&classes, &train, &test));
    assert_ok(bb_dataset_class_check(&train, &count));
    assert_int_equal(count, 10);
    for (size_t r = 0; r < train.rows; r++) {
        double squares = 0;
        for (size_t k = 0; k < 20; k++)
            squares += train.x[20 * r + k] * train.x[20 * r + k];
        assert_close(squares, 1, 1e-13);
    }
    add_rows(&test, 0, 25, sum[0]);
    add_rows(&test, 25, 50, sum[1]);
    for (size_t c = 0; c < 10; c++) {
        double dot = 0, first = 0, second = 0;
        for (size_t k = 20 * c; k < 20 * (c + 1); k++) {
            dot += sum[0][k] * sum[1][k];
            first += sum[0][k] * sum[0][k];
            second += sum[1][k] * sum[1][k];
        }
        assert_true(dot > 0.8 * sqrt(first * second));
    }
    bb_dataset_free(&train);
    bb_dataset_free(&test);
}

/* Every label has a feature that tells it in most tasks. */
static void features_tell_labels(void **state) {
    (void)state;
    bb_dataset train, test;
    static double both[50][1000], with[1000];
    assert_ok(bb_synth_labels(&lists, &train, &test));
    assert_int_equal(train.labels, 50);
    for (size_t r = 0; r < test.rows; r++) {
        const size_t begin = test.sparse_first[r], end = test.sparse_first[r + 1];
        assert_int_equal(end - begin, 20);
        for (size_t e = begin; e < end; e++) {
            assert_true(e == begin ||
                        test.sparse_column[e - 1] < test.sparse_column[e]);
            with[test.sparse_column[e]]++;
            for (size_t k = test.label_first[r]; k < test.label_first[r + 1]; k++)
                both[test.label[k]][test.sparse_column[e]]++;
        }
    }
    const double mean = (double)test.label_first[test.rows] / (double)test.rows;
    assert_true(mean > 2 && mean < 4);
    for (size_t c = 0; c < 50; c++) {
        double best = 0;
        for (size_t k = 0; k < 1000; k++) best = fmax(best, both[c][k] / with[k]);
        assert_true(best > 0.6 && best < 0.96);
    }
    bb_dataset_free(&train);
    bb_dataset_free(&test);
}

/* A task is the same in a world of fewer tasks, and another with another seed. */
static void tasks_depend_on_the_seed_alone(void **state) {
    (void)state;
    const bb_label_world *const world[] = {&classes, &lists};
    for (size_t k = 0; k < 2; k++) {
        bb_label_world less = *world[k], other = *world[k];
        bb_dataset train[3], test[3];
        less.tasks = 3;
        other.seed = 2;
        assert_ok(bb_synth_labels(world[k], &train[0], &test[0]));
        assert_ok(bb_synth_labels(&less, &train[1], &test[1]));
        assert_ok(bb_synth_labels(&other, &train[2], &test[2]));
        const size_t n = train[1].rows;
        for (size_t i = 1; i < 3; i++) {
            bool same;
            if (k == 0)
                same = !memcmp(train[0].x, train[i].x, n * 20 * sizeof *train->x) &&
                       !memcmp(train[0].y, train[i].y, n * sizeof *train->y);
            else
                same = !memcmp(train[0].sparse_column, train[i].sparse_column,
                               n * 20 * sizeof *train->sparse_column) &&
                       !memcmp(train[0].label_first, train[i].label_first,
                               (n + 1) * sizeof *train->label_first) &&
                       !memcmp(train[0].label, train[i].label,
                               train[0].label_first[n] * sizeof *train->label);
            assert_true(same == (i == 1));
        }
        for (size_t i = 0; i < 3; i++) {
            bb_dataset_free(&train[i]);
            bb_dataset_free(&test[i]);
        }
    }
}

static void assert_same_entries(const bb_dataset *a, const bb_dataset *b) {
    const size_t n = a->rows, entries = a->sparse_first[n];
    assert_int_equal(b->rows, n);
    assert_memory_equal(a->line, b->line, n * sizeof *a->line);
    assert_memory_equal(a->sparse_first, b->sparse_first, (n + 1) * sizeof *a->first);
    assert_memory_equal(a->sparse_column, b->sparse_column,
                        entries * sizeof *a->sparse_column);
    assert_memory_equal(a->sparse_value, b->sparse_value,
                        entries * sizeof *a->sparse_value);
}

static void written_and_read(void **state) {
    (void)state;
    const bb_read_options multilabel = {
        .multilabel = true, .outputs = 50, .features = "1000"};
    bb_dataset train, test, back;
    assert_ok(bb_synth_labels(&lists, &train, &test));
    assert_ok(bb_write_libsvm(&train, "W.svm"));
    assert_ok(read_once("W.svm", &multilabel, &back));
    assert_same_entries(&train, &back);
    assert_int_equal(back.labels, 50);
    assert_memory_equal(train.label_first, back.label_first,
                        (train.rows + 1) * sizeof *train.label_first);
    assert_memory_equal(train.label, back.label,
                        train.label_first[train.rows] * sizeof *train.label);
    bb_dataset_free(&back);
    bb_dataset_free(&train);
    bb_dataset_free(&test);
    assert_ok(read_text("W.svm", "0.1 qid:a 1:-0.1 3:1e-300\n7 qid:a\n", NULL, &train));
    assert_ok(bb_write_libsvm(&train, "W.svm"));
    assert_ok(read_once("W.svm", NULL, &back));
    assert_same_entries(&train, &back);
    assert_memory_equal(train.y, back.y, 2 * sizeof *train.y);
    bb_dataset_free(&back);
    static const char *const name[] = {"", " ", "a b", "#", "a\t", "\r", "\n"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char copy[8], message[100];
        strcpy(copy, name[i]);
        char *list[] = {copy};
        char **const kept = train.task_name;
        train.task_name = list;
        snprintf(
            message, sizeof message,
            "W.svm: LIBSVM files need names of tasks without spaces and #, got \"%s\"",
            i < 4    ? name[i]
            : i == 4 ? "a?"
                     : "?");
        assert_message(bb_write_libsvm(&train, "W.svm"), BB_EUSAGE, message);
        train.task_name = kept;
    }
    assert_int_equal(folder_entries("."), 0);
    bb_dataset_free(&train);
}

static void sizes_that_are_no_world(void **state) {
    (void)state;
    const bb_label_world bad[] = {
        {false, 0, 1, 1, 2, 1},        {false, 1, 0, 1, 2, 1},
        {true, 1, 1, 0, 2, 1},         {false, 1, 1, 1, 1, 1},
        {true, 1, 1, 1, 16777217, 1},  {true, 1, 1, 1000001, 2, 1},
        {true, 1000000, 1000, 1, 2, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bb_dataset train, test;
        char message[200];
        snprintf(
            message, sizeof message,
            "a synthetic world needs tasks, samples and features >= 1, at most 4e9 "
            "test rows, 1e6 features and 2 to 16777216 labels; got %zu, %zu, %zu "
            "and %zu",
            bad[i].tasks, bad[i].samples, bad[i].features, bad[i].labels);
        assert_message(bb_synth_labels(&bad[i], &train, &test), BB_EUSAGE, message);
    }
}

/* Fewer features than ones in a row. */
static void few_features(void **state) {
    (void)state;
    const bb_label_world world = {true, 1, 2, 3, 2, 1};
    bb_dataset train, test;
    assert_ok(bb_synth_labels(&world, &train, &test));
    assert_int_equal(train.sparse_first[2], 6);
    assert_int_equal(train.features, 3);
    bb_dataset_free(&train);
    bb_dataset_free(&test);
}

static void names_of_test_files(void **state) {
    (void)state;
    static const char *const set[][2] = {{"W.svm", "W.test.svm"},
                                         {"a.b/W.libsvm", "a.b/W.test.libsvm"},
                                         {".svm", ".svm.test"}};
    for (size_t i = 0; i < 3; i++) {
        char *name;
        assert_ok(bb_synth_test_name(&name, set[i][0]));
        assert_string_equal(name, set[i][1]);
        free(name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(tasks_share_classes),
        cmocka_unit_test(features_tell_labels),
        cmocka_unit_test(tasks_depend_on_the_seed_alone),
        cmocka_unit_test(written_and_read),
        cmocka_unit_test(sizes_that_are_no_world),
        cmocka_unit_test(few_features),
        cmocka_unit_test(names_of_test_files),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
