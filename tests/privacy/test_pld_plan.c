/* Many different rounds by mixtures of few laws, and many equal ones by their number. */
#include "base/memory.h"
#include "privacy/accounting/pld.h"
#include "privacy/accounting/pld_plan.h"
#include "privacy/accounting/profile.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

enum { MANY = 3000 };

static double delta_of(const bb_event *event, bb_adjacency adjacency, double epsilon,
                       double *error) {
    double upper, lower;
    bb_profile(event, adjacency, epsilon, &upper, &lower);
    *error = fmax(*error, upper - lower);
    return upper;
}

static bb_event round_of(bb_sampling sampling, double q, double mu) {
    return bb_event_round(sampling, q, mu,
                          sampling == BB_SAMPLING_POISSON ? 2.0 * mu : mu, 1.0);
}

/* One round between two: its closed profile is between those of both mixtures. */
static void assert_mixtures(bb_sampling sampling, bb_adjacency adjacency, double q,
                            double a, double b) {
    const double slack = 1e-9, rate = sampling == BB_SAMPLING_ALL ? 1.0 : q;
    const bool mirror = sampling == BB_SAMPLING_POISSON && adjacency == BB_REPLACE_ONE;
    const bb_event low = round_of(sampling, rate, a),
                   high = round_of(sampling, rate, b);
    for (double part = 0.1; part < 1.0; part += 0.2) {
        const bb_event event = round_of(sampling, rate, a + part * (b - a));
        const double up =
            bb_pld_plan_share(mirror, BB_ABOVE, slack, a, b, event.absent);
        const double down =
            bb_pld_plan_share(mirror, BB_BELOW, slack, a, b, event.absent);
        assert_true(down >= 0.0 && down <= up && up <= 1.0);
        for (double x = 0.0; x < 60.0; x += 0.01 + 0.1 * x) {
            double error = 1e-300;
            const double truth = delta_of(&event, adjacency, x, &error);
            const double first = delta_of(&low, adjacency, x, &error),
                         second = delta_of(&high, adjacency, x, &error);
            assert_true(first + up * (second - first) >= truth - error);
            assert_true(first + down * (second - first) <=
                        truth + error + rate * slack);
        }
    }
}

static void mixtures(void **state) {
    (void)state;
    for (double a = 0.01; a < 5.0; a *= 2.3)
        for (double wide = 1.02; wide < 3.0; wide *= 1.6)
            for (double q = 1e-3; q < 1.0; q *= 8.0) {
                assert_mixtures(BB_SAMPLING_ALL, BB_REPLACE_ONE, q, a, wide * a);
                assert_mixtures(BB_SAMPLING_POISSON, BB_REPLACE_ONE, q, a, wide * a);
                assert_mixtures(BB_SAMPLING_POISSON, BB_ADD_REMOVE, q, a, wide * a);
                assert_mixtures(BB_SAMPLING_FIXED_HIDDEN, BB_REPLACE_ONE, q, a,
                                wide * a);
                assert_mixtures(BB_SAMPLING_FIXED_VISIBLE, BB_ADD_REMOVE, q, a,
                                wide * a);
            }
}

/* Shares are not so far on the safe side that nothing is won: their mean mu is within
 * the square of the distance. */
static void shares_are_near(void **state) {
    (void)state;
    for (double mu = 0.05; mu < 2.0; mu *= 2.0) {
        const double a = mu * 0.995, b = mu * 1.005;
        const double up = bb_pld_plan_share(false, BB_ABOVE, 1e-9, a, b, mu);
        const double down = bb_pld_plan_share(false, BB_BELOW, 1e-9, a, b, mu);
        assert_true(up <= 0.51 && down >= 0.4 && down < 0.5);
    }
}

/* `count` rounds with mu = top ((t + 1) / count)^power, all different. */
static bb_event *power_rounds(size_t count, bb_sampling sampling, double q, double top,
                              double power) {
    bb_event *event = test_malloc(count * sizeof *event);
    for (size_t t = 0; t < count; t++)
        event[t] =
            round_of(sampling, q, top * pow(((double)t + 1.0) / (double)count, power));
    return event;
}

/* Few laws, in order, whatever the number of rounds; nothing is lost. */
static void few_laws(void **state) {
    (void)state;
    for (size_t count = 100; count <= 100000; count *= 10)
        for (int bound = BB_ABOVE; bound <= BB_BELOW; bound++) {
            bb_event *event =
                power_rounds(count, BB_SAMPLING_POISSON, 0.01, 0.8, -0.5 + bound);
            const bb_account account = {BB_ADD_REMOVE, count, event};
            bb_pld_plan plan;
            double rounds = 0.0;
            assert_ok(bb_pld_plan_open(&plan, &account, (bb_bound)bound, 1e-9));
            assert_true(plan.losses <= 520 && plan.mixed == (count > plan.losses));
            for (size_t f = 0; f < plan.count; f++) {
                const bb_pld_factor *x = &plan.factor[f];
                assert_true(f == 0 || x->loss >= x[-1].loss);
                assert_true(x->loss + (x->share > 0.0) < plan.losses);
                rounds += x->times;
            }
            assert_true(rounds == (double)count && plan.rounds == rounds);
            bb_pld_plan_close(&plan);
            test_free(event);
        }
}

static void epsilon_of(bb_adjacency adjacency, size_t count, const bb_event *event,
                       bb_answer *answer) {
    const bb_account account = {adjacency, count, event};
    assert_ok(bb_pld_epsilon(&account, 1e-6, &answer->upper, &answer->lower));
    assert_true(answer->lower <= answer->upper);
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
        const bb_event next = round_of(event[t].sampling, event[t].rate, mu);
        if (n && moved[n - 1].absent == next.absent)
            moved[n - 1].rounds += 1.0;
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
    assert_true(answer.upper <= 2.0 && answer.upper > 2.0 * (1.0 - 1e-6));
    assert_true(answer.lower >= 2.0 * (1.0 - 1e-3));
    for (size_t t = 0; t < 600; t++) {
        event[t].absent /= factor * (1.0 - 1e-3);
        event[t].replace /= factor * (1.0 - 1e-3);
    }
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 1e-5, &answer));
    assert_true(answer.upper > 2.0);
    test_free(event);
}

/* What would take too long is refused, and says what to do. */
static void refused(void **state) {
    (void)state;
    bb_event *event = power_rounds(MANY, BB_SAMPLING_FIXED_HIDDEN, 1e-3, 2.0, 1.0);
    const bb_account account = {BB_REPLACE_ONE, MANY, event};
    bb_answer answer;
    assert_fails(bb_account_epsilon(&account, BB_ACCOUNTANT_PLD, 1e-6, &answer),
                 BB_EUSAGE, "at most 64 different noise multipliers");
    for (size_t t = 0; t < MANY; t++) event[t].rate = 0.01 * ((double)t + 1.0) / MANY;
    assert_fails(bb_account_epsilon(&account, BB_ACCOUNTANT_PLD, 1e-6, &answer),
                 BB_EUSAGE, "round rates up");
    test_free(event);
}

/* -- many equal ones -- */

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixtures),          cmocka_unit_test(shares_are_near),
        cmocka_unit_test(few_laws),          cmocka_unit_test(unequal),
        cmocka_unit_test(nearly_equal),      cmocka_unit_test(gaussian_rounds),
        cmocka_unit_test(calibration),       cmocka_unit_test(refused),
        cmocka_unit_test(visible_in_blocks), cmocka_unit_test(visible_for_ever),
        cmocka_unit_test(selections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
