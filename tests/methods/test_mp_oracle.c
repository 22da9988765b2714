/* Algorithms 2, 3 and 4 of Liang et al. (2020) against reference iterates, through the
 * real loop: the reference's noise is added by a mechanism that only this test has. */
#include "methods/mp_family.h"
#include "methods/registry.h"
#include "reference.h"

#include <string.h>

enum { ROUNDS = 5 };
static const double tolerance = 1e-10;

typedef struct noise {
    numbers at; /* ROUNDS stacked d x d, or nothing */
} noise;

static bb_status inject(void *self, bb_random *random, uint32_t round,
                        const bb_block *block, double pure, double *sum, double *std) {
    const noise *e = self;
    const size_t d = block->length;
    (void)random, (void)pure;
    *std = e->at.rows ? 1.0 : 0.0;
    if (!e->at.rows || round > ROUNDS) return BB_OK;
    for (size_t i = 0; i < d; i++) {
        if (block->form == BB_FORM_SQUARE) {
            sum[i] += numbers_at(&e->at, (round - 1) * d + i, i);
            continue;
        }
        for (size_t j = 0; j < d; j++)
            sum[i * d + j] += numbers_at(&e->at, (round - 1) * d + i, j);
    }
    return BB_OK;
}

/* models (tasks x d) against a file of d rows x tasks columns. */
static void compare(const char *stem, const char *what, uint32_t t, size_t tasks,
                    size_t d, const double *model) {
    char name[200];
    if (t)
        snprintf(name, sizeof name, "oracle/mpmtl/%s_%s_t%u.csv", stem, what, t);
    else
        snprintf(name, sizeof name, "oracle/mpmtl/%s.csv", what);
    numbers expected = numbers_read(name, 0);
    assert_int_equal(expected.rows, d);
    assert_int_equal(expected.columns, tasks);
    for (size_t i = 0; i < tasks; i++)
        for (size_t k = 0; k < d; k++) {
            const double a = model[i * d + k], b = numbers_at(&expected, k, i);
            if (!(fabs(a - b) <= tolerance))
                fail_msg("%s, task %zu, feature %zu: %.17g, expected %.17g", name, i, k,
                         a, b);
        }
    free(expected.at);
}

/* -- methods that end with a look at a task's state
 * -------------------------------------- */

static const bb_method *looked_at;
static size_t look_offset; /* 0: w, 2 d + 2: q of mp-lrsp */
static bool look_after_step;

static bb_status look(const bb_view *view, bb_task *task) {
    const size_t d = view->pub->features;
    if (look_after_step) looked_at->train(view, task);
    memcpy(task->model, task->state + look_offset, d * sizeof(double));
    return BB_OK;
}

/* The reference of algorithm 4 starts with both parts at W0, as printed. */
static void train_from_printed_start(const bb_view *view, bb_task *task) {
    bb_method_mp_lrsp.train(view, task);
    if (view->board->releases > 0) return;
    const bb_mp_state own = bb_mp_read(task);
    memcpy(own.q, own.w, view->pub->features * sizeof(double));
}

static bb_method printed_lrsp(void) {
    bb_method method = bb_method_mp_lrsp;
    method.train = train_from_printed_start;
    return method;
}

/* -- runs
 * ------------------------------------------------------------------------------ */

typedef struct reference {
    const char *stem, *noise;
    const bb_method *method;
    const char *lambda, *step, *clip;
} reference;

static void check_run(const population *p, const reference *r, const noise *e,
                      uint32_t t, const bb_method *method, const char *what) {
    const bb_mechanism mechanism = {.name = "given",
                                    .pricing = BB_PRICE_GAUSSIAN,
                                    .clips = true,
                                    .add = inject,
                                    .self = (void *)(uintptr_t)e};
    const bb_engine engine = bb_engine_threads(2);
    bb_run run = run_open(p, method, &mechanism, &engine);
    run_set(&run, "keep", "own");
    bb_result result;
    run.phase[0].rounds = t ? t : 1;
    run_set(&run, "lambda", r->lambda);
    run_set(&run, "step", r->step);
    run_set(&run, "clip", r->clip);
    run_set(&run, "start", "ridge");
    run_set(&run, "start-lambda", "0.01");
    run_set(&run, "shift", "0");
    if (strstr(r->stem, "alg4")) run_set(&run, "sparse-lambda", "0.05");
    assert_ok(bb_run_train(&run, &result));
    assert_int_equal(result.rounds, t ? t : 1);
    compare(r->stem, what, t, p->tasks, p->features, result.model);
    bb_result_free(&result);
    run_close(&run);
}

static void check_look(const population *p, const reference *r, const noise *e,
                       uint32_t t, bool after_step, size_t offset, const char *what) {
    bb_method method = *r->method;
    looked_at = r->method;
    look_after_step = after_step;
    look_offset = offset;
    method.finish = look;
    check_run(p, r, e, t, &method, what);
}

static void check(const reference *r) {
    population p = reference_population();
    const size_t q = 2 * p.features + 2;
    const bool two_parts = strstr(r->stem, "alg4") != NULL;
    const bool states = !strstr(r->stem, "goe"); /* the reference kept no W_t there */
    noise e = {0};
    if (r->noise) {
        e.at = numbers_read(r->noise, 0);
        assert_int_equal(e.at.rows, ROUNDS * p.features);
    }
    for (uint32_t t = 1; t <= ROUNDS; t++) {
        check_run(&p, r, &e, t, r->method, "What");
        if (states) check_look(&p, r, &e, t, true, 0, two_parts ? "P" : "W");
        if (two_parts) check_look(&p, r, &e, t, true, q, "Q");
    }
    check_look(&p, r, &e, 0, false, 0, "W0");
    free(e.at.at);
    population_close(&p);
}

static const char wishart[] = "oracle/mpmtl/noise_T_stacked_dxd.csv";
static const char shifted[] = "oracle/mpmtl/noise_goe_shift_T_stacked_dxd.csv";

static void test_lowrank(void **state) {
    (void)state;
    const bb_method *method = &bb_method_mp_lowrank;
    check(&(reference){"alg2_nonoise_accel", NULL, method, "0.5", "1", "4"});
    check(&(reference){"alg2_noise_accel", wishart, method, "0.5", "1", "4"});
    check(&(reference){"alg2_goe_shift_accel", shifted, method, "0.5", "1", "4"});
}

static void test_groupsparse(void **state) {
    (void)state;
    const bb_method *method = &bb_method_mp_groupsparse;
    check(&(reference){"alg3_nonoise_accel", NULL, method, "0.5", "1", "4"});
    check(&(reference){"alg3_noise_accel", wishart, method, "0.5", "1", "4"});
    check(&(reference){"alg3_goe_shift_accel", shifted, method, "0.5", "1", "4"});
}

static void test_lrsp(void **state) {
    (void)state;
    const bb_method method = printed_lrsp();
    check(&(reference){"alg4_nonoise", NULL, &method, "0.4", "0.5", "4"});
    check(&(reference){"alg4_noise", wishart, &method, "0.4", "0.5", "4"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lowrank),
        cmocka_unit_test(test_groupsparse),
        cmocka_unit_test(test_lrsp),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
