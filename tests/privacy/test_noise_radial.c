/* Statistics of the radial noise. Every bound is wrong with probability below 1e-10 for
 * a right sampler; there are less than sixty, so over all seeds a false alarm has
 * probability below 1e-8, and the seeds are fixed. */
#include "privacy/noise/noise.h"
#include "test.h"

#include <stdbool.h>

enum { CELLS = 256, MOST = 50 };

#define LOG_ALARM 23.7 /* log(2e10) */

static const struct {
    size_t n, draws;
    double scale;
} row[] = {
    {1, 1000000, 0x1p36}, {2, 1000000, 0x1p28}, {3, 1000000, 0x1.6789p35},
    {7, 400000, 0x1p40},  {50, 200000, 0x1p36},
};
enum { ROWS = sizeof row / sizeof *row };

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

static double chi_square(size_t cells, const double *count, double draws) {
    const double mean = draws / (double)cells;
    double sum = 0.0;
    for (size_t k = 0; k < cells; k++) sum += (count[k] - mean) * (count[k] - mean);
    return sum / mean;
}

/* P(Gamma(n) > x) and its complement, each to full precision where it is small. */
static double above(size_t n, double x) {
    double term = exp(-x), sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        sum += term;
        term *= x / (double)(k + 1);
    }
    return sum;
}

static double below(size_t n, double x) {
    double term = exp(-x), sum = 0.0;
    for (size_t k = 0; k < n + 200; k++) {
        if (k >= n) sum += term;
        term *= x / (double)(k + 1);
    }
    return sum;
}

/* The sample's length in units of scale. */
static double draw(bb_random *random, size_t n, double scale, double *b) {
    int64_t value[MOST] = {0};
    double squares = 0.0;
    bb_noise_radial(random, scale, n, value);
    for (size_t k = 0; k < n; k++) {
        b[k] = (double)value[k] / scale;
        squares += b[k] * b[k];
    }
    return sqrt(squares);
}

/* Chi-square over 256 cells of equal probability, and counts of the shortest and the
 * longest samples. */
static void radius(void **state) {
    (void)state;
    enum { ENDS = 4 };
    static bb_random random;
    for (size_t s = 0; s < ROWS; s++) {
        const size_t n = row[s].n;
        const double middle = (double)n, spread = sqrt(middle);
        double count[CELLS] = {0}, low[ENDS] = {0}, high[ENDS] = {0}, b[MOST];
        assert_ok(bb_random_open_stream(&random, 1 + s, BB_FOR_TEST, 0, 0));
        for (size_t i = 0; i < row[s].draws; i++) {
            const double r = draw(&random, n, row[s].scale, b);
            count[(size_t)fmin(CELLS - 1, CELLS * above(n, r))]++;
            for (size_t k = 0; k < ENDS; k++) {
                low[k] += r < ldexp(middle, -2 * (int)k - 1);
                high[k] += r > middle + (3.0 + 1.5 * (double)k) * spread;
            }
        }
        bb_random_close(&random);
        const double draws = (double)row[s].draws;
        assert_true(chi_square(CELLS, count, draws) <= chi_square_bound(CELLS - 1));
        for (size_t k = 0; k < ENDS; k++) {
            const double few = draws * below(n, ldexp(middle, -2 * (int)k - 1));
            const double many =
                draws * above(n, middle + (3.0 + 1.5 * (double)k) * spread);
            assert_close(low[k], few, count_bound(few));
            assert_close(high[k], many, count_bound(many));
        }
    }
}

/* Any three coordinates point in a uniform direction, whatever the length: the third
 * over their length is uniform on [-1, 1] (Archimedes), the angle of the others on the
 * circle. Cells: 4 lengths, 16 heights, 4 angles; for n = 2, 4 lengths and 64 angles.
 */
static void direction(void **state) {
    (void)state;
    static bb_random random;
    for (size_t s = 1; s < ROWS; s++) {
        const size_t n = row[s].n;
        double count[CELLS] = {0}, b[MOST];
        assert_ok(bb_random_open_stream(&random, 11 + s, BB_FOR_TEST, 0, 0));
        for (size_t i = 0; i < row[s].draws; i++) {
            const double r = draw(&random, n, row[s].scale, b);
            const double x = b[n / 2 - 1], y = b[n / 2];
            const double turn = 0.5 + atan2(y, x) / (2.0 * M_PI);
            const size_t length = (size_t)fmin(3.0, 4.0 * above(n, r));
            size_t cell = (size_t)fmin(63.0, 64.0 * turn);
            if (n > 2) {
                const double z = b[n - 1], height = z / sqrt(x * x + y * y + z * z);
                cell = (size_t)fmin(15.0, 8.0 + 8.0 * height) * 4;
                cell += (size_t)fmin(3.0, 4.0 * turn);
            }
            count[length * 64 + cell]++;
        }
        bb_random_close(&random);
        assert_true(chi_square(CELLS, count, (double)row[s].draws) <=
                    chi_square_bound(CELLS - 1));
    }
}

