/* Statistics of the rounded Gaussian. Every bound is wrong with probability below 1e-10
 * for a right sampler; there are less than a hundred, so over all seeds a false alarm
 * has probability below 1e-8, and the seeds are fixed. */
#include "privacy/noise/noise.h"
#include "privacy/noise/noise_table.h"
#include "test.h"

#include <string.h>

enum { DRAWS = 1000000, FINE = 4000000 };

#define LOG_ALARM 23.7 /* log(2e10) */

static const double std_of[] = {0x1p20, 1234567.890123, 7.3e9, 0x1.8p45,
                                0x1.fffffffffffffp53};
enum { STDS = sizeof std_of / sizeof *std_of };

static int64_t *draw(double std, uint64_t seed, size_t n) {
    static bb_random random;
    int64_t *value = calloc(n, sizeof *value);
    assert_non_null(value);
    assert_ok(bb_random_open_stream(&random, seed, BB_FOR_TEST, 0, 0));
    bb_noise_gaussian(&random, std, n, value);
    bb_random_close(&random);
    return value;
}

/* P(X >= k + 2 sqrt(k x) + 2 x) <= e^-x for chi-square with k degrees of freedom
 * (Laurent, Massart 2000, lemma 1). */
static double chi_square_bound(double k) {
    return k + 2.0 * sqrt(k * LOG_ALARM) + 2.0 * LOG_ALARM;
}

/* Bernstein: a count with mean c is further than this from it with probability < 1e-10.
 */
static double count_bound(double c) {
    return LOG_ALARM / 3.0 + sqrt(LOG_ALARM * LOG_ALARM / 9.0 + 2.0 * LOG_ALARM * c);
}

/* Sums of x^k and of x_i x_{i+1}; standard deviations of their means for N(0, 1). */
static void moments(void **state) {
    (void)state;
    for (size_t s = 0; s < STDS; s++) {
        int64_t *value = draw(std_of[s], 1 + s, DRAWS);
        double sum[4] = {0}, next = 0.0, before = 0.0;
        for (size_t i = 0; i < DRAWS; i++) {
            const double x = (double)value[i] / std_of[s];
            sum[0] += x;
            sum[1] += x * x - 1.0;
            sum[2] += x * x * x;
            sum[3] += x * x * x * x - 3.0;
            next += x * before;
            before = x;
        }
        const double sd = sqrt(DRAWS);
        assert_close(sum[0], 0.0, 6.8 * sd);
        assert_close(sum[1], 0.0, 6.8 * sd * sqrt(2.0));
        assert_close(sum[2], 0.0, 6.8 * sd * sqrt(15.0));
        assert_close(sum[3], 0.0, 6.8 * sd * sqrt(96.0));
        assert_close(next, 0.0, 6.8 * sd);
        free(value);
    }
}

