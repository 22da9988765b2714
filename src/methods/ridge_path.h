/* ridge_path.h - one task's ridge problems for many penalties at once, under a Gaussian
 * prior with any covariance: one reduction of a matrix of order min(n, d) to tridiagonal
 * form serves them all (linalg/tridiagonal.h). The squared loss; local, and free. */
#ifndef BB_METHODS_RIDGE_PATH_H
#define BB_METHODS_RIDGE_PATH_H

#include "learners/local.h"
#include "linalg/tridiagonal.h"

/* The covariance R R' of a prior, R = basis' diag(root). */
typedef struct bb_covariance {
    const double
        *basis; /* d x d, a direction each row, orthonormal; NULL: the features */
    const double *root; /* d: standard deviations in these directions; NULL: all 1 */
} bb_covariance;

/* For every penalty the least value of
 *     f(w) = weight ||X w - y||^2 + penalty (w - centre)' (R R')^-1 (w - centre),
 * from weight R'X'X R (n >= d), or weight X R R'X'. Borrows what it is opened with. */
typedef struct bb_ridge_path {
    const bb_local *local;
    bb_covariance covariance;
    const double *gram; /* n >= d: weight X'X, in strips */
    double *turned;     /* R' times it times R */
    double *rows;       /* n < d: X R */
    bb_tridiagonal matrix;
    double *towards; /* of order min(n, d): the residual around the centre, turned */
    double squares;  /* weight ||X centre - y||^2 */
    double *kept;    /* of that order: sums of minima, turned */
    double *q, *a;   /* work: d, and of that order */
} bb_ridge_path;

/* Doubles of room, which the functions below work in, too. */
size_t bb_ridge_path_length(const bb_local *local);
/* Around no centre yet: bb_ridge_path_centre comes next. O(min(n, d)^3), and O(d^3) more
 * with a basis. BB_ENUMERIC if numbers overflow. */
BB_MUST_CHECK bb_status bb_ridge_path_open(bb_ridge_path *path, const bb_local *local,
                                           const bb_covariance *covariance,
                                           double *room);
/* The same in O(min(n, d)^3 + n d) from another open path of the task (NULL: there is none),
 * under a covariance of the same basis whose root is nowhere 0 where this one's is not. */
BB_MUST_CHECK bb_status bb_ridge_path_open_from(bb_ridge_path *path,
                                                const bb_ridge_path *from,
                                                const bb_local *local,
                                                const bb_covariance *covariance,
                                                double *room);
/* From now on around this centre (d; NULL: 0). */
void bb_ridge_path_centre(bb_ridge_path *path, const double *centre);
/* For `count` penalties > 0: log_det <- ln det(I + weight R'X'X R / penalty), least <-
 * the least value of f, perhaps below 0 by rounding. O(min(n, d) count). */
void bb_ridge_path_weigh(const bb_ridge_path *path, size_t count, const double *penalty,
                         double *log_det, double *least);
/* n > d, same penalties: error <- ||residual||^2 / (1 - df / n)^2 of the minimum, df the
 * trace of what makes fitted values of targets: about the sum of squares by which rows
 * that are left out are missed (generalised cross-validation, Golub, Heath and Wahba
 * 1979). O(d count). */
void bb_ridge_path_left_out(const bb_ridge_path *path, size_t count,
                            const double *penalty, double *error);
/* Keeps the sum of share (minimum - centre), beside what it has kept around this and other
 * centres; O(min(n, d) count). */
void bb_ridge_path_keep(const bb_ridge_path *path, size_t count, const double *penalty,
                        const double *share);
/* w (d) <- w + all that was kept, which is then no longer. O(n d), d^2 with a basis. */
void bb_ridge_path_add(const bb_ridge_path *path, double *w);

#endif
