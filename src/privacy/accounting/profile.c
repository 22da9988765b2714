#include "privacy/accounting/profile.h"

#include "privacy/accounting/chi_square.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#define SQRT_HALF 0.70710678118654752440
/* From here on e^epsilon may overflow. */
#define FAR 700.0
/* and from here on e^epsilon - 1 is e^epsilon */
#define LARGE 100.0

bool bb_profile_knows(const bb_event *event, bb_adjacency adjacency) {
    if (event->kind == BB_EVENT_WISHART)
        return event->rounds <= 1.0 && adjacency == BB_ADD_REMOVE;
    if (event->kind == BB_EVENT_SELECTION) return event->rounds <= 1.0;
    if (event->kind != BB_EVENT_ROUND) return false;
    return event->rounds <= 1.0 || event->rate == 1.0 || event->rate == 0.0 ||
           event->sampling == BB_SAMPLING_FIXED_VISIBLE;
}

static double upper_tail(double x) {
    return 0.5 * erfc(x * SQRT_HALF);
}

/* q delta_mu(log(1 + (e^epsilon - 1) / q)) */
static double amplified(double q, double mu, double epsilon) {
    const double inner = epsilon > FAR ? epsilon - log(q) : log1p(expm1(epsilon) / q);
    return q * bb_gdp_delta(mu, inner * (1.0 - 0x1p-50)) * (1.0 + 0x1p-50);
}

/* e^epsilon P(t > x), of whatever size epsilon is: to 2^-50, or 2^-42 epsilon where that
 * is large and the product not too small to count. */
static double enlarged_tail(double epsilon, double x) {
    if (epsilon > LARGE) return exp(epsilon + bb_log_normal_cdf(-x));
    return exp(epsilon) * upper_tail(x);
}

/* P(t > x) - e^epsilon Q(t > x) at its largest, where the likelihood ratio is
 * e^epsilon. *size: of the numbers in it, whose rounding errors it has. */
static double mirrored(double q, double mu, double epsilon, double *size) {
    double low = 0.0, high = epsilon / mu + mu + 40.0;
    const double half = mu * mu / 2.0;
    for (int k = 0; k < 80; k++) {
        const double t = (low + high) / 2.0;
        const double ahead = mu * t - half, back = -mu * t - half;
        const double p = ahead > 700.0 ? log(q) + ahead : log1p(q * expm1(ahead));
        if (p - log1p(q * expm1(back)) < epsilon)
            low = t;
        else
            high = t;
    }
    const double t = high;
    const double gain = q * upper_tail(t - mu);
    const double centre =
        (1.0 - q) *
        (epsilon > LARGE ? enlarged_tail(epsilon, t) : expm1(epsilon) * upper_tail(t));
    const double loss = q * enlarged_tail(epsilon, t + mu);
    *size = gain + (centre + loss) * fmax(1.0, 16.0 * (epsilon - LARGE));
    return fmax(0.0, gain - centre - loss);
}

/* q [P(t > x - mu) - e^epsilon P(t > x)] - (e^epsilon - 1) (1 - q) P(t > x + back) at
 * its largest; *size as above. */
static double hidden_absent(double q, double mu, double back, double epsilon,
                            double *size) {
    const double half = mu * mu / 2.0, odds = (1.0 - q) / q;
    double low = mu / 2.0, high = (epsilon + log1p(odds)) / mu + mu + 40.0;
    for (int k = 0; k < 100; k++) {
        const double t = (low + high) / 2.0, ahead = mu * t - half;
        const double b = odds * exp(-back * (t + back / 2.0));
        /* the log of P's density over Q's */
        const double loss =
            ahead > FAR ? ahead - log1p(b) : log1p(expm1(ahead) / (1.0 + b));
        if (loss < epsilon)
            low = t;
        else
            high = t;
    }
    const double t = high;
    const double gain = q * upper_tail(t - mu);
    const double loss = q * enlarged_tail(epsilon, t);
    const double other =
        (1.0 - q) * (epsilon > LARGE ? enlarged_tail(epsilon, t + back)
                                     : expm1(epsilon) * upper_tail(t + back));
    *size = gain + (loss + other) * fmax(1.0, 16.0 * (epsilon - LARGE));
    return fmax(0.0, gain - loss - other);
}

/* So many numbers of times a task is picked are summed up in a standard deviation. */
#define A_DEVIATION 256.0

