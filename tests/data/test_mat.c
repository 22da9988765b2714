/* MATLAB files, written by libmatio in both versions. */
#include "data/files.h"

#include <matio.h>

typedef struct content {
    enum mat_ft version;
    enum matio_compression compression;
} content;

static const content versions[] = {{MAT_FT_MAT5, MAT_COMPRESSION_NONE},
                                   {MAT_FT_MAT5, MAT_COMPRESSION_ZLIB},
                                   {MAT_FT_MAT73, MAT_COMPRESSION_NONE}};
enum { VERSIONS = sizeof versions / sizeof *versions };

static matvar_t *matrix(enum matio_classes class, enum matio_types type, size_t rows,
                        size_t columns, const void *data) {
    size_t size[2] = {rows, columns};
    matvar_t *const made =
        Mat_VarCreate(NULL, class, type, 2, size, (void *)(uintptr_t)data, 0);
    assert_non_null(made);
    return made;
}

static matvar_t *doubles(size_t rows, size_t columns, const double *data) {
    return matrix(MAT_C_DOUBLE, MAT_T_DOUBLE, rows, columns, data);
}

/* Writes one variable: `count` cells, which are freed with it. */
static void put_cells(mat_t *file, const char *name, size_t count, matvar_t **cell,
                      enum matio_compression compression) {
    size_t size[2] = {1, count};
    matvar_t *const array =
        Mat_VarCreate(name, MAT_C_CELL, MAT_T_CELL, 2, size, (void *)cell, 0);
    assert_non_null(array);
    assert_int_equal(Mat_VarWrite(file, array, compression), 0);
    Mat_VarFree(array);
}

/* t.mat with the cells of X and Y. */
static void write_mat(content how, const char *x_name, size_t xs, matvar_t **x,
                      const char *y_name, size_t ys, matvar_t **y) {
    mat_t *const file = Mat_CreateVer("t.mat", NULL, how.version);
    assert_non_null(file);
    put_cells(file, x_name, xs, x, how.compression);
    put_cells(file, y_name, ys, y, how.compression);
    Mat_Close(file);
}

static const double four[] = {1, 2, 3, 4}, six[] = {5, 6, 7, 8, 9, 10}, two[] = {-1, 1},
                    three[] = {1, 1, -1}, one[] = {0.5};

static void dense(void **state) {
    (void)state;
    for (size_t v = 0; v < VERSIONS; v++) {
        matvar_t *x[] = {doubles(2, 2, four), doubles(3, 2, six)};
        matvar_t *y[] = {doubles(2, 1, two), doubles(1, 3, three)};
        bb_dataset data;
        write_mat(versions[v], "X", 2, x, "Y", 2, y);
        assert_ok(read_once("t.mat", NULL, &data));
        assert_string_equal(data.feature_name[1], "x2");
        assert_string_equal(data.target_name, "Y");
        assert_int_equal(data.target_column, 0);
        assert_int_equal(data.line[2], 1);
        assert_rows(data, "1: -1 (1 3) 1 (2 4); 2: 1 (5 8) 1 (6 9) -1 (7 10)");
    }
}

