#include "base/random.h"
#include "data/files.h"

static const bb_read_options defaults = {0};

static void plain(void **state) {
    (void)state;
    bb_dataset data;
    assert_ok(
        read_text("t.csv", "task,y,x1,x2\n1,2,3,4\n1,-5,.5,6e2\n", &defaults, &data));
    assert_int_equal(data.tasks, 1);
    assert_int_equal(data.rows, 2);
    assert_int_equal(data.features, 2);
    assert_string_equal(data.feature_name[0], "x1");
    assert_string_equal(data.feature_name[1], "x2");
    assert_string_equal(data.target_name, "y");
    assert_string_equal(data.source, "t.csv");
    assert_int_equal(data.target_column, 2);
    assert_int_equal(data.line[1], 3);
    assert_rows(data, "1: 2 (3 4) -5 (0.5 600)");
}

static void rows_are_grouped_by_task(void **state) {
    (void)state;
    bb_dataset data;
    assert_ok(read_text("t.csv",
                        "x1,task,y\n1,b,10\n2,a,20\n3,b,30\n4,c,40\n5,a,50\n6,b,60\n",
                        NULL, &data));
    assert_int_equal(data.line[0], 3);
    assert_int_equal(data.line[2], 2);
    assert_int_equal(data.line[4], 7);
    assert_int_equal(data.target_column, 3);
    assert_rows(data, "a: 20 (2) 50 (5); b: 10 (1) 30 (3) 60 (6); c: 40 (4)");
}

/* Tasks come as blocks of 1 to 5 rows, in the order of 17 i modulo 60, and the first 20 of
 * them once more: rows are moved by whole blocks, which must not run into each other. */
static void blocks_of_rows_are_grouped(void **state) {
    (void)state;
    enum { BLOCKS = 80, TASKS = 60, MOST = 5 };
    char text[BLOCKS * MOST * 24], *at = text;
    size_t told[TASKS] = {0}, row = 0;
    bb_dataset data;
    at += sprintf(at, "task,y,x1\n");
    for (size_t b = 0; b < BLOCKS; b++)
        for (size_t k = 0; k <= b * b % MOST; k++) {
            const size_t task = 17 * b % TASKS;
            at += sprintf(at, "t%zu,%zu,%zu\n", task, told[task]++, task);
        }
    assert_ok(read_text("t.csv", text, NULL, &data));
    assert_int_equal(data.tasks, TASKS);
    for (size_t i = 0; i < TASKS; i++) {
        assert_int_equal(data.first[i + 1] - data.first[i], told[i]);
        for (size_t k = 0; k < told[i]; k++, row++) {
            assert_true(data.x[row] == (double)i && data.y[row] == (double)k);
            assert_true(k == 0 || data.line[row] > data.line[row - 1]);
        }
    }
    bb_dataset_free(&data);
}

static void columns_by_options(void **state) {
    (void)state;
    static const char text[] =
        "id,school,score,a,b,city\n7,one,1,2,3,Rome\n8,two,4,5,6,Bonn\n";
    const bb_read_options ignore = {
        .task = "school", .target = "score", .ignore = "id,city"};
    const bb_read_options features = {
        .task = "school", .target = "score", .features = "b,a"};
    const bb_read_options one = {
        .task = "school", .target = "score", .features = "id,a,b", .ignore = "id,a"};
    bb_dataset data;
    assert_ok(read_text("t.csv", text, &ignore, &data));
    assert_rows(data, "one: 1 (2 3); two: 4 (5 6)");
    assert_ok(read_text("t.csv", text, &features, &data));
    assert_string_equal(data.feature_name[0], "a");
    assert_rows(data, "one: 1 (2 3); two: 4 (5 6)");
    assert_ok(read_text("t.csv", text, &one, &data));
    assert_rows(data, "one: 1 (3); two: 4 (6)");
}

/* Every way in which the same table is written in the wild. */
static void dialects(void **state) {
    (void)state;
    static const char *const text[] = {
        "task,y,x1,x2\na b,1,2,3\nc,4,5,6",
        "task,y,x1,x2\r\na b,1,2,3\r\nc,4,5,6\r\n",
        "task,y,x1,x2\ra b,1,2,3\rc,4,5,6\r",
        "\xef\xbb\xbftask,y,x1,x2\na b,1,2,3\nc,4,5,6\n",
        "\"task\",\"y\",\"x1\",\"x2\"\n\"a b\",\"1\",\"2\",\"3\"\n\"c\",4,5,6\n",
        "\n\ntask, y ,x1,x2\n\na b, 1,2 ,\t3\n\n\n\tc ,4.0,+5,6e0\n\n",
        "task,y,x1,x2\na b,1,0.2e1,30E-1\nc,0004,5.,00000000000000000000000000006\n"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        bb_dataset data;
        assert_ok(read_text("t.csv", text[i], NULL, &data));
        assert_rows(data, "a b: 1 (2 3); c: 4 (5 6)");
    }
}

