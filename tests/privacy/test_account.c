/* Accountants side by side, calibration both ways, and what is refused. */
#include "privacy/accounting/account.h"
#include "privacy/accounting/form.h"
#include "privacy/accounting/rdp.h"
#include "test.h"

static bb_event sampled(double q, double z, double rounds) {
    return bb_event_round(BB_SAMPLING_POISSON, q, 1.0 / z, 2.0 / z, rounds);
}

static bb_answer epsilon_of(bb_adjacency adjacency, bb_accountant accountant,
                            size_t count, const bb_event *event, double delta) {
    const bb_account account = {adjacency, count, event};
    bb_answer answer;
    assert_ok(bb_account_epsilon(&account, accountant, delta, &answer));
    return answer;
}

static void gdp_is_exact(void **state) {
    (void)state;
    const bb_event event[] = {bb_event_gaussian(0.3, 4.0), bb_event_gaussian(0.8, 1.0)};
    const bb_answer gdp =
        epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_AUTO, 2, event, 1e-6);
    const bb_answer pld = epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_PLD, 2, event, 1e-6);
    const bb_answer rdp = epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_RDP, 2, event, 1e-6);
    assert_int_equal(gdp.accountant, BB_ACCOUNTANT_GDP);
    assert_relative(gdp.upper, bb_gdp_epsilon(1.0, 1e-6), 1e-12);
    assert_relative(pld.upper, gdp.upper, 1e-8);
    assert_true(gdp.lower <= gdp.upper && gdp.upper < rdp.upper);
    assert_true(rdp.order > 1.0 && isnan(pld.order));
}

/* The adjacency picks the distance: a vector moves twice as far when it is replaced. */
static void adjacency_matters(void **state) {
    (void)state;
    const bb_event event =
        bb_event_round(BB_SAMPLING_ALL, 1.0, 0.5,
                       0.5 * bb_form_sensitivity(BB_FORM_VECTOR, BB_REPLACE_ONE), 1.0);
    const bb_answer add =
        epsilon_of(BB_ADD_REMOVE, BB_ACCOUNTANT_AUTO, 1, &event, 1e-6);
    const bb_answer replace =
        epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_AUTO, 1, &event, 1e-6);
    assert_relative(add.upper, bb_gdp_epsilon(0.5, 1e-6), 1e-12);
    assert_relative(replace.upper, bb_gdp_epsilon(1.0, 1e-6), 1e-12);
}

static void auto_is_the_smallest(void **state) {
    (void)state;
    const bb_event poisson = sampled(0.01, 1.0, 1000.0),
                   steps[] = {bb_event_step(0.1, 0.0, 100.0),
                              bb_event_step(0.3, 1e-8, 2.0)};
    for (int adjacency = BB_REPLACE_ONE; adjacency <= BB_ADD_REMOVE; adjacency++) {
        const bb_answer best =
            epsilon_of((bb_adjacency)adjacency, BB_ACCOUNTANT_AUTO, 1, &poisson, 1e-5);
        const bb_answer rdp =
            epsilon_of((bb_adjacency)adjacency, BB_ACCOUNTANT_RDP, 1, &poisson, 1e-5);
        assert_int_equal(best.accountant, BB_ACCOUNTANT_PLD);
        assert_true(best.upper < rdp.upper && best.lower > 0.99 * best.upper);
    }
    const bb_answer best =
        epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_AUTO, 2, steps, 1e-5);
    const bb_answer kov = epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_KOV, 2, steps, 1e-5);
    assert_true(best.upper <= kov.upper && best.upper >= best.lower);
    /* of one pure step, kov's own epsilon is what is left */
    const bb_event one = bb_event_step(0.1, 0.0, 1.0);
    assert_true(epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_AUTO, 1, &one, 1e-30).upper <=
                0.1 * (1.0 + 1e-12));
}

