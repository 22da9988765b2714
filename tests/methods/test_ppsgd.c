/* ppsgd against a plain second writing with its two parts side by side. */
#include "learners/outputs_problem.h"
#include "methods/registry.h"
#include "population.h"

#include <string.h>

enum { TASKS = 9, FEATURES = 4, ROUNDS = 5, STEPS = 3, MOST = 16 };

static bool picked[ROUNDS][TASKS];

static void train_and_note(const bb_view *view, bb_task *task) {
    picked[view->board->releases][task->id] = true;
    bb_method_ppsgd.train(view, task);
}

/* The last task has no rows. */
static population tasks_of(bb_loss loss) {
    return population_make_last_empty(TASKS, 10, FEATURES, loss, 3);
}

static bb_run run_of(const population *p, const bb_method *method,
                     const bb_engine *engine) {
    bb_run run = run_open(p, method, &bb_mechanism_none, engine);
    run.phase[0].rounds = ROUNDS;
    run_set(&run, "steps", "3");
    run_set(&run, "server-rate", "0.8");
    run_set(&run, "guard", "off");
    return run;
}

/* Each step at w + theta goes to both, by 1 / (1 + alpha) and alpha / (1 + alpha) of
 * its length. */
static void go_down(const population *p, size_t i, double alpha, double *w,
                    double *theta) {
    const many m = {.d = FEATURES,
                    .outputs = p->outputs,
                    .loss = p->loss,
                    .rows = {.x = p->x + p->first[i] * FEATURES},
                    .y = p->y + p->first[i]};
    const double n = (double)(p->first[i + 1] - p->first[i]);
    const size_t size = FEATURES * p->outputs;
    double both[MOST], g[MOST], z[64], dz[64];
    for (size_t s = 0; s < STEPS; s++) {
        for (size_t k = 0; k < size; k++) both[k] = w[k] + theta[k];
        memset(g, 0, sizeof g);
        for (size_t j = 0; (double)j < n; j++) {
            twin_outputs(&m, j, both, 0.0, z);
            (void)twin_loss(&m, j, z, dz);
            twin_add_gradient(&m, j, both, z, dz, 1.0 / n, g);
        }
        for (size_t k = 0; k < size; k++) {
            const double step = g[k] / p->local[i].lipschitz / (1.0 + alpha);
            w[k] -= step;
            theta[k] -= alpha * step;
        }
    }
}

static void second(const population *p, double alpha, double cohort, double *shared,
                   double (*theta)[MOST]) {
    const size_t size = FEATURES * p->outputs;
    memset(shared, 0, MOST * sizeof *shared);
    memset(theta, 0, TASKS * sizeof *theta);
    for (size_t t = 0; t < ROUNDS; t++) {
        double sum[MOST] = {0};
        for (size_t i = 0; i + 1 < TASKS; i++) {
            double w[MOST];
            if (!picked[t][i]) continue;
            memcpy(w, shared, sizeof w);
            go_down(p, i, alpha, w, theta[i]);
            for (size_t k = 0; k < size; k++) sum[k] += w[k] - shared[k];
        }
        for (size_t k = 0; k < size; k++) shared[k] += 0.8 / cohort * sum[k];
    }
}

static void compare(const population *p, const char *alpha, bool sample) {
    const bb_engine engine = bb_engine_threads(2);
    double shared[MOST], theta[TASKS][MOST];
    bb_method method = bb_method_ppsgd;
    method.train = train_and_note;
    bb_run run = run_of(p, &method, &engine);
    bb_result result;
    run_set(&run, "personal-rate", alpha);
    run.pub.sampling = sample ? BB_SAMPLING_FIXED_VISIBLE : BB_SAMPLING_ALL;
    run.pub.cohort = 4;
    memset(picked, 0, sizeof picked);
    assert_ok(bb_run_train(&run, &result));
    second(p, atof(alpha), sample ? 4.0 : TASKS, shared, theta);
    for (size_t k = 0; k < run.pub.parameters; k++) {
        assert_close(result.shared[k], shared[k], 1e-12);
        for (size_t i = 0; i < TASKS; i++)
            assert_close(result.model[result.first[i] + k], shared[k] + theta[i][k],
                         1e-12);
    }
    assert_true(fabs(shared[0]) > 1e-3);
    bb_result_free(&result);
    run_close(&run);
}

static void equal_to_the_second_writing(void **state) {
    const bb_loss losses[] = {BB_LOSS_SQUARED, BB_LOSS_LOGISTIC, BB_LOSS_SOFTMAX};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        population p = tasks_of(losses[k]);
        compare(&p, "1", false);
        compare(&p, "0.25", false);
        compare(&p, "3", true);
        population_close(&p);
    }
}

/* Nothing personal: the shared model of fedavg, and everybody has it. */
static void without_a_part_of_their_own_it_is_fedavg(void **state) {
    const bb_engine engine = bb_engine_threads(2);
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_MULTILABEL; loss++)
        for (size_t batch = 0; batch <= 4; batch += 4) {
            population p = tasks_of((bb_loss)loss);
            bb_run a = run_of(&p, &bb_method_fedavg, &engine);
            bb_run b = run_of(&p, &bb_method_ppsgd, &engine);
            bb_result fedavg, ppsgd;
            a.pub.batch = b.pub.batch = batch;
            a.mechanism = b.mechanism = &bb_mechanism_gaussian;
            a.pub.epsilon = b.pub.epsilon = 2.0;
            a.pub.delta = b.pub.delta = 1e-5;
            run_set(&b, "personal-rate", "0");
            assert_ok(bb_run_train(&a, &fedavg));
            assert_ok(bb_run_train(&b, &ppsgd));
            assert_string_equal(fedavg.billboard_sha256, ppsgd.billboard_sha256);
            assert_memory_equal(fedavg.model, ppsgd.model,
                                fedavg.first[TASKS] * sizeof *fedavg.model);
            bb_result_free(&fedavg);
            bb_result_free(&ppsgd);
            run_close(&a);
            run_close(&b);
            population_close(&p);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_to_the_second_writing),
        cmocka_unit_test(without_a_part_of_their_own_it_is_fedavg),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
