#include "api/job.h"
#include "api/tables.h"
#include "base/json.h"
#include "base/memory.h"
#include "train/best_of.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_SAID, PUBLIC, NOT_PRIVATE, PRIVATE };

typedef struct tune_options {
    char *methods, *grid, *output;
    uint64_t random, threads, runs;
    double seed, share; /* seed NAN: not given */
    int data;
} tune_options;

#define AT(field) offsetof(tune_options, field)
/* clang-format off */
static const bb_option row[] = {
    {"methods", BB_OPTION_TEXT, AT(methods), NULL, 0.0, 0.0, NULL, "METHODS", "the methods to try, separated by commas (default: the one of the job)"},
    {"grid", BB_OPTION_TEXT, AT(grid), NULL, 0.0, 0.0, NULL, "GRID", "values to try: name=value,value,... or name=low..high, of options of train or of the methods; several separated by semicolons"},
    {"random", BB_OPTION_COUNT, AT(random), "0", 0.0, 1e4, NULL, "N", "draw N settings at random, not every combination; without a grid the methods' own numbers, from a tenth to ten times their default"},
    {"seed", BB_OPTION_AUTO, AT(seed), "auto", 0.0, 0x1p52, NULL, "S", "of what is drawn, and of the runs' noise; auto: 1, with private data none"},
    {"threads", BB_OPTION_COUNT, AT(threads), "0", 0.0, 4096.0, NULL, "N", "runs at once; 0 takes as many as there are processors; results do not depend on it"},
    {"output", BB_OPTION_TEXT, AT(output), NULL, 0.0, 0.0, NULL, "FILE", "write the best setting there, for train --config; with private data the run directory of the best run"},
    {"runs", BB_OPTION_COUNT, AT(runs), "10", 1.0, 1e6, NULL, "M", "private data: how many runs are made on average; their number is random"},
    {"share", BB_OPTION_REAL, AT(share), "0.1", 1e-6, 0.999, NULL, "SHARE", "private data: what part of a run's budget its score has"},
    {"data", BB_OPTION_CHOICE, AT(data), "not-said", 0.0, 0.0, "not-said|public|not-private|private", "WHAT", "public: anybody may see what the rows say; not-private: they are private, and the settings that are found say so; private: the search is inside the budget"},
};
/* clang-format on */
static const bb_options table = {row, sizeof row / sizeof *row};

bb_option_table bb_tune_table(void) {
    return (bb_option_table){table, sizeof(tune_options)};
}

/* -- the answer -- */

static json_t *losses_json(const bb_tried *tried) {
    json_t *list = json_array();
    for (unsigned f = 0; f < tried->folds; f++)
        bb_json_append(&list, bb_json_real(tried->loss[f]));
    return list;
}

static double spread(const bb_tried *t) {
    double square = 0.0;
    for (unsigned f = 0; f < t->folds; f++)
        square += (t->loss[f] - t->mean) * (t->loss[f] - t->mean);
    return t->folds > 1 ? sqrt(square / (t->folds - 1.0) / t->folds) : NAN;
}

static json_t *flags_json(const bb_setting *setting) {
    json_t *list = json_array();
    for (size_t f = 0; f < setting->flags; f++)
        bb_json_append(&list, json_pack("{s:s,s:s}", "name", setting->flag[f].name,
                                        "value", setting->flag[f].text));
    return list;
}

static json_t *tried_json(const bb_setting *setting, const bb_tried *tried) {
    return json_pack("{s:s,s:o,s:i,s:o,s:o,s:o,s:s*}", "method", setting->flag[0].text,
                     "flags", flags_json(setting), "folds", (int)tried->folds, "loss",
                     bb_json_real(tried->mean), "standard_error",
                     bb_json_real(spread(tried)), "losses", losses_json(tried),
                     "failure", *tried->failure ? tried->failure : NULL);
}

/* Takes the config over. */
static bb_status answer(const bb_tune *t, bool is_public, const bb_tried *tried,
                        const bb_tuned *tuned, json_t *config, billboard_answer **out) {
    json_t *list = json_array();
    for (size_t k = 0; k < t->settings->count; k++)
        bb_json_append(&list, tried_json(&t->settings->at[k], &tried[k]));
    return bb_answer_open(
        out, json_pack("{s:b,s:s,s:i,s:I,s:I,s:o,s:o}", "from_private_data", !is_public,
                       "metric", tuned->metric, "folds", BB_TUNE_FOLDS, "seed",
                       (json_int_t)t->seed, "best", (json_int_t)tuned->best, "tried",
                       list, "config", config));
}

/* -- the best of a random number of runs -- */

