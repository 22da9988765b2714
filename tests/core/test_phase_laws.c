/* Runs of several phases: what is refused, and the laws of draws and of replay. */
#include "phase_runs.h"
#include "tape.h"

#include <string.h>

/* -- refusals -- */

static void what_makes_no_sense_is_refused(void **state) {
    script s;
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED);
    script_open(&s, &p, &bb_method_finetune, &bb_mechanism_none, 0);
    script_refused(&s, "it cannot be the first one");
    run_close(&s.run);
    script_open(&s, &p, &bb_method_fedavg, &bb_mechanism_gaussian, 2);
    then(&s, &bb_method_pmtl, 2, -0.1);
    script_refused(&s, "phase 2, pmtl: its share of the budget must be positive");
    s.run.phase[1].share = NAN;
    script_refused(&s, "must be positive");
    s.run.phase[1].share = 1.0;
    script_refused(&s, "nothing is left for phase 1, fedavg");
    s.run.phase[1].share = 0.6;
    then(&s, &bb_method_pmtl, 2, 0.6);
    script_refused(&s, "1.2 of the budget");
    s.run.phase[0].method = &bb_method_stl;
    script_refused(&s, "1.2 of the budget");
    s.run.phase[0].method = &bb_method_fedavg;
    s.run.phases = 1;
    then(&s, &bb_method_mtl_trace, 2, 0.5);
    script_refused(&s, "method mtl-trace exchanges everything in the clear");
    s.run.phases = 1;
    then(&s, &bb_method_mp_lowrank, 2, 0.5);
    then_set(&s, "keep", "own");
    script_refused(&s, "treat the intercept in different ways");
    s.run.phases--;
    then(&s, &bb_method_mp_prior, 0, 0.5);
    s.run.pub.sampling = BB_SAMPLING_POISSON;
    s.run.pub.rate = 0.5;
    script_refused(&s, "method mp-prior asks all tasks");
    s.run.pub.sampling = BB_SAMPLING_FIXED_HIDDEN;
    s.run.pub.cohort = 3;
    s.run.phases = 1;
    then(&s, &bb_method_pmtl, 2, 0.5);
    script_refused(&s, "a cohort of fixed size is visible");
    s.run.pub.sampling = BB_SAMPLING_ALL;
    s.run.phases = 1;
    for (size_t k = 0; k < BB_MOST_PHASES; k++) then(&s, &bb_method_finetune, 0, 0.0);
    script_refused(&s, "at most 16 phases, found 17");
    s.run.phases--;
    bb_result most = script_run(&s);
    bb_result_free(&most);
    run_close(&s.run);
    population_close(&p);
}

/* All that needs no task's data is refused without any, so before they are read. */
static void what_needs_no_data_is_refused_without(void **state) {
    script s;
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED);
    script_open(&s, &p, &bb_method_fedavg, &bb_mechanism_gaussian, 2);
    bb_run *run = &s.run;
    run->local = NULL;
    run->pub.tasks = 0;
    assert_ok(bb_run_check_methods(run));
    then(&s, &bb_method_pmtl, 2, 1.0);
    assert_fails(bb_run_check_methods(run), BB_EUSAGE, "nothing is left for phase 1");
    run->phase[1].share = 0.5;
    run->pub.sampling = BB_SAMPLING_FIXED_HIDDEN;
    assert_fails(bb_run_check_methods(run), BB_EUSAGE, "fixed size is visible");
    run->phases = 1;
    run->pub.sampling = BB_SAMPLING_POISSON;
    run->pub.rate = 1.5;
    assert_fails(bb_run_check_methods(run), BB_EUSAGE, "rate must be in (0, 1]");
    run->phase[0].method = &bb_method_mp_prior;
    assert_fails(bb_run_check_methods(run), BB_EUSAGE, "asks all tasks");
    run->pub.sampling = BB_SAMPLING_ALL;
    run->phase[0].method = &bb_method_finetune;
    run->mechanism = &bb_mechanism_none;
    assert_fails(bb_run_check_methods(run), BB_EUSAGE, "cannot be the first one");
    run->phases = 0;
    assert_fails(bb_run_check_methods(run), BB_EUSAGE, "at least one phase");
    run->phases = 1;
    run_close(run);
    population_close(&p);
}

