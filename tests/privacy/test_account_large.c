/* Epsilon beyond what exp can hold: never below truth, and where no epsilon is valid,
 * none is given. True values by mpmath with 40 digits, from the sums and integrals that
 * each row names. */
#include "privacy/accounting/account.h"
#include "test.h"

static bb_event sampled(double q, double z, double rounds) {
    return bb_event_round(BB_SAMPLING_POISSON, q, 1.0 / z, 2.0 / z, rounds);
}

/* most: how far above truth the answer may be, relative */
static void assert_safe(bb_adjacency adjacency, bb_event event, double delta,
                        double truth, double most) {
    const bb_accountant accountant[] = {BB_ACCOUNTANT_AUTO, BB_ACCOUNTANT_PLD};
    const bb_account account = {adjacency, 1, &event};
    for (size_t k = 0; k < 2; k++) {
        bb_answer answer;
        assert_ok(bb_account_epsilon(&account, accountant[k], delta, &answer));
        assert_true(answer.upper >= truth * (1.0 - 1e-12));
        assert_true(answer.upper <= truth * (1.0 + most));
        assert_true(isnan(answer.lower) || answer.lower <= truth * (1.0 + 1e-12));
        assert_ok(bb_account_delta(&account, accountant[k], truth, &answer));
        assert_true(answer.upper >= delta * (1.0 - 1e-6));
        assert_true(isnan(answer.lower) || answer.lower <= delta * (1.0 + 1e-6));
    }
}

static void never_below_truth(void **state) {
    (void)state;
    /* one randomised response: epsilon + log(1 - delta) */
    assert_safe(BB_REPLACE_ONE, bb_event_step(1000.0, 0.0, 1.0), 1e-5,
                999.99998999994999, 1e-5);
    /* one selection: epsilon + 2 log(1 - sqrt(delta)) */
    assert_safe(BB_REPLACE_ONE, bb_event_selection(1000.0, 1.0), 1e-5, 999.99366542354,
                1e-9);
    /* the sum over how many of the randomised responses went up */
    assert_safe(BB_REPLACE_ONE, bb_event_step(1.81, 0.0, 982.0), 1e-5, 1436.7790919315,
                0.02);
    /* the sum over in how many rounds the task is: whenever it is, the other part of
     * the mixture is below e^-100 of it */
    assert_safe(BB_ADD_REMOVE, sampled(0.01, 0.05, 1000.0), 1e-5, 5090.3744803884, 0.1);
    /* one round: the largest P(t > x) - e^epsilon Q(t > x) */
    assert_safe(BB_REPLACE_ONE, sampled(0.001, 0.03, 1.0), 1e-5, 625.22733263399351,
                1e-9);
    assert_safe(BB_REPLACE_ONE, sampled(0.3, 0.02, 1.0), 0.24965746504361330, 1200.0,
                1e-9);
    /* lists of losses, some of them beyond, for an epsilon that is not */
    assert_safe(BB_REPLACE_ONE, bb_event_step(400.0, 0.0, 2.0), 0.9, 800.0 + log(0.1),
                1e-3);
}

/* No delta is 0 but that of pure steps, and none that a double cannot hold has a lower
 * bound that it can: of the first, a Gaussian of mu 0.02, it is e^-3e6. */
static void delta_below_doubles(void **state) {
    (void)state;
    const bb_event event[] = {
        bb_event_gaussian(0.02, 1.0), sampled(0.01, 100.0, 10.0),
        bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 2e-5, 0.07, 0.14, 31.0)};
    const bb_accountant accountant[] = {BB_ACCOUNTANT_AUTO, BB_ACCOUNTANT_PLD,
                                        BB_ACCOUNTANT_RDP};
    bb_answer answer;
    for (size_t k = 0; k < 3; k++)
        for (size_t a = 0; a < 3; a++) {
            const bb_account account = {BB_REPLACE_ONE, 1, &event[k]};
            assert_ok(bb_account_delta(&account, accountant[a], 50.0, &answer));
            assert_true(answer.upper > 0.0 && answer.upper < 1e-290);
            assert_true(isnan(answer.lower));
        }
    const bb_event step = bb_event_step(0.1, 0.0, 4.0);
    const bb_account pure = {BB_REPLACE_ONE, 1, &step};
    assert_ok(bb_account_delta(&pure, BB_ACCOUNTANT_AUTO, 0.5, &answer));
    assert_true(answer.upper == 0.0 && !(answer.lower > 0.0));
}

