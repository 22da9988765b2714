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
/* Penalties of the candidates beside the summed loss, and what the noise of a row's
 * target (a variance) is believed to be, as by `belief` rows. */
const double bb_mixed_penalty[BB_MIXED_PENALTIES] = {
    1e-5, 3.16e-5, 1e-4, 3.16e-4, 1e-3, 3.16e-3, 1e-2, 3.16e-2,
    0.1,  0.316,   1.0,  3.16,    10.0, 31.6,    100.0};
const double bb_mixed_level[BB_MIXED_LEVELS] = {3e-7, 3e-5, 1e-3, 3e-2, 0.3};
const double bb_mixed_belief = 1.0;
static const double free_root = 10.0; /* standard deviation of the constant's weight */
static const double centre_odds = 10.0; /* of one beyond doubt */
/* Alone: a penalty is around a usual one (usual_of), hardly above ten times that or below
 * a hundredth of it, and the free constant is less likely by a factor e. */
static const double usual = 0.05, decades_below = 2.0;
/* The least deviation of a column, of its mean, that counts for more than rounding. */
static const double least_deviation = 1e-6;
/* The variance where rows are too few to tell. */
static const double usual_spread = 0.2;

/* -- what a task keeps -- */

typedef struct home {
    double *direction; /* d */
    double *made;      /* 1 + the iteration that the direction is of; 0: of none */
    double *voted;     /* whether the measures are there, */
    double *usual;     /* and its usual penalty with them */
    double *measures; /* of all candidates, of which their evidences are made anew, in a
                          fifth of the room */
} home;

static home home_of(const bb_task *task, size_t d) {
    double *at = task->state;
    return (home){at, at + d, at + d + 1, at + d + 2, at + d + 3};
}

size_t bb_mixed_state_length(const bb_view *view) {
    return view->pub->features + 3;
}

/* -- fits -- */

/* What a path tells of every penalty around one centre. */
typedef struct measure {
    double *log_det;  /* BB_MIXED_PENALTIES, alike around every centre */
    double *rest;     /* the least loss */
    double *left_out; /* the same of rows that are left out; where rows are more than
                         features */
} measure;

/* The room of the fits of one task. */
typedef struct room {
    double *root, *path;
} room;

static room room_of(const bb_task *task, double *at) {
    return (room){at, at + bb_mixed_covariance_room(task->local)};
}

static size_t room_length(const bb_local *local) {
    return bb_mixed_covariance_room(local) + bb_ridge_path_length(local);
}

/* The variance of a task's rows around their mean, all features together. */
static double spread_of(const bb_local *local, double *work) {
    const size_t d = local->d;
    double squares = 0.0;
    if (local->n < 3) return usual_spread;
    memset(work, 0, d * sizeof *work);
    for (size_t j = 0; j < local->n && local->x; j++) {
        bb_axpy(d, 1.0, local->x + j * d, work);
        squares += bb_dot(d, local->x + j * d, local->x + j * d);
    }
    for (size_t j = 0; j < local->n && !local->x; j++)
        for (size_t e = local->sparse_first[j]; e < local->sparse_first[j + 1]; e++) {
            work[local->sparse_column[e]] += local->sparse_value[e];
            squares += local->sparse_value[e] * local->sparse_value[e];
        }
    const double n = (double)local->n;
    const double spread = (squares - bb_dot(d, work, work) / n) / n;
    return spread > 1e-12 ? spread : usual_spread;
}

/* The penalty that is usual for such rows: `usual` of the geometric mean of their variance
 * and of their features' square, the constant left out. Where ranges are too wide both
 * are small, and so is a model's penalty. Where features hardly change within a task the
 * variance alone is, and slopes that it would leave free err by factors. */
