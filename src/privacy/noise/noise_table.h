/* noise_table.h - the cells of the noise sampler, private to this room.
 *
 * The curve f(x) = A exp(-x^2/2), A = 101 * 2^43, x >= 0, is cut into BB_NOISE_CELLS
 * cells of width 1/64 and a tail from x = 3. 4096 slots of one cell's width and height
 * 2^44 cover it: the first BB_NOISE_INSIDE lie wholly under the curve, the others share
 * out what rests between those and an envelope (integers, never below f). */
#ifndef BB_PRIVACY_NOISE_TABLE_H
#define BB_PRIVACY_NOISE_TABLE_H

#include "privacy/noise/wide.h"

#include <stdint.h>

enum {
    BB_NOISE_CELLS = 192,
    BB_NOISE_SLOT_BITS = 12,
    BB_NOISE_INSIDE = 3920, /* slots */
    BB_NOISE_HEIGHT_BITS = 44,
    BB_NOISE_PLACE_BITS = 51 /* of a place inside a cell */
};

/* Upper bounds of f at k/64, k = 0 .. CELLS: ceil(f(k/64)). */
extern const uint64_t bb_noise_envelope[BB_NOISE_CELLS + 1];
/* Running sums of what rests of each cell above its slots, then of the tail:
 * rest[k+1] - rest[k] = envelope[k] - (slots of cell k) * 2^44; the tail's share is
 * 32 * envelope[CELLS] = envelope * (1/4 width) * 64 * (1 + 1/2 + 1/4 + ...). */
extern const uint64_t bb_noise_rest[BB_NOISE_CELLS + 2];
/* The cell of each slot under the curve. */
extern const uint8_t bb_noise_cell[BB_NOISE_INSIDE];

/* f(x) * 2^(64 + scale), with an error below 4, for x = (place + more * 2^-64) * 2^-57
 * < 32, by integer arithmetic. 0 <= scale <= floor(x^2 / (2 ln 2)). */
bb_u128 bb_noise_curve(uint64_t place, uint64_t more, unsigned scale);

#endif
