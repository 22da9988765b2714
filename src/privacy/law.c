#include "privacy/law.h"

#include "base/memory.h"

#include <assert.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 16-point Gauss-Legendre panels. For an integrand that is analytic in the ellipse of
 * parameter 4 around a panel the error is 64/15 4^-32 = e^-43 of its maximum there; the
 * maximum is kept below e^7 of that on the line: 4 for the density, 3 for e^(i omega
 * loss). The ellipse reaches 15/16 of the panel's length off the line, and 9/16 beyond
 * its ends. */
enum { HALF_POINTS = 8, MOST_NODES = 1 << 23, LANES = 8, TILE = 64, BLOCK = 32 };
static const double point_at[HALF_POINTS] = {
    0.09501250983763744018532, 0.2816035507792589132305, 0.4580167776572273863424,
    0.6178762444026437484467,  0.7554044083550030338951, 0.8656312023878317438805,
    0.944575023073232576078,   0.9894009349916499325962};
static const double point_weight[HALF_POINTS] = {
    0.1894506104550684962854,  0.1826034150449235888668, 0.1691565193950025381893,
    0.1495959888165767320815,  0.1246289712555338720525, 0.09515851168249278480993,
    0.06225352393864789286284, 0.02715245941175409485178};
#define ELLIPSE_SIDE   0.9375
#define ELLIPSE_END    0.5625
#define DENSITY_GROWTH 4.0
#define PHASE_GROWTH   3.0
/* nodes whose share is below e^-DROP are left out */
#define DROP        48.0
#define SHARE_LEAST 1.4e-21
/* the variation of the density is read off at the nodes */
#define VARIATION_MARGIN 1.1

#define SQRT_HALF 0.70710678118654752440

/* -- what an event is -- */

bool bb_law_is_symmetric(const bb_event *event, bb_adjacency adjacency) {
    if (event->kind == BB_EVENT_WISHART) return false;
    return event->kind != BB_EVENT_ROUND || event->sampling != BB_SAMPLING_POISSON ||
           event->rate == 1.0 || adjacency == BB_REPLACE_ONE;
}

/* P(chi^2_freedom <= x), relatively exact for small values too: the series of the
 * incomplete gamma function. */
static double chi_square_cdf(double freedom, double x) {
    const double a = freedom / 2.0, half = x / 2.0;
    double term = 1.0, sum = 1.0;
    for (double n = 1.0; term > sum * 1e-18 && n < 1e6; n += 1.0)
        sum += term *= half / (a + n);
    return fmin(1.0, sum * exp(a * log(half) - half - lgamma(a + 1.0)));
}

/* Without the task the loss has no upper limit, as chi^2 comes down to the ratio. */
static double cut_central(const bb_event *event, double mass) {
    double low = -700.0, high = log(event->freedom + 1.0);
    for (int k = 0; k < 60; k++) {
        const double t = (low + high) / 2.0;
        if (chi_square_cdf(event->freedom, event->ratio + exp(t)) <= mass)
            low = t;
        else
            high = t;
    }
    return low;
}

static void open_wishart(bb_law *law, const bb_event *event, bb_direction direction,
                         double lose) {
    const bool with = direction == BB_WITH;
    law->curves = 1;
    law->curve[0] = (bb_curve){.kind = with ? BB_CURVE_WISHART : BB_CURVE_CENTRAL,
                               .freedom = event->freedom,
                               .ratio = event->ratio,
                               .log_norm = event->freedom / 2.0 * log(2.0) +
                                           lgamma(event->freedom / 2.0),
                               .from = -INFINITY,
                               .to = INFINITY};
    if (with) return;
    law->infinite = chi_square_cdf(event->freedom, event->ratio);
    law->curve[0].from = cut_central(event, law->infinite * (1.0 + 0x1p-24) + lose);
    law->lost = chi_square_cdf(event->freedom, event->ratio + exp(law->curve[0].from)) -
                law->infinite;
}

/* Where the mixture's tail has less than that mass; *tail gets it. */
static double cut_mixture(double q, double mu, double mass, double *tail) {
    double low = 0.0, high = mu + 38.0;
    if (mass < 1e-300) return INFINITY;
    for (int k = 0; k < 60; k++) {
        const double t = (low + high) / 2.0;
        const double left = (1.0 - q) * 0.5 * erfc(t * SQRT_HALF) +
                            q * 0.5 * erfc((t - mu) * SQRT_HALF);
        if (left <= mass) {
            high = t;
            *tail = left;
        } else {
            low = t;
        }
    }
    return high;
}

