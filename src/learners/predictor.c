#include "learners/predictor.h"

#include "learners/rows.h"
#include "linalg/linalg.h"

#include <string.h>

/* Doubles of dense rows that are copied at once, and rows at once of other kinds. */
enum { PIECE_DOUBLES = 1 << 17, PIECE_ROWS = 256, PIECE_LEAST = 16 };

static bool copies_rows(const bb_local *local) {
    return !local->net && local->x && local->outputs > 1;
}

size_t bb_predictor_piece(const bb_local *local) {
    if (local->net) return bb_net_batch(local->net);
    if (!copies_rows(local) || local->d <= PIECE_DOUBLES / PIECE_ROWS)
        return PIECE_ROWS;
    const size_t rows = PIECE_DOUBLES / local->d;
    return rows > PIECE_LEAST ? rows : PIECE_LEAST;
}

size_t bb_predictor_work(const bb_local *local, size_t most) {
    _Static_assert(sizeof(double *) <= sizeof(double), "pointers fit into work space");
    if (local->net) return most + local->length;
    return copies_rows(local) ? most * local->d : 0;
}

bb_predictor bb_predictor_open(const bb_local *local, double *work) {
    bb_predictor p = {.local = local};
    if (local->net) {
        p.lane = bb_net_take(local->net);
        p.g = work;
        p.images = (void *)(work + local->length);
    } else if (copies_rows(local)) {
        p.x = work;
    }
    return p;
}

void bb_predictor_close(bb_predictor *p) {
    if (p->lane) bb_net_give(p->local->net, p->lane);
    *p = (bb_predictor){0};
}

/* The span's rows of a dense task, contiguous: where they are, or in p->x. */
static const double *dense_rows(const bb_predictor *p, bb_span span) {
    return span.index ? p->x : p->local->x + span.first * p->local->d;
}

static void copy_rows(const bb_predictor *p, bb_span span) {
    const size_t d = p->local->d;
    for (size_t r = 0; span.index && r < span.count; r++)
        memcpy(p->x + r * d, p->local->x + span.index[r] * d, d * sizeof *p->x);
}

/* Which row of the task's own model the feature of entry e has. */
static size_t place(const bb_local *local, size_t e) {
    return local->place ? local->place[e - local->sparse_first[0]]
                        : local->sparse_column[e];
}

static void sparse_forward(const bb_local *local, size_t j, const double *w,
                           double *z) {
    const size_t outputs = local->outputs, end = local->sparse_first[j + 1];
    memset(z, 0, outputs * sizeof *z);
    for (size_t e = local->sparse_first[j]; e < end; e++)
        bb_axpy(outputs, local->sparse_value[e], w + place(local, e) * outputs, z);
}

static void sparse_backward(const bb_local *local, size_t j, const double *dz, double a,
                            double *target) {
    const size_t outputs = local->outputs, end = local->sparse_first[j + 1];
    for (size_t e = local->sparse_first[j]; e < end; e++)
        bb_axpy(outputs, a * local->sparse_value[e], dz,
                target + place(local, e) * outputs);
}

static void net_forward(const bb_predictor *p, bb_span span, const double *w,
                        double *z) {
    for (size_t r = 0; r < span.count; r++)
        p->images[r] = p->local->x + bb_span_row(span, r) * p->local->d;
    bb_net_forward(p->local->net, p->lane, w, span.count, p->images, z);
}

static double one_dot(const bb_local *local, size_t j, const double *w) {
    if (local->x) return bb_dot(local->d, local->x + j * local->d, w);
    double sum = 0;
    for (size_t e = local->sparse_first[j]; e < local->sparse_first[j + 1]; e++)
        sum += local->sparse_value[e] * w[place(local, e)];
    return sum;
}

static void one_add(const bb_local *local, size_t j, double a, double *target) {
    if (local->x) {
        bb_axpy(local->d, a, local->x + j * local->d, target);
        return;
    }
    for (size_t e = local->sparse_first[j]; e < local->sparse_first[j + 1]; e++)
        target[place(local, e)] += a * local->sparse_value[e];
}

void bb_predictor_forward(bb_predictor *p, bb_span span, const double *w, double b,
                          double *z) {
    const bb_local *local = p->local;
    const size_t outputs = local->outputs;
    if (local->net) {
        net_forward(p, span, w, z);
    } else if (copies_rows(local)) {
        copy_rows(p, span);
        bb_product(span.count, local->d, outputs, 1, dense_rows(p, span), w, 0, z);
    } else {
        for (size_t r = 0; r < span.count; r++) {
            const size_t j = bb_span_row(span, r);
            if (outputs == 1)
                z[r] = one_dot(local, j, w) + b;
            else
                sparse_forward(local, j, w, z + r * outputs);
        }
    }
}

void bb_predictor_backward(bb_predictor *p, bb_span span, const double *dz, double a,
                           double *target) {
    const bb_local *local = p->local;
    const size_t outputs = local->outputs;
    if (local->net) {
        bb_net_backward(local->net, p->lane, dz, p->g);
        bb_axpy(local->length, a, p->g, target);
    } else if (copies_rows(local)) {
        bb_product_transposed(local->d, span.count, outputs, a, dense_rows(p, span), dz,
                              1, target);
    } else {
        for (size_t r = 0; r < span.count; r++) {
            const size_t j = bb_span_row(span, r);
            if (outputs == 1)
                one_add(local, j, a * dz[r], target);
            else
                sparse_backward(local, j, dz + r * outputs, a, target);
        }
    }
}

static void add_squares(const bb_local *local, size_t j, const double *dz, double a,
                        double *target) {
    const size_t outputs = local->outputs;
    const size_t first = local->x ? 0 : local->sparse_first[j];
    const size_t end = local->x ? local->d : local->sparse_first[j + 1];
    for (size_t e = first; e < end; e++) {
        const double x = local->x ? local->x[j * local->d + e] : local->sparse_value[e];
        const size_t row = local->x ? e : place(local, e);
        bb_axpy(outputs, a * x * x, dz, target + row * outputs);
    }
}

void bb_predictor_squares(bb_predictor *p, bb_span span, double *dz, double a,
                          double *target) {
    const bb_local *local = p->local;
    if (local->net) {
        bb_net_backward(local->net, p->lane, dz, p->g);
        for (size_t k = 0; k < local->length; k++) target[k] += a * p->g[k] * p->g[k];
        return;
    }
    for (size_t k = 0; k < span.count * local->outputs; k++) dz[k] *= dz[k];
    for (size_t r = 0; r < span.count; r++)
        add_squares(local, bb_span_row(span, r), dz + r * local->outputs, a, target);
}
