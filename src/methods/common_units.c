#include "methods/common_units.h"

#include "linalg/linalg.h"
#include "methods/hope.h"
#include "methods/narrow.h"
#include "methods/personal_units.h"

#include <math.h>
#include <string.h>

/* Of mu^2, each round: as much as it takes to stand out so far, within these. */
static const double least_share = 0.01, most_share = 0.1, wanted_reach = 16.0;
/* How far what all tasks show must stand out of the noise. */
static const double least_reach = 3.0;
/* Deviations are looked at on a circle of so many decades, places on one of units: so many for
 * each reach, and at most. */
static const double decades = 6.0, units_of_reach = 1.6, most_units = 8.0;
/* A sum this many deviations long is no noise. */
static const double certain = 2.0;
/* Of a column's part of what is shown, squared, what says whether its unit is the likely one. */
static const double likely_part = 0.25;
/* Tasks that have only zeros believe it where its log odds against the contrary are more. */
static const double sure = 4.0;
/* A unit is that many decades above a usual deviation. */
static const double above = 0.5;
/* Of deviations that a circle does not tell apart, one within half of it around this is
 * likely: a third, as that of shares, ages and logarithms is, or nearly. */
static const double likely = -0.5;
/* Of the number of columns, what the target's share has more than that of one. */
static const double target_part = 0.25;
static const double turn = 6.283185307179586;

/* -- from public sizes -- */

static double share_of(const bb_view *view) {
    const double all = bb_hope_reach(view->pub, view->pub->mu);
    const double root = wanted_reach / all;
    return fmin(fmax(least_share, root * root), most_share);
}

/* How far what all tasks show alike stands out of the noise of a round. */
static double reach_of(const bb_view *view) {
    return bb_hope_reach(view->pub, view->pub->mu * sqrt(share_of(view)));
}

double bb_units_share(const bb_view *view) {
    if (view->pub->ranged) return bb_narrow_share(view);
    const bool is_open = view->pub->own_units && reach_of(view) >= least_reach;
    return is_open ? share_of(view) : 0.0;
}

uint32_t bb_units_rounds(const bb_view *view) {
    if (!(bb_units_share(view) > 0.0)) return 0;
    return view->pub->constant ? 2 : 1;
}

/* Classes have no unit. */
static bool has_target(const bb_view *view) {
    return view->pub->loss == BB_LOSS_SQUARED;
}

static size_t columns_of(const bb_view *view) {
    return view->pub->features - view->pub->constant;
}

/* Columns without the constant, and the target behind them. */
static size_t quantities(const bb_view *view) {
    return columns_of(view) + has_target(view);
}

/* Pairs, and of units one number more for each column behind them. */
size_t bb_units_length(const bb_view *view, uint32_t rounds) {
    const size_t pairs = 2 * quantities(view);
    if (view->pub->ranged) return rounds * bb_narrow_length(view);
    return rounds * pairs + (rounds ? columns_of(view) : 0);
}

bb_block bb_units_block(const bb_view *view, uint32_t round) {
    if (view->pub->ranged) return bb_narrow_block(view, round);
    const size_t length =
        bb_units_length(view, round + 1) - bb_units_length(view, round);
    return (bb_block){round ? "places" : "units", BB_FORM_VECTOR, length, 1.0, 1.0};
}

bb_units bb_units_read(const bb_view *view, const double *at) {
    const uint32_t rounds = bb_units_rounds(view), done = view->board->releases;
    bb_units units = {.state = bb_units_state(view)};
    if (rounds > 0 && done > 0) units.unit = at;
    if (rounds > 1 && done > 1) units.place = at + bb_units_length(view, 1);
    units.still =
        view->pub->ranged && !(units.place && bb_narrow_is(view, units.place));
    return units;
}

bool bb_units_has(const bb_units *units, size_t k) {
    return units->unit && units->unit[2 * k + 1] > 0.0;
}

/* Of what a circle does not tell apart, what is next to that. */
static double nearest(double found, double circle, double to) {
    return found + circle * round((to - found) / circle);
}

static double units_of(const bb_view *view) {
    return fmin(units_of_reach * reach_of(view), most_units);
}

/* -- one task -- */

