/* dp-aggr, and what it shares with dp-mtrl: the average, the plan of a lifted promise,
 * how far a row can move a model, radial noise at the door. */
#include "methods/bounded.h"
#include "methods/registry.h"
#include "population.h"
#include "privacy/accounting/group.h"

#include <string.h>

enum { MOST_WORK = 1 << 14 };
static bb_engine engine;

static bb_run open_instance(const population *p, const bb_method *method,
                            const bb_mechanism *mechanism, const char *bound,
                            const char *rows) {
    bb_run run = run_open(p, method, mechanism, &engine);
    if (strcmp(method->name, "dp-aggr") == 0) run_set(&run, "guard", "off");
    run_set(&run, "calibration", "instance");
    run_set(&run, "gradient-clip", bound);
    run_set(&run, "rows-cap", rows);
    return run;
}

/* -- without noise
 * --------------------------------------------------------------------- */

/* The average of ridge models; rows > 0: by calibration instance, with a cap that no
 * task reaches and a bound on residuals that none reaches. */
static void check_average(bb_loss loss, double rows) {
    enum { TASKS = 13, D = 5 };
    population p = population_make(TASKS, 6, D, loss, false, 81);
    double mean[D] = {0}, w[D], b, work[MOST_WORK];
    for (size_t i = 0; i < TASKS; i++) {
        const double scale = rows > 0.0 ? rows / (double)p.local[i].n : 1.0;
        assert_ok(bb_local_ridge(&p.local[i], 0.03 * scale, NULL, w, &b, work));
        bb_axpy(D, 1.0 / TASKS, w, mean);
    }
    bb_run run = run_open(&p, &bb_method_dp_aggr, &bb_mechanism_none, &engine);
    if (rows > 0.0) {
        run_close(&run);
        run = open_instance(&p, &bb_method_dp_aggr, &bb_mechanism_none, "50", "12");
    }
    bb_result r;
    run_set(&run, "lambda", "0.03");
    assert_ok(bb_run_train(&run, &r));
    assert_int_equal(r.rounds, 1);
    for (size_t k = 0; k < TASKS * D; k++)
        assert_close(r.model[k], mean[k % D], rows > 0.0 ? 1e-5 : 1e-10);
    bb_result_free(&r);
    run_close(&run);
    population_close(&p);
}

static void test_average(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_LOGISTIC; loss++) {
        check_average((bb_loss)loss, 0.0);
        check_average((bb_loss)loss, 12.0);
    }
}

/* -- the plan of a lifted promise
 * ------------------------------------------------------ */

/* One round: epsilon / N for a row, and delta so that the sum of the geometric series
 * is the run's. More rounds: composed for a row within that, and no more for a task. */
static void test_plan(void **state) {
    (void)state;
    population p = population_make(40, 8, 4, BB_LOSS_SQUARED, false, 82);
    bb_run run =
        open_instance(&p, &bb_method_dp_aggr, &bb_mechanism_gaussian, "2", "25");
    bb_result r;
    run.pub.epsilon = 1.5;
    assert_ok(bb_run_train(&run, &r));
    double sum = 0.0;
    for (int j = 0; j < 25; j++) sum += exp(j * 1.5 / 25.0);
    assert_int_equal(r.plan.lifted_rows, 25);
    assert_relative(r.plan.instance_epsilon, 1.5 / 25.0, 1e-14);
    assert_relative(r.plan.instance_delta, 1e-5 / sum, 1e-10);
    assert_relative(r.plan.pure[0], 1.5, 1e-9);
    assert_true(r.plan.pure[0] <= 1.5 && r.plan.mu[0] == 0.0);
    /* noise of deviation (scale / U) sqrt(d + 1), U the clip */
    assert_relative(r.noise_multiplier, 2.0 / 1.5 * sqrt(5.0), 1e-5);
    bb_result_free(&r);
    run_close(&run);

    run = open_instance(&p, &bb_method_dp_mtrl, &bb_mechanism_gaussian, "2", "25");
    run.phase[0].rounds = 200;
    assert_ok(bb_run_train(&run, &r));
    const double row = bb_kov_epsilon(200, r.plan.instance, r.plan.instance_delta);
    assert_true(25.0 * row <= 1.0);
    assert_relative(25.0 * row, 1.0, 1e-3);
    double group = 0.0;
    for (int j = 0; j < 25; j++) group += r.plan.instance_delta * exp(j * row);
    assert_true(group <= 1e-5);
    assert_true(200.0 * r.plan.pure[7] > 1.2); /* better than a sum */
    assert_relative(r.plan.pure[7], 25.0 * r.plan.instance[7], 1e-15);
    bb_result_free(&r);
    run_close(&run);
    population_close(&p);
}

