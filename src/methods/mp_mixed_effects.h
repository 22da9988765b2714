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
    BB_COMPONENT_SLOPE, /* of their other weights, likewise: one for all columns that
                               vary in a task */
    BB_COMPONENT_ICC,   /* intercept / (intercept + residual) */
    BB_COMPONENTS
} bb_component;

/* What the billboard says of them; NAN: not published, or not resolved. */
typedef struct bb_effects {
    size_t d;
    bool fixed;           /* the fixed effects were asked for: public sizes allow it */
    bool known;           /* all was published */
    const double *centre; /* d: the fixed effects */
    const double *error;  /* d: their standard errors; negative: not resolved */
    /* d x d, NULL without `fixed': their covariance, of what noise hides and of the tasks
     * that happened to be there, and the projection on what is not resolved. */
    const double *noise, *spread, *lost;
    double value[BB_COMPONENTS], value_error[BB_COMPONENTS];
    const double
        *varies;         /* d: in which part of the tasks a column varies, the last 0 */
    double varies_noise; /* the standard deviation of the noise in each */
} bb_effects;

/* A sum of fixed effects is resolved if at most this part of it is in what is not. */
#define BB_EFFECTS_MOST_LOST 0.01

/* numbers: what bb_method.effects gives; d: features of the run. */
bb_effects bb_effects_read(const double *numbers, size_t d);
/* The standard error of the sum of g_k (d) times the fixed effects; NAN: not resolved. */
double bb_effects_error(const bb_effects *e, const double *g);
/* Which part of g lies in what is not resolved: 0 to 1; NAN without `fixed'. */
double bb_effects_lost(const bb_effects *e, const double *g);

/* -- of mp_mixed.c -- */

/* Where the search ended. */
typedef struct bb_mixed_end {
    const double *centre; /* d */
    bool found;           /* a centre */
    double noise;         /* in each number of the mean answer: standard deviation */
    double still;         /* how much of the way is left, about: 0 to 1 */
} bb_mixed_end;

/* Rounds of its own at this share of mu^2: 2 with fixed effects, where their information
 * matrix stands out of its noise, else 1; 0 at share 0. Public sizes only. */
uint32_t bb_mixed_effects_rounds(const bb_view *view, double share);
/* The blocks of round 0, 1, ... of those. */
void bb_mixed_effects_layout(const bb_view *view, uint32_t round, bb_layout *out);
/* What they take of the board: doubles. */
size_t bb_mixed_effects_board(const bb_view *view, double share);
size_t bb_mixed_effects_digest_length(const bb_view *view);
/* at: bb_mixed_effects_board numbers, zero at first. */
BB_MUST_CHECK bb_status bb_mixed_effects_digest(const bb_view *view, double share,
                                                uint32_t round,
                                                const bb_release *release,
                                                const bb_mixed_end *end, double *at,
                                                double *work);
/* How long deviations may be that the second round asks for, from what the first found. */
double bb_mixed_effects_radius(const double *at, size_t d);

/* -- the fixed effects (mp_mixed_fixed.c) -- */

/* A round's release as read, in the units of u: sums over tasks. */
typedef struct bb_mixed_sums {
    size_t d;
    double tasks;
    const double *score, *information, *spread;
    double score_noise, information_noise, spread_noise; /* standard deviations */
    double size[2]; /* the means over tasks of the constant's u_k^2, of the others' */
} bb_mixed_sums;

/* The norm, or nearly, of a symmetric noise matrix. */
double bb_mixed_edge(double diagonal_noise, size_t d);
size_t bb_mixed_fixed_work(size_t d);
/* centre, error (d), noise, spread, lost (d x d) <- as of bb_effects. */
BB_MUST_CHECK bb_status bb_mixed_fixed(const bb_mixed_sums *sums,
                                       const bb_mixed_end *end, double *centre,
                                       double *error, double *noise, double *spread,
                                       double *lost, double *work);

/* -- variance components (mp_mixed_components.c) -- */

/* From the release of moments; d: features. error: negative where nothing is resolved. */
void bb_mixed_components(const bb_release *release, size_t d, double tasks,
                         double value[BB_COMPONENTS], double error[BB_COMPONENTS]);

/* -- one task -- */

/* What a task's moments are, in the units of bb_component, from its residuals around the
 * centre and its rows around their mean, of the columns that vary in it only: p = d, c
 * the part n / (n + .3 p) of its mean residual r0 that is believed, G = X'X, A = (G + .3
 * I)^-1 G, N = (G + .3 I)^-2 G, u = (G + .3 I)^-1 X'r, z the columns' means in units of
 * half a range; `others' is d - 1, at least 1: */
typedef enum bb_moment {
    BB_MOMENT_INTERCEPT,       /* c^2 r0^2 */
    BB_MOMENT_SLOPE,           /* |u|^2 / p */
    BB_MOMENT_RESIDUAL,        /* |r - r0 - X u|^2 / n */
    BB_MOMENT_OF_INTERCEPT,    /* what they are made of: c^2 */
    BB_MOMENT_OF_BOTH,         /* c^2 |z|^2 / others */
    BB_MOMENT_OF_SLOPE,        /* sum of A_jk^2 / others */
    BB_MOMENT_INTERCEPT_NOISE, /* c^2 / n */
    BB_MOMENT_SLOPE_NOISE,     /* tr N / p */
    BB_MOMENT_RESIDUAL_SLOPE,  /* .09 p tr N / (n others) */
    BB_MOMENT_RESIDUAL_NOISE,  /* (tr (I - X (G + .3 I)^-1 X')^2 - 1) / n */
    BB_MOMENT_SIZE, /* of u of all columns and the constant: the constant's u_k^2 / p */
    BB_MOMENT_SIZE_OF_SLOPES,                /* and the others' */
    BB_MOMENT_SQUARES,                       /* products of the first three: 6 */
    BB_MOMENT_VARIES = BB_MOMENT_SQUARES + 6 /* d - 1: 0, or of a column that varies
                                              * bb_mixed_varies */
} bb_moment;
size_t bb_mixed_moments(size_t d); /* how many */
double bb_mixed_varies(size_t d);  /* what a column shows that varies, d > 1 */
#define BB_MOMENTS_CLIP 0.6
#define BB_MOMENTS_VARY 0.2
/* The seven in the middle are shown times this, so that the others have room. */
#define BB_MOMENT_COEFFICIENT 0.3
#define BB_MOMENT_SQUARE      2.0 /* and the products times this */

/* One task, around this centre: what it shows of itself, left in its work for
 * bb_mixed_effects_show. Deviations longer than the radius are shortened. */
size_t bb_mixed_effects_local_length(const bb_local *local);
void bb_mixed_effects_train(const bb_layout *layout, const double *centre,
                            bb_task *task);
void bb_mixed_effects_show(const bb_layout *layout, double radius, const bb_task *task,
                           double *const *block);

#endif
