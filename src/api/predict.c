#include "api/job.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "data/names.h"
#include "models/models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run's models and new rows. */
typedef struct applied {
    bb_trained trained; /* borrows from the result, but for what `own` says */
    bool own_models;    /* tasks were added to them */
    bb_dataset rows;
    bb_left_out left;
    bb_unknown unknown;
} applied;

typedef struct request {
    char *unknown, *ignore, *task, *target, *separator;
    bool outputs, lines;
    double intervals; /* NaN: none */
} request;

static const bb_option row[] = {
    {"unknown", BB_OPTION_TEXT, offsetof(request, unknown), NULL, 0.0, 0.0, NULL, "HOW",
     "rows of tasks that have no model: error (default), skip them, or the model that "
     "all tasks share (shared)"},
    {"ignore", BB_OPTION_TEXT, offsetof(request, ignore), NULL, 0.0, 0.0, NULL,
     "COLUMNS", "leave these columns of DATA out, besides those that the run left out"},
    {"task", BB_OPTION_TEXT, offsetof(request, task), NULL, 0.0, 0.0, NULL, "COLUMN",
     "DATA's column that names a row's task (default: as in the run)"},
    {"target", BB_OPTION_TEXT, offsetof(request, target), NULL, 0.0, 0.0, NULL,
     "COLUMN", "DATA's column of the target (default: as in the run)"},
    {"separator", BB_OPTION_TEXT, offsetof(request, separator), NULL, 0.0, 0.0, NULL,
     "CHARACTER", "CSV: what separates DATA's columns (default: as in the run)"},
    {"outputs", BB_OPTION_FLAG, offsetof(request, outputs), "false", 0.0, 0.0, NULL,
     NULL, "also what the predictions are made of"},
    {"lines", BB_OPTION_FLAG, offsetof(request, lines), "false", 0.0, 0.0, NULL, NULL,
     "in the CSV the line of DATA that each prediction is of, in a first column"},
    {"intervals", BB_OPTION_REAL, offsetof(request, intervals), NULL, 0.001, 0.9999,
     NULL, "LEVEL",
     "also an interval around each prediction, and lower and upper in the CSV"}};
static const bb_options table = {row, sizeof row / sizeof *row};

static bb_status choose_unknown(const request *r, bb_unknown *unknown) {
    static const char *const way[] = {"error", "skip", "shared"};
    if (!r->unknown) return BB_OK;
    for (size_t k = 0; k < sizeof way / sizeof *way; k++)
        if (strcmp(r->unknown, way[k]) == 0) {
            *unknown = (bb_unknown)k;
            return BB_OK;
        }
    return bb_fail(BB_EUSAGE, "--unknown expects error, skip or shared, got \"%s\"",
                   r->unknown);
}

/* Models that tasks can be added to: a copy. Linear ones of one output only, as those
 * that share are. */
static bb_status copy_models(applied *a) {
    const bb_models all = a->trained.models;
    bb_models *m = &a->trained.models;
    m->task_name = NULL;
    m->weight = m->intercept = m->limit = NULL;
    a->own_models = true;
    bb_status status = bb_names_copy(&m->task_name, all.tasks, all.task_name);
    const size_t weights = all.tasks * all.features;
    if (!status) status = bb_allocate(&m->weight, weights, sizeof *m->weight, "models");
    if (!status)
        status = bb_allocate(&m->intercept, all.tasks, sizeof *m->intercept, "models");
    if (!status && all.limit)
        status = bb_allocate(&m->limit, all.tasks, 2 * sizeof *m->limit, "models");
    if (status || all.tasks == 0) return status; /* a curator's run has no models */
    memcpy(m->weight, all.weight, weights * sizeof *m->weight);
    memcpy(m->intercept, all.intercept, all.tasks * sizeof *m->intercept);
    if (all.limit) memcpy(m->limit, all.limit, all.tasks * 2 * sizeof *m->limit);
    return BB_OK;
}

static void close_applied(applied *a) {
    bb_dataset_free(&a->rows);
    bb_text_counts_close(&a->left.texts);
    free(a->trained.options.ignore);
    if (!a->own_models) return;
    free(a->trained.models.task_name);
    free(a->trained.models.weight);
    free(a->trained.models.intercept);
    free(a->trained.models.limit);
}

