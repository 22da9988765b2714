/* curator_inside.h - inside the room: what a curator is made of. */
#ifndef BB_CORE_CURATOR_INSIDE_H
#define BB_CORE_CURATOR_INSIDE_H

#include "core/curator.h"
#include "core/door.h"
#include "core/messages.h"
#include "core/share.h"

/* A silo, as the curator knows it. */
typedef struct member {
    bool heard; /* says what it is, if frames are signed: bb_stamp's start */
    uint8_t start[BB_HASH_BYTES];
    bool joined, left, told;       /* that it may go */
    bool taken;                    /* it came with a task of another silo's */
    char program[BB_PROGRAM_TEXT]; /* that it has joined with: its version */
    size_t own, *id;               /* its tasks */
    uint64_t given;                /* the last event that it was given */
    bool answered;                 /* this round's attempt */
    bool lost;      /* a round was closed without it, and it has said nothing since */
    bb_writer sums; /* off the grid: what it answered */
    bb_reader read; /* and how far it was added up */
    size_t read_tasks;
    size_t lead;   /* chunks: the first sum is of so many, see bb_tally_lead */
    uint32_t made; /* two doors: of its share, the attempt in which it was made, */
    uint8_t sealed[BB_SEAL_BYTES]; /* and the seed */
} member;

struct bb_curator {
    bb_phases phases;
    bb_roll roll;
    const bb_identity *identity;
    const char *const *silo_name, *const *task_name; /* NULL: they have numbers only */
    bb_stamp stamp;
    bb_curator_state now;
    member *member; /* silos; behind them the helper, if there are two doors */
    uint32_t joined, answered, lost; /* silos, without the helper */
    uint32_t *owner;                 /* tasks: of which silo, 1, 2, ...; 0: of none */
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
    bool two_doors; /* apart: what silos answer are shares */
    uint8_t helper_key[BB_SHARE_KEY_BYTES];
    bool counted; /* which silos the round has: both doors are asked for no others */
    uint64_t counted_event;
    uint8_t counted_as[BB_HASH_BYTES]; /* SHA-256 of what the helper was asked */
    bool helped;                       /* it has answered */
    bb_release release;
    uint64_t event;       /* the last one: 1 is the offer */
    uint64_t round_event; /* of the round that is asked; 0: none is */
    uint64_t end_event[BB_MOST_PHASES];
    bb_writer end[BB_MOST_PHASES]; /* what the end of a phase says */
    double *shared;                /* clusters x parameters */
    double *shared_result;         /* a copy, for bb_result */
    double *effects;               /* of bb_result; NULL: none */
    const char *note;
    bb_stop stopped; /* why the run was ended early; 0: it was not */
    bool outdated;   /* it has gone on from an older copy of itself */
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

/* Silos, and the helper. */
static inline uint32_t bb_curator_places(const bb_curator *c) {
    return c->roll.silos + c->two_doors;
}

/* curator_doors.c: where there are two doors apart. Takes what the helper says of its key, a
 * silo's share, the helper's sums; ends the counting of silos, and writes what the helper is
 * asked. */
BB_MUST_CHECK bb_status bb_curator_take_key(bb_curator *c, bb_bytes payload,
                                            bool *news);
BB_MUST_CHECK bb_status bb_curator_take_share(bb_curator *c, member *m,
                                              bb_bytes payload);
BB_MUST_CHECK bb_status bb_curator_take_help(bb_curator *c, const bb_frame *frame,
                                             bool *news);
BB_MUST_CHECK bb_status bb_curator_count(bb_curator *c);
void bb_curator_put_seeds(bb_curator *c);
/* Of a round whose silos are counted. */
void bb_curator_save_counted(const bb_curator *c, bb_writer *bytes);
BB_MUST_CHECK bb_status bb_curator_restore_counted(bb_curator *c, bb_reader *reader);

/* curator_frames.c: the version of a silo's program, from a frame; whether all have joined. */
void bb_curator_get_program(bb_reader *reader, char program[BB_PROGRAM_TEXT]);
bool bb_curator_is_complete(const bb_curator *c);
/* Silo s + 1 has these tasks: own numbers, as in a frame. BB_EDATA; BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_curator_enrol(bb_curator *c, uint32_t s, uint64_t own,
                                         const uint8_t *words);
/* Silos that a round is closed without are waited for no more, until they say something. */
void bb_curator_lose(bb_curator *c);
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
