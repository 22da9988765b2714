/* Parts of a CSV or NumPy file, however many: every row is in one of them, in the order of
 * the file, under its own line number; or the file is not cut at all. */
#include "data/slice.h"
#include "numpy_files.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 9 };
static const char *name = "parts.csv";
static bb_read_options how;

static void cut(size_t count, bb_slice *slice) {
    for (size_t k = 0; k < count; k++)
        assert_ok(bb_slice_cut(name, &how, k, count, &slice[k]));
    assert_ok(bb_slices_join(name, count, slice));
}

/* Every part by itself, as several processes read them; false: the file has none. */
static bool read_parts(size_t count, bb_slice *slice, bb_dataset *part) {
    cut(count, slice);
    for (size_t k = 0; k < count; k++) part[k] = (bb_dataset){0};
    for (size_t k = 0; k < count && !slice[k].whole; k++) {
        bb_read_options o = how;
        o.slice = &slice[k];
        slice[k].line = 1;
        const bb_status status = bb_read(name, &o, &part[k]);
        /* no column is called as the options say: all parts see that */
        if (status == BB_EUSAGE) continue;
        assert_true(!status || (status == BB_EDATA && slice[k].failed));
    }
    assert_ok(bb_slices_join(name, count, slice));
    for (size_t k = 0; k < count; k++) bb_slice_number(&slice[k], &part[k]);
    return !slice[0].whole;
}

static void close_parts(size_t count, bb_dataset *part) {
    for (size_t k = 0; k < count; k++) bb_dataset_free(&part[k]);
}

/* Rows of the parts, by their lines: what tasks and targets the whole has there. */
static void check_parts(const bb_dataset *whole, size_t count) {
    bb_slice slice[MOST];
    bb_dataset parts[MOST];
    size_t rows = 0, least = 0;
    assert_true(read_parts(count, slice, parts));
    for (size_t k = 0; k < count; k++) {
        const bb_dataset part = parts[k];
        assert_false(slice[k].failed);
        assert_int_equal(part.features, whole->features);
        size_t next = least;
        for (size_t i = 0; i < part.tasks; i++)
            for (size_t r = part.first[i]; r < part.first[i + 1]; r++, rows++) {
                size_t s = 0;
                while (s < whole->rows && whole->line[s] != part.line[r]) s++;
                assert_true(s < whole->rows && part.line[r] >= least);
                assert_true(part.y[r] == whole->y[s]);
                assert_memory_equal(part.x + r * part.features,
                                    whole->x + s * whole->features,
                                    part.features * sizeof *part.x);
                size_t task = 0;
                while (whole->first[task + 1] <= s) task++;
                assert_string_equal(part.task_name[i], whole->task_name[task]);
                if (part.line[r] >= next) next = part.line[r] + 1;
            }
        least = next;
    }
    assert_int_equal(rows, whole->rows);
    close_parts(count, parts);
}

static void test_parts(void **state) {
    (void)state;
    static const char *const texts[] = {
        "task,x,y\na,1,2\n",
        "task,x,y\na,1,2\nb,3,4\na,5,6\nc,7,8\nb,9,10",
        "\xef\xbb\xbf\"task\",\"x\",\"y\"\r\na,1,2\r\nb,3,4\r\n\r\na,5,6\r\n",
        "\n\ntask,x,y\n\na,1,2\n\n\nb,3,4\n",
        "task,x,y\ra,1,2\rc,3,4\r",
        "task,x,y\na,1,2\rb,3,4\n\"c\rd\",5,6\r\ne,7,8\n",
        "task,x,y\n\"a, b\",1,2\n\"say \"\"hi\"\"\",3,4\nplain\"quote,5,6\nc,7,8\n",
        "a very long name of a column that is longer than all the rows "
        "together,task,y\n"
        "1,a,2\n3,b,4\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bb_dataset whole;
        write_text(name, texts[i]);
        assert_ok(bb_read(name, NULL, &whole));
        for (size_t count = 1; count <= MOST; count++) check_parts(&whole, count);
        bb_dataset_free(&whole);
    }
    unlink(name);
}

/* Longer than what is read at once. */
static void test_long_file(void **state) {
    (void)state;
    FILE *const file = fopen(name, "wb");
    assert_non_null(file);
    fputs("task,x,y\n", file);
    for (int r = 0; r < 4000; r++)
        fprintf(file, r % 7 ? "t%d,%d,%d\n" : "\"t%d\",%d,%d\n", r % 13, r,
                r * (r % 3 ? 1 : 10000));
    for (int k = 0; k < 300000; k++) putc('\n', file);
    fputs("end,1,2\n", file);
    assert_int_equal(fclose(file), 0);
    bb_dataset whole;
    assert_ok(bb_read(name, NULL, &whole));
    for (size_t count = 1; count <= 4; count++) check_parts(&whole, count);
    bb_dataset_free(&whole);
    unlink(name);
}

/* What one process has to read: ends of lines that are not ends of rows, and others. */
static void test_whole(void **state) {
    (void)state;
    static const char *const texts[] = {
        "task,x,y\n\"a\nb\",1,2\nc,3,4\n",
        "task,x,y\na,1,2\nc,3,4\n\"d\ne,\nf\",5,6\n",
        "\"ta\nsk\",x,y\na,1,2\n",
        "\xef\xbb\xbf\"ta\nsk\",x,y\na,1,2\n",
    };
    bb_slice slice[MOST];
    bb_dataset part[MOST];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t count = 1; count <= MOST; count++) {
            write_text(name, texts[i]);
            assert_false(read_parts(count, slice, part));
            for (size_t k = 0; k < count; k++) assert_true(slice[k].whole);
            close_parts(count, part);
        }
    write_gz(name, "task,x,y\na,1,2\n", 15);
    cut(2, slice);
    assert_true(slice[1].whole);
    unlink(name);
    assert_fails(bb_slice_cut(name, &(bb_read_options){0}, 0, 2, slice), BB_EIO,
                 "No such file");
}

