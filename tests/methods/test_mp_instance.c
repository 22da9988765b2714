/* mp-instance: the law of a task's own noise, the reach of a single row, the plan. */
#include "methods/mp_family.h"
#include "methods/registry.h"
#include "population.h"
#include "privacy/noise/noise.h"

#include <string.h>

static bb_engine engine;

/* Ends with what the task showed last, before the door's clip. */
static bb_status shown(const bb_view *view, bb_task *task) {
    memcpy(task->model, bb_mp_read(task).w, view->pub->features * sizeof(double));
    return BB_OK;
}

static bb_run open_run(const population *p, const bb_method *method, uint32_t rounds) {
    bb_run run = run_open(p, method, &bb_mechanism_gaussian, &engine);
    run.phase[0].rounds = rounds;
    run_set(&run, "gradient-clip", "0.7");
    run_set(&run, "instance-epsilon", "2");
    run_set(&run, "instance-delta", "0");
    run_set(&run, "step", "0.5");
    return run;
}

static double *first_shown(population *p, const char *calibration, const char *clip) {
    bb_method method = bb_method_mp_instance;
    method.finish = shown;
    bb_run run = open_run(p, &method, 1);
    bb_result result;
    run_set(&run, "calibration", calibration);
    run_set(&run, "gradient-clip", clip);
    assert_ok(bb_run_train(&run, &result));
    double *model = result.model;
    result.model = NULL;
    bb_result_free(&result);
    run_close(&run);
    return model;
}

/* Targets zero: no gradient, so what is shown in round 1 is the noise alone. Its norm
 * times epsilon / (2 eta G / n) is Gamma(d, 1), mean d and variance d; its coordinates
 * have mean 0 and variance (d + d^2) / d = d + 1. Bounds of 6.5 standard errors: false
 * alarms below 1e-9 for the 2 + d tests together (the variance's standard error from
 * the fourth central moment of the gamma law, 3 d^2 + 6 d). */
