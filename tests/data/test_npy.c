#include "data/numpy_files.h"

static const bb_read_options columns = {.task = "0", .target = "1"};

/* Every type, byte order and layout of the same table. */
static void tables(void **state) {
    (void)state;
    static const char *const type[] = {"<f8", ">f8", "<f4", ">f4", "<i8", ">i8", "<i4",
                                       ">i2", "|i1", "<u8", ">u8", "<u4", "<u2", "|u1"};
    const double rows[] = {7, 1, 2, 3, 8, 4, 5, 6},
                 columnwise[] = {7, 8, 1, 4, 2, 5, 3, 6};
    blob file;
    for (size_t i = 0; i < sizeof type / sizeof *type; i++)
        for (int fortran = 0; fortran < 2; fortran++) {
            bb_dataset data;
            npy_numbers(&file, type[i], fortran ? "True" : "False", "(2, 4)",
                        fortran ? columnwise : rows, 8);
            write_bytes("t.npy", file.bytes, file.size);
            assert_ok(read_once("t.npy", &columns, &data));
            assert_string_equal(data.feature_name[0], "2");
            assert_string_equal(data.feature_name[1], "3");
            assert_string_equal(data.target_name, "1");
            assert_rows(data, "7: 1 (2 3); 8: 4 (5 6)");
        }
}

static void column_lists_and_signs(void **state) {
    (void)state;
    const double rows[] = {-1.5, 1, 2, 3, -1.5, -4, 5, -6};
    const bb_read_options list = {.task = "0", .target = "3", .ignore = "1"},
                          no_target = {.task = "0"}, far = {.task = "0", .target = "9"};
    blob file;
    bb_dataset data;
    npy_numbers(&file, "<f8", "False", "(2, 4)", rows, 8);
    write_bytes("t.npy", file.bytes, file.size);
    assert_ok(bb_read("t.npy", &list, &data));
    assert_rows(data, "-1.5: 3 (2) -6 (5)");
    assert_message(bb_read("t.npy", &no_target, &data), BB_EDATA,
                   "t.npy: name the columns of task and target by their 0-based index: "
                   "--task 0 --target 1");
    assert_message(read_once("t.npy", &far, &data), BB_EUSAGE,
                   "t.npy: no column \"9\" for --target; the columns are \"0\", \"1\", "
                   "\"2\", \"3\"");
    npy_numbers(&file, ">i2", "False", "(2, 4)", rows, 8);
    write_bytes("t.npy", file.bytes, file.size);
    assert_ok(read_once("t.npy", &columns, &data));
    assert_rows(data, "-1: 1 (2 3) -4 (5 -6)");
}

/* X (Fortran), y, task in an archive. */
static void archive(zip *z, const char *task_type, const void *task, size_t size,
                    bool deflated) {
    const double x[] = {1, 2, 3, 4, 5, 6}, y[] = {-1, 1, 1};
    static blob member;
    *z = (zip){0};
    npy_numbers(&member, "<f4", "True", "(3, 2)", x, 6);
    zip_add(z, "X.npy", &member, deflated);
    npy_numbers(&member, "|i1", "False", "(3,)", y, 3);
    zip_add(z, "y.npy", &member, !deflated);
    npy(&member, 2, task_type, "False", "(3, 1)", task, size);
    zip_add(z, "task.npy", &member, deflated);
}

static void archives(void **state) {
    (void)state;
    static zip z;
    static blob file;
    const int64_t number[] = {20, -10, 20};
    const char texts[] = "ab\0\0c\0\0\0ab\0", wide[] =
                                                  "a\0\0\0\xe9\0\0\0b\0\0\0\0\0\0\0"
                                                  "a\0\0\0\xe9\0\0";
    const bb_read_options names = {.features = "y", .target = "X", .task = "task"};
    for (int deflated = 0; deflated < 2; deflated++) {
        bb_dataset data;
        archive(&z, "<i8", number, sizeof number, deflated);
        zip_write(&z, "t.npz", &file);
        assert_message(bb_read("t.npz", &names, &data), BB_EDATA,
                       "t.npz: y: expected a table with rows and columns");
        assert_ok(read_once("t.npz", NULL, &data));
        assert_string_equal(data.feature_name[1], "x2");
        assert_int_equal(data.line[2], 2); /* row 2 of 0, 1, 2 */
        assert_rows(data, "-10: 1 (2 5); 20: -1 (1 4) 1 (3 6)");
        archive(&z, "|S4", texts, sizeof texts, deflated);
        zip_write(&z, "t.npz", &file);
        assert_ok(read_once("t.npz", NULL, &data));
        assert_rows(data, "ab: -1 (1 4) 1 (3 6); c: 1 (2 5)");
        archive(&z, "<U2", wide, sizeof wide, deflated);
        zip_write(&z, "any name", &file); /* found by its first bytes */
        assert_ok(read_once("any name", NULL, &data));
        assert_rows(data, "a\xc3\xa9: -1 (1 4) 1 (3 6); b: 1 (2 5)");
    }
}