/* Weights of the binomial outwards from its mode, by their ratios, then normalised. */
static double picked(double rounds, double q, double mu, double epsilon) {
    const double mode = floor((rounds + 1.0) * q), odds = q / (1.0 - q);
    double total = 1.0, sum = bb_gdp_delta(sqrt(mode) * mu, epsilon);
    double weight = 1.0;
    for (double k = mode + 1.0; k <= rounds && weight > 1e-60; k += 1.0) {
        weight *= (rounds - k + 1.0) / k * odds;
        total += weight;
        sum += weight * bb_gdp_delta(sqrt(k) * mu, epsilon);
    }
    weight = 1.0;
    for (double k = mode - 1.0; k >= 0.0 && weight > 1e-60; k -= 1.0) {
        weight *= (k + 1.0) / (rounds - k) / odds;
        total += weight;
        sum += weight * bb_gdp_delta(sqrt(k) * mu, epsilon);
    }
    return sum / total + 1e-50;
}

/* (1 + u) log(1 + u) - u, |u| <= 1 */
static double entropy_rest(double u) {
    if (fabs(u) >= 0.1) return (1.0 + u) * log1p(u) - u;
    double power = u * u, sum = 0.0;
    for (int k = 2; k < 18; k++) {
        sum += power / ((double)k * (k - 1));
        power *= -u;
    }
    return sum;
}

/* The binomial from its mean on, in blocks of k in one direction. Stirling's formula
 * for its weights, with what a block's slope adds to B times that of its middle, is
 * good to BLOCK_ERROR. *up and *down: the sums with delta at either end. */
#define BLOCK_ERROR 1e-5
#define FAR_OUT     140.0 /* a Chernoff bound of e^-140 */
static void add_blocks(const bb_event *event, double mu, double epsilon, double block,
                       double *total, double *up, double *down) {
    const double mean = event->rounds * event->rate, rest = event->rounds - mean;
    double before = bb_gdp_delta(sqrt(round(mean)) * mu, epsilon);
    for (double k = round(mean);; k += block) {
        const double from = k - mean + (block - 1.0) / 2.0;
        const double u = from / mean, v = -from / rest;
        const double excess = mean * entropy_rest(u) + rest * entropy_rest(v);
        if (excess > FAR_OUT) return;
        const double slope = (log1p(v) - log1p(u)) / 2.0;
        const double lean =
            slope != 0.0 ? sinh(slope * block) / sinh(slope) / block : 1.0;
        const double weight = exp(-excess) * lean / sqrt((1.0 + u) * (1.0 + v));
        const double after = bb_gdp_delta(sqrt(k + block) * mu, epsilon);
        *total += weight;
        *up += weight * fmax(before, after);
        *down += weight * fmin(before, after);
        before = after;
    }
}

/* Where there are so many k that blocks of them are nearly one; *size: half of what
 * lies between the bounds. */
static double picked_in_blocks(const bb_event *event, double mu, double epsilon,
                               double block, double *size) {
    double total = 0.0, up = 0.0, down = 0.0;
    add_blocks(event, mu, epsilon, block, &total, &up, &down);
    add_blocks(event, mu, epsilon, -block, &total, &up, &down);
    up *= (1.0 + 2.1 * BLOCK_ERROR) / total;
    down *= (1.0 - 2.1 * BLOCK_ERROR) / total;
    *size = (up - down) / 2.0 + 1e-50;
    return (up + down) / 2.0;
}

/* The chi^2 where the task's absence is e^epsilon times likelier than its presence, and
 * what is below. */
static double wishart_absent(double freedom, double ratio, double epsilon,
                             double *beyond) {
    const double odds = expm1((epsilon + ratio / 2.0) / (freedom / 2.0 - 1.0));
    double below, above;
    *beyond = ratio / odds;
    bb_chi_square(freedom, ratio + *beyond, &below, &above);
    return below;
}

/* Between the mass of infinite loss and P of the largest set, where e^epsilon may
 * overflow. */
static void wishart_far(double freedom, double ratio, double epsilon, double *upper,
                        double *lower) {
    double beyond, above;
    *upper = wishart_absent(freedom, ratio, epsilon, &beyond);
    bb_chi_square(freedom, ratio, lower, &above);
    if (epsilon < ratio / 2.0) *upper = 1.0; /* with the task */
}

