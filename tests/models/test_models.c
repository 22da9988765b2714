#include "eval_world.h"
#include "models/models.h"
#include "test.h"

static bb_models make(const bb_dataset *data) {
    bb_models m;
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 7, BB_FOR_TEST, 2, 0));
    assert_ok(bb_models_open(&m, data));
    for (size_t k = 0; k < m.tasks * m.features; k++)
        m.weight[k] = bb_random_normal(&random) * pow(10.0, (double)(k % 9) - 4.0);
    for (size_t i = 0; i < m.tasks; i++) m.intercept[i] = bb_random_normal(&random);
    bb_random_close(&random);
    return m;
}

static void predictions_equal_their_twin(void **state) {
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        bb_dataset data = world_make(3, 20, 6, 9, sparse, false);
        bb_models m = make(&data);
        double *prediction = calloc(data.rows, sizeof *prediction);
        bb_predict_rows(&data, data.features, m.weight, m.intercept, prediction);
        for (size_t i = 0; i < data.tasks; i++)
            for (size_t j = data.first[i]; j < data.first[i + 1]; j++) {
                double sum = m.intercept[i], size = fabs(sum);
                for (size_t k = 0; k < data.features; k++) {
                    const double term =
                        world_x(&data, j, k) * m.weight[i * data.features + k];
                    sum += term;
                    size += fabs(term);
                }
                assert_close(prediction[j], sum, 1e-14 * size);
            }
        free(prediction);
        bb_models_free(&m);
        bb_dataset_free(&data);
    }
}

static void temporary(char path[64]) {
    strcpy(path, "/tmp/billboard-test-XXXXXX");
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
}

static void files_come_back_to_the_same_bits(void **state) {
    (void)state;
    char path[64], before[BB_HASH_TEXT], after[BB_HASH_TEXT], line[200];
    bb_dataset data = world_make(4, 12, 5, 4, false, false);
    bb_models m = make(&data), back;
    const char *odd[] = {"a,b", "say \"hi\"", "#3", "two\nlines", " space ", ""};
    char *kept[6];
    for (size_t i = 0; i < 6; i++) {
        kept[i] = m.task_name[i];
        m.task_name[i] = (char *)(uintptr_t)odd[i];
    }
    m.weight[0] = 0.1;
    m.weight[1] = -5e-324;
    m.weight[2] = 1.7976931348623157e308;
    temporary(path);
    assert_ok(bb_models_hash(&m, before));
    assert_ok(bb_models_write(&m, path));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "task,intercept,x1,x2,x3,x4,x5\n");
    fclose(file);
    assert_ok(bb_models_read(&back, path));
    assert_ok(bb_models_hash(&back, after));
    assert_string_equal(before, after);
    assert_int_equal(back.tasks, m.tasks);
    for (size_t i = 0; i < m.tasks; i++)
        assert_string_equal(back.task_name[i], m.task_name[i]);
    for (size_t k = 0; k < m.features; k++)
        assert_string_equal(back.feature_name[k], m.feature_name[k]);
    for (size_t i = 0; i < 6; i++) m.task_name[i] = kept[i];
    unlink(path);
    bb_models_free(&back);
    bb_models_free(&m);
    bb_dataset_free(&data);
}

/* The same bytes by any number of threads. */
static void many_lines_are_made_by_threads(void **state) {
    (void)state;
    char path[64], before[BB_HASH_TEXT], after[BB_HASH_TEXT];
    bb_dataset data = world_make(5, 2500, 60, 1, false, false);
    bb_models m = make(&data), back;
    temporary(path);
    assert_true(m.tasks > 2000);
    assert_ok(bb_models_hash(&m, before));
    char *text[3];
    size_t size[3];
    for (size_t threads = 1; threads <= 3; threads++) {
        assert_ok(bb_models_lines(&m, threads, &text[threads - 1], &size[threads - 1]));
        assert_ok(bb_models_write_lines(&m, NULL, threads, path));
        assert_ok(bb_models_read(&back, path));
        assert_ok(bb_models_hash(&back, after));
        assert_string_equal(before, after);
        assert_int_equal(size[threads - 1], size[0]);
        assert_memory_equal(text[threads - 1], text[0], size[0]);
        bb_models_free(&back);
    }
    for (size_t k = 0; k < 3; k++) free(text[k]);
    unlink(path);
    bb_models_free(&m);
    bb_dataset_free(&data);
}

static void expect_bad(const char *text, const char *words) {
    char path[64];
    bb_models m = {0};
    temporary(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_fails(bb_models_read(&m, path), BB_EDATA, words);
    assert_null(m.weight);
    unlink(path);
}

static void bad_files_are_refused(void **state) {
    (void)state;
    bb_models m = {0};
    expect_bad("", "line 1: expected the header");
    expect_bad("task,x1\n1,2\n", "line 1: expected the header");
    expect_bad("# c\ntask,intercept,x1,x1\n1,2,3,4\n", "line 2: expected names");
    expect_bad("task,intercept,x1\na,1,2\na,1,2\n", "line 3: expected names");
    expect_bad("task,intercept,x1\na,1\n", "line 2: expected as many fields");
    expect_bad("task,intercept,x1\na,1,2,3\n", "line 2: expected as many fields");
    expect_bad("task,intercept,x1\na,1,nan\n", "line 2: expected a number");
    expect_bad("task,intercept,x1\n\"a,1,2\n", "expected a closing quote");
    assert_fails(bb_models_read(&m, "/nowhere/models.csv"), BB_EIO, "cannot be opened");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_equal_their_twin),
        cmocka_unit_test(files_come_back_to_the_same_bits),
        cmocka_unit_test(many_lines_are_made_by_threads),
        cmocka_unit_test(bad_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