static void quotes(void **state) {
    (void)state;
    bb_dataset data;
    assert_ok(read_text("t.csv",
                        "task,y,\"a,\"\"b\"\"\",c\n"
                        "\"one\ntwo\",1,2,3\n"
                        "\"say \"\"no\"\"\",\"4\",5,6\n"
                        "\"\"\"\",7,8,9\n",
                        NULL, &data));
    assert_string_equal(data.feature_name[0], "a,\"b\"");
    assert_string_equal(data.task_name[0], "\"");
    assert_string_equal(data.task_name[1], "one\ntwo");
    assert_string_equal(data.task_name[2], "say \"no\"");
    assert_int_equal(data.line[1], 2); /* the line where a row begins */
    assert_int_equal(data.line[2], 4);
    assert_rows(data, "\": 7 (8 9); one\ntwo: 1 (2 3); say \"no\": 4 (5 6)");
}

static void missing_values_can_be_kept(void **state) {
    (void)state;
    const bb_read_options keep = {.keep_missing = true};
    bb_dataset data;
    assert_ok(read_text("t.csv", "task,y,x1,x2\n1,,NA,1\n1,2,nan,\"\"\n1,3, ,null\n",
                        &keep, &data));
    assert_true(isnan(data.y[0]));
    assert_true(isnan(data.x[0]) && data.x[1] == 1);
    for (size_t k = 2; k < 6; k++) assert_true(isnan(data.x[k]));
    bb_dataset_free(&data);
}

static void targets_can_be_absent(void **state) {
    (void)state;
    const bb_read_options optional = {.target_optional = true};
    bb_dataset data;
    assert_ok(read_text("t.csv", "task,x1\n1,2\n", &optional, &data));
    assert_null(data.target_name);
    assert_int_equal(data.target_column, 0);
    assert_true(isnan(data.y[0]));
    bb_dataset_free(&data);
    assert_ok(read_text("t.csv", "task,x1,y\n1,2,3\n", &optional, &data));
    assert_rows(data, "1: 3 (2)");
}

static void unnamed_columns_need_a_list(void **state) {
    (void)state;
    static const char text[] = "\"\",task,y,x1,\n1,a,2,3,9\n2,a,4,5,9\n";
    const bb_read_options list = {.features = "x1"};
    bb_dataset data;
    assert_message(read_text("t.csv", text, NULL, &data), BB_EDATA,
                   "t.csv:1:5: the column has no name; name it, or choose columns by "
                   "--features");
    assert_ok(read_text("t.csv", text, &list, &data));
    assert_rows(data, "a: 2 (3) 4 (5)");
}

/* As R and pandas write them. */
static void names_of_rows_are_left_out(void **state) {
    (void)state;
    bb_dataset data;
    assert_ok(read_text("t.csv", "\"\",task,y,x1\n\"r 1\",a,2,3\n\"r 2\",a,4,5\n", NULL,
                        &data));
    assert_int_equal(data.features, 1);
    assert_rows(data, "a: 2 (3) 4 (5)");
    assert_ok(read_text("t.csv", ",y,x1,task\n0,2,3,a\n1,4,5,a\n", NULL, &data));
    assert_rows(data, "a: 2 (3) 4 (5)");
    assert_message(read_text("t.csv", ",task,y\n0,a,2\n", NULL, &data), BB_EDATA,
                   "t.csv: no column is left to be a feature");
}

/* One cell after the other, so that no cell decides what another one means. */
static void yes_and_no_are_numbers(void **state) {
    (void)state;
    bb_dataset data;
    assert_ok(read_text(
        "t.csv", "task,y,x1,x2\na,yes,TRUE,3\na,No,false,\" yes \"\na,1,0.5,no\n", NULL,
        &data));
    assert_rows(data, "a: 1 (1 3) 0 (0 1) 1 (0.5 0)");
    assert_message(read_text("t.csv", "task,y,x1\na,1,yes\na,1,maybe\n", NULL, &data),
                   BB_EDATA,
                   "t.csv:3:3 (column \"x1\"): expected a number, found \"maybe\"");
}

/* A table of 400 KiB, larger than the reader's buffer, compressed and cut anywhere. */
static char *large_table(size_t *size) {
    const size_t room = 1 << 20;
    char *const text = malloc(room);
    size_t used = (size_t)snprintf(text, room, "task,y,x1,\"x\n2\"\n");
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 1, BB_FOR_TEST, 0, 0));
    for (size_t r = 0; used < 400 << 10; r++)
        used += (size_t)snprintf(text + used, room - used, "\"t,%zu\",%zu,%.17g,%g\n",
                                 r % 7, r, bb_random_normal(&random),
                                 bb_random_uniform(&random));
    bb_random_close(&random);
    *size = used;
    return text;
}

