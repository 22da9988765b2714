/* narrow.h - public ranges that are far too wide, made narrower: one round finds where in its
 * range a column lies, another how far from there tasks' numbers go, and every task moves its
 * rows there at home. What is shown is in the unit ball whatever rows are, those outside of
 * their ranges, too. docs/methods/mp-mixed-details.md, "Wide ranges" */
#ifndef BB_METHODS_NARROW_H
#define BB_METHODS_NARROW_H

#include "core/method.h"

/* The part of mu^2 that each of the two rounds has; 0: ranges stay as they are, since nothing
 * could be seen, or there are none. Public sizes only. */
double bb_narrow_share(const bb_view *view);
/* Numbers that a task shows in each, and that the billboard has then. */
size_t bb_narrow_length(const bb_view *view);
/* What is shown in the first of these rounds (0) and in the second (1). */
bb_block bb_narrow_block(const bb_view *view, uint32_t round);

/* vote (bb_narrow_length) <- the means of a task's columns, each in [-1, 1], and that it has rows; in
 * the unit ball. */
void bb_narrow_show_places(const bb_view *view, const bb_local *local, double *vote);
void bb_narrow_take_places(const bb_view *view, const bb_release *release,
                           double *place);
/* The roots of the largest distances from there, of half of what can be; 1 of a column that does
 * not vary in the task. */
void bb_narrow_show_widths(const bb_view *view, const double *place,
                           const bb_local *local, double *vote);
/* factor <- by what columns are multiplied around their place, 1: not at all. */
void bb_narrow_take_widths(const bb_view *view, const bb_release *release,
                           double *factor);

/* Whether any range is narrower than it was. */
bool bb_narrow_is(const bb_view *view, const double *factor);
/* scale, place (columns without the constant) <- the same for one task: no number of its rows
 * goes beyond 2 by that. */
void bb_narrow_move(const bb_view *view, const double *at, const double *factor,
                    const bb_local *local, double *scale, double *place);
/* out (features) <- a model for rows so moved, for rows in their ranges. */
void bb_narrow_back(const bb_view *view, const double *place, const double *factor,
                    const double *model, double *out);

#endif