static void test_refusals(void **state) {
    (void)state;
    population p = population_make(5, 8, 4, BB_LOSS_SQUARED, false, 83);
    bb_run run =
        open_instance(&p, &bb_method_dp_aggr, &bb_mechanism_gaussian, "1", "10");
    bb_result r;
    run.pub.adjacency = BB_ADD_REMOVE;
    assert_fails(bb_run_train(&run, &r), BB_EUSAGE, "replace-one");
    run.pub.adjacency = BB_REPLACE_ONE;
    run.pub.scale_sum = true;
    assert_fails(bb_run_train(&run, &r), BB_EUSAGE, "loss-scale mean");
    run.pub.scale_sum = false;
    run.phase[0].rounds = 2;
    assert_fails(bb_run_train(&run, &r), BB_EUSAGE, "one round");
    run.phase[0].rounds = 0;
    run_set(&run, "lambda", "1e-8");
    assert_fails(bb_run_train(&run, &r), BB_EUSAGE, "penalty of at least");
    run_set(&run, "lambda", "1e-3");
    run_set(&run, "rows-cap", "1000000");
    assert_fails(bb_run_train(&run, &r), BB_EUSAGE, "does not fit");
    run_close(&run);
    population_close(&p);
}

/* -- how far a row can move a model
 * ---------------------------------------------------- */

/* One task, `features` numbers a row, and its solver. */
typedef struct solver {
    bb_public pub;
    bb_bounded_options options;
    bb_view view;
} solver;

static void solver_open(solver *s, size_t features, bb_loss loss, double bound,
                        uint64_t rows) {
    *s = (solver){.pub = {.tasks = 1, .features = features, .loss = loss}};
    s->options.calibration = BB_CALIBRATION_INSTANCE;
    s->options.gradient = bound;
    s->options.rows = rows;
    s->view = (bb_view){.options = &s->options, .pub = &s->pub};
}

static void solve(const solver *s, size_t n, const double *x, const double *y,
                  double kappa, const double *centre, double *moved) {
    const bb_rows rows = {.n = n, .d = s->pub.features, .x = x, .y = y};
    double work[MOST_WORK];
    /* only the rows are read: no need of sums that a huge row would overflow */
    const bb_local local = {
        .loss = s->pub.loss, .n = n, .d = rows.d, .x = x, .y = y, .weight = 1.0};
    assert_true(bb_bounded_length(&s->view, &local) <= MOST_WORK);
    bb_bounded_solve(&s->view, &local, kappa, centre, moved, work);
}

static double distance(size_t d, const double *a, const double *b) {
    double squares = 0.0;
    for (size_t k = 0; k < d; k++) squares += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(squares);
}

static void draw_row(bb_random *random, size_t d, bb_loss loss, double *x, double *y) {
    static const double length[] = {1.0, 0.3, 50.0, 1e-300, 1e150};
    const double size = length[bb_random_below(random, 5)];
    for (size_t k = 0; k < d; k++) x[k] = size * bb_random_normal(random);
    *y = 10.0 * bb_random_normal(random);
    if (loss == BB_LOSS_LOGISTIC) *y = *y > 0.0 ? 1.0 : -1.0;
}

/* Whatever the rows, the bound, the penalty and the centre: replacing one row moves the
 * model by at most 2 B / (kappa N), what the solver leaves undone included; models stay
 * within B / kappa; and the solver always got there. */
