/* mp-lowrank, mp-groupsparse and mp-lrsp: their optima without noise, clips, steps,
 * starts, and what they refuse. The published iterates are in test_mp_oracle.c. */
#include "linalg/prox.h"
#include "matrix_prox.h"
#include "methods/mp_family.h"
#include "methods/registry.h"
#include "reference.h"

#include <string.h>

static const bb_engine *one(void) {
    static bb_engine engine;
    engine = bb_engine_threads(1);
    return &engine;
}

static bb_result train(const bb_run *run) {
    bb_result result;
    assert_ok(bb_run_train(run, &result));
    return result;
}

/* -- without noise: the optimum of the regularised problem
 * ------------------------------- */

static void check_optimum(const bb_method *method, const char *start,
                          const char *file) {
    population p = reference_population();
    numbers expected = numbers_read(file, 0);
    bb_run run = run_open(&p, method, &bb_mechanism_none, one());
    run_set(&run, "keep", "own");
    run.phase[0].rounds = 20000;
    run_set(&run, "lambda", "0.05");
    run_set(&run, "start", start);
    bb_result result = train(&run);
    for (size_t i = 0; i < p.tasks; i++)
        for (size_t k = 0; k < p.features; k++)
            assert_close(result.model[i * p.features + k], numbers_at(&expected, k, i),
                         1e-6);
    bb_result_free(&result);
    run_close(&run);
    free(expected.at);
    population_close(&p);
}

static void test_reference_optima(void **state) {
    (void)state;
    const char *trace = "oracle/mpmtl/apg_trace_lam0.05.csv";
    const char *l21 = "oracle/mpmtl/apg_l21_lam0.05.csv";
    check_optimum(&bb_method_mp_lowrank, "zero", trace);
    check_optimum(&bb_method_mp_lowrank, "ridge", trace);
    check_optimum(&bb_method_mp_groupsparse, "zero", l21);
    check_optimum(&bb_method_mp_groupsparse, "ridge", l21);
}

/* Gradient of every task at its model and intercept; returns the largest |dF/db|. */
static double gradients(const population *p, const bb_result *result, double ridge,
                        double *g) {
    const size_t d = p->features;
    double worst = 0.0, work[4096], gb;
    for (size_t i = 0; i < p->tasks; i++) {
        assert_true(bb_local_work(&p->local[i]) <= 4096);
        bb_local_gradient(&p->local[i], result->model + i * d, result->intercept[i],
                          g + i * d, &gb, work);
        bb_axpy(d, ridge, result->model + i * d, g + i * d);
        worst = fmax(worst, fabs(gb));
    }
    return worst;
}

/* The optimum is the fixed point of W -> prox(W - G), a check that shares no code with
 * the method's eigenproblem of the sum. */
static void check_fixed_point(bb_loss loss, bool intercept, const bb_method *method,
                              const char *momentum, double ridge) {
    population p = population_make(8, 12, 5, loss, intercept, 31);
    const size_t n = p.tasks * p.features;
    double *g = calloc(2 * n, sizeof *g), *moved = g + n;
    bb_run run = run_open(&p, method, &bb_mechanism_none, one());
    run_set(&run, "keep", "own");
    char text[40];
    run.phase[0].rounds = 30000;
    snprintf(text, sizeof text, "%g", ridge);
    run_set(&run, "lambda", "0.05");
    run_set(&run, "momentum", momentum);
    run_set(&run, "ridge", text);
    bb_result result = train(&run);
    assert_true(gradients(&p, &result, ridge, g) < 1e-8);
    for (size_t k = 0; k < n; k++) moved[k] = result.model[k] - g[k];
    if (method == &bb_method_mp_lowrank)
        matrix_prox_trace(p.tasks, p.features, moved, 0.05);
    else
        matrix_prox_l21(p.tasks, p.features, moved, 0.05);
    for (size_t k = 0; k < n; k++) assert_close(result.model[k], moved[k], 1e-7);
    bb_result_free(&result);
    run_close(&run);
    free(g);
    population_close(&p);
}

