#include "train/trained.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/encode.h"
#include "data/names.h"
#include "models/limits.h"
#include "train/intervals.h"
#include "train/population.h"
#include "train/rundir.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The half with models: `operator`, or `task` in what was exported for one task. Others
 * than the operator know the public options only, which is all that reading takes. */
static bb_status find_part(const char *run, const char **part) {
    char *own = NULL;
    const bb_status status = bb_file_join(&own, run, BB_TRAINED_TASK);
    if (status) return status;
    *part = access(own, F_OK) == 0 ? BB_TRAINED_TASK : "operator";
    free(own);
    return BB_OK;
}

static bb_status read_options(bb_trained *t, const char *run, bool exported) {
    json_t *json = NULL;
    bb_status status = bb_rundir_read(
        run, exported ? "public/options.json" : "operator/run.json", &json);
    if (status) return status;
    json_t *options = json_object_get(json, "options");
    if (options) json_object_del(options, "set");
    status = bb_options_default(bb_train_table(), &t->options);
    if (!status) status = bb_train_options_json(&t->options, run, options);
    if (status == BB_EUSAGE) status = BB_EDATA;
    t->loss = (bb_loss)t->options.loss;
    json_decref(json);
    return status;
}

/* Columns of raw rows: a constant column that is left is the models' last. */
static size_t raw_features(const bb_models *m) {
    const size_t d = m->features;
    return d && strcmp(m->feature_name[d - 1], BB_CONSTANT_NAME) == 0 ? d - 1 : d;
}

static bb_status read_steps(bb_trained *t, const char *run, const char *folder) {
    json_t *json = NULL;
    char *name = NULL;
    bb_status status = bb_file_join(&name, folder, "preprocessing.json");
    if (!status) status = bb_json_read_file(&json, name);
    if (!status)
        status = bb_preprocess_parse(&t->steps, json, name, raw_features(&t->models),
                                     t->models.feature_name);
    json_decref(json);
    free(name);
    t->steps.threads = (size_t)t->options.threads;
    if (!status && t->models.features > t->steps.width)
        status =
            bb_fail(BB_EDATA, "%s: models and preprocessing.json do not match", run);
    return status;
}

/* Models that name their loss are of several outputs, or networks. */
static bb_status read_models(bb_trained *t, const char *folder) {
    char *csv = NULL, *tensors = NULL;
    bb_status status = bb_file_join(&csv, folder, "models.csv");
    if (!status) status = bb_file_join(&tensors, folder, "models.safetensors");
    if (!status && access(tensors, F_OK) == 0) {
        status = bb_models_read(&t->models, tensors);
        if (!status) t->loss = t->models.loss;
    } else if (!status) {
        status = bb_models_read(&t->models, csv);
    }
    free(csv);
    free(tensors);
    return status;
}

/* The levels of texts, as the run kept them. */
static bb_status find_categories(bb_trained *t, const char *run) {
    char *name = NULL;
    const bb_status status = bb_file_join(&name, run, "public/categories.json");
    if (status) return status;
    free(t->options.categories);
    t->options.categories = NULL;
    if (access(name, F_OK) == 0)
        t->options.categories = name;
    else
        free(name);
    return t->options.categories ? bb_levels_read(&t->levels, t->options.categories)
                                 : BB_OK;
}

bb_status bb_trained_classes(const bb_trained *t, json_t **names) {
    const bb_read_options format = bb_population_format(&t->options);
    const json_t *found = bb_levels_classes(t->levels, &format);
    *names = found ? json_deep_copy(found) : NULL;
    return found && !*names ? bb_fail(BB_ENOMEM, "no memory for the classes' names")
                            : BB_OK;
}

static bb_status read_shared(bb_trained *t, const char *run) {
    char *name = NULL;
    bb_status status = bb_file_join(&name, run, "public/" BB_SHARED_FILE);
    if (!status && access(name, F_OK) == 0) status = bb_models_read(&t->shared, name);
    if (!status && t->shared.tasks && t->shared.features != t->models.features)
        status = bb_fail(BB_EDATA, "%s: %zu column%s, the models have %zu", name,
                         t->shared.features, bb_plural((double)t->shared.features),
                         t->models.features);
    /* a curator has that one only */
    if (!status && !t->shared.tasks && !t->models.tasks)
        status = bb_fail(BB_EDATA,
                         "%s: it has models of no task, and " BB_NOTHING_SHARED, run);
    free(name);
    return status;
}

