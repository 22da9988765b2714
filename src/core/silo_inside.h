/* silo_inside.h - inside the room: what a silo is made of. */
#ifndef BB_CORE_SILO_INSIDE_H
#define BB_CORE_SILO_INSIDE_H

#include "core/messages.h"
#include "core/share.h"
#include "core/silo.h"

#include <stdatomic.h>

struct bb_silo {
    bb_phases phases;
    bb_silo_policy policy;
    bool has_policy;
    const bb_identity *identity;
    bb_stamp stamp;  /* of its frames, and what the curator's have to be for */
    bb_writer hello; /* a frame that is given before `out` */
    bool hello_ready;
    bool two_doors;  /* apart: sums are shares of them */
    bool has_helper; /* its key was told, and does not change */
    uint8_t helper_key[BB_SHARE_KEY_BYTES];
    uint32_t number;
    const char *checkpoint;
    size_t own, *id; /* its tasks: their public numbers */
    bb_silo_state now;
    bool joined;     /* the offer was taken */
    bb_writer offer; /* its payload */
    uint8_t name[BB_HASH_BYTES];

    bb_roll roll;     /* by the offer */
    uint32_t stopped; /* why the curator ended the run; 0: it did not */
    uint32_t rounds;  /* of the phases that are over */
    double least_noise;
    char published[BB_HASH_TEXT]; /* SHA-256 of all releases */
    char note[BB_SILO_NOTE]; /* of the last phase that is over and has one; or "" */

    size_t phase;
    bool begun;          /* tasks have begun the phase */
    bb_ask ask;          /* the last round that was taken */
    uint32_t attempt;    /* and its attempt */
    bool ending;         /* work to do: the end of the phase, not a round */
    double *shared;      /* what phases before this one shared; public */
    double *next_shared; /* and this one */
    bb_billboard board;
    double *board_at;
    size_t board_room;

    bb_view view;
    bb_plan_view plan;
    bb_tally tally;
    size_t chunks, *chunk_first; /* own tasks that are added up together */
    size_t lead;  /* off the grid: so many first ones, at least 1, are sent as one */
    size_t parts; /* that work at home is dealt in */
    bb_arena arena;
    size_t work_length, states;
    size_t *first;       /* own + 1: where each task's model is */
    size_t *state_first; /* own + 1 */
    double *model, *intercept, *state;
    bb_map model_at, state_at; /* where they are, if not in memory */
    double *work;              /* workers x work_length */
    double *show;              /* workers x plan.show_length */
    double *objective, *gap;   /* own */
    bb_status *finished;       /* own */
    bool *asked, *failed;      /* own */
    bool *picked;              /* own: who takes part; NULL: all do */
    atomic_uint done;          /* tasks that are finished */
    bb_random *random;         /* workers; only for methods that draw */
    size_t random_open;
    bb_random draw;
    bool draw_open;
    bb_writer out;
    bool out_ready;
    bool offered; /* again, and nothing else since */
};

static inline const bb_run *bb_silo_run(const bb_silo *silo) {
    return &silo->phases.run;
}

/* Of the phase that is going on. */
static inline const bb_method *bb_silo_method(const bb_silo *silo) {
    return silo->phases.part[silo->phase].view.method;
}

static inline bb_status bb_silo_failed(bb_silo *silo, bb_status status) {
    silo->now = BB_SILO_FAILED;
    return status;
}

static inline size_t bb_view_length(size_t (*length)(const bb_view *),
                                    const bb_view *view) {
    return length ? length(view) : 0;
}

/* What a silo says from then on when the curator has ended the run. */
static inline bb_status bb_silo_stopped(const bb_silo *silo) {
    if (silo->stopped == BB_STOP_LATE)
        return bb_fail(BB_EINTERRUPTED, "the run has begun without this silo");
    if (silo->stopped == BB_STOP_TAKEN)
        return bb_fail(BB_EINTERRUPTED, "the curator does not take this silo: %s",
                       bb_stop_text(BB_STOP_TAKEN));
    const uint32_t rounds = silo->rounds + silo->board.releases;
    return bb_fail(BB_EINTERRUPTED,
                   "the curator has ended the run after %u round%s: %s", rounds,
                   bb_plural(rounds), bb_stop_text(silo->stopped));
}

/* silo_offer.c: everything that an offer brings but the price: plan, memory, generators,
 * the first phase. name: of the run; NULL: as the offer says. kept: it was taken before. */
BB_MUST_CHECK bb_status bb_silo_accept(bb_silo *silo, bb_bytes offer,
                                       const uint8_t *name, bool kept);
BB_MUST_CHECK bb_status bb_silo_take_offer(bb_silo *silo, const bb_frame *frame,
                                           bool *news);
/* The silo's own ledger, if it has one, pays for the whole plan, too, before anything is made
 * of rows; at the offer it only says whether it would. */
BB_MUST_CHECK bb_status bb_silo_charge(const bb_silo *silo, bool reserve);
/* What the curator is told of a frame that was not taken: of the terms and the policy all, of what
 * is this place's own matter, such as what is charged, nothing. Returns the status. */
bb_status bb_silo_decline(bb_silo *silo, const bb_frame *frame, bb_status status,
                          bool charged);
/* Of the offer named `run`: what the curator is told where it is refused, whose reason is
 * the last message. */
void bb_silo_put_refusal(bb_silo *silo, const uint8_t run[BB_HASH_BYTES],
                         const char *why);
/* The last answer, to whoever asks for a round that is over, or knows of none: a curator
 * that has gone on from an older copy of itself sees so by it. */
void bb_silo_say_again(bb_silo *silo);
/* Begins silo->phase with empty states, or ends the run after the last one. */
void bb_silo_open_phase(bb_silo *silo);

#endif
