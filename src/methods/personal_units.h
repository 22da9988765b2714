/* personal_units.h - inside the fit at home: columns looked at in two other units, those of the
 * task's own deviations and those that they were read in, each around the task's own mean.
 * Ranges of a few large numbers leave all others next to a constant, as powers of ten do a
 * year, and these make a column of few large numbers as long as any other. */
#ifndef BB_METHODS_PERSONAL_UNITS_H
#define BB_METHODS_PERSONAL_UNITS_H

#include "learners/local.h"

typedef enum bb_own_units { BB_OWN_DEVIATIONS, BB_OWN_READ, BB_OWN_UNITS } bb_own_units;

/* The task with its rows so, and what leads back: borrows from `work'. */
typedef struct bb_in_own_units {
    bb_local local;
    const double *mean, *factor; /* d - 1: x <- factor (x - mean) */
    double constant;             /* what the last column is */
} bb_in_own_units;

/* Whether the task can: it needs dense rows, a constant column for its last, three rows for
 * a mean, and for BB_OWN_READ what columns were multiplied by (own_factor). */
bool bb_own_units_fit(const bb_local *local, double constant, bb_own_units units);
/* Whether numbers that deviate so from their mean differ by more than rounding. */
bool bb_more_than_rounding(double deviation, double mean);
/* Whether a column of the task that deviates so from its mean has a slope in units of that: by
 * more than rounding, and of columns brought next to 1 (own_factor) more than last digits. */
bool bb_own_units_vary(const bb_local *local, double deviation, double mean);
/* Doubles; 0 for sparse rows. */
size_t bb_own_units_work(const bb_local *local);
/* A column that does not vary becomes zeros. least (d - 1; NULL: none): of its deviation, below
 * which a column is no longer made. O(n d). */
void bb_own_units_open(bb_in_own_units *own, const bb_local *local, double constant,
                       bb_own_units units, const double *least, double *work);
/* The same of columns as they were read (own_factor) around zero, the constant 1. */
void bb_as_read_open(bb_in_own_units *own, const bb_local *local, double constant,
                     double *work);
/* w (local.length), a model for these rows <- the one that predicts the same of rows as they
 * were. */
void bb_own_units_back(const bb_in_own_units *own, double *w);

#endif
