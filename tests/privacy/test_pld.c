/* Privacy loss distributions against closed forms, and against naive integrals. */
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/pld.h"
#include "privacy/accounting/pld_side.h"
#include "privacy/accounting/privacy_loss.h"
#include "privacy/accounting/profile.h"
#include "privacy/accounting/rdp.h"
#include "test.h"

static const double deltas[] = {1e-2, 1e-5, 1e-9, 1e-12, 1e-20};
enum { DELTAS = sizeof deltas / sizeof *deltas };

static void epsilon_of(bb_adjacency adjacency, size_t count, const bb_event *event,
                       double delta, double *upper, double *lower) {
    const bb_account account = {adjacency, count, event};
    assert_ok(bb_pld_epsilon(&account, delta, upper, lower));
    assert_true(*lower <= *upper);
}

/* Two events, so that the closed form of one is not taken. */
static void gaussian(void **state) {
    (void)state;
    for (double mu = 1e-3; mu < 10.0; mu *= 7.0)
        for (size_t k = 0; k < DELTAS; k++) {
            const bb_event event[] = {bb_event_gaussian(mu * 0.6, 1.0),
                                      bb_event_gaussian(mu * 0.08, 100.0)};
            double upper, lower;
            const double truth = bb_gdp_epsilon(mu, deltas[k]);
            epsilon_of(BB_REPLACE_ONE, 2, event, deltas[k], &upper, &lower);
            assert_true(upper >= truth * (1.0 - 1e-12));
            assert_true(lower <= truth * (1.0 + 1e-11));
            assert_true(upper <= truth * (1.0 + 1e-8) + 1e-300);
            assert_true(truth < 1e-3 || lower >= truth * (1.0 - 1e-7));
        }
}

static void delta_inverts_epsilon(void **state) {
    (void)state;
    const bb_event event[] = {
        bb_event_round(BB_SAMPLING_POISSON, 0.02, 0.9, 1.8, 200.0),
        bb_event_gaussian(0.2, 3.0), bb_event_selection(0.05, 2.0)};
    for (int adjacency = BB_REPLACE_ONE; adjacency <= BB_ADD_REMOVE; adjacency++)
        for (size_t k = 0; k < DELTAS; k++) {
            const bb_account account = {(bb_adjacency)adjacency, 3, event};
            double epsilon, low, upper, lower;
            epsilon_of(account.adjacency, 3, event, deltas[k], &epsilon, &low);
            assert_ok(bb_pld_delta(&account, epsilon, &upper, &lower));
            assert_relative(upper, deltas[k], 1e-6);
            assert_true(lower <= upper && lower >= upper * (1.0 - 1e-5));
        }
}

/* One sampled round: the moments of the law are those of its closed profile,
 *     M(c) = c (c + 1) int e^(c x) delta(x) dx. */
static double moment_of_profile(bb_adjacency adjacency, const bb_event *event,
                                const bb_event *reverse, double c) {
    double sum = 0.0, upper = 1.0, back = 1.0, lower;
    const double step = 1.0 / 2048.0;
    for (double x = step / 2.0; x < 60.0; x += step) {
        if (upper > 0.0) bb_profile(event, adjacency, x, &upper, &lower);
        if (back > 0.0) bb_profile(reverse, adjacency, x, &back, &lower);
        if (upper < 1e-12) upper = 0.0;
        if (back < 1e-12) back = 0.0;
        /* delta(-x) = 1 - e^-x + e^-x delta(x) of the other direction */
        sum += exp(c * x) * upper + exp(-c * x) * (exp(-x) * back - expm1(-x));
    }
    return c * (c + 1.0) * sum * step;
}

static void moments(void **state) {
    (void)state;
    const bb_event event[] = {
        bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 0.4, 0.8, 1.0),
        bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.7, 0.5, 0.7, 1.0),
        bb_event_round(BB_SAMPLING_POISSON, 0.1, 0.8, 1.6, 1.0),
        bb_event_round(BB_SAMPLING_FIXED_VISIBLE, 0.3, 0.4, 0.8, 1.0)};
    for (size_t k = 0; k < sizeof event / sizeof *event; k++)
        for (double c = 0.3; c < 4.0; c *= 2.0) {
            bb_privacy_loss law;
            bb_privacy_loss_open(&law, &event[k], BB_REPLACE_ONE, BB_WITH, 0.0);
            assert_ok(bb_privacy_loss_tilt(&law, c, 0.0));
            assert_relative(exp(law.log_moment),
                            moment_of_profile(BB_REPLACE_ONE, &event[k], &event[k], c),
                            2e-6);
            bb_privacy_loss_close(&law);
        }
}