/* Renyi moments by the laws' quadrature and by rdp.h. */
static void rdp_both_ways(void **state) {
    (void)state;
    const bb_event event[] = {sampled(0.02, 1.5, 300.0), bb_event_selection(0.0, 1.0)};
    const bb_answer exact =
        epsilon_of(BB_ADD_REMOVE, BB_ACCOUNTANT_RDP, 1, event, 1e-6);
    const bb_answer laws = epsilon_of(BB_ADD_REMOVE, BB_ACCOUNTANT_RDP, 2, event, 1e-6);
    assert_relative(laws.upper, exact.upper, 1e-5);
    /* a hidden cohort: the dominating pair's moments are below the published bound */
    const bb_event hidden =
        bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 0.5, 1.0, 10.0);
    const bb_rdp_event bound = {BB_RDP_WITHOUT_REPLACEMENT, 0.1, 1.0, 10.0};
    const bb_answer mine =
        epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_RDP, 1, &hidden, 1e-6);
    assert_true(mine.upper < bb_rdp_epsilon(1, &bound, 1e-6, NULL));
}

/* Matrices that cannot point away from each other: a replaced task moves the sum by
 * sqrt 2 only, which the sampled pair does not know. */
static void forms_of_less_than_two(void **state) {
    (void)state;
    const bb_event event =
        bb_event_round(BB_SAMPLING_POISSON, 0.95, 1.0, sqrt(2.0), 1.0);
    const bb_event vector = bb_event_round(BB_SAMPLING_POISSON, 0.95, 1.0, 2.0, 1.0);
    const bb_answer best =
        epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_AUTO, 1, &event, 1e-6);
    assert_relative(best.upper, bb_gdp_epsilon(sqrt(2.0), 1e-6), 1e-9);
    assert_true(best.upper <
                epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_AUTO, 1, &vector, 1e-6).upper);
}

/* That not to sample is too much work to be counted does not matter: the other answer
 * holds. */
static void one_of_two_answers(void **state) {
    (void)state;
    enum { HIDDEN = 80 };
    bb_event event[HIDDEN + 1];
    for (size_t t = 0; t < HIDDEN; t++)
        event[t] = bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1 + 1e-4 * (double)t, 5.0,
                                  10.0, 1.0);
    event[HIDDEN] = bb_event_round(BB_SAMPLING_POISSON, 0.1, 0.2, 0.2 * sqrt(2.0), 1.0);
    const bb_answer answer =
        epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_AUTO, HIDDEN + 1, event, 1e-6);
    assert_true(isfinite(answer.upper) && answer.upper > 500.0);
    assert_true(isnan(answer.lower));
}

/* What is shown by others is at other places. */
static bb_event of_slots(bb_event event) {
    event.apart = true;
    return event;
}

/* A lower bound is one of a mechanism: none where no mechanism has the losses that are
 * composed. */
static void lower_bounds_are_attained(void **state) {
    (void)state;
    const struct {
        bb_adjacency adjacency;
        bb_event event;
        bool known;
    } row[] = {
        {BB_REPLACE_ONE, bb_event_selection(0.1, 30.0), true},
        {BB_REPLACE_ONE, bb_event_selection(0.1, 300.0), false},
        {BB_REPLACE_ONE, bb_event_selection(0.1, 1.0), true},
        {BB_REPLACE_ONE, bb_event_step(0.1, 1e-8, 30.0), true},
        {BB_REPLACE_ONE, sampled(0.01, 1.0, 30.0), true},
        {BB_ADD_REMOVE, sampled(0.01, 1.0, 30.0), true},
        /* a vector beside a little of an outer product */
        {BB_REPLACE_ONE, bb_event_round(BB_SAMPLING_POISSON, 0.01, 1.0, 1.995, 30.0),
         false},
        {BB_REPLACE_ONE, bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 1.0, 2.0, 1.0),
         true},
        {BB_REPLACE_ONE, bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 1.0, 2.0, 30.0),
         false},
        {BB_REPLACE_ONE,
         of_slots(bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 1.0, 2.0, 1.0)), false},
        {BB_ADD_REMOVE,
         of_slots(bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 1.0, 2.0, 1.0)), false},
        {BB_ADD_REMOVE, bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 1.0, 2.0, 1.0),
         true},
        {BB_ADD_REMOVE, bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 1.0, 2.0, 2.0),
         false},
        {BB_ADD_REMOVE, bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 1.0, 1.4, 1.0),
         false},
        {BB_ADD_REMOVE, bb_event_round(BB_SAMPLING_FIXED_VISIBLE, 0.1, 1.0, 2.0, 30.0),
         true},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const bb_account account = {row[k].adjacency, 1, &row[k].event};
        const bb_answer answer =
            epsilon_of(row[k].adjacency, BB_ACCOUNTANT_AUTO, 1, &row[k].event, 1e-6);
        bb_answer delta;
        assert_ok(bb_account_delta(&account, BB_ACCOUNTANT_AUTO, 0.05, &delta));
        assert_int_equal(!isnan(answer.lower), row[k].known);
        assert_int_equal(!isnan(delta.lower), row[k].known);
    }
}