static bb_status apply(const billboard_result *result, const request *r,
                       const billboard_data *data, bool for_prediction, applied *a) {
    const bb_source source = bb_data_source(data);
    const char *ignore = result->trained.options.ignore;
    a->trained = result->trained;
    a->trained.options.ignore = NULL;
    bb_status status = choose_unknown(r, &a->unknown);
    if (!status && ignore) status = bb_trained_ignore(&a->trained, ignore);
    if (!status && r->ignore) status = bb_trained_ignore(&a->trained, r->ignore);
    if (!status && a->unknown == BB_UNKNOWN_SHARED && a->trained.shared.tasks)
        status = copy_models(a);
    const bb_new_rows how = {for_prediction, a->unknown, r->task, r->target,
                             r->separator};
    if (!status)
        status = bb_trained_rows(&a->trained, &source, how, &a->rows, &a->left);
    return status;
}

/* -- predictions -- */

struct billboard_predictions {
    bb_loss loss;
    bb_dataset rows; /* without their features */
    bb_said said;    /* of those */
    json_t *names;   /* of classes, NULL */
    bool lines;      /* in the CSV */
    char *csv, *run, *data;
    char *note;
    billboard_values values;
    double *value, *output, *half_width;
    int64_t *classes, *label_start;
    int32_t *label;
};

static void drop_features(bb_dataset *rows) {
    free(rows->x);
    free(rows->sparse_first);
    free(rows->sparse_column);
    free(rows->sparse_value);
    rows->x = rows->sparse_value = NULL;
    rows->sparse_first = NULL;
    rows->sparse_column = NULL;
}

static bb_status make_room(billboard_predictions *p, size_t rows) {
    static const char what[] = "the predictions";
    bb_status status = BB_OK;
    if (p->said.number) status = bb_allocate(&p->value, rows, sizeof *p->value, what);
    if (!status && p->said.class)
        status = bb_allocate(&p->classes, rows, sizeof *p->classes, what);
    if (!status && p->said.output)
        status =
            bb_allocate(&p->output, rows, p->values.outputs * sizeof *p->output, what);
    if (!status && p->said.half)
        status = bb_allocate(&p->half_width, rows, sizeof *p->half_width, what);
    if (status || !p->said.first) return status;
    status = bb_allocate(&p->label_start, rows + 1, sizeof *p->label_start, what);
    if (!status)
        status =
            bb_allocate(&p->label, p->said.first[p->rows.rows], sizeof *p->label, what);
    return status;
}

static void put_outputs(billboard_predictions *p, size_t k, size_t j) {
    const size_t outputs = p->values.outputs;
    for (size_t c = 0; c < outputs; c++)
        p->output[k * outputs + c] =
            j == SIZE_MAX ? NAN : p->said.output[j * outputs + c];
}

static void put_labels(billboard_predictions *p, size_t k, size_t j) {
    int64_t end = p->label_start[k];
    if (j != SIZE_MAX)
        for (size_t e = p->said.first[j]; e < p->said.first[j + 1]; e++)
            p->label[end++] = (int32_t)p->said.labels[e];
    p->label_start[k + 1] = end;
}

/* Where in the answer each row's place is: at[k] is the row that is said k-th, SIZE_MAX:
 * none. */
static void put(billboard_predictions *p, size_t rows, const size_t *at) {
    for (size_t k = 0; k < rows; k++) {
        const size_t j = at[k];
        const bool said = j != SIZE_MAX;
        if (p->value) p->value[k] = said ? p->said.number[j] : NAN;
        if (p->classes) p->classes[k] = said ? (int64_t)p->said.class[j] : -1;
        if (p->output) put_outputs(p, k, j);
        if (p->half_width) p->half_width[k] = said ? p->said.half[j] : NAN;
        if (p->label_start) put_labels(p, k, j);
    }
}

