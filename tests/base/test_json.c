#include "base/json.h"
#include "folder.h"
#include "test.h"
#include "torture.h"

static void numbers_keep_every_bit(void **state) {
    (void)state;
    const double numbers[] = {
        0.1, 1.0 / 3.0, 1e-310, -0.0, 0x1.fffffffffffffp1023, 12345678.9};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        json_t *const json = bb_json_real(numbers[i]);
        char *const text = bb_json_text(json, 0);
        json_t *const back = json_loads(text, JSON_DECODE_ANY, NULL);
        const double number = json_real_value(back);
        assert_memory_equal(&number, &numbers[i], sizeof number);
        free(text);
        json_decref(json);
        json_decref(back);
    }
}

static void what_is_not_finite_is_null(void **state) {
    (void)state;
    const double numbers[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        json_t *const json = bb_json_real(numbers[i]);
        assert_true(json_is_null(json));
        json_decref(json);
    }
}

static void a_file_is_written_and_read_back(void **state) {
    (void)state;
    char contents[200];
    json_t *back = NULL, *const json =
                             json_pack("{s:f, s:[i, s]}", "b", 0.1, "a", 1, "x");
    assert_ok(bb_json_write_file("new.json", json));
    assert_string_equal(folder_read(contents, sizeof contents, "new.json"),
                        "{\n  \"b\": 0.10000000000000001,\n  \"a\": [\n    1,\n"
                        "    \"x\"\n  ]\n}\n");
    assert_ok(bb_json_read_file(&back, "new.json"));
    assert_true(json_equal(json, back));
    json_decref(json);
    json_decref(back);
    assert_int_equal(unlink("new.json"), 0);
    assert_fails(bb_json_write_file("new.json", NULL), BB_ENOMEM, "new.json");
    assert_int_equal(folder_entries("."), 0);
}

static void a_bad_file_is_located(void **state) {
    (void)state;
    const char *const bad[][2] = {
        {"{\n  \"a\": 1,\n  oops\n}\n", "bad.json: line 3, column 6: not JSON"},
        {"", "bad.json: line 1, column 0: not JSON"},
        {"{\"a\": 1, \"a\": 2}", "duplicate object key"},
        {"{} {}", "bad.json: line 1, column 4"}};
    json_t *out = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FILE *const file = fopen("bad.json", "w");
        fputs(bad[i][0], file);
        fclose(file);
        assert_fails(bb_json_read_file(&out, "bad.json"), BB_EDATA, bad[i][1]);
        assert_null(out);
    }
    assert_int_equal(unlink("bad.json"), 0);
    assert_fails(bb_json_read_file(&out, "none.json"), BB_EIO,
                 "none.json: cannot be opened: No");
    assert_fails(bb_json_read_file(&out, "."), BB_EIO, "cannot be read");
}

/* An editor's byte order mark, a pipe, and a text on the command line. */
static void json_comes_in_many_ways(void **state) {
    (void)state;
    json_t *out = NULL;
    FILE *const file = fopen("marked.json", "w");
    fputs("\xef\xbb\xbf[7]", file);
    fclose(file);
    assert_ok(bb_json_read_file(&out, "marked.json"));
    assert_int_equal(json_integer_value(json_array_get(out, 0)), 7);
    json_decref(out);
    assert_int_equal(unlink("marked.json"), 0);
    int end[2];
    char name[40];
    assert_int_equal(pipe(end), 0);
    assert_int_equal(write(end[1], "[8]", 3), 3);
    close(end[1]);
    snprintf(name, sizeof name, "/proc/self/fd/%d", end[0]);
    assert_ok(bb_json_read_file(&out, name));
    assert_int_equal(json_integer_value(json_array_get(out, 0)), 8);
    json_decref(out);
    close(end[0]);
    assert_ok(bb_json_parse(&out, "[9]", "ranges"));
    assert_int_equal(json_integer_value(json_array_get(out, 0)), 9);
    json_decref(out);
    assert_fails(bb_json_parse(&out, "{'a': 1}", "ranges"), BB_EDATA,
                 "ranges: line 1, column 2: not JSON");
}

static bb_status only_write(void *context) {
    (void)context;
    json_t *const json = json_pack("{s:f, s:[i, s]}", "b", 0.1, "a", 1, "x");
    const bb_status status = bb_json_write_file("torture.json", json);
    json_decref(json);
    return status;
}

static bb_status write_and_read(void *context) {
    (void)context;
    json_t *const json = json_pack("{s:f, s:[i, s]}", "b", 0.1, "a", 1, "x"),
                  *back = NULL;
    bb_status status = bb_json_write_file("torture.json", json);
    if (!status) status = bb_json_read_file(&back, "torture.json");
    json_decref(json);
    json_decref(back);
    return status;
}

static void nothing_stays(void *context, bb_status status) {
    (void)context;
    char contents[200];
    /* whole or not at all; a later failure may leave the whole file */
    if (unlink("torture.json") == 0)
        assert_string_equal(folder_read(contents, sizeof contents, "torture.json"), "");
    else
        assert_true(status != BB_OK);
    assert_int_equal(folder_entries("."), 0);
}

static void json_survives_torture(void **state) {
    (void)state;
    bb_torture torture = {.attempt = write_and_read, .check = nothing_stays};
    assert_true(torture_files(torture) >= 4);
    assert_true(torture_disk(torture) > 5);
    torture.spare_json = true;
    assert_true(torture_memory(torture) >= 1);
    torture = (bb_torture){.attempt = only_write, .check = nothing_stays};
    assert_true(torture_memory(torture) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_keep_every_bit),
        cmocka_unit_test(what_is_not_finite_is_null),
        cmocka_unit_test(a_file_is_written_and_read_back),
        cmocka_unit_test(a_bad_file_is_located),
        cmocka_unit_test(json_comes_in_many_ways),
        cmocka_unit_test(json_survives_torture),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
