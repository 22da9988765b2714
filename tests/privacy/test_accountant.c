/* Laws of the accountant, and 80-digit values (mpmath: 0.5 erfc(-x/sqrt 2), and
 * Phi(mu/2 - eps/mu) - exp(eps) Phi(-mu/2 - eps/mu)). */
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/schedule.h"
#include "test.h"

#include <float.h>
#include <string.h>

static void log_tail(void **state) {
    (void)state;
    static const double row[][2] = {
        {3.0, -0.0013508099647481937988},     {0.5, -0.36894641528865639307},
        {0.0, -0.69314718055994530942},       {-0.5, -1.1759117615936186089},
        {-2.9999999, -6.6077258932004892347}, {-3.0, -6.6077262215103495433},
        {-5.5, -17.779376352625260511},       {-10.0, -53.231285150512470578},
        {-26.5, -355.32250222635599044},      {-37.6, -711.42664867077626811},
        {-38.5, -745.69527029041108133},      {-100.0, -5005.5242086942050886},
        {-1000.0, -500007.82669481218431},    {-1e5, -5000000012.4318639983},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++)
        assert_relative(bb_log_normal_cdf(row[k][0]), row[k][1], 1e-13);
    assert_true(bb_log_normal_cdf(INFINITY) == 0.0);
    assert_true(isinf(bb_log_normal_cdf(-INFINITY)));
}

static void delta_values(void **state) {
    (void)state;
    static const double row[][3] = {
        {1e-06, 0.0, 3.9894228040141603729e-7},
        {1e-06, 1e-06, 8.3315512245425392253e-8},
        {0.001, 0.004, 7.1595624349382469315e-9},
        {0.1, 0.5, 6.8565824558387371436e-9},
        {0.25, 1.0, 2.924272104856407347e-6},
        {0.4999, 2.5, 9.0107688606332467378e-8},
        {0.5, 2.5, 9.0609386933581876322e-8},
        {0.5, 0.0, 0.19741265136584744848},
        {0.5001, 2.5, 9.1113593731009018401e-8},
        {1.0, 0.125, 0.34476867589302739129},
        {1.0, 5.0, 5.7937216919194941042e-7},
        {2.0, 2.0, 0.33189799877682939357},
        {3.0, 20.0, 4.2247546167694100861e-8},
        {0.125, 4.5, 1.3731053169664994547e-285},
        {0.01, 0.37, 1.859188953467232539e-303},
        {1e-08, 1e-07, 7.4745606283174005979e-33},
        {10.0, 50.0, 0.46049330589861399706},
        {10.0, 250.0, 9.1534601516534777925e-90},
        {10.0, 0.1, 0.99999939733107619399},
        {50.0, 1250.0, 0.49202434210800698757},
        {50.0, 1000.0, 0.99999968032650773727},
        {100.0, 6000.0, 6.9204018544273568559e-24},
        {1000.0, 530000.0, 4.7636416217278319916e-198},
        {7.0, 0.0, 0.99953474184192894993},
        {0.3, 10.5, 1.8139806879502486771e-268},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const double delta = bb_gdp_delta(row[k][0], row[k][1]);
        assert_true(delta >= row[k][2]);
        assert_true(delta <= row[k][2] * (1.0 + 0x1p-39) + DBL_MIN);
    }
}

static void extremes(void **state) {
    (void)state;
    assert_true(bb_gdp_delta(0.0, 0.0) == 0.0);
    assert_true(bb_gdp_delta(INFINITY, 1.0) == 1.0);
    assert_true(bb_gdp_delta(1.0, INFINITY) == 0.0);
    assert_true(bb_gdp_delta(1e-9, 1.0) > 0.0); /* far below a double, yet not 0 */
    assert_true(bb_gdp_delta(1e-320, 1e300) > 0.0);
    assert_true(bb_gdp_delta(1e300, 1.0) == 1.0);
    assert_true(bb_gdp_epsilon(0.0, 0.0) == 0.0);
    assert_true(bb_gdp_epsilon(1.0, 0.5) == 0.0); /* delta(0) = 0.383 */
    assert_true(isinf(bb_gdp_epsilon(1.0, 0.0)));
    assert_true(isinf(bb_gdp_epsilon(INFINITY, 1e-5)));
    assert_true(bb_gdp_mu(1.0, 0.0) == 0.0);
    assert_true(isinf(bb_gdp_mu(1.0, 1.0)));
    assert_true(bb_gdp_mu(0.0, 1e-12) > 0.0); /* 2 * 1e-12 / 0.7979 */
    assert_relative(bb_gdp_mu(0.0, 1e-12), 2.5066282746310005e-12, 1e-11);
}

