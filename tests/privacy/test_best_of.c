#include "privacy/accounting/accountant.h"
#include "privacy/accounting/best_of.h"
#include "privacy/accounting/rdp.h"
#include "test.h"

/* Runs that publish their own score, N(theta, 1) with theta 0 or mu, of which the largest
 * is published: its density is m f(x) exp(-m (1 - F(x))), and nothing is published with
 * probability exp(-m) in both worlds. */
static double density(double x, double theta, double mean) {
    const double z = x - theta;
    return mean * exp(-0.5 * z * z) / sqrt(2.0 * M_PI) *
           exp(-mean * exp(bb_log_normal_cdf(-z)));
}

/* delta(epsilon) of that, the larger direction, by Simpson's rule. */
static double truth(double mean, double mu, double epsilon) {
    enum { STEPS = 40000 };
    const double low = -12.0, high = 14.0 + mu, h = (high - low) / STEPS;
    double delta[2] = {0.0, 0.0};
    for (int k = 0; k <= STEPS; k++) {
        const double x = low + h * k;
        const double p = density(x, 0.0, mean), q = density(x, mu, mean);
        const double weight = k == 0 || k == STEPS ? 1.0 : k % 2 ? 4.0 : 2.0;
        delta[0] += weight * fmax(0.0, p - exp(epsilon) * q);
        delta[1] += weight * fmax(0.0, q - exp(epsilon) * p);
    }
    return fmax(delta[0], delta[1]) * h / 3.0;
}

static void no_choice_by_score_is_worth_more(void **state) {
    (void)state;
    static const double mean[] = {1.0, 3.0, 10.0, 100.0, 1000.0};
    static const double mu[] = {0.01, 0.1, 0.5, 1.0, 3.0};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++) {
            const double delta = 1e-6;
            const double epsilon = bb_best_of_epsilon(mean[i], mu[j], delta);
            assert_true(epsilon >= bb_gdp_epsilon(mu[j], delta));
            assert_true(truth(mean[i], mu[j], epsilon) <= delta);
            /* the choice costs something: who counts one run is refuted */
            if (mean[i] >= 10.0)
                assert_true(truth(mean[i], mu[j], bb_gdp_epsilon(mu[j], delta)) >
                            delta);
            /* and it is not said to cost nothing like what it does */
            assert_true(truth(mean[i], mu[j], 0.2 * epsilon) > delta);
        }
}

/* The formula, in plain words, at one order; no order is better than the best. */
static void every_order_is_a_bound(void **state) {
    (void)state;
    const double mean = 12.0, mu = 0.3, delta = 1e-5;
    double best = INFINITY;
    for (double order = 1.01; order < 1e5; order *= 1.001) {
        const double e = log(1.0 + 1.0 / (order - 1.0));
        const double rdp = 0.5 * order * mu * mu + mean * bb_gdp_delta(mu, e) +
                           log(mean) / (order - 1.0);
        assert_relative(bb_best_of_rdp(mean, mu, order), rdp, 1e-9);
        best = fmin(best, bb_rdp_to_epsilon(rdp, order, delta));
    }
    assert_relative(bb_best_of_epsilon(mean, mu, delta), best, 1e-4);
    assert_true(bb_best_of_epsilon(mean, mu, delta) <= best * (1.0 + 1e-9));
}

static void a_budget_is_not_exceeded(void **state) {
    (void)state;
    static const double epsilon[] = {0.05, 0.5, 1.0, 3.0, 10.0};
    for (size_t i = 0; i < 5; i++)
        for (double mean = 1.0; mean < 500.0; mean *= 3.0) {
            const double mu = bb_best_of_mu(mean, epsilon[i], 1e-6);
            assert_true(mu > 0.0);
            assert_true(bb_best_of_epsilon(mean, mu, 1e-6) <= epsilon[i]);
            assert_true(bb_best_of_epsilon(mean, mu * 1.001, 1e-6) > epsilon[i]);
            /* more runs cost more, and one alone least */
            assert_true(mu < bb_gdp_mu(epsilon[i], 1e-6));
            assert_true(bb_best_of_mu(3.0 * mean, epsilon[i], 1e-6) < mu);
        }
    assert_true(bb_best_of_epsilon(5.0, 0.0, 1e-6) == 0.0);
}

/* What docs/tune.md says: with ten runs on average each has twice the noise of one run
 * alone, where ten that are all paid for, and the best chosen for a tenth of epsilon, have
 * three and a half times. */
static void the_page_is_right(void **state) {
    (void)state;
    const double alone = bb_gdp_mu(1.0, 1e-5);
    assert_close(alone / bb_best_of_mu(10.0, 1.0, 1e-5), 2.0, 0.05);
    assert_close(alone / (bb_gdp_mu(0.9, 1e-5) / sqrt(10.0)), 3.5, 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_choice_by_score_is_worth_more),
        cmocka_unit_test(every_order_is_a_bound),
        cmocka_unit_test(a_budget_is_not_exceeded),
        cmocka_unit_test(the_page_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
