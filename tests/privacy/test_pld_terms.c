/* The sum over frequencies: its work, and what an added round does to it. */
#include "privacy/accounting/pld_cut.h"
#include "privacy/accounting/pld_direction.h"
#include "privacy/accounting/profile.h"
#include "rounds.h"
#include "test.h"

#include <math.h>

enum { MANY = 3000 };

/* What is computed is not more than was counted beforehand, and nothing is if it would be
 * too much. */
static void work_is_known_before(void **state) {
    (void)state;
    bb_event *event = power_rounds(MANY, BB_SAMPLING_POISSON, 0.01, 1.5, 0.7);
    const bb_account account = {BB_REPLACE_ONE, MANY, event};
    const double epsilon = 8.0, log_delta = log(1e-6);
    for (int enough = 0; enough < 2; enough++) {
        const bb_goal goal = {log_delta, NAN};
        double before, done = 0.0;
        bb_pld_plan plan;
        bb_pld_direction side;
        assert_ok(bb_pld_plan_open(&plan, &account, 60, 1e-6, NULL));
        plan.work_most = 1e9;
        assert_ok(bb_pld_direction_open(&side, &plan, BB_WITH, 0.0));
        bb_pld_direction_choose(&side, &goal, -INFINITY);
        bb_pld_direction_look_around(&side, log_delta, epsilon);
        before = plan.work;
        assert_true(before > 0.0 && before < 1e9);
        if (!enough) plan.work_most = before + 1e6;
        for (size_t e = 0; e < plan.losses; e++) side.loss[e].done = 0.0;
        assert_ok(bb_pld_direction_prepare(&side, log_delta, epsilon, 0.05));
        assert_true(enough == (side.terms != NULL));
        for (size_t e = 0; e < plan.losses && enough; e++) done += side.loss[e].done;
        assert_true(done <= plan.work - before && plan.work <= plan.work_most);
        assert_true(enough == (done > 0.0));
        bb_pld_direction_close(&side);
        bb_pld_plan_close(&plan);
    }
    test_free(event);
}

/* With a round that is added both bounds hold, and are close: against the closed form of
 * equal rounds of a visible cohort. */
static void added_round(void **state) {
    (void)state;
    bb_event event = bb_event_round(BB_SAMPLING_FIXED_VISIBLE, 0.01, 1.5, 3.0, 40.0);
    const bb_account account = {BB_ADD_REMOVE, 1, &event};
    for (double delta = 1e-3; delta > 1e-12; delta *= 1e-3) {
        double high, low, upper, lower, epsilon;
        bb_profile_epsilon(&event, BB_ADD_REMOVE, delta, &epsilon, &low);
        const bb_goal goal = {log(delta), NAN};
        bb_pld_plan plan;
        bb_pld_direction side;
        assert_ok(bb_pld_plan_open(&plan, &account, 60, 1e-6, NULL));
        plan.work_most = 1e9;
        assert_ok(bb_pld_direction_open(&side, &plan, BB_WITH, 0.0));
        bb_pld_direction_choose(&side, &goal, -INFINITY);
        bb_pld_direction_look_around(&side, log(delta), epsilon);
        for (double smooth = 0.2; smooth > 0.005; smooth /= 2.0) {
            assert_ok(bb_pld_direction_prepare(&side, log(delta), epsilon, smooth));
            assert_non_null(side.terms);
            for (double x = 0.9 * epsilon; x < 1.1 * epsilon; x *= 1.02) {
                bb_profile(&event, BB_ADD_REMOVE, x, &high, &low);
                bb_pld_direction_profile(&side, x, &upper, &lower);
                assert_true(upper >= low && lower <= high);
            }
            bb_pld_direction_profile(&side, epsilon, &upper, &lower);
            assert_true(upper - lower <= 60.0 * smooth * smooth * upper + 1e-4 * upper);
        }
        bb_pld_direction_close(&side);
        bb_pld_plan_close(&plan);
    }
}

/* The chain below may be too high by its spare and its excess: both are taken off. */
static void below_truth(void **state) {
    (void)state;
    bb_event *event = power_rounds(MANY, BB_SAMPLING_POISSON, 0.01, 1.5, 0.7);
    const bb_account account = {BB_ADD_REMOVE, MANY, event};
    const bb_goal goal = {log(1e-6), NAN};
    const double epsilon = 8.0;
    double upper, lower, least;
    bb_pld_plan plan;
    bb_pld_direction side;
    assert_ok(bb_pld_plan_open(&plan, &account, 60, 1e-6, NULL));
    assert_true(plan.spare > 0.0 && plan.excess >= 0.0);
    plan.work_most = 1e9;
    assert_ok(bb_pld_direction_open(&side, &plan, BB_WITH, 0.0));
    bb_pld_direction_choose(&side, &goal, -INFINITY);
    bb_pld_direction_look_around(&side, log(1e-6), epsilon);
    assert_ok(bb_pld_direction_prepare(&side, log(1e-6), epsilon, 0.05));
    assert_non_null(side.terms);
    plan.spare = plan.excess = 0.0;
    bb_pld_direction_profile(&side, epsilon, &upper, &least);
    assert_true(least > 0.0);
    plan.spare = least / 4.0;
    bb_pld_direction_profile(&side, epsilon, &upper, &lower);
    assert_relative(lower, 0.75 * least, 1e-12);
    plan.excess = log(2.0);
    bb_pld_direction_profile(&side, epsilon, &upper, &lower);
    assert_relative(lower, 0.25 * least, 1e-12);
    bb_pld_direction_close(&side);
    bb_pld_plan_close(&plan);
    test_free(event);
}

/* Large losses are taken apart from rounds that can have them; not where a loss may be
 * infinite, be it in the other direction. */
static void cuts(void **state) {
    (void)state;
    enum { ROUNDS = 100 };
    bb_event event[ROUNDS + 1];
    for (size_t t = 0; t < ROUNDS; t++)
        event[t] = round_of(BB_SAMPLING_POISSON, 1e-4, 1.0 + 0.01 * (double)t);
    event[ROUNDS] = bb_event_wishart(60.0, 0.5, 1.0);
    for (size_t more = 0; more < 2; more++) {
        const bb_account account = {BB_ADD_REMOVE, ROUNDS + more, event};
        bb_pld_plan plan;
        bb_pld_direction side;
        assert_ok(bb_pld_plan_open(&plan, &account, 60, 1e-6, NULL));
        assert_ok(bb_pld_direction_open(&side, &plan, BB_WITH, 0.0));
        assert_int_equal(bb_pld_can_cut(&side), more == 0);
        bb_pld_direction_close(&side);
        bb_pld_plan_close(&plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_known_before), cmocka_unit_test(added_round),
        cmocka_unit_test(below_truth), cmocka_unit_test(cuts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