/* Selections chosen on the way, by the recursion of docs/privacy.md on ever finer grids
 * (another program: 1.16144, 1.16352, 1.16408 with 10, 20, 40 parts, so 1.16427); two of
 * them at epsilon, by the best of 10^4 pairs of losses below. */
static void selections_are_exact(void **state) {
    (void)state;
    const bb_event many = bb_event_selection(0.1, 30.0),
                   two = bb_event_selection(1.0, 2.0);
    const bb_answer answer =
        epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_AUTO, 1, &many, 1e-6);
    assert_true(answer.lower >= 1.1640 && answer.lower <= 1.16427);
    assert_true(answer.upper >= 1.16427 && answer.upper <= 1.1648);
    const bb_account account = {BB_REPLACE_ONE, 1, &two};
    for (double x = 0.0; x < 1.9; x += 0.3) {
        double best = 0.0;
        bb_answer delta;
        for (double t = 0.0; t <= 1.0; t += 1e-4) {
            const double p = (exp(1.0) - exp(t)) / expm1(1.0);
            double sum = 0.0;
            for (int up = 0; up < 2; up++) { /* one more: its profile is known */
                const double left = x - (up ? t : t - 1.0);
                const double root = exp(0.5) - exp(left / 2.0);
                const double one = left >= 1.0    ? 0.0
                                   : left <= -1.0 ? -expm1(left)
                                                  : root * root / expm1(1.0);
                sum += (up ? p : 1.0 - p) * one;
            }
            best = fmax(best, sum);
        }
        assert_ok(bb_account_delta(&account, BB_ACCOUNTANT_AUTO, x, &delta));
        assert_true(delta.upper >= best && delta.lower <= best * (1.0 + 1e-6));
        assert_relative(delta.upper, best, 1e-3);
        assert_relative(delta.lower, best, 1e-3);
    }
}

static void wishart_under_replace_one(void **state) {
    (void)state;
    const bb_event event = bb_event_wishart(200.0, 0.5, 1.0);
    const bb_answer add =
        epsilon_of(BB_ADD_REMOVE, BB_ACCOUNTANT_AUTO, 1, &event, 1e-6);
    const bb_answer replace =
        epsilon_of(BB_REPLACE_ONE, BB_ACCOUNTANT_AUTO, 1, &event, 1e-6);
    assert_true(replace.upper > 2.0 * add.upper && replace.upper < 3.0 * add.upper);
    /* (1 + e^x) delta(x) at half of it */
    const bb_account account = {BB_ADD_REMOVE, 1, &event};
    bb_answer half;
    assert_ok(
        bb_account_delta(&account, BB_ACCOUNTANT_AUTO, replace.upper / 2.0, &half));
    assert_relative((1.0 + exp(replace.upper / 2.0)) * half.upper, 1e-6, 1e-3);
}

static void noise_round_trip(void **state) {
    (void)state;
    const struct {
        bb_adjacency adjacency;
        bb_event event;
        double epsilon, delta;
    } row[] = {
        {BB_REPLACE_ONE, sampled(1.0, 1.0, 7.0), 1.0, 1e-5},
        {BB_ADD_REMOVE, sampled(0.01, 1.0, 1000.0), 2.0, 1e-5},
        {BB_REPLACE_ONE, sampled(0.05, 1.0, 100.0), 0.5, 1e-9},
        {BB_REPLACE_ONE, bb_event_round(BB_SAMPLING_FIXED_VISIBLE, 0.1, 1.0, 2.0, 50.0),
         3.0, 1e-6},
        {BB_REPLACE_ONE, bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 1.0, 2.0, 50.0),
         3.0, 1e-6},
        {BB_ADD_REMOVE, bb_event_wishart(300.0, 1.0, 1.0), 0.2, 1e-5}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const bb_account account = {row[k].adjacency, 1, &row[k].event};
        double factor;
        bb_answer answer, back;
        assert_ok(bb_account_noise(&account, BB_ACCOUNTANT_AUTO, row[k].epsilon,
                                   row[k].delta, &factor, &answer));
        assert_true(answer.upper <= row[k].epsilon);
        for (int less = 0; less < 2; less++) {
            const double f = less ? 0.999 * factor : factor;
            bb_event event = row[k].event;
            event.absent /= f;
            event.replace /= f;
            event.ratio /= f;
            back = epsilon_of(row[k].adjacency, BB_ACCOUNTANT_AUTO, 1, &event,
                              row[k].delta);
            assert_true((back.upper <= row[k].epsilon) == !less);
        }
    }
}

