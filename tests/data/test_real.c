/* Real data sets outside the repository: counts as their READMEs have them. */
#include "data/info.h"
#include "data/read.h"
#include "test.h"

#include <sys/resource.h>

/* Sanitizers keep what was freed. */
#ifdef __has_feature
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static bb_dataset open_real(const char *name, const bb_read_options *options) {
    char path[1024];
    if (!shared_path(path, sizeof path, name)) skip();
    bb_dataset data;
    assert_ok(bb_read(path, options, &data));
    return data;
}

typedef struct counts {
    size_t tasks, rows, features, least, median, most;
    bb_target_kind target;
} counts;

static void check(const char *name, const bb_read_options *options, counts expected) {
    bb_dataset data = open_real(name, options);
    bb_info info;
    assert_ok(bb_info_open(&info, &data));
    assert_int_equal(info.tasks, expected.tasks);
    assert_int_equal(info.rows, expected.rows);
    assert_int_equal(info.features, expected.features);
    assert_int_equal(info.least_rows, expected.least);
    assert_int_equal((size_t)info.median_rows, expected.median);
    assert_int_equal(info.most_rows, expected.most);
    assert_int_equal(info.target, expected.target);
    assert_int_equal(info.missing_features + info.missing_targets, 0);
    bb_info_close(&info);
    bb_dataset_free(&data);
}

static const bb_read_options label = {.target = "label"};
static const bb_read_options landmine = {.features = "feature", .target = "label"};

static void bank_conjoint(void **state) {
    (void)state;
    check("data/bank_conjoint/data.csv", NULL,
          (counts){946, 14799, 14, 14, 16, 17, BB_TARGET_BINARY});
}

static void chem97(void **state) {
    (void)state;
    check("data/chem97/data.csv", NULL,
          (counts){2410, 31022, 5, 1, 8, 188, BB_TARGET_INTEGER});
}

static void femnist(void **state) {
    (void)state;
    check("data/femnist105/data.csv.gz", &label,
          (counts){105, 16288, 784, 4, 168, 183, BB_TARGET_INTEGER});
    const bb_read_options images = {.target = "label", .image = "28x28"};
    bb_dataset data = open_real("data/femnist105/data.csv.gz", &images);
    bb_info info;
    size_t classes = 0;
    assert_ok(bb_dataset_class_check(&data, &classes));
    assert_int_equal(classes, 62);
    assert_int_equal(data.height * data.width * data.channels, 784);
    assert_ok(bb_info_open(&info, &data));
    assert_int_equal(info.classes, 62);
    assert_close(info.majority, 1269.0 / 16288, 1e-15);
    bb_info_close(&info);
    bb_dataset_free(&data);
}

/* LEAF's own files: pixels are p / 255. */
static void leaf(void **state) {
    (void)state;
    static const char folder[] = "data/femnist105/original/all_data_0_niid_05_keep_0";
    char train[200], test[200];
    snprintf(train, sizeof train, "%s_train_9.json.gz", folder);
    snprintf(test, sizeof test, "%s_test_9.json.gz", folder);
    check(train, NULL, (counts){5, 779, 784, 137, 161, 164, BB_TARGET_INTEGER});
    check(test, NULL, (counts){5, 89, 784, 16, 18, 19, BB_TARGET_INTEGER});
    bb_dataset data = open_real(train, &(bb_read_options){.image = "28x28x1"});
    assert_string_equal(data.task_name[0], "f3135_37");
    assert_true(data.y[data.first[1]] == 23); /* f3137_47 */
    assert_int_equal(data.height * data.width * data.channels, 784);
    for (size_t e = 0; e < data.rows * 784; e++)
        assert_close(255 * data.x[e], round(255 * data.x[e]), 1e-9);
    bb_dataset_free(&data);
}

/* MNIST's test images, 500 in a row to a task. */
static void images(void **state) {
    (void)state;
    static const char tasks[] = "mnist-tasks.csv";
    const bb_read_options options = {.tasks = tasks};
    char path[1024];
    if (!shared_path(path, sizeof path, "data/format_samples")) skip();
    FILE *const file = fopen(tasks, "w");
    assert_non_null(file);
    for (int r = 0; r < 10000; r++) fprintf(file, "%d\n", r / 500);
    assert_int_equal(fclose(file), 0);
    check("data/format_samples/t10k-images-idx3-ubyte.gz", &options,
          (counts){20, 10000, 784, 500, 500, 500, BB_TARGET_INTEGER});
    bb_dataset data =
        open_real("data/format_samples/t10k-images-idx3-ubyte.gz", &options);
    unlink(tasks);
    const double first[] = {7, 2, 1, 0, 4, 1, 4, 9, 5, 9};
    double sum = 0;
    assert_memory_equal(data.y, first, sizeof first);
    for (size_t e = 0; e < data.rows * 784; e++) sum += data.x[e];
    assert_close(sum / (double)(data.rows * 784), 33.791224489795916, 1e-9);
    bb_dataset_free(&data);
}

static void heart(void **state) {
    (void)state;
    check("data/heart4/data.csv", NULL,
          (counts){4, 920, 20, 123, 247, 303, BB_TARGET_BINARY});
}

