/* What the operator of a simulation sees between rounds, and that nobody else's anything
 * depends on it. */
#include "base/memory.h"
#include "laws.h"

#include <math.h>

typedef struct trace {
    uint32_t rounds;
    double epsilon, ratio;
    double *model; /* of the last one */
    size_t numbers;
} trace;

static bb_status traced(void *self, const bb_traced *now) {
    trace *t = self;
    assert_true(now->round > t->rounds && now->epsilon >= t->epsilon);
    assert_true(now->noise >= 0.0 && now->signal >= 0.0);
    t->rounds = now->round;
    t->epsilon = now->epsilon;
    t->ratio = now->noise / now->signal;
    memcpy(t->model, now->models->model, t->numbers * sizeof *t->model);
    return BB_OK;
}

/* The same bytes with and without; and the last preview is what tasks really keep. */
static void law_nothing_changes(const law_case *c) {
    law_world w;
    bb_result plain, seen;
    law_open(&w, c, 2);
    if (c->method->sampled) w.run.phase[0].rounds = 3;
    law_train(c, &w.run, &plain);
    trace t = {.numbers = plain.first[LAW_TASKS]};
    assert_ok(bb_allocate(&t.model, t.numbers, sizeof *t.model, "models"));
    w.run.observer = (bb_observer){.self = &t, .traced = traced};
    law_train(c, &w.run, &seen);
    law_check(c, strcmp(plain.billboard_sha256, seen.billboard_sha256) == 0);
    for (size_t i = 0; i < LAW_TASKS; i++)
        law_check(c, law_same_models(&plain, &seen, i, i));
    law_check(c, t.rounds == seen.rounds);
    if (t.rounds)
        law_check(c, memcmp(t.model, seen.model, t.numbers * sizeof *t.model) == 0);
    if (t.rounds && c->mechanism->pricing == BB_PRICE_NOTHING)
        law_check(c, isinf(t.epsilon) && !(t.ratio > 0.0));
    if (t.rounds && c->mechanism->pricing == BB_PRICE_GAUSSIAN &&
        c->sampling == BB_SAMPLING_ALL && seen.rounds == seen.plan.rounds)
        law_check(c, fabs(t.epsilon - w.run.pub.epsilon) < 2e-3 * w.run.pub.epsilon);
    free(t.model);
    bb_result_free(&plain);
    bb_result_free(&seen);
    law_close(&w);
}

static void test_nothing_changes(void **state) {
    (void)state;
    law_for_all(law_nothing_changes);
}

/* The noise of a round is as large as its plan says. */
static void test_strengths(void **state) {
    (void)state;
    const law_case c = {&bb_method_fedavg, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                        BB_SAMPLING_ALL};
    law_world w;
    bb_result result;
    law_open(&w, &c, 1);
    w.run.phase[0].rounds = 1;
    run_set(&w.run, "clip", "1e-6"); /* every task's change is this long */
    trace t = {.numbers = LAW_TASKS * w.p.features};
    assert_ok(bb_allocate(&t.model, t.numbers, sizeof *t.model, "models"));
    w.run.observer = (bb_observer){.self = &t, .traced = traced};
    law_train(&c, &w.run, &result);
    /* the sum of m such is at most m long; noise z clip sqrt(p), within a factor 4 */
    const double least = result.noise_multiplier * sqrt(LAW_FEATURES + 1) / LAW_TASKS;
    assert_true(t.ratio > least / 4.0);
    free(t.model);
    bb_result_free(&result);
    law_close(&w);
}

/* What the first rounds of a plan cost. */
static void test_spent(void **state) {
    (void)state;
    const law_case c = {&bb_method_pmtl, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                        BB_SAMPLING_ALL};
    law_world w;
    bb_result result;
    double none, half, all;
    law_open(&w, &c, 1);
    w.run.phase[0].rounds = 8;
    law_train(&c, &w.run, &result);
    assert_ok(bb_plan_spent(&result.plan, &w.run.pub, 0, &none));
    assert_ok(bb_plan_spent(&result.plan, &w.run.pub, 4, &half));
    assert_ok(bb_plan_spent(&result.plan, &w.run.pub, 8, &all));
    assert_true(none == 0.0 && half > 0.0 && half < all);
    assert_close(all, w.run.pub.epsilon, 1e-6);
    /* mu / sqrt 2, by the closed form */
    const double mu = bb_gdp_mu(w.run.pub.epsilon, w.run.pub.delta);
    assert_close(bb_gdp_mu(half, w.run.pub.delta), mu / sqrt(2.0), 1e-6);
    bb_result_free(&result);
    law_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_changes),
                                       cmocka_unit_test(test_strengths),
                                       cmocka_unit_test(test_spent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
