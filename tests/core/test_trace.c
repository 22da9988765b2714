/* What the operator of a simulation sees between rounds, and that nobody else's anything
 * depends on it. */
#include "base/memory.h"
#include "laws.h"
#include "methods/mp_family.h"

#include <math.h>

typedef struct trace {
    uint32_t rounds;
    double epsilon, ratio, objective;
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
    t->objective = now->models->outcome.objective;
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

/* The tasks' losses at these models, row by row: half the squared error, summed or its
 * mean. */
static double losses_at(const population *p, const double *model) {
    const size_t d = p->features;
    double all = 0.0;
    for (size_t i = 0; i < p->tasks; i++) {
        double mean = 0.0, own = 0.0;
        const size_t from = p->first[i], to = p->first[i + 1];
        for (size_t r = from; r < to; r++)
            mean += (p->y[r] - bb_dot(d, p->x + r * d, model + i * d)) /
                    (double)(to - from);
        if (!p->intercept) mean = 0.0;
        for (size_t r = from; r < to; r++) {
            const double rest = p->y[r] - bb_dot(d, p->x + r * d, model + i * d) - mean;
            own += 0.5 * rest * rest;
        }
        all += p->scale_sum || to == from ? own : own / (double)(to - from);
    }
    return all;
}

static double groups_of(size_t m, size_t d, const double *model) {
    double sum = 0.0;
    for (size_t k = 0; k < d; k++) {
        double square = 0.0;
        for (size_t i = 0; i < m; i++) square += model[i * d + k] * model[i * d + k];
        sum += sqrt(square);
    }
    return sum;
}

static double apart_of(size_t m, size_t d, const double *model) {
    double sum = 0.0;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t k = 0; k < d; k++)
                sum += pow(model[i * d + k] - model[j * d + k], 2) / (double)m;
    return sum / 2.0; /* half the squared distances from the mean */
}

/* What a method minimises, at the models that a round would leave. */
static void test_objective(void **state) {
    (void)state;
    static const struct {
        const bb_method *method;
        const char *weight;
        double (*norm)(size_t m, size_t d, const double *model);
    } known[] = {{&bb_method_mp_groupsparse, "lambda", groups_of},
                 {&bb_method_pmtl, "lambda", apart_of},
                 {&bb_method_fedavg, NULL, NULL}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const law_case c = {known[k].method, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                            BB_SAMPLING_ALL};
        law_world w;
        bb_result result;
        law_open(&w, &c, 2);
        w.run.phase[0].rounds = 3;
        if (known[k].weight) run_set(&w.run, known[k].weight, "0.7");
        trace t = {.numbers = LAW_TASKS * w.p.features};
        assert_ok(bb_allocate(&t.model, t.numbers, sizeof *t.model, "models"));
        w.run.observer = (bb_observer){.self = &t, .traced = traced};
        law_train(&c, &w.run, &result);
        double expected = losses_at(&w.p, t.model);
        if (known[k].norm)
            expected += 0.7 * known[k].norm(LAW_TASKS, w.p.features, t.model);
        assert_close(t.objective, expected, 1e-9 * expected);
        free(t.model);
        bb_result_free(&result);
        law_close(&w);
    }
}

/* Weights that are found on the way have no fixed objective. */
static void test_no_objective(void **state) {
    (void)state;
    const law_case c = {&bb_method_mp_lowrank, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                        BB_SAMPLING_ALL};
    for (int given = 0; given < 2; given++) {
        law_world w;
        bb_result result;
        law_open(&w, &c, 1);
        w.run.phase[0].rounds = 2;
        if (given) run_set(&w.run, "lambda", "0.7");
        trace t = {.numbers = LAW_TASKS * w.p.features};
        assert_ok(bb_allocate(&t.model, t.numbers, sizeof *t.model, "models"));
        w.run.observer = (bb_observer){.self = &t, .traced = traced};
        law_train(&c, &w.run, &result);
        const double frobenius = bb_norm(t.numbers, t.model);
        const double norm = (t.objective - losses_at(&w.p, t.model)) / 0.7;
        assert_true(isnan(t.objective) == !given);
        if (given) /* of 5 singular values */
            assert_true(norm > 1.001 * frobenius &&
                        norm <= sqrt((double)w.p.features) * frobenius);
        free(t.model);
        bb_result_free(&result);
        law_close(&w);
    }
}

/* Four rows of norms 1 .. 4 at right angles, and the same matrix the other way round. */
static void test_trace_norm(void **state) {
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        const size_t m = turned ? 6 : 4, d = turned ? 4 : 6;
        const bb_public pub = {.tasks = m, .features = d};
        const bb_mp_options options = {.lambda = 2.0, .ridge = 0.5};
        const bb_view view = {
            .method = &bb_method_mp_lowrank, .options = &options, .pub = &pub};
        double models[24] = {0}, penalty;
        for (size_t k = 0; k < 4; k++) models[k * d + k] = (double)k + 1.0;
        assert_ok(bb_mp_penalty(&view, models, &penalty));
        assert_close(penalty, 2.0 * 10.0 + 0.25 * 30.0, 1e-9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_changes), cmocka_unit_test(test_strengths),
        cmocka_unit_test(test_spent),           cmocka_unit_test(test_objective),
        cmocka_unit_test(test_no_objective),    cmocka_unit_test(test_trace_norm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