static bb_status found_answer(const bb_tune *t, const tune_options *o,
                              const bb_best_found *f, billboard_answer **out) {
    json_t *best = json_null();
    if (f->there)
        best = json_pack("{s:s,s:o,s:o,s:o}", "method",
                         t->settings->at[f->setting].flag[0].text, "flags",
                         flags_json(&t->settings->at[f->setting]), "score",
                         bb_json_real(f->score), "noise", bb_json_real(f->noise));
    return bb_answer_open(
        out, json_pack("{s:b,s:o,s:I,s:s,s:o,s:o,s:s,s:s,s:{s:o,s:o,s:o}}",
                       "from_private_data", false, "best", best, "runs",
                       (json_int_t)o->runs, "output", o->output, "epsilon",
                       bb_json_real(f->epsilon), "delta", bb_json_real(f->delta),
                       "adjacency", bb_adjacency_name(f->adjacency), "sampling", "all",
                       "mu", "alone", bb_json_real(f->mu_alone), "best_of",
                       bb_json_real(f->mu), "composed", bb_json_real(f->mu_composed)));
}

static bb_status tune_privately(const bb_tune *t, const tune_options *o,
                                const bb_watch *watch, billboard_answer **out) {
    char seed[24];
    bb_best_found found;
    snprintf(seed, sizeof seed, "%.0f", o->seed);
    const bb_best_of best = {.tune = t,
                             .mean = o->runs,
                             .share = o->share,
                             .seed = isnan(o->seed) ? NULL : seed,
                             .output = o->output};
    const bb_status status = bb_best_of_run(&best, watch, &found);
    return status ? status : found_answer(t, o, &found, out);
}

/* -- tuning -- */

static bb_status check(const tune_options *o) {
    if (o->data == NOT_SAID)
        return bb_fail(
            BB_EUSAGE,
            "tune: whose data are these? public: anybody may see what they say; "
            "not-private: the settings that are found, and runs with them, are not "
            "private; private: the search is inside the budget (docs/tune.md)");
    if (o->data == PRIVATE && !(o->output && *o->output))
        return bb_fail(BB_EUSAGE, "tune: private tuning ends with a run: name its "
                                  "directory (output)");
    if (!o->grid && !o->random)
        return bb_fail(BB_EUSAGE, "tune: what is to be tried? give a grid, or how many "
                                  "settings to draw at random");
    return BB_OK;
}

/* The method of the job itself. */
static bb_status own_method(const billboard_job *job, char **methods) {
    bb_train_request request = {0};
    bb_status status = bb_job_resolve(job, &request);
    if (!status)
        status = bb_duplicate(methods, request.options.method,
                              strlen(request.options.method));
    bb_train_request_free(&request);
    return status;
}

static bb_status tune(const bb_tune *t, const tune_options *o, const bb_watch *watch,
                      billboard_answer **out) {
    const bool is_public = o->data == PUBLIC;
    bb_tried *tried = NULL;
    bb_tuned tuned = {0};
    json_t *config = NULL;
    bb_status status =
        bb_allocate(&tried, t->settings->count, sizeof *tried, "settings");
    if (!status) status = bb_tune_run(t, watch, tried, &tuned);
    if (!status) status = bb_tune_config(t, tuned.best, !is_public, &config);
    if (!status && o->output) status = bb_json_write_file(o->output, config);
    if (!status)
        status = answer(t, is_public, tried, &tuned, config, out);
    else
        json_decref(config);
    free(tried);
    return status;
}

static bb_status tune_job(const billboard_job *job, const billboard_data *data,
                          tune_options *o, billboard_watch *watch,
                          billboard_answer **out) {
    const bb_watch watching = bb_watching(watch);
    const bb_source rows = bb_data_source(data);
    bb_settings settings = {0};
    bb_tune t = {.settings = &settings,
                 .data = &rows,
                 .seed = isnan(o->seed) ? 1 : (uint64_t)o->seed,
                 .at_once = (size_t)o->threads};
    bb_status status = check(o);
    if (!status && !o->methods) status = own_method(job, &o->methods);
    if (!status)
        status =
            bb_settings_open(&settings, o->methods, o->grid, (size_t)o->random, t.seed);
    bb_job_flags(job, &t.flag, &t.flags);
    if (!status && o->data == PRIVATE)
        status = tune_privately(&t, o, &watching, out);
    else if (!status)
        status = tune(&t, o, &watching, out);
    bb_settings_close(&settings);
    return status;
}

billboard_status billboard_tune(const billboard_job *job, const billboard_data *data,
                                const billboard_option *option, size_t options,
                                const billboard_watch *watch, billboard_answer **best) {
    static const char function[] = "billboard_tune";
    tune_options o = {0};
    billboard_watch own;
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_call_given(job, function, "job");
    if (!status) status = bb_call_given(data, function, "data");
    if (!status) status = bb_call_given(best, function, "best");
    if (!status) status = bb_watch_take(&own, watch);
    if (!status) status = bb_options_default(table, &o);
    if (!status) status = bb_call_options(table, &o, "tune", option, options);
    if (!status) status = tune_job(job, data, &o, &own, best);
    bb_options_free(table, &o);
    return bb_call_end(&call, status);
}
