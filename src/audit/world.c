#include "audit/world.h"

#include "base/memory.h"
#include "base/random.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <stdlib.h>

static const double own_part = 0.3; /* of ordinary tasks */
static const double large_target = 30.0;

static void draw_direction(bb_random *random, size_t d, double *u) {
    double norm = 0.0;
    while (norm == 0.0) {
        for (size_t k = 0; k < d; k++) u[k] = bb_random_normal(random);
        norm = bb_norm(d, u);
    }
    bb_scale(d, 1.0 / norm, u);
}

/* Rows u and -u in turn, targets 1 and -1 times `size` (classes have no size). */
static void fill_task(const bb_audit_world_options *o, const double *u, double size,
                      double *x, double *y) {
    const size_t d = o->features;
    for (size_t j = 0; j < o->rows; j++) {
        const double sign = j % 2 ? -1.0 : 1.0;
        y[j] = o->loss == BB_LOSS_SQUARED ? sign * size : sign;
        for (size_t k = 0; k < d; k++) x[j * d + k] = sign * u[k];
    }
}

/* Of a task that is no canary: near one of the first two features. */
static void draw_ordinary(bb_random *random, size_t d, size_t task, double *u) {
    draw_direction(random, d, u);
    bb_scale(d, own_part, u);
    u[task % 2] += 1.0;
    bb_scale(d, 1.0 / bb_norm(d, u), u);
}

/* u_A, u_B: unit vectors of d numbers, orthogonal or opposite. */
static void draw_pair(bb_random *random, const bb_audit_world_options *o, size_t canary,
                      double *A, double *B) {
    const size_t d = o->features, even = d - d % 2;
    assert(d >= 2);
    if (o->pair != BB_AUDIT_PAIR_RANDOM)
        for (size_t k = 0; k < d; k++) A[k] = B[k] = 0.0;
    if (o->pair == BB_AUDIT_PAIR_OPPOSITE) {
        A[canary % d] = 1.0;
        B[canary % d] = -1.0;
        return;
    }
    if (o->pair == BB_AUDIT_PAIR_ENTRIES) {
        A[2 * canary % even] = 1.0;
        B[(2 * canary + 1) % even] = 1.0;
        return;
    }
    double norm = 0.0;
    draw_direction(random, d, A);
    while (norm < 1e-3) {
        draw_direction(random, d, B);
        bb_axpy(d, -bb_dot(d, A, B), A, B);
        norm = bb_norm(d, B);
    }
    bb_scale(d, 1.0 / norm, B);
}

static bb_status fill(bb_audit_world *w, const bb_audit_world_options *o) {
    const size_t d = o->features, task = o->rows * d;
    double *u = NULL;
    bb_random random;
    bb_status status = bb_allocate(&u, 2 * d, sizeof *u, "the audit's population");
    if (!status)
        status = bb_random_open_stream(&random, o->seed, BB_FOR_SYNTHETIC, 0, 0);
    if (status) goto done;
    for (size_t i = 0; i < o->tasks; i++) {
        const size_t other = o->tasks + i;
        const bool large = i < o->canaries && o->pair == BB_AUDIT_PAIR_OPPOSITE;
        const double size = large ? large_target : 1.0;
        if (i < o->canaries) {
            draw_pair(&random, o, i, u, u + d);
            fill_task(o, u + d, size, w->x + other * task, w->y + other * o->rows);
        } else {
            draw_ordinary(&random, d, i, u);
        }
        fill_task(o, u, size, w->x + i * task, w->y + i * o->rows);
    }
    status = bb_random_check(&random);
    bb_random_close(&random);
done:
    free(u);
    return status;
}

static bb_status open_local(const bb_audit_world *w, const bb_audit_world_options *o,
                            size_t at, bb_local *local) {
    const bb_rows rows = {.n = o->rows,
                          .d = o->features,
                          .x = w->x + at * o->rows * o->features,
                          .y = w->y + at * o->rows};
    return bb_local_open(local, rows, o->loss, o->intercept, false);
}

static bb_status check(const bb_audit_world_options *o) {
    if (o->features < 2 || o->rows < 1 || o->tasks < 1)
        return bb_fail(BB_EUSAGE,
                       "an audit needs tasks with rows and at least 2 features, got "
                       "%zu tasks, %zu rows, %zu features",
                       o->tasks, o->rows, o->features);
    if (o->canaries >= 1 && o->canaries <= o->tasks) return BB_OK;
    return bb_fail(BB_EUSAGE, "of %zu tasks 1 to %zu can be canaries, got %zu",
                   o->tasks, o->tasks, o->canaries);
}

bb_status bb_audit_world_open(bb_audit_world *out, const bb_audit_world_options *o) {
    static const char what[] = "the audit's population";
    const size_t all = o->tasks + o->canaries;
    bb_audit_world w = {0};
    bb_status status = check(o);
    if (!status)
        status = bb_allocate(&w.x, all * o->rows, o->features * sizeof *w.x, what);
    if (!status) status = bb_allocate(&w.y, all, o->rows * sizeof *w.y, what);
    if (!status) status = bb_allocate(&w.local, o->tasks, sizeof *w.local, what);
    if (!status) status = bb_allocate(&w.other, o->canaries, sizeof *w.other, what);
    if (!status) status = fill(&w, o);
    for (; w.tasks < o->tasks && !status; w.tasks += !status)
        status = open_local(&w, o, w.tasks, &w.local[w.tasks]);
    for (; w.canaries < o->canaries && !status; w.canaries += !status)
        status = open_local(&w, o, o->tasks + w.canaries, &w.other[w.canaries]);
    if (status)
        bb_audit_world_close(&w);
    else
        *out = w;
    return status;
}

void bb_audit_world_close(bb_audit_world *w) {
    for (size_t i = 0; i < w->tasks; i++) bb_local_close(&w->local[i]);
    for (size_t i = 0; i < w->canaries; i++) bb_local_close(&w->other[i]);
    free(w->local);
    free(w->other);
    free(w->x);
    free(w->y);
    *w = (bb_audit_world){0};
}
