/* mp-centre against an exact case (inputs, noise, centres and models), the guard, and
 * tasks with enough rows to judge for themselves. */
#include "base/parallel.h"
#include "learners/rows.h"
#include "linalg/linalg.h"
#include "methods/personal.h"
#include "methods/personal_outputs.h"
#include "methods/registry.h"
#include "population.h"
#include "privacy/accounting/accountant.h"

#include <jansson.h>

#include <math.h>
#include <string.h>

enum { ROWS = 6, FEATURES = 4, TASKS = 12 };

typedef struct given {
    const json_t *noise; /* standard, one row a round */
    double mu;           /* of the whole */
} given;

static double number_at(const json_t *array, size_t i, size_t k) {
    return json_number_value(json_array_get(json_array_get(array, i), k));
}

static bb_status inject(void *self, bb_random *random, uint32_t round,
                        const bb_block *block, double pure, double *sum, double *std) {
    const given *g = self;
    (void)random, (void)pure;
    *std = g->mu; /* set by the caller: the sum's standard deviation */
    for (size_t k = 0; k < block->length; k++)
        sum[k] += *std * number_at(g->noise, round - 1, k);
    return BB_OK;
}

static json_t *open_case(void) {
    char path[1024];
    if (!shared_path(path, sizeof path, "oracle/mpcentre/logistic_center.json")) skip();
    json_t *all = json_load_file(path, 0, NULL);
    assert_non_null(all);
    return all;
}

static population read_population(const json_t *all) {
    const json_t *x = json_object_get(all, "X"), *y = json_object_get(all, "y");
    population p = population_empty(TASKS, ROWS, FEATURES, BB_LOSS_LOGISTIC, false);
    for (size_t i = 0; i <= TASKS; i++) p.first[i] = i * ROWS;
    for (size_t i = 0; i < TASKS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            p.y[i * ROWS + j] = number_at(y, i, j);
            for (size_t k = 0; k < FEATURES; k++)
                p.x[(i * ROWS + j) * FEATURES + k] =
                    number_at(json_array_get(x, i), j, k);
        }
    population_open_locals(&p);
    return p;
}

/* The case's tasks fit around the centre with one weight, 1, and alone with 3/pi^2: what
 * its models say of the centre. */
static void check_fit(const bb_local *local, const double *shared, const json_t *models,
                      size_t i) {
    const bool found = bb_norm(FEATURES, shared) > 0.0;
    const double weight = found ? 1.0 : 3.0 / (M_PI * M_PI);
    double w[FEATURES], work[4096], intercept;
    assert_true(bb_local_work(local) <= 4096);
    assert_ok(
        bb_local_ridge(local, weight * local->weight, shared, w, &intercept, work));
    for (size_t k = 0; k < FEATURES; k++)
        assert_close(w[k], number_at(models, i, k), 1e-8);
}

/* With the first case's budget nothing would be published (hopeless): it is driven by a larger
 * one of which one round is asked, with its own noise. */
static void check_case(const population *p, const json_t *all, const json_t *one) {
    const double epsilon = json_number_value(json_object_get(one, "eps"));
    const bool closed = epsilon < 2.0;
    const json_t *models = json_object_get(one, "W_final");
    const json_t *info = json_object_get(one, "info");
    given g = {.noise = json_object_get(all, "unit_noise")};
    const bb_mechanism mechanism = {.name = "given",
                                    .pricing = BB_PRICE_GAUSSIAN,
                                    .clips = true,
                                    .add = inject,
                                    .self = &g};
    const bb_engine engine = bb_engine_threads(2);
    bb_run run = run_open(p, &bb_method_mp_centre, &mechanism, &engine);
    bb_result result;
    char step[32];
    snprintf(step, sizeof step, "%.17g", 3.0 / sqrt(FEATURES));
    run_set(&run, "step", step);
    run_set(&run, "most-rounds", "12");
    run_set(&run, "signal", closed ? "0.1" : "0.3");
    run_set(&run, "penalty", "0.30396355092701331");
    run_set(&run, "length", "0"); /* directions of length one */
    run.pub.epsilon = closed ? 10.0 : epsilon;
    run.pub.delta = json_number_value(json_object_get(one, "delta"));
    g.mu = TASKS * json_number_value(json_object_get(info, "sd_of_average"));
    assert_ok(bb_run_train(&run, &result));
    assert_true(result.rounds == json_number_value(json_object_get(info, "T")));
    const double mu = closed ? bb_gdp_mu(epsilon, run.pub.delta) : result.plan.mu[0];
    assert_relative(2.0 / mu, g.mu, 1e-9);
    for (size_t i = 0; i < TASKS; i++)
        check_fit(&p->local[i], result.shared, models, i);
    bb_result_free(&result);
    run_close(&run);
}

