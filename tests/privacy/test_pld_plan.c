/* Many different rounds by mixtures of few laws, and many equal ones by their number. */
#include "base/memory.h"
#include "privacy/accounting/pld.h"
#include "privacy/accounting/pld_direction.h"
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

/* The share of b of a round of mu. */
static double share_of(bool mirror, double a, double b, double mu) {
    return bb_pld_plan_gap(mirror, a, mu) / bb_pld_plan_gap(mirror, a, b);
}

/* One round between two: its closed profile is not above that of the mixture. */
static void assert_mixtures(bb_sampling sampling, bb_adjacency adjacency, double q,
                            double a, double b) {
    const double rate = sampling == BB_SAMPLING_ALL ? 1.0 : q;
    const bool mirror = sampling == BB_SAMPLING_POISSON && adjacency == BB_REPLACE_ONE;
    const bb_event low = round_of(sampling, rate, a),
                   high = round_of(sampling, rate, b);
    for (double part = 0.1; part < 1.0; part += 0.2) {
        const bb_event event = round_of(sampling, rate, a + part * (b - a));
        const double share = share_of(mirror, a, b, event.absent);
        assert_true(share >= 0.0 && share <= 1.0);
        for (double x = 0.0; x < 60.0; x += 0.01 + 0.1 * x) {
            double error = 1e-300;
            const double truth = delta_of(&event, adjacency, x, &error);
            const double first = delta_of(&low, adjacency, x, &error),
                         second = delta_of(&high, adjacency, x, &error);
            assert_true(first + share * (second - first) >= truth - error);
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

/* Gaps are those of erf, small ones and far ones, and the mean of mu is hardly moved. */
static void gaps(void **state) {
    (void)state;
    for (double a = 0.01; a < 5.0; a *= 1.7)
        for (double wide = 1e-3; wide < 4.0; wide *= 3.0) {
            const double b = a + wide, root = sqrt(atan(1.0));
            assert_relative(bb_pld_plan_gap(false, a, b),
                            root * 2.0 * sqrt(2.0) *
                                (erfc(a / sqrt(8.0)) - erfc(b / sqrt(8.0))),
                            1e-9);
        }
    for (double mu = 0.05; mu < 2.0; mu *= 2.0)
        assert_close(share_of(false, mu * 0.995, mu * 1.005, mu), 0.5, 0.01);
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

/* Few losses, in order, whatever the number of rounds; nothing is lost. */
static void few_losses(void **state) {
    (void)state;
    enum { MOST = 100 };
    for (size_t count = 100; count <= 100000; count *= 10) {
        bb_event *event = power_rounds(count, BB_SAMPLING_POISSON, 0.01, 0.8, -0.5);
        const bb_account account = {BB_ADD_REMOVE, count, event};
        bb_pld_plan plan;
        double rounds = 0.0;
        assert_ok(bb_pld_plan_open(&plan, &account, MOST));
        assert_true(plan.losses <= MOST && plan.losses > MOST / 2);
        assert_true(plan.mixed == (count > MOST) && plan.different == count);
        for (size_t f = 0; f < plan.count; f++) {
            const bb_pld_factor *x = &plan.factor[f];
            assert_true(f == 0 || x->loss >= x[-1].loss);
            assert_true(x->loss + (x->share > 0.0) < plan.losses);
            assert_true(x->spread <= x->times / 4.0 * (1.0 + 1e-9));
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
    assert_true(all.lower <= all.upper && isfinite(all.upper));
    test_free(event);
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

/* -- work -- */

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
        assert_ok(bb_pld_plan_open(&plan, &account, 60));
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
        assert_ok(bb_pld_plan_open(&plan, &account, 60));
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

/* Noise is found where rounds hardly ever matter, whatever levels are tried. */
static void calibration_of_rare_losses(void **state) {
    (void)state;
    bb_event *event = power_rounds(100, BB_SAMPLING_FIXED_HIDDEN, 1e-3, 2.0, 0.3);
    const bb_account account = {BB_REPLACE_ONE, 100, event};
    bb_answer answer;
    double factor;
    assert_ok(
        bb_account_noise(&account, BB_ACCOUNTANT_AUTO, 2.0, 1e-6, &factor, &answer));
    assert_true(answer.upper <= 2.0 && answer.upper > 2.0 * (1.0 - 1e-6));
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(mixtures),
                                       cmocka_unit_test(gaps),
                                       cmocka_unit_test(few_losses),
                                       cmocka_unit_test(unequal),
                                       cmocka_unit_test(nearly_equal),
                                       cmocka_unit_test(gaussian_rounds),
                                       cmocka_unit_test(calibration),
                                       cmocka_unit_test(refused),
                                       cmocka_unit_test(rare_losses),
                                       cmocka_unit_test(visible_at_large_epsilon),
                                       cmocka_unit_test(work_is_known_before),
                                       cmocka_unit_test(added_round),
                                       cmocka_unit_test(calibration_of_rare_losses),
                                       cmocka_unit_test(visible_in_blocks),
                                       cmocka_unit_test(visible_for_ever),
                                       cmocka_unit_test(selections),
                                       cmocka_unit_test(selections_are_close),
                                       cmocka_unit_test(apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