/* Under add-remove: with the task it is its own profile, without it that of a Poisson
 * sample (docs/privacy.md). */
static void moments_of_hidden_zeros(void **state) {
    (void)state;
    for (double q = 0.02; q < 1.0; q *= 30.0)
        for (double replace = 0.8; replace < 1.3; replace += 0.4)
            for (double c = 0.3; c < 4.0; c *= 8.0) {
                bb_event event[2];
                event[0] =
                    bb_event_round(BB_SAMPLING_FIXED_HIDDEN, q, 0.6, replace, 1.0);
                event[1] = bb_event_round(BB_SAMPLING_POISSON, q, 0.6, replace, 1.0);
                for (int d = 0; d < 2; d++) {
                    bb_privacy_loss law;
                    bb_privacy_loss_open(&law, &event[0], BB_ADD_REMOVE,
                                         d ? BB_WITHOUT : BB_WITH, 0.0);
                    assert_ok(bb_privacy_loss_tilt(&law, c, 0.0));
                    assert_relative(
                        exp(law.log_moment),
                        moment_of_profile(BB_ADD_REMOVE, &event[d], &event[1 - d], c),
                        2e-6);
                    bb_privacy_loss_close(&law);
                }
            }
}

static void poisson_moments(void **state) {
    (void)state;
    for (double q = 1e-6; q < 1.0; q *= 9.0)
        for (double sigma = 0.3; sigma < 200.0; sigma *= 4.0)
            for (double c = 0.1; c < 300.0 && c < 20.0 * sigma; c *= 3.0) {
                const bb_event event =
                    bb_event_round(BB_SAMPLING_POISSON, q, 1.0 / sigma, 2.0 / sigma, 1);
                const double truth = c * bb_rdp_poisson(q, sigma, c + 1.0);
                bb_privacy_loss law;
                bb_privacy_loss_open(&law, &event, BB_ADD_REMOVE, BB_WITH, 0.0);
                for (double reach = 0.0; reach <= 64.0; reach += 32.0) {
                    assert_ok(bb_privacy_loss_tilt(&law, c, reach / law.curve[0].mu));
                    assert_close(law.log_moment, truth,
                                 1e-12 * (truth + c) + law.error);
                }
                bb_privacy_loss_close(&law);
            }
}

/* The spectrum is what its nodes say, at every frequency, below the envelope, and does
 * not depend on how fine the nodes are. */
static void spectrum(void **state) {
    (void)state;
    enum { N = 150 };
    const bb_event event[] = {
        bb_event_round(BB_SAMPLING_POISSON, 0.05, 1.0, 2.0, 1.0),
        bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.2, 0.5, 1.0, 1.0),
        bb_event_wishart(20.0, 0.5, 1.0),
        bb_event_round(BB_SAMPLING_FIXED_VISIBLE, 0.2, 0.5, 1.0, 1.0),
        bb_event_selection(0.7, 1.0),
        bb_event_step(0.4, 0.01, 1.0)};
    for (size_t k = 0; k < sizeof event / sizeof *event; k++)
        for (int d = 0; d < 4; d++) {
            double re[N], im[N], fine_re[N], fine_im[N];
            bb_privacy_loss law, fine;
            bb_privacy_loss_open(&law, &event[k], (bb_adjacency)(d / 2),
                                 (bb_direction)(d % 2), 1e-20);
            bb_privacy_loss_open(&fine, &event[k], (bb_adjacency)(d / 2),
                                 (bb_direction)(d % 2), 1e-20);
            assert_ok(bb_privacy_loss_tilt(&law, 1.5, N * 0.7));
            assert_ok(bb_privacy_loss_tilt(&fine, 1.5, N * 3.0));
            bb_privacy_loss_spectrum(&law, 0.0, 0.7, N, NULL, re, im);
            bb_privacy_loss_spectrum(&fine, 0.0, 0.7, N, NULL, fine_re, fine_im);
            for (size_t j = 0; j < N; j++) {
                assert_close(re[j], fine_re[j], 4e-13);
                assert_close(im[j], fine_im[j], 4e-13);
                if (j)
                    assert_true(hypot(1.0 + re[j], im[j]) <=
                                bb_privacy_loss_envelope(&law, 0.7 * (double)j) +
                                    1e-14);
            }
            assert_true(re[0] == 0.0 && im[0] == 0.0);
            bb_privacy_loss_close(&law);
            bb_privacy_loss_close(&fine);
        }
}

