/* What ranks have of a run's end comes together on rank 0, in the order of tasks: so that
 * what is written, and every figure, is what one process would have made. */
#include "base/memory.h"
#include "data/names.h"
#include "train/experiment.h"

#include <stdlib.h>
#include <string.h>

/* *out <- on rank 0 the arrays of all ranks, as one. */
static bb_status gather(const bb_experiment *e, bb_status status, const void *own,
                        size_t count, size_t size, void *out) {
    bb_message all;
    status = bb_ranks_gather(e->dealt.ranks, status, own, count * size, &all);
    memcpy(out, &all.at, sizeof all.at);
    return status;
}

/* *first <- on rank 0 where what belongs to each of `count` things on this rank begins
 * among those of all ranks; all: how many things they have. */
static bb_status gather_first(const bb_experiment *e, bb_status status,
                              const size_t *own, size_t count, size_t all,
                              size_t **first) {
    size_t *length = NULL, *lengths = NULL;
    if (!status)
        status = bb_allocate(&length, count, sizeof *length, "the ranks' parts");
    for (size_t i = 0; own && i < count && !status; i++)
        length[i] = own[i + 1] - own[i];
    status = gather(e, status, length, count, sizeof *length, &lengths);
    if (!status && lengths)
        status = bb_allocate(first, all + 1, sizeof **first, "the ranks' parts");
    for (size_t i = 0; i < all && !status && lengths; i++)
        (*first)[i + 1] = (*first)[i] + lengths[i];
    free(length);
    free(lengths);
    return status;
}

/* -- models -- */

static bb_status name_models(const bb_experiment *e, const bb_models *own,
                             bb_models *all) {
    bb_status status =
        bb_names_copy(&all->task_name, e->dealt.tasks, e->dealt.task_name);
    if (!status)
        status = bb_names_copy(&all->feature_name, own->features, own->feature_name);
    if (!status && own->net)
        status = bb_duplicate(&all->net, own->net, strlen(own->net));
    return status;
}

/* Models that share: what is shared is everywhere, and the own rows are gathered. */
static bb_status gather_compact(const bb_experiment *e, bb_status status,
                                const bb_models *own, bb_models *all) {
    const size_t shared = own->groups * own->features * own->outputs;
    const size_t rows = status ? 0 : own->own_first[own->tasks];
    status = gather_first(e, status, own->own_first, own->tasks, all->tasks,
                          &all->own_first);
    status = gather(e, status, own->group, own->tasks, sizeof *own->group, &all->group);
    status = gather(e, status, own->touched, rows, sizeof *own->touched, &all->touched);
    status =
        gather(e, status, own->own, rows, own->outputs * sizeof *own->own, &all->own);
    if (!status)
        status = bb_allocate(&all->shared, shared, sizeof *all->shared, "the models");
    if (!status) memcpy(all->shared, own->shared, shared * sizeof *own->shared);
    return status;
}

/* Every rank makes the text of its own models: that takes longer than to write it. */
static bb_status gather_lines(bb_experiment *e, bb_status status) {
    char *text = NULL;
    size_t size = 0;
    if (!e->own.intercept || e->resolved->request->in_memory) return status;
    if (!status) status = bb_models_lines(&e->own, e->engine.workers, &text, &size);
    status = bb_ranks_gather(e->dealt.ranks, status, text, size, &e->lines);
    free(text);
    return status;
}

bb_status bb_experiment_gather(bb_experiment *e, bb_status status) {
    const bb_models *own = &e->own;
    bb_models all = {.tasks = e->dealt.tasks,
                     .features = own->features,
                     .loss = own->loss,
                     .outputs = own->outputs,
                     .image = own->image,
                     .parameters = own->parameters,
                     .groups = own->groups};
    if (!e->dealt.ranks) return status;
    /* which kind of models they are, all ranks know only if all of them have some */
    status = bb_ranks_agree(e->dealt.ranks, status);
    if (status) return status;
    status = name_models(e, own, &all);
    if (own->shared) status = gather_compact(e, status, own, &all);
    if (own->weight)
        status =
            gather(e, status, own->weight, own->tasks,
                   own->features * own->outputs * sizeof *own->weight, &all.weight);
    if (own->intercept)
        status = gather(e, status, own->intercept, own->tasks, sizeof *own->intercept,
                        &all.intercept);
    if (own->limit)
        status = gather(e, status, own->limit, own->tasks, 2 * sizeof *own->limit,
                        &all.limit);
    if (own->single)
        status = gather(e, status, own->single, own->tasks,
                        own->parameters * sizeof *own->single, &all.single);
    status = gather_lines(e, status);
    if (status || e->dealt.ranks->number)
        bb_models_free(&all);
    else
        e->models = all;
    return status;
}

/* -- figures -- */

/* Targets of all ranks' rows, and whose they are; no features. */
static bb_status gather_targets(const bb_experiment *e, bb_status status,
                                const bb_dataset *own, bb_dataset *all) {
    const size_t labels = own->label_first ? own->label_first[own->rows] : 0;
    *all = (bb_dataset){.tasks = e->dealt.tasks, .labels = own->labels};
    status = gather_first(e, status, own->first, own->tasks, all->tasks, &all->first);
    status = gather(e, status, own->y, own->rows, sizeof *own->y, &all->y);
    if (all->first) all->rows = all->first[all->tasks];
    if (e->run.pub.loss != BB_LOSS_MULTILABEL) return status;
    status = gather_first(e, status, own->label_first, own->rows, all->rows,
                          &all->label_first);
    return gather(e, status, own->label, labels, sizeof *own->label, &all->label);
}

static bb_status assess_numbers(const bb_experiment *e, bb_status status,
                                const bb_dataset *own, const bb_dataset *targets,
                                bb_assessed *out) {
    double *prediction = NULL, *all = NULL;
    if (!status)
        status =
            bb_allocate(&prediction, own->rows, sizeof *prediction, "the predictions");
    if (!status)
        status = bb_experiment_predict(e, &e->result, &e->own, own, prediction);
    status = gather(e, status, prediction, own->rows, sizeof *prediction, &all);
    if (!status && all)
        status = bb_assess_predictions(e->run.pub.loss, targets, all, out);
    free(prediction);
    free(all);
    return status;
}

static bb_status assess_outputs(const bb_experiment *e, bb_status status,
                                const bb_dataset *own, bb_assessed *out) {
    bb_hits *hits = NULL, *all = NULL;
    if (!status)
        status = bb_allocate(&hits, own->tasks, sizeof *hits, "the tasks' figures");
    if (!status)
        status = bb_assess_hits(&e->own, e->run.pub.loss, own, &e->engine, hits);
    status = gather(e, status, hits, own->tasks, sizeof *hits, &all);
    if (!status && all)
        status = bb_assess_tallies(e->run.pub.loss, e->dealt.tasks, all, out);
    free(hits);
    free(all);
    return status;
}

bb_status bb_experiment_assess(bb_experiment *e, bb_status status,
                               const bb_dataset *rows, bb_dataset *targets,
                               bb_assessed *out) {
    status = gather_targets(e, status, rows, targets);
    return bb_loss_is_single(e->run.pub.loss)
               ? assess_numbers(e, status, rows, targets, out)
               : assess_outputs(e, status, rows, out);
}
