/* mtl-trace and mtl-l21: known optima, optimality conditions, honest certificates. */
#include "matrix_prox.h"
#include "methods/mtl.h"
#include "methods/registry.h"
#include "mtl_problems.h"
#include "numbers.h"
#include "population.h"

static const bb_method *method_of(bool trace) {
    return trace ? &bb_method_mtl_trace : &bb_method_mtl_l21;
}

static bb_result train_around(const char *centre, const population *p, bool trace,
                              const char *lambda, const char *tolerance,
                              uint32_t rounds, size_t threads) {
    const bb_engine engine = bb_engine_threads(threads);
    bb_run run = run_open(p, method_of(trace), &bb_mechanism_none, &engine);
    bb_result result = {0};
    run.phase[0].rounds = rounds;
    run.pub.constant = strcmp(centre, "mean") == 0;
    run_set(&run, "centre", centre);
    run_set(&run, "lambda", lambda);
    run_set(&run, "tolerance", tolerance);
    assert_ok(bb_run_train(&run, &result));
    run_close(&run);
    return result;
}

static bb_result train(const population *p, bool trace, const char *lambda,
                       const char *tolerance, uint32_t rounds, size_t threads) {
    return train_around("zero", p, trace, lambda, tolerance, rounds, threads);
}

/* -- known optima
 * ---------------------------------------------------------------------- */

static numbers reference(const mtl_problem *q, const char *what) {
    char name[200];
    snprintf(name, sizeof name, "oracle/mtl/%s_orc_%s.csv", q->name, what);
    return numbers_read(name, 0);
}

static void compare_models(const mtl_problem *q, const population *p,
                           const bb_result *result) {
    numbers w = reference(q, "W");
    assert_int_equal(w.rows, p->features);
    assert_int_equal(w.columns, p->tasks);
    for (size_t i = 0; i < p->tasks; i++)
        for (size_t k = 0; k < p->features; k++)
            assert_close(result->model[i * p->features + k], numbers_at(&w, k, i),
                         1e-4);
    free(w.at);
    if (!p->intercept) return;
    numbers b = reference(q, "C");
    assert_int_equal(b.rows * b.columns, p->tasks);
    for (size_t i = 0; i < p->tasks; i++)
        assert_close(result->intercept[i], b.at[i], 1e-4);
    free(b.at);
}

static void check_problem(const mtl_problem *q) {
    char path[1024];
    mtl_data data = {0};
    if (!shared_path(path, sizeof path, "data/school/data.csv")) skip();
    assert_true(mtl_data_make(q->world, path, &data));
    const bool logistic = q->loss == BB_LOSS_LOGISTIC;
    population p = {.tasks = data.tasks,
                    .features = data.features,
                    .first = data.first,
                    .x = data.x,
                    .y = data.y,
                    .loss = q->loss,
                    .intercept = logistic,
                    .scale_sum = !logistic};
    p.local = mtl_locals_open(&data, q->loss);
    assert_non_null(p.local);
    bb_result result = train(&p, q->trace, q->lambda, "1e-9", 0, 2);
    const bb_outcome *reached = &result.outcome;
    assert_true(reached->converged);
    assert_true(reached->gap <= 1e-9 * reached->objective);
    assert_relative(reached->objective, q->optimum, 1e-8);
    /* what is certified holds, up to the reference's own accuracy */
    assert_true(reached->objective - reached->gap <= q->optimum * (1.0 + 1e-10));
    assert_true(reached->objective >= q->optimum * (1.0 - 1e-10));
    compare_models(q, &p, &result);
    bb_result_free(&result);
    population_close(&p);
}

static void test_known_optima(void **state) {
    (void)state;
    for (int k = 0; k < MTL_PROBLEMS; k++) check_problem(&mtl_problems[k]);
}

/* -- small populations
 * ----------------------------------------------------------------- */

enum { TASKS = 11, D = 5, WIDE = 64 };