static double usual_of(const bb_local *local, double *work) {
    const size_t n = local->n, d = local->d;
    const double spread = spread_of(local, work);
    double squares = 0.0;
    if (n < 3) return usual * usual_spread;
    for (size_t j = 0; local->x && j < n; j++)
        squares += bb_dot(d - 1, local->x + j * d, local->x + j * d);
    for (size_t j = 0; !local->x && j < n; j++)
        for (size_t e = local->sparse_first[j]; e < local->sparse_first[j + 1]; e++)
            if (local->sparse_column[e] + 1 < d)
                squares += local->sparse_value[e] * local->sparse_value[e];
    return usual * sqrt(spread * fmax(spread, squares / (double)n));
}

static bool has_own_scores(const bb_local *local) {
    return local->x && local->n > local->d;
}

bool bb_mixed_can(const bb_mixed_board *mixed, const bb_local *local,
                  bb_mixed_kind kind) {
    return bb_mixed_has(mixed, 2 * kind + 1) &&
           (kind != BB_MIXED_OWN || has_own_scores(local));
}

size_t bb_mixed_covariance_room(const bb_local *local) {
    const size_t d = local->d;
    return has_own_scores(local) ? d + d * d : d;
}

/* Slopes are of columns in units of their deviation, and what is next to free is the
 * level at the rows' mean: no column's unit or place matters. */
static bb_covariance own_scores(const bb_local *local, double *root) {
    const size_t n = local->n, d = local->d, last = d - 1;
    double *basis = root + d, *mean = basis + last * d;
    memset(root, 0, (d + d * d) * sizeof *root);
    for (size_t j = 0; j < n; j++) bb_axpy(d, 1.0 / (double)n, local->x + j * d, mean);
    for (size_t j = 0; j < n; j++)
        for (size_t a = 0; a < last; a++) {
            const double from = local->x[j * d + a] - mean[a];
            root[a] += from * from / (double)n;
        }
    for (size_t a = 0; a < last; a++) {
        const double deviation = sqrt(root[a]);
        const bool varies = deviation > least_deviation * fabs(mean[a]);
        root[a] = varies ? 1.0 / (deviation * sqrt((double)d)) : 0.0;
        basis[a * d + a] = 1.0;
        basis[a * d + last] = -mean[a] / mean[last];
        mean[a] = 0.0;
    }
    basis[last * d + last] = 1.0;
    root[last] = free_root;
    return (bb_covariance){basis, root};
}