/* Beside one Gaussian release: sums and integrals of its closed form. delta below 0 by
 * symmetry. */
static double gaussian_delta(double mu, double x) {
    if (x >= 0.0) return bb_gdp_delta(mu, x);
    return -expm1(x) + exp(x) * bb_gdp_delta(mu, -x);
}

static void assert_delta(const bb_event *other, double mu, double x, double truth,
                         double tolerance) {
    const bb_event event[] = {*other, bb_event_gaussian(mu, 1.0)};
    const bb_account account = {BB_REPLACE_ONE, 2, event};
    double upper, lower;
    assert_ok(bb_pld_delta(&account, x, &upper, &lower));
    assert_true(upper >= truth * (1.0 - tolerance) &&
                lower <= truth * (1.0 + tolerance));
    assert_relative(upper, truth, fmax(tolerance, 1e-7));
}

static void beside_a_step(void **state) {
    (void)state;
    const double mu = 0.8, e = 0.6, bad = 1e-4;
    const bb_event step = bb_event_step(e, bad, 1.0);
    for (double x = 0.0; x < 4.0; x += 0.5) {
        const double up = 1.0 / (1.0 + exp(-e));
        const double truth =
            bad + (1.0 - bad) * (up * gaussian_delta(mu, x - e) +
                                 (1.0 - up) * gaussian_delta(mu, x + e));
        assert_delta(&step, mu, x, truth, 1e-9);
    }
}

static void beside_a_selection(void **state) {
    (void)state;
    const double mu = 0.8, e = 0.6;
    const bb_event selection = bb_event_selection(e, 1.0);
    for (double x = 0.0; x < 4.0; x += 0.5) {
        enum { CELLS = 4000 };
        double truth = 0.0;
        for (int k = 0; k < CELLS; k++) {
            const double loss = -e + 2.0 * e * (k + 0.5) / CELLS;
            truth += 0.5 * exp((e + loss) / 2.0) / expm1(e) *
                     gaussian_delta(mu, x - loss) * 2.0 * e / CELLS;
        }
        assert_delta(&selection, mu, x, truth, 1e-6);
    }
}

/* Visible cohorts: k of 12 rounds with probability Bin(12, 0.3). */
static void beside_visible_cohorts(void **state) {
    (void)state;
    const double mu = 0.8, q = 0.3, each = 0.5;
    const bb_event rounds =
        bb_event_round(BB_SAMPLING_FIXED_VISIBLE, q, each / 2.0, each, 12.0);
    for (double x = 0.0; x < 4.0; x += 0.5) {
        double truth = 0.0, alone = 0.0, upper, lower;
        for (int k = 0; k <= 12; k++) {
            const double p = exp(lgamma(13.0) - lgamma(k + 1.0) - lgamma(13.0 - k)) *
                             pow(q, k) * pow(1.0 - q, 12.0 - k);
            truth += p * gaussian_delta(sqrt(mu * mu + k * each * each), x);
            alone += k ? p * gaussian_delta(sqrt(k) * each, x) : 0.0;
        }
        assert_delta(&rounds, mu, x, truth, 1e-9);
        bb_profile(&rounds, BB_REPLACE_ONE, x, &upper, &lower);
        assert_relative(upper, alone, 1e-9);
    }
}

/* Values of an independent program (trapezoid rules in other variables, other tilts,
 * other steps): a million events that hardly ever matter, where grids of losses are
 * several per cent too high. */
