/* pmtl-graph: centres of related tasks, and what they have to do with pmtl. */
#include "linalg/linalg.h"
#include "methods/registry.h"
#include "methods/relations.h"
#include "population.h"

#include <string.h>

enum { TASKS = 12, FEATURES = 4 };

static const uint32_t cluster[TASKS] = {2, 0, 1, 1, 0, 2, 0, 0, 1, 0, 0, 1};
static bb_engine one;

/* Tasks of a cluster are related to each other and to themselves, all alike. */
static void cliques(bool all, double *a) {
    for (size_t k = 0; k < TASKS; k++)
        for (size_t l = 0; l < TASKS; l++)
            a[k * TASKS + l] = all || cluster[k] == cluster[l] ? 1.0 : 0.0;
}

/* A ring with chords, of different weights; the last task is alone. */
static void ring(double *a) {
    memset(a, 0, TASKS * TASKS * sizeof *a);
    for (size_t k = 0; k + 1 < TASKS; k++) {
        const size_t next = (k + 1) % (TASKS - 1), far = (k + 4) % (TASKS - 1);
        a[k * TASKS + next] = a[next * TASKS + k] = 1.0 + (double)(k % 3);
        a[k * TASKS + far] = a[far * TASKS + k] = 0.5;
    }
}

static bb_run run_of(const population *p, const bb_method *method, uint32_t rounds) {
    bb_run run = run_open(p, method, &bb_mechanism_none, &one);
    run.phase[0].rounds = rounds;
    run_set(&run, "guard", "off");
    run_set(&run, "lambda", "0.05");
    return run;
}

/* show and see together are P = D^-1 A, the largest parts first. */
static void parts_make_the_whole(void **state) {
    (void)state;
    double a[TASKS * TASKS], destroyed[TASKS * TASKS];
    for (int kind = 0; kind < 3; kind++) {
        bb_relations r;
        double before = INFINITY;
        if (kind == 2)
            ring(a);
        else
            cliques(kind == 0, a);
        memcpy(destroyed, a, sizeof a);
        assert_ok(bb_relations_open(&r, TASKS, destroyed));
        if (kind < 2) assert_int_equal(r.rank, kind == 0 ? 1 : 3);
        for (size_t part = 0; part < r.rank; part++) {
            double size = 0.0;
            for (size_t k = 0; k < TASKS; k++)
                size += r.show[k * r.rank + part] * r.see[k * r.rank + part];
            assert_true(fabs(size) <= before + 1e-9);
            before = fabs(size);
        }
        for (size_t k = 0; k < TASKS; k++) {
            double degree = 0.0;
            for (size_t l = 0; l < TASKS; l++) degree += a[k * TASKS + l];
            for (size_t l = 0; l < TASKS; l++) {
                const double due = degree > 0.0 ? a[k * TASKS + l] / degree : 0.0;
                assert_close(bb_dot(r.rank, r.see + k * r.rank, r.show + l * r.rank),
                             due, 1e-12);
            }
        }
        bb_relations_close(&r);
    }
}

/* All tasks related alike are pmtl, cliques pmtl-clusters with a larger step: a clique's
 * centre is its own mean, not a part of the mean of all. */
static void the_mean_is_a_special_case(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_SOFTMAX; loss++) {
        population p = population_make(TASKS, 10, FEATURES, (bb_loss)loss, false, 4);
        double a[TASKS * TASKS];
        bb_relations r;
        bb_result mean, related;
        cliques(true, a);
        assert_ok(bb_relations_open(&r, TASKS, a));
        bb_run run = run_of(&p, &bb_method_pmtl, 4);
        assert_ok(bb_run_train(&run, &mean));
        run_close(&run);
        run = run_of(&p, &bb_method_pmtl_graph, 4);
        run.pub.relations = &r;
        assert_ok(bb_run_train(&run, &related));
        for (size_t k = 0; k < mean.first[TASKS]; k++)
            assert_close(related.model[k], mean.model[k], 1e-10);
        assert_true(bb_norm(mean.first[TASKS], mean.model) > 0.1);
        bb_result_free(&mean);
        bb_result_free(&related);
        bb_relations_close(&r);
        run_close(&run);
        population_close(&p);
    }
}

