/* privacy_loss_walk.h - a walk over the panels of a curve, from one end to the other;
 * private to privacy_loss*.c. */
#ifndef BB_PRIVACY_PRIVACY_LOSS_WALK_H
#define BB_PRIVACY_PRIVACY_LOSS_WALK_H

#include "privacy/accounting/privacy_loss.h"

typedef struct bb_curve_walk {
    const bb_curve *curve;
    double c, reach, growth, longest, top;
    double from, to, length; /* of the panel */
    double end;
} bb_curve_walk;

/* Panels whose rule is good for the density tilted to c, times e^(i omega loss), omega up
 * to reach; `coarse`: to e^-27 or so. */
bb_curve_walk bb_curve_walk_open(const bb_curve *curve, double c, double reach,
                                 bool coarse);
/* Goes to the next panel, the first one included; false at the end. */
bool bb_curve_walk_next(bb_curve_walk *walk);

#endif
