/* silo.h - one place that holds tasks: what it does, and nothing about how it is reached.
 *
 * A silo never reads a clock, opens a file, or waits. Frames go in with bb_silo_take,
 * work is done when the driver calls bb_silo_work, on whatever thread and at whatever
 * time it likes, and frames come out of bb_silo_give. A process with all tasks is a silo
 * (run.c); so is a rank of MPI, a node of a federation, a test.
 *
 * What its tasks are promised does not depend on the billboards that it is sent: whatever
 * they say, the silo shows sums of contributions clipped as the offer's plan pays for
 * (docs/privacy.md). The noise is the curator's. */
#ifndef BB_CORE_SILO_H
#define BB_CORE_SILO_H

#include "core/run.h"
#include "core/wire.h"

typedef struct bb_silo bb_silo;

/* What this place agrees to, whoever asks: checked before anything private is looked
 * at. Zero: no limit. With a policy, however empty, a silo also makes the plan itself and
 * refuses an offer that has less noise. */
typedef struct bb_silo_policy {
    double most_epsilon, most_delta; /* of one run */
    size_t fewest_tasks;             /* of the whole run */
    uint32_t fewest_silos;           /* of every round, by the offer */
    const char *const *method;       /* those that may share something, by name; NULL:
                                        all. Looked at by bb_silo_open only */
    size_t methods;
    unsigned adjacencies; /* bits 1 << bb_adjacency of those allowed; 0: all */
    bool allow_open;      /* runs that are not private at all */
    const uint8_t (
        *curator)[BB_SIGN_KEY]; /* public keys of curators that may ask; NULL:
                                              whoever the roster names. Looked at as
                                              `method` */
    size_t curators;
    const uint8_t (*helper)[BB_SIGN_KEY]; /* public keys of helpers: a run must have two
                                             doors, of which one of these keeps the second;
                                             NULL: it may have one. Looked at as `method` */
    size_t helpers;
    bb_ledger *ledger; /* this silo's own; NULL: none */
} bb_silo_policy;

typedef struct bb_silo_terms {
    const bb_run *run; /* what this silo agrees to; `local` and `key` are of its own
                          tasks; the ledger is the curator's. Borrowed */
    uint32_t number;   /* of the silo: 1, 2, ... */
    size_t tasks;      /* its own */
    const size_t *id;  /* tasks: their public numbers, ascending; NULL: 0, 1, ... */
    bool sealed;       /* frames leave the process */
    const char *checkpoint; /* that it is kept in, for messages; NULL: none. Borrowed */
    const bb_silo_policy *policy; /* NULL: everything is allowed (one operator) */
    const bb_identity *identity;  /* frames are signed, and sealed; NULL: they are not.
                                     Borrowed. With one, a run of two doors has them apart:
                                     this silo's sums are shares (share.h) */
} bb_silo_terms;

typedef enum bb_silo_state {
    BB_SILO_WAITING, /* for a frame */
    BB_SILO_WORK,    /* call bb_silo_work */
    BB_SILO_DONE,    /* the models are there */
    BB_SILO_FAILED,  /* some call failed, and every further one will */
    BB_SILO_STOPPED  /* the curator has ended the run early */
} bb_silo_state;

/* BB_EUSAGE: a run that makes no sense, that the policy forbids, or tasks that it does
 * not have; off the grid also tasks that are only a part of a chunk (bb_tally_chunks). */
BB_MUST_CHECK bb_status bb_silo_open(bb_silo **out, const bb_silo_terms *terms);
void bb_silo_close(bb_silo *silo); /* NULL is allowed */
/* Whether a policy allows this run, as far as can be said before an offer, and before a row
 * is read: BB_EUSAGE says what it forbids. bb_silo_open asks it, too. */
BB_MUST_CHECK bb_status bb_silo_check_policy(const bb_run *run,
                                             const bb_silo_policy *policy,
                                             const bb_identity *identity);

/* Whether it allows a run of so many silos, of which every round needs `fewest`: BB_EUSAGE. */
BB_MUST_CHECK bb_status bb_silo_check_silos(const bb_silo_policy *policy,
                                            uint32_t silos, uint32_t fewest);

/* Takes a frame of the curator's. *news: whether it told anything new; a frame that came
 * before, or is of a round that is over, changes nothing. The offer must be of the run
 * that was agreed to, and takes all the memory that the run will need; the policy's ledger
 * must have room for it, and is charged with the first round, before anything is made of
 * rows: no run that never begins costs anything. BB_EDATA, BB_EUSAGE: no frame for this
 * silo now; nothing changed. BB_EINTERRUPTED: the curator has ended the run early, and
 * said why. Where it is the offer that is refused, by the terms, the policy or a ledger,
 * or by the ledger at the first round, the silo has failed, and there is a frame for the
 * curator that says so. */
