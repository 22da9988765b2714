#include "api/job.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "train/handout.h"
#include "train/rundir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- of a run -- */

static bb_status report_text(const billboard_result *r, char **out) {
    bb_words words;
    bb_status status = bb_words_open(&words);
    if (status) return status;
    status = bb_report_text(bb_training_report(r->training), words.stream);
    const bb_status closed = bb_words_close(&words, out);
    return status ? status : closed;
}

bb_status bb_result_fill(billboard_result *r) {
    r->trained = bb_training_trained(r->training);
    const char *ignore = r->trained.options.ignore,
               *cluster = r->request.options.cluster;
    r->trained.options.ignore = NULL; /* the request's */
    bb_status status = ignore ? bb_trained_ignore(&r->trained, ignore) : BB_OK;
    if (!status && cluster) status = bb_trained_ignore(&r->trained, cluster);
    if (!status) status = bb_answer_open(&r->answer, bb_training_json(r->training));
    return status ? status : report_text(r, &r->text);
}

/* -- of a run directory -- */

/* What was exported for one task has the public half only. */
static bb_status read_public(const char *run, json_t **out) {
    json_t *all = NULL, *privacy = NULL;
    bb_status status = bb_rundir_read(run, "public/options.json", &all);
    if (!status) status = bb_rundir_read(run, "public/privacy.json", &privacy);
    if (!status && json_object_set(all, "privacy", privacy))
        status = bb_fail(BB_EDATA, "%s: public/options.json is no object", run);
    json_decref(privacy);
    if (status)
        json_decref(all);
    else
        *out = all;
    return status;
}

static bb_status read_answer(const char *run, billboard_answer **out) {
    char *name = NULL;
    json_t *json = NULL;
    bb_status status = bb_file_join(&name, run, "operator/run.json");
    if (!status)
        status = access(name, F_OK) == 0
                     ? bb_rundir_read(run, "operator/run.json", &json)
                     : read_public(run, &json);
    free(name);
    return status ? status : bb_answer_open(out, json);
}

static bb_status load(billboard_result *r, const char *path) {
    bb_status status = bb_trained_open(&r->trained, path);
    if (!status) status = bb_duplicate(&r->run, path, strlen(path));
    if (!status) status = read_answer(path, &r->answer);
    if (status) return status;
    const char *text = billboard_answer_text(r->answer, "privacy.statement");
    return bb_duplicate(&r->text, text ? text : "", text ? strlen(text) : 0);
}

billboard_status billboard_result_load(const char *path, billboard_result **out) {
    static const char function[] = "billboard_result_load";
    billboard_result *result = NULL;
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = bb_call_given(out, function, "result");
    if (!status) status = bb_allocate(&result, 1, sizeof *result, "a result");
    if (!status) status = load(result, path);
    if (status)
        billboard_result_free(result);
    else
        *out = result;
    return bb_call_end(&call, status);
}

billboard_status billboard_result_save(const billboard_result *r, const char *path,
                                       int replace) {
    static const char function[] = "billboard_result_save";
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(r, function, "result");
    if (!status) status = bb_call_given(path, function, "path");
    if (!status && !r->training)
        status = bb_fail(BB_EUSAGE, "%s: this run is in %s already: copy that", path,
                         r->run);
    if (!status) status = bb_training_save(r->training, path, replace != 0);
    return bb_call_end(&call, status);
}

void billboard_result_free(billboard_result *r) {
    if (!r) return;
    if (r->training)
        free(r->trained.options.ignore);
    else
        bb_trained_close(&r->trained);
    bb_training_close(r->training);
    bb_train_request_free(&r->request);
    billboard_answer_free(r->answer);
    free(r->text);
    free(r->run);
    free(r);
}

billboard_status billboard_export(const char *run, const char *task, const char *to) {
    static const char function[] = "billboard_export";
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(run, function, "run");
    if (!status) status = bb_call_given(task, function, "task");
    if (!status) status = bb_call_given(to, function, "to");
    if (!status) status = bb_handout_export(run, task, to);
    return bb_call_end(&call, status);
}

/* -- asking -- */

const billboard_answer *billboard_result_answer(const billboard_result *r) {
    return r->answer;
}