static void check_random_rows(bb_loss loss, bb_random *random) {
    enum { D = 3, N = 9, CAP = 8 };
    const double bound = loss == BB_LOSS_LOGISTIC
                             ? 1.0
                             : pow(10.0, -2.0 + bb_random_uniform(random) * 4.0);
    const double kappa = pow(10.0, -4.0 + bb_random_uniform(random) * 5.0);
    double x[N * D], y[N], centre[D], a[D], b[D];
    solver s;
    solver_open(&s, D, loss, bound, CAP);
    for (size_t j = 0; j < N; j++) draw_row(random, D, loss, x + j * D, y + j);
    for (size_t k = 0; k < D; k++) centre[k] = 3.0 * bb_random_normal(random);
    solve(&s, N, x, y, kappa, centre, a);
    assert_true(bb_norm(D, a) > 0.0 && bb_norm(D, a) <= bound / kappa);
    const size_t j = bb_random_below(random, N);
    draw_row(random, D, loss, x + j * D, y + j);
    solve(&s, N, x, y, kappa, centre, b);
    assert_true(bb_norm(D, b) > 0.0);
    if (j >= CAP)
        assert_true(memcmp(a, b, sizeof a) == 0); /* further rows are left out */
    else
        assert_true(distance(D, a, b) <= bound / kappa * (2.0 / CAP + 0x1p-24));
    /* fewer rows are blank rows */
    solve(&s, 4, x, y, kappa, centre, a);
    memset(x + 4 * D, 0, D * sizeof *x);
    solve(&s, 5, x, y, kappa, centre, b);
    assert_true(distance(D, a, b) <= 0x1p-24 * bound / kappa);
}

static void test_reach_of_a_row(void **state) {
    (void)state;
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 84, BB_FOR_TEST, 0, 0));
    for (int k = 0; k < 4000; k++)
        check_random_rows(k % 2 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED, &random);
    bb_random_close(&random);
}

/* Rows that do move it so far: opposite targets beyond the bound; for the logistic
 * loss, two rows on the wrong side of a large centre, at nearly a right angle to it. */
static void test_worst_rows(void **state) {
    (void)state;
    enum { D = 2, CAP = 8 };
    double x[CAP * D] = {0}, y[CAP] = {0}, a[D], b[D];
    solver s;
    solver_open(&s, D, BB_LOSS_SQUARED, 0.5, CAP);
    x[0] = 1.0;
    y[0] = 1e6;
    solve(&s, CAP, x, y, 0.01, NULL, a);
    y[0] = -1e6;
    solve(&s, CAP, x, y, 0.01, NULL, b);
    assert_relative(distance(D, a, b), 2.0 * 0.5 / (0.01 * CAP), 1e-6);
    for (int k = -40; k <= 40; k++) { /* residuals about the bound */
        y[0] = 0.5 * (1.0 + 0.005 * k);
        solve(&s, CAP, x, y, 100.0, NULL, a);
        y[0] = -y[0];
        solve(&s, CAP, x, y, 100.0, NULL, b);
        assert_true(distance(D, a, b) <= 2.0 * 0.5 / (100.0 * CAP) * (1.0 + 1e-6));
    }

    const double centre[D] = {100.0, 0.0};
    solver_open(&s, D, BB_LOSS_LOGISTIC, 7.0, CAP); /* B = 1 all the same */
    x[0] = 0.2;
    y[0] = -1.0;
    for (size_t j = 1; j < CAP; j++) y[j] = 1.0; /* of blank rows */
    for (int side = -1; side <= 1; side += 2) {
        x[1] = sqrt(0.96) * side;
        solve(&s, CAP, x, y, 1.0, centre, side < 0 ? a : b);
    }
    assert_relative(distance(D, a, b), 2.0 * sqrt(0.96) / CAP, 1e-6);
}

/* Everything that a row may hold against ordinary, equal, blank and single rows, in
 * both losses and wherever the plan allows it: penalties down to the least, centres up
 * to the longest. */
enum { ATTACK_D = 3, ATTACK_CAP = 8 };

typedef struct attack {
    bb_loss loss;
    double bound, kappa, centre[ATTACK_D];
    size_t n;
    double x[ATTACK_CAP * ATTACK_D], y[ATTACK_CAP];
} attack;

