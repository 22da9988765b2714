/* Many labels on sparse rows, where a task's model has the features of its own rows
 * only: against the same run on the same rows written out. */
#include "methods/registry.h"
#include "population.h"

#include <string.h>

enum { TASKS = 9, ROWS = 7, FEATURES = 30, OUTPUTS = 4, OWN = 8, IN_ROW = 5 };
enum { PARAMETERS = FEATURES * OUTPUTS, ALL_ROWS = TASKS * ROWS };

static bb_engine two;

/* The same rows twice. Task i has features 3 i .. 3 i + 7, mod 30; the last task has no
 * rows; a row has 0 to 2 labels. */
typedef struct rows {
    size_t first[ALL_ROWS + 1], label_first[ALL_ROWS + 1];
    uint32_t column[ALL_ROWS * IN_ROW], label[2 * ALL_ROWS];
    double value[ALL_ROWS * IN_ROW], x[ALL_ROWS * FEATURES];
    bb_local sparse[TASKS], dense[TASKS];
} rows;

static void fill_row(rows *r, size_t j, bb_random *random) {
    bool in[FEATURES] = {false};
    size_t left = IN_ROW;
    for (size_t k = 0; k < OWN; k++) {
        const bool take = bb_random_below(random, OWN - k) < left;
        in[(3 * (j / ROWS) + k) % FEATURES] = take;
        left -= take;
    }
    r->first[j + 1] = r->first[j];
    for (uint32_t k = 0; k < FEATURES; k++) {
        if (!in[k]) continue;
        const double x = bb_random_normal(random) / sqrt(IN_ROW);
        r->column[r->first[j + 1]] = k;
        r->value[r->first[j + 1]++] = x;
        r->x[j * FEATURES + k] = x;
    }
    r->label_first[j + 1] = r->label_first[j];
    for (uint32_t c = 0; c < OUTPUTS && r->label_first[j + 1] < r->label_first[j] + 2;
         c++)
        if (bb_random_below(random, 3) == 0) r->label[r->label_first[j + 1]++] = c;
}

static void rows_open(rows *r) {
    bb_random random;
    *r = (rows){0};
    assert_ok(bb_random_open_stream(&random, 21, BB_FOR_TEST, 0, 0));
    for (size_t j = 0; j < ALL_ROWS; j++) fill_row(r, j, &random);
    bb_random_close(&random);
    for (size_t i = 0; i < TASKS; i++) {
        bb_rows sparse = {.n = i + 1 < TASKS ? ROWS : 0,
                          .d = FEATURES,
                          .sparse_first = r->first + i * ROWS,
                          .sparse_column = r->column,
                          .sparse_value = r->value,
                          .label_first = r->label_first + i * ROWS,
                          .label = r->label};
        bb_rows dense = sparse;
        dense.sparse_first = NULL;
        dense.x = r->x + i * ROWS * FEATURES;
        assert_ok(bb_local_open_outputs(&r->sparse[i], sparse, BB_LOSS_MULTILABEL,
                                        OUTPUTS, NULL, false));
        assert_ok(bb_local_open_outputs(&r->dense[i], dense, BB_LOSS_MULTILABEL,
                                        OUTPUTS, NULL, false));
    }
}

static void rows_close(rows *r) {
    for (size_t i = 0; i < TASKS; i++) {
        bb_local_close(&r->sparse[i]);
        bb_local_close(&r->dense[i]);
    }
}

static double released[8][PARAMETERS];

static bb_status note(void *self, const bb_release *release, size_t tasks) {
    (void)self, (void)tasks;
    memcpy(released[release->round - 1], release->value[0], sizeof *released);
    return BB_OK;
}

static bb_run run_of(const bb_method *method, const bb_mechanism *mechanism,
                     const bb_local *local) {
    population p = {.tasks = TASKS,
                    .features = FEATURES,
                    .outputs = OUTPUTS,
                    .loss = BB_LOSS_MULTILABEL};
    bb_run run = run_open(&p, method, mechanism, &two);
    run.local = local;
    run.pub.batch = 3;
    run.phase[0].rounds = 5;
    run.observer.published = note;
    run_set(&run, "rate", "0.5");
    return run;
}