/* Among ordinary tasks: one without rows, one with a single row, one of a single class,
 * one with a constant feature, and one with large values. */
static population awkward(bb_loss loss, bool intercept, bool scale_sum) {
    static const size_t rows[TASKS] = {12, 0, 1, 9, 10, 30, 3, 2, 14, 8, 11};
    population p = population_empty(TASKS, 40, D, loss, intercept);
    p.scale_sum = scale_sum;
    for (size_t i = 0; i < TASKS; i++) p.first[i + 1] = p.first[i] + rows[i];
    for (size_t i = 0; i < TASKS; i++) population_fill(&p, i, 5);
    for (size_t j = p.first[3]; j < p.first[4]; j++)
        if (loss == BB_LOSS_LOGISTIC) p.y[j] = -1.0;
    for (size_t j = p.first[4]; j < p.first[5]; j++) p.x[j * D + 2] = 0.5;
    for (size_t j = p.first[5]; j < p.first[6]; j++) bb_scale(D, 20.0, p.x + j * D);
    population_open_locals(&p);
    return p;
}

/* The objective at the models, from its definition, and G: tasks x d gradients. */
static double evaluate(const population *p, const bb_result *result, bool trace,
                       double lambda, double *g) {
    const size_t d = p->features;
    double loss = 0.0, omega = 0.0, gb, gram[D * D] = {0}, value[D];
    double eigen_work[64 * D], work[4096];
    assert_true(bb_eigen_work(D) <= sizeof eigen_work);
    for (size_t i = 0; i < p->tasks; i++) {
        assert_true(bb_local_work(&p->local[i]) <= 4096);
        loss += bb_local_gradient(&p->local[i], result->model + i * d,
                                  result->intercept[i], g + i * d, &gb, work);
        if (p->intercept) assert_close(gb, 0.0, 1e-9);
        if (!p->intercept) assert_true(result->intercept[i] == 0.0);
    }
    bb_gram(p->tasks, d, 1.0, result->model, 0.0, gram);
    if (trace) assert_ok(bb_eigenvalues(d, gram, value, eigen_work));
    for (size_t k = 0; k < d; k++)
        omega += sqrt(fmax(0.0, trace ? value[k] : gram[k * d + k]));
    return loss + lambda * omega;
}

/* At the optimum W = prox(W - G), and objective and gap are what they claim to be. */
static void check_optimum(const population *p, bool trace, const char *lambda) {
    const double l = strtod(lambda, NULL);
    bb_result result = train(p, trace, lambda, "1e-12", 0, 2);
    double g[TASKS * D], v[TASKS * D];
    const double objective = evaluate(p, &result, trace, l, g);
    assert_true(result.outcome.converged);
    assert_relative(result.outcome.objective, objective, 1e-7);
    assert_true(result.outcome.gap <= 1e-12 * objective);
    for (size_t k = 0; k < TASKS * D; k++) v[k] = result.model[k] - g[k];
    if (trace)
        matrix_prox_trace(TASKS, D, v, l);
    else
        matrix_prox_l21(TASKS, D, v, l);
    for (size_t k = 0; k < TASKS * D; k++)
        assert_close(v[k], result.model[k], 2e-5 * (1.0 + fabs(v[k])));
    /* a loose run's certificate is honest */
    bb_result loose = train(p, trace, lambda, "1e-2", 0, 1);
    const double above = evaluate(p, &loose, trace, l, g) - objective;
    assert_true(loose.outcome.converged);
    assert_true(loose.outcome.gap <= 1e-2 * loose.outcome.objective);
    assert_true(above >= -1e-11 * objective);
    assert_true(above <= loose.outcome.gap + 1e-11 * objective);
    assert_true(loose.rounds < result.rounds);
    bb_result_free(&loose);
    bb_result_free(&result);
}