static const double hostile_targets[] = {0.0,  1e-300, 0.5,     1.0,      3.0,  1e3,
                                         1e6,  1e9,    1e13,    1e16,     1e17, 1e18,
                                         1e30, 1e100,  1.7e308, INFINITY, NAN};
static const double hostile_lengths[] = {0.0, 1e-310, 0.1, 1.0, 1e150, 1e300, 1.7e308};

static void attack_with(attack *a, const solver *s, const double *was, double length,
                        double target) {
    const double clip = a->bound / a->kappa, saved = a->y[0];
    double row[ATTACK_D], moved[ATTACK_D];
    memcpy(row, a->x, sizeof row);
    for (size_t k = 0; k < ATTACK_D; k++) a->x[k] = k == 1 ? length : -0.3 * length;
    a->y[0] = target;
    solve(s, a->n, a->x, a->y, a->kappa, a->centre, moved);
    if (!(distance(ATTACK_D, was, moved) <= clip * (2.0 / ATTACK_CAP + 0x1p-24)))
        fail_msg("loss %d, B %g, kappa %g, row of length %g and target %g: moved %g of "
                 "the clip",
                 (int)a->loss, a->bound, a->kappa, length, target,
                 distance(ATTACK_D, was, moved) / clip);
    assert_true(bb_norm(ATTACK_D, moved) <= clip * (1.0 + 0x1p-24));
    memcpy(a->x, row, sizeof row);
    a->y[0] = saved;
}

static void attack_rows(attack *a) {
    const bool logistic = a->loss == BB_LOSS_LOGISTIC;
    double was[ATTACK_D];
    solver s;
    solver_open(&s, ATTACK_D, a->loss, a->bound, ATTACK_CAP);
    solve(&s, a->n, a->x, a->y, a->kappa, a->centre, was);
    for (size_t l = 0; l < sizeof hostile_lengths / sizeof *hostile_lengths; l++)
        for (size_t t = 0; t < sizeof hostile_targets / sizeof *hostile_targets; t++)
            for (int sign = -1; sign <= 1; sign += 2)
                if (!logistic || hostile_targets[t] == 1.0)
                    attack_with(a, &s, was, hostile_lengths[l],
                                sign * hostile_targets[t]);
}

/* The rows that all but the first are: as drawn, equal, blank. */
static void fill_rows(attack *a, int kind, bb_random *random) {
    for (size_t j = 0; j < a->n; j++) {
        for (size_t k = 0; k < ATTACK_D; k++) {
            double *x = a->x + j * ATTACK_D + k;
            *x = kind == 1 && j > 0 ? x[-ATTACK_D] : bb_random_normal(random);
            if (kind == 2) *x = 0.0;
        }
        a->y[j] = kind == 1 && j > 0 ? a->y[j - 1] : 2.0 * bb_random_normal(random);
        if (a->loss == BB_LOSS_LOGISTIC) a->y[j] = a->y[j] > 0.0 ? 1.0 : -1.0;
    }
}

static void attack_all(bb_loss loss, double bound, bb_random *random) {
    const double least = (ATTACK_D + 1) * 0x1p-24;
    const double kappa[] = {least, 1e-5, 1e-2, 1.0, 1e4};
    for (size_t p = 0; p < sizeof kappa / sizeof *kappa; p++)
        for (int kind = 0; kind < 4; kind++)
            for (int away = 0; away < 2; away++) {
                attack a = {.loss = loss, .bound = bound, .kappa = kappa[p]};
                const double longest = 0x1p24 * bound / (ATTACK_D + 1);
                a.centre[1] = away ? (kind % 2 ? 1.0 : longest) : 0.0;
                a.n = kind == 3 ? 1 : ATTACK_CAP;
                fill_rows(&a, kind, random);
                attack_rows(&a);
            }
}

