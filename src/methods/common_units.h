/* common_units.h - units and places that all tasks have in common, where each brings powers of
 * ten of its own: one round finds, for every column and a target that is a number, by how
 * much tasks' numbers vary, another where they lie, and every task moves its rows there at
 * home. Where noise leaves neither, a task goes by its own. Where there are ranges the same two
 * rounds find which are too wide (narrow.h): places first, and then how far numbers go.
 * docs/methods/mp-mixed-details.md, "Units" */
#ifndef BB_METHODS_COMMON_UNITS_H
#define BB_METHODS_COMMON_UNITS_H

#include "core/method.h"

/* The part of mu^2 that is spent on units, and as much on places where there is a constant; 0:
 * neither is looked for. Public sizes only. */
double bb_units_share(const bb_view *view);
/* Rounds before all others: for units, and for places where there is a constant. */
uint32_t bb_units_rounds(const bb_view *view);
/* Numbers that a task shows in so many of them, and that the billboard has then. */
size_t bb_units_length(const bb_view *view, uint32_t rounds);
/* What is shown in the first of these rounds (0), and in the second (1). */
bb_block bb_units_block(const bb_view *view, uint32_t round);

/* What the billboard says of them; with ranges of places and of factors. */
typedef struct bb_units {
    const double *unit;  /* those of the first round; NULL: none are known */
    const double *place; /* of the second, where there is a constant */
    bool still;          /* there are ranges, of which none is too wide: rows stay */
    size_t state;        /* bb_units_state */
} bb_units;
/* at: where they are, of all rounds one behind the other. */
bb_units bb_units_read(const bb_view *view, const double *at);

/* Whether column k, without ranges, has one that was found. */
bool bb_units_has(const bb_units *units, size_t k);

/* By how much a task's columns and target vary: two numbers each, on a circle, and whether it
 * is by about as much as is likely, for tasks that have only zeros in a column; in the unit
 * ball. */
void bb_units_show(const bb_view *view, const bb_local *local, double *vote);
/* unit <- what the noisy sum says. */
void bb_units_take(const bb_view *view, const bb_release *release, double *unit);
/* The same of where they lie, in units that are known. */
void bb_units_show_places(const bb_view *view, const double *unit,
                          const bb_local *local, double *vote);
void bb_units_take_places(const bb_view *view, const bb_release *release,
                          double *place);

/* In front of a task's state, and of its work; the first is 0 where rows stay as they are,
 * whatever is found. */
size_t bb_units_state(const bb_view *view);
size_t bb_units_work(const bb_units *units, const bb_local *local);
/* The same task behind that work; where rows do not stay as they are, with these and its model in
 * common units and around common places, or its own where none are known (local: room
 * for them, beside the work). Sparse rows stay. */
bb_task bb_units_in(const bb_view *view, const bb_units *units, const bb_task *task,
                    bb_local *local);
/* By what its columns were multiplied for that (d - 1; NULL: rows stay). */
const double *bb_units_scale(const bb_units *units, const bb_task *task);
/* What was made of that, back in units that are the task's: its model, which where rows stayed
 * as they are has no weights for columns of zeros, and how uncertain it is: a variance of
 * noise and a matrix (d x d). */
void bb_units_take_model(const bb_view *view, const bb_task *own, bb_task *task);
void bb_units_take_matrix(const bb_task *own, const bb_task *task, double *noise,
                          double *matrix);

#endif
