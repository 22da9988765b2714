#include "learners/sgd.h"

#include "base/memory.h"
#include "learners/descent.h"
#include "learners/rows.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* One linear output, for which bb_local_gradient knows the Gram matrix. */
static bool has_gradient(const bb_local *local) {
    return bb_loss_is_solved(local->loss, local->net);
}

/* -- work space -- */

typedef struct cursor {
    double *base; /* NULL: sizes are added up only */
    size_t used;
} cursor;

static double *take(cursor *c, size_t count) {
    double *at = c->base ? c->base + c->used : NULL;
    c->used += count;
    return at;
}

/* Sets sizes, and pointers where there is a base; returns doubles. */
static size_t lay_out(bb_descent_state *s, const bb_local *local, const bb_sgd *sgd,
                      double *work) {
    _Static_assert(sizeof(size_t) <= sizeof(double), "indices fit into work space");
    cursor c = {work, 0};
    const size_t n = local->n;
    *s = (bb_descent_state){.local = local, .momentum = sgd->momentum};
    s->rows = sgd->batch ? smaller(sgd->batch, n) : n;
    const bool lazy = local->touched && sgd->batch && !(sgd->momentum > 0);
    s->most = lazy ? s->rows : smaller(s->rows, bb_predictor_piece(local));
    const bool gradient = has_gradient(local) && !sgd->batch;
    if (sgd->batch) s->index = (void *)take(&c, n);
    s->z = take(&c, bb_larger(s->most * local->outputs, gradient ? n : 0));
    s->teacher = take(&c, s->most * local->outputs);
    s->scratch = take(&c, bb_outputs_scratch(local, s->most));
    if (sgd->momentum > 0 || s->rows > s->most || !sgd->batch)
        s->v = take(&c, local->length);
    if (gradient) s->g = take(&c, local->length);
    if (lazy) s->seen = take(&c, local->touched_count);
    double *rest = take(&c, bb_predictor_work(local, s->most));
    if (work) s->predictor = bb_predictor_open(local, rest);
    return c.used;
}

size_t bb_sgd_work(const bb_local *local, const bb_sgd *sgd) {
    bb_descent_state s;
    const size_t all = lay_out(&s, local, &(bb_sgd){0}, NULL);
    return bb_larger(all, lay_out(&s, local, sgd, NULL));
}

/* -- Fisher information: all rows, in pieces -- */

static bb_descent_state open_all(const bb_local *local, double *work) {
    bb_descent_state s;
    (void)lay_out(&s, local, &(bb_sgd){0}, work);
    return s;
}

/* The next piece of a step's rows. */
static bb_span piece_of(bb_span span, size_t first, size_t most) {
    return (bb_span){span.index ? span.index + first : NULL, span.first + first,
                     smaller(most, span.count - first)};
}

void bb_local_fisher(const bb_local *local, const double *w, double b, double *fisher,
                     double *work) {
    memset(fisher, 0, local->length * sizeof *fisher);
    if (local->n == 0) return;
    bb_descent_state s = open_all(local, work);
    const bb_span all = {.count = local->n};
    const size_t most = local->net ? 1 : s.most;
    for (size_t first = 0; first < local->n; first += most) {
        const bb_span piece = piece_of(all, first, most);
        bb_predictor_forward(&s.predictor, piece, w, b, s.z);
        (void)bb_outputs_loss(local, piece, s.z, s.scratch);
        bb_predictor_squares(&s.predictor, piece, s.z, 1 / (double)local->n, fisher);
    }
    bb_predictor_close(&s.predictor);
}

/* -- descent -- */

void bb_descent_derive(bb_descent_state *s, bb_span span) {
    const size_t outputs = s->local->outputs, size = span.count * outputs;
    const double kl = s->pull.kl;
    /* The teacher first: a network's lane keeps its last forward for backward. */
    if (kl > 0)
        bb_predictor_forward(&s->predictor, span, s->pull.teacher,
                             s->pull.teacher_intercept, s->teacher);
    bb_predictor_forward(&s->predictor, span, s->w, s->b, s->z);
    if (kl > 0)
        (void)bb_outputs_divergence(s->local->loss, outputs, span.count, s->z,
                                    s->teacher);
    (void)bb_outputs_loss(s->local, span, s->z, s->scratch);
    if (kl > 0) bb_axpy(size, kl, s->teacher, s->z);
}

double bb_descent_factor(const bb_descent_state *s, bb_span span) {
    return s->local->weight * ((double)s->local->n / (double)span.count);
}

/* target += a times the derivative of the pull on w; target = w is allowed. */
static void add_pull(const bb_descent_state *s, double a, double *target) {
    const double *w = s->w, *centre = s->pull.centre, *fisher = s->pull.fisher;
    if (!(s->pull.penalty > 0)) return;
    a *= s->pull.penalty;
    for (size_t k = 0; k < s->local->length; k++)
        target[k] += a * (fisher ? fisher[k] : 1) * (w[k] - (centre ? centre[k] : 0));
}

/* Straight into w: the rows are looked at once. */
static void step_directly(bb_descent_state *s, bb_span span, double rate) {
    const double factor = bb_descent_factor(s, span);
    bb_descent_derive(s, span);
    add_pull(s, -rate, s->w);
    bb_predictor_backward(&s->predictor, span, s->z, -rate * factor, s->w);
    if (s->local->intercept) s->b -= rate * factor * bb_sum(span.count, s->z);
}