static bb_status order(billboard_predictions *p, const billboard_data *data) {
    const size_t said = p->rows.rows, rows = data->path ? said : data->rows.rows;
    size_t *at = NULL, *place = NULL;
    bb_status status = bb_allocate(&place, said, sizeof *place, "the predictions");
    if (!status) status = bb_allocate(&at, rows, sizeof *at, "the predictions");
    if (!status) status = bb_predictions_order(&p->rows, place);
    if (!status) status = make_room(p, rows);
    if (!status) {
        for (size_t k = 0; k < rows; k++) at[k] = SIZE_MAX;
        /* rows of arrays know their number, from 1 */
        for (size_t k = 0; k < said; k++)
            at[data->path ? k : p->rows.line[place[k]] - 1] = place[k];
        put(p, rows, at);
        p->values.rows = rows;
    }
    free(at);
    free(place);
    return status;
}

/* What else is to be said of rows, beside how many were left out. */
static bb_status say_notes(const bb_left_out *left, json_t **list) {
    const bb_status status = bb_text_counts_say(&left->texts, list);
    if (status || !*left->alike) return status;
    return json_array_insert_new(*list, 0, json_string(left->alike))
               ? bb_fail(BB_ENOMEM, "no memory for the predictions")
               : BB_OK;
}

static bb_status make_note(billboard_predictions *p, const bb_left_out *left) {
    json_t *list = NULL, *text;
    size_t k;
    bb_words words;
    bb_status status = say_notes(left, &list);
    if (!status) status = bb_words_open(&words);
    if (!status) {
        json_array_foreach(list, k, text)
            fprintf(words.stream, "%s%s", k ? "\n" : "", json_string_value(text));
        status = bb_words_close(&words, &p->note);
    }
    json_decref(list);
    p->values.note = p->note && *p->note ? p->note : NULL;
    return status;
}

static bb_status predict(const billboard_result *result, const request *r,
                         const billboard_data *data, billboard_predictions *p) {
    applied a = {0};
    bb_status status = apply(result, r, data, true, &a);
    if (!status && r->lines && !a.rows.has_lines)
        status = bb_fail(BB_EUSAGE, "--lines: %s has no lines", a.rows.source);
    if (!status) status = bb_trained_ask(&a.trained, &a.rows, r->outputs, &p->said);
    if (!status && !isnan(r->intervals))
        status = bb_trained_bound(&a.trained, &a.rows, r->intervals, &p->said);
    if (!status && result->run)
        status = bb_duplicate(&p->run, result->run, strlen(result->run));
    if (!status && data->path)
        status = bb_duplicate(&p->data, data->path, strlen(data->path));
    if (!status) status = bb_trained_classes(&a.trained, &p->names);
    p->loss = a.trained.loss;
    p->lines = r->lines;
    p->rows = a.rows;
    a.rows = (bb_dataset){0};
    drop_features(&p->rows);
    p->values.with_missing = a.left.missing;
    p->values.outputs = r->outputs ? a.trained.models.outputs : 0;
    *(a.unknown == BB_UNKNOWN_SHARED ? &p->values.shared : &p->values.skipped) =
        a.left.unknown;
    if (!status) status = make_note(p, &a.left);
    close_applied(&a);
    if (!status) status = order(p, data);
    p->values.value = p->value;
    p->values.output = p->output;
    p->values.half_width = p->half_width;
    p->values.classes = p->classes;
    p->values.label_start = p->label_start;
    p->values.label = p->label;
    return status;
}

static bb_status begin(const char *function, const billboard_result *result,
                       const billboard_data *data, const void *out,
                       const billboard_option *option, size_t options, request *r) {
    bb_status status = bb_call_given(result, function, "result");
    if (!status) status = bb_call_given(data, function, "data");
    if (!status) status = bb_call_given(out, function, "the last argument");
    return status ? status : bb_call_options(table, r, function, option, options);
}

billboard_status billboard_predict(const billboard_result *result,
                                   const billboard_data *data,
                                   const billboard_option *option, size_t options,
                                   billboard_predictions **out) {
    billboard_predictions *p = NULL;
    request r = {.intervals = NAN};
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = begin("predict", result, data, out, option, options, &r);
    if (!status) status = bb_allocate(&p, 1, sizeof *p, "predictions");
    if (!status) status = predict(result, &r, data, p);
    bb_options_free(table, &r);
    if (status)
        billboard_predictions_free(p);
    else
        *out = p;
    return bb_call_end(&call, status);
}

