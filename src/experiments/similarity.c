#include "experiments/similarity.h"

#include "base/json.h"
#include "linalg/linalg.h"

#include <math.h>

static double cosine(const double *a, const double *b, size_t d) {
    const double length = sqrt(bb_dot(d, a, a) * bb_dot(d, b, b));
    return length > 0.0 ? bb_dot(d, a, b) / length : 0.0;
}

static double to_truth(const double *w, const double *truth, size_t m, size_t d) {
    double sum = 0.0;
    for (size_t i = 0; i < m; i++) sum += cosine(w + i * d, truth + i * d, d);
    return sum / (double)m;
}

static double to_last(const double *w, size_t m, size_t d) {
    double sum = 0.0;
    for (size_t i = 0; i + 1 < m; i++)
        sum += fabs(cosine(w + i * d, w + (m - 1) * d, d));
    return sum / (double)(m - 1); /* NAN: there is one task */
}

static double relations(const double *w, const double *truth, size_t m, size_t d) {
    double sum = 0.0;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < i; j++)
            sum += fabs(cosine(w + i * d, w + j * d, d) -
                        cosine(truth + i * d, truth + j * d, d));
    return 2.0 * sum / ((double)m * ((double)m - 1.0));
}

json_t *bb_similarity_json(const bb_models *models, const double *truth) {
    const size_t m = models->tasks, d = models->features;
    if (!models->intercept || !models->weight) return json_null();
    return json_pack("{s:o,s:o,s:o}", "to_truth",
                     bb_json_real(to_truth(models->weight, truth, m, d)), "to_last",
                     bb_json_real(to_last(models->weight, m, d)), "relations",
                     bb_json_real(relations(models->weight, truth, m, d)));
}
