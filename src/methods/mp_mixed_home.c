/* One task's half of mp-mixed: where its own model lies, and the average of the models
 * that its own rows and the tasks' votes believe in. */
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"

#include <math.h>
#include <string.h>

/* In the search for a centre, beside the summed loss. */
static const double search_penalty = 0.3;
/* Penalties of the candidates beside the summed loss, and what the noise of a row's
 * target (a variance) is believed to be, as by `belief` rows. */
static const double penalty[BB_MIXED_PENALTIES] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2,
                                                   0.1,  1.0,  10.0, 100.0};
static const double level[BB_MIXED_LEVELS] = {3e-5, 3e-4, 3e-3, 3e-2, 0.3};
static const double belief = 1.0;
static const double free_root = 10.0; /* standard deviation of the constant's weight */
static const double centre_odds = 10.0;
static const double worst_odds = 3.0; /* logarithm */
/* Alone: log10 of the penalty is around `usual`, and the free constant is less likely by
 * a factor e. */
static const double usual = -2.0, spread = 1.5;

/* -- what a task keeps: its direction, of which iteration, its evidences -- */

typedef struct home {
    double *direction; /* d */
    double *made;      /* 1 + the iteration that the direction is of; 0: of none */
    double *evidence;  /* BB_MIXED_FITS */
    double *voted;     /* whether they are there */
} home;

static home home_of(const bb_task *task, size_t d) {
    double *at = task->state;
    return (home){at, at + d, at + d + 1, at + d + 1 + BB_MIXED_FITS};
}

size_t bb_mixed_state_length(const bb_view *view) {
    return view->pub->features + 2 + BB_MIXED_FITS;
}

/* -- fits -- */

/* The room of the fits of one task. */
typedef struct room {
    double *root, *spectrum, *residual, *b, *shrunk, *work;
} room;

static room room_of(const bb_task *task, double *at) {
    const size_t n = task->local->n, d = task->local->d;
    room r = {.root = at};
    r.spectrum = r.root + d;
    r.residual = r.spectrum + bb_spectrum_length(n, d);
    r.b = r.residual + d;
    r.shrunk = r.b + d;
    r.work = r.shrunk + d;
    return r;
}

static size_t room_length(size_t n, size_t d) {
    return 4 * d + bb_spectrum_length(n, d) + bb_spectrum_work(n, d);
}

/* The covariance of a kind; root: d numbers of room. */
static bb_covariance covariance_of(const bb_mixed_board *mixed, bb_mixed_kind kind,
                                   double *root) {
    const size_t d = mixed->d;
    if (kind == BB_MIXED_PLAIN) return (bb_covariance){NULL, NULL};
    for (size_t a = 0; a < d; a++) {
        root[a] = 1.0;
        if (kind == BB_MIXED_ONCE) root[a] = sqrt(mixed->variance[a]);
        if (kind == BB_MIXED_TWICE) root[a] = mixed->variance[a];
    }
    if (kind == BB_MIXED_FREE) root[d - 1] = free_root;
    if (kind == BB_MIXED_HELD) root[d - 1] = 1.0 / free_root;
    return (bb_covariance){kind < BB_MIXED_ONCE ? NULL : mixed->basis, root};
}

static bb_status open_kind(const bb_mixed_board *mixed, const bb_local *local,
                           bb_mixed_kind kind, bb_spectrum *s, const room *r) {
    const bb_covariance c = covariance_of(mixed, kind, r->root);
    return bb_spectrum_open(s, local, &c, r->spectrum, r->work);
}

/* b_e = f_e . residual around the centre; returns the weighted sum of squares there. */
static double project(const bb_local *local, const bb_spectrum *s, const double *centre,
                      const room *r) {
    const double squares = bb_spectrum_residual(local, centre, r->residual, r->work);
    bb_multiply(s->rank, local->d, 1.0, s->f, r->residual, 0.0, r->b);
    return squares;
}

/* Log evidence of every cell (normal - inverse gamma model: the noise's variance has a
 * prior worth `belief` rows around a level), up to what all candidates share. */
static void weigh(const bb_local *local, const bb_spectrum *s, double squares,
                  const double *b, double *evidence) {
    const double weight = local->weight, rows = (double)local->n + belief;
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        const double lambda = weight * penalty[l];
        double rest = squares, log_det = 0.0;
        for (size_t e = 0; e < s->rank; e++) {
            rest -= b[e] * b[e] / (s->g[e] + lambda);
            log_det += log1p(s->g[e] / lambda);
        }
        rest = fmax(rest / weight, 1e-12);
        for (size_t k = 0; k < BB_MIXED_LEVELS; k++) {
            const double prior = belief * level[k];
            *evidence++ =
                0.5 * (belief * log(prior) - log_det - rows * log(rest + prior));
        }
    }
}