/* The models on the features that a task has, and, where `all`, elsewhere, too: there a
 * task without rows of its own has the shared model. */
static void assert_same_models(const rows *r, const bb_result *sparse,
                               const bb_result *dense, bool all, double tolerance) {
    for (size_t k = 0; k < PARAMETERS; k++)
        assert_close(sparse->shared[k], dense->shared[k], tolerance);
    for (size_t i = 0; i < TASKS; i++) {
        const bb_local *local = &r->sparse[i];
        const double *own = sparse->model + sparse->first[i];
        const double *full = dense->model + dense->first[i];
        bool touched[FEATURES] = {false};
        assert_int_equal(sparse->first[i + 1] - sparse->first[i],
                         local->touched_count * OUTPUTS);
        assert_true(local->touched_count <= OWN);
        for (size_t t = 0; t < local->touched_count; t++) {
            touched[local->touched[t]] = true;
            for (size_t c = 0; c < OUTPUTS; c++)
                assert_close(own[t * OUTPUTS + c],
                             full[local->touched[t] * OUTPUTS + c], tolerance);
        }
        for (size_t k = 0; k < PARAMETERS && all; k++)
            if (!touched[k / OUTPUTS])
                assert_close(full[k], sparse->shared[k], tolerance);
    }
}

/* Without noise: the shared model, and every task's. */
static double compare(const rows *r, const bb_method *method, const char *penalty,
                      const char *weight, bool same) {
    bb_run a = run_of(method, &bb_mechanism_none, r->sparse);
    bb_run b = run_of(method, &bb_mechanism_none, r->dense);
    bb_result sparse, dense;
    double difference = 0.0;
    if (penalty) run_set(&a, penalty, weight);
    if (penalty) run_set(&b, penalty, weight);
    assert_ok(bb_run_train(&a, &sparse));
    assert_ok(bb_run_train(&b, &dense));
    assert_true(fabs(dense.shared[0]) > 1e-4);
    if (same) assert_same_models(r, &sparse, &dense, true, 1e-12);
    for (size_t k = 0; k < PARAMETERS; k++)
        difference = fmax(difference, fabs(sparse.shared[k] - dense.shared[k]));
    bb_result_free(&sparse);
    bb_result_free(&dense);
    run_close(&a);
    run_close(&b);
    return difference;
}

/* A feature that a task's rows have not has no gradient, so what starts from the shared
 * model stays there. Only pmtl, which starts from the task's own model, would pull that
 * along behind the shared one, and show it: on sparse rows it has no such numbers. */
static void sparse_is_dense(void **state) {
    rows r;
    (void)state;
    rows_open(&r);
    (void)compare(&r, &bb_method_fedavg, NULL, NULL, true);
    (void)compare(&r, &bb_method_fedavg, "momentum", "0.5", true);
    (void)compare(&r, &bb_method_fedprox, "mu", "0.3", true);
    (void)compare(&r, &bb_method_ppsgd, "personal-rate", "2", true);
    assert_true(compare(&r, &bb_method_pmtl, "lambda", "0", false) < 1e-12);
    assert_true(compare(&r, &bb_method_pmtl, "lambda", "0.3", false) > 1e-6);
    rows_close(&r);
}

/* The clip is of the whole contribution, whose other numbers are zeros: on the grid,
 * too, releases agree up to the rounding of the descent. */
