/* test.h - the only file that includes cmocka, which insists on this order. */
#ifndef BB_TESTS_TEST_H
#define BB_TESTS_TEST_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* On failure shows the library's own message, not only a number. */
#define assert_ok(call)                                                                \
    do {                                                                               \
        const bb_status status_ = (call);                                              \
        if (status_) fail_msg("%s: %s", bb_status_text(status_), bb_last_error());     \
    } while (0)

/* The call fails with `code` and its message contains `words`. */
#define assert_fails(call, code, words)                                                \
    do {                                                                               \
        const bb_status status_ = (call);                                              \
        if (status_ != (code) || !strstr(bb_last_error(), (words)))                    \
            fail_msg("%s gave \"%s\", \"%s\"; expected \"%s\" with \"%s\"", #call,     \
                     bb_status_text(status_), bb_last_error(), bb_status_text(code),   \
                     (words));                                                         \
    } while (0)

/* cmocka 1.1.5 compares floats only; solvers need doubles. */
#define assert_close(a, b, tolerance)                                                  \
    do {                                                                               \
        const double a_ = (a), b_ = (b);                                               \
        if (!(fabs(a_ - b_) <= (tolerance)))                                           \
            fail_msg("%s = %.17g but %s = %.17g", #a, a_, #b, b_);                     \
    } while (0)

/* Relative to the larger of 1e-300 and |b|. */
#define assert_relative(a, b, tolerance)                                               \
    do {                                                                               \
        const double a_ = (a), b_ = (b);                                               \
        if (!(fabs(a_ - b_) <= (tolerance)*fmax(1e-300, fabs(b_))))                    \
            fail_msg("%s = %.17g but %s = %.17g", #a, a_, #b, b_);                     \
    } while (0)

/* A program with a skipped test ends with 77, which CTest counts as skipped, unless a
 * test failed. */
enum { TESTS_SKIPPED = 77 };
static int tests_skipped;
#undef skip
#define skip()                                                                         \
    do {                                                                               \
        tests_skipped++;                                                               \
        _skip(__FILE__, __LINE__);                                                     \
    } while (0)
static inline int tests_result(int failed) {
    return !failed && tests_skipped ? TESTS_SKIPPED : failed;
}
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown)                                 \
    tests_result(_cmocka_run_group_tests(                                              \
        #tests, tests, sizeof(tests) / sizeof *(tests), setup, teardown))

/* Real data sets, and all reference values, are too large for the repository: they are
 * in the folder named by BB_SHARED, else ../shared beside the source tree. Of "oracle/"
 * a thinned set is in tests/reference. NULL: it is not there; a test then calls skip().
 */
static inline const char *shared_path(char *buffer, size_t size, const char *name) {
    const char *folder = getenv("BB_SHARED");
    if (folder)
        snprintf(buffer, size, "%s/%s", folder, name);
    else
        snprintf(buffer, size, "%s/../shared/%s", BB_SOURCE_DIR, name);
    if (access(buffer, R_OK) == 0) return buffer;
    if (strncmp(name, "oracle/", 7) != 0) return NULL;
    snprintf(buffer, size, "%s/tests/reference/%s", BB_SOURCE_DIR, name + 7);
    return access(buffer, R_OK) == 0 ? buffer : NULL;
}

#endif
