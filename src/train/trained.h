/* trained.h - the models of a run directory, for new rows. */
#ifndef BB_TRAIN_TRAINED_H
#define BB_TRAIN_TRAINED_H

#include "data/preprocess.h"
#include "eval/assess.h"
#include "train/options.h"
#include "train/source.h"

#include <stdbool.h>

/* The folder of an exported model, where a run directory has `operator`. */
#define BB_TRAINED_TASK "task"

/* Why a run may have no shared model. */
#define BB_NOTHING_SHARED                                                              \
    "this run has no model that all tasks share: that takes a method that has one, "   \
    "and columns in units that all know (--scale, or --standardize none)"

typedef struct bb_trained {
    bb_train_options options; /* of the run: how data are read, and the loss */
    bb_loss loss;
    bb_models models;
    bb_preprocess steps; /* the public ones */
    bb_models shared;    /* one, of all tasks; no task where there is none */
    bb_models intervals; /* of train/intervals.h; likewise */
    json_t *levels;      /* of texts (data/encode.h), NULL */
} bb_trained;

/* Reads RUN/operator, or RUN/task of what was exported for one task. BB_EDATA if RUN is no
 * run directory, or one that was changed. */
BB_MUST_CHECK bb_status bb_trained_open(bb_trained *trained, const char *run);
/* Takes a zeroed one, too. */
void bb_trained_close(bb_trained *trained);

/* Leaves out these columns, too (a comma-separated list), besides those that the run
 * left out. */
BB_MUST_CHECK bb_status bb_trained_ignore(bb_trained *trained, const char *columns);

/* Tasks without a model: an error, left out, or answered by the model that all share
 * (RUN/public/shared.csv; linear models of one output). */
typedef enum bb_unknown {
    BB_UNKNOWN_ERROR,
    BB_UNKNOWN_SKIP,
    BB_UNKNOWN_SHARED
} bb_unknown;

/* What new rows are for, and what is done with those that the models do not cover. */
typedef struct bb_new_rows {
    bool for_prediction;       /* targets are passed over, and need not be there */
    bb_unknown unknown;        /* what becomes of rows of tasks that have no model */
    const char *task, *target; /* their columns; NULL: as the run's rows had them */
    const char *separator;     /* of columns; likewise */
} bb_new_rows;

/* How many rows were left out, or answered by the shared model (unknown), and texts not
 * understood. */
typedef struct bb_left_out {
    size_t missing; /* a value is missing, and the run left such rows out */
    size_t unknown, without_target;
    /* which task without a model is likely to be one that has one, by its name; or "" */
    char alike[BB_SHOWN_BYTES + BB_ALIKE_BYTES + 32];
    bb_text_counts texts; /* that are no level of their column; to be closed */
} bb_left_out;

/* New rows as the models see them, their tasks in the models' order; logistic labels
 * are -1 and +1. Rows without a target are left out, but for prediction. BB_EDATA, with
 * the place, for a task that has no model, other columns than in training (those that
 * the run left out may be missing), or a class or label that the models do not know;
 * BB_EUSAGE where there is no shared model to answer with. Unknown tasks that are
 * answered are added to the models. */
BB_MUST_CHECK bb_status bb_trained_rows(bb_trained *trained, const bb_source *source,
                                        bb_new_rows how, bb_dataset *rows,
                                        bb_left_out *left);

/* How good the models are on such rows, and what always saying what is commonest in
 * those rows themselves would be. */
BB_MUST_CHECK bb_status bb_trained_assess(const bb_trained *trained,
                                          const bb_dataset *rows, bb_assessed *assessed,
                                          bb_majority *majority);

/* What is said of every row, of whatever the loss says: a number, a class with its
 * probability, or a list of labels; with `outputs` also what that is made of. Row j of
 * the data set is at j. */
typedef struct bb_said {
    double *number;   /* rows: prediction or probability; NULL with multilabel */
    uint32_t *class;  /* rows; softmax */
    size_t *first;    /* rows + 1; multilabel */
    uint32_t *labels; /* one list behind the other */
    double *output;   /* rows x the models' outputs; NULL without `outputs` */
    double *half;     /* rows: of bb_trained_bound; NULL without */
} bb_said;
BB_MUST_CHECK bb_status bb_trained_ask(const bb_trained *trained,
                                       const bb_dataset *rows, bool outputs,
                                       bb_said *said);
/* Adds intervals around predictions (squared loss), level in (0, 1), for those tasks that
 * have kept how uncertain they are; NAN for others. BB_EUSAGE where none has. */
BB_MUST_CHECK bb_status bb_trained_bound(const bb_trained *trained,
                                         const bb_dataset *rows, double level,
                                         bb_said *said);
void bb_said_free(bb_said *said);
/* place[k] (rows) is the row that is k-th in the source. */
BB_MUST_CHECK bb_status bb_predictions_order(const bb_dataset *rows, size_t *place);
/* The names of the classes, none where they are numbers: a list of texts, NULL; to be freed
 * with json_decref. BB_EDATA. */
BB_MUST_CHECK bb_status bb_trained_classes(const bb_trained *trained, json_t **names);
/* Writes what was said of rows, whose features are not needed any more, as CSV in the order of
 * the rows in their source; by loss
 *   squared     task,prediction
 *   logistic    task,probability: of the larger label; with names as softmax
 *   softmax     task,class,probability: the likeliest class, the first of equal ones
 *   multilabel  task,labels: those with z > 0, ascending, spaces between them
 * and with `lines' the source's line before them, in a column of that name. names: of
 * bb_trained_classes. Errors of the stream are looked at by the caller. */
BB_MUST_CHECK bb_status bb_predictions_print(bb_loss loss, const bb_said *said,
                                             const json_t *names, bool lines,
                                             const bb_dataset *rows, FILE *stream);
/* BB_EUSAGE if `path` is the file `data`, or one that is read of the run. */
BB_MUST_CHECK bb_status bb_trained_check_output(const char *run, const char *data,
                                                const char *path);

#endif
