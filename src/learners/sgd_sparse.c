#include "learners/descent.h"

#include <math.h>

void bb_sparse_start(bb_descent_state *s) {
    s->product = 1;
    for (size_t t = 0; t < s->local->touched_count; t++) s->seen[t] = 1;
}

/* Makes up the pull that row t of w has missed. */
static void catch_up(bb_descent_state *s, size_t t) {
    if (s->seen[t] == s->product) return;
    const size_t outputs = s->local->outputs;
    const double factor = s->product / s->seen[t];
    const double *centre = s->pull.centre ? s->pull.centre + t * outputs : NULL;
    double *w = s->w + t * outputs;
    if (centre)
        for (size_t c = 0; c < outputs; c++)
            w[c] = centre[c] + factor * (w[c] - centre[c]);
    else
        for (size_t c = 0; c < outputs; c++) w[c] *= factor;
    s->seen[t] = s->product;
}

static void catch_up_rows(bb_descent_state *s, bb_span span) {
    const bb_local *local = s->local;
    if (!(s->pull.penalty > 0)) return;
    for (size_t r = 0; r < span.count; r++) {
        const size_t j = bb_span_row(span, r), origin = local->sparse_first[0];
        for (size_t e = local->sparse_first[j]; e < local->sparse_first[j + 1]; e++)
            catch_up(s, local->place[e - origin]);
    }
}

void bb_sparse_settle(bb_descent_state *s) {
    for (size_t t = 0; t < s->local->touched_count; t++) catch_up(s, t);
}

void bb_sparse_step(bb_descent_state *s, bb_span span, double rate) {
    catch_up_rows(s, span);
    bb_descent_derive(s, span);
    s->product *= 1 - rate * s->pull.penalty;
    /* Before it leaves the range of numbers, zero included, everybody catches up. */
    if (!(fabs(s->product) > 1e-100 && fabs(s->product) < 1e100)) {
        bb_sparse_settle(s);
        bb_sparse_start(s);
    }
    catch_up_rows(s, span);
    bb_predictor_backward(&s->predictor, span, s->z, -rate * bb_descent_factor(s, span),
                          s->w);
}
