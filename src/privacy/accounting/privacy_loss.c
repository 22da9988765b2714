#include "privacy/accounting/privacy_loss.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* 16-point Gauss-Legendre panels. For an integrand that is analytic in the ellipse of
 * parameter 4 around a panel the error is 64/15 4^-32 = e^-43 of its maximum there; the
 * maximum is kept below e^7 of that on the line: 4 for the density, 3 for e^(i omega
 * loss). The ellipse reaches 15/16 of the panel's length off the line, and 9/16 beyond
 * its ends. */
enum {
    HALF_POINTS = BB_GAUSS_HALF,
    MOST_NODES = BB_PRIVACY_LOSS_NODES_MOST,
    MOMENT_NODES = 1 << 15
};
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
/* What a closed form costs, in multiplications or so. */
#define CLOSED_WORK 200.0
/* where an error of e^-27 does not matter */
#define COARSE_GROWTH 12.0
/* nodes whose share is below e^-DROP are left out */
#define DROP        48.0
#define SHARE_LEAST 1.4e-21
/* the variation of the density is read off at the nodes */
#define VARIATION_MARGIN 1.1

void bb_privacy_loss_close(bb_privacy_loss *loss) {
    free(loss->loss);
    free(loss->weight);
    *loss = (bb_privacy_loss){0};
}

/* -- nodes -- */

/* A walk over the panels of one curve. */
typedef struct walk {
    const bb_curve *curve;
    double c, reach, growth, longest, top;
    double from, to, length; /* of the panel */
    double end;
} walk;

double bb_privacy_loss_panel(const bb_curve *curve, double c) {
    return bb_curve_strip(curve, c, DENSITY_GROWTH) / ELLIPSE_SIDE;
}

static walk walk_open(const bb_curve *curve, double c, double reach, bool coarse) {
    walk w = {.curve = curve, .c = c, .reach = reach};
    w.growth = coarse ? COARSE_GROWTH : PHASE_GROWTH;
    w.longest = bb_privacy_loss_panel(curve, c);
    w.top = bb_curve_top(curve, c);
    bb_curve_range(curve, c, &w.to, &w.end);
    w.length = w.longest;
    return w;
}

/* How far below its top the density is in a panel. */
static double depth(const walk *w, double length) {
    double high = -INFINITY;
    for (int k = -1; k <= 3; k++)
        high = fmax(high, bb_curve_weight(w->curve, w->c, w->to + k * length / 2.0));
    return fmax(0.0, w->top - high);
}

/* e^(i omega loss) grows by omega times the slope off the line; where the density is
 * low, it may. */
