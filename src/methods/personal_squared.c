#include "methods/personal_squared.h"

#include "learners/rows.h"
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"
#include "methods/personal_average.h"
#include "methods/ridge_sides.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Beside the summed loss, over how far rows are from their mean: half decades, since an
 * average over whole ones costs some percent; sixteen are two vectors. */
enum { PENALTIES = 16, SIDES = 2 };
static const double first_decade = -5.0, decade_step = 0.5;
static const double penalty[PENALTIES] = {
    1e-5, 3.1622776601683795e-5, 1e-4, 3.1622776601683794e-4,
    1e-3, 3.1622776601683794e-3, 1e-2, 3.1622776601683794e-2,
    1e-1, 3.1622776601683794e-1, 1.0,  3.1622776601683795,
    10.0, 31.622776601683793,    1e2,  316.22776601683796};
/* How rows are looked at: as they are, the constant freer, the centre's direction freer, and
 * under what is told, as it is and more sharply. */
enum { PLAIN, FREED, ALONG, TOLD, TWICE, FOURTH, KINDS };
/* The free length along a centre is tried up to so many features. */
enum { MOST_ALONG = 1000 };
/* The variance of a row's target around the model has an inverse gamma law worth one
 * row, around the variance of the targets times these. */
static const double part[] = {1.0, 0.1, 0.01, 1e-3};
enum { PARTS = sizeof part / sizeof *part };
static const double root_part[PARTS] = {1.0, 0.31622776601683794, 0.1,
                                        0.031622776601683791};
/* How much freer than the other weights the constant, or the centre's length, may be: a
 * centre that was averaged from shortened models is too short. */
static const double freedom = 10.0;
/* Beforehand: log10 of the penalty of models alone; the odds of a centre, and the log odds of
 * a freer constant. */
static const double usual = -1.3, spread = 1.0, centre_odds = 2.0, free_log_odds = -1.0;
/* What nobody says of a centre here: how sure it is. */
static const double usual_sure = 0.5;

bb_personal_public bb_personal_known(const bb_public *pub) {
    return (bb_personal_public){.constant = pub->constant, .unranged = pub->unranged};
}

static double target_variance(const bb_local *local) {
    double mean = 0.0, square = 0.0;
    for (size_t j = 0; j < local->n; j++) mean += local->y[j] / (double)local->n;
    for (size_t j = 0; j < local->n; j++)
        square += (local->y[j] - mean) * (local->y[j] - mean);
    return square / (double)local->n;
}

static double decade(size_t l) {
    return first_decade + decade_step * (double)l;
}

/* Which penalties: all, or those that tasks vote on. */
typedef struct grid {
    size_t first, stride, count;
} grid;

static const grid all = {0, 1, PENALTIES};

/* own (count) <- the penalties in units of these rows. sum: d. */
static void scale_penalties(const bb_local *local, const bb_personal_public *known,
                            const grid *g, double *sum, double *own) {
    const double size = bb_personal_size(local, known->constant, sum);
    for (size_t l = 0; l < g->count; l++)
        own[l] = local->weight * penalty[g->first + l * g->stride] * size;
}

/* The group of mp-mixed that has the same level. */
static size_t group_of(int kind, int side) {
    bb_mixed_kind same = kind < TOLD ? BB_MIXED_PLAIN : BB_MIXED_ONCE;
    if (kind == FREED) same = BB_MIXED_FREE;
    return 2 * (size_t)same + (side ? 0 : 1);
}

/* By which level the target is likely to have, as in mp-mixed; not where there are ranges and no
 * centre, only directions or votes, which tell it better. */
static double log_level(const bb_local *local, const bb_personal_public *known,
                        int kind, int side) {
    const size_t group = group_of(kind, side);
    if (!known->unranged && !known->centre) return 0.0;
    bb_mixed_board mixed = {.constant = known->constant, .unranged = known->unranged};
    const double level = bb_mixed_log_level(&mixed, group);
    mixed.sure = usual_sure;
    return level + bb_mixed_log_far(&mixed, local, group);
}

/* What speaks for a penalty before rows do. */
static double log_prior(int kind, int side, size_t l) {
    const double far = (decade(l) - usual) / spread;
    return (kind == FREED ? free_log_odds : 0.0) +
           (side ? log(centre_odds) : -0.5 * far * far);
}

/* x <- x^(twice / 2), for x in [0, 1]. */
static void to_power(size_t count, size_t twice, double *x) {
    double square[PENALTIES * PARTS];
    memcpy(square, x, count * sizeof *x);
    for (size_t c = 0; c < count; c++) x[c] = twice % 2 ? sqrt(square[c]) : 1.0;
    for (size_t left = twice / 2; left; left /= 2) {
        for (size_t c = 0; left % 2 && c < count; c++) x[c] *= square[c];
        for (size_t c = 0; c < count; c++) square[c] *= square[c];
    }
}

/* score (count) <- log evidence of the penalties, the noise's variance out of it: the
 * average over the parts p of sqrt(p) (rest + p variance)^-((n + 1)/2), of which the least
 * variance, the last one, stands apart. */