/* Balle, Barthe, Gaboardi (2018): the profile of the mixture on loss > 0, mirrored. */
static void open_hidden(bb_law *law, const bb_event *event, double lose) {
    const double mu = event->replace;
    law->loss_atom = (1.0 - event->rate) * erf(mu / 2.0 * SQRT_HALF);
    law->curves = 2;
    for (int k = 0; k < 2; k++)
        law->curve[k] = (bb_curve){.kind = k ? BB_CURVE_PLAIN : BB_CURVE_MIXTURE,
                                   .q = event->rate,
                                   .mu = mu,
                                   .from = mu / 2.0,
                                   .to = INFINITY};
    law->curve[0].to = fmax(mu / 2.0, cut_mixture(event->rate, mu, lose, &law->lost));
}

static void open_round(bb_law *law, const bb_event *event, bb_adjacency adjacency,
                       bb_direction direction, double lose) {
    law->rate = 1.0;
    law->mu = bb_event_mu(event, adjacency);
    if (event->sampling == BB_SAMPLING_FIXED_VISIBLE) law->rate = event->rate;
    if (event->rate == 0.0) law->mu = 0.0;
    if (event->rate == 0.0 || event->rate == 1.0 || law->mu == 0.0) return;
    if (event->sampling == BB_SAMPLING_FIXED_HIDDEN) {
        law->kind = BB_LAW_CURVES;
        open_hidden(law, event, lose);
    } else if (event->sampling == BB_SAMPLING_POISSON) {
        law->kind = BB_LAW_CURVES;
        law->curves = 1;
        law->curve[0] = (bb_curve){.kind = adjacency == BB_REPLACE_ONE ? BB_CURVE_MIRROR
                                           : direction == BB_WITH ? BB_CURVE_MIXTURE
                                                                  : BB_CURVE_PLAIN,
                                   .q = event->rate,
                                   .mu = event->absent,
                                   .from = -INFINITY,
                                   .to = INFINITY};
        if (law->curve[0].kind != BB_CURVE_PLAIN)
            law->curve[0].to =
                cut_mixture(event->rate, event->absent, lose, &law->lost);
    }
}

void bb_law_open(bb_law *law, const bb_event *event, bb_adjacency adjacency,
                 bb_direction direction, double lose) {
    *law = (bb_law){.kind = BB_LAW_GAUSSIAN};
    switch (event->kind) {
    case BB_EVENT_ROUND:
        open_round(law, event, adjacency, direction, lose);
        break;
    case BB_EVENT_SELECTION:
    case BB_EVENT_STEP:
        law->kind = event->kind == BB_EVENT_STEP ? BB_LAW_STEP : BB_LAW_SELECTION;
        law->epsilon = event->epsilon;
        law->infinite = event->delta;
        if (event->epsilon == 0.0) law->kind = BB_LAW_STEP;
        break;
    case BB_EVENT_WISHART:
        law->kind = BB_LAW_CURVES;
        open_wishart(law, event, direction, lose);
        break;
    }
}

void bb_law_close(bb_law *law) {
    free(law->loss);
    free(law->weight);
    *law = (bb_law){0};
}

/* -- nodes -- */

/* A walk over the panels of one curve. */
typedef struct walk {
    const bb_curve *curve;
    double c, reach, longest, top;
    double from, to, length; /* of the panel */
    double end;
} walk;

static walk walk_open(const bb_curve *curve, double c, double reach) {
    walk w = {.curve = curve, .c = c, .reach = reach};
    w.longest = bb_curve_strip(curve, c, DENSITY_GROWTH) / ELLIPSE_SIDE;
    w.top = bb_curve_top(curve, c);
    bb_curve_range(curve, c, &w.to, &w.end);
    w.length = w.longest;
    return w;
}

/* How far below its top the density is in a panel. */
static double depth(const walk *w, double length) {
    double high = -INFINITY;
    for (int k = -1; k <= 3; k++)
        high = fmax(
            high, bb_curve_point(w->curve, w->c, w->to + k * length / 2.0).log_weight);
    return fmax(0.0, w->top - high);
}

/* e^(i omega loss) grows by omega times the slope off the line; where the density is
 * low, it may. */
