/* run.h - the one training loop. */
#ifndef BB_CORE_RUN_H
#define BB_CORE_RUN_H

#include "base/hash.h"
#include "base/map.h"
#include "base/parallel.h"
#include "core/mechanism.h"
#include "core/wire.h"
#include "privacy/ledger/ledger.h"

#include <stdatomic.h>

struct bb_result;

/* What the operator of a simulation may look at after a round. Nothing of it is public. */
typedef struct bb_traced {
    const char *method;
    uint32_t round;       /* of the whole run: 1, 2, ... */
    double epsilon;       /* spent so far, at the run's delta; INFINITY without noise */
    double noise, signal; /* norms of what the door added and of the sums before that,
                             selections left out */
    const struct bb_result
        *models; /* that tasks would keep if this round were the last:
                                       first, model, intercept, shared and
                                       outcome.objective (NAN: it has none) */
} bb_traced;

/* What a run tells its surroundings; every member may be NULL. */
typedef struct bb_observer {
    void *self;
    /* Called with every release, after it became public. */
    bb_status (*published)(void *self, const bb_release *release, size_t tasks);
    /* Called after each round. */
    void (*progress)(void *self, uint32_t round, uint32_t rounds);
    /* Called after each round, before tasks work again, by bb_run_train only: for the
     * operator of a simulation. Every task finishes then, which takes that much longer,
     * and changes nothing else. */
    bb_status (*traced)(void *self, const bb_traced *traced);
    /* Called now and then, on one thread, while tasks finish a phase at home. */
    void (*at_home)(void *self, const char *method, uint32_t done, uint32_t tasks);
    /* Non-zero: end with BB_EINTERRUPTED; looked at before every task's work. Lock-free:
     * other threads and signal handlers may set it. */
    const atomic_int *stop;
    /* Called by any thread when tasks `from` to `to` - 1 have been worked through: their
     * rows may leave memory. */
    void (*passed)(void *self, size_t from, size_t to);
    /* Whether own task k's finished model, of finite numbers, is so in the form in which it
     * is kept, too; if not it counts as one that is not finite. Asked by worker number
     * `worker` of the run's engine, by several at once. */
    bool (*keeps)(void *self, size_t k, size_t worker, const double *model,
                  double intercept);
} bb_observer;

/* What a keeper wants now, between two rounds: nothing; a copy, which is saved if the run is
 * interrupted; to save it. */
typedef enum bb_keep { BB_KEEP_NOTHING, BB_KEEP_COPY, BB_KEEP_SAVE } bb_keep;

/* What a silo keeps in temporary files of its own: models, states. A length of 0: not so. */
enum { BB_SILO_STORED = 2 };
typedef struct bb_silo_stored {
    const bb_map *map;
    bb_bytes bytes;
} bb_silo_stored;

/* Who keeps a run, so that it survives its process: another one goes on from what was
 * saved last, and from nothing older. What was published after it is asked for again, in
 * an unseeded run with other noise, and what it cost was reserved with the plan: so
 * nobody may be shown a release (bb_observer.published) before bb_run_train, which saves
 * at the end, too, has returned. */
typedef struct bb_keeper {
    void *self;
    /* Asked where the run could be gone on from, last of all at its end, where it is saved
     * in any case. */
    bb_keep (*due)(void *self, bool at_the_end);
    /* Stores both durably, whole or not at all; they are of the moment when `due` last
     * answered that it wants something. The silo's bytes are PRIVATE. A failure ends the
     * run. */
    bb_status (*save)(void *self, bb_bytes curator, bb_bytes silo);
    /* The same in two steps, for what lies in files itself (bb_silo_save_stored) and does not
     * go through memory: a copy beside what was stored, which may be lost; and the last
     * copy, durably, in place of it. NULL: only by save. */
    bb_status (*copy)(void *self, bb_bytes curator, bb_bytes silo,
                      const bb_silo_stored *stored);
    bb_status (*commit)(void *self);
    bb_bytes curator, silo;          /* to go on from; empty: from the beginning */
    bb_bytes stored[BB_SILO_STORED]; /* of the silo */
} bb_keeper;

/* A part of a run. It begins with what the part before it left: the shared model, and
 * every task's own. */
typedef struct bb_phase {
    const bb_method *method;
    const void *options;
    uint32_t rounds; /* 0: the method's default */
    double share;    /* of mu^2; phases with 0 have equal parts of the rest. Not used
                        for methods that show nothing */
} bb_phase;

enum { BB_MOST_PHASES = 16 };

