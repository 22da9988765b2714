/* The parts of the run directory: what others may see, and the operator's. */
#include "data/write.h"

#include "base/memory.h"
#include "linalg/linalg.h"
#include "train/effects.h"
#include "train/experiment.h"
#include "train/handout.h"
#include "train/run_statement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a file says, for its name, which is never public. */
static int set_content(json_t *options, const char *name, json_t *content) {
    return json_object_set_new(options, name,
                               content ? json_incref(content) : json_null());
}

/* The same run again, with the same data: ranges, levels and relations themselves for
 * the names of their files. */
static json_t *public_options(const bb_experiment *e) {
    const bb_population *p = &e->population;
    json_t *options = bb_train_json(e->resolved->request, true);
    if (options && (set_content(options, "scale", p->ranges) ||
                    (p->levels && set_content(options, "categories", p->levels)) ||
                    (p->edges && set_content(options, "graph", p->edges)))) {
        json_decref(options);
        options = NULL;
    }
    return json_pack("{s:s,s:s,s:I,s:I,s:o}", "program", "billboard", "version",
                     BB_VERSION, "tasks", (json_int_t)e->run.pub.tasks, "features",
                     (json_int_t)e->run.pub.features, "options", options);
}

/* The levels of texts, which are public, for whoever predicts. */
static bb_status write_categories(const bb_experiment *e) {
    json_t *levels = e->population.levels;
    if (!levels) return BB_OK;
    return bb_rundir_json(&e->dir, "public/categories.json", json_incref(levels));
}

