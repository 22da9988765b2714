/* The shape of rows that are images. */
#include "data/files.h"
#include "data/idx_files.h"
#include "data/preprocess.h"
#include "data/split.h"

static void assert_shape(const bb_dataset *data, size_t height, size_t width,
                         size_t channels) {
    assert_int_equal(data->height, height);
    assert_int_equal(data->width, width);
    assert_int_equal(data->channels, channels);
}

static const char table[] = "task,label,p0,p1,p2,p3,p4,p5\n"
                            "a,3,1,2,3,4,5,6\na,1,0,1,0,1,0,1\nb,2,9,8,7,6,5,4\n";
static const bb_read_options plain = {.target = "label"},
                             wide = {.target = "label", .image = "2x3"};

static void from_options(void **state) {
    (void)state;
    const bb_read_options color = {.target = "label", .image = "1x2x3"},
                          sparse = {.features = "6", .image = "3x2x1"},
                          leaf = {.image = "1x2"};
    bb_dataset data;
    assert_ok(read_text("t.csv", table, &plain, &data));
    assert_shape(&data, 0, 0, 0);
    bb_dataset_free(&data);
    assert_ok(read_text("t.csv", table, &wide, &data));
    assert_shape(&data, 2, 3, 1);
    assert_rows(data, "a: 3 (1 2 3 4 5 6) 1 (0 1 0 1 0 1); b: 2 (9 8 7 6 5 4)");
    assert_ok(read_text("t.csv", table, &color, &data));
    assert_shape(&data, 1, 2, 3);
    bb_dataset_free(&data);
    assert_ok(read_text("t.svm", "1 qid:1 3:1\n", &sparse, &data));
    assert_shape(&data, 3, 2, 1);
    bb_dataset_free(&data);
    assert_ok(read_text("t.json",
                        "{\"users\": [\"a\"], \"num_samples\": [1], \"user_data\": "
                        "{\"a\": {\"x\": [[3, 4]], \"y\": [1]}}}",
                        &leaf, &data));
    assert_shape(&data, 1, 2, 1);
    bb_dataset_free(&data);
}

static void messages(void **state) {
    (void)state;
    static const char *const bad[] = {"",      "6",       "2x",   "x3",      "2x3x",
                                      "0x6",   "2x3x1x1", "2X3",  "2x3 ",    "-2x-3",
                                      "2*3x1", "2x3x0",   " 2x3", "123456x1"};
    bb_dataset data;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const bb_read_options options = {.target = "label", .image = bad[i]};
        char message[120];
        snprintf(message, sizeof message,
                 "--image expects HxW or HxWxC, such as 28x28x1, got \"%s\"", bad[i]);
        assert_message(read_text("t.csv", table, &options, &data), BB_EUSAGE, message);
    }
    const bb_read_options large = {.target = "label", .image = "28x28"},
                          huge = {.target = "label", .image = "99999x99999x99999"};
    assert_message(read_text("t.csv", table, &large, &data), BB_EDATA,
                   "t.csv: --image expected 28*28*1 = 784 columns, found 6");
    assert_message(read_text("t.csv", table, &huge, &data), BB_EDATA,
                   "t.csv: --image expected 99999*99999*99999 = "
                   "999970000299999 columns, found 6");
}

/* IDX files have a shape of their own if they have 3 or 4 dimensions. */
static void idx_shapes(void **state) {
    (void)state;
    static const struct {
        size_t rank, size[4], height, width, channels;
    } set[] = {{2, {2, 12}, 0, 0, 0},
               {3, {2, 4, 3}, 4, 3, 1},
               {4, {2, 2, 3, 2}, 2, 3, 2},
               {4, {2, 3, 4, 1}, 3, 4, 1}};
    const double x[24] = {1, 2, 3};
    const bb_read_options given = {.image = "6x2"};
    bb_dataset data;
    write_idx("labels.idx", "|u1", 1, (size_t[]){2}, x, 2);
    write_text("tasks.csv", "b\na\n");
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        write_idx("images.idx", "|u1", set[i].rank, set[i].size, x, 24);
        assert_ok(bb_read("images.idx", NULL, &data));
        assert_shape(&data, set[i].height, set[i].width, set[i].channels);
        bb_dataset_free(&data);
        assert_ok(bb_read("images.idx", &given, &data));
        assert_shape(&data, 6, 2, 1);
        bb_dataset_free(&data);
    }
    unlink("images.idx");
    unlink("labels.idx");
    unlink("tasks.csv");
}

static void copies(void **state) {
    (void)state;
    bb_dataset data, part, other;
    const unsigned char keep[] = {1, 0, 1};
    assert_ok(read_text("t.csv", table, &wide, &data));
    assert_ok(bb_dataset_select(&data, keep, &part));
    assert_shape(&part, 2, 3, 1);
    bb_dataset_free(&part);
    assert_ok(bb_split(&data, 0.5, 1, &part, &other, NULL));
    assert_shape(&part, 2, 3, 1);
    assert_shape(&other, 2, 3, 1);
    bb_dataset_free(&part);
    bb_dataset_free(&other);
    assert_ok(bb_dataset_match(&data, data.tasks, data.task_name, 6, data.feature_name,
                               &part));
    assert_shape(&part, 2, 3, 1);
    bb_dataset_free(&part);
    char *turned[6];
    for (size_t k = 0; k < 6; k++) turned[k] = data.feature_name[5 - k];
    assert_ok(bb_dataset_match(&data, data.tasks, data.task_name, 6, turned, &part));
    assert_shape(&part, 0, 0, 0);
    bb_dataset_free(&part);
    bb_dataset_free(&data);
}

/* One more column, and rows are no images. */
static void preprocessing(void **state) {
    (void)state;
    for (int constant = 0; constant < 2; constant++) {
        const bb_preprocess_options options = {.standardize = BB_STANDARDIZE_TASK,
                                               .constant = constant == 1};
        bb_dataset data, made;
        bb_preprocess p;
        assert_ok(read_text("t.csv", table, &wide, &data));
        assert_ok(bb_preprocess_open(&p, &options, &data));
        assert_ok(bb_preprocess_apply(&p, &data, true, &made));
        if (constant)
            assert_shape(&made, 0, 0, 0);
        else
            assert_shape(&made, 2, 3, 1);
        bb_preprocess_free(&p);
        bb_dataset_free(&made);
        bb_dataset_free(&data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_options),  cmocka_unit_test(messages),
        cmocka_unit_test(idx_shapes),    cmocka_unit_test(copies),
        cmocka_unit_test(preprocessing),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