static void test_hostile_rows(void **state) {
    (void)state;
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 87, BB_FOR_TEST, 0, 0));
    attack_all(BB_LOSS_LOGISTIC, 1.0, &random);
    for (double bound = 0.01; bound < 1e3; bound *= 100.0)
        attack_all(BB_LOSS_SQUARED, bound, &random);
    attack_all(BB_LOSS_SQUARED, 1e-9, &random);
    attack_all(BB_LOSS_SQUARED, 1e9, &random);
    bb_random_close(&random);
}

/* What stands behind Newton's steps reaches the same point. */
static void test_descent(void **state) {
    (void)state;
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 88, BB_FOR_TEST, 0, 0));
    for (int k = 0; k < 60; k++) {
        attack a = {.loss = k % 2 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED,
                    .bound = k % 2 ? 1.0 : 0.7,
                    .kappa = k % 3 ? 0.02 : 3.0,
                    .centre = {0.0, k % 5, 0.0},
                    .n = ATTACK_CAP};
        double newton[ATTACK_D], gradient[ATTACK_D], work[MOST_WORK];
        solver s;
        fill_rows(&a, 0, &random);
        if (k % 2 == 0) a.y[0] = 1e300;
        solver_open(&s, ATTACK_D, a.loss, a.bound, ATTACK_CAP);
        const bb_local local = {
            .loss = a.loss, .n = a.n, .d = ATTACK_D, .x = a.x, .y = a.y, .weight = 1.0};
        solve(&s, a.n, a.x, a.y, a.kappa, a.centre, newton);
        bb_bounded_descend(&s.view, &local, a.kappa, a.centre, gradient, work);
        assert_true(bb_norm(ATTACK_D, newton) > 0.0);
        assert_true(distance(ATTACK_D, newton, gradient) <=
                    0x1p-24 * a.bound / a.kappa);
    }
    bb_random_close(&random);
}

/* -- radial noise at the door
 * ---------------------------------------------------------- */

typedef struct heard {
    double *value;
    size_t n;
} heard;

static bb_status keep_release(void *self, const bb_release *release, size_t tasks) {
    heard *h = self;
    h->n = bb_block_sum_length(&release->layout->block[0], tasks);
    h->value = malloc(h->n * sizeof *h->value);
    assert_non_null(h->value);
    memcpy(h->value, release->value[0], h->n * sizeof *h->value);
    return BB_OK;
}

/* Targets zero: what is published of a task is its slot's noise alone. Its norm times
 * epsilon / (2 C) is Gamma(d, 1); coordinates have mean 0 and variance d + 1. Bounds of
 * 6.5 standard errors: false alarms below 1e-9 together (as in test_mp_instance.c). */
static void test_slots_noise(void **state) {
    (void)state;
    enum { TASKS = 6000, D = 5 };
    population p = population_empty(TASKS, 4, D, BB_LOSS_SQUARED, false);
    for (size_t i = 0; i < TASKS; i++) population_fill(&p, i, 85);
    memset(p.y, 0, p.first[TASKS] * sizeof *p.y);
    population_open_locals(&p);
    bb_run run =
        open_instance(&p, &bb_method_dp_mtrl, &bb_mechanism_gaussian, "0.7", "6");
    heard h = {0};
    bb_result r;
    run.observer.self = &h;
    run.observer.published = keep_release;
    run_set(&run, "ridge", "0.02");
    run_set(&run, "lambda", "0");
    assert_ok(bb_run_train(&run, &r));
    assert_int_equal(h.n, TASKS * D);
    double mean = 0.0, square = 0.0, coordinate[D] = {0};
    for (size_t i = 0; i < TASKS; i++) {
        const double scale = 2.0 * 0.7 / 0.02; /* epsilon 1 */
        const double length = bb_norm(D, h.value + i * D) / scale;
        mean += length / TASKS;
        square += (length - D) * (length - D) / TASKS;
        for (size_t k = 0; k < D; k++)
            coordinate[k] += h.value[i * D + k] / scale / TASKS;
    }
    assert_close(mean, D, 6.5 * sqrt((double)D / TASKS));
    assert_close(square, D, 6.5 * sqrt((2.0 * D * D + 6.0 * D) / TASKS));
    for (size_t k = 0; k < D; k++)
        assert_close(coordinate[k], 0.0, 6.5 * sqrt((D + 1.0) / TASKS));
    free(h.value);
    bb_result_free(&r);
    run_close(&run);
    population_close(&p);
}

