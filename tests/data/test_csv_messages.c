/* What the CSV reader says about bad files, word for word. */
#include "data/files.h"

typedef struct bad_file {
    const char *text, *message;
} bad_file;

static const bad_file bad[] = {
    {"", "t.csv: the file is empty"},
    {"\n\r\n\n", "t.csv: the file is empty"},
    {"\xef\xbb\xbf", "t.csv: the file is empty"},
    {"task,y,x1\n", "t.csv: no row follows the header"},
    {"task,y\n1,2\n", "t.csv: no column is left to be a feature"},
    /* names */
    {"task,y,x1,x2,x1\n1,2,3,4,5\n",
     "t.csv:1:5: the name \"x1\" is that of column 3 already"},
    {"task,y,x1,\n1,2,3,4\n",
     "t.csv:1:4: the column has no name; name it, or choose columns by --features"},
    {"task,y,x1\xe9\n1,2,3\n", "t.csv:1:3: the column's name is not UTF-8"},
    {"task;y;x1\n1;2;3\n",
     "t.csv:1:1 (column \"task;y;x1\"): one column only; columns are separated by "
     "commas, or as --separator says: --separator ';'"},
    {"task\ty\tx1\n1\t2\t3\n",
     "t.csv:1:1 (column \"task?y?x1\"): one column only; columns are separated by "
     "commas, or as --separator says: --separator tab"},
    {"\xff\xfet\0a\0", "t.csv: the file is UTF-16; save it as UTF-8"},
    /* rows */
    {"task,y,x1\n1,2,3\n1,2\n", "t.csv:3:3: expected 3 columns, found 2"},
    {"task,y,x1\n1,2,3\n1,2,3,4,5\n", "t.csv:3:4: expected 3 columns, found 5"},
    {"task,y,x1\n1,2,3\n1,2,3,", "t.csv:3:4: expected 3 columns, found 4"},
    {"task,y,x1\n1\n", "t.csv:2:2: expected 3 columns, found 1"},
    {"task,y,x1\n\"a\nb\",2,3\n1,2\n", "t.csv:4:3: expected 3 columns, found 2"},
    /* lines are counted the same way however they end */
    {"task,y,x1\r\n1,2,3\r\n1,2\r\n", "t.csv:3:3: expected 3 columns, found 2"},
    {"task,y,x1\r\n\r\n1,2,3\r\n\r\n1,2\r\n", "t.csv:5:3: expected 3 columns, found 2"},
    {"task,y,x1\r\n\"a\r\nb\",2,3\r\n1,2\r\n",
     "t.csv:4:3: expected 3 columns, found 2"},
    {"task,y,x1\r\n1,2,3\n1,abc,3\r\n",
     "t.csv:3:2 (column \"y\"): expected a number, found \"abc\""},
    /* cells */
    {"task,y,x1,x3\n1,2,3,4\n1,2,3,abc\n",
     "t.csv:3:4 (column \"x3\"): expected a number, found \"abc\""},
    {"task,y,x1\n1,abc,3\n",
     "t.csv:2:2 (column \"y\"): expected a number, found \"abc\"; texts of the "
     "target are classes, whose names are public: --categories FILE, which `billboard "
     "info' drafts where they are few"},
    {"task,y,x1\n1,2,3\n1,2,4x\n",
     "t.csv:3:3 (column \"x1\"): expected a number, found \"4x\""},
    {"task,y,x1\n1,2,3\n1,2,0x10\n",
     "t.csv:3:3 (column \"x1\"): expected a number, found \"0x10\""},
    {"task,y,x1\n1,2,3\n1,2,1 000\n",
     "t.csv:3:3 (column \"x1\"): expected a number, found \"1 000\""},
    {"task,y,x1\n1,2,3\n1,2,\"1,5\"\n",
     "t.csv:3:3 (column \"x1\"): expected a number, found \"1,5\"; numbers are read "
     "with decimal points, and without other commas"},
    {"task,y,x1\n1,2,3\n1,2,\"1,234,567.8\"\n",
     "t.csv:3:3 (column \"x1\"): expected a number, found \"1,234,567.8\"; numbers are "
     "read with decimal points, and without other commas"},
    {"task,y,x(1)\n1,2,a\n",
     "t.csv:2:3 (column \"x(1)\"): expected a number, found \"a\"; texts want levels "
     "that "
     "are public: --categories FILE, which `billboard info' drafts, or are left out: "
     "--ignore 'x(1)'"},
    {"task,y,x1\n1,2,3\n1,2,1.2.3\n",
     "t.csv:3:3 (column \"x1\"): expected a number, found \"1.2.3\""},
    {"task,y,x1\n1,2,3\n1,2,-\n",
     "t.csv:3:3 (column \"x1\"): expected a number, found \"-\""},
    {"task,y,x1\n1,2,3\n1,2,1e\n",
     "t.csv:3:3 (column \"x1\"): expected a number, found \"1e\""},
    {"task,y,x1\n1,2,3\n1,2,\x01z\xff\n",
     "t.csv:3:3 (column \"x1\"): expected a number, found \"?z?\""},
    {"task,y,x1\n1,2,3\n1,2,inf\n",
     "t.csv:3:3 (column \"x1\"): expected a finite number, found \"inf\""},
    {"task,y,x1\n1,2,-Infinity\n",
     "t.csv:2:3 (column \"x1\"): expected a finite number, found \"-Infinity\""},
    {"task,y,x1\n1,2,1e999\n",
     "t.csv:2:3 (column \"x1\"): expected a finite number, found \"1e999\""},
    {"task,y,x1,x2\n1,2,,4\n", "t.csv:2:3 (column \"x1\"): expected a number, found an "
                               "empty cell; --missing drop-rows leaves its row out"},
    {"task,y,x1,x2\n1,2,\"\",4\n",
     "t.csv:2:3 (column \"x1\"): expected a number, found an empty cell; --missing "
     "drop-rows leaves its row out"},
    {"task,y,x1\n1,2,3\n1,NA,4\n",
     "t.csv:3:2 (column \"y\"): expected a number, found a missing value (\"NA\"); "
     "--missing drop-rows leaves its row out"},
    {"task,y,x1\n1,2,NaN\n",
     "t.csv:2:3 (column \"x1\"): expected a number, found a missing value (\"NaN\"); "
     "--missing drop-rows leaves its row out"},
    {"task,y,x1\n1,2,?\n",
     "t.csv:2:3 (column \"x1\"): expected a number, found a missing value (\"?\"); "
     "--missing drop-rows leaves its row out"},
    {"task,y,x1\n,2,3\n",
     "t.csv:2:1 (column \"task\"): expected a task's name, found an empty cell: a row "
     "belongs to a task, so give it a name, or take the line out"},
    {"task,y,x1\n\xc3(,2,3\n",
     "t.csv:2:1 (column \"task\"): the task's name is not UTF-8"},
    /* text columns */
    {"task,y,x1,city\n1,2,3,Paris\n",
     "t.csv:2:4 (column \"city\"): expected a number, "
     "found \"Paris\"; texts want levels that are public: --categories FILE, which "
     "`billboard info' drafts, or are left out: --ignore city"},
    {"task,y,name,x1,city\n1,2,Ann,3,Paris\n",
     "t.csv:2:3 (column \"name\"): expected a number, found \"Ann\"; texts want levels "
     "that are public: --categories FILE, which `billboard info' drafts, or are left "
     "out: --ignore name,city"},
    /* quotes */
    {"task,y,x1\n1,2,3\n\"1,2,3\n4,5,6\n",
     "t.csv:3:1 (column \"task\"): the quote that opens here never ends"},
    {"task,y,x1\n\"1\" ,2,3\n",
     "t.csv:2:1 (column \"task\"): expected a comma or the end of the line after the "
     "closing quote"},
    {"task,\"y", "t.csv:1:2: the quote that opens here never ends"},
};

