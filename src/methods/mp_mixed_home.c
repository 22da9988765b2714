/* One task's half of mp-mixed: where its own model lies, and the average of the models
 * that its own rows and the tasks' votes believe in. */
#include "learners/rows.h"
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"
#include "methods/mp_mixed_effects.h"

#include <math.h>
#include <string.h>

/* In the search for a centre, beside the summed loss. */
static const double search_penalty = 0.3;

/* -- what a task keeps -- */

typedef struct home {
    double *direction; /* d */
    double *made;      /* 1 + the iteration that the direction is of; 0: of none */
    double *voted;     /* whether the measures are there, */
    double *usual;     /* and its usual penalty with them */
    double *measures; /* of all candidates, of which their evidences are made anew, in a
                          fifth of the room */
} home;

static home home_of(const bb_task *task, const bb_mixed_board *mixed) {
    const size_t d = mixed->d;
    double *at = task->state + mixed->own_scales;
    return (home){at, at + d, at + d + 1, at + d + 2, at + d + 3};
}

size_t bb_mixed_state_length(const bb_view *view) {
    return bb_mixed_units_state(view) + view->pub->features + 3;
}

/* -- fits -- */

/* The room of the fits of one task. */
typedef struct room {
    double *centre, *root, *path;
} room;

static room room_of(const bb_task *task, double *at) {
    double *root = at + task->local->d;
    return (room){at, root, root + bb_mixed_covariance_room(task->local)};
}

static size_t room_length(const bb_local *local) {
    return local->d + bb_mixed_covariance_room(local) + bb_ridge_path_length(local);
}

static bb_status open_kind(const bb_mixed_board *mixed, const bb_local *local,
                           bb_mixed_kind kind, bb_ridge_path *path, const room *r) {
    const bb_covariance c = bb_mixed_covariance(mixed, local, kind, r->root);
    return bb_ridge_path_open(path, local, &c, r->path);
}

/* The penalties beside the task's loss. */
static void penalties_of(const bb_local *local, double *own) {
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++)
        own[l] = local->weight * bb_mixed_penalty[l];
}

static void look(const bb_local *local, const bb_ridge_path *path,
                 const bb_mixed_measure *m) {
    double own[BB_MIXED_PENALTIES];
    penalties_of(local, own);
    bb_ridge_path_weigh(path, BB_MIXED_PENALTIES, own, m->log_det, m->rest);
    if (local->n > local->d)
        bb_ridge_path_left_out(path, BB_MIXED_PENALTIES, own, m->left_out);
}

/* share (BB_MIXED_PENALTIES) <- the sums over noise levels of exp(score - total). */
static void sum_levels(const double *score, double total, double *share) {
    double part[BB_MIXED_CELLS];
    for (size_t k = 0; k < BB_MIXED_CELLS; k++) part[k] = score[k] - total;
    (void)bb_exp(BB_MIXED_CELLS, part);
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        share[l] = 0.0;
        for (size_t k = 0; k < BB_MIXED_LEVELS; k++)
            share[l] += part[l * BB_MIXED_LEVELS + k];
    }
}

/* The path keeps the sum over penalties of their share times their deviation from the
 * centre. */
static void keep_deviations(const bb_local *local, const bb_ridge_path *path,
                            const double *share) {
    double own[BB_MIXED_PENALTIES];
    penalties_of(local, own);
    bb_ridge_path_keep(path, BB_MIXED_PENALTIES, own, share);
}

static const double *centre_of(const bb_mixed_board *mixed, size_t group) {
    return group % 2 == 0 ? mixed->centre : NULL;
}

/* above (BB_MIXED_PENALTIES): of the group's kind. */
static void add_priors(const bb_mixed_board *mixed, size_t group, const double *above,
                       double *cell) {
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        const double prior = bb_mixed_log_prior_above(mixed, group, above[l]);
        for (size_t k = 0; k < BB_MIXED_LEVELS; k++) *cell++ += prior;
    }
}

/* A kind has how far the centre moves the rows, and its measures: BB_MIXED_PENALTIES
 * numbers of the matrix, and of every side one or two times as many. */
static size_t kind_length(const bb_local *local) {
    const size_t each = local->n > local->d ? 2 : 1;
    return 1 + (1 + each * BB_MIXED_SIDES) * (size_t)BB_MIXED_PENALTIES;
}

/* Kinds that this task may have, whatever is found. */
static bool may_have(const bb_view *view, const bb_local *local, size_t kind) {
    if (kind == BB_MIXED_OWN)
        return view->pub->constant && bb_mixed_has_own_scores(local);
    return kind < BB_MIXED_ONCE || bb_mixed_can_turn(view);
}

