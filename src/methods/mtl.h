/* mtl.h - what mtl-trace, mtl-l21 and mtl-mtrl have in common: the exact optimum of
 *   F(W, b) = sum_i L_i(w_i, b_i) + lambda Omega(W - c 1') + 1/2 sum_k mu_k c_k^2,
 * c the mean of the models, Omega the trace norm of W - c 1' or the sum over features of
 * the norms of its rows, with a certificate; with centre=zero of W itself: c = 0.
 * Everything is exchanged in the clear. docs/methods/mtl-trace.md
 * (mtl-mtrl: a penalty that is no norm in place of lambda Omega, see mtl_mtrl.c.)
 *
 * Alternating direction method of multipliers (Boyd et al. 2011, sections 3.4.3
 * and 7.2):
 *   w_i = argmin L_i(w) + rho/2 ||w - (z_i - u_i)||^2    each task, exactly
 *   v_i = a w_i + (1 - a) z_i + u_i,     shown as sum v_i v_i' or sum v_i o v_i; as they are
 *                                        where tasks are few (2 m <= d), which is less
 *   M   = the billboard's matrix with prox_{Omega lambda/rho}(V) = M V
 *   z_i = M v_i, u_i = v_i - z_i
 *
 * There are two kinds of rounds. A step is the above. A check certifies F(Z): the tasks
 * show their gradients g_i at w_i, and with t = min(1, lambda / ||G||), ||.|| the dual
 * norm of Omega, the residuals t u_i of w_i are a feasible point of the dual problem:
 *   F >= - sum_i L_i*(t u_i)          (Fenchel)
 * mtl-mtrl: F >= - sum_i L_i*(u_i) - P*(G), P* the penalty's conjugate.
 * The first round is a check at W = 0; the last one that a run may have, too.
 *
 * An automatic lambda is the one of a few under which rows are foreseen best that were left
 * out, a third after the other: steps without them from the largest lambda on, and after
 * some steps under each a round in which tasks show what these rows lose.
 *
 * With a mean, V and G are taken apart into their means and the rest, which the penalty
 * does not mix: M is made of the rest, z_i = M v_i + o with a public o, ||G|| is that of
 * the rest, and the bound loses sum_k (t sum_i g_ik)^2 / (2 mu_k), the conjugate of that of c
 * (of a mean: G' = g 1' has <G', c 1'> = (sum_i g) . c). */
#ifndef BB_METHODS_MTL_H
#define BB_METHODS_MTL_H

#include "core/method.h"

enum { BB_MTL_MOST_FEATURES = 4000 };

typedef enum bb_mtl_variant { BB_MTL_TRACE, BB_MTL_L21, BB_MTL_MTRL } bb_mtl_variant;

typedef struct bb_mtl_options {
    double lambda; /* NaN: from the data, see bb_mtl_board */
    double tolerance;
    double ridge; /* mtl-mtrl */
    int centre;
} bb_mtl_options;

enum { BB_MTL_CENTRE_MEAN, BB_MTL_CENTRE_ZERO };

#define BB_MTL_ROWS(penalty)                                                           \
    {.name = "centre",                                                                 \
     .kind = BB_OPTION_CHOICE,                                                         \
     .offset = offsetof(bb_mtl_options, centre),                                       \
     .fallback = "mean",                                                               \
     .choices = "mean|zero",                                                           \
     .argument = "WHERE",                                                              \
     .help = "what models are drawn to: their mean, which is free, the intercept "     \
             "among their numbers; or zero, beside an own intercept, as published"},   \
        {.name = "lambda",                                                             \
         .kind = BB_OPTION_AUTO,                                                       \
         .offset = offsetof(bb_mtl_options, lambda),                                   \
         .fallback = "auto",                                                           \
         .least = 1e-12,                                                               \
         .most = 1e12,                                                                 \
         .argument = "LAMBDA",                                                         \
         .help =                                                                       \
             "weight of the " penalty "; auto: that under which rows are foreseen "    \
             "best that were left out"},                                               \
    {                                                                                  \
        .name = "tolerance", .kind = BB_OPTION_REAL,                                   \
        .offset = offsetof(bb_mtl_options, tolerance), .fallback = "1e-6",             \
        .least = 1e-13, .most = 1.0, .argument = "FRACTION",                           \
        .help = "stop at a certified duality gap of this fraction of the objective"    \
    }

enum { BB_MTL_FOLDS = 3, BB_MTL_CANDIDATES = 6 };

/* The billboard: these numbers, then M, then with a mean o (d) and mu (d). M is a diagonal
 * (d), or d x d; where it has low rank, rows whose outer products add up to it (rank x d,
 * in the room of d x d, or of m x d where tasks are few). */
