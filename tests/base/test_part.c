/* Libraries that are loaded when they are needed, with the system's own ones. */
#include "base/part.h"
#include "test.h"

static struct { double (*cos)(double), (*sin)(double); } table;

static void finds_functions(void **state) {
    (void)state;
    static const char *const names[] = {"cos", "sin", NULL};
    const bb_part part = {"angles", "libm.so.6", "libc6", names};
    assert_ok(bb_part_load(&part, &table));
    assert_true(table.cos(0) == 1 && table.sin(0) == 0);
    assert_ok(bb_part_load(&part, &table));
}

static void says_what_is_missing(void **state) {
    (void)state;
    static const char *const names[] = {"cos", "no_such_function", NULL};
    const bb_part lacks = {"angles", "libm.so.6", "libc6", names};
    assert_fails(bb_part_load(&lacks, &table), BB_EIO,
                 "angles need libm.so.6, which cannot be loaded (");
    assert_non_null(strstr(bb_last_error(), "no_such_function); Debian's package is "
                                            "libc6"));
    const bb_part gone = {"angles", "libnowhere.so.7", "libnowhere7", names};
    assert_fails(bb_part_load(&gone, &table), BB_EIO,
                 "angles need libnowhere.so.7, which cannot be loaded (");
    assert_non_null(strstr(bb_last_error(), "); Debian's package is libnowhere7"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_functions),
        cmocka_unit_test(says_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
