/* The loop itself: interruption, memory, refusals, the ledger before the first release.
 */
#include "folder.h"
#include "laws.h"
#include "privacy/ledger/ledger.h"
#include "torture.h"

#include <string.h>

static bb_engine engine;

/* -- interruption
 * ----------------------------------------------------------------------------- */

static atomic_int stop;
static uint32_t stop_after, seen;

static void count_rounds(void *self, uint32_t round, uint32_t rounds) {
    (void)self, (void)rounds;
    seen++;
    assert_int_equal(round, seen);
    if (round == stop_after) stop = 1;
}

static void law_interruption(const law_case *c) {
    /* without rounds it can be stopped before its work only */
    const uint32_t cases = c->method->kind == BB_METHOD_ALONE ? 1 : 2;
    population p = law_population(c, LAW_TASKS, SIZE_MAX);
    bb_run run = law_run(c, &p, &engine);
    bb_result result = {.rounds = 77};
    run.observer = (bb_observer){.progress = count_rounds, .stop = &stop};
    for (stop_after = 0; stop_after < cases; stop_after++) {
        seen = 0;
        stop = stop_after == 0;
        const bb_status status = bb_run_train(&run, &result);
        law_check(c, status == BB_EINTERRUPTED);
        law_check(c, seen == stop_after);
        law_check(c, result.rounds == 77 && !result.model);
    }
    run_close(&run);
    population_close(&p);
}

static void test_interruption(void **state) {
    (void)state;
    law_for_all(law_interruption);
}

/* -- memory
 * ------------------------------------------------------------------------------------
 */

static bb_status arm_at_first(void *self, const bb_release *release, size_t tasks) {
    (void)self, (void)tasks;
    if (release->round == 1) torture_arm_memory(1);
    return BB_OK;
}

/* From the first release on nothing is allocated: an allocation would fail, and be
 * seen. */