size_t bb_mixed_kept_length(const bb_view *view, const bb_local *local) {
    size_t kinds = 0;
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++)
        kinds += may_have(view, local, kind);
    return kinds * kind_length(local);
}

/* Where in a task's state what was seen of a kind begins: with ||X centre||^2. */
static double *seen_of(const bb_view *view, const bb_local *local, double *measures,
                       size_t kind) {
    double *at = measures;
    for (size_t before = 0; before < kind; before++)
        if (may_have(view, local, before)) at += kind_length(local);
    return at;
}

static bb_mixed_measure measure_of(double *seen, size_t side) {
    double *const log_det = seen + 1, *rest = log_det + BB_MIXED_PENALTIES;
    rest += side * BB_MIXED_PENALTIES;
    return (bb_mixed_measure){log_det, rest,
                              rest + BB_MIXED_SIDES * (size_t)BB_MIXED_PENALTIES};
}

/* A path's measures around the centre, none and the centre twice; the first and the last
 * where one was found. */
static void look_from(const bb_mixed_board *mixed, const bb_local *local,
                      bb_ridge_path *path, double *seen, double *centre) {
    double squares[BB_MIXED_SIDES] = {0};
    for (size_t side = 0; side < BB_MIXED_SIDES; side++) {
        const double times = side == BB_MIXED_TWO ? 2.0 : 1.0;
        const bb_mixed_measure m = measure_of(seen, side);
        if (side != BB_MIXED_NONE && !mixed->found) continue;
        for (size_t k = 0; k < mixed->d; k++) centre[k] = times * mixed->centre[k];
        bb_ridge_path_centre(path, side == BB_MIXED_NONE ? NULL : centre);
        look(local, path, &m);
        squares[side] = path->squares;
    }
    seen[0] = 0.5 * squares[BB_MIXED_NONE] - squares[BB_MIXED_ONE] +
              0.5 * squares[BB_MIXED_TWO];
}

static bb_status look_at_all(const bb_view *view, const bb_mixed_board *mixed,
                             const bb_local *local, double *measures, const room *r) {
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++) {
        bb_ridge_path path;
        if (!bb_mixed_can(mixed, local, (bb_mixed_kind)kind)) continue;
        const bb_status status = open_kind(mixed, local, (bb_mixed_kind)kind, &path, r);
        if (status) return status;
        if (local->n > 0)
            look_from(mixed, local, &path, seen_of(view, local, measures, kind),
                      r->centre);
    }
    return BB_OK;
}

/* What a task's rows say for a group that it has. length (BB_MIXED_CELLS; NULL: only the
 * one that was found) <- how long the centre is, times the one on the billboard. */
static void weigh_group(const bb_mixed_board *mixed, const bb_local *local,
                        double *seen, size_t group, double *cell, double *length) {
    const bb_mixed_measure side[BB_MIXED_SIDES] = {
        measure_of(seen, 0), measure_of(seen, 1), measure_of(seen, 2)};
    for (size_t k = 0; length && k < BB_MIXED_CELLS; k++)
        length[k] = group % 2 == 0 ? 1.0 : 0.0;
    if (local->n == 0) return;
    bb_mixed_weigh(local, &side[group % 2], cell);
    if (length && group % 2 == 0)
        bb_mixed_weigh_lengths(mixed, local, side, seen[0], cell, length);
}

/* evidence (BB_MIXED_FITS): of all candidates with their priors, -infinity of those that
 * are none; length (as many, or NULL): as above. */
static void weigh_all(const bb_view *view, const bb_mixed_board *mixed,
                      const bb_task *task, double *evidence, double *length) {
    const bb_local *local = task->local;
    const home own = home_of(task, mixed);
    double above[2][BB_MIXED_PENALTIES];
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        above[0][l] = bb_mixed_decades_above(BB_MIXED_PLAIN, l, *own.usual);
        above[1][l] = bb_mixed_decades_above(BB_MIXED_OWN, l, *own.usual);
    }
    for (size_t group = 0; group < BB_MIXED_GROUPS; group++) {
        double *cell = evidence + group * BB_MIXED_CELLS;
        const bool is = bb_mixed_can(mixed, local, (bb_mixed_kind)(group / 2)) &&
                        bb_mixed_has(mixed, group);
        for (size_t k = 0; k < BB_MIXED_CELLS; k++) cell[k] = is ? 0.0 : -INFINITY;
        if (!is) continue;
        weigh_group(mixed, local, seen_of(view, local, own.measures, group / 2), group,
                    cell, length ? length + group * BB_MIXED_CELLS : NULL);
        add_priors(mixed, group, above[group / 2 == BB_MIXED_OWN], cell);
    }
}

/* share (BB_MIXED_PENALTIES) <- what fits around the centre (side 0) or around none (1) have
 * of a kind's candidates: a fit around s times the centre is s times the one and 1 - s
 * times the other. */
