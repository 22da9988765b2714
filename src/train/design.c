#include "train/design.h"

#include "base/memory.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A feature whose part that is not linear in those before has less than this of its
 * variance is left out. */
static const double least_part = 1e-7;

/* Row j of the features, dense. */
static void read_row(const bb_dataset *data, size_t j, double *row) {
    const size_t d = data->features;
    if (data->x) {
        memcpy(row, data->x + j * d, d * sizeof *row);
        return;
    }
    memset(row, 0, d * sizeof *row);
    for (size_t e = data->sparse_first[j]; e < data->sparse_first[j + 1]; e++)
        row[data->sparse_column[e]] = data->sparse_value[e];
}

/* Means and deviations of all features: room 3 x features. */
static void measure(const bb_dataset *data, double *mean, double *deviation,
                    double *row) {
    const size_t d = data->features;
    const double n = (double)data->rows;
    for (size_t j = 0; j < data->rows; j++) {
        read_row(data, j, row);
        bb_axpy(d, 1.0 / n, row, mean);
    }
    for (size_t j = 0; j < data->rows; j++) {
        read_row(data, j, row);
        for (size_t k = 0; k < d; k++)
            deviation[k] += (row[k] - mean[k]) * (row[k] - mean[k]);
    }
    for (size_t k = 0; k < d; k++)
        deviation[k] = data->rows > 1 ? sqrt(deviation[k] / (n - 1.0)) : 0.0;
}

static void fill(bb_design *design, const bb_dataset *data, double *row) {
    const size_t p = design->columns;
    for (size_t j = 0; j < data->rows; j++) {
        double *x = design->x + j * p;
        read_row(data, j, row);
        x[0] = 1.0;
        for (size_t c = 1; c < p; c++)
            x[c] = (row[design->place[c]] - design->mean[c]) / design->deviation[c];
    }
}

/* Keeps the columns whose flag is set. */
static void drop(bb_design *design, const bool *keep) {
    const size_t p = design->columns;
    size_t kept = 0;
    for (size_t c = 0; c < p; c++) {
        if (!keep[c]) continue;
        design->place[kept] = design->place[c];
        design->mean[kept] = design->mean[c];
        design->deviation[kept++] = design->deviation[c];
    }
    for (size_t j = 0; j < design->rows; j++) {
        size_t at = 0;
        for (size_t c = 0; c < p; c++)
            if (keep[c]) design->x[j * kept + at++] = design->x[j * p + c];
    }
    design->columns = kept;
}

/* Cholesky of the correlations, that passes over columns with nothing of their own. */
static void find_independent(size_t p, double *gram, bool *keep) {
    for (size_t c = 0; c < p; c++) {
        double *u = gram + c * p;
        keep[c] = u[c] > least_part;
        if (!keep[c]) continue;
        bb_scale(p - c, 1.0 / sqrt(u[c]), u + c);
        for (size_t k = c + 1; k < p; k++)
            bb_axpy(p - k, -u[k], u + k, gram + k * p + k);
    }
}

static bb_status drop_dependent(bb_design *design) {
    const size_t p = design->columns;
    double *gram = NULL;
    bool *keep = NULL;
    bb_status status = bb_allocate(&gram, p * p, sizeof *gram, "the mixed model");
    if (!status) status = bb_allocate(&keep, p, sizeof *keep, "the mixed model");
    if (!status) {
        bb_gram(design->rows, p, 1.0 / (double)design->rows, design->x, 0.0, gram);
        find_independent(p, gram, keep);
        drop(design, keep);
    }
    free(gram);
    free(keep);
    return status;
}

static bb_status allocate(bb_design *design, size_t columns) {
    bb_status status =
        bb_allocate(&design->place, columns, sizeof *design->place, "the mixed model");
    if (!status)
        status = bb_allocate(&design->mean, columns, sizeof *design->mean,
                             "the mixed model");
    if (!status)
        status = bb_allocate(&design->deviation, columns, sizeof *design->deviation,
                             "the mixed model");
    if (!status)
        status = bb_allocate(&design->x, design->rows * columns, sizeof *design->x,
                             "the mixed model");
    return status;
}

/* The ones, and the features that vary. */
static void place_columns(bb_design *design, const double *mean,
                          const double *deviation) {
    size_t c = 1;
    design->deviation[0] = 1.0;
    for (size_t k = 0; k < design->features; k++) {
        if (!(deviation[k] > 1e-12 * fabs(mean[k]))) continue;
        design->place[c] = k;
        design->mean[c] = mean[k];
        design->deviation[c++] = deviation[k];
    }
    design->columns = c;
}

bb_status bb_design_open(bb_design *design, const bb_dataset *data, bool independent) {
    const size_t d = data->features;
    double *room = NULL;
    *design = (bb_design){
        .tasks = data->tasks, .rows = data->rows, .features = d, .first = data->first};
    bb_status status = bb_allocate(&room, 3 * d, sizeof *room, "the mixed model");
    if (!status) status = allocate(design, d + 1);
    if (!status) {
        measure(data, room, room + d, room + 2 * d);
        place_columns(design, room, room + d);
        fill(design, data, room + 2 * d);
        if (independent) status = drop_dependent(design);
    }
    free(room);
    return status;
}

void bb_design_close(bb_design *design) {
    free(design->place);
    free(design->mean);
    free(design->deviation);
    free(design->x);
    *design = (bb_design){0};
}

double bb_design_fold(const bb_design *design, const double *w, double *weight) {
    double intercept = w[0];
    memset(weight, 0, design->features * sizeof *weight);
    for (size_t c = 1; c < design->columns; c++) {
        weight[design->place[c]] = w[c] / design->deviation[c];
        intercept -= w[c] / design->deviation[c] * design->mean[c];
    }
    return intercept;
}
