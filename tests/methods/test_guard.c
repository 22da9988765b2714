/* The free guard of averaging.c, mp_centre.c and dp_aggr.c: how often noise alone passes, that a
 * common centre does, and what tasks keep if nothing passed. */
#include "base/parallel.h"
#include "linalg/linalg.h"
#include "methods/personal.h"
#include "methods/registry.h"
#include "population.h"

#include <math.h>
#include <string.h>

enum { FEATURES = 4 };

static const bb_method *const guarded[] = {&bb_method_mp_centre, &bb_method_fedavg,
                                           &bb_method_fedprox, &bb_method_pmtl,
                                           &bb_method_dp_aggr};
enum { GUARDED = sizeof guarded / sizeof *guarded };

/* fedavg and the like only guard models that finetuning fits at home. */
typedef struct at_home {
    _Alignas(max_align_t) char options[256];
    bb_phase phase;
} at_home;

static bb_run open_run(const population *p, const bb_method *method, double epsilon,
                       const bb_engine *engine, at_home *home) {
    bb_run run = run_open(p, method, &bb_mechanism_gaussian, engine);
    run.pub.epsilon = epsilon;
    if (method == &bb_method_mp_centre || method == &bb_method_mp_mixed) return run;
    home->phase = (bb_phase){.method = &bb_method_finetune, .options = home->options};
    assert_true(bb_method_finetune.options_size <= sizeof home->options);
    assert_ok(bb_options_default(bb_method_finetune.options, home->options));
    run.phase[run.phases++] = home->phase;
    return run;
}

static bool is_found(const bb_result *result) {
    for (size_t k = 0; k < FEATURES; k++)
        if (result->shared[k] != 0.0) return true;
    return false;
}

/* Tasks without rows show zeros, so what is released is noise. One round: the guard's
 * rate is exactly .01. Of 4000 runs 40 should pass; outside 8 .. 90 with probability
 * 2e-10 (fewer, binomial) and 3e-12 (more). */
static size_t count_found(const bb_method *method, uint32_t rounds) {
    population p = population_empty(5, 0, FEATURES, BB_LOSS_LOGISTIC, false);
    const bb_engine engine = bb_engine_threads(1);
    size_t found = 0;
    at_home home;
    for (size_t i = 0; i <= p.tasks; i++) p.first[i] = 0;
    population_open_locals(&p);
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        bb_run run = open_run(&p, method, 4.0, &engine, &home); /* below 3.4 mp-centre
                                                                   believes nothing */
        bb_result result;
        run.seed = seed;
        if (method != &bb_method_mp_centre) run.phase[0].rounds = rounds;
        assert_ok(bb_run_train(&run, &result));
        assert_int_equal(result.rounds, rounds);
        found += is_found(&result);
        bb_result_free(&result);
        run_close(&run);
    }
    population_close(&p);
    return found;
}

static void false_alarms(void **state) {
    (void)state;
    assert_in_range(count_found(&bb_method_mp_centre, 1), 8, 90);
    assert_in_range(count_found(&bb_method_fedprox, 1), 8, 90);
    assert_in_range(count_found(&bb_method_dp_aggr, 1), 8, 90);
}

/* Five looks at one sum: fewer pass than five times .01/5, never more. */
static void false_alarms_of_many_looks(void **state) {
    (void)state;
    assert_true(count_found(&bb_method_fedprox, 5) <= 90);
}

static population with_centre(void) {
    population p = population_empty(200, 10, FEATURES, BB_LOSS_LOGISTIC, false);
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 9, BB_FOR_TEST, 0, 0));
    for (size_t j = 0; j < p.first[p.tasks]; j++) {
        double *x = p.x + j * FEATURES, sum = 0.0;
        for (size_t k = 0; k < FEATURES; k++) {
            x[k] = 0.5 * bb_random_normal(&random);
            sum += x[k];
        }
        p.y[j] =
            bb_random_uniform(&random) < 1.0 / (1.0 + exp(-4.0 * sum)) ? 1.0 : -1.0;
    }
    bb_random_close(&random);
    population_open_locals(&p);
    return p;
}

/* All entries of the common model are positive, and 200 tasks at epsilon 3 show it. */
static void detects(void **state) {
    (void)state;
    population p = with_centre();
    const bb_engine engine = bb_engine_threads(2);
    at_home home;
    for (size_t m = 0; m < GUARDED; m++) {
        bb_run run = open_run(&p, guarded[m], 3.0, &engine, &home);
        bb_result result;
        assert_ok(bb_run_train(&run, &result));
        for (size_t k = 0; k < FEATURES; k++) assert_true(result.shared[k] > 0.0);
        bb_result_free(&result);
        run_close(&run);
    }
    population_close(&p);
}

