/* Billboard's own files: what is read from one is what was read to make it, whatever parts
 * it was made of, and a damaged one is never believed. */
#include "data/bbfile.h"
#include "data/slice.h"
#include "numpy_files.h"

#include <math.h>
#include <stdlib.h>

enum { MEMORY = 600, PARTS = 4, ROOM = 1 << 16 };

static bb_converted convert_as(const char *const *path, size_t paths,
                               const bb_read_options *how, bool single, size_t memory,
                               const char *to) {
    bb_convert_source source[3] = {{0}};
    const bb_convert_options options = {
        .read = *how, .single = single, .memory = memory};
    bb_converted made;
    for (size_t k = 0; k < paths; k++) source[k].path = path[k];
    assert_ok(bb_convert(source, paths, &options, to, &made));
    return made;
}

static bb_converted convert(const char *path, const bb_read_options *how,
                            size_t memory) {
    return convert_as(&path, 1, how, false, memory, "d.bb");
}

static void write_table(const char *path, size_t from, size_t to, const char *note) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "task,a,y,b\n");
    for (size_t r = from; r < to; r++)
        fprintf(file, "%st %zu%s,%.17g,%g,%.3f\n", note, r * 7 % 12, note,
                sin((double)r), (double)(r % 5), cos((double)r));
    fclose(file);
}

static void assert_same_numbers(const void *a, const void *b, size_t count,
                                size_t size) {
    assert_true(!a == !b);
    if (a && count) assert_memory_equal(a, b, count * size);
}

/* Everything but where rows come from. */
static void assert_same(const bb_dataset *a, const bb_dataset *b) {
    assert_int_equal(a->tasks, b->tasks);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->labels, b->labels);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->binary, b->binary);
    for (size_t i = 0; i < a->tasks; i++)
        assert_string_equal(a->task_name[i], b->task_name[i]);
    for (size_t k = 0; k < a->features; k++)
        assert_string_equal(a->feature_name[k], b->feature_name[k]);
    assert_same_numbers(a->first, b->first, a->tasks + 1, sizeof *a->first);
    for (size_t r = 0; r < a->rows; r++)
        assert_true(a->y[r] == b->y[r] || (isnan(a->y[r]) && isnan(b->y[r])));
    assert_same_numbers(a->x, b->x, a->rows * a->features, sizeof *a->x);
    assert_same_numbers(a->sparse_first, b->sparse_first, a->rows + 1, sizeof(size_t));
    assert_same_numbers(a->label_first, b->label_first, a->rows + 1, sizeof(size_t));
    if (!a->x) {
        const size_t entries = a->sparse_first[a->rows];
        assert_same_numbers(a->sparse_column, b->sparse_column, entries, 4);
        assert_same_numbers(a->sparse_value, b->sparse_value, entries, 8);
    }
    if (a->label_first)
        assert_same_numbers(a->label, b->label, a->label_first[a->rows], 4);
}

static void assert_round_trip(const char *path, const bb_read_options *how) {
    const bb_read_options plain = {.multilabel = how->multilabel,
                                   .target_optional = how->target_optional};
    bb_dataset before, after;
    assert_ok(bb_read(path, how, &before));
    convert(path, how, MEMORY);
    assert_ok(bb_read("d.bb", &plain, &after));
    assert_same(&before, &after);
    if (after.x) assert_true(bb_map_has(&after.file, after.x)); /* no copy */
    bb_dataset_free(&before);
    bb_dataset_free(&after);
}

static void all_formats_come_back(void **state) {
    (void)state;
    const bb_read_options plain = {0}, labels = {.multilabel = true},
                          columns = {.task = "0", .target = "1"},
                          some = {.target = "b", .ignore = "y"},
                          none = {.target_optional = true};
    blob file;
    write_table("t.csv", 0, 100, "");
    assert_round_trip("t.csv", &plain);
    assert_round_trip("t.csv", &some);
    write_table("q.csv", 0, 100, "\"");
    assert_round_trip("q.csv", &plain);
    write_text("n.csv", "task,a\nx,1\ny,2\nx,3\n");
    assert_round_trip("n.csv", &none);
    write_text("s.svm", "1 qid:2 1:0.5 7:1\n2 qid:1 3:2\n3 qid:2\n-1 qid:10 2:1\n");
    assert_round_trip("s.svm", &plain);
    write_text("l.svm", "1,2 qid:2 1:0.5 7:1\n qid:1 3:2\n3 qid:2 1:1\n");
    assert_round_trip("l.svm", &labels);
    const double rows[] = {7, 1, 2, 3, 8, 4, 5, 6, 7, 0, 1, 0};
    npy_numbers(&file, "<f8", "False", "(3, 4)", rows, 12);
    write_bytes("t.npy", file.bytes, file.size);
    assert_round_trip("t.npy", &columns);
}