/* One average of d numbers has one draw of noise, whatever the number of tasks; any
 * number of threads publishes the same bytes; tasks that show something else move it by
 * no more than the clip. */
static void test_average_noise(void **state) {
    (void)state;
    enum { TASKS = 30, D = 4 };
    population p = population_make(TASKS, 8, D, BB_LOSS_SQUARED, false, 86);
    char hash[BB_HASH_TEXT] = "";
    double model[2][D];
    for (size_t threads = 1; threads <= 3; threads++) {
        const bb_engine some = bb_engine_threads(threads);
        bb_run run =
            open_instance(&p, &bb_method_dp_aggr, &bb_mechanism_gaussian, "1", "10");
        bb_result r;
        run.engine = &some;
        run_set(&run, "lambda", "0.5");
        assert_ok(bb_run_train(&run, &r));
        if (threads > 1) assert_string_equal(hash, r.billboard_sha256);
        memcpy(hash, r.billboard_sha256, sizeof hash);
        memcpy(model[0], r.model, sizeof model[0]);
        bb_result_free(&r);
        run_close(&run);
    }
    /* targets of one task that its clip, and nothing else, keeps in bounds */
    bb_method loud = bb_method_dp_aggr;
    for (int huge = 0; huge < 2; huge++) {
        for (size_t j = p.first[3]; huge && j < p.first[4]; j++) p.y[j] = 1e9;
        bb_run run = open_instance(&p, &loud, &bb_mechanism_gaussian, "1", "10");
        bb_result r;
        run_set(&run, "lambda", "0.5");
        assert_ok(bb_run_train(&run, &r));
        memcpy(model[huge], r.model, sizeof model[huge]);
        bb_result_free(&r);
        run_close(&run);
    }
    const double moved = distance(D, model[0], model[1]);
    assert_true(moved > 0.0 && moved <= 2.0 * 2.0 / TASKS * (1.0 + 1e-9));
    population_close(&p);
}

/* -- as published
 * ---------------------------------------------------------------------- */

/* 2 L / (kappa n epsilon / N), L the largest residual at the model w. */
static double published_scale(const population *p, size_t i, const double *w,
                              double kappa, double cap) {
    const size_t n = p->first[i + 1] - p->first[i], d = p->features;
    double largest = 0.0;
    for (size_t j = p->first[i]; j < p->first[i + 1]; j++)
        largest = fmax(largest, fabs(bb_dot(d, p->x + j * d, w) - p->y[j]));
    return 2.0 * largest * cap / (kappa * (double)n);
}

static bb_run open_published(const population *p, const bb_method *method, bool noisy) {
    bb_run run = run_open(
        p, method, noisy ? &bb_mechanism_lipschitz_published : &bb_mechanism_none,
        &engine);
    run_set(&run, "calibration", "published");
    run_set(&run, "rows-cap", "12");
    return run;
}

/* Each task's noise, by its own residuals; as in test_slots_noise. */
static void test_published_slots(void **state) {
    (void)state;
    enum { TASKS = 6000, D = 5 };
    population p = population_make(TASKS, 4, D, BB_LOSS_SQUARED, false, 91);
    bb_result r[2];
    for (int noisy = 0; noisy < 2; noisy++) {
        bb_run run = open_published(&p, &bb_method_dp_mtrl, noisy);
        run_set(&run, "keep", "noisy");
        run_set(&run, "ridge", "0.02");
        run_set(&run, "lambda", "0");
        assert_ok(bb_run_train(&run, &r[noisy]));
        run_close(&run);
    }
    assert_true(r[1].plan.instance_broken);
    assert_int_equal(r[1].plan.lifted_rows, 0);
    double mean = 0.0, square = 0.0;
    for (size_t i = 0; i < TASKS; i++) {
        const double *w = r[0].model + i * D;
        const double length =
            distance(D, w, r[1].model + i * D) / published_scale(&p, i, w, 0.02, 12.0);
        mean += length / TASKS;
        square += (length - D) * (length - D) / TASKS;
    }
    assert_close(mean, D, 6.5 * sqrt((double)D / TASKS));
    assert_close(square, D, 6.5 * sqrt((2.0 * D * D + 6.0 * D) / TASKS));
    bb_result_free(&r[0]);
    bb_result_free(&r[1]);
    population_close(&p);
}