static void noise_of_the_rest(void **state) {
    (void)state;
    const bb_event event[] = {bb_event_gaussian(1.0, 1.0),
                              bb_event_step(0.5, 0.0, 1.0)};
    const bb_account account = {BB_REPLACE_ONE, 2, event};
    double factor;
    bb_answer answer;
    assert_ok(
        bb_account_noise(&account, BB_ACCOUNTANT_PLD, 1.0, 1e-5, &factor, &answer));
    /* less noise than with simple composition, more than without the step */
    assert_true(1.0 / factor > bb_gdp_mu(0.5, 1e-5));
    assert_true(1.0 / factor < bb_gdp_mu(1.0, 1e-5));
    assert_fails(
        bb_account_noise(&account, BB_ACCOUNTANT_PLD, 0.4, 1e-9, &factor, &answer),
        BB_EBUDGET, "no noise is enough");
}

static void rounds_round_trip(void **state) {
    (void)state;
    for (int adjacency = BB_REPLACE_ONE; adjacency <= BB_ADD_REMOVE; adjacency++) {
        bb_event event = sampled(0.02, 1.2, 1.0);
        const bb_account account = {(bb_adjacency)adjacency, 1, &event};
        double n;
        bb_answer answer;
        assert_ok(bb_account_rounds(&account, BB_ACCOUNTANT_AUTO, 2.0, 1e-6, 1e6, &n,
                                    &answer));
        assert_true(n > 10.0 && n == floor(n) && answer.upper <= 2.0);
        event.rounds = n + 1.0;
        assert_true(
            epsilon_of((bb_adjacency)adjacency, BB_ACCOUNTANT_AUTO, 1, &event, 1e-6)
                .upper > 2.0);
        event.rounds = 1.0;
        assert_ok(bb_account_rounds(&account, BB_ACCOUNTANT_AUTO, 2.0, 1e-6, 7.0, &n,
                                    &answer));
        assert_true(n == 7.0);
        assert_ok(bb_account_rounds(&account, BB_ACCOUNTANT_AUTO, 1e-3, 1e-12, 7.0, &n,
                                    &answer));
        assert_true(n == 0.0 && answer.upper == 0.0);
    }
}

static void delta_is_the_inverse(void **state) {
    (void)state;
    const bb_event event[] = {sampled(0.05, 1.0, 20.0), bb_event_step(0.2, 0.0, 2.0)};
    const bb_account account = {BB_REPLACE_ONE, 2, event};
    const bb_accountant accountants[] = {BB_ACCOUNTANT_AUTO, BB_ACCOUNTANT_RDP};
    for (size_t k = 0; k < 2; k++) {
        bb_answer epsilon, delta;
        assert_ok(bb_account_epsilon(&account, accountants[k], 1e-7, &epsilon));
        assert_ok(bb_account_delta(&account, accountants[k], epsilon.upper, &delta));
        assert_relative(delta.upper, 1e-7, 1e-5);
    }
    const bb_event steps = bb_event_step(0.1, 0.0, 50.0);
    const bb_account pure = {BB_REPLACE_ONE, 1, &steps};
    bb_answer epsilon, delta;
    assert_ok(bb_account_epsilon(&pure, BB_ACCOUNTANT_KOV, 1e-7, &epsilon));
    assert_ok(bb_account_delta(&pure, BB_ACCOUNTANT_KOV, epsilon.upper * (1.0 + 1e-12),
                               &delta));
    assert_relative(delta.upper, 1e-7, 1e-6);
    assert_ok(bb_account_delta(&pure, BB_ACCOUNTANT_KOV, 5.1, &delta));
    assert_true(delta.upper == 0.0);
    assert_ok(bb_account_epsilon(&pure, BB_ACCOUNTANT_AUTO, 0.0, &epsilon));
    assert_relative(epsilon.upper, 5.0, 1e-12);
}

