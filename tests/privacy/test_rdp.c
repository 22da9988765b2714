#include "privacy/accounting/accountant.h"
#include "privacy/accounting/rdp.h"
#include "test.h"

/* log of the Poisson moment minus 1 at an integer order: only positive terms,
 * sum_{k >= 2} C(a,k) (1-q)^(a-k) q^k (e^((k^2-k)/(2 sigma^2)) - 1). */
static double integer_moment(double q, double sigma, int a) {
    double top = 0.0, sum = 0.0, term[64], choose = a;
    for (int k = 2; k <= a; k++) {
        choose *= (a - k + 1.0) / k;
        const double e = 0.5 * k * (k - 1.0) / (sigma * sigma);
        const double rest = e > 30.0 ? e + log1p(-exp(-e)) : log(expm1(e));
        term[k] = log(choose) + (a - k) * log1p(-q) + k * log(q) + rest;
        if (k == 2 || term[k] > top) top = term[k];
    }
    for (int k = 2; k <= a; k++) sum += exp(term[k] - top);
    return top + log(sum);
}

static void against_binomial_sum(void **state) {
    (void)state;
    const double q[] = {1e-6, 1e-3, 0.1, 0.5, 0.99};
    const double sigma[] = {0.3, 0.5, 1.0, 3.0, 20.0, 100.0};
    const int order[] = {2, 3, 4, 7, 16, 33, 60};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 6; j++)
            for (size_t k = 0; k < 7; k++) {
                const double x = integer_moment(q[i], sigma[j], order[k]);
                const double truth = (x > 40.0 ? x : log1p(exp(x))) / (order[k] - 1.0);
                assert_relative(bb_rdp_poisson(q[i], sigma[j], order[k]), truth, 3e-12);
            }
}

/* Wang, Balle, Kasiviswanathan at orders 2 and 3, in plain words. */
static void fixed_small_orders(void **state) {
    (void)state;
    const double s[] = {0.5, 1.0, 4.0, 30.0}, gamma[] = {1e-6, 0.01, 0.4};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++) {
            const double v = 1.0 / (s[i] * s[i]), g = gamma[j];
            const double two = g * g * fmin(4.0 * expm1(v), 2.0 * exp(v));
            assert_relative(bb_rdp_without_replacement(g, s[i], 2.0),
                            fmin(v, log1p(two)), 1e-11);
            /* B(4) = E L^4 - 4 E L^3 + 6 E L^2 - 3 = e^6v - 4 e^3v + 6 e^v - 3 */
            const double four = expm1(6.0 * v) - 4.0 * expm1(3.0 * v) + 6.0 * expm1(v);
            const double three =
                g * g * g * fmin(4.0 * sqrt(expm1(v) * four), 2.0 * exp(3.0 * v));
            assert_relative(bb_rdp_without_replacement(g, s[i], 3.0),
                            fmin(1.5 * v, log1p(3.0 * two + three) / 2.0), 1e-8);
        }
}

/* The bound with 400 digits: gamma, sigma, order, value. */
static void fixed_values(void **state) {
    (void)state;
    static const double row[][4] = {
        {0.5, 50.0, 63.0, 0.012366524020881724315},
        {0.9, 10.0, 32.0, 0.16},
        {0.1, 1.0, 64.0, 29.671868273475254366},
        {1e-6, 0.3, 12.0, 51.658213983483822103},
        {0.01, 2.0, 200.0, 20.375171406949455658},
        {0.5, 3.0, 9.0, 0.32905517976684962056},
        {0.001, 100.0, 400.0, 8.0186925258064564055e-8},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const double rdp = bb_rdp_without_replacement(row[k][0], row[k][1], row[k][2]);
        assert_true(rdp >= row[k][3]);
        assert_relative(rdp, row[k][3], 1e-11);
    }
}

static double curve(int kind, double q, double sigma, double order) {
    return kind ? bb_rdp_without_replacement(q, sigma, order)
                : bb_rdp_poisson(q, sigma, order);
}