BB_MUST_CHECK bb_status bb_silo_take(bb_silo *silo, bb_bytes frame, bool *news);
bb_silo_state bb_silo_now(const bb_silo *silo);
/* The run's, once it has joined. */
const uint8_t *bb_silo_name(const bb_silo *silo);
/* Whether its part of a run is over without models, so that nothing goes on from what it
 * saves: it has refused the offer, or its ledger the run, or the curator has ended that. */
bool bb_silo_is_out(const bb_silo *silo);
/* Train and show for every own task that takes part, or finish a phase: the only
 * function that looks at rows. BB_EINTERRUPTED: run->observer.stop. */
BB_MUST_CHECK bb_status bb_silo_work(bb_silo *silo);
/* The frame for the curator, if there is one: valid until the next call for this silo.
 * It is given again and again until bb_silo_gave. */
bool bb_silo_give(const bb_silo *silo, bb_bytes *frame);
/* The next frame tells the curator that this silo is there, and is to be given whatever it
 * is due. A silo that signs begins with it: what the curator signed before, for a process
 * that is no more, is not taken. */
void bb_silo_hello(bb_silo *silo);
/* After BB_SILO_DONE: the last frame, which says that the models are stored. The curator
 * has one of the same kind for an answer, which is taken and changes nothing. */
void bb_silo_leave(bb_silo *silo);
#define BB_REFUSED_BY_LEDGER "its own ledger does not allow it"
/* Writes a frame that refuses to take part before there is a silo, for this reason, which
 * the curator sees: a policy's, and nothing private. */
void bb_silo_refuse(bb_writer *frame, uint32_t number, const bb_identity *identity,
                    const char *why);
void bb_silo_gave(bb_silo *silo);

/* Everything needed to go on in another process: states of tasks, models, billboard.
 * PRIVATE bytes, appended to `bytes`. A driver that must survive a crash stores them
 * before it sends the frame that bb_silo_give returned. */
void bb_silo_save(const bb_silo *silo, bb_writer *bytes);
/* The same, but for what lies in temporary files (bb_run.memory), which is said to be there,
 * and is so until the next round. */
void bb_silo_save_stored(const bb_silo *silo, bb_writer *bytes,
                         bb_silo_stored stored[BB_SILO_STORED]);
/* Into a silo opened with the same terms. stored: what was, or NULL. The silo has
 * failed then: BB_EUSAGE: they are of another run; BB_EDATA: no saved silo. */
BB_MUST_CHECK bb_status bb_silo_restore(bb_silo *silo, bb_bytes saved,
                                        const bb_bytes stored[BB_SILO_STORED]);

/* The method that tasks could finish with now, because a round of its phase has been
 * published; else NULL. */
const bb_method *bb_silo_finishes(const bb_silo *silo);
/* For the operator of a simulation, between a frame and bb_silo_work: what tasks would keep
 * if the run ended here, into a result that bb_result_open made for them. The silo is then
 * as it was before. Tasks whose solver fails, or whose model is not finite, have the zero
 * model. BB_EINTERRUPTED as bb_silo_work. */
BB_MUST_CHECK bb_status bb_silo_preview(bb_silo *silo, bb_result *result);

/* What own task k keeps, after BB_SILO_DONE: local[k].length numbers and an intercept.
 * They stay in the silo. */
typedef struct bb_silo_task {
    const double *model;
    double intercept;
    double objective, gap; /* what finish said; of the last phase */
    bool asked;            /* took part in some round */
    bool
        failed; /* private run: its solver failed at the end, or its model was not finite:
                   it keeps the zero model */
} bb_silo_task;
bb_silo_task bb_silo_result(const bb_silo *silo, size_t k);
/* The same for all own tasks, into a result that bb_result_open made for them: models,
 * who was asked, how many failed, and sums of what finish said. */
void bb_silo_models(const bb_silo *silo, bb_result *result);
/* Bytes of a note with the final zero, at most. */
enum { BB_SILO_NOTE = 200 };
/* And what a silo knows of the public rest, after bb_silo_models: shared, plan, rounds,
 * shares, noise_multiplier, billboard_sha256 and note, which lies in the silo. The plan is
 * the silo's no more, which can only be closed then. */
BB_MUST_CHECK bb_status bb_silo_public(bb_silo *silo, bb_result *result);

#endif
