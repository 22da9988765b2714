#include "base/safetensors.h"
#include "folder.h"
#include "test.h"
#include "torture.h"

#include <stdbool.h>

static const double real[] = {0.1, -0.0, 5e-324, 1.7976931348623157e308, 1.0, -2.5};
static const float single[] = {0.1f, -3.0f};
static const uint32_t count[] = {0, 7, UINT32_MAX};
static const int64_t whole[] = {INT64_MIN};

static const bb_tensor all[] = {
    {.name = "count",
     .type = BB_DTYPE_U32,
     .dimensions = 1,
     .shape = {3},
     .value = count},
    {.name = "real",
     .type = BB_DTYPE_F64,
     .dimensions = 2,
     .shape = {3, 2},
     .value = real},
    {.name = "none", .type = BB_DTYPE_F32, .dimensions = 2, .shape = {0, 5}},
    {.name = "single",
     .type = BB_DTYPE_F32,
     .dimensions = 3,
     .shape = {1, 2, 1},
     .value = single},
    {.name = "whole", .type = BB_DTYPE_I64, .value = whole},
};
enum { ARRAYS = sizeof all / sizeof *all };

static bb_status write_all(const char *path) {
    json_t *texts = json_pack("{s:s,s:s}", "who", "t\xc3\xa9st \"1\"", "empty", "");
    const bb_status status = bb_safetensors_write(path, all, ARRAYS, texts);
    json_decref(texts);
    return status;
}

static void arrays_come_back_to_the_same_bits(void **state) {
    (void)state;
    unsigned char back[sizeof real];
    bb_safetensors file;
    const char *text;
    size_t shape[2];
    assert_ok(write_all("a.safetensors"));
    assert_ok(bb_safetensors_open(&file, "a.safetensors"));
    assert_int_equal(file.tensors, ARRAYS);
    assert_int_equal(file.data % 8, 0);
    assert_ok(bb_safetensors_read(&file, &all[0], back));
    assert_memory_equal(back, count, sizeof count);
    assert_ok(bb_safetensors_read(&file, &all[1], back));
    assert_memory_equal(back, real, sizeof real);
    assert_ok(bb_safetensors_read(&file, &all[2], back));
    assert_ok(bb_safetensors_read(&file, &all[3], back));
    assert_memory_equal(back, single, sizeof single);
    assert_ok(bb_safetensors_read(&file, &all[4], back));
    assert_memory_equal(back, whole, sizeof whole);
    assert_ok(bb_safetensors_shape(&file, "real", 2, shape));
    assert_true(shape[0] == 3 && shape[1] == 2);
    assert_fails(bb_safetensors_shape(&file, "real", 1, shape), BB_EDATA,
                 "array \"real\": expected 1 dimensions, found 2");
    assert_ok(bb_safetensors_text(&file, "who", &text));
    assert_string_equal(text, "t\xc3\xa9st \"1\"");
    assert_ok(bb_safetensors_text(&file, "empty", &text));
    assert_string_equal(text, "");
    assert_fails(bb_safetensors_text(&file, "what", &text), BB_EDATA, "\"what\"");
    bb_tensor other = all[1];
    other.shape[0] = 2;
    assert_fails(bb_safetensors_read(&file, &other, back), BB_EDATA,
                 "array \"real\": expected F64 [2, 2], found F64 [3, 2]");
    other = all[1];
    other.type = BB_DTYPE_I64;
    assert_fails(bb_safetensors_read(&file, &other, back), BB_EDATA,
                 "expected I64 [3, 2], found F64 [3, 2]");
    other.name = "__metadata__";
    assert_fails(bb_safetensors_read(&file, &other, back), BB_EDATA, "found none");
    bb_safetensors_close(&file);
    assert_int_equal(unlink("a.safetensors"), 0);
}

/* The bytes themselves, so that a mistake made twice does not hide itself. */
static void the_file_is_as_the_format_says(void **state) {
    (void)state;
    static const char expected[] =
        "\x38\0\0\0\0\0\0\0"
        "{\"a\":{\"dtype\":\"U32\",\"shape\":[2],\"data_offsets\":[0,8]}}  "
        "\x01\0\0\0\xff\xff\0\0";
    const uint32_t value[] = {1, 65535};
    char found[200];
    assert_ok(bb_safetensors_write("b", &(bb_tensor){"a", BB_DTYPE_U32, 1, {2}, value},
                                   1, NULL));
    FILE *file = fopen("b", "rb");
    assert_non_null(file);
    assert_int_equal(fread(found, 1, sizeof found, file), sizeof expected - 1);
    assert_memory_equal(found, expected, sizeof expected - 1);
    fclose(file);
    assert_int_equal(unlink("b"), 0);
    const bb_tensor twice[] = {{"a", BB_DTYPE_U32, 1, {2}, value},
                               {"a", BB_DTYPE_U32, 1, {2}, value}};
    assert_fails(bb_safetensors_write("b", twice, 2, NULL), BB_EUSAGE, "two arrays");
}