/* The first part that has something wrong says in which line, when it is read again. */
static void test_bad_row(void **state) {
    (void)state;
    bb_slice slice[MOST];
    bb_dataset part[MOST];
    write_text(name, "\ntask,x,y\na,1,2\n\nb,3,4\n\"c\",5,6\nd,bad,7\ne,8,9\nf,,1\n");
    for (size_t count = 1; count <= MOST; count++) {
        size_t k = 0;
        assert_true(read_parts(count, slice, part));
        while (!slice[k].failed) k++;
        const bb_read_options o = {.slice = &slice[k]};
        assert_fails(bb_read(name, &o, &part[k]), BB_EDATA,
                     "parts.csv:7:2 (column \"x\"): expected a number, found \"bad\"");
        close_parts(count, part);
    }
    unlink(name);
}

/* Ranks that see different files under the same name. */
static void test_different_files(void **state) {
    (void)state;
    bb_slice slice[2];
    const bb_read_options o = {0};
    write_text(name, "task,x,y\na,1,2\nb,3,4\n");
    assert_ok(bb_slice_cut(name, &o, 0, 2, &slice[0]));
    write_text(name, "task,x,y\na,1,2\nb,3,4\nc,5,6\n");
    assert_ok(bb_slice_cut(name, &o, 1, 2, &slice[1]));
    assert_fails(bb_slices_join(name, 2, slice), BB_EDATA, "not the same file");
    unlink(name);
}

/* -- NumPy -- */

enum { TABLE_ROWS = 5 };

/* task, y, and two features of five rows */
static const double table[TABLE_ROWS][4] = {
    {3, 1, .5, .25}, {1, 2, 1, -1}, {3, 3, 2, 4}, {2, 4, 8, 16}, {1, 5, .75, 7}};

static void write_table(const char *order) {
    static blob b;
    name = "table.npy";
    npy_numbers(&b, "<f8", order, "(5, 4)", &table[0][0], 4 * TABLE_ROWS);
    write_bytes(name, b.bytes, b.size);
}

/* Only its arrays whose numbers are in `packed` are. */
static void write_archive(unsigned packed, double spoilt, blob *file) {
    static zip z;
    static blob b;
    double column[3][2 * TABLE_ROWS];
    for (size_t r = 0; r < TABLE_ROWS; r++) {
        column[0][2 * r] = table[r][2];
        column[0][2 * r + 1] = r == 3 ? spoilt : table[r][3];
        column[1][r] = table[r][1];
        column[2][r] = table[r][0];
    }
    z = (zip){0};
    npy_numbers(&b, "<f4", "False", "(5, 2)", column[0], 2 * TABLE_ROWS);
    zip_add(&z, "X.npy", &b, packed & 1);
    npy_numbers(&b, ">f8", "False", "(5,)", column[1], TABLE_ROWS);
    zip_add(&z, "y.npy", &b, packed & 2);
    npy_numbers(&b, "<i4", "False", "(5,)", column[2], TABLE_ROWS);
    zip_add(&z, "task.npy", &b, packed & 4);
    name = "table.npz";
    zip_write(&z, name, file);
}

static void check_all_parts(void) {
    bb_dataset whole;
    assert_ok(bb_read(name, &how, &whole));
    for (size_t count = 1; count <= MOST; count++) check_parts(&whole, count);
    bb_dataset_free(&whole);
}

/* One process reads it. */
static void check_whole(void) {
    bb_slice slice[MOST];
    bb_dataset part[MOST];
    for (size_t count = 1; count <= MOST; count++) {
        assert_false(read_parts(count, slice, part));
        for (size_t k = 0; k < count; k++) assert_true(slice[k].whole);
        close_parts(count, part);
    }
}

static void test_numpy(void **state) {
    (void)state;
    static blob file;
    write_archive(0, 16, &file);
    check_all_parts();
    for (unsigned packed = 1; packed < 8; packed++) {
        write_archive(packed, 16, &file);
        check_whole();
    }
    write_archive(0, NAN, &file); /* a number that is none, in one part */
    check_whole();
    write_archive(0, 16, &file);
    for (size_t k = 0; k < file.size; k += 7) { /* damaged anywhere */
        bb_dataset data;
        file.bytes[k] ^= 0x40;
        write_bytes(name, file.bytes, file.size);
        const bb_status status = bb_read(name, &how, &data);
        if (status)
            check_whole();
        else
            check_all_parts(); /* where nobody looks */
        if (!status) bb_dataset_free(&data);
        file.bytes[k] ^= 0x40;
    }
    write_bytes(name, file.bytes, file.size / 2);
    check_whole();
    unlink(name);
    how = (bb_read_options){.task = "0", .target = "1"};
    write_table("False");
    check_all_parts();
    write_table("True");
    check_whole();
    unlink(name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),           cmocka_unit_test(test_long_file),
        cmocka_unit_test(test_whole),           cmocka_unit_test(test_bad_row),
        cmocka_unit_test(test_different_files), cmocka_unit_test(test_numpy),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
