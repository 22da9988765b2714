/* local.h - one task's own problem: its rows and its loss, and the exact and iterative
 * solvers that need nothing else.
 *
 * Loss of a linear model (w, b) on rows (x_j, y_j), j = 1..n, times a weight s which is
 * 1/n (loss scale `mean`) or 1 (`sum`):
 *   squared   s * sum_j 1/2 (x_j.w + b - y_j)^2
 *   logistic  s * sum_j log(1 + exp(-y_j (x_j.w + b))),  y_j in {-1, +1} The intercept b
 *   is never penalised and never shared. With the squared loss it is profiled out: rows
 *   and targets are centred by the task's own means, and b follows from w. With the
 *   logistic loss it is a variable beside w. Without intercept b = 0.
 *
 * Models with several outputs, z_j = W'x_j for a linear one (W d x outputs, row-major) or
 * what a network makes of x_j (net.h), have an own problem, too (bb_local_open_outputs):
 *   softmax     s * sum_j (log sum_c exp(z_jc) - z_j,y_j),   y_j in {0, .., outputs-1}
 *   multilabel  s * sum_j sum_c log(1 + exp(-t_jc z_jc)),
 *               t_jc = +1 for the labels of row j, else -1 There is no intercept beside W:
 *               a constant column of the rows takes its place. They are learned by descent
 *               (sgd.h); the exact solvers below are for one output.
 *
 * The parameters of a linear model of several outputs and sparse rows are many, and a
 * task's rows touch few of them: such a task's own model has the rows of W of the features
 * that occur in its rows only, `length` numbers in all (bb_local_gather). Elsewhere its
 * model is whatever is shared.
 *
 * A bb_local borrows the data set's rows; a task without rows has value 0 and gradient 0. */
#ifndef BB_LEARNERS_LOCAL_H
#define BB_LEARNERS_LOCAL_H

#include "base/status.h"
#include "learners/loss.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bb_net;

typedef struct bb_local {
    bb_loss loss;
    bool intercept;
    double weight; /* s above */
    size_t n, d;
    const double *x;            /* n x d row-major, or NULL when sparse */
    const size_t *sparse_first; /* n + 1, absolute positions in the two arrays below */
    const uint32_t *sparse_column;
    const double *sparse_value;
    const double *y; /* n; multilabel: NULL */
    size_t outputs;  /* 1 with the squared and logistic losses */
    size_t length;   /* numbers of the task's own model; d for one linear output */
    const struct bb_net *net;  /* NULL: a linear model */
    const size_t *label_first; /* multilabel: n + 1, absolute positions in label */
    const uint32_t *label;     /* ascending in a row, < outputs */
    /* linear, several outputs, sparse rows: else NULL */
    uint32_t *touched; /* features that occur in the rows, ascending */
    size_t touched_count;
    uint32_t *place; /* of each entry of the rows, from the first row's first: where in
                        `touched` its feature is */
    /* squared loss only, of the centred rows if there is an intercept: */
    double *gram; /* s * X'X in strips (linalg.h), or NULL where the rows are cheaper */
    double *xy;   /* d: s * X'y */
    double yy;    /* s * y'y */
    double *x_mean; /* d; NULL without intercept */
    double *room;   /* where these are; NULL: whoever opened the problem has them */
    double y_mean;
    /* How columns (d without the constant) were brought next to 1, borrowed; NULL: nobody says,
     * or nothing is taken off. A column is (read own_factor - own_shift) / sqrt(d): by powers of
     * ten of the task's own (`magnitude` of data/preprocess.h; no shift), where the target is
     * divided by own_unit (0: not); or by ranges, where target_shift is taken off the target
     * then. Of rows that methods/common_units.h has moved only classes' factors follow. */
    const double *own_factor, *own_shift;
    double own_unit, target_shift;
    /* Of the squared loss, the unit of the last decimal place that targets are written with, in
     * the unit that they are in here; 0: nobody says. */
    double grain;
    const bool *zero_one; /* d without the constant: of range [0, 1]; or NULL */
    const bool
        *ranged; /* d without the constant: whether a column has a public range and
                           is in its unit, not in such a power; NULL: none has one */
    double
        lipschitz; /* NAN where nobody asked for it; the largest eigenvalue of the Hessian in w, or an upper bound at
                         most 1e-6 relative above it (logistic: s/4 * that of X'X, with
                         the column of ones if there is an intercept; softmax: s/2 of
                         it, multilabel: s/4; networks: 0, they have none) */
} bb_local;

