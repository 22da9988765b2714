/* pld_discrete.h - a composition as a list of losses, worse or better than it is; private
 * to pld*.c.
 *
 * With z = e^epsilon and ratio = e^-loss the profile is E_P[(1 - z ratio)_+], convex in
 * z. The range of the loss is cut into cells.
 *   Above: a cell's mass goes to its two ends, so that it keeps its masses of P and of
 *   Q. The new profile has a chord of the old one in each cell: it is nowhere below
 *   (Doroshenko et al. 2022).
 *   Below: a cell becomes one loss, log(P / Q) of its masses. The new profile has
 *   tangents: it is nowhere above.
 * The profile of a product is the mean of one factor's profile over the other factor's
 * ratio, so both stay bounds in a composition. Each product of two lists is cut into
 * cells again, and lists stay short. All sums are of non-negative numbers: no delta is
 * too small.
 *
 * What a cell adds to the variance of the total is what it costs, so cells of one round
 * are finer, by the square root of how many there are, than those of the total; they
 * are wider far from where most of the mass is, and where there is little mass. That
 * is for accuracy only: any cells give bounds.
 *
 * Losses above BB_DISCRETE_PLD_LARGEST have no ratio that a double holds: above, they
 * are infinite; below, they are that large. */
#ifndef BB_PRIVACY_PLD_DISCRETE_H
#define BB_PRIVACY_PLD_DISCRETE_H

#include "privacy/accounting/pld_plan.h"
#include "privacy/accounting/privacy_loss.h"

enum { BB_DISCRETE_PLD_MOST = 1 << 14 };

#define BB_DISCRETE_PLD_LARGEST 690.0
/* e^-BB_DISCRETE_PLD_LARGEST, or a little more */
#define BB_DISCRETE_PLD_LEAST_RATIO 2.2e-300

typedef struct bb_discrete_pld {
    size_t count;  /* room for BB_DISCRETE_PLD_MOST */
    double *ratio; /* e^-loss, falling; 0: the loss is infinite */
    double *mass;  /* under P */
    double error;  /* relative, of every mass */
    double rounds;
    size_t cells; /* of one loss: that were looked at, most of them with mass */
} bb_discrete_pld;

typedef struct bb_discrete_pld_plan {
    double rounds;    /* of everything */
    double tilt;      /* near the saddle point, or above */
    double epsilon;   /* of which the atoms shall be good */
    double fineness;  /* of the cells */
    double delta;     /* there, about */
    double spread;    /* of the total, if known */
    double work_most; /* there is no more work than that; 0: as much as it takes */
} bb_discrete_pld_plan;

/* How wide cells are: fineness times the larger of core and the distance from centre,
 * and wider beyond region; and wider where mass width^2 times a weight, which is what a
 * cell does to delta, is at most `least`. */
typedef struct bb_cells {
    double centre, core, region, fineness;
    double scale, rise, most, least;
} bb_cells;
bb_cells bb_cells_of(const bb_discrete_pld_plan *plan, double centre, double rounds);
double bb_cells_width(const bb_cells *cells, double loss);
double bb_cells_weight(const bb_cells *cells, double loss);

/* Rounding errors of a ratio, relative. */
#define BB_DISCRETE_PLD_SLACK 0x1p-49

BB_MUST_CHECK bb_status bb_discrete_pld_room(bb_discrete_pld *atoms);
/* The chain of these losses, without the masses that they leave out. `out` has room. If
 * the lists do not fit, the plan's cells are made wider. *worked: += the work, in
 * multiplications or so; where it is too much, nothing is known. */
BB_MUST_CHECK bb_status bb_discrete_pld_compose(bb_discrete_pld *out, bb_bound bound,
                                                const bb_pld_chain *chain,
                                                const bb_privacy_loss *loss,
                                                bb_discrete_pld_plan plan,
                                                double *worked);
void bb_discrete_pld_close(bb_discrete_pld *atoms);
/* E[(1 - e^(epsilon - loss))_+], on the side of its bound; for a larger epsilon, that
 * of BB_DISCRETE_PLD_LARGEST from above and 0 from below. */
double bb_discrete_pld_delta(const bb_discrete_pld *atoms, bb_bound bound,
                             double epsilon);

double bb_discrete_pld_quantile(const bb_discrete_pld *atoms, double share);

/* (1 - share) a + share b, b's atoms on those of a as far as these reach, on the side of
 * the bound: a mixture has hardly more atoms than a round. Whether it fits in `out`, which
 * has room. */
bool bb_discrete_pld_mix(bb_discrete_pld *out, bb_bound bound, const bb_discrete_pld *a,
                         const bb_discrete_pld *b, double share);

/* One round of the loss; whether the list fits, and takes no more than some
 * BB_DISCRETE_PLD_MOST cells to be made. */
bool bb_discrete_pld_of_loss(bb_discrete_pld *out, bb_bound bound,
                             const bb_privacy_loss *loss,
                             const bb_discrete_pld_plan *plan);

#endif
