/* mtl-mtrl: optimality conditions, the alternation of its paper, honest certificates.
 * dp-mtrl without noise: its definition with m x m matrices. */
#include "linalg/linalg.h"
#include "methods/personal.h"
#include "methods/registry.h"
#include "population.h"

#include <string.h>

static bb_engine engine;

static bb_result train_mtrl(const population *p, const char *lambda, const char *ridge,
                            const char *tolerance) {
    bb_run run = run_open(p, &bb_method_mtl_mtrl, &bb_mechanism_none, &engine);
    bb_result result = {0};
    run_set(&run, "lambda", lambda);
    run_set(&run, "ridge", ridge);
    run_set(&run, "tolerance", tolerance);
    run_set(&run, "centre", "zero");
    assert_ok(bb_run_train(&run, &result));
    run_close(&run);
    return result;
}

/* -- optimality
 * ------------------------------------------------------------------------ */

enum { D = 4, MOST_WORK = 4096 };

/* Singular values of the models, and of -(G + ridge W) / lambda, and their product. */
typedef struct spectrum {
    double objective;
    double trace;   /* ||W||_* */
    double largest; /* of the other matrix */
    double inner;
} spectrum;

static double singular(size_t m, const double *rows, double *trace) {
    double gram[D * D], value[D], work[64 * D];
    bb_gram(m, D, 1.0, rows, 0.0, gram);
    assert_ok(bb_eigenvalues(D, gram, value, work));
    *trace = 0.0;
    for (size_t k = 0; k < D; k++) *trace += sqrt(fmax(0.0, value[k]));
    return sqrt(fmax(0.0, value[D - 1]));
}

static spectrum look(const population *p, const bb_result *r, double lambda,
                     double ridge) {
    spectrum s = {0};
    double other[40 * D], work[MOST_WORK], gb, unused;
    assert_true(p->features == D && p->tasks <= 40);
    for (size_t i = 0; i < p->tasks; i++) {
        const double *w = r->model + i * D;
        double *g = other + i * D;
        assert_true(bb_local_work(&p->local[i]) <= MOST_WORK);
        s.objective +=
            bb_local_gradient(&p->local[i], w, r->intercept[i], g, &gb, work) +
            0.5 * ridge * bb_dot(D, w, w);
        bb_axpy(D, ridge, w, g);
        bb_scale(D, -1.0 / lambda, g);
        s.inner += bb_dot(D, w, g);
    }
    (void)singular(p->tasks, r->model, &s.trace);
    s.largest = singular(p->tasks, other, &unused);
    s.objective += 0.5 * lambda * s.trace * s.trace;
    return s;
}

/* A = -(G + ridge W) / lambda is in the subdifferential of ||W||_*^2 / 2: its largest
 * singular value is at most ||W||_*, and <A, W> = ||W||_*^2. */
static void check_kkt(bb_loss loss, bool intercept, const char *lambda,
                      const char *ridge) {
    const double l = strtod(lambda, NULL), q = strtod(ridge, NULL);
    population p = population_make(13, 6, D, loss, intercept, 71);
    bb_result r = train_mtrl(&p, lambda, ridge, "1e-12");
    const spectrum s = look(&p, &r, l, q);
    assert_true(r.outcome.converged);
    assert_relative(r.outcome.objective, s.objective, 1e-7);
    assert_true(s.trace > 0.01);
    assert_true(s.largest <= s.trace * (1.0 + 1e-4));
    assert_relative(s.inner, s.trace * s.trace, 1e-4);
    bb_result loose = train_mtrl(&p, lambda, ridge, "1e-2");
    const double above = look(&p, &loose, l, q).objective - s.objective;
    assert_true(loose.outcome.gap <= 1e-2 * loose.outcome.objective);
    assert_true(above >= -1e-7 * s.objective);
    assert_true(above <= loose.outcome.gap + 1e-7 * s.objective);
    bb_result_free(&loose);
    bb_result_free(&r);
    population_close(&p);
}

static void test_optimality(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        const bb_loss loss = k & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
        check_kkt(loss, k & 2, "1e-3", "0");
        check_kkt(loss, k & 2, "0.01", "0.05");
        check_kkt(loss, k & 2, "0.3", "0");
    }
}

