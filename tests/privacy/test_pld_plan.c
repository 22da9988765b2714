/* Many different rounds by mixtures of few losses. */
#include "base/memory.h"
#include "privacy/accounting/pld.h"
#include "privacy/accounting/pld_direction.h"
#include "privacy/accounting/profile.h"
#include "rounds.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

enum { MANY = 3000 };

/* Few losses, in order, whatever the number of rounds; nothing is lost. */
static void few_losses(void **state) {
    (void)state;
    enum { MOST = 100 };
    for (size_t count = 100; count <= 100000; count *= 10) {
        bb_event *event = power_rounds(count, BB_SAMPLING_POISSON, 0.01, 0.8, -0.5);
        const bb_account account = {BB_ADD_REMOVE, count, event};
        bb_pld_plan plan;
        assert_ok(bb_pld_plan_open(&plan, &account, MOST, 1e-6, NULL));
        assert_true(plan.losses <= MOST && plan.losses > MOST / 2);
        assert_true(plan.mixed == (count > MOST) && plan.different == count);
        for (int k = 0; k < BB_BOUNDS; k++) {
            const bb_pld_chain *chain = &plan.chain[k];
            double rounds = 0.0;
            for (size_t f = 0; f < chain->count; f++) {
                const bb_pld_factor *x = &chain->factor[f];
                assert_true(f == 0 || x->loss >= x[-1].loss);
                assert_true(x->loss + (x->share > 0.0) < plan.losses);
                assert_true(x->share >= 0.0 && x->share <= 1.0);
                rounds += x->times;
            }
            assert_true(rounds == (double)count && plan.rounds == rounds);
        }
        assert_true(plan.spare <= 1e-5 * 1e-6 && plan.excess <= 1e-5);
        bb_pld_plan_close(&plan);
        test_free(event);
    }
}

/* The same rounds with each mu moved to the next of 60 values, which are few enough to
 * be composed one by one. */
static void epsilon_of_moved(bb_adjacency adjacency, size_t count,
                             const bb_event *event, double top, bool up,
                             bb_answer *answer) {
    bb_event moved[61];
    size_t n = 0;
    for (size_t t = 0; t < count; t++) {
        const double place = event[t].absent / top * 60.0;
        const double mu = top * (up ? ceil(place) : floor(place)) / 60.0;
        bb_event next = round_of(event[t].sampling, event[t].rate, mu);
        next.rounds = event[t].rounds;
        if (n && moved[n - 1].absent == next.absent)
            moved[n - 1].rounds += next.rounds;
        else
            moved[n++] = next;
    }
    epsilon_of(adjacency, n, moved, answer);
}

static void unequal(void **state) {
    (void)state;
    static const struct {
        bb_sampling sampling;
        bb_adjacency adjacency;
        double rate, top;
    } plan[] = {{BB_SAMPLING_POISSON, BB_REPLACE_ONE, 0.02, 0.8},
                {BB_SAMPLING_POISSON, BB_ADD_REMOVE, 0.02, 0.8},
                {BB_SAMPLING_FIXED_HIDDEN, BB_REPLACE_ONE, 0.02, 0.5},
                {BB_SAMPLING_FIXED_VISIBLE, BB_REPLACE_ONE, 0.05, 0.3}};
    for (size_t k = 0; k < sizeof plan / sizeof *plan; k++) {
        bb_event *event =
            power_rounds(MANY, plan[k].sampling, plan[k].rate, plan[k].top, 1.0);
        const bb_adjacency adjacency = plan[k].adjacency;
        bb_answer all, most, least, fewer;
        epsilon_of(adjacency, MANY, event, &all);
        assert_true(all.upper / all.lower - 1.0 <= 1e-3);
        epsilon_of_moved(adjacency, MANY, event, plan[k].top, true, &most);
        epsilon_of_moved(adjacency, MANY, event, plan[k].top, false, &least);
        assert_true(all.lower <= most.upper && all.upper >= least.lower);
        assert_true(all.upper <= most.upper && all.lower >= least.lower);
        epsilon_of(adjacency, MANY - 300, event, &fewer);
        assert_true(fewer.upper < all.lower);
        const bb_account account = {adjacency, MANY, event};
        bb_answer renyi, delta;
        assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_RDP, 1e-6, &renyi));
        assert_true(renyi.upper >= all.lower && renyi.upper < 1.5 * all.upper);
        assert_ok(bb_pld_delta(&account, all.upper, &delta.upper, &delta.lower));
        assert_true(delta.lower <= 1e-6 && delta.upper >= 0.97e-6);
        assert_true(delta.upper <= 1.01e-6);
        test_free(event);
    }
}