static void test_fixed_points(void **state) {
    (void)state;
    const bb_method *const both[] = {&bb_method_mp_lowrank, &bb_method_mp_groupsparse};
    for (size_t i = 0; i < 2; i++) {
        check_fixed_point(BB_LOSS_SQUARED, true, both[i], "nesterov", 0.0);
        check_fixed_point(BB_LOSS_LOGISTIC, true, both[i], "nesterov", 0.0);
        check_fixed_point(BB_LOSS_LOGISTIC, false, both[i], "none", 0.05);
        check_fixed_point(BB_LOSS_SQUARED, false, both[i], "strong", 0.05);
        check_fixed_point(BB_LOSS_LOGISTIC, true, both[i], "strong", 0.05);
    }
}

/* mp-lrsp: of P and Q, seen by methods that end with a task's state. */
static bool look_at_q;

static bb_status look(const bb_view *view, bb_task *task) {
    const size_t d = view->pub->features;
    bb_method_mp_lrsp.train(view, task);
    const bb_mp_state own = bb_mp_read(task);
    memcpy(task->model, look_at_q ? own.q_previous : own.previous, d * sizeof(double));
    return BB_OK;
}

/* The proximal operator of the own part's penalty, by definition. */
static void prox_own(const char *own, size_t d, double *q) {
    const double norm = bb_norm(d, q);
    for (size_t k = 0; k < d; k++)
        if (strcmp(own, "l1") == 0)
            q[k] = bb_soft(q[k], 0.05);
        else if (strcmp(own, "l12") == 0)
            q[k] *= matrix_shrink(norm, 0.05);
        else
            q[k] /= 1.0 + 2.0 * 0.05;
}

static void check_two_parts(const char *pattern, const char *penalty) {
    population p = population_make(8, 12, 5, BB_LOSS_SQUARED, false, 32);
    const size_t n = p.tasks * p.features;
    double *g = calloc(2 * n, sizeof *g), *moved = g + n;
    bb_method method = bb_method_mp_lrsp;
    bb_run run = run_open(&p, &bb_method_mp_lrsp, &bb_mechanism_none, one());
    run_set(&run, "keep", "own");
    run.phase[0].rounds = 30000;
    run_set(&run, "lambda", "0.1");
    run_set(&run, "sparse-lambda", "0.05");
    run_set(&run, "pattern", pattern);
    run_set(&run, "own", penalty);
    bb_result sum = train(&run);
    method.finish = look;
    run.phase[0].method = &method;
    look_at_q = false;
    bb_result shared = train(&run);
    look_at_q = true;
    bb_result own = train(&run);
    gradients(&p, &sum, 0.0, g);
    for (size_t k = 0; k < n; k++) {
        assert_close(sum.model[k], shared.model[k] + own.model[k], 1e-12);
        moved[k] = own.model[k] - g[k];
        g[k] = shared.model[k] - g[k];
    }
    for (size_t i = 0; i < p.tasks; i++)
        prox_own(penalty, p.features, moved + i * p.features);
    for (size_t k = 0; k < n; k++) assert_close(own.model[k], moved[k], 1e-7);
    if (strcmp(pattern, "low-rank") == 0)
        matrix_prox_trace(p.tasks, p.features, g, 0.1);
    else
        matrix_prox_l21(p.tasks, p.features, g, 0.1);
    for (size_t k = 0; k < n; k++) assert_close(shared.model[k], g[k], 1e-7);
    bb_result_free(&sum);
    bb_result_free(&shared);
    bb_result_free(&own);
    run_close(&run);
    free(g);
    population_close(&p);
}

static void test_lrsp_fixed_point(void **state) {
    (void)state;
    check_two_parts("low-rank", "l1");
    check_two_parts("low-rank", "l12");
    check_two_parts("group-sparse", "frobenius");
}

