#include "methods/search.h"

#include "linalg/linalg.h"

#include <math.h>

/* James and Stein 1961, positive part. */
static void shrink_alike(size_t d, double sd, double *g) {
    const double square = bb_dot(d, g, g);
    const double excess = fmax(0.0, (double)d - 2.0) * sd * sd;
    bb_scale(d, square > excess ? 1.0 - excess / square : 0.0, g);
}

/* -- coordinates that are not alike -- */

/* Normals of these variances, times the noise's, are mixed: 0, then from the least one, by
 * equal ratios, to the square of the largest coordinate. More coordinates than that take
 * too long. */
enum { NORMALS = 12, PASSES = 30, MOST_COORDINATES = 4096 };
static const double least_variance = 0.1, least_top = 10.0;
/* By how much a mixture must explain the coordinates better (a logarithm) than one
 * normal. */
static const double least_gain = 8.0;

typedef struct mixture {
    double share[NORMALS], variance[NORMALS];
} mixture;

/* part <- share times density of every normal at a coordinate of this square, noise 1, but
 * for the root of 2 pi. Returns their sum. */
static double density(const mixture *mix, double square, double *part) {
    double sum = 0.0;
    for (size_t j = 0; j < NORMALS; j++) {
        const double all = 1.0 + mix->variance[j];
        part[j] = mix->share[j] * exp(-0.5 * square / all) / sqrt(all);
        sum += part[j];
    }
    return fmax(sum, 1e-300);
}

static void begin(size_t d, double sd, const double *g, mixture *mix) {
    double top = least_top;
    for (size_t k = 0; k < d; k++) top = fmax(top, g[k] * g[k] / (sd * sd));
    for (size_t j = 0; j < NORMALS; j++) {
        const double way = ((double)j - 1.0) / (NORMALS - 2.0);
        mix->share[j] = 1.0 / NORMALS;
        mix->variance[j] = j ? least_variance * pow(top / least_variance, way) : 0.0;
    }
}

/* EM for the shares, with one coordinate that is 0 beside those that were seen. Returns
 * the logarithm of what the mixture explains better than one normal. */
static double estimate(size_t d, double sd, const double *g, mixture *mix) {
    double part[NORMALS], total = 0.0, gain = 0.0;
    begin(d, sd, g, mix);
    for (size_t pass = 0; pass < PASSES; pass++) {
        double count[NORMALS] = {1.0};
        for (size_t k = 0; k < d; k++) {
            const double z = g[k] / sd, sum = density(mix, z * z, part);
            for (size_t j = 0; j < NORMALS; j++) count[j] += part[j] / sum;
        }
        for (size_t j = 0; j < NORMALS; j++)
            mix->share[j] = count[j] / ((double)d + 1.0);
    }
    for (size_t k = 0; k < d; k++) total += g[k] * g[k] / (sd * sd);
    const double one = fmax(1.0, total / (double)d);
    for (size_t k = 0; k < d; k++) {
        const double square = g[k] * g[k] / (sd * sd);
        gain += log(density(mix, square, part)) + 0.5 * (square / one + log(one));
    }
    return gain;
}

/* Every coordinate becomes its mean given what was released. Whether that was done: not
 * where they are as good as alike. */
static bool shrink_each(size_t d, double sd, double *g) {
    mixture mix;
    double part[NORMALS];
    if (d > MOST_COORDINATES || !(sd > 0.0) || estimate(d, sd, g, &mix) < least_gain)
        return false;
    for (size_t k = 0; k < d; k++) {
        const double z = g[k] / sd, sum = density(&mix, z * z, part);
        double kept = 0.0;
        for (size_t j = 0; j < NORMALS; j++)
            kept += part[j] / sum * mix.variance[j] / (1.0 + mix.variance[j]);
        g[k] *= kept;
    }
    return true;
}

static void shrink_alone(double sd, double *g) {
    const double square = *g * *g, noise = sd * sd;
    *g *= square > noise ? 1.0 - noise / square : 0.0;
}

