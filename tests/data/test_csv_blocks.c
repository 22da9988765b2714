/* A CSV file read by several threads is, to the bit, and to the message, what one thread
 * makes of it. */
#include "data/fingerprint.h"
#include "files.h"

#include <stdlib.h>

enum { ROWS = 120000, LINE = 64, MOST = ROWS * LINE };

typedef struct reading {
    bb_status status;
    char message[512];
    uint8_t hash[BB_HASH_BYTES];
    size_t rows, dropped, last_line;
} reading;

static reading read_by(const char *name, bb_read_options o, size_t threads) {
    reading r = {0};
    bb_dataset data = {0};
    bb_hash hash;
    o.threads = threads;
    r.status = bb_read(name, &o, &data);
    if (r.status) snprintf(r.message, sizeof r.message, "%s", bb_last_error());
    if (r.status) return r;
    bb_hash_open(&hash);
    bb_dataset_fingerprint(&data, &hash);
    bb_hash_add(&hash, data.line, data.rows * sizeof *data.line);
    bb_hash_digest(&hash, r.hash);
    r.rows = data.rows;
    r.dropped = data.dropped;
    for (size_t k = 0; k < data.rows; k++)
        if (data.line[k] > r.last_line) r.last_line = data.line[k];
    bb_dataset_free(&data);
    return r;
}

static reading check(const char *name, bb_read_options o) {
    const reading one = read_by(name, o, 1);
    for (size_t threads = 2; threads < 6; threads++) {
        const reading more = read_by(name, o, threads);
        assert_int_equal(more.status, one.status);
        assert_string_equal(more.message, one.message);
        assert_memory_equal(more.hash, one.hash, sizeof one.hash);
        assert_int_equal(more.rows, one.rows);
        assert_int_equal(more.dropped, one.dropped);
        assert_int_equal(more.last_line, one.last_line);
    }
    return one;
}

/* Rows of many tasks, mixed, names in quotes or not; row `odd` is this text. */
static size_t make_rows(char *text, const char *quote, const char *ends, size_t odd,
                        const char *words) {
    size_t used = (size_t)sprintf(text, "task,y,a,b%s", ends);
    for (size_t r = 0; r < ROWS; r++)
        if (r == odd)
            used += (size_t)sprintf(text + used, "%s%s", words, ends);
        else
            used += (size_t)sprintf(text + used, "%st%zu%s,%.3f,%.17g,%d%s", quote,
                                    r * r % 977, quote, (double)r / 7.0,
                                    1.0 / (double)(r + 1), -(int)r, ends);
    assert_true(used < MOST);
    return used;
}

static size_t make(char *text, const char *ends, size_t odd, const char *words) {
    return make_rows(text, "\"", ends, odd, words);
}

static void many_rows(void **state) {
    char *text = malloc(MOST);
    (void)state;
    assert_non_null(text);
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    for (size_t k = 0; k < 3; k++) {
        write_bytes("rows.csv", text, make(text, ends[k], ROWS, ""));
        const reading r = check("rows.csv", (bb_read_options){0});
        assert_ok(r.status);
        assert_int_equal(r.rows, ROWS);
        assert_int_equal(r.last_line, ROWS + 1);
    }
    const size_t size = make(text, "\n", ROWS, "");
    write_gz("rows.csv.gz", text, size);
    assert_ok(check("rows.csv.gz", (bb_read_options){0}).status);
    write_bytes("rows.csv", text, size - 1); /* no end of the last line */
    assert_int_equal(check("rows.csv", (bb_read_options){0}).rows, ROWS);
    unlink("rows.csv");
    unlink("rows.csv.gz");
    free(text);
}

/* Rows without a quote are not looked at byte for byte: they are the same. */
static void plain_rows(void **state) {
    char *text = malloc(MOST);
    (void)state;
    assert_non_null(text);
    static const char *const ends[] = {"\n", "\r\n", "\n\n"};
    static const char *const odd[] = {"t1,0,1,2", " t1 ,0,1,2", "t1, 0,1e0 ,+2",
                                      "\"t1\",0,\"1\",2"};
    for (size_t k = 0; k < 4; k++) {
        const char *const end = ends[k % 3];
        write_bytes("rows.csv", text, make(text, end, 70001, odd[0]));
        const reading quoted = read_by("rows.csv", (bb_read_options){0}, 1);
        write_bytes("rows.csv", text, make_rows(text, "", end, 70001, odd[k]));
        const reading plain = read_by("rows.csv", (bb_read_options){0}, 2);
        assert_ok(quoted.status);
        assert_ok(plain.status);
        assert_memory_equal(plain.hash, quoted.hash, sizeof plain.hash);
    }
    const char ended[] = "task,y,a\n\"a\rb\",1,2\na\rb,1,2\n"; /* within a name, not */
    write_bytes("rows.csv", ended, sizeof ended - 1);
    assert_string_equal(check("rows.csv", (bb_read_options){0}).message,
                        "rows.csv:3:2: expected 3 columns, found 1");
    unlink("rows.csv");
    free(text);
}

/* Behind many good rows: cells over two lines, a missing value, and what is wrong. */
static void odd_rows(void **state) {
    char *text = malloc(MOST);
    (void)state;
    assert_non_null(text);
    static const struct {
        const char *row, *missing, *message;
    } odd[] = {
        {"\"two\n,1,2,3\nlines\",1,2,3", NULL, NULL},
        {"t,1,,3", "drop-rows", NULL},
        {"t,1,,3", "indicator", NULL},
        {"\n\n\nt,1,2,3", NULL, NULL},
        {"t,1,,3", NULL,
         "rows.csv:110001:3 (column \"a\"): expected a number, found an empty cell; "
         "--missing drop-rows leaves its row out"},
        {"t,1,x,3", NULL,
         "rows.csv:110001:3 (column \"a\"): expected a number, found \"x\""},
        {"t,1,2", NULL, "rows.csv:110001:4: expected 4 columns, found 3"},
        {"t,1,2,\"3", NULL,
         "rows.csv:110002:4 (column \"b\"): expected a comma or the end of the line "
         "after the closing quote"},
    };
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        const bb_read_options o = {.missing = odd[k].missing};
        write_bytes("rows.csv", text, make(text, "\n", 109999, odd[k].row));
        const reading r = check("rows.csv", o);
        assert_string_equal(r.message, odd[k].message ? odd[k].message : "");
        assert_int_equal(r.status, odd[k].message ? BB_EDATA : BB_OK);
    }
    unlink("rows.csv");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_rows),
        cmocka_unit_test(plain_rows),
        cmocka_unit_test(odd_rows),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