/* A line that ends inside quotes cannot be told from one that ends a row: such a file is
 * read as a whole. */
static void parts_make_the_same_file(void **state) {
    (void)state;
    static char whole[ROOM], parts[ROOM];
    const bb_read_options how = {.threads = 2};
    const char *const name[] = {"t.csv", "lines.csv"};
    write_table("t.csv", 0, 200, "");
    write_table("lines.csv", 0, 200, "\"");
    FILE *file = fopen("lines.csv", "a");
    assert_non_null(file);
    fputs("\"two\nlines\",1,2,3\n\"two\nlines\",2,2,4\n", file);
    fclose(file);
    for (size_t k = 0; k < 2; k++) {
        const bb_converted once = convert(name[k], &how, 0);
        file = fopen("d.bb", "rb");
        const size_t size = fread(whole, 1, ROOM, file);
        fclose(file);
        assert_int_equal(size, once.bytes);
        const bb_converted cut = convert(name[k], &how, MEMORY);
        if (k == 0) assert_true(cut.parts > 4 && once.parts == 1);
        file = fopen("d.bb", "rb");
        assert_int_equal(fread(parts, 1, ROOM, file), size);
        fclose(file);
        assert_memory_equal(whole, parts, size);
    }
}

static void several_files_are_one(void **state) {
    (void)state;
    const char *const halves[] = {"first.csv", "second.csv"};
    const bb_read_options how = {0};
    bb_dataset whole, both;
    write_table("t.csv", 0, 150, "");
    write_table("first.csv", 0, 60, "");
    write_table("second.csv", 60, 150, "");
    assert_ok(bb_read("t.csv", &how, &whole));
    convert_as(halves, 2, &how, false, MEMORY, "d.bb");
    assert_ok(bb_read("d.bb", &how, &both));
    assert_same(&whole, &both);
    bb_dataset_free(&whole);
    bb_dataset_free(&both);
    write_text("other.csv", "task,a,y,c\nx,1,2,3\n");
    const bb_convert_source mixed[] = {{.path = "first.csv"}, {.path = "other.csv"}};
    const bb_convert_options options = {0};
    bb_converted made;
    assert_message(bb_convert(mixed, 2, &options, "x.bb", &made), BB_EDATA,
                   "other.csv: expected the column \"b\" as in first.csv, found \"c\"");
    assert_message(bb_convert(mixed, 1, &options, "first.csv", &made), BB_EUSAGE,
                   "first.csv: is read, and would be written over");
    write_text("bad.csv", "task,y,a\n1,2,3\n1,,4\n");
    const bb_convert_source bad = {.path = "bad.csv"};
    assert_int_equal(bb_convert(&bad, 1, &options, "x.bb", &made), BB_EDATA);
    assert_non_null(strstr(bb_last_error(), "bad.csv:3:2"));
    assert_true(access("x.bb", F_OK) != 0);
}

static void narrow_numbers_are_rounded(void **state) {
    (void)state;
    const char *const path = "t.csv";
    const bb_read_options how = {0}, little = {.memory = 64};
    bb_dataset wide, narrow, scratch;
    write_table(path, 0, 50, "");
    convert_as(&path, 1, &how, true, MEMORY, "d.bb");
    assert_ok(bb_read(path, &how, &wide));
    assert_ok(bb_read("d.bb", &how, &narrow));
    assert_ok(bb_read("d.bb", &little, &scratch));
    assert_true(bb_map_has(&scratch.scratch, scratch.x));
    for (size_t e = 0; e < wide.rows * wide.features; e++)
        assert_true(narrow.x[e] == (double)(float)wide.x[e]);
    assert_same(&narrow, &scratch);
    bb_dataset_free(&wide);
    bb_dataset_free(&narrow);
    bb_dataset_free(&scratch);
}

/* Every part has whole tasks, and all of them have all. */
static void parts_of_ranks(void **state) {
    (void)state;
    const bb_read_options how = {0};
    bb_slice slice[PARTS];
    bb_dataset whole, part;
    write_table("t.csv", 0, 100, "");
    convert("t.csv", &how, 0);
    assert_ok(bb_read("d.bb", &how, &whole));
    size_t task = 0;
    for (size_t k = 0; k < PARTS; k++) {
        bb_read_options o = how;
        assert_ok(bb_slice_cut("d.bb", &how, k, PARTS, &slice[k]));
        assert_false(slice[k].whole);
        o.slice = &slice[k];
        assert_ok(bb_read("d.bb", &o, &part));
        assert_true(part.tasks > 0 && part.rows < whole.rows);
        for (size_t i = 0; i < part.tasks; i++, task++) {
            const size_t n = part.first[i + 1] - part.first[i];
            assert_string_equal(part.task_name[i], whole.task_name[task]);
            assert_int_equal(n, whole.first[task + 1] - whole.first[task]);
            assert_memory_equal(part.x + part.first[i] * part.features,
                                whole.x + whole.first[task] * whole.features,
                                n * part.features * sizeof *part.x);
            assert_memory_equal(part.y + part.first[i], whole.y + whole.first[task],
                                n * sizeof *part.y);
        }
        bb_dataset_free(&part);
    }
    assert_int_equal(task, whole.tasks);
    assert_ok(bb_slices_join("d.bb", PARTS, slice));
    bb_dataset_free(&whole);
}

