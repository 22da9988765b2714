#include "learners/newton_eight.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* newton.c has the same. */
static const double negligible = 1e-17;
enum { MOST_STEPS = 60, LINE = 8 /* doubles in a line of the cache */ };

size_t bb_newton_eight_work(size_t n) {
    return (n + 16) * n * BB_EIGHT + LINE;
}

static bb_eight_place place_at(double *at, size_t vector) {
    return (bb_eight_place){
        .p = at, .slope = at + vector, .curvature = at + 2 * vector};
}

bb_eight bb_newton_eight_open(size_t n, double *work) {
    const size_t vector = n * BB_EIGHT, past = (uintptr_t)work / sizeof *work % LINE;
    bb_eight e = {.n = n, .a = work + (past ? LINE - past : 0)};
    e.step = e.a + vector;
    e.change = e.step + vector;
    e.here = place_at(e.change + vector, vector);
    e.there = place_at(e.here.curvature + vector, vector);
    e.room = e.there.curvature + vector;
    memset(e.a, 0, vector * sizeof *e.a);
    return e;
}

/* How far the eight have come. */
typedef struct progress {
    bool done[BB_EIGHT];
    double objective[BB_EIGHT];
    double before[BB_EIGHT]; /* the last decrement near the minimum */
    double t[BB_EIGHT];      /* of the step; 0 where none is left */
} progress;

static double square_at(const bb_eight *e, size_t l, double t) {
    return e->square[l] + t * (2 * e->cross[l] + t * e->step_square[l]);
}

/* What newton.c does with a direction. False: no numbers. */
static bool judge(const bb_eight *e, progress *at, double *value, double *log_det,
                  bool *search) {
    *search = false;
    for (size_t l = 0; l < BB_EIGHT; l++) {
        at->t[l] = 0;
        if (at->done[l]) continue;
        const double decrement = e->decrement[l];
        const double objective = e->here.loss[l] + 0.5 * e->lambda[l] * e->square[l];
        if (!(e->pivot[l] > 0 && isfinite(decrement + objective + e->log_det[l])))
            return false;
        const bool near = decrement <= 1e-10 * objective;
        const bool still = decrement <= 1e-30 * objective + 1e-40 ||
                           (near && decrement > 0.25 * at->before[l]);
        at->done[l] = still || decrement <= negligible * objective;
        at->before[l] = near ? decrement : INFINITY;
        at->objective[l] = objective;
        at->t[l] = still ? 0 : 1;
        *search |= !near;
        if (!at->done[l]) continue;
        value[l] = objective;
        log_det[l] = e->log_det[l];
    }
    return true;
}

/* Halves steps that do not descend enough (Armijo). False: no step does. */
static bool shorten(bb_eight *e, progress *at) {
    for (int round = 0; round < 40; round++) {
        bool enough = true;
        for (size_t l = 0; l < BB_EIGHT; l++) {
            const double t = at->t[l], value = at->objective[l];
            if (t == 0 || isfinite(at->before[l])) continue; /* full steps near it */
            const double next =
                e->there.loss[l] + 0.5 * e->lambda[l] * square_at(e, l, t);
            if (next <= value - 1e-4 * t * e->decrement[l]) continue;
            at->t[l] *= 0.5;
            enough = false;
        }
        if (enough) return true;
        bb_eight_look(e, at->t);
    }
    return false;
}

static void arrive(bb_eight *e, const progress *at) {
    const bb_eight_place left = e->here;
    for (size_t j = 0; j < e->n; j++)
        for (size_t l = 0; l < BB_EIGHT; l++)
            e->a[j * BB_EIGHT + l] += at->t[l] * e->step[j * BB_EIGHT + l];
    e->here = e->there;
    e->there = left;
}

static bool all_done(const progress *at) {
    bool all = true;
    for (size_t l = 0; l < BB_EIGHT; l++) all &= at->done[l];
    return all;
}

bool bb_newton_eight(bb_eight *e, double *value, double *log_det) {
    static const double nowhere[BB_EIGHT];
    progress at = {0};
    bool search;
    for (size_t l = 0; l < BB_EIGHT; l++) at.before[l] = INFINITY;
    memset(e->change, 0, e->n * BB_EIGHT * sizeof *e->change);
    memset(e->step, 0, e->n * BB_EIGHT * sizeof *e->step);
    bb_eight_predict(e);
    bb_eight_look(e, nowhere);
    arrive(e, &at);
    for (int round = 0; round < MOST_STEPS; round++) {
        bb_eight_direction(e);
        if (!judge(e, &at, value, log_det, &search)) return false;
        const bool last = all_done(&at);
        if (!last) bb_eight_look(e, at.t);
        if (search && !shorten(e, &at)) return false;
        arrive(e, &at);
        if (last) return true;
    }
    return false;
}