static void test_optimality(void **state) {
    (void)state;
    static const char *const lambda[] = {"0.02", "0.3"};
    for (int k = 0; k < 16; k++) {
        population p =
            awkward(k & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED, k & 2, k & 4);
        check_optimum(&p, k & 8, lambda[k % 2]);
        check_optimum(&p, k & 8, lambda[1 - k % 2]);
        population_close(&p);
    }
}

/* A penalty above the dual norm at W = 0 gives W = 0, certified in the first round; one
 * a little below does not. */
static void test_zero(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        const bool trace = k & 4;
        population p = awkward(k & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED, k & 2, true);
        double g[TASKS * D], gram[D * D] = {0}, value[D], work[64 * D], most = 0.0;
        char text[40];
        bb_result zero = train(&p, trace, "1e6", "1e-9", 0, 1);
        evaluate(&p, &zero, trace, 1.0, g);
        for (size_t q = 0; q < TASKS * D; q++) assert_true(zero.model[q] == 0.0);
        assert_int_equal(zero.rounds, 1);
        assert_true(zero.outcome.converged);
        bb_gram(TASKS, D, 1.0, g, 0.0, gram);
        for (size_t q = 0; q < D; q++) most = fmax(most, gram[q * D + q]);
        if (trace) assert_ok(bb_eigenvalues(D, gram, value, work));
        if (trace) most = value[D - 1];
        snprintf(text, sizeof text, "%.17g", 1.0000001 * sqrt(most));
        bb_result above = train(&p, trace, text, "1e-9", 0, 1);
        assert_int_equal(above.rounds, 1);
        assert_true(above.outcome.lambda == 0.0);
        bb_result automatic = train(&p, trace, "auto", "1e-9", 999, 1);
        assert_relative(automatic.outcome.lambda, 0.1 * sqrt(most), 1e-12);
        snprintf(text, sizeof text, "%.17g", automatic.outcome.lambda);
        bb_result given = train(&p, trace, text, "1e-9", 999, 1);
        assert_memory_equal(given.model, automatic.model, sizeof g);
        assert_true(bb_norm(TASKS * D, given.model) > 0.1);
        bb_result_free(&given);
        bb_result_free(&automatic);
        snprintf(text, sizeof text, "%.17g", 0.95 * sqrt(most));
        bb_result below = train(&p, trace, text, "1e-9", 0, 1);
        assert_true(below.outcome.converged);
        assert_true(bb_norm(TASKS * D, below.model) > 0.0);
        bb_result_free(&zero);
        bb_result_free(&above);
        bb_result_free(&below);
        population_close(&p);
    }
}

/* -- around the mean
 * ------------------------------------------------------------------- */

/* at (tasks x features) loses its mean, which becomes `mean`. */
static void take_mean_out(const population *p, double *at, double *mean) {
    const size_t d = p->features;
    memset(mean, 0, d * sizeof *mean);
    for (size_t i = 0; i < p->tasks; i++)
        bb_axpy(d, 1.0 / (double)p->tasks, at + i * d, mean);
    for (size_t i = 0; i < p->tasks; i++) bb_axpy(d, -1.0, mean, at + i * d);
}

/* mu (features) of the penalty 1/2 sum_k mu_k mean_k^2. */
static void weights_of_mean(const population *p, double *mu) {
    const size_t d = p->features;
    const double part = (double)d / (double)p->first[p->tasks];
    double column[WIDE], work[4096];
    memset(mu, 0, d * sizeof *mu);
    for (size_t i = 0; i < p->tasks; i++) {
        if (p->local[i].n == 0) continue;
        (void)bb_local_spread(&p->local[i], column, work);
        bb_axpy(d, 1.0, column, mu);
    }
    double usual = 0.0;
    for (size_t k = 0; k < d; k++) usual += mu[k] / (double)d;
    for (size_t k = 0; k < d; k++)
        mu[k] = (k + 1 < d ? part : 1e-3) * sqrt(mu[k] * usual);
}

/* At the optimum deviations are prox(deviations - those of the gradients), and gradients
 * add up to -mu times the mean. */