typedef struct bb_mtl_board {
    double step;     /* 1: the coming round is a step; 0: a check */
    double pending;  /* 1: the last round was a step: M is still to be applied */
    double renew;    /* 1: the coming step is with new Hessians, where they change */
    double diagonal; /* 1: M is diagonal */
    double factor;   /* 1: M is `rank` rows */
    double rank;
    double steps;           /* so far */
    double check_from;      /* no check before so many steps */
    double rho, rho_before; /* of the coming step, and of the one that made M */
    double lambda;          /* the penalty's; automatic: from the gradients at W = 0 */
    double omega;           /* the penalty over lambda at Z = M V */
    double ratio, ratio_before; /* ||Z|| / ||U||, and of the step before */
    double guess;               /* of t, for the coming check */
    double objective, dual,
        gap;          /* F at the last check, best bound so far, difference */
    double searching; /* 1: models have no deviations from their mean yet, and lambda is
                         automatic, and not known yet */
    double spread;    /* BB_MTL_SPREAD of all tasks */
    double mean_cost; /* 1/2 sum_k mu_k c_k^2 at Z */
    /* Where lambda is automatic: the rows that are left out now, 1 .. BB_MTL_FOLDS, or 0:
     * none; which lambda of how many is tried; the largest; what rows that were left out
     * lost under each. */
    double fold, candidate, largest, missed[BB_MTL_CANDIDATES];
    double afresh; /* 1: the coming step starts from nothing */
    double matrix[];
} bb_mtl_board;

/* What a task shows in a check beside its gradient, and in a step beside v; with a mean, in
 * the first check, then the diagonal of L_i's Hessian at 0 (d; later zeros), and last, in
 * every round, its vector once more. */
enum {
    BB_MTL_LOSS,       /* L_i(z_i) at the best intercept */
    BB_MTL_CONJUGATE,  /* L_i*(t u_i) at t = BB_MTL_ALMOST */
    BB_MTL_GUESSED,    /* L_i*(t u_i) at t = guess */
    BB_MTL_SLACK,      /* what the intercept can take from the bound */
    BB_MTL_SPREAD,     /* trace of L_i's Hessian at 0 */
    BB_MTL_ROWS_COUNT, /* its rows */
    BB_MTL_FAILED,     /* 1: a number above is not finite; all are then 0 */
    BB_MTL_CHECKED     /* how many */
};
enum { BB_MTL_APART, BB_MTL_MOVED, BB_MTL_STEPPED };
/* ||w_i - z_i||^2, and ||rho (z_i - z_i before)||^2 */

/* Whether a third of a task's rows is left out in turn before lambda is chosen. */
bool bb_mtl_leaves_out(const bb_view *view);

/* Conjugates are taken a rounding error inside their domain. */
#define BB_MTL_ALMOST (1.0 - 1e-14)
/* Over-relaxation a. */
#define BB_MTL_RELAXATION 1.7

/* mtl-mtrl: the t >= 0 with t = lambda / a * sum_k max(0, v_k - t), for values v_k >= 0
 * in ascending order and a >= 0 (a = 0: the largest of them). */
double bb_mtrl_level(size_t count, const double *ascending, double a, double lambda);
/* P*(G) from the singular values of G. */
double bb_mtrl_conjugate(size_t count, const double *ascending, double ridge,
                         double lambda);

/* bb_method's hooks; the method's variant is its penalty, a bb_mtl_variant. */
BB_MUST_CHECK bb_status bb_mtl_plan(const bb_view *view, bb_plan *plan);
size_t bb_mtl_board_length(const bb_view *view);
size_t bb_mtl_state_length(const bb_view *view);
size_t bb_mtl_kept_length(const bb_view *view, const bb_local *local);
size_t bb_mtl_work_length(const bb_view *view);
size_t bb_mtl_digest_length(const bb_view *view);
size_t bb_mtl_local_length(const bb_view *view, const bb_local *local);
/* Models are drawn to their mean. */
bool bb_mtl_has_mean(const bb_view *view);
/* Numbers of M's room, and of the sum of what tasks show. */
size_t bb_mtl_matrix_length(const bb_view *view);
/* out (d) <- M v. */
void bb_mtl_multiply(size_t d, const bb_mtl_board *board, const double *v, double *out);
bool bb_mtl_own_intercept(const void *options);
void bb_mtl_layout(const bb_view *view, bb_layout *layout);
BB_MUST_CHECK bb_status bb_mtl_digest(const bb_view *view, const bb_release *release,
                                      bb_draft *draft, double *work);
void bb_mtl_train(const bb_view *view, bb_task *task);
void bb_mtl_show(const bb_view *view, const bb_task *task, double *const *block);
bb_status bb_mtl_finish(const bb_view *view, bb_task *task);
void bb_mtl_outcome(const bb_view *view, bb_outcome *outcome);

/* All of them, and what else the three methods have in common, in their bb_method. */
/* clang-format off */
#define BB_MTL_METHOD                                                                  \
    .kind = BB_METHOD_OPEN,                                                            \
    .losses = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC,                              \
    .takes = BB_TAKES_ROUNDS,                                                          \
    .shared_intercept = true,                                                          \
    .own_intercept = bb_mtl_own_intercept,                                             \
    .options_size = sizeof(bb_mtl_options),                                            \
    .plan = bb_mtl_plan,                                                               \
    .board_length = bb_mtl_board_length,                                               \
    .state_length = bb_mtl_state_length,                                               \
    .kept_length = bb_mtl_kept_length,                                                 \
    .work_length = bb_mtl_work_length,                                                 \
    .digest_length = bb_mtl_digest_length,                                             \
    .local_length = bb_mtl_local_length,                                               \
    .layout = bb_mtl_layout,                                                           \
    .train = bb_mtl_train,                                                             \
    .show = bb_mtl_show,                                                               \
    .digest = bb_mtl_digest,                                                           \
    .finish = bb_mtl_finish,                                                           \
    .outcome = bb_mtl_outcome
/* clang-format on */

#endif
