/* curator.h - the loop without its tasks: rounds, the door, the billboard.
 *
 * A curator reads no clock, opens no file but the run's ledger, and waits for nothing.
 * Frames come in with bb_curator_take, a round is closed by the driver - when all silos
 * have answered, or at a deadline that is the driver's - and frames for the silos are
 * given by bb_curator_give. A silo that does not answer has shown zeros: that is one of
 * the contributions that replace-one covers, and all divisors stay what they were. One that
 * comes when the run has begun without it is told so. */
#ifndef BB_CORE_CURATOR_H
#define BB_CORE_CURATOR_H

#include "core/run.h"
#include "core/wire.h"

typedef struct bb_curator bb_curator;

typedef struct bb_curator_terms {
    const bb_run *run; /* `local` is not looked at. Borrowed */
    uint32_t silos;    /* of the roster: 1 .. silos */
    uint32_t fewest;   /* that every round needs, public; 0: all */
    const char *const *silo_name, *const *task_name; /* for messages; NULL: numbers.
                                                        Borrowed */
    const char *checkpoint; /* that it is kept in, for messages; NULL: none. Borrowed */
    bool sealed;            /* frames leave the process */
    const bb_identity *identity; /* frames are signed, and sealed; NULL: they are not.
                                    Borrowed. With one, a run of two doors has them apart:
                                    this is the first, and a helper (helper.h), which is
                                    one silo more here, has the second */
} bb_curator_terms;

typedef enum bb_curator_state {
    BB_CURATOR_WAITS,     /* for frames of silos */
    BB_CURATOR_COMPLETE,  /* all silos have answered, but for those that a round was
                             closed without and that have said nothing since, if enough
                             have: call bb_curator_close_round */
    BB_CURATOR_PUBLISHED, /* bb_curator_release may be seen; then bb_curator_go_on */
    BB_CURATOR_DONE,      /* the last billboard is there, for silos to finish with */
    BB_CURATOR_FAILED     /* some call failed, or it was stopped: it takes and publishes
                             nothing any more */
} bb_curator_state;

/* Makes the plan. BB_EUSAGE: a run that makes no sense, or whose sums are off the grid
 * where not every silo is needed. Takes all the memory that the run will need. */
BB_MUST_CHECK bb_status bb_curator_open(bb_curator **out,
                                        const bb_curator_terms *terms);
void bb_curator_close(bb_curator *curator); /* NULL is allowed */

/* Takes a frame. *news: whether it told anything new; one that came before, or of a
 * round or attempt that is over, changes nothing. BB_EDATA: no frame for this curator
 * now, or no sum that its tasks can have; nothing changed. BB_EUSAGE: a silo refuses to take
 * part, and says why; nothing changed. BB_EUSAGE, too, and BB_CURATOR_FAILED, if the frame
 * says that the run was further than this curator knows, which then was restored from an
 * older copy, and would publish rounds again. */
BB_MUST_CHECK bb_status bb_curator_take(bb_curator *curator, bb_bytes frame,
                                        bool *news);
bb_curator_state bb_curator_now(const bb_curator *curator);
/* With two doors apart a round is closed twice: first for silos, whose answers are counted
 * (then the curator is saved, before the helper is given anything), then for the helper's.
 *
 * Ends the joining of silos, and charges the whole plan to the ledger before the first
 * round can be given; or ends a round, and publishes. BB_EBUDGET: the ledger refused,
 * nothing was published. BB_EUSAGE: fewer than terms->fewest have answered; nothing
 * changed, the driver may wait on. */
BB_MUST_CHECK bb_status bb_curator_close_round(bb_curator *curator);
/* From BB_CURATOR_PUBLISHED to the next round, the next phase, or the end. A driver that
 * must survive a crash saves the curator before it lets anybody see the release. */
BB_MUST_CHECK bb_status bb_curator_go_on(bb_curator *curator);
/* The next frame for this silo, if there is one that it was not given: valid until the
 * next call for this curator. */
BB_MUST_CHECK bb_status bb_curator_give(bb_curator *curator, uint32_t silo,
                                        bb_bytes *frame, bool *given);
/* After BB_CURATOR_DONE: whether every silo that joined was given the ends of all phases, or
 * has its models. */
bool bb_curator_gave_all(const bb_curator *curator);
/* Ends the run before its end, and tells every silo why: bb_curator_give has a frame
 * for each that says so. Also for a curator that has failed; after BB_CURATOR_DONE it
 * does nothing, nor for one that is an older copy: the silos may go on with the newest. */
void bb_curator_stop(bb_curator *curator, bb_stop why);
bool bb_curator_is_stopped(const bb_curator *curator);
/* Everything that this silo needs to catch up is given again. */
void bb_curator_again(bb_curator *curator, uint32_t silo);
/* Whether it has joined, and has not said that it has stored its models. */
bool bb_curator_waits_for(const bb_curator *curator, uint32_t silo);

/* What this silo is to the curator now; behind them the helper, if there are two doors. */
typedef enum bb_member {
    BB_MEMBER_AWAY,     /* it has not joined */
    BB_MEMBER_JOINED,   /* and has not answered this round */
    BB_MEMBER_ANSWERED, /* this round */
    BB_MEMBER_LEFT      /* with its models, as it says */
} bb_member;
bb_member bb_curator_member(const bb_curator *curator, uint32_t silo);
/* The version of the program with which this silo has joined; NULL: it has not. */
const char *bb_curator_program(const bb_curator *curator, uint32_t silo);
/* The run's, in every frame. */
const uint8_t *bb_curator_name(const bb_curator *curator);
/* How many tasks of the run are those of no silo that has joined: they show nothing. */
size_t bb_curator_absent(const bb_curator *curator);
/* Whether the joining has ended, and the whole plan is charged. */
bool bb_curator_began(const bb_curator *curator);

/* The last release; valid until bb_curator_go_on. */
const bb_release *bb_curator_release(const bb_curator *curator);
uint32_t
bb_curator_round(const bb_curator *curator); /* the last one asked, 1, 2, ... */
uint32_t bb_curator_published(const bb_curator *curator); /* rounds, gone on from */
const bb_plan *bb_curator_plan(const bb_curator *curator);
/* For the operator of a simulation: norms of the last round's noise, and of its sums before
 * that, in runs that are traced. */
void bb_curator_strengths(const bb_curator *curator, double *noise, double *signal);

/* After BB_CURATOR_DONE: what is public of the result. result->shared and ->plan are the
 * caller's (bb_result_free); objective and gap are read, as sums over the tasks,
 * and completed by the method. */
BB_MUST_CHECK bb_status bb_curator_result(bb_curator *curator, bb_result *result);

/* Appends public bytes (but for shares, where there are two doors apart: not for the helper's
 * eyes): the offer, billboard, round, the hash of what was published, who
 * joined. Noise is never saved: a round that was not published is asked for again under a
 * new attempt, and its budget was reserved anyway. */
void bb_curator_save(const bb_curator *curator, bb_writer *bytes);
/* A curator that goes on from them, opened with the same terms: its plan is the saved
 * one, which is not priced again, and the ledger is not charged again. BB_EUSAGE: they are
 * of another run; BB_EDATA: no saved curator. */
BB_MUST_CHECK bb_status bb_curator_restore(bb_curator **out,
                                           const bb_curator_terms *terms,
                                           bb_bytes saved);

#endif
