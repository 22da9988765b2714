/* outputs.h - inside the room: losses and divergences of models as functions of their
 * outputs z, and which rows a step is about. */
#ifndef BB_LEARNERS_OUTPUTS_H
#define BB_LEARNERS_OUTPUTS_H

#include "learners/local.h"

/* Rows index[0 .. count-1], or first, first + 1, ... where index is NULL. */
typedef struct bb_span {
    const size_t *index;
    size_t first, count;
} bb_span;

static inline size_t bb_span_row(bb_span span, size_t r) {
    return span.index ? span.index[r] : span.first + r;
}

/* The sum over the span of the losses (without s) at z (count x outputs), which becomes
 * its derivatives. scratch: bb_outputs_scratch doubles for spans of up to `count` rows.
 */
size_t bb_outputs_scratch(const bb_local *local, size_t count);
double bb_outputs_loss(const bb_local *local, bb_span span, double *z, double *scratch);

/* The sum over `count` rows of KL(p||q) + KL(q||p), for the laws p of the outputs z and
 * q of `teacher` (both count x outputs); teacher becomes the derivatives in z. With
 * D = z - teacher:
 *   squared                D^2
 *   logistic, multilabel   (p - q) D, p and q the probabilities of the label, summed
 *   softmax                sum_c (p_c - q_c) D_c */
double bb_outputs_divergence(bb_loss loss, size_t outputs, size_t count,
                             const double *z, double *teacher);

#endif
