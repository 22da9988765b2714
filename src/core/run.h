/* run.h - the one training loop. */
#ifndef BB_CORE_RUN_H
#define BB_CORE_RUN_H

#include "base/hash.h"
#include "core/mechanism.h"
#include "privacy/ledger.h"

#include <signal.h>

/* How the participants of one process work: calls fn(context, item, worker) once for
 * every item 0 .. items-1, perhaps on several workers (0 .. workers-1) at once. */
typedef struct bb_engine {
    const char *name;
    size_t workers;
    void (*each)(const struct bb_engine *engine, size_t items,
                 void (*fn)(void *context, size_t item, size_t worker), void *context);
} bb_engine;

/* What a run tells its surroundings; every member may be NULL. */
typedef struct bb_observer {
    void *self;
    /* Called with every release, after it became public. */
    bb_status (*published)(void *self, const bb_release *release, size_t tasks);
    /* Called after each round. */
    void (*progress)(void *self, uint32_t round, uint32_t rounds);
    const volatile sig_atomic_t *stop; /* non-zero: end with BB_EINTERRUPTED */
} bb_observer;

typedef struct bb_run {
    const bb_method *method;
    const void *options;
    bb_public pub;
    const bb_mechanism *mechanism;
    const bb_engine *engine;
    bb_ledger *ledger; /* NULL: this run only */
    bool seeded;       /* reproducible noise: not private */
    uint64_t seed;
    bb_observer observer;
    const bb_local *local; /* tasks */
} bb_run;

typedef struct bb_result {
    double *model;     /* tasks x features */
    double *intercept; /* tasks */
    bb_plan plan;
    bb_outcome outcome;
    uint32_t rounds; /* really run */
    size_t failed;   /* private run: tasks whose solver failed at the end and that keep
                        the zero model; for the operator alone */
    double
        noise_multiplier; /* z of the round with the least noise; NAN without noise */
    char billboard_sha256[BB_HASH_TEXT]; /* of everything published, in order */
} bb_result;

/* Checks the run, reserves its plan, trains, and fills *result (only on success).
 * BB_EUSAGE: the method does not support the loss or mechanism; BB_EBUDGET: the ledger
 * refused, nothing was published; BB_EINTERRUPTED: observer->stop was set. */
BB_MUST_CHECK bb_status bb_run_train(const bb_run *run, bb_result *result);
void bb_result_free(bb_result *result);

#endif
