/* problem.h - random tasks for the tests, each in a dense and a sparse form. */
#ifndef BB_TESTS_PROBLEM_H
#define BB_TESTS_PROBLEM_H

#include "learners/local.h"
#include "linalg/linalg.h"
#include "linalg/naive.h"

#include <stdbool.h>
#include <string.h>

typedef struct problem {
    size_t n, d;
    double *x, *y;
    size_t *first;
    uint32_t *column;
    double *value;
    bb_rows dense, sparse;
} problem;

/* Features in (-1, 1) + offset, a third of them zero, the last constant if d > 2;
 * targets a noisy linear function, or its sign. */
static inline problem problem_new(size_t n, size_t d, bb_loss loss, double offset,
                                  uint64_t seed) {
    problem p = {.n = n, .d = d};
    double *w = naive_vector(d, seed + 1), *noise = naive_vector(n, seed + 2);
    p.x = naive_vector(n * d, seed);
    p.y = naive_vector(n, 0);
    p.first = calloc(n + 1, sizeof *p.first);
    p.column = calloc(n * d + 1, sizeof *p.column);
    p.value = calloc(n * d + 1, sizeof *p.value);
    if (!p.first || !p.column || !p.value) abort();
    size_t used = 7; /* positions are absolute: a task is a part of larger arrays */
    p.column = realloc(p.column, (n * d + used + 1) * sizeof *p.column);
    p.value = realloc(p.value, (n * d + used + 1) * sizeof *p.value);
    if (!p.column || !p.value) abort();
    for (size_t j = 0; j < n; j++) {
        p.first[j] = used;
        for (size_t k = 0; k < d; k++) {
            double *x = p.x + j * d + k;
            *x = (j * 7 + k * 5) % 3 ? *x + offset : 0;
            if (d > 2 && k == d - 1) *x = 2;
            if (*x == 0) continue;
            p.column[used] = (uint32_t)k;
            p.value[used++] = *x;
        }
        p.y[j] = naive_dot(d, p.x + j * d, w) + 0.5 * noise[j] + 0.1;
        if (loss == BB_LOSS_LOGISTIC) p.y[j] = p.y[j] > 0 ? 1 : -1;
    }
    p.first[n] = used;
    /* Both classes occur. */
    if (loss == BB_LOSS_LOGISTIC && n > 1) p.y[0] = -p.y[1];
    p.dense = (bb_rows){.n = n, .d = d, .x = p.x, .y = p.y};
    p.sparse = (bb_rows){.n = n,
                         .d = d,
                         .sparse_first = p.first,
                         .sparse_column = p.column,
                         .sparse_value = p.value,
                         .y = p.y};
    free(w);
    free(noise);
    return p;
}

static inline void problem_free(problem *p) {
    free(p->x);
    free(p->y);
    free(p->first);
    free(p->column);
    free(p->value);
}

/* Twins of the loss and its gradient, from the definition, for given w and b. */
static inline double naive_loss(const problem *p, bb_loss loss, double s,
                                const double *w, double b, double *g, double *gb) {
    long double value = 0;
    *gb = 0;
    memset(g, 0, p->d * sizeof *g);
    for (size_t j = 0; j < p->n; j++) {
        const double *x = p->x + j * p->d;
        const double prediction = naive_dot(p->d, x, w) + b;
        double u = prediction - p->y[j];
        if (loss == BB_LOSS_SQUARED) {
            value += 0.5 * u * u;
        } else {
            const double z = p->y[j] * prediction;
            value += z > 0 ? log1p(exp(-z)) : -z + log1p(exp(z));
            u = -p->y[j] / (1 + exp(z));
        }
        for (size_t k = 0; k < p->d; k++) g[k] += s * u * x[k];
        *gb += s * u;
    }
    return s * (double)value;
}

/* Work space of exactly the size that is promised, so that sanitizers see the end. */
static inline double *work_for(const bb_local *local) {
    const size_t size = bb_local_work(local);
    double *work = malloc((size ? size : 1) * sizeof *work);
    if (!work) abort();
    for (size_t k = 0; k < size; k++) work[k] = NAN; /* nothing may rely on zeros */
    return work;
}

static inline int start_linalg(void **state) {
    (void)state;
    return bb_linalg_start() != BB_OK;
}

typedef struct shape {
    size_t n, d;
} shape;

/* More rows than features, fewer, far fewer, one of each. */
static const shape shapes[] = {{1, 1},  {1, 4},   {2, 1},   {5, 3},   {8, 8},
                               {30, 7}, {30, 27}, {12, 20}, {10, 60}, {300, 9}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

#endif
