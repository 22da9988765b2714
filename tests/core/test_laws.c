/* Laws that hold for every method with every mechanism that makes sense. */
#include "laws.h"
#include "tape.h"

#include <string.h>

/* What is handed to train, show and finish has no way to write what is public. */
#define IS_CONST(pointer, type) _Generic((pointer), const type * : 1, default : 0)
_Static_assert(IS_CONST(((bb_view *)0)->board->at, double), "the billboard is const");
_Static_assert(IS_CONST(((bb_view *)0)->plan->instance, double), "the plan is const");
_Static_assert(IS_CONST(((bb_view *)0)->pub->start, double), "the start is const");

/* So much that the votes of 45 tasks are heard, too. */
static bb_run law_run_open(const law_case *c, const population *p,
                           const bb_engine *engine) {
    bb_run run = law_run(c, p, engine);
    if (run.pub.epsilon < INFINITY) run.pub.epsilon = 8.0;
    return run;
}

/* -- any number of threads, the same bytes
 * -------------------------------------------------- */

static void law_threads(const law_case *c) {
    population p = law_population(c, LAW_TASKS, SIZE_MAX);
    bb_result first = {0};
    for (size_t threads = 1; threads <= 4; threads++) {
        const bb_engine engine = bb_engine_threads(threads);
        bb_run run = law_run_open(c, &p, &engine);
        bb_result result;
        law_train(c, &run, &result);
        if (threads == 1) {
            first = result;
        } else {
            law_check(c, strcmp(first.billboard_sha256, result.billboard_sha256) == 0);
            law_check(c, first.rounds == result.rounds);
            for (size_t i = 0; i < p.tasks; i++)
                law_check(c, law_same_models(&first, &result, i, i));
            bb_result_free(&result);
        }
        run_close(&run);
    }
    bb_result_free(&first);
    population_close(&p);
}

static void test_threads(void **state) {
    (void)state;
    law_for_all(law_threads);
}

/* -- another seed, another billboard; the same seed, the same
 * ------------------------------- */

static void law_seed(const law_case *c) {
    population p = law_population(c, LAW_TASKS, SIZE_MAX);
    const bb_engine engine = bb_engine_threads(2);
    bb_run run = law_run_open(c, &p, &engine);
    bb_result a, b;
    law_train(c, &run, &a);
    run.seed++;
    law_train(c, &run, &b);
    const bool noisy = c->method->kind == BB_METHOD_PRIVATE &&
                       (c->mechanism != &bb_mechanism_none || c->method->own_noise ||
                        c->sampling != BB_SAMPLING_ALL);
    law_check(c, (strcmp(a.billboard_sha256, b.billboard_sha256) != 0) == noisy);
    bb_result_free(&a);
    bb_result_free(&b);
    run_close(&run);
    population_close(&p);
}

static void test_seeds(void **state) {
    (void)state;
    law_for_all(law_seed);
}

/* -- permuted tasks, permuted models
 * ---------------------------------------------------------- */

/* Sums of integers do not depend on the order; sums of doubles do, in the last bits. */
static void law_permutation(const law_case *c) {
    /* noise of their own and of slots follows the task's number */
    if (c->method->own_noise) return;
    if (c->method == &bb_method_dp_mtrl && c->mechanism->grid) return;
    if (c->sampling != BB_SAMPLING_ALL) return; /* and so do cohorts */
    population p = law_population(c, LAW_TASKS, SIZE_MAX);
    population q = p;
    const bb_engine engine = bb_engine_threads(2);
    bb_result a, b;
    uint32_t cluster[LAW_TASKS];
    double show[2 * LAW_TASKS], see[2 * LAW_TASKS];
    const bb_relations relations = {LAW_TASKS, 2, show, see};
    q.local = calloc(p.tasks, sizeof *q.local);
    assert_non_null(q.local);
    for (size_t i = 0; i < p.tasks; i++) {
        q.local[(i * 7 + 3) % p.tasks] = p.local[i];
        cluster[(i * 7 + 3) % p.tasks] = law_clusters[i];
        memcpy(show + 2 * ((i * 7 + 3) % p.tasks), law_show + 2 * i, 2 * sizeof *show);
        memcpy(see + 2 * ((i * 7 + 3) % p.tasks), law_see + 2 * i, 2 * sizeof *see);
    }
    bb_run run = law_run_open(c, &p, &engine);
    law_train(c, &run, &a);
    run.local = q.local;
    if (run.pub.cluster) run.pub.cluster = cluster;
    if (run.pub.relations) run.pub.relations = &relations;
    law_train(c, &run, &b);
    for (size_t i = 0; i < p.tasks; i++) {
        const size_t j = (i * 7 + 3) % p.tasks;
        if (c->mechanism->grid || c->method->kind == BB_METHOD_ALONE)
            law_check(c, law_same_models(&a, &b, i, j));
        for (size_t k = 0; k < run.pub.parameters; k++) {
            const double x = a.model[a.first[i] + k];
            law_check(c, fabs(x - b.model[b.first[j] + k]) <= 1e-5 * (1.0 + fabs(x)));
        }
    }
    if (c->mechanism->grid)
        law_check(c, strcmp(a.billboard_sha256, b.billboard_sha256) == 0);
    bb_result_free(&a);
    bb_result_free(&b);
    run_close(&run);
    free(q.local);
    population_close(&p);
}

static void test_permutation(void **state) {
    (void)state;
    law_for_all(law_permutation);
}