/* v += the gradient of the loss; returns the derivative in b. */
static double add_gradient(bb_descent_state *s, bb_span span) {
    const double factor = bb_descent_factor(s, span);
    double slope = 0;
    if (s->g && !(s->pull.kl > 0)) {
        (void)bb_local_gradient(s->local, s->w, s->b, s->g, &slope, s->z);
        bb_axpy(s->local->length, 1, s->g, s->v);
        return slope;
    }
    for (size_t first = 0; first < span.count; first += s->most) {
        const bb_span piece = piece_of(span, first, s->most);
        bb_descent_derive(s, piece);
        bb_predictor_backward(&s->predictor, piece, s->z, factor, s->v);
        if (s->local->intercept) slope += factor * bb_sum(piece.count, s->z);
    }
    return slope;
}

static void step_through_v(bb_descent_state *s, bb_span span, double rate) {
    const size_t length = s->local->length;
    if (s->momentum > 0)
        bb_scale(length, s->momentum, s->v);
    else
        memset(s->v, 0, length * sizeof *s->v);
    s->vb = s->momentum * s->vb + add_gradient(s, span);
    add_pull(s, 1, s->v);
    bb_axpy(length, -rate, s->v, s->w);
    s->b -= rate * s->vb;
}

/* Full steps of the squared loss take the best b for w, of loss and divergence:
 * sum_j 1/2 (p_j + b - y_j)^2 + kl (p_j + b - t_j)^2, p_j = x_j.w, t_j the teacher's.
 */
static double best_intercept(const bb_descent_state *s) {
    const bb_local *local = s->local;
    const double twice = 2 * s->pull.kl, own = bb_dot(local->d, local->x_mean, s->w);
    if (!(twice > 0)) return local->y_mean - own;
    const double teacher =
        bb_dot(local->d, local->x_mean, s->pull.teacher) + s->pull.teacher_intercept;
    return ((local->y_mean - own) + twice * (teacher - own)) / (1 + twice);
}

/* The length of the first step. The divergence bends like twice the loss where the laws
 * agree (exactly, for the squared loss). */
static double first_rate(const bb_descent_state *s, const bb_sgd *sgd) {
    const bb_local *local = s->local;
    if (sgd->batch || local->net) return sgd->rate;
    assert(!isnan(local->lipschitz));
    double heaviest = s->pull.fisher ? 0 : 1;
    for (size_t k = 0; s->pull.fisher && k < local->length; k++)
        heaviest = fmax(heaviest, s->pull.fisher[k]);
    return sgd->rate /
           (local->lipschitz * (1 + 2 * s->pull.kl) + s->pull.penalty * heaviest);
}

static double decayed(bb_decay decay, double rate, uint64_t k, uint64_t steps) {
    switch (decay) {
    case BB_DECAY_CONSTANT:
        break;
    case BB_DECAY_LINEAR:
        return rate * (1 - (double)k / (double)steps);
    case BB_DECAY_INVERSE:
        return rate / sqrt((double)k + 1);
    }
    return rate;
}

/* The rows of a step; they are shuffled where an epoch begins. */
static bb_span rows_of_step(const bb_descent_state *s, uint64_t k, bb_random *random) {
    const size_t n = s->local->n, per_epoch = (n - 1) / s->rows + 1;
    const size_t first = (size_t)(k % per_epoch) * s->rows;
    if (s->index && first == 0) bb_random_shuffle(random, s->index, n);
    return (bb_span){s->index ? s->index + first : NULL, first,
                     smaller(s->rows, n - first)};
}

static void run(bb_descent_state *s, const bb_sgd *sgd, bb_random *random) {
    const size_t n = s->local->n;
    const double rate = first_rate(s, sgd);
    uint64_t steps = sgd->steps ? sgd->steps : sgd->epochs * ((n - 1) / s->rows + 1);
    const bool profiled = !sgd->batch && s->local->x_mean;
    const bool lazy = s->seen && !s->pull.fisher;
    /* Nothing bends: there is no step, and no way down. */
    if (!(fabs(rate) < INFINITY)) steps = 0;
    if (s->v) memset(s->v, 0, s->local->length * sizeof *s->v);
    for (size_t j = 0; s->index && j < n; j++) s->index[j] = j;
    if (lazy) bb_sparse_start(s);
    for (uint64_t k = 0; k < steps; k++) {
        const bb_span span = rows_of_step(s, k, random);
        const double now = decayed(sgd->decay, rate, k, steps);
        if (profiled) s->b = best_intercept(s);
        if (lazy)
            bb_sparse_step(s, span, now);
        else if (s->v)
            step_through_v(s, span, now);
        else
            step_directly(s, span, now);
    }
    if (lazy) bb_sparse_settle(s);
    if (profiled) s->b = best_intercept(s);
}

void bb_local_descend(const bb_local *local, const bb_sgd *sgd, const bb_pull *pull,
                      bb_random *random, double *w, double *b, double *work) {
    bb_descent_state s;
    assert((b != NULL) == local->intercept);
    assert(!(pull->kl > 0) || pull->teacher);
    if (local->n == 0) return;
    (void)lay_out(&s, local, sgd, work);
    s.pull = *pull;
    s.w = w;
    s.b = b ? *b : 0;
    run(&s, sgd, random);
    if (b) *b = s.b;
    bb_predictor_close(&s.predictor);
}
