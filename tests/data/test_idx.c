#include "data/idx_files.h"

static const double pixel[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const double label[] = {5, 6, 7};
static const char tasks[] = "b\na\nb\n";
#define ROWS "a: 6 (5 6 7 8); b: 5 (1 2 3 4) 7 (9 10 11 12)"

static void remove_all(void) {
    unlink("images.idx");
    unlink("labels.idx");
    unlink("tasks.csv");
}

static void write_all(void) {
    write_idx("images.idx", "|u1", 3, (size_t[]){3, 2, 2}, pixel, 12);
    write_idx("labels.idx", "|u1", 1, (size_t[]){3}, label, 3);
    write_text("tasks.csv", tasks);
}

static void types_and_ranks(void **state) {
    (void)state;
    static const char *const type[] = {"|u1", "|i1", ">i2", ">i4", ">f4", ">f8"};
    static const size_t size[][4] = {{3, 4}, {3, 2, 2}, {3, 2, 1, 2}};
    write_all();
    for (size_t i = 0; i < sizeof type / sizeof *type; i++)
        for (size_t rank = 2; rank <= 4; rank++) {
            bb_dataset data;
            write_idx("images.idx", type[i], rank, size[rank - 2], pixel, 12);
            write_idx("labels.idx", type[i], 1, (size_t[]){3}, label, 3);
            assert_ok(bb_read("images.idx", NULL, &data));
            assert_string_equal(data.feature_name[3], "x4");
            assert_string_equal(data.target_name, "y");
            assert_rows(data, ROWS);
        }
    remove_all();
}

static void values(void **state) {
    (void)state;
    const double signs[] = {-1, -100, 0.5, -2.25, 1e30, 200};
    bb_dataset data;
    write_text("tasks.csv", "1\n1\n");
    write_idx("labels.idx", ">i4", 2, (size_t[]){2, 1}, signs, 2);
    write_idx("images.idx", ">f4", 1, (size_t[]){2}, signs + 2, 2);
    assert_ok(bb_read("images.idx", NULL, &data));
    assert_rows(data, "1: -1 (0.5) -100 (-2.25)");
    write_idx("images.idx", ">f8", 1, (size_t[]){2}, signs + 3, 2);
    assert_ok(bb_read("images.idx", NULL, &data));
    assert_rows(data, "1: -1 (-2.25) -100 (1e+30)");
    write_idx("images.idx", "|u1", 1, (size_t[]){1}, signs + 5, 1);
    write_idx("labels.idx", "|i1", 1, (size_t[]){1}, signs, 1);
    write_text("tasks.csv", "1");
    assert_ok(bb_read("images.idx", NULL, &data));
    assert_rows(data, "1: -1 (200)");
    remove_all();
}

/* The names of MNIST; compressed; explicit names; found by content. */
static void names(void **state) {
    (void)state;
    static blob b;
    const bb_read_options given = {.labels = "l", .tasks = "t"},
                          format = {
                              .format = BB_FORMAT_IDX, .labels = "l", .tasks = "t"};
    bb_dataset data;
    idx(&b, "|u1", 3, (size_t[]){3, 2, 2}, pixel, 12);
    write_gz("train-images-idx3-ubyte.gz", b.bytes, b.size);
    write_bytes("i", b.bytes, b.size);
    idx(&b, "|u1", 1, (size_t[]){3}, label, 3);
    write_gz("train-labels-idx1-ubyte.gz", b.bytes, b.size);
    write_bytes("l", b.bytes, b.size);
    write_text("train-tasks.csv", "task\r\n b\t\r\na\r\nb\r\n\r\n");
    write_gz("t", tasks, sizeof tasks - 1);
    assert_ok(bb_read("./train-images-idx3-ubyte.gz", NULL, &data));
    assert_rows(data, ROWS);
    assert_ok(bb_read("i", &given, &data));
    assert_rows(data, ROWS);
    assert_ok(bb_read("i", &format, &data));
    assert_rows(data, ROWS);
    assert_message(bb_read("i", NULL, &data), BB_EUSAGE,
                   "i: where are its labels and tasks? give --labels FILE and --tasks "
                   "FILE");
    unlink("train-tasks.csv");
    assert_message(bb_read("train-images-idx3-ubyte.gz", NULL, &data), BB_EIO,
                   "the tasks of train-images-idx3-ubyte.gz: train-tasks.csv: No such "
                   "file or directory");
    unlink("train-labels-idx1-ubyte.gz");
    assert_message(bb_read("train-images-idx3-ubyte.gz", NULL, &data), BB_EIO,
                   "the labels of train-images-idx3-ubyte.gz: "
                   "train-labels-idx1-ubyte.gz: No such file or directory");
    /* images to predict need no labels, where the reader is told so */
    write_text("train-tasks.csv", "b\na\nb\n");
    const bb_read_options bare = {.target_optional = true};
    assert_ok(bb_read("train-images-idx3-ubyte.gz", &bare, &data));
    assert_null(data.target_name);
    assert_int_equal(data.rows, 3);
    assert_true(data.x[8] == 9 && isnan(data.y[0]));
    bb_dataset_free(&data);
    unlink("train-tasks.csv");
    unlink("train-images-idx3-ubyte.gz");
    unlink("i");
    unlink("l");
    unlink("t");
}

static void wrong_tasks(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "tasks.csv: the tasks of 0 images, but images.idx has 3"},
        {"b\na\n", "tasks.csv: the tasks of 2 images, but images.idx has 3"},
        {"task\na\nb\n", "tasks.csv: the tasks of 2 images, but images.idx has 3"},
        {"b\na\nb\n\n\nc\n",
         "tasks.csv:6: a task more than the 3 images of images.idx"},
        {"b\n\nb\n", "tasks.csv:2: expected the name of one task, without commas and "
                     "quotes, found \"\""},
        {"task\nb\n1,2\nb\n", "tasks.csv:3: expected the name of one task, without "
                              "commas and quotes, found \"1,2\""},
        {"b\n\"a\"\nb\n", "tasks.csv:2: expected the name of one task, without commas "
                          "and quotes, found \"\"a\"\""},
        {"b\n\xff\nb\n", "tasks.csv:2: expected the name of one task, without commas "
                         "and quotes, found \"?\""},
    };
    write_all();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bb_dataset data;
        write_text("tasks.csv", bad[i].text);
        assert_message(bb_read("images.idx", NULL, &data), BB_EDATA, bad[i].message);
    }
    remove_all();
}