static void exact_case(void **state) {
    (void)state;
    json_t *all = open_case();
    population p = read_population(all);
    const json_t *cases = json_object_get(all, "cases");
    assert_int_equal(json_array_size(cases), 3);
    for (size_t c = 0; c < 3; c++) check_case(&p, all, json_array_get(cases, c));
    population_close(&p);
    json_decref(all);
}

/* Tasks that share nothing keep exactly the model they had alone; false alarms of the
 * guard: 1 % a run, none expected in these five seeds. */
static void nothing_shared(void **state) {
    (void)state;
    population p = population_empty(40, 12, FEATURES, BB_LOSS_LOGISTIC, false);
    const bb_engine engine = bb_engine_threads(2);
    bb_random random;
    for (size_t i = 0; i < p.tasks; i++) population_fill(&p, i, 61);
    assert_ok(bb_random_open_stream(&random, 3, BB_FOR_TEST, 0, 0));
    for (size_t j = 0; j < p.first[p.tasks]; j++) /* labels by coins */
        p.y[j] = bb_random_uniform(&random) < 0.5 ? 1.0 : -1.0;
    bb_random_close(&random);
    population_open_locals(&p);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        bb_run run =
            run_open(&p, &bb_method_mp_centre, &bb_mechanism_gaussian, &engine);
        bb_result result;
        double own[FEATURES], work[4096];
        run.pub.epsilon = 0.5;
        run.seed = seed;
        assert_ok(bb_run_train(&run, &result));
        for (size_t i = 0; i < p.tasks; i++) {
            const bb_local *local = &p.local[i];
            assert_true(bb_personal_work(local) <= 4096);
            assert_ok(bb_personal_model(local, &(bb_personal_public){.constant = true},
                                        own, work));
            for (size_t k = 0; k < FEATURES; k++)
                assert_true(result.model[i * FEATURES + k] == own[k]);
        }
        bb_result_free(&result);
        run_close(&run);
    }
    population_close(&p);
}

/* Four tasks cannot show what they share at this budget: nothing is published, and every task
 * keeps exactly the model it had alone. */
