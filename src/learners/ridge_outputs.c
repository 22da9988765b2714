/* Ridge of several outputs, by L-BFGS. */
#include "learners/predictor.h"
#include "linalg/lbfgs.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 200 };
static const double small_gradient = 1e-5; /* of the one at W = 0 */
static const double small_gain = 1e-11;    /* of the value, in a step */

typedef struct ridge {
    const bb_local *local;
    double lambda;
    const double *centre;   /* NULL: 0 */
    double *away;           /* size: W - centre */
    size_t size, penalised; /* numbers of W, and those before the free ones */
    size_t most;            /* rows at once */
    double *inverse;        /* d x d; NULL: none */
    bb_predictor predictor;
    double *z, *scratch;
} ridge;

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

/* Columns of very different lengths would take thousands of steps. More columns than rows cost
 * more than they save. */
static bool is_preconditioned(const bb_local *local) {
    return local->x && local->d <= local->n + 1;
}

static size_t inverse_work(const bb_local *local) {
    const size_t d = local->d;
    if (!is_preconditioned(local)) return 0;
    return d * d + bb_invert_work(d) / sizeof(double) + 1;
}

size_t bb_local_ridge_outputs_work(const bb_local *local) {
    const size_t most = piece_of(local);
    return bb_lbfgs_work(local->length) + local->length + most * local->outputs +
           bb_outputs_scratch(local, most) + bb_predictor_work(local, most) +
           inverse_work(local);
}

/* l->inverse <- that of one output's block of the Hessian where all labels are as likely, the
 * free last column as penalised as the others. */
static void look_around(ridge *l, double *work) {
    const bb_local *local = l->local;
    const size_t d = local->d;
    const double outputs = (double)local->outputs;
    const bool softmax = local->loss == BB_LOSS_SOFTMAX;
    const double bend = softmax ? (outputs - 1.0) / (outputs * outputs) : 0.25;
    if (!is_preconditioned(local)) return;
    bb_gram(local->n, d, bend * local->weight, local->x, 0.0, work);
    for (size_t k = 0; k < d; k++) work[k * d + k] += l->lambda;
    if (!bb_invert_spd(d, work, work + d * d)) l->inverse = work;
}

static void precondition(void *context, const double *g, double *out) {
    const ridge *l = context;
    const size_t d = l->local->d;
    bb_product(d, d, l->local->outputs, 1.0, l->inverse, g, 0.0, out);
}

static ridge open_ridge(const bb_local *local, double lambda, const double *centre,
                        bool free_last, double *work) {
    ridge l = {.local = local,
               .lambda = lambda,
               .centre = centre,
               .size = local->length,
               .penalised = local->length - (free_last ? local->outputs : 0),
               .most = piece_of(local)};
    l.away = work + bb_lbfgs_work(l.size);
    l.z = l.away + l.size;
    l.scratch = l.z + l.most * local->outputs;
    double *rest = l.scratch + bb_outputs_scratch(local, l.most);
    l.predictor = bb_predictor_open(local, rest);
    look_around(&l, rest + bb_predictor_work(local, l.most));
    return l;
}

/* One more row, of zeros but for the free outputs b, that has every label by halves or
 * every class in equal parts: without it b runs away from labels that never occur. Its
 * loss; g += its derivatives. */
static double hold(const ridge *l, const double *b, double *g) {
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

static double value_of(void *context, const double *w, double *g) {
    ridge *l = context;
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
    const double *away = w;
    if (l->centre) {
        memcpy(l->away, w, l->penalised * sizeof *w);
        bb_axpy(l->penalised, -1.0, l->centre, l->away);
        away = l->away;
    }
    bb_axpy(l->penalised, l->lambda, away, g);
    sum = local->weight * sum + 0.5 * l->lambda * bb_dot(l->penalised, away, away);
    if (l->penalised < l->size) sum += hold(l, w + l->penalised, g + l->penalised);
    return sum;
}

void bb_local_ridge_outputs(const bb_local *local, double lambda, const double *centre,
                            bool free_last, double *w, double *work) {
    if (centre)
        memcpy(w, centre, local->length * sizeof *w);
    else
        memset(w, 0, local->length * sizeof *w);
    assert(!local->net && !bb_loss_is_single(local->loss) && lambda > 0.0);
    if (!local->n) return;
    ridge l = open_ridge(local, lambda, centre, free_last, work);
    const bb_lbfgs problem = {.size = l.size,
                              .value = value_of,
                              .context = &l,
                              .precondition = l.inverse ? precondition : NULL,
                              .first =
                                  l.inverse ? 1.0 : 1.0 / (local->lipschitz + lambda),
                              .most_steps = MOST_STEPS,
                              .small_gradient = small_gradient,
                              .small_gain = small_gain};
    bb_lbfgs_minimise(&problem, w, work);
    bb_predictor_close(&l.predictor);
}