static void check_noise(bool scale_sum) {
    enum { TASKS = 6000, D = 5 };
    population p = population_empty(TASKS, 4, D, BB_LOSS_SQUARED, false);
    p.scale_sum = scale_sum;
    for (size_t i = 0; i < TASKS; i++) population_fill(&p, i, 51);
    memset(p.y, 0, p.first[TASKS] * sizeof *p.y);
    population_open_locals(&p);
    bb_method method = bb_method_mp_instance;
    method.finish = shown;
    bb_run run = open_run(&p, &method, 1);
    bb_result result;
    assert_ok(bb_run_train(&run, &result));
    double mean = 0.0, square = 0.0, coordinate[D] = {0};
    for (size_t i = 0; i < TASKS; i++) {
        const double n = scale_sum ? 1.0 : (double)(p.first[i + 1] - p.first[i]);
        const double scale = 2.0 * 0.5 * 0.7 / n / 2.0;
        const double r = bb_norm(D, result.model + i * D) / scale;
        mean += r / TASKS;
        square += (r - D) * (r - D) / TASKS;
        for (size_t k = 0; k < D; k++)
            coordinate[k] += result.model[i * D + k] / scale / TASKS;
    }
    assert_close(mean, D, 6.5 * sqrt((double)D / TASKS));
    assert_close(square, D, 6.5 * sqrt((2.0 * D * D + 6.0 * D) / TASKS));
    for (size_t k = 0; k < D; k++)
        assert_close(coordinate[k], 0.0, 6.5 * sqrt((D + 1.0) / TASKS));
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

static void test_noise(void **state) {
    (void)state;
    check_noise(false);
    check_noise(true);
}

/* A task shows minus eta times the sum of its gradients, each rounded toward zero on
 * the grid, and its own stream's radial noise: scale 2^36 steps for a clip of 2^36
 * steps at epsilon 2. With targets zero it is the noise and nothing else, exactly. */
static void check_grid(bool learns) {
    enum { TASKS = 30, D = 5 };
    const double clip = 10.0, step = 0.5 * clip / 0x1p36;
    population p = population_empty(TASKS, 4, D, BB_LOSS_SQUARED, false);
    p.scale_sum = true;
    for (size_t i = 0; i < TASKS; i++) population_fill(&p, i, 51);
    if (!learns) memset(p.y, 0, p.first[TASKS] * sizeof *p.y);
    population_open_locals(&p);
    double *model = first_shown(&p, "ours", "10");
    for (size_t i = 0; i < TASKS; i++) {
        static bb_random random;
        int64_t noise[D] = {0};
        assert_ok(bb_random_open_stream(&random, 7, BB_FOR_LOCAL, 1, i));
        bb_noise_radial(&random, 0x1p36, D, noise);
        bb_random_close(&random);
        for (size_t k = 0; k < D; k++) {
            double gradient = 0.0; /* at 0 */
            for (size_t j = p.first[i]; j < p.first[i + 1]; j++) {
                assert_true(fabs(p.y[j]) < clip);
                gradient -= p.y[j] * p.x[j * D + k];
            }
            const double shown = round(-model[i * D + k] / step);
            const double rows = learns ? (double)(p.first[i + 1] - p.first[i]) : 0.0;
            assert_close(shown - (double)noise[k], gradient / clip * 0x1p36, rows);
        }
    }
    free(model);
    population_close(&p);
}

static void test_grid(void **state) {
    (void)state;
    check_grid(false);
    check_grid(true);
}

/* -- replacing one row
 * ------------------------------------------------------------------- */

/* How far task 2 of 5 moves in the first round, if its row 3 is replaced, in steps of
 * `step`: integers, exactly. */
static double moved_by(bb_loss loss, const double *row, double target,
                       const char *calibration, double step, bool *others) {
    enum { D = 4 };
    population p = population_make(5, 8, D, loss, false, 52);
    population q = population_empty(5, 8, D, loss, false);
    memcpy(q.x, p.x, p.first[5] * D * sizeof *p.x);
    memcpy(q.y, p.y, p.first[5] * sizeof *p.y);
    const size_t j = q.first[2] + 3;
    memcpy(q.x + j * D, row, D * sizeof *row);
    q.y[j] = target;
    population_open_locals(&q);
    double *a = first_shown(&p, calibration, "0.7"),
           *b = first_shown(&q, calibration, "0.7");
    double squares = 0.0;
    *others = false;
    for (size_t k = 0; k < 5 * D; k++) {
        const double moved = round(a[k] / step) - round(b[k] / step);
        if (k / D == 2)
            squares += moved * moved;
        else
            *others = *others || a[k] != b[k];
    }
    free(a);
    free(b);
    population_close(&p);
    population_close(&q);
    return sqrt(squares);
}

/* With the same noise, replacing one of n = 10 rows moves what a task shows by at most
 * twice the clip of 2^36 steps, rounding included, whatever the row. As published the
 * noise itself follows the rows. */
static void test_reach_of_a_row(void **state) {
    (void)state;
    const double rows[][4] = {
        {1e3, -1e3, 1e3, 0},          {0, 0, 0, 0},          {-1, 0, 0, 0},
        {1e100, 1e100, 1e100, 1e100}, {0.1, 0.3, -0.7, 0.2}, {1e-170, 1e-170, 0, 0},
        {1e-300, 1e-310, 0, 1e-305}};
    const double bound = 2.0 * 0x1p36, step = 0.5 * 0.7 / 10.0 / 0x1p36;
    double most = 0.0;
    bool others;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_LOGISTIC; loss++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                const double target = sign * (loss == BB_LOSS_SQUARED ? 1e4 : 1.0);
                const double moved =
                    moved_by((bb_loss)loss, rows[i], target, "ours", step, &others);
                assert_true(moved <= bound);
                assert_false(others);
                most = fmax(most, moved);
            }
        }
    }
    assert_true(most > 0.5 * bound); /* the bound is about right */
    assert_true(moved_by(BB_LOSS_SQUARED, rows[0], 1e4, "published", step, &others) >
                bound);
}

/* With the noise on the clipped model, of norm K = 1 at most, it moves by at most 2 K,
 * and with gradients of 0 what is shown is the noise of that: 2^36 steps at epsilon 2. */
