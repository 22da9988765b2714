/* metrics_outputs.c - metrics of classes and labels, and of not learning at all. */
#include "base/memory.h"
#include "eval/metrics_parts.h"
#include "models/models.h"

#include <stdlib.h>
#include <string.h>

/* A ratio of counts, NAN where there is nothing to count. */
static double share(size_t part, size_t whole) {
    return whole ? (double)part / (double)whole : NAN;
}

static bool holds(const uint32_t *list, size_t count, size_t value) {
    for (size_t k = 0; k < count; k++)
        if (list[k] == value) return true;
    return false;
}

/* The places of the `most` largest numbers, the first of equal ones; their count, which
 * is less where there are not so many. */
static size_t find_top(size_t count, const double *value, size_t most, uint32_t *top) {
    size_t found = 0;
    for (size_t c = 0; c < count; c++) {
        size_t at = found < most ? found++ : most;
        while (at > 0 && value[c] > value[top[at - 1]]) {
            if (at < most) top[at] = top[at - 1];
            at--;
        }
        if (at < most) top[at] = (uint32_t)c;
    }
    return found;
}

/* The row's classes or labels: one of `single`, or the row's list. */
static size_t labels_of(const bb_dataset *data, bb_loss loss, size_t row,
                        uint32_t *single, const uint32_t **list) {
    if (loss == BB_LOSS_MULTILABEL) {
        *list = data->label + data->label_first[row];
        return data->label_first[row + 1] - data->label_first[row];
    }
    *single = loss == BB_LOSS_LOGISTIC ? data->y[row] > 0.0 : (uint32_t)data->y[row];
    *list = single;
    return 1;
}

/* -- outputs -- */

static void add_labels(bb_hits *t, size_t outputs, size_t count, const uint32_t *label,
                       const double *z) {
    uint32_t top[BB_TOP_LABELS];
    const size_t tops = find_top(outputs, z, BB_TOP_LABELS, top);
    size_t predicted = 0, right = 0;
    for (size_t c = 0; c < outputs; c++) {
        predicted += z[c] > 0.0;
        t->loss += bb_softplus(z[c]);
    }
    for (size_t k = 0; k < count; k++) {
        right += z[label[k]] > 0.0;
        t->early += holds(top, tops, label[k]);
        t->loss -= z[label[k]];
    }
    t->right += right;
    t->wrong += predicted - right;
    t->missed += count - right;
}

void bb_hits_add(bb_hits *t, bb_loss loss, size_t outputs, const bb_dataset *data,
                 size_t row, const double *z) {
    uint32_t single;
    const uint32_t *label;
    const size_t count = labels_of(data, loss, row, &single, &label);
    t->rows++;
    if (loss == BB_LOSS_MULTILABEL) {
        add_labels(t, outputs, count, label, z);
        return;
    }
    const size_t best = bb_largest_output(outputs, z);
    double sum = 1.0; /* the largest's own share */
    for (size_t c = 0; c < outputs; c++)
        if (c != best) sum += exp(z[c] - z[best]);
    t->loss += bb_bounded_loss(log(sum) + (z[best] - z[single]));
    t->right += best == single;
}

double bb_hits_figure(bb_loss loss, const bb_hits *t) {
    if (loss != BB_LOSS_MULTILABEL) return share(t->right, t->rows);
    return share(2 * t->right, 2 * t->right + t->wrong + t->missed);
}

bb_metric_part bb_hits_part(bb_loss loss, const bb_hits *t) {
    if (loss != BB_LOSS_MULTILABEL)
        return (bb_metric_part){.weight = (double)t->rows, .value = (double)t->right};
    return (bb_metric_part){.weight = (double)(2 * t->right + t->wrong + t->missed),
                            .value = (double)(2 * t->right)};
}

