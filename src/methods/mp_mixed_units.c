/* Units that all tasks of mp-mixed have in common, where each brings powers of ten of its
 * own: one round finds, for every column and the target, where tasks' largest magnitudes
 * lie, and every task rescales its rows at home. docs/methods/mp-mixed-details.md, "Units" */
#include "linalg/linalg.h"
#include "methods/hope.h"
#include "methods/mp_mixed.h"

#include <math.h>
#include <string.h>

/* Of mu^2: as much as it takes to stand out so far, within these. */
static const double least_share = 0.01, most_share = 0.1, wanted_reach = 16.0;
/* How far what all tasks show must stand out of the noise; a circle has a decade for twice
 * as much as one. */
static const double least_reach = 1.25, reach_of_decade = 2.0;
/* Magnitudes are looked at on a circle of at most so many decades. */
static const double longest = 4.0;
/* A sum this many deviations long is no noise. */
static const double certain = 2.0;
/* A unit is that many decades above what is the tasks' usual largest magnitude. */
static const double above = 0.2;
static const double turn = 6.283185307179586;

/* -- from public sizes -- */

static double share_of(const bb_view *view) {
    const double all = bb_hope_reach(view->pub, view->pub->mu);
    const double root = wanted_reach / all;
    return fmin(fmax(least_share, root * root), most_share);
}

/* How far a magnitude that all tasks share stands out of the noise of the round. */
static double reach_of(const bb_view *view) {
    return bb_hope_reach(view->pub, view->pub->mu * sqrt(share_of(view)));
}

double bb_mixed_units_share(const bb_view *view) {
    const bool is_open = view->pub->own_units && reach_of(view) >= least_reach;
    return is_open ? share_of(view) : 0.0;
}

/* Columns without the constant, and the target behind them. */
static size_t quantities(const bb_view *view) {
    return view->pub->features - view->pub->constant + 1;
}

size_t bb_mixed_units(const bb_view *view) {
    return 2 * quantities(view);
}

/* A circle as long as noise leaves magnitudes their place on it, give or take a twelfth to
 * an eighth of a decade: a short one tells apart tasks that are more than half of
 * it from the rest. */
static double period_of(const bb_view *view) {
    return fmin(fmax(1.0, reach_of(view) / reach_of_decade), longest);
}

/* -- one task -- */

static double largest(const double *x, size_t count, size_t stride) {
    double most = 0.0;
    for (size_t j = 0; j < count; j++) most = fmax(most, fabs(x[j * stride]));
    return most;
}

/* *own <- the decade that the quantity's own unit is; returns the largest magnitude in
 * decades, or NAN where there is none. */
static double decades_of(const bb_local *local, size_t k, bool target, double *own) {
    const size_t n = local->n, d = local->d;
    const double unit = target              ? local->own_unit
                        : local->own_factor ? 1.0 / local->own_factor[k]
                                            : 0.0;
    if (!(unit > 0.0) || !isfinite(unit)) return NAN;
    const double most = target ? largest(local->y, n, 1)
                               : sqrt((double)d) * largest(local->x + k, n, d);
    *own = log10(unit);
    return most > 0.0 ? *own + log10(most) : NAN;
}

void bb_mixed_show_units(const bb_view *view, const bb_local *local, double *vote) {
    const size_t count = quantities(view);
    const double period = period_of(view), length = 1.0 / sqrt((double)count);
    double own = 0.0;
    for (size_t k = 0; k < count; k++) {
        const double at = decades_of(local, k, k + 1 == count, &own);
        if (isnan(at)) continue;
        vote[2 * k] = length * cos(turn * at / period);
        vote[2 * k + 1] = length * sin(turn * at / period);
    }
}

/* Of each quantity where its units are, in decades, and how far apart: a task takes the
 * one next to its own largest magnitude. Where tasks disagree, or noise has the word, they
 * are one decade apart. */
void bb_mixed_take_units(const bb_view *view, const bb_release *release, double *unit) {
    const double period = period_of(view);
    for (size_t k = 0; k < quantities(view); k++) {
        const double *sum = release->value[0] + 2 * k;
        const bool is_clear = bb_norm(2, sum) > certain * release->noise[0];
        unit[2 * k] = atan2(sum[1], sum[0]) * period / turn;
        unit[2 * k + 1] = is_clear ? period : 1.0;
    }
}

