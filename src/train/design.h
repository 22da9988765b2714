/* design.h - inside the room: the design matrix of mixed models, of all tasks' rows.
 *
 * Column 0 is ones; the others are the features that vary, standardised by the means and
 * deviations of all rows together. Sparse rows become dense. For the operator only. */
#ifndef BB_TRAIN_DESIGN_H
#define BB_TRAIN_DESIGN_H

#include "data/dataset.h"

typedef struct bb_design {
    size_t tasks, rows, features;
    const size_t *first; /* tasks + 1, the data's */
    size_t columns;
    size_t *place;            /* columns: which feature; place[0] has no meaning */
    double *mean, *deviation; /* columns: of the feature (n - 1); 0 and 1 of the ones */
    double *x;                /* rows x columns */
} bb_design;

/* `independent` also leaves out features that are linear in those before them (the last
 * of a block of indicators). Borrows the data. BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_design_open(bb_design *design, const bb_dataset *data,
                                       bool independent);
/* Takes a zeroed one, too. */
void bb_design_close(bb_design *design);

/* A model of the columns (w: columns) as one of the features as read: weight (features)
 * and the intercept that is returned. */
double bb_design_fold(const bb_design *design, const double *w, double *weight);

#endif
