#include "report/structure.h"

#include "base/file.h"
#include "base/memory.h"
#include "linalg/linalg.h"
#include "models/models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- spectrum -- */

/* A square matrix of a released block, or NULL. */
static const double *matrix_of(const bb_reported *r, const json_t *block,
                               size_t *size) {
    const json_t *shape = json_object_get(block, "shape");
    const json_int_t rows = json_integer_value(json_array_get(shape, 0)),
                     columns = json_integer_value(json_array_get(shape, 1)),
                     at = json_integer_value(json_object_get(block, "at"));
    if (json_array_size(shape) != 2 || rows != columns || rows < 2 || at < 0)
        return NULL;
    const size_t first = (size_t)at, p = (size_t)rows;
    if (first > r->numbers || p * p > r->numbers - first) return NULL;
    if (!(bb_reported_number(block, "noise_standard_deviation") > 0.0)) return NULL;
    *size = p;
    return r->billboard + first;
}

/* Adds up the matrices of the size of the first one. */
typedef struct adding {
    size_t size, rounds;
    double *sum, variance;
} adding;

static bb_status add_block(adding *a, const bb_reported *r, const json_t *block) {
    size_t size = 0;
    const double *matrix = matrix_of(r, block, &size);
    bb_status status = BB_OK;
    if (matrix && !a->sum) {
        status = bb_allocate(&a->sum, size * size, sizeof *a->sum, "a spectrum");
        a->size = size;
    }
    if (status || !matrix || size != a->size) return status;
    const double noise = bb_reported_number(block, "noise_standard_deviation");
    bb_axpy(size * size, 1.0, matrix, a->sum);
    a->variance += noise * noise;
    a->rounds++;
    return BB_OK;
}

static bb_status add_all(adding *a, const bb_reported *r) {
    bb_status status = BB_OK;
    size_t i, k;
    json_t *release, *block;
    json_array_foreach(json_object_get(r->index, "releases"), i, release)
        json_array_foreach(json_object_get(release, "blocks"), k, block) if (!status)
            status = add_block(a, r, block);
    return status;
}

static bb_status decompose(const adding *a, bb_spectrum_seen *out) {
    const size_t p = a->size;
    const double edge = sqrt(a->variance * 2.0 * (double)p);
    void *work = NULL;
    double *value = NULL;
    bb_status status = bb_allocate(&work, bb_eigenvalues_work(p), 1, "a spectrum");
    if (!status) status = bb_allocate(&value, p, sizeof *value, "a spectrum");
    if (!status) status = bb_eigenvalues(p, a->sum, value, work);
    free(work);
    if (status || !value) {
        free(value);
        return status;
    }
    for (size_t k = 0; k < p / 2; k++) {
        const double low = value[k];
        value[k] = value[p - 1 - k];
        value[p - 1 - k] = low;
    }
    bb_scale(p, 1.0 / edge, value);
    *out = (bb_spectrum_seen){p, a->rounds, value};
    return BB_OK;
}

bb_status bb_spectrum_see(const bb_reported *r, bb_spectrum_seen *out) {
    adding a = {0};
    *out = (bb_spectrum_seen){0};
    bb_status status = add_all(&a, r);
    if (!status && a.sum) status = decompose(&a, out);
    free(a.sum);
    return status;
}

void bb_spectrum_forget(bb_spectrum_seen *s) {
    free(s->value);
    *s = (bb_spectrum_seen){0};
}

/* -- map -- */

/* Rows <- models with columns of mean 0 and deviation 1 over tasks. */
static void standardise(size_t m, size_t p, double *row) {
    for (size_t k = 0; k < p; k++) {
        double mean = 0.0, square = 0.0;
        for (size_t i = 0; i < m; i++) mean += row[i * p + k] / (double)m;
        for (size_t i = 0; i < m; i++) {
            row[i * p + k] -= mean;
            square += row[i * p + k] * row[i * p + k] / (double)m;
        }
        const double scale = square > 0.0 ? 1.0 / sqrt(square) : 0.0;
        for (size_t i = 0; i < m; i++) row[i * p + k] *= scale;
    }
}

/* Which way an axis points is decided by its largest part. */
static double sign_of(size_t p, const double *axis) {
    size_t largest = 0;
    for (size_t k = 1; k < p; k++)
        if (fabs(axis[k]) > fabs(axis[largest])) largest = k;
    return axis[largest] < 0.0 ? -1.0 : 1.0;
}

typedef struct by_place {
    double x;
    size_t task;
} by_place;

