/* Parts of a CSV file, however many: every row is in one of them, in the order of the file,
 * under its own line number; or the file is not cut at all. */
#include "data/slice.h"
#include "files.h"

#include <stdlib.h>

enum { MOST = 9 };
static const char name[] = "parts.csv";

static void look(size_t count, bb_slice *slice) {
    for (size_t k = 0; k < count; k++)
        assert_ok(bb_slice_look(name, &(bb_read_options){0}, k, count, &slice[k]));
    assert_ok(bb_slices_join(name, count, slice));
}

/* Rows of the parts, by their lines: what tasks and targets the whole has there. */
static void check_parts(const bb_dataset *whole, size_t count) {
    bb_slice slice[MOST];
    size_t rows = 0, last = 0;
    look(count, slice);
    for (size_t k = 0; k < count; k++) {
        const bb_read_options o = {.slice = &slice[k]};
        bb_dataset part;
        assert_false(slice[k].whole);
        assert_ok(bb_read(name, &o, &part));
        assert_int_equal(part.features, whole->features);
        size_t most = last;
        for (size_t i = 0; i < part.tasks; i++)
            for (size_t r = part.first[i]; r < part.first[i + 1]; r++, rows++) {
                size_t s = 0;
                while (s < whole->rows && whole->line[s] != part.line[r]) s++;
                assert_true(s < whole->rows && part.line[r] > last);
                assert_true(part.y[r] == whole->y[s]);
                assert_memory_equal(part.x + r * part.features,
                                    whole->x + s * whole->features,
                                    part.features * sizeof *part.x);
                size_t task = 0;
                while (whole->first[task + 1] <= s) task++;
                assert_string_equal(part.task_name[i], whole->task_name[task]);
                if (part.line[r] > most) most = part.line[r];
            }
        last = most;
        bb_dataset_free(&part);
    }
    assert_int_equal(rows, whole->rows);
}

static void test_parts(void **state) {
    (void)state;
    static const char *const texts[] = {
        "task,x,y\na,1,2\n",
        "task,x,y\na,1,2\nb,3,4\na,5,6\nc,7,8\nb,9,10",
        "\xef\xbb\xbf\"task\",\"x\",\"y\"\r\na,1,2\r\nb,3,4\r\n\r\na,5,6\r\n",
        "\n\ntask,x,y\n\na,1,2\n\n\nb,3,4\n",
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
        "task,x,y\ra,1,2\rc,3,4\r",
        "\"ta\nsk\",x,y\na,1,2\n",
        "\xef\xbb\xbf\"ta\nsk\",x,y\na,1,2\n",
    };
    bb_slice slice[MOST];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t count = 1; count <= MOST; count++) {
            write_text(name, texts[i]);
            look(count, slice);
            for (size_t k = 0; k < count; k++) assert_true(slice[k].whole);
        }
    write_gz(name, "task,x,y\na,1,2\n", 15);
    look(2, slice);
    assert_true(slice[1].whole);
    unlink(name);
    assert_fails(bb_slice_look(name, &(bb_read_options){0}, 0, 2, slice), BB_EIO,
                 "No such file");
}

/* Ranks that see different files under the same name. */
static void test_different_files(void **state) {
    (void)state;
    bb_slice slice[2];
    const bb_read_options o = {0};
    write_text(name, "task,x,y\na,1,2\nb,3,4\n");
    assert_ok(bb_slice_look(name, &o, 0, 2, &slice[0]));
    write_text(name, "task,x,y\na,1,2\nb,3,4\nc,5,6\n");
    assert_ok(bb_slice_look(name, &o, 1, 2, &slice[1]));
    assert_fails(bb_slices_join(name, 2, slice), BB_EDATA, "not the same file");
    unlink(name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_long_file),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_different_files),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