static void messages(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bb_dataset data = {.rows = 77};
        assert_message(read_text("t.csv", bad[i].text, NULL, &data), BB_EDATA,
                       bad[i].message);
        assert_int_equal(data.rows, 77);
    }
}

/* Also of what is not separated as the options say. */
static void another_separator(void **state) {
    (void)state;
    const bb_read_options options = {.separator = ";"};
    bb_dataset data = {.rows = 77};
    assert_message(read_text("t.csv", "task,y,x1\n1,2,3\n", &options, &data), BB_EDATA,
                   "t.csv:1:1 (column \"task,y,x1\"): one column only; columns are "
                   "separated by commas, or as --separator says: --separator ,");
    assert_int_equal(data.rows, 77);
}

static void zero_bytes(void **state) {
    (void)state;
    static const char header[] = "task,y\0,x1\n1,2,3\n",
                      cell[] = "task,y,x1\n1,2,3\0\n",
                      quoted[] = "task,y,x1\n\"a\0b\",2,3\n";
    bb_dataset data;
    write_bytes("t.csv", header, sizeof header - 1);
    assert_message(read_once("t.csv", NULL, &data), BB_EDATA,
                   "t.csv:1:2: a zero byte: this is no text");
    write_bytes("t.csv", cell, sizeof cell - 1);
    assert_message(read_once("t.csv", NULL, &data), BB_EDATA,
                   "t.csv:2:3 (column \"x1\"): a zero byte: this is no text");
    write_bytes("t.csv", quoted, sizeof quoted - 1);
    assert_message(read_once("t.csv", NULL, &data), BB_EDATA,
                   "t.csv:2:1 (column \"task\"): a zero byte: this is no text");
}