/* w <- w + mass (centre + sum over penalties of their share times their deviation). */
static void add_models(const bb_local *local, const bb_spectrum *s,
                       const double *centre, const double *share, double *w,
                       const room *r) {
    double mass = 0.0;
    memset(r->shrunk, 0, s->rank * sizeof *r->shrunk);
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        mass += share[l];
        for (size_t e = 0; e < s->rank; e++)
            r->shrunk[e] += share[l] * r->b[e] / (s->g[e] + local->weight * penalty[l]);
    }
    bb_multiply_transposed(s->rank, local->d, 1.0, s->f, r->shrunk, 1.0, w);
    if (centre) bb_axpy(local->d, mass, centre, w);
}

static const double *centre_of(const bb_mixed_board *mixed, size_t group) {
    return group % 2 == 0 ? mixed->centre : NULL;
}

/* What speaks for a candidate before its task's rows do. */
static double log_prior(size_t group, size_t l) {
    const double far = (log10(penalty[l]) - usual) / spread;
    if (group % 2 == 0) return log(centre_odds);
    return (group / 2 == BB_MIXED_FREE ? -1.0 : 0.0) - 0.5 * far * far;
}

/* evidence (BB_MIXED_FITS): of all candidates, -infinity of those that are none. */
static bb_status weigh_all(const bb_mixed_board *mixed, const bb_local *local,
                           double *evidence, const room *r) {
    for (size_t k = 0; k < BB_MIXED_FITS; k++) evidence[k] = -INFINITY;
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++) {
        bb_spectrum s;
        if (!bb_mixed_has(mixed, 2 * kind + 1)) continue;
        const bb_status status = open_kind(mixed, local, (bb_mixed_kind)kind, &s, r);
        if (status) return status;
        for (size_t group = 2 * kind; group < 2 * kind + 2; group++) {
            double *cell = evidence + group * BB_MIXED_CELLS;
            if (!bb_mixed_has(mixed, group)) continue;
            if (local->n == 0) {
                memset(cell, 0, BB_MIXED_CELLS * sizeof *cell);
            } else {
                const double squares = project(local, &s, centre_of(mixed, group), r);
                weigh(local, &s, squares, r->b, cell);
            }
            for (size_t k = 0; k < BB_MIXED_CELLS; k++)
                cell[k] += log_prior(group, k / BB_MIXED_LEVELS);
        }
    }
    return BB_OK;
}

/* log sum exp of `count` numbers. */
static double log_sum(const double *x, size_t count) {
    double most = -INFINITY, sum = 0.0;
    for (size_t k = 0; k < count; k++) most = fmax(most, x[k]);
    if (most == -INFINITY) return most;
    for (size_t k = 0; k < count; k++) sum += exp(x[k] - most);
    return most + log(sum);
}

/* w <- the average of all candidates by exp(score). */
static bb_status average(const bb_mixed_board *mixed, const bb_local *local,
                         const double *score, double *w, const room *r) {
    const double total = log_sum(score, BB_MIXED_FITS);
    memset(w, 0, local->d * sizeof *w);
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++) {
        bb_spectrum s;
        if (!bb_mixed_has(mixed, 2 * kind + 1)) continue;
        const bb_status status = open_kind(mixed, local, (bb_mixed_kind)kind, &s, r);
        if (status) return status;
        for (size_t group = 2 * kind; group < 2 * kind + 2; group++) {
            const double *cell = score + group * BB_MIXED_CELLS;
            double share[BB_MIXED_PENALTIES] = {0};
            if (!bb_mixed_has(mixed, group)) continue;
            for (size_t k = 0; k < BB_MIXED_CELLS; k++)
                share[k / BB_MIXED_LEVELS] += exp(cell[k] - total);
            if (local->n > 0) (void)project(local, &s, centre_of(mixed, group), r);
            add_models(local, &s, centre_of(mixed, group), share, w, r);
        }
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

/* From the centre to the task's mean under the covariance as it is known, shortened
 * where rows are few. */
static bb_status deviation(const bb_mixed_board *mixed, bb_task *task, double *u) {
    const size_t d = mixed->d, n = task->local->n;
    const room r = room_of(task, task->work);
    const double *centre = mixed->found ? mixed->centre : NULL;
    const bb_mixed_kind kind =
        mixed->iteration && mixed->directions > 0.0 ? BB_MIXED_ONCE : BB_MIXED_PLAIN;
    double evidence[BB_MIXED_CELLS], share[BB_MIXED_PENALTIES] = {0};
    bb_spectrum s;
    memset(u, 0, d * sizeof *u);
    if (n == 0) return BB_OK;
    const bb_status status = open_kind(mixed, task->local, kind, &s, &r);
    if (status) return status;
    weigh(task->local, &s, project(task->local, &s, centre, &r), r.b, evidence);
    const double total = log_sum(evidence, BB_MIXED_CELLS);
    for (size_t k = 0; k < BB_MIXED_CELLS; k++)
        share[k / BB_MIXED_LEVELS] += exp(evidence[k] - total);
    add_models(task->local, &s, NULL, share, u, &r);
    normalise(d, sqrt(fmin(1.0, (double)n / (double)d)), u);
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
        *own.voted = weigh_all(&mixed, task->local, own.evidence, &r) ? 0.0 : 1.0;
        break;
    }
    default:
        break;
    }
}