static bool panel_holds(const walk *w, double length) {
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

static bool walk_next(walk *w) {
    if (w->to >= w->end) return false;
    double length = fmin(w->longest, 1.25 * w->length);
    while (!panel_holds(w, length)) length *= 0.8;
    w->from = w->to;
    w->to += w->length = length;
    return true;
}

size_t bb_privacy_loss_nodes(bb_privacy_loss *loss, double reach, size_t most) {
    size_t panels = 0;
    if (loss->kind != BB_PRIVACY_LOSS_CURVES) return 1;
    if (reach > 0.0 && reach == loss->counted_reach) return loss->counted;
    for (size_t k = 0; k < loss->curves; k++) {
        walk w = walk_open(&loss->curve[k], loss->tilt, reach, loss->coarse);
        while (2 * HALF_POINTS * panels <= most && walk_next(&w)) panels++;
    }
    if (2 * HALF_POINTS * panels <= most) {
        loss->counted = 2 * HALF_POINTS * panels;
        loss->counted_reach = reach;
    }
    return 2 * HALF_POINTS * panels;
}

static bb_status make_room(bb_privacy_loss *loss, size_t nodes) {
    if (nodes <= loss->room) return BB_OK;
    double *value = NULL, *weight = NULL;
    bb_status status =
        nodes > MOST_NODES
            ? bb_fail(BB_ENUMERIC, "the accountant cannot count rounds with so little "
                                   "noise: take a smaller epsilon, or more noise")
            : bb_allocate(&value, nodes, sizeof *value, "the accountant");
    if (!status) status = bb_allocate(&weight, nodes, sizeof *weight, "the accountant");
    if (status) {
        free(value);
        return status;
    }
    free(loss->loss);
    free(loss->weight);
    loss->loss = value;
    loss->weight = weight;
    loss->room = nodes;
    return BB_OK;
}

/* Nodes of one curve, weights still logs. *size: of the numbers in them. */
static void gather(bb_privacy_loss *loss, const bb_curve *curve, double reach,
                   double *slope, double *size) {
    walk w = walk_open(curve, loss->tilt, reach, loss->coarse);
    while (walk_next(&w)) {
        const double half = (w.to - w.from) / 2.0, middle = w.from + half;
        for (int k = 0; k < 2 * HALF_POINTS; k++) {
            const int at = k < HALF_POINTS ? HALF_POINTS - 1 - k : k - HALF_POINTS;
            const double x = k < HALF_POINTS ? -bb_gauss_at[at] : bb_gauss_at[at];
            const bb_point p = bb_curve_point(curve, loss->tilt, middle + half * x);
            loss->loss[loss->count] = p.loss;
            loss->weight[loss->count] = p.log_weight + log(half * bb_gauss_weight[at]);
            slope[loss->count] = p.slope * half * bb_gauss_weight[at];
            size[loss->count] = p.size;
            loss->count++;
        }
    }
}

/* Whatever lies before node j of the first curve, where the loss hardly changes and its
 * density is high, may be counted as part of the atom: envelope k has half of what the
 * one before it has left. */
static void cut_envelopes(bb_privacy_loss *loss, size_t end, const double *density) {
    bb_envelope whole = loss->envelope[0];
    double goal = (1.0 + whole.atom) / 2.0;
    loss->envelopes = 1;
    loss->envelope[0].variation *= VARIATION_MARGIN;
    for (size_t j = 0; j + 1 < end && loss->envelopes < BB_PRIVACY_LOSS_ENVELOPES;
         j++) {
        whole.variation -= fabs(density[j] - (j ? density[j - 1] : 0.0));
        whole.atom += loss->weight[j];
        if (whole.atom < goal) continue;
        loss->envelope[loss->envelopes++] = (bb_envelope){
            whole.atom, (fmax(0.0, whole.variation) + density[j]) * VARIATION_MARGIN};
        goal = (1.0 + whole.atom) / 2.0;
    }
}

/* From log weights to shares, and to what is known of the density of the loss. */
static void normalise(bb_privacy_loss *loss, const size_t *first, double *density,
                      const double *size) {
    const double added =
        4.0 + (double)loss->count / 64.0; /* for the sum's own errors */
    double top = loss->loss_atom > 0.0 ? log(loss->loss_atom) : -INFINITY;
    for (size_t j = 0; j < loss->count; j++) top = fmax(top, loss->weight[j]);
    long double sum = loss->loss_atom * exp(-top);
    for (size_t j = 0; j < loss->count; j++) sum += exp(loss->weight[j] - top);
    loss->log_moment = (double)(top + logl(sum));
    loss->atom = loss->loss_atom * exp(-loss->log_moment);
    loss->error = 0x1p-51;
    loss->slip = 0.0;
    loss->envelope[0] = (bb_envelope){loss->atom, 0.0};
    for (size_t k = 0; k < loss->curves; k++) {
        double before = 0.0;
        for (size_t j = first[k]; j < first[k + 1]; j++) {
            const double share = exp(loss->weight[j] - loss->log_moment);
            density[j] = share > 0.0 ? share / density[j] : 0.0;
            loss->envelope[0].variation += fabs(density[j] - before);
            before = density[j];
            loss->weight[j] = share;
            loss->error += 0x1p-52 * share * (1.0 + size[j]);
            loss->slip += 0x1p-51 * share * (added + size[j]) * fabs(loss->loss[j]);
        }
        loss->envelope[0].variation += before;
    }
    cut_envelopes(loss, first[1], density);
    size_t kept = 0;
    for (size_t j = 0; j < loss->count; j++) {
        if (loss->weight[j] < SHARE_LEAST) continue;
        loss->loss[kept] = loss->loss[j];
        loss->weight[kept++] = loss->weight[j];
    }
    loss->count = kept;
}

static bb_status tilt_curves(bb_privacy_loss *loss, double reach) {
    const size_t nodes = bb_privacy_loss_nodes(loss, reach, MOST_NODES);
    size_t first[BB_PRIVACY_LOSS_CURVES_MOST + 1] = {0};
    double *slope = NULL, *size = NULL;
    bb_status status = make_room(loss, nodes);
    if (!status) status = bb_allocate(&slope, nodes, sizeof *slope, "the accountant");
    if (!status) status = bb_allocate(&size, nodes, sizeof *size, "the accountant");
    if (status) goto done;
    loss->count = 0;
    for (size_t k = 0; k < loss->curves; k++) {
        gather(loss, &loss->curve[k], reach, slope, size);
        first[k + 1] = loss->count;
    }
    loss->done += bb_curve_work(&loss->curve[0]) * (double)loss->count;
    normalise(loss, first, slope, size);
done:
    free(slope);
    free(size);
    return status;
}

/* -- closed forms -- */

/* log((1 - r) + r e^x) */
static double log_mix(double r, double x) {
    if (r == 1.0) return x;
    return x > 300.0 ? x + log(r) : log1p(r * expm1(x));
}

/* log(sinh(x) / x), x > 0 */
static double log_sinhc(double x) {
    if (x < 1e-4) return x * x / 6.0;
    return x - log(2.0 * x) + log1p(-exp(-2.0 * x));
}

static void tilt_closed(bb_privacy_loss *loss) {
    const double c = loss->tilt, e = loss->epsilon, shift = (c + 0.5) * e;
    loss->error = 0x1p-48;
    switch (loss->kind) {
    case BB_PRIVACY_LOSS_GAUSSIAN:
        loss->log_moment =
            log_mix(loss->rate, loss->mu * loss->mu * c * (c + 1.0) / 2.0);
        loss->error += 0x1p-50 * fabs(loss->log_moment);
        loss->atom = (1.0 - loss->rate) * exp(-loss->log_moment);
        loss->slip = 0x1p-49 * loss->mu * (loss->mu * (c + 1.0) + 1.0);
        break;
    case BB_PRIVACY_LOSS_SELECTION:
        loss->log_moment = log_sinhc(shift) - log_sinhc(e / 2.0);
        loss->error += 0x1p-50 * shift;
        loss->slip = 0x1p-48 * e * (1.0 + 1.0 / fmax(shift, 1e-4));
        loss->envelope[0] = (bb_envelope){0.0, (c + 0.5) / tanh(shift)};
        break;
    default: /* e^(s e) / (1 + e^-e) + e^-(s e) / (1 + e^e), times 1 - delta */
        loss->log_moment = log1p(-loss->infinite) + c * e - log1p(exp(-e)) +
                           log1p(exp(-(2.0 * c + 1.0) * e));
        loss->error += 0x1p-50 * (c + 1.0) * e;
        loss->slip = 0x1p-49 * e;
        loss->envelope[0] = (bb_envelope){1.0, 0.0};
        break;
    }
    loss->envelopes = 1;
}

/* e^top *sum += the tilted mass of the curve; whether its nodes are not too many. */
static bool add_mass(const bb_curve *curve, double c, double *top, long double *sum,
                     double *work) {
    const double far = 600.0; /* *sum shall not overflow */
    walk w = walk_open(curve, c, 0.0, false);
    for (int panels = 0; walk_next(&w); panels++) {
        const double half = (w.to - w.from) / 2.0, middle = w.from + half;
        double log_weight[2 * HALF_POINTS], high = *top + far;
        long double mass = 0.0L;
        if (panels >= MOMENT_NODES / (2 * HALF_POINTS)) return false;
        *work += bb_curve_work(curve) * HALF_POINTS;
        for (int k = 0; k < HALF_POINTS; k++) {
            const double x = half * bb_gauss_at[k];
            log_weight[k] = bb_curve_weight(curve, c, middle - x);
            log_weight[HALF_POINTS + k] = bb_curve_weight(curve, c, middle + x);
            high = fmax(high, fmax(log_weight[k], log_weight[HALF_POINTS + k]));
        }
        if (high > *top + far) {
            *sum *= exp(*top - high);
            *top = high;
        }
        for (int k = 0; k < HALF_POINTS; k++)
            mass += bb_gauss_weight[k] * (exp(log_weight[k] - *top) +
                                          exp(log_weight[HALF_POINTS + k] - *top));
        *sum += half * mass;
    }
    return true;
}

double bb_privacy_loss_moment(const bb_privacy_loss *loss, double c, double *work) {
    *work += CLOSED_WORK;
    if (loss->kind != BB_PRIVACY_LOSS_CURVES) {
        bb_privacy_loss tilted = *loss;
        tilted.tilt = c;
        tilt_closed(&tilted);
        return tilted.log_moment;
    }
    double top = bb_curve_top(&loss->curve[0], c);
    if (loss->loss_atom > 0.0) top = fmax(top, log(loss->loss_atom));
    long double sum = loss->loss_atom * exp(-top);
    for (size_t k = 0; k < loss->curves; k++)
        if (!add_mass(&loss->curve[k], c, &top, &sum, work)) return INFINITY;
    return (double)(top + logl(sum));
}

bb_status bb_privacy_loss_tilt(bb_privacy_loss *loss, double c, double reach) {
    assert(c > 0.0);
    if (c != loss->tilt) loss->counted_reach = 0.0;
    loss->tilt = c;
    if (loss->kind == BB_PRIVACY_LOSS_CURVES) return tilt_curves(loss, reach);
    tilt_closed(loss);
    return BB_OK;
}
