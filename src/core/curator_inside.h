/* curator_inside.h - inside the room: what a curator is made of. */
#ifndef BB_CORE_CURATOR_INSIDE_H
#define BB_CORE_CURATOR_INSIDE_H

#include "core/curator.h"
#include "core/door.h"
#include "core/messages.h"

/* A silo, as the curator knows it. */
typedef struct member {
    bool joined;
    size_t own, *id; /* its tasks */
    uint64_t given;  /* the last event that it was given */
    bool answered;   /* this round's attempt */
    bb_writer sums;  /* off the grid: what it answered */
    bb_reader read;  /* and how far it was added up */
    size_t read_tasks;
    size_t lead; /* chunks: the first sum is of so many, see bb_tally_lead */
} member;

struct bb_curator {
    bb_phases phases;
    bb_roll roll;
    bool sealed;
    bb_curator_state now;
    member *member;  /* silos */
    uint32_t *owner; /* tasks: of which silo, 1, 2, ...; 0: of none */
    uint8_t name[BB_HASH_BYTES];
    bb_writer offer, out; /* its payload; the frame that is given */

    bool began; /* silos have joined, the plan is charged */
    size_t phase;
    bb_view view;
    bb_plan_view plan;
    bb_billboard board;
    bb_draft draft; /* of the board */
    size_t board_room;
    double *digest_work;
    bb_door door;
    uint32_t attempt;
    bb_release release;
    uint64_t event;       /* the last one: 1 is the offer */
    uint64_t round_event; /* of the round that is asked; 0: none is */
    uint64_t end_event[BB_MOST_PHASES];
    bb_writer end[BB_MOST_PHASES]; /* what the end of a phase says */
    double *shared;                /* clusters x parameters */
    double *effects;               /* of bb_result; NULL: none */
    const char *note;
    bb_stop stopped; /* why the run was ended early; 0: it was not */
    uint32_t rounds; /* published */
    bool *picked;    /* tasks: a cohort of fixed size; NULL: none is drawn */
    bb_random draw;
    bool draw_open;
    bb_arena arena;
};

static inline const bb_run *bb_curator_run(const bb_curator *c) {
    return &c->phases.run;
}

static inline bb_status bb_curator_failed(bb_curator *c, bb_status status) {
    if (status) c->now = BB_CURATOR_FAILED;
    return status;
}

/* Numbers of what is shared. */
static inline size_t bb_curator_shared(const bb_curator *c) {
    return bb_curator_run(c)->pub.clusters * bb_curator_run(c)->pub.parameters;
}

/* curator_frames.c: silos that have joined, that have answered the round's attempt. */
uint32_t bb_curator_joined(const bb_curator *c);
uint32_t bb_curator_answered(const bb_curator *c);
/* Silo s + 1 has these tasks: own numbers, as in a frame. BB_EDATA; BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_curator_enrol(bb_curator *c, uint32_t s, uint64_t own,
                                         const uint8_t *words);
/* Off the grid: adds what all silos answered, chunk by chunk. */
void bb_curator_add_chunks(bb_curator *c);

/* curator.c: opens one whose plan is taken from these bytes, or priced if there are none.
 */
BB_MUST_CHECK bb_status bb_curator_begin(bb_curator **out,
                                         const bb_curator_terms *terms,
                                         bb_reader *saved);
/* An empty board for c->phase; asks for its next round. */
void bb_curator_start_phase(bb_curator *c);
BB_MUST_CHECK bb_status bb_curator_ask(bb_curator *c, uint32_t attempt);

#endif
