/* phase_runs.h - runs of several phases for tests. */
#ifndef BB_TESTS_PHASE_RUNS_H
#define BB_TESTS_PHASE_RUNS_H

#include "methods/registry.h"
#include "population.h"

#include <string.h>

enum { TASKS = 14, FEATURES = 4, MOST_OPTIONS = 512 };

static bb_engine two;

/* -- a run and its phases -- */

typedef struct script {
    bb_run run;
    unsigned char options[BB_MOST_PHASES + 1][MOST_OPTIONS];
} script;

/* Guards are off: so few tasks are too few for a signal that they see. Clips are given: all
 * of a round is for its vector. */
static inline void simplify(bb_options table, void *options) {
    for (size_t k = 0; k < table.count; k++) {
        const char *name = table.row[k].name;
        if (strcmp(name, "guard") == 0)
            assert_ok(bb_options_set(table, options, "test", name, "off"));
        if (strcmp(name, "clip") == 0)
            assert_ok(bb_options_set(table, options, "test", name, "1"));
    }
}

static inline void script_open(script *s, const population *p, const bb_method *method,
                               const bb_mechanism *mechanism, uint32_t rounds) {
    *s = (script){.run = run_open(p, method, mechanism, &two)};
    simplify(method->options, (void *)(uintptr_t)s->run.phase[0].options);
    s->run.phase[0].rounds = rounds;
}

static inline void then(script *s, const bb_method *method, uint32_t rounds,
                        double share) {
    const size_t k = s->run.phases++;
    if (k == BB_MOST_PHASES) return; /* refused */
    s->run.phase[k] = (bb_phase){method, s->options[k], rounds, share};
    assert_true(method->options_size <= MOST_OPTIONS);
    assert_ok(bb_options_default(method->options, s->options[k]));
    simplify(method->options, s->options[k]);
}

static inline void then_set(script *s, const char *name, const char *text) {
    const size_t k = s->run.phases - 1;
    assert_ok(bb_options_set(s->run.phase[k].method->options, s->options[k], "test",
                             name, text));
}

static inline bb_result script_run(const script *s) {
    bb_result result;
    assert_ok(bb_run_train(&s->run, &result));
    return result;
}

static inline void script_refused(const script *s, const char *words) {
    bb_result result = {.rounds = 77};
    assert_fails(bb_run_train(&s->run, &result), BB_EUSAGE, words);
    assert_true(result.rounds == 77 && !result.model);
}

/* The last task has no rows. */
static inline population tasks_of(bb_loss loss) {
    return population_make_last_empty(TASKS, 12, FEATURES, loss, 5);
}

#endif
