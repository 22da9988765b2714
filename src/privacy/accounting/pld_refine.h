/* pld_refine.h - nearer and nearer to a point of a direction's profile; private to pld*.c. */
#ifndef BB_PRIVACY_PLD_REFINE_H
#define BB_PRIVACY_PLD_REFINE_H

#include "privacy/accounting/pld_direction.h"

/* Bounds are brought so close, relative, in epsilon; below BB_PLD_EPSILON_LEAST it is an
 * absolute difference. */
#define BB_PLD_WANTED        4e-4
#define BB_PLD_EPSILON_LEAST 1e-3
/* This is near enough. */
#define BB_PLD_ENOUGH (1.5 * BB_PLD_WANTED)
/* What is better but does not bring bounds closer is not what keeps them apart. */
#define BB_PLD_HARDLY 0.7

/* epsilon <= most, from above; most itself where its delta is too large. */
double bb_pld_from_above(const bb_pld_direction *side, double delta, double most);
/* epsilon from below, given a bound from above: away from there, and back. */
double bb_pld_from_below(const bb_pld_direction *side, double delta, double upper);

/* The profile by terms or lists, as plan->method says, near a point; delta and epsilon
 * are the scales of lists. There is neither where method->over, or method->cut is
 * wanted; no terms, where a cut is useless. */
BB_MUST_CHECK bb_status bb_pld_compute(bb_pld_direction *side, double saddle,
                                       bb_goal near, double delta, double epsilon);
/* Whether to go on with this plan after bounds that are `gap` apart, `mixed` of which is
 * what mixtures do, about; the method is what is next. */
bool bb_pld_go_on(bb_pld_direction *side, double epsilon, double gap, double mixed);

/* Of a difference of epsilon. */
double bb_pld_relative(double difference, double epsilon);
/* What mixtures do to epsilon, about, as the terms say. */
double bb_pld_apart_at(const bb_pld_direction *side, double epsilon);

#endif