/* The lowest bits are uniform and signs are even at the least and the greatest scale:
 * nothing is rounded to a coarser grid. */
static void grid(void **state) {
    (void)state;
    enum { DRAWS = 100000, N = 5, BITS = 64 };
    static const double scale[] = {BB_RADIAL_LEAST_SCALE, BB_RADIAL_MOST_SCALE};
    static bb_random random;
    for (size_t s = 0; s < 2; s++) {
        double count[BITS] = {0}, negative = 0.0;
        assert_ok(bb_random_open_stream(&random, 21 + s, BB_FOR_TEST, 0, 0));
        for (size_t i = 0; i < DRAWS; i++) {
            int64_t value[N] = {0};
            bb_noise_radial(&random, scale[s], N, value);
            for (size_t k = 0; k < N; k++) {
                count[(uint64_t)value[k] % BITS]++;
                negative += value[k] < 0;
            }
        }
        bb_random_close(&random);
        assert_true(chi_square(BITS, count, DRAWS * N) <= chi_square_bound(BITS - 1));
        assert_close(negative, DRAWS * N / 2.0, 6.8 * sqrt(DRAWS * N) / 2.0);
    }
}

/* It is added, it depends on the stream alone, and the longest vectors fit. */
static void added(void **state) {
    (void)state;
    enum { N = 150 };
    static bb_random random;
    int64_t once[N] = {0}, again[N], *longest;
    double mean = 0.0;
    for (size_t k = 0; k < N; k++) again[k] = (int64_t)k - 7;
    again[0] = INT64_MAX;
    again[1] = INT64_MIN;
    assert_ok(bb_random_open_stream(&random, 31, BB_FOR_TEST, 0, 0));
    bb_noise_radial(&random, 0x1p36, N, once);
    assert_ok(bb_random_restart(&random, 31, BB_FOR_TEST, 0, 0));
    bb_noise_radial(&random, 0x1p36, 0, NULL);
    bb_noise_radial(&random, 0x1p36, N, again);
    for (size_t k = 2; k < N; k++) assert_true(again[k] == once[k] + (int64_t)k - 7);
    assert_true(again[0] == INT64_MAX + (once[0] < 0 ? once[0] : 0));
    assert_true(again[1] == INT64_MIN + (once[1] > 0 ? once[1] : 0));
    longest = calloc(BB_RADIAL_MOST_LENGTH, sizeof *longest);
    assert_non_null(longest);
    bb_noise_radial(&random, BB_RADIAL_MOST_SCALE, BB_RADIAL_MOST_LENGTH, longest);
    for (size_t k = 0; k < BB_RADIAL_MOST_LENGTH; k++)
        mean += ldexp((double)longest[k] * (double)longest[k], -80 - 22);
    /* of length n scale, give or take sqrt(n) of it */
    assert_relative(sqrt(mean), ldexp(1.0, 11), 0.01);
    free(longest);
    bb_random_close(&random);
}

static bool fails(double scale, size_t n) {
    static bb_random random;
    int64_t value[1] = {0};
    assert_ok(bb_random_open_stream(&random, 41, BB_FOR_TEST, 0, 0));
    bb_noise_radial(&random, scale, n, value);
    const bool failed = bb_random_check(&random) == BB_EIO;
    assert_true(failed == (value[0] == 0));
    bb_random_close(&random);
    return failed;
}

static void preconditions(void **state) {
    (void)state;
    assert_true(fails(nextafter(BB_RADIAL_LEAST_SCALE, 0.0), 1));
    assert_true(fails(nextafter(BB_RADIAL_MOST_SCALE, INFINITY), 1));
    assert_true(fails(NAN, 1));
    assert_true(fails(0x1p36, (size_t)BB_RADIAL_MOST_LENGTH + 1));
    assert_false(fails(0x1p36, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(radius),        cmocka_unit_test(direction),
        cmocka_unit_test(grid),          cmocka_unit_test(added),
        cmocka_unit_test(preconditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