/* Runs of before have none. */
static bb_status read_limits(bb_trained *t, const char *folder) {
    char *name = NULL;
    bb_status status = bb_file_join(&name, folder, BB_LIMITS_FILE);
    if (!status && t->models.intercept && access(name, F_OK) == 0)
        status = bb_limits_read(&t->models, name);
    free(name);
    return status;
}

static bb_status read_intervals(bb_trained *t, const char *folder) {
    char *name = NULL;
    bb_status status = bb_file_join(&name, folder, BB_INTERVALS_FILE);
    if (!status && access(name, F_OK) == 0)
        status = bb_models_read(&t->intervals, name);
    free(name);
    return status;
}

bb_status bb_trained_open(bb_trained *trained, const char *run) {
    bb_trained t = {0};
    const char *part = NULL;
    char *folder = NULL;
    bb_status status = find_part(run, &part);
    if (!status) status = bb_file_join(&folder, run, part);
    if (!status) status = read_options(&t, run, strcmp(part, BB_TRAINED_TASK) == 0);
    if (!status && t.options.cluster)
        status = bb_names_append(&t.options.ignore, t.options.cluster);
    if (!status) status = find_categories(&t, run);
    if (!status) status = read_models(&t, folder);
    if (!status) status = read_limits(&t, folder);
    if (!status) status = read_shared(&t, run);
    if (!status) status = read_steps(&t, run, folder);
    if (!status) status = read_intervals(&t, folder);
    free(folder);
    if (status)
        bb_trained_close(&t);
    else
        *trained = t;
    return status;
}