billboard_status billboard_predictions_values(const billboard_predictions *p,
                                              billboard_values *values) {
    return (billboard_status)bb_status_exit_code(
        bb_call_give(values, &p->values, sizeof p->values, "billboard_values"));
}

static bb_status make_csv(billboard_predictions *p) {
    bb_words words;
    bb_status status = p->csv ? BB_OK : bb_words_open(&words);
    if (status || p->csv) return status;
    status = bb_predictions_print(p->loss, &p->said, p->names, p->lines, &p->rows,
                                  words.stream);
    const bb_status closed = bb_words_close(&words, &p->csv);
    return status ? status : closed;
}

billboard_status billboard_predictions_csv(billboard_predictions *p, const char **csv) {
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(csv, "billboard_predictions_csv", "csv");
    if (!status) status = make_csv(p);
    if (!status) *csv = p->csv;
    return bb_call_end(&call, status);
}

billboard_status billboard_predictions_write(billboard_predictions *p,
                                             const char *path) {
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(path, "billboard_predictions_write", "path");
    if (!status)
        status =
            bb_trained_check_output(p->run ? p->run : "", p->data ? p->data : "", path);
    if (!status) status = make_csv(p);
    if (!status) status = bb_file_write(path, p->csv, strlen(p->csv));
    return bb_call_end(&call, status);
}

void billboard_predictions_free(billboard_predictions *p) {
    if (!p) return;
    bb_dataset_free(&p->rows);
    bb_said_free(&p->said);
    json_decref(p->names);
    free(p->value);
    free(p->output);
    free(p->half_width);
    free(p->classes);
    free(p->label_start);
    free(p->label);
    free(p->csv);
    free(p->run);
    free(p->data);
    free(p->note);
    free(p);
}

/* -- figures -- */

/* The commonest class is looked for in the only rows that there are. */
static const char counted_in[] = "these rows";

static json_t *figures_json(const applied *a, const bb_assessed *found,
                            const bb_majority *majority, const bb_summary *summary,
                            json_t *notes) {
    const bb_loss loss = a->trained.loss;
    return json_pack(
        "{s:s,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:s,s:o}", "method",
        a->trained.options.method, "test", bb_metrics_json(&found->metrics), "per_task",
        bb_summary_json(summary, loss), "majority",
        bb_majority_json(majority, false, loss, counted_in), "majority_task",
        bb_majority_json(majority, true, loss, counted_in), "rows_without_target",
        (json_int_t)a->left.without_target, "rows_of_unknown_tasks",
        (json_int_t)a->left.unknown, "rows_with_missing_values",
        (json_int_t)a->left.missing, "loss", bb_loss_name(loss), "notes", notes);
}

static bb_status evaluate(const billboard_result *result, const request *r,
                          const billboard_data *data, billboard_answer **out) {
    if (!isnan(r->intervals) || r->lines)
        return bb_fail(BB_EUSAGE,
                       "evaluate has no intervals and no lines: predict has");
    applied a = {0};
    bb_assessed found = {0};
    bb_majority majority;
    bb_summary summary;
    json_t *notes = NULL;
    bb_status status = apply(result, r, data, false, &a);
    if (!status) status = bb_trained_assess(&a.trained, &a.rows, &found, &majority);
    if (!status) status = bb_metrics_summary(found.tasks, found.figure, &summary);
    if (!status) status = say_notes(&a.left, &notes);
    if (!status)
        status =
            bb_answer_open(out, figures_json(&a, &found, &majority, &summary, notes));
    bb_assessed_close(&found);
    close_applied(&a);
    return status;
}

billboard_status billboard_evaluate(const billboard_result *result,
                                    const billboard_data *data,
                                    const billboard_option *option, size_t options,
                                    billboard_answer **figures) {
    request r = {.intervals = NAN};
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = begin("evaluate", result, data, figures, option, options, &r);
    if (!status) status = evaluate(result, &r, data, figures);
    bb_options_free(table, &r);
    return bb_call_end(&call, status);
}