static void python_reads_it(void **state) {
    (void)state;
    if (system("python3 -c 'import safetensors.numpy' 2>/dev/null") != 0) skip();
    assert_ok(write_all("a.safetensors"));
    assert_int_equal(
        system("python3 -c '\n"
               "import numpy, safetensors\n"
               "from safetensors import safe_open\n"
               "f = safe_open(\"a.safetensors\", \"numpy\")\n"
               "assert sorted(f.keys()) == [\"count\", \"none\", \"real\", \"single\", "
               "\"whole\"]\n"
               "assert f.metadata() == {\"who\": \"t\\u00e9st \\\"1\\\"\", "
               "\"empty\": \"\"}\n"
               "r = f.get_tensor(\"real\")\n"
               "assert r.dtype == numpy.float64 and r.shape == (3, 2)\n"
               "assert r.ravel().tolist() == [0.1, 0, 5e-324, "
               "1.7976931348623157e308, 1, -2.5]\n"
               "c = f.get_tensor(\"count\")\n"
               "assert c.dtype == numpy.uint32 and c.tolist() == [0, 7, 2**32 - 1]\n"
               "assert f.get_tensor(\"none\").shape == (0, 5)\n"
               "s = f.get_tensor(\"single\")\n"
               "assert s.dtype == numpy.float32 and s.shape == (1, 2, 1)\n"
               "assert s.ravel().tolist() == [numpy.float32(0.1), -3]\n"
               "assert f.get_tensor(\"whole\").item() == -2**63\n"
               "import safetensors.numpy\n"
               "safetensors.numpy.save_file({\"x\": numpy.arange(6.).reshape(2, 3)}, "
               "\"p.safetensors\", {\"by\": \"python\"})\n"
               "'"),
        0);
    bb_safetensors file;
    double back[6];
    const char *text;
    assert_ok(bb_safetensors_open(&file, "p.safetensors"));
    assert_ok(bb_safetensors_read(
        &file, &(bb_tensor){"x", BB_DTYPE_F64, 2, {2, 3}, NULL}, back));
    for (int k = 0; k < 6; k++) assert_close(back[k], k, 0.0);
    assert_ok(bb_safetensors_text(&file, "by", &text));
    assert_string_equal(text, "python");
    bb_safetensors_close(&file);
    assert_int_equal(unlink("a.safetensors") | unlink("p.safetensors"), 0);
}

/* A file with this header, its length added, and `size` zeros behind it. */
static void make(const char *header, size_t size) {
    static const char zeros[64];
    const size_t length = strlen(header);
    FILE *file = fopen("bad", "wb");
    assert_non_null(file);
    for (int b = 0; b < 8; b++) putc((int)(length >> (8 * b) & 255), file);
    fwrite(header, 1, length, file);
    fwrite(zeros, 1, size, file);
    fclose(file);
}

static void expect_bad(const char *header, size_t size, const char *words) {
    bb_safetensors file = {0};
    make(header, size);
    assert_fails(bb_safetensors_open(&file, "bad"), BB_EDATA, words);
    assert_null(file.header);
    unlink("bad");
}

#define A(type, shape, begin, end)                                                     \
    "\"a\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" begin       \
    "," end "]}"
#define B(type, shape, begin, end)                                                     \
    ",\"b\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" begin      \
    "," end "]}"

