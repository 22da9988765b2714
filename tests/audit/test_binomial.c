/* Confidence limits against exact values, made once with mpmath at 50 digits: the root
 * in log(p / (1 - p)) of the log of sum_{j >= k} C(n, j) p^j (1 - p)^(n - j), summed
 * term by term. */
#include "audit/binomial.h"
#include "test.h"

typedef struct limit {
    uint64_t k, n;
    double alpha, lower, upper;
} limit;

static const limit exact[] = {
    {0, 1, 0.05, 0.0, 0.95},
    {1, 1, 0.05, 0.050000000000000003, 1.0},
    {0, 10, 0.001, 0.0, 0.49881276637272771},
    {5, 10, 0.05, 0.22244110100812908, 0.77755889899187092},
    {1, 10, 0.5, 0.066967008463192584, 0.16226272819524618},
    {3, 20, 1e-9, 9.5765366454561139e-5, 0.79720786503687198},
    {17, 20, 1e-12, 0.13322975103463288, 0.99999042697075515},
    {1, 1000, 1e-12, 1.0000000000004995e-15, 0.03063637081213285},
    {999, 1000, 1e-12, 0.96936362918786715, 0.999999999999999},
    {500, 1000, 1e-9, 0.40554807655969447, 0.59445192344030553},
    {12, 20000, 5e-10, 4.7772595013839851e-5, 0.0024085633099498376},
    {1900, 20000, 5e-10, 0.082820659507018197, 0.10820282427548558},
    {50000, 1000000, 1e-12, 0.0484813538462286, 0.051548650302708743},
    {20000, 100000000, 1e-9, 0.00019163485573571324, 0.0002086084118009804},
    {1, 1000000000, 1e-3, 1.000500333583033e-12, 9.2334134384403303e-9},
    {100, 1000000000, 1e-9, 5.114330345261225e-8, 1.7336823819798125e-7},
    {1000, 1000000000, 1e-12, 7.9343930816709339e-7, 1.2399753956124084e-6},
    {123456, 1000000000, 0.5, 0.00012345566662567477, 0.00012345666662567443},
    {500000000, 1000000000, 1e-12, 0.49988877454614596, 0.50011122545385404},
    {999999999, 1000000000, 1e-6, 0.99999998331157934, 0.999999999999999},
    {0, 1000000000, 1e-12, 0.0, 2.7631020734191888e-8},
    {1000000000, 1000000000, 1e-12, 0.99999997236897927, 1.0},
};

/* Near the truth, and never on its wrong side (but for the last digit printed). */
static void test_exact(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        const limit *e = &exact[i];
        const double lower = bb_binomial_lower(e->k, e->n, e->alpha);
        const double upper = bb_binomial_upper(e->k, e->n, e->alpha);
        assert_relative(lower, e->lower, 2e-11);
        assert_relative(upper, e->upper, 2e-11);
        assert_true(lower <= e->lower && upper >= fmin(1.0, e->upper * (1.0 - 1e-15)));
    }
}

/* Moving k or alpha moves the limits the right way, across the switch of formulas. */
static void test_monotone(void **state) {
    (void)state;
    const uint64_t n = 30000;
    double lower = -1.0, upper = 0.0;
    for (uint64_t k = 0; k <= n; k += k < 50 || k > n - 1100 ? 1 : 97) {
        const double l = bb_binomial_lower(k, n, 1e-6);
        const double u = bb_binomial_upper(k, n, 1e-6);
        assert_true(l > lower && u > upper);
        assert_true(l <= (double)k / (double)n && u >= (double)k / (double)n);
        assert_true(bb_binomial_lower(k, n, 1e-5) >= l);
        assert_true(bb_binomial_upper(k, n, 1e-5) <= u);
        lower = l;
        upper = u;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_monotone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