/* -- the mean over iterations: runs of 1, 2, 3, ... rounds are its parts */

static void check_average(const bb_method *method) {
    enum { ROUNDS = 4 };
    population p = population_make(8, 12, 5, BB_LOSS_SQUARED, false, 36);
    const size_t n = p.tasks * p.features;
    double *mean = calloc(n, sizeof *mean), away = 0.0;
    bb_run run = run_open(&p, method, &bb_mechanism_none, one());
    run_set(&run, "keep", "own");
    run_set(&run, "lambda", "0.05");
    run_set(&run, "momentum", "none");
    for (uint32_t rounds = 1; rounds <= ROUNDS; rounds++) {
        run.phase[0].rounds = rounds;
        bb_result last = train(&run);
        bb_axpy(n, 1.0 / ROUNDS, last.model, mean);
        bb_result_free(&last);
    }
    bb_result last = train(&run);
    run_set(&run, "output", "average");
    bb_result average = train(&run);
    for (size_t k = 0; k < n; k++) {
        assert_close(average.model[k], mean[k], 1e-12);
        away = fmax(away, fabs(average.model[k] - last.model[k]));
    }
    assert_true(away > 1e-3);
    bb_result_free(&last);
    bb_result_free(&average);
    run_close(&run);
    free(mean);
    population_close(&p);
}

static void test_average(void **state) {
    (void)state;
    check_average(&bb_method_mp_lowrank);
    check_average(&bb_method_mp_groupsparse);
    check_average(&bb_method_mp_lrsp);
}

/* -- clip
 * ------------------------------------------------------------------------------ */