/* A column of a task, or its target, in the unit that the task has brought it in. */
typedef struct quantity {
    bool target;
    size_t rows;
    double own;  /* that unit, in decades; NAN: there is none */
    bool zero;   /* all of it */
    bool ranged; /* in that of a public range: nobody need find one out */
    double mean; /* 0 where there is no constant beside it */
    double most; /* the largest magnitude, in decades */
    bool varies;
    double size; /* in decades: the deviation from the mean, or `most' without one */
} quantity;

/* Target: k is the number of columns. */
static quantity look_at(const bb_view *view, const bb_local *local, size_t k) {
    const size_t n = local->n, d = local->d;
    const bool target = has_target(view) && k + 1 == quantities(view);
    quantity q = {.target = target, .rows = n, .own = NAN};
    const double *x = local->y;
    size_t stride = 1;
    double unit = local->own_unit, times = 1.0, most = 0.0, squares = 0.0;
    if (!q.target) {
        if (!local->x || !local->own_factor) return q;
        x = local->x + k;
        q.ranged = local->ranged && local->ranged[k];
        stride = d;
        unit = 1.0 / local->own_factor[k];
        times = sqrt((double)d);
    }
    if (!(unit > 0.0) || !isfinite(unit)) return q;
    for (size_t j = 0; j < n; j++) {
        most = fmax(most, times * fabs(x[j * stride]));
        q.mean += times * x[j * stride] / (double)n;
    }
    if (!view->pub->constant) q.mean = 0.0;
    for (size_t j = 0; j < n; j++) squares += pow(times * x[j * stride] - q.mean, 2.0);
    q.zero = !q.target && !q.ranged && n > 0 && most == 0.0;
    if (!(most > 0.0) || !isfinite(squares)) return q;
    const double free = fmax(1.0, (double)n - view->pub->constant);
    const double deviation = sqrt(squares / free);
    q.own = log10(unit);
    q.most = q.own + log10(most);
    q.varies = bb_more_than_rounding(deviation, q.mean);
    q.size = q.varies ? q.own + log10(deviation) : q.most;
    return q;
}

/* The lengths of a column's part of what a task shows and of the target's: in the unit ball,
 * all together. A wrong unit of the target is wrong for all columns: its variance counts
 * as much as that of the root of their number. */
typedef struct lengths {
    double column, target;
} lengths;

static lengths lengths_of(const bb_view *view, const bb_local *local) {
    double columns = 0.0;
    for (size_t k = 0; local->x && k < columns_of(view); k++)
        if (!local->ranged || !local->ranged[k]) columns += 1.0;
    const double target = pow(fmax(1.0, columns), target_part),
                 all = columns + (local->own_unit > 0.0 ? target : 0.0);
    return (lengths){sqrt(1.0 / all), sqrt(target / all)};
}

static void show_on_circle(double length, double turns, double *vote) {
    vote[0] = length * cos(turn * turns);
    vote[1] = length * sin(turn * turns);
}

/* One row does not tell by how much numbers vary. */
void bb_units_show(const bb_view *view, const bb_local *local, double *vote) {
    if (view->pub->ranged) {
        bb_narrow_show_places(view, local, vote);
        return;
    }
    const lengths l = lengths_of(view, local);
    for (size_t k = 0; k < quantities(view); k++) {
        const quantity q = look_at(view, local, k);
        if (isnan(q.own) || q.ranged) continue;
        const double all = q.target ? l.target : l.column,
                     part = q.target ? 0.0 : likely_part;
        show_on_circle(all * sqrt(1.0 - part), q.size / decades, vote + 2 * k);
        if (q.target) continue;
        const bool is = nearest(q.size, decades, likely) == q.size;
        vote[2 * quantities(view) + k] = (is ? all : -all) * sqrt(part);
    }
}

/* found <- for each quantity what is usual, and how long the circle is; 0 where tasks disagree
 * or noise has the word. */
static void take(const bb_view *view, const bb_release *release, double circle,
                 double *found) {
    for (size_t k = 0; k < quantities(view); k++) {
        const double *sum = release->value[0] + 2 * k;
        const bool is_clear = bb_norm(2, sum) > certain * release->noise[0];
        found[2 * k] = atan2(sum[1], sum[0]) * circle / turn;
        found[2 * k + 1] = is_clear ? circle : 0.0;
    }
}

