/* personal_wide.h - inside the fit at home: rows that are fewer than their features, in as many
 * coordinates as there are rows. A penalty that counts all directions alike leaves a model where
 * it is across the rows, so fits in these coordinates are the same, and shorter. The last column
 * stays by itself: it may be stretched. */
#ifndef BB_METHODS_PERSONAL_WIDE_H
#define BB_METHODS_PERSONAL_WIDE_H

#include "learners/local.h"

typedef struct bb_wide {
    bb_local local;      /* d: n + 1. Borrows from `work' */
    const double *basis; /* n x (features - 1): orthonormal rows, or of zeros */
    size_t features;
} bb_wide;

/* Whether that is shorter. Dense rows only. */
bool bb_wide_fits(const bb_local *local);
/* The task so, but with the rows that it has. */
bb_local bb_wide_shape(const bb_local *local);
size_t bb_wide_work(const bb_local *local);
/* O(n^2 d). work: bb_wide_work doubles. */
void bb_wide_open(bb_wide *wide, const bb_local *local, double *work);
/* v <- w (features x outputs) as far as rows see it. */
void bb_wide_into(const bb_wide *wide, const double *w, double *v);
/* w (features x outputs) += v. */
void bb_wide_add(const bb_wide *wide, const double *v, double *w);

#endif
