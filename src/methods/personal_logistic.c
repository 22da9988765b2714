#include "methods/personal_logistic.h"

#include "learners/rows.h"
#include "linalg/linalg.h"
#include "methods/personal_average.h"

#include <math.h>
#include <string.h>

static bool uses_rows(const bb_local *local) {
    return local->n < local->d;
}

static size_t greater(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Few rows: their products have few entries, and eight matrices of that order fit in a
 * cache. */
static bool uses_eight(const bb_local *local) {
    return local->n <= BB_EIGHT_MOST && local->n <= 3 * local->d;
}

static size_t eight_work(const bb_local *local) {
    const size_t n = local->n;
    return uses_eight(local) ? n * n + n * BB_EIGHT + bb_newton_eight_work(n) : 0;
}

static size_t single_work(const bb_local *local) {
    const size_t d = local->d, n = local->n;
    if (uses_rows(local)) {
        const size_t inverse = bb_invert_work(n) / sizeof(double) + 1;
        const size_t fit = bb_local_ridge_kernel_work(local);
        return 3 * n * n + 4 * n + d + greater(d, greater(fit, inverse));
    }
    return 2 * n * d + d * d + 3 * d + 2 * n + greater(bb_local_work(local), d);
}

size_t bb_logistic_fits_work(const bb_local *local) {
    return single_work(local) + eight_work(local);
}

static double last_entry(const bb_rows *rows, size_t j) {
    const uint32_t last = (uint32_t)(rows->d - 1);
    if (rows->x) return rows->x[j * rows->d + last];
    for (size_t e = rows->sparse_first[j]; e < rows->sparse_first[j + 1]; e++)
        if (rows->sparse_column[e] == last) return rows->sparse_value[e];
    return 0.0;
}

static double constant_of(const bb_rows *rows) {
    const double first = last_entry(rows, 0);
    for (size_t j = 1; j < rows->n; j++)
        if (last_entry(rows, j) != first) return 0.0;
    return first;
}

/* The products of the rows are those of `single' where it has them. */
static void open_eight(bb_logistic_fits *fits, const bb_local *local, double *work) {
    const bb_rows rows = bb_rows_of(local);
    const size_t n = local->n;
    fits->by_eight = true;
    fits->offsets = work + n * n;
    fits->eight = bb_newton_eight_open(n, fits->offsets + n * BB_EIGHT);
    fits->eight.K = fits->by_rows ? fits->products : work;
    fits->eight.y = local->y;
    fits->eight.offset = fits->offsets;
    if (!fits->by_rows) bb_rows_kernel(&rows, work, fits->rest);
}

void bb_logistic_fits_open(bb_logistic_fits *fits, const bb_local *local,
                           double *work) {
    const bb_rows rows = bb_rows_of(local);
    const size_t d = local->d, n = local->n;
    *fits = (bb_logistic_fits){.local = local, .by_rows = uses_rows(local), .w = work};
    fits->eta = fits->w + d;
    fits->curvature = fits->eta + n;
    fits->matrix = fits->curvature + n;
    if (fits->by_rows) {
        fits->products = fits->matrix + n * n;
        fits->stretched = fits->products + n * n;
        fits->offset = fits->stretched + n * n;
        fits->a = fits->offset + n;
        fits->rest = fits->a + n;
        memset(fits->a, 0, n * sizeof *fits->a);
        bb_rows_kernel(&rows, fits->products, fits->rest);
    } else {
        fits->rows = fits->matrix + d * d;
        fits->half = fits->rows + n * d;
        fits->centre = fits->half + n * d;
        fits->a = fits->centre + d;
        fits->rest = fits->a + d;
        memset(fits->a, 0, d * sizeof *fits->a);
        for (size_t j = 0; j < n; j++) bb_rows_copy(&rows, j, NULL, fits->rows + j * d);
        fits->as = *local;
        fits->as.x = fits->rows;
        fits->as.sparse_first = NULL;
        fits->as.sparse_column = NULL;
        fits->as.sparse_value = NULL;
    }
    fits->constant = constant_of(&rows);
    if (uses_eight(local)) open_eight(fits, local, work + single_work(local));
}

/* How much the constant is stretched. */
static double stretch_of(const bb_logistic_fits *fits, double weight, double free) {
    return free > 0.0 ? sqrt(weight) * free / fabs(fits->constant) : 1.0;
}

static bb_status next_by_features(bb_logistic_fits *fits, double weight,
                                  const double *centre, double stretch) {
    const bb_local *as = &fits->as;
    const size_t n = as->n, d = as->d;
    double b;
    for (size_t j = 0; fits->constant != 0.0 && j < n; j++)
        fits->rows[j * d + d - 1] = stretch * fits->constant;
    memset(fits->centre, 0, d * sizeof *fits->centre);
    if (centre) memcpy(fits->centre, centre, d * sizeof *centre);
    fits->centre[d - 1] /= stretch;
    const bb_status status = bb_local_ridge_again(as, weight * as->weight, fits->centre,
                                                  fits->a, fits->w, &b, fits->rest);
    if (status) return status;
    bb_multiply(n, d, 1.0, fits->rows, fits->w, 0.0, fits->eta);
    fits->square = 0.0;
    for (size_t k = 0; k < d; k++) {
        const double moved = fits->w[k] - fits->centre[k];
        fits->square += moved * moved;
    }
    fits->w[d - 1] *= stretch;
    return BB_OK;
}

/* What a stretch adds to all products. */
static double stretched_by(const bb_logistic_fits *fits, double stretch) {
    return (stretch * stretch - 1.0) * fits->constant * fits->constant;
}

static void stretch_products(bb_logistic_fits *fits, double stretch) {
    const size_t n = fits->local->n;
    const double more = stretched_by(fits, stretch);
    for (size_t k = 0; k < n * n; k++) fits->stretched[k] = fits->products[k] + more;
}

static bb_status next_by_rows(bb_logistic_fits *fits, double weight,
                              const double *centre, double stretch) {
    const bb_local *local = fits->local;
    const bb_rows rows = bb_rows_of(local);
    const size_t n = local->n, d = local->d;
    stretch_products(fits, stretch);
    memset(fits->offset, 0, n * sizeof *fits->offset);
    if (centre) bb_rows_multiply(&rows, centre, fits->offset);
    const bb_status status =
        bb_local_ridge_kernel(local, weight * local->weight, fits->stretched,
                              fits->offset, fits->a, fits->rest);
    if (status) return status;
    bb_multiply(n, n, 1.0, fits->stretched, fits->a, 0.0, fits->eta);
    fits->square = bb_dot(n, fits->a, fits->eta);
    bb_axpy(n, 1.0, fits->offset, fits->eta);
    bb_rows_combine(&rows, fits->a, fits->w);
    if (fits->constant != 0.0) fits->w[d - 1] *= stretch * stretch;
    if (centre) bb_axpy(d, 1.0, centre, fits->w);
    return BB_OK;
}

/* log(1 + exp(-margin)) */
double bb_logistic_loss(double margin) {
    return fmax(0.0, -margin) + log1p(exp(-fabs(margin)));
}

static void look_around(bb_logistic_fits *fits, double weight) {
    const bb_local *local = fits->local;
    const size_t n = local->n, d = local->d, order = fits->by_rows ? n : d;
    double *root = fits->rest;
    for (size_t j = 0; j < n; j++) root[j] = sqrt(fits->curvature[j] / weight);
    for (size_t i = 0; i < n; i++) {
        const double own = root[i];
        if (fits->by_rows)
            for (size_t j = 0; j < n; j++)
                fits->matrix[i * n + j] = own * fits->stretched[i * n + j] * root[j];
        else
            for (size_t k = 0; k < d; k++)
                fits->half[i * d + k] = own * fits->rows[i * d + k];
    }
    if (!fits->by_rows) bb_gram(n, d, 1.0, fits->half, 0.0, fits->matrix);
    for (size_t k = 0; k < order; k++) fits->matrix[k * order + k] += 1.0;
}

bb_status bb_logistic_fits_next(bb_logistic_fits *fits, double weight,
                                const double *centre, double free) {
    const double stretch = stretch_of(fits, weight, free);
    const bb_status status = fits->by_rows
                                 ? next_by_rows(fits, weight, centre, stretch)
                                 : next_by_features(fits, weight, centre, stretch);
    if (status) return status;
    fits->loss = 0.0;
    for (size_t j = 0; j < fits->local->n; j++) {
        const double margin = fits->local->y[j] * fits->eta[j];
        const double p = 1.0 / (1.0 + exp(margin));
        fits->curvature[j] = p * (1.0 - p);
        fits->loss += bb_logistic_loss(margin);
    }
    look_around(fits, weight);
    return BB_OK;
}

bb_status bb_logistic_fits_log_det(bb_logistic_fits *fits, double *out) {
    const size_t order = fits->by_rows ? fits->local->n : fits->local->d;
    *out = 0.0;
    const bb_status status = bb_cholesky(order, fits->matrix);
    for (size_t k = 0; k < order && !status; k++)
        *out += 2.0 * log(fits->matrix[k * order + k]);
    return status;
}

/* Below it a row bends nothing. */
static const double least_curvature = 1e-12;
/* What a row has of its own prediction, at most. */
static const double most_leverage = 0.999;

double bb_logistic_fits_left_out(bb_logistic_fits *fits) {
    const size_t n = fits->local->n, d = fits->local->d;
    double loss = 0.0, *owned = fits->rest;
    bb_personal_leverages(false, n, d, fits->matrix, fits->half, owned);
    for (size_t j = 0; j < n; j++) {
        const double y = fits->local->y[j], own = fmin(most_leverage, owned[j]);
        const double pull = y / (1.0 + exp(y * fits->eta[j]));
        const double bent = fmax(fits->curvature[j], least_curvature);
        fits->eta[j] -= pull * own / (bent * (1.0 - own));
        loss += bb_logistic_loss(y * fits->eta[j]);
    }
    return loss;
}

bb_status bb_logistic_fits_doubt(bb_logistic_fits *fits, const double *w, double weight,
                                 double free, const double **eta, double *v) {
    const bb_rows rows = bb_rows_of(fits->local);
    const size_t n = rows.n, d = rows.d;
    const double stretch = stretch_of(fits, weight, free);
    bb_rows_multiply(&rows, w, fits->eta);
    for (size_t j = 0; j < n; j++) {
        const double p = 1.0 / (1.0 + exp(fits->eta[j]));
        fits->curvature[j] = fmax(p * (1.0 - p), least_curvature);
    }
    if (fits->by_rows) stretch_products(fits, stretch);
    for (size_t j = 0; !fits->by_rows && fits->constant != 0.0 && j < n; j++)
        fits->rows[j * d + d - 1] = stretch * fits->constant;
    look_around(fits, weight);
    *eta = fits->eta;
    const bb_status status = bb_cholesky(fits->by_rows ? n : d, fits->matrix);
    if (status) return status;
    bb_personal_leverages(fits->by_rows, n, d, fits->matrix,
                          fits->by_rows ? fits->stretched : fits->half, v);
    for (size_t j = 0; j < n; j++) v[j] /= fits->curvature[j];
    return BB_OK;
}

/* -- eight at once -- */

/* offsets <- the predictions under each lane's centre; one centre is often that of half of
 * them. */
static void predict_centres(bb_logistic_fits *fits, size_t kinds,
                            const bb_logistic_kind *kind) {
    const bb_rows rows = bb_rows_of(fits->local);
    const size_t n = fits->local->n;
    double *p = fits->eight.room;
    for (size_t k = 0; k < kinds; k++) {
        if (kind[k].centre)
            bb_rows_multiply(&rows, kind[k].centre, p);
        else
            memset(p, 0, n * sizeof *p);
        for (size_t j = 0; j < n; j++)
            for (size_t l = k; l < BB_EIGHT; l += kinds)
                fits->offsets[j * BB_EIGHT + l] = p[j];
    }
}

bool bb_logistic_fits_eight(bb_logistic_fits *fits, size_t kinds,
                            const bb_logistic_kind *kind, const double *weight) {
    bb_eight *e = &fits->eight;
    for (size_t l = 0; l < BB_EIGHT; l++) {
        const double stretch = stretch_of(fits, weight[l], kind[l % kinds].free);
        e->lambda[l] = weight[l];
        e->more[l] = stretched_by(fits, stretch);
    }
    for (size_t j = 0; j < e->n; j++) {
        double *a = e->a + j * BB_EIGHT;
        for (size_t l = 0; l < BB_EIGHT - kinds; l++)
            a[l] = a[BB_EIGHT - kinds + l % kinds];
    }
    predict_centres(fits, kinds, kind);
    if (bb_newton_eight(e, fits->objective, fits->log_det)) return true;
    memset(e->a, 0, e->n * BB_EIGHT * sizeof *e->a);
    return false;
}

void bb_logistic_fits_take(bb_logistic_fits *fits, const bb_logistic_kind *kind,
                           double weight, size_t lane) {
    const bb_rows rows = bb_rows_of(fits->local);
    const size_t n = fits->local->n, d = fits->local->d;
    const double stretch = stretch_of(fits, weight, kind->free);
    double *a = fits->eight.room;
    for (size_t j = 0; j < n; j++) a[j] = fits->eight.a[j * BB_EIGHT + lane];
    bb_rows_combine(&rows, a, fits->w);
    if (fits->constant != 0.0) fits->w[d - 1] *= stretch * stretch;
    if (kind->centre) bb_axpy(d, 1.0, kind->centre, fits->w);
}
