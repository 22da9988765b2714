/* lbfgs.h - the least value of a smooth function, by its gradients (L-BFGS, Liu and
 * Nocedal 1989): two loops over the last steps give the direction (Nocedal 1980), the
 * step's length is halved until it goes down enough (Armijo). */
#ifndef BB_LINALG_LBFGS_H
#define BB_LINALG_LBFGS_H

#include <stddef.h>

typedef struct bb_lbfgs {
    size_t size; /* of w */
    /* Returns the value at w, INFINITY or NAN where there is none, and g <- gradient. */
    double (*value)(void *context, const double *w, double *g);
    void *context;
    /* out <- an approximation of the inverse Hessian times g. NULL: a multiple of g. */
    void (*precondition)(void *context, const double *g, double *out);
    double
        first; /* > 0: the first step tried is -first times the (so changed) gradient */
    size_t most_steps;
    double
        small_gradient; /* ends when the gradient's norm is this times the first's, */
    double small_gain;  /* or a step gains no more than this times the value */
} bb_lbfgs;

size_t bb_lbfgs_work(size_t size); /* doubles */
/* w (size) is where it starts and where it ends; returns the value there, which is not
 * above that of the start. */
double bb_lbfgs_minimise(const bb_lbfgs *problem, double *w, double *work);

#endif