static void column_lists(void **state) {
    (void)state;
    static const char text[] = "task,y,x1,x2\n1,2,3,4\n";
    const bb_read_options task = {.task = "school"}, target = {.target = "z"},
                          features = {.features = "x1,x9"}, ignore = {.ignore = "x3"},
                          same = {.task = "y", .target = "y"},
                          used = {.ignore = "x1,y"}, used_task = {.features = "task"},
                          twice = {.ignore = "x1,x1"}, empty = {.features = "x1,,x2"},
                          none = {.ignore = "x1,x2"};
    bb_dataset data;
    assert_message(read_text("t.csv", text, &task, &data), BB_EUSAGE,
                   "t.csv: no column \"school\" for --task; the columns are \"task\", "
                   "\"y\", \"x1\", \"x2\"");
    assert_message(read_text("t.csv", text, &target, &data), BB_EUSAGE,
                   "t.csv: no column \"z\" for --target; the columns are \"task\", "
                   "\"y\", \"x1\", \"x2\"");
    assert_message(read_text("t.csv", text, &features, &data), BB_EUSAGE,
                   "t.csv: no column \"x9\" for --features; the columns are \"task\", "
                   "\"y\", \"x1\", \"x2\"");
    assert_message(read_text("t.csv", text, &ignore, &data), BB_EUSAGE,
                   "t.csv: no column \"x3\" for --ignore; the columns are \"task\", "
                   "\"y\", \"x1\", \"x2\"");
    assert_message(
        read_text("t.csv", "a,b\n1,2\n", NULL, &data), BB_EUSAGE,
        "t.csv: no column \"task\" for --task; the columns are \"a\", \"b\"");
    assert_message(
        read_text("t.csv", "task,b\n1,2\n", NULL, &data), BB_EUSAGE,
        "t.csv: no column \"y\" for --target; the columns are \"task\", \"b\"");
    const bb_read_options run = {.task = "school", .for_run = true};
    assert_fails(read_text("t.csv", text, &run, &data), BB_EDATA,
                 "no column \"school\" for --task");
    assert_message(read_text("t.csv", text, &same, &data), BB_EUSAGE,
                   "column \"y\" cannot be both task and target");
    assert_message(read_text("t.csv", text, &used, &data), BB_EUSAGE,
                   "--ignore: column \"y\" is the target already");
    assert_message(read_text("t.csv", text, &used_task, &data), BB_EUSAGE,
                   "--features: column \"task\" is the task already");
    assert_message(read_text("t.csv", text, &twice, &data), BB_EUSAGE,
                   "--ignore: \"x1\" is named twice");
    assert_message(read_text("t.csv", text, &empty, &data), BB_EUSAGE,
                   "--features: an empty name in \"x1,,x2\"");
    assert_message(read_text("t.csv", text, &none, &data), BB_EDATA,
                   "t.csv: no column is left to be a feature");
}