#define INTEGERS(class, type, name, least, most)                                       \
    {                                                                                  \
        const type number[] = {(type)(least), (type)(most)};                           \
        matvar_t *x[] = {matrix(MAT_C_##name, MAT_T_##name, 1, 2, number)};            \
        matvar_t *y[] = {matrix(MAT_C_##name, MAT_T_##name, 1, 1, number + 1)};        \
        bb_dataset data;                                                               \
        write_mat(versions[v], "X", 1, x, "Y", 1, y);                                  \
        assert_ok(read_once("t.mat", NULL, &data));                                    \
        assert_true(data.x[0] == (double)number[0] && data.x[1] == (double)number[1]); \
        assert_true(data.y[0] == (double)number[1]);                                   \
        bb_dataset_free(&data);                                                        \
    }

static void every_class(void **state) {
    (void)state;
    for (size_t v = 0; v < VERSIONS; v++) {
        INTEGERS(class, int8_t, INT8, INT8_MIN, INT8_MAX)
        INTEGERS(class, uint8_t, UINT8, 0, UINT8_MAX)
        INTEGERS(class, int16_t, INT16, INT16_MIN, INT16_MAX)
        INTEGERS(class, uint16_t, UINT16, 0, UINT16_MAX)
        INTEGERS(class, int32_t, INT32, INT32_MIN, INT32_MAX)
        INTEGERS(class, uint32_t, UINT32, 0, UINT32_MAX)
        INTEGERS(class, int64_t, INT64, INT64_MIN, INT64_MAX)
        INTEGERS(class, uint64_t, UINT64, 0, UINT64_MAX)
        INTEGERS(class, float, SINGLE, -0.1f, 1e30f)
        INTEGERS(class, double, DOUBLE, -0.1, 1e300)
    }
}

/* [1 0; 0 2; 3 4] in compressed columns. */
static matvar_t *sparse_matrix(void) {
    static mat_uint32_t row[] = {0, 2, 1, 2}, offset[] = {0, 2, 4};
    static double value[] = {1, 3, 2, 4};
    static mat_sparse_t sparse = {.nzmax = 4,
                                  .ir = row,
                                  .nir = 4,
                                  .jc = offset,
                                  .njc = 3,
                                  .ndata = 4,
                                  .data = value};
    size_t size[2] = {3, 2};
    return Mat_VarCreate(NULL, MAT_C_SPARSE, MAT_T_DOUBLE, 2, size, &sparse,
                         MAT_F_DONT_COPY_DATA);
}

static void sparse(void **state) {
    (void)state;
    for (size_t v = 0; v < VERSIONS; v++) {
        matvar_t *x[] = {sparse_matrix(), sparse_matrix()};
        matvar_t *y[] = {doubles(3, 1, three), doubles(3, 1, three)};
        bb_dataset data;
        write_mat(versions[v], "X", 2, x, "Y", 2, y);
        assert_ok(read_once("t.mat", NULL, &data));
        assert_int_equal(data.features, 2);
        assert_rows(data, "1: 1 (0:1) 1 (1:2) -1 (0:3 1:4); "
                          "2: 1 (0:1) 1 (1:2) -1 (0:3 1:4)");
    }
}

static void other_names_and_empty_cells(void **state) {
    (void)state;
    const bb_read_options names = {.features = "feature", .target = "label"};
    for (size_t v = 0; v < VERSIONS; v++) {
        matvar_t *x[] = {doubles(0, 0, NULL), doubles(2, 2, four), doubles(0, 2, NULL)};
        matvar_t *y[] = {doubles(0, 0, NULL), doubles(2, 1, two), doubles(0, 1, NULL)};
        bb_dataset data;
        write_mat(versions[v], "feature", 3, x, "label", 3, y);
        assert_message(bb_read("t.mat", NULL, &data), BB_EDATA,
                       "t.mat: no variable \"X\" for --features; the file has "
                       "\"feature\", \"label\"");
        assert_ok(read_once("t.mat", &names, &data));
        assert_int_equal(data.tasks, 3);
        assert_rows(data, "1:; 2: -1 (1 3) 1 (2 4); 3:");
    }
}

static void shapes_that_do_not_fit(void **state) {
    (void)state;
    for (size_t v = 0; v < VERSIONS; v++) {
        bb_dataset data;
        matvar_t *x1[] = {doubles(2, 2, four)}, *y1[] = {doubles(3, 1, three)};
        write_mat(versions[v], "X", 1, x1, "Y", 1, y1);
        assert_message(read_once("t.mat", NULL, &data), BB_EDATA,
                       "t.mat: X{1} has 2 rows, but Y{1} is 3 x 1; expected one target "
                       "a row");
        matvar_t *x2[] = {doubles(2, 2, four), doubles(2, 3, six)},
                 *y2[] = {doubles(2, 1, two), doubles(2, 1, two)};
        write_mat(versions[v], "X", 2, x2, "Y", 2, y2);
        assert_message(read_once("t.mat", NULL, &data), BB_EDATA,
                       "t.mat: X{2} has 3 columns, the tasks before have 2");
        matvar_t *x3[] = {doubles(2, 2, four)},
                 *y3[] = {doubles(2, 1, two), doubles(2, 1, two)};
        write_mat(versions[v], "X", 1, x3, "Y", 2, y3);
        assert_message(read_once("t.mat", NULL, &data), BB_EDATA,
                       "t.mat: X has 1 cell, but Y has 2");
        matvar_t *x4[] = {sparse_matrix(), doubles(2, 2, four)},
                 *y4[] = {doubles(3, 1, three), doubles(2, 1, two)};
        write_mat(versions[v], "X", 2, x4, "Y", 2, y4);
        assert_message(read_once("t.mat", NULL, &data), BB_EDATA,
                       "t.mat: X{2} is dense, the tasks before are not");
        matvar_t *x5[] = {doubles(0, 2, NULL)}, *y5[] = {doubles(0, 1, NULL)};
        write_mat(versions[v], "X", 1, x5, "Y", 1, y5);
        assert_message(read_once("t.mat", NULL, &data), BB_EDATA,
                       "t.mat: \"X\" has no rows");
    }
}

static void numbers_that_are_none(void **state) {
    (void)state;
    const double bad[] = {1, 2, NAN, 4}, infinite[] = {1, INFINITY};
    const bb_read_options keep = {.keep_missing = true};
    for (size_t v = 0; v < VERSIONS; v++) {
        bb_dataset data;
        matvar_t *x1[] = {doubles(2, 2, bad)}, *y1[] = {doubles(2, 1, two)};
        write_mat(versions[v], "X", 1, x1, "Y", 1, y1);
        assert_message(bb_read("t.mat", NULL, &data), BB_EDATA,
                       "t.mat: X{1}, row 1, column 2: expected a finite number, found "
                       "nan");
        assert_ok(read_once("t.mat", &keep, &data));
        assert_true(isnan(data.x[1]) && data.x[3] == 4);
        bb_dataset_free(&data);
        matvar_t *x2[] = {doubles(2, 2, four)}, *y2[] = {doubles(2, 1, infinite)};
        write_mat(versions[v], "X", 1, x2, "Y", 1, y2);
        assert_message(read_once("t.mat", &keep, &data), BB_EDATA,
                       "t.mat: Y{1}, row 2, column 1: expected a finite number, found "
                       "inf");
    }
}

static void cells_of_other_kinds(void **state) {
    (void)state;
    for (size_t v = 0; v < VERSIONS; v++) {
        bb_dataset data;
        matvar_t *x1[] = {matrix(MAT_C_CHAR, MAT_T_UINT8, 1, 3, "abc")},
                 *y1[] = {doubles(1, 1, one)};
        write_mat(versions[v], "X", 1, x1, "Y", 1, y1);
        assert_message(read_once("t.mat", NULL, &data), BB_EDATA,
                       "t.mat: X{1}: expected a matrix of numbers");
        size_t cube[3] = {1, 2, 2};
        matvar_t *x2[] = {Mat_VarCreate(NULL, MAT_C_DOUBLE, MAT_T_DOUBLE, 3, cube,
                                        (void *)(uintptr_t)four, 0)},
                 *y2[] = {doubles(1, 1, one)};
        write_mat(versions[v], "X", 1, x2, "Y", 1, y2);
        assert_message(read_once("t.mat", NULL, &data), BB_EDATA,
                       "t.mat: X{1}: expected 2 dimensions, found 3");
    }
}

static void files_that_are_no_cells(void **state) {
    (void)state;
    const bb_read_options task = {.task = "t"};
    size_t size[2] = {2, 2};
    bb_dataset data;
    mat_t *const file = Mat_CreateVer("t.mat", NULL, MAT_FT_MAT5);
    matvar_t *const plain = Mat_VarCreate("X", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size,
                                          (void *)(uintptr_t)four, 0);
    assert_int_equal(Mat_VarWrite(file, plain, MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(plain);
    Mat_Close(file);
    assert_message(bb_read("t.mat", NULL, &data), BB_EDATA,
                   "t.mat: \"X\": expected a cell array, one cell a task");
    assert_message(
        read_once("t.mat", &task, &data), BB_EUSAGE,
        "t.mat: the tasks of a MATLAB file are its cells; --task and --ignore "
        "do not apply");
    assert_message(read_text("t.mat", "task,y\n", NULL, &data), BB_EDATA,
                   "t.mat: the file is no MATLAB file, or damaged");
    assert_fails(bb_read("nowhere.mat", NULL, &data), BB_EIO, "nowhere.mat: ");
}

/* Cut anywhere, or with bytes changed, a file is refused or read, and nothing is
 * printed. */
static void damaged_files(void **state) {
    (void)state;
    static unsigned char bytes[1 << 16];
    for (size_t v = 0; v < VERSIONS; v++) {
        matvar_t *x[] = {doubles(2, 2, four), doubles(3, 2, six)};
        matvar_t *y[] = {doubles(2, 1, two), doubles(3, 1, three)};
        write_mat(versions[v], "X", 2, x, "Y", 2, y);
        FILE *const file = fopen("t.mat", "rb");
        const size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        size_t refused = 0;
        for (size_t i = 0; i < 24; i++) {
            bb_dataset data;
            write_bytes("t.mat", bytes, size * i / 24);
            const bb_status status = read_once("t.mat", NULL, &data);
            refused += status == BB_EDATA;
            if (!status) bb_dataset_free(&data);
        }
        assert_true(refused >= 20);
    }
}

/* 60000 x 60000 cells are promised: libmatio alone would look for minutes. */
static void sizes_that_are_wrong(void **state) {
    (void)state;
    static const uint32_t size[] = {5, 8, 1, 2}, wrong[] = {60000, 60000};
    static unsigned char bytes[1 << 16];
    matvar_t *x[] = {doubles(2, 2, four), doubles(3, 2, six)};
    matvar_t *y[] = {doubles(2, 1, two), doubles(3, 1, three)};
    bb_dataset data;
    write_mat(versions[0], "X", 2, x, "Y", 2, y);
    FILE *const file = fopen("t.mat", "rb");
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    size_t at = 0;
    while (memcmp(bytes + at, size, sizeof size) != 0) at++;
    memcpy(bytes + at + 8, wrong, sizeof wrong);
    write_bytes("t.mat", bytes, length);
    assert_fails(read_once("t.mat", NULL, &data), BB_EDATA, "damaged");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense),
        cmocka_unit_test(every_class),
        cmocka_unit_test(sparse),
        cmocka_unit_test(other_names_and_empty_cells),
        cmocka_unit_test(shapes_that_do_not_fit),
        cmocka_unit_test(numbers_that_are_none),
        cmocka_unit_test(cells_of_other_kinds),
        cmocka_unit_test(files_that_are_no_cells),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(sizes_that_are_wrong),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
