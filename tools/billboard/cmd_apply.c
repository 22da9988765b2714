#include "cmd_inside.h"
#include "train/report.h"
#include "train/trained.h"

#include <string.h>

/* What both commands are given; evaluate has no output. */
typedef struct request {
    const char *run, *data, *output, *ignore, *unknown;
    bool json;
} request;

/* A run's models and new rows. */
typedef struct applied {
    bb_trained trained;
    bb_dataset rows;
    bb_left_out left;
} applied;

static bb_status choose_unknown(const request *r, bb_new_rows *how) {
    static const char *const way[] = {"error", "skip", "shared"};
    if (!r->unknown) return BB_OK;
    for (size_t k = 0; k < sizeof way / sizeof *way; k++)
        if (strcmp(r->unknown, way[k]) == 0) {
            how->unknown = (bb_unknown)k;
            return BB_OK;
        }
    return bb_fail(BB_EUSAGE, "--unknown expects error, skip or shared, got \"%s\"",
                   r->unknown);
}

static bb_status apply(const request *r, bool for_prediction, applied *a) {
    bb_new_rows how = {.for_prediction = for_prediction};
    bb_status status = choose_unknown(r, &how);
    if (!status) status = bb_trained_open(&a->trained, r->run);
    if (!status && r->ignore) status = bb_trained_ignore(&a->trained, r->ignore);
    if (!status)
        status = bb_trained_rows(&a->trained, &(bb_source){.path = r->data}, how,
                                 &a->rows, &a->left);
    if (!status && a->left.missing)
        fprintf(stderr, "billboard: %zu rows with a missing value left out\n",
                a->left.missing);
    if (!status && a->left.unknown)
        fprintf(stderr, "billboard: %zu rows of tasks without a model %s\n",
                a->left.unknown,
                how.unknown == BB_UNKNOWN_SKIP ? "left out"
                                               : "answered by the shared model");
    if (!status && a->left.without_target)
        fprintf(stderr, "billboard: %zu rows without a target left out\n",
                a->left.without_target);
    return status;
}

static void close_applied(applied *a) {
    bb_dataset_free(&a->rows);
    bb_trained_close(&a->trained);
}

/* -- evaluate -- */

/* The commonest class is looked for in the only rows that there are. */
static const char counted_in[] = "these rows";

static bb_status say_json(const applied *a, const bb_assessed *found,
                          const bb_majority *majority, const bb_summary *summary,
                          const cmd_output *output) {
    const bb_loss loss = a->trained.loss;
    json_t *json =
        json_pack("{s:s,s:o,s:o,s:o,s:o,s:I,s:I,s:I}", "method",
                  a->trained.options.method, "test", bb_metrics_json(&found->metrics),
                  "per_task", bb_summary_json(summary, loss), "majority",
                  bb_majority_json(majority, false, loss, counted_in), "majority_task",
                  bb_majority_json(majority, true, loss, counted_in),
                  "rows_without_target", (json_int_t)a->left.without_target,
                  "rows_of_unknown_tasks", (json_int_t)a->left.unknown,
                  "rows_with_missing_values", (json_int_t)a->left.missing);
    const bb_status status = cmd_output_json(output, json);
    json_decref(json);
    return status;
}

static void say_text(const applied *a, const bb_assessed *found,
                     const bb_majority *majority, FILE *stream) {
    const bb_loss loss = a->trained.loss;
    bb_metrics_heading(stream, loss);
    bb_majority_lines(stream, loss, counted_in, majority);
    bb_metrics_line(stream, loss, a->trained.options.method, &found->metrics);
    fprintf(stream, "%zu tasks with rows here, %zu without\n", found->metrics.tasks,
            found->metrics.without_rows);
}

static bb_status evaluate(const request *r, const cmd_output *output) {
    applied a = {0};
    bb_assessed found = {0};
    bb_majority majority;
    bb_summary summary;
    bb_status status = apply(r, false, &a);
    if (!status) status = bb_trained_assess(&a.trained, &a.rows, &found, &majority);
    if (!status) status = bb_metrics_summary(found.tasks, found.figure, &summary);
    if (!status && r->json)
        status = say_json(&a, &found, &majority, &summary, output);
    else if (!status)
        say_text(&a, &found, &majority, output->stream);
    bb_assessed_close(&found);
    close_applied(&a);
    return status;
}

/* -- predict -- */

static bb_status predict(const request *r, const cmd_output *output) {
    applied a = {0};
    if (!r->output)
        return bb_fail(BB_EUSAGE, "predictions where to? give --output FILE");
    const bool standard = strcmp(r->output, "-") == 0;
    bb_status status =
        standard ? BB_OK : bb_trained_check_output(r->run, r->data, r->output);
    if (!status) status = apply(r, true, &a);
    if (!status && standard)
        status = bb_trained_print(&a.trained, &a.rows, output->stream);
    else if (!status)
        status = bb_trained_write(&a.trained, &a.rows, r->output);
    if (!status && !standard)
        fprintf(output->stream,
                "%zu predictions in %s; each belongs to its task alone\n", a.rows.rows,
                r->output);
    close_applied(&a);
    return status;
}

/* -- the command lines -- */

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

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    switch (key) {
    case 'j':
        r->json = true;
        return 0;
    case 'i':
        r->ignore = text;
        return 0;
    case 'u':
        r->unknown = text;
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
               bb_status (*command)(const request *, const cmd_output *)) {
    request r = {0};
    cmd_output output = {0};
    argp_parse(argp, argc, argv, 0, NULL, &r);
    bb_status status = cmd_output_open(&output);
    if (!status) status = command(&r, &output);
    return cmd_output_close(&output, status);
}

int cmd_evaluate(int argc, char **argv) {
    static const struct argp_option option[] = {
        IGNORE, UNKNOWN, {"json", 'j', NULL, 0, "as one JSON object", 0}, {0}};
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
        IGNORE,
        UNKNOWN,
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
