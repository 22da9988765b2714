/* models.h - one linear model for each task: predictions, files, fingerprints. */
#ifndef BB_EVAL_MODELS_H
#define BB_EVAL_MODELS_H

#include "base/hash.h"
#include "data/dataset.h"

#include <stddef.h>
#include <stdio.h>

typedef struct bb_models {
    size_t tasks, features;
    char **task_name;    /* tasks; one block, see data/names.h */
    char **feature_name; /* features */
    double *weight;      /* tasks x features */
    double *intercept;   /* tasks */
} bb_models;

/* Empty models with the names of the data set. */
BB_MUST_CHECK bb_status bb_models_open(bb_models *models, const bb_dataset *data);
/* Frees everything; takes half-built and zeroed models. */
void bb_models_free(bb_models *models);

/* prediction_j (data->rows) <- x_j.w_i + b_i for every row j of every task i, over the
 * first `features` columns; weight is data->tasks x features. */
void bb_predict_rows(const bb_dataset *data, size_t features, const double *weight,
                     const double *intercept, double *prediction);

/* SHA-256 of all weights, task by task, then all intercepts. */
BB_MUST_CHECK bb_status bb_models_hash(const bb_models *models, char hex[BB_HASH_TEXT]);

/* models.csv: a first line beginning with '#' that says whose each row is, the header
 * task,intercept,<features>, and a row a task, numbers with 17 digits. */
BB_MUST_CHECK bb_status bb_models_write(const bb_models *models, const char *path);
/* Reads it back, to the same bits. BB_EDATA with line for anything else. */
BB_MUST_CHECK bb_status bb_models_read(bb_models *models, const char *path);

/* Writes a CSV field, quoted where it must be. */
void bb_write_field(FILE *stream, const char *text);

#endif