bb_covariance bb_mixed_covariance(const bb_mixed_board *mixed, const bb_local *local,
                                  bb_mixed_kind kind, double *root) {
    const size_t d = mixed->d;
    if (kind == BB_MIXED_PLAIN) return (bb_covariance){NULL, NULL};
    if (kind == BB_MIXED_OWN) return own_scores(local, root);
    const double held = kind == BB_MIXED_HELD ? sqrt(spread_of(local, root)) : 1.0;
    for (size_t a = 0; a < d; a++) {
        root[a] = 1.0;
        if (kind == BB_MIXED_ONCE) root[a] = sqrt(mixed->variance[a]);
        if (kind == BB_MIXED_TWICE) root[a] = mixed->variance[a];
    }
    if (kind == BB_MIXED_FREE) root[d - 1] = free_root;
    if (kind == BB_MIXED_HELD) root[d - 1] = held;
    return (bb_covariance){kind < BB_MIXED_ONCE ? NULL : mixed->basis, root};
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

/* How much a task goes by rows that are left out: evidence is what the first rows were
 * foreseen by, too, which a prior decides, and one of a wrong scale is then believed in
 * though the rows that are there have long corrected it. Few rows say little else. */
static double by_left_out(const bb_local *local) {
    const double share = 1.0 - (double)local->d / (double)local->n;
    return local->n > local->d ? share * share : 0.0;
}

static void look(const bb_local *local, const bb_ridge_path *path, const measure *m) {
    double own[BB_MIXED_PENALTIES];
    penalties_of(local, own);
    bb_ridge_path_weigh(path, BB_MIXED_PENALTIES, own, m->log_det, m->rest);
    if (local->n > local->d)
        bb_ridge_path_left_out(path, BB_MIXED_PENALTIES, own, m->left_out);
}

/* Log evidence of every cell (normal - inverse gamma model: the noise's variance has a
 * prior worth `belief` rows around a level), up to what all candidates share; in part
 * the same of rows that are left out. */
static void weigh(const bb_local *local, const measure *m, double *evidence) {
    const double rows = (double)local->n + bb_mixed_belief, share = by_left_out(local);
    double prior[BB_MIXED_LEVELS], fit[BB_MIXED_CELLS], foreseen[BB_MIXED_CELLS];
    for (size_t k = 0; k < BB_MIXED_LEVELS; k++)
        prior[k] = bb_mixed_belief * bb_mixed_level[k];
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        const double rest = fmax(m->rest[l] / local->weight, 1e-12);
        for (size_t k = 0; k < BB_MIXED_LEVELS; k++) {
            fit[l * BB_MIXED_LEVELS + k] = rest + prior[k];
            if (share > 0.0)
                foreseen[l * BB_MIXED_LEVELS + k] = m->left_out[l] + prior[k];
        }
    }
    bb_log(BB_MIXED_LEVELS, prior);
    bb_log(BB_MIXED_CELLS, fit);
    if (share > 0.0) bb_log(BB_MIXED_CELLS, foreseen);
    for (size_t k = 0; k < BB_MIXED_CELLS; k++) {
        const double own_fit = m->log_det[k / BB_MIXED_LEVELS] + rows * fit[k];
        evidence[k] = 0.5 * (bb_mixed_belief * prior[k % BB_MIXED_LEVELS] -
                             (1.0 - share) * own_fit);
        if (share > 0.0) evidence[k] -= 0.5 * share * rows * foreseen[k];
    }
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

/* Decades by which penalty l is above the one that is usual for the kind. */
static double decades_above(size_t kind, size_t l, double own_usual) {
    return log10(bb_mixed_penalty[l] / (kind == BB_MIXED_OWN ? usual : own_usual));
}

/* A centre that stands far out is likelier than none, with any penalty; one that may be
 * noise is not, and around it penalties are as likely as they are alone. */
static double log_prior(const bb_mixed_board *mixed, size_t group, double above) {
    const size_t kind = group / 2;
    const double far = above < 0.0 ? above / decades_below : above;
    if (group % 2 == 0)
        return mixed->sure * log(centre_odds) - 0.5 * far * far * (1.0 - mixed->sure);
    const bool free = kind == BB_MIXED_FREE || kind == BB_MIXED_OWN;
    return (free ? -1.0 : 0.0) - 0.5 * far * far;
}

double bb_mixed_log_prior(const bb_mixed_board *mixed, size_t group, size_t l,
                          double own_usual) {
    return log_prior(mixed, group, decades_above(group / 2, l, own_usual));
}

/* above (BB_MIXED_PENALTIES): of the group's kind. */
static void add_priors(const bb_mixed_board *mixed, size_t group, const double *above,
                       double *cell) {
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        const double prior = log_prior(mixed, group, above[l]);
        for (size_t k = 0; k < BB_MIXED_LEVELS; k++) *cell++ += prior;
    }
}

/* A kind has the measures of both its groups: BB_MIXED_PENALTIES numbers of the matrix,
 * and of every group one or two times as many. */
static size_t kind_length(const bb_local *local) {
    return (local->n > local->d ? 5 : 3) * (size_t)BB_MIXED_PENALTIES;
}

/* Kinds that this task may have, whatever is found. */
static bool may_have(const bb_view *view, const bb_local *local, size_t kind) {
    if (kind == BB_MIXED_OWN) return view->pub->constant && has_own_scores(local);
    return kind < BB_MIXED_ONCE || bb_mixed_can_turn(view);
}

size_t bb_mixed_kept_length(const bb_view *view, const bb_local *local) {
    size_t kinds = 0;
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++)
        kinds += may_have(view, local, kind);
    return kinds * kind_length(local);
}