/* Hardly different rounds cost what equal ones do. */
static void nearly_equal(void **state) {
    (void)state;
    bb_event *event = power_rounds(MANY, BB_SAMPLING_POISSON, 0.01, 0.7, 1e-7);
    const bb_event equal = round_of(BB_SAMPLING_POISSON, 0.01, 0.7);
    bb_event all = equal;
    bb_answer different, same;
    all.rounds = MANY;
    epsilon_of(BB_ADD_REMOVE, MANY, event, &different);
    epsilon_of(BB_ADD_REMOVE, 1, &all, &same);
    assert_relative(different.upper, same.upper, 3e-4);
    assert_relative(different.lower, same.lower, 3e-4);
    for (size_t t = 0; t < MANY; t++) event[t] = equal;
    epsilon_of(BB_ADD_REMOVE, MANY, event, &different);
    assert_relative(different.upper, same.upper, 1e-9);
    test_free(event);
}

/* Gaussian rounds of all tasks are one, whatever else there is. */
static void gaussian_rounds(void **state) {
    (void)state;
    bb_event event[200];
    double squares = 0.0;
    for (size_t t = 0; t < 200; t++) {
        const double mu = 0.001 * (double)(t + 1);
        event[t] = bb_event_gaussian(mu, 1.0);
        squares += mu * mu;
    }
    bb_answer answer;
    epsilon_of(BB_REPLACE_ONE, 200, event, &answer);
    const double truth = bb_gdp_epsilon(sqrt(squares), 1e-6);
    assert_true(answer.upper >= truth * (1.0 - 1e-12));
    assert_relative(answer.upper, truth, 1e-7);
    assert_relative(answer.lower, truth, 1e-7);
}

static void calibration(void **state) {
    (void)state;
    bb_event *event = power_rounds(600, BB_SAMPLING_POISSON, 0.02, 1.0, 1.0);
    const bb_account account = {BB_REPLACE_ONE, 600, event};
    bb_answer answer;
    double factor;
    assert_ok(
        bb_account_noise(&account, BB_ACCOUNTANT_AUTO, 2.0, 1e-5, &factor, &answer));
    assert_true(answer.upper <= 2.0 && answer.upper >= 2.0 * (1.0 - 2e-4));
    assert_true(answer.lower >= 2.0 * (1.0 - 1e-3));
    for (size_t t = 0; t < 600; t++) {
        event[t].absent /= factor * (1.0 - 1e-3);
        event[t].replace /= factor * (1.0 - 1e-3);
    }
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 1e-5, &answer));
    assert_true(answer.upper > 2.0);
    test_free(event);
}

/* What is too different is refused, and says what to do. */
static void refused(void **state) {
    (void)state;
    bb_event *event = power_rounds(MANY, BB_SAMPLING_FIXED_HIDDEN, 1e-3, 2.0, 1.0);
    const bb_account account = {BB_REPLACE_ONE, MANY, event};
    bb_answer answer;
    for (size_t t = 0; t < MANY; t++) event[t].rate = 0.01 * ((double)t + 1.0) / MANY;
    assert_fails(bb_account_epsilon(&account, BB_ACCOUNTANT_PLD, 1e-6, &answer),
                 BB_EUSAGE, "round rates up");
    test_free(event);
}

