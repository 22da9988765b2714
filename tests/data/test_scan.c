/* Numbers are read to the same bits as by strtod, which rounds correctly. */
#include "base/number.h"
#include "base/random.h"
#include "data/scan.h"
#include "test.h"

static void check(const char *number) {
    char *end, text[400 + BB_SCAN_BEHIND] = "";
    strncpy(text, number, 399);
    const double expected = strtod(text, &end);
    assert_int_equal(*end, '\0');
    double value = -1;
    const char *at = text;
    if (bb_scan_number(&at, &value)) {
        assert_int_equal(*at, '\0');
        if (memcmp(&value, &expected, sizeof value) != 0)
            fail_msg("%s: %.17g, but strtod gives %.17g", text, value, expected);
    }
    if (!isfinite(expected)) return;
    assert_int_equal(bb_scan_cell(text, strlen(text), &value), BB_CELL_NUMBER);
    assert_memory_equal(&value, &expected, sizeof value);
}

/* A cell among others is a number where it is one alone, and the same. */
static void check_cell(const char *cell) {
    char text[128];
    double value = -1, expected = 0;
    const int before = snprintf(text, sizeof text, "x,.5,-9.125,");
    const char *const from = text + before, *const to = from + strlen(cell), *at = cell;
    char alone[64 + BB_SCAN_BEHIND] = "";
    snprintf(text + before, sizeof text - (size_t)before, "%s,7.5,.25\n        ", cell);
    snprintf(alone, 64, "%s", cell);
    at = alone;
    const bool number = bb_number_real(cell, &expected);
    const bool fast = bb_scan_number(&at, &value) && *at == '\0';
    const bool taken = bb_scan_field(from, to, &value);
    if ((fast && !taken) || (taken && !number))
        fail_msg("\"%s\": %d, but %d", cell, taken, number);
    if (taken && memcmp(&value, &expected, sizeof value) != 0)
        fail_msg("%s: %.17g, but strtod gives %.17g", cell, value, expected);
}

/* All lengths, with the point at every place, and at none; and what is none of these. */
static void cells_among_others(void **state) {
    (void)state;
    static const char letter[] = "0123456789999.-+e ,/";
    static const char *const odd[] = {"",          "-",        ".",         "-.",
                                      "-0",        "0.",       "-0.0",      "+5",
                                      "1.2.3",     "12345678", "123456789", ".12345678",
                                      "-.1",       "5e3",      "1e",        "1-2",
                                      "./",        "1./",      "/1",        ":1",
                                      "1:",        "1 ",       "99999999",  "0000000",
                                      "9999999.9", ".9999999", "12345678.", "--1"};
    char text[32];
    bb_random random;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) check_cell(odd[i]);
    assert_ok(bb_random_open_stream(&random, 5, BB_FOR_TEST, 0, 0));
    for (int i = 0; i < 400000; i++) {
        const size_t length = 1 + bb_random_below(&random, 20);
        const bool number = i % 4 > 0;
        for (size_t k = 0; k < length; k++)
            text[k] = letter[bb_random_below(&random, number ? 10 : 20)];
        if (number && i % 4 > 1) text[bb_random_below(&random, length)] = '.';
        if (number && i % 8 > 4) text[0] = '-';
        text[length] = '\0';
        if (!strchr(text, ',')) check_cell(text);
    }
    bb_random_close(&random);
}

static void chosen_numbers(void **state) {
    (void)state;
    static const char *const text[] = {
        "0", "-0", "+0.0", "1", "-1", ".5", "5.", "0.1", "0.3", "1e22", "1e23", "1e-22",
        "9007199254740992", "9007199254740993", "9007199254740995", "1e0", "1E+5",
        "1e-5", "123456789012345678", "1234567890123456789", "12345678901234567890",
        "0.000000000000000000000000000001", "1e27", "1e28", "1e-28", "1e308",
        "1.7976931348623157e308", "4.9e-324", "2.2250738585072011e-308", "1e-400",
        "8.5e-7", "0.1234567890123456789", "000000000000000000000000001",
        /* halfway between two doubles, and beside it */
        "9007199254740993.0", "9007199254740993.1", "9007199254740992.9",
        "4503599627370496.5", "4503599627370497.5", "4503599627370496.4999",
        "1125899906842624.125", "1125899906842624.375", "0.500000000000000166533453693",
        "18014398509481986", "18014398509481990", "36028797018963972"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) check(text[i]);
}

