/* mp_mixed_effects.h - what a statistician asks of a mixed model: fixed effects and
 * variance components with standard errors, from releases that mp-mixed buys for this
 * (option `effects`, a share of mu^2). docs/methods/mp-mixed.md, "Effects" */
#ifndef BB_METHODS_MP_MIXED_EFFECTS_H
#define BB_METHODS_MP_MIXED_EFFECTS_H

#include "core/method.h"

/* In the method's own coordinates: rows of d numbers in [-1, 1] divided by sqrt d, the
 * last one the constant. */
typedef enum bb_component {
    BB_COMPONENT_RESIDUAL,  /* variance of a row's target around its task's model */
    BB_COMPONENT_INTERCEPT, /* of the tasks' constants, times the number it stands by */
    BB_COMPONENT_SLOPE,     /* of the tasks' other weights, likewise: one for all */
    BB_COMPONENT_ICC,       /* intercept / (intercept + residual) */
    BB_COMPONENTS
} bb_component;

/* What the billboard says of them; NAN: not published, or not resolved. */
typedef struct bb_effects {
    size_t d;
    bool fixed;           /* the fixed effects were asked for: public sizes allow it */
    bool known;           /* all was published; until then centre is on its way */
    const double *centre; /* d: the fixed effects */
    const double *error;  /* d: their standard errors; negative: not resolved */
    double value[BB_COMPONENTS], value_error[BB_COMPONENTS];
} bb_effects;

/* numbers: what bb_method.effects gives; d: features of the run. */
bb_effects bb_effects_read(const double *numbers, size_t d);
size_t bb_effects_length(size_t d);

/* -- of mp_mixed.c -- */

/* Rounds of its own at this share of mu^2: 2 with fixed effects, where their information
 * matrix stands out of its noise, else 1; 0 at share 0. Public sizes only. */
uint32_t bb_mixed_effects_rounds(const bb_view *view, double share);
/* The blocks of round 0, 1, ... of those. */
void bb_mixed_effects_layout(const bb_view *view, double share, uint32_t round,
                             bb_layout *out);
/* On the board, beside bb_effects_length: doubles. */
size_t bb_mixed_effects_board(const bb_view *view, double share);
size_t bb_mixed_effects_digest_length(const bb_view *view);
/* centre (d): where the search ended; at: bb_mixed_effects_board numbers, zero at first. */
BB_MUST_CHECK bb_status bb_mixed_effects_digest(const bb_view *view, double share,
                                                uint32_t round,
                                                const bb_release *release,
                                                const double *centre, double *at,
                                                double *work);
/* What a task's moments are, in the units of bb_component; `others` is d - 1, at least
 * 1. With A = (G + .3 I)^-1 G, N = (G + .3 I)^-2 G, a deviation u = (G + .3 I)^-1 X'r of
 * its residuals r around the fixed effects, and its slopes S: */
typedef enum bb_moment {
    BB_MOMENT_INTERCEPT,          /* u_d^2 / d */
    BB_MOMENT_SLOPE,              /* sum of u_k^2 over S / (d others) */
    BB_MOMENT_RESIDUAL,           /* |r - X u|^2 / n */
    BB_MOMENT_OF_INTERCEPT,       /* what they are made of: A_dd^2 */
    BB_MOMENT_OF_BOTH,            /* sum of A_dk^2 over S */
    BB_MOMENT_OF_SLOPE,           /* sum of A_jk^2 over S, S / others */
    BB_MOMENT_INTERCEPT_NOISE,    /* N_dd / d */
    BB_MOMENT_SLOPE_NOISE,        /* sum of N_kk over S / (d others) */
    BB_MOMENT_RESIDUAL_INTERCEPT, /* .09 d N_dd / n */
    BB_MOMENT_RESIDUAL_SLOPE,     /* .09 d sum of N_kk over S / (n others) */
    BB_MOMENT_RESIDUAL_NOISE,     /* tr (I - X (G + .3 I)^-1 X')^2 / n */
    BB_MOMENT_SQUARES,            /* products of the first three: 6 */
    BB_MOMENTS = BB_MOMENT_SQUARES + 6
} bb_moment;
#define BB_MOMENTS_CLIP 0.6
/* The eight in the middle are shown times this, so that the others have room. */
#define BB_MOMENT_COEFFICIENT 0.3
#define BB_MOMENT_SQUARE      4.0 /* and the products times this */

/* One task, around this centre: what it shows of itself, left in its work for
 * bb_mixed_effects_show. */
size_t bb_mixed_effects_local_length(const bb_local *local);
void bb_mixed_effects_train(const double *centre, bb_task *task);
void bb_mixed_effects_show(const bb_layout *layout, const bb_task *task,
                           double *const *block);

#endif