static void check_around_mean(const population *p, bool trace, const char *lambda) {
    bb_result result = train_around("mean", p, trace, lambda, "1e-10", 0, 2);
    bb_result loose = train_around("mean", p, trace, lambda, "1e-2", 0, 2);
    const double l =
        result.outcome.lambda > 0.0 ? result.outcome.lambda : strtod(lambda, NULL);
    double g[TASKS * D], v[TASKS * D], own[D], slope[D];
    double mu[D];
    weights_of_mean(p, mu);
    (void)evaluate(p, &result, trace, l, g);
    assert_true(result.outcome.converged && loose.outcome.converged);
    memcpy(v, result.model, sizeof v);
    take_mean_out(p, v, own);
    take_mean_out(p, g, slope);
    assert_true(bb_norm(D, own) > 1e-3);
    for (size_t k = 0; k < D; k++)
        assert_close(TASKS * slope[k], -mu[k] * own[k], 1e-5 * (1.0 + fabs(own[k])));
    for (size_t k = 0; k < TASKS * D; k++) g[k] = v[k] - g[k];
    if (trace)
        matrix_prox_trace(TASKS, D, g, l);
    else
        matrix_prox_l21(TASKS, D, g, l);
    for (size_t k = 0; k < TASKS * D; k++)
        assert_close(g[k], v[k], 5e-5 * (1.0 + fabs(v[k])));
    assert_true(loose.outcome.objective - loose.outcome.gap <=
                result.outcome.objective * (1.0 + 1e-11));
    bb_result_free(&loose);
    bb_result_free(&result);
}

static void test_around_mean(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        population p =
            awkward(k & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED, k & 2, false);
        check_around_mean(&p, k & 4, "0.02");
        check_around_mean(&p, k & 4, "auto");
        population_close(&p);
    }
}

/* The rows that a fold leaves out, or the others. */
static population some_rows(const population *p, size_t fold, bool out) {
    population some = population_empty(TASKS, 40, D, p->loss, p->intercept);
    some.scale_sum = p->scale_sum;
    for (size_t i = 0; i < TASKS; i++) {
        some.first[i + 1] = some.first[i];
        for (size_t j = p->first[i]; j < p->first[i + 1]; j++) {
            const size_t n = p->first[i + 1] - p->first[i];
            const bool is_out = n > 1 && (j - p->first[i] + n) % 3 + 1 == fold;
            if (is_out != out) continue;
            memcpy(some.x + some.first[i + 1] * D, p->x + j * D, D * sizeof *p->x);
            some.y[some.first[i + 1]++] = p->y[j];
        }
    }
    population_open_locals(&some);
    return some;
}

static double lost_without(const population *p, const char *centre, bool trace,
                           double lambda) {
    double lost = 0.0;
    char text[40];
    snprintf(text, sizeof text, "%.17g", lambda);
    for (size_t fold = 1; fold <= 3; fold++) {
        population rest = some_rows(p, fold, false), out = some_rows(p, fold, true);
        bb_result result = train_around(centre, &rest, trace, text, "1e-6", 0, 1);
        for (size_t i = 0; i < TASKS; i++)
            for (size_t j = out.first[i]; j < out.first[i + 1]; j++) {
                const double seen = bb_dot(D, out.x + j * D, result.model + i * D) +
                                    result.intercept[i];
                lost += p->loss == BB_LOSS_SQUARED
                            ? 0.5 * (seen - out.y[j]) * (seen - out.y[j])
                            : log1p(exp(-out.y[j] * seen));
            }
        bb_result_free(&result);
        population_close(&rest);
        population_close(&out);
    }
    return lost;
}

/* lambda=auto is the one that rows ask for which were left out, up to what few steps under
 * each candidate leave undone. */
