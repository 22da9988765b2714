/* With S = (A + penalty I)^-1 of the path's matrix A and a residual r, the minimum without
 * a freer direction u is S r. By features, A = weight X'X, the penalty along u is less:
 * - penalty freer / (1 + freer) u u' comes to A. By rows, A = weight X X', what comes to it is
 * freer weight X u u'X'. Both make S (r - bend v) of S r, v = u or weight X u. */
#include "methods/ridge_sides.h"

#include "linalg/linalg.h"

#include <string.h>

enum { WIDTH = 8, CENTRE = 1, DIRECTION = 2 };
_Static_assert(DIRECTION + BB_RIDGE_DIRECTIONS == BB_TRIDIAGONAL_SIDES, "sides");

size_t bb_ridge_sides_length(const bb_local *local, size_t count) {
    const size_t order = local->n < local->d ? local->n : local->d;
    return order * (WIDTH + 1) +
           (1 + BB_TRIDIAGONAL_FORMS + BB_TRIDIAGONAL_SIDES) * count;
}

static bool by_rows(const bb_ridge_sides *s) {
    return s->path->rows;
}

/* Column k of s->turned <- what follows a[order]. */
static void set_side(bb_ridge_sides *s, size_t k, const double *a) {
    for (size_t i = 0; i < s->path->matrix.n; i++) s->turned[i * WIDTH + k] = a[i];
}

/* r (order) <- the residual around centre, and its squares. */
static double residual(const bb_ridge_path *path, const double *centre, double *r) {
    const bb_local *local = path->local;
    const size_t d = local->d;
    if (path->rows) {
        memset(path->q, 0, d * sizeof *path->q);
        bb_local_residual(local, centre ? centre : path->q, 0.0, r);
        bb_scale(local->n, -1.0, r);
        return bb_dot(local->n, r, r) / local->weight;
    }
    if (!centre) {
        memcpy(r, local->xy, d * sizeof *r);
        return local->yy;
    }
    bb_strips_slope(d, path->gram, centre, local->xy, r);
    bb_scale(d, -1.0, r);
    return local->yy - bb_dot(d, centre, local->xy) - bb_dot(d, centre, r);
}

void bb_ridge_sides_open(bb_ridge_sides *s, bb_ridge_path *path, const double *centre,
                         const double *const *direction, double freer, size_t count,
                         const double *penalty, double *room) {
    const bb_local *local = path->local;
    const size_t order = path->matrix.n;
    *s = (bb_ridge_sides){
        .path = path, .freer = freer, .count = count, .penalty = penalty};
    double *r = room + order * WIDTH;
    s->turned = room;
    s->log_det = r + order;
    s->form = s->log_det + count;
    s->share = s->form + BB_TRIDIAGONAL_FORMS * count;
    memset(s->turned, 0, order * WIDTH * sizeof *s->turned);
    memset(s->share, 0, BB_TRIDIAGONAL_SIDES * count * sizeof *s->share);
    s->squares[0] = residual(path, NULL, r);
    set_side(s, 0, r);
    if (centre) {
        s->squares[CENTRE] = residual(path, centre, r);
        set_side(s, CENTRE, r);
    }
    for (size_t k = 0; k < BB_RIDGE_DIRECTIONS; k++) {
        if (!(s->direction[k] = direction[k])) continue;
        if (path->rows)
            bb_multiply(local->n, local->d, local->weight, path->rows, direction[k],
                        0.0, r);
        set_side(s, DIRECTION + k, path->rows ? r : direction[k]);
    }
    bb_tridiagonal_into_sides(&path->matrix, s->turned);
    bb_tridiagonal_weigh_sides(&path->matrix, s->turned, count, penalty, s->log_det,
                               s->form);
}

/* Penalty l's v'S r, */
static double across(const bb_ridge_sides *s, size_t kind, bool around, size_t l) {
    return s->form[(2 * (kind + 1) + around) * s->count + l];
}

/* how much larger the determinant is for the freer direction, */
static double gain(const bb_ridge_sides *s, size_t kind, size_t l) {
    const double own = s->form[(kind + 1) * s->count + l]; /* v'S v */
    return 1.0 + s->freer * (by_rows(s) ? own / s->path->local->weight
                                        : 1.0 - s->penalty[l] * own);
}

/* and how much of S v comes off. */
static double bend(const bb_ridge_sides *s, size_t kind, bool around, size_t l) {
    const double unit = by_rows(s) ? 1.0 / s->path->local->weight : -s->penalty[l];
    return s->freer * unit * across(s, kind, around, l) / gain(s, kind, l);
}

void bb_ridge_sides_weigh(const bb_ridge_sides *s, size_t kind, bool around,
                          double *log_det, double *least) {
    const double *explained = s->form + around * s->count;
    for (size_t l = 0; l < s->count; l++) {
        log_det[l] = kind ? gain(s, kind, l) : 1.0;
        least[l] = explained[l];
        if (kind) least[l] -= bend(s, kind, around, l) * across(s, kind, around, l);
        if (by_rows(s))
            least[l] *= s->penalty[l] / s->path->local->weight;
        else
            least[l] = s->squares[around] - least[l];
    }
    if (kind) bb_log(s->count, log_det);
    for (size_t l = 0; l < s->count; l++)
        log_det[l] = s->log_det[l] + (kind ? log_det[l] : 0.0);
}

void bb_ridge_sides_keep(bb_ridge_sides *s, size_t kind, bool around,
                         const double *share) {
    bb_axpy(s->count, 1.0, share, s->share + around * s->count);
    for (size_t l = 0; kind && l < s->count; l++) {
        const double part = share[l] * bend(s, kind, around, l);
        s->share[(kind + 1) * s->count + l] -= part;
        s->along[kind - 1] += part;
    }
}

void bb_ridge_sides_add(bb_ridge_sides *s, double *w) {
    const bb_ridge_path *path = s->path;
    const bb_local *local = path->local;
    bb_tridiagonal_average_sides(&path->matrix, s->turned, s->count, s->penalty,
                                 s->share, path->a);
    bb_tridiagonal_back(&path->matrix, path->a);
    if (!path->rows) {
        bb_axpy(local->d, 1.0, path->a, w);
        return;
    }
    bb_multiply_transposed(local->n, local->d, 1.0, path->rows, path->a, 1.0, w);
    for (size_t k = 0; k < BB_RIDGE_DIRECTIONS; k++)
        if (s->direction[k]) bb_axpy(local->d, s->along[k], s->direction[k], w);
}