/* Refused before anything is computed: many different rates, with very little noise. */
static void refused_at_once(void **state) {
    (void)state;
    enum { RATES = 256 };
    bb_event event[RATES];
    for (size_t t = 0; t < RATES; t++)
        event[t] = round_of(BB_SAMPLING_POISSON, 0.1 + 1e-4 * (double)t, 10.0);
    const bb_account account = {BB_ADD_REMOVE, RATES, event};
    bb_answer answer;
    bb_pld_plan plan;
    bb_pld_direction side;
    const bb_goal goal = {log(1e-6), NAN};
    double promise;
    assert_fails(bb_account_epsilon(&account, BB_ACCOUNTANT_PLD, 1e-6, &answer),
                 BB_EUSAGE, "too much work");
    assert_fails(bb_account_epsilon(&account, BB_ACCOUNTANT_RDP, 1e-6, &answer),
                 BB_EUSAGE, "too much work");
    assert_ok(bb_pld_plan_open(&plan, &account, 48, 1e-6, NULL));
    plan.work_most = 1e9;
    assert_ok(bb_pld_direction_open(&side, &plan, BB_WITH, 0.0));
    assert_fails(bb_pld_direction_try(&side, &goal, -INFINITY, &promise), BB_EUSAGE,
                 "256 different events");
    assert_true(plan.work == 0.0 && side.tried <= 1); /* one moment says so */
    bb_pld_direction_close(&side);
    bb_pld_plan_close(&plan);
}

/* Rounds that hardly ever matter, but then much. */
static void rare_losses(void **state) {
    (void)state;
    enum { RARE = 300 };
    bb_event *event = power_rounds(RARE, BB_SAMPLING_FIXED_HIDDEN, 1e-3, 2.0, 0.3);
    bb_answer all, most, least;
    epsilon_of(BB_REPLACE_ONE, RARE, event, &all);
    assert_true(all.upper - all.lower <= 1e-3 * all.upper);
    epsilon_of_moved(BB_REPLACE_ONE, RARE, event, 2.0, true, &most);
    epsilon_of_moved(BB_REPLACE_ONE, RARE, event, 2.0, false, &least);
    assert_true(all.lower <= most.upper && all.upper >= least.lower);
    test_free(event);
    event = power_rounds(MANY, BB_SAMPLING_FIXED_HIDDEN, 1e-3, 2.0, 1.0);
    epsilon_of(BB_REPLACE_ONE, MANY, event, &all);
    assert_true(all.upper - all.lower <= 1e-3 * all.upper);
    test_free(event);
    event = power_rounds(MANY, BB_SAMPLING_POISSON, 1e-4, 2.0, 0.3);
    epsilon_of(BB_ADD_REMOVE, MANY, event, &all);
    assert_true(all.upper - all.lower <= 1e-3 * all.upper);
    test_free(event);
    event = power_rounds(MANY, BB_SAMPLING_POISSON, 1e-3, 0.5, 1.0);
    epsilon_of(BB_ADD_REMOVE, MANY, event, &all);
    assert_true(all.upper - all.lower <= 1e-3 * all.upper);
    test_free(event);
}

/* Hundreds of each, so that all of the range matters for a large epsilon, and not only the
 * largest: bounds are close where losses are where mixtures are seen to need them. */
static void many_of_each(void **state) {
    (void)state;
    enum { DIFFERENT = 1000 };
    bb_event *event = power_rounds(DIFFERENT, BB_SAMPLING_POISSON, 8.4e-6, 6.977, 0.3);
    bb_answer all, most, least;
    for (size_t t = 0; t < DIFFERENT; t++) event[t].rounds = 165.0;
    epsilon_of(BB_REPLACE_ONE, DIFFERENT, event, &all);
    assert_true(all.upper > 90.0 && all.upper - all.lower <= 1e-3 * all.upper);
    epsilon_of_moved(BB_REPLACE_ONE, DIFFERENT, event, 6.977, true, &most);
    epsilon_of_moved(BB_REPLACE_ONE, DIFFERENT, event, 6.977, false, &least);
    assert_true(all.lower <= most.upper && all.upper >= least.lower);
    test_free(event);
}

