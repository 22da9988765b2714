#include "eval/trained.h"

#include "base/file.h"
#include "base/memory.h"
#include "eval/population.h"
#include "eval/rundir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bb_status read_options(bb_trained *t, const char *run) {
    json_t *json = NULL;
    bb_status status = bb_rundir_read(run, "operator/run.json", &json);
    if (status) return status;
    json_t *options = json_object_get(json, "options");
    if (options) json_object_del(options, "set");
    status = bb_options_default(bb_train_table(), &t->options);
    if (!status)
        status = bb_options_set_json(bb_train_table(), &t->options, run, options);
    if (status == BB_EUSAGE) status = BB_EDATA;
    t->loss = t->options.loss == 0 ? BB_LOSS_SQUARED : BB_LOSS_LOGISTIC;
    json_decref(json);
    return status;
}

/* Columns of raw rows: a constant column that is left is the models' last. */
static size_t raw_features(const bb_models *m) {
    const size_t d = m->features;
    return d && strcmp(m->feature_name[d - 1], BB_CONSTANT_NAME) == 0 ? d - 1 : d;
}

static bb_status read_steps(bb_trained *t, const char *run) {
    static const char file[] = "operator/preprocessing.json";
    json_t *json = NULL;
    char *name = NULL;
    bb_status status = bb_rundir_read(run, file, &json);
    if (!status) status = bb_file_join(&name, run, file);
    if (!status)
        status = bb_preprocess_parse(&t->steps, json, name, raw_features(&t->models),
                                     t->models.feature_name);
    json_decref(json);
    free(name);
    if (!status && t->models.features > t->steps.width)
        status = bb_fail(BB_EDATA, "%s: models.csv and preprocessing.json do not match",
                         run);
    return status;
}

bb_status bb_trained_open(bb_trained *trained, const char *run) {
    bb_trained t = {0};
    char *models = NULL;
    bb_status status = read_options(&t, run);
    if (!status) status = bb_file_join(&models, run, "operator/models.csv");
    if (!status) status = bb_models_read(&t.models, models);
    if (!status) status = read_steps(&t, run);
    free(models);
    if (status)
        bb_trained_close(&t);
    else
        *trained = t;
    return status;
}

void bb_trained_close(bb_trained *t) {
    bb_options_free(bb_train_table(), &t->options);
    bb_models_free(&t->models);
    bb_preprocess_free(&t->steps);
    *t = (bb_trained){0};
}

bb_status bb_trained_ignore(bb_trained *t, const char *columns) {
    const char *own = t->options.ignore ? t->options.ignore : "";
    const size_t size = strlen(own) + strlen(columns) + 2;
    char *both = NULL;
    const bb_status status = bb_allocate(&both, size, 1, "the columns to leave out");
    if (status) return status;
    snprintf(both, size, "%s%s%s", own, *own ? "," : "", columns);
    free(t->options.ignore);
    t->options.ignore = both;
    return BB_OK;
}

bb_status bb_trained_rows(const bb_trained *t, const char *path, bool target_optional,
                          bb_dataset *rows) {
    bb_read_options format = bb_population_format(&t->options);
    bb_dataset data = {0}, matched = {0};
    format.target_optional = target_optional;
    format.ignore_optional = true;
    format.labels = format.tasks = NULL; /* those are the training data's */
    bb_status status = bb_read(path, &format, &data);
    if (!status && t->loss == BB_LOSS_LOGISTIC && data.target_name) {
        status = bb_dataset_label_check(&data);
        if (!status) bb_dataset_labels(&data, data.y);
    }
    if (!status)
        status = bb_dataset_match(&data, t->models.tasks, t->models.task_name,
                                  raw_features(&t->models), t->models.feature_name,
                                  &matched);
    if (!status) status = bb_preprocess_apply(&t->steps, &matched, false, rows);
    bb_dataset_free(&data);
    bb_dataset_free(&matched);
    return status;
}

void bb_trained_predict(const bb_trained *t, const bb_dataset *rows,
                        double *prediction) {
    bb_predict_rows(rows, t->models.features, t->models.weight, t->models.intercept,
                    prediction);
}

/* -- writing
 * --------------------------------------------------------------------------- */

typedef struct place {
    uint32_t line;
    size_t task, row;
} place;

static int by_line(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The order of lines; sources without lines count rows inside a task, so that numbers
 * repeat: then the order of tasks. */
static void find_places(const bb_dataset *rows, place *at) {
    bool repeats = false;
    for (size_t i = 0; i < rows->tasks; i++)
        for (size_t j = rows->first[i]; j < rows->first[i + 1]; j++)
            at[j] = (place){rows->line[j], i, j};
    qsort(at, rows->rows, sizeof *at, by_line);
    for (size_t j = 1; j < rows->rows; j++) repeats |= at[j].line == at[j - 1].line;
    for (size_t j = 0; j < rows->rows && repeats; j++) at[j].line = 0;
    if (repeats) qsort(at, rows->rows, sizeof *at, by_line);
}

static void write_rows(const bb_trained *t, const bb_dataset *rows,
                       const double *prediction, const place *at, FILE *stream) {
    const bool labels = t->loss == BB_LOSS_LOGISTIC;
    fprintf(stream, "task,%s\n", labels ? "probability" : "prediction");
    for (size_t j = 0; j < rows->rows; j++) {
        const double p = prediction[at[j].row];
        bb_write_field(stream, rows->task_name[at[j].task]);
        fprintf(stream, ",%.17g\n", labels ? 1.0 / (1.0 + exp(-p)) : p);
    }
}

bb_status bb_trained_write(const bb_trained *t, const bb_dataset *rows,
                           const double *prediction, const char *path) {
    char *text = NULL;
    size_t size = 0;
    place *at = NULL;
    bb_status status = bb_allocate(&at, rows->rows, sizeof *at, "the predictions");
    if (status) return status;
    find_places(rows, at);
    FILE *stream = open_memstream(&text, &size);
    if (stream) write_rows(t, rows, prediction, at, stream);
    const bool whole = stream && !ferror(stream);
    if ((stream && fclose(stream)) || !whole)
        status = bb_fail(BB_ENOMEM, "%s: no memory for its text", path);
    if (!status) status = bb_file_write(path, text, size);
    free(text);
    free(at);
    return status;
}
