/* mp_mixed.h - the two halves of mp-mixed: the public conversation, and one task's fits
 * under what it found. */
#ifndef BB_METHODS_MP_MIXED_H
#define BB_METHODS_MP_MIXED_H

#include "core/method.h"
#include "methods/mp_prior.h"
#include "methods/spectrum.h"

/* A task's candidates: kinds of covariance, each around the centre or around zero, each
 * with every penalty and noise level. */
typedef enum bb_mixed_kind {
    BB_MIXED_PLAIN, /* all features alike */
    BB_MIXED_FREE,  /* the last one, the constant, next to free */
    BB_MIXED_HELD,  /* the last one next to zero */
    BB_MIXED_ONCE,  /* the directions that were found */
    BB_MIXED_TWICE, /* the same, more sharply */
    BB_MIXED_KINDS
} bb_mixed_kind;

enum {
    BB_MIXED_GROUPS = 2 * BB_MIXED_KINDS, /* group g: kind g / 2, around the centre if g
                                             is even */
    BB_MIXED_PENALTIES = 9,
    BB_MIXED_LEVELS = 5,
    BB_MIXED_CELLS = BB_MIXED_PENALTIES * BB_MIXED_LEVELS,
    BB_MIXED_FITS = BB_MIXED_GROUPS * BB_MIXED_CELLS,
    BB_MIXED_MOST_FEATURES = BB_PRIOR_MOST_FEATURES
};

typedef enum bb_mixed_phase {
    BB_MIXED_CENTRE,     /* directions towards a centre */
    BB_MIXED_DIRECTIONS, /* directions around it */
    BB_MIXED_GROUP_VOTE,
    BB_MIXED_CELL_VOTE,
    BB_MIXED_END
} bb_mixed_phase;

/* The billboard: what is read of it at home. */
typedef struct bb_mixed_board {
    size_t d;
    bb_mixed_phase phase;
    const double *centre;   /* d */
    bool found;             /* a centre */
    size_t iteration;       /* how often directions were estimated; 0: not yet */
    double directions;      /* how many were found the last time */
    double reliability;     /* of these */
    const double *variance; /* d: in the directions; NULL before the first estimate */
    const double *basis;    /* d x d, likewise */
    const double *group;    /* log odds: BB_MIXED_GROUPS */
    const double *cell;     /* BB_MIXED_CELLS */
} bb_mixed_board;

bb_mixed_board bb_mixed_read(const bb_view *view);
/* Whether the group is among a task's candidates. */
bool bb_mixed_has(const bb_mixed_board *mixed, size_t group);

/* One task's hooks. */
size_t bb_mixed_state_length(const bb_view *view);
size_t bb_mixed_local_length(const bb_view *view, const bb_local *local);
void bb_mixed_train(const bb_view *view, bb_task *task);
void bb_mixed_show(const bb_view *view, const bb_task *task, double *const *block);
BB_MUST_CHECK bb_status bb_mixed_finish(const bb_view *view, bb_task *task);

#endif