static void test_noise_on_the_model(void **state) {
    (void)state;
    enum { TASKS = 30, D = 5 };
    const double rows[][4] = {{1e3, -1e3, 1e3, 0},
                              {0, 0, 0, 0},
                              {1e100, 1e100, 1e100, 1e100},
                              {0.1, 0.3, -0.7, 0.2}};
    const double bound = 2.0 * 0x1p36, step = 0x1p-36;
    double most = 0.0;
    bool others;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double moved =
                moved_by(BB_LOSS_SQUARED, rows[i], sign * 1e4, "model", step, &others);
            assert_true(moved <= bound);
            assert_false(others);
            most = fmax(most, moved);
        }
    assert_true(most > 0.25 * bound);
    population p = population_empty(TASKS, 4, D, BB_LOSS_SQUARED, false);
    for (size_t i = 0; i < TASKS; i++) population_fill(&p, i, 51);
    memset(p.y, 0, p.first[TASKS] * sizeof *p.y);
    population_open_locals(&p);
    double *model = first_shown(&p, "model", "0.7");
    for (size_t i = 0; i < TASKS; i++) {
        static bb_random random;
        int64_t noise[D] = {0};
        assert_ok(bb_random_open_stream(&random, 7, BB_FOR_LOCAL, 1, i));
        bb_noise_radial(&random, 0x1p36, D, noise);
        bb_random_close(&random);
        for (size_t k = 0; k < D; k++)
            assert_true(model[i * D + k] == step * (double)noise[k]);
    }
    free(model);
    population_close(&p);
}

/* A row and its negative, both clipped, are as far apart as the bound says, but for
 * the margin of 2^-29 and the rounding. */
static void test_opposite_rows(void **state) {
    (void)state;
    enum { D = 3 };
    const double step = 0.5 * 0.7 / 2.0 / 0x1p36;
    double *model[2], squares = 0.0;
    for (size_t s = 0; s < 2; s++) {
        population p = population_empty(1, 2, D, BB_LOSS_SQUARED, false);
        assert_true(p.first[1] == 2);
        for (size_t k = 0; k < D; k++) p.x[k] = p.x[D + k] = (double)(k + 1);
        p.y[0] = 5.0;
        p.y[1] = s == 0 ? 1e7 : -1e7;
        population_open_locals(&p);
        model[s] = first_shown(&p, "ours", "0.7");
        population_close(&p);
    }
    for (size_t k = 0; k < D; k++) {
        const double moved = round(model[0][k] / step) - round(model[1][k] / step);
        squares += moved * moved;
    }
    free(model[0]);
    free(model[1]);
    assert_true(squares <= 0x1p74);
    assert_relative(squares, 0x1p74, 4.0 * 0x1p-29);
}

/* -- the plan
 * ---------------------------------------------------------------------------- */

static void test_plan(void **state) {
    (void)state;
    population p = population_make(30, 8, 4, BB_LOSS_SQUARED, false, 53);
    bb_run run = open_run(&p, &bb_method_mp_instance, 7);
    bb_result result;
    run_set(&run, "instance-delta", "1e-6");
    run.pub.schedule = "power:1";
    assert_ok(bb_run_train(&run, &result));
    const double *instance = result.plan.instance;
    assert_true(result.plan.instance_epsilon == 2.0);
    assert_true(result.plan.instance_delta == 1e-6);
    assert_true(!result.plan.instance_broken);
    assert_true(bb_kov_epsilon(7, instance, 1e-6) <= 2.0);
    assert_true(bb_kov_epsilon(7, instance, 1e-6) > 1.999);
    assert_relative(instance[6], 7.0 * instance[0], 1e-9);
    bb_result_free(&result);
    run_set(&run, "calibration", "published");
    assert_ok(bb_run_train(&run, &result));
    assert_true(result.plan.instance_broken);
    bb_result_free(&result);
    run.pub.intercept = true;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "constant feature");
    run_close(&run);
    population_close(&p);
}

