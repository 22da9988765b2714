/* The sampler's tail: kept points beyond 5, 8, 10 and 12 standard deviations. From 10
 * on nearly all are decided by the fixed-point curve. A right sampler fails one of the
 * twelve tests with probability below 1e-9, and the seeds are fixed. */
#include "noise_tail.h"
#include "test.h"

enum { KEPT = 100000, CELLS = 64 };

#define LOG_ALARM 23.7 /* log(2e10) */

static void check_tail(double from, uint64_t seed) {
    const noise_tail tail = noise_tail_open(from);
    const double std = 0x1p40;
    static bb_random random;
    double count[CELLS] = {0}, drawn = 0.0, positive = 0.0, chi_square = 0.0;
    assert_ok(bb_random_open_stream(&random, seed, BB_FOR_TEST, 0, 0));
    for (size_t kept = 0; kept < KEPT; drawn++) {
        const int64_t value = noise_tail_draw(&tail, &random, std);
        assert_true(drawn < 20.0 * KEPT);
        if (value == 0) continue;
        const double rank = noise_tail_rank(&tail, std, value) * CELLS;
        assert_true(rank <= CELLS * (1.0 + 1e-9));
        count[rank < CELLS ? (size_t)rank : CELLS - 1]++;
        positive += value > 0;
        kept++;
    }
    bb_random_close(&random);
    for (size_t k = 0; k < CELLS; k++) {
        const double gap = count[k] - (double)KEPT / CELLS;
        chi_square += gap * gap / ((double)KEPT / CELLS);
    }
    /* Laurent, Massart 2000, lemma 1 */
    const double freedom = CELLS - 1;
    assert_true(chi_square <=
                freedom + 2.0 * sqrt(freedom * LOG_ALARM) + 2.0 * LOG_ALARM);
    assert_close(positive, KEPT / 2.0, 6.8 * sqrt(KEPT) / 2.0);
    /* of `drawn` points KEPT were kept */
    assert_close(KEPT / drawn, tail.kept,
                 6.8 * sqrt(tail.kept * (1.0 - tail.kept) / drawn));
}

static void test_tail(void **state) {
    (void)state;
    check_tail(5.0, 1);
    check_tail(8.0, 2);
    check_tail(10.0, 3);
    check_tail(12.0, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