static void weigh(const bb_local *local, double variance, size_t count,
                  const double *log_det, const double *least, double *score) {
    const double rows = (double)local->n;
    const size_t twice = local->n - local->intercept + 1; /* one row is their mean */
    double share[PENALTIES * PARTS], sum[PENALTIES];
    for (size_t l = 0; l < count; l++) {
        const double rest = least[l] > 0.0 ? least[l] / local->weight : 0.0;
        const double lowest = rest + variance * part[PARTS - 1];
        for (size_t k = 0; k < PARTS; k++)
            share[k * count + l] = lowest / (rest + variance * part[k]);
        score[l] = lowest / (rows * variance);
    }
    to_power(count * PARTS, twice, share);
    for (size_t l = 0; l < count; l++) {
        sum[l] = 0.0;
        for (size_t k = 0; k < PARTS; k++)
            sum[l] += root_part[k] * share[k * count + l];
    }
    bb_log(count, sum);
    bb_log(count, score);
    for (size_t l = 0; l < count; l++)
        score[l] = sum[l] - 0.5 * (double)twice * score[l] - 0.5 * log_det[l];
}

/* Penalties that tasks vote on: every second one from this on. */
enum { FIRST = 6, STRIDE = 2, STEPS = 5 };
static const grid voted_on = {FIRST, STRIDE, STEPS};
_Static_assert(KINDS *SIDES *STEPS == BB_PERSONAL_CELLS, "cells of the vote");

static size_t cell_of(int kind, int side) {
    return ((size_t)kind * SIDES + (size_t)side) * STEPS;
}

/* Log odds of penalty l by those of the penalties beside it that were voted on. */
static double voted(const double *odds, size_t l) {
    if (l <= FIRST) return odds[0];
    if (l >= FIRST + STRIDE * (STEPS - 1)) return odds[STEPS - 1];
    const size_t below = (l - FIRST) / STRIDE;
    const double above = (double)(l - FIRST - below * STRIDE) / STRIDE;
    return odds[below] + above * (odds[below + 1] - odds[below]);
}

/* The candidates: [kind][side][penalty]. */
typedef struct scores {
    double at[KINDS][SIDES][PENALTIES];
} scores;

static bool has(size_t d, const bb_personal_public *known, int kind) {
    if (kind == PLAIN) return true;
    if (kind == FREED) return known->constant;
    if (kind == ALONG)
        return known->centre && d <= MOST_ALONG && bb_norm(d, known->centre) > 0.0;
    return known->told != NULL;
}

static int sides(const bb_personal_public *known) {
    return known->centre ? SIDES : 1;
}

/* The paths of all candidates: that of PLAIN serves FREED and ALONG, too. */
typedef struct fits {
    bb_ridge_path path[KINDS];
    bb_ridge_sides sides;
    size_t count;
    double own[PENALTIES]; /* count, in units of these rows */
} fits;

enum { PATHS = KINDS - ALONG };

static size_t path_room(const bb_local *local) {
    return local->d + bb_ridge_path_length(local);
}

size_t bb_personal_squared_work(const bb_local *local) {
    const size_t alone = bb_mixed_alone_work(local);
    const size_t known = PATHS * path_room(local) + 2 * local->d +
                         bb_ridge_sides_length(local, PENALTIES);
    return alone > known ? alone : known;
}

/* root <- to the power 2 or 4, of the same trace. */
static void sharpen(size_t d, int kind, const double *told, double *root) {
    double trace = 0.0;
    for (size_t k = 0; k < d; k++) {
        root[k] = told[k] * told[k];
        if (kind == FOURTH) root[k] *= root[k];
        trace += root[k] * root[k];
    }
    bb_scale(d, sqrt((double)d / trace), root);
}

/* path: that of PLAIN is the first; room: path_room numbers. */
static bb_status open_path(const bb_local *local, const bb_personal_public *known,
                           int kind, double *room, bb_ridge_path *path) {
    bb_covariance covariance = {NULL, NULL};
    if (kind >= TOLD) covariance = *known->told;
    if (kind > TOLD) {
        sharpen(local->d, kind, known->told->root, room);
        covariance.root = room;
    }
    return bb_ridge_path_open_from(&path[kind], kind > TOLD ? &path[TOLD] : NULL, local,
                                   &covariance, room + local->d);
}

/* The freer directions; room: 2 d, then that of the sides. */
static void open_sides(const bb_local *local, const bb_personal_public *known, fits *f,
                       double *room) {
    const size_t d = local->d;
    const double *direction[BB_RIDGE_DIRECTIONS] = {NULL, NULL};
    double *constant = room, *along = constant + d;
    if (has(d, known, FREED)) {
        memset(constant, 0, d * sizeof *constant);
        constant[d - 1] = 1.0;
        direction[FREED - 1] = constant;
    }
    if (has(d, known, ALONG)) {
        memcpy(along, known->centre, d * sizeof *along);
        bb_scale(d, 1.0 / bb_norm(d, along), along);
        direction[ALONG - 1] = along;
    }
    bb_ridge_sides_open(&f->sides, &f->path[PLAIN], known->centre, direction,
                        freedom * freedom - 1.0, f->count, f->own, along + d);
}

