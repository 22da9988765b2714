/* One task's Gram matrix under a prior's covariance, for many penalties. */
#include "methods/ridge_path.h"

#include "linalg/linalg.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool is_by_rows(const bb_local *local) {
    return local->n < local->d;
}

/* -- between features and the prior's own coordinates -- */

/* x <- R' x. work: d. */
static void into(const bb_covariance *prior, size_t d, double *x, double *work) {
    if (prior->basis) {
        bb_multiply(d, d, 1.0, prior->basis, x, 0.0, work);
        memcpy(x, work, d * sizeof *x);
    }
    for (size_t a = 0; prior->root && a < d; a++) x[a] *= prior->root[a];
}

/* w <- w + R q; q is lost. */
static void add_back(const bb_covariance *prior, size_t d, double *q, double *w) {
    for (size_t a = 0; prior->root && a < d; a++) q[a] *= prior->root[a];
    if (prior->basis)
        bb_multiply_transposed(d, d, 1.0, prior->basis, q, 1.0, w);
    else
        bb_axpy(d, 1.0, q, w);
}

/* out (d x d) <- R, a direction each column. */
static void root_of(const bb_covariance *prior, size_t d, double *out) {
    for (size_t a = 0; a < d; a++) {
        const double root = prior->root ? prior->root[a] : 1.0;
        for (size_t k = 0; k < d; k++) out[k * d + a] = root * prior->basis[a * d + k];
    }
}

/* out (d) <- one root over the other, 0 where that is. */
static void root_over(const bb_covariance *prior, const bb_covariance *other, size_t d,
                      double *out) {
    for (size_t a = 0; a < d; a++) {
        const double root = prior->root ? prior->root[a] : 1.0;
        const double before = other->root ? other->root[a] : 1.0;
        out[a] = before != 0.0 ? root / before : 0.0;
    }
}

/* -- n >= d: R' G R with G = weight X'X -- */

static size_t length_by_features(const bb_local *local) {
    const size_t d = local->d, own = local->gram ? 0 : bb_strips_length(d);
    const size_t gram = local->gram ? 0 : d * d + d + bb_local_hessian_work(local);
    const size_t scratch = 3 * d * d > gram ? 3 * d * d : gram;
    return own + 4 * d + bb_tridiagonal_length(d) + scratch;
}

static bb_status open_by_features(bb_ridge_path *path, const bb_ridge_path *from,
                                  double *room) {
    const bb_local *local = path->local;
    const bb_covariance *prior = &path->covariance;
    const size_t d = local->d;
    path->towards = room;
    path->q = path->towards + d;
    path->kept = path->q + d;
    path->a = path->kept + d;
    room = path->a + d;
    memset(path->kept, 0, d * sizeof *path->kept);
    double *own = room + bb_tridiagonal_length(d), bend;
    double *matrix = own + (local->gram ? 0 : bb_strips_length(d));
    double *work = matrix + d * d;
    path->turned = matrix;
    if (from) {
        path->gram = from->gram;
        memcpy(matrix, from->turned, d * d * sizeof *matrix);
        root_over(prior, &from->covariance, d, path->q);
    } else {
        path->gram = local->gram ? local->gram : own;
        bb_local_hessian(local, NULL, 0.0, matrix, work, &bend, work + d);
        if (!local->gram) bb_strips_pack(d, matrix, own);
    }
    if (prior->basis && !from) {
        root_of(prior, d, work);
        bb_product(d, d, d, 1.0, matrix, work, 0.0, work + d * d);
        bb_product_transposed(d, d, d, 1.0, work, work + d * d, 0.0, matrix);
        return bb_tridiagonal_open(&path->matrix, d, matrix, room);
    }
    const double *root = from ? path->q : prior->root;
    for (size_t a = 0; root && a < d; a++)
        for (size_t b = 0; b < d; b++) matrix[a * d + b] *= root[a] * root[b];
    return bb_tridiagonal_open(&path->matrix, d, matrix, room);
}

/* R'(X'y - G centre), turned. */
static void centre_by_features(bb_ridge_path *path, const double *centre) {
    const bb_local *local = path->local;
    const size_t d = local->d;
    double *r = path->towards;
    path->squares = local->yy;
    if (!centre) {
        memcpy(r, local->xy, d * sizeof *r);
    } else {
        bb_strips_slope(d, path->gram, centre, local->xy, r);
        bb_scale(d, -1.0, r);
        path->squares -= bb_dot(d, centre, local->xy) + bb_dot(d, centre, r);
    }
    into(&path->covariance, d, r, path->q);
    bb_tridiagonal_into(&path->matrix, r);
}

/* -- n < d: K = weight X R R'X' -- */

static size_t length_by_rows(const bb_local *local) {
    const size_t n = local->n, d = local->d;
    return n * d + 3 * n + d + bb_tridiagonal_length(n) + d * d + n * d;
}

/* Rows of the task, dense, centred if it has an own intercept. */
static void copy_rows(const bb_local *local, double *x) {
    const size_t n = local->n, d = local->d;
    if (local->x) {
        memcpy(x, local->x, n * d * sizeof *x);
    } else {
        memset(x, 0, n * d * sizeof *x);
        for (size_t j = 0; j < n; j++)
            for (size_t k = local->sparse_first[j]; k < local->sparse_first[j + 1]; k++)
                x[j * d + local->sparse_column[k]] = local->sparse_value[k];
    }
    for (size_t j = 0; local->x_mean && j < n; j++)
        bb_axpy(d, -1.0, local->x_mean, x + j * d);
}

