/* mtl_problems.h - nine convex problems with known optima, for the test and the
 * benchmark of mtl-trace and mtl-l21.
 *
 * The optima come from an independent solver with duality gaps below 1e-10; beside
 * them, what MALSAR 1.1 (Zhou, Chen, Ye 2012) reaches with its default stop: objective,
 * iterations, processor seconds.
 *   school_z29    z-scores inside every task of 28 columns, a constant one last
 *                 (constant columns become 0), and a column of ones
 *   school_unit   rows divided by their norms
 *   school_z      z-scores inside every task, label +1 for scores of 20 and more
 *   synb          a low-rank world of 320 tasks, splitmix64 and Box-Muller */
#ifndef BB_TESTS_MTL_PROBLEMS_H
#define BB_TESTS_MTL_PROBLEMS_H

#include "learners/local.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum mtl_world {
    MTL_SCHOOL_Z29,
    MTL_SCHOOL_UNIT,
    MTL_SCHOOL_Z,
    MTL_SYNB
} mtl_world;

typedef struct mtl_problem {
    const char *name; /* as in the names of the reference's files */
    mtl_world world;
    bb_loss loss;
    bool trace;
    const char *lambda;
    double optimum, malsar;
    int malsar_iterations;
    double malsar_seconds;
} mtl_problem;

enum { MTL_PROBLEMS = 9 };
static const mtl_problem mtl_problems[MTL_PROBLEMS] = {
    {"school_z29_ls_trace_lam1000", MTL_SCHOOL_Z29, BB_LOSS_SQUARED, true, "1000",
     999912.1934956, 1000415.96658, 19, 0.116},
    {"school_z29_ls_trace_lam100", MTL_SCHOOL_Z29, BB_LOSS_SQUARED, true, "100",
     704454.52453987, 704908.260579, 32, 0.188},
    {"school_z29_ls_l21_lam1000", MTL_SCHOOL_Z29, BB_LOSS_SQUARED, false, "1000",
     1086795.8282899, 1087139.72969, 17, 0.104},
    {"school_unit_ls_trace_lam100", MTL_SCHOOL_UNIT, BB_LOSS_SQUARED, true, "100",
     1110432.6095031, 1113871.72174, 72, 0.375},
    {"school_unit_ls_l21_lam100", MTL_SCHOOL_UNIT, BB_LOSS_SQUARED, false, "100",
     1128576.2605545, 1129637.16661, 25, 0.143},
    {"school_z_log_trace_lam0.1", MTL_SCHOOL_Z, BB_LOSS_LOGISTIC, true, "0.1",
     68.915802840242, 68.9405344994, 17, 0.214},
    {"school_z_log_l21_lam0.1", MTL_SCHOOL_Z, BB_LOSS_LOGISTIC, false, "0.1",
     69.934601532629, 69.9392377839, 23, 0.281},
    {"synb_ls_trace_lam5", MTL_SYNB, BB_LOSS_SQUARED, true, "5", 4817.0708403445,
     4822.23150384, 19, 0.215},
    {"synb_ls_l21_lam5", MTL_SYNB, BB_LOSS_SQUARED, false, "5", 5992.9366396934,
     5996.06412773, 18, 0.191},
};

typedef struct mtl_data {
    size_t tasks, features;
    size_t *first; /* tasks + 1 */
    double *x, *y;
} mtl_data;

static inline void mtl_data_free(mtl_data *data) {
    free(data->first);
    free(data->x);
    free(data->y);
    *data = (mtl_data){0};
}

static inline void *mtl_room(size_t count, size_t size) {
    void *room = calloc(count + 1, size);
    if (!room) abort();
    return room;
}

/* -- the synthetic world
 * --------------------------------------------------------------- */

typedef struct mtl_draws {
    uint64_t state;
    double spare;
    bool has_spare;
} mtl_draws;