typedef struct bb_run {
    size_t phases; /* at least 1 */
    bb_phase phase[BB_MOST_PHASES];
    bb_public pub; /* all but rounds, which each phase has */
    const bb_mechanism *mechanism;
    const bb_engine *engine;
    bb_ledger *ledger; /* NULL: this run only */
    bool seeded;       /* reproducible noise: not private */
    uint64_t seed;
    const uint64_t *key; /* tasks: of each one's own streams in a seeded run, from its
                            name (bb_random_key); NULL: its number */
    const uint8_t
        *agreed; /* BB_HASH_BYTES: of what else the places of a run have agreed
                              on, such as names and how rows are prepared; NULL:
                              nothing */
    bb_observer observer;
    const bb_keeper *keeper; /* NULL: what is interrupted is lost */
    const bb_local *local;   /* tasks */
    size_t memory; /* bytes: models and states of tasks that take more than an eighth of
                      them are in temporary files (bb_map_block); 0: never */
    double *spread; /* with pub.spread: local tasks x spread_length, of the last phase's
                       method, which has it; written at the end, NAN where it fails.
                       PRIVATE, as models are */
} bb_run;

/* The key of task i's own streams in a seeded run. */
uint64_t bb_run_key(const bb_run *run, size_t i);

typedef struct bb_result {
    size_t *first;     /* tasks + 1: where each task's model is; i * parameters, unless
                          tasks have models of their own length (learners/local.h) */
    double *model;     /* first[tasks] */
    bb_map model_at;   /* where they are, if not in memory */
    double *intercept; /* tasks */
    double *shared;    /* clusters x parameters: what all share, zero without such a
                          model; public */
    double *effects;   /* the last phase's bb_method.effects, public; NULL: none */
    bb_plan plan;
    bb_outcome outcome;
    uint32_t rounds;  /* really run */
    const char *note; /* method.h: the last phase's that has one, or NULL; public */
    bool shares;      /* some phase had such a model, or the run a start */
    bool *asked;      /* tasks: took part in some round; NULL without sampling. For the
                            operator alone */
    size_t failed; /* private run: tasks whose solver failed at the end, or whose model
                          was not finite, and that keep the zero model; for the operator
                          alone */
    double
        noise_multiplier; /* z of the round with the least noise; NAN without noise */
    char billboard_sha256[BB_HASH_TEXT]; /* of everything published, in order */
} bb_result;

/* The run with the Gaussian budget of its whole (epsilon, delta), everything unlimited
 * without noise, and what was left out of its sizes. */
bb_run bb_run_priced(const bb_run *asked);

/* The names of the methods of these phases that exchange something, with " then "
 * between them; what goes on from another method goes by its name. */
enum { BB_RUN_NAME = 256 };
void bb_run_name(size_t phases, const bb_phase *phase, char name[BB_RUN_NAME]);

/* What can be said before data are read; BB_EUSAGE. Phases must fit each other, the loss
 * and the mechanism, with shares of the budget that add up; noise needs a private method
 * and epsilon; and what a run asks for that none of its methods heeds is refused: rounds,
 * schedule, batch, sampling. Looks at phases, mechanism, and of pub at loss, network,
 * schedule, batch, sampling, rate and epsilon. */
BB_MUST_CHECK bb_status bb_run_check_methods(const bb_run *run);
/* Whether a ledger has a price for the run: not with this mechanism, or with seeded
 * noise; BB_EUSAGE. */
BB_MUST_CHECK bb_status bb_run_check_price(const bb_run *run);
/* What bb_run_train checks before anything else: all of that, and what needs the tasks:
 * clusters and the size of a cohort. */
BB_MUST_CHECK bb_status bb_run_check(const bb_run *run);
/* Whether its methods can work on these tasks: run->local, so many. BB_EUSAGE. */
BB_MUST_CHECK bb_status bb_run_check_tasks(const bb_run *run, size_t tasks);
/* Whether a ledger has room for the run, as things are; reserves nothing. plan: the run's;
 * NULL: it is made for this, which may take seconds. Errors as bb_ledger_check. */
BB_MUST_CHECK bb_status bb_run_check_ledger(const bb_run *run, const bb_plan *plan,
                                            bb_ledger *ledger);

/* Checks the run, reserves its plan, trains, and fills *result (only on success): a
 * curator (curator.h) and one silo with all tasks (silo.h), in this process.
 * BB_EUSAGE: the method does not support the loss or mechanism; BB_EBUDGET: the ledger
 * refused, nothing was published; BB_EINTERRUPTED: observer->stop was set, and what the
 * keeper had copied is saved. BB_EDATA: what the keeper has is of another run. A run that
 * goes on is not charged again. */
BB_MUST_CHECK bb_status bb_run_train(const bb_run *run, bb_result *result);
/* Opens such a run and closes it: what the data of its tasks, or their sizes, have against
 * it before its first round. Nothing is charged. Errors as bb_run_train. */
BB_MUST_CHECK bb_status bb_run_try(const bb_run *run);
/* Takes the memory for the models of so many tasks, run->local; bb_result_free also after
 * a failure. */
BB_MUST_CHECK bb_status bb_result_open(bb_result *result, const bb_run *run,
                                       size_t tasks);
void bb_result_free(bb_result *result);

#endif
