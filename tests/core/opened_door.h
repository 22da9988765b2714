/* opened_door.h - a door (core/door.h) and a tally for it, opened by hand, for their
 * tests. */
#ifndef BB_TESTS_OPENED_DOOR_H
#define BB_TESTS_OPENED_DOOR_H

#include "core/door.h"
#include "linalg/linalg.h"
#include "test.h"

typedef struct door {
    bb_method method;
    bb_engine engine;
    bb_run run;
    bb_plan plan;
    bb_arena arena;
    bb_door door;
    bb_tally tally;
} door;

/* Every round has budget mu for noise and pure for a selection. */
static inline void door_prepare(door *d, const bb_mechanism *mechanism, size_t tasks,
                                uint32_t rounds, const bb_layout *layout, double mu,
                                double pure) {
    *d = (door){.method = {.name = "door", .kind = BB_METHOD_PRIVATE},
                .engine = {.name = "none", .workers = 2}};
    d->run = (bb_run){.phases = 1,
                      .phase = {{.method = &d->method}},
                      .pub = {.tasks = tasks, .epsilon = 1.0, .delta = 1e-5},
                      .mechanism = mechanism,
                      .engine = &d->engine,
                      .seeded = true,
                      .seed = 11};
    assert_ok(bb_plan_rounds(&d->plan, rounds));
    bb_plan_room(&d->plan, &d->run.pub, layout);
    for (uint32_t t = 0; t < rounds; t++) {
        d->plan.mu[t] = mu;
        d->plan.pure[t] = pure;
    }
}

static inline void door_open(door *d) {
    const bb_mechanism *mechanism = d->run.mechanism;
    const size_t tasks = d->run.pub.tasks;
    const size_t sums = mechanism->grid ? d->engine.workers
                                        : bb_tally_chunks(tasks, d->plan.sum_length);
    bb_door_need(&d->run, &d->plan, &d->arena);
    bb_tally_need(&d->arena, mechanism, &d->plan, sums);
    assert_ok(bb_arena_open(&d->arena, "a test's door"));
    assert_ok(bb_door_open(&d->door, &d->run, &d->plan, &d->arena));
    bb_tally_open(&d->tally, &d->arena, mechanism, &d->plan, tasks, sums);
    assert_ok(bb_door_charge(&d->door, &d->run));
}

/* Opens a round. */
static inline bb_status door_ask(door *d, const bb_layout *layout) {
    const bb_status status = bb_door_ask(&d->door, layout);
    if (!status) bb_tally_begin(&d->tally, &d->door.ask);
    return status;
}

/* Ends it, and publishes. */
static inline bb_status door_publish(door *d, bb_release *release) {
    if (d->door.asked) {
        bb_tally_end(&d->tally);
        bb_door_add(&d->door, &d->tally);
    }
    return bb_door_publish(&d->door, release);
}

static inline void door_close(door *d) {
    bb_door_close(&d->door);
    bb_arena_close(&d->arena);
    bb_plan_free(&d->plan);
}

/* A layout of one block with the whole share. */
static inline bb_layout door_layout(bb_form form, size_t length, double clip) {
    return (bb_layout){1, {{"block", form, length, clip, 1.0}}};
}

/* Shows a copy of v in a one-block round. */
static inline void door_add(door *d, size_t sum, size_t task, size_t n,
                            const double *v) {
    double *copy = calloc(n + 1, sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, v, n * sizeof *copy);
    bb_tally_add(&d->tally, sum, task, NULL, (double *const[BB_MOST_BLOCKS]){copy});
    free(copy);
}

#endif
