/* Plans: how a budget becomes noise for each round. */
#include "core/plan.h"
#include "privacy/accounting/account.h"
#include "privacy/accounting/schedule.h"
#include "test.h"

static bb_step steps[4];
static uint32_t count;

/* A method whose plan is the test's. */
static bb_status plan(const bb_view *view, bb_plan *out) {
    (void)view;
    bb_status status = bb_plan_rounds(out, count);
    if (!status) memcpy(out->step, steps, count * sizeof *steps);
    return status;
}

static const bb_method method = {
    .name = "planned", .kind = BB_METHOD_PRIVATE, .plan = plan};

static bb_public public(double epsilon, double delta) {
    return (bb_public){.tasks = 100,
                       .features = 3,
                       .epsilon = epsilon,
                       .delta = delta,
                       .mu = bb_gdp_mu(epsilon, delta)};
}

/* mu_t in the ratio of the weights, sum of squares mu^2 and never above it. */
static void test_gaussian(void **state) {
    (void)state;
    const bb_public pub = public(1.5, 1e-6);
    const bb_view view = {.method = &method, .pub = &pub};
    bb_plan p;
    count = 3;
    steps[0] = (bb_step){1.0, 0.0};
    steps[1] = (bb_step){2.0, 0.0};
    steps[2] = (bb_step){0.0, 0.0};
    assert_ok(bb_plan_make(&p, &view, BB_PRICE_GAUSSIAN));
    const double mu = sqrt(p.mu[0] * p.mu[0] + p.mu[1] * p.mu[1]);
    assert_relative(p.mu[1], 2.0 * p.mu[0], 1e-14);
    assert_true(p.mu[2] == 0.0 && p.pure[0] == 0.0);
    assert_true(mu <= pub.mu);
    assert_relative(mu, pub.mu, 1e-11);
    assert_true(bb_gdp_epsilon(mu, 1e-6) <= 1.5 * (1.0 + 1e-12));
    bb_plan_free(&p);
}

/* A selection takes its share of epsilon; the rest is Gaussian at the same delta. */
static void test_selection(void **state) {
    (void)state;
    const bb_public pub = public(2.0, 1e-6);
    const bb_view view = {.method = &method, .pub = &pub};
    bb_plan p;
    count = 2;
    steps[0] = (bb_step){0.0, 0.25};
    steps[1] = (bb_step){1.0, 0.0};
    assert_ok(bb_plan_make(&p, &view, BB_PRICE_GAUSSIAN));
    assert_true(p.pure[0] == 0.5 && p.mu[0] == 0.0);
    /* more than simple composition leaves, and the whole is what was asked for */
    assert_true(p.mu[1] > 1.01 * bb_gdp_mu(1.5, 1e-6));
    assert_true(p.mu[1] < bb_gdp_mu(2.0, 1e-6));
    const bb_event event[] = {bb_event_gaussian(p.mu[1], 1.0),
                              bb_event_step(0.5, 0.0, 1.0)};
    const bb_account all = {BB_REPLACE_ONE, 2, event};
    bb_answer whole;
    assert_ok(bb_account_epsilon(&all, BB_ACCOUNTANT_AUTO, 1e-6, &whole));
    assert_true(whole.upper <= 2.0 && whole.lower > 2.0 * (1.0 - 1e-7));
    assert_int_equal(p.accountant, BB_ACCOUNTANT_PLD);
    bb_plan_free(&p);
    assert_ok(bb_plan_make(&p, &view, BB_PRICE_PUBLISHED));
    assert_true(p.pure[0] == 0.5);
    assert_true(p.pure[1] > 0.0 && bb_kov_epsilon(1, &p.pure[1], 1e-6) <= 1.5);
    bb_plan_free(&p);
    steps[0].selection = 1.01;
    for (int pricing = BB_PRICE_GAUSSIAN; pricing <= BB_PRICE_PUBLISHED; pricing++) {
        steps[1].weight = 1.0;
        assert_fails(bb_plan_make(&p, &view, (bb_pricing)pricing), BB_EUSAGE,
                     "1.01 times");
        steps[1].weight = 0.0; /* no other release that could notice */
        assert_fails(bb_plan_make(&p, &view, (bb_pricing)pricing), BB_EUSAGE,
                     "1.01 times");
    }
}

