/* The auditor on mechanisms whose probabilities are known, and on the real door. An
 * audit's confidence is 1 - 1e-10 unless said otherwise: false alarms of the whole file
 * are below 1e-8, and the seeds are fixed. */
#include "audit/target.h"
#include "base/parallel.h"
#include "linalg/linalg.h"
#include "test.h"

#include <string.h>

static bb_status open_nothing(const void *self, void **worker) {
    *worker = (void *)(uintptr_t)self;
    return BB_OK;
}

static void close_nothing(void *worker) {
    (void)worker;
}

/* A coin that tells the truth with probability 0.8: pure epsilon log 4. */
static bb_status coin(void *worker, int world, bb_random *random, double *statistic) {
    (void)worker;
    const int lie = bb_random_uniform(random) < 0.2;
    statistic[0] = bb_random_uniform(random); /* says nothing */
    statistic[1] = (double)(world ^ lie) * 4.0 - 1.5;
    return BB_OK;
}

/* Normal with standard deviation 1, or 3. */
static bb_status spread(void *worker, int world, bb_random *random, double *statistic) {
    (void)worker;
    statistic[0] = bb_random_normal(random) * (world ? 3.0 : 1.0);
    return BB_OK;
}

/* One value out of a thousand betrays world 0. */
static bb_status point(void *worker, int world, bb_random *random, double *statistic) {
    (void)worker;
    statistic[0] = bb_random_uniform(random);
    if (world == 0 && bb_random_uniform(random) < 0.02) statistic[0] = 0.5;
    return BB_OK;
}

static bb_status not_a_number(void *worker, int world, bb_random *random,
                              double *statistic) {
    (void)worker, (void)world, (void)random;
    statistic[0] = NAN;
    return BB_OK;
}

static bb_status failing(void *worker, int world, bb_random *random,
                         double *statistic) {
    (void)worker, (void)world;
    statistic[0] = bb_random_uniform(random);
    return statistic[0] > 0.99 ? bb_fail(BB_EDATA, "it broke") : BB_OK;
}

static bb_audit_target simple(size_t statistics,
                              bb_status (*trial)(void *, int, bb_random *, double *)) {
    return (bb_audit_target){NULL, statistics, open_nothing, trial, close_nothing};
}

static bb_audit_settings settings_of(const bb_engine *engine, double epsilon,
                                     double delta, uint64_t trials) {
    return (bb_audit_settings){.epsilon = epsilon,
                               .delta = delta,
                               .trials = trials,
                               .confidence = 1.0 - 1e-10,
                               .seed = 5,
                               .engine = engine};
}

static bb_audit_result attacked(const bb_audit_target *target, double epsilon,
                                double delta, uint64_t trials) {
    const bb_engine engine = bb_engine_threads(1);
    const bb_audit_settings s = settings_of(&engine, epsilon, delta, trials);
    bb_audit_result result;
    assert_ok(bb_audit_attack(target, &s, &result));
    assert_int_equal(result.trials, trials - trials / 2);
    assert_int_equal(result.violated, result.epsilon_lower > epsilon);
    return result;
}

/* The lower bound comes near the truth, and a claim on either side of it is judged. */
static void test_coin(void **state) {
    (void)state;
    const bb_audit_target target = simple(2, coin);
    bb_audit_result r = attacked(&target, log(4.0), 0.0, 40000);
    assert_false(r.violated);
    assert_true(r.epsilon_lower > 1.2 && r.epsilon_lower < log(4.0));
    assert_int_equal(r.event.statistic, 1);
    r = attacked(&target, 1.1, 0.0, 40000);
    assert_true(r.violated && r.delta_lower > 0.0);
    /* delta at epsilon = 0 is the total variation, 0.6 */
    r = attacked(&target, 0.0, 0.5, 40000);
    assert_true(r.violated && r.delta_lower > 0.56 && r.delta_lower < 0.6);
    r = attacked(&target, 0.0, 0.6, 40000);
    assert_false(r.violated);
    r = attacked(&target, INFINITY, 0.0, 1000);
    assert_false(r.violated);
}

/* Events that no one-sided threshold sees. */
static void test_shapes(void **state) {
    (void)state;
    const bb_audit_target wide = simple(1, spread), betrayed = simple(1, point);
    bb_audit_result r = attacked(&wide, 1.0, 0.0, 10000);
    assert_int_equal(r.event.shape, BB_AUDIT_OUTSIDE);
    assert_int_equal(r.event.world, 1);
    assert_true(r.violated);
    r = attacked(&betrayed, 1.0, 0.0, 20000);
    assert_int_equal(r.event.shape, BB_AUDIT_EQUAL);
    assert_true(r.event.value == 0.5 && r.event.world == 0 && r.violated);
    assert_int_equal(r.hits[1], 0);
}

/* The same result for any number of threads; another for another seed. */
static void test_threads(void **state) {
    (void)state;
    const bb_audit_target target = simple(1, spread);
    bb_audit_result first = {0}, other = {0};
    for (size_t threads = 1; threads <= 5; threads += 2) {
        const bb_engine engine = bb_engine_threads(threads);
        bb_audit_settings s = settings_of(&engine, 1.0, 0.0, 3001);
        assert_ok(bb_audit_attack(&target, &s, threads == 1 ? &first : &other));
        if (threads == 1) continue;
        assert_true(other.epsilon_lower == first.epsilon_lower);
        assert_true(other.event.value == first.event.value);
        assert_memory_equal(other.hits, first.hits, sizeof first.hits);
        s.seed++;
        assert_ok(bb_audit_attack(&target, &s, &other));
        assert_true(other.event.value != first.event.value);
    }
}

/* With confidence 0.9 a true claim at its limit is refuted in at most a tenth of all
 * audits: of 300, more than 60 with probability below 1e-7. */
