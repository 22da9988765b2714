/* eight.h - eight logistic problems over the same rows at once, one in each lane of a
 * vector: what Newton's method asks for. One matrix of a few dozen rows has a processor wait
 * for one number after the other; eight of them take hardly longer.
 *
 * Problem l has the position a, the predictions p = K_l a + offset with K_l = K + more_l
 * 11', and the objective sum_j log(1 + exp(-y_j p_j)) + lambda_l/2 a'K_l a. Arrays are n x 8,
 * and fastest where they begin lines of the cache. The same bits on every x86-64. */
#ifndef BB_LINALG_EIGHT_H
#define BB_LINALG_EIGHT_H

#include <stddef.h>

enum { BB_EIGHT = 8, BB_EIGHT_MOST = 64 /* rows, as many as pay */ };

/* Predictions, and the loss there with its two derivatives in them. */
typedef struct bb_eight_place {
    double *p, *slope, *curvature;
    double loss[BB_EIGHT];
} bb_eight_place;

typedef struct bb_eight {
    size_t n;
    const double *K; /* n x n, positive semidefinite */
    const double *y; /* n, 1 or -1 */
    double more[BB_EIGHT], lambda[BB_EIGHT];
    const double *offset;
    double *a;
    bb_eight_place here, there; /* at the position, and where a step may end */
    /* Of the position, a'K a. The Newton step, and what it changes in the predictions; twice the descent that it
     * promises, a'K step, step'K step; log det(I + K curvature/lambda) of here, and the
     * least pivot of the step's system, which has a solution if that is positive. */
    double *step, *change;
    double square[BB_EIGHT], decrement[BB_EIGHT], cross[BB_EIGHT],
        step_square[BB_EIGHT], log_det[BB_EIGHT], pivot[BB_EIGHT];
    double *room; /* (n + 7) n x 8 */
} bb_eight;

/* here.p */
void bb_eight_predict(bb_eight *e);
/* there <- here + t change. */
void bb_eight_look(bb_eight *e, const double *t);
/* The step and all that is told of it. */
void bb_eight_direction(bb_eight *e);

#endif