static bb_status open_fits(const bb_local *local, const bb_personal_public *known,
                           const grid *g, fits *f, double *work) {
    double *next = work + 2 * local->d + bb_ridge_sides_length(local, g->count);
    f->count = g->count;
    scale_penalties(local, known, g, work, f->own);
    for (int kind = 0; kind < KINDS; kind++) {
        if (kind == FREED || kind == ALONG || !has(local->d, known, kind)) continue;
        const bb_status status = open_path(local, known, kind, next, f->path);
        if (status) return status;
        next += path_room(local);
    }
    open_sides(local, known, f, work);
    return BB_OK;
}

/* Around the centre, or 0. */
static bb_ridge_path *path_around(fits *f, const bb_personal_public *known, int kind,
                                  int side) {
    bb_ridge_path_centre(&f->path[kind], side ? known->centre : NULL);
    return &f->path[kind];
}

/* Evidences alone. */
static void weigh_all(const bb_local *local, const bb_personal_public *known, fits *f,
                      scores *s) {
    const double variance = fmax(target_variance(local), 1e-12);
    double log_det[PENALTIES], least[PENALTIES];
    for (int kind = 0; kind < KINDS; kind++)
        for (int side = 0; has(local->d, known, kind) && side < sides(known); side++) {
            if (kind < TOLD)
                bb_ridge_sides_weigh(&f->sides, (size_t)kind, side, log_det, least);
            else
                bb_ridge_path_weigh(path_around(f, known, kind, side), f->count, f->own,
                                    log_det, least);
            weigh(local, variance, f->count, log_det, least, s->at[kind][side]);
        }
}

/* What is believed beforehand, and what tasks have voted; the most that there is. */
static double add_odds(const bb_local *local, const bb_personal_public *known,
                       scores *s) {
    double most = -INFINITY;
    for (int kind = 0; kind < KINDS; kind++)
        for (int side = 0; has(local->d, known, kind) && side < sides(known); side++) {
            const double level = log_level(local, known, kind, side);
            for (size_t l = 0; l < PENALTIES; l++) {
                double *score = &s->at[kind][side][l];
                *score += level + log_prior(kind, side, l);
                if (known->odds) *score += voted(known->odds + cell_of(kind, side), l);
                most = *score > most ? *score : most;
            }
        }
    return most;
}

void bb_personal_squared_cells(size_t d, const bb_personal_public *known, bool *is) {
    for (int kind = 0; kind < KINDS; kind++)
        for (int side = 0; side < SIDES; side++)
            for (size_t k = 0; k < STEPS; k++)
                is[cell_of(kind, side) + k] =
                    has(d, known, kind) && side < sides(known);
}

bb_status bb_personal_squared_evidence(const bb_local *local,
                                       const bb_personal_public *known,
                                       double *evidence, double *work) {
    bool is[BB_PERSONAL_CELLS];
    fits f;
    scores s;
    bb_personal_squared_cells(local->d, known, is);
    const bb_status status = open_fits(local, known, &voted_on, &f, work);
    if (status) return status;
    weigh_all(local, known, &f, &s);
    for (int kind = 0; kind < KINDS; kind++)
        for (int side = 0; side < SIDES; side++)
            for (size_t k = 0; k < STEPS; k++) {
                const size_t cell = cell_of(kind, side) + k;
                evidence[cell] = is[cell] ? s.at[kind][side][k] : -INFINITY;
            }
    return BB_OK;
}

/* The sum of share (minimum - centre) over candidates of one kind around one centre. */
static void keep(fits *f, const bb_personal_public *known, int kind, int side,
                 const double *share) {
    if (kind < TOLD)
        bb_ridge_sides_keep(&f->sides, (size_t)kind, side, share);
    else
        bb_ridge_path_keep(path_around(f, known, kind, side), PENALTIES, f->own, share);
}

bb_status bb_personal_squared(const bb_local *local, const bb_personal_public *known,
                              double *model, double *work) {
    const size_t d = local->d;
    double total = 0.0;
    fits f;
    scores s;
    if (known->constant && !known->centre && !known->told && !known->odds)
        return bb_mixed_alone(local, !known->unranged, model, work);
    const bb_status status = open_fits(local, known, &all, &f, work);
    if (status) return status;
    weigh_all(local, known, &f, &s);
    const double most = add_odds(local, known, &s);
    memset(model, 0, d * sizeof *model);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int side = 0; has(d, known, kind) && side < sides(known); side++) {
            double *share = s.at[kind][side];
            for (size_t l = 0; l < PENALTIES; l++) share[l] -= most;
            const double mass = bb_exp(PENALTIES, share);
            keep(&f, known, kind, side, share);
            if (side) bb_axpy(d, mass, known->centre, model);
            total += mass;
        }
        if (kind >= TOLD && has(d, known, kind))
            bb_ridge_path_add(&f.path[kind], model);
    }
    bb_ridge_sides_add(&f.sides, model);
    if (!(total > 0.0)) return bb_fail(BB_ENUMERIC, "a fit at home overflows");
    bb_scale(d, 1.0 / total, model);
    return BB_OK;
}
