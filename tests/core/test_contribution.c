/* What the door makes of a contribution: integers inside the ball, at once. */
#include "core/contribution.h"
#include "linalg/linalg.h"
#include "test.h"

#include <math.h>

enum { N = 1000, BITS = 32 };

/* Were a caller's clip off, whether by one part in a hundred or by a thousand times,
 * steps of one would take hours; what is left is as long as it may be. */
static void what_is_too_long_is_shortened_at_once(void **state) {
    const double length[] = {1.01, 1e3};
    const bb_block block = {"v", BB_FORM_VECTOR, N, 1.0, 1.0};
    static double v[N];
    (void)state;
    for (size_t r = 0; r < 2; r++) {
        double squares = 0.0;
        for (size_t k = 0; k < N; k++)
            v[k] = length[r] * (k % 2 ? -1.0 : 1.0) / sqrt(N);
        bb_contribution_fit(&block, false, BITS, N, v);
        for (size_t k = 0; k < N; k++) squares += v[k] * v[k];
        assert_true(squares <= ldexp(1.0, 2 * BITS));
        assert_true(squares > ldexp(1.0 - 1e-6, 2 * BITS));
        for (size_t k = 0; k < N; k++) assert_true(v[k] == trunc(v[k]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_too_long_is_shortened_at_once),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
