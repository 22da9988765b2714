#include "eval/assess.h"

#include "base/memory.h"

#include <stdlib.h>

/* One number a row is kept for all of them: AUC needs to sort them. */
static bb_status assess_numbers(const bb_models *models, const bb_dataset *rows,
                                const bb_engine *engine, bb_assessed *a) {
    double *prediction = NULL;
    bb_status status =
        bb_allocate(&prediction, rows->rows, sizeof *prediction, "the predictions");
    const bb_scored scored = {a->loss, rows->tasks, rows->first, rows->y, prediction};
    if (!status) status = bb_models_predict(models, rows, engine, prediction);
    if (!status) status = bb_metrics_all(&scored, &a->metrics);
    if (!status) status = bb_metrics_tasks(&scored, a->figure);
    if (!status) status = bb_metrics_scores(&scored, a->score);
    free(prediction);
    return status;
}

typedef struct counting {
    bb_loss loss;
    size_t outputs;
    const bb_dataset *rows;
    bb_tally *tally;
} counting;

static void count(void *self, const bb_outputs *block) {
    const counting *c = self;
    for (size_t j = 0; j < block->rows; j++)
        bb_tally_add(&c->tally[block->task], c->loss, c->outputs, c->rows,
                     block->row + j, block->z + j * c->outputs);
}

static bb_status assess_outputs(const bb_models *models, const bb_dataset *rows,
                                const bb_engine *engine, bb_assessed *a) {
    counting c = {a->loss, models->outputs, rows, NULL};
    bb_status status =
        bb_allocate(&c.tally, rows->tasks, sizeof *c.tally, "the tasks' figures");
    if (!status) status = bb_models_outputs(models, rows, engine, count, &c);
    for (size_t i = 0; i < rows->tasks && !status; i++)
        a->figure[i] = a->score[i] = bb_tally_figure(a->loss, &c.tally[i]);
    if (!status) a->metrics = bb_tally_metrics(a->loss, rows->tasks, c.tally);
    free(c.tally);
    return status;
}

bb_status bb_assess(const bb_models *models, bb_loss loss, const bb_dataset *rows,
                    const bb_engine *engine, bb_assessed *out) {
    const bool numbers = loss == BB_LOSS_SQUARED || loss == BB_LOSS_LOGISTIC;
    bb_assessed a = {.loss = loss, .tasks = rows->tasks};
    bb_status status =
        bb_allocate(&a.figure, a.tasks, sizeof *a.figure, "the tasks' figures");
    if (!status)
        status = bb_allocate(&a.score, a.tasks, sizeof *a.score, "the tasks' figures");
    if (!status && numbers) status = assess_numbers(models, rows, engine, &a);
    if (!status && !numbers) status = assess_outputs(models, rows, engine, &a);
    if (status)
        bb_assessed_close(&a);
    else
        *out = a;
    return status;
}

void bb_assessed_close(bb_assessed *a) {
    free(a->figure);
    free(a->score);
    *a = (bb_assessed){0};
}

bb_gain bb_assessed_gain(const bb_assessed *ours, const bb_assessed *theirs) {
    return bb_metrics_compare(ours->loss, ours->tasks, ours->score, theirs->score);
}