static void sum_sides(const double *score, const double *length, double total,
                      size_t kind, size_t side, double *share) {
    memset(share, 0, BB_MIXED_PENALTIES * sizeof *share);
    for (size_t group = 2 * kind; group < 2 * kind + 2; group++) {
        const double *cell = score + group * BB_MIXED_CELLS;
        const double *s = length + group * BB_MIXED_CELLS;
        for (size_t k = 0; k < BB_MIXED_CELLS && cell[k] > -INFINITY; k++)
            share[k / BB_MIXED_LEVELS] +=
                (side == 0 ? s[k] : 1.0 - s[k]) * exp(cell[k] - total);
    }
}

/* w <- the average of all candidates by exp(score). */
static bb_status average(const bb_mixed_board *mixed, const bb_local *local,
                         const double *score, const double *length, double *w,
                         const room *r) {
    const double total = bb_mixed_log_sum(score, BB_MIXED_FITS);
    memset(w, 0, local->d * sizeof *w);
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++) {
        bb_ridge_path path;
        if (!bb_mixed_can(mixed, local, (bb_mixed_kind)kind)) continue;
        const bb_status status = open_kind(mixed, local, (bb_mixed_kind)kind, &path, r);
        if (status) return status;
        for (size_t group = 2 * kind; group < 2 * kind + 2; group++) {
            double share[BB_MIXED_PENALTIES];
            if (!bb_mixed_has(mixed, group)) continue;
            sum_sides(score, length, total, kind, group % 2, share);
            if (group % 2 == 0)
                bb_axpy(local->d, bb_sum(BB_MIXED_PENALTIES, share), mixed->centre, w);
            if (local->n == 0) continue;
            bb_ridge_path_centre(&path, centre_of(mixed, group));
            keep_deviations(local, &path, share);
        }
        if (local->n > 0) bb_ridge_path_add(&path, w);
    }
    return BB_OK;
}

/* -- what is shown -- */

static void normalise(size_t d, double length, double *u) {
    const double norm = bb_norm(d, u);
    bb_scale(d, norm > 1e-12 ? length / norm : 0.0, u);
}

/* Towards the task's own ridge model, from the centre as it is. */
static void towards_own(const bb_mixed_board *mixed, bb_task *task, double *u) {
    const size_t d = mixed->d;
    double b, *w = task->work;
    memset(u, 0, d * sizeof *u);
    if (task->local->n == 0 ||
        bb_local_ridge(task->local, search_penalty * task->local->weight, mixed->centre,
                       w, &b, w + d))
        return;
    for (size_t k = 0; k < d; k++) u[k] = w[k] - mixed->centre[k];
    normalise(d, 1.0, u);
}

/* From the centre to the task's mean under the covariance as it is known. Of length one
 * where rows are few, too: what they do not tell is spread over all features. */
static bb_status deviation(const bb_mixed_board *mixed, bb_task *task, double *u) {
    const size_t d = mixed->d, n = task->local->n;
    const room r = room_of(task, task->work);
    const double *centre = mixed->found ? mixed->centre : NULL;
    const bb_mixed_kind kind =
        mixed->iteration && mixed->directions > 0.0 ? BB_MIXED_ONCE : BB_MIXED_PLAIN;
    double evidence[BB_MIXED_CELLS], share[BB_MIXED_PENALTIES];
    double log_det[BB_MIXED_PENALTIES], rest[BB_MIXED_PENALTIES];
    double left_out[BB_MIXED_PENALTIES];
    const bb_mixed_measure m = {log_det, rest, left_out};
    bb_ridge_path path;
    memset(u, 0, d * sizeof *u);
    if (n == 0) return BB_OK;
    const bb_status status = open_kind(mixed, task->local, kind, &path, &r);
    if (status) return status;
    bb_ridge_path_centre(&path, centre);
    look(task->local, &path, &m);
    bb_mixed_weigh(task->local, &m, evidence);
    sum_levels(evidence, bb_mixed_log_sum(evidence, BB_MIXED_CELLS), share);
    keep_deviations(task->local, &path, share);
    bb_ridge_path_add(&path, u);
    normalise(d, 1.0, u);
    return BB_OK;
}

/* Whether the round asks for nothing that is not there already. */
static bool has_trained(const bb_mixed_board *mixed, const home *own) {
    return mixed->phase == BB_MIXED_UNITS || mixed->phase == BB_MIXED_PENALTY_VOTE ||
           (mixed->phase == BB_MIXED_DIRECTIONS &&
            *own->made == 1.0 + (double)mixed->iteration);
}