bb_metrics bb_hits_metrics(bb_loss loss, size_t tasks, const bb_hits *hits) {
    bb_metrics m = bb_no_metrics();
    bb_hits all = {0};
    bb_careful losses = {0};
    for (size_t i = 0; i < tasks; i++) {
        const bb_hits *t = &hits[i];
        *(t->rows ? &m.tasks : &m.without_rows) += 1;
        all.rows += t->rows;
        all.right += t->right;
        all.wrong += t->wrong;
        all.missed += t->missed;
        all.early += t->early;
        bb_careful_add(&losses, t->loss);
    }
    m.rows = all.rows;
    if (!m.rows) return m;
    m.log_loss = bb_careful_total(&losses) / (double)m.rows;
    if (loss != BB_LOSS_MULTILABEL) {
        m.accuracy = bb_hits_figure(loss, &all);
        return m;
    }
    m.precision = share(all.right, all.right + all.wrong);
    m.recall = share(all.right, all.right + all.missed);
    m.recall_at_5 = share(all.early, all.right + all.missed);
    m.f1 = bb_hits_figure(loss, &all);
    return m;
}

/* -- without learning -- */

/* Always the same answer. */
typedef struct answer {
    uint32_t label[BB_TOP_LABELS];
    size_t labels;
} answer;

static void count_rows(const bb_dataset *data, bb_loss loss, size_t from, size_t to,
                       double *count) {
    for (size_t j = from; j < to; j++) {
        uint32_t single;
        const uint32_t *list;
        const size_t labels = labels_of(data, loss, j, &single, &list);
        for (size_t k = 0; k < labels; k++) count[list[k]] += 1.0;
    }
}

/* The commonest of what was counted; nothing that never occurred. */
static answer commonest(bb_loss loss, size_t classes, const double *count) {
    answer a;
    a.labels = find_top(classes, count, loss == BB_LOSS_MULTILABEL ? BB_TOP_LABELS : 1,
                        a.label);
    while (a.labels && count[a.label[a.labels - 1]] == 0.0) a.labels--;
    return a;
}

/* Scores the answer on task i's rows; there is no loss without outputs. */
static void score(const bb_dataset *test, bb_loss loss, size_t i, const answer *a,
                  bb_hits *t) {
    t->rows = test->first[i + 1] - test->first[i];
    t->loss = NAN;
    for (size_t j = test->first[i]; j < test->first[i + 1]; j++) {
        uint32_t single;
        const uint32_t *list;
        const size_t labels = labels_of(test, loss, j, &single, &list);
        size_t right = 0;
        for (size_t k = 0; k < labels; k++)
            right += holds(a->label, a->labels, list[k]);
        t->right += right;
        t->wrong += a->labels - right;
        t->missed += labels - right;
    }
    t->early = t->right;
}

bb_status bb_metrics_majority(bb_loss loss, size_t outputs, const bb_dataset *train,
                              const bb_dataset *test, bb_majority *out) {
    const size_t classes = loss == BB_LOSS_LOGISTIC ? 2 : outputs, tasks = test->tasks;
    double *count = NULL;
    bb_hits *hits = NULL;
    *out = (bb_majority){false, bb_no_metrics(), bb_no_metrics()};
    if (loss == BB_LOSS_SQUARED) return BB_OK;
    bb_status status = bb_allocate(&count, classes, sizeof *count, "the classes");
    if (!status)
        status = bb_allocate(&hits, 2 * tasks, sizeof *hits, "the tasks' figures");
    if (status) goto done;
    count_rows(train, loss, 0, train->rows, count);
    const answer pooled = commonest(loss, classes, count);
    for (size_t i = 0; i < tasks; i++) {
        memset(count, 0, classes * sizeof *count);
        count_rows(train, loss, train->first[i], train->first[i + 1], count);
        const answer own = commonest(loss, classes, count);
        score(test, loss, i, &pooled, &hits[i]);
        score(test, loss, i, own.labels ? &own : &pooled, &hits[tasks + i]);
    }
    out->there = true;
    out->pooled = bb_hits_metrics(loss, tasks, hits);
    out->own = bb_hits_metrics(loss, tasks, hits + tasks);
done:
    free(count);
    free(hits);
    return status;
}
