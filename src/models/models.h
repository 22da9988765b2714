/* models.h - one model for each task: predictions, files, fingerprints. */
#ifndef BB_MODELS_MODELS_H
#define BB_MODELS_MODELS_H

#include "base/file.h"
#include "base/hash.h"
#include "data/dataset.h"
#include "learners/local.h"
#include "learners/net.h"

#include <stddef.h>
#include <stdio.h>

struct bb_engine;

/* What every task's model is. */
typedef struct bb_model_kind {
    bb_loss loss;
    size_t outputs;    /* numbers z that it makes of a row; 1: squared or logistic */
    const char *net;   /* layers of a network (learners/net.h); NULL: linear */
    bb_image image;    /* what a network sees */
    size_t parameters; /* of a network; linear: 0, they follow */
} bb_model_kind;

/* Four forms, by what is not NULL:
 *   intercept   linear, one output: x.w + b
 *   weight      (without intercept) linear, several outputs: W'x, W features x outputs
 *               row-major
 *   single      networks, in the float32 in which they compute
 *   shared      linear, several outputs, sparse: W has the task's own rows at the
 *               features that it touched, and those of its group elsewhere */
typedef struct bb_models {
    size_t tasks, features;
    char **task_name;    /* tasks; one block, see data/names.h */
    char **feature_name; /* features */
    bb_loss loss;        /* with one linear output unknown to the models' file */
    size_t outputs;
    char *net;
    bb_image image;
    size_t parameters; /* of a network */
    double *intercept; /* tasks */
    double *limit;     /* tasks x 2, with intercept: limits.h; NULL: none */
    double *weight;    /* tasks x features, or tasks x (features x outputs) */
    float *single;     /* tasks x parameters */
    size_t groups;     /* of tasks that share */
    double *shared;    /* groups x features x outputs */
    uint32_t *group;   /* tasks */
    size_t *own_first; /* tasks + 1: task i touched own_first[i] .. own_first[i+1]-1 */
    uint32_t *touched; /* own_first[tasks]: features, ascending in a task */
    double *own;       /* own_first[tasks] x outputs */
    bb_map weight_at;  /* where weight is, if not in memory (data->memory) */
} bb_models;

/* Empty models of one linear output with the names of the data set. */
BB_MUST_CHECK bb_status bb_models_open(bb_models *models, const bb_dataset *data);
/* Models of any kind, all zero. */
BB_MUST_CHECK bb_status bb_models_open_kind(bb_models *models, const bb_dataset *data,
                                            const bb_model_kind *kind);
/* Models that share: shared (groups x data->features x kind->outputs) is copied, and so
 * is each task's group (NULL: all 0). Own rows, all zero, are for what each task's
 * problem touched: local has data->tasks of them. */
BB_MUST_CHECK bb_status bb_models_open_compact(
    bb_models *models, const bb_dataset *data, const bb_model_kind *kind, size_t groups,
    const double *shared, const uint32_t *group, const bb_local *local);
/* Task i's model <- w: as many numbers as bb_models_length says, rounded to float32 for
 * networks. The intercept of one linear output is set by hand. */
void bb_models_put(bb_models *models, size_t i, const double *w);
size_t bb_models_length(const bb_models *models, size_t i);
/* Task i's model alone: its own numbers, and of what tasks share that of its group. */
BB_MUST_CHECK bb_status bb_models_select(bb_models *out, const bb_models *all,
                                         size_t i);
/* Further tasks, all with the first model of `one` and without limits; both linear with one
 * output and the same features. *models is unchanged on failure. */
BB_MUST_CHECK bb_status bb_models_add(bb_models *models, size_t count,
                                      char *const *task_name, const bb_models *one);
/* A pass over linear models has come behind task i: bb_map_passed. */
void bb_models_passed(const bb_models *models, size_t i);
/* Frees everything; takes half-built and zeroed models. */
void bb_models_free(bb_models *models);

/* prediction_j (data->rows) <- x_j.w_i + b_i for every row j of every task i, over the
 * first `features` columns; weight is data->tasks x features. */
void bb_predict_rows(const bb_dataset *data, size_t features, const double *weight,
                     const double *intercept, double *prediction);

/* The outputs of some rows of one task. */
typedef struct bb_outputs {
    size_t task, row, rows; /* rows row .. row + rows - 1 of the data set */
    const double *z;        /* rows x outputs; valid during the call */
} bb_outputs;

/* Calls take(self, block) for every row of every task, rows of a task in their order,
 * some at a time: nothing of the size rows x outputs is ever kept. Outputs are within the
 * models' limits. Tasks are done by the engine's workers, so `take` may run for several tasks
 * at once; engine NULL: one after the other, in order. The data set has the models' tasks,
 * and at least their features. BB_EDATA if the network does not fit the models; BB_EUSAGE
 * without a usable OpenBLAS (bb_linalg_ready); BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_models_outputs(
    const bb_models *models, const bb_dataset *data, const struct bb_engine *engine,
    void (*take)(void *self, const bb_outputs *block), void *self);
/* prediction (data->rows) <- the output of models with one; errors as above. */
BB_MUST_CHECK bb_status bb_models_predict(const bb_models *models,
                                          const bb_dataset *data,
                                          const struct bb_engine *engine,
                                          double *prediction);
/* The class of outputs z: where the largest is, the first of equal ones. */
size_t bb_largest_output(size_t outputs, const double *z);

/* SHA-256. One linear output: of all weights, task by task, then all intercepts. Other
 * kinds: of the kind (the texts of the file's metadata but for names), then all numbers
 * in the order of the struct above, task by task. */
BB_MUST_CHECK bb_status bb_models_hash(const bb_models *models, char hex[BB_HASH_TEXT]);

/* The name of their file: "models.csv" for one linear output, else
 * "models.safetensors". */
const char *bb_models_file(const bb_models *models);
/* One linear output, models.csv: the header task,intercept,<features>, and a row a
 * task, numbers with 17 digits (a reader passes over lines in front of the header that
 * begin with '#'). Others: safetensors, docs/run-directory.md. Whole or not at all. */
BB_MUST_CHECK bb_status bb_models_write(const bb_models *models, const char *path);
/* The same for models of which parts are in several processes: the lines of models.csv
 * behind the header, which take longer to make than to write (*text is to be freed), and
 * the file from those of all tasks, in their order; lines NULL: they are made here. By so
 * many threads; 0: as many as there are processors. */
BB_MUST_CHECK bb_status bb_models_lines(const bb_models *models, size_t threads,
                                        char **text, size_t *size);
BB_MUST_CHECK bb_status bb_models_write_lines(const bb_models *models,
                                              const bb_piece *lines, size_t threads,
                                              const char *path);
/* Reads them back, to the same bits; a name that ends in .safetensors is that, any
 * other one CSV, which does not say the loss, perhaps of no task. BB_EDATA, with the place,
 * for anything else. */
BB_MUST_CHECK bb_status bb_models_read(bb_models *models, const char *path);

/* Writes a CSV field, quoted where it must be. */
void bb_write_field(FILE *stream, const char *text);

#endif
