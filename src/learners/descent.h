/* descent.h - inside the room: what the two drivers of bb_local_descend share. */
#ifndef BB_LEARNERS_DESCENT_H
#define BB_LEARNERS_DESCENT_H

#include "learners/predictor.h"
#include "learners/sgd.h"

typedef struct bb_descent_state {
    const bb_local *local;
    bb_pull pull;
    double momentum;
    size_t rows;   /* of a step; an epoch's last has what is left */
    size_t most;   /* of them at once */
    size_t *index; /* n: the rows as shuffled; NULL when steps take all */
    double *w, b;
    double *z, *teacher; /* most x outputs: of w, of the teacher; then derivatives */
    double *scratch;     /* of bb_outputs_loss */
    double *v, vb;       /* local->length: gradient, or momentum; NULL: none is kept */
    double *g;           /* d: of bb_local_gradient; else NULL */
    double *seen;        /* sgd_sparse.c: touched_count; else NULL */
    double product;      /* sgd_sparse.c */
    bb_predictor predictor;
} bb_descent_state;

/* z <- the derivatives of loss and divergence (without s) at (w, b) for the span, which
 * has at most `most` rows. */
void bb_descent_derive(bb_descent_state *s, bb_span span);
/* s times the rows of the task over those of the step. */
double bb_descent_factor(const bb_descent_state *s, bb_span span);

/* Steps that pay for the features of their rows only. `product` is the product of (1 -
 * rate penalty) over the steps so far, since it was last 1; a feature's row of w is
 * pulled as far as the steps at which the product was `seen`. start before the first
 * step, settle after the last. */
void bb_sparse_start(bb_descent_state *s);
void bb_sparse_step(bb_descent_state *s, bb_span span, double rate);
void bb_sparse_settle(bb_descent_state *s);

#endif
