#include "eval/assess.h"

#include "base/memory.h"

#include <stdlib.h>

/* With what each task adds, if there is room for it. */
static bb_status score_numbers(const bb_dataset *rows, const double *prediction,
                               bb_assessed *a) {
    const bb_scored scored = {a->loss, rows->tasks, rows->first, rows->y, prediction};
    bb_status status = bb_metrics_all(&scored, &a->metrics);
    if (!a->figure) return status;
    if (!status) status = bb_metrics_tasks(&scored, a->figure);
    if (!status) status = bb_metrics_scores(&scored, a->score);
    if (!status) bb_metrics_parts(&scored, a->score, a->part);
    if (status || a->loss != BB_LOSS_LOGISTIC || !isnan(a->metrics.auc)) return status;
    a->by_log_loss = true;
    bb_metrics_log_losses(&scored, a->score);
    for (size_t i = 0; i < a->tasks; i++) a->score[i] = -a->score[i];
    return BB_OK;
}

/* One number a row is kept for all of them: AUC needs to sort them. */
static bb_status assess_numbers(const bb_models *models, const bb_dataset *rows,
                                const bb_engine *engine, bb_assessed *a) {
    double *prediction = NULL;
    bb_status status =
        bb_allocate(&prediction, rows->rows, sizeof *prediction, "the predictions");
    if (!status) status = bb_models_predict(models, rows, engine, prediction);
    if (!status) status = score_numbers(rows, prediction, a);
    free(prediction);
    return status;
}

typedef struct counting {
    bb_loss loss;
    size_t outputs;
    const bb_dataset *rows;
    bb_hits *hits;
} counting;

static void count(void *self, const bb_outputs *block) {
    const counting *c = self;
    for (size_t j = 0; j < block->rows; j++)
        bb_hits_add(&c->hits[block->task], c->loss, c->outputs, c->rows, block->row + j,
                    block->z + j * c->outputs);
}

static void take_tallies(const bb_hits *hits, bb_assessed *a) {
    for (size_t i = 0; i < a->tasks && a->figure; i++) {
        a->figure[i] = a->score[i] = bb_hits_figure(a->loss, &hits[i]);
        a->part[i] = bb_hits_part(a->loss, &hits[i]);
    }
    a->metrics = bb_hits_metrics(a->loss, a->tasks, hits);
}

bb_status bb_assess_hits(const bb_models *models, bb_loss loss, const bb_dataset *rows,
                         const bb_engine *engine, bb_hits *hits) {
    counting c = {loss, models->outputs, rows, hits};
    return bb_models_outputs(models, rows, engine, count, &c);
}

static bb_status assess_outputs(const bb_models *models, const bb_dataset *rows,
                                const bb_engine *engine, bb_assessed *a) {
    bb_hits *hits = NULL;
    bb_status status =
        bb_allocate(&hits, rows->tasks, sizeof *hits, "the tasks' figures");
    if (!status) status = bb_assess_hits(models, a->loss, rows, engine, hits);
    if (!status) take_tallies(hits, a);
    free(hits);
    return status;
}

static bb_status open_assessed(bb_assessed *a, bb_loss loss, size_t tasks) {
    *a = (bb_assessed){.loss = loss, .tasks = tasks};
    bb_status status =
        bb_allocate(&a->figure, tasks, sizeof *a->figure, "the tasks' figures");
    if (!status)
        status = bb_allocate(&a->score, tasks, sizeof *a->score, "the tasks' figures");
    if (!status)
        status = bb_allocate(&a->part, tasks, sizeof *a->part, "the tasks' figures");
    return status;
}

static bb_status assess(const bb_models *models, const bb_dataset *rows,
                        const bb_engine *engine, bb_assessed *a) {
    if (a->loss == BB_LOSS_SQUARED || a->loss == BB_LOSS_LOGISTIC)
        return assess_numbers(models, rows, engine, a);
    return assess_outputs(models, rows, engine, a);
}

bb_status bb_assess_metrics(const bb_models *models, bb_loss loss,
                            const bb_dataset *rows, const bb_engine *engine,
                            bb_metrics *out) {
    bb_assessed a = {.loss = loss, .tasks = rows->tasks};
    const bb_status status = assess(models, rows, engine, &a);
    if (!status) *out = a.metrics;
    return status;
}

bb_status bb_assess(const bb_models *models, bb_loss loss, const bb_dataset *rows,
                    const bb_engine *engine, bb_assessed *out) {
    bb_assessed a;
    bb_status status = open_assessed(&a, loss, rows->tasks);
    if (!status) status = assess(models, rows, engine, &a);
    if (status)
        bb_assessed_close(&a);
    else
        *out = a;
    return status;
}

bb_status bb_assess_predictions(bb_loss loss, const bb_dataset *rows,
                                const double *prediction, bb_assessed *out) {
    bb_assessed a;
    bb_status status = open_assessed(&a, loss, rows->tasks);
    if (!status) status = score_numbers(rows, prediction, &a);
    if (status)
        bb_assessed_close(&a);
    else
        *out = a;
    return status;
}

bb_status bb_assess_tallies(bb_loss loss, size_t tasks, const bb_hits *hits,
                            bb_assessed *out) {
    bb_assessed a;
    const bb_status status = open_assessed(&a, loss, tasks);
    if (status) {
        bb_assessed_close(&a);
        return status;
    }
    take_tallies(hits, &a);
    *out = a;
    return BB_OK;
}

void bb_assessed_close(bb_assessed *a) {
    free(a->figure);
    free(a->score);
    free(a->part);
    *a = (bb_assessed){0};
}

bb_status bb_assessed_gain(const bb_assessed *ours, const bb_assessed *theirs,
                           bb_gain *gain) {
    const bb_status status = bb_metrics_gain_range(ours->loss, ours->tasks, ours->score,
                                                   theirs->score, ours->part, gain);
    gain->by_log_loss = ours->by_log_loss;
    return status;
}

bb_status bb_assessed_range(const bb_assessed *a, double range[2]) {
    return bb_metrics_range(a->loss, a->tasks, a->part, range);
}