/* The larger of both directions; *size as above. */
static double wishart(double freedom, double ratio, double epsilon, double *size) {
    const double power = freedom / 2.0 - 1.0, factor = exp(epsilon);
    double p, q, other, beyond, with = 0.0, without;
    p = wishart_absent(freedom, ratio, epsilon, &beyond);
    bb_chi_square(freedom, beyond, &q, &other);
    without = p - (q > 0.0 ? factor * q : 0.0);
    *size = p + (q > 0.0 ? factor * q : 0.0);
    if (epsilon < ratio / 2.0) { /* with the task: from there on */
        const double from = ratio / -expm1((epsilon - ratio / 2.0) / power);
        bb_chi_square(freedom, from - ratio, &other, &p);
        bb_chi_square(freedom, from, &other, &q);
        with = p - factor * q;
        *size = fmax(*size, p + factor * q);
    }
    return fmax(0.0, fmax(with, without));
}

/* (e^(e/2) - e^(x/2))^2 / (e^e - 1) (docs/privacy.md) */
static double chosen(double e, double x) {
    return x < e ? pow(expm1((x - e) / 2.0), 2.0) / -expm1(-e) : 0.0;
}

/* delta, and in *size its rounding error beside a relative one. */
static double round_delta(const bb_event *event, bb_adjacency adjacency, double epsilon,
                          double *size) {
    const double mu = bb_event_mu(event, adjacency), q = event->rate;
    double delta;
    if (event->rounds == 0.0) return 0.0;
    if (event->kind == BB_EVENT_SELECTION) return chosen(event->epsilon, epsilon);
    if (event->kind == BB_EVENT_WISHART) {
        delta = wishart(event->freedom, event->ratio, epsilon, size);
        *size *= 0x1p-30;
        return delta;
    }
    if (q == 0.0 || mu == 0.0) return 0.0;
    if (q == 1.0)
        return bb_gdp_delta(sqrt(event->rounds) * (1.0 + 0x1p-51) * mu, epsilon);
    if (event->sampling == BB_SAMPLING_FIXED_VISIBLE) {
        const double block = floor(sqrt(event->rounds * q * (1.0 - q)) / A_DEVIATION);
        return block > 1.0 ? picked_in_blocks(event, mu, epsilon, block, size)
                           : picked(event->rounds, q, mu, epsilon);
    }
    const bool hidden = event->sampling == BB_SAMPLING_FIXED_HIDDEN;
    if (hidden == (adjacency == BB_REPLACE_ONE)) return amplified(q, mu, epsilon);
    delta = hidden ? hidden_absent(q, mu, bb_event_back(event), epsilon, size)
                   : mirrored(q, event->absent, epsilon, size);
    *size *= 0x1p-46;
    return delta;
}

void bb_profile(const bb_event *event, bb_adjacency adjacency, double epsilon,
                double *upper, double *lower) {
    assert(bb_profile_knows(event, adjacency) && epsilon >= 0.0);
    double size = 0.0;
    if (event->kind == BB_EVENT_WISHART && event->rounds > 0.0 && epsilon > FAR) {
        wishart_far(event->freedom, event->ratio, epsilon, upper, lower);
        *upper = fmin(1.0, *upper * (1.0 + 0x1p-30));
        *lower *= 1.0 - 0x1p-30;
        return;
    }
    const double delta = round_delta(event, adjacency, epsilon, &size);
    const double error = size + delta * 0x1p-34;
    *upper = fmin(1.0, delta + error + (delta > 0.0 ? DBL_MIN : 0.0));
    *lower = fmax(0.0, delta - error);
}

void bb_profile_epsilon(const bb_event *event, bb_adjacency adjacency, double delta,
                        double *upper, double *lower) {
    double low = 0.0, high = 1.0, up, down;
    bb_profile(event, adjacency, 0.0, &up, &down);
    *upper = *lower = 0.0;
    if (up <= delta) return;
    for (bb_profile(event, adjacency, high, &up, &down); up > delta && high < 1e300;
         bb_profile(event, adjacency, high, &up, &down))
        high *= 2.0;
    if (up > delta) { /* infinite loss alone has more */
        *upper = *lower = INFINITY;
        return;
    }
    for (int k = 0; k < 100 && high - low > 1e-15 * high; k++) {
        const double x = (low + high) / 2.0;
        bb_profile(event, adjacency, x, &up, &down);
        if (up > delta)
            low = x;
        else
            high = x;
    }
    *upper = high;
    for (double away = 1e-13; away < 1.0; away *= 4.0) {
        *lower = high * (1.0 - away);
        bb_profile(event, adjacency, *lower, &up, &down);
        if (down > delta) return;
    }
    *lower = 0.0;
    return;
}
