#include "privacy/ledger/amount.h"
#include "test.h"

enum { BITS = BB_AMOUNT_EPSILON_BITS };

static void exact_and_up(void **state) {
    (void)state;
    assert_true(bb_amount(0.0, BITS) == 0);
    assert_true(bb_amount(1.0, BITS) == (bb_u128)1 << BITS);
    assert_true(bb_amount(0x1p-100, BITS) == 1);
    assert_true(bb_amount(0x1.8p-100, BITS) == 2); /* up */
    assert_true(bb_amount(5e-324, BITS) == 1);
    assert_true(bb_amount(0x1p20, BITS) == (bb_u128)1 << 120);
    const double values[] = {0.1, 1.0 / 3.0, 1e-5, 0x1.fffffffffffffp19, 7e-12};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        assert_true(bb_amount_real(bb_amount(values[k], BITS), BITS) == values[k]);
}

/* Unlike doubles, the sum of amounts does not depend on the order. */
static void sums(void **state) {
    (void)state;
    bb_u128 up = 0, down = 0;
    for (int k = 1; k <= 1000; k++) {
        up = bb_amount_add(up, bb_amount(1.0 / k, BITS));
        down = bb_amount_add(down, bb_amount(1.0 / (1001 - k), BITS));
    }
    assert_true(up == down);
    assert_relative(bb_amount_real(up, BITS), 7.4854708605503449127, 1e-15);
    assert_true(bb_amount_add(~(bb_u128)0, 1) == ~(bb_u128)0);
    /* back to a double that is not below */
    const bb_u128 odd = ((bb_u128)1 << BITS) + 1;
    assert_true(bb_amount_real(odd, BITS) == 1.0 + 0x1p-52);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_and_up),
        cmocka_unit_test(sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
