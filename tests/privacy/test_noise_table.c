/* The sampler's table against its definition, and the fixed-point curve against
 * 70-digit values. */
#include "privacy/noise/noise_table.h"
#include "test.h"

static bb_u128 wide(uint64_t high, uint64_t low) {
    return (bb_u128)high << 64 | low;
}

static bb_u128 difference(bb_u128 a, bb_u128 b) {
    return a > b ? a - b : b - a;
}

/* floor(101 * 2^43 * exp(-x^2/2) * 2^(64 + scale)), mpmath. */
static void curve_values(void **state) {
    (void)state;
    static const struct {
        uint64_t place, more;
        unsigned scale;
        uint64_t high, low;
    } row[] = {
        {0x0, 0x0, 0, 0x3280000000000, 0x0},
        {0x1, 0x0, 0, 0x327ffffffffff, 0xffffffffffffffff},
        {0x0, 0x8000000000000000, 0, 0x327ffffffffff, 0xffffffffffffffff},
        {0x8000000000000, 0x0, 0, 0x327e6c064fef2, 0xacc551f77bf49a28},
        {0xf2a74d52e6b438, 0x6513270e269e0d37, 0, 0x2d22aabad19dc, 0x2d03696bc00856e5},
        {0x32062e3a6a3a450, 0xd23f0824128b2f33, 0, 0xee18eea2a30c, 0xdb8e7deaf2e874a9},
        {0x5f8c0c7892f902b, 0x9531985d5d9dc9f8, 0, 0x95d4efeef73, 0x142d70075303427b},
        {0x600000000000000, 0x0, 0, 0x8f9dfabd916, 0x5d2b1e45af1cfcf8},
        {0x62f47120ed90475, 0x36f675cc81e74ef5, 0, 0x6c6791bf90d, 0x2eee5c9c85ab8ce6},
        {0x7b8b005099950d8, 0x6b0d549b6f03675a, 3, 0x3bfb076f4c7, 0x73ea0509f285e061},
        {0x1079ece011e20b8f, 0x8d116ece1738f7d9, 20, 0x1a0a05, 0x8b8de7be2461a2a4},
        {0x247fffffffffffff, 0xffffffffffffffff, 60, 0x0, 0x0},
        {0x25ad57c895f8863, 0x0, 0, 0x1940000000000, 0xe53badebb8edb6},
        {0x25ad57c895f8864, 0x0, 0, 0x193ffffffffff, 0xfff76573c9863ce6},
        {0x7725409cb8f5ed2, 0xffffffffffffffff, 1, 0x193ffffffff, 0xffffeb56d7ef0a0f},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const bb_u128 f = bb_noise_curve(row[k].place, row[k].more, row[k].scale);
        assert_true(difference(f, wide(row[k].high, row[k].low)) <= 4);
    }
}

/* envelope[k] - 1 < f(k/64) <= envelope[k]. */
static void envelope(void **state) {
    (void)state;
    for (uint64_t k = 0; k <= BB_NOISE_CELLS; k++) {
        const bb_u128 f = bb_noise_curve(k << BB_NOISE_PLACE_BITS, 0, 0);
        assert_true(f <= wide(bb_noise_envelope[k], 0) + (k == 0 ? 0 : 4));
        if (k > 0) { /* strictly between integers, by more than the curve's error */
            assert_true(f + 4 < wide(bb_noise_envelope[k], 0));
            assert_true(f > wide(bb_noise_envelope[k] - 1, 0) + 4);
        }
        const double x = (double)k / 64.0;
        assert_relative((double)bb_noise_envelope[k], 0x1.94p49 * exp(-x * x / 2.0),
                        1e-12);
    }
}

static void slots(void **state) {
    (void)state;
    uint64_t count[BB_NOISE_CELLS] = {0};
    for (size_t k = 0; k < BB_NOISE_INSIDE; k++) {
        assert_true(k == 0 || bb_noise_cell[k - 1] <= bb_noise_cell[k]);
        assert_true(bb_noise_cell[k] < BB_NOISE_CELLS);
        count[bb_noise_cell[k]]++;
    }
    assert_true(bb_noise_rest[0] == 0);
    for (size_t k = 0; k < BB_NOISE_CELLS; k++) {
        /* as many whole slots as fit under the lower end of the curve */
        assert_true(count[k] == (bb_noise_envelope[k + 1] - 1) >> BB_NOISE_HEIGHT_BITS);
        const uint64_t inside = count[k] << BB_NOISE_HEIGHT_BITS;
        assert_true(bb_noise_rest[k + 1] - bb_noise_rest[k] ==
                    bb_noise_envelope[k] - inside);
    }
    assert_true(bb_noise_rest[BB_NOISE_CELLS + 1] - bb_noise_rest[BB_NOISE_CELLS] ==
                32 * bb_noise_envelope[BB_NOISE_CELLS]);
    const uint64_t others = (1 << BB_NOISE_SLOT_BITS) - BB_NOISE_INSIDE;
    assert_true(bb_noise_rest[BB_NOISE_CELLS + 1] <= others << BB_NOISE_HEIGHT_BITS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curve_values),
        cmocka_unit_test(envelope),
        cmocka_unit_test(slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
