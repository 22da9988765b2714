#include "report/report.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "linalg/linalg.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *bb_report_form_name(bb_report_form form) {
    static const char *const name[BB_REPORT_FORMS] = {"html", "markdown", "csv",
                                                      "latex", "svg"};
    return name[form];
}

const char *bb_report_name(const bb_reported *run) {
    const char *end = run->path + strlen(run->path), *start;
    while (end > run->path && end[-1] == '/') end--;
    for (start = end; start > run->path && start[-1] != '/';) start--;
    return start;
}

bool bb_report_is_alone(const bb_reported *run) {
    return json_is_false(json_object_get(run->privacy, "exchanged"));
}

void bb_report_promise(FILE *to, const bb_reported *run) {
    const json_t *p = run->privacy;
    const json_t *first = json_array_get(json_object_get(p, "guarantees"), 0);
    const double epsilon = bb_reported_number(first, "epsilon");
    if (bb_report_is_alone(run) || !first || isnan(epsilon)) {
        fputs(bb_report_is_alone(run) ? "nothing was published" : "not private", to);
        return;
    }
    fprintf(to, "a whole %s: epsilon %g, delta %g, %s, sampling %s",
            bb_reported_text(first, "unit"), epsilon,
            bb_reported_number(first, "delta"), bb_reported_text(first, "adjacency"),
            bb_reported_text(first, "sampling"));
    if (!json_is_true(json_object_get(first, "valid")))
        fputs(", but this very run does not have it", to);
}

/* What a report is of: runs, or the results of an experiment. */
typedef struct subject {
    size_t runs;
    bb_reported *run;
    json_t *results; /* NULL: of runs */
} subject;

static bb_status write_form(FILE *to, bb_report_form form, const subject *s) {
    if (form == BB_REPORT_SVG && !s->results)
        return bb_fail(BB_EUSAGE, "pictures alone are those of an experiment: give its "
                                  "folder");
    if (form == BB_REPORT_SVG) return bb_page_figures(to, s->results);
    if (form == BB_REPORT_HTML)
        return s->results ? bb_report_experiment_page(to, s->results)
                          : bb_report_page(to, s->runs, s->run);
    if (s->results)
        bb_report_means(to, form, s->results);
    else
        bb_report_table(to, form, s->runs, s->run);
    return BB_OK;
}

static bb_status write_text(FILE *to, bb_report_form form, const subject *s,
                            const char *path, char **text, const size_t *size) {
    bb_status status = write_form(to, form, s);
    const bool broken = ferror(to);
    if ((fclose(to) || broken) && !status)
        status = bb_fail(BB_ENOMEM, "no memory for the report");
    return status ? status : bb_file_write(path, *text, *size);
}

/* *results: NULL if the folder is none of an experiment. */
static bb_status read_experiment(const char *folder, json_t **results) {
    char *begun = NULL, *ended = NULL;
    bb_status status = bb_file_join(&begun, folder, "experiment.json");
    if (!status) status = bb_file_join(&ended, folder, "results.json");
    if (!status && access(begun, F_OK) == 0)
        status = access(ended, F_OK) == 0
                     ? bb_json_read_file(results, ended)
                     : bb_fail(BB_EDATA,
                               "%s: the experiment is not complete: the command that "
                               "began it goes on",
                               folder);
    free(begun);
    free(ended);
    return status;
}

static bb_status read_runs(const char *const *run, subject *s) {
    bb_status status = bb_allocate(&s->run, s->runs, sizeof *s->run, "runs");
    for (size_t k = 0; k < s->runs && !status; k++)
        status = bb_reported_open(&s->run[k], run[k]);
    return status;
}

bb_status bb_report_write(const char *const *run, size_t runs, bb_report_form form,
                          const char *path) {
    subject s = {.runs = runs};
    char *text = NULL;
    size_t size = 0;
    if (runs == 0) return bb_fail(BB_EUSAGE, "a report of which run?");
    bb_status status = bb_linalg_ready();
    if (!status && runs == 1) status = read_experiment(run[0], &s.results);
    if (!status && !s.results) status = read_runs(run, &s);
    if (!status) {
        FILE *to = open_memstream(&text, &size);
        status = to ? write_text(to, form, &s, path, &text, &size)
                    : bb_fail(BB_ENOMEM, "no memory for the report");
    }
    free(text);
    for (size_t k = 0; k < runs && s.run; k++) bb_reported_close(&s.run[k]);
    free(s.run);
    json_decref(s.results);
    return status;
}
