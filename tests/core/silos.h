/* silos.h - a run over several silos, by hand: what a driver sees of it. */
#ifndef BB_TESTS_SILOS_H
#define BB_TESTS_SILOS_H

#include "core/curator.h"
#include "core/silo.h"
#include "laws.h"

enum { MOST_SILOS = 8 };

/* What every silo needs to be opened again; local and key are copies of the run's. */
typedef struct silos {
    const bb_run *whole;
    uint32_t count, fewest;
    bb_curator *curator;
    bb_silo *silo[MOST_SILOS]; /* silo[s] is number s + 1 */
    size_t tasks[MOST_SILOS], id[MOST_SILOS][LAW_TASKS];
    bb_local local[MOST_SILOS][LAW_TASKS];
    uint64_t task_key[MOST_SILOS][LAW_TASKS];
    bb_run run[MOST_SILOS];
    bool sign;
    bb_identity identity[MOST_SILOS + 1]; /* of the curator, of silos */
    uint8_t key[MOST_SILOS][BB_SIGN_KEY];
} silos;

static inline bb_silo_terms silos_terms(silos *f, uint32_t s) {
    return (bb_silo_terms){.run = &f->run[s],
                           .number = s + 1,
                           .tasks = f->tasks[s],
                           .id = f->id[s],
                           .sealed = true,
                           .identity = f->sign ? &f->identity[s + 1] : NULL};
}

static inline bb_curator_terms silos_curator(const silos *f) {
    return (bb_curator_terms){.run = f->whole,
                              .silos = f->count,
                              .fewest = f->fewest,
                              .sealed = true,
                              .identity = f->sign ? &f->identity[0] : NULL};
}

/* Deals the run's tasks: task i is silo where[i]'s. */
static inline void silos_deal(silos *f, const bb_run *run, uint32_t count,
                              const uint32_t *where) {
    *f = (silos){.whole = run, .count = count};
    for (size_t i = 0; i < run->pub.tasks; i++) {
        const uint32_t s = where[i];
        const size_t k = f->tasks[s]++;
        f->id[s][k] = i;
        f->local[s][k] = run->local[i];
        f->task_key[s][k] = bb_run_key(run, i);
    }
    for (uint32_t s = 0; s < count; s++) {
        f->run[s] = *run;
        f->run[s].local = f->local[s];
        f->run[s].key = f->task_key[s];
        f->run[s].ledger = NULL;
        f->run[s].observer = (bb_observer){0};
    }
}

/* Everybody has a key from now on: before silos_open. */
static inline void silos_sign(silos *f) {
    uint8_t curator[BB_SIGN_KEY] = {0};
    f->sign = true;
    for (uint32_t k = 0; k <= f->count; k++) {
        bb_identity *own = &f->identity[k];
        assert_ok(bb_sign_new(own->key));
        assert_ok(bb_sign_public(own->key, k ? f->key[k - 1] : curator));
        own->silo = f->key;
        memset(own->roster, 7, sizeof own->roster);
    }
    for (uint32_t k = 0; k <= f->count; k++)
        memcpy(f->identity[k].curator, curator, sizeof curator);
}

static inline void silos_open(silos *f) {
    const bb_curator_terms terms = silos_curator(f);
    assert_ok(bb_curator_open(&f->curator, &terms));
    for (uint32_t s = 0; s < f->count; s++) {
        const bb_silo_terms own = silos_terms(f, s);
        assert_ok(bb_silo_open(&f->silo[s], &own));
    }
}

static inline void silos_close(silos *f) {
    bb_curator_close(f->curator);
    for (uint32_t s = 0; s < f->count; s++) bb_silo_close(f->silo[s]);
}

/* Bytes of its own, so that nothing is read that was not sent. */
static inline bb_bytes silos_copy(bb_bytes bytes) {
    uint8_t *copy = malloc(bytes.length + 1);
    assert_non_null(copy);
    memcpy(copy, bytes.at, bytes.length);
    return (bb_bytes){copy, bytes.length};
}

/* Whether everything came out as in one process. */
static inline bool silos_agree(silos *f, const bb_result *one) {
    bb_result result = {0};
    assert_ok(bb_curator_result(f->curator, &result));
    bool same = strcmp(result.billboard_sha256, one->billboard_sha256) == 0 &&
                result.rounds == one->rounds && result.shares == one->shares &&
                (result.note == one->note);
    const size_t shared = f->whole->pub.parameters *
                          (f->whole->pub.clusters ? f->whole->pub.clusters : 1);
    same =
        same && memcmp(result.shared, one->shared, shared * sizeof *one->shared) == 0;
    for (uint32_t s = 0; s < f->count; s++)
        for (size_t k = 0; k < f->tasks[s]; k++) {
            const bb_silo_task task = bb_silo_result(f->silo[s], k);
            const size_t i = f->id[s][k];
            same = same &&
                   memcmp(task.model, one->model + one->first[i],
                          f->local[s][k].length * sizeof *task.model) == 0 &&
                   task.intercept == one->intercept[i] &&
                   (!one->asked || task.asked == one->asked[i]);
        }
    bb_result_free(&result);
    return same;
}

#endif
