#include "methods/relations.h"

#include "base/memory.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TASKS = 4000 };
static const double least_value = 1e-9;

static bb_status check(size_t m, const double *a) {
    if (m > MOST_TASKS)
        return bb_fail(BB_EUSAGE, "relations of tasks: at most %d tasks, found %zu",
                       MOST_TASKS, m);
    for (size_t k = 0; k < m; k++)
        for (size_t l = 0; l <= k; l++)
            if (!(a[k * m + l] >= 0.0 && isfinite(a[k * m + l])) ||
                a[k * m + l] != a[l * m + k])
                return bb_fail(BB_EUSAGE,
                               "relations of tasks: the weight of tasks "
                               "number %zu and %zu is no public weight: %g",
                               k + 1, l + 1, a[k * m + l]);
    return BB_OK;
}

/* a <- D^-1/2 a D^-1/2, degree <- D^1/2; a task without relations has none then. */
static void normalise(size_t m, double *a, double *root) {
    for (size_t k = 0; k < m; k++) {
        double sum = 0.0;
        for (size_t l = 0; l < m; l++) sum += a[k * m + l];
        root[k] = sqrt(sum);
    }
    for (size_t k = 0; k < m; k++)
        for (size_t l = 0; l < m; l++)
            if (root[k] > 0.0 && root[l] > 0.0) a[k * m + l] /= root[k] * root[l];
}

/* The largest in size first: the ends of an ascending list, in turn. */
static size_t next_largest(const double *value, size_t *low, size_t *high) {
    if (fabs(value[*low]) > fabs(value[*high - 1])) return (*low)++;
    return --*high;
}

static void put_part(bb_relations *r, size_t part, const double *root, double value,
                     const double *vector) {
    const double share = sqrt(fabs(value));
    for (size_t k = 0; k < r->tasks; k++) {
        r->show[k * r->rank + part] = root[k] * vector[k] * share;
        r->see[k * r->rank + part] =
            root[k] > 0.0 ? copysign(share, value) * vector[k] / root[k] : 0.0;
    }
}

static bb_status take_apart(bb_relations *r, double *a, double *root, double *value,
                            void *work) {
    const size_t m = r->tasks;
    size_t low = 0, high = m;
    normalise(m, a, root);
    bb_status status = bb_eigen(m, a, value, work);
    if (status) return status;
    for (size_t k = 0; k < m; k++) r->rank += fabs(value[k]) > least_value;
    if (!r->rank) return bb_fail(BB_EUSAGE, "relations of tasks: all weights are 0");
    status = bb_allocate(&r->show, m * r->rank, sizeof *r->show, "relations of tasks");
    if (!status)
        status =
            bb_allocate(&r->see, m * r->rank, sizeof *r->see, "relations of tasks");
    for (size_t part = 0; part < r->rank && !status; part++) {
        const size_t k = next_largest(value, &low, &high);
        put_part(r, part, root, value[k], a + k * m);
    }
    return status;
}

bb_status bb_relations_open(bb_relations *relations, size_t tasks, double *a) {
    bb_relations r = {.tasks = tasks};
    double *root = NULL;
    void *work = NULL;
    bb_status status = check(tasks, a);
    if (!status)
        status = bb_allocate(&root, 2 * tasks, sizeof *root, "relations of tasks");
    if (!status)
        status =
            bb_allocate((char **)&work, bb_eigen_work(tasks), 1, "relations of tasks");
    if (!status) status = take_apart(&r, a, root, root + tasks, work);
    free(root);
    free(work);
    if (status)
        bb_relations_close(&r);
    else
        *relations = r;
    return status;
}

void bb_relations_close(bb_relations *r) {
    free(r->show);
    free(r->see);
    *r = (bb_relations){0};
}

double bb_relations_norm(const bb_relations *r, size_t rank) {
    double most = 0.0;
    for (size_t k = 0; k < r->tasks; k++)
        most = fmax(most, bb_norm(rank, r->show + k * r->rank));
    return most;
}
