/* pld_side.h - one direction of a composition: its moments at the tilts that were
 * tried, and its profile by the sum over frequencies of pld.h; private to pld*.c. */
#ifndef BB_PRIVACY_PLD_SIDE_H
#define BB_PRIVACY_PLD_SIDE_H

#include "privacy/account.h"
#include "privacy/law.h"
#include "privacy/pld_atoms.h"

#include <complex.h>

#define BB_TWO_PI 6.283185307179586476925
/* Where the sum over frequencies may end, and the terms k != 0 be forgotten, relative
 * to delta: e^-22 = 2.8e-10. */
#define BB_SIDE_SMALL 22.0
enum { BB_SIDE_TRIED = 256 };

typedef struct bb_side {
    size_t count;
    bb_law *law;     /* count */
    double *times;   /* count */
    double infinite; /* P(L = infinity) */
    double lost;     /* of what the laws leave out */
    size_t tried;    /* what was learnt while c was chosen */
    double tried_tilt[BB_SIDE_TRIED], tried_moment[BB_SIDE_TRIED];
    double tilt, log_moment;
    double step;           /* of the frequencies */
    size_t frequencies;    /* 0 .. frequencies - 1 */
    double complex *terms; /* phi / (s (s + 1)), doubled but for the first */
    double rounding, end;  /* of the sum of terms: rounding errors, what is missing */
    double turning;        /* times epsilon: the errors of e^(-i omega epsilon) in it */
    double relative;       /* error of e^log_moment */
    bb_atoms above, below; /* instead of the terms */
} bb_side;

/* Of large losses that are too rare to matter a mass of `lose` may be left out. */
BB_MUST_CHECK bb_status bb_side_open(bb_side *side, const bb_account *account,
                                     bb_direction direction, double lose);
void bb_side_close(bb_side *side);

/* What one c promises: an epsilon at delta, or a log delta at epsilon. */
typedef struct bb_goal {
    double log_delta, epsilon; /* one is NAN: it is asked for */
} bb_goal;
double bb_side_promise(bb_side *side, const bb_goal *goal, double c);
/* The same with the rounding errors of it: never too small. */
BB_MUST_CHECK bb_status bb_side_promise_safely(bb_side *side, const bb_goal *goal,
                                               double c, double *value);
/* Sets the tilt to the c with the smallest promise, which it returns. Every c is valid;
 * one whose promise is not above `enough` ends the search. */
double bb_side_choose(bb_side *side, const bb_goal *goal, double enough);
/* Tries c on both sides of the tilt, for bb_side_set_period: upwards until its promise
 * is so bad that rounding errors would be seen. */
void bb_side_look_around(bb_side *side, double log_delta, double epsilon);
/* Sets the tilt to the one, among those that were tried, with the shortest period,
 * unless rounding errors, which grow with e^(log M - c epsilon), would be seen; and the
 * step. The saddle point itself is too close to where M explodes if there are rare
 * large losses. */
void bb_side_set_period(bb_side *side, double log_delta, double epsilon);
/* log of the sum of the terms k != 0 at epsilon, for a period A. */
double bb_side_log_aliases(const bb_side *side, double period, double epsilon);

/* The sum over frequencies for profiles near (epsilon, delta), at the tilt or another.
 * Where it would be too much work there are no terms: then bb_side_compose. */
BB_MUST_CHECK bb_status bb_side_prepare(bb_side *side, double log_delta,
                                        double epsilon);
/* The atoms for such profiles instead of terms, the finer the smaller `fineness`. */
BB_MUST_CHECK bb_status bb_side_compose(bb_side *side, double delta, double epsilon,
                                        double fineness);
/* delta at epsilon, by the terms or else by the atoms, from above and below; the tail
 * beyond infinity included. */
void bb_side_profile(const bb_side *side, double epsilon, double *upper, double *lower);

#endif
