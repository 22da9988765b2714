/* Ridge of several outputs by L-BFGS (Liu and Nocedal 1989): two loops over the last
 * steps give the direction (Nocedal 1980), halving the step's length (Armijo). */
#include "learners/predictor.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MEMORY = 6, MOST_STEPS = 200, MOST_HALVINGS = 30 };
static const double small_gradient = 1e-5; /* of the one at W = 0 */
static const double small_gain = 1e-11;    /* of the value, in a step */

typedef struct lbfgs {
    const bb_local *local;
    double lambda;
    size_t size, penalised; /* numbers of W, and those before the free ones */
    size_t most;            /* rows at once */
    bb_predictor predictor;
    double *z, *scratch;
    double *g, *next, *next_g, *direction; /* size */
    double *s, *y;                         /* MEMORY x size: steps, and changes of g */
    double rho[MEMORY];
    size_t kept; /* steps so far that are there, the last MEMORY of them */
} lbfgs;

static size_t piece_of(const bb_local *local) {
    const size_t most = bb_predictor_piece(local);
    return most < local->n ? most : local->n;
}

size_t bb_local_outputs_work(const bb_local *local) {
    return bb_predictor_work(local, piece_of(local));
}

void bb_local_outputs(const bb_local *local, const double *w, size_t first,
                      size_t count, double *z, double *work) {
    const size_t most = piece_of(local);
    bb_predictor p = bb_predictor_open(local, work);
    for (size_t r = 0; r < count; r += most) {
        const size_t rows = count - r < most ? count - r : most;
        bb_predictor_forward(&p, (bb_span){NULL, first + r, rows}, w, 0.0,
                             z + r * local->outputs);
    }
    bb_predictor_close(&p);
}

size_t bb_local_ridge_outputs_work(const bb_local *local) {
    const size_t most = piece_of(local);
    return (4 + 2 * MEMORY) * local->length + most * local->outputs +
           bb_outputs_scratch(local, most) + bb_predictor_work(local, most);
}

static lbfgs open_lbfgs(const bb_local *local, double lambda, bool free_last,
                        double *work) {
    lbfgs l = {.local = local,
               .lambda = lambda,
               .size = local->length,
               .penalised = local->length - (free_last ? local->outputs : 0),
               .most = piece_of(local)};
    l.g = work;
    l.next = l.g + l.size;
    l.next_g = l.next + l.size;
    l.direction = l.next_g + l.size;
    l.s = l.direction + l.size;
    l.y = l.s + MEMORY * l.size;
    l.z = l.y + MEMORY * l.size;
    l.scratch = l.z + l.most * local->outputs;
    l.predictor =
        bb_predictor_open(local, l.scratch + bb_outputs_scratch(local, l.most));
    return l;
}

/* One more row, of zeros but for the free outputs b, that has every label by halves or
 * every class in equal parts: without it b runs away from labels that never occur. Its
 * loss; g += its derivatives. */
static double hold(const lbfgs *l, const double *b, double *g) {
    const size_t outputs = l->local->outputs;
    const double s = l->local->weight;
    double sum = 0.0, top = b[0], value = 0.0;
    if (l->local->loss == BB_LOSS_MULTILABEL) {
        for (size_t c = 0; c < outputs; c++) {
            value += 0.5 * fabs(b[c]) + log1p(exp(-fabs(b[c])));
            g[c] += 0.5 * s * tanh(0.5 * b[c]);
        }
        return s * value;
    }
    for (size_t c = 0; c < outputs; c++) top = fmax(top, b[c]);
    for (size_t c = 0; c < outputs; c++) sum += exp(b[c] - top);
    value = top + log(sum);
    for (size_t c = 0; c < outputs; c++) {
        value -= b[c] / (double)outputs;
        g[c] += s * (exp(b[c] - top) / sum - 1.0 / (double)outputs);
    }
    return s * value;
}

static double value_of(lbfgs *l, const double *w, double *g) {
    const bb_local *local = l->local;
    double sum = 0.0;
    memset(g, 0, l->size * sizeof *g);
    for (size_t first = 0; first < local->n; first += l->most) {
        const size_t left = local->n - first;
        const bb_span span = {NULL, first, left < l->most ? left : l->most};
        bb_predictor_forward(&l->predictor, span, w, 0.0, l->z);
        sum += bb_outputs_loss(local, span, l->z, l->scratch);
        bb_predictor_backward(&l->predictor, span, l->z, local->weight, g);
    }
    bb_axpy(l->penalised, l->lambda, w, g);
    sum = local->weight * sum + 0.5 * l->lambda * bb_dot(l->penalised, w, w);
    if (l->penalised < l->size) sum += hold(l, w + l->penalised, g + l->penalised);
    return sum;
}

/* direction <- -H g, H from the last steps; the first one is as long as the Lipschitz
 * constant allows. */
static void point(lbfgs *l) {
    const size_t n = l->size, first = l->kept > MEMORY ? l->kept - MEMORY : 0;
    double alpha[MEMORY], scale = 1.0 / (l->local->lipschitz + l->lambda);
    double *q = l->direction;
    memcpy(q, l->g, n * sizeof *q);
    for (size_t k = l->kept; k-- > first;) {
        const size_t at = k % MEMORY;
        alpha[at] = l->rho[at] * bb_dot(n, l->s + at * n, q);
        bb_axpy(n, -alpha[at], l->y + at * n, q);
    }
    if (l->kept) {
        const size_t at = (l->kept - 1) % MEMORY;
        scale = 1.0 / (l->rho[at] * bb_dot(n, l->y + at * n, l->y + at * n));
    }
    bb_scale(n, scale, q);
    for (size_t k = first; k < l->kept; k++) {
        const size_t at = k % MEMORY;
        const double beta = l->rho[at] * bb_dot(n, l->y + at * n, q);
        bb_axpy(n, alpha[at] - beta, l->s + at * n, q);
    }
    bb_scale(n, -1.0, q);
}

/* Moves w along the direction; false where that does not go down any more. */
static bool move(lbfgs *l, double *w, double *value) {
    const size_t n = l->size;
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
    return gain > small_gain * fabs(next);
}

void bb_local_ridge_outputs(const bb_local *local, double lambda, bool free_last,
                            double *w, double *work) {
    memset(w, 0, local->length * sizeof *w);
    assert(!local->net && !bb_loss_is_single(local->loss) && lambda > 0.0);
    if (!local->n) return;
    lbfgs l = open_lbfgs(local, lambda, free_last, work);
    double value = value_of(&l, w, l.g);
    const double enough = small_gradient * bb_norm(l.size, l.g);
    for (size_t k = 0; k < MOST_STEPS && bb_norm(l.size, l.g) > enough; k++) {
        point(&l);
        if (!move(&l, w, &value)) break;
    }
    bb_predictor_close(&l.predictor);
}