/* delta falls in epsilon and rises in mu, and the inverses are on the safe side of it.
 */
static void inverses(void **state) {
    (void)state;
    for (double mu = 1e-4; mu < 30.0; mu *= 1.7) {
        double before = 1.0;
        for (double epsilon = 0.0; epsilon < 20.0; epsilon = epsilon * 1.5 + 0.01) {
            const double delta = bb_gdp_delta(mu, epsilon);
            assert_true(delta <= before);
            before = delta;
            if (delta < 1e-290 || delta >= 1.0) continue;
            assert_true(bb_gdp_mu(epsilon, delta) >= mu * (1.0 - 1e-11));
            assert_true(bb_gdp_delta(bb_gdp_mu(epsilon, delta), epsilon) <= delta);
            const double back = bb_gdp_epsilon(mu, delta);
            assert_true(bb_gdp_delta(mu, back) <= delta);
            if (delta < 0.9) assert_true(back <= epsilon * (1.0 + 1e-9) + 1e-10);
        }
    }
}

static void composition_bound(void **state) {
    (void)state;
    const double same[] = {0.25, 0.25, 0.25, 0.25}, none[] = {0.0, 0.0};
    assert_true(bb_kov_epsilon(4, same, 0.0) == 1.0);
    assert_true(bb_kov_epsilon(4, same, 1e-9) == 1.0);
    assert_true(bb_kov_epsilon(2, none, 1e-9) == 0.0);
    assert_true(bb_kov_epsilon(0, NULL, 1e-9) == 0.0);
    assert_true(isinf(bb_kov_epsilon(4, same, -0.1)));
    const double tenth[10] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    assert_true(bb_kov_epsilon(10, tenth, 0.0) >
                1.0); /* the double 0.1 is above 1/10 */
    const double delta_t[] = {1e-6, 2e-6};
    assert_relative(bb_kov_slack(2, delta_t, 1e-5), 7.0000230000550001190e-6, 1e-9);
    assert_true(bb_kov_slack(2, delta_t, 1e-6) < 0.0);
    assert_true(bb_kov_slack(2, none, 1e-6) == 1e-6);
}

/* The middle branch, log(e + sqrt(sum)/delta), against its formula in plain words. */
static void middle_branch(void **state) {
    (void)state;
    enum { STEPS = 400 };
    double epsilon[STEPS], square = 0.0, mean = 0.0;
    for (int k = 0; k < STEPS; k++) {
        epsilon[k] = 1e-3;
        square += 1e-6;
        mean += 1e-3 * (exp(1e-3) - 1.0) / (exp(1e-3) + 1.0);
    }
    const double delta = 0.01;
    const double expected =
        mean + sqrt(2.0 * square * log(exp(1.0) + sqrt(square) / delta));
    assert_true(expected < mean + sqrt(2.0 * square * log(1.0 / delta)));
    assert_relative(bb_kov_epsilon(STEPS, epsilon, delta), expected, 1e-12);
}