static void hopeless(void **state) {
    (void)state;
    population p = population_empty(4, 12, FEATURES, BB_LOSS_LOGISTIC, false);
    const bb_engine engine = bb_engine_threads(1);
    double own[FEATURES], work[4096];
    for (size_t i = 0; i < p.tasks; i++) population_fill(&p, i, 62);
    for (size_t j = 0; j < p.first[p.tasks]; j++) p.y[j] = j % 3 ? 1.0 : -1.0;
    population_open_locals(&p);
    bb_run run = run_open(&p, &bb_method_mp_centre, &bb_mechanism_gaussian, &engine);
    bb_result result;
    run.pub.epsilon = 0.5;
    assert_ok(bb_run_train(&run, &result));
    assert_int_equal(result.rounds, 0);
    assert_non_null(strstr(result.note, "nothing was published"));
    for (size_t i = 0; i < p.tasks; i++) {
        assert_true(bb_personal_work(&p.local[i]) <= 4096);
        assert_ok(bb_personal_model(
            &p.local[i], &(bb_personal_public){.constant = true}, own, work));
        assert_memory_equal(result.model + i * FEATURES, own, sizeof own);
    }
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

/* Forty rows each around one common direction; task 7 has every label turned round. It
 * stays near its own model, and nearly all others move away from theirs. */
static void own_rows_judge(void **state) {
    (void)state;
    enum { ODD = 7 };
    population p = population_empty(60, 40, FEATURES, BB_LOSS_LOGISTIC, false);
    const bb_engine engine = bb_engine_threads(2);
    size_t joint = 0;
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 5, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < p.tasks; i++)
        for (size_t j = p.first[i]; j < p.first[i + 1]; j++) {
            double *x = p.x + j * FEATURES, sum = 0.0;
            for (size_t k = 0; k < FEATURES; k++) {
                x[k] = 0.5 * bb_random_normal(&random);
                sum += x[k];
            }
            const bool up = bb_random_uniform(&random) < 1.0 / (1.0 + exp(-2.0 * sum));
            p.y[j] = (up ? 1.0 : -1.0) * (i == ODD ? -1.0 : 1.0);
        }
    bb_random_close(&random);
    population_open_locals(&p);
    bb_run run = run_open(&p, &bb_method_mp_centre, &bb_mechanism_gaussian, &engine);
    bb_result result;
    run.pub.epsilon = 20.0;
    assert_ok(bb_run_train(&run, &result));
    for (size_t i = 0; i < p.tasks; i++) {
        const bb_local *local = &p.local[i];
        double own[FEATURES], work[4096], apart = 0.0;
        assert_true(bb_personal_work(local) <= 4096);
        assert_ok(bb_personal_model(local, &(bb_personal_public){.constant = true}, own,
                                    work));
        for (size_t k = 0; k < FEATURES; k++)
            apart += fabs(result.model[i * FEATURES + k] - own[k]);
        if (i == ODD) assert_true(apart < 0.1 * bb_norm(FEATURES, own));
        joint += apart > 1e-3;
    }
    assert_in_range(joint, 45, 60);
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

/* Rows have a length of about one, so the centre of 60 columns is long, and noise leaves little
 * of each direction: it is reached all the same. */
static void wide_centres_are_reached(void **state) {
    (void)state;
    enum { WIDE = 60 };
    population p = population_empty(100, 20, WIDE, BB_LOSS_LOGISTIC, false);
    const bb_engine engine = bb_engine_threads(2);
    double truth[WIDE];
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 6, BB_FOR_TEST, 0, 0));
    for (size_t k = 0; k < WIDE; k++) truth[k] = 3.0 * bb_random_normal(&random);
    for (size_t j = 0; j < p.first[p.tasks]; j++) {
        double *x = p.x + j * WIDE;
        for (size_t k = 0; k < WIDE; k++) x[k] = bb_random_normal(&random) / sqrt(WIDE);
        const double chance = 1.0 / (1.0 + exp(-bb_dot(WIDE, x, truth)));
        p.y[j] = bb_random_uniform(&random) < chance ? 1.0 : -1.0;
    }
    bb_random_close(&random);
    population_open_locals(&p);
    bb_run run = run_open(&p, &bb_method_mp_centre, &bb_mechanism_gaussian, &engine);
    bb_result result;
    run.pub.epsilon = 5.0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        run.seed = seed;
        assert_ok(bb_run_train(&run, &result));
        const double along = bb_dot(WIDE, result.shared, truth);
        assert_true(along > 0.7 * bb_dot(WIDE, truth, truth));
        bb_result_free(&result);
    }
    run_close(&run);
    population_close(&p);
}

/* How far along the truth the centre is where rows are so long: 1 where it should be. */
static double reached(double length) {
    enum { FEW = 6 };
    static const double truth[FEW] = {4.0, -4.0, 2.0, 6.0, 0.0, 3.0};
    population p = population_empty(300, 8, FEW, BB_LOSS_LOGISTIC, false);
    const bb_engine engine = bb_engine_threads(2);
    bb_random random;
    bb_result result;
    assert_ok(bb_random_open_stream(&random, 8, BB_FOR_TEST, 0, 0));
    for (size_t j = 0; j < p.first[p.tasks]; j++) {
        double *x = p.x + j * FEW;
        for (size_t k = 0; k < FEW; k++) x[k] = bb_random_normal(&random) / sqrt(FEW);
        const double chance = 1.0 / (1.0 + exp(-bb_dot(FEW, x, truth)));
        p.y[j] = bb_random_uniform(&random) < chance ? 1.0 : -1.0;
        bb_scale(FEW, length, x);
    }
    bb_random_close(&random);
    population_open_locals(&p);
    bb_run run = run_open(&p, &bb_method_mp_centre, &bb_mechanism_gaussian, &engine);
    run.pub.epsilon = 5.0;
    assert_ok(bb_run_train(&run, &result));
    const double along =
        length * bb_dot(FEW, result.shared, truth) / bb_dot(FEW, truth, truth);
    print_message("rows of length %g: %.3f of the centre\n", length, along);
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
    return along;
}

/* Ranges that are too wide make rows short. Tasks that are separable, as many here are, go on
 * for ever in directions that are right already, and lead a centre too far (2.2 times as far
 * with one small penalty for all). */
static void rows_of_any_length_lead_to_the_centre(void **state) {
    (void)state;
    for (double length = 1.0; length > 0.005; length /= 10.0) {
        const double along = reached(length);
        assert_true(along > 0.5 && along < 1.8);
    }
}

