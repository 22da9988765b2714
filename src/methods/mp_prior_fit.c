/* One task's half of mp-prior: ridge models and their evidence under a few public
 * priors. */
#include "linalg/linalg.h"
#include "methods/mp_prior.h"

#include <math.h>
#include <string.h>

/* Directions f_e (rows of `f`, rank x d) and curvatures g_e such that for every penalty
 * the model of a candidate is centre + sum_e f_e (f_e . r) / (g_e + penalty), r = c - G
 * centre: with R = U' sqrt(D^power) the g_e are the nonzero eigenvalues of R'GR, f_e =
 * R q_e. */
typedef struct family {
    size_t rank;
    double *f, *g;
} family;

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

void bb_prior_gram(const bb_local *local, double *gram, double *work) {
    if (local->gram) {
        memcpy(gram, local->gram, local->d * local->d * sizeof *gram);
    } else {
        copy_rows(local, work);
        bb_gram(local->n, local->d, local->weight, work, 0.0, gram);
    }
}

static double root_variance(const bb_prior *prior, int power, size_t a) {
    return power == 1 ? sqrt(prior->variance[a]) : prior->variance[a];
}

/* n >= d: eigenvectors of R'GR (d x d). */
static bb_status primal(const bb_prior *prior, const bb_local *local, int power,
                        family *out, double *work) {
    const size_t d = prior->d;
    double *gram = work, *matrix = gram + d * d, *column = matrix + d * d;
    double *eigen_work = column + d;
    bb_prior_gram(local, gram, eigen_work);
    if (power == 0) memcpy(matrix, gram, d * d * sizeof *gram);
    for (size_t a = 0; power > 0 && a < d; a++) {
        const double root = root_variance(prior, power, a);
        bb_multiply(d, d, root, gram, prior->basis + a * d, 0.0, column);
        bb_multiply(d, d, 1.0, prior->basis, column, 0.0, matrix + a * d);
        for (size_t b = 0; b < d; b++)
            matrix[a * d + b] *= root_variance(prior, power, b);
    }
    const bb_status status = bb_eigen(d, matrix, out->g, eigen_work);
    if (status) return status;
    out->rank = d;
    for (size_t e = 0; e < d; e++) {
        double *q = matrix + e * d;
        out->g[e] = fmax(out->g[e], 0.0);
        for (size_t a = 0; power > 0 && a < d; a++)
            q[a] *= root_variance(prior, power, a);
        if (power == 0)
            memcpy(out->f + e * d, q, d * sizeof *q);
        else
            bb_multiply_transposed(d, d, 1.0, prior->basis, q, 0.0, out->f + e * d);
    }
    return BB_OK;
}

/* n < d: eigenvectors v_e of K = X R R' X' / n (n x n); f_e = R R' X' v_e / sqrt(n
 * g_e). */
static bb_status dual(const bb_prior *prior, const bb_local *local, int power,
                      family *out, double *work) {
    const size_t n = local->n, d = prior->d;
    double *x = work, *kernel = x + n * d, *row = kernel + n * n, *column = row + d;
    double *eigen_work = column + d, most;
    copy_rows(local, x);
    for (size_t j = 0; power > 0 && j < n; j++) { /* x_j becomes R'x_j */
        bb_multiply(d, d, 1.0, prior->basis, x + j * d, 0.0, row);
        for (size_t a = 0; a < d; a++)
            x[j * d + a] = row[a] * root_variance(prior, power, a);
    }
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k <= j; k++)
            kernel[j * n + k] = kernel[k * n + j] =
                local->weight * bb_dot(d, x + j * d, x + k * d);
    const bb_status status = bb_eigen(n, kernel, out->g, eigen_work);
    if (status) return status;
    most = fmax(out->g[n - 1], 0.0);
    out->rank = n;
    for (size_t e = 0; e < n; e++) {
        double *f = out->f + e * d;
        if (out->g[e] <= 1e-15 * most) { /* nothing of the data lies here */
            out->g[e] = 0.0;
            memset(f, 0, d * sizeof *f);
            continue;
        }
        bb_multiply_transposed(n, d, sqrt(local->weight / out->g[e]), x, kernel + e * n,
                               0.0, column);
        for (size_t a = 0; power > 0 && a < d; a++)
            column[a] *= root_variance(prior, power, a);
        if (power == 0)
            memcpy(f, column, d * sizeof *f);
        else
            bb_multiply_transposed(d, d, 1.0, prior->basis, column, 0.0, f);
    }
    return BB_OK;
}