/* Of an average: the tasks' parts add up to the variance of one such vector. */
static void test_published_average(void **state) {
    (void)state;
    enum { TASKS = 20, D = 5, SEEDS = 100 };
    population p = population_make(TASKS, 4, D, BB_LOSS_SQUARED, false, 92);
    double scale = 0.0, w[D], b, work[MOST_WORK], noise = 0.0;
    bb_result exact, r;
    bb_run run = open_published(&p, &bb_method_dp_aggr, false);
    run_set(&run, "lambda", "0.1");
    assert_ok(bb_run_train(&run, &exact));
    run_close(&run);
    for (size_t i = 0; i < TASKS; i++) {
        assert_ok(bb_local_ridge(&p.local[i], 0.1, NULL, w, &b, work));
        const double own = published_scale(&p, i, w, 0.1, 12.0);
        scale += own * own / TASKS;
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        run = open_published(&p, &bb_method_dp_aggr, true);
        run_set(&run, "lambda", "0.1");
        run.seed = seed;
        assert_ok(bb_run_train(&run, &r));
        for (size_t k = 0; k < D; k++)
            noise += pow((r.model[k] - exact.model[k]) * TASKS, 2.0) / (SEEDS * D);
        bb_result_free(&r);
        run_close(&run);
    }
    assert_relative(noise, (D + 1.0) * scale, 6.5 * sqrt(3.0 / (SEEDS * D)));
    bb_result_free(&exact);
    population_close(&p);
}

/* Noise by what rows are tells of them: none where all are fitted. */
static void test_published_noise_vanishes(void **state) {
    (void)state;
    enum { TASKS = 5, D = 3 };
    population p = population_empty(TASKS, 4, D, BB_LOSS_SQUARED, false);
    for (size_t i = 0; i < TASKS; i++) population_fill(&p, i, 93);
    memset(p.y, 0, p.first[TASKS] * sizeof *p.y);
    population_open_locals(&p);
    bb_run run = open_published(&p, &bb_method_dp_aggr, true);
    bb_result r;
    assert_ok(bb_run_train(&run, &r));
    for (size_t k = 0; k < D; k++) assert_true(r.model[k] == 0.0);
    bb_result_free(&r);
    run_close(&run);
    population_close(&p);
}

/* The door and the tasks agree on who adds noise. */
static void test_published_goes_together(void **state) {
    (void)state;
    population p = population_make(5, 8, 4, BB_LOSS_SQUARED, false, 94);
    bb_result r;
    bb_run run = open_published(&p, &bb_method_dp_mtrl, true);
    run.mechanism = &bb_mechanism_gaussian;
    assert_fails(bb_run_train(&run, &r), BB_EUSAGE, "--mechanism lipschitz-published");
    run.mechanism = &bb_mechanism_lipschitz_published;
    run_set(&run, "calibration", "instance");
    assert_fails(bb_run_train(&run, &r), BB_EUSAGE, "calibration=published");
    run_close(&run);
    run =
        run_open(&p, &bb_method_mp_lowrank, &bb_mechanism_lipschitz_published, &engine);
    assert_fails(bb_run_train(&run, &r), BB_EUSAGE, "no noise at its tasks");
    run_close(&run);
    population_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_average),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_reach_of_a_row),
        cmocka_unit_test(test_worst_rows),
        cmocka_unit_test(test_hostile_rows),
        cmocka_unit_test(test_descent),
        cmocka_unit_test(test_slots_noise),
        cmocka_unit_test(test_average_noise),
        cmocka_unit_test(test_published_slots),
        cmocka_unit_test(test_published_average),
        cmocka_unit_test(test_published_noise_vanishes),
        cmocka_unit_test(test_published_goes_together),
    };
    if (bb_linalg_start()) return 1;
    engine = bb_engine_threads(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