static void check_left_out(const population *p, const char *centre, bool trace) {
    static const double part[] = {1.0, 0.3, 0.1, 0.03, 0.01, 0.003};
    bb_result usual = train_around(centre, p, trace, "auto", "1e-2", 999, 1);
    bb_result chosen = train_around(centre, p, trace, "auto", "1e-6", 0, 2);
    const double largest = 10.0 * usual.outcome.lambda;
    double lost[6], steps = 0.0;
    size_t best = 0;
    for (size_t c = 0; c < 6; c++) {
        lost[c] = lost_without(p, centre, trace, part[c] * largest);
        if (lost[c] < lost[best]) best = c;
    }
    if (best > 0 && best < 5)
        steps = 0.5 * (lost[best - 1] - lost[best + 1]) /
                (lost[best - 1] + lost[best + 1] - 2.0 * lost[best]);
    const double expected = sqrt(2.0 / 3.0) * part[best] * pow(10.0, -0.5 * steps);
    assert_relative(chosen.outcome.lambda, expected * largest, 0.15);
    assert_true(chosen.outcome.converged);
    bb_result_free(&usual);
    bb_result_free(&chosen);
}

static void test_left_out(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        const bb_loss loss = k & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
        const bool zero = k & 2;
        population p = population_empty(TASKS, 14, D, loss, zero);
        for (size_t i = 0; i < TASKS; i++) population_fill(&p, i, 5);
        population_open_locals(&p);
        check_left_out(&p, zero ? "zero" : "mean", k & 4);
        population_close(&p);
    }
}

/* The same rows, written as sparse ones, one entry of them missing. */
static void test_left_out_sparse(void **state) {
    enum { N = 14 * TASKS + 20 };
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_LOGISTIC; loss++) {
        const bb_engine engine = bb_engine_threads(1);
        population p = population_empty(TASKS, 14, D, (bb_loss)loss, false);
        double value[N * D];
        size_t first[N + 1] = {0}, count = 0;
        uint32_t column[N * D];
        bb_local local[TASKS];
        bb_result sparse;
        assert_true(p.first[TASKS] <= N);
        for (size_t i = 0; i < TASKS; i++) population_fill(&p, i, 5);
        p.x[3 * D + 1] = 0.0;
        for (size_t j = 0; j < p.first[TASKS]; j++) {
            for (size_t k = 0; k < D; k++) {
                if (p.x[j * D + k] == 0.0) continue;
                column[count] = (uint32_t)k;
                value[count++] = p.x[j * D + k];
            }
            first[j + 1] = count;
        }
        population_open_locals(&p);
        for (size_t i = 0; i < TASKS; i++) {
            const bb_rows rows = {.n = p.first[i + 1] - p.first[i],
                                  .d = D,
                                  .sparse_first = first + p.first[i],
                                  .sparse_column = column,
                                  .sparse_value = value,
                                  .y = p.y + p.first[i]};
            assert_ok(bb_local_open(&local[i], rows, (bb_loss)loss, false, false));
        }
        bb_result dense = train_around("mean", &p, true, "auto", "1e-6", 0, 1);
        bb_run run = run_open(&p, method_of(true), &bb_mechanism_none, &engine);
        run.local = local;
        run.pub.constant = true;
        assert_ok(bb_run_train(&run, &sparse));
        assert_relative(sparse.outcome.lambda, dense.outcome.lambda, 1e-9);
        for (size_t k = 0; k < TASKS * D; k++)
            assert_close(sparse.model[k], dense.model[k], 1e-7);
        for (size_t i = 0; i < TASKS; i++) bb_local_close(&local[i]);
        bb_result_free(&sparse);
        bb_result_free(&dense);
        run_close(&run);
        population_close(&p);
    }
}