/* After many rounds every model is the minimum of its loss and the pull to the mean of
 * those that it is related to: a check that shares no code with parts and releases. */
static void models_end_where_they_should(void **state) {
    (void)state;
    population p = population_make(TASKS, 10, FEATURES, BB_LOSS_SQUARED, false, 5);
    double a[TASKS * TASKS], weight[TASKS * TASKS], work[4096];
    bb_relations r;
    bb_result result;
    ring(a);
    memcpy(weight, a, sizeof a);
    assert_ok(bb_relations_open(&r, TASKS, a));
    bb_run run = run_of(&p, &bb_method_pmtl_graph, 4000);
    run.pub.relations = &r;
    assert_ok(bb_run_train(&run, &result));
    for (size_t k = 0; k < TASKS; k++) {
        double centre[FEATURES] = {0}, found[FEATURES], b, degree = 0.0;
        for (size_t l = 0; l < TASKS; l++) degree += weight[k * TASKS + l];
        for (size_t l = 0; l < TASKS && degree > 0.0; l++)
            bb_axpy(FEATURES, weight[k * TASKS + l] / degree,
                    result.model + l * FEATURES, centre);
        assert_ok(bb_local_ridge(&p.local[k], 0.05, centre, found, &b, work));
        for (size_t j = 0; j < FEATURES; j++)
            assert_close(result.model[k * FEATURES + j], found[j], 1e-7);
    }
    bb_result_free(&result);
    bb_relations_close(&r);
    run_close(&run);
    population_close(&p);
}

static bb_status check_layout(void *self, const bb_release *release, size_t tasks) {
    const bb_relations *r = self;
    const size_t rank = release->layout->block[0].length / FEATURES;
    (void)tasks;
    assert_int_equal(rank, 2);
    assert_close(release->layout->block[0].clip, 0.5 * bb_relations_norm(r, rank), 0.0);
    return BB_OK;
}

/* What a task shows is no longer than the clip says: its row of `show` times its change;
 * the norm is the largest row's. */
static void the_clip_is_of_what_is_shown(void **state) {
    (void)state;
    population p = population_make(TASKS, 10, FEATURES, BB_LOSS_SQUARED, false, 6);
    double a[TASKS * TASKS], most = 0.0;
    bb_relations r;
    bb_result result;
    ring(a);
    assert_ok(bb_relations_open(&r, TASKS, a));
    for (size_t k = 0; k < TASKS; k++)
        most = fmax(most, hypot(r.show[k * r.rank], r.show[k * r.rank + 1]));
    assert_close(bb_relations_norm(&r, 2), most, 1e-15);
    bb_run run = run_of(&p, &bb_method_pmtl_graph, 3);
    run.mechanism = &bb_mechanism_gaussian;
    run.pub.epsilon = 1.0;
    run.pub.delta = 1e-5;
    run.pub.relations = &r;
    run_set(&run, "rank", "2");
    run_set(&run, "clip", "0.5");
    run.observer = (bb_observer){.self = &r, .published = check_layout};
    assert_ok(bb_run_train(&run, &result));
    bb_result_free(&result);
    bb_relations_close(&r);
    run_close(&run);
    population_close(&p);
}

static void weights_are_checked(void **state) {
    (void)state;
    double a[4] = {0.0, 1.0, 1.0, 0.0};
    bb_relations r;
    a[1] = 2.0;
    assert_int_equal(bb_relations_open(&r, 2, a), BB_EUSAGE);
    a[1] = a[2] = -1.0;
    assert_int_equal(bb_relations_open(&r, 2, a), BB_EUSAGE);
    a[1] = a[2] = 0.0;
    assert_int_equal(bb_relations_open(&r, 2, a), BB_EUSAGE);
    assert_int_equal(bb_relations_open(&r, 5000, a), BB_EUSAGE);
}

int main(void) {
    one = bb_engine_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(the_mean_is_a_special_case),
        cmocka_unit_test(models_end_where_they_should),
        cmocka_unit_test(the_clip_is_of_what_is_shown),
        cmocka_unit_test(weights_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