/* 1 by the variance that noise gives to what is usual for quantity k. */
static double precision_of(const bb_release *release, double circle, size_t k) {
    const double of_angle = bb_norm(2, release->value[0] + 2 * k) / release->noise[0];
    return pow(of_angle * turn / circle, 2.0);
}

/* Columns may be much alike, and what is usual for all of them is then told better than for
 * each: a random effects model (DerSimonian and Laird 1986). around: of what a circle
 * does not tell apart, what is likely. */
static void draw_together(const bb_view *view, const bb_release *release, double circle,
                          double around, double *found) {
    double count = 0.0, all = 0.0, squares = 0.0, mean = 0.0, spread = 0.0;
    if (release->noise[0] == 0.0) return;
    for (size_t k = 0; k < columns_of(view); k++) {
        const double precision = precision_of(release, circle, k);
        if (found[2 * k + 1] == 0.0) continue;
        found[2 * k] = nearest(found[2 * k], circle, around);
        count += 1.0;
        all += precision;
        squares += precision * precision;
        mean += precision * found[2 * k];
    }
    if (count < 2.0) return;
    mean /= all;
    for (size_t k = 0; k < columns_of(view); k++)
        if (found[2 * k + 1] > 0.0)
            spread += precision_of(release, circle, k) * pow(found[2 * k] - mean, 2.0);
    const double between = fmax(0.0, (spread - count + 1.0) / (all - squares / all));
    for (size_t k = 0; k < columns_of(view); k++)
        if (found[2 * k + 1] > 0.0)
            found[2 * k] += (mean - found[2 * k]) /
                            (1.0 + between * precision_of(release, circle, k));
}

void bb_units_take(const bb_view *view, const bb_release *release, double *unit) {
    if (view->pub->ranged) {
        bb_narrow_take_places(view, release, unit);
        return;
    }
    const double *is_likely = release->value[0] + 2 * quantities(view);
    double *is_sure = unit + 2 * quantities(view);
    take(view, release, decades, unit);
    draw_together(view, release, decades, likely, unit);
    for (size_t k = 0; k < columns_of(view); k++) {
        const double told = bb_norm(2, release->value[0] + 2 * k),
                     expected = told * sqrt(likely_part / (1.0 - likely_part));
        is_sure[k] = is_likely[k] > 0.5 * expected && /* or tasks are of two minds */
                     2.0 * is_likely[k] * expected > sure * pow(release->noise[0], 2.0);
    }
}

void bb_units_take_places(const bb_view *view, const bb_release *release,
                          double *place) {
    if (view->pub->ranged) {
        bb_narrow_take_widths(view, release, place);
        return;
    }
    take(view, release, units_of(view), place);
    draw_together(view, release, units_of(view), 0.0, place);
}

/* By what zeros are multiplied, whose only unit is that of all tasks: which may be used where it
 * is the likely one for sure. One that is wrong by a circle would be a slope of any size. */
static double scale_of_zeros(const bb_view *view, const double *unit, size_t k) {
    if (!unit || unit[2 * k + 1] == 0.0 || unit[2 * quantities(view) + k] == 0.0)
        return 0.0;
    return pow(10.0, -nearest(unit[2 * k], unit[2 * k + 1], likely) - above);
}

/* By what the quantity is multiplied. All tasks have the same unit, the likely one, but those
 * whose numbers cannot be in it. To be wrong must do no harm, and few rows are wrong by
 * chance: a column in too small a unit, and a target in too large a one, are a slope that
 * errs by factors. So there a task goes further only where it is off by nearly a whole
 * circle; and a column goes up where both its numbers and what they differ by, which by
 * chance is little, say so. */
static double scale_of(const double *unit, const quantity *q) {
    if (isnan(q->own) || q->ranged || !unit || unit[1] == 0.0) return 1.0;
    const double circle = unit[1], half = 0.5 * circle, whole = circle - above;
    const double size = q->varies || !q->target ? q->size : -INFINITY;
    const double up =
        q->target ? size - whole : fmin(size - 0.5 * half, q->most - half);
    const double down = q->rows > 1 ? q->most + (q->target ? half : whole) : INFINITY;
    double usual = nearest(unit[0], circle, likely);
    if (up > usual)
        usual += circle * ceil((up - usual) / circle);
    else if (down < usual)
        usual -= circle * ceil((usual - down) / circle);
    return pow(10.0, q->own - usual - above);
}

