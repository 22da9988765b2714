#include "eval/models.h"

#include "base/memory.h"
#include "data/names.h"
#include "linalg/linalg.h"

#include <stdlib.h>
#include <string.h>

bb_status bb_models_open(bb_models *models, const bb_dataset *data) {
    bb_models m = {.tasks = data->tasks, .features = data->features};
    bb_status status = bb_names_copy(&m.task_name, m.tasks, data->task_name);
    if (!status)
        status = bb_names_copy(&m.feature_name, m.features, data->feature_name);
    if (!status)
        status =
            bb_allocate(&m.weight, m.tasks * m.features, sizeof(double), "the models");
    if (!status)
        status = bb_allocate(&m.intercept, m.tasks, sizeof(double), "the models");
    if (status)
        bb_models_free(&m);
    else
        *models = m;
    return status;
}

void bb_models_free(bb_models *m) {
    free(m->task_name);
    free(m->feature_name);
    free(m->weight);
    free(m->intercept);
    *m = (bb_models){0};
}

static double sparse_dot(const bb_dataset *data, size_t j, size_t features,
                         const double *w) {
    double sum = 0.0;
    for (size_t k = data->sparse_first[j]; k < data->sparse_first[j + 1]; k++)
        if (data->sparse_column[k] < features)
            sum += data->sparse_value[k] * w[data->sparse_column[k]];
    return sum;
}

void bb_predict_rows(const bb_dataset *data, size_t features, const double *weight,
                     const double *intercept, double *prediction) {
    for (size_t i = 0; i < data->tasks; i++) {
        const double *w = weight + i * features;
        for (size_t j = data->first[i]; j < data->first[i + 1]; j++)
            prediction[j] = intercept[i] +
                            (data->x ? bb_dot(features, data->x + j * data->features, w)
                                     : sparse_dot(data, j, features, w));
    }
}

bb_status bb_models_hash(const bb_models *models, char hex[BB_HASH_TEXT]) {
    bb_hash hash = {0};
    bb_status status = bb_hash_open(&hash);
    if (status) return status;
    bb_hash_add_doubles(&hash, models->weight, models->tasks * models->features);
    bb_hash_add_doubles(&hash, models->intercept, models->tasks);
    status = bb_hash_text(&hash, hex);
    bb_hash_close(&hash);
    return status;
}
