/* personal_average.h - inside the fit at home: in which units penalties are, what is
 * believed of them beforehand where there are labels, and averages of fits. */
#ifndef BB_METHODS_PERSONAL_AVERAGE_H
#define BB_METHODS_PERSONAL_AVERAGE_H

#include "learners/local.h"

/* How long the task's rows are, which follows from how wide their ranges are and says
 * nothing about models: the mean square of their distance from their mean, or of
 * themselves where they are too few to tell. Penalties go by it. Without the last column
 * if it is a constant's. Rows of zeros: 1. sum: d. */
double bb_personal_size(const bb_local *local, bool constant, double *sum);

/* Of labels. Penalties beside the summed loss, over the size of the rows, from the
 * strongest on: weaker ones than one that hardly counts are not tried. */
enum { BB_PERSONAL_PENALTIES = 7 };
double bb_personal_penalty(size_t l);

/* How much a task goes by rows that are left out, 0 to 1: evidence is what the first rows were
 * foreseen by, too, which a prior decides, and one of a wrong scale is then believed in though
 * the rows that are there have long corrected it. Few rows say little else. */
double bb_personal_by_left_out(const bb_local *local);

/* The standard deviation of the log odds that a free constant stands for, and one that is less
 * free. */
extern const double bb_personal_free_deviation, bb_personal_less_free;

/* What is believed beforehand of log10 of the penalty, over the size of the rows: of
 * models alone, and of their distance from a centre. */
typedef struct bb_personal_usual {
    double alone, spread, distance;
} bb_personal_usual;

/* pull_j <- half_j' M^-1 half_j: how much of row j's prediction is its own doing, for all rows.
 * factor: of M = I + half'half or, by rows, of I + half half'. half: n x d, rows times the root
 * of their curvature over the penalty, which is lost; by rows room for n x n. */
void bb_personal_leverages(bool by_rows, size_t n, size_t d, const double *factor,
                           double *half, double *pull);

/* A running average of models by exp(score). */
typedef struct bb_personal_average {
    double *model; /* d, zero at first */
    double odds;   /* beforehand, of what is around a centre */
    size_t d;
    double best, total;
    double decades; /* the mean of log10 of the penalty, over the size of the rows */
} bb_personal_average;

bb_personal_average bb_personal_average_open(double *model, size_t d, double odds);
void bb_personal_average_close(bb_personal_average *a); /* model: the average */

/* What is believed of penalty l beforehand, a logarithm up to what all fits share; odds: of what
 * is around a centre. */
double bb_personal_beforehand(const bb_personal_usual *usual, double odds, bool around,
                              size_t l);

/* What tasks vote on, a cell each with all penalties: around zero and around a centre with the
 * constant as it is and, behind it, free; around a centre and half of it where the constant is
 * less free. BB_CELLS: no cell. */
enum {
    BB_CELLS_AROUND_ZERO = 0,
    BB_CELLS_AROUND = 2 * BB_PERSONAL_PENALTIES,
    BB_CELLS_LESS_FREE = 2 * BB_CELLS_AROUND,
    BB_CELLS = 3 * BB_CELLS_AROUND
};
/* odds (BB_CELLS) <- the tasks' vote, log odds of cells, such that what was voted on has as much
 * of the average beforehand as it had without; centre: whether there is one, believed with these
 * odds. */
void bb_personal_hear(const bb_personal_usual *usual, double centre_odds, bool centre,
                      const double *vote, double *odds);

/* Adds fit w of the penalty l, whose rows say `score` (a logarithm) of it, around a
 * centre or not. Whether it counts at all beside `most`, the largest so far. */
bool bb_personal_average_add(bb_personal_average *a, const bb_personal_usual *usual,
                             bool around, size_t l, const double *w, double score,
                             double *most);

#endif