static void rare_large_losses(void **state) {
    (void)state;
    const struct {
        double delta, epsilon;
    } row[] = {{9.999991191654416e-06, 0.0102125029},
               {9.999929484787212e-07, 0.0131215519},
               {9.942588085394854e-10, 0.0198694643456515}};
    const bb_event event = bb_event_round(BB_SAMPLING_POISSON, 1e-5, 1.0, 2.0, 1e5);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        double upper, lower;
        epsilon_of(BB_ADD_REMOVE, 1, &event, row[k].delta, &upper, &lower);
        assert_relative(upper, row[k].epsilon, 1e-3);
        assert_relative(lower, row[k].epsilon, 1e-3);
        assert_true(upper >= row[k].epsilon * (1.0 - 1e-6));
    }
}

/* One release, by the distribution function of chi^2 (SciPy 1.17). */
static void wishart(void **state) {
    (void)state;
    const struct {
        double freedom, ratio, delta, epsilon;
    } row[] = {{60.0, 1.0, 1e-3, 0.25104038900744835},
               {200.0, 0.5, 1e-6, 0.12041660539670845}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const bb_event event = bb_event_wishart(row[k].freedom, row[k].ratio, 1.0);
        double upper, lower;
        epsilon_of(BB_ADD_REMOVE, 1, &event, row[k].delta, &upper, &lower);
        assert_true(upper >= row[k].epsilon && lower <= row[k].epsilon);
        assert_relative(upper, row[k].epsilon, 1e-3);
    }
    /* k = d + 1: delta is at least 1 - e^(-ratio / 2), whatever epsilon is */
    const bb_event published = bb_event_wishart(2.0, 0.2, 3.0);
    const bb_account account = {BB_ADD_REMOVE, 1, &published};
    double upper, lower;
    assert_ok(bb_pld_delta(&account, 5.0, &upper, &lower));
    assert_relative(upper, -expm1(-0.3), 1e-6);
    epsilon_of(BB_ADD_REMOVE, 1, &published, 0.25, &upper, &lower);
    assert_true(isinf(upper));
}

/* A loss that is bounded: delta at x is 2 e^(x / 2) sinh^2((e - x) / 4) / sinh(e / 2).
 */
static void one_selection(void **state) {
    (void)state;
    for (double e = 1e-4; e < 3.0; e *= 5.0)
        for (double left = 0.5; left > 1e-6; left /= 8.0) {
            const bb_event event = bb_event_selection(e, 1.0);
            const double x = e - left * e, s = sinh(left * e / 4.0);
            double upper, lower;
            epsilon_of(BB_REPLACE_ONE, 1, &event,
                       2.0 * exp(x / 2.0) * s * s / sinh(e / 2.0), &upper, &lower);
            assert_true(upper >= x * (1.0 - 1e-12) && lower <= x * (1.0 + 1e-9));
            assert_close(upper, x, 1e-3 * x + 1e-6);
        }
}

/* A delta far below what one c promises is found all the same. */
static void small_deltas(void **state) {
    (void)state;
    const bb_event event =
        bb_event_round(BB_SAMPLING_POISSON, 4.86e-4, 1.0 / 1.23, 2.0 / 1.23, 10.0);
    const bb_account account = {BB_ADD_REMOVE, 1, &event};
    double upper, lower;
    assert_ok(bb_pld_delta(&account, 0.45, &upper, &lower));
    assert_true(lower <= upper && lower >= 0.99 * upper && upper < 1e-15);
}

/* As far below what is left out at first: less is, and soon. A composition on a grid of
 * losses (bench/account_laws.py) has from 1.868e-64 to 1.881e-64 at 0.2. */
static void deltas_below_what_is_left_out(void **state) {
    (void)state;
    enum { DIFFERENT = 42 };
    bb_event event[DIFFERENT];
    for (size_t t = 0; t < DIFFERENT; t++) {
        const double mu = 0.144 * pow(((double)t + 1.0) / DIFFERENT, 0.2);
        event[t] = bb_event_round(BB_SAMPLING_POISSON, 0.0095, mu, 2.0 * mu, 2.0);
    }
    const bb_account account = {BB_ADD_REMOVE, DIFFERENT, event};
    double upper, lower;
    assert_ok(bb_pld_delta(&account, 0.2, &upper, &lower));
    assert_true(upper >= 1.868e-64 && lower <= 1.881e-64 && lower >= 0.999 * upper);
    assert_ok(bb_pld_delta(&account, 0.4, &upper, &lower));
    assert_true(upper > 0.0 && upper < 1e-100);
}