/* With an overwhelming penalty all tasks have the ridge model of all rows together. */
static void test_all_alike(void **state) {
    (void)state;
    population p = population_empty(9, 12, D, BB_LOSS_SQUARED, false);
    p.scale_sum = true;
    for (size_t i = 0; i < p.tasks; i++) population_fill(&p, i, 17);
    population_open_locals(&p);
    bb_local all;
    double work[4096], w[D], mu[D], b, *x = malloc(p.first[9] * D * sizeof *x);
    assert_non_null(x);
    weights_of_mean(&p, mu);
    for (size_t j = 0; j < p.first[9] * D; j++) x[j] = p.x[j] / sqrt(mu[j % D]);
    const bb_rows rows = {.n = p.first[9], .d = D, .x = x, .y = p.y};
    assert_ok(
        bb_local_open_exact(&all, rows, BB_LOSS_SQUARED, false, true, NULL, NULL));
    assert_true(bb_local_work(&all) <= 4096);
    assert_ok(bb_local_ridge(&all, 1.0, NULL, w, &b, work));
    for (size_t k = 0; k < D; k++) w[k] /= sqrt(mu[k]);
    for (int trace = 0; trace < 2; trace++) {
        bb_result result = train_around("mean", &p, trace, "1e9", "1e-13", 0, 1);
        assert_true(result.outcome.converged);
        for (size_t k = 0; k < 9 * D; k++)
            assert_close(result.model[k], w[k % D], 1e-5);
        bb_result_free(&result);
    }
    bb_local_close(&all);
    free(x);
    population_close(&p);
}

/* A run that may not go on says what it reached, and that it did not converge. */
static void test_few_rounds(void **state) {
    (void)state;
    population p = awkward(BB_LOSS_SQUARED, true, false);
    bb_result best = train(&p, true, "0.02", "1e-12", 0, 1);
    double g[TASKS * D], before = INFINITY;
    for (uint32_t rounds = 1; rounds <= 17; rounds += 4) {
        bb_result result = train(&p, true, "0.02", "1e-12", rounds, 1);
        const double objective = evaluate(&p, &result, true, 0.02, g);
        assert_int_equal(result.rounds, rounds);
        assert_false(result.outcome.converged);
        assert_relative(result.outcome.objective, objective, 1e-7);
        assert_true(result.outcome.gap >= objective - best.outcome.objective);
        assert_true(result.outcome.gap < before);
        before = result.outcome.gap;
        bb_result_free(&result);
    }
    bb_result_free(&best);
    population_close(&p);
}

static void test_threads(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        population p = population_make(
            50, 9, 7, k & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED, true, 3);
        bb_result one = train(&p, k & 2, "0.05", "1e-8", 0, 1);
        for (size_t threads = 2; threads <= 4; threads++) {
            bb_result more = train(&p, k & 2, "0.05", "1e-8", 0, threads);
            assert_string_equal(one.billboard_sha256, more.billboard_sha256);
            assert_memory_equal(one.model, more.model, 50 * 7 * sizeof(double));
            assert_memory_equal(one.intercept, more.intercept, 50 * sizeof(double));
            bb_result_free(&more);
        }
        bb_result_free(&one);
        population_close(&p);
    }
}

/* One task: the trace norm of a vector is its Euclidean norm, so that at the optimum
 * g = -lambda w / ||w||. */
static void test_one_task(void **state) {
    (void)state;
    population p = population_make(1, 20, 6, BB_LOSS_LOGISTIC, true, 9);
    bb_result result = train(&p, true, "0.05", "1e-12", 0, 1);
    double g[6], gb, work[4096];
    (void)bb_local_gradient(&p.local[0], result.model, result.intercept[0], g, &gb,
                            work);
    const double norm = bb_norm(6, result.model);
    assert_true(norm > 0.1);
    for (size_t k = 0; k < 6; k++)
        assert_close(g[k], -0.05 * result.model[k] / norm, 1e-6);
    bb_result_free(&result);
    population_close(&p);
}

/* Tasks with many features and few rows, which keep no inverse, among tasks with as
 * many rows as features, which do, and one without rows. `more` tasks have none, either: a
 * matrix of features x features is shared then, else what each task shows. */