static inline double mtl_uniform(mtl_draws *draws) {
    uint64_t z = (draws->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline double mtl_normal(mtl_draws *draws) {
    if (draws->has_spare) {
        draws->has_spare = false;
        return draws->spare;
    }
    const double u = 1.0 - mtl_uniform(draws), v = mtl_uniform(draws);
    const double r = sqrt(-2.0 * log(u)), t = 6.283185307179586476925286766559 * v;
    draws->spare = r * sin(t);
    draws->has_spare = true;
    return r * cos(t);
}

/* W = U V of rank 5; rows of unit norm; targets with standard normal noise. */
static inline mtl_data mtl_synb(void) {
    enum { TASKS = 320, D = 30, N = 30, RANK = 5 };
    static const mtl_draws seeded = {.state = 20190901};
    mtl_draws draws = seeded;
    mtl_data data = {.tasks = TASKS, .features = D};
    double *u = mtl_room(D * RANK, sizeof *u), *v = mtl_room(RANK * TASKS, sizeof *v);
    data.first = mtl_room(TASKS + 1, sizeof *data.first);
    data.x = mtl_room((size_t)TASKS * N * D, sizeof *data.x);
    data.y = mtl_room((size_t)TASKS * N, sizeof *data.y);
    for (size_t k = 0; k < D * RANK; k++) u[k] = mtl_normal(&draws);
    for (size_t k = 0; k < RANK * TASKS; k++) v[k] = mtl_normal(&draws);
    for (size_t i = 0; i < TASKS; i++) {
        double w[D] = {0};
        double *x = data.x + i * N * D, *y = data.y + i * N;
        data.first[i + 1] = (i + 1) * N;
        for (size_t k = 0; k < D; k++)
            for (size_t q = 0; q < RANK; q++) w[k] += u[k + q * D] * v[q + i * RANK];
        for (size_t j = 0; j < N; j++) {
            double squares = 0.0;
            for (size_t k = 0; k < D; k++) {
                x[j * D + k] = mtl_normal(&draws);
                squares += x[j * D + k] * x[j * D + k];
            }
            for (size_t k = 0; k < D; k++) x[j * D + k] *= 1.0 / sqrt(squares);
        }
        for (size_t j = 0; j < N; j++) {
            for (size_t k = 0; k < D; k++) y[j] += x[j * D + k] * w[k];
            y[j] += mtl_normal(&draws);
        }
    }
    free(u);
    free(v);
    return data;
}

/* -- School
 * ---------------------------------------------------------------------------- */

enum { MTL_SCHOOL_COLUMNS = 29 }; /* task, y, 27 features */

/* Rows of the CSV file with its header; tasks are numbered from 1, in order. */
static inline bool mtl_school_read(const char *path, mtl_data *out) {
    mtl_data data = {.features = MTL_SCHOOL_COLUMNS - 2};
    char line[4096];
    size_t rows = 0, room = 1 << 15, columns = data.features;
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, sizeof line, file)) return false;
    data.first = mtl_room(room, sizeof *data.first);
    data.x = mtl_room(room * columns, sizeof *data.x);
    data.y = mtl_room(room, sizeof *data.y);
    for (; rows < room && fgets(line, sizeof line, file); rows++) {
        char *end = line;
        data.tasks = (size_t)strtod(end, &end);
        data.y[rows] = strtod(end + 1, &end);
        for (size_t k = 0; k < columns; k++)
            data.x[rows * columns + k] = strtod(end + 1, &end);
        data.first[data.tasks] = rows + 1;
    }
    fclose(file);
    *out = data;
    return rows > 0;
}

static inline void mtl_z_score(double *x, size_t n, size_t stride) {
    double mean = 0.0, squares = 0.0, largest = 0.0;
    for (size_t j = 0; j < n; j++) mean += x[j * stride] / (double)n;
    for (size_t j = 0; j < n; j++) {
        const double away = x[j * stride] - mean;
        largest = fmax(largest, fabs(away));
        squares += away * away;
    }
    const double deviation = sqrt(squares / ((double)n - 1.0));
    for (size_t j = 0; j < n; j++)
        x[j * stride] = largest > 1e-12 ? (x[j * stride] - mean) / deviation : 0.0;
}

/* Appends a column of zeros (a constant one's z-score) and one of ones. */
static inline void mtl_append_constants(mtl_data *data) {
    const size_t d = data->features, rows = data->first[data->tasks];
    double *x = mtl_room(rows * (d + 2), sizeof *x);
    for (size_t j = 0; j < rows; j++) {
        memcpy(x + j * (d + 2), data->x + j * d, d * sizeof *x);
        x[j * (d + 2) + d + 1] = 1.0;
    }
    free(data->x);
    data->x = x;
    data->features = d + 2;
}

static inline void mtl_unit_rows(mtl_data *data) {
    const size_t d = data->features;
    for (size_t j = 0; j < data->first[data->tasks]; j++) {
        double squares = 0.0;
        for (size_t k = 0; k < d; k++)
            squares += data->x[j * d + k] * data->x[j * d + k];
        for (size_t k = 0; k < d; k++) data->x[j * d + k] /= sqrt(squares);
    }
}

/* The data of a world; `school` is the path of School's data.csv. */
static inline bool mtl_data_make(mtl_world world, const char *school, mtl_data *out) {
    if (world == MTL_SYNB) {
        *out = mtl_synb();
        return true;
    }
    if (!mtl_school_read(school, out)) return false;
    if (world == MTL_SCHOOL_UNIT) {
        mtl_unit_rows(out);
        return true;
    }
    for (size_t i = 0; i < out->tasks; i++)
        for (size_t k = 0; k < out->features; k++)
            mtl_z_score(out->x + out->first[i] * out->features + k,
                        out->first[i + 1] - out->first[i], out->features);
    if (world == MTL_SCHOOL_Z29) mtl_append_constants(out);
    for (size_t j = 0; world == MTL_SCHOOL_Z && j < out->first[out->tasks]; j++)
        out->y[j] = out->y[j] >= 20.0 ? 1.0 : -1.0;
    return true;
}

static inline void mtl_locals_close(bb_local *local, size_t tasks) {
    for (size_t i = 0; local && i < tasks; i++) bb_local_close(&local[i]);
    free(local);
}

/* The tasks' problems: sum loss without intercept, or mean logistic loss with one. */
static inline bb_local *mtl_locals_open(const mtl_data *data, bb_loss loss) {
    bb_local *local = mtl_room(data->tasks, sizeof *local);
    for (size_t i = 0; i < data->tasks; i++) {
        const bb_rows rows = {.n = data->first[i + 1] - data->first[i],
                              .d = data->features,
                              .x = data->x + data->first[i] * data->features,
                              .y = data->y + data->first[i]};
        const bool logistic = loss == BB_LOSS_LOGISTIC;
        if (bb_local_open_exact(&local[i], rows, loss, logistic, !logistic, NULL,
                                NULL)) {
            mtl_locals_close(local, data->tasks);
            return NULL;
        }
    }
    return local;
}

#endif
