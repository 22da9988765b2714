#include "api/call.h"
#include "api/tables.h"
#include "base/json.h"
#include "base/memory.h"
#include "experiments/definition.h"
#include "experiments/study.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct experiment_options {
    char *output, *data, *preset;
    uint64_t seeds, threads;
} experiment_options;

#define AT(field) offsetof(experiment_options, field)
/* clang-format off */
static const bb_option row[] = {
    {"output", BB_OPTION_TEXT, AT(output), NULL, 0.0, 0.0, NULL, "DIR", "the folder of its cells and tables; one that is there already goes on where it ended"},
    {"preset", BB_OPTION_TEXT, AT(preset), NULL, 0.0, 0.0, NULL, "NAME", "how large it is: quick (default), full, or another that the experiment has"},
    {"seeds", BB_OPTION_COUNT, AT(seeds), "0", 0.0, 100000.0, NULL, "N", "how often each cell is repeated; 0: as the preset says"},
    {"data", BB_OPTION_TEXT, AT(data), NULL, 0.0, 0.0, NULL, "DIR", "the folder of data sets, for experiments on such"},
    {"threads", BB_OPTION_COUNT, AT(threads), "0", 0.0, 4096.0, NULL, "N", "cells at once; 0: as many as there are processors; results do not depend on it"},
};
/* clang-format on */

bb_option_table bb_experiment_table(void) {
    return (bb_option_table){{row, sizeof row / sizeof *row},
                             sizeof(experiment_options)};
}

/* -- cells that are no training runs -- */

typedef billboard_status ask(const billboard_option *option, size_t options,
                             const billboard_watch *watch, billboard_answer **answer);

/* Names are borrowed from the object, values are texts of their own. */
static bb_status take_options(const json_t *from, billboard_option *option) {
    const char *name;
    const json_t *value;
    size_t k = 0;
    json_object_foreach((json_t *)(uintptr_t)from, name, value) {
        const char *text = json_string_value(value);
        char *own = NULL;
        bb_status status = BB_OK;
        if (text)
            status = bb_duplicate(&own, text, strlen(text));
        else if (!(own = bb_json_text(value, 0)))
            status = bb_fail(BB_ENOMEM, "no memory for options");
        if (status) return status;
        option[k++] = (billboard_option){name, own};
    }
    return BB_OK;
}

static bb_status run_by(ask *function, const json_t *from, json_t **out) {
    const size_t count = json_object_size(from);
    billboard_option *option = NULL;
    billboard_answer *answer = NULL;
    bb_status status = bb_allocate(&option, count, sizeof *option, "options");
    if (!status) status = take_options(from, option);
    /* no public status is a failure of the machine but for the message it left */
    if (!status && function(option, count, NULL, &answer))
        status = bb_fail(BB_EUSAGE, "%s", bb_last_error());
    if (!status && !(*out = json_loads(billboard_answer_json(answer), 0, NULL)))
        status = bb_fail(BB_ENOMEM, "no memory for an answer");
    for (size_t k = 0; option && k < count; k++)
        free((void *)(uintptr_t)option[k].value);
    free(option);
    billboard_answer_free(answer);
    return status;
}

static bb_status run_account(const json_t *options, json_t **answer) {
    return run_by(billboard_account, options, answer);
}

static bb_status run_audit(const json_t *options, json_t **answer) {
    return run_by(billboard_audit, options, answer);
}

/* -- the calls -- */

static void progress(void *self, const char *what, uint32_t done, uint32_t all) {
    bb_watch_say(self, what, done, all);
}

/* An experiment that there is none of has no need of a folder. */
static bb_status no_output(const char *name, const char *preset) {
    json_t *definition = NULL;
    const bb_status status = bb_definition_read(name, preset, &definition);
    json_decref(definition);
    return status ? status : bb_fail(BB_EUSAGE, "where to? give --output DIR");
}

static bb_status run(const char *name, const experiment_options *o,
                     billboard_watch *watch, billboard_answer **out) {
    static const bb_runner runner[] = {{"account", run_account}, {"audit", run_audit}};
    const bb_study_request request = {.name = name,
                                      .output = o->output,
                                      .preset = o->preset,
                                      .data = o->data,
                                      .seeds = o->seeds,
                                      .threads = (size_t)o->threads,
                                      .runner = runner,
                                      .runners = sizeof runner / sizeof *runner};
    const bb_study_watch watching = {watch, progress, watch->stop};
    json_t *summary = NULL;
    if (!o->output) return no_output(name, o->preset);
    const bb_status status = bb_study_run(&request, &watching, &summary);
    return status ? status : bb_answer_open(out, summary);
}

billboard_status billboard_experiment(const char *name, const billboard_option *option,
                                      size_t options, const billboard_watch *watch,
                                      billboard_answer **summary) {
    static const char function[] = "billboard_experiment";
    const bb_options table = bb_experiment_table().options;
    experiment_options o = {0};
    billboard_watch own;
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_call_given(name, function, "name");
    if (!status) status = bb_call_given(summary, function, "summary");
    if (!status) status = bb_watch_take(&own, watch);
    if (!status) status = bb_options_default(table, &o);
    if (!status) status = bb_call_options(table, &o, "experiment", option, options);
    if (!status) status = run(name, &o, &own, summary);
    bb_options_free(table, &o);
    return bb_call_end(&call, status);
}

billboard_status billboard_experiments(const char *folder, billboard_answer **out) {
    json_t *json = NULL;
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(out, "billboard_experiments", "out");
    if (!status && folder)
        status = bb_study_state(folder, &json);
    else if (!status)
        json = bb_study_list();
    if (!status) status = bb_answer_open(out, json);
    return bb_call_end(&call, status);
}