void bb_units_show_places(const bb_view *view, const double *unit,
                          const bb_local *local, double *vote) {
    if (view->pub->ranged) {
        bb_narrow_show_widths(view, unit, local, vote);
        return;
    }
    const lengths l = lengths_of(view, local);
    for (size_t k = 0; k < quantities(view); k++) {
        const quantity q = look_at(view, local, k);
        if (isnan(q.own) || q.ranged) continue;
        show_on_circle(q.target ? l.target : l.column,
                       scale_of(unit + 2 * k, &q) * q.mean / units_of(view),
                       vote + 2 * k);
    }
}

/* What is taken off the quantity, in its unit: of places that the circle does not tell apart
 * the one nearest to the mean. */
static double place_of(const double *place, double mean) {
    if (!place || place[1] == 0.0) return mean;
    return nearest(place[0], place[1], mean);
}

/* -- a task in common units -- */

size_t bb_units_state(const bb_view *view) {
    const bool may_move = view->pub->own_units || bb_narrow_share(view) > 0.0;
    return may_move ? 2 * (view->pub->features + 1) : 0;
}

/* Whether there is anything to be moved: of sparse rows only a target. */
static bool moves(const bb_units *units, const bb_local *local) {
    return units->state && !units->still &&
           (local->x || local->loss == BB_LOSS_SQUARED);
}

/* By what a task's columns are multiplied, and its target behind them; what is taken off
 * them then. Nothing is done to the constant, the last column, if there is one. */
typedef struct move {
    double *scale, *place;
} move;

static move move_of(const bb_task *task) {
    return (move){task->state, task->state + task->local->d + 1};
}

static void find_move(const bb_view *view, const bb_units *units, const bb_local *local,
                      const move *m) {
    const size_t d = local->d, count = quantities(view);
    m->scale[d - 1] = m->scale[d] = 1.0;
    if (view->pub->ranged) {
        bb_narrow_move(view, units->unit, units->place, local, m->scale, m->place);
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const quantity q = look_at(view, local, k);
        const size_t at = q.target ? d : k;
        m->scale[at] = q.zero ? scale_of_zeros(view, units->unit, k)
                              : scale_of(units->unit ? units->unit + 2 * k : NULL, &q);
        m->place[at] = 0.0;
        if (!view->pub->constant || !local->x || (isnan(q.own) && !q.zero)) continue;
        if (q.ranged && units->unit) continue;
        m->place[at] =
            place_of(units->place ? units->place + 2 * k : NULL, m->scale[at] * q.mean);
    }
}

/* The constant's value in a row. */
static double one_of(const bb_local *local) {
    return local->n && local->x ? local->x[local->d - 1] : 1.0;
}

/* A model; rows; their sums, and a column of these; of classes, factors. */
size_t bb_units_work(const bb_units *units, const bb_local *local) {
    const size_t n = local->n, d = local->d;
    if (!moves(units, local)) return 0;
    return local->length + 2 * d + n + (local->x ? n * d : 0) +
           (local->gram ? d + bb_strips_length(d) : 0);
}

/* Of classes: how long rows are now, and by what columns differ from what was read. */
static void tell_of_rows(const move *m, bb_local *local, double *factor) {
    const size_t d = local->d;
    local->lipschitz = 0.5 * local->weight * bb_dot(local->n * d, local->x, local->x);
    if (!local->own_factor) return;
    for (size_t k = 0; k + 1 < d; k++) factor[k] = local->own_factor[k] * m->scale[k];
    local->own_factor = factor;
}