void bb_mixed_train(const bb_view *view, bb_task *given) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    const home own = home_of(given, &mixed);
    bb_local local;
    if (has_trained(&mixed, &own)) return;
    bb_task task = bb_mixed_in_units(view, &mixed, given, &local);
    switch (mixed.phase) {
    case BB_MIXED_CENTRE:
        towards_own(&mixed, &task, own.direction);
        break;
    case BB_MIXED_DIRECTIONS:
        if (deviation(&mixed, &task, own.direction))
            memset(own.direction, 0, mixed.d * sizeof *own.direction);
        *own.made = 1.0 + (double)mixed.iteration;
        break;
    case BB_MIXED_GROUP_VOTE: {
        const room r = room_of(&task, task.work);
        *own.usual = bb_mixed_usual(task.local, r.root);
        *own.voted =
            look_at_all(view, &mixed, task.local, own.measures, &r) ? 0.0 : 1.0;
        break;
    }
    case BB_MIXED_EFFECTS:
        bb_mixed_effects_train(mixed.around, &task);
        break;
    default:
        break;
    }
}

/* In which units rows are does not matter any more, only where what was made of them is. */
void bb_mixed_show(const bb_view *view, const bb_task *given, double *const *block) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    const home own = home_of(given, &mixed);
    const bool votes = *own.voted > 0.0 && given->local->n > 0;
    bb_task task = *given;
    task.work += bb_mixed_units_work(&mixed, given->local);
    double *evidence = task.work;
    switch (mixed.phase) {
    case BB_MIXED_UNITS:
        bb_mixed_show_units(view, given->local, block[0]);
        break;
    case BB_MIXED_GROUP_VOTE:
        if (!votes) break;
        weigh_all(view, &mixed, &task, evidence, evidence + BB_MIXED_FITS);
        bb_mixed_show_groups(evidence, block[0]);
        break;
    case BB_MIXED_PENALTY_VOTE:
        if (!votes) break;
        weigh_all(view, &mixed, &task, evidence, evidence + BB_MIXED_FITS);
        bb_mixed_show_penalties(&mixed, evidence, *own.usual, block[0]);
        break;
    case BB_MIXED_EFFECTS:
        bb_mixed_effects_show(&mixed.layout, &task, block);
        break;
    default:
        memcpy(block[0], own.direction, mixed.d * sizeof **block);
    }
}

double bb_mixed_scores(const bb_view *view, const bb_task *task, double *score) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    weigh_all(view, &mixed, task, score, NULL);
    for (size_t k = 0; k < BB_MIXED_FITS; k++)
        score[k] += bb_mixed_group_odds(&mixed, k / BB_MIXED_CELLS);
    return bb_mixed_log_sum(score, BB_MIXED_FITS);
}

static bb_status finish(const bb_view *view, bb_task *task) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    const home own = home_of(task, &mixed);
    double *score = task->work, *length = score + BB_MIXED_FITS;
    const room r = room_of(task, length + BB_MIXED_FITS);
    if (*own.voted == 0.0) {
        *own.usual = bb_mixed_usual(task->local, r.root);
        const bb_status status =
            look_at_all(view, &mixed, task->local, own.measures, &r);
        if (status) return status;
    }
    weigh_all(view, &mixed, task, score, length);
    for (size_t cell = 0; cell < BB_MIXED_FITS; cell += BB_MIXED_LEVELS) {
        const size_t l = cell / BB_MIXED_LEVELS;
        const double odds =
            bb_mixed_odds(&mixed, l / BB_MIXED_PENALTIES, l % BB_MIXED_PENALTIES);
        for (size_t k = cell; k < cell + BB_MIXED_LEVELS; k++) score[k] += odds;
    }
    const bb_status status =
        average(&mixed, task->local, score, length, task->model, &r);
    *task->intercept = 0.0;
    return status;
}

bb_status bb_mixed_finish(const bb_view *view, bb_task *task) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    bb_local local;
    bb_task own = bb_mixed_in_units(view, &mixed, task, &local);
    const bb_status status = finish(view, &own);
    if (!status) bb_mixed_take_model(&own, task);
    return status;
}

static size_t most_of(size_t a, size_t b) {
    return a > b ? a : b;
}

size_t bb_mixed_local_length(const bb_view *view, const bb_local *local) {
    const size_t d = view->pub->features;
    const bb_mixed_board mixed = {.own_scales = bb_mixed_units_state(view)};
    const size_t search = d + bb_local_work(local);
    const size_t fits = 2 * BB_MIXED_FITS + room_length(local);
    const size_t effects =
        bb_mixed_has_effects(view) ? bb_mixed_effects_local_length(local) : 0;
    const size_t spread = view->pub->spread ? bb_mixed_spread_work(local) : 0;
    return bb_mixed_units_work(&mixed, local) +
           most_of(most_of(search, fits), most_of(effects, spread));
}
