/* population.h - small populations of tasks for tests, and runs over them. */
#ifndef BB_TESTS_POPULATION_H
#define BB_TESTS_POPULATION_H

#include "base/parallel.h"
#include "base/random.h"
#include "core/run.h"
#include "linalg/linalg.h"
#include "test.h"

typedef struct population {
    size_t tasks, features;
    size_t *first; /* tasks + 1: row numbers */
    double *x, *y; /* rows */
    size_t outputs;
    size_t *label_first; /* multilabel: rows + 1; every row has two labels */
    uint32_t *label;
    const struct bb_net *net; /* models are this one; NULL: linear */
    bb_local *local;
    bb_loss loss;
    bool intercept, scale_sum;
} population;

/* Classes, or labels, with the losses of several outputs. */
enum { POPULATION_OUTPUTS = 3 };

static inline void population_open_locals(population *p) {
    for (size_t i = 0; i < p->tasks; i++) {
        const bb_rows rows = {.n = p->first[i + 1] - p->first[i],
                              .d = p->features,
                              .x = p->x + p->first[i] * p->features,
                              .y = p->y + p->first[i],
                              .label_first = p->label_first + p->first[i],
                              .label = p->label};
        if (p->loss < BB_LOSS_SOFTMAX && !p->net)
            assert_ok(
                bb_local_open(&p->local[i], rows, p->loss, p->intercept, p->scale_sum));
        else
            assert_ok(bb_local_open_outputs(&p->local[i], rows, p->loss, p->outputs,
                                            p->net, p->scale_sum));
    }
}

static inline void population_close(population *p) {
    for (size_t i = 0; i < p->tasks; i++) bb_local_close(&p->local[i]);
    free(p->local);
    free(p->first);
    free(p->x);
    free(p->y);
    free(p->label_first);
    free(p->label);
    *p = (population){0};
}

/* Room for tasks of `rows` rows each (task i: rows + i % 3). */
static inline population population_empty(size_t tasks, size_t rows, size_t features,
                                          bb_loss loss, bool intercept) {
    const bool several = loss >= BB_LOSS_SOFTMAX;
    population p = {.tasks = tasks,
                    .features = features,
                    .outputs = several ? POPULATION_OUTPUTS : 1,
                    .loss = loss,
                    .intercept = intercept && !several};
    p.first = calloc(tasks + 1, sizeof *p.first);
    assert_non_null(p.first);
    for (size_t i = 0; i < tasks; i++) p.first[i + 1] = p.first[i] + rows + i % 3;
    p.x = calloc(p.first[tasks] * features + 1, sizeof *p.x);
    p.y = calloc(p.first[tasks] + 1, sizeof *p.y);
    p.local = calloc(tasks + 1, sizeof *p.local);
    p.label_first = calloc(p.first[tasks] + 1, sizeof *p.label_first);
    p.label = calloc(2 * p.first[tasks] + 1, sizeof *p.label);
    assert_true(p.x && p.y && p.local && p.label_first && p.label);
    for (size_t j = 0; j <= p.first[tasks]; j++) p.label_first[j] = 2 * j;
    return p;
}

/* The row's target, of what a linear model says of it. */
static inline void population_target(population *p, size_t j, double value) {
    static const uint32_t pair[POPULATION_OUTPUTS][2] = {{0, 1}, {0, 2}, {1, 2}};
    const size_t class = value < -0.5 ? 0 : value < 0.7 ? 1 : 2;
    p->y[j] = p->loss == BB_LOSS_LOGISTIC  ? (value > 0.0 ? 1.0 : -1.0)
              : p->loss == BB_LOSS_SOFTMAX ? (double)class
                                           : value;
    memcpy(p->label + 2 * j, pair[class], sizeof pair[class]);
}

/* Fills task i: unit rows, a model near one of two shared directions, noisy targets.
 * Depends on (seed, i) only. */
static inline void population_fill(population *p, size_t i, uint64_t seed) {
    const size_t d = p->features;
    bb_random random;
    double w[64];
    assert_true(d <= 64);
    assert_ok(bb_random_open_stream(&random, seed, BB_FOR_TEST, i, 0));
    for (size_t k = 0; k < d; k++)
        w[k] = 0.2 * bb_random_normal(&random) + (k % 2 == i % 2 ? 2.0 : 0.0);
    for (size_t j = p->first[i]; j < p->first[i + 1]; j++) {
        double *x = p->x + j * d, value = 0.0;
        for (size_t k = 0; k < d; k++) x[k] = bb_random_normal(&random);
        bb_scale(d, 1.0 / bb_norm(d, x), x);
        for (size_t k = 0; k < d; k++) value += x[k] * w[k];
        value += 0.1 * bb_random_normal(&random) + 0.3;
        population_target(p, j, value);
    }
    bb_random_close(&random);
}

static inline population population_make(size_t tasks, size_t rows, size_t features,
                                         bb_loss loss, bool intercept, uint64_t seed) {
    population p = population_empty(tasks, rows, features, loss, intercept);
    for (size_t i = 0; i < tasks; i++) population_fill(&p, i, seed);
    population_open_locals(&p);
    return p;
}

/* The same without an own intercept, and the last task has no rows. */
static inline population population_make_last_empty(size_t tasks, size_t rows,
                                                    size_t features, bb_loss loss,
                                                    uint64_t seed) {
    population p = population_empty(tasks, rows, features, loss, false);
    for (size_t i = 0; i < tasks; i++) population_fill(&p, i, seed);
    p.first[tasks] = p.first[tasks - 1];
    population_open_locals(&p);
    return p;
}

/* What mp-instance does not guess. */
static inline void population_give(const bb_method *method, void *options) {
    static const char *const name[] = {"instance-epsilon", "gradient-clip", "clip"};
    for (size_t k = 0; strcmp(method->name, "mp-instance") == 0 && k < 3; k++)
        assert_ok(bb_options_set(method->options, options, "test", name[k], "1"));
}

/* A run of `method` on p with the options' defaults: epsilon 1 (none: INFINITY), delta
 * 1e-5, replace-one, seed 7. The caller changes what it likes; free(run.phase[0].options as
 * text) with run_close. */
static inline bb_run run_open(const population *p, const bb_method *method,
                              const bb_mechanism *mechanism, const bb_engine *engine) {
    void *options = calloc(1, method->options_size + 1);
    const bool noise = mechanism->pricing != BB_PRICE_NOTHING;
    assert_non_null(options);
    assert_ok(bb_options_default(method->options, options));
    population_give(method, options);
    return (bb_run){.phases = 1,
                    .phase = {{.method = method, .options = options}},
                    .pub = {.tasks = p->tasks,
                            .features = p->features,
                            .outputs = p->outputs,
                            .parameters = p->features * p->outputs,
                            .loss = p->loss,
                            .intercept = p->intercept,
                            .scale_sum = p->scale_sum,
                            .adjacency = BB_REPLACE_ONE,
                            .epsilon = noise ? 1.0 : INFINITY,
                            .delta = noise ? 1e-5 : 0.0},
                    .mechanism = mechanism,
                    .engine = engine,
                    .seeded = true,
                    .seed = 7,
                    .local = p->local};
}

static inline void run_set(bb_run *run, const char *name, const char *text) {
    assert_ok(bb_options_set(run->phase[0].method->options,
                             (void *)(uintptr_t)run->phase[0].options, "test", name,
                             text));
}

static inline void run_close(bb_run *run) {
    void *options = (void *)(uintptr_t)run->phase[0].options;
    bb_options_free(run->phase[0].method->options, options);
    free(options);
    *run = (bb_run){0};
}

#endif