static void landmines(void **state) {
    (void)state;
    const counts all = {29, 14820, 9, 445, 507, 690, BB_TARGET_BINARY};
    check("data/landmine/data.csv", NULL, all);
    check("data/landmine/original/LandmineData.mat", &landmine, all);
    check("data/format_samples/mocha_landmine_small.mat", NULL,
          (counts){29, 1464, 9, 44, 50, 69, BB_TARGET_SIGN});
}

static void school(void **state) {
    (void)state;
    counts all = {139, 15362, 27, 22, 103, 251, BB_TARGET_INTEGER};
    check("data/school/data.csv", NULL, all);
    all.features = 28;
    check("data/school/original/school.mat", NULL, all);
}

static void mails(void **state) {
    (void)state;
    counts all = {15, 6000, 500, 400, 400, 400, BB_TARGET_BINARY};
    check("data/emails15/data.csv.gz", NULL, all);
    all.features = 152543;
    check("data/emails15/data.libsvm.gz", NULL, all);
    check("data/emails15/original/emails.mat", NULL, all);
}

/* School from both files: the .mat has one more column, of ones. */
static void school_twice(void **state) {
    (void)state;
    bb_dataset csv = open_real("data/school/data.csv", NULL),
               mat = open_real("data/school/original/school.mat", NULL);
    assert_memory_equal(csv.first, mat.first, (csv.tasks + 1) * sizeof *csv.first);
    assert_memory_equal(csv.y, mat.y, csv.rows * sizeof *csv.y);
    for (size_t i = 0; i < csv.tasks; i++)
        assert_string_equal(csv.task_name[i], mat.task_name[i]);
    for (size_t r = 0; r < csv.rows; r++) {
        assert_memory_equal(csv.x + 27 * r, mat.x + 28 * r, 27 * sizeof *csv.x);
        assert_true(mat.x[28 * r + 27] == 1);
    }
    bb_dataset_free(&csv);
    bb_dataset_free(&mat);
}

static void landmine_twice(void **state) {
    (void)state;
    bb_dataset csv = open_real("data/landmine/data.csv", NULL),
               mat = open_real("data/landmine/original/LandmineData.mat", &landmine);
    assert_memory_equal(csv.first, mat.first, (csv.tasks + 1) * sizeof *csv.first);
    assert_memory_equal(csv.y, mat.y, csv.rows * sizeof *csv.y);
    for (size_t e = 0; e < csv.rows * 9; e++) assert_relative(csv.x[e], mat.x[e], 1e-8);
    bb_dataset_free(&csv);
    bb_dataset_free(&mat);
}

/* The mails from both files: the same entries, sparse. */
static void mails_twice(void **state) {
    (void)state;
    bb_dataset svm = open_real("data/emails15/data.libsvm.gz", NULL),
               mat = open_real("data/emails15/original/emails.mat", NULL);
    const size_t entries = svm.sparse_first[svm.rows];
    assert_null(mat.x);
    assert_int_equal(mat.sparse_first[mat.rows], entries);
    assert_memory_equal(svm.sparse_first, mat.sparse_first,
                        (svm.rows + 1) * sizeof *svm.sparse_first);
    assert_memory_equal(svm.sparse_column, mat.sparse_column,
                        entries * sizeof *svm.sparse_column);
    assert_memory_equal(svm.sparse_value, mat.sparse_value,
                        entries * sizeof *svm.sparse_value);
    assert_memory_equal(svm.y, mat.y, svm.rows * sizeof *svm.y);
    bb_dataset_free(&svm);
    bb_dataset_free(&mat);
}

/* 100 MB of text, unpacked on the way, in little more memory than the 304 MB that the
 * numbers need; its tasks alternate from row to row. */
static void large(void **state) {
    (void)state;
    check("data/lsoa2/data.csv.gz", NULL,
          (counts){41, 130235, 292, 1192, 3296, 3473, BB_TARGET_BINARY});
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    /* the numbers themselves are 290 MiB */
    if (!SANITIZED) assert_in_range(usage.ru_maxrss, 290 << 10, 400 << 10);
}

static void missing_values(void **state) {
    (void)state;
    const bb_read_options strict = {.task = "split", .target = "y4"},
                          keep = {
                              .task = "split", .target = "y4", .keep_missing = true};
    bb_dataset data = open_real("data/lsoa2/wide.csv.gz", &keep);
    bb_info info;
    assert_ok(bb_info_open(&info, &data));
    assert_int_equal(info.tasks, 3);
    assert_int_equal(info.rows, 3988);
    assert_int_equal(info.missing_targets, 3988 - 3296);
    assert_fails(bb_read(data.source, &strict, &data), BB_EDATA,
                 "wide.csv.gz:2:25 (column \"y24\"): expected a number, found an empty "
                 "cell");
    bb_info_close(&info);
    bb_dataset_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large), /* first: it measures memory */
        cmocka_unit_test(bank_conjoint),  cmocka_unit_test(chem97),
        cmocka_unit_test(femnist),        cmocka_unit_test(heart),
        cmocka_unit_test(leaf),           cmocka_unit_test(images),
        cmocka_unit_test(landmines),      cmocka_unit_test(school),
        cmocka_unit_test(mails),          cmocka_unit_test(school_twice),
        cmocka_unit_test(landmine_twice), cmocka_unit_test(mails_twice),
        cmocka_unit_test(missing_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
