/* What a run reaches after each round: for the operator of a simulation alone. */
#include "base/json.h"
#include "data/write.h"
#include "train/experiment.h"
#include "train/run_statement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The mean over the rows: half the squared error, or the log loss. */
static double loss_of(bb_loss loss, const bb_metrics *m) {
    return loss == BB_LOSS_SQUARED ? 0.5 * m->rmse * m->rmse : m->log_loss;
}

static double metric_of(bb_loss loss, const bb_metrics *m) {
    const double metric[] = {m->nmse, m->auc, m->accuracy, m->f1};
    return metric[loss];
}

static bb_status assess(const bb_experiment *e, const bb_result *result,
                        bb_metrics *train, bb_metrics *test) {
    const bb_population *p = &e->population;
    bb_models models = {0};
    bb_status status = bb_experiment_models(e, result, &models);
    if (!status) status = bb_experiment_assess_train(e, result, &models, train);
    if (!status)
        status =
            bb_assess_metrics(&models, e->run.pub.loss, &p->test, &e->engine, test);
    bb_models_free(&models);
    return status;
}

/* Epsilon has beside it what it needs to mean something. */
static json_t *line(const bb_experiment *e, const bb_traced *now,
                    const bb_metrics *train, const bb_metrics *test) {
    const bb_public *pub = &e->run.pub;
    const bb_loss loss = pub->loss;
    char sampling[BB_SAMPLING_TEXT], names[2][32];
    bb_run_sampling(pub, sampling, sizeof sampling);
    snprintf(names[0], sizeof names[0], "train_%s", bb_loss_metric(loss));
    snprintf(names[1], sizeof names[1], "test_%s", bb_loss_metric(loss));
    return json_pack("{s:I,s:s,s:o,s:o,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
                     "round", (json_int_t)now->round, "method", now->method, "epsilon",
                     bb_json_real(now->epsilon), "delta",
                     bb_json_real(isfinite(now->epsilon) ? pub->delta : NAN),
                     "adjacency", bb_adjacency_name(pub->adjacency), "sampling",
                     sampling, "mechanism", e->run.mechanism->name, "noise_over_signal",
                     bb_json_real(now->noise / now->signal), "objective",
                     bb_json_real(now->models->outcome.objective), "train_loss",
                     bb_json_real(loss_of(loss, train)), "test_loss",
                     bb_json_real(loss_of(loss, test)), names[0],
                     bb_json_real(metric_of(loss, train)), names[1],
                     bb_json_real(metric_of(loss, test)), "seconds",
                     bb_json_real(bb_experiment_now() - e->traced_from));
}

/* bb_observer.traced: a failure here must not tell anybody about rows, so what cannot be
 * assessed is missing. */
static bb_status traced(void *self, const bb_traced *now) {
    bb_experiment *e = self;
    bb_metrics train = bb_no_metrics(), test = bb_no_metrics();
    if (assess(e, now->models, &train, &test))
        bb_experiment_leave_out(e, "a round of the trace is");
    if (json_array_append_new(e->trace, line(e, now, &train, &test)))
        return bb_fail(BB_ENOMEM, "no memory for the trace");
    return BB_OK;
}

void bb_experiment_trace(bb_experiment *e) {
    e->traced_from = bb_experiment_now();
    e->trace = json_array();
    e->run.observer.traced = traced;
}

static void write_value(FILE *stream, const json_t *value) {
    if (json_is_string(value))
        bb_write_field(stream, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(stream, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(stream, "%.9g", json_real_value(value));
}

bb_status bb_write_trace(const bb_experiment *e) {
    const char *name;
    json_t *value;
    char *text = NULL;
    size_t size = 0;
    if (e->resolved->request->in_memory && !e->dir.path) return BB_OK;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return bb_fail(BB_ENOMEM, "no memory for the trace");
    for (size_t k = 0; k < json_array_size(e->trace); k++) {
        json_t *row = json_array_get(e->trace, k);
        const char *before = "";
        json_object_foreach(row, name, value) {
            if (k) break;
            fprintf(stream, "%s%s", before, name);
            before = ",";
        }
        if (!k) putc('\n', stream);
        before = "";
        json_object_foreach(row, name, value) {
            fputs(before, stream);
            write_value(stream, value);
            before = ",";
        }
        putc('\n', stream);
    }
    const bool whole = !ferror(stream);
    bb_status status = BB_OK;
    if (fclose(stream) || !whole)
        status = bb_fail(BB_ENOMEM, "no memory for the trace");
    if (!status) status = bb_rundir_text(&e->dir, "operator/trace.csv", text);
    free(text);
    return status;
}
