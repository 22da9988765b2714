/* pmtl-clusters: what it has to do with pmtl on each cluster by itself. */
#include "methods/registry.h"
#include "population.h"

#include <string.h>

enum { TASKS = 12, FEATURES = 4, ROUNDS = 4, CLUSTERS = 3 };

static const uint32_t cluster[TASKS] = {2, 0, 1, 1, 0, 2, 0, 0, 1, 0, 0, 1};
static bb_engine two;

/* The last task has no rows. */
static population tasks_of(bb_loss loss) {
    return population_make_last_empty(TASKS, 10, FEATURES, loss, 4);
}

static bb_run run_of(const population *p, const bb_method *method) {
    bb_run run = run_open(p, method, &bb_mechanism_none, &two);
    run.phase[0].rounds = ROUNDS;
    run_set(&run, "guard", "off");
    run_set(&run, "lambda", "0.05");
    if (method->clustered) run.pub.cluster = cluster;
    run.pub.clusters = method->clustered ? CLUSTERS : 1;
    return run;
}

/* pmtl on the tasks of cluster c alone, whose changes count as among all tasks. */
static bb_result alone(const population *p, uint32_t c, size_t *members) {
    bb_local local[TASKS];
    char rate[40];
    bb_run run = run_of(p, &bb_method_pmtl);
    bb_result result;
    *members = 0;
    for (size_t i = 0; i < TASKS; i++)
        if (cluster[i] == c) local[(*members)++] = p->local[i];
    snprintf(rate, sizeof rate, "%.17g", 0.9 * (double)*members / TASKS);
    run_set(&run, "server-rate", rate);
    run.local = local;
    run.pub.tasks = *members;
    assert_ok(bb_run_train(&run, &result));
    run_close(&run);
    return result;
}

/* All clusters' sums are divided by all tasks, which is public and the same for the
 * noise of each: a cluster of m_c tasks moves m_c / m as far as it would alone. */
static void clusters_are_runs_of_their_own(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_MULTILABEL; loss++) {
        population p = tasks_of((bb_loss)loss);
        bb_run run = run_of(&p, &bb_method_pmtl_clusters);
        bb_result all;
        run_set(&run, "server-rate", "0.9");
        assert_ok(bb_run_train(&run, &all));
        const size_t size = run.pub.parameters;
        for (uint32_t c = 0; c < CLUSTERS; c++) {
            size_t members, at = 0;
            bb_result part = alone(&p, c, &members);
            for (size_t k = 0; k < size; k++)
                assert_close(all.shared[c * size + k], part.shared[k], 1e-12);
            for (size_t i = 0; i < TASKS; i++) {
                if (cluster[i] != c) continue;
                for (size_t k = 0; k < size; k++)
                    assert_close(all.model[i * size + k], part.model[at * size + k],
                                 1e-12);
                at++;
            }
            assert_true(fabs(part.shared[0]) > 1e-4);
            bb_result_free(&part);
        }
        bb_result_free(&all);
        run_close(&run);
        population_close(&p);
    }
}

/* With one cluster, named or not, it is pmtl, noise and all. */
static void one_cluster_is_pmtl(void **state) {
    const uint32_t same[TASKS] = {0};
    const uint32_t *const named[] = {NULL, same};
    (void)state;
    population p = tasks_of(BB_LOSS_LOGISTIC);
    bb_run run = run_of(&p, &bb_method_pmtl);
    bb_result pmtl, clusters;
    run.mechanism = &bb_mechanism_gaussian;
    run.pub.epsilon = 1.0;
    run.pub.delta = 1e-5;
    assert_ok(bb_run_train(&run, &pmtl));
    run.phase[0].method = &bb_method_pmtl_clusters;
    for (size_t k = 0; k < 2; k++) {
        run.pub.cluster = named[k];
        assert_ok(bb_run_train(&run, &clusters));
        assert_string_equal(pmtl.billboard_sha256, clusters.billboard_sha256);
        assert_memory_equal(pmtl.model, clusters.model,
                            pmtl.first[TASKS] * sizeof *pmtl.model);
        bb_result_free(&clusters);
    }
    bb_result_free(&pmtl);
    run_close(&run);
    population_close(&p);
}

static bb_status check_places(void *self, const bb_release *release, size_t tasks) {
    const uint32_t *empty = self;
    (void)tasks;
    assert_int_equal(release->layout->block[0].length, CLUSTERS * FEATURES);
    for (size_t k = 0; k < CLUSTERS * FEATURES; k++)
        assert_true((release->value[0][k] == 0.0) == (k / FEATURES == *empty));
    return BB_OK;
}

/* A task adds to its cluster's part and to no other. */
static void tasks_show_in_their_place(void **state) {
    (void)state;
    for (uint32_t empty = 0; empty < CLUSTERS; empty++) {
        population p = tasks_of(BB_LOSS_SQUARED);
        bb_run run = run_of(&p, &bb_method_pmtl_clusters);
        bb_result result;
        for (size_t i = 0; i < TASKS; i++)
            if (cluster[i] == empty) p.local[i].n = 0;
        run.observer = (bb_observer){.self = &empty, .published = check_places};
        assert_ok(bb_run_train(&run, &result));
        bb_result_free(&result);
        run_close(&run);
        population_close(&p);
    }
}

/* From one model to one for each cluster, but not back. */
static void clusters_come_last(void **state) {
    unsigned char options[512] = {0};
    const bb_phase pmtl = {&bb_method_pmtl, options, 1, 0.5};
    (void)state;
    assert_ok(bb_options_default(bb_method_pmtl.options, options));
    population p = tasks_of(BB_LOSS_SQUARED);
    bb_run run = run_of(&p, &bb_method_pmtl_clusters);
    bb_result result;
    run.phase[run.phases++] = pmtl;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE,
                 "phase 2, pmtl, has one shared model");
    run_close(&run);
    run = run_of(&p, &bb_method_pmtl);
    run.pub.cluster = cluster;
    run.pub.clusters = CLUSTERS;
    const bb_phase later = {&bb_method_pmtl_clusters, options, 1, 0.5};
    run.phase[run.phases++] = later;
    assert_ok(bb_run_train(&run, &result));
    assert_memory_not_equal(result.shared, result.shared + FEATURES,
                            FEATURES * sizeof(double));
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_are_runs_of_their_own),
        cmocka_unit_test(one_cluster_is_pmtl),
        cmocka_unit_test(tasks_show_in_their_place),
        cmocka_unit_test(clusters_come_last),
    };
    if (bb_linalg_start()) return 1;
    two = bb_engine_threads(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
