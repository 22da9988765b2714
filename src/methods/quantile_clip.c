#include "methods/quantile_clip.h"

#include <math.h>

static const double share = 0.01;
/* Half of the tasks are clipped; the clip's logarithm moves by the step times what the share
 * is off, so by at most half of that. */
static const double quantile = 0.5, step = 1.0;
/* The variance of a share that may be anything from 0 to 1. */
static const double variance_of_share = 1.0 / 12.0;
/* Far inside of what the door takes. */
static const double least = 1e-60, most = 1e60;

void bb_quantile_clip_ask(bb_layout *layout) {
    layout->block[0].share = 1.0 - share;
    layout->block[1] = (bb_block){"within the clip", BB_FORM_VECTOR, 1, 0.5, share};
    layout->blocks = 2;
}

double bb_quantile_clip_bit(double norm, double clip) {
    return norm <= clip ? 0.5 : -0.5;
}

/* Where noise drowns the share it is believed as far as it can be (the best linear
 * estimate), so that the clip does not wander with the noise. */
double bb_quantile_clip_next(double clip, double sum, double noise, double cohort) {
    const double sd = noise / cohort;
    const double belief = variance_of_share / (variance_of_share + sd * sd);
    const double off = fmin(0.5, fmax(-0.5, belief * sum / cohort)) + 0.5 - quantile;
    return fmin(most, fmax(least, clip * exp(-step * off)));
}