static bool panel_holds(const walk *w, double length) {
    const double slope = bb_curve_slope(w->curve, w->to - ELLIPSE_END * length,
                                        w->to + (1.0 + ELLIPSE_END) * length);
    const double side = ELLIPSE_SIDE * length;
    const double turn = w->curve->mu > 0.0 ? side * w->curve->mu : side;
    const double growth = w->reach * side * slope / cos(turn / 2.0);
    if (growth <= PHASE_GROWTH) return true;
    const double low = depth(w, length);
    return growth <= PHASE_GROWTH + low || low > DROP;
}

static bool walk_next(walk *w) {
    if (w->to >= w->end) return false;
    double length = fmin(w->longest, 2.0 * w->length);
    while (!panel_holds(w, length)) length *= 0.8;
    w->from = w->to;
    w->to += w->length = length;
    return true;
}

size_t bb_law_nodes(const bb_law *law, double reach, size_t most) {
    size_t panels = 0;
    for (size_t k = 0; k < law->curves; k++) {
        walk w = walk_open(&law->curve[k], law->tilt, reach);
        while (2 * HALF_POINTS * panels <= most && walk_next(&w)) panels++;
    }
    return law->kind == BB_LAW_CURVES ? 2 * HALF_POINTS * panels : 1;
}

static bb_status make_room(bb_law *law, size_t nodes) {
    if (nodes <= law->room) return BB_OK;
    double *loss = NULL, *weight = NULL;
    bb_status status =
        nodes > MOST_NODES
            ? bb_fail(BB_ENUMERIC, "the accountant needs %zu nodes", nodes)
            : bb_allocate(&loss, nodes, sizeof *loss, "the accountant");
    if (!status) status = bb_allocate(&weight, nodes, sizeof *weight, "the accountant");
    if (status) {
        free(loss);
        return status;
    }
    free(law->loss);
    free(law->weight);
    law->loss = loss;
    law->weight = weight;
    law->room = nodes;
    return BB_OK;
}

/* What is added up along the curves, in logs until the largest is known. */
typedef struct gathering {
    double top; /* log of the largest weight */
    double *log_density;
} gathering;

/* Nodes of one curve, weights still logs. *size: of the numbers in them. */
static void gather(bb_law *law, const bb_curve *curve, double reach, double *slope,
                   double *size) {
    walk w = walk_open(curve, law->tilt, reach);
    while (walk_next(&w)) {
        const double half = (w.to - w.from) / 2.0, middle = w.from + half;
        for (int k = 0; k < 2 * HALF_POINTS; k++) {
            const int at = k < HALF_POINTS ? HALF_POINTS - 1 - k : k - HALF_POINTS;
            const double x = k < HALF_POINTS ? -point_at[at] : point_at[at];
            const bb_point p = bb_curve_point(curve, law->tilt, middle + half * x);
            law->loss[law->count] = p.loss;
            law->weight[law->count] = p.log_weight + log(half * point_weight[at]);
            slope[law->count] = p.slope * half * point_weight[at];
            size[law->count] = p.size;
            law->count++;
        }
    }
}

/* Whatever lies before node j of the first curve, where the loss hardly changes and its
 * density is high, may be counted as part of the atom: envelope k has half of what the
 * one before it has left. */
static void cut_envelopes(bb_law *law, size_t end, const double *density) {
    bb_envelope whole = law->envelope[0];
    double goal = (1.0 + whole.atom) / 2.0;
    law->envelopes = 1;
    law->envelope[0].variation *= VARIATION_MARGIN;
    for (size_t j = 0; j + 1 < end && law->envelopes < BB_LAW_ENVELOPES; j++) {
        whole.variation -= fabs(density[j] - (j ? density[j - 1] : 0.0));
        whole.atom += law->weight[j];
        if (whole.atom < goal) continue;
        law->envelope[law->envelopes++] = (bb_envelope){
            whole.atom, (fmax(0.0, whole.variation) + density[j]) * VARIATION_MARGIN};
        goal = (1.0 + whole.atom) / 2.0;
    }
}

