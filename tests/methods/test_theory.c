/* What the theorems advise, against the bounds that they minimise and figures worked out
 * by hand. */
#include "methods/theory.h"
#include "test.h"

static bb_theory problem(bb_composing composing, bool strong, bool accelerated) {
    return (bb_theory){.tasks = 1e9,
                       .features = 20,
                       .rank = 3,
                       .clip = 1,
                       .smooth = 1,
                       .strong = strong ? 0.2 : 0.0,
                       .epsilon = 1,
                       .delta = 1e-6,
                       .accelerated = accelerated,
                       .composing = composing};
}

/* In every setting the allocation that is advised has the least bound of all near it
 * that have the same power, as the proofs of Theorems 6, 11 and 16 say. */
static void advised_allocations_are_best(void **state) {
    (void)state;
    for (bb_composing c = 0; c < BB_COMPOSINGS; c++)
        for (int strong = 0; strong < 2; strong++)
            for (int fast = 0; fast < 2; fast++) {
                const bb_theory t = problem(c, strong, fast);
                const double best = bb_theory_allocation(&t);
                const double least = bb_theory_bound(&t, best);
                assert_true(least > 0.0);
                for (double step = 1e-3; step < 0.03; step += 1e-3) {
                    assert_true(bb_theory_bound(&t, best + step) > least);
                    assert_true(bb_theory_bound(&t, best - step) > least);
                }
            }
}

/* Theorem 6: the powers 2/5 and 4/9 (convex), 1/2 and 1; Theorem 11: 1/3 and 2/5. M is
 * the bound's base: ten times as many tasks reduce it by sqrt(10), or 10. */
static void powers_are_the_papers(void **state) {
    (void)state;
    const double power[BB_COMPOSINGS][2][2] = {{{1.0 / 3, 2.0 / 5}, {0.5, 1.0}},
                                               {{2.0 / 5, 4.0 / 9}, {0.5, 1.0}},
                                               {{2.0 / 5, 4.0 / 9}, {0.5, 1.0}}};
    for (bb_composing c = 0; c < BB_COMPOSINGS; c++)
        for (int strong = 0; strong < 2; strong++)
            for (int fast = 0; fast < 2; fast++)
                for (int sparse = 0; sparse < 2; sparse++) {
                    bb_theory few = problem(c, strong, fast), many;
                    few.group_sparse = sparse;
                    many = few;
                    many.tasks *= 10.0;
                    const double a = bb_theory_allocation(&few);
                    const double fell =
                        log10(bb_theory_bound(&few, a) / bb_theory_bound(&many, a));
                    assert_close(fell, power[c][strong][fast] * (sparse ? 1.0 : 0.5),
                                 1e-9);
                }
}

static void figures_by_hand(void **state) {
    (void)state;
    bb_theory t = problem(BB_COMPOSING_OPTIMAL, false, true);
    /* M_0 = sqrt(log(e + 1/(sqrt 2 1e-6)) + 2) / sqrt(1.8), M = M_0 3 20 log 20 / 1e4.5 */
    const double m0 = sqrt(log(M_E + 1e6 / sqrt(2.0)) + 2.0) / sqrt(1.8);
    assert_relative(bb_theory_cost(&t, 0.4), m0 * 60.0 * log(20.0) / sqrt(1e9), 1e-12);
    /* T = ((0.2 - 2)^2 / M)^(2/9) = (3.24 / 0.0170)^(2/9) = 3.2 */
    assert_close(bb_theory_rounds(&t, 0.4), 3.0, 0.0);
    assert_int_equal(bb_theory_theorem(&t), 2);
    assert_int_equal(bb_theory_allocation_theorem(&t), 6);
    t.group_sparse = true;
    t.strong = 0.25;
    t.composing = BB_COMPOSING_SUM;
    assert_int_equal(bb_theory_theorem(&t), 10);
    assert_int_equal(bb_theory_allocation_theorem(&t), 11);
    assert_close(bb_theory_momentum(&t), 1.0 / 3.0, 1e-15);
    assert_close(bb_theory_allocation(&t), pow(0.5, 1.0 / 3.0), 1e-15);
    /* a bound that says nothing advises one round */
    t.tasks = 1.0;
    assert_true(bb_theory_cost(&t, 0.5) > 1.0);
    assert_close(bb_theory_rounds(&t, bb_theory_allocation(&t)), 1.0, 0.0);
}

/* 205 tasks, delta 1/205, 100 rounds, epsilon 1: 92.3. */
static void mean_regularised(void **state) {
    (void)state;
    assert_close(bb_theory_mean_noise(100.0, 1.0, 1.0 / 205.0), 92.3, 0.05);
    bb_theory_mean t = {.tasks = 1000,
                        .features = 10,
                        .lambda = 0.1,
                        .clip = 1,
                        .smooth = 4,
                        .rate = 1};
    assert_close(bb_theory_mean_step(&t), 0.25, 1e-15);
    assert_close(bb_theory_mean_rounds(&t), 1000.0, 0.0);
    t.rate = 0.5; /* 2 - 1.5 lambda */
    assert_close(bb_theory_mean_step(&t), 1.0 / 1.85, 1e-12);
    t.strong = 1.0;
    t.rate = 1.0;
    assert_close(bb_theory_mean_step(&t), 3.0 / 2.1, 1e-12);
    assert_close(bb_theory_mean_rounds(&t), round(1000.0 * 3.3 / 2.1), 0.0);
}

int main(void) {
    const struct CMUnitTest test[] = {cmocka_unit_test(advised_allocations_are_best),
                                      cmocka_unit_test(powers_are_the_papers),
                                      cmocka_unit_test(figures_by_hand),
                                      cmocka_unit_test(mean_regularised)};
    return cmocka_run_group_tests(test, NULL, NULL);
}