/* Writes `head`, then `piece` n times, then `tail`. */
static void write_repeated(const char *head, const char *piece, size_t n,
                           const char *tail) {
    FILE *const file = fopen("t.csv", "w");
    assert_non_null(file);
    fputs(head, file);
    for (size_t i = 0; i < n; i++) fputs(piece, file);
    fputs(tail, file);
    assert_int_equal(fclose(file), 0);
}

static void nonsense_of_a_million_columns(void **state) {
    (void)state;
    bb_dataset data;
    write_repeated("task,y,x1\n1,2,3\n1", ",7", 1000000, "\n");
    assert_message(read_once("t.csv", NULL, &data), BB_EDATA,
                   "t.csv:3:4: expected 3 columns, found 1000001");
    FILE *const file = fopen("t.csv", "w");
    assert_non_null(file);
    fputs("task,y", file);
    for (int k = 0; k < 1000000; k++) fprintf(file, ",x%d", k);
    fputs("\n1,2\n", file);
    assert_int_equal(fclose(file), 0);
    assert_message(
        read_once("t.csv", NULL, &data), BB_EDATA,
        "t.csv:1:100001: more than 100000 columns; LIBSVM files can have more "
        "features");
    write_repeated("task,y,", ",", 1000000, "\n");
    assert_fails(read_once("t.csv", NULL, &data), BB_EDATA,
                 "t.csv:1:3: the column has no name");
}

static void cells_without_an_end(void **state) {
    (void)state;
    bb_dataset data;
    write_repeated("task,y,x1\n1,2,\"", "0123456789\n", 300000, "\n");
    assert_message(read_once("t.csv", NULL, &data), BB_EDATA,
                   "t.csv:2:3 (column \"x1\"): the quote that opens here never ends");
    write_repeated("task,y,x1\n1,2,", "0123456789", 300000, "\n");
    assert_message(read_once("t.csv", NULL, &data), BB_EDATA,
                   "t.csv:2: more than 1048576 bytes without an end of the cell");
    /* long, but not too long */
    write_repeated("task,y,x1\n", "a", 900000, ",2,3\n");
    assert_ok(read_once("t.csv", NULL, &data));
    assert_int_equal(strlen(data.task_name[0]), 900000);
    bb_dataset_free(&data);
    write_repeated("task,y,x1\n1,2,", "0", 900000, "\n");
    assert_fails(read_once("t.csv", NULL, &data), BB_EDATA,
                 "t.csv:2:3 (column \"x1\"): expected a number, found \"0000");
}

/* Parquet and Arrow: what they are, and what makes CSV of them. */
static void columnar_files(void **state) {
    (void)state;
    static const struct {
        const char *name, *words;
        char bytes[8];
    } file[] = {{"a.parquet", "a Parquet file", "PAR1\x15\x04\x15"},
                {"a.data", "a Parquet file", "PAR1\x15\x04\x15"},
                {"a.feather", "an Arrow file", "ARROW1"},
                {"a.data", "an Arrow file", "ARROW1"},
                {"a.data", "a stream of Arrow", "\xff\xff\xff\xff\x10"}};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        bb_dataset data;
        bb_format format = BB_FORMAT_IDX;
        write_bytes(file[i].name, file[i].bytes, 8);
        assert_int_equal(bb_read_format(file[i].name, &(bb_read_options){0}, &format),
                         BB_EDATA);
        assert_int_equal(format, BB_FORMAT_IDX);
        assert_int_equal(read_once(file[i].name, NULL, &data), BB_EDATA);
        assert_non_null(strstr(bb_last_error(), file[i].words));
        assert_non_null(
            strstr(bb_last_error(), "python3 -c 'import polars; polars.read_"));
    }
    bb_dataset data = {0};
    assert_ok(read_text("a.data", "PAR1,task,y\n1,2,3\n", NULL, &data));
    bb_dataset_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages),
        cmocka_unit_test(another_separator),
        cmocka_unit_test(zero_bytes),
        cmocka_unit_test(column_lists),
        cmocka_unit_test(nonsense_of_a_million_columns),
        cmocka_unit_test(cells_without_an_end),
        cmocka_unit_test(columnar_files),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
