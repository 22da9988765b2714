/* quantile_clip.h - a clip that finds a quantile of what tasks want to show, privately,
 * round by round (Andrew, Thakkar, McMahan, Ramaswamy 2021, algorithm 1): a task also
 * shows one bit, whether its vector is within the clip; everybody moves the clip, which is
 * on the billboard, by the noisy share of those who were. docs/methods/fedavg.md */
#ifndef BB_METHODS_QUANTILE_CLIP_H
#define BB_METHODS_QUANTILE_CLIP_H

#include "core/method.h"

/* The clip of the first round. */
#define BB_QUANTILE_CLIP_FIRST 1.0

/* layout (of one block) <- with the block of the bit, which takes 1 % of the round's mu^2.
 * A bit is one number of at most 1/2, so its block is a `vector` of clip 1/2. */
void bb_quantile_clip_ask(bb_layout *layout);
/* What a task shows there: 1/2 if its vector's norm is at most the clip, else -1/2. A task
 * that shows nothing leaves 0. */
double bb_quantile_clip_bit(double norm, double clip);
/* The next clip, from the noisy sum of bits, its noise, and the public size of the cohort.
 * Public in, public out. */
double bb_quantile_clip_next(double clip, double sum, double noise, double cohort);

#endif
