#include "eval/metrics.h"

#include "base/memory.h"
#include "base/random.h"
#include "eval/metrics_parts.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double no_difference = 1e-9; /* relative: rounding between two ways */

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
    return bb_allocate(row, s->loss == BB_LOSS_LOGISTIC ? most_rows(s) : 0,
                       sizeof **row, "the ranks of predictions");
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
    const bb_status status = open_rows(s, &row);
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

/* -- everything -- */

static void squared_metrics(const bb_scored *s, bb_metrics *m) {
    const double squares = sse(m->rows, s->y, s->prediction);
    m->rmse = sqrt(squares / (double)m->rows);
    m->nmse = over_spread(squares, m->rows, s->y);
    m->r2 = 1.0 - m->nmse;
}

static void logistic_metrics(const bb_scored *s, ranked *row, bb_metrics *m) {
    bb_careful areas = {0};
    bb_careful losses = {0};
    size_t right = 0;
    for (size_t j = 0; j < m->rows; j++) {
        right += (s->prediction[j] > 0.0) == (s->y[j] > 0.0);
        bb_careful_add(&losses, bb_softplus(-s->y[j] * s->prediction[j]));
    }
    m->accuracy = (double)right / (double)m->rows;
    m->log_loss = bb_careful_total(&losses) / (double)m->rows;
    for (size_t i = 0; i < s->tasks; i++) {
        const double area = score(s, s->prediction, i, row);
        if (s->first[i + 1] == s->first[i]) continue;
        if (isnan(area))
            m->one_class++;
        else
            bb_careful_add(&areas, area);
    }
    if (m->tasks > m->one_class)
        m->auc = bb_careful_total(&areas) / (double)(m->tasks - m->one_class);
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

/* What tasks add to a comparison. */
typedef struct balance {
    size_t tasks, not_worse, better;
    double ours, theirs;
} balance;

static void weigh(balance *sum, bb_loss loss, double score, double baseline) {
    const double direction = loss == BB_LOSS_SQUARED ? -1.0 : 1.0;
    const double gain = direction * (score - baseline);
    const double least = no_difference * fabs(baseline);
    sum->tasks++;
    sum->not_worse += gain >= -least;
    sum->better += gain > least;
    sum->ours += score;
    sum->theirs += baseline;
}

static double improvement(const balance *sum, bb_loss loss) {
    if (loss == BB_LOSS_SQUARED)
        return sum->theirs > 0.0 ? 1.0 - sum->ours / sum->theirs : NAN;
    return (sum->ours - sum->theirs) / (double)sum->tasks;
}

bb_gain bb_metrics_compare(bb_loss loss, size_t tasks, const double *score,
                           const double *baseline) {
    balance sum = {0};
    for (size_t i = 0; i < tasks; i++)
        if (!isnan(score[i]) && !isnan(baseline[i]))
            weigh(&sum, loss, score[i], baseline[i]);
    bb_gain gain = {sum.tasks, NAN, NAN, NAN, {NAN, NAN}, {NAN, NAN}};
    if (!sum.tasks) return gain;
    gain.not_worse = (double)sum.not_worse / (double)sum.tasks;
    gain.better = (double)sum.better / (double)sum.tasks;
    gain.improvement = improvement(&sum, loss);
    return gain;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void percentiles(double *value, double range[2]) {
    qsort(value, BB_RESAMPLES, sizeof *value, by_value);
    range[0] = value[BB_RESAMPLES / 40 - 1];
    range[1] = value[BB_RESAMPLES - BB_RESAMPLES / 40];
}

bb_status bb_metrics_gain_range(bb_loss loss, size_t tasks, const double *score,
                                const double *baseline, bb_gain *out) {
    double *value = NULL;
    size_t *compared = NULL, count = 0;
    bb_random random;
    *out = bb_metrics_compare(loss, tasks, score, baseline);
    if (out->tasks < 2) return BB_OK;
    bb_status status = bb_random_open_stream(&random, 1, BB_FOR_BOOTSTRAP, 0, 0);
    if (status) return status;
    status =
        bb_allocate(&value, (size_t)2 * BB_RESAMPLES, sizeof *value, "the resamples");
    if (!status)
        status = bb_allocate(&compared, tasks, sizeof *compared, "the resamples");
    for (size_t i = 0; i < tasks && !status; i++)
        if (!isnan(score[i]) && !isnan(baseline[i])) compared[count++] = i;
    for (size_t k = 0; k < BB_RESAMPLES && !status; k++) {
        balance sum = {0};
        for (size_t t = 0; t < count; t++) {
            const size_t i = compared[bb_random_below(&random, count)];
            weigh(&sum, loss, score[i], baseline[i]);
        }
        value[k] = (double)sum.better / (double)sum.tasks;
        value[BB_RESAMPLES + k] = improvement(&sum, loss);
    }
    if (!status) status = bb_random_check(&random);
    if (!status) {
        percentiles(value, out->better_range);
        percentiles(value + BB_RESAMPLES, out->improvement_range);
    }
    bb_random_close(&random);
    free(value);
    free(compared);
    return status;
}
