#include "privacy/accounting/privacy_loss_walk.h"

#include <math.h>

/* 16-point Gauss-Legendre panels. For an integrand that is analytic in the ellipse of
 * parameter 4 around a panel the error is 64/15 4^-32 = e^-43 of its maximum there; the
 * maximum is kept below e^7 of that on the line: 4 for the density, 3 for e^(i omega
 * loss). The ellipse reaches 15/16 of the panel's length off the line, and 9/16 beyond
 * its ends. */
enum { HALF_POINTS = BB_GAUSS_HALF };
const double bb_gauss_at[HALF_POINTS] = {
    0.09501250983763744018532, 0.2816035507792589132305, 0.4580167776572273863424,
    0.6178762444026437484467,  0.7554044083550030338951, 0.8656312023878317438805,
    0.944575023073232576078,   0.9894009349916499325962};
const double bb_gauss_weight[HALF_POINTS] = {
    0.1894506104550684962854,  0.1826034150449235888668, 0.1691565193950025381893,
    0.1495959888165767320815,  0.1246289712555338720525, 0.09515851168249278480993,
    0.06225352393864789286284, 0.02715245941175409485178};
#define ELLIPSE_SIDE   0.9375
#define ELLIPSE_END    0.5625
#define DENSITY_GROWTH 4.0
#define PHASE_GROWTH   3.0
/* where an error of e^-27 does not matter */
#define COARSE_GROWTH 12.0
/* where the density is e^-DROP of its top, anything may be */
#define DROP 48.0

double bb_privacy_loss_panel(const bb_curve *curve, double c) {
    return bb_curve_strip(curve, c, DENSITY_GROWTH) / ELLIPSE_SIDE;
}

bb_curve_walk bb_curve_walk_open(const bb_curve *curve, double c, double reach,
                                 bool coarse) {
    bb_curve_walk w = {.curve = curve, .c = c, .reach = reach};
    w.growth = coarse ? COARSE_GROWTH : PHASE_GROWTH;
    w.longest = bb_privacy_loss_panel(curve, c);
    w.top = bb_curve_top(curve, c);
    bb_curve_range(curve, c, &w.to, &w.end);
    w.length = w.longest;
    return w;
}

/* How far below its top the density is in a panel. */
static double depth(const bb_curve_walk *w, double length) {
    double high = -INFINITY;
    for (int k = -1; k <= 3; k++)
        high = fmax(high, bb_curve_weight(w->curve, w->c, w->to + k * length / 2.0));
    return fmax(0.0, w->top - high);
}

/* e^(i omega loss) grows by omega times the slope off the line; where the density is
 * low, it may. */
static bool panel_holds(const bb_curve_walk *w, double length) {
    if (w->reach == 0.0) return true;
    const double slope = bb_curve_slope(w->curve, w->to - ELLIPSE_END * length,
                                        w->to + (1.0 + ELLIPSE_END) * length);
    const double side = ELLIPSE_SIDE * length;
    const double rate = w->curve->mu + w->curve->back;
    const double turn = rate > 0.0 ? side * rate : side;
    const double growth = w->reach * side * slope / cos(turn / 2.0);
    if (growth <= w->growth) return true;
    const double low = depth(w, length);
    return growth <= w->growth + low || low > DROP;
}

bool bb_curve_walk_next(bb_curve_walk *w) {
    if (w->to >= w->end) return false;
    double length = fmin(w->longest, 1.25 * w->length);
    while (!panel_holds(w, length)) length *= 0.8;
    w->from = w->to;
    w->length = length;
    w->to = fmin(w->to + length, w->end);
    return true;
}