/* With work for one promise there is that: the least work with which there is an answer
 * has one that more work makes better. */
static void a_promise_is_enough(void **state) {
    (void)state;
    const bb_event event = bb_event_round(BB_SAMPLING_POISSON, 1e-3, 1.0, 2.0, 50.0);
    const bb_account account = {BB_ADD_REMOVE, 1, &event};
    double first = 0.0, upper = INFINITY, lower = 0.0;
    for (double work = 1e3; work < 1e9; work *= 1.05) {
        bb_pld_plan plan;
        assert_ok(bb_pld_plan_open(&plan, &account, 64, 1e-6, NULL));
        plan.work_most = work;
        upper = INFINITY;
        lower = 0.0;
        const bb_status status = bb_pld_side_delta(&plan, BB_WITH, 0.5, &upper, &lower);
        bb_pld_plan_close(&plan);
        assert_true(first == 0.0 || !status);
        if (!status && first == 0.0) first = upper;
    }
    assert_true(first > 1.5 * upper && upper > 0.0 && lower > 0.99 * upper);
}

static void rounds_add_up(void **state) {
    (void)state;
    const bb_event one = bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 0.5, 1.0, 100.0);
    const bb_event parts[] = {
        bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 0.5, 1.0, 37.0),
        bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 0.5, 1.0, 63.0),
        bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 0.5, 1.0, 0.0),
        bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.0, 0.5, 1.0, 9.0)};
    double upper, lower, sum_upper, sum_lower;
    epsilon_of(BB_REPLACE_ONE, 1, &one, 1e-6, &upper, &lower);
    epsilon_of(BB_REPLACE_ONE, 4, parts, 1e-6, &sum_upper, &sum_lower);
    assert_relative(upper, sum_upper, 1e-8);
    epsilon_of(BB_REPLACE_ONE, 0, parts, 1e-6, &upper, &lower);
    assert_true(upper == 0.0 && lower == 0.0);
    epsilon_of(BB_REPLACE_ONE, 1, &parts[3], 1e-6, &upper, &lower);
    assert_true(upper == 0.0);
}

/* The corners of the range that is promised: every answer is ordered and finite. */
static void corners(void **state) {
    (void)state;
    const double q[] = {1e-6, 0.5}, sigma[] = {0.3, 100.0}, rounds[] = {2.0, 1e6};
    for (int k = 0; k < 8; k++) {
        const double z = sigma[k & 1];
        const bb_event event = bb_event_round(BB_SAMPLING_POISSON, q[k >> 1 & 1],
                                              1.0 / z, 2.0 / z, rounds[k >> 2]);
        double upper, lower, before = INFINITY;
        for (size_t j = 0; j < DELTAS; j += 2) {
            epsilon_of(BB_ADD_REMOVE, 1, &event, deltas[DELTAS - 1 - j], &upper,
                       &lower);
            assert_true(isfinite(upper) && upper >= 0.0 && upper <= before);
            before = upper;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian),
        cmocka_unit_test(delta_inverts_epsilon),
        cmocka_unit_test(moments),
        cmocka_unit_test(moments_of_hidden_zeros),
        cmocka_unit_test(poisson_moments),
        cmocka_unit_test(spectrum),
        cmocka_unit_test(beside_a_step),
        cmocka_unit_test(beside_a_selection),
        cmocka_unit_test(beside_visible_cohorts),
        cmocka_unit_test(rare_large_losses),
        cmocka_unit_test(wishart),
        cmocka_unit_test(one_selection),
        cmocka_unit_test(small_deltas),
        cmocka_unit_test(deltas_below_what_is_left_out),
        cmocka_unit_test(a_promise_is_enough),
        cmocka_unit_test(rounds_add_up),
        cmocka_unit_test(corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