static void random_numbers(void **state) {
    (void)state;
    static const char *const format[] = {"%.17g", "%.15g", "%.16e",
                                         "%.6f",  "%g",    "%.18e"};
    char text[400];
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 3, BB_FOR_TEST, 0, 0));
    for (int i = 0; i < 300000; i++) {
        double value;
        const uint64_t bits = bb_random_bits(&random);
        memcpy(&value, &bits, sizeof value);
        if (i % 3 && isfinite(value)) /* most numbers are of ordinary size */
            value = ldexp(frexp(value, &(int){0}), (int)(bits % 90) - 45);
        if (!isfinite(value)) continue;
        snprintf(text, sizeof text, format[i % 6], value);
        check(text);
    }
    bb_random_close(&random);
}

/* Decimals that lie exactly between two doubles, where rounding twice could go wrong.
 */
static void halfway_numbers(void **state) {
    (void)state;
    char text[64];
    bb_random random;
    size_t fast = 0;
    assert_ok(bb_random_open_stream(&random, 4, BB_FOR_TEST, 0, 0));
    for (int i = 0; i < 100000; i++) {
        /* doubles in [2^53, 2^54) are even: odd is halfway; then tiny changes */
        const uint64_t odd = (bb_random_bits(&random) >> 10) | (uint64_t)1 << 53 | 1;
        const int more = (int)bb_random_below(&random, 3) - 1;
        snprintf(text, sizeof text, "%llu%s%d",
                 (unsigned long long)(more < 0 ? odd - 1 : odd), more < 0 ? ".9" : ".",
                 more > 0);
        check(text);
        const char *at = text;
        double value;
        fast += bb_scan_number(&at, &value);
    }
    bb_random_close(&random);
    if (LDBL_MANT_DIG == 64) assert_true(fast > 1000); /* the fast way was tried */
}

static void what_is_no_number(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bb_cell cell;
    } cells[] = {{"", BB_CELL_MISSING},       {"  ", BB_CELL_MISSING},
                 {"na", BB_CELL_MISSING},     {"N/A", BB_CELL_MISSING},
                 {" NaN ", BB_CELL_MISSING},  {"-nan", BB_CELL_MISSING},
                 {"NULL", BB_CELL_MISSING},   {"None", BB_CELL_MISSING},
                 {".", BB_CELL_MISSING},      {"inf", BB_CELL_INFINITE},
                 {"-INF", BB_CELL_INFINITE},  {"+Infinity", BB_CELL_INFINITE},
                 {"1e309", BB_CELL_INFINITE}, {"-9e400", BB_CELL_INFINITE},
                 {"abc", BB_CELL_TEXT},       {"1.2.3", BB_CELL_TEXT},
                 {"--1", BB_CELL_TEXT},       {"0x1p3", BB_CELL_TEXT},
                 {"nan(1)", BB_CELL_TEXT},    {"1e", BB_CELL_TEXT},
                 {"e5", BB_CELL_TEXT},        {"1,5", BB_CELL_TEXT},
                 {"+", BB_CELL_TEXT},         {"1 2", BB_CELL_TEXT}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        double value = 1;
        if (bb_scan_cell(cells[i].text, strlen(cells[i].text), &value) != cells[i].cell)
            fail_msg("\"%s\" was taken for something else", cells[i].text);
        assert_true(isnan(value));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_numbers),     cmocka_unit_test(random_numbers),
        cmocka_unit_test(cells_among_others), cmocka_unit_test(halfway_numbers),
        cmocka_unit_test(what_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
