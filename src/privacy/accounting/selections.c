#include "privacy/accounting/selections.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One selection has loss t with probability p(t) = (E - e^t) / (E - 1), E = e^epsilon,
 * else t - epsilon, with whatever t in [0, epsilon] is best (docs/privacy.md). So with z
 * = e^x and V_0 = (1 - z)_+ the profile of k of them is
 *     V_k(z) = max over r in [z / E, z] of p V_{k-1}(r) + (1 - p) V_{k-1}(E r),
 * p r + (1 - p) E r = z: the highest of the chords of V_{k-1} over [r, E r], at z. V is
 * kept at the nodes x = offset + i h, where h divides epsilon. From below, r is a node;
 * from above, V is linear in z between nodes, which is not below V, since V is convex. */
enum { SELECTIONS_MOST = 100, FINEST = 1024, WORK = 3600 };
/* Rounding errors of one step, relative. */
#define MARGIN 0x1p-47

typedef enum side { LOWER, UPPER } side;

typedef struct lattice {
    double epsilon, h, offset;
    int parts;                               /* h = epsilon / parts */
    int nodes;                               /* on either side of the middle one */
    double up[FINEST + 1], down[FINEST + 1]; /* p and 1 - p at t = j h */
    double share[FINEST + 1];                /* e^(-j h) */
    double *value[2], *next;                 /* 2 nodes + 1 each; value: of each side */
} lattice;

bool bb_selections_know(const bb_account *account) {
    if (account->count != 1) return false;
    const bb_event *e = &account->event[0];
    return e->kind == BB_EVENT_SELECTION && e->rounds >= 2.0 &&
           e->rounds <= SELECTIONS_MOST && e->epsilon > 0.0 &&
           e->rounds * e->epsilon <= 300.0;
}

/* Beyond the nodes V is 1 - z, or 0. */
static double value(const lattice *l, side s, int i) {
    if (i > l->nodes) return 0.0;
    if (i < -l->nodes) return fmax(0.0, -expm1(l->offset + i * l->h));
    return l->value[s][i + l->nodes];
}

/* The highest chord with r / z in [least, most], where V is linear: a0 + a1 r / z at r,
 * and b0 + b1 r / z at E r. There it is concave in r. */
static double between(const lattice *l, double least, double most, const double *a,
                      const double *b) {
    const double a1 = (a[1] - a[0]) / (most - least), a0 = a[0] - a1 * least;
    const double b1 = (b[1] - b[0]) / (most - least), b0 = b[0] - b1 * least;
    const double rho = sqrt((b0 - a0) / (exp(l->epsilon) * a1 - b1));
    if (!(rho > least && rho < most)) return 0.0; /* the highest is at an end */
    const double part = (rho - least) / (most - least);
    const double down = (1.0 - rho) / rho / expm1(l->epsilon);
    return (1.0 - down) * (a[0] + part * (a[1] - a[0])) +
           down * (b[0] + part * (b[1] - b[0]));
}

static double highest(const lattice *l, side s, int i) {
    double best = 0.0;
    for (int j = 0; j <= l->parts; j++) {
        const double a[] = {value(l, s, i - j - 1), value(l, s, i - j)};
        const double b[] = {value(l, s, i - j - 1 + l->parts),
                            value(l, s, i - j + l->parts)};
        best = fmax(best, l->up[j] * a[1] + l->down[j] * b[1]);
        if (s == UPPER && j < l->parts)
            best = fmax(best, between(l, l->share[j + 1], l->share[j], a, b));
    }
    return s == UPPER ? fmin(1.0, best * (1.0 + MARGIN)) : best * (1.0 - MARGIN);
}

static void close(lattice *l) {
    free(l->value[LOWER]);
    free(l->value[UPPER]);
    free(l->next);
}

static void start(lattice *l) {
    for (int j = 0; j <= l->parts; j++) {
        const double t = j * l->h, whole = expm1(l->epsilon);
        l->up[j] = exp(t) * fmax(0.0, expm1(l->epsilon - t)) / whole;
        l->down[j] = expm1(t) / whole;
        l->share[j] = exp(-t);
    }
    for (int s = LOWER; s <= UPPER; s++)
        for (int i = -l->nodes; i <= l->nodes; i++)
            l->value[s][i + l->nodes] = fmax(0.0, -expm1(l->offset + i * l->h));
}

/* One selection more; beyond `reach` nodes all is as before. */
static void add(lattice *l, side s, int reach) {
    for (int i = -reach; i <= reach; i++) l->next[i + l->nodes] = highest(l, s, i);
    memcpy(l->value[s] + l->nodes - reach, l->next + l->nodes - reach,
           (2 * (size_t)reach + 1) * sizeof *l->next);
}

static int parts_of(const bb_event *event) {
    return (int)fmin(FINEST, WORK / event->rounds);
}

/* Both sides after all selections. */
static bb_status open_lattice(lattice *l, const bb_event *event, double offset) {
    const int count = (int)event->rounds;
    *l = (lattice){.epsilon = event->epsilon, .offset = offset};
    l->parts = parts_of(event);
    l->h = l->epsilon / l->parts;
    l->nodes = (count + 1) * l->parts;
    const size_t all = 2 * (size_t)l->nodes + 1;
    bb_status status = bb_allocate(&l->next, all, sizeof *l->next, "the accountant");
    for (int s = LOWER; s <= UPPER && !status; s++)
        status = bb_allocate(&l->value[s], all, sizeof **l->value, "the accountant");
    if (status) {
        close(l);
        return status;
    }
    start(l);
    for (int s = LOWER; s <= UPPER; s++)
        for (int k = 1; k <= count; k++) add(l, (side)s, k * l->parts + 1);
    return BB_OK;
}

bb_status bb_selections_delta(const bb_event *event, double epsilon, double *upper,
                              double *lower) {
    const double h = event->epsilon / parts_of(event), at = floor(epsilon / h);
    lattice l;
    const bb_status status = open_lattice(&l, event, fmax(0.0, epsilon - at * h));
    if (status) return status;
    const int node = at > l.nodes ? l.nodes + 1 : (int)at;
    *upper = value(&l, UPPER, node);
    *lower = value(&l, LOWER, node);
    close(&l);
    return BB_OK;
}

/* Where the side's V, straight in z (or its log in x) between nodes, comes down to
 * delta: not before node `*node`, where it is above. 0 if it is not above anywhere. */
static double crossing(const lattice *l, side s, double delta, int *node) {
    *node = -1;
    while (value(l, s, *node + 1) > delta) ++*node;
    if (*node < 0) return 0.0;
    const double a = value(l, s, *node), b = value(l, s, *node + 1);
    const double x = *node * l->h;
    if (s == LOWER) return b > 0.0 ? x + l->h * log(a / delta) / log(a / b) : x;
    return x + log1p(expm1(l->h) * (a - delta) / (a - b)) * (1.0 + 0x1p-40);
}

bb_status bb_selections_epsilon(const bb_event *event, double delta, double *upper,
                                double *lower) {
    lattice l;
    double up, down;
    int node;
    bb_status status = open_lattice(&l, event, 0.0);
    if (status) return status;
    *upper = crossing(&l, UPPER, delta, &node);
    const double guess = crossing(&l, LOWER, delta, &node) * (1.0 - 1e-5);
    *lower = fmax(0.0, node * l.h * (1.0 - 0x1p-50));
    close(&l);
    if (!(guess > *lower)) return BB_OK;
    status = bb_selections_delta(event, guess, &up, &down);
    if (!status && down > delta) *lower = guess;
    return status;
}