/* Where a plan of few losses says that they are needed, the next one has most of them. */
static void losses_where_needed(void **state) {
    (void)state;
    enum { COUNT = 1000, FEW = 20, MORE = 60 };
    bb_event *event = power_rounds(COUNT, BB_SAMPLING_POISSON, 0.01, 1.0, 1.0);
    const bb_account account = {BB_ADD_REMOVE, COUNT, event};
    bb_pld_plan plan, finer;
    assert_ok(bb_pld_plan_open(&plan, &account, FEW, 1e-6, NULL));
    for (size_t at = 0; at + 1 < plan.losses; at += 6) {
        size_t between = 0;
        for (size_t e = 0; e < plan.losses; e++) plan.apart[e] = e == at;
        assert_ok(bb_pld_plan_open(&finer, &account, MORE, 1e-6, &plan));
        for (size_t e = 0; e < finer.losses; e++)
            between += finer.loss[e].absent >= plan.loss[at].absent &&
                       finer.loss[e].absent <= plan.loss[at + 1].absent;
        assert_true(finer.losses <= MORE && between > MORE / 4);
        assert_true(finer.losses - between > FEW / 4);
        bb_pld_plan_close(&finer);
    }
    bb_pld_plan_close(&plan);
    test_free(event);
}

/* Rates so rare that epsilon is far below the losses that it is for. Each round is replaced
 * by one of a little less or more noise for bounds that do not need mixtures. */
static void rare_rates(void **state) {
    (void)state;
    static const struct {
        bb_adjacency adjacency;
        double q, top;
    } plan[] = {{BB_ADD_REMOVE, 1e-5, 1.0},
                {BB_REPLACE_ONE, 1e-5, 1.0},
                {BB_ADD_REMOVE, 1e-5, 2.0},
                {BB_REPLACE_ONE, 3e-5, 1.5}};
    for (size_t k = 0; k < sizeof plan / sizeof *plan; k++) {
        bb_event *event =
            power_rounds(1000, BB_SAMPLING_POISSON, plan[k].q, plan[k].top, 0.5);
        const bb_account account = {plan[k].adjacency, 1000, event};
        bb_answer all, most, least;
        double upper, lower;
        epsilon_of(plan[k].adjacency, 1000, event, &all);
        assert_true(all.upper - all.lower <= 1e-3 * fmax(1e-3, all.upper));
        epsilon_of_moved(plan[k].adjacency, 1000, event, plan[k].top, true, &most);
        epsilon_of_moved(plan[k].adjacency, 1000, event, plan[k].top, false, &least);
        assert_true(all.lower <= most.upper && all.upper >= least.lower);
        assert_ok(bb_pld_delta(&account, all.upper, &upper, &lower));
        assert_true(lower <= 1e-6 && upper >= 0.99e-6);
        test_free(event);
    }
}

/* delta of rounds of a visible cohort: given who is picked mu^2 adds up, here in cells of
 * `width`, rounded up or down. */
static double visible_delta(const bb_event *event, size_t count, double width, bool up,
                            double epsilon) {
    enum { CELLS = 20000 };
    double *chance = test_malloc(CELLS * sizeof *chance), sum = 0.0;
    for (size_t k = 0; k < CELLS; k++) chance[k] = k == 0;
    for (size_t t = 0; t < count; t++) {
        const double at = event[t].replace * event[t].replace / width;
        const size_t move = (size_t)(up ? ceil(at) : floor(at));
        for (size_t k = CELLS; k-- > 0;) {
            const double in = event[t].rate * chance[k];
            const size_t to = k + move < CELLS ? k + move : CELLS - 1;
            chance[k] -= in;
            chance[to] += in;
        }
    }
    for (size_t k = 0; k < CELLS; k++)
        sum += chance[k] * bb_gdp_delta(sqrt((double)k * width), epsilon);
    test_free(chance);
    return sum;
}

