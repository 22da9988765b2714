#include "api/job.h"

#include "base/memory.h"
#include "methods/registry.h"
#include "train/options.h"

#include <stdlib.h>
#include <string.h>

/* What was set, in its order. */
struct billboard_job {
    bb_train_flag *flag; /* own their texts */
    size_t flags, room;
    bb_train_options tried; /* values are checked by setting them here */
};

billboard_status billboard_job_new(billboard_job **out) {
    billboard_job *job = NULL;
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(out, "billboard_job_new", "job");
    if (!status) status = bb_allocate(&job, 1, sizeof *job, "a job");
    if (!status) status = bb_options_default(bb_train_table(), &job->tried);
    if (status)
        billboard_job_free(job);
    else
        *out = job;
    return bb_call_end(&call, status);
}

void billboard_job_free(billboard_job *job) {
    if (!job) return;
    for (size_t k = 0; k < job->flags; k++) {
        free((void *)(uintptr_t)job->flag[k].name);
        free((void *)(uintptr_t)job->flag[k].text);
    }
    free(job->flag);
    bb_options_free(bb_train_table(), &job->tried);
    free(job);
}

static bool has_option(const bb_method *method, const char *name) {
    for (size_t k = 0; k < method->options.count; k++)
        if (strcmp(method->options.row[k].name, name) == 0) return true;
    return false;
}

/* A method that has an option of this name, the job's own if it has; or NULL. */
static const bb_method *method_with(const billboard_job *job, const char *name) {
    const char *own = job->tried.method;
    const bb_method *chosen = own ? bb_method_find(own) : NULL;
    if (chosen && has_option(chosen, name)) return chosen;
    for (size_t i = 0; bb_method_at(i); i++)
        if (has_option(bb_method_at(i), name)) return bb_method_at(i);
    return NULL;
}

static bool is_known(const char *name) {
    const bb_options table = bb_train_table();
    for (size_t k = 0; k < table.count; k++)
        if (strcmp(table.row[k].name, name) == 0) return true;
    return false;
}

static bb_status check(billboard_job *job, const char *name, const char *value) {
    if (strcmp(name, "set") == 0) {
        if (value && strchr(value, '=')) return BB_OK;
        return bb_fail(BB_EUSAGE, "--set expects key=value, got \"%s\"",
                       value ? value : "");
    }
    const bb_method *method = is_known(name) ? NULL : method_with(job, name);
    if (method)
        return bb_fail(BB_EUSAGE,
                       "train: \"%s\" is an option of methods, such as %s: set \"set\" "
                       "to \"%s=%s\"",
                       name, method->name, name, value ? value : "true");
    return bb_options_set(bb_train_table(), &job->tried, "train", name, value);
}

static bb_status add(billboard_job *job, const char *name, const char *value) {
    char *own = NULL, *text = NULL;
    bb_status status =
        bb_grow(&job->flag, &job->room, job->flags + 1, sizeof *job->flag, "a job");
    if (!status) status = bb_duplicate(&own, name, strlen(name));
    if (!status && value) status = bb_duplicate(&text, value, strlen(value));
    if (status)
        free(own);
    else
        job->flag[job->flags++] = (bb_train_flag){own, text};
    return status;
}

billboard_status billboard_job_set(billboard_job *job, const char *name,
                                   const char *value) {
    static const char function[] = "billboard_job_set";
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(job, function, "job");
    if (!status) status = bb_call_given(name, function, "name");
    if (!status) status = check(job, name, value);
    if (!status) status = add(job, name, value);
    return bb_call_end(&call, status);
}

bb_status bb_job_resolve(const billboard_job *job, bb_train_request *request) {
    const bb_status status = bb_train_resolve(request, job->flag, job->flags);
    if (!status) request->in_memory = !request->options.output;
    return status;
}

void bb_job_flags(const billboard_job *job, const bb_train_flag **flag, size_t *flags) {
    *flag = job->flag;
    *flags = job->flags;
}