/* The rows of one task, borrowed. Either x or the three sparse arrays. */
typedef struct bb_rows {
    size_t n, d;
    const double *x;
    const size_t *sparse_first;
    const uint32_t *sparse_column;
    const double *sparse_value;
    const double *y;
    const size_t *label_first; /* multilabel */
    const uint32_t *label;
} bb_rows;

/* Prepares a task's problem; scale_sum chooses s = 1 instead of 1/n. Keeps the Gram
 * matrix where d^2 is at most twice the entries of the rows. BB_ENUMERIC if sums of
 * squares of the rows are not finite; BB_ENOMEM; BB_EUSAGE without a usable OpenBLAS
 * (bb_linalg_ready). Nothing below allocates. */
BB_MUST_CHECK bb_status bb_local_open(bb_local *local, bb_rows rows, bb_loss loss,
                                      bool intercept, bool scale_sum);
/* The same but for `lipschitz`, which takes as long as the rest and which only descent
 * over all rows reads (bb_local_descend without batches): bb_local_measure adds it. room:
 * for bb_local_room doubles, zeroed, which the problem borrows; NULL: it has its own.
 * work: bb_local_open_work doubles; NULL: it allocates and frees them. With both given
 * nothing is allocated. */
BB_MUST_CHECK bb_status bb_local_open_exact(bb_local *local, bb_rows rows, bb_loss loss,
                                            bool intercept, bool scale_sum,
                                            double *room, double *work);
size_t bb_local_room(bb_rows rows, bb_loss loss, bool intercept);
size_t bb_local_open_work(bb_rows rows, bb_loss loss);
/* Sets local->lipschitz; everything else in `local` is set. Allocates and frees what it
 * needs. Above 1000 rows and 1000 features there is no proof: the power iteration is
 * run until it stands still and 1e-6 is added. */
BB_MUST_CHECK bb_status bb_local_measure(bb_local *local);
void bb_local_close(bb_local *local);

/* Prepares a problem of `outputs` outputs, linear (net NULL) or with a network, which
 * is borrowed and takes rows of bb_net_inputs(net) = d dense columns. The loss may be
 * any; squared and logistic need one output, and a network for them. BB_EUSAGE where
 * the two do not fit, and without a usable OpenBLAS; BB_ENUMERIC, BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_local_open_outputs(bb_local *local, bb_rows rows,
                                              bb_loss loss, size_t outputs,
                                              const struct bb_net *net, bool scale_sum);

/* Parameters of a model for d features: d, d * outputs, or the network's. */
size_t bb_model_parameters(size_t d, size_t outputs, const struct bb_net *net);
/* own (local->length) <- the task's part of shared (all parameters). */
void bb_local_gather(const bb_local *local, const double *shared, double *own);

/* The sum of squares of the rows' first `columns` features. sum (columns; NULL: not wanted) <-
 * the sum of the rows: with both, the variance of the rows around their mean. */
double bb_local_squares(const bb_local *local, size_t columns, double *sum);

/* Doubles of work space that every function below needs, where it does not say else. */
size_t bb_local_work(const bb_local *local);

/* +1 or -1 if all labels are that, else 0 (also without rows). */
double bb_local_one_class(const bb_local *local);

/* The loss at (w, b); with the squared loss b is ignored (it is profiled out). */
double bb_local_value(const bb_local *local, const double *w, double b, double *work);
/* g (d) <- gradient in w, *gb <- derivative in b (0 with the squared loss and without
 * intercept); returns the loss. One pass over the rows, or one product with the Gram
 * matrix. */
double bb_local_gradient(const bb_local *local, const double *w, double b, double *g,
                         double *gb, double *work);
/* The same where nobody reads the loss. */
void bb_local_slope(const bb_local *local, const double *w, double b, double *g,
                    double *gb, double *work);
/* The best intercept for w: closed form (squared), a few Newton steps (logistic; 30
 * times the label for one-class tasks, which have no best one), 0 without intercept. */
double bb_local_intercept(const bb_local *local, const double *w, double *work);
/* Predictions' derivative u_j = s l'(x_j.w + b) for the n rows; X'u is the gradient.
 * With the squared loss b is ignored, here too, and with an intercept the u_j sum to
 * zero. */
void bb_local_residual(const bb_local *local, const double *w, double b, double *u);
/* Convex conjugate of the loss, as a function of the n predictions, at t*u; INFINITY
 * outside its domain. Fenchel: value(w) + conjugate(u) >= sum_j u_j (x_j.w + b). */
double bb_local_conjugate(const bb_local *local, const double *u, double t);

