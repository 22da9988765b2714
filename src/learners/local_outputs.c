#include "base/memory.h"
#include "learners/local.h"
#include "learners/net.h"
#include "learners/rows.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bb_status check_fit(const bb_rows *rows, bb_loss loss, size_t outputs,
                           const struct bb_net *net) {
    const bool one = bb_loss_is_single(loss);
    const bool labels = loss == BB_LOSS_MULTILABEL;
    if (outputs == 0) return bb_fail(BB_EUSAGE, "a model needs at least one output");
    if (one && outputs != 1)
        return bb_fail(BB_EUSAGE, "this loss is of one output, not of %zu", outputs);
    if (one && !net)
        return bb_fail(BB_EUSAGE, "this loss is of several outputs, or of a network");
    if (rows->n && labels && !rows->label_first)
        return bb_fail(BB_EUSAGE, "this loss needs rows with lists of labels");
    if (rows->n && !labels && !rows->y)
        return bb_fail(BB_EUSAGE, "this loss needs rows with one label each");
    if (!net) return BB_OK;
    if (rows->n && !rows->x) return bb_fail(BB_EUSAGE, "a network needs dense rows");
    if (bb_net_inputs(net) != rows->d)
        return bb_fail(BB_EUSAGE, "the network takes %zu features, the rows have %zu",
                       bb_net_inputs(net), rows->d);
    if (bb_net_outputs(net) != outputs)
        return bb_fail(BB_EUSAGE, "the network has %zu outputs, not %zu",
                       bb_net_outputs(net), outputs);
    return BB_OK;
}

static bb_status check_targets(const bb_rows *rows, bb_loss loss, size_t outputs) {
    for (size_t j = 0; j < rows->n; j++) {
        const double y = rows->y[j];
        if (loss == BB_LOSS_SOFTMAX &&
            !(y >= 0 && y < (double)outputs && y == floor(y)))
            return bb_fail(BB_EDATA,
                           "row %zu of a task: label %g, expected one of 0, 1, .., %zu",
                           j, y, outputs - 1);
        if (loss == BB_LOSS_LOGISTIC && fabs(y) != 1)
            return bb_fail(BB_EDATA, "row %zu of a task: label %g, expected -1 or 1", j,
                           y);
        if (!isfinite(y))
            return bb_fail(BB_ENUMERIC, "a task's targets are not finite");
    }
    return BB_OK;
}

static bb_status check_labels(const bb_rows *rows, size_t outputs) {
    for (size_t j = 0; j < rows->n; j++)
        for (size_t e = rows->label_first[j]; e < rows->label_first[j + 1]; e++) {
            if (rows->label[e] >= outputs)
                return bb_fail(BB_EDATA,
                               "row %zu of a task: label %u, expected less than %zu", j,
                               rows->label[e], outputs);
            if (e > rows->label_first[j] && rows->label[e - 1] >= rows->label[e])
                return bb_fail(BB_EDATA,
                               "row %zu of a task: label %u after %u, expected them "
                               "ascending",
                               j, rows->label[e], rows->label[e - 1]);
        }
    return BB_OK;
}

static int compare(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The features that occur, and where each entry's is among them. */
static bb_status touch(bb_local *local) {
    const bb_rows rows = bb_rows_of(local);
    const size_t entries = bb_rows_entries(&rows);
    const uint32_t *column = entries ? rows.sparse_column + rows.sparse_first[0] : NULL;
    bb_status status = bb_allocate(&local->touched, entries, sizeof *local->touched,
                                   "a task's features");
    if (!status)
        status = bb_allocate(&local->place, entries, sizeof *local->place,
                             "a task's features");
    local->length = 0;
    if (status || entries == 0) return status;
    uint32_t *touched = local->touched;
    memcpy(touched, column, entries * sizeof *touched);
    qsort(touched, entries, sizeof *touched, compare);
    size_t count = 1;
    for (size_t e = 1; e < entries; e++)
        if (touched[e] != touched[count - 1]) touched[count++] = touched[e];
    assert(touched[count - 1] < local->d);
    for (size_t e = 0; e < entries; e++) {
        const uint32_t *at =
            bsearch(column + e, touched, count, sizeof *touched, compare);
        local->place[e] = (uint32_t)(at - touched);
    }
    local->touched_count = count;
    local->length = count * local->outputs;
    return BB_OK;
}

/* The Hessian has no other features than those that are touched. */
static bb_status measure_touched(bb_local *local) {
    size_t *first = NULL;
    if (local->n == 0) return BB_OK;
    const size_t origin = local->sparse_first[0];
    bb_status status =
        bb_allocate(&first, local->n + 1, sizeof *first, "a task's rows");
    if (status) return status;
    for (size_t j = 0; j <= local->n; j++) first[j] = local->sparse_first[j] - origin;
    bb_local part = {.loss = local->loss,
                     .weight = local->weight,
                     .n = local->n,
                     .d = local->touched_count,
                     .sparse_first = first,
                     .sparse_column = local->place,
                     .sparse_value = local->sparse_value + origin};
    status = bb_local_measure(&part);
    local->lipschitz = part.lipschitz;
    free(first);
    return status;
}

static bb_status check_images(const bb_local *local) {
    for (size_t k = 0; k < local->n * local->d; k++)
        if (!isfinite(local->x[k]))
            return bb_fail(BB_ENUMERIC, "a task's rows are not finite");
    return BB_OK;
}

static bb_status prepare(bb_local *local) {
    if (local->net) return check_images(local);
    if (local->x || !local->sparse_first) return bb_local_measure(local);
    const bb_status status = touch(local);
    return status ? status : measure_touched(local);
}

size_t bb_model_parameters(size_t d, size_t outputs, const struct bb_net *net) {
    return net ? bb_net_parameters(net) : d * outputs;
}

bb_status bb_local_open_outputs(bb_local *local, bb_rows rows, bb_loss loss,
                                size_t outputs, const struct bb_net *net,
                                bool scale_sum) {
    bb_status status = bb_linalg_ready();
    if (!status) status = check_fit(&rows, loss, outputs, net);
    if (!status && loss == BB_LOSS_MULTILABEL) status = check_labels(&rows, outputs);
    if (!status && loss != BB_LOSS_MULTILABEL)
        status = check_targets(&rows, loss, outputs);
    if (status) return status;
    bb_local new = {.loss = loss,
                    .n = rows.n,
                    .d = rows.d,
                    .x = rows.x,
                    .sparse_first = rows.sparse_first,
                    .sparse_column = rows.sparse_column,
                    .sparse_value = rows.sparse_value,
                    .y = rows.y,
                    .outputs = outputs,
                    .net = net,
                    .label_first = rows.label_first,
                    .label = rows.label};
    if (rows.n) new.weight = scale_sum ? 1 : 1 / (double)rows.n;
    new.length = bb_model_parameters(rows.d, outputs, net);
    status = prepare(&new);
    if (status)
        bb_local_close(&new);
    else
        *local = new;
    return status;
}

void bb_local_gather(const bb_local *local, const double *shared, double *own) {
    if (!local->touched) {
        memcpy(own, shared, local->length * sizeof *own);
        return;
    }
    const size_t outputs = local->outputs;
    for (size_t t = 0; t < local->touched_count; t++)
        memcpy(own + t * outputs, shared + local->touched[t] * outputs,
               outputs * sizeof *own);
}