/* Noise is for methods that have a door, and epsilon says how much. */
static void noise_without_a_door_or_budget_is_refused(void **state) {
    script s;
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED);
    script_open(&s, &p, &bb_method_stl, &bb_mechanism_gaussian, 0);
    script_refused(&s, "method stl shares nothing: mechanism gaussian does not apply");
    run_close(&s.run);
    script_open(&s, &p, &bb_method_mtl_trace, &bb_mechanism_gaussian, 0);
    script_refused(&s, "method mtl-trace exchanges everything in the clear");
    run_close(&s.run);
    script_open(&s, &p, &bb_method_fedavg, &bb_mechanism_gaussian, 2);
    s.run.pub.epsilon = NAN;
    assert_fails(bb_run_check_methods(&s.run), BB_EUSAGE,
                 "method fedavg is private and needs --epsilon");
    s.run.pub.epsilon = 0.0;
    script_refused(&s, "needs --epsilon");
    run_close(&s.run);
    population_close(&p);
}

/* A promise for rows is made where nothing else is published. */
static void promises_for_rows_stand_alone(void **state) {
    script s;
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED);
    script_open(&s, &p, &bb_method_fedavg, &bb_mechanism_gaussian, 2);
    then(&s, &bb_method_mp_instance, 2, 0.5);
    then_set(&s, "instance-epsilon", "1");
    then_set(&s, "gradient-clip", "1");
    then_set(&s, "clip", "1");
    script_refused(&s, "method mp-instance promises something for single rows");
    run_close(&s.run);
    script_open(&s, &p, &bb_method_dp_aggr, &bb_mechanism_gaussian, 0);
    run_set(&s.run, "calibration", "instance");
    run_set(&s.run, "rows-cap", "2");
    then(&s, &bb_method_fedavg, 2, 0.5);
    script_refused(&s, "method dp-aggr promises something for single rows");
    s.run.phases = 1;
    then(&s, &bb_method_finetune, 0, 0.0);
    bb_result alone = script_run(&s);
    assert_true(alone.plan.lifted_rows > 0);
    bb_result_free(&alone);
    run_close(&s.run);
    population_close(&p);
}

static void phases_are_named(void **state) {
    script s;
    char name[BB_RUN_NAME];
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED);
    script_open(&s, &p, &bb_method_stl, &bb_mechanism_none, 0);
    bb_run_name(s.run.phases, s.run.phase, name);
    assert_string_equal(name, "stl");
    then(&s, &bb_method_fedavg, 0, 0.5);
    then(&s, &bb_method_pmtl, 0, 0.5);
    then(&s, &bb_method_finetune, 0, 0.0);
    bb_run_name(s.run.phases, s.run.phase, name);
    assert_string_equal(name, "fedavg then pmtl");
    then(&s, &bb_method_vote, 0, 0.0); /* belongs to what it follows */
    bb_run_name(s.run.phases, s.run.phase, name);
    assert_string_equal(name, "fedavg then pmtl");
    run_close(&s.run);
    population_close(&p);
}

/* -- draws -- */

/* Minibatches are drawn for the task and the round, on whatever thread. */
static void any_number_of_threads_is_the_same(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_MULTILABEL; loss++) {
        population p = tasks_of((bb_loss)loss);
        bb_result first = {0};
        script s;
        script_open(&s, &p, &bb_method_fedavg, &bb_mechanism_gaussian, 3);
        s.run.pub.batch = 5;
        then(&s, &bb_method_ppsgd, 2, 0.5);
        then(&s, &bb_method_finetune, 0, 0.0);
        then_set(&s, "how", "kl");
        if (loss == BB_LOSS_SQUARED) {
            s.run.pub.epsilon = 50.0; /* so few tasks are heard */
            then(&s, &bb_method_vote, 0, 0.2);
        }
        for (size_t threads = 1; threads <= 4; threads++) {
            const bb_engine engine = bb_engine_threads(threads);
            s.run.engine = &engine;
            bb_result result = script_run(&s);
            if (threads == 1) {
                first = result;
                continue;
            }
            assert_string_equal(first.billboard_sha256, result.billboard_sha256);
            assert_memory_equal(first.model, result.model,
                                first.first[TASKS] * sizeof(double));
            bb_result_free(&result);
        }
        bb_result_free(&first);
        run_close(&s.run);
        population_close(&p);
    }
}

