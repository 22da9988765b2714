/* Frequencies of private selection against the exact probabilities; each chi-square
 * bound is exceeded with probability below 1e-10. */
#include "privacy/noise/noise.h"
#include "test.h"

#include <string.h>

enum { DRAWS = 400000, MOST = 8 };

#define LOG_ALARM 23.7
#define UNIT      1048576.0 /* scores are multiples of 2^-20 */

/* Probabilities of permute-and-flip by going through all orders (n <= 8): the sum over
 * subsets S of {j != i} of (-1)^|S| prod q_j / (|S| + 1) times q_i (McKenna, Sheldon
 * 2020, proposition 4). */
static void permute_and_flip_law(size_t n, const double *q, double *p) {
    for (size_t i = 0; i < n; i++) {
        p[i] = 0.0;
        for (size_t set = 0; set < (size_t)1 << n; set++) {
            if (set >> i & 1) continue;
            double product = q[i];
            int members = 0;
            for (size_t j = 0; j < n; j++)
                if (set >> j & 1) {
                    product *= -q[j];
                    members++;
                }
            p[i] += product / (members + 1);
        }
    }
}

static void check(double epsilon, size_t n, const int64_t *score) {
    static bb_random random;
    double q[MOST], p[MOST], count[MOST] = {0}, chi_square = 0.0;
    int64_t best = score[0];
    for (size_t i = 1; i < n; i++) best = score[i] > best ? score[i] : best;
    for (size_t i = 0; i < n; i++)
        q[i] = exp(-epsilon * (double)(best - score[i]) / UNIT / 2.0);
    permute_and_flip_law(n, q, p);
    assert_ok(bb_random_open_stream(&random, 5, BB_FOR_TEST, n, 0));
    for (size_t k = 0; k < DRAWS; k++) {
        const size_t i = bb_select_permute_and_flip(&random, epsilon, n, score);
        assert_in_range(i, 0, n - 1);
        count[i]++;
    }
    bb_random_close(&random);
    for (size_t i = 0; i < n; i++) {
        const double gap = count[i] - DRAWS * p[i];
        if (DRAWS * p[i] > 20.0)
            chi_square += gap * gap / (DRAWS * p[i]);
        else
            assert_true(fabs(gap) <= 60.0);
    }
    const double k = (double)n;
    assert_true(chi_square <= k + 2.0 * sqrt(k * LOG_ALARM) + 2.0 * LOG_ALARM);
}

static void frequencies(void **state) {
    (void)state;
    static const int64_t near[] = {3 << 20, (3 << 20) + 1000, 2 << 20, 5 << 19};
    static const int64_t far[] = {0, 1 << 20, 4 << 20, -(3 << 20), 1 << 22, 12 << 20};
    static const int64_t same[] = {7, 7, 7, 7, 7};
    const double epsilon[] = {0.0, 0.3, 1.0, 2.7, 11.0};
    for (size_t k = 0; k < sizeof epsilon / sizeof *epsilon; k++) {
        check(epsilon[k], 4, near);
        check(epsilon[k], 6, far);
    }
    check(1.0, 5, same);
}

static void extremes(void **state) {
    (void)state;
    static bb_random random;
    const int64_t one[] = {-5}, wide[] = {INT64_MIN, INT64_MAX, INT64_MIN};
    static int64_t many[BB_SELECT_MOST];
    assert_ok(bb_random_open_stream(&random, 9, BB_FOR_TEST, 0, 0));
    assert_int_equal(bb_select_permute_and_flip(&random, INFINITY, 1, one), 0);
    for (int k = 0; k < 100; k++) {
        assert_int_equal(bb_select_permute_and_flip(&random, 1e300, 3, wide), 1);
        /* a budget below 2^-32 rounds down to a uniform choice */
        assert_in_range(bb_select_permute_and_flip(&random, 1e-10, 3, wide), 0, 2);
    }
    many[BB_SELECT_MOST - 1] = 100 << 20;
    for (int k = 0; k < 100; k++)
        assert_int_equal(bb_select_permute_and_flip(&random, 4.0, BB_SELECT_MOST, many),
                         BB_SELECT_MOST - 1);
    bb_random_close(&random);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequencies),
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