static int compare_places(const void *a, const void *b) {
    const by_place *one = a, *other = b;
    if (one->x < other->x) return -1;
    if (one->x > other->x) return 1;
    return one->task < other->task ? -1 : one->task > other->task;
}

static bb_status sort_tasks(bb_model_map *map) {
    by_place *place = NULL;
    bb_status status = bb_allocate(&place, map->tasks, sizeof *place, "a map");
    if (status || !place) return status;
    for (size_t i = 0; i < map->tasks; i++) place[i] = (by_place){map->x[i], i};
    qsort(place, map->tasks, sizeof *place, compare_places);
    for (size_t i = 0; i < map->tasks; i++) map->order[i] = place[i].task;
    free(place);
    return BB_OK;
}

static bb_status find_cosines(bb_model_map *map, size_t p, const double *row) {
    const size_t m = map->tasks;
    if (m > BB_MAP_MOST_CELLS) return BB_OK;
    const bb_status status =
        bb_allocate(&map->cosine, m * m, sizeof *map->cosine, "a map");
    if (status) return status;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            const double *a = row + map->order[i] * p, *b = row + map->order[j] * p;
            const double length = bb_norm(p, a) * bb_norm(p, b);
            map->cosine[i * m + j] = length > 0.0 ? bb_dot(p, a, b) / length : 0.0;
        }
    return BB_OK;
}

/* covariance: p x p, becomes its eigenvectors. */
static bb_status project(bb_model_map *map, size_t p, const double *row,
                         double *covariance, double *value, void *work) {
    bb_gram(map->tasks, p, 1.0 / (double)map->tasks, row, 0.0, covariance);
    const bb_status status = bb_eigen(p, covariance, value, work);
    if (status) return status;
    double all = 0.0;
    for (size_t k = 0; k < p; k++) all += fmax(value[k], 0.0);
    map->explained = all > 0.0 ? (value[p - 1] + value[p - 2]) / all : 0.0;
    const double *first = covariance + (p - 1) * p, *second = covariance + (p - 2) * p;
    const double a = sign_of(p, first), b = sign_of(p, second);
    for (size_t i = 0; i < map->tasks; i++) {
        map->x[i] = a * bb_dot(p, row + i * p, first);
        map->y[i] = b * bb_dot(p, row + i * p, second);
    }
    return BB_OK;
}

static bb_status draw_up(bb_model_map *map, const bb_models *models) {
    const size_t m = models->tasks, d = models->features, p = d + 1;
    double *row = NULL, *covariance = NULL, *value = NULL;
    void *work = NULL;
    bb_status status = bb_allocate(&row, m * p, sizeof *row, "a map");
    if (!status) status = bb_allocate(&covariance, p * p, sizeof *row, "a map");
    if (!status) status = bb_allocate(&value, p, sizeof *row, "a map");
    if (!status) status = bb_allocate(&work, bb_eigen_work(p), 1, "a map");
    if (!status) status = bb_allocate(&map->x, m, sizeof *map->x, "a map");
    if (!status) status = bb_allocate(&map->y, m, sizeof *map->y, "a map");
    if (!status) status = bb_allocate(&map->order, m, sizeof *map->order, "a map");
    if (!status) {
        map->tasks = m;
        for (size_t i = 0; i < m; i++) {
            memcpy(row + i * p, models->weight + i * d, d * sizeof *row);
            row[i * p + d] = models->intercept[i];
        }
        standardise(m, p, row);
        status = project(map, p, row, covariance, value, work);
    }
    if (!status) status = sort_tasks(map);
    if (!status) status = find_cosines(map, p, row);
    free(row);
    free(covariance);
    free(value);
    free(work);
    return status;
}

bb_status bb_model_map_open(const bb_reported *r, bb_model_map *out) {
    bb_model_map map = {0};
    bb_models models = {0};
    char *name = NULL;
    *out = map;
    bb_status status = bb_file_join(&name, r->path, "operator/models.csv");
    const bool is_there = !status && access(name, F_OK) == 0;
    if (is_there) status = bb_models_read(&models, name);
    if (!status && models.tasks > 2 && models.features > 0 &&
        models.features < BB_MAP_MOST_FEATURES)
        status = draw_up(&map, &models);
    map.name = models.task_name;
    models.task_name = NULL;
    bb_models_free(&models);
    free(name);
    if (status)
        bb_model_map_close(&map);
    else
        *out = map;
    return status;
}

void bb_model_map_close(bb_model_map *map) {
    free(map->x);
    free(map->y);
    free(map->order);
    free(map->cosine);
    free(map->name);
    *map = (bb_model_map){0};
}