/* Minimises loss + lambda/2 ||w - centre||^2 (centre NULL: 0), to machine precision:
 * one Cholesky factorisation of min(n, d) (squared) or damped Newton (logistic). w: d,
 * start ignored. lambda > 0. A logistic task of one class with an intercept gets w =
 * centre and the intercept of bb_local_intercept. BB_ENUMERIC, and nothing written, on
 * overflow. */
BB_MUST_CHECK bb_status bb_local_ridge(const bb_local *local, double lambda,
                                       const double *centre, double *w, double *b,
                                       double *work);
/* The same of the logistic loss from where an earlier call for the same task ended, in its
 * own way told by `at' (min(n, d) numbers, or 0 first): for centres and penalties that
 * change little from call to call. */
BB_MUST_CHECK bb_status bb_local_ridge_again(const bb_local *local, double lambda,
                                             const double *centre, double *at,
                                             double *w, double *b, double *work);
/* The same where there are more features than rows, from the products K = X X' (n x n) of
 * the rows and their predictions `offset` (n) under the centre: the model is centre +
 * X'a (representer theorem), and predicts offset + K a. a: n, a start (0 will do), and
 * the result. Without intercept. BB_ENUMERIC, and nothing written. */
size_t bb_local_ridge_kernel_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_local_ridge_kernel(const bb_local *local, double lambda,
                                              const double *K, const double *offset,
                                              double *a, double *work);
/* Linear models of several outputs (softmax, multilabel): minimises loss + lambda/2 ||W -
 * centre||^2 from W = centre (NULL: 0), by L-BFGS until the gradient is 1e-5 of the first
 * one, a step gains less than 1e-11 of the value, or 200 steps are made; dense rows of no
 * more columns than rows lend it the shape of their Hessian. free_last: the
 * outputs b of the last feature, a constant column, are not penalised but held by one more
 * row, of zeros but for that column, that has every class in equal parts or every label by
 * halves; so a class that never occurs keeps a finite b. w and centre: local->length;
 * start ignored; the centre without rows. lambda > 0. work: bb_local_ridge_outputs_work
 * doubles. */
size_t bb_local_ridge_outputs_work(const bb_local *local);
void bb_local_ridge_outputs(const bb_local *local, double lambda, const double *centre,
                            bool free_last, double *w, double *work);
/* z (count x outputs) <- the outputs for rows first .. first + count - 1; of networks,
 * too. For problems of bb_local_open_outputs. work: bb_local_outputs_work doubles. */
size_t bb_local_outputs_work(const bb_local *local);
void bb_local_outputs(const bb_local *local, const double *w, size_t first,
                      size_t count, double *z, double *work);
/* Minimises loss + lambda ||w||_1 until the duality gap is at most tolerance times the
 * objective; *gap gets the certified absolute gap. Starts from (w, b); lambda > 0,
 * tolerance > 0. Coordinate descent on the Gram matrix (squared loss, where it is
 * kept), else accelerated proximal gradient, which can take seconds for 10^5 features.
 * Stops after 200,000 rounds, or 20,000 without progress, with whatever gap it has: the
 * caller compares. BB_ENUMERIC, and nothing written, if the model does not stay
 * finite. */
BB_MUST_CHECK bb_status bb_local_lasso(const bb_local *local, double lambda,
                                       double tolerance, double *w, double *b,
                                       double *gap, double *work);

/* The loss's second derivatives at (w, b), b profiled out (Schur complement): H (d x
 * d). For the logistic loss with an intercept also mean (d) and *bend: the gradient
 * changes by bend times mean, and its derivative in b by bend, for a change of b; else
 * both are 0. work: bb_local_hessian_work doubles. */
size_t bb_local_hessian_work(const bb_local *local);
void bb_local_hessian(const bb_local *local, const double *w, double b, double *H,
                      double *mean, double *bend, double *work);
/* The trace of that matrix at w = 0, b = 0; column (d): its diagonal. work: d + n doubles. */
double bb_local_spread(const bb_local *local, double *column, double *work);

/* Leave-one-out errors of ridge (squared loss, centre 0) on a grid of `count`
 * penalties, all > 0: error[l] = mean over the rows of (r_j / max(1 - h_j, 1e-10))^2,
 * at least 1e-300, where r and h are residuals and leverages of the model of all rows
 * with lambda[l]. One eigendecomposition of order min(n, d) serves the whole grid.
 * Without rows every error is 1e-300. work: bb_local_loo_work(local, count) doubles. */
size_t bb_local_loo_work(const bb_local *local, size_t count);
BB_MUST_CHECK bb_status bb_local_loo(const bb_local *local, size_t count,
                                     const double *lambda, double *error, double *work);

#endif