/* Rising in the order and in q, falling in sigma, never above the unamplified curve;
 * (order - 1) RDP convex. */
static void check_shape(int kind, double q, double sigma) {
    double before = 0.0, slope = 0.0, last_order = 1.0, last_moment = 0.0;
    const double order[] = {1.001, 1.2, 1.7, 2.0, 2.5, 3.0, 3.3, 5.0, 9.5, 20.0, 64.0};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        const double rdp = curve(kind, q, sigma, order[k]);
        const double moment = rdp * (order[k] - 1.0);
        const double chord = (moment - last_moment) / (order[k] - last_order);
        assert_true(rdp > 0.0);
        assert_true(rdp <= bb_rdp_gaussian(1.0 / sigma, order[k]));
        assert_true(rdp >= before * (1.0 - 1e-11));
        /* where the fixed-size bound meets the unamplified curve it has a corner */
        if (kind == 0) assert_true(chord >= slope * (1.0 - 1e-9));
        assert_true(curve(kind, q * 1.05, sigma, order[k]) >= rdp * (1.0 - 1e-11));
        assert_true(curve(kind, q, sigma * 1.05, order[k]) <= rdp * (1.0 + 1e-11));
        before = rdp;
        slope = chord;
        last_order = order[k];
        last_moment = moment;
    }
}

static void shape(void **state) {
    (void)state;
    const double q[] = {1e-6, 0.01, 0.3, 0.9}, sigma[] = {0.3, 1.0, 7.0, 100.0};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            check_shape(0, q[i], sigma[j]);
            check_shape(1, q[i], sigma[j]);
        }
}

static void edges(void **state) {
    (void)state;
    for (double order = 1.25; order < 2000.0; order *= 2.0) {
        const double plain = bb_rdp_gaussian(0.5, order);
        assert_relative(plain, order / 8.0, 1e-14);
        assert_true(bb_rdp_poisson(1.0, 2.0, order) == plain);
        assert_true(bb_rdp_without_replacement(1.0, 2.0, order) == plain);
        assert_true(bb_rdp_poisson(0.0, 2.0, order) == 0.0);
        assert_true(bb_rdp_without_replacement(0.0, 2.0, order) == 0.0);
        assert_true(isinf(bb_rdp_poisson(0.1, 0.0, order)));
        assert_true(isinf(bb_rdp_without_replacement(0.1, 0.0, order)));
        assert_relative(bb_rdp_poisson(1.0 - 1e-9, 2.0, order), plain, 1e-6);
    }
    assert_true(bb_rdp_gaussian(0.0, 2.0) == 0.0);
    assert_true(bb_rdp_to_epsilon(0.0, 2.0, 0.0) == 0.0);
    assert_true(isinf(bb_rdp_to_epsilon(0.1, 2.0, 0.0)));
    assert_true(bb_rdp_to_delta(0.0, 2.0, 1.0) == 0.0);
    assert_true(bb_rdp_to_delta(INFINITY, 2.0, 1.0) == 1.0);
}

/* At q = 1 the truth is known: the bound lies above it, and not far. */
static void above_gdp(void **state) {
    (void)state;
    const double sigma[] = {0.3, 1.0, 10.0, 100.0}, rounds[] = {1, 100, 1e6};
    const double delta[] = {1e-3, 1e-5, 1e-12, 1e-20};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < 4; k++) {
                const bb_rdp_event event = {BB_RDP_POISSON, 1.0, sigma[i], rounds[j]};
                const double mu = sqrt(rounds[j]) / sigma[i];
                const double truth = bb_gdp_epsilon(mu, delta[k]);
                double order;
                const double epsilon = bb_rdp_epsilon(1, &event, delta[k], &order);
                assert_true(epsilon >= truth && order > 1.0);
                if (truth > 1e-2) assert_true(epsilon <= truth * 1.6);
                const double back = bb_rdp_delta(1, &event, epsilon, NULL);
                assert_true(back >= bb_gdp_delta(mu, epsilon) * (1.0 - 1e-10));
                if (epsilon > 0.0) assert_relative(back, delta[k], 1e-5);
            }
}