billboard_status billboard_job_options(const billboard_job *job,
                                       billboard_answer **options) {
    static const char function[] = "billboard_job_options";
    bb_train_request request = {0};
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(job, function, "job");
    if (!status) status = bb_call_given(options, function, "options");
    if (!status) status = bb_job_resolve(job, &request);
    if (!status) status = bb_answer_open(options, bb_train_json(&request, false));
    bb_train_request_free(&request);
    return bb_call_end(&call, status);
}

/* -- running -- */

static void say(void *self, const char *what) {
    bb_watch_say(self, what, 0, 0);
}

static void progress(void *self, uint32_t round, uint32_t rounds) {
    bb_watch_say(self, "round", round, rounds);
}

static void at_home(void *self, const char *method, uint32_t done, uint32_t tasks) {
    char what[80];
    snprintf(what, sizeof what, "%s: task", method);
    bb_watch_say(self, what, done, tasks);
}

static void warn(void *self, const char *text) {
    const billboard_watch *watch = self;
    if (watch->warn) watch->warn(watch->self, text);
}

void bb_watch_waits(void *self, const char *path) {
    char text[600];
    snprintf(text, sizeof text, "ledger %s is locked by another process: waiting",
             path);
    warn(self, text);
}

bb_watch bb_watching(billboard_watch *watch) {
    return (bb_watch){watch, say, progress, at_home, warn, watch->stop};
}

/* A run that goes on knows its file. */
static bb_status find_data(const bb_train_request *request, bb_source *rows) {
    rows->path = json_string_value(json_object_get(request->resumed, "data"));
    if (rows->path) return BB_OK;
    if (!request->resumed) return bb_call_given(NULL, "billboard_job_run", "data");
    return bb_fail(BB_EUSAGE, "%s: its run had rows from arrays: give them again",
                   request->options.resume);
}

static bb_status run(const billboard_job *job, const billboard_data *data,
                     const billboard_data *test, billboard_watch *watch,
                     bb_ranks *ranks, billboard_result **out) {
    bb_watch watching = bb_watching(watch);
    bb_source rows = data ? bb_data_source(data) : (bb_source){0};
    const bb_source tests = test ? bb_data_source(test) : (bb_source){0};
    billboard_result *result = NULL;
    if (bb_ranks_number(ranks)) watching = (bb_watch){.stop = watch->stop};
    bb_status status = bb_allocate(&result, 1, sizeof *result, "a result");
    if (status) return status;
    status = bb_job_resolve(job, &result->request);
    if (!status && test && result->request.options.test)
        status = bb_fail(BB_EUSAGE, "test rows are given twice: as data, and by the "
                                    "option test");
    if (!status && !data) status = find_data(&result->request, &rows);
    status = bb_ranks_agree(ranks, status);
    bb_ledger_on_wait(bb_watch_waits, watch);
    if (!status)
        status = bb_training_open(&result->training, &result->request, &rows,
                                  test ? &tests : NULL, &watching, ranks);
    bb_ledger_on_wait(NULL, NULL);
    const bool mine = result->training != NULL; /* not another rank's */
    if (!status && mine) status = bb_result_fill(result);
    if (!status) *out = mine ? result : NULL;
    if (status || !mine) billboard_result_free(result);
    return status;
}

bb_status bb_job_run(const billboard_job *job, const billboard_data *data,
                     const billboard_data *test, const billboard_watch *watch,
                     bb_ranks *ranks, billboard_result **result) {
    static const char function[] = "billboard_job_run";
    billboard_watch own;
    bb_status status = bb_call_given(job, function, "job");
    if (!status) status = bb_call_given(result, function, "result");
    if (!status) status = bb_watch_take(&own, watch);
    return status ? status : run(job, data, test, &own, ranks, result);
}

billboard_status billboard_job_run(const billboard_job *job, const billboard_data *data,
                                   const billboard_data *test,
                                   const billboard_watch *watch,
                                   billboard_result **result) {
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_job_run(job, data, test, watch, NULL, result);
    return bb_call_end(&call, status);
}
