#include "base/number.h"
#include "test.h"

#include <float.h>
#include <locale.h>

static void decimals_are_read(void **state) {
    (void)state;
    const struct {
        const char *text;
        double value;
    } good[] = {
        {"0", 0.0},           {"-1", -1.0},
        {"+2.5", 2.5},        {".5", 0.5},
        {"5.", 5.0},          {"1e3", 1000.0},
        {"1E+3", 1e3},        {"2.5e-1", 0.25},
        {"0.1", 0.1},         {"1e-400", 0.0},
        {"007", 7.0},         {"1.7976931348623157e308", 0x1.fffffffffffffp1023},
        {"5e-324", 0x1p-1074}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double value = NAN;
        if (!bb_number_real(good[i].text, &value)) fail_msg("%s refused", good[i].text);
        assert_true(value == good[i].value);
    }
}

static void anything_else_is_refused(void **state) {
    (void)state;
    const char *const bad[] = {"",      " 1",    "1 ",     "abc",     "1a",  "0x10",
                               "inf",   "nan",   "-",      ".",       "e5",  "1e",
                               "1e+",   "1e400", "-1e400", "1,5",     "1_0", "--1",
                               "1.2.3", "1e5.0", "\t1",    "INFINITY"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = 42.0;
        if (bb_number_real(bad[i], &value)) fail_msg("\"%s\" taken", bad[i]);
        assert_true(value == 42.0);
    }
}

static void counts_are_whole_and_not_negative(void **state) {
    (void)state;
    uint64_t value = 42;
    const char *const bad[] = {"",
                               "-1",
                               "+1",
                               "1.0",
                               "1e3",
                               " 1",
                               "18446744073709551616",
                               "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (bb_number_count(bad[i], &value)) fail_msg("\"%s\" taken", bad[i]);
        assert_true(value == 42);
    }
    assert_true(bb_number_count("0", &value));
    assert_true(value == 0);
    assert_true(bb_number_count("18446744073709551615", &value));
    assert_true(value == UINT64_MAX);
}

static void the_locale_does_not_matter(void **state) {
    (void)state;
    const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR",
                                 "nl_NL.UTF-8"};
    const char *found = NULL;
    for (size_t i = 0; !found && i < sizeof comma / sizeof *comma; i++)
        found = setlocale(LC_NUMERIC, comma[i]);
    if (!found) skip(); /* no locale with a decimal comma on this machine */
    double value = NAN;
    const bool taken = bb_number_real("1.5", &value);
    const bool comma_taken = bb_number_real("1,5", &value);
    setlocale(LC_NUMERIC, "C");
    assert_true(taken);
    assert_false(comma_taken);
    assert_true(value == 1.5);
}

static void assert_written(double value) {
    char text[BB_NUMBER_BYTES], expected[64];
    const size_t length = bb_number_write(value, text);
    snprintf(expected, sizeof expected, "%.17g", value);
    if (strcmp(text, expected) != 0) fail_msg("%s for %s", text, expected);
    assert_int_equal(length, strlen(text));
}

/* All sizes; whole numbers, halves and what rounds up to a power of ten among them. */
static void numbers_are_written_as_printf_does(void **state) {
    (void)state;
    const double some[] = {0.0,
                           1.0,
                           0.5,
                           0.1,
                           1e16,
                           1e17,
                           1e-10,
                           1e-11,
                           1e22,
                           1e-4,
                           1e-5,
                           123456789.0,
                           0.3,
                           1e15,
                           0x1p56,
                           0x1p-33,
                           5e-324,
                           INFINITY,
                           99999999999999990.0,
                           0.00099999999999999999,
                           9.9999999999999995e-5,
                           DBL_MAX};
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        assert_written(some[k]);
        assert_written(-some[k]);
        assert_written(nextafter(some[k], 0));
        assert_written(nextafter(some[k], INFINITY));
    }
    for (int power = -12; power < 19; power++) {
        const double ten = pow(10, power);
        for (int k = 0; k < 20; k++) assert_written(ten * (1 + k * DBL_EPSILON));
        for (int k = 1; k < 20; k++) assert_written(ten * (1 - k * DBL_EPSILON / 2));
    }
    uint64_t bits = 88172645463325252;
    for (int k = 0; k < 200000; k++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        const double unit = (double)(bits >> 11) * 0x1p-53;
        assert_written(ldexp(unit, (int)(bits % 100) - 40));
        assert_written(ldexp((double)(bits >> 40), (int)(bits % 64) - 40));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_as_printf_does),
        cmocka_unit_test(decimals_are_read),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(counts_are_whole_and_not_negative),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