static void test_confidence(void **state) {
    (void)state;
    const bb_audit_target target = simple(2, coin);
    const bb_engine engine = bb_engine_threads(1);
    size_t alarms = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        bb_audit_settings s = settings_of(&engine, log(4.0), 0.0, 400);
        bb_audit_result r;
        s.confidence = 0.9;
        s.seed = seed;
        assert_ok(bb_audit_attack(&target, &s, &r));
        alarms += r.violated;
    }
    assert_true(alarms <= 60);
}

static void test_refusals(void **state) {
    (void)state;
    const bb_engine engine = bb_engine_threads(2);
    const bb_audit_target nan = simple(1, not_a_number), broken = simple(1, failing);
    const bb_audit_target none = simple(0, coin);
    bb_audit_settings s = settings_of(&engine, 1.0, 0.0, 4000);
    bb_audit_result r;
    assert_fails(bb_audit_attack(&nan, &s, &r), BB_ENUMERIC, "not a number");
    assert_fails(bb_audit_attack(&broken, &s, &r), BB_EDATA, "it broke");
    assert_fails(bb_audit_attack(&none, &s, &r), BB_EUSAGE, "statistics");
    s.trials = 1;
    assert_fails(bb_audit_attack(&broken, &s, &r), BB_EUSAGE, "trials");
    s.trials = 100;
    s.confidence = 1.0;
    assert_fails(bb_audit_attack(&broken, &s, &r), BB_EUSAGE, "confidence");
    s.confidence = 0.9;
    s.epsilon = -1.0;
    assert_fails(bb_audit_attack(&broken, &s, &r), BB_EUSAGE, "epsilon");
}

/* -- the door: it keeps what it claims, and nearly all of it can be seen -- */

static bb_audit_result door(const bb_audit_spec *spec, double claim) {
    const bb_engine engine = bb_engine_threads(1);
    bb_audit_settings s = settings_of(&engine, 0.0, spec->delta, 6000);
    bb_audit_target target;
    bb_audit_result r;
    assert_ok(bb_audit_target_make(&target, &s.epsilon, spec));
    assert_true(s.epsilon <= spec->epsilon * (1.0 + 1e-9));
    assert_true(s.epsilon >= spec->epsilon * (1.0 - 1e-6));
    if (claim > 0.0) s.epsilon = claim;
    assert_ok(bb_audit_attack(&target, &s, &r));
    return r;
}

/* A claim of a tenth of epsilon is refuted: the attack has teeth in every form. */
static void test_door(void **state) {
    (void)state;
    const bb_form form[] = {BB_FORM_VECTOR, BB_FORM_SLOT, BB_FORM_SQUARE, BB_FORM_PSD,
                            BB_FORM_OUTER};
    for (size_t f = 0; f < 5; f++)
        for (int a = BB_REPLACE_ONE; a <= BB_ADD_REMOVE; a++) {
            bb_audit_spec spec = {.form = form[f],
                                  .adjacency = (bb_adjacency)a,
                                  .blocks = form[f] == BB_FORM_OUTER ? 1 : 2,
                                  .length = 3,
                                  .rounds = 2,
                                  .epsilon = 2.0,
                                  .delta = 0.05};
            assert_false(door(&spec, 0.0).violated);
            assert_true(door(&spec, 0.2).violated);
        }
}

static void test_selection(void **state) {
    (void)state;
    for (uint32_t rounds = 1; rounds <= 2; rounds++) {
        const bb_audit_spec spec = {.kind = BB_AUDIT_SELECTION,
                                    .blocks = 1,
                                    .rounds = rounds,
                                    .epsilon = 1.0,
                                    .delta = 1e-5};
        const bb_audit_result r = door(&spec, 0.0);
        assert_false(r.violated);
        assert_true(r.epsilon_lower > 0.45); /* permute-and-flip reaches epsilon */
    }
}

/* The probability that betrays Wishart noise is 1 - exp(-epsilon), in any dimension. */
static void test_wishart(void **state) {
    (void)state;
    for (size_t length = 2; length <= 6; length += 2) {
        const bb_audit_spec spec = {.kind = BB_AUDIT_WISHART_PUBLISHED,
                                    .form = BB_FORM_OUTER,
                                    .blocks = 1,
                                    .length = length,
                                    .rounds = 1,
                                    .epsilon = 0.5,
                                    .delta = 1e-5};
        const bb_audit_result r = door(&spec, 0.0);
        assert_true(r.violated);
        assert_true(r.delta_lower > 0.3 && r.delta_lower < 1.0 - exp(-0.5));
        assert_int_equal(r.hits[0], 0);
        assert_close((double)r.hits[1] / (double)r.trials, 1.0 - exp(-0.5), 0.06);
    }
}

static void test_bad_specs(void **state) {
    (void)state;
    bb_audit_target target;
    double epsilon;
    bb_audit_spec spec = {.form = BB_FORM_OUTER,
                          .blocks = 0,
                          .length = 3,
                          .rounds = 1,
                          .epsilon = 1.0,
                          .delta = 1e-5};
    assert_fails(bb_audit_target_make(&target, &epsilon, &spec), BB_EUSAGE, "blocks");
    spec.blocks = 1;
    spec.length = 1;
    assert_fails(bb_audit_target_make(&target, &epsilon, &spec), BB_EUSAGE, "length");
    spec.kind = BB_AUDIT_WISHART_PUBLISHED;
    spec.form = BB_FORM_VECTOR;
    assert_fails(bb_audit_target_make(&target, &epsilon, &spec), BB_EUSAGE, "outer");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coin),      cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_confidence),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_door),
        cmocka_unit_test(test_selection), cmocka_unit_test(test_wishart),
        cmocka_unit_test(test_bad_specs),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
