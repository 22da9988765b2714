#include "linalg/lbfgs.h"

#include "linalg/linalg.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MEMORY = 6, MOST_HALVINGS = 30 };

typedef struct descent {
    const bb_lbfgs *problem;
    double *g, *next, *next_g, *direction; /* size */
    double *s, *y;                         /* MEMORY x size: steps, and changes of g */
    double rho[MEMORY];
    size_t kept; /* steps so far that are there, the last MEMORY of them */
} descent;

size_t bb_lbfgs_work(size_t size) {
    return (4 + 2 * MEMORY) * size;
}

static descent open_descent(const bb_lbfgs *problem, double *work) {
    descent l = {.problem = problem, .g = work};
    l.next = l.g + problem->size;
    l.next_g = l.next + problem->size;
    l.direction = l.next_g + problem->size;
    l.s = l.direction + problem->size;
    l.y = l.s + MEMORY * problem->size;
    return l;
}

static double value_of(const descent *l, const double *w, double *g) {
    return l->problem->value(l->problem->context, w, g);
}

/* out <- what the Hessian's inverse is taken for beforehand, times g. */
static void guess(const descent *l, const double *g, double *out) {
    const bb_lbfgs *problem = l->problem;
    if (problem->precondition)
        problem->precondition(problem->context, g, out);
    else
        memcpy(out, g, problem->size * sizeof *g);
}

/* direction <- -H g, H from the last steps. */
static void point(descent *l) {
    const size_t n = l->problem->size;
    const size_t first = l->kept > MEMORY ? l->kept - MEMORY : 0;
    double alpha[MEMORY], scale = l->problem->first;
    double *q = l->direction, *guessed = l->next;
    memcpy(q, l->g, n * sizeof *q);
    for (size_t k = l->kept; k-- > first;) {
        const size_t at = k % MEMORY;
        alpha[at] = l->rho[at] * bb_dot(n, l->s + at * n, q);
        bb_axpy(n, -alpha[at], l->y + at * n, q);
    }
    if (l->kept) {
        const size_t at = (l->kept - 1) % MEMORY;
        guess(l, l->y + at * n, guessed);
        scale = 1.0 / (l->rho[at] * bb_dot(n, l->y + at * n, guessed));
    }
    guess(l, q, guessed);
    memcpy(q, guessed, n * sizeof *q);
    bb_scale(n, scale, q);
    for (size_t k = first; k < l->kept; k++) {
        const size_t at = k % MEMORY;
        const double beta = l->rho[at] * bb_dot(n, l->y + at * n, q);
        bb_axpy(n, alpha[at] - beta, l->s + at * n, q);
    }
    bb_scale(n, -1.0, q);
}

/* Moves w along the direction; false where that does not go down any more. */
static bool move(descent *l, double *w, double *value) {
    const size_t n = l->problem->size;
    const double slope = bb_dot(n, l->g, l->direction);
    double step = 1.0, next = INFINITY;
    if (!(slope < 0.0)) return false;
    for (int k = 0; k < MOST_HALVINGS; k++, step *= 0.5) {
        memcpy(l->next, w, n * sizeof *w);
        bb_axpy(n, step, l->direction, l->next);
        next = value_of(l, l->next, l->next_g);
        if (next <= *value + 1e-4 * step * slope) break;
    }
    if (!(next < *value)) return false;
    const size_t at = l->kept % MEMORY;
    double *s = l->s + at * n, *y = l->y + at * n;
    for (size_t k = 0; k < n; k++) {
        s[k] = l->next[k] - w[k];
        y[k] = l->next_g[k] - l->g[k];
    }
    memcpy(w, l->next, n * sizeof *w);
    memcpy(l->g, l->next_g, n * sizeof *w);
    const double bend = bb_dot(n, s, y), gain = *value - next;
    if (bend > 0.0) {
        l->rho[at] = 1.0 / bend;
        l->kept++;
    }
    *value = next;
    return gain > l->problem->small_gain * fabs(next);
}

double bb_lbfgs_minimise(const bb_lbfgs *problem, double *w, double *work) {
    descent l = open_descent(problem, work);
    double value = value_of(&l, w, l.g);
    const double enough = problem->small_gradient * bb_norm(problem->size, l.g);
    for (size_t k = 0; k < problem->most_steps && bb_norm(problem->size, l.g) > enough;
         k++) {
        point(&l);
        if (!move(&l, w, &value)) break;
    }
    return value;
}