static bb_status open_by_rows(bb_ridge_path *path, const bb_ridge_path *from,
                              double *room) {
    const bb_local *local = path->local;
    const bb_covariance *prior = &path->covariance;
    const size_t n = local->n, d = local->d;
    double *x = room, *kernel;
    path->rows = x;
    path->towards = x + n * d;
    path->kept = path->towards + n;
    path->a = path->kept + n;
    path->q = path->a + n;
    room = path->q + d;
    memset(path->kept, 0, n * sizeof *path->kept);
    kernel = room + bb_tridiagonal_length(n);
    if (prior->basis && !from) {
        double *root = kernel, *plain = root + d * d;
        copy_rows(local, plain);
        root_of(prior, d, root);
        bb_product(n, d, d, 1.0, plain, root, 0.0, x);
    } else {
        const double *root = from ? path->q : prior->root;
        if (from) {
            memcpy(x, from->rows, n * d * sizeof *x);
            root_over(prior, &from->covariance, d, path->q);
        } else {
            copy_rows(local, x);
        }
        for (size_t j = 0; root && j < n; j++)
            for (size_t a = 0; a < d; a++) x[j * d + a] *= root[a];
    }
    bb_gram_rows(n, d, local->weight, x, kernel);
    return bb_tridiagonal_open(&path->matrix, n, kernel, room);
}

/* weight (y - X centre), turned. */
static void centre_by_rows(bb_ridge_path *path, const double *centre) {
    const bb_local *local = path->local;
    double *u = path->towards;
    memset(path->q, 0, local->d * sizeof *path->q);
    bb_local_residual(local, centre ? centre : path->q, 0.0, u);
    bb_scale(local->n, -1.0, u);
    path->squares = local->n ? bb_dot(local->n, u, u) / local->weight : 0.0;
    bb_tridiagonal_into(&path->matrix, u);
}

/* -- both -- */

size_t bb_ridge_path_length(const bb_local *local) {
    return is_by_rows(local) ? length_by_rows(local) : length_by_features(local);
}

bb_status bb_ridge_path_open(bb_ridge_path *path, const bb_local *local,
                             const bb_covariance *covariance, double *room) {
    return bb_ridge_path_open_from(path, NULL, local, covariance, room);
}

bb_status bb_ridge_path_open_from(bb_ridge_path *path, const bb_ridge_path *from,
                                  const bb_local *local,
                                  const bb_covariance *covariance, double *room) {
    *path = (bb_ridge_path){.local = local, .covariance = *covariance};
    return is_by_rows(local) ? open_by_rows(path, from, room)
                             : open_by_features(path, from, room);
}

void bb_ridge_path_centre(bb_ridge_path *path, const double *centre) {
    if (is_by_rows(path->local))
        centre_by_rows(path, centre);
    else
        centre_by_features(path, centre);
}

void bb_ridge_path_weigh(const bb_ridge_path *path, size_t count, const double *penalty,
                         double *log_det, double *least) {
    const bb_local *local = path->local;
    bb_tridiagonal_weigh(&path->matrix, path->towards, count, penalty, log_det, least);
    for (size_t l = 0; l < count; l++) {
        if (local->n == 0)
            least[l] = 0.0;
        else if (is_by_rows(local))
            least[l] *= penalty[l] / local->weight;
        else
            least[l] = path->squares - least[l];
    }
}

void bb_ridge_path_left_out(const bb_ridge_path *path, size_t count,
                            const double *penalty, double *error) {
    enum { MOST = 16 }; /* at once */
    const double n = (double)path->local->n, d = (double)path->local->d;
    double square[MOST], trace[MOST];
    assert(n > d);
    for (size_t from = 0, taken; from < count; from += taken) {
        taken = count - from < MOST ? count - from : MOST;
        bb_tridiagonal_inverse(&path->matrix, path->towards, taken, penalty + from,
                               error + from, square, trace);
        for (size_t k = 0, l = from; k < taken; k++, l++) {
            const double rest = path->squares - error[l] - penalty[l] * square[k];
            const double free = 1.0 - (d - penalty[l] * trace[k]) / n;
            error[l] = fmax(rest, 0.0) / (path->local->weight * free * free);
        }
    }
}

void bb_ridge_path_keep(const bb_ridge_path *path, size_t count, const double *penalty,
                        const double *share) {
    bb_tridiagonal_average(&path->matrix, path->towards, count, penalty, share,
                           path->a);
    bb_axpy(path->matrix.n, 1.0, path->a, path->kept);
}

void bb_ridge_path_add(const bb_ridge_path *path, double *w) {
    const bb_local *local = path->local;
    const size_t order = path->matrix.n;
    double *kept = path->kept, *q = path->q;
    bb_tridiagonal_back(&path->matrix, kept);
    if (is_by_rows(local))
        bb_multiply_transposed(local->n, local->d, 1.0, path->rows, kept, 0.0, q);
    else
        memcpy(q, kept, order * sizeof *q);
    memset(kept, 0, order * sizeof *kept);
    add_back(&path->covariance, local->d, q, w);
}