/* Where in a task's state the measures of a group are. */
static measure measure_of(const bb_view *view, const bb_local *local, double *measures,
                          size_t group) {
    double *at = measures;
    for (size_t kind = 0; kind < group / 2; kind++)
        if (may_have(view, local, kind)) at += kind_length(local);
    double *const rest = at + (1 + group % 2) * (size_t)BB_MIXED_PENALTIES;
    return (measure){at, rest, rest + 2 * (size_t)BB_MIXED_PENALTIES};
}

static bb_status look_at_all(const bb_view *view, const bb_mixed_board *mixed,
                             const bb_local *local, double *measures, const room *r) {
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++) {
        bb_ridge_path path;
        if (!bb_mixed_can(mixed, local, (bb_mixed_kind)kind)) continue;
        const bb_status status = open_kind(mixed, local, (bb_mixed_kind)kind, &path, r);
        if (status) return status;
        for (size_t group = 2 * kind; group < 2 * kind + 2 && local->n > 0; group++) {
            const measure m = measure_of(view, local, measures, group);
            if (!bb_mixed_has(mixed, group)) continue;
            bb_ridge_path_centre(&path, centre_of(mixed, group));
            look(local, &path, &m);
        }
    }
    return BB_OK;
}

/* evidence (BB_MIXED_FITS): of all candidates with their priors, -infinity of those that
 * are none. */
static void weigh_all(const bb_view *view, const bb_mixed_board *mixed,
                      const bb_task *task, double *evidence) {
    const bb_local *local = task->local;
    const home own = home_of(task, mixed->d);
    double above[2][BB_MIXED_PENALTIES];
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        above[0][l] = decades_above(BB_MIXED_PLAIN, l, *own.usual);
        above[1][l] = decades_above(BB_MIXED_OWN, l, *own.usual);
    }
    for (size_t group = 0; group < BB_MIXED_GROUPS; group++) {
        double *cell = evidence + group * BB_MIXED_CELLS;
        const bool is = bb_mixed_can(mixed, local, (bb_mixed_kind)(group / 2)) &&
                        bb_mixed_has(mixed, group);
        for (size_t k = 0; k < BB_MIXED_CELLS; k++) cell[k] = is ? 0.0 : -INFINITY;
        if (!is) continue;
        const measure m = measure_of(view, local, own.measures, group);
        if (local->n > 0) weigh(local, &m, cell);
        add_priors(mixed, group, above[group / 2 == BB_MIXED_OWN], cell);
    }
}

/* w <- the average of all candidates by exp(score). */
static bb_status average(const bb_mixed_board *mixed, const bb_local *local,
                         const double *score, double *w, const room *r) {
    const double total = bb_mixed_log_sum(score, BB_MIXED_FITS);
    memset(w, 0, local->d * sizeof *w);
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++) {
        bb_ridge_path path;
        if (!bb_mixed_can(mixed, local, (bb_mixed_kind)kind)) continue;
        const bb_status status = open_kind(mixed, local, (bb_mixed_kind)kind, &path, r);
        if (status) return status;
        for (size_t group = 2 * kind; group < 2 * kind + 2; group++) {
            const double *cell = score + group * BB_MIXED_CELLS;
            double share[BB_MIXED_PENALTIES];
            if (!bb_mixed_has(mixed, group)) continue;
            sum_levels(cell, total, share);
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
    const measure m = {log_det, rest, left_out};
    bb_ridge_path path;
    memset(u, 0, d * sizeof *u);
    if (n == 0) return BB_OK;
    const bb_status status = open_kind(mixed, task->local, kind, &path, &r);
    if (status) return status;
    bb_ridge_path_centre(&path, centre);
    look(task->local, &path, &m);
    weigh(task->local, &m, evidence);
    sum_levels(evidence, bb_mixed_log_sum(evidence, BB_MIXED_CELLS), share);
    keep_deviations(task->local, &path, share);
    bb_ridge_path_add(&path, u);
    normalise(d, 1.0, u);
    return BB_OK;
}

void bb_mixed_train(const bb_view *view, bb_task *task) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    const home own = home_of(task, mixed.d);
    const double wanted = 1.0 + (double)mixed.iteration;
    switch (mixed.phase) {
    case BB_MIXED_CENTRE:
        towards_own(&mixed, task, own.direction);
        break;
    case BB_MIXED_DIRECTIONS:
        if (*own.made == wanted) break; /* as in the round before */
        if (deviation(&mixed, task, own.direction))
            memset(own.direction, 0, mixed.d * sizeof *own.direction);
        *own.made = wanted;
        break;
    case BB_MIXED_GROUP_VOTE: {
        const room r = room_of(task, task->work);
        *own.usual = usual_of(task->local, r.root);
        *own.voted =
            look_at_all(view, &mixed, task->local, own.measures, &r) ? 0.0 : 1.0;
        break;
    }
    case BB_MIXED_EFFECTS:
        bb_mixed_effects_train(mixed.around, task);
        break;
    default:
        break;
    }
}