static void law_no_allocation(const law_case *c) {
    if (c->method->kind == BB_METHOD_ALONE) return;
    if (c->mechanism == &bb_mechanism_wishart_published)
        return; /* for experiments only */
    population p = law_population(c, LAW_TASKS, SIZE_MAX);
    bb_run run = law_run(c, &p, &engine);
    bb_result result;
    run.observer.published = arm_at_first;
    const bb_status status = bb_run_train(&run, &result);
    const bool allocated = torture_disarm();
    law_check(c, !allocated);
    law_check(c, status == BB_OK);
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

static void test_no_allocation(void **state) {
    (void)state;
    law_for_all(law_no_allocation);
}

static bb_status attempt(void *context) {
    bb_result result = {0};
    const bb_status status = bb_run_train(context, &result);
    bb_result_free(&result);
    return status;
}

static void law_out_of_memory(const law_case *c) {
    if (c->sampling != BB_SAMPLING_ALL && c->mechanism->grid)
        return; /* the accountant asks for memory hundreds of times, see its own test */
    population p = law_population(c, 9, SIZE_MAX);
    bb_run run = law_run(c, &p, &engine);
    const bool own_rounds = strcmp(c->method->name, "mp-mixed") == 0 ||
                            strcmp(c->method->name, "mp-prior") == 0 ||
                            strcmp(c->method->name, "dp-aggr") == 0 ||
                            strcmp(c->method->name, "mp-centre") == 0;
    run.phase[0].rounds = c->method->kind == BB_METHOD_ALONE || own_rounds ? 0 : 2;
    law_check(c,
              torture_memory((bb_torture){.attempt = attempt, .context = &run}) >= 3);
    run_close(&run);
    population_close(&p);
}

static void test_out_of_memory(void **state) {
    (void)state;
    law_for_all(law_out_of_memory);
}

/* A run that memory fails has cost nothing: all of it is taken before the charge. */
static void costs_nothing(void *context, bb_status status) {
    static double before;
    const bb_run *run = context;
    double epsilon, delta;
    assert_ok(bb_ledger_spent(run->ledger, &epsilon, &delta));
    assert_close(epsilon - before, status ? 0.0 : run->pub.epsilon, 1e-9);
    before = epsilon;
}

static void test_out_of_memory_costs_nothing(void **state) {
    (void)state;
    const law_case c = {&bb_method_fedprox, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                        BB_SAMPLING_ALL};
    const bb_ledger_terms budget = {
        .tasks = 9, .adjacency = BB_REPLACE_ONE, .epsilon = 1e6, .delta = 0.9};
    population p = law_population(&c, 9, SIZE_MAX);
    bb_run run = law_run(&c, &p, &engine);
    run.seeded = false;
    run.phase[0].rounds = 3;
    assert_ok(bb_ledger_open(&run.ledger, "memory.db", &budget));
    assert_true(torture_memory((bb_torture){.attempt = attempt,
                                            .check = costs_nothing,
                                            .context = &run}) >= 10);
    bb_ledger_close(run.ledger);
    assert_int_equal(unlink("memory.db"), 0);
    unlink("memory.db-wal");
    unlink("memory.db-shm");
    run_close(&run);
    population_close(&p);
}

/* -- refusals, before anything is published
 * ---------------------------------------------------- */

static size_t published;

static bb_status count_releases(void *self, const bb_release *release, size_t tasks) {
    (void)self, (void)release, (void)tasks;
    published++;
    return BB_OK;
}

static void test_refusals(void **state) {
    (void)state;
    const law_case c = {&bb_method_mp_lowrank, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                        BB_SAMPLING_ALL};
    population p = law_population(&c, LAW_TASKS, SIZE_MAX);
    bb_run run = law_run(&c, &p, &engine);
    bb_result result;
    published = 0;
    run.observer.published = count_releases;
    bb_method squared = bb_method_mp_lowrank;
    squared.losses = BB_SUPPORTS_SQUARED;
    run.phase[0].method = &squared;
    run.pub.loss = BB_LOSS_LOGISTIC;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "logistic");
    run.pub.loss = BB_LOSS_SQUARED;
    squared.kind = BB_METHOD_OPEN;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "in the clear");
    run.phase[0].method = &bb_method_mp_lowrank;
    run.pub.schedule = "sometimes";
    assert_int_equal(bb_run_train(&run, &result), BB_EUSAGE);
    run.pub.schedule = NULL;
    run.pub.epsilon = 1e-30; /* no grid holds that much noise */
    run.pub.delta = 1e-40;
    run_set(&run, "clip", "1");
    assert_int_equal(bb_run_train(&run, &result), BB_EUSAGE);
    assert_int_equal(published, 0);
    run_close(&run);
    population_close(&p);
}

static bb_status check_spent(void *ledger, const bb_release *release, size_t tasks) {
    double epsilon, delta;
    (void)release, (void)tasks;
    assert_ok(bb_ledger_spent(ledger, &epsilon, &delta));
    assert_true(epsilon == 2.0 && delta == 1e-5);
    published++;
    return BB_OK;
}

/* The whole plan is reserved when the first release appears; what does not fit
 * publishes nothing and reserves nothing. */
static void test_ledger(void **state) {
    (void)state;
    const law_case c = {&bb_method_mp_lowrank, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                        BB_SAMPLING_ALL};
    const bb_ledger_terms terms = {
        .tasks = LAW_TASKS, .epsilon = 3.0, .delta = 1e-3, .adjacency = BB_REPLACE_ONE};
    population p = law_population(&c, LAW_TASKS, SIZE_MAX);
    bb_run run = law_run(&c, &p, &engine);
    bb_result result;
    run.phase[0].rounds = 20;
    published = 0;
    assert_ok(bb_ledger_open(&run.ledger, "ledger.db", &terms));
    run.observer = (bb_observer){.self = run.ledger, .published = check_spent};
    run.seeded = true;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "no price in a ledger");
    assert_int_equal(published, 0);
    run.seeded = false;
    assert_ok(bb_run_train(&run, &result));
    assert_int_equal(published, result.rounds);
    bb_result_free(&result);
    assert_fails(bb_run_train(&run, &result), BB_EBUDGET, "");
    assert_int_equal(published, 21);
    assert_ok(check_spent(run.ledger, NULL, 0));
    /* shows nothing, costs nothing */
    bb_run alone = run_open(&p, &bb_method_stl, &bb_mechanism_none, &engine);
    alone.ledger = run.ledger;
    alone.seeded = false;
    assert_fails(bb_run_train(&alone, &result), BB_EUSAGE, "no price in a ledger");
    assert_ok(check_spent(run.ledger, NULL, 0));
    bb_ledger_close(run.ledger);
    assert_int_equal(unlink("ledger.db"), 0);
    unlink("ledger.db-wal");
    unlink("ledger.db-shm");
    run.phase[0].method = &bb_method_mp_lowrank;
    run_close(&run);
    run_close(&alone);
    population_close(&p);
}

