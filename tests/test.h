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

/* Reference values and real data sets that are too large for, or not licensed for, the
 * repository: the folder named by BB_SHARED, else ../shared beside the source tree.
 * Returns NULL when it is absent; a test then calls skip(). */
static inline const char *shared_path(char *buffer, size_t size, const char *name) {
    const char *folder = getenv("BB_SHARED");
    if (folder)
        snprintf(buffer, size, "%s/%s", folder, name);
    else
        snprintf(buffer, size, "%s/../shared/%s", BB_SOURCE_DIR, name);
    return access(buffer, R_OK) == 0 ? buffer : NULL;
}

#endif