/* One bit anywhere: the file is refused, or the bit was between the sections. */
static void damage_is_found(void **state) {
    (void)state;
    static char bytes[ROOM];
    const bb_read_options how = {.threads = 1};
    bb_dataset whole, data;
    write_text("t.csv", "task,y,a\nx,1,2\ny,3,4\nx,5,6\n");
    convert("t.csv", &how, 0);
    assert_ok(bb_read("d.bb", &how, &whole));
    FILE *file = fopen("d.bb", "rb");
    const size_t size = fread(bytes, 1, ROOM, file);
    fclose(file);
    size_t refused = 0;
    for (size_t at = 0; at < size;
         at += at < 64 || at % 4096 < 64 || at > 16384 ? 1 : 97) {
        bytes[at] = (char)(bytes[at] ^ 4);
        write_bytes("e.bb", bytes, size);
        bytes[at] = (char)(bytes[at] ^ 4);
        if (bb_read("e.bb", &how, &data) == BB_OK) {
            assert_same(&whole, &data);
            bb_dataset_free(&data);
        } else {
            assert_non_null(strstr(bb_last_error(), "e.bb"));
            refused++;
        }
    }
    assert_true(refused > 400); /* of the header, four sections and the footer */
    for (size_t length = 1; length < size; length += 61) {
        write_bytes("e.bb", bytes, length);
        assert_int_equal(bb_read("e.bb", &how, &data), BB_EDATA);
    }
    bb_dataset_free(&whole);
}

static void what_does_not_fit_is_said(void **state) {
    (void)state;
    const bb_read_options how = {0}, target = {.target = "z"}, task = {.task = "id"},
                          labels = {.multilabel = true}, known = {.public_shape = true},
                          more = {.public_shape = true, .features = "9"},
                          fewer = {.features = "2"};
    bb_dataset data;
    write_text("t.csv", "task,y,a\nx,1,2\ny,3,4\n");
    convert("t.csv", &how, 0);
    assert_message(bb_read("d.bb", &target, &data), BB_EDATA,
                   "d.bb: expected the target \"z\", found \"y\"");
    assert_message(bb_read("d.bb", &task, &data), BB_EUSAGE,
                   "d.bb: its columns were chosen when it was made: give --task and "
                   "--ignore to `billboard convert'");
    assert_message(bb_read("d.bb", &labels, &data), BB_EUSAGE,
                   "d.bb: the multilabel loss needs lists of labels");
    write_text("n.csv", "task,y,a\nx,1,2\n");
    rename("n.csv", "n.bb");
    assert_message(bb_read("n.bb", &how, &data), BB_EDATA,
                   "n.bb: the header: expected a file that `billboard convert' made");
    write_text("s.svm", "1 qid:2 1:0.5 7:1\n2 qid:1 3:2\n");
    convert("s.svm", &how, 0);
    assert_message(
        bb_read("d.bb", &known, &data), BB_EUSAGE,
        "d.bb: a private run must be told how many features there are, which "
        "is public: --features N");
    assert_message(
        bb_read("d.bb", &fewer, &data), BB_EUSAGE,
        "d.bb: --features expects how many there are, at least 7, got \"2\"");
    assert_ok(bb_read("d.bb", &more, &data));
    assert_int_equal(data.features, 9);
    bb_dataset_free(&data);
}

static int leave(void **state) {
    const char *const made[] = {"t.csv",      "q.csv",    "n.csv",     "s.svm",
                                "l.svm",      "t.npy",    "d.bb",      "e.bb",
                                "n.bb",       "bad.csv",  "lines.csv", "first.csv",
                                "second.csv", "other.csv"};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) unlink(made[k]);
    return folder_leave(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_formats_come_back),
        cmocka_unit_test(parts_make_the_same_file),
        cmocka_unit_test(several_files_are_one),
        cmocka_unit_test(narrow_numbers_are_rounded),
        cmocka_unit_test(parts_of_ranks),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(what_does_not_fit_is_said),
    };
    return cmocka_run_group_tests(tests, folder_enter, leave);
}
