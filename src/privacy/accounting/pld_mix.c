/* Mixtures of two lists of losses. */
#include "privacy/accounting/pld_discrete.h"

#include <math.h>

static void put(bb_discrete_pld *out, double ratio, double mass) {
    out->ratio[out->count] = ratio;
    out->mass[out->count++] = mass;
}

/* A share of b's atoms among those of `out`, from k on, as far as these reach: each to
 * the two next to it, so that its masses stay what they are. Returns the first after. */
static size_t split(bb_discrete_pld *out, size_t k, const bb_discrete_pld *b, size_t j,
                    double share) {
    const double *at = out->ratio;
    for (; j < b->count && b->ratio[j] >= at[out->count - 1]; j++) {
        const double mass = share * b->mass[j];
        while (at[k + 1] > b->ratio[j]) k++;
        const double high = at[k], low = at[k + 1];
        const double part =
            high > low ? (high - b->ratio[j]) / (high - low) * (1.0 + 0x1p-50) : 1.0;
        const double down = mass * fmin(1.0, part);
        out->mass[k] += mass - down;
        out->mass[k + 1] += down;
    }
    return j;
}

static void mix_above(bb_discrete_pld *out, const bb_discrete_pld *a,
                      const bb_discrete_pld *b, double share) {
    const bool far = a->ratio[a->count - 1] == 0.0;
    double infinite = far ? (1.0 - share) * a->mass[a->count - 1] : 0.0;
    size_t j = 0;
    for (; j < b->count && b->ratio[j] > a->ratio[0]; j++)
        put(out, b->ratio[j], share * b->mass[j]);
    const size_t first = out->count;
    for (size_t i = 0; i < a->count - far; i++)
        put(out, a->ratio[i], (1.0 - share) * a->mass[i]);
    for (j = split(out, first, b, j, share); j < b->count; j++) {
        if (b->ratio[j] > 0.0)
            put(out, b->ratio[j], share * b->mass[j]);
        else
            infinite += share * b->mass[j];
    }
    if (infinite > 0.0) put(out, 0.0, infinite);
}

/* Each atom of a and those of b that are nearest to it become one. */
static void mix_below(bb_discrete_pld *out, const bb_discrete_pld *a,
                      const bb_discrete_pld *b, double share) {
    size_t j = 0;
    for (; j < b->count && b->ratio[j] > a->ratio[0]; j++)
        put(out, b->ratio[j], share * b->mass[j]);
    for (size_t i = 0; i < a->count; i++) {
        const double at = a->ratio[i];
        const double end = i + 1 < a->count ? (at + a->ratio[i + 1]) / 2.0 : at;
        double mass = (1.0 - share) * a->mass[i], moved = 0.0;
        for (; j < b->count && b->ratio[j] >= end; j++) {
            mass += share * b->mass[j];
            moved += share * b->mass[j] * (b->ratio[j] - at);
        }
        if (mass > 0.0)
            put(out, (at + moved / mass) * (1.0 + BB_DISCRETE_PLD_SLACK), mass);
    }
    for (; j < b->count; j++) put(out, b->ratio[j], share * b->mass[j]);
}

/* As they are. */
static void unite(bb_discrete_pld *out, const bb_discrete_pld *a,
                  const bb_discrete_pld *b, double share) {
    size_t i = 0, j = 0;
    while (i < a->count || j < b->count) {
        if (j == b->count || (i < a->count && a->ratio[i] >= b->ratio[j])) {
            put(out, a->ratio[i], (1.0 - share) * a->mass[i]);
            i++;
        } else {
            put(out, b->ratio[j], share * b->mass[j]);
            j++;
        }
    }
}

bool bb_discrete_pld_mix(bb_discrete_pld *out, bb_bound bound, const bb_discrete_pld *a,
                         const bb_discrete_pld *b, double share) {
    if (a->count + b->count > BB_DISCRETE_PLD_MOST) return false;
    out->count = 0;
    out->error = fmax(a->error, b->error) + 0x1p-50 + 0x1p-52 * (double)b->count;
    out->rounds = a->rounds;
    if (a->count < 3)
        unite(out, a, b, share);
    else if (bound == BB_ABOVE)
        mix_above(out, a, b, share);
    else
        mix_below(out, a, b, share);
    return true;
}