/* Little noise of both kinds: tasks learn. */
static void check_learning(const char *pattern, const char *calibration, bb_loss loss) {
    population p = population_make(20, 30, 4, loss, false, 54);
    bb_run run = run_open(&p, &bb_method_mp_instance, &bb_mechanism_none, &engine);
    bb_result result;
    run.phase[0].rounds = 300;
    run_set(&run, "pattern", pattern);
    run_set(&run, "calibration", calibration);
    run_set(&run, "lambda", "0.01");
    run_set(&run, "clip", "100");
    run_set(&run, "gradient-clip", "10");
    run_set(&run, "instance-epsilon", "1e7");
    assert_ok(bb_run_train(&run, &result));
    double zero[4] = {0}, work[1024];
    for (size_t i = 0; i < p.tasks; i++)
        assert_true(bb_local_value(&p.local[i], result.model + 4 * i, 0.0, work) <
                    0.7 * bb_local_value(&p.local[i], zero, 0.0, work));
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

static void test_learning(void **state) {
    (void)state;
    check_learning("low-rank", "ours", BB_LOSS_SQUARED);
    check_learning("low-rank", "model", BB_LOSS_SQUARED);
    check_learning("group-sparse", "model", BB_LOSS_LOGISTIC);
    check_learning("group-sparse", "ours", BB_LOSS_SQUARED);
    check_learning("low-rank", "ours", BB_LOSS_LOGISTIC);
}

/* Sparse rows give what dense rows give. */
static void test_sparse_rows(void **state) {
    (void)state;
    enum { D = 4, N = 8 };
    const double x[N * D] = {1, 0, 0, 2,  0, 0, -1, 0, 0, 3, 0, 0, 0, 0, 0, 0,
                             0, 0, 5, -1, 1, 0, 0,  0, 0, 1, 0, 1, 2, 2, 2, 2};
    const double y[N] = {1, 2, -1, 0, 3, -2, 1, 1};
    double value[N * D];
    uint32_t column[N * D];
    size_t first[N + 1] = {0}, count = 0;
    for (size_t j = 0; j < N; j++) {
        for (size_t k = 0; k < D; k++) {
            if (x[j * D + k] == 0.0) continue;
            value[count] = x[j * D + k];
            column[count++] = (uint32_t)k;
        }
        first[j + 1] = count;
    }
    const bb_rows rows[2] = {{.n = N, .d = D, .x = x, .y = y},
                             {N, D, .sparse_first = first, .sparse_column = column,
                              .sparse_value = value, y}};
    bb_method method = bb_method_mp_instance;
    method.finish = shown;
    double model[2][D];
    for (size_t s = 0; s < 2; s++) {
        bb_local local;
        bb_result result;
        assert_ok(bb_local_open(&local, rows[s], BB_LOSS_SQUARED, false, false));
        const population p = {.tasks = 1, .features = D, .local = &local};
        bb_run run = open_run(&p, &method, 4);
        assert_ok(bb_run_train(&run, &result));
        memcpy(model[s], result.model, sizeof model[s]);
        bb_result_free(&result);
        run_close(&run);
        bb_local_close(&local);
    }
    for (size_t k = 0; k < D; k++) assert_close(model[0][k], model[1][k], 1e-12);
}

/* What nobody can know without the rows is asked for, not guessed. */
static void it_guesses_nothing(void **state) {
    static const char *const name[] = {"instance-epsilon", "gradient-clip", "clip"};
    (void)state;
    population p = population_make(3, 5, 3, BB_LOSS_SQUARED, false, 4);
    for (size_t k = 0; k < 3; k++) {
        bb_run run =
            run_open(&p, &bb_method_mp_instance, &bb_mechanism_gaussian, &engine);
        bb_result result;
        run_set(&run, name[k], "auto");
        assert_fails(bb_run_train(&run, &result), BB_EUSAGE, name[k]);
        if (k == 1) { /* models are clipped, gradients are not */
            run_set(&run, "calibration", "model");
            assert_ok(bb_run_train(&run, &result));
            bb_result_free(&result);
        }
        run_close(&run);
    }
    population_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_noise_on_the_model),
        cmocka_unit_test(test_opposite_rows),
        cmocka_unit_test(test_reach_of_a_row),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_sparse_rows),
        cmocka_unit_test(it_guesses_nothing),
    };
    if (bb_linalg_start()) return 1;
    engine = bb_engine_threads(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
