/* How much a task's rows say for each candidate of mp-mixed: evidence, in part of rows that
 * are left out, around a centre of the length that was found and of any length. */
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"
#include "methods/personal_average.h"

#include <math.h>

/* Of the square of a centre's weights, on average: what a row tells of its length at
 * least. */
static const double least_told = 0.01;
/* A length that the search has not reached may be any; one that it has is not. */
static const double haste = 3.0, most_doubt = 0.99;

/* cell (BB_MIXED_CELLS) <- ln(rest + what the noise level is believed to be), rest by
 * penalties. */
static void log_sums(const double *rest, const double *prior, double *cell) {
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++)
        for (size_t k = 0; k < BB_MIXED_LEVELS; k++)
            cell[l * BB_MIXED_LEVELS + k] = rest[l] + prior[k];
    bb_log(BB_MIXED_CELLS, cell);
}

void bb_mixed_weigh(const bb_mixed_board *mixed, const bb_local *local,
                    bb_mixed_kind kind, const bb_mixed_measure *m, double *evidence) {
    const double belief = bb_mixed_belief(mixed);
    const double rows = bb_mixed_freedom(mixed, local, kind),
                 share = bb_personal_by_left_out(local);
    const double by_fit = 0.5 * (1.0 - share), by_foreseen = 0.5 * share * rows;
    double prior[BB_MIXED_LEVELS], rest[BB_MIXED_PENALTIES], foreseen[BB_MIXED_CELLS];
    for (size_t k = 0; k < BB_MIXED_LEVELS; k++)
        prior[k] = belief * bb_mixed_noise(local, k);
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        const double left = m->rest[l] / local->weight;
        rest[l] = left > 1e-12 ? left : 1e-12;
    }
    log_sums(rest, prior, evidence);
    if (share > 0.0) log_sums(m->left_out, prior, foreseen);
    bb_log(BB_MIXED_LEVELS, prior);
    for (size_t k = 0; k < BB_MIXED_LEVELS; k++) prior[k] *= 0.5 * belief;
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        double *cell = evidence + l * BB_MIXED_LEVELS;
        const double less = by_fit * m->log_det[l];
        for (size_t k = 0; k < BB_MIXED_LEVELS; k++)
            cell[k] = prior[k] - less - by_fit * rows * cell[k];
    }
    for (size_t k = 0; share > 0.0 && k < BB_MIXED_CELLS; k++)
        evidence[k] -= by_foreseen * foreseen[k];
}

/* -- a centre of any length -- */

/* A parabola s -> at[0] - 2 bend s + curve s^2 through what was seen around none, one and
 * two times the centre. */
typedef struct parabola {
    double none, bend, curve;
} parabola;

static parabola parabola_of(double none, double one, double two) {
    const double curve = 0.5 * (none - 2.0 * one + two);
    return (parabola){none, 0.5 * (none + curve - one), curve};
}

static double value_at(const parabola *p, double s) {
    return p->none - 2.0 * p->bend * s + p->curve * s * s;
}

/* The best length of every penalty, and what a path would tell around it. `told': what a
 * row tells of the length, all that is believed of it before. */
static void stretch(const bb_local *local, const bb_mixed_measure *side, double told,
                    double *length, const bb_mixed_measure *out) {
    const double n = (double)local->n, one_more = n / fmax(1.0, n - 1.0);
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        parabola p =
            parabola_of(side[BB_MIXED_NONE].rest[l], side[BB_MIXED_ONE].rest[l],
                        side[BB_MIXED_TWO].rest[l]);
        if (p.curve < 0.0)
            p = (parabola){p.none, 0.5 * (p.none - side[BB_MIXED_ONE].rest[l]), 0.0};
        const double s = (p.bend + told) / (p.curve + told), off = s - 1.0;
        length[l] = s;
        out->rest[l] = value_at(&p, s) + told * off * off;
        out->log_det[l] = side[BB_MIXED_ONE].log_det[l] + log1p(p.curve / told);
        if (local->n <= local->d) continue;
        p = parabola_of(side[BB_MIXED_NONE].left_out[l], side[BB_MIXED_ONE].left_out[l],
                        side[BB_MIXED_TWO].left_out[l]);
        out->left_out[l] = fmax(0.0, value_at(&p, s)) * one_more * one_more;
    }
}

/* evidence <- ln(exp(one + evidence) + exp(other + any)), any <- the share that the other has,
 * both BB_MIXED_CELLS. */
static void add_doubt(double one, double other, double *any, double *evidence) {
    double more[BB_MIXED_CELLS], less[BB_MIXED_CELLS];
    for (size_t k = 0; k < BB_MIXED_CELLS; k++) {
        more[k] = other + any[k] - one - evidence[k];
        less[k] = more[k] < 0.0 ? more[k] : -more[k];
        evidence[k] += one + (more[k] < 0.0 ? 0.0 : more[k]);
    }
    (void)bb_exp(BB_MIXED_CELLS, less);
    for (size_t k = 0; k < BB_MIXED_CELLS; k++) {
        any[k] = (more[k] < 0.0 ? less[k] : 1.0) / (1.0 + less[k]);
        less[k] += 1.0;
    }
    bb_log(BB_MIXED_CELLS, less);
    for (size_t k = 0; k < BB_MIXED_CELLS; k++) evidence[k] += less[k];
}

void bb_mixed_weigh_lengths(const bb_mixed_board *mixed, const bb_local *local,
                            bb_mixed_kind kind, const bb_mixed_measure *side,
                            double spread, double *evidence, double *length) {
    double log_det[BB_MIXED_PENALTIES], rest[BB_MIXED_PENALTIES];
    double left_out[BB_MIXED_PENALTIES], best[BB_MIXED_PENALTIES];
    double any[BB_MIXED_CELLS];
    const bb_mixed_measure around = {log_det, rest, left_out};
    const double d = (double)mixed->d;
    const double square = bb_dot(mixed->d, mixed->centre, mixed->centre);
    const double told =
        fmax(0.0, spread) / (double)local->n + local->weight * least_told * square / d;
    const double doubt = fmin(most_doubt, pow(mixed->still, haste));
    for (size_t k = 0; k < BB_MIXED_CELLS; k++) length[k] = 1.0;
    if (!(doubt > 1e-12) || !(told > 0.0)) return;
    stretch(local, side, told, best, &around);
    bb_mixed_weigh(mixed, local, kind, &around, any);
    add_doubt(log(1.0 - doubt), log(doubt), any, evidence);
    for (size_t k = 0; k < BB_MIXED_CELLS; k++)
        length[k] += any[k] * (best[k / BB_MIXED_LEVELS] - 1.0);
}
