/* personal_logistic.h - inside the fit at home: one task's logistic fits, with what
 * their scores ask for. With more features than rows everything follows from the
 * products of the rows, which are made once. */
#ifndef BB_METHODS_PERSONAL_LOGISTIC_H
#define BB_METHODS_PERSONAL_LOGISTIC_H

#include "learners/local.h"
#include "learners/newton_eight.h"

typedef struct bb_logistic_fits {
    const bb_local *local;
    bool by_rows;
    double constant; /* what the last column is in all rows; 0: it is none */
    /* The last fit: */
    double *w;         /* d: its model */
    double *eta;       /* n, behind w: its predictions */
    double *curvature; /* n: the loss's second derivatives there */
    double loss;       /* summed */
    double square;     /* ||w - centre||^2, the constant's weight over its stretch */
    double *matrix;    /* I + Hessian/weight, or by rows the same of their products */
    double *a; /* where the next fit begins; by rows its model is centre + X'a */
    double *rest;
    /* By features: */
    bb_local as;  /* the task, with rows as a prior of variance 1 / weight sees them */
    double *rows; /* n x d */
    double *half; /* n x d: roots of the curvature over the weight, times rows */
    double *centre; /* d */
    /* By rows: */
    double *products;  /* n x n: X X' */
    double *stretched; /* n x n: with the constant stretched */
    double *offset;    /* n: predictions under the centre */
    /* Eight at once, from the products: */
    bool by_eight;
    bb_eight eight;
    double *offsets; /* n x 8 */
    double objective[BB_EIGHT], log_det[BB_EIGHT];
} bb_logistic_fits;

/* What fits differ in: centre (NULL: 0), and the standard deviation of the log odds that the
 * constant's column is stretched to under the penalty (0: as it is). */
typedef struct bb_logistic_kind {
    const double *centre;
    double free;
} bb_logistic_kind;

/* A task with rows, dense or sparse, and without intercept. work:
 * bb_logistic_fits_work doubles, kept. */
size_t bb_logistic_fits_work(const bb_local *local);
void bb_logistic_fits_open(bb_logistic_fits *fits, const bb_local *local, double *work);

/* The minimum of the summed loss plus weight/2 ||w - centre||^2 (centre NULL: 0), the
 * constant's column stretched to a standard deviation of the log odds `free` under that
 * penalty (0: as it is). BB_ENUMERIC. */
BB_MUST_CHECK bb_status bb_logistic_fits_next(bb_logistic_fits *fits, double weight,
                                              const double *centre, double free);

/* Eight of them, lane l of kind l % kinds (which divides 8) with weight[l]: objective is the
 * summed loss and weight/2 ||w - centre||^2, log_det that of I + Hessian/weight. They start
 * where those of the same kind in the last `kinds` lanes of the call before ended. For
 * `by_eight' only. False where one of them fails. */
bool bb_logistic_fits_eight(bb_logistic_fits *fits, size_t kinds,
                            const bb_logistic_kind *kind, const double *weight);
/* w <- the model of one of them. */
void bb_logistic_fits_take(bb_logistic_fits *fits, const bb_logistic_kind *kind,
                           double weight, size_t lane);

/* eta (n) <- what model w predicts of the rows, v (n) <- how uncertain that is, a variance: by
 * Laplace's approximation with the penalty weight/2 ||.||^2, the constant as free as above.
 * Forgets the last fit. BB_ENUMERIC. */
BB_MUST_CHECK bb_status bb_logistic_fits_doubt(bb_logistic_fits *fits, const double *w,
                                               double weight, double free,
                                               const double **eta, double *v);

/* log det(I + Hessian/weight) of the last fit, once. BB_ENUMERIC. */
BB_MUST_CHECK bb_status bb_logistic_fits_log_det(bb_logistic_fits *fits, double *out);
/* eta <- what fits without each row would predict of it, to first order (Rad, Maleki 2020);
 * their loss, summed. Behind bb_logistic_fits_log_det, and by features. */
double bb_logistic_fits_left_out(bb_logistic_fits *fits);
/* The loss of two classes, without overflow, of a row whose label times what is predicted is
 * this. */
double bb_logistic_loss(double margin);

#endif