/* An observer that fails ends the run with its status. */
static bb_status fail_at_third(void *self, const bb_release *release, size_t tasks) {
    (void)self, (void)tasks;
    published++;
    return release->round == 3 ? bb_fail(BB_EIO, "the disk is full") : BB_OK;
}

static void test_failing_observer(void **state) {
    (void)state;
    const law_case c = {&bb_method_mp_lowrank, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                        BB_SAMPLING_ALL};
    population p = law_population(&c, LAW_TASKS, SIZE_MAX);
    bb_run run = law_run(&c, &p, &engine);
    bb_result result;
    run.phase[0].rounds = 20;
    published = 0;
    run.observer.published = fail_at_third;
    assert_fails(bb_run_train(&run, &result), BB_EIO, "the disk is full");
    assert_int_equal(published, 3);
    run_close(&run);
    population_close(&p);
}

static bb_status fail_for_task_two(const bb_view *view, bb_task *task) {
    const bb_status status = bb_method_mp_lowrank.finish(view, task);
    if (task->id == 2) task->model[0] = NAN;
    return status;
}

static bool keeps_but_task_two(void *self, size_t k, size_t worker, const double *model,
                               double intercept) {
    const population *p = self;
    (void)intercept;
    assert_true(k < p->tasks && worker < engine.workers);
    for (size_t j = 0; j < p->local[k].length; j++) assert_true(isfinite(model[j]));
    return k != 2;
}

/* Behind noise a task whose solver fails, or whose model is not finite as it is kept, gets
 * the zero model, and nobody else sees a difference; in the clear the run fails. */
static void test_failing_task(void **state) {
    (void)state;
    bb_method method = bb_method_mp_lowrank;
    method.finish = fail_for_task_two;
    const law_case c = {&bb_method_mp_lowrank, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                        BB_SAMPLING_ALL};
    population p = law_population(&c, LAW_TASKS, SIZE_MAX);
    bb_run run = law_run(&c, &p, &engine);
    bb_result whole = {0}, failed = {0};
    run.seeded = true;
    assert_ok(bb_run_train(&run, &whole));
    assert_int_equal(whole.failed, 0);
    for (int kept = 0; kept < 2; kept++) {
        run.mechanism = &bb_mechanism_gaussian;
        run.phase[0].method = kept ? &bb_method_mp_lowrank : &method;
        if (kept) run.observer = (bb_observer){.self = &p, .keeps = keeps_but_task_two};
        assert_ok(bb_run_train(&run, &failed));
        const size_t d = run.pub.features;
        assert_int_equal(failed.failed, 1);
        for (size_t k = 0; k < d; k++) assert_true(failed.model[2 * d + k] == 0.0);
        assert_memory_equal(failed.model, whole.model, 2 * d * sizeof *whole.model);
        assert_memory_equal(failed.model + 3 * d, whole.model + 3 * d,
                            (run.pub.tasks - 3) * d * sizeof *whole.model);
        assert_string_equal(failed.billboard_sha256, whole.billboard_sha256);
        bb_result_free(&failed);
        run.mechanism = &bb_mechanism_none;
        assert_fails(bb_run_train(&run, &failed), BB_ENUMERIC, "task number 3");
    }
    bb_result_free(&whole);
    run_close(&run);
    population_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_no_allocation),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test_setup_teardown(test_out_of_memory_costs_nothing, folder_enter,
                                        folder_leave),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test_setup_teardown(test_ledger, folder_enter, folder_leave),
        cmocka_unit_test(test_failing_observer),
        cmocka_unit_test(test_failing_task),
    };
    if (bb_linalg_start()) return 1;
    engine = bb_engine_threads(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