/* One task: Omega = 1, a ridge model of penalty lambda + ridge. */
static void test_one_task(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_LOGISTIC; loss++) {
        population p = population_make(1, 12, D, (bb_loss)loss, true, 72);
        double w[D], b, work[MOST_WORK];
        bb_result r = train_mtrl(&p, "0.03", "0.02", "1e-12");
        assert_ok(bb_local_ridge(&p.local[0], 0.05, NULL, w, &b, work));
        for (size_t k = 0; k < D; k++) assert_close(r.model[k], w[k], 1e-5);
        assert_close(r.intercept[0], b, 1e-5);
        bb_result_free(&r);
        population_close(&p);
    }
}

/* -- the alternation of Zhang and Yeung
 * -------------------------------------------------- */

enum { FEW = 3, SIDE = FEW * D };

/* omega <- (W W' + e^2 I)^(1/2) over its trace, inverse <- its inverse; W: m x d. */
static void covariance(size_t m, size_t d, const double *w, double e, double *inverse) {
    double *vector = calloc(3 * m * m + 2 * m, sizeof *vector), *value, *f, tau = 0.0;
    void *work = malloc(bb_eigen_work(m));
    assert_true(vector && work);
    value = vector + m * m;
    f = value + m;
    bb_gram_rows(m, d, 1.0, w, vector);
    assert_ok(bb_eigen(m, vector, value, work));
    for (size_t k = 0; k < m; k++) tau += sqrt(fmax(0.0, value[k]) + e * e);
    for (size_t k = 0; k < m; k++) f[k] = tau / sqrt(fmax(0.0, value[k]) + e * e);
    bb_spectral(m, m, vector, f, inverse, f + m);
    free(work);
    free(vector);
}

/* All models at once for a given Omega: one system of order m d. */
static void solve_given(const population *p, const double *inverse, double lambda,
                        double ridge, double *w) {
    double A[SIDE * SIDE] = {0};
    for (size_t i = 0; i < FEW; i++) {
        double gram[D * D];
        assert_non_null(p->local[i].gram);
        bb_strips_unpack(D, p->local[i].gram, gram);
        memcpy(w + i * D, p->local[i].xy, D * sizeof *w);
        for (size_t k = 0; k < D; k++) {
            for (size_t l = 0; l < D; l++)
                A[(i * D + k) * SIDE + i * D + l] = gram[k * D + l];
            A[(i * D + k) * SIDE + i * D + k] += ridge;
            for (size_t j = 0; j < FEW; j++)
                A[(i * D + k) * SIDE + j * D + k] += lambda * inverse[i * FEW + j];
        }
    }
    assert_ok(bb_solve_spd(SIDE, A, w));
}

/* Converges slowly where a singular value is near 0: the penalty is small here. */
static void check_alternation(double ridge, const char *ridge_text) {
    population p = population_make(FEW, 20, D, BB_LOSS_SQUARED, true, 73);
    double inverse[FEW * FEW] = {0}, w[SIDE];
    for (size_t i = 0; i < FEW; i++) inverse[i * FEW + i] = FEW;
    for (int round = 0; round < 3000; round++) {
        solve_given(&p, inverse, 5e-4, ridge, w);
        covariance(FEW, D, w, 1e-9, inverse);
    }
    bb_result r = train_mtrl(&p, "5e-4", ridge_text, "1e-13");
    for (size_t k = 0; k < SIDE; k++) assert_close(r.model[k], w[k], 1e-5);
    bb_result_free(&r);
    population_close(&p);
}

static void test_alternation(void **state) {
    (void)state;
    check_alternation(0.0, "0");
    check_alternation(0.03, "0.03");
}

/* -- dp-mtrl without noise
 * ------------------------------------------------------------- */

enum { TASKS = 17, ROUNDS = 4 };

/* Each task's model given all models as they were. */
static void answer(const population *p, const double *inverse, const double *models,
                   double lambda, double ridge, double rows, double *out) {
    for (size_t i = 0; i < TASKS; i++) {
        const double kappa = ridge + lambda * inverse[i * TASKS + i];
        const double scale = rows > 0.0 ? rows / (double)p->local[i].n : 1.0;
        double c[D] = {0}, b, work[MOST_WORK];
        for (size_t j = 0; j < TASKS; j++)
            if (j != i)
                bb_axpy(D, -lambda / kappa * inverse[i * TASKS + j], models + j * D, c);
        assert_ok(
            bb_local_ridge(&p->local[i], scale * kappa, c, out + i * D, &b, work));
    }
}

/* rows > 0: calibration instance, with a cap that no task reaches and a bound on
 * residuals that none reaches. */
