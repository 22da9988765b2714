#include "data/files.h"
#include "data/synth.h"
#include "data/write.h"

static void make(bb_synth_options options, bb_dataset *train, bb_dataset *test,
                 double **model) {
    *model = calloc(options.tasks * options.features, sizeof **model);
    assert_non_null(*model);
    assert_ok(bb_synth(&options, train, test, *model));
}

static void drop(bb_dataset *train, bb_dataset *test, double *model) {
    bb_dataset_free(train);
    bb_dataset_free(test);
    free(model);
}

static void check_rows(const bb_dataset *data, const double *model, double *noise) {
    const size_t d = data->features;
    *noise = 0;
    for (size_t i = 0; i < data->tasks; i++)
        for (size_t r = data->first[i]; r < data->first[i + 1]; r++) {
            double squares = 0, error = data->y[r];
            for (size_t k = 0; k < d; k++) {
                squares += data->x[r * d + k] * data->x[r * d + k];
                error -= data->x[r * d + k] * model[i * d + k];
            }
            assert_close(squares, 1, 1e-13);
            *noise += error * error / (double)data->rows;
        }
}

static void shapes_and_noise(void **state) {
    (void)state;
    for (int world = 0; world < 2; world++) {
        bb_dataset train, test;
        double *model, noise;
        make((bb_synth_options){(bb_world)world, 320, 30, 30, 1}, &train, &test,
             &model);
        assert_int_equal(train.tasks, 320);
        assert_int_equal(train.rows, 320 * 30);
        assert_int_equal(test.rows, 320 * 270);
        assert_int_equal(train.first[7], 210);
        assert_int_equal(test.first[7], 1890);
        assert_string_equal(train.task_name[319], "320");
        assert_string_equal(train.feature_name[29], "x30");
        /* the mean of n squared normals is within 6.2 sqrt(2/n) of 1: 1e-9 */
        check_rows(&train, model, &noise);
        assert_close(noise, 1, 6.2 * sqrt(2.0 / 9600));
        check_rows(&test, model, &noise);
        assert_close(noise, 1, 6.2 * sqrt(2.0 / 86400));
        assert_memory_not_equal(train.x, test.x, 30 * 30 * sizeof *train.x);
        drop(&train, &test, model);
    }
}

static void low_rank_blocks(void **state) {
    (void)state;
    const size_t end[] = {75, 150, 225, 300, 320};
    bb_dataset train, test;
    double *model, squares = 0;
    make((bb_synth_options){BB_WORLD_LOW_RANK, 320, 2, 30, 3}, &train, &test, &model);
    for (size_t block = 0, i = 0; block < 5; block++) {
        const double *const w = model + i * 30;
        for (; i < end[block]; i++)
            assert_memory_equal(model + i * 30, w, 30 * sizeof *w);
        if (i < 320) assert_memory_not_equal(model + i * 30, w, 30 * sizeof *w);
        for (size_t k = 0; k < 30; k++) squares += w[k] * w[k] / 150;
    }
    assert_close(squares / (10.24 * 10.24), 1, 6.2 * sqrt(2.0 / 150));
    drop(&train, &test, model);
    /* other numbers of tasks: four blocks of floor(75 m / 320) */
    make((bb_synth_options){BB_WORLD_LOW_RANK, 10, 1, 2, 3}, &train, &test, &model);
    const int block[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4};
    for (size_t i = 1; i < 10; i++)
        assert_int_equal(model[2 * i] == model[2 * i - 2], block[i] == block[i - 1]);
    drop(&train, &test, model);
}

/* The low-rank world of the same seed, and one entry in twenty is another. */
static void one_task_is_an_anomaly(void **state) {
    (void)state;
    bb_dataset train, test;
    double *model, off = 0.0;
    make((bb_synth_options){BB_WORLD_ANOMALY, 10, 6, 5, 3}, &train, &test, &model);
    for (size_t i = 0; i < 10; i++)
        for (size_t k = 0; k < 5; k++) {
            const double w = model[i * 5 + k] / (i == 9 ? 100.0 : 1.0);
            assert_true(w > 0.0 && w < 1.0);
        }
    for (size_t r = 0; r < train.rows; r++) {
        double y = 0.0;
        for (size_t k = 0; k < 5; k++) y += train.x[r * 5 + k] * model[r / 6 * 5 + k];
        off = fmax(off, fabs(y - train.y[r]));
    }
    assert_true(off < 1e-12);
    bb_dataset_free(&train);
    bb_dataset_free(&test);
    free(model);
}

static void outliers_are_entries(void **state) {
    (void)state;
    bb_dataset train, test;
    double *low, *with;
    size_t other = 0;
    make((bb_synth_options){BB_WORLD_LOW_RANK, 320, 1, 30, 3}, &train, &test, &low);
    bb_dataset_free(&train);
    bb_dataset_free(&test);
    make((bb_synth_options){BB_WORLD_OUTLIERS, 320, 1, 30, 3}, &train, &test, &with);
    for (size_t k = 0; k < 9600; k++) {
        const double more = fabs(with[k] - low[k]);
        other += more > 0;
        assert_true(more == 0 || (more > 1 - 1e-9 && more < 50 + 1e-9));
    }
    /* binomial, 9600 and 1/20: 480, within 6.2 deviations of 21.4 */
    assert_close((double)other, 480, 6.2 * 21.4);
    free(low);
    drop(&train, &test, with);
}

