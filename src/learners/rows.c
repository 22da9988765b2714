#include "learners/rows.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { BLOCK_ROWS = 256 };

size_t bb_rows_entries(const bb_rows *rows) {
    if (rows->n == 0) return 0;
    if (rows->x) return rows->n * rows->d;
    return rows->sparse_first[rows->n] - rows->sparse_first[0];
}

static double sparse_dot(const bb_rows *rows, size_t j, const double *w) {
    double sum = 0;
    for (size_t e = rows->sparse_first[j]; e < rows->sparse_first[j + 1]; e++)
        sum += rows->sparse_value[e] * w[rows->sparse_column[e]];
    return sum;
}

void bb_rows_multiply(const bb_rows *rows, const double *w, double *p) {
    if (rows->x)
        bb_multiply(rows->n, rows->d, 1, rows->x, w, 0, p);
    else
        for (size_t j = 0; j < rows->n; j++) p[j] = sparse_dot(rows, j, w);
}

/* out[column] += a x_j */
static void sparse_add(const bb_rows *rows, size_t j, double a, double *out) {
    for (size_t e = rows->sparse_first[j]; e < rows->sparse_first[j + 1]; e++)
        out[rows->sparse_column[e]] += a * rows->sparse_value[e];
}

void bb_rows_combine(const bb_rows *rows, const double *u, double *g) {
    if (rows->x) {
        bb_multiply_transposed(rows->n, rows->d, 1, rows->x, u, 0, g);
        return;
    }
    memset(g, 0, rows->d * sizeof *g);
    for (size_t j = 0; j < rows->n; j++) sparse_add(rows, j, u[j], g);
}

void bb_rows_squares(const bb_rows *rows, double *out) {
    const size_t n = rows->n, d = rows->d;
    memset(out, 0, d * sizeof *out);
    if (rows->x) {
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < d; k++)
                out[k] += rows->x[j * d + k] * rows->x[j * d + k];
        return;
    }
    const size_t *first = rows->sparse_first;
    for (size_t e = n ? first[0] : 0; n && e < first[n]; e++)
        out[rows->sparse_column[e]] += rows->sparse_value[e] * rows->sparse_value[e];
}

static size_t block_rows(const bb_rows *rows) {
    return rows->n < BLOCK_ROWS ? rows->n : BLOCK_ROWS;
}

size_t bb_rows_block(const bb_rows *rows) {
    return block_rows(rows) * (rows->d + 1);
}

/* One row, dense, centred, multiplied by `factor`, with a one at its end if asked. */
static void copy_row(const bb_rows *rows, size_t j, const double *mean, double factor,
                     bool ones, double *out) {
    const size_t d = rows->d;
    if (rows->x) {
        memcpy(out, rows->x + j * d, d * sizeof *out);
    } else {
        memset(out, 0, d * sizeof *out);
        sparse_add(rows, j, 1, out);
    }
    if (mean)
        for (size_t k = 0; k < d; k++) out[k] -= mean[k];
    if (factor != 1)
        for (size_t k = 0; k < d; k++) out[k] *= factor;
    if (ones) out[d] = factor;
}

void bb_rows_copy(const bb_rows *rows, size_t j, const double *mean, double *out) {
    copy_row(rows, j, mean, 1, false, out);
}

void bb_rows_covariance(const bb_rows *rows, double s, const double *mean,
                        const double *f, bool ones, double *G, double *block) {
    const size_t width = rows->d + (ones ? 1 : 0), step = block_rows(rows);
    if (rows->x && !mean && !f && !ones) {
        bb_gram(rows->n, width, s, rows->x, 0, G);
        return;
    }
    memset(G, 0, width * width * sizeof *G);
    for (size_t first = 0; first < rows->n; first += step) {
        const size_t count = rows->n - first < step ? rows->n - first : step;
        for (size_t j = 0; j < count; j++)
            copy_row(rows, first + j, mean, f ? sqrt(f[first + j]) : 1, ones,
                     block + j * width);
        bb_gram(count, width, s, block, first ? 1 : 0, G);
    }
}

void bb_rows_kernel(const bb_rows *rows, double *K, double *scratch) {
    const size_t n = rows->n;
    if (rows->x) {
        bb_gram_rows(n, rows->d, 1, rows->x, K);
        return;
    }
    memset(scratch, 0, rows->d * sizeof *scratch);
    for (size_t i = 0; i < n; i++) {
        sparse_add(rows, i, 1, scratch);
        for (size_t j = 0; j <= i; j++)
            K[i * n + j] = K[j * n + i] = sparse_dot(rows, j, scratch);
        for (size_t e = rows->sparse_first[i]; e < rows->sparse_first[i + 1]; e++)
            scratch[rows->sparse_column[e]] = 0;
    }
}

void bb_rows_centre(size_t n, double *K, double *scratch) {
    double all = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) sum += K[i * n + j];
        scratch[i] = sum / (double)n;
        all += scratch[i];
    }
    all /= (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            K[i * n + j] = (K[i * n + j] - (scratch[i] + scratch[j])) + all;
}