enum { FEW = 7 };
static population wide(bb_loss loss, bool intercept, bool scale_sum, size_t more) {
    static const size_t rows[FEW] = {8, 15, 64, 16, 5, 0, 90};
    population p = population_empty(FEW + more, 90, WIDE, loss, intercept);
    p.scale_sum = scale_sum;
    for (size_t i = 0; i < p.tasks; i++)
        p.first[i + 1] = p.first[i] + (i < FEW ? rows[i] : 0);
    for (size_t i = 0; i < p.tasks; i++) population_fill(&p, i, 12);
    population_open_locals(&p);
    return p;
}

/* The optimality conditions, around the mean or zero. */
static void check_wide(const population *p, bool mean, bool trace, const char *lambda) {
    const size_t d = p->features, all = p->tasks * d;
    const char *centre = mean ? "mean" : "zero";
    bb_result result = train_around(centre, p, trace, lambda, "1e-11", 0, 2);
    const double l =
        result.outcome.lambda > 0.0 ? result.outcome.lambda : strtod(lambda, NULL);
    double own[WIDE] = {0}, slope[WIDE] = {0}, mu[WIDE], gb, work[40000];
    double *g = malloc(2 * all * sizeof *g), *v = g + all;
    assert_non_null(g);
    assert_true(result.outcome.converged);
    assert_true(bb_norm(all, result.model) > 1.0);
    for (size_t i = 0; i < p->tasks; i++) {
        assert_true(bb_local_work(&p->local[i]) <= 40000);
        (void)bb_local_gradient(&p->local[i], result.model + i * d, result.intercept[i],
                                g + i * d, &gb, work);
    }
    memcpy(v, result.model, all * sizeof *v);
    if (mean) {
        weights_of_mean(p, mu);
        take_mean_out(p, v, own);
        take_mean_out(p, g, slope);
    }
    for (size_t k = 0; k < d && mean; k++)
        assert_close((double)p->tasks * slope[k], -mu[k] * own[k],
                     1e-5 * (1.0 + fabs(own[k])));
    for (size_t q = 0; q < all; q++) g[q] = v[q] - g[q];
    if (trace)
        matrix_prox_trace(p->tasks, d, g, l);
    else
        matrix_prox_l21(p->tasks, d, g, l);
    for (size_t q = 0; q < all; q++) assert_close(v[q], g[q], 1e-5);
    free(g);
    bb_result_free(&result);
}

static void test_wide(void **state) {
    (void)state;
    for (int k = 0; k < 16; k++) {
        const bool mean = k & 2;
        population p = wide(k & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED, !mean, false,
                            k & 8 ? 40 : 0);
        check_wide(&p, mean, k & 4, "0.03");
        if (k < 8) check_wide(&p, mean, k & 4, "auto");
        population_close(&p);
    }
}

/* What few tasks show one by one leads where the sum of their outer products does. */
static void test_few_tasks(void **state) {
    (void)state;
    population few = wide(BB_LOSS_SQUARED, true, true, 0),
               many = wide(BB_LOSS_SQUARED, true, true, 40);
    for (int k = 0; k < 2; k++) {
        const char *tolerance = k ? "1e-12" : "1e-2";
        bb_result one = train(&few, true, "3", tolerance, 0, 1),
                  other = train(&many, true, "3", tolerance, 0, 1);
        assert_true(one.outcome.converged && other.outcome.converged);
        assert_relative(one.outcome.objective, other.outcome.objective,
                        k ? 1e-11 : 1e-2);
        assert_true(bb_norm(FEW * WIDE, one.model) > 0.1);
        assert_true(one.outcome.objective - one.outcome.gap <=
                    other.outcome.objective * (1.0 + 1e-13));
        for (size_t q = 0; q < FEW * WIDE && k; q++)
            assert_close(one.model[q], other.model[q], 1e-5);
        bb_result_free(&one);
        bb_result_free(&other);
    }
    population_close(&few);
    population_close(&many);
}