/* Nothing found: every task has exactly the model that it makes alone. */
static void check_alone(const population *p, const bb_method *method, bool constant) {
    const bb_engine engine = bb_engine_threads(2);
    at_home home;
    bb_run run = open_run(p, method, 1e-3, &engine, &home);
    bb_result result;
    run.pub.constant = constant;
    assert_ok(bb_run_train(&run, &result));
    assert_false(is_found(&result));
    for (size_t i = 0; i < p->tasks; i++) {
        double own[FEATURES], work[4096];
        assert_true(bb_personal_work(&p->local[i]) <= 4096);
        const bb_personal_public known = bb_personal_known(&run.pub);
        assert_ok(bb_personal_model(&p->local[i], &known, own, work));
        for (size_t k = 0; k < FEATURES; k++)
            assert_true(result.model[i * FEATURES + k] == own[k]);
    }
    bb_result_free(&result);
    run_close(&run);
}

/* The same tasks at epsilon .001, where the centre is far below the noise: every task
 * keeps exactly the model that it fits alone. A false alarm is expected in 1 of 100
 * runs, in none of these seeds. */
static void undetected_is_alone(void **state) {
    (void)state;
    population p = with_centre();
    for (size_t m = 0; m < GUARDED; m++) check_alone(&p, guarded[m], false);
    population_close(&p);
}

/* So it is for numbers: without the guard twenty rounds of noise would be the model. With a
 * constant column, the last one, all methods then have the same model, mp-mixed's. */
static void undetected_numbers(void **state) {
    (void)state;
    population p = population_make(60, 10, FEATURES, BB_LOSS_SQUARED, false, 61);
    for (int constant = 0; constant < 2; constant++) {
        check_alone(&p, &bb_method_fedavg, constant);
        check_alone(&p, &bb_method_fedprox, constant);
        check_alone(&p, &bb_method_pmtl, constant);
        check_alone(&p, &bb_method_ppsgd, constant);
        check_alone(&p, &bb_method_dp_aggr, constant);
    }
    check_alone(&p, &bb_method_mp_mixed, true);
    population_close(&p);
}

/* Labels by coins, and a pull so strong that pmtl's models follow the noise: still no
 * more than the guard's .01 of 200 runs (2 expected; more than 20 with probability
 * 1e-14). */
static void models_that_follow_noise(void **state) {
    (void)state;
    population p = population_empty(40, 12, FEATURES, BB_LOSS_LOGISTIC, false);
    const bb_engine engine = bb_engine_threads(1);
    size_t found = 0;
    at_home home;
    bb_random random;
    for (size_t i = 0; i < p.tasks; i++) population_fill(&p, i, 61);
    assert_ok(bb_random_open_stream(&random, 3, BB_FOR_TEST, 0, 0));
    for (size_t j = 0; j < p.first[p.tasks]; j++)
        p.y[j] = bb_random_uniform(&random) < 0.5 ? 1.0 : -1.0;
    bb_random_close(&random);
    population_open_locals(&p);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        bb_run run = open_run(&p, &bb_method_pmtl, 3.0, &engine, &home);
        bb_result result;
        run.seed = seed;
        run.phase[0].rounds = 10;
        run_set(&run, "lambda", "1");
        run_set(&run, "clip", "100");
        assert_ok(bb_run_train(&run, &result));
        found += is_found(&result);
        bb_result_free(&result);
        run_close(&run);
    }
    assert_true(found <= 20);
    population_close(&p);
}

/* guard=off: the same noise stays in the shared model. */
static void off(void **state) {
    (void)state;
    population p = with_centre();
    const bb_engine engine = bb_engine_threads(2);
    at_home home;
    bb_run run = open_run(&p, &bb_method_fedavg, 1e-3, &engine, &home);
    bb_result result;
    run_set(&run, "guard", "off");
    assert_ok(bb_run_train(&run, &result));
    assert_true(is_found(&result));
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

int main(void) {
    if (bb_linalg_start()) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(false_alarms),
        cmocka_unit_test(false_alarms_of_many_looks),
        cmocka_unit_test(detects),
        cmocka_unit_test(undetected_is_alone),
        cmocka_unit_test(undetected_numbers),
        cmocka_unit_test(models_that_follow_noise),
        cmocka_unit_test(off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
