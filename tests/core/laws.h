/* laws.h - every method on small populations of every kind it supports. */
#ifndef BB_TESTS_LAWS_H
#define BB_TESTS_LAWS_H

#include "methods/registry.h"
#include "population.h"

typedef struct law_case {
    const bb_method *method;
    const bb_mechanism *mechanism;
    bb_loss loss;
    bb_sampling sampling;
} law_case;

enum { LAW_TASKS = 45, LAW_FEATURES = 5 };

/* mp-mixed asks for no directions of fewer than 13. */
static inline size_t law_features(const law_case *c) {
    return c->method == &bb_method_mp_mixed ? 13 : LAW_FEATURES;
}

/* Where one will do. */
static const law_case law_usual = {&bb_method_fedprox, &bb_mechanism_gaussian,
                                   BB_LOSS_SQUARED, BB_SAMPLING_ALL};

/* Rows of one task come from `seed` or, for task `other`, from another seed. */
static inline population law_population(const law_case *c, size_t tasks, size_t other) {
    population p = population_empty(tasks, 9, law_features(c), c->loss,
                                    !c->method->shared_intercept);
    for (size_t i = 0; i < tasks; i++) population_fill(&p, i, i == other ? 999 : 61);
    population_open_locals(&p);
    return p;
}

/* Public groups of tasks, for methods that need them. */
static const uint32_t law_clusters[LAW_TASKS] = {0, 1, 2, 2, 1, 0, 0, 2, 1, 1, 2, 0};
/* Public relations: what a task shows of its model, and sees of the sums. */
static double law_show[2 * LAW_TASKS] = {1,   .5, 1,  -.5, 1,   .25, 1,  0,
                                         .5,  1,  .5, 1,   .25, 1,   0,  1,
                                         -.5, 1,  1,  1,   1,   -.5, .5, .5};
static double law_see[2 * LAW_TASKS] = {.1, .05, .1, 0,  .1, .02, .1, .1,
                                        0,  .1,  .1, .1, .1, .1,  0,  .1,
                                        .1, .1,  0,  .1, .1, 0,   .1, .1};
static const bb_relations law_relations = {LAW_TASKS, 2, law_show, law_see};

static inline bb_run law_run(const law_case *c, const population *p,
                             const bb_engine *engine) {
    bb_run run = run_open(p, c->method, c->mechanism, engine);
    run.pub.epsilon = run.pub.epsilon < INFINITY ? 2.0 : INFINITY;
    run.pub.sampling = c->sampling;
    run.pub.rate = 0.3;
    run.pub.cohort = (p->tasks + 2) / 3;
    if (c->method->clustered) {
        run.pub.cluster = law_clusters;
        run.pub.clusters = 3;
    }
    if (c->method->related) run.pub.relations = &law_relations;
    /* so few tasks are too few for a signal that a guard sees */
    for (size_t k = 0; k < c->method->options.count; k++)
        if (strcmp(c->method->options.row[k].name, "guard") == 0)
            run_set(&run, "guard", "off");
        else if (strcmp(c->method->options.row[k].name, "effects") == 0)
            run_set(&run, "effects", "0.2"); /* what else it may publish */
    return run;
}

/* The usual population of a case, and a run on it; not to be moved. */
typedef struct law_world {
    population p;
    bb_engine engine;
    bb_run run;
} law_world;

static inline void law_open(law_world *w, const law_case *c, size_t threads) {
    w->p = law_population(c, LAW_TASKS, SIZE_MAX);
    w->engine = bb_engine_threads(threads);
    w->run = law_run(c, &w->p, &w->engine);
}

static inline void law_close(law_world *w) {
    run_close(&w->run);
    population_close(&w->p);
}

/* Whether the method runs with the mechanism at all. Noise of the papers is for sums of
 * products only, and noise is for private methods. */
static inline bool law_makes_sense(const law_case *c) {
    if (!(c->method->losses & (1U << c->loss)) || c->method->follows) return false;
    if (c->method->losses & BB_NETWORKS_ONLY)
        return false; /* tests/methods/test_fedper.c */
    if (c->method->kind != BB_METHOD_PRIVATE)
        return !bb_mechanism_is_noisy(c->mechanism);
    return c->mechanism->pricing != BB_PRICE_PUBLISHED ||
           (strcmp(c->method->name, "mp-mixed") != 0 &&
            strcmp(c->method->name, "mp-prior") != 0 &&
            strcmp(c->method->name, "mp-centre") != 0 &&
            strncmp(c->method->name, "dp-", 3) != 0 && !c->method->sampled);
}

/* A method that may be run with a sample of the tasks, by both kinds of sampling. */
static inline size_t law_for_samples(law_case c, void (*law)(const law_case *c)) {
    if (!c.method->sampled) return 0;
    /* the accountant takes its time, and does not look at the loss */
    if (c.mechanism->grid && c.loss >= BB_LOSS_SOFTMAX) return 0;
    c.sampling = BB_SAMPLING_POISSON;
    law(&c);
    c.sampling = c.method->keeps ? BB_SAMPLING_FIXED_VISIBLE : BB_SAMPLING_FIXED_HIDDEN;
    law(&c);
    return 2;
}

/* Calls law(c) for every method, mechanism and loss that make sense together. */
static inline void law_for_all(void (*law)(const law_case *c)) {
    const bb_mechanism *const mechanisms[] = {
        &bb_mechanism_none, &bb_mechanism_gaussian, &bb_mechanism_wishart_published};
    size_t cases = 0;
    for (size_t i = 0; bb_method_at(i); i++)
        for (size_t k = 0; k < 3; k++)
            for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_MULTILABEL; loss++) {
                const law_case c = {bb_method_at(i), mechanisms[k], (bb_loss)loss,
                                    BB_SAMPLING_ALL};
                if (!law_makes_sense(&c)) continue;
                law(&c);
                cases += 1 + law_for_samples(c, law);
            }
    assert_true(cases >= 80);
}

#define law_check(c, condition)                                                        \
    do {                                                                               \
        if (!(condition))                                                              \
            fail_msg("%s, %s, loss %d: not %s", (c)->method->name,                     \
                     (c)->mechanism->name, (int)(c)->loss, #condition);                \
    } while (0)

static inline void law_train(const law_case *c, const bb_run *run, bb_result *result) {
    const bb_status status = bb_run_train(run, result);
    if (status)
        fail_msg("%s, %s: %s: %s", c->method->name, c->mechanism->name,
                 bb_status_text(status), bb_last_error());
}

static inline bool law_same_models(const bb_result *a, const bb_result *b,
                                   size_t task_a, size_t task_b) {
    const size_t n = a->first[task_a + 1] - a->first[task_a];
    return memcmp(a->model + a->first[task_a], b->model + b->first[task_b],
                  n * sizeof(double)) == 0 &&
           a->intercept[task_a] == b->intercept[task_b];
}

#endif