void bb_trained_close(bb_trained *t) {
    bb_options_free(bb_train_table(), &t->options);
    bb_models_free(&t->models);
    bb_models_free(&t->shared);
    bb_models_free(&t->intervals);
    bb_preprocess_free(&t->steps);
    json_decref(t->levels);
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

/* The targets of rows that were read, as the loss has them. */
static bb_status prepare_targets(const bb_trained *t, bb_dataset *data) {
    size_t classes = t->models.outputs;
    bb_status status = BB_OK;
    if (t->loss == BB_LOSS_SOFTMAX) status = bb_dataset_class_check(data, &classes);
    if (t->loss == BB_LOSS_LOGISTIC) {
        status = bb_dataset_label_check(data, NULL);
        if (!status) bb_dataset_labels(data, data->y);
    }
    return status;
}

/* Keeps some rows of *data; how many are left out? */
static bb_status keep_rows(bb_dataset *data, const unsigned char *keep, size_t *left) {
    bb_dataset kept = {0};
    *left = 0;
    for (size_t r = 0; r < data->rows; r++) *left += !keep[r];
    if (*left == 0) return BB_OK;
    const bb_status status = bb_dataset_select(data, keep, &kept);
    if (status) return status;
    bb_dataset_free(data);
    *data = kept;
    return BB_OK;
}

/* Leaves out rows without a target. */
static bb_status drop_targets(bb_dataset *data, unsigned char *keep, size_t *left) {
    for (size_t r = 0; r < data->rows; r++)
        keep[r] = data->label_first || !isnan(data->y[r]);
    const bb_status status = keep_rows(data, keep, left);
    if (!status && data->rows == 0)
        return bb_fail(BB_EDATA, "%s: no row has a target", data->source);
    return status;
}

/* So many pairs of names are compared for a hint, in a fraction of a second. */
static const size_t most_pairs = 10000000;

static void say_alike(const bb_names *known, const char *task, bb_left_out *left) {
    char shown[BB_SHOWN_BYTES], alike[BB_ALIKE_BYTES];
    if (*bb_names_alike(alike, known, task, "has one"))
        snprintf(left->alike, sizeof left->alike, "task %s has no model%s",
                 bb_shown(shown, task, strlen(task)), alike);
}

/* Tasks that have no model: their number, their names at the front of `name`
 * (data->tasks), their rows 0 in `keep`, and counted. */
static bb_status find_unknown(const bb_trained *t, const bb_dataset *data,
                              unsigned char *keep, char **name, size_t *count,
                              bb_left_out *left) {
    bb_names known = {0};
    bb_status status = bb_names_add_all(&known, t->models.tasks, t->models.task_name);
    for (size_t i = 0; i < data->tasks && !status; i++) {
        char *const task = data->task_name[i];
        const bool there = bb_names_find(&known, task, strlen(task)) != SIZE_MAX;
        for (size_t r = data->first[i]; r < data->first[i + 1]; r++) keep[r] = there;
        if (there) continue;
        name[(*count)++] = task;
        left->unknown += data->first[i + 1] - data->first[i];
        if (!*left->alike && *count * known.count <= most_pairs)
            say_alike(&known, task, left);
    }
    bb_names_free(&known);
    return status;
}

static bb_status answer_unknown(bb_trained *t, bb_unknown how, bb_dataset *data,
                                unsigned char *keep, bb_left_out *left) {
    char **name = NULL;
    size_t count = 0;
    bb_status status = bb_allocate(&name, data->tasks, sizeof *name, "names");
    if (!status) status = find_unknown(t, data, keep, name, &count, left);
    if (!status && how == BB_UNKNOWN_SKIP)
        status = keep_rows(data, keep, &left->unknown);
    if (!status && how == BB_UNKNOWN_SHARED && !t->shared.tasks)
        status = bb_fail(BB_EUSAGE, BB_NOTHING_SHARED
                         ": --unknown shared has nothing to answer with");
    if (!status && how == BB_UNKNOWN_SHARED)
        status = bb_models_add(&t->models, count, name, &t->shared);
    free(name);
    return status;
}

/* The rows that are answered, their targets as the loss has them. */
static bb_status choose_rows(bb_trained *t, const bb_new_rows *how, bb_dataset *data,
                             bb_left_out *left) {
    unsigned char *keep = NULL;
    bb_status status = bb_allocate(&keep, data->rows, 1, "rows");
    if (!status && how->unknown != BB_UNKNOWN_ERROR)
        status = answer_unknown(t, how->unknown, data, keep, left);
    if (!status && !how->for_prediction)
        status = drop_targets(data, keep, &left->without_target);
    if (!status && !how->for_prediction) status = prepare_targets(t, data);
    free(keep);
    return status;
}

bb_status bb_trained_rows(bb_trained *t, const bb_source *source, bb_new_rows how,
                          bb_dataset *rows, bb_left_out *left) {
    bb_read_options format = bb_population_format(&t->options);
    bb_dataset data = {0}, matched = {0};
    *left = (bb_left_out){0};
    format.classes = bb_target_option(&format);
    if (how.task) format.task = how.task;
    if (how.target) format.target = how.target;
    if (how.separator) format.separator = how.separator;
    format.target_ignored = format.target_optional = how.for_prediction;
    format.target_missing = true;
    format.for_run = true;
    format.labels = format.tasks = NULL; /* those are the training data's */
    format.multilabel = t->loss == BB_LOSS_MULTILABEL && !how.for_prediction;
    format.outputs = format.multilabel ? t->models.outputs : 0;
    format.image = NULL; /* a network knows what it sees */
    bb_status status = bb_source_read(source, &format, &data);
    left->missing = data.dropped;
    bb_text_counts_join(&left->texts, &data.texts);
    if (!status) status = choose_rows(t, &how, &data, left);
    if (!status)
        status = bb_dataset_match(&data, t->models.tasks, t->models.task_name,
                                  raw_features(&t->models), t->models.feature_name,
                                  &matched);
    if (!status) status = bb_preprocess_apply(&t->steps, &matched, false, rows);
    bb_dataset_free(&data);
    bb_dataset_free(&matched);
    return status;
}

bb_status bb_trained_assess(const bb_trained *t, const bb_dataset *rows,
                            bb_assessed *assessed, bb_majority *majority) {
    const bb_engine engine = bb_engine_threads((size_t)t->options.threads);
    const bb_status status =
        bb_metrics_majority(t->loss, t->models.outputs, rows, rows, majority);
    return status ? status : bb_assess(&t->models, t->loss, rows, &engine, assessed);
}

bb_status bb_trained_check_output(const char *run, const char *data, const char *path) {
    static const char *const part[] = {"operator", BB_TRAINED_TASK, "public"},
                             *const file[] = {"models.csv",  "models.safetensors",
                                              "models.json", "preprocessing.json",
                                              "run.json",    "options.json",
                                              BB_LIMITS_FILE};
    const size_t files = sizeof file / sizeof *file;
    bb_status status = BB_OK;
    bool same = bb_file_same(path, data);
    for (size_t k = 0; k < 3 * files && !same && !status; k++) {
        char *folder = NULL, *name = NULL;
        status = bb_file_join(&folder, run, part[k / files]);
        if (!status) status = bb_file_join(&name, folder, file[k % files]);
        if (!status) same = bb_file_same(path, name);
        free(folder);
        free(name);
    }
    if (status || !same) return status;
    return bb_fail(BB_EUSAGE, "%s: is read, so the predictions cannot go there", path);
}
