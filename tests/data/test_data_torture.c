/* Every allocation, and every file operation of the writers, fails in turn. */
#include "data/bbfile.h"
#include "data/idx_files.h"
#include "data/info.h"
#include "data/names.h"
#include "data/preprocess.h"
#include "data/split.h"
#include "data/synth.h"
#include "data/synth_labels.h"
#include "data/write.h"
#include "torture.h"

typedef struct file {
    const char *name;
    bb_read_options options;
} file;

static bb_status read_file(void *context) {
    const file *const f = context;
    bb_dataset data = {0};
    const bb_status status = bb_read(f->name, &f->options, &data);
    bb_dataset_free(&data);
    return status;
}

static void torture_file(file f, size_t least) {
    assert_in_range(torture_memory((bb_torture){.attempt = read_file, .context = &f}),
                    least, 100000);
    unlink(f.name);
}

static void csv(void **state) {
    (void)state;
    write_text("t.csv",
               "task,y,\"x\"\"1\",x2,c\nb,1,2,3,c\na,4,5,6,\"c\"\nb,7,8,9,c\n");
    torture_file((file){"t.csv", {.ignore = "c"}}, 15);
    write_text("t.csv", "task,y,x\nb,\"2;1\",2\na,,5\nb,7,8\n");
    torture_file((file){"t.csv", {.multilabel = true, .image = "1x1"}}, 18);
}

static void libsvm(void **state) {
    (void)state;
    write_text("t.svm", "1 qid:b 1:2 3:4\n2 qid:a 1:5\n3 qid:b\n");
    torture_file((file){"t.svm", {0}}, 15);
    write_text("t.svm", "3,1 qid:b 1:2 3:4\n qid:a 1:5\n2 qid:b\n");
    torture_file((file){"t.svm", {.multilabel = true}}, 19);
}

static void numpy(void **state) {
    (void)state;
    static zip z;
    static blob member, whole;
    const double x[] = {1, 2, 3, 4, 5, 6};
    npy_numbers(&member, "<f8", "False", "(2, 3)", x, 6);
    write_bytes("t.npy", member.bytes, member.size);
    torture_file((file){"t.npy", {.task = "0", .target = "1", .features = "2"}}, 15);
    npy_numbers(&member, "<f8", "False", "(3, 2)", x, 6);
    zip_add(&z, "X.npy", &member, true);
    npy_numbers(&member, "<f8", "False", "(3,)", x, 3);
    zip_add(&z, "y.npy", &member, false);
    zip_add(&z, "task.npy", &member, true);
    zip_write(&z, "t.npz", &whole);
    torture_file((file){"t.npz", {0}}, 15);
}

static void leaf(void **state) {
    (void)state;
    write_text("t.json", "{\"users\": [\"b\", \"\\u00e4\"], \"num_samples\": [2, 1], "
                         "\"user_data\": {\"b\": {\"y\": [1, 2], \"x\": [[3], [4]]}, "
                         "\"\\u00e4\": {\"x\": [[[5]]], \"y\": [6]}}}");
    torture_file((file){"t.json", {0}}, 15);
}

static void images(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 4};
    write_idx("images.idx", "|u1", 2, (size_t[]){2, 2}, x, 4);
    write_idx("labels.idx", ">f4", 1, (size_t[]){2}, x, 2);
    write_text("tasks.csv", "b\na\n");
    torture_file((file){"images.idx", {0}}, 15);
    unlink("labels.idx");
    unlink("tasks.csv");
}

static void matlab(void **state) {
    (void)state;
    static const char *const name[] = {"dense.mat", "sparse.mat"};
    for (size_t i = 0; i < 2; i++) {
        char path[1024];
        file f = {path, {0}};
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/mat/%s", BB_SOURCE_DIR,
                 name[i]);
        assert_in_range(
            torture_memory((bb_torture){.attempt = read_file, .context = &f}), 15,
            100000);
    }
}