static void bad_headers_are_refused(void **state) {
    (void)state;
    expect_bad("", 0, "begins with {");
    expect_bad(" {}", 0, "begins with {");
    expect_bad("{", 0, "header, byte 1: not JSON");
    expect_bad("{}{}", 0, "not JSON");
    expect_bad("{}", 3, "expected 0 bytes behind the header, found 3");
    expect_bad("{" A("F64", "[2]", "0", "16") "}", 15, "expected 16 bytes");
    expect_bad("{" A("F64", "[2]", "0", "16") "}", 17, "expected 16 bytes");
    expect_bad("{" A("F64", "[2]", "8", "24") "}", 24, "expected to begin at 0");
    expect_bad("{" A("F64", "[2]", "16", "0") "}", 16, "as far apart");
    expect_bad("{" A("F64", "[2]", "-16", "0") "}", 16, "two data_offsets");
    expect_bad("{" A("F64", "[2]", "0", "16.0") "}", 16, "two data_offsets");
    expect_bad("{" A("F64", "[2]", "0", "16,16") "}", 16, "two data_offsets");
    expect_bad("{" A("F64", "[2]", "0", "8") "}", 8, "as far apart");
    expect_bad("{" A("F64", "[-2]", "0", "16") "}", 16, "a shape");
    expect_bad("{" A("F64", "[1,1,1,1,2]", "0", "16") "}", 16, "a shape");
    expect_bad("{" A("F64", "2", "0", "16") "}", 16, "a shape");
    expect_bad("{" A("BF16", "[8]", "0", "16") "}", 16, "dtype F64, I64, F32 or U32");
    expect_bad("{" A("F64", "[4294967296,4294967296]", "0", "0") "}", 0, "as far");
    expect_bad("{" A("F64", "[2305843009213693953]", "0", "8") "}", 8, "as far");
    expect_bad("{" A("F64", "[1]", "0", "8") B("F64", "[1]", "0", "8") "}", 8,
               "array \"b\": expected to begin at 8, found 0");
    expect_bad("{" A("F64", "[1]", "0", "8") B("F64", "[1]", "16", "24") "}", 24,
               "array \"b\": expected to begin at 8, found 16");
    expect_bad("{" A("F64", "[1]", "0", "8") "," A("F64", "[1]", "8", "16") "}", 16,
               "duplicate object key");
    expect_bad("{\"a\":{\"dtype\":\"F64\",\"shape\":[0]}}", 0, "{dtype, shape, data");
    expect_bad("{\"a\":7}", 0, "{dtype, shape, data_offsets}");
    expect_bad("{\"__metadata__\":[]}", 0, "__metadata__: expected an object");
    expect_bad("{\"__metadata__\":{\"k\":1}}", 0, "\"k\": expected a text");
}

static void bad_lengths_are_refused(void **state) {
    (void)state;
    bb_safetensors out = {0};
    const char *const bytes[] = {"", "\2\0\0\0\0\0\0", "\3\0\0\0\0\0\0\0{}",
                                 "\377\377\377\377\377\377\377\377{}"};
    const size_t size[] = {0, 7, 10, 10};
    const char *const words[] = {"found 0", "found 7",
                                 "at most 2 bytes, found a length",
                                 "18446744073709551615"};
    for (int k = 0; k < 4; k++) {
        FILE *file = fopen("bad", "wb");
        fwrite(bytes[k], 1, size[k], file);
        fclose(file);
        assert_fails(bb_safetensors_open(&out, "bad"), BB_EDATA, words[k]);
    }
    FILE *file = fopen("bad", "wb"); /* a header of more than 100 MB, all zeros */
    fwrite("\1\341\365\5\0\0\0\0", 1, 8, file);
    fclose(file);
    assert_int_equal(truncate("bad", 200000000), 0);
    assert_fails(bb_safetensors_open(&out, "bad"), BB_EDATA,
                 "at most 100000000 bytes, found a length of 100000001");
    unlink("bad");
    assert_fails(bb_safetensors_open(&out, "none"), BB_EIO, "none: cannot be opened");
    assert_fails(bb_safetensors_open(&out, "."), BB_EIO, "is not a file");
    make("{}", 0);
    assert_ok(bb_safetensors_open(&out, "bad"));
    assert_int_equal(out.tensors, 0);
    bb_safetensors_close(&out);
    unlink("bad");
}

static bb_status only_write(void *context) {
    (void)context;
    return write_all("torture");
}

static bb_status write_and_read(void *context) {
    (void)context;
    bb_safetensors file = {0};
    double back[6];
    bb_status status = write_all("torture");
    if (!status) status = bb_safetensors_open(&file, "torture");
    if (!status) status = bb_safetensors_read(&file, &all[1], back);
    bb_safetensors_close(&file);
    return status;
}

static void whole_or_nothing(void *context, bb_status status) {
    (void)context;
    bb_safetensors file;
    if (access("torture", F_OK) == 0) {
        assert_ok(bb_safetensors_open(&file, "torture"));
        bb_safetensors_close(&file);
        unlink("torture");
    } else {
        assert_true(status != BB_OK);
    }
    assert_int_equal(folder_entries("."), 0);
}

static void it_survives_torture(void **state) {
    (void)state;
    bb_torture torture = {.attempt = write_and_read, .check = whole_or_nothing};
    assert_true(torture_files(torture) >= 4);
    assert_true(torture_disk(torture) > 5);
    torture.spare_json = true;
    assert_true(torture_memory(torture) >= 4);
    torture = (bb_torture){.attempt = only_write, .check = whole_or_nothing};
    assert_true(torture_memory(torture) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_come_back_to_the_same_bits),
        cmocka_unit_test(the_file_is_as_the_format_says),
        cmocka_unit_test(python_reads_it),
        cmocka_unit_test(bad_headers_are_refused),
        cmocka_unit_test(bad_lengths_are_refused),
        cmocka_unit_test(it_survives_torture),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