static void test_clip_bounds_models(void **state) {
    (void)state;
    population p = population_make(40, 12, 6, BB_LOSS_SQUARED, true, 33);
    bb_run run = run_open(&p, &bb_method_mp_lowrank, &bb_mechanism_gaussian, one());
    run_set(&run, "keep", "own");
    run_set(&run, "clip", "0.5");
    bb_result result = train(&run);
    for (size_t i = 0; i < p.tasks; i++)
        assert_true(bb_norm(p.features, result.model + i * p.features) <= 0.5 + 1e-12);
    bb_result_free(&result);
    /* without noise nothing is clipped, whatever the option says */
    run.mechanism = &bb_mechanism_none;
    run.pub.epsilon = INFINITY;
    run.pub.delta = 0.0;
    result = train(&run);
    run_set(&run, "clip", "auto");
    bb_result unclipped = train(&run);
    assert_true(bb_norm(p.features, result.model) > 0.6);
    assert_memory_equal(result.model, unclipped.model,
                        p.tasks * p.features * sizeof(double));
    bb_result_free(&unclipped);
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

static double seen_clip;

static bb_status see_clip(const bb_view *view, bb_task *task) {
    seen_clip = bb_mp_clip(view);
    return bb_method_mp_lowrank.finish(view, task);
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The selected clip is near the upper quartile of norms (a grid of four a decade, so
 * within a factor of 10^(1/4)), for both starts, and costs its share of epsilon. */
static void check_selected_clip(const char *start) {
    population p = population_make(300, 12, 6, BB_LOSS_SQUARED, true, 34);
    bb_method method = bb_method_mp_lowrank;
    double norm[300], w[6], b, work[1024];
    method.finish = see_clip;
    bb_run run = run_open(&p, &method, &bb_mechanism_gaussian, one());
    run_set(&run, "keep", "own");
    run.pub.epsilon = 3.0;
    run_set(&run, "start", start);
    run_set(&run, "start-lambda", "0.01");
    bb_result result = train(&run);
    for (size_t i = 0; i < p.tasks; i++) {
        assert_true(bb_local_work(&p.local[i]) <= 1024);
        assert_ok(bb_local_ridge(&p.local[i], 0.01, NULL, w, &b, work));
        norm[i] = bb_norm(6, w);
    }
    qsort(norm, p.tasks, sizeof *norm, by_size);
    const double ratio = seen_clip / norm[3 * p.tasks / 4];
    assert_true(ratio > pow(10.0, -0.25) && ratio < pow(10.0, 0.25));
    assert_int_equal(result.plan.rounds, 21);
    assert_close(result.plan.pure[0], 0.3, 1e-15);
    assert_true(result.plan.mu[0] == 0.0);
    double squares = 0.0;
    for (uint32_t t = 0; t < 21; t++) squares += result.plan.mu[t] * result.plan.mu[t];
    /* what is left beside the selection: more than simple composition leaves */
    assert_true(sqrt(squares) > bb_gdp_mu(2.7, 1e-5));
    assert_true(sqrt(squares) < bb_gdp_mu(3.0, 1e-5));
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

static void test_selected_clip(void **state) {
    (void)state;
    check_selected_clip("ridge");
    check_selected_clip("zero");
}

/* -- noise
 * ----------------------------------------------------------------------------- */

/* Under heavy noise the lifted matrix treats all directions alike, so models are those
 * of tasks that share nothing: the same run with lambda = 0. */
static void check_fallback(const bb_method *method, const bb_mechanism *mechanism) {
    population p = population_make(30, 12, 6, BB_LOSS_SQUARED, true, 35);
    bb_run run = run_open(&p, method, mechanism, one());
    run_set(&run, "keep", "own");
    run.pub.epsilon = 0.001;
    run.phase[0].rounds = 5;
    run_set(&run, "clip", "3");
    run_set(&run, "lambda", "1e-3");
    run_set(&run, "shift", "4");
    bb_result noisy = train(&run);
    run_set(&run, "lambda", "0");
    bb_result alone = train(&run);
    double apart = 0.0, size = 0.0;
    for (size_t k = 0; k < p.tasks * p.features; k++) {
        apart += fabs(noisy.model[k] - alone.model[k]);
        size += fabs(alone.model[k]);
    }
    assert_true(apart > 0.0 && apart < 0.001 * size);
    bb_result_free(&noisy);
    bb_result_free(&alone);
    run_close(&run);
    population_close(&p);
}

static void test_fallback(void **state) {
    (void)state;
    check_fallback(&bb_method_mp_lowrank, &bb_mechanism_gaussian);
    check_fallback(&bb_method_mp_groupsparse, &bb_mechanism_gaussian);
    check_fallback(&bb_method_mp_lrsp, &bb_mechanism_gaussian);
    check_fallback(&bb_method_mp_lowrank, &bb_mechanism_wishart_published);
    check_fallback(&bb_method_mp_groupsparse, &bb_mechanism_wishart_published);
}

static void digest_once(const bb_method *method, bb_run *run, const bb_release *release,
                        double *board) {
    const bb_billboard billboard = {.at = board};
    bb_draft draft = {.at = board};
    const bb_view view = {method, run->phase[0].options, &run->pub, &billboard, NULL};
    double work[200];
    assert_true(method->digest_length(&view) <= 200);
    assert_ok(method->digest(&view, release, &draft, work));
}

/* M of a diagonal sum by hand, with noise that is lifted by default or not. */
static void test_matrix(void **state) {
    (void)state;
    population p = population_make(4, 5, 2, BB_LOSS_SQUARED, false, 36);
    const double outer[] = {9.0, 0.0, 0.0, -1.0}, square[] = {9.0, -1.0};
    double board[5] = {0};
    bb_run run = run_open(&p, &bb_method_mp_lowrank, &bb_mechanism_gaussian, one());
    run_set(&run, "keep", "own");
    bb_release release = {.round = 1, .value = {outer}, .noise = {2.0}};
    run_set(&run, "clip", "1");
    run_set(&run, "lambda", "1.5");
    digest_once(&bb_method_mp_lowrank, &run, &release, board);
    const double lifted = 1.5 * 2.0 * 2.0; /* c s sqrt(2 d) */
    assert_close(board[1], 1.0 - 1.5 / sqrt(9.0 + lifted), 1e-14);
    assert_close(board[4], 1.0 - 1.5 / sqrt(-1.0 + lifted), 1e-14);
    assert_close(board[2], 0.0, 1e-15);
    release.value[0] = square;
    digest_once(&bb_method_mp_groupsparse, &run, &release, board);
    assert_close(board[1], 1.0 - 1.5 / sqrt(9.0 + 3.0 * sqrt(2.0 * log(4.0))), 1e-14);
    release.psd_noise = true; /* Wishart noise: as published, no shift */
    digest_once(&bb_method_mp_groupsparse, &run, &release, board);
    assert_close(board[1], 0.5, 1e-15);
    assert_true(board[2] == 0.0);
    release.value[0] = outer;
    digest_once(&bb_method_mp_lowrank, &run, &release, board);
    assert_close(board[1], 0.5, 1e-14);
    assert_close(board[4], 0.0, 1e-15);
    run_close(&run);
    population_close(&p);
}

/* lambda = auto: three hundredths of what half of the singular values do not exceed, of
 * any size of models. */
static void test_automatic(void **state) {
    (void)state;
    population p = population_make(4, 5, 2, BB_LOSS_SQUARED, false, 36);
    const double square[] = {9.0, 4.0}, larger[] = {9e6, 4e6}, empty[] = {9.0, -1.0};
    double board[5] = {0}, first[2];
    bb_run run = run_open(&p, &bb_method_mp_groupsparse, &bb_mechanism_gaussian, one());
    run_set(&run, "keep", "own");
    bb_release release = {.round = 1, .value = {square}, .noise = {0.0}};
    run_set(&run, "clip", "1");
    digest_once(&bb_method_mp_groupsparse, &run, &release, board);
    assert_close(board[1], 1.0 - 0.03 * 2.0 / 3.0, 1e-14);
    assert_close(board[2], 1.0 - 0.03, 1e-14);
    memcpy(first, board + 1, sizeof first);
    release.value[0] = larger;
    digest_once(&bb_method_mp_groupsparse, &run, &release, board);
    for (size_t k = 0; k < 2; k++) assert_close(board[1 + k], first[k], 1e-14);
    release.value[0] = empty; /* a hundredth of the largest takes its place */
    digest_once(&bb_method_mp_groupsparse, &run, &release, board);
    assert_close(board[1], 1.0 - 0.0003, 1e-14);
    assert_true(board[2] == 0.0);
    run_close(&run);
    population_close(&p);
}

/* No option: models that are of some use, not zero, without noise, too. */
static void test_defaults_learn(void **state) {
    (void)state;
    static const bb_method *const all[] = {
        &bb_method_mp_lowrank, &bb_method_mp_groupsparse, &bb_method_mp_lrsp};
    population p = population_make(12, 20, 3, BB_LOSS_SQUARED, false, 36);
    for (size_t m = 0; m < 3; m++) {
        bb_run run = run_open(&p, all[m], &bb_mechanism_none, one());
        bb_result result;
        assert_ok(bb_run_train(&run, &result));
        for (size_t i = 0; i < p.tasks; i++) {
            const bb_local *local = &p.local[i];
            double work[4096];
            const double zero[3] = {0.0}, *w = result.model + i * 3;
            assert_true(bb_local_work(local) <= 4096);
            assert_true(bb_local_value(local, w, 0.0, work) <
                        0.9 * bb_local_value(local, zero, 0.0, work));
        }
        bb_result_free(&result);
        run_close(&run);
    }
    population_close(&p);
}

/* Where public sizes say that it is heard, a last round is for the vote on fits at home; not
 * where models are those of the iterations, nor with the papers' noise. */
static void test_vote(void **state) {
    (void)state;
    population p = population_make(60, 4, 3, BB_LOSS_SQUARED, false, 41);
    static const struct {
        const char *keep;
        const bb_mechanism *mechanism;
        double epsilon;
        uint32_t rounds;
    } all[] = {{"home", &bb_mechanism_gaussian, 0.5, 2},
               {"home", &bb_mechanism_gaussian, 20.0, 3},
               {"own", &bb_mechanism_gaussian, 20.0, 21},
               {"home", &bb_mechanism_wishart_published, 20.0, 2},
               {"home", &bb_mechanism_none, 0.0, 2}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bb_run run = run_open(&p, &bb_method_mp_lowrank, all[k].mechanism, one());
        run_set(&run, "keep", all[k].keep);
        run.pub.epsilon = all[k].epsilon;
        bb_result result = train(&run);
        assert_int_equal(result.rounds, all[k].rounds);
        bb_result_free(&result);
        run_close(&run);
    }
    population_close(&p);
}

/* -- odd data and refusals
 * --------------------------------------------------------------- */

/* Rows far outside the unit ball: each task's own smaller step keeps it safe. */
static void test_large_rows(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_LOGISTIC; loss++) {
        population p = population_empty(6, 12, 5, (bb_loss)loss, true);
        for (size_t i = 0; i < 6; i++) population_fill(&p, i, 37);
        bb_scale(p.first[p.tasks] * p.features, 1e4, p.x);
        population_open_locals(&p);
        for (size_t i = 0; bb_method_at(i); i++) {
            const char *name = bb_method_at(i)->name;
            if (strcmp(name, "mp-lowrank") != 0 &&
                strcmp(name, "mp-groupsparse") != 0 && strcmp(name, "mp-lrsp") != 0)
                continue;
            bb_run run = run_open(&p, bb_method_at(i), &bb_mechanism_none, one());
            run.phase[0].rounds = 500;
            bb_result result = train(&run);
            assert_true(bb_norm(30, result.model) < 1e3);
            bb_result_free(&result);
            run_close(&run);
        }
        population_close(&p);
    }
}

/* A task without rows keeps the zero model and disturbs nobody. */
static void test_empty_task(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_LOGISTIC; loss++) {
        population p = population_empty(5, 12, 5, (bb_loss)loss, true);
        for (size_t i = 0; i < 5; i++) population_fill(&p, i, 38);
        p.first[3] = p.first[2];
        population_open_locals(&p);
        bb_run run = run_open(&p, &bb_method_mp_lowrank, &bb_mechanism_gaussian, one());
        bb_result result = train(&run);
        assert_true(bb_norm(5, result.model + 2 * 5) == 0.0);
        assert_true(result.intercept[2] == 0.0);
        bb_result_free(&result);
        run_close(&run);
        population_close(&p);
    }
}

static void test_refusals(void **state) {
    (void)state;
    population p = population_make(4, 6, 3, BB_LOSS_SQUARED, true, 39);
    bb_result result;
    bb_run run = run_open(&p, &bb_method_mp_lowrank, &bb_mechanism_gaussian, one());
    run_set(&run, "momentum", "strong");
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "strong-convexity");
    run_set(&run, "strong-convexity", "2");
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "2 * 1");
    run_set(&run, "momentum", "nesterov");
    run.pub.scale_sum = true;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "give option step");
    run.pub.scale_sum = false;
    run.pub.features = 4001;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "mp-groupsparse");
    run_close(&run);
    population_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_optima),
        cmocka_unit_test(test_fixed_points),
        cmocka_unit_test(test_lrsp_fixed_point),
        cmocka_unit_test(test_average),
        cmocka_unit_test(test_clip_bounds_models),
        cmocka_unit_test(test_selected_clip),
        cmocka_unit_test(test_fallback),
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_large_rows),
        cmocka_unit_test(test_empty_task),
        cmocka_unit_test(test_automatic),
        cmocka_unit_test(test_defaults_learn),
        cmocka_unit_test(test_vote),
        cmocka_unit_test(test_refusals),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