static void adaptive(void **state) {
    (void)state;
    const bb_event gaussian = bb_event_gaussian(0.5, 4.0),
                   mixed[] = {sampled(0.05, 1.0, 20.0), bb_event_selection(0.2, 1.0)};
    const bb_account all = {BB_REPLACE_ONE, 1, &gaussian},
                     some = {BB_ADD_REMOVE, 2, mixed};
    bb_answer answer, best;
    assert_ok(bb_account_adaptive(&all, BB_ACCOUNTANT_AUTO, NAN, 1e-6, &answer));
    assert_relative(answer.upper, bb_gdp_epsilon(1.0, 1e-6), 1e-12);
    best = epsilon_of(BB_ADD_REMOVE, BB_ACCOUNTANT_RDP, 2, mixed, 1e-6);
    assert_ok(
        bb_account_adaptive(&some, BB_ACCOUNTANT_AUTO, best.order, 1e-6, &answer));
    assert_relative(answer.upper, best.upper, 1e-6);
    assert_ok(bb_account_adaptive(&some, BB_ACCOUNTANT_RDP, 2.0, 1e-6, &answer));
    assert_true(answer.upper > best.upper);
    assert_fails(bb_account_adaptive(&all, BB_ACCOUNTANT_PLD, 8.0, 1e-6, &answer),
                 BB_EUSAGE, "fixed beforehand");
    assert_fails(bb_account_adaptive(&some, BB_ACCOUNTANT_AUTO, 1.0, 1e-6, &answer),
                 BB_EUSAGE, "above 1");
    assert_fails(bb_account_adaptive(&some, BB_ACCOUNTANT_GDP, 8.0, 1e-6, &answer),
                 BB_EUSAGE, "gdp");
}

static void refusals(void **state) {
    (void)state;
    const bb_event good = sampled(0.05, 1.0, 20.0);
    bb_event bad[6];
    for (int k = 0; k < 6; k++) bad[k] = good;
    bad[0].rounds = 1.5;
    bad[1].rate = 1.01;
    bad[2].replace = 3.0;
    bad[3].absent = NAN;
    bad[4] = bb_event_step(0.1, 1.0, 1.0);
    bad[5] = bb_event_wishart(1.0, 1.0, 1.0);
    bb_answer answer = {.upper = -7.0};
    for (int k = 0; k < 6; k++) {
        const bb_account account = {BB_ADD_REMOVE, 1, &bad[k]};
        assert_fails(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 1e-5, &answer),
                     BB_EUSAGE, "event 1");
    }
    const bb_account account = {BB_ADD_REMOVE, 1, &good};
    assert_fails(bb_account_epsilon(&account, BB_ACCOUNTANT_GDP, 1e-5, &answer),
                 BB_EUSAGE, "all tasks take part");
    assert_fails(bb_account_epsilon(&account, BB_ACCOUNTANT_KOV, 1e-5, &answer),
                 BB_EUSAGE, "steps");
    assert_fails(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 1.0, &answer),
                 BB_EUSAGE, "delta");
    assert_fails(bb_account_delta(&account, BB_ACCOUNTANT_AUTO, -1.0, &answer),
                 BB_EUSAGE, "epsilon");
    assert_true(answer.upper == -7.0);
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 0.0, &answer));
    assert_true(isinf(answer.upper));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gdp_is_exact),
        cmocka_unit_test(adjacency_matters),
        cmocka_unit_test(auto_is_the_smallest),
        cmocka_unit_test(rdp_both_ways),
        cmocka_unit_test(forms_of_less_than_two),
        cmocka_unit_test(one_of_two_answers),
        cmocka_unit_test(lower_bounds_are_attained),
        cmocka_unit_test(selections_are_exact),
        cmocka_unit_test(wishart_under_replace_one),
        cmocka_unit_test(noise_round_trip),
        cmocka_unit_test(noise_of_the_rest),
        cmocka_unit_test(rounds_round_trip),
        cmocka_unit_test(delta_is_the_inverse),
        cmocka_unit_test(adaptive),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