static void compressed_is_the_same(void **state) {
    (void)state;
    size_t size;
    char *const text = large_table(&size);
    bb_dataset a, b;
    write_bytes("t.csv", text, size);
    assert_ok(read_once("t.csv", NULL, &a));
    write_gz("t.csv", text, size); /* by its bytes, not its name */
    assert_ok(read_once("t.csv", NULL, &b));
    assert_true(a.rows > 8000);
    assert_int_equal(a.rows, b.rows);
    assert_memory_equal(a.x, b.x, a.rows * a.features * sizeof *a.x);
    assert_memory_equal(a.y, b.y, a.rows * sizeof *a.y);
    assert_memory_equal(a.line, b.line, a.rows * sizeof *a.line);
    bb_dataset_free(&a);
    bb_dataset_free(&b);
    free(text);
}

/* gzip members of random length one after the other: reads end anywhere. */
static void compressed_in_pieces(void **state) {
    (void)state;
    size_t size;
    char *const text = large_table(&size);
    bb_dataset whole;
    write_bytes("t.csv", text, size);
    assert_ok(read_once("t.csv", NULL, &whole));
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 2, BB_FOR_TEST, 0, 0));
    for (int round = 0; round < 5; round++) {
        for (size_t at = 0; at < size;) {
            const size_t left = size - at,
                         most = bb_random_below(&random, 4) ? 97 : 99999;
            size_t n = 1 + bb_random_below(&random, most);
            if (n > left) n = left;
            const gzFile file = gzopen("t.csv.gz", at ? "ab" : "wb");
            assert_non_null(file);
            assert_int_equal(gzwrite(file, text + at, (unsigned)n), n);
            assert_int_equal(gzclose(file), Z_OK);
            at += n;
        }
        bb_dataset data;
        assert_ok(read_once("t.csv.gz", NULL, &data));
        assert_int_equal(data.rows, whole.rows);
        assert_memory_equal(data.x, whole.x, data.rows * 2 * sizeof *data.x);
        bb_dataset_free(&data);
    }
    bb_random_close(&random);
    bb_dataset_free(&whole);
    free(text);
}

static size_t slurp(const char *name, unsigned char *bytes, size_t size) {
    FILE *const file = fopen(name, "rb");
    assert_non_null(file);
    const size_t length = fread(bytes, 1, size, file);
    fclose(file);
    return length;
}

static void truncated_gzip(void **state) {
    (void)state;
    static unsigned char bytes[1 << 20];
    size_t size;
    char *const text = large_table(&size);
    bb_dataset data;
    write_gz("t.csv.gz", text, size);
    const size_t length = slurp("t.csv.gz", bytes, sizeof bytes);
    for (size_t i = 1; i < 40; i++) {
        const size_t cut = i < 20 ? length - i : 2 + (length - 2) * (i - 20) / 20;
        write_bytes("t.csv.gz", bytes, cut);
        assert_fails(read_once("t.csv.gz", NULL, &data), BB_EDATA,
                     "the gzip file is cut off");
    }
    bytes[length - 6] ^= 1; /* the checksum */
    write_bytes("t.csv.gz", bytes, length);
    assert_fails(read_once("t.csv.gz", NULL, &data), BB_EDATA,
                 "the gzip file is damaged (incorrect data check)");
    bytes[length / 2] ^= 0xff;
    write_bytes("t.csv.gz", bytes, length);
    assert_fails(read_once("t.csv.gz", NULL, &data), BB_EDATA, "t.csv.gz:");
    free(text);
}

static void files_that_cannot_be_read(void **state) {
    (void)state;
    bb_dataset data = {.rows = 77};
    assert_message(bb_read("nowhere.csv", NULL, &data), BB_EIO,
                   "nowhere.csv: No such file or directory");
    assert_message(bb_read(".", NULL, &data), BB_EIO, ".: Is a directory");
    assert_int_equal(data.rows, 77); /* unchanged */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(rows_are_grouped_by_task),
        cmocka_unit_test(blocks_of_rows_are_grouped),
        cmocka_unit_test(columns_by_options),
        cmocka_unit_test(dialects),
        cmocka_unit_test(quotes),
        cmocka_unit_test(missing_values_can_be_kept),
        cmocka_unit_test(targets_can_be_absent),
        cmocka_unit_test(unnamed_columns_need_a_list),
        cmocka_unit_test(names_of_rows_are_left_out),
        cmocka_unit_test(yes_and_no_are_numbers),
        cmocka_unit_test(compressed_is_the_same),
        cmocka_unit_test(compressed_in_pieces),
        cmocka_unit_test(truncated_gzip),
        cmocka_unit_test(files_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
