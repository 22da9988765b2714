/* Very many equal events. */
#include "privacy/accounting/profile.h"
#include "rounds.h"
#include "test.h"

#include <math.h>

/* sum_k P[Bin(rounds, q) = k] delta_{sqrt k mu}, k by k. */
static double picked(double rounds, double q, double mu, double epsilon) {
    const double mode = floor(rounds * q);
    double sum = 0.0, total = 0.0;
    for (int up = 0; up < 2; up++) {
        double weight = 1.0;
        for (double k = mode; weight > 1e-40; k += up ? 1.0 : -1.0) {
            if (up || k < mode) {
                sum += weight * bb_gdp_delta(sqrt(k) * mu, epsilon);
                total += weight;
            }
            weight *= up ? (rounds - k) / (k + 1.0) * q / (1.0 - q)
                         : k / (rounds - k + 1.0) / q * (1.0 - q);
        }
    }
    return sum / total;
}

static void visible_in_blocks(void **state) {
    (void)state;
    static const double rates[] = {0.1, 0.5, 0.97};
    for (size_t k = 0; k < 3; k++)
        for (double rounds = 5e6; rounds < 1e8; rounds *= 19.0) {
            const double q = rates[k], mu = 1.0 / sqrt(rounds * q);
            bb_event event = round_of(BB_SAMPLING_FIXED_VISIBLE, q, mu);
            event.rounds = rounds;
            for (double x = 0.1; x < 9.0; x *= 2.0) {
                const double truth = picked(rounds, q, mu, x);
                double upper, lower;
                bb_profile(&event, BB_ADD_REMOVE, x, &upper, &lower);
                assert_true(lower <= truth && truth <= upper);
                assert_relative(upper, lower, 1e-3);
            }
        }
}

/* As many as there may be: how often a task is picked hardly varies. */
static void visible_for_ever(void **state) {
    (void)state;
    for (double q = 1e-3; q < 1.0; q *= 9.0) {
        bb_event event = round_of(BB_SAMPLING_FIXED_VISIBLE, q, 1.0 / sqrt(0x1p40 * q));
        bb_answer answer;
        event.rounds = 0x1p40;
        epsilon_of(BB_ADD_REMOVE, 1, &event, &answer);
        assert_relative(answer.upper, bb_gdp_epsilon(1.0, 1e-6), 1e-4);
        assert_true(answer.upper / answer.lower - 1.0 <= 1e-4);
    }
}

/* Any number of selections costs what few do; by kov, what they do one by one. */
static void selections(void **state) {
    (void)state;
    enum { STEPS = 1000 };
    double epsilon[STEPS], delta[STEPS];
    const double kinds[] = {0.01, 0.3}, bad[] = {1e-9, 0.0}, times[] = {700.0, 300.0};
    for (size_t t = 0; t < STEPS; t++) {
        epsilon[t] = kinds[t >= 700];
        delta[t] = bad[t >= 700];
    }
    const double slack = bb_kov_slack(STEPS, delta, 1e-5);
    assert_relative(bb_kov_slack_repeated(2, bad, times, 1e-5), slack, 1e-9);
    assert_relative(bb_kov_epsilon_repeated(2, kinds, times, slack),
                    bb_kov_epsilon(STEPS, epsilon, slack), 1e-12);
    const bb_event event = bb_event_selection(1e-5, 1e9);
    const bb_account account = {BB_REPLACE_ONE, 1, &event};
    bb_answer answer, kov;
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 1e-5, &answer));
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_KOV, 1e-5, &kov));
    assert_true(kov.upper >= answer.upper && kov.upper < 4.0 * answer.upper);
}

/* Many equal ones are close, too, at the smallest delta. */
static void selections_are_close(void **state) {
    (void)state;
    const bb_event event = bb_event_selection(0.05, 100.0);
    const bb_account account = {BB_REPLACE_ONE, 1, &event};
    bb_answer answer;
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 1e-12, &answer));
    assert_true(answer.upper - answer.lower <= 1e-3 * answer.upper);
}

/* What others show at their own places is no mechanism for the pair of a hidden cohort. */
static void apart(void **state) {
    (void)state;
    bb_event event = round_of(BB_SAMPLING_FIXED_HIDDEN, 0.1, 0.5);
    const bb_account account = {BB_REPLACE_ONE, 1, &event};
    bb_answer answer;
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 1e-5, &answer));
    assert_true(answer.lower > 0.99 * answer.upper);
    event.apart = true;
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 1e-5, &answer));
    assert_true(isnan(answer.lower) && answer.upper > 0.0);
    event.sampling = BB_SAMPLING_FIXED_VISIBLE;
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 1e-5, &answer));
    assert_true(answer.lower > 0.99 * answer.upper);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visible_in_blocks), cmocka_unit_test(visible_for_ever),
        cmocka_unit_test(selections), cmocka_unit_test(selections_are_close),
        cmocka_unit_test(apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
