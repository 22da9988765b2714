/* The theorem's figures, and that its bounds hold: randomised response, where the truth
 * is known. False alarms: each statistical test fails with probability below 1e-9 over
 * the choice of its seed. */
#include "audit/canary.h"
#include "base/random.h"
#include "test.h"

/* -- against exact rational arithmetic (Python's fractions and math.comb)
 * ------------------------------------------------------------------------------ */

static void test_p_values(void **state) {
    static const struct {
        size_t canaries, guesses, correct;
        double epsilon, delta, value;
    } c[] = {
        {10, 10, 10, 0.0, 0.0, 0.0009765625},
        {100, 40, 36, 1.0986122886681098, 0.0, 0.016042239818769663},
        {100, 40, 36, 1.0986122886681098, 1e-3, 0.03616282776464939},
        {500, 60, 59, 2.0, 1e-5, 0.005521975220433782},
        {1000, 1000, 560, 0.1, 1e-4, 0.017599156596345145},
        {20, 20, 10, 1.0, 0.01, 0.9949237907079118},
        {400, 400, 395, 3.5, 1e-6, 0.02274999924051166},
    };
    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        const double p = bb_canary_p_value(c[k].canaries, c[k].guesses, c[k].correct,
                                           c[k].epsilon, c[k].delta);
        assert_relative(p, c[k].value, 1e-9);
        assert_true(p >= c[k].value * (1.0 - 1e-14)); /* never below truth */
    }
    assert_true(bb_canary_p_value(9, 0, 0, 1.0, 0.0) == 1.0);
    assert_true(bb_canary_p_value(9, 9, 0, 1.0, 0.1) == 1.0);
}

static void test_epsilons(void **state) {
    (void)state;
    assert_close(bb_canary_epsilon(100, 100, 90, 0.0, 0.95), 1.6308231927409742, 1e-9);
    assert_close(bb_canary_epsilon(100, 50, 49, 1e-5, 0.95), 2.2949547885960406, 1e-9);
    assert_true(bb_canary_epsilon(100, 100, 55, 1e-5, 0.95) == 0.0);
    assert_true(bb_canary_epsilon(10, 0, 0, 0.0, 0.95) == 0.0);
    /* more right guesses, more certainty asked for, a larger delta */
    double before = 0.0;
    for (size_t correct = 60; correct <= 100; correct++) {
        const double epsilon = bb_canary_epsilon(100, 100, correct, 0.0, 0.95);
        assert_true(epsilon >= before);
        assert_true(bb_canary_epsilon(100, 100, correct, 0.0, 0.99) <= epsilon);
        assert_true(bb_canary_epsilon(100, 100, correct, 1e-4, 0.95) <= epsilon);
        before = epsilon;
    }
    const double q = pow(0.05, 0.01); /* q^100 = 0.05 */
    assert_close(before, log(q / (1.0 - q)), 1e-9);
}

/* -- the judge
 * -------------------------------------------------------------------------------- */

static void test_judge(void **state) {
    enum { N = 80 };
    double score[N];
    bool first[N];
    bb_canary_verdict v;
    (void)state;
    /* the 20 clearest are right, the others wrong as often as not */
    for (size_t i = 0; i < N; i++) {
        first[i] = i % 3 == 0;
        const bool right = i < 20 || i % 2;
        score[i] = (first[i] == right ? 1.0 : -1.0) * (i < 20 ? 5.0 : 1.0);
    }
    assert_ok(bb_canary_judge(N, score, first, 0.0, 0.95, &v));
    assert_int_equal(v.guesses, 20);
    assert_int_equal(v.correct, 20);
    assert_true(v.epsilon == bb_canary_epsilon(N, 20, 20, 0.0, 1.0 - 0.05 / 4));
    /* all right: the most guesses prove the most */
    for (size_t i = 0; i < N; i++) score[i] = first[i] ? 1.0 : -1.0;
    assert_ok(bb_canary_judge(N, score, first, 0.0, 0.95, &v));
    assert_int_equal(v.guesses, N);
    assert_int_equal(v.correct, N);
    /* nothing known */
    for (size_t i = 0; i < N; i++) {
        first[i] = i % 2;
        score[i] = 0.0;
    }
    assert_ok(bb_canary_judge(N, score, first, 0.0, 0.95, &v));
    assert_true(v.epsilon == 0.0);
    assert_ok(bb_canary_judge(1, score, first, 0.0, 0.95, &v));
    assert_true(v.epsilon == 0.0);
}

/* -- bounds hold: every coin is published by randomised response, and with probability
 * `leak` all are published as they are, which is (epsilon, leak)-DP
 * ------------------------------------------------------------------------------- */

enum { REPEATS = 1000, CANARIES = 120 };

typedef struct outcome {
    size_t false_bounds; /* of REPEATS: above the true epsilon */
    double mean;
} outcome;

static outcome respond(double epsilon, double leak, double delta, uint64_t seed) {
    const double q = 1.0 / (1.0 + exp(-epsilon));
    outcome o = {0};
    bb_random random;
    assert_ok(bb_random_open_stream(&random, seed, BB_FOR_TEST, 0, 0));
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double score[CANARIES];
        bool first[CANARIES];
        bb_canary_verdict v;
        const bool leaks = bb_random_uniform(&random) < leak;
        for (size_t i = 0; i < CANARIES; i++) {
            first[i] = bb_random_bits(&random) & 1;
            const bool right = leaks || bb_random_uniform(&random) < q;
            /* the guesser may be as sure as it likes of any of them */
            score[i] =
                (first[i] == right ? 1.0 : -1.0) * (0.1 + bb_random_uniform(&random));
        }
        assert_ok(bb_canary_judge(CANARIES, score, first, delta, 0.95, &v));
        o.false_bounds += v.epsilon > epsilon;
        o.mean += v.epsilon / REPEATS;
    }
    bb_random_close(&random);
    return o;
}

/* P(Bin(1000, 0.05) >= 100) < 1e-10 */
enum { MOST_FALSE = 100 };

static void test_bounds_hold(void **state) {
    static const double epsilon[] = {0.0, 0.5, 1.0, 3.0};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        const outcome o = respond(epsilon[k], 0.0, 0.0, 10 + k);
        assert_true(o.false_bounds < MOST_FALSE);
        assert_true(o.mean <= epsilon[k] + 0.05);
        assert_true(o.mean >= 0.5 * epsilon[k] - 0.2); /* and say something */
    }
}

/* Leaking one run in five breaks the bound at delta = 0 (P(Bin(1000, 0.2) < 100) <
 * 1e-15) and not at delta = 0.2. */
static void test_delta_counts(void **state) {
    (void)state;
    assert_true(respond(0.5, 0.2, 0.0, 20).false_bounds >= MOST_FALSE);
    assert_true(respond(0.5, 0.2, 0.2, 20).false_bounds < MOST_FALSE);
    assert_true(respond(0.5, 1e-4, 1e-4, 21).false_bounds < MOST_FALSE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_p_values),     cmocka_unit_test(test_epsilons),
        cmocka_unit_test(test_judge),        cmocka_unit_test(test_bounds_hold),
        cmocka_unit_test(test_delta_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