/* -- replay: nobody else moves
 * ------------------------------------------------------------------ */

static size_t replay_cases, replay_moved;

static void law_replay(const law_case *c) {
    const size_t changed = 17;
    population p = law_population(c, LAW_TASKS, SIZE_MAX);
    population q = law_population(c, LAW_TASKS, changed);
    const bb_engine engine = bb_engine_threads(1);
    const bb_method method = tape_method(c->method);
    bb_result a, b;
    recording = (tape){0};
    bb_run run = law_run_open(c, &p, &engine);
    run.phase[0].method = &method;
    /* a shared model is the task's own only after it was finetuned */
    unsigned char options[512] = {0};
    const bb_phase finetune = {.method = &bb_method_finetune, .options = options};
    assert_true(finetune.method->options_size <= sizeof options);
    assert_ok(bb_options_default(finetune.method->options, options));
    if (method.shared) run.phase[run.phases++] = finetune;
    law_train(c, &run, &a);
    recording.playing = true;
    run.local = q.local;
    law_train(c, &run, &b);
    law_check(c, recording.read == recording.used);
    for (size_t i = 0; i < p.tasks; i++)
        if (i != changed) law_check(c, law_same_models(&a, &b, i, i));
    /* a strong shared penalty may make all models zero */
    replay_cases++;
    replay_moved += !law_same_models(&a, &b, changed, changed);
    free(recording.value);
    bb_result_free(&a);
    bb_result_free(&b);
    run_close(&run);
    population_close(&p);
    population_close(&q);
}

static void test_replay(void **state) {
    (void)state;
    law_for_all(law_replay);
    assert_true(10 * replay_moved >= 8 * replay_cases);
}

/* -- one task; tasks that share nothing
 * ------------------------------------------------------- */

static void law_one_task(const law_case *c) {
    population p = law_population(c, 1, SIZE_MAX);
    const bb_engine engine = bb_engine_threads(2);
    bb_run run = law_run_open(c, &p, &engine);
    bb_result result;
    law_train(c, &run, &result);
    for (size_t k = 0; k < run.pub.parameters; k++)
        law_check(c, isfinite(result.model[k]));
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

static void test_one_task(void **state) {
    (void)state;
    law_for_all(law_one_task);
}

/* With a shared penalty of weight 0, many rounds without noise are the ridge model
 * alone, for one task as for many. */
static void check_alone(const bb_method *method, bb_loss loss, size_t tasks) {
    const law_case c = {method, &bb_mechanism_none, loss, BB_SAMPLING_ALL};
    population p = law_population(&c, tasks, SIZE_MAX);
    const bb_engine engine = bb_engine_threads(2);
    bb_run run = law_run_open(&c, &p, &engine);
    bb_run stl = run_open(&p, &bb_method_stl, &bb_mechanism_none, &engine);
    bb_result a, b;
    run.phase[0].rounds = 3000;
    run_set(&run, "keep", "own");
    run_set(&run, "lambda", "0");
    run_set(&run, "ridge", "0.05");
    run_set(&run, "start", "zero");
    run_set(&stl, "lambda", "0.05");
    law_train(&c, &run, &a);
    assert_ok(bb_run_train(&stl, &b));
    for (size_t k = 0; k < tasks * LAW_FEATURES; k++)
        assert_close(a.model[k], b.model[k], 1e-7);
    for (size_t i = 0; i < tasks; i++)
        assert_close(a.intercept[i], b.intercept[i], 1e-6);
    bb_result_free(&a);
    bb_result_free(&b);
    run_close(&run);
    run_close(&stl);
    population_close(&p);
}

static void test_sharing_nothing(void **state) {
    (void)state;
    const bb_method *const methods[] = {&bb_method_mp_lowrank,
                                        &bb_method_mp_groupsparse};
    for (size_t m = 0; m < 2; m++)
        for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_LOGISTIC; loss++) {
            check_alone(methods[m], (bb_loss)loss, 1);
            check_alone(methods[m], (bb_loss)loss, 11);
        }
}

/* Hardly any noise and a clip that nobody reaches are no noise and no clip. */
static void test_little_noise(void **state) {
    (void)state;
    const char *const names[] = {"mp-lowrank", "mp-groupsparse", "mp-lrsp"};
    for (size_t m = 0; m < 3; m++) {
        const law_case c = {bb_method_find(names[m]), &bb_mechanism_none,
                            BB_LOSS_SQUARED, BB_SAMPLING_ALL};
        population p = law_population(&c, LAW_TASKS, SIZE_MAX);
        const bb_engine engine = bb_engine_threads(2);
        bb_run run = law_run_open(&c, &p, &engine);
        bb_result a, b;
        law_train(&c, &run, &a);
        run.mechanism = &bb_mechanism_gaussian;
        run.pub.epsilon = 1e8;
        run.pub.delta = 1e-5;
        run_set(&run, "clip", "10");
        law_train(&c, &run, &b);
        for (size_t k = 0; k < p.tasks * p.features; k++)
            assert_close(a.model[k], b.model[k], 0.02 * (1.0 + fabs(a.model[k])));
        bb_result_free(&a);
        bb_result_free(&b);
        run_close(&run);
        population_close(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_permutation),  cmocka_unit_test(test_replay),
        cmocka_unit_test(test_one_task),     cmocka_unit_test(test_sharing_nothing),
        cmocka_unit_test(test_little_noise),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