static int ascending(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov, by the inequality of Dvoretzky, Kiefer, Wolfowitz, Massart.
 */
static void distribution_function(void **state) {
    (void)state;
    for (size_t s = 0; s < STDS; s++) {
        int64_t *value = draw(std_of[s], 11 + s, DRAWS);
        qsort(value, DRAWS, sizeof *value, ascending);
        double worst = 0.0;
        for (size_t i = 0; i < DRAWS; i++) {
            const double x = (double)value[i] / std_of[s];
            const double truth = 0.5 * erfc(-x * 0.70710678118654752440);
            const double below = (double)i / DRAWS, above = (double)(i + 1) / DRAWS;
            worst = fmax(worst, fmax(truth - below, above - truth));
        }
        assert_true(worst <= sqrt(LOG_ALARM / (2.0 * DRAWS)) + 1e-6);
        free(value);
    }
}

/* Chi-square over bins of half a cell of the sampler's table, on both signs. */
static void cells(void **state) {
    (void)state;
    enum { BINS = 2 * 208, PER_UNIT = 128 };
    const double std = 3.1e9;
    int64_t *value = draw(std, 21, FINE);
    size_t count[2 * BINS + 1] = {0};
    for (size_t i = 0; i < FINE; i++) {
        const double x = fabs((double)value[i] / std) * PER_UNIT;
        const size_t bin = x < BINS ? (size_t)x : BINS;
        count[bin == BINS ? 2 * (size_t)BINS : 2 * bin + (value[i] < 0)]++;
    }
    double chi_square = 0.0, left = 1.0;
    for (size_t bin = 0; bin < BINS; bin++) {
        const double p =
            0.5 * (erfc((double)bin / PER_UNIT * 0.70710678118654752440) -
                   erfc((double)(bin + 1) / PER_UNIT * 0.70710678118654752440));
        for (size_t sign = 0; sign < 2; sign++) {
            const double gap = (double)count[2 * bin + sign] - FINE * p;
            chi_square += gap * gap / (FINE * p);
        }
        left -= 2.0 * p;
    }
    const double gap = (double)count[2 * BINS] - FINE * left;
    chi_square += gap * gap / (FINE * left);
    assert_true(chi_square <= chi_square_bound(2 * BINS));
    free(value);
}

/* The density falls inside each cell of the table, too: the lower halves of all cells
 * against the upper ones. Cells with flat tops would be off by twelve standard
 * deviations. */
static void slope(void **state) {
    (void)state;
    enum { CHUNKS = 16, PER_UNIT = 128, HALVES = 64 * PER_UNIT };
    double lower = 0.0, expected = 0.0;
    for (size_t half = 0; half < HALVES; half++) {
        const double from = (double)half / PER_UNIT, to = (double)(half + 1) / PER_UNIT;
        const double p =
            erfc(from * 0.70710678118654752440) - erfc(to * 0.70710678118654752440);
        expected += half % 2 == 0 ? p : 0.0;
    }
    for (uint64_t chunk = 0; chunk < CHUNKS; chunk++) {
        int64_t *value = draw(7e11, 100 + chunk, DRAWS);
        for (size_t i = 0; i < DRAWS; i++)
            lower += (uint64_t)(fabs((double)value[i] / 7e11) * PER_UNIT) % 2 == 0;
        free(value);
    }
    const double n = (double)CHUNKS * DRAWS;
    assert_close(lower, n * expected, 6.8 * sqrt(n) / 2.0);
}

static void tails(void **state) {
    (void)state;
    int64_t *value = draw(0x1p32, 31, FINE);
    for (double from = 2.5; from < 6.0; from += 0.25) {
        size_t count = 0;
        for (size_t i = 0; i < FINE; i++)
            count += fabs((double)value[i]) >= from * 0x1p32;
        const double mean = FINE * erfc(from * 0.70710678118654752440);
        assert_close((double)count, mean, count_bound(mean));
    }
    for (size_t i = 0; i < FINE; i++)
        assert_true(fabs((double)value[i]) < 9.0 * 0x1p32);
    free(value);
}

/* The lowest bits are uniform at every scale, and signs are even: nothing is rounded
 * before the integers. */
static void grid_parity(void **state) {
    (void)state;
    for (size_t s = 0; s < STDS; s++) {
        int64_t *value = draw(std_of[s], 41 + s, DRAWS);
        size_t count[64] = {0}, negative = 0;
        for (size_t i = 0; i < DRAWS; i++) {
            count[(uint64_t)value[i] & 63]++;
            negative += value[i] < 0;
        }
        double chi_square = 0.0;
        for (size_t bin = 0; bin < 64; bin++) {
            const double gap = (double)count[bin] - DRAWS / 64.0;
            chi_square += gap * gap / (DRAWS / 64.0);
        }
        assert_true(chi_square <= chi_square_bound(63.0));
        assert_close((double)negative, DRAWS / 2.0, 6.8 * sqrt(DRAWS) / 2.0);
        free(value);
    }
}

/* The value is |g| std rounded to the nearest: the same bits at 2^k times the standard
 * deviation give the same g, so the finer grid's value rounds to the coarser's. */
static void rounding(void **state) {
    (void)state;
    enum { COUNT = 1000, SHIFT = 20 };
    static bb_random random;
    size_t same = 0;
    assert_ok(bb_random_open_stream(&random, 51, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < COUNT; i++) {
        int64_t coarse = 0, fine = 0;
        assert_ok(bb_random_restart(&random, 51, BB_FOR_TEST, i, 0));
        bb_noise_gaussian(&random, 1234567.5, 1, &coarse);
        assert_ok(bb_random_restart(&random, 51, BB_FOR_TEST, i, 0));
        bb_noise_gaussian(&random, ldexp(1234567.5, SHIFT), 1, &fine);
        const double gap = (double)fine - ldexp((double)coarse, SHIFT);
        same += fabs(gap) <= ldexp(0.5, SHIFT);
    }
    /* not the same g where bits were drawn beyond the first word, 1 in 2048 */
    assert_in_range(same, COUNT - 15, COUNT);
    bb_random_close(&random);
}

/* Bits beyond the first word round up exactly as often as they must. The test knows how
 * a word is used: 12 bits of slot, a sign, 51 bits of place. */
static void lazy_bits(void **state) {
    (void)state;
    static bb_random random;
    static const struct {
        double std, step; /* step: the significand times a power of two */
        unsigned drop;
    } row[] = {{0x1.8p53, 0x1.8p60, 0}, {0x1.8p44, 0x1.8p52, 1}};
    assert_ok(bb_random_open_stream(&random, 51, BB_FOR_TEST, 0, 0));
    for (size_t s = 0; s < sizeof row / sizeof *row; s++) {
        double excess = 0.0, tilt = 0.0, expected = 0.0, variance = 0.0;
        for (uint64_t i = 0; i < DRAWS / 2; i++) {
            int64_t value = 0;
            assert_ok(bb_random_restart(&random, 51, BB_FOR_TEST, i, s));
            const uint64_t word = bb_random_bits(&random), slot = word >> 52;
            if (slot >= BB_NOISE_INSIDE) continue;
            assert_ok(bb_random_restart(&random, 51, BB_FOR_TEST, i, s));
            bb_noise_gaussian(&random, row[s].std, 1, &value);
            const uint64_t place = (uint64_t)bb_noise_cell[slot] << 51 |
                                   (word & ((UINT64_C(1) << 51) - 1));
            const bb_u128 sum =
                (bb_u128)(uint64_t)row[s].step * (place >> row[s].drop) +
                ((bb_u128)1 << 63);
            const int64_t whole = (int64_t)(sum >> 64);
            const double gap = (double)(~(uint64_t)sum) / row[s].step;
            const double p = fmax(0.0, 1.0 - gap);
            const int64_t size = word >> 51 & 1 ? -value : value;
            assert_true(size == whole || (size == whole + 1 && p > 0.0));
            const double surprise = (double)(size - whole) - p;
            excess += surprise;
            tilt += surprise * (2.0 * p - 1.0);
            expected += p;
            variance += p * (1.0 - p);
        }
        assert_true(expected > 20.0);
        assert_close(excess, 0.0, count_bound(variance));
        assert_close(tilt, 0.0, count_bound(variance));
    }
    bb_random_close(&random);
}

static void stream(void **state) {
    (void)state;
    int64_t *whole = draw(1e9, 61, 1000), parts[1000];
    static bb_random random;
    memset(parts, 0, sizeof parts);
    assert_ok(bb_random_open_stream(&random, 61, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < 1000; i += 8) bb_noise_gaussian(&random, 1e9, 8, parts + i);
    assert_memory_equal(whole, parts, sizeof parts);
    int64_t added = 1000;
    assert_ok(bb_random_restart(&random, 61, BB_FOR_TEST, 0, 0));
    bb_noise_gaussian(&random, 1e9, 1, &added);
    assert_true(added == whole[0] + 1000);
    bb_noise_gaussian(&random, 1e9, 0, NULL);
    bb_random_close(&random);
    free(whole);
}

static void saturation(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    int64_t high[COUNT], low[COUNT];
    static bb_random random;
    size_t top = 0, bottom = 0;
    for (size_t i = 0; i < COUNT; i++) {
        high[i] = INT64_MAX;
        low[i] = INT64_MIN;
    }
    assert_ok(bb_random_open_stream(&random, 71, BB_FOR_TEST, 0, 0));
    bb_noise_gaussian(&random, 0x1.fp53, COUNT, high);
    bb_noise_gaussian(&random, 0x1.fp53, COUNT, low);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(high[i] > INT64_MAX / 4 && low[i] < INT64_MIN / 4);
        top += high[i] == INT64_MAX;
        bottom += low[i] == INT64_MIN;
    }
    assert_in_range(top, COUNT / 2 - 160, COUNT / 2 + 160);
    assert_in_range(bottom, COUNT / 2 - 160, COUNT / 2 + 160);
    bb_random_close(&random);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments),     cmocka_unit_test(distribution_function),
        cmocka_unit_test(cells),       cmocka_unit_test(tails),
        cmocka_unit_test(grid_parity), cmocka_unit_test(rounding),
        cmocka_unit_test(lazy_bits),   cmocka_unit_test(slope),
        cmocka_unit_test(stream),      cmocka_unit_test(saturation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