double bb_search_freedom(size_t d, size_t outputs) {
    return (double)d - (outputs > 1 ? (double)d / (double)outputs : 0.0);
}

/* The mean of every `outputs' numbers becomes zero. */
static void balance(size_t d, size_t outputs, double *g) {
    for (size_t k = 0; outputs > 1 && k < d; k += outputs) {
        double mean = 0.0;
        for (size_t c = 0; c < outputs; c++) mean += g[k + c] / (double)outputs;
        for (size_t c = 0; c < outputs; c++) g[k + c] -= mean;
    }
}

/* Most tasks lie behind the way that the search has come last where their answers go back
 * along it by this much, and by a deviation of the noise; far before it where they go on by
 * that much. Steps that are shorter than at first become longer where answers go on at all,
 * others where they still do after these rounds. */
static const double behind = 0.4, ahead = 0.5, on = 0.1, first_rounds = 4.0;
/* Likewise where they go this way and hardly any other (a part of their square, so many
 * deviations out of the noise) and nearly as far as those before: the only column that is
 * left has too wide a range, or changes little, and of few rows' answers it has a small part
 * for long. */
static const double one_way = 0.8, clear = 4.0, steady = 0.97;
/* What becomes of the pace, and how much of the last step is taken back. */
static const double slower = 0.5, faster = 1.5, back = 0.5;

static bool is_too_slow(double pace, double onward, bool is_steady, double rounds) {
    if (pace < 1.0) return onward > on;
    return rounds >= first_rounds && (onward > ahead || is_steady);
}

/* How long a centre is depends on ranges, which may be too wide by far. By signs of the
 * answers, as in resilient propagation (Riedmiller and Braun 1993), but with one pace for all
 * coordinates: each by itself is mostly noise. */
static void keep_pace(const bb_search *at, const double *answer, size_t d, double sd,
                      double rounds) {
    const double length = bb_norm(d, at->velocity), before = at->pace[1];
    if (*at->pace == 0.0) *at->pace = 1.0;
    if (length == 0.0) return;
    const double onward = bb_dot(d, answer, at->velocity) / length;
    const double square = bb_dot(d, answer, answer) - (double)d * sd * sd;
    const bool is_steady = onward > clear * sd && onward > steady * before &&
                           onward * onward > one_way * square;
    at->pace[1] = onward;
    if (onward < -behind - sd) {
        bb_axpy(d, -back, at->velocity, at->centre);
        bb_scale(d, 0.0, at->velocity);
        *at->pace *= slower;
    } else if (is_too_slow(*at->pace, onward, is_steady, rounds)) {
        *at->pace *= faster;
    }
}

double bb_search_move(const bb_search *at, const bb_release *release, size_t d,
                      bool apart, size_t outputs, double tasks, double step,
                      double momentum, double *work) {
    const double before = release->round - 1.0;
    const double left = bb_search_freedom(d, outputs) / (double)d;
    const double sd = release->noise[0] / tasks * sqrt(left); /* of each number */
    const double kept = fmin(momentum, before / (before + 3.0));
    double *g = work;
    for (size_t k = 0; k < d; k++) g[k] = release->value[0][k] / tasks;
    balance(d, outputs, g);
    bb_axpy(d, 1.0, g, at->sum);
    keep_pace(at, g, d, sd, before);
    const double length = bb_norm(d, at->sum);
    const size_t alike = d - apart;
    if (!shrink_each(alike, sd, g)) shrink_alike(alike, sd, g);
    if (apart) shrink_alone(sd, &g[d - 1]);
    const double norm = bb_norm(d, g);
    if (norm > 1.0) bb_scale(d, 1.0 / norm, g);
    for (size_t k = 0; k < d; k++) {
        at->velocity[k] = kept * at->velocity[k] + *at->pace * step * g[k];
        at->centre[k] += at->velocity[k];
    }
    return length * length;
}