/* residual <- c - G centre; returns the mean square of y - X centre, yy if there is
 * none. */
static double from_centre(const bb_local *local, const double *centre, double *residual,
                          double *work) {
    const size_t d = local->d;
    memcpy(residual, local->xy, d * sizeof *residual);
    if (!centre) return local->yy;
    if (local->gram) {
        bb_multiply(d, d, -1.0, local->gram, centre, 1.0, residual);
    } else {
        double *x = work, *product = x + local->n * d;
        copy_rows(local, x);
        bb_multiply(local->n, d, 1.0, x, centre, 0.0, product);
        bb_multiply_transposed(local->n, d, -local->weight, x, product, 1.0, residual);
    }
    return local->yy - bb_dot(d, centre, local->xy) - bb_dot(d, centre, residual);
}

/* Model and log evidence of one candidate. */
static double fit_one(const bb_local *local, const family *fam, const double *centre,
                      double penalty, double *model, double *work) {
    const size_t d = local->d;
    double *residual = work, *b = work + d;
    double explained = 0.0, log_det = 0.0;
    const double square = from_centre(local, centre, residual, b + fam->rank);
    bb_multiply(fam->rank, d, 1.0, fam->f, residual, 0.0, b);
    for (size_t e = 0; e < fam->rank; e++) {
        const double shrunk = b[e] / (fam->g[e] + penalty);
        explained += b[e] * shrunk;
        log_det += log1p(fam->g[e] / penalty);
        b[e] = shrunk;
    }
    bb_multiply_transposed(fam->rank, d, 1.0, fam->f, b, 0.0, model);
    if (centre) bb_axpy(d, 1.0, centre, model);
    return -0.5 * log_det - 0.5 * (double)local->n *
                                log(fmax(square - explained, 1e-9 * local->yy + 1e-30));
}

/* A task without rows: every candidate is its centre, and all are equally likely. */
static void fit_nothing(const bb_prior *prior, size_t count,
                        const bb_prior_candidate *candidate, double *evidence,
                        double *model) {
    for (size_t k = 0; k < count; k++) {
        evidence[k] = 0.0;
        for (size_t a = 0; a < prior->d; a++)
            model[k * prior->d + a] = candidate[k].with_mean ? prior->mean[a] : 0.0;
    }
}

bb_status bb_prior_fit(const bb_prior *prior, const bb_local *local, double lambda,
                       size_t count, const bb_prior_candidate *candidate,
                       double *evidence, double *model, double *work) {
    const size_t d = prior->d, rank = local->n < d ? local->n : d;
    family fam = {.f = work, .g = work + rank * d};
    int power = -1;
    work = fam.g + rank;
    if (local->n == 0) {
        fit_nothing(prior, count, candidate, evidence, model);
        return BB_OK;
    }
    for (size_t k = 0; k < count; k++) {
        if (candidate[k].power != power) { /* candidates come sorted by power */
            power = candidate[k].power;
            const bb_status status = local->n < d
                                         ? dual(prior, local, power, &fam, work)
                                         : primal(prior, local, power, &fam, work);
            if (status) return status;
        }
        evidence[k] = fit_one(local, &fam, candidate[k].with_mean ? prior->mean : NULL,
                              lambda * candidate[k].multiplier, model + k * d, work);
    }
    return BB_OK;
}

size_t bb_prior_fit_length(size_t n, size_t d) {
    const size_t rank = n < d ? n : d;
    const size_t eigen = bb_eigen_work(rank) / sizeof(double) + 8;
    const size_t primal_length = 2 * d * d + d + (eigen > n * d ? eigen : n * d);
    const size_t dual_length = n * d + n * n + 2 * d + eigen;
    const size_t fit_length = d + rank + n * d + n;
    size_t most = n < d ? dual_length : primal_length;
    if (fit_length > most) most = fit_length;
    if (d * d + n * d > most) most = d * d + n * d; /* bb_prior_gram while showing */
    return rank * d + rank + most;
}