/* From log weights to shares, and to what is known of the density of the loss. */
static void normalise(bb_law *law, const size_t *first, double *density,
                      const double *size) {
    double top = law->loss_atom > 0.0 ? log(law->loss_atom) : -INFINITY;
    for (size_t j = 0; j < law->count; j++) top = fmax(top, law->weight[j]);
    long double sum = law->loss_atom * exp(-top);
    for (size_t j = 0; j < law->count; j++) sum += exp(law->weight[j] - top);
    law->log_moment = (double)(top + logl(sum));
    law->atom = law->loss_atom * exp(-law->log_moment);
    law->error = 0x1p-51;
    law->slip = 0.0;
    law->envelope[0] = (bb_envelope){law->atom, 0.0};
    for (size_t k = 0; k < law->curves; k++) {
        double before = 0.0;
        for (size_t j = first[k]; j < first[k + 1]; j++) {
            const double share = exp(law->weight[j] - law->log_moment);
            density[j] = share > 0.0 ? share / density[j] : 0.0;
            law->envelope[0].variation += fabs(density[j] - before);
            before = density[j];
            law->weight[j] = share;
            law->error += 0x1p-52 * share * (1.0 + size[j]);
            law->slip += 0x1p-51 * share * (4.0 + size[j]) * fabs(law->loss[j]);
        }
        law->envelope[0].variation += before;
    }
    cut_envelopes(law, first[1], density);
    size_t kept = 0;
    for (size_t j = 0; j < law->count; j++) {
        if (law->weight[j] < SHARE_LEAST) continue;
        law->loss[kept] = law->loss[j];
        law->weight[kept++] = law->weight[j];
    }
    law->count = kept;
}