/* Runs s on p, then on q with the billboards and draws of before: the models of all but
 * one task are the same. Returns the rounds; closes everything. */
static size_t only_one_moves(script *s, population *p, population *q, size_t changed) {
    recording = (tape){0};
    bb_result a = script_run(s);
    const size_t rounds = a.rounds;
    recording.playing = true;
    s->run.local = q->local;
    bb_result b = script_run(s);
    assert_int_equal(recording.read, recording.used);
    for (size_t i = 0; i < TASKS; i++)
        assert_true((memcmp(a.model + a.first[i], b.model + b.first[i],
                            p->local[i].length * sizeof(double)) == 0) ==
                    (i != changed));
    free(recording.value);
    bb_result_free(&a);
    bb_result_free(&b);
    run_close(&s->run);
    population_close(p);
    population_close(q);
    return rounds;
}

/* A vote, too, is heard of by the billboard alone. */
static void nobody_else_moves_by_votes(void **state) {
    const size_t changed = 6;
    const bb_method first = tape_method(&bb_method_fedprox);
    const bb_method vote = tape_method(&bb_method_vote);
    const bb_engine engine = bb_engine_threads(1);
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED), q = tasks_of(BB_LOSS_SQUARED);
    script s;
    population_fill(&q, changed, 999);
    for (size_t i = 0; i < TASKS; i++) bb_local_close(&q.local[i]);
    population_open_locals(&q);
    script_open(&s, &p, &first, &bb_mechanism_gaussian, 2);
    s.run.pub.epsilon = 50.0; /* or so few tasks would not be heard */
    s.run.engine = &engine;
    then(&s, &vote, 0, 0.0);
    assert_int_equal(only_one_moves(&s, &p, &q, changed), 3);
}

/* Two methods, minibatches and finetuning: with one task changed, the billboard of
 * before and the same draws, nobody else moves. */
static void nobody_else_moves(void **state) {
    const size_t changed = 6;
    const char *const how[] = {"vanilla", "mean", "kl", "ewc"};
    (void)state;
    for (size_t k = 0; k < 16; k++) {
        const bb_loss loss = (bb_loss)(k / 4);
        const bb_method first = tape_method(&bb_method_fedprox);
        const bb_method second = tape_method(&bb_method_pmtl);
        const bb_engine engine = bb_engine_threads(1);
        population p = tasks_of(loss), q = tasks_of(loss);
        script s;
        population_fill(&q, changed, 999);
        for (size_t i = 0; i < TASKS; i++) bb_local_close(&q.local[i]);
        population_open_locals(&q);
        script_open(&s, &p, &first, &bb_mechanism_gaussian, 2);
        s.run.pub.batch = 4;
        s.run.engine = &engine;
        then(&s, &second, 2, 0.5);
        then(&s, &bb_method_finetune, 0, 0.0);
        then_set(&s, "how", how[k % 4]);
        only_one_moves(&s, &p, &q, changed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(what_needs_no_data_is_refused_without),
        cmocka_unit_test(noise_without_a_door_or_budget_is_refused),
        cmocka_unit_test(promises_for_rows_stand_alone),
        cmocka_unit_test(phases_are_named),
        cmocka_unit_test(any_number_of_threads_is_the_same),
        cmocka_unit_test(nobody_else_moves),
        cmocka_unit_test(nobody_else_moves_by_votes),
    };
    if (bb_linalg_start()) return 1;
    two = bb_engine_threads(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