/* By what the quantity is multiplied. */
static double scale_of(const double *unit, const bb_local *local, size_t k,
                       bool target) {
    double own = 0.0;
    const double at = decades_of(local, k, target, &own);
    if (isnan(at)) return 1.0;
    const double next = unit[0] + unit[1] * round((at - unit[0]) / unit[1]);
    return pow(10.0, own - next - above);
}

/* -- a task in common units -- */

/* By what its columns are multiplied, and its target. */
size_t bb_mixed_units_state(const bb_view *view) {
    return bb_mixed_units_share(view) > 0.0 ? view->pub->features + 1 : 0;
}

static void find_scales(const bb_view *view, const double *unit, const bb_local *local,
                        double *scale) {
    const size_t d = local->d, columns = quantities(view) - 1;
    scale[d - 1] = 1.0;
    for (size_t k = 0; k < columns; k++)
        scale[k] = scale_of(unit + 2 * k, local, k, false);
    scale[d] = scale_of(unit + 2 * columns, local, columns, true);
}

size_t bb_mixed_units_work(const bb_mixed_board *mixed, const bb_local *local) {
    const size_t n = local->n, d = local->d;
    if (mixed->own_scales == 0) return 0;
    return 2 * d + n + (local->x ? n * d : 0) + (local->gram ? bb_strips_length(d) : 0);
}

/* local <- the same task in other units, with what changes in `at'. Where sums are there
 * and nobody else is looked at (sums_do) it has no rows. */
static void rescale(const double *scale, bool sums_do, bb_local *local, double *at) {
    const size_t n = local->n, d = local->d;
    const double target = scale[d];
    double *xy = at, *y = xy + d, *x = y + n, *gram = x + (local->x ? n * d : 0);
    if (sums_do && local->gram) local->x = NULL;
    for (size_t k = 0; local->xy && k < d; k++)
        xy[k] = scale[k] * target * local->xy[k];
    for (size_t j = 0; j < n; j++) y[j] = target * local->y[j];
    for (size_t j = 0; local->x && j < n; j++)
        for (size_t k = 0; k < d; k++) x[j * d + k] = scale[k] * local->x[j * d + k];
    if (local->gram) bb_strips_scale(d, local->gram, scale, gram);
    local->yy *= target * target;
    local->y = y;
    if (local->xy) local->xy = xy;
    if (local->x) local->x = x;
    if (local->gram) local->gram = gram;
}

bb_task bb_mixed_in_units(const bb_view *view, const bb_mixed_board *mixed,
                          const bb_task *task, bb_local *local) {
    const size_t d = task->local->d;
    double *scale = task->state;
    bb_task own = *task;
    *local = *task->local;
    own.local = local;
    own.work += bb_mixed_units_work(mixed, local);
    if (!mixed->unit) return own;
    if (scale[d] == 0.0) find_scales(view, mixed->unit, local, scale);
    own.model = task->work;
    for (size_t k = 0; k < d; k++) own.model[k] = task->model[k] * scale[d] / scale[k];
    rescale(scale, mixed->phase == BB_MIXED_CENTRE, local, task->work + d);
    return own;
}

void bb_mixed_take_model(const bb_task *own, bb_task *task) {
    const size_t d = task->local->d;
    const double *scale = task->state;
    for (size_t k = 0; own->model != task->model && k < d; k++)
        task->model[k] = own->model[k] * scale[k] / scale[d];
}

void bb_mixed_take_spread(const bb_task *own, const bb_task *task, double *spread) {
    const size_t d = task->local->d;
    const double *scale = task->state;
    double *matrix = spread + BB_MIXED_SPREAD_MATRIX;
    if (own->model == task->model) return;
    const double square = scale[d] * scale[d];
    spread[BB_MIXED_SPREAD_NOISE] /= square;
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b < d; b++)
            matrix[a * d + b] *= scale[a] * scale[b] / square;
}
