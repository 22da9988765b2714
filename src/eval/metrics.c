#include "eval/metrics.h"

#include "base/memory.h"
#include "eval/metrics_parts.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* n times the variance, by two passes. */
static double spread(size_t n, const double *y) {
    bb_careful sum = {0}, squares = {0};
    for (size_t j = 0; j < n; j++) bb_careful_add(&sum, y[j]);
    const double mean = bb_careful_total(&sum) / (double)n;
    for (size_t j = 0; j < n; j++)
        bb_careful_add(&squares, (y[j] - mean) * (y[j] - mean));
    return bb_careful_total(&squares);
}

static double sse(size_t n, const double *y, const double *prediction) {
    bb_careful sum = {0};
    for (size_t j = 0; j < n; j++)
        bb_careful_add(&sum, (y[j] - prediction[j]) * (y[j] - prediction[j]));
    return bb_careful_total(&sum);
}

/* A ratio that has no meaning where nothing varies. */
static double over_spread(double squares, size_t n, const double *y) {
    const double spread_of_y = n ? spread(n, y) : 0.0;
    return spread_of_y > 0.0 ? squares / spread_of_y : NAN;
}

/* -- AUC -- */

typedef struct ranked {
    double prediction;
    bool positive;
} ranked;

static int by_prediction(const void *a, const void *b) {
    const double x = ((const ranked *)a)->prediction,
                 y = ((const ranked *)b)->prediction;
    return (x > y) - (x < y);
}

/* One task's AUC; `row` has room for n. */
static double auc_of(size_t n, const double *y, const double *prediction, ranked *row) {
    double positives = 0.0, rank_sum = 0.0;
    for (size_t j = 0; j < n; j++) {
        row[j] = (ranked){prediction[j], y[j] > 0.0};
        positives += row[j].positive ? 1.0 : 0.0;
    }
    const double negatives = (double)n - positives;
    if (positives == 0.0 || negatives == 0.0) return NAN;
    qsort(row, n, sizeof *row, by_prediction);
    for (size_t j = 0, end; j < n; j = end) {
        double tied = 0.0;
        for (end = j; end < n && row[end].prediction == row[j].prediction; end++)
            tied += row[end].positive ? 1.0 : 0.0;
        rank_sum += tied * 0.5 * (double)(j + 1 + end); /* ranks j+1 .. end */
    }
    return (rank_sum - 0.5 * positives * (positives + 1.0)) / (positives * negatives);
}

static size_t most_rows(const bb_scored *s) {
    size_t most = 0;
    for (size_t i = 0; i < s->tasks; i++)
        if (s->first[i + 1] - s->first[i] > most) most = s->first[i + 1] - s->first[i];
    return most;
}

static bb_status open_rows(const bb_scored *s, ranked **row) {
    return bb_allocate(row, most_rows(s), sizeof **row, "the ranks of predictions");
}

/* -- one task -- */

/* SSE (less is better) or AUC (more is better) of task i; NAN without one. */
static double score(const bb_scored *s, const double *prediction, size_t i,
                    ranked *row) {
    const size_t from = s->first[i], n = s->first[i + 1] - from;
    if (n == 0) return NAN;
    if (s->loss == BB_LOSS_LOGISTIC)
        return auc_of(n, s->y + from, prediction + from, row);
    return sse(n, s->y + from, prediction + from);
}

bb_status bb_metrics_scores(const bb_scored *s, double *out) {
    ranked *row = NULL;
    const bb_status status = s->loss == BB_LOSS_LOGISTIC ? open_rows(s, &row) : BB_OK;
    if (status) return status;
    for (size_t i = 0; i < s->tasks; i++) out[i] = score(s, s->prediction, i, row);
    free(row);
    return BB_OK;
}

bb_status bb_metrics_tasks(const bb_scored *s, double *figure) {
    const bb_status status = bb_metrics_scores(s, figure);
    for (size_t i = 0; i < s->tasks && !status && s->loss == BB_LOSS_SQUARED; i++)
        figure[i] =
            over_spread(figure[i], s->first[i + 1] - s->first[i], s->y + s->first[i]);
    return status;
}