/* What a file is converted to: of all it had before, or of all of this. */
static bb_status convert(void *context) {
    const file *const f = context;
    const bb_convert_source source = {.path = f->name};
    const bb_convert_options options = {.read = f->options, .memory = 64};
    bb_converted made;
    return bb_convert(&source, 1, &options, "t.bb", &made);
}

static void check_whole(void *context, bb_status status) {
    const bb_read_options how = {.multilabel =
                                     ((const file *)context)->options.multilabel};
    bb_dataset data = {0};
    if (status && access("t.bb", F_OK)) return;
    assert_ok(bb_read("t.bb", &how, &data));
    assert_int_equal(data.tasks, 2);
    assert_int_equal(data.rows, 3);
    bb_dataset_free(&data);
}

static void torture_own(file f) {
    const bb_torture torture = {
        .attempt = convert, .check = check_whole, .context = &f, .spare_json = true};
    file made = {"t.bb", {.multilabel = f.options.multilabel}};
    assert_in_range(torture_memory(torture), 40, 100000);
    assert_in_range(torture_files(torture), 2, 100000);
    assert_in_range(torture_memory((bb_torture){
                        .attempt = read_file, .context = &made, .spare_json = true}),
                    10, 100000);
    made.options.memory = 8;
    assert_in_range(torture_memory((bb_torture){
                        .attempt = read_file, .context = &made, .spare_json = true}),
                    10, 100000);
    unlink(f.name);
    unlink("t.bb");
}

static void own(void **state) {
    (void)state;
    write_text("t.csv", "task,y,x,z\nb,1,2,3\na,4,5,6\nb,7,8,9\n");
    torture_own((file){"t.csv", {0}});
    write_text("t.csv", "task,y,x\nb,\"2;1\",2\na,,5\nb,7,8\n");
    torture_own((file){"t.csv", {.multilabel = true}});
    write_text("t.svm", "1 qid:b 1:2 3:4\n2 qid:a 1:5\n3 qid:b\n");
    torture_own((file){"t.svm", {0}});
}

static bb_dataset dense, sparse;

/* A data set that looks like classes. */
static bb_status look(void *context) {
    bb_info info = {0};
    const bb_status status = bb_info_open(&info, context);
    bb_info_close(&info);
    return status;
}

/* Everything that makes data sets of data sets. */
static bb_status transform(void *context) {
    const bb_dataset *const data = context;
    const bb_preprocess_options options = {
        .standardize = data->x ? BB_STANDARDIZE_TASK : BB_STANDARDIZE_UNIT_ROWS,
        .constant = true};
    bb_dataset train = {0}, test = {0}, made = {0}, matched = {0};
    bb_preprocess p = {0};
    bb_info info = {0};
    bb_status status = bb_split(data, 0.5, 1, &train, &test, NULL);
    if (!status) status = bb_preprocess_open(&p, &options, &train);
    if (!status) status = bb_preprocess_apply(&p, &test, true, &made);
    if (!status)
        status = bb_dataset_match(&test, train.tasks, train.task_name, train.features,
                                  train.feature_name, &matched);
    if (!status) status = bb_info_open(&info, data);
    bb_info_close(&info);
    bb_preprocess_free(&p);
    bb_dataset_free(&train);
    bb_dataset_free(&test);
    bb_dataset_free(&made);
    bb_dataset_free(&matched);
    return status;
}

static void transformations(void **state) {
    (void)state;
    assert_ok(read_text("t.csv", "task,y,a,b\n1,2,1,10\n1,4,3,10\n2,5,0,0\n2,9,2,-4\n",
                        NULL, &dense));
    assert_ok(read_text("t.svm", "1 qid:1 1:3\n2 qid:1\n3 qid:2 2:7\n", NULL, &sparse));
    assert_in_range(
        torture_memory((bb_torture){.attempt = transform, .context = &dense}), 40,
        1000);
    bb_dataset classes;
    assert_ok(read_text("t.csv", "task,y,a\n1,2,1\n1,1,3\n2,0,0\n", NULL, &classes));
    assert_int_equal(torture_memory((bb_torture){.attempt = look, .context = &classes}),
                     7);
    bb_dataset_free(&classes);
    assert_in_range(
        torture_memory((bb_torture){.attempt = transform, .context = &sparse}), 40,
        1000);
    bb_dataset_free(&sparse);
    assert_ok(read_text("t.svm", "1,2 qid:1 1:3\n qid:1\n3 qid:2 2:7\n",
                        &(bb_read_options){.multilabel = true}, &sparse));
    assert_in_range(
        torture_memory((bb_torture){.attempt = transform, .context = &sparse}), 48,
        1000);
    bb_dataset_free(&sparse);
}