static void the_door_clips_and_places_alike(void **state) {
    rows r;
    static double kept[8][PARAMETERS];
    (void)state;
    rows_open(&r);
    for (size_t k = 0; k < 2; k++) {
        const char *const clip = k ? "1000" : "0.01"; /* all are clipped, none is */
        bb_run a = run_of(&bb_method_fedavg, &bb_mechanism_gaussian, r.sparse);
        bb_run b = run_of(&bb_method_fedavg, &bb_mechanism_gaussian, r.dense);
        bb_result sparse, dense;
        a.pub.epsilon = b.pub.epsilon = 1e4;
        run_set(&a, "clip", clip);
        run_set(&b, "clip", clip);
        assert_ok(bb_run_train(&a, &sparse));
        memcpy(kept, released, sizeof kept);
        assert_ok(bb_run_train(&b, &dense));
        for (size_t t = 0; t < 5; t++)
            for (size_t j = 0; j < PARAMETERS; j++)
                assert_close(kept[t][j], released[t][j], TASKS * atof(clip) * 0x1p-31);
        assert_same_models(&r, &sparse, &dense, true, 1e-6 * atof(clip));
        bb_result_free(&sparse);
        bb_result_free(&dense);
        run_close(&a);
        run_close(&b);
    }
    rows_close(&r);
}

/* Finetuning, too, is of the task's own numbers. */
static void finetuning_is_of_own_features(void **state) {
    const char *const how[] = {"vanilla", "mean", "kl", "ewc"};
    unsigned char options[512] = {0};
    const bb_phase phase = {.method = &bb_method_finetune, .options = options};
    rows r;
    (void)state;
    rows_open(&r);
    assert_ok(bb_options_default(phase.method->options, options));
    for (size_t k = 0; k < 4; k++) {
        bb_run a = run_of(&bb_method_fedavg, &bb_mechanism_none, r.sparse);
        bb_run b = run_of(&bb_method_fedavg, &bb_mechanism_none, r.dense);
        bb_result sparse, dense;
        assert_ok(
            bb_options_set(phase.method->options, options, "test", "how", how[k]));
        a.phase[a.phases++] = b.phase[b.phases++] = phase;
        assert_ok(bb_run_train(&a, &sparse));
        assert_ok(bb_run_train(&b, &dense));
        assert_same_models(&r, &sparse, &dense, true, 1e-12);
        bb_result_free(&sparse);
        bb_result_free(&dense);
        run_close(&a);
        run_close(&b);
    }
    rows_close(&r);
}

static const double *state_of[TASKS];

static void train_and_note(const bb_view *view, bb_task *task) {
    state_of[task->id] = task->state;
    bb_method_pmtl.train(view, task);
}

/* What is kept of a task between rounds has the size of its own model. */
static void memory_goes_with_the_rows(void **state) {
    bb_method method = bb_method_pmtl;
    rows r;
    bb_result result;
    (void)state;
    rows_open(&r);
    method.train = train_and_note;
    bb_run run = run_of(&method, &bb_mechanism_none, r.sparse);
    assert_ok(bb_run_train(&run, &result));
    for (size_t i = 0; i + 1 < TASKS; i++) {
        assert_int_equal(r.sparse[i].length, r.sparse[i].touched_count * OUTPUTS);
        assert_int_equal(state_of[i + 1] - state_of[i], r.sparse[i].length);
    }
    assert_int_equal(result.first[TASKS], result.first[TASKS - 1]); /* no rows */
    assert_true(result.first[TASKS] <= TASKS * OWN * OUTPUTS);
    bb_result_free(&result);
    run_close(&run);
    rows_close(&r);
}

static void clusters_are_refused(void **state) {
    const uint32_t cluster[TASKS] = {0, 1};
    rows r;
    bb_result result;
    (void)state;
    rows_open(&r);
    bb_run run = run_of(&bb_method_pmtl_clusters, &bb_mechanism_none, r.sparse);
    run.pub.cluster = cluster;
    run.pub.clusters = 2;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE,
                 "clusters and relations are not for several outputs of sparse rows");
    run_close(&run);
    rows_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_is_dense),
        cmocka_unit_test(the_door_clips_and_places_alike),
        cmocka_unit_test(finetuning_is_of_own_features),
        cmocka_unit_test(memory_goes_with_the_rows),
        cmocka_unit_test(clusters_are_refused),
    };
    if (bb_linalg_start()) return 1;
    two = bb_engine_threads(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