/* Bounds are close at a large epsilon, too, and around truth. */
static void visible_at_large_epsilon(void **state) {
    (void)state;
    enum { ROUNDS = 345 };
    bb_event event[ROUNDS];
    for (size_t t = 0; t < ROUNDS; t++) {
        const double mu = pow(0.98554673, (double)(ROUNDS - 1 - t)) / 0.53749;
        event[t] =
            bb_event_round(BB_SAMPLING_FIXED_VISIBLE, 0.014993, mu, 2.0 * mu, 1.0);
    }
    const bb_account account = {BB_REPLACE_ONE, ROUNDS, event};
    bb_answer answer;
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 6.21e-8, &answer));
    assert_true(answer.upper - answer.lower <= 1e-3 * answer.upper);
    assert_true(visible_delta(event, ROUNDS, 0.02, false, answer.upper) <= 6.21e-8);
    assert_true(visible_delta(event, ROUNDS, 0.02, true, answer.lower) >= 6.21e-8);
}

/* Levels that are refused while they are searched do not keep the answer far away. */
static void calibration_beside_refused_levels(void **state) {
    (void)state;
    enum { ROUNDS = 72 };
    bb_event *event = power_rounds(ROUNDS, BB_SAMPLING_POISSON, 1.3880267e-5, 1.0, 0.1);
    bb_event all[ROUNDS + 1];
    for (size_t t = 0; t < ROUNDS; t++) all[t] = event[t];
    all[ROUNDS] = bb_event_selection(0.0139776, 7.0);
    const bb_account account = {BB_REPLACE_ONE, ROUNDS + 1, all};
    bb_answer answer;
    double factor;
    assert_ok(bb_account_noise(&account, BB_ACCOUNTANT_AUTO, 0.978434, 1.5018e-8,
                               &factor, &answer));
    assert_true(answer.upper <= 0.978434 && answer.upper >= 0.978434 * (1.0 - 5e-4));
    test_free(event);
    /* large losses that are so rare that epsilon jumps from .05 to .7 */
    enum { FEWER = 87 };
    event = power_rounds(FEWER, BB_SAMPLING_POISSON, 2.18083e-5, 1.0, 0.856);
    const bb_account jump = {BB_REPLACE_ONE, FEWER, event};
    assert_ok(bb_account_noise(&jump, BB_ACCOUNTANT_AUTO, 0.755442, 4.85579e-4, &factor,
                               &answer));
    assert_true(answer.upper <= 0.755442 && answer.upper >= 0.755442 * (1.0 - 5e-4));
    assert_true(answer.lower >= answer.upper * (1.0 - 1e-3));
    test_free(event);
}

/* Noise is found where rounds hardly ever matter, whatever levels are tried. */
static void calibration_of_rare_losses(void **state) {
    (void)state;
    bb_event *event = power_rounds(100, BB_SAMPLING_FIXED_HIDDEN, 1e-3, 2.0, 0.3);
    const bb_account account = {BB_REPLACE_ONE, 100, event};
    bb_answer answer;
    double factor;
    assert_ok(
        bb_account_noise(&account, BB_ACCOUNTANT_AUTO, 2.0, 1e-6, &factor, &answer));
    assert_true(answer.upper <= 2.0 && answer.upper > 2.0 * (1.0 - 1e-3));
    test_free(event);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_losses),
        cmocka_unit_test(unequal),
        cmocka_unit_test(nearly_equal),
        cmocka_unit_test(gaussian_rounds),
        cmocka_unit_test(calibration),
        cmocka_unit_test(refused),
        cmocka_unit_test(refused_at_once),
        cmocka_unit_test(rare_losses),
        cmocka_unit_test(many_of_each),
        cmocka_unit_test(losses_where_needed),
        cmocka_unit_test(rare_rates),
        cmocka_unit_test(visible_at_large_epsilon),
        cmocka_unit_test(calibration_of_rare_losses),
        cmocka_unit_test(calibration_beside_refused_levels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
