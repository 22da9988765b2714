/* pld_direction.h - one direction of a composition: its moments at the tilts that were
 * tried, and its profile by the sum over frequencies of pld.h; private to pld*.c. */
#ifndef BB_PRIVACY_PLD_DIRECTION_H
#define BB_PRIVACY_PLD_DIRECTION_H

#include "privacy/accounting/pld_discrete.h"
#include "privacy/accounting/pld_plan.h"
#include "privacy/accounting/privacy_loss.h"

#include <complex.h>

#define BB_TWO_PI 6.283185307179586476925
enum { BB_PLD_DIRECTION_TRIED = 256 };

typedef struct bb_pld_direction {
    bb_pld_plan *plan;
    bb_privacy_loss *loss; /* of the plan's losses */
    double *log_moment_of; /* of each loss, while they are added up */
    double *envelope_of;   /* the same */
    double infinite;       /* P(L = infinity) */
    double lost;           /* of what the losses leave out */
    bool cut;              /* large losses are apart (pld_cut.h) */
    bool guesses;          /* moments that were tried are not bounds */
    double cut_most;       /* the epsilon up to which `reverse` holds */
    double beyond_p[BB_BOUNDS], beyond_q[BB_BOUNDS]; /* sums over all rounds */
    double
        reverse; /* the profile, seen from the other world, at the cut less cut_most */
    double sure_tilt, sure_moment; /* of those that were tried, one that is no guess */
    size_t tried;                  /* what was learnt while c was chosen */
    double tried_tilt[BB_PLD_DIRECTION_TRIED], tried_moment[BB_PLD_DIRECTION_TRIED];
    double tilt, log_moment;
    double smooth;           /* mu of the Gaussian round that is added, or 0 */
    bool fast;               /* spectra may be by an FFT */
    double step;             /* of the frequencies */
    size_t frequencies;      /* 0 .. frequencies - 1 */
    double complex *terms;   /* phi / (s (s + 1)), doubled but for the first */
    double complex *below;   /* the same for the lower bound */
    double wrong[BB_BOUNDS]; /* of the sums of terms: errors but for e^(-i omega x) */
    double turning;          /* times epsilon: those of that */
    double end;              /* what is missing in the sums */
    double relative;         /* error of e^log_moment */
    bb_discrete_pld above, below_atoms; /* instead of the terms */
} bb_pld_direction;

/* Of large losses that are too rare to matter a mass of `lose` may be left out. */
BB_MUST_CHECK bb_status bb_pld_direction_open(bb_pld_direction *side, bb_pld_plan *plan,
                                              bb_direction direction, double lose);
void bb_pld_direction_close(bb_pld_direction *side);
/* By the logs of the moments of the plan's losses, that of a chain; and the share of the
 * second loss in a factor after the tilt to which the moments belong. */
double bb_pld_factor_share(const bb_pld_factor *factor, const double *log_moment);
double bb_pld_chain_log_moment(const bb_pld_chain *chain, const double *log_moment);

/* What one c promises: an epsilon at delta, or a log delta at epsilon. */
typedef struct bb_goal {
    double log_delta, epsilon; /* one is NAN: it is asked for */
} bb_goal;
double bb_pld_direction_bound(bb_pld_direction *side, const bb_goal *goal, double c);
/* The same with the rounding errors of it: never too small. */
BB_MUST_CHECK bb_status bb_pld_direction_bound_safely(bb_pld_direction *side,
                                                      const bb_goal *goal, double c,
                                                      double *value);
/* Sets the tilt to the c with the smallest promise, which it returns. Every c is valid;
 * one whose promise is not above `enough` ends the search. */
double bb_pld_direction_choose(bb_pld_direction *side, const bb_goal *goal,
                               double enough);
/* The same; BB_EUSAGE, at once as a rule, where that is too much work for the plan. */
BB_MUST_CHECK bb_status bb_pld_direction_try(bb_pld_direction *side,
                                             const bb_goal *goal, double enough,
                                             double *promise);
/* log M(c) of the chain above by the moments of all losses, without chords. */
double bb_pld_direction_moment(bb_pld_direction *side, double c);
/* log of max_L (1 - e^(-L))_+ e^(-c L) = c^c / (1 + c)^(1 + c) */
double bb_pld_log_peak(double c);
/* After a cut moments between losses are guesses: makes sure of the one that the terms k !=
 * 0 at epsilon need. */
void bb_pld_direction_make_sure(bb_pld_direction *side, double epsilon);
/* log M(tilt) of the chain above less that of the chain below. */
double bb_pld_direction_between(bb_pld_direction *side);
/* The same for each loss and the next, added to plan->apart. */
void bb_pld_direction_tell_apart(bb_pld_direction *side);
/* Tries c on both sides of the tilt, for bb_pld_direction_set_period: upwards until its
 * promise is so bad that rounding errors would be seen. */
void bb_pld_direction_look_around(bb_pld_direction *side, double log_delta,
                                  double epsilon);
/* Sets the tilt to c, and tries others near it. */
void bb_pld_direction_look_near(bb_pld_direction *side, double c);
/* How far delta by one c may be above that by the best. */
#define BB_PLD_MOST_EXCESS 12.0
/* Sets the tilt to the one, among those that were tried, with the shortest period,
 * unless errors, which grow with e^(log M - c epsilon), would be seen; and the step.
 * Returns the log of what the terms exceed their sum by. The saddle point itself is too
 * close to where M explodes if there are rare large losses. */
double bb_pld_direction_set_period(bb_pld_direction *side, double log_delta,
                                   double epsilon);
/* log of the sum of the terms k != 0 at epsilon, for a period A. */
double bb_pld_direction_log_aliases(const bb_pld_direction *side, double period,
                                    double epsilon);

/* How small the end of the sum over frequencies, and the terms k != 0, are to be. */
double bb_pld_direction_small(const bb_pld_direction *side);

/* The sum over frequencies for profiles near (epsilon, delta), at the tilt or another,
 * with one more Gaussian round of mu = `smooth`: see pld.h. Where it would be too much
 * work there are no terms. */
BB_MUST_CHECK bb_status bb_pld_direction_prepare(bb_pld_direction *side,
                                                 double log_delta, double epsilon,
                                                 double smooth);
/* The atoms for such profiles instead of terms, the finer the smaller `fineness`. */
BB_MUST_CHECK bb_status bb_pld_direction_compose(bb_pld_direction *side, double delta,
                                                 double epsilon, double fineness);
/* delta at epsilon, by the terms or else by the atoms, from above and below; the tail
 * beyond infinity included. */
void bb_pld_direction_profile(const bb_pld_direction *side, double epsilon,
                              double *upper, double *lower);
/* By the terms, about: log of delta of the chain above over that of the chain below. */
double bb_pld_direction_apart(const bb_pld_direction *side, double epsilon);

#endif
