/* sgd.h - stochastic gradient descent on one task's own problem, for every kind of
 * model: linear with one or several outputs, dense or sparse, and networks. */
#ifndef BB_LEARNERS_SGD_H
#define BB_LEARNERS_SGD_H

#include "base/random.h"
#include "learners/local.h"

typedef enum bb_decay {
    BB_DECAY_CONSTANT, /* rate */
    BB_DECAY_LINEAR,   /* rate * (1 - k / steps) at step k = 0, 1, ... */
    BB_DECAY_INVERSE   /* rate / sqrt(k + 1) */
} bb_decay;

typedef struct bb_sgd {
    uint64_t steps;  /* when > 0; else */
    uint64_t epochs; /* passes over the rows, each of ceil(n / batch) steps */
    size_t batch;    /* rows of a step; 0: all of them (networks: at most bb_net_batch;
                        0 goes over all rows in pieces and steps once) */
    double rate; /* length of a step. batch = 0 and a linear model: over the Lipschitz
                    constant of loss and pull together; else absolute */
    double momentum; /* beta in [0, 1): v <- beta v + g; w <- w - rate v */
    bb_decay decay;
} bb_sgd;

/* What is added to the loss; zero and NULL leave a part out. The loss of a minibatch is
 * weight * n / batch times the sum over its rows: its mean with loss scale `mean`. */
typedef struct bb_pull {
    double penalty;        /* penalty/2 * sum_k fisher_k (w_k - centre_k)^2 */
    const double *centre;  /* local->length; NULL: 0 */
    const double *fisher;  /* local->length; NULL: all 1 */
    double kl;             /* kl * weight * sum over rows of the symmetrised divergence
                              KL(p||q) + KL(q||p) of the outputs' laws: p of w, q of teacher
                              (squared loss: normal laws of variance 1) */
    const double *teacher; /* local->length */
    double teacher_intercept;
} bb_pull;

/* Doubles of work space of bb_local_descend with this sgd, and, with any, of
 * bb_local_fisher. */
size_t bb_sgd_work(const bb_local *local, const bb_sgd *sgd);

/* w (local->length) <- after the steps. *b, an own intercept beside w (NULL: none,
 * which is where local->intercept is false), moves with it and is not pulled; full
 * steps of the squared loss leave the best one for w. Rows are shuffled anew in every
 * epoch by `random` (not used when batch = 0): the same draws, the same bytes, on one
 * type of processor. A task without rows stays where it is. Allocates nothing. Linear
 * models of several outputs with sparse rows pay for the features of a minibatch only
 * (the pull on others is made up for when they next occur, and at the end); momentum
 * and fisher make them pay for all of local->length. */
void bb_local_descend(const bb_local *local, const bb_sgd *sgd, const bb_pull *pull,
                      bb_random *random, double *w, double *b, double *work);

/* fisher (local->length) <- 1/n sum_j of the squared gradient of row j's log-likelihood
 * at (w, b): the empirical diagonal of the Fisher information (Kirkpatrick et al.
 * 2017). Zero without rows. */
void bb_local_fisher(const bb_local *local, const double *w, double b, double *fisher,
                     double *work);

#endif
