#include "privacy/accounting/privacy_loss.h"

#include <assert.h>
#include <complex.h>
#include <math.h>

#define CLOSED_WORK 80.0
enum { TILE = 32, BLOCK = 64, ROW = 8 };

/* e^(i x) - 1 */
static double complex turn_less_one(double x) {
    const double s = sin(x / 2.0), c = cos(x / 2.0);
    return -2.0 * s * s + I * (2.0 * s * c);
}

/* phi - 1 */
static double complex closed(const bb_privacy_loss *loss, double omega) {
    const double c = loss->tilt, e = loss->epsilon;
    switch (loss->kind) {
    case BB_PRIVACY_LOSS_GAUSSIAN: {
        const double square = loss->mu * loss->mu / 2.0, share = 1.0 - loss->atom;
        if (square * omega * omega > 50.0) return -share; /* e^-50 is nothing to 1 */
        const double complex turn = turn_less_one(square * omega * (2.0 * c + 1.0));
        const double fall = expm1(-square * omega * omega);
        return share * (turn + fall * (1.0 + turn));
    }
    case BB_PRIVACY_LOSS_SELECTION: {
        /* sinh(z) / z over its value at omega = 0, z = (s + 1/2) e */
        const double complex z = (c + 0.5) * e + I * (omega * e);
        const double x = creal(z), shrink = exp(-2.0 * x);
        if (cabs(z) < 1e-4) return (z * z - x * x) / 6.0;
        const double complex turn = turn_less_one(cimag(z));
        const double complex moved = (turn - shrink * conj(turn)) / (1.0 - shrink);
        return (x * moved - I * cimag(z)) / z;
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
    double turn_r[TILE][BLOCK], turn_i[TILE][BLOCK];
} tile;

/* re[l] + i im[l] += sum_j z_j turn_j[l], two nodes at a time */
static void add_block(const tile *t, size_t n, double *restrict re,
                      double *restrict im) {
    double a[BLOCK] = {0}, b[BLOCK] = {0};
    for (size_t j = 0; j < TILE; j += 2) {
        const double x = t->zr[j], y = t->zi[j], u = t->zr[j + 1], v = t->zi[j + 1];
        const double *restrict xr = t->turn_r[j], *restrict xi = t->turn_i[j];
        const double *restrict ur = t->turn_r[j + 1], *restrict ui = t->turn_i[j + 1];
        for (size_t l = 0; l < BLOCK; l++) {
            a[l] += (x * xr[l] - y * xi[l]) + (u * ur[l] - v * ui[l]);
            b[l] += (x * xi[l] + y * xr[l]) + (u * ui[l] + v * ur[l]);
        }
    }
    for (size_t l = 0; l < n; l++) {
        re[l] += a[l];
        im[l] += b[l];
    }
}

/* e^(i x) - 1 for x = l angle: those of ROW a and of b < ROW, and by their products. */
static void fill_turns(double *restrict r, double *restrict i, double angle) {
    for (size_t l = 0; l < BLOCK; l += l < ROW ? 1 : ROW) {
        const double complex turn = turn_less_one((double)l * angle);
        r[l] = creal(turn);
        i[l] = cimag(turn);
    }
    for (size_t a = ROW; a < BLOCK; a += ROW)
        for (size_t b = 1; b < ROW; b++) {
            r[a + b] = r[a] + r[b] + (r[a] * r[b] - i[a] * i[b]);
            i[a + b] = i[a] + i[b] + (r[a] * i[b] + i[a] * r[b]);
        }
}

static void add_tile(const bb_privacy_loss *loss, size_t at, double from, double step,
                     size_t n, double *re, double *im) {
    tile t = {0};
    const size_t count = loss->count - at < TILE ? loss->count - at : TILE;
    for (size_t j = 0; j < count; j++)
        fill_turns(t.turn_r[j], t.turn_i[j], step * loss->loss[at + j]);
    for (size_t k = 0; k < n; k += BLOCK) {
        const size_t block = n - k < BLOCK ? n - k : BLOCK;
        double complex base = 0.0;
        for (size_t j = 0; j < count; j++) {
            const double weight = loss->weight[at + j];
            const double complex turned =
                weight * turn_less_one((from + (double)k * step) * loss->loss[at + j]);
            base += turned;
            t.zr[j] = weight + creal(turned);
            t.zi[j] = cimag(turned);
        }
        for (size_t l = 0; l < block; l++) {
            re[k + l] += creal(base);
            im[k + l] += cimag(base);
        }
        add_block(&t, block, re + k, im + k);
    }
}

/* Whether an FFT is less work. */
static bool is_fast(double n, double nodes) {
    return bb_fourier_work(n, nodes) < n * nodes;
}

double bb_privacy_loss_work(bb_privacy_loss *loss, double reach, double n, bool fast,
                            double most) {
    if (loss->kind != BB_PRIVACY_LOSS_CURVES) return CLOSED_WORK * n;
    const double node = bb_curve_work(&loss->curve[0]);
    const size_t limit = (size_t)fmin(most / node, BB_PRIVACY_LOSS_NODES_MOST);
    const double nodes = (double)bb_privacy_loss_nodes(loss, reach, limit);
    if (nodes > (double)limit) return 2.0 * most + 1.0;
    return node * nodes +
           (fast ? fmin(n * nodes, bb_fourier_work(n, nodes)) : n * nodes);
}

void bb_privacy_loss_spectrum(bb_privacy_loss *loss, double from, double step, size_t n,
                              bb_fourier *fourier, double *re, double *im) {
    loss->blur = loss->coarse ? BB_PRIVACY_LOSS_BLUR : fourier ? BB_FOURIER_ERROR : 0.0;
    if (loss->kind != BB_PRIVACY_LOSS_CURVES) {
        loss->done += CLOSED_WORK * (double)n;
        for (size_t k = 0; k < n; k++) {
            const double complex phi = closed(loss, from + (double)k * step);
            re[k] = creal(phi);
            im[k] = cimag(phi);
        }
    } else if (fourier && is_fast((double)n, (double)loss->count)) {
        assert(from == 0.0);
        loss->done += bb_fourier_work((double)n, (double)loss->count);
        double sum = 0.0;
        for (size_t j = 0; j < loss->count; j++) sum += loss->weight[j];
        bb_fourier_sum(fourier, loss->count, loss->loss, step, loss->weight, re, im);
        for (size_t k = 0; k < n; k++) re[k] -= sum;
    } else {
        loss->done += (double)n * (double)loss->count;
        for (size_t k = 0; k < n; k++) re[k] = im[k] = 0.0;
        for (size_t at = 0; at < loss->count; at += TILE)
            add_tile(loss, at, from, step, n, re, im);
    }
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

double bb_privacy_loss_envelope(const bb_privacy_loss *loss, double omega) {
    if (loss->kind == BB_PRIVACY_LOSS_GAUSSIAN)
        return loss->atom +
               (1.0 - loss->atom) * exp(-loss->mu * loss->mu * omega * omega / 2.0);
    double best = 1.0;
    for (size_t k = 0; k < loss->envelopes; k++)
        best = fmin(best, envelope_at(loss->envelope[k], omega));
    return best;
}