static bb_status tilt_curves(bb_law *law, double reach) {
    const size_t nodes = bb_law_nodes(law, reach, MOST_NODES);
    size_t first[BB_LAW_CURVES_MOST + 1] = {0};
    double *slope = NULL, *size = NULL;
    bb_status status = make_room(law, nodes);
    if (!status) status = bb_allocate(&slope, nodes, sizeof *slope, "the accountant");
    if (!status) status = bb_allocate(&size, nodes, sizeof *size, "the accountant");
    if (status) goto done;
    law->count = 0;
    for (size_t k = 0; k < law->curves; k++) {
        gather(law, &law->curve[k], reach, slope, size);
        first[k + 1] = law->count;
    }
    normalise(law, first, slope, size);
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

static void tilt_closed(bb_law *law) {
    const double c = law->tilt, e = law->epsilon, shift = (c + 0.5) * e;
    law->error = law->slip = 0x1p-48;
    switch (law->kind) {
    case BB_LAW_GAUSSIAN:
        law->log_moment = log_mix(law->rate, law->mu * law->mu * c * (c + 1.0) / 2.0);
        law->error += 0x1p-50 * fabs(law->log_moment);
        law->atom = (1.0 - law->rate) * exp(-law->log_moment);
        break;
    case BB_LAW_SELECTION:
        law->log_moment = log_sinhc(shift) - log_sinhc(e / 2.0);
        law->error += 0x1p-50 * shift;
        law->envelope[0] = (bb_envelope){0.0, (c + 0.5) / tanh(shift)};
        break;
    default: /* e^(s e) / (1 + e^-e) + e^-(s e) / (1 + e^e), times 1 - delta */
        law->log_moment = log1p(-law->infinite) + c * e - log1p(exp(-e)) +
                          log1p(exp(-(2.0 * c + 1.0) * e));
        law->error += 0x1p-50 * (c + 1.0) * e;
        law->envelope[0] = (bb_envelope){1.0, 0.0};
        break;
    }
    law->envelopes = 1;
}

bb_status bb_law_tilt(bb_law *law, double c, double reach) {
    assert(c > 0.0);
    law->tilt = c;
    if (law->kind == BB_LAW_CURVES) return tilt_curves(law, reach);
    tilt_closed(law);
    return BB_OK;
}

/* e^(i x) - 1 */
static double complex turn_less_one(double x) {
    const double half = sin(x / 2.0);
    return CMPLX(-2.0 * half * half, sin(x));
}

/* phi - 1 */
static double complex closed(const bb_law *law, double omega) {
    const double c = law->tilt, e = law->epsilon;
    switch (law->kind) {
    case BB_LAW_GAUSSIAN: {
        const double square = law->mu * law->mu / 2.0, share = 1.0 - law->atom;
        const double complex turn = turn_less_one(square * omega * (2.0 * c + 1.0));
        const double fall = expm1(-square * omega * omega);
        return share * (turn + fall * (1.0 + turn));
    }
    case BB_LAW_SELECTION: {
        /* sinh(z) / z over its value at omega = 0, z = (s + 1/2) e */
        const double complex z = CMPLX((c + 0.5) * e, omega * e);
        const double x = creal(z), shrink = exp(-2.0 * x);
        if (cabs(z) < 1e-4) return (z * z - x * x) / 6.0;
        const double complex turn = 1.0 + turn_less_one(cimag(z));
        return (turn - shrink / turn) / (1.0 - shrink) * (x / z) - 1.0;
    }
    default: {
        const double low = exp(-(2.0 * c + 1.0) * e);
        const double complex turn = turn_less_one(omega * e);
        return (turn + low * conj(turn)) / (1.0 + low);
    }
    }
}

/* -- spectrum -- */

/* A tile of nodes: w_j e^(i omega loss_j) at the first frequency of a block, and e^(i l
 * step loss_j) - 1 for the others. */
typedef struct tile {
    double zr[TILE], zi[TILE];
    double turn_r[BLOCK][TILE], turn_i[BLOCK][TILE];
} tile;

/* re[l] + i im[l] += sum_j z_j turn_j[l] */
__attribute__((target_clones("avx2", "default"))) static void
add_block(const tile *t, size_t count, size_t n, double *restrict re,
          double *restrict im) {
    for (size_t l = 0; l < n; l++) {
        const double *restrict rr = t->turn_r[l], *restrict ri = t->turn_i[l];
        double a[LANES] = {0}, b[LANES] = {0};
        for (size_t g = 0; g < count; g += LANES)
            for (size_t k = 0; k < LANES; k++) {
                const double x = t->zr[g + k], y = t->zi[g + k];
                a[k] += x * rr[g + k] - y * ri[g + k];
                b[k] += x * ri[g + k] + y * rr[g + k];
            }
        for (size_t k = 0; k < LANES; k++) {
            re[l] += a[k];
            im[l] += b[k];
        }
    }
}

static void add_tile(const bb_law *law, size_t at, double from, double step, size_t n,
                     double *re, double *im) {
    tile t;
    const size_t count = law->count - at < TILE ? law->count - at : TILE;
    const size_t padded = (count + LANES - 1) / LANES * LANES;
    for (size_t j = 0; j < padded; j++)
        for (size_t l = 0; l < BLOCK; l++) {
            const double angle = j < count ? (double)l * step * law->loss[at + j] : 0.0;
            const double complex turn = turn_less_one(angle);
            t.turn_r[l][j] = creal(turn);
            t.turn_i[l][j] = cimag(turn);
        }
    for (size_t k = 0; k < n; k += BLOCK) {
        const size_t block = n - k < BLOCK ? n - k : BLOCK;
        double complex base = 0.0;
        for (size_t j = 0; j < padded; j++) {
            const double angle =
                j < count ? (from + (double)k * step) * law->loss[at + j] : 0.0;
            const double weight = j < count ? law->weight[at + j] : 0.0;
            const double complex turned = weight * turn_less_one(angle);
            base += turned;
            t.zr[j] = weight + creal(turned);
            t.zi[j] = cimag(turned);
        }
        for (size_t l = 0; l < block; l++) {
            re[k + l] += creal(base);
            im[k + l] += cimag(base);
        }
        add_block(&t, padded, block, re + k, im + k);
    }
}

void bb_law_spectrum(const bb_law *law, double from, double step, size_t n, double *re,
                     double *im) {
    for (size_t k = 0; k < n; k++) {
        const double complex phi =
            law->kind == BB_LAW_CURVES ? 0.0 : closed(law, from + (double)k * step);
        re[k] = creal(phi);
        im[k] = cimag(phi);
    }
    if (law->kind != BB_LAW_CURVES) return;
    for (size_t at = 0; at < law->count; at += TILE)
        add_tile(law, at, from, step, n, re, im);
}

/* |phi| <= atom + variation / omega: integrate by parts. Below the frequency where that
 * says something: 1 - cos(n x) <= n^2 (1 - cos x), so that 1 - |phi(omega)|^2 >= (1 -
 * |phi(n omega)|^2) / n^2 for every integer n. */
static double envelope_at(bb_envelope e, double omega) {
    if (e.atom >= 1.0 || !isfinite(e.variation)) return 1.0;
    const double direct = fmin(1.0, e.atom + e.variation / omega);
    const double n = sqrt(2.0) * e.variation / (1.0 - e.atom) / omega + 1.0;
    const double there = e.atom + (1.0 - e.atom) / sqrt(2.0);
    return fmin(direct, sqrt(1.0 - (1.0 - there * there) / (n * n)));
}

double bb_law_envelope(const bb_law *law, double omega) {
    if (law->kind == BB_LAW_GAUSSIAN)
        return law->atom +
               (1.0 - law->atom) * exp(-law->mu * law->mu * omega * omega / 2.0);
    double best = 1.0;
    for (size_t k = 0; k < law->envelopes; k++)
        best = fmin(best, envelope_at(law->envelope[k], omega));
    return best;
}
