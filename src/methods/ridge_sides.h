/* ridge_sides.h - one task's ridge problems for many penalties around zero and around a
 * centre, under a prior of the same variance in all directions, or of a larger one along
 * one direction: those differ by a matrix of rank one (Sherman, Morrison 1950), and one
 * tridiagonal form serves all. The squared loss; local, and free. */
#ifndef BB_METHODS_RIDGE_SIDES_H
#define BB_METHODS_RIDGE_SIDES_H

#include "methods/ridge_path.h"

enum { BB_RIDGE_DIRECTIONS = 2 };

/* Borrows what it is opened with. */
typedef struct bb_ridge_sides {
    bb_ridge_path *path;
    const double *direction[BB_RIDGE_DIRECTIONS];
    double freer;
    size_t count;
    const double *penalty;
    double squares
        [2]; /* around zero and the centre: weight times the sum of squares left */
    double *turned;  /* order x 8: their right sides, and the directions, turned */
    double *log_det; /* count */
    double *form;    /* BB_TRIDIAGONAL_FORMS x count */
    double *share;   /* BB_TRIDIAGONAL_SIDES x count: what was kept */
    double along[BB_RIDGE_DIRECTIONS]; /* and this much of the directions beside */
} bb_ridge_sides;

/* Doubles of room of a task with rows. */
size_t bb_ridge_sides_length(const bb_local *local, size_t count);
/* path: open, of no covariance, and of a task with rows. centre: d, or NULL. direction: d,
 * of length one, or NULL; along it the prior's variance is 1 + freer times that in others.
 * `count` penalties > 0. O(d min(n, d)) and O(min(n, d) count). */
void bb_ridge_sides_open(bb_ridge_sides *s, bb_ridge_path *path, const double *centre,
                         const double *const *direction, double freer, size_t count,
                         const double *penalty, double *room);
/* log_det, least (count): as bb_ridge_path_weigh around zero or, if `around`, the centre;
 * kind 0: all directions alike, 1 and 2: the first or the second of them is freer. */
void bb_ridge_sides_weigh(const bb_ridge_sides *s, size_t kind, bool around,
                          double *log_det, double *least);
/* Keeps the sum of share (minimum - centre) over the penalties. */
void bb_ridge_sides_keep(bb_ridge_sides *s, size_t kind, bool around,
                         const double *share);
/* w (d) <- w + all that was kept. O(d min(n, d)) and O(min(n, d) count). */
void bb_ridge_sides_add(bb_ridge_sides *s, double *w);

#endif