const char *bb_experiment_ledger_name(const bb_experiment *e) {
    const char *path = e->resolved->request->options.ledger;
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* Only what passed through the door is a billboard; an open method's exchange is not. */
bool bb_experiment_is_open(const bb_experiment *e) {
    bool open = false;
    for (size_t k = 0; k < e->run.phases; k++)
        open = open || e->run.phase[k].method->kind == BB_METHOD_OPEN;
    return open;
}

/* The model that all share is a function of the billboard, and good for tasks that were
 * not there. Not where it is many, or tasks have steps of their own, or nothing went
 * over a billboard, or in the columns' units it is not finite. */
bb_status bb_experiment_shared(const bb_experiment *e, bb_models *out) {
    if (!e->result.shares || !bb_resolved_is_solved(e->resolved) ||
        e->run.pub.clusters > 1 || bb_preprocess_is_own(&e->population.steps) ||
        bb_experiment_is_open(e))
        return BB_OK;
    const bb_status status =
        bb_population_shared(&e->population, e->result.shared, out);
    if (status) return status;
    if (!bb_all_finite(out->features, out->weight) || !isfinite(*out->intercept))
        bb_models_free(out);
    return BB_OK;
}

static bb_status write_shared(const bb_experiment *e) {
    char *path = NULL;
    if (!e->shared.tasks) return BB_OK;
    bb_status status = bb_rundir_name(&e->dir, "public/" BB_SHARED_FILE, &path);
    if (!status) status = bb_models_write(&e->shared, path);
    free(path);
    return status;
}

/* Of the private mixed model: a function of the billboard. */
static bb_status write_effects(const bb_experiment *e) {
    char *text = NULL;
    size_t size = 0;
    if (!e->report.effects) return BB_OK;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return bb_fail(BB_ENOMEM, "no memory for the effects");
    bb_effects_csv(e->report.effects, stream);
    const bool whole = !ferror(stream);
    bb_status status = fclose(stream) || !whole
                           ? bb_fail(BB_ENOMEM, "no memory for the effects")
                           : BB_OK;
    if (!status) status = bb_rundir_text(&e->dir, "public/effects.csv", text);
    if (!status)
        status = bb_rundir_json(&e->dir, "public/effects.json",
                                json_incref(e->report.effects));
    free(text);
    return status;
}

bb_status bb_write_public(const bb_experiment *e) {
    char *statement = NULL;
    bb_status status =
        bb_rundir_json(&e->dir, "public/options.json", public_options(e));
    if (!status)
        status = bb_rundir_json(&e->dir, "public/privacy.json",
                                bb_statement_json(&e->report.statement));
    if (!status) status = bb_statement_text(&e->report.statement, &statement);
    if (!status) status = bb_rundir_text(&e->dir, "public/statement.txt", statement);
    if (!status) status = write_categories(e);
    if (!status) status = write_shared(e);
    if (!status) status = write_effects(e);
    free(statement);
    return status;
}

json_t *bb_experiment_json(const bb_experiment *e) {
    json_t *run = bb_report_json(&e->report);
    if (e->trace && json_object_set(run, "trace", e->trace)) {
        json_decref(run);
        return NULL;
    }
    if (!json_object_set_new(run, "options",
                             bb_train_json(e->resolved->request, false)))
        return run;
    json_decref(run);
    return NULL;
}

bb_status bb_write_report(const bb_experiment *e) {
    const bb_status status =
        bb_rundir_json(&e->dir, "operator/run.json", bb_experiment_json(e));
    if (status || !e->record) return status;
    return bb_rundir_json(&e->dir, "operator/record.json", json_incref(e->record));
}

bb_status bb_write_models(const bb_experiment *e) {
    const bb_piece lines = {e->lines.at, e->lines.length};
    char *folder = NULL;
    bb_status status = bb_rundir_name(&e->dir, "operator", &folder);
    if (!status)
        status = bb_handout_write(folder, &e->models, lines.at ? &lines : NULL,
                                  e->run.pub.loss, &e->population.open);
    if (!status) status = bb_handout_intervals(folder, &e->kept_spread);
    free(folder);
    return status;
}

/* A task's test score for people: RMSE, else AUC, accuracy or F1 as it is. */
static double for_people(const bb_assessed *a, const bb_dataset *test, size_t i) {
    if (!a->score) return NAN;
    const double rows = (double)(test->first[i + 1] - test->first[i]);
    return a->loss == BB_LOSS_SQUARED ? sqrt(a->score[i] / rows) : a->figure[i];
}

static void write_number(FILE *stream, double value) {
    if (isnan(value))
        putc(',', stream);
    else
        fprintf(stream, ",%.6g", value);
}

bb_status bb_write_tasks(bb_experiment *e, const bb_scores *s) {
    static const char *const metric[] = {"rmse", "auc", "accuracy", "f1"};
    const bb_dataset *train = &e->population.train, *test = &e->population.test;
    const char *name = metric[e->run.pub.loss];
    const bool squared = e->run.pub.loss == BB_LOSS_SQUARED;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return bb_fail(BB_ENOMEM, "no memory for the tasks' figures");
    fprintf(stream,
            "task,train_rows,test_rows,%s,%s_alone,%s_own,%s_pooled,%s_mixed%s\n", name,
            name, name, name, name, squared ? ",rmse_mean" : "");
    for (size_t i = 0; i < test->tasks; i++) {
        bb_write_field(stream, test->task_name[i]);
        fprintf(stream, ",%zu,%zu", train->first[i + 1] - train->first[i],
                test->first[i + 1] - test->first[i]);
        write_number(stream, for_people(&e->test, test, i));
        write_number(stream, for_people(&s->alone, test, i));
        write_number(stream, for_people(&s->own, test, i));
        write_number(stream, for_people(&s->pooled, test, i));
        write_number(stream, for_people(&s->mixed, test, i));
        if (squared) write_number(stream, for_people(&s->own_mean, test, i));
        putc('\n', stream);
    }
    const bool whole = !ferror(stream);
    bb_status status = BB_OK;
    if (fclose(stream) || !whole)
        status = bb_fail(BB_ENOMEM, "no memory for the tasks' figures");
    if (!status && !e->resolved->request->in_memory)
        status = bb_rundir_text(&e->dir, "operator/tasks.csv", text);
    free(e->tasks_csv);
    e->tasks_csv = text;
    return status;
}
