/* Proximal operators of numbers. */
#include "linalg/prox.h"
#include "test.h"

static void test_soft(void **state) {
    (void)state;
    assert_close(bb_soft(3, 1), 2, 0);
    assert_close(bb_soft(-3, 1), -2, 0);
    assert_close(bb_soft(0.5, 1), 0, 0);
    assert_close(bb_soft(-1, 1), 0, 0);
    assert_close(bb_soft(0.25, 0), 0.25, 0);
    assert_true(isnan(bb_soft(NAN, 1)));
    double w[3] = {2, -0.5, -4};
    bb_prox_l1(3, w, 1);
    assert_true(w[0] == 1 && w[1] == 0 && w[2] == -3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_soft),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