/* local <- the same task moved, with what changes in `at'. */
static void move_rows(const move *m, bb_local *local, double *at) {
    const size_t n = local->n, d = local->d;
    const double one = one_of(local);
    double *factor = at, *xy = factor + d, *y = xy + d, *x = y + n,
           *work = x + (local->x ? n * d : 0);
    for (size_t j = 0; j < n; j++) y[j] = m->scale[d] * local->y[j] - m->place[d];
    for (size_t j = 0; local->x && j < n; j++)
        for (size_t k = 0; k < d; k++)
            x[j * d + k] = m->scale[k] * local->x[j * d + k] - m->place[k] * one;
    if (local->xy && local->x)
        bb_multiply_transposed(n, d, local->weight, x, y, 0.0, xy);
    for (size_t k = 0; local->xy && !local->x && k < d; k++)
        xy[k] = m->scale[k] * m->scale[d] * local->xy[k];
    if (local->gram) {
        bb_strips_move(d, local->gram, m->scale, m->place, work + d, work);
        local->gram = work + d;
    }
    local->yy = local->weight * bb_dot(n, y, y);
    local->y = y;
    local->grain *= m->scale[d];
    if (local->xy) local->xy = xy;
    if (local->x) local->x = x;
    if (local->loss != BB_LOSS_SQUARED) tell_of_rows(m, local, factor);
}

/* What the constant's weight for output c has more of for rows as they were given. */
static double level_of(const move *m, const bb_local *local, const double *w,
                       size_t c) {
    const size_t d = local->d, outputs = local->outputs;
    double level = m->place[d] / one_of(local);
    for (size_t k = 0; k + 1 < d; k++) level -= w[k * outputs + c] * m->place[k];
    return level;
}

bb_task bb_units_in(const bb_view *view, const bb_units *units, const bb_task *task,
                    bb_local *local) {
    const size_t d = task->local->d, outputs = task->local->outputs;
    bb_task own = *task;
    *local = *task->local;
    own.local = local;
    own.work += bb_units_work(units, local);
    if (!moves(units, local)) return own;
    const move m = move_of(task);
    if (m.scale[d] == 0.0) find_move(view, units, local, &m);
    own.model = task->work;
    for (size_t k = 0; k < d; k++)
        for (size_t c = k * outputs; c < (k + 1) * outputs; c++)
            own.model[c] =
                m.scale[k] > 0.0 ? task->model[c] * m.scale[d] / m.scale[k] : 0.0;
    for (size_t c = 0; c < outputs; c++)
        own.model[(d - 1) * outputs + c] -= level_of(&m, local, own.model, c);
    move_rows(&m, local, task->work + local->length);
    return own;
}

const double *bb_units_scale(const bb_units *units, const bb_task *task) {
    return moves(units, task->local) ? move_of(task).scale : NULL;
}

/* In powers of ten of their own others have told a task about columns of which it has only
 * zeros in a unit that it does not know. */
static void drop_zeros(const bb_view *view, bb_task *task) {
    const size_t outputs = task->local->outputs;
    for (size_t k = 0; k < columns_of(view); k++)
        if (look_at(view, task->local, k).zero)
            memset(task->model + k * outputs, 0, outputs * sizeof *task->model);
}

void bb_units_take_model(const bb_view *view, const bb_task *own, bb_task *task) {
    const size_t d = task->local->d, outputs = task->local->outputs;
    const move m = move_of(task);
    if (own->model == task->model) {
        if (view->pub->own_units) drop_zeros(view, task);
        return;
    }
    for (size_t k = 0; k < d; k++)
        for (size_t c = k * outputs; c < (k + 1) * outputs; c++)
            task->model[c] = own->model[c] * m.scale[k] / m.scale[d];
    for (size_t c = 0; c < outputs; c++)
        task->model[(d - 1) * outputs + c] +=
            level_of(&m, task->local, own->model, c) * m.scale[d - 1] / m.scale[d];
}

void bb_units_take_matrix(const bb_task *own, const bb_task *task, double *noise,
                          double *matrix) {
    const size_t d = task->local->d, last = d - 1;
    const move m = move_of(task);
    if (own->model == task->model) return;
    const double square = m.scale[d] * m.scale[d];
    *noise /= square;
    for (size_t k = 0; k < last; k++)
        bb_axpy(d, -m.place[k], matrix + k * d, matrix + last * d);
    for (size_t a = 0; a < d; a++)
        matrix[a * d + last] -= bb_dot(last, m.place, matrix + a * d);
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b < d; b++)
            matrix[a * d + b] *= m.scale[a] * m.scale[b] / square;
}
