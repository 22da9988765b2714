/* pld_cut.h - large losses apart; private to pld*.c.
 *
 * Where losses are rare and large their moments explode long before the saddle point. So
 * those of every sampled round above one loss, the cut, well above epsilon, are taken out.
 * With T_P and T_Q the sums over all rounds of what P and Q have beyond it, delta has
 * two parts:
 *   no round is beyond:  the profile of the rest, whose moments do not explode;
 *   one is, or more are:  between T_P (1 - T_P) - e^epsilon T_Q and
 *                         T_P - e^epsilon T_Q (1 - T_Q - r), r the profile of all rounds,
 *                         seen from the other world, at the cut less epsilon.
 * docs/accountant.md has the proof. */
#ifndef BB_PRIVACY_PLD_CUT_H
#define BB_PRIVACY_PLD_CUT_H

#include "privacy/accounting/pld_direction.h"

/* Whether it may help: rounds without infinite loss, some of which can be large. */
bool bb_pld_can_cut(const bb_pld_direction *side);
/* The cut is so many times as large as any epsilon. */
#define BB_PLD_CUT_AWAY 1.5
/* Leaves out what is above a loss; returns T_P of the chain above. */
double bb_pld_cut_losses(bb_pld_direction *side, double loss);
/* The same at the least loss beyond which two hardly ever are; it is searched from `from`. */
double bb_pld_cut_nearest(bb_pld_direction *side, double delta, double from);
/* Cuts there if what is beyond is bounded well enough, side->cut, for delta and epsilons up
 * to side->cut_most; `other` is the direction that the side is not. */
BB_MUST_CHECK bb_status bb_pld_cut_at(bb_pld_direction *side, bb_direction other,
                                      double delta, double loss);
/* The second part of delta, on the side of the bound; 0 without a cut. */
double bb_pld_beyond(const bb_pld_direction *side, bb_bound bound, double epsilon);

#endif
