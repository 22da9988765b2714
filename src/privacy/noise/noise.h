/* noise.h - privacy noise, exact on the integer grid, and private selection.
 *
 * A rounded Gaussian round(N(0, std^2)) added to an integer is post-processing of the
 * Gaussian mechanism, so it has exactly the Gaussian guarantee. */
#ifndef BB_PRIVACY_NOISE_H
#define BB_PRIVACY_NOISE_H

#include "base/random.h"

#include <stddef.h>
#include <stdint.h>

/* The standard deviations, in grid steps, that the sampler accepts: from 2^20, below
 * 2^54: beyond, 64 bits would not decide the rounding. */
#define BB_NOISE_LEAST_STD 0x1p20
#define BB_NOISE_MOST_STD  0x1p54

/* Adds an independent rounded Gaussian of standard deviation std (grid steps,
 * BB_NOISE_LEAST_STD <= std < BB_NOISE_MOST_STD) to each of the n integers. Sums that
 * would leave int64 saturate (40 standard deviations of room are checked by the
 * caller). Any other std makes the generator fail (bb_random_check), as a broken
 * precondition of what is below does: going on would publish without the noise.
 *
 * Exactness: given uniform bits, a sample's distribution is within 2^-100 (total
 * variation) of round(std * g), g ~ N(0, 1), std the given double. The rounding itself
 * is exact: bits of g are drawn until it is decided. What 2^-100 covers, with room to
 * spare, are acceptances decided by a fixed-point exponential (error < 2^-108) and the
 * part of g beyond 18 (2^-238). n samples cost n * 2^-100 * (1 + e^epsilon) in delta:
 * 2^-68 for a billion at epsilon = 1.
 * Deterministic for a given stream. Time and the number of bits drawn vary with the
 * sample: a caller whose adversary measures nanoseconds needs another sampler. */
void bb_noise_gaussian(bb_random *random, double std, size_t n, int64_t *value);

/* The scales, in grid steps, and lengths that bb_noise_radial accepts: from 2^28, at
 * most 2^40; at most 2^22 coordinates. */
#define BB_RADIAL_LEAST_SCALE 0x1p28
#define BB_RADIAL_MOST_SCALE  0x1p40
enum { BB_RADIAL_MOST_LENGTH = 1 << 22 };

/* Adds round(b) to the vector of n integers, where b has density proportional to
 * exp(-||b||_2 / scale): its length is Gamma(n, scale), its direction uniform. With
 * scale = sensitivity / epsilon (both l2, in grid steps) this is pure epsilon-DP for
 * integer vectors (Chaudhuri, Monteleoni, Sarwate 2011). Sums saturate; any other scale
 * or length makes the generator fail. n = 0 does nothing.
 *
 * Exactness: bits are drawn as by bb_noise_gaussian, and the little that is computed in
 * floating point is covered by enlarging the scale by (n + 64) 2^-36, so that for
 * integer vectors at a distance s <= 2^13 scale, and whatever the scale is rounded by
 * on its way here (2^-40, relative), for all events E
 *     P(E) <= exp(s / scale) P'(E) + (1 + exp(s / scale)) (3 n + 3) 2^-100.
 * The law itself is within 2^-15 (total variation, n = 1; less for others) of that
 * named above. Proof: noise_radial.c. Expected time of 2 n + 1 rounded Gaussians. */
void bb_noise_radial(bb_random *random, double scale, size_t n, int64_t *value);

/* Private selection from integer scores (multiples of 2^-20, summed over tasks whose
 * single scores are in [0, 1]) by permute-and-flip (McKenna and Sheldon 2020), which is
 * never worse than the exponential mechanism: tries them in random order and takes one
 * with probability exp(epsilon * (score_i - best) / 2), sampled exactly: rational
 * arithmetic only, on epsilon rounded down to a multiple of 2^-32 (Canonne, Kamath,
 * Steinke 2020, algorithm 1). Pure epsilon-DP under replace-one and add-remove.
 * 1 <= n <= BB_SELECT_MOST, epsilon >= 0 (above 2^20 it counts as 2^20). Expected time
 * of order n. */
enum { BB_SELECT_MOST = 4096 };
size_t bb_select_permute_and_flip(bb_random *random, double epsilon, size_t n,
                                  const int64_t *score);

#endif