static void group_sparse_models(void **state) {
    (void)state;
    bb_dataset train, test;
    double *model;
    size_t negative = 0, large = 0;
    make((bb_synth_options){BB_WORLD_GROUP_SPARSE, 320, 2, 30, 3}, &train, &test,
         &model);
    for (size_t i = 0; i < 320; i++) {
        size_t used = 0;
        for (size_t k = 0; k < 30; k++) {
            const double w = model[i * 30 + k];
            assert_int_equal(w == 0,
                             model[k] == 0); /* the same features in all tasks */
            if (w == 0) continue;
            used++;
            assert_true(fabs(w) >= 1 && fabs(w) <= 50);
            negative += w < 0;
            large += fabs(w) > 25.5;
        }
        assert_int_equal(used, 4);
    }
    /* 1280 fair coins: within 6.2 standard deviations */
    assert_close((double)negative, 640, 6.2 * sqrt(320));
    assert_close((double)large, 640, 6.2 * sqrt(320));
    drop(&train, &test, model);
}

/* Seeds matter, and a task does not depend on how many others there are. */
static void streams(void **state) {
    (void)state;
    bb_dataset a, b, test_a, test_b;
    double *model_a, *model_b;
    make((bb_synth_options){BB_WORLD_GROUP_SPARSE, 5, 4, 6, 9}, &a, &test_a, &model_a);
    make((bb_synth_options){BB_WORLD_GROUP_SPARSE, 8, 4, 6, 9}, &b, &test_b, &model_b);
    assert_memory_equal(a.x, b.x, a.rows * 6 * sizeof *a.x);
    assert_memory_equal(a.y, b.y, a.rows * sizeof *a.y);
    assert_memory_equal(test_a.y, test_b.y, test_a.rows * sizeof *a.y);
    drop(&b, &test_b, model_b);
    make((bb_synth_options){BB_WORLD_GROUP_SPARSE, 5, 4, 6, 10}, &b, &test_b, &model_b);
    assert_memory_not_equal(a.x, b.x, a.rows * 6 * sizeof *a.x);
    drop(&a, &test_a, model_a);
    drop(&b, &test_b, model_b);
}

static void sizes(void **state) {
    (void)state;
    const bb_synth_options none = {BB_WORLD_LOW_RANK, 0, 1, 1, 1},
                           huge = {BB_WORLD_LOW_RANK, 1000000, 1000, 1, 1};
    bb_dataset train, test;
    double *model;
    assert_message(
        bb_synth(&none, &train, &test, NULL), BB_EUSAGE,
        "a synthetic world needs tasks, samples and features >= 1, at most 4e9 "
        "test rows and 1e6 features; got 0, 1 and 1");
    assert_fails(bb_synth(&huge, &train, &test, NULL), BB_EUSAGE,
                 "1000000, 1000 and 1");
    make((bb_synth_options){BB_WORLD_GROUP_SPARSE, 1, 1, 2, 1}, &train, &test, &model);
    assert_true(model[0] != 0 && model[1] != 0);
    drop(&train, &test, model);
}

static void test_names(void **state) {
    (void)state;
    static const char *const name[][2] = {{"W.csv", "W.test.csv"},
                                          {"a.csv/W", "a.csv/W.test"},
                                          {"dir/a.b.csv", "dir/a.b.test.csv"},
                                          {".csv", ".csv.test"},
                                          {"W.txt", "W.txt.test"}};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char *made;
        assert_ok(bb_synth_test_name(&made, name[i][0]));
        assert_string_equal(made, name[i][1]);
        free(made);
    }
}

/* What is written is read back to the same bits. */
static void written_files(void **state) {
    (void)state;
    bb_dataset train, test, back;
    double *model;
    make((bb_synth_options){BB_WORLD_LOW_RANK, 7, 5, 3, 1}, &train, &test, &model);
    assert_ok(bb_write_csv(&test, "W.csv"));
    assert_ok(read_once("W.csv", NULL, &back));
    assert_int_equal(back.rows, test.rows);
    assert_memory_equal(back.x, test.x, back.rows * 3 * sizeof *back.x);
    assert_memory_equal(back.y, test.y, back.rows * sizeof *back.y);
    assert_memory_equal(back.line, test.line, back.rows * sizeof *back.line);
    assert_memory_equal(back.first, test.first, 8 * sizeof *back.first);
    bb_dataset_free(&back);
    assert_fails(bb_write_csv(&test, "nowhere/W.csv"), BB_EIO, "nowhere/W.csv");
    drop(&train, &test, model);
}

static void written_names(void **state) {
    (void)state;
    char text[500];
    static const char table[] =
        "task,\"the \"\"y\"\"\",\"a,b\",c\n\" x\",1,2,3\n\"two\nlines\",4,5,6\n";
    const bb_read_options options = {.target = "the \"y\""};
    bb_dataset data;
    assert_ok(read_text("t.csv", table, &options, &data));
    assert_ok(bb_write_csv(&data, "t.csv"));
    assert_string_equal(
        folder_read(text, sizeof text, "t.csv"),
        "task,\"the \"\"y\"\"\",\"a,b\",c\n\"two\nlines\",4,5,6\nx,1,2,3\n");
    unlink("t.csv");
    bb_dataset_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_noise),
        cmocka_unit_test(low_rank_blocks),
        cmocka_unit_test(outliers_are_entries),
        cmocka_unit_test(one_task_is_an_anomaly),
        cmocka_unit_test(group_sparse_models),
        cmocka_unit_test(streams),
        cmocka_unit_test(sizes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(written_files),
        cmocka_unit_test(written_names),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