/* What a feature says for all classes alike changes no probability: directions have nothing
 * there, and the centre nothing of the noise. */
static void classes_have_no_part_in_common(void **state) {
    (void)state;
    population p = population_empty(40, 12, FEATURES, BB_LOSS_SOFTMAX, false);
    const bb_engine engine = bb_engine_threads(1);
    const size_t length = FEATURES * p.outputs;
    double centre[64], w[64], work[4096];
    assert_true(length <= 64);
    for (size_t i = 0; i < p.tasks; i++) population_fill(&p, i, 61);
    population_open_locals(&p);
    bb_run run = run_open(&p, &bb_method_mp_centre, &bb_mechanism_gaussian, &engine);
    bb_result result;
    run.pub.epsilon = 8.0;
    assert_ok(bb_run_train(&run, &result));
    memcpy(centre, result.shared, length * sizeof *centre);
    assert_true(bb_norm(length, centre) > 0.1);
    assert_true(bb_personal_outputs_work(&p.local[0]) <= 4096);
    bb_personal_outputs_fit(&p.local[0], 0.02, centre, w, work);
    for (size_t k = 0; k < length; k += p.outputs) {
        assert_close(bb_sum(p.outputs, centre + k), 0.0, 1e-10);
        assert_close(bb_sum(p.outputs, w + k), 0.0, 1e-6);
    }
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

/* What a model loses beside the truth, per row: of log odds level + z. */
static double lost(const double *w, const double unit[2], double level) {
    double sum = 0.0, count = 0.0;
    for (double z = -2.0; z <= 2.0; z += 0.25) {
        const double weight = exp(-0.5 * z * z),
                     told = unit[0] * w[0] * z + unit[1] * w[1];
        const double p = 1.0 / (1.0 + exp(-level - z)), q = 1.0 / (1.0 + exp(-told));
        sum += weight * (p * log(p / q) + (1.0 - p) * log((1.0 - p) / (1.0 - q)));
        count += weight;
    }
    return sum / count;
}

/* What is lost per row by 300 tasks of so many rows with levels that differ and the same
 * slope, in a range that is so wide. */
static double lost_by_tasks_of(size_t rows, double width) {
    enum { MANY = 300 };
    static double level[MANY];
    const double unit[2] = {sqrt(0.5) / width, sqrt(0.5)};
    population p = population_empty(MANY, rows, 2, BB_LOSS_LOGISTIC, false);
    const bb_engine engine = bb_engine_threads(2);
    double loss = 0.0;
    bb_random random;
    bb_result result;
    assert_ok(bb_random_open_stream(&random, 21, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < MANY; i++) {
        level[i] = -0.5 + 0.8 * bb_random_normal(&random);
        for (size_t j = p.first[i]; j < p.first[i + 1]; j++) {
            const double z = bb_random_normal(&random);
            const double chance = 1.0 / (1.0 + exp(-level[i] - z));
            p.x[2 * j] = unit[0] * z;
            p.x[2 * j + 1] = unit[1];
            p.y[j] = bb_random_uniform(&random) < chance ? 1.0 : -1.0;
        }
    }
    bb_random_close(&random);
    population_open_locals(&p);
    bb_run run = run_open(&p, &bb_method_mp_centre, &bb_mechanism_gaussian, &engine);
    run.pub.epsilon = 3.0;
    run.pub.constant = true;
    assert_ok(bb_run_train(&run, &result));
    for (size_t i = 0; i < MANY; i++)
        loss += lost(result.model + 2 * i, unit, level[i]) / MANY;
    print_message("%zu rows: %.4f nats a row are lost beside the truth\n", rows, loss);
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
    return loss;
}

/* Ten rows do not tell a task how far its level is from that of others: all tasks together vote
 * on it. Of four rows most are separable, and lead to a centre that is too long: they vote on
 * that, too. */
static void tasks_vote_on_how_far_models_are(void **state) {
    (void)state;
    assert_true(lost_by_tasks_of(10, 1.0) < 0.04); /* .066 without the vote */
    assert_true(lost_by_tasks_of(4, 3.0) <
                0.084); /* .0895 without half of the centre */
}

enum { CLASSES = 3 };

/* p <- the probabilities of classes of these log odds and slopes. */
static void chances(const double level[CLASSES], const double slope[CLASSES], double z,
                    double p[CLASSES]) {
    double sum = 0.0;
    for (size_t c = 0; c < CLASSES; c++) sum += p[c] = exp(level[c] + slope[c] * z);
    for (size_t c = 0; c < CLASSES; c++) p[c] /= sum;
}

/* The same of three classes. */
static void tasks_of_classes_vote_too(void **state) {
    (void)state;
    enum { MANY = 400, OF_EACH = 4 };
    static double level[MANY][CLASSES];
    const double slope[CLASSES] = {0.0, 1.0, -1.0}, unit = sqrt(0.5);
    population p = population_empty(MANY, OF_EACH, 2, BB_LOSS_SOFTMAX, false);
    const bb_engine engine = bb_engine_threads(2);
    double loss = 0.0, truth[CLASSES], told[CLASSES];
    bb_random random;
    bb_result result;
    assert_int_equal(p.outputs, CLASSES);
    assert_ok(bb_random_open_stream(&random, 22, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < MANY; i++) {
        for (size_t c = 0; c < CLASSES; c++)
            level[i][c] = 0.8 * bb_random_normal(&random);
        for (size_t j = p.first[i]; j < p.first[i + 1]; j++) {
            const double z = bb_random_normal(&random), at = bb_random_uniform(&random);
            chances(level[i], slope, z, truth);
            p.x[2 * j] = unit * z;
            p.x[2 * j + 1] = unit;
            p.y[j] = (at >= truth[0]) + (at >= truth[0] + truth[1]);
        }
    }
    bb_random_close(&random);
    population_open_locals(&p);
    bb_run run = run_open(&p, &bb_method_mp_centre, &bb_mechanism_gaussian, &engine);
    run.pub.epsilon = 3.0;
    run.pub.constant = true;
    assert_ok(bb_run_train(&run, &result));
    for (size_t i = 0; i < MANY; i++) {
        const double *w = result.model + 2 * CLASSES * i;
        double own_level[CLASSES], own_slope[CLASSES];
        for (size_t c = 0; c < CLASSES; c++) {
            own_slope[c] = unit * w[c];
            own_level[c] = unit * w[CLASSES + c];
        }
        for (double z = -1.0; z <= 1.0; z += 1.0) {
            chances(level[i], slope, z, truth);
            chances(own_level, own_slope, z, told);
            for (size_t c = 0; c < CLASSES; c++)
                loss += truth[c] * log(truth[c] / told[c]) / (3.0 * MANY);
        }
    }
    print_message("%.4f nats a row are lost beside the truth\n", loss);
    assert_true(loss < 0.13); /* .147 without the vote */
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

/* Two rows a task, of which one in seven is an event: most tasks have none, and would go on
 * for ever towards fewer. They have what they want, and say little. */
static void tasks_of_one_class_do_not_lead_away(void **state) {
    (void)state;
    enum { MANY = 400 };
    population p = population_empty(MANY, 2, FEATURES, BB_LOSS_LOGISTIC, false);
    const bb_engine engine = bb_engine_threads(2);
    const char *length[2] = {"0.5", "0"};
    double level[2];
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 9, BB_FOR_TEST, 0, 0));
    for (size_t j = 0; j < p.first[MANY]; j++) {
        double *x = p.x + j * FEATURES;
        for (size_t k = 0; k + 1 < FEATURES; k++)
            x[k] = 0.5 * bb_random_normal(&random);
        x[FEATURES - 1] = 0.5;
        p.y[j] = bb_random_uniform(&random) < 1.0 / 7.0 ? 1.0 : -1.0;
    }
    bb_random_close(&random);
    population_open_locals(&p);
    for (int l = 0; l < 2; l++) {
        bb_run run =
            run_open(&p, &bb_method_mp_centre, &bb_mechanism_gaussian, &engine);
        bb_result result;
        run.pub.epsilon = 5.0;
        run.pub.constant = true;
        run_set(&run, "length", length[l]);
        assert_ok(bb_run_train(&run, &result));
        level[l] = 0.5 * result.shared[FEATURES - 1]; /* log odds; of 1 in 7 -1.8 */
        bb_result_free(&result);
        run_close(&run);
    }
    assert_true(level[0] < -1.0 && level[0] > -5.0);
    assert_true(level[1] < -10.0);
    population_close(&p);
}

/* A year that decides, next to a price that says half as much and a column of noise, each in the
 * task's own power of ten, which some choose otherwise: the column that `z' is in. */
static void in_powers_of_ten(const double z[3], double more, double x[FEATURES]) {
    x[0] = (0.2 + 0.001 * z[0]) * more / sqrt(FEATURES);
    x[1] = (0.3 + 0.03 * z[1]) / sqrt(FEATURES);
    x[2] = 0.5 * z[2] / sqrt(FEATURES);
    x[3] = 1.0 / sqrt(FEATURES);
}

static double draw(bb_random *random, double z[3]) {
    for (int k = 0; k < 3; k++) z[k] = bb_random_normal(random);
    return bb_random_uniform(random) < 1.0 / (1.0 + exp(-2.0 * z[0] - z[1])) ? 1.0
                                                                             : 0.0;
}

/* The share of new rows that are right. */
static double rows_right(bb_loss loss, bool own_units, double epsilon) {
    enum { MANY = 300, NEW = 10 };
    static const double factor[2][FEATURES - 1] = {{1e-4, 0.1, 1.0}, {1e-5, 0.1, 1.0}};
    population p = population_empty(MANY, 4, FEATURES, loss, false);
    const bb_engine engine = bb_engine_threads(2);
    const size_t outputs = p.outputs, last = outputs > 1;
    bb_random random;
    bb_result result;
    double z[3], right = 0.0;
    assert_ok(bb_random_open_stream(&random, 21, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = p.first[i]; j < p.first[i + 1]; j++) {
            const double event = draw(&random, z);
            in_powers_of_ten(z, i % 3 ? 1.0 : 0.1, p.x + j * FEATURES);
            p.y[j] = outputs > 1 ? event : 2.0 * event - 1.0;
        }
    population_open_locals(&p);
    for (size_t i = 0; i < MANY; i++) p.local[i].own_factor = factor[i % 3 == 0];
    bb_run run = run_open(&p, &bb_method_mp_centre, &bb_mechanism_gaussian, &engine);
    run.pub.epsilon = epsilon;
    run.pub.constant = run.pub.unranged = true;
    run.pub.own_units = own_units;
    assert_ok(bb_run_train(&run, &result));
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = 0; j < NEW; j++) {
            double x[FEATURES], at = 0.0;
            const double event = draw(&random, z);
            const double *model = result.model + i * FEATURES * outputs;
            in_powers_of_ten(z, i % 3 ? 1.0 : 0.1, x);
            for (size_t k = 0; k < FEATURES; k++)
                at += x[k] *
                      (model[k * outputs + last] - (last ? model[k * outputs] : 0.0));
            right += (at > 0.0) == (event > 0.0);
        }
    bb_random_close(&random);
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
    return right / (MANY * NEW);
}

/* Whoever knows how labels come about is right four times in five. */
static void common_units_help(void **state) {
    (void)state;
    static const bb_loss losses[] = {BB_LOSS_LOGISTIC, BB_LOSS_SOFTMAX};
    for (int l = 0; l < 2; l++) {
        const double own = rows_right(losses[l], false, 3.0),
                     common = rows_right(losses[l], true, 3.0);
        print_message("right: %.3f, in common units %.3f\n", own, common);
        assert_true(common > 0.76 && common > own + 0.03);
    }
}

/* Where noise leaves no units, nothing is spent on them, and nothing is different. */
static void little_budget_leaves_own_units(void **state) {
    (void)state;
    assert_true(rows_right(BB_LOSS_LOGISTIC, true, 0.02) ==
                rows_right(BB_LOSS_LOGISTIC, false, 0.02));
}

static void refusals(void **state) {
    (void)state;
    population p = population_make(5, 9, FEATURES, BB_LOSS_LOGISTIC, false, 61);
    const bb_engine engine = bb_engine_threads(1);
    bb_run run = run_open(&p, &bb_method_mp_centre, &bb_mechanism_gaussian, &engine);
    bb_result result;
    run.phase[0].rounds = 3;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "its own rounds");
    run.phase[0].rounds = 0;
    run.pub.loss = BB_LOSS_SQUARED;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "squared");
    run_close(&run);
    population_close(&p);
}

int main(void) {
    if (bb_linalg_start()) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_case),
        cmocka_unit_test(nothing_shared),
        cmocka_unit_test(hopeless),
        cmocka_unit_test(own_rows_judge),
        cmocka_unit_test(wide_centres_are_reached),
        cmocka_unit_test(rows_of_any_length_lead_to_the_centre),
        cmocka_unit_test(classes_have_no_part_in_common),
        cmocka_unit_test(tasks_of_one_class_do_not_lead_away),
        cmocka_unit_test(tasks_vote_on_how_far_models_are),
        cmocka_unit_test(tasks_of_classes_vote_too),
        cmocka_unit_test(common_units_help),
        cmocka_unit_test(little_budget_leaves_own_units),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