const char *billboard_result_text(const billboard_result *r) {
    return r->text;
}

billboard_status billboard_result_privacy(const billboard_result *r,
                                          billboard_privacy *out) {
    static const char first[] = "privacy.guarantees.0.";
    const billboard_answer *a = r->answer;
    billboard_privacy p = {.is_private =
                               billboard_answer_number(a, "privacy.private") > 0.0,
                           .statement = billboard_answer_text(a, "privacy.statement")};
    const struct {
        const char *name;
        const char **to;
    } text[] = {{"unit", &p.unit},
                {"adjacency", &p.adjacency},
                {"sampling", &p.sampling},
                {"mechanism", &p.mechanism}};
    const struct {
        const char *name;
        double *to;
    } number[] = {{"epsilon", &p.epsilon},
                  {"delta", &p.delta},
                  {"noise_multiplier", &p.noise_multiplier}};
    char path[80];
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        snprintf(path, sizeof path, "%s%s", first, text[k].name);
        *text[k].to = billboard_answer_text(a, path);
    }
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        snprintf(path, sizeof path, "%s%s", first, number[k].name);
        *number[k].to = billboard_answer_number(a, path);
    }
    return (billboard_status)bb_status_exit_code(
        bb_call_give(out, &p, sizeof p, "billboard_privacy"));
}

size_t billboard_result_tasks(const billboard_result *r) {
    return r->trained.models.tasks;
}

const char *billboard_result_task(const billboard_result *r, size_t i) {
    return i < r->trained.models.tasks ? r->trained.models.task_name[i] : NULL;
}

/* -- models -- */

static bb_status find_model(const billboard_result *r, const char *task,
                            const bb_models **models, size_t *i) {
    const bb_models *all = &r->trained.models;
    *models = all;
    *i = 0;
    if (!task) {
        *models = &r->trained.shared;
        if ((*models)->tasks) return BB_OK;
        return bb_fail(BB_EUSAGE, BB_NOTHING_SHARED);
    }
    while (*i < all->tasks && strcmp(all->task_name[*i], task) != 0) ++*i;
    if (*i < all->tasks) return BB_OK;
    return bb_fail(BB_EDATA, "task \"%s\" has no model", task);
}

static bb_status check_whole(const bb_models *m) {
    if (!m->shared) return BB_OK;
    return bb_fail(BB_EUSAGE,
                   "models of several outputs for sparse rows have no weights "
                   "of their own for every feature: ask for predictions");
}

static size_t outputs_of(const bb_models *m) {
    return m->outputs ? m->outputs : 1;
}

static bb_status give_model(const billboard_result *r, const char *task,
                            billboard_model *out) {
    const bb_models *m = NULL;
    size_t i = 0;
    bb_status status = find_model(r, task, &m, &i);
    if (!status) status = check_whole(m);
    if (status) return status;
    const size_t outputs = outputs_of(m);
    billboard_model model = {.features = m->features,
                             .outputs = outputs,
                             .feature_name = (const char *const *)m->feature_name,
                             .intercept = m->intercept ? m->intercept[i] : 0.0};
    if (m->single) {
        model.parameters = m->parameters;
        model.parameter = m->single + i * m->parameters;
    } else {
        model.weight = m->weight + i * m->features * outputs;
    }
    return bb_call_give(out, &model, sizeof model, "billboard_model");
}

billboard_status billboard_result_model(const billboard_result *r, const char *task,
                                        billboard_model *model) {
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = give_model(r, task, model);
    return bb_call_end(&call, status);
}

billboard_status billboard_result_models(const billboard_result *r,
                                         billboard_models *out) {
    const bb_models *m = &r->trained.models;
    const billboard_models models = {.tasks = m->tasks,
                                     .features = m->features,
                                     .outputs = outputs_of(m),
                                     .task_name = (const char *const *)m->task_name,
                                     .feature_name =
                                         (const char *const *)m->feature_name,
                                     .weight = m->weight,
                                     .intercept = m->intercept,
                                     .parameter = m->single,
                                     .parameters = m->parameters};
    bb_status status = check_whole(m);
    if (!status) status = bb_call_give(out, &models, sizeof models, "billboard_models");
    return (billboard_status)bb_status_exit_code(status);
}