static void check_definition(bb_loss loss, double rows) {
    population p = population_make(TASKS, 9, D, loss, false, 74);
    const double lambda = 2e-3, ridge = 0.01;
    double inverse[TASKS * TASKS] = {0}, model[2][TASKS * D] = {{0}};
    for (size_t i = 0; i < TASKS; i++) inverse[i * TASKS + i] = TASKS;
    for (int t = 0; t <= ROUNDS; t++) {
        answer(&p, inverse, model[t % 2], lambda, ridge, rows, model[(t + 1) % 2]);
        const double *w = model[(t + 1) % 2];
        if (t < ROUNDS)
            covariance(TASKS, D, w, 0.2 * bb_norm(TASKS * D, w) / sqrt(TASKS), inverse);
    }
    bb_run run = run_open(&p, &bb_method_dp_mtrl, &bb_mechanism_none, &engine);
    bb_result r;
    run.phase[0].rounds = ROUNDS;
    run_set(&run, "lambda", "2e-3");
    run_set(&run, "ridge", "0.01");
    run_set(&run, "floor", "0.2");
    run_set(&run, "keep", "own");
    if (rows > 0.0) {
        run_set(&run, "calibration", "instance");
        run_set(&run, "gradient-clip", "50");
        run_set(&run, "rows-cap", "15");
    }
    assert_ok(bb_run_train(&run, &r));
    assert_int_equal(r.rounds, ROUNDS);
    for (size_t k = 0; k < TASKS * D; k++)
        assert_close(r.model[k], model[(ROUNDS + 1) % 2][k], rows > 0.0 ? 2e-4 : 1e-8);
    bb_result_free(&r);
    run_close(&run);
    population_close(&p);
}

static void test_definition(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_LOGISTIC; loss++) {
        check_definition((bb_loss)loss, 0.0);
        check_definition((bb_loss)loss, 15.0);
    }
}

/* With keep=noisy a task has what everybody has seen of it. */
static bb_status see(void *self, const bb_release *release, size_t tasks) {
    memcpy(self, release->value[0], tasks * D * sizeof(double));
    return BB_OK;
}

static void test_noisy_models_are_those_seen(void **state) {
    (void)state;
    population p = population_make(TASKS, 9, D, BB_LOSS_SQUARED, false, 75);
    bb_run run = run_open(&p, &bb_method_dp_mtrl, &bb_mechanism_gaussian, &engine);
    double seen[TASKS * D];
    bb_result noisy, own;
    run.phase[0].rounds = ROUNDS;
    run.observer = (bb_observer){.self = seen, .published = see};
    run_set(&run, "clip", "2");
    run_set(&run, "keep", "own");
    assert_ok(bb_run_train(&run, &own));
    run_set(&run, "keep", "noisy");
    assert_ok(bb_run_train(&run, &noisy));
    assert_memory_equal(noisy.model, seen, sizeof seen);
    assert_true(memcmp(noisy.model, own.model, sizeof seen) != 0);
    bb_result_free(&noisy);
    bb_result_free(&own);
    run_close(&run);
    population_close(&p);
}

/* By default a task is left as it is alone where the public models are noise, and not where
 * there is next to none. */
static void test_noise_leaves_tasks_alone(void **state) {
    (void)state;
    population p = population_make(TASKS, 9, D, BB_LOSS_SQUARED, false, 76);
    double alone[D], work[20000];
    for (int clear = 0; clear < 2; clear++) {
        bb_run run = run_open(&p, &bb_method_dp_mtrl, &bb_mechanism_gaussian, &engine);
        bb_result result;
        run.pub.epsilon = clear ? 1e4 : 1e-3;
        assert_ok(bb_run_train(&run, &result));
        assert_true((result.note == NULL) == clear);
        for (size_t i = 0; i < TASKS; i++) {
            assert_true(bb_personal_work(&p.local[i]) <= 20000);
            const bb_personal_public known = bb_personal_known(&run.pub);
            assert_ok(bb_personal_model(&p.local[i], &known, alone, work));
            double apart = 0.0;
            for (size_t k = 0; k < D; k++)
                apart = fmax(apart, fabs(alone[k] - result.model[i * D + k]));
            assert_true((apart < 1e-10) == !clear);
        }
        bb_result_free(&result);
        run_close(&run);
    }
    population_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimality),
        cmocka_unit_test(test_one_task),
        cmocka_unit_test(test_alternation),
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_noisy_models_are_those_seen),
        cmocka_unit_test(test_noise_leaves_tasks_alone),
    };
    if (bb_linalg_start()) return 1;
    engine = bb_engine_threads(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