void bb_mixed_show(const bb_view *view, const bb_task *task, double *const *block) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    const home own = home_of(task, mixed.d);
    const bool votes = *own.voted > 0.0 && task->local->n > 0;
    double *evidence = task->work;
    switch (mixed.phase) {
    case BB_MIXED_GROUP_VOTE:
        if (!votes) break;
        weigh_all(view, &mixed, task, evidence);
        bb_mixed_show_groups(evidence, block[0]);
        break;
    case BB_MIXED_PENALTY_VOTE:
        if (!votes) break;
        weigh_all(view, &mixed, task, evidence);
        bb_mixed_show_penalties(&mixed, evidence, *own.usual, block[0]);
        break;
    case BB_MIXED_EFFECTS:
        bb_mixed_effects_show(&mixed.layout, task, block);
        break;
    default:
        memcpy(block[0], own.direction, mixed.d * sizeof **block);
    }
}

double bb_mixed_scores(const bb_view *view, const bb_task *task, double *score) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    weigh_all(view, &mixed, task, score);
    for (size_t k = 0; k < BB_MIXED_FITS; k++)
        score[k] += mixed.group[k / BB_MIXED_CELLS];
    return bb_mixed_log_sum(score, BB_MIXED_FITS);
}

bb_status bb_mixed_finish(const bb_view *view, bb_task *task) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    const home own = home_of(task, mixed.d);
    double *score = task->work;
    const room r = room_of(task, score + BB_MIXED_FITS);
    if (*own.voted == 0.0) {
        *own.usual = usual_of(task->local, r.root);
        const bb_status status =
            look_at_all(view, &mixed, task->local, own.measures, &r);
        if (status) return status;
    }
    weigh_all(view, &mixed, task, score);
    for (size_t cell = 0; cell < BB_MIXED_FITS; cell += BB_MIXED_LEVELS) {
        const size_t l = cell / BB_MIXED_LEVELS;
        const double odds =
            bb_mixed_odds(&mixed, l / BB_MIXED_PENALTIES, l % BB_MIXED_PENALTIES);
        for (size_t k = cell; k < cell + BB_MIXED_LEVELS; k++) score[k] += odds;
    }
    const bb_status status = average(&mixed, task->local, score, task->model, &r);
    *task->intercept = 0.0;
    return status;
}

static size_t most_of(size_t a, size_t b) {
    return a > b ? a : b;
}

size_t bb_mixed_local_length(const bb_view *view, const bb_local *local) {
    const size_t d = view->pub->features;
    const size_t search = d + bb_local_work(local);
    const size_t fits = BB_MIXED_FITS + room_length(local);
    const size_t effects =
        bb_mixed_has_effects(view) ? bb_mixed_effects_local_length(local) : 0;
    const size_t spread = view->pub->spread ? bb_mixed_spread_work(local) : 0;
    return most_of(most_of(search, fits), most_of(effects, spread));
}