static void allocation_errors(void **state) {
    (void)state;
    double epsilon[2] = {7.0, 7.0};
    const double good[] = {1.0, 2.0}, zero[] = {1.0, 0.0};
    assert_fails(bb_kov_allocate(0, good, 1.0, 0.0, epsilon), BB_EUSAGE, "one round");
    assert_fails(bb_kov_allocate(2, zero, 1.0, 0.0, epsilon), BB_EUSAGE, "round 2");
    assert_fails(bb_kov_allocate(2, good, 0.0, 0.0, epsilon), BB_EUSAGE, "epsilon");
    assert_fails(bb_kov_allocate(2, good, NAN, 0.0, epsilon), BB_EUSAGE, "epsilon");
    assert_fails(bb_kov_allocate(2, good, 1.0, 1.0, epsilon), BB_EUSAGE, "delta");
    assert_true(epsilon[0] == 7.0 && epsilon[1] == 7.0);
    assert_ok(bb_kov_allocate(2, good, 3.0, 0.0, epsilon));
    assert_relative(epsilon[0], 1.0, 1e-14);
    assert_relative(epsilon[1], 2.0, 1e-14);
}

static void wishart_and_delta(void **state) {
    (void)state;
    const double epsilon[] = {0.04, 0.06};
    const double truth = 0.095162581964040431858; /* 1 - exp(-0.1) */
    assert_true(bb_wishart_true_delta(2, epsilon) <= truth);
    assert_relative(bb_wishart_true_delta(2, epsilon), truth, 1e-14);
    /* diagonals: chi^2 of 4 degrees of freedom, P(X < x) = 1 - e^-x/2 (1 + x/2) */
    const double none = exp(-0.1) * 1.04 * 1.06;
    assert_true(bb_wishart_diagonal_delta(2, epsilon, 3) <= 1.0 - none);
    assert_relative(bb_wishart_diagonal_delta(2, epsilon, 3), 1.0 - none, 1e-9);
    assert_true(bb_delta_default(30) == 1e-5);
    assert_true(bb_delta_default(10000) == 1e-5);
    assert_true(bb_delta_default(20000) == 5e-6);
    assert_relative(bb_delta_paper(320), 0.00054175209775578250, 1e-14);
}

static void schedules(void **state) {
    (void)state;
    double weight[4] = {9.0, 9.0, 9.0, 9.0};
    assert_ok(bb_schedule("uniform", 4, weight));
    for (int t = 0; t < 4; t++) assert_true(weight[t] == 1.0);
    assert_ok(bb_schedule("power:2", 4, weight));
    for (int t = 0; t < 4; t++)
        assert_relative(weight[t], (t + 1) * (t + 1) / 16.0, 1e-14);
    assert_ok(bb_schedule("power:-1", 4, weight));
    for (int t = 0; t < 4; t++) assert_relative(weight[t], 1.0 / (t + 1), 1e-14);
    assert_ok(
        bb_schedule("geometric:0.5", 4, weight)); /* Q < 1: later rounds get more */
    for (int t = 0; t < 4; t++) assert_relative(weight[t], ldexp(1.0, t - 3), 1e-14);
    assert_ok(bb_schedule("geometric:2", 4, weight));
    for (int t = 0; t < 4; t++) assert_relative(weight[t], ldexp(1.0, -t), 1e-14);
    assert_ok(bb_schedule("geometric:0.5", 1, weight));
    assert_true(weight[0] == 1.0);
    const char *bad[] = {
        "",         "uniform ",  "power",        "power:",       "power:x",
        "power:1 ", "power:nan", "geometric:0",  "geometric:-1", "geometric:",
        "linear",   "Uniform",   "geometric:inf"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_fails(bb_schedule(bad[k], 4, weight), BB_EUSAGE, "schedule");
    assert_fails(bb_schedule("uniform", 0, weight), BB_EUSAGE, "one round");
    assert_fails(bb_schedule("geometric:1e-20", 4, weight), BB_EUSAGE, "1e30");
    assert_fails(bb_schedule("power:1e300", 4, weight), BB_EUSAGE, "1e30");
    assert_true(weight[0] == 1.0); /* untouched */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_tail),          cmocka_unit_test(delta_values),
        cmocka_unit_test(extremes),          cmocka_unit_test(inverses),
        cmocka_unit_test(composition_bound), cmocka_unit_test(middle_branch),
        cmocka_unit_test(allocation_errors), cmocka_unit_test(wishart_and_delta),
        cmocka_unit_test(schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
