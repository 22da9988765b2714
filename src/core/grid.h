/* grid.h - the door's grid: on which integers a block is added up, with how much noise. */
#ifndef BB_CORE_GRID_H
#define BB_CORE_GRID_H

#include "core/door.h"

/* Whether contributions can be clipped to this norm, with steps of a grid in it that are
 * neither 0 nor infinite: 2^-500 to 2^500. */
bool bb_grid_is_clip(double clip);
/* Blocks of products of a contribution's numbers. */
bool bb_form_is_product(bb_form form);
/* Picks the finest grid on which the sum and 40 standard deviations of noise fit in an
 * int64: bits and noise of block b; BB_EUSAGE if there is none. */
BB_MUST_CHECK bb_status bb_grid_choose(bb_door *door, size_t b, double mu);
/* The same for radial noise, which is (pure, 0)-DP at this scale for a task, whatever
 * it shows, and, where one row moves a contribution by at most 2 clip / rows and 2^-24
 * clip, (pure / rows, 0)-DP for rows, too: rounding adds less than two steps a number.
 * Beyond pure = 32 the noise is more than asked for. */
BB_MUST_CHECK bb_status bb_grid_choose_radial(bb_door *door, size_t b, double pure);

#endif
