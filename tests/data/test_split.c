#include "data/files.h"
#include "data/split.h"

/* Tasks of 0, 1, 2, ... rows; a row's target is its number. */
static bb_dataset counted(size_t tasks) {
    bb_dataset data;
    FILE *const file = fopen("t.csv", "w");
    assert_non_null(file);
    fputs("task,y,x1\n", file);
    int number = 0;
    for (size_t i = 1; i < tasks; i++)
        for (size_t j = 0; j < i; j++, number++)
            fprintf(file, "%zu,%d,%d\n", i, number, -number);
    fclose(file);
    assert_ok(read_once("t.csv", NULL, &data));
    return data;
}

static void halves_round_to_even(void **state) {
    (void)state;
    bb_dataset data = counted(31), train, test;
    size_t untested;
    assert_ok(bb_split(&data, 0.3, 1, &train, &test, &untested));
    assert_int_equal(train.tasks, 30);
    assert_int_equal(test.tasks, 30);
    assert_int_equal(train.rows + test.rows, data.rows);
    for (size_t i = 0; i < 30; i++) {
        const size_t n = i + 1, rounded = (size_t)rint(0.3 * (double)n);
        const size_t expected = rounded ? rounded : 1;
        assert_int_equal(train.first[i + 1] - train.first[i], expected);
        assert_int_equal(test.first[i + 1] - test.first[i], n - expected);
    }
    assert_int_equal(train.first[5] - train.first[4], 2);   /* 1.5 */
    assert_int_equal(train.first[15] - train.first[14], 4); /* 4.5 */
    assert_int_equal(untested, 1);                          /* the task of one row */
    bb_dataset_free(&train);
    bb_dataset_free(&test);
    bb_dataset_free(&data);
}

/* Every row is in exactly one part, in the old order; another seed gives another split.
 */
static void rows_are_kept(void **state) {
    (void)state;
    bb_dataset data = counted(40), train, test, again, other;
    assert_ok(bb_split(&data, 0.5, 7, &train, &other, NULL));
    assert_ok(bb_split(&data, 0.5, 7, &again, &test, NULL));
    assert_memory_equal(train.y, again.y, train.rows * sizeof *train.y);
    char *const seen = calloc(data.rows, 1);
    for (size_t r = 0; r < train.rows; r++) seen[(size_t)train.y[r]]++;
    for (size_t r = 0; r < test.rows; r++) seen[(size_t)test.y[r]]++;
    for (size_t r = 0; r < data.rows; r++) assert_int_equal(seen[r], 1);
    for (size_t i = 0; i < train.tasks; i++)
        for (size_t r = train.first[i] + 1; r < train.first[i + 1]; r++)
            assert_true(train.y[r - 1] < train.y[r]);
    bb_dataset_free(&again);
    bb_dataset_free(&test);
    assert_ok(bb_split(&data, 0.5, 8, &again, &test, NULL));
    assert_memory_not_equal(train.y, again.y, train.rows * sizeof *train.y);
    free(seen);
    bb_dataset_free(&again);
    bb_dataset_free(&test);
    bb_dataset_free(&other);
    bb_dataset_free(&train);
    bb_dataset_free(&data);
}

/* A task's split does not depend on the other tasks' rows. */
static void tasks_are_split_alone(void **state) {
    (void)state;
    bb_dataset data, more, train, test, train_more, test_more;
    assert_ok(read_text("t.csv", "task,y,x\na,1,1\na,2,2\na,3,3\nb,4,4\nb,5,5\n", NULL,
                        &data));
    assert_ok(read_text("t.csv",
                        "task,y,x\na,1,1\na,2,2\na,3,3\nb,4,4\nb,5,5\nb,6,6\nb,7,7\n",
                        NULL, &more));
    assert_ok(bb_split(&data, 0.4, 3, &train, &test, NULL));
    assert_ok(bb_split(&more, 0.4, 3, &train_more, &test_more, NULL));
    assert_int_equal(train.first[1], 1);
    assert_true(train.y[0] == train_more.y[0]);
    assert_memory_equal(test.y, test_more.y, 2 * sizeof *test.y);
    bb_dataset_free(&train);
    bb_dataset_free(&test);
    bb_dataset_free(&train_more);
    bb_dataset_free(&test_more);
    bb_dataset_free(&data);
    bb_dataset_free(&more);
}

/* Every row of a task trains equally often: chi-squared with 9 degrees of freedom; 70
 * is exceeded with probability 1.5e-11. */
static void rows_are_drawn_evenly(void **state) {
    (void)state;
    enum { ROWS = 10, SEEDS = 4000 };
    bb_dataset data = counted(ROWS + 1);
    double count[ROWS] = {0}, statistic = 0;
    const size_t begin = data.first[ROWS - 1];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        bb_dataset train, test;
        assert_ok(bb_split(&data, 0.3, seed, &train, &test, NULL));
        for (size_t r = train.first[ROWS - 1]; r < train.first[ROWS]; r++)
            count[(size_t)train.y[r] - begin]++;
        bb_dataset_free(&train);
        bb_dataset_free(&test);
    }
    for (size_t j = 0; j < ROWS; j++) {
        const double expected = 0.3 * SEEDS;
        statistic += (count[j] - expected) * (count[j] - expected) / expected / 0.7;
    }
    assert_true(statistic < 70);
    bb_dataset_free(&data);
}

static void fractions(void **state) {
    (void)state;
    bb_dataset data = counted(5), train, test = {.rows = 5};
    size_t untested;
    assert_ok(bb_split(&data, 1, 1, &train, &test, &untested));
    assert_int_equal(train.rows, data.rows);
    assert_int_equal(test.rows, 0);
    assert_int_equal(untested, 4);
    bb_dataset_free(&train);
    bb_dataset_free(&test);
    assert_message(bb_split(&data, 0, 1, &train, &test, NULL), BB_EUSAGE,
                   "the training fraction must be in (0, 1], got 0");
    assert_message(bb_split(&data, 1.5, 1, &train, &test, NULL), BB_EUSAGE,
                   "the training fraction must be in (0, 1], got 1.5");
    assert_message(bb_split(&data, NAN, 1, &train, &test, NULL), BB_EUSAGE,
                   "the training fraction must be in (0, 1], got nan");
    bb_dataset_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_round_to_even),
        cmocka_unit_test(rows_are_kept),
        cmocka_unit_test(tasks_are_split_alone),
        cmocka_unit_test(rows_are_drawn_evenly),
        cmocka_unit_test(fractions),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