/* The same tasks in another order, with others' numbers: the same lambda and models. */
static void test_places(void **state) {
    static const size_t to[TASKS] = {3, 0, 7, 10, 1, 9, 5, 2, 8, 6, 4};
    (void)state;
    for (int k = 0; k < 4; k++) {
        const bb_loss loss = k & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
        population p = population_empty(TASKS, 9, D, loss, false),
                   moved = population_empty(TASKS, 9, D, loss, false);
        for (size_t i = 0; i < TASKS; i++) {
            p.first[i + 1] = p.first[i] + 3 + i % 6;
            moved.first[to[i] + 1] = 3 + i % 6;
            population_fill(&p, i, 5);
        }
        for (size_t i = 0; i < TASKS; i++) moved.first[i + 1] += moved.first[i];
        for (size_t i = 0; i < TASKS; i++) {
            const size_t n = p.first[i + 1] - p.first[i], at = moved.first[to[i]];
            memcpy(moved.x + at * D, p.x + p.first[i] * D, n * D * sizeof *p.x);
            memcpy(moved.y + at, p.y + p.first[i], n * sizeof *p.y);
        }
        population_open_locals(&p);
        population_open_locals(&moved);
        bb_result here = train_around("mean", &p, k & 2, "auto", "1e-10", 0, 1),
                  there = train_around("mean", &moved, k & 2, "auto", "1e-10", 0, 1);
        assert_relative(here.outcome.lambda, there.outcome.lambda, 1e-6);
        for (size_t q = 0; q < TASKS * D; q++)
            assert_close(here.model[q], there.model[to[q / D] * D + q % D], 1e-4);
        bb_result_free(&here);
        bb_result_free(&there);
        population_close(&p);
        population_close(&moved);
    }
}

static void test_refusals(void **state) {
    (void)state;
    population p = population_make(4, 6, 3, BB_LOSS_SQUARED, true, 1);
    const bb_engine engine = bb_engine_threads(1);
    bb_run run = run_open(&p, &bb_method_mtl_trace, &bb_mechanism_gaussian, &engine);
    bb_result result = {0};
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "in the clear");
    run.mechanism = &bb_mechanism_none;
    run.pub.schedule = "uniform";
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE,
                 "the schedule cannot be chosen");
    run.pub.schedule = NULL;
    run.pub.features = 4001;
    run.pub.tasks = 2001;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "at most 4000");
    assert_fails(bb_options_set(run.phase[0].method->options,
                                (void *)(uintptr_t)run.phase[0].options, "test",
                                "lambda", "0"),
                 BB_EUSAGE, "lambda");
    assert_null(result.model);
    run_close(&run);
    population_close(&p);
}

/* More than a matrix of features x features could be shared for. */
static void test_many_features(void **state) {
    (void)state;
    enum { MANY = BB_MTL_MOST_FEATURES + 1 };
    population p = population_empty(2, 3, MANY, BB_LOSS_SQUARED, false);
    for (size_t q = 0; q < p.first[2] * MANY; q++) p.x[q] = cos(0.7 * (double)q);
    for (size_t j = 0; j < p.first[2]; j++) p.y[j] = j % 2 ? 1.0 : -0.5;
    population_open_locals(&p);
    bb_result result = train(&p, true, "0.5", "1e-9", 0, 1);
    assert_true(result.outcome.converged);
    assert_true(bb_norm((size_t)2 * MANY, result.model) > 0.01);
    bb_result_free(&result);
    population_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_optima),  cmocka_unit_test(test_optimality),
        cmocka_unit_test(test_zero),          cmocka_unit_test(test_few_rounds),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_one_task),
        cmocka_unit_test(test_wide),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_left_out),      cmocka_unit_test(test_left_out_sparse),
        cmocka_unit_test(test_around_mean),   cmocka_unit_test(test_all_alike),
        cmocka_unit_test(test_few_tasks),     cmocka_unit_test(test_places),
        cmocka_unit_test(test_many_features),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
