#include "learners/outputs.h"

#include "learners/rows.h"
#include "linalg/linalg.h"

#include <math.h>

size_t bb_outputs_scratch(const bb_local *local, size_t count) {
    return local->loss == BB_LOSS_MULTILABEL ? local->outputs : count;
}

static double squared(const bb_local *local, bb_span span, double *z) {
    double sum = 0;
    for (size_t r = 0; r < span.count; r++) {
        z[r] -= local->y[bb_span_row(span, r)];
        sum += 0.5 * z[r] * z[r];
    }
    return sum;
}

static double logistic(const bb_local *local, bb_span span, double *z, double *y) {
    for (size_t r = 0; r < span.count; r++) y[r] = local->y[bb_span_row(span, r)];
    return bb_logistic(span.count, y, z);
}

static size_t largest(size_t n, const double *z) {
    size_t at = 0;
    for (size_t c = 1; c < n; c++) at = z[c] > z[at] ? c : at;
    return at;
}

/* Of every row: how far the label's output is behind the largest, and what log sum_c exp z_c is
 * above that, from the others alone, of which all digits count. */
static double softmax(const bb_local *local, bb_span span, double *z, double *others) {
    const size_t outputs = local->outputs;
    double sum = 0;
    for (size_t r = 0; r < span.count; r++) {
        double *row = z + r * outputs;
        const size_t top = largest(outputs, row);
        const double highest = row[top];
        sum += highest - row[(size_t)local->y[bb_span_row(span, r)]];
        for (size_t c = 0; c < outputs; c++) row[c] -= highest;
        others[r] = (double)top;
    }
    bb_exp(span.count * outputs, z);
    for (size_t r = 0; r < span.count; r++) {
        double *row = z + r * outputs;
        const size_t top = (size_t)others[r];
        const double own = row[top];
        row[top] = 0;
        others[r] = bb_sum(outputs, row);
        row[top] = own;
        const double share = 1 / (1 + others[r]);
        for (size_t c = 0; c < outputs; c++) row[c] *= share;
        row[(size_t)local->y[bb_span_row(span, r)]] -= 1;
    }
    return sum + bb_log_plus(span.count, others);
}

static double multilabel(const bb_local *local, bb_span span, double *z, double *t) {
    double sum = 0;
    for (size_t c = 0; c < local->outputs; c++) t[c] = -1;
    for (size_t r = 0; r < span.count; r++, z += local->outputs) {
        const size_t j = bb_span_row(span, r);
        const size_t first = local->label_first[j], end = local->label_first[j + 1];
        for (size_t e = first; e < end; e++) t[local->label[e]] = 1;
        sum += bb_logistic(local->outputs, t, z);
        for (size_t e = first; e < end; e++) t[local->label[e]] = -1;
    }
    return sum;
}

double bb_outputs_loss(const bb_local *local, bb_span span, double *z,
                       double *scratch) {
    switch (local->loss) {
    case BB_LOSS_SQUARED:
        return squared(local, span, z);
    case BB_LOSS_LOGISTIC:
        return logistic(local, span, z, scratch);
    case BB_LOSS_SOFTMAX:
        return softmax(local, span, z, scratch);
    case BB_LOSS_MULTILABEL:
        return multilabel(local, span, z, scratch);
    }
    return NAN;
}

static double squared_divergence(size_t n, const double *z, double *teacher) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        const double D = z[k] - teacher[k];
        sum += D * D;
        teacher[k] = 2 * D;
    }
    return sum;
}

static double sigmoid(double z) {
    if (z >= 0) return 1 / (1 + exp(-z));
    const double e = exp(z);
    return e / (1 + e);
}

static double bernoulli_divergence(size_t n, const double *z, double *teacher) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        const double D = z[k] - teacher[k];
        const double p = sigmoid(z[k]), q = sigmoid(teacher[k]);
        sum += (p - q) * D;
        teacher[k] = (p - q) + p * sigmoid(-z[k]) * D;
    }
    return sum;
}

/* The laws do not change when z and teacher are shifted by their largest. */
static double softmax_divergence(size_t n, const double *z, double *teacher) {
    const double z_top = z[largest(n, z)], t_top = teacher[largest(n, teacher)];
    double z_sum = 0, t_sum = 0, mean = 0, value = 0;
    for (size_t c = 0; c < n; c++) {
        z_sum += exp(z[c] - z_top);
        t_sum += exp(teacher[c] - t_top);
    }
    for (size_t c = 0; c < n; c++) {
        const double p = exp(z[c] - z_top) / z_sum;
        const double q = exp(teacher[c] - t_top) / t_sum;
        const double D = (z[c] - z_top) - (teacher[c] - t_top);
        mean += p * D;
        value += (p - q) * D;
    }
    for (size_t c = 0; c < n; c++) {
        const double p = exp(z[c] - z_top) / z_sum;
        const double q = exp(teacher[c] - t_top) / t_sum;
        const double D = (z[c] - z_top) - (teacher[c] - t_top);
        teacher[c] = (p - q) + p * (D - mean);
    }
    return value;
}

double bb_outputs_divergence(bb_loss loss, size_t outputs, size_t count,
                             const double *z, double *teacher) {
    double sum = 0;
    switch (loss) {
    case BB_LOSS_SQUARED:
        return squared_divergence(count * outputs, z, teacher);
    case BB_LOSS_LOGISTIC:
    case BB_LOSS_MULTILABEL:
        return bernoulli_divergence(count * outputs, z, teacher);
    case BB_LOSS_SOFTMAX:
        break;
    }
    for (size_t r = 0; r < count; r++)
        sum += softmax_divergence(outputs, z + r * outputs, teacher + r * outputs);
    return sum;
}
