/* predictor.h - inside the room: the outputs of one task's model for chosen rows, and
 * derivatives through it. */
#ifndef BB_LEARNERS_PREDICTOR_H
#define BB_LEARNERS_PREDICTOR_H

#include "learners/net.h"
#include "learners/outputs.h"

typedef struct bb_predictor {
    const bb_local *local;
    bb_net_lane *lane;     /* networks, else NULL */
    const double **images; /* networks: most */
    double *g;             /* networks: local->length */
    double *x;             /* dense rows, several outputs: most x d */
} bb_predictor;

/* The most rows that it makes sense to hand over at once. */
size_t bb_predictor_piece(const bb_local *local);
/* Doubles of work space for spans of up to `most` rows. */
size_t bb_predictor_work(const bb_local *local, size_t most);
/* Takes a lane of the network; close gives it back. */
bb_predictor bb_predictor_open(const bb_local *local, double *work);
void bb_predictor_close(bb_predictor *predictor);

/* z (count x outputs) <- the outputs at (w, b); b is added to the one output of linear
 * models. */
void bb_predictor_forward(bb_predictor *predictor, bb_span span, const double *w,
                          double b, double *z);
/* target (local->length) += a sum_j (dz_j)' d z_j / d w, after bb_predictor_forward of
 * the same rows and w, and nothing in between; linear models may have target = w. */
void bb_predictor_backward(bb_predictor *predictor, bb_span span, const double *dz,
                           double a, double *target);
/* The same with the sum of the rows' squared derivatives, elementwise:
 * target_k += a sum_j ((dz_j)' d z_j / d w_k)^2. Networks: spans of one row only. dz
 * and what was kept of the rows may be overwritten. */
void bb_predictor_squares(bb_predictor *predictor, bb_span span, double *dz, double a,
                          double *target);

#endif
