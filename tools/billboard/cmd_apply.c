#include "base/memory.h"
#include "cmd.h"
#include "eval/report.h"
#include "eval/trained.h"

#include <stdlib.h>

/* What both commands are given; evaluate has no output. */
typedef struct request {
    const char *run, *data, *output, *ignore;
    bool json;
} request;

/* New rows and what a run's models say of them. */
typedef struct applied {
    bb_trained trained;
    bb_dataset rows;
    double *prediction;
} applied;

static bb_status apply(const request *r, bool target_optional, applied *a) {
    bb_status status = bb_trained_open(&a->trained, r->run);
    if (!status && r->ignore) status = bb_trained_ignore(&a->trained, r->ignore);
    if (!status)
        status = bb_trained_rows(&a->trained, r->data, target_optional, &a->rows);
    if (!status)
        status = bb_allocate(&a->prediction, a->rows.rows, sizeof *a->prediction,
                             "the predictions");
    if (!status) bb_trained_predict(&a->trained, &a->rows, a->prediction);
    return status;
}

static void close_applied(applied *a) {
    free(a->prediction);
    bb_dataset_free(&a->rows);
    bb_trained_close(&a->trained);
}

/* -- evaluate
 * -------------------------------------------------------------------------- */

static bb_status measure(const applied *a, bb_metrics *metrics, bb_summary *summary) {
    const bb_scored scored = {a->trained.loss, a->rows.tasks, a->rows.first, a->rows.y,
                              a->prediction};
    double *figure = NULL;
    bb_status status = bb_metrics_all(&scored, metrics);
    if (!status)
        status =
            bb_allocate(&figure, a->rows.tasks, sizeof *figure, "the tasks' figures");
    if (!status) status = bb_metrics_tasks(&scored, figure);
    if (!status) status = bb_metrics_summary(a->rows.tasks, figure, summary);
    free(figure);
    return status;
}

static bb_status evaluate(const request *r, const cmd_output *output) {
    applied a = {0};
    bb_metrics metrics;
    bb_summary summary;
    bb_status status = apply(r, false, &a);
    if (!status) status = measure(&a, &metrics, &summary);
    if (!status && r->json) {
        json_t *json = json_pack("{s:s,s:o,s:o}", "method", a.trained.options.method,
                                 "test", bb_metrics_json(&metrics), "per_task",
                                 bb_summary_json(&summary, a.trained.loss));
        status = cmd_output_json(output, json);
        json_decref(json);
    } else if (!status) {
        bb_metrics_heading(output->stream, a.trained.loss);
        bb_metrics_line(output->stream, a.trained.loss, a.trained.options.method,
                        &metrics);
        fprintf(output->stream, "%zu tasks with rows here, %zu without\n",
                metrics.tasks, metrics.without_rows);
    }
    close_applied(&a);
    return status;
}

/* -- predict
 * --------------------------------------------------------------------------- */

static bb_status predict(const request *r, const cmd_output *output) {
    applied a = {0};
    bb_status status =
        r->output ? apply(r, true, &a)
                  : bb_fail(BB_EUSAGE, "predictions where to? give --output FILE");
    if (!status)
        status = bb_trained_write(&a.trained, &a.rows, a.prediction, r->output);
    if (!status)
        fprintf(output->stream,
                "%zu predictions in %s; each belongs to its task alone\n", a.rows.rows,
                r->output);
    close_applied(&a);
    return status;
}

/* -- the command lines
 * ----------------------------------------------------------------- */

/* Both commands have it. */
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
        IGNORE, {"json", 'j', NULL, 0, "as one JSON object", 0}, {0}};
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
        {"output", 'o', "FILE", 0, "the predictions, as CSV, in the order of DATA", 0},
        IGNORE,
        {0}};
    const struct argp argp = {option,
                              parse,
                              "RUN DATA",
                              "Predicts the rows of DATA, each with its own task's "
                              "model. DATA needs no target "
                              "column.",
                              NULL,
                              NULL,
                              NULL};
    return run(argc, argv, &argp, predict);
}