/* The mass of infinite loss of Wishart noise is P(chi^2_F < ratio): 1 - e^(-1/2) for
 * F = 2, and 1 - 9.2e-4 for F = 60, ratio = 100. */
static void none_is_valid(void **state) {
    (void)state;
    const bb_event event[] = {bb_event_wishart(2.0, 1.0, 1.0),
                              bb_event_wishart(2.0, 1.0, 2.0),
                              bb_event_wishart(60.0, 100.0, 1.0)};
    for (size_t k = 0; k < 3; k++) {
        const bb_account account = {BB_ADD_REMOVE, 1, &event[k]};
        bb_answer answer;
        assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 0.39, &answer));
        assert_true(isinf(answer.upper) && isinf(answer.lower));
        assert_ok(bb_account_delta(&account, BB_ACCOUNTANT_AUTO, 5000.0, &answer));
        assert_true(answer.upper > 0.393 && !(answer.lower > answer.upper));
    }
    const bb_account one = {BB_ADD_REMOVE, 1, event};
    bb_answer answer;
    assert_ok(bb_account_epsilon(&one, BB_ACCOUNTANT_AUTO, 0.4, &answer));
    assert_true(isfinite(answer.upper));
    const bb_account replaced = {BB_REPLACE_ONE, 1, event};
    assert_ok(bb_account_epsilon(&replaced, BB_ACCOUNTANT_AUTO, 1e-300, &answer));
    assert_true(isinf(answer.upper));
}

/* Where delta alone allows everything, the least noise that is looked for. */
static void next_to_no_noise(void **state) {
    (void)state;
    const bb_event event = sampled(5.5e-6, 1.0, 2.0);
    const bb_account account = {BB_REPLACE_ONE, 1, &event};
    double factor;
    bb_answer answer;
    assert_ok(
        bb_account_noise(&account, BB_ACCOUNTANT_AUTO, 33.8, 3.7e-4, &factor, &answer));
    assert_true(factor >= BB_NOISE_LEAST && factor <= 1.01 * BB_NOISE_LEAST);
    assert_true(answer.upper <= 33.8);
}

/* More steps than kov unfolds: 2^25 of 1e-4 are as good as Gaussian, mu = 1e-4 2^12.5. */
static void many_steps(void **state) {
    (void)state;
    const bb_event event = bb_event_step(1e-4, 0.0, 0x1p25);
    const bb_account account = {BB_REPLACE_ONE, 1, &event};
    bb_answer answer;
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 1e-5, &answer));
    assert_int_equal(answer.accountant, BB_ACCOUNTANT_PLD);
    assert_relative(answer.upper, bb_gdp_epsilon(1e-4 * sqrt(0x1p25), 1e-5), 1e-3);
}

/* Losses of thousands: refused where only their moments are wanted and cannot be had,
 * never called impossible; and Renyi's bound where it can. */
static void hardly_any_noise(void **state) {
    (void)state;
    const bb_event event = sampled(2e-6, 0.02, 1000.0);
    const bb_account added = {BB_ADD_REMOVE, 1, &event};
    const bb_account replaced = {BB_REPLACE_ONE, 1, &event};
    bb_answer answer;
    assert_int_equal(bb_account_epsilon(&added, BB_ACCOUNTANT_PLD, 1e-10, &answer),
                     BB_ENUMERIC);
    assert_int_equal(bb_account_epsilon(&replaced, BB_ACCOUNTANT_AUTO, 1e-10, &answer),
                     BB_ENUMERIC);
    assert_int_equal(bb_account_epsilon(&replaced, BB_ACCOUNTANT_RDP, 1e-10, &answer),
                     BB_ENUMERIC);
    assert_ok(bb_account_epsilon(&added, BB_ACCOUNTANT_AUTO, 1e-10, &answer));
    assert_int_equal(answer.accountant, BB_ACCOUNTANT_RDP);
    /* one round's, mu^2 / 2 and more, is what it costs to be in one */
    assert_true(answer.upper > 1250.0 && isfinite(answer.upper));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_below_truth), cmocka_unit_test(delta_below_doubles),
        cmocka_unit_test(none_is_valid),     cmocka_unit_test(next_to_no_noise),
        cmocka_unit_test(many_steps),        cmocka_unit_test(hardly_any_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