static void bad_arrays(void **state) {
    (void)state;
    static const struct {
        const char *type, *order, *shape;
        size_t n;
        const char *message;
    } bad[] = {
        {"<f8", "False", "(2, 4)", 7,
         "t.npy: cut off: 2 x 4 elements of 8 bytes are promised, 56 bytes are there"},
        {"<f8", "False", "(2305843009213693952, 8)", 8,
         "t.npy: cut off: 2305843009213693952 x 8 elements of 8 bytes are promised, 64 "
         "bytes are there"},
        {"<f8", "False", "(99999999999999999999, 8)", 8,
         "t.npy: expected an array of one or two dimensions"},
        {"<f8", "False", "(2, 2, 2)", 8,
         "t.npy: expected an array of one or two dimensions"},
        {"<f8", "False", "()", 8, "t.npy: expected an array of one or two dimensions"},
        {"<f8", "False", "(8,)", 8,
         "t.npy: expected a table with rows and columns; name those of task and target "
         "by their 0-based index: --task 0 --target 1"},
        {"<f8", "False", "(0, 4)", 0,
         "t.npy: expected a table with rows and columns; name those of task and target "
         "by their 0-based index: --task 0 --target 1"},
        {"<f8", "Maybe", "(2, 4)", 8,
         "t.npy: the header of the NumPy array is damaged"},
        {"<c16", "False", "(2, 4)", 8,
         "t.npy: expected an array of numbers (f4 f8 i1..i8 u1..u8 bool), found type "
         "\"'<c16'\""},
        {"<f2", "False", "(2, 4)", 8,
         "t.npy: expected an array of numbers (f4 f8 i1..i8 u1..u8 bool), found type "
         "\"'<f2'\""},
        {"|O", "False", "(2, 4)", 8,
         "t.npy: expected an array of numbers (f4 f8 i1..i8 u1..u8 bool), found type "
         "\"'|O'\""},
        {"|S8", "False", "(2, 4)", 8,
         "t.npy: the table: expected numbers, found texts"},
    };
    const double zeros[8] = {0};
    blob file;
    bb_dataset data;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        npy(&file, 1, bad[i].type, bad[i].order, bad[i].shape, zeros, 8 * bad[i].n);
        write_bytes("t.npy", file.bytes, file.size);
        assert_message(read_once("t.npy", &columns, &data), BB_EDATA, bad[i].message);
    }
    assert_message(read_text("t.npy", "task,y\n", &columns, &data), BB_EDATA,
                   "t.npy: this is no NumPy array");
    assert_message(read_text("t.npy", "", &columns, &data), BB_EDATA,
                   "t.npy: this is no NumPy array");
    const double odd[] = {1, 2, NAN, 4}, task[] = {1, 2, 3, 4, INFINITY, 5};
    npy_numbers(&file, "<f8", "False", "(1, 4)", odd, 4);
    write_bytes("t.npy", file.bytes, file.size);
    assert_message(read_once("t.npy", &columns, &data), BB_EDATA,
                   "t.npy: the table, row 0, column 2: expected a finite number, found "
                   "nan");
    npy_numbers(&file, "<f4", "False", "(2, 3)", task, 6);
    write_bytes("t.npy", file.bytes, file.size);
    const bb_read_options second = {.task = "1", .target = "0"};
    assert_message(read_once("t.npy", &second, &data), BB_EDATA,
                   "t.npy: the table, row 1: expected a task's name or number");
}

static void bad_archives(void **state) {
    (void)state;
    static zip z;
    static blob file, good;
    const int64_t number[] = {20, -10, 20};
    const bb_read_options none = {.target = "z"}, ignore = {.ignore = "1"};
    bb_dataset data;
    archive(&z, "<i8", number, sizeof number, true);
    zip_write(&z, "t.npz", &good);
    assert_message(bb_read("t.npz", &none, &data), BB_EDATA,
                   "t.npz: no array \"z\" in the archive");
    assert_message(bb_read("t.npz", &ignore, &data), BB_EUSAGE,
                   "t.npz: --ignore does not apply to .npz files");
    for (size_t cut = 4; cut < good.size; cut += 7) {
        write_bytes("t.npz", good.bytes, cut);
        assert_message(read_once("t.npz", NULL, &data), BB_EDATA,
                       "t.npz: the archive is damaged or cut off (no directory)");
    }
    file = good;
    file.bytes[14] ^= 1; /* only the directory's checksum counts */
    write_bytes("t.npz", file.bytes, file.size);
    assert_ok(read_once("t.npz", NULL, &data));
    bb_dataset_free(&data);
    file = good;
    file.bytes[z.file.size + 16] ^= 1;
    write_bytes("t.npz", file.bytes, file.size);
    assert_message(read_once("t.npz", NULL, &data), BB_EDATA,
                   "t.npz: the archive is damaged or cut off (a member's checksum)");
    file = good;
    file.bytes[z.file.size + 27] = 9; /* 150 MB out of 100 bytes */
    write_bytes("t.npz", file.bytes, file.size);
    assert_message(read_once("t.npz", NULL, &data), BB_EDATA,
                   "t.npz: the archive is damaged or cut off (a member's size)");
    const int64_t two[] = {20, -10};
    static blob member;
    npy(&member, 1, "<i8", "False", "(2,)", two, sizeof two);
    zip other = {0};
    const double x[] = {1, 2, 3}, y[] = {1, 2, 3};
    zip_add(&other, "task.npy", &member, false);
    npy_numbers(&member, "<f8", "False", "(3, 1)", x, 3);
    zip_add(&other, "X.npy", &member, false);
    npy_numbers(&member, "<f8", "False", "(3,)", y, 3);
    zip_add(&other, "y.npy", &member, false);
    zip_write(&other, "t.npz", &file);
    assert_message(read_once("t.npz", NULL, &data), BB_EDATA,
                   "t.npz: task: expected 3 elements, one a row of X, found 2 x 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),       cmocka_unit_test(column_lists_and_signs),
        cmocka_unit_test(archives),     cmocka_unit_test(bad_arrays),
        cmocka_unit_test(bad_archives),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
