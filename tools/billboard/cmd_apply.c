#include "cmd.h"

#include <math.h>
#include <string.h>

/* What both commands are given; evaluate has no output. */
typedef struct request {
    const char *run, *data, *output;
    cmd_options given; /* ignore, unknown, task, target, separator */
    bool json;
} request;

/* A run's models and new rows. */
typedef struct applied {
    billboard_result *result;
    billboard_data *data;
} applied;

static billboard_status open_applied(const request *r, applied *a) {
    if (r->given.failed) return cmd_fail(BILLBOARD_FAILED, "no memory for the options");
    const billboard_status status = billboard_result_load(r->run, &a->result);
    return status ? status : billboard_data_from_file(r->data, &a->data);
}

static void close_applied(applied *a) {
    billboard_data_free(a->data);
    billboard_result_free(a->result);
}

static void say_note(const char *note) {
    while (note) {
        const char *end = strchr(note, '\n');
        const size_t length = end ? (size_t)(end - note) : strlen(note);
        fprintf(stderr, "billboard: warning: %.*s\n", (int)length, note);
        note = end ? end + 1 : NULL;
    }
}

static void say_left_out(size_t missing, size_t skipped, size_t shared,
                         size_t without_target) {
    if (missing)
        fprintf(stderr, "billboard: %zu row%s with a missing value left out\n", missing,
                cmd_plural((double)missing));
    if (skipped || shared)
        fprintf(stderr, "billboard: %zu row%s of tasks without a model %s\n",
                skipped + shared, cmd_plural((double)(skipped + shared)),
                skipped ? "left out" : "answered by the shared model");
    if (without_target)
        fprintf(stderr, "billboard: %zu row%s without a target left out\n",
                without_target, cmd_plural((double)without_target));
}

/* -- evaluate -- */

/* What a line of the table shows of each loss; NULL: no more. */
enum { FIGURES = 3 };
static const struct {
    const char *loss, *title[FIGURES], *key[FIGURES];
} columns[] = {
    {"squared", {"nMSE", "RMSE"}, {"nmse", "rmse"}},
    {"logistic", {"AUC", "accuracy", "log loss"}, {"auc", "accuracy", "log_loss"}},
    {"softmax", {"accuracy", "log loss"}, {"accuracy", "log_loss"}},
    {"multilabel", {"F1", "recall@5"}, {"f1", "recall_at_5"}}};

static double figure(const billboard_answer *a, const char *part, const char *key) {
    char path[60];
    snprintf(path, sizeof path, "%s.%s", part, key);
    return billboard_answer_number(a, path);
}

static void print_line(const billboard_answer *a, size_t loss, const char *name,
                       const char *part, FILE *stream) {
    fprintf(stream, "%-42s", name);
    for (int k = 0; k < FIGURES && columns[loss].key[k]; k++) {
        const double value = figure(a, part, columns[loss].key[k]);
        if (isnan(value))
            fprintf(stream, " %10s", "-");
        else
            fprintf(stream, fabs(value) < 1e5 ? " %10.4f" : " %10.3g", value);
    }
    fprintf(stream, " %8.0f\n", figure(a, part, "rows"));
}

static void print_majority(const billboard_answer *a, size_t loss, const char *each,
                           const char *part, FILE *stream) {
    char line[80];
    snprintf(line, sizeof line, "%s%s of these rows", each,
             strcmp(columns[loss].loss, "multilabel") == 0 ? "5 commonest"
                                                           : "commonest class");
    if (billboard_answer_count(a, part)) print_line(a, loss, line, part, stream);
}

static void print_text(const billboard_answer *a, FILE *stream) {
    size_t loss = 0;
    while (strcmp(columns[loss].loss, billboard_answer_text(a, "loss")) != 0) loss++;
    fprintf(stream, "%-42s", "");
    for (int k = 0; k < FIGURES && columns[loss].title[k]; k++)
        fprintf(stream, " %10s", columns[loss].title[k]);
    fprintf(stream, " %8s\n", "rows");
    print_majority(a, loss, "", "majority", stream);
    print_majority(a, loss, "each task's ", "majority_task", stream);
    print_line(a, loss, billboard_answer_text(a, "method"), "test", stream);
    const double tasks = figure(a, "test", "tasks");
    fprintf(stream, "%.0f task%s with rows here, %.0f without\n", tasks,
            cmd_plural(tasks), figure(a, "test", "tasks_without_rows"));
}

static billboard_status evaluate(const request *r, const cmd_output *output) {
    applied a = {0};
    billboard_answer *figures = NULL;
    billboard_status status = open_applied(r, &a);
    if (!status)
        status = billboard_evaluate(a.result, a.data, r->given.option, r->given.count,
                                    &figures);
    if (!status) {
        const char *unknown = cmd_options_last(&r->given, "unknown");
        const size_t rows =
            (size_t)billboard_answer_number(figures, "rows_of_unknown_tasks");
        const bool skips = unknown && strcmp(unknown, "skip") == 0;
        say_left_out(
            (size_t)billboard_answer_number(figures, "rows_with_missing_values"),
            skips ? rows : 0, skips ? 0 : rows,
            (size_t)billboard_answer_number(figures, "rows_without_target"));
        cmd_say_notes(figures, "billboard: warning: ", stderr);
        if (r->json)
            fprintf(output->stream, "%s\n", billboard_answer_json(figures));
        else
            print_text(figures, output->stream);
    }
    billboard_answer_free(figures);
    close_applied(&a);
    return status;
}

/* -- predict -- */

