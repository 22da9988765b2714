/* reml.h - inside the room: the restricted likelihood of a linear mixed model
 *
 *     y_i = X_i (beta + b_i) + e_i,   b_i ~ N(0, s^2 L L'),   e_i ~ N(0, s^2 I),
 *
 * as a function of L (columns x columns), with beta and s profiled out (Patterson and
 * Thompson 1971; L as in Bates et al. 2015). No privacy: it looks at all rows. */
#ifndef BB_TRAIN_REML_H
#define BB_TRAIN_REML_H

#include "base/parallel.h"
#include "train/design.h"

typedef struct bb_reml_part bb_reml_part;

typedef struct bb_reml {
    size_t tasks, columns;
    double rows;
    const bb_engine *engine;
    size_t *at; /* tasks + 1: rows of each task in the two below */
    size_t most;
    double *x, *y;   /* each task's rows, or fewer with the same sums of products */
    double *wx, *wy; /* the same, whitened: V^-1/2 of them */
    size_t parts;    /* of the tasks, always the same ones: sums do not depend on the
                        number of workers */
    bb_reml_part *part;
    double *block, *work; /* what the parts and the workers own */
    size_t work_length;
    /* what bb_reml_value found: */
    const double *L;
    bool slopes, full;        /* L has more than its first entry; is no diagonal */
    double *information;      /* columns x columns: sum X'V^-1 X, its factor, */
    double *root;             /* and R with R R' its inverse */
    double *beta;             /* columns */
    double sum_of_squares, s; /* (y - X beta)' V^-1 (y - X beta); s */
} bb_reml;

/* Borrows the design and the engine; y: the targets of its rows. BB_EDATA where there are
 * not more rows than columns; BB_ENUMERIC; BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_reml_open(bb_reml *reml, const bb_design *design,
                                     const double *y, const bb_engine *engine);
/* Takes a zeroed one, too. */
void bb_reml_close(bb_reml *reml);

/* The multiplications of a value with its gradient, about, for L of slopes. */
double bb_reml_cost(const bb_reml *reml);

/* -2 log restricted likelihood at L, INFINITY where it has none (numbers that are not
 * finite). `slopes`: L is more than its first entry; `full`: it is no diagonal. */
double bb_reml_value(bb_reml *reml, const double *L, bool slopes, bool full);
/* G (columns x columns) <- its derivatives by the entries of L L', at the last L; the
 * diagonal alone unless `full`, the first entry alone without slopes. */
void bb_reml_gradient(bb_reml *reml, double *G);
/* effect (tasks x columns) <- the random effects' predictions (BLUP), at the last L. */
void bb_reml_effects(bb_reml *reml, double *effect);

#endif