void bb_metrics_parts(const bb_scored *s, const double *task_score,
                      bb_metric_part *part) {
    const size_t rows = s->first[s->tasks];
    double middle = 0.0; /* any number near the targets keeps their digits */
    for (size_t j = 0; j < rows; j++) middle += s->y[j] / (double)rows;
    for (size_t i = 0; i < s->tasks; i++) {
        part[i] = (bb_metric_part){0};
        if (isnan(task_score[i])) continue;
        part[i].value = task_score[i];
        part[i].weight = 1.0;
        if (s->loss != BB_LOSS_SQUARED) continue;
        part[i].weight = (double)(s->first[i + 1] - s->first[i]);
        for (size_t j = s->first[i]; j < s->first[i + 1]; j++) {
            part[i].sum += s->y[j] - middle;
            part[i].squares += (s->y[j] - middle) * (s->y[j] - middle);
        }
    }
}

/* -- everything -- */

static void squared_metrics(const bb_scored *s, bb_metrics *m) {
    const double squares = sse(m->rows, s->y, s->prediction);
    m->rmse = sqrt(squares / (double)m->rows);
    m->nmse = over_spread(squares, m->rows, s->y);
    m->r2 = 1.0 - m->nmse;
}

/* The mean over the tasks that have both classes. */
static void mean_auc(const bb_scored *s, ranked *row, bb_metrics *m) {
    bb_careful areas = {0};
    for (size_t i = 0; i < s->tasks; i++) {
        const size_t from = s->first[i], n = s->first[i + 1] - from;
        const double area = n ? auc_of(n, s->y + from, s->prediction + from, row) : 0.0;
        if (isnan(area))
            m->one_class++;
        else if (n)
            bb_careful_add(&areas, area);
    }
    if (m->tasks > m->one_class)
        m->auc = bb_careful_total(&areas) / (double)(m->tasks - m->one_class);
}

/* Regressions on labels are judged as classifications are, too (Liang et al. 2020). */
static bool are_labels(size_t n, const double *y) {
    for (size_t j = 0; j < n; j++)
        if (y[j] != 0.0 && y[j] != 1.0) return false;
    return true;
}

/* The mean over rows from .. to - 1. */
static double log_loss(const bb_scored *s, size_t from, size_t to) {
    bb_careful losses = {0};
    for (size_t j = from; j < to; j++)
        bb_careful_add(&losses,
                       bb_bounded_loss(bb_softplus(-s->y[j] * s->prediction[j])));
    return bb_careful_total(&losses) / (double)(to - from);
}

void bb_metrics_log_losses(const bb_scored *s, double *out) {
    for (size_t i = 0; i < s->tasks; i++) {
        const size_t from = s->first[i], to = s->first[i + 1];
        out[i] = to > from ? log_loss(s, from, to) : NAN;
    }
}

static void logistic_metrics(const bb_scored *s, ranked *row, bb_metrics *m) {
    size_t right = 0;
    for (size_t j = 0; j < m->rows; j++)
        right += (s->prediction[j] > 0.0) == (s->y[j] > 0.0);
    m->accuracy = (double)right / (double)m->rows;
    m->log_loss = log_loss(s, 0, m->rows);
    mean_auc(s, row, m);
}

bb_status bb_metrics_all(const bb_scored *s, bb_metrics *out) {
    bb_metrics m = bb_no_metrics();
    m.rows = s->first[s->tasks];
    ranked *row = NULL;
    const bb_status status = open_rows(s, &row);
    if (status) return status;
    for (size_t i = 0; i < s->tasks; i++)
        if (s->first[i + 1] > s->first[i])
            m.tasks++;
        else
            m.without_rows++;
    if (m.rows && s->loss == BB_LOSS_SQUARED) squared_metrics(s, &m);
    if (m.rows && s->loss == BB_LOSS_SQUARED && are_labels(m.rows, s->y))
        mean_auc(s, row, &m);
    if (m.rows && s->loss == BB_LOSS_LOGISTIC) logistic_metrics(s, row, &m);
    free(row);
    *out = m;
    return BB_OK;
}

/* -- over tasks -- */

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bb_status bb_metrics_summary(size_t tasks, const double *figure, bb_summary *out) {
    bb_summary made = {0, NAN, NAN, NAN};
    double *kept = NULL;
    const bb_status status =
        bb_allocate(&kept, tasks, sizeof *kept, "the tasks' figures");
    if (status) return status;
    for (size_t i = 0; i < tasks; i++)
        if (!isnan(figure[i])) kept[made.tasks++] = figure[i];
    if (made.tasks) {
        qsort(kept, made.tasks, sizeof *kept, by_size);
        made.least = kept[0];
        made.most = kept[made.tasks - 1];
        made.median = 0.5 * (kept[(made.tasks - 1) / 2] + kept[made.tasks / 2]);
    }
    free(kept);
    *out = made;
    return BB_OK;
}