static billboard_status say(const request *r, billboard_predictions *predictions,
                            FILE *stream) {
    billboard_values values = {.struct_size = sizeof values};
    const bool standard = strcmp(r->output, "-") == 0;
    const char *csv = NULL;
    billboard_status status = billboard_predictions_values(predictions, &values);
    if (!status) say_left_out(values.with_missing, values.skipped, values.shared, 0);
    if (!status) say_note(values.note);
    if (!status)
        status = standard ? billboard_predictions_csv(predictions, &csv)
                          : billboard_predictions_write(predictions, r->output);
    if (!status && standard) fputs(csv, stream);
    if (!status && !standard)
        fprintf(stream, "%zu prediction%s in %s; each belongs to its task alone\n",
                values.rows, cmd_plural((double)values.rows), r->output);
    return status;
}

static billboard_status predict(const request *r, const cmd_output *output) {
    applied a = {0};
    billboard_predictions *predictions = NULL;
    if (!r->output)
        return cmd_fail(BILLBOARD_USAGE, "predictions where to? give --output FILE");
    billboard_status status = open_applied(r, &a);
    if (!status)
        status = billboard_predict(a.result, a.data, r->given.option, r->given.count,
                                   &predictions);
    if (!status) status = say(r, predictions, output->stream);
    billboard_predictions_free(predictions);
    close_applied(&a);
    return status;
}

/* -- the command lines -- */

enum { INTERVALS = 1000, LINES, TASK, TARGET, SEPARATOR }; /* no letter */

/* Both commands have them. */
#define UNKNOWN                                                                        \
    {                                                                                  \
        "unknown", 'u', "HOW", 0,                                                      \
            "rows of tasks that have no model: error (default), skip them, or the "    \
            "model that all tasks share (shared)",                                     \
            0                                                                          \
    }
#define IGNORE                                                                         \
    {                                                                                  \
        "ignore", 'i', "COLUMNS", 0,                                                   \
            "leave these columns of DATA out, besides those that the run left out", 0  \
    }
#define COLUMN_OF_TASKS                                                                \
    {                                                                                  \
        "task", TASK, "COLUMN", 0,                                                     \
            "DATA's column that names a row's task (default: as in the run)", 0        \
    }
#define COLUMN_OF_TARGETS                                                              \
    {                                                                                  \
        "target", TARGET, "COLUMN", 0,                                                 \
            "DATA's column of the target (default: as in the run)", 0                  \
    }
#define SEPARATES_COLUMNS                                                              \
    {                                                                                  \
        "separator", SEPARATOR, "CHARACTER", 0,                                        \
            "CSV: what separates DATA's columns (default: as in the run)", 0           \
    }

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    switch (key) {
    case 'j':
        r->json = true;
        return 0;
    case 'i':
        cmd_options_add(&r->given, "ignore", text);
        return 0;
    case 'u':
        cmd_options_add(&r->given, "unknown", text);
        return 0;
    case INTERVALS:
        cmd_options_add(&r->given, "intervals", text);
        return 0;
    case TASK:
        cmd_options_add(&r->given, "task", text);
        return 0;
    case TARGET:
        cmd_options_add(&r->given, "target", text);
        return 0;
    case SEPARATOR:
        cmd_options_add(&r->given, "separator", text);
        return 0;
    case LINES:
        cmd_options_add(&r->given, "lines", NULL);
        return 0;
    case 'o':
        r->output = text;
        return 0;
    case ARGP_KEY_ARG:
        if (r->data) argp_error(state, "takes RUN and DATA");
        *(r->run ? &r->data : &r->run) = text;
        return 0;
    case ARGP_KEY_END:
        if (!r->data) argp_error(state, "which RUN and DATA?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int run(int argc, char **argv, const struct argp *argp,
               billboard_status (*command)(const request *, const cmd_output *)) {
    request r = {0};
    cmd_output output = {0};
    argp_parse(argp, argc, argv, 0, NULL, &r);
    billboard_status status = cmd_open(&output);
    if (!status) status = command(&r, &output);
    cmd_options_free(&r.given);
    return cmd_close(&output, status);
}

int cmd_evaluate(int argc, char **argv) {
    static const struct argp_option option[] = {
        COLUMN_OF_TASKS,
        COLUMN_OF_TARGETS,
        SEPARATES_COLUMNS,
        IGNORE,
        UNKNOWN,
        {"json", 'j', NULL, 0, "as one JSON object", 0},
        {0}};
    const struct argp argp = {
        option,
        parse,
        "RUN DATA",
        "Says how good the models of the run directory RUN are on the rows of DATA.",
        NULL,
        NULL,
        NULL};
    return run(argc, argv, &argp, evaluate);
}

int cmd_predict(int argc, char **argv) {
    static const struct argp_option option[] = {
        {"output", 'o', "FILE", 0,
         "the predictions, as CSV, in the order of DATA; - is standard output", 0},
        COLUMN_OF_TASKS,
        COLUMN_OF_TARGETS,
        SEPARATES_COLUMNS,
        IGNORE,
        UNKNOWN,
        {"intervals", INTERVALS, "LEVEL", 0,
         "an interval around each prediction that holds the target in this part of all "
         "cases, .95 for instance: for runs that were trained with --intervals",
         0},
        {"lines", LINES, NULL, 0,
         "in a first column the line of DATA that each prediction is of: rows with a "
         "missing value have none",
         0},
        {0}};
    const struct argp argp = {option,
                              parse,
                              "RUN DATA",
                              "Predicts the rows of DATA, each with its own task's "
                              "model. Targets in DATA "
                              "are passed over, and need not be there.",
                              NULL,
                              NULL,
                              NULL};
    return run(argc, argv, &argp, predict);
}