static void test_published(void **state) {
    (void)state;
    const bb_public pub = public(1.0, 1e-4);
    const bb_view view = {.method = &method, .pub = &pub};
    bb_plan p;
    count = 4;
    for (size_t t = 0; t < 4; t++) steps[t] = (bb_step){(double)t + 1.0, 0.0};
    assert_ok(bb_plan_make(&p, &view, BB_PRICE_PUBLISHED));
    assert_relative(p.pure[3], 4.0 * p.pure[0], 1e-12);
    assert_true(bb_kov_epsilon(4, p.pure, 1e-4) <= 1.0);
    assert_true(bb_kov_epsilon(4, p.pure, 1e-4) > 0.999);
    bb_plan_free(&p);
}

static void test_nothing(void **state) {
    (void)state;
    bb_public pub = public(1.0, 1e-4);
    const bb_view view = {.method = &method, .pub = &pub};
    bb_plan p;
    count = 2;
    assert_ok(bb_plan_make(&p, &view, BB_PRICE_NOTHING));
    assert_true(isinf(p.mu[0]) && isinf(p.mu[1]) && isinf(p.pure[1]));
    bb_plan_free(&p);
    /* a method that shows nothing has no rounds, whatever the mechanism */
    const bb_method alone = {.name = "alone", .kind = BB_METHOD_ALONE};
    const bb_view alone_view = {.method = &alone, .pub = &pub};
    for (int pricing = BB_PRICE_NOTHING; pricing <= BB_PRICE_PUBLISHED; pricing++) {
        assert_ok(bb_plan_make(&p, &alone_view, (bb_pricing)pricing));
        assert_int_equal(p.rounds, 0);
        bb_plan_free(&p);
    }
}

static void test_schedule(void **state) {
    (void)state;
    bb_public pub = public(1.0, 1e-4);
    bb_plan p = {0};
    assert_ok(bb_plan_schedule(&p, &pub, 1, 3, "power:1"));
    assert_int_equal(p.rounds, 4);
    assert_true(p.step[0].weight == 0.0);
    assert_relative(p.step[3].weight, 3.0 * p.step[1].weight, 1e-14);
    bb_plan_free(&p);
    pub.rounds = 2;
    pub.schedule = "uniform";
    assert_ok(bb_plan_schedule(&p, &pub, 0, 3, "power:1"));
    assert_int_equal(p.rounds, 2);
    assert_true(p.step[0].weight == p.step[1].weight);
    bb_plan_free(&p);
}

static void test_instance(void **state) {
    (void)state;
    bb_plan p = {0};
    assert_ok(bb_plan_rounds(&p, 3));
    p.step[1].weight = 2.0;
    assert_ok(bb_plan_instance(&p, 0.7, 1e-6));
    assert_relative(p.instance[1], 2.0 * p.instance[0], 1e-12);
    assert_true(bb_kov_epsilon(3, p.instance, 1e-6) <= 0.7);
    assert_true(bb_kov_epsilon(3, p.instance, 1e-6) > 0.699);
    assert_true(p.instance_epsilon == 0.7 && p.instance_delta == 1e-6);
    bb_plan_free(&p);
    assert_ok(bb_plan_rounds(&p, 3));
    assert_int_equal(bb_plan_instance(&p, -1.0, 1e-6), BB_EUSAGE);
    bb_plan_free(&p);
}

static void test_room(void **state) {
    (void)state;
    const bb_public pub = {.tasks = 10};
    bb_plan p = {0};
    const bb_layout layout = {3,
                              {{"a", BB_FORM_OUTER, 3, 1.0, 0.5},
                               {"b", BB_FORM_PSD, 2, 1.0, 0.3},
                               {"c", BB_FORM_SLOT, 4, 1.0, 0.2}}};
    bb_plan_room(&p, &pub, &layout);
    assert_int_equal(p.show_length, 3 + 4 + 4);
    assert_int_equal(p.sum_length, 9 + 4 + 40);
    assert_int_equal(p.outer_length, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaussian),  cmocka_unit_test(test_selection),
        cmocka_unit_test(test_published), cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_schedule),  cmocka_unit_test(test_instance),
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
