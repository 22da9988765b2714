/* stl: optimality of every task's own model, and honest gaps. */
#include "methods/registry.h"
#include "population.h"

static void check(bb_loss loss, bool intercept, bool scale_sum, const char *penalty,
                  double lambda) {
    population p = population_empty(7, 10, 6, loss, intercept);
    p.scale_sum = scale_sum;
    for (size_t i = 0; i < p.tasks; i++) population_fill(&p, i, 41);
    population_open_locals(&p);
    const bb_engine engine = bb_engine_threads(2);
    bb_run run = run_open(&p, &bb_method_stl, &bb_mechanism_none, &engine);
    bb_result result;
    char text[40];
    snprintf(text, sizeof text, "%g", lambda);
    run_set(&run, "penalty", penalty);
    run_set(&run, "lambda", text);
    run_set(&run, "tolerance", "1e-9");
    assert_ok(bb_run_train(&run, &result));
    const bool l2 = strcmp(penalty, "l2") == 0;
    double objective = 0.0, g[6], gb, work[1024];
    for (size_t i = 0; i < p.tasks; i++) {
        const double *w = result.model + i * 6, b = result.intercept[i];
        assert_true(bb_local_work(&p.local[i]) <= 1024);
        objective += bb_local_gradient(&p.local[i], w, b, g, &gb, work);
        for (size_t k = 0; k < 6; k++) {
            objective += l2 ? 0.5 * lambda * w[k] * w[k] : lambda * fabs(w[k]);
            if (l2)
                assert_close(g[k], -lambda * w[k], 1e-9 * (1.0 + fabs(w[k])));
            else if (fabs(w[k]) > 1e-6)
                assert_close(g[k], w[k] > 0.0 ? -lambda : lambda, 1e-3 * lambda);
            else
                assert_true(fabs(g[k]) <= lambda * (1.0 + 1e-3));
        }
        if (loss == BB_LOSS_LOGISTIC) assert_close(gb, 0.0, 1e-6);
        if (!intercept) assert_true(b == 0.0);
    }
    assert_relative(result.outcome.objective, objective, 1e-12);
    assert_true(result.outcome.converged);
    assert_true(result.outcome.gap >= 0.0 && result.outcome.gap <= 1e-9 * objective);
    assert_int_equal(result.rounds, 0);
    assert_true(isnan(result.noise_multiplier));
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

static void test_optimality(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        const bb_loss loss = k & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
        check(loss, k & 2, k & 4, "l2", k & 4 ? 0.1 : 0.01);
        check(loss, k & 2, k & 4, "l1", k & 4 ? 0.3 : 0.03);
    }
}

/* A wrong model's gap is not small: moving the exact solution shows in it. */
static bb_status finish_badly(const bb_view *view, bb_task *task) {
    double g[6], gb, *work = task->work + 6;
    bb_status status = bb_method_stl.finish(view, task);
    const double best = task->objective;
    assert_true(task->gap < 1e-12);
    task->model[0] += 0.01;
    const double loss = bb_local_gradient(task->local, task->model, 0.0, g, &gb, work);
    const double now = loss + 0.5 * 0.01 * bb_dot(6, task->model, task->model);
    bb_axpy(6, 0.01, task->model, g);
    assert_true(0.5 * bb_dot(6, g, g) / 0.01 >= now - best);
    assert_true(now > best);
    return status;
}

static void test_gap_covers_the_error(void **state) {
    (void)state;
    population p = population_make(3, 10, 6, BB_LOSS_SQUARED, true, 42);
    const bb_engine engine = bb_engine_threads(1);
    bb_method method = bb_method_stl;
    method.finish = finish_badly;
    bb_run run = run_open(&p, &method, &bb_mechanism_none, &engine);
    bb_result result;
    run_set(&run, "lambda", "0.01");
    assert_ok(bb_run_train(&run, &result));
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

static void test_empty_task(void **state) {
    (void)state;
    population p = population_empty(3, 10, 6, BB_LOSS_LOGISTIC, true);
    for (size_t i = 0; i < 3; i++) population_fill(&p, i, 43);
    p.first[2] = p.first[1];
    population_open_locals(&p);
    const bb_engine engine = bb_engine_threads(1);
    bb_run run = run_open(&p, &bb_method_stl, &bb_mechanism_none, &engine);
    bb_result result;
    assert_ok(bb_run_train(&run, &result));
    assert_true(bb_norm(6, result.model + 6) == 0.0);
    assert_true(bb_norm(6, result.model) > 0.0);
    assert_true(result.outcome.converged);
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimality),
        cmocka_unit_test(test_gap_covers_the_error),
        cmocka_unit_test(test_empty_task),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