/* Ranges of the dense data, as JSON and back; jansson's parser is not asked. */
static bb_status make_ranges(void *context) {
    (void)context;
    bb_ranges ranges = {0};
    bb_preprocess p = {0}, parsed = {0};
    json_t *json = NULL;
    bb_status status = bb_ranges_from_data(&ranges, &dense);
    const bb_preprocess_options options = {.constant = true, .scale = &ranges};
    if (!status) status = bb_preprocess_open(&p, &options, &dense);
    if (!status) json = bb_preprocess_json(&p);
    if (!status && !json) status = BB_ENOMEM;
    if (!status)
        status = bb_preprocess_parse(&parsed, json, "m.json", 2, dense.feature_name);
    json_decref(json);
    bb_ranges_free(&ranges);
    bb_preprocess_free(&p);
    bb_preprocess_free(&parsed);
    return status;
}

static void ranges(void **state) {
    (void)state;
    assert_in_range(torture_memory((bb_torture){.attempt = make_ranges}), 30, 1000);
}

static bb_status write_world(void *context) {
    (void)context;
    const bb_synth_options options = {BB_WORLD_GROUP_SPARSE, 3, 2, 5, 1};
    bb_dataset train = {0}, test = {0};
    bb_status status = bb_synth(&options, &train, &test, NULL);
    if (!status) status = bb_write_csv(&train, "W.csv");
    bb_dataset_free(&train);
    bb_dataset_free(&test);
    return status;
}

static bb_status make_labels(void *context) {
    const bb_label_world world = {*(const bool *)context, 3, 2, 30, 4, 1};
    bb_dataset train = {0}, test = {0};
    bb_status status = bb_synth_labels(&world, &train, &test);
    if (!status && world.lists) status = bb_write_libsvm(&train, "W.svm");
    unlink("W.svm");
    bb_dataset_free(&train);
    bb_dataset_free(&test);
    return status;
}

static void labelled_worlds(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        bool lists = k == 1;
        assert_in_range(
            torture_memory((bb_torture){.attempt = make_labels, .context = &lists}), 30,
            1000);
    }
}

/* The old file, or the new one. */
static void check_world(void *context, bb_status status) {
    (void)context;
    bb_dataset data = {0};
    const bb_status read = bb_read("W.csv", NULL, &data);
    const size_t rows = data.rows;
    bb_dataset_free(&data);
    assert_int_equal(read, BB_OK);
    /* a failure to make the folder durable comes when the new file is there already */
    assert_true(rows == 6 || (status && rows == 1));
    assert_true(status != BB_ENOMEM || rows == 1);
    assert_int_equal(folder_entries("."), 1);
    write_text("W.csv", "task,y,x\n1,2,3\n");
}

static void worlds(void **state) {
    (void)state;
    const bb_torture torture = {.attempt = write_world, .check = check_world};
    write_text("W.csv", "task,y,x\n1,2,3\n");
    assert_in_range(torture_memory(torture), 20, 1000);
    assert_in_range(torture_files(torture), 3, 100);
    unlink("W.csv");
    bb_dataset_free(&dense);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv),    cmocka_unit_test(libsvm),
        cmocka_unit_test(numpy),  cmocka_unit_test(leaf),
        cmocka_unit_test(images), cmocka_unit_test(matlab),
        cmocka_unit_test(own),    cmocka_unit_test(transformations),
        cmocka_unit_test(ranges), cmocka_unit_test(labelled_worlds),
        cmocka_unit_test(worlds),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