static void expect(const void *bytes, size_t size, const char *message) {
    bb_dataset data;
    write_bytes("images.idx", bytes, size);
    assert_message(bb_read("images.idx", NULL, &data), BB_EDATA, message);
}

static void wrong_files(void **state) {
    (void)state;
    static const char wrong_type[] = "\0\0\x0a\1\0\0\0\1",
                      no_size[] = "\0\0\10\3\0\0\0\3",
                      five[] = "\0\0\10\5\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1",
                      none[] = "\0\0\10\1\0\0\0\0",
                      empty[] = "\0\0\10\2\0\0\0\1\0\0\0\0",
                      wide[] = "\0\0\10\3\0\0\0\1\0\0\x10\1\0\0\x10\0",
                      huge[] = "\0\0\x0e\2\xff\xff\xff\xff\1\0\0\0";
    write_all();
    expect("PK", 2, "images.idx: this is no IDX file");
    expect(wrong_type, 8, "images.idx: this is no IDX file");
    expect(no_size, 8,
           "images.idx: expected an array of 1 to 4 dimensions, found 3, "
           "cut off");
    expect(five, 24, "images.idx: expected an array of 1 to 4 dimensions, found 5");
    expect(none, 8, "images.idx: the file has no rows");
    expect(empty, 12,
           "images.idx: expected 1 to 16777216 numbers an image, found a "
           "dimension of 0");
    expect(wide, 16,
           "images.idx: expected 1 to 16777216 numbers an image, found a "
           "dimension of 4096");
    expect(huge, 12,
           "images.idx: cut off: 4294967295 x 16777216 elements of 8 bytes "
           "are promised, the file has 12 bytes");
    remove_all();
}

static void sizes(void **state) {
    (void)state;
    static blob b;
    const double infinite[] = {1, 2, INFINITY, NAN};
    const bb_read_options keep = {.keep_missing = true}, task = {.task = "a"};
    bb_dataset data;
    write_all();
    idx(&b, "|u1", 3, (size_t[]){3, 2, 2}, pixel, 12);
    expect(b.bytes, b.size - 1,
           "images.idx: cut off: 3 x 4 elements of 1 bytes are "
           "promised, the file has 27 bytes");
    expect(b.bytes, b.size + 1,
           "images.idx: more bytes than the 3 x 4 elements of 1 "
           "bytes that are promised");
    write_gz("images.idx", b.bytes, b.size - 1);
    assert_message(bb_read("images.idx", NULL, &data), BB_EDATA,
                   "images.idx: cut off in row 2: 3 x 4 elements of 1 bytes are "
                   "promised");
    write_bytes("images.idx", b.bytes, b.size);
    write_idx("labels.idx", "|u1", 1, (size_t[]){2}, label, 2);
    assert_message(bb_read("images.idx", NULL, &data), BB_EDATA,
                   "labels.idx: 2 labels, but images.idx has 3 images");
    write_idx("labels.idx", "|u1", 2, (size_t[]){3, 2}, pixel, 6);
    assert_message(bb_read("images.idx", NULL, &data), BB_EDATA,
                   "labels.idx: expected one label an image, found 2 numbers");
    write_idx("labels.idx", ">f4", 1, (size_t[]){3}, infinite, 3);
    assert_message(bb_read("images.idx", NULL, &data), BB_EDATA,
                   "labels.idx: row 2, element 0: expected a finite number, found inf");
    write_idx("labels.idx", ">f8", 1, (size_t[]){3}, infinite + 1, 3);
    write_idx("images.idx", ">f8", 1, (size_t[]){3}, infinite + 1, 3);
    assert_message(bb_read("images.idx", &keep, &data), BB_EDATA,
                   "labels.idx: row 1, element 0: expected a finite number, found inf");
    assert_message(bb_read("images.idx", &task, &data), BB_EUSAGE,
                   "images.idx: IDX files have no column names; --task, --target, "
                   "--features and --ignore do not apply");
    write_text("tasks.csv", "1\n");
    write_idx("labels.idx", "|u1", 1, (size_t[]){1}, label, 1);
    write_idx("images.idx", ">f4", 1, (size_t[]){1}, infinite + 3, 1);
    assert_ok(bb_read("images.idx", &keep, &data));
    assert_true(isnan(data.x[0]));
    bb_dataset_free(&data);
    remove_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_and_ranks), cmocka_unit_test(values),
        cmocka_unit_test(names),           cmocka_unit_test(wrong_tasks),
        cmocka_unit_test(wrong_files),     cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
