/* attacked.h - a run on a population with canaries, ready to be attacked. */
#ifndef BB_TESTS_ATTACKED_H
#define BB_TESTS_ATTACKED_H

#include "audit/run_attack.h"
#include "audit/world.h"
#include "base/parallel.h"
#include "linalg/linalg.h"
#include "methods/registry.h"
#include "population.h"
#include "test.h"

enum { MOST_ATTACKS = 2000 };

typedef struct attacked {
    bb_audit_world world;
    bb_engine engine;
    bb_run run;
    void *options;
    size_t attacks;
    bool first[MOST_ATTACKS];
    double score[MOST_ATTACKS];
} attacked;

/* A seeded run of `method` with its default options: delta 1e-5, replace-one. */
static inline attacked *attacked_open(const bb_method *method,
                                      const bb_mechanism *mechanism, double epsilon,
                                      bb_audit_world_options world) {
    attacked *a = calloc(1, sizeof *a);
    assert_non_null(a);
    world.intercept = !method->shared_intercept;
    assert_ok(bb_audit_world_open(&a->world, &world));
    a->options = calloc(1, method->options_size + 1);
    assert_non_null(a->options);
    assert_ok(bb_options_default(method->options, a->options));
    population_give(method, a->options);
    a->engine = bb_engine_threads(1);
    a->run = (bb_run){.phases = 1,
                      .phase = {{.method = method, .options = a->options}},
                      .pub = {.tasks = world.tasks,
                              .features = world.features,
                              .loss = world.loss,
                              .intercept = world.intercept,
                              .adjacency = BB_REPLACE_ONE,
                              .epsilon = epsilon,
                              .delta = 1e-5},
                      .mechanism = mechanism,
                      .engine = &a->engine,
                      .seeded = true,
                      .seed = 100,
                      .local = a->world.local};
    return a;
}

static inline void attacked_set(attacked *a, const char *name, const char *text) {
    assert_ok(bb_options_set(a->run.phase[0].method->options, a->options, "test", name,
                             text));
}

static inline void attacked_toss(attacked *a, size_t attacks, uint64_t seed) {
    bb_random random;
    assert_true(attacks <= MOST_ATTACKS);
    a->attacks = attacks;
    assert_ok(bb_random_open_stream(&random, seed, BB_FOR_TEST, 1, 0));
    for (size_t k = 0; k < attacks; k++) a->first[k] = bb_random_bits(&random) & 1;
    bb_random_close(&random);
}

/* One run, all canaries. */
static inline void attacked_once(attacked *a, uint64_t seed) {
    attacked_toss(a, a->world.canaries, seed);
    a->run.seed = seed;
    assert_ok(
        bb_run_attack(&a->run, a->world.canaries, a->world.other, a->first, a->score));
}

/* Many runs, one canary. */
static inline void attacked_often(attacked *a, size_t runs, uint64_t seed) {
    attacked_toss(a, runs, seed);
    for (size_t k = 0; k < runs; k++) {
        a->run.seed = seed + k;
        assert_ok(
            bb_run_attack(&a->run, 1, a->world.other, &a->first[k], &a->score[k]));
    }
}

static inline size_t attacked_right(const attacked *a) {
    size_t right = 0;
    for (size_t k = 0; k < a->attacks; k++) right += (a->score[k] > 0.0) == a->first[k];
    return right;
}

static inline void attacked_close(attacked *a) {
    bb_options_free(a->run.phase[0].method->options, a->options);
    free(a->options);
    bb_audit_world_close(&a->world);
    free(a);
}

#endif