/* The search is at least as good as a fine list of orders, over the whole range. */
static void best_order(void **state) {
    (void)state;
    const double q[] = {1e-6, 0.01, 0.5}, sigma[] = {0.3, 1.0, 100.0};
    for (size_t i = 0; i < 9; i++)
        for (double rounds = 1.0; rounds <= 1e6; rounds *= 1e3) {
            const bb_rdp_event event = {BB_RDP_POISSON, q[i / 3], sigma[i % 3], rounds};
            const double found = bb_rdp_epsilon(1, &event, 1e-6, NULL);
            assert_true(isfinite(found));
            for (double b = 2e-4; b < 3e5; b *= 3.1) {
                const double rdp = bb_rdp_compose(1, &event, 1.0 + b);
                assert_true(found <=
                            bb_rdp_to_epsilon(rdp, 1.0 + b, 1e-6) * (1.0 + 1e-9));
            }
        }
}

static void composition(void **state) {
    (void)state;
    const bb_rdp_event events[] = {{BB_RDP_POISSON, 0.01, 1.0, 300.0},
                                   {BB_RDP_POISSON, 1.0, 20.0, 2.0},
                                   {BB_RDP_POISSON, 0.5, 1.0, 0.0}};
    const double sum =
        300.0 * bb_rdp_poisson(0.01, 1.0, 3.5) + 2.0 * bb_rdp_gaussian(0.05, 3.5);
    assert_true(bb_rdp_compose(3, events, 3.5) >= sum);
    assert_relative(bb_rdp_compose(3, events, 3.5), sum, 1e-14);
    assert_true(bb_rdp_compose(0, NULL, 3.5) == 0.0);
    const double whole = bb_rdp_epsilon(3, events, 1e-5, NULL);
    assert_true(whole > bb_rdp_epsilon(1, events, 1e-5, NULL));
    assert_true(bb_rdp_epsilon(0, NULL, 1e-5, NULL) == 0.0);
    const bb_rdp_event fixed = {BB_RDP_WITHOUT_REPLACEMENT, 0.01, 2.0, 100.0};
    const bb_rdp_event plain = {BB_RDP_WITHOUT_REPLACEMENT, 1.0, 2.0, 100.0};
    assert_true(bb_rdp_epsilon(1, &fixed, 1e-5, NULL) <
                0.5 * bb_rdp_epsilon(1, &plain, 1e-5, NULL));
}

/* What fits in the limit converts to no more than the budget, and hardly less. */
static void limit(void **state) {
    (void)state;
    double most = 0.0;
    assert_fails(bb_rdp_limit(&most, 0.0, 1e-5, 8.0), BB_EUSAGE, "epsilon");
    assert_fails(bb_rdp_limit(&most, 1.0, 0.0, 8.0), BB_EUSAGE, "delta");
    assert_fails(bb_rdp_limit(&most, 1.0, 1e-5, 1.0), BB_EUSAGE, "order");
    assert_fails(bb_rdp_limit(&most, 1.0, 1e-5, 2.0), BB_EUSAGE, "larger order");
    assert_true(most == 0.0);
    assert_ok(bb_rdp_limit(&most, 2.0, 1e-5, 14.0));
    assert_true(bb_rdp_to_epsilon(most, 14.0, 1e-5) <= 2.0 * (1.0 + 1e-12));
    assert_true(bb_rdp_to_epsilon(most * (1.0 + 1e-9), 14.0, 1e-5) > 2.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_binomial_sum),
        cmocka_unit_test(fixed_small_orders),
        cmocka_unit_test(fixed_values),
        cmocka_unit_test(shape),
        cmocka_unit_test(edges),
        cmocka_unit_test(above_gdp),
        cmocka_unit_test(best_order),
        cmocka_unit_test(composition),
        cmocka_unit_test(limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