/* What speaks for each of `count` around their mean, inside the unit ball; -infinity
 * is no candidate. How bad the bad ones are does not matter beyond `worst_odds`. */
static void show_scores(size_t count, const double *score, double *vote) {
    double most = -INFINITY, mean = 0.0, candidates = 0.0;
    for (size_t k = 0; k < count; k++) most = fmax(most, score[k]);
    for (size_t k = 0; k < count; k++) {
        if (score[k] == -INFINITY) continue;
        vote[k] = fmax(score[k] - most, -worst_odds);
        mean += vote[k];
        candidates++;
    }
    for (size_t k = 0; k < count; k++)
        if (score[k] != -INFINITY) vote[k] -= mean / candidates;
    const double norm = bb_norm(count, vote);
    if (norm > 1.0) bb_scale(count, 1.0 / norm, vote);
}

static void show_groups(const home *own, double *vote) {
    double score[BB_MIXED_GROUPS];
    for (size_t g = 0; g < BB_MIXED_GROUPS; g++)
        score[g] = log_sum(own->evidence + g * BB_MIXED_CELLS, BB_MIXED_CELLS);
    show_scores(BB_MIXED_GROUPS, score, vote);
}

static void show_cells(const bb_mixed_board *mixed, const home *own, double *vote) {
    double score[BB_MIXED_CELLS], group[BB_MIXED_GROUPS];
    for (size_t k = 0; k < BB_MIXED_CELLS; k++) {
        for (size_t g = 0; g < BB_MIXED_GROUPS; g++)
            group[g] = own->evidence[g * BB_MIXED_CELLS + k] + mixed->group[g];
        score[k] = log_sum(group, BB_MIXED_GROUPS);
    }
    show_scores(BB_MIXED_CELLS, score, vote);
}

void bb_mixed_show(const bb_view *view, const bb_task *task, double *const *block) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    const home own = home_of(task, mixed.d);
    const bool votes = *own.voted > 0.0 && task->local->n > 0;
    switch (mixed.phase) {
    case BB_MIXED_GROUP_VOTE:
        if (votes) show_groups(&own, block[0]);
        break;
    case BB_MIXED_CELL_VOTE:
        if (votes) show_cells(&mixed, &own, block[0]);
        break;
    default:
        memcpy(block[0], own.direction, mixed.d * sizeof **block);
    }
}

bb_status bb_mixed_finish(const bb_view *view, bb_task *task) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    const home own = home_of(task, mixed.d);
    double *score = task->work;
    const room r = room_of(task, score + BB_MIXED_FITS);
    if (*own.voted == 0.0) {
        const bb_status status = weigh_all(&mixed, task->local, own.evidence, &r);
        if (status) return status;
    }
    for (size_t k = 0; k < BB_MIXED_FITS; k++)
        score[k] = own.evidence[k] + mixed.group[k / BB_MIXED_CELLS] +
                   mixed.cell[k % BB_MIXED_CELLS];
    const bb_status status = average(&mixed, task->local, score, task->model, &r);
    *task->intercept = 0.0;
    return status;
}

size_t bb_mixed_local_length(const bb_view *view, const bb_local *local) {
    const size_t d = view->pub->features;
    const size_t search = d + bb_local_work(local);
    const size_t fits = BB_MIXED_FITS + room_length(local->n, d);
    return search > fits ? search : fits;
}
