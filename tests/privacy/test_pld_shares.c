/* Mixtures of two rounds beside the rounds between them. */
#include "privacy/accounting/pld_shares.h"
#include "privacy/accounting/profile.h"
#include "rounds.h"
#include "test.h"

#include <math.h>

static double delta_of(const bb_event *event, bb_adjacency adjacency, double epsilon,
                       double *error) {
    double upper, lower;
    bb_profile(event, adjacency, epsilon, &upper, &lower);
    *error = fmax(*error, upper - lower);
    return upper;
}

/* Of the pair at one round, for x >= 0 (the larger direction), but the shares' own. */
static bb_event pair_of(bb_sampling sampling, double rate, double mu, double back) {
    return bb_event_round(sampling, rate, mu,
                          sampling == BB_SAMPLING_POISSON ? mu : mu * (1.0 + back),
                          1.0);
}

typedef struct between {
    bb_sampling sampling;
    bb_adjacency adjacency;
    double q, back;
    bool mirror;
} between;

static const between kinds[] = {
    {BB_SAMPLING_POISSON, BB_REPLACE_ONE, 0.0, 0.0, true},
    {BB_SAMPLING_POISSON, BB_ADD_REMOVE, 0.0, 0.0, false},
    {BB_SAMPLING_FIXED_HIDDEN, BB_REPLACE_ONE, 0.0, 0.0, false},
    {BB_SAMPLING_FIXED_HIDDEN, BB_ADD_REMOVE, 0.0, 0.7, true},
    {BB_SAMPLING_FIXED_VISIBLE, BB_ADD_REMOVE, 0.0, 0.0, false}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* One round between two: its closed profile is between those of the mixtures. */
static void assert_mixtures(const between *kind, double q, double a, double b) {
    const bb_event low = pair_of(kind->sampling, q, a, kind->back),
                   high = pair_of(kind->sampling, q, b, kind->back);
    const bb_pld_shares s = bb_pld_shares_of(kind->mirror, &low, &high, 1e-12);
    const bool lower = kind->back == 0.0; /* of one direction */
    assert_true(s.spare >= 0.0 && s.spare <= 1e-11 && s.excess >= 0.0);
    for (double part = 0.1; part < 1.0; part += 0.2) {
        const double mu = a + part * (b - a);
        const bb_event event = pair_of(kind->sampling, q, mu, kind->back);
        const double above = bb_pld_share(&s, BB_ABOVE, mu),
                     below = bb_pld_share(&s, BB_BELOW, mu);
        assert_true(0.0 <= below && below <= above && above <= 1.0);
        for (double x = 0.0; x < 60.0; x += 0.01 + 0.1 * x) {
            double error = 1e-300;
            const double truth = delta_of(&event, kind->adjacency, x, &error);
            const double first = delta_of(&low, kind->adjacency, x, &error),
                         second = delta_of(&high, kind->adjacency, x, &error);
            assert_true(first + above * (second - first) >= truth - error);
            if (!lower) continue;
            assert_true(first + below * (second - first) <=
                        exp(s.excess) * (truth + s.spare) + error);
        }
    }
}

static void mixtures(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++)
        for (double a = 0.01; a < 5.0; a *= 2.3)
            for (double wide = 1.02; wide < 3.0; wide *= 1.6)
                for (double q = 1e-3; q < 1.0; q *= 8.0)
                    assert_mixtures(&kinds[k], q, a, wide * a);
}

/* Of one sampled round, with the task, at every real x. */
static double with_task(double q, double mu, double x) {
    if (x <= log1p(-q)) return -expm1(x);
    const double inner = log1p(expm1(x) / q);
    if (inner >= 0.0) return q * bb_gdp_delta(mu, inner);
    return q * (-expm1(inner) + exp(inner) * bb_gdp_delta(mu, -inner));
}

static double without_task(double q, double mu, double x) {
    return -expm1(x) + exp(x) * with_task(q, mu, -x);
}

/* The same for x < 0, and without the task. */
static void mixtures_everywhere(void **state) {
    (void)state;
    for (double a = 0.02; a < 4.0; a *= 3.0)
        for (double wide = 1.05; wide < 2.0; wide *= 1.4)
            for (double q = 1e-4; q < 1.0; q = q < 0.5 ? 9.0 * q : q + 0.18) {
                const double b = wide * a, mu = 0.4 * a + 0.6 * b;
                const bb_event low = pair_of(BB_SAMPLING_POISSON, q, a, 0.0),
                               high = pair_of(BB_SAMPLING_POISSON, q, b, 0.0);
                const bb_pld_shares s = bb_pld_shares_of(false, &low, &high, 1e-10);
                const double share[] = {bb_pld_share(&s, BB_ABOVE, mu),
                                        bb_pld_share(&s, BB_BELOW, mu)};
                for (double x = -20.0; x < 20.0; x += 0.05)
                    for (int d = 0; d < 2; d++) {
                        double (*of)(double, double, double) =
                            d ? without_task : with_task;
                        const double first = of(q, a, x), second = of(q, b, x),
                                     truth = of(q, mu, x);
                        const double error = 1e-13 * (1.0 + exp(x));
                        assert_true(first + share[0] * (second - first) >=
                                    truth - error);
                        assert_true(first + share[1] * (second - first) <=
                                    exp(s.excess) * (truth + s.spare) + error);
                    }
            }
}

/* Both are close to the round: as the square of the distance. */
static void near_rounds(void **state) {
    (void)state;
    for (double a = 0.1; a < 4.0; a *= 2.0) {
        const bb_event low = pair_of(BB_SAMPLING_POISSON, 0.01, a, 0.0),
                       high = pair_of(BB_SAMPLING_POISSON, 0.01, 1.01 * a, 0.0);
        const bb_pld_shares s = bb_pld_shares_of(false, &low, &high, 1e-12);
        assert_close(bb_pld_share(&s, BB_ABOVE, 1.005 * a), 0.5, 0.01);
        assert_close(bb_pld_share(&s, BB_BELOW, 1.005 * a), 0.5, 0.15);
    }
}

/* Gaps are those of erf, small ones and far ones, and the mean of mu is hardly moved. */
static void gaps(void **state) {
    (void)state;
    for (double a = 0.01; a < 5.0; a *= 1.7)
        for (double wide = 1e-3; wide < 4.0; wide *= 3.0) {
            const double b = a + wide, root = sqrt(atan(1.0));
            assert_relative(bb_pld_gap(false, a, b),
                            root * 2.0 * sqrt(2.0) *
                                (erfc(a / sqrt(8.0)) - erfc(b / sqrt(8.0))),
                            1e-9);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixtures), cmocka_unit_test(mixtures_everywhere),
        cmocka_unit_test(near_rounds), cmocka_unit_test(gaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
