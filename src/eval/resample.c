/* How figures depend on which tasks there are: comparisons, and resamples of tasks. */
#include "base/memory.h"
#include "base/random.h"
#include "eval/metrics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static const double no_difference = 1e-9; /* relative: rounding between two ways */
static const double no_error = 1e-6;      /* of the targets' deviation */
static const double normal_point = 1.959963984540054; /* 97.5 % */

/* What tasks add to a comparison. */
typedef struct balance {
    size_t tasks, not_worse, better;
    double ours, theirs;
    double nothing; /* so large an SSE is none */
} balance;

static void weigh(balance *sum, bb_loss loss, double score, double baseline,
                  double nothing) {
    const double direction = loss == BB_LOSS_SQUARED ? -1.0 : 1.0;
    const double gain = direction * (score - baseline);
    const double least = fmax(no_difference * fabs(baseline), nothing);
    sum->tasks++;
    sum->not_worse += gain >= -least;
    sum->better += gain > least;
    sum->ours += score;
    sum->theirs += baseline;
    sum->nothing += nothing;
}

static double improvement(const balance *sum, bb_loss loss) {
    if (loss == BB_LOSS_SQUARED)
        return sum->theirs > sum->nothing ? 1.0 - sum->ours / sum->theirs : NAN;
    return (sum->ours - sum->theirs) / (double)sum->tasks;
}

static void add_part(bb_metric_part *sum, const bb_metric_part *part) {
    sum->weight += part->weight;
    sum->value += part->value;
    sum->sum += part->sum;
    sum->squares += part->squares;
}

double bb_metrics_of_parts(bb_loss loss, const bb_metric_part *sum) {
    const double spread = loss == BB_LOSS_SQUARED
                              ? sum->squares - sum->sum * sum->sum / sum->weight
                              : sum->weight;
    return sum->weight > 0.0 && spread > 0.0 ? sum->value / spread : NAN;
}

/* The square of an error that is none. */
static double squared_nothing(bb_loss loss, size_t tasks, const bb_metric_part *part) {
    bb_metric_part sum = {0};
    if (loss != BB_LOSS_SQUARED || !part) return 0.0;
    for (size_t i = 0; i < tasks; i++) add_part(&sum, &part[i]);
    if (sum.weight == 0.0) return 0.0;
    const double mean = sum.sum / sum.weight;
    return no_error * no_error * fmax(sum.squares / sum.weight - mean * mean, 0.0);
}

bb_gain bb_metrics_compare(bb_loss loss, size_t tasks, const double *score,
                           const double *baseline, const bb_metric_part *part) {
    const double nothing = squared_nothing(loss, tasks, part);
    balance sum = {0};
    for (size_t i = 0; i < tasks; i++)
        if (!isnan(score[i]) && !isnan(baseline[i]))
            weigh(&sum, loss, score[i], baseline[i],
                  part ? nothing * part[i].weight : 0.0);
    bb_gain gain = {.tasks = sum.tasks,
                    .not_worse = NAN,
                    .better = NAN,
                    .improvement = NAN,
                    .better_range = {NAN, NAN},
                    .improvement_range = {NAN, NAN}};
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

/* The 97.5 % point of Student's t (Cornish and Fisher 1938): .01 too small with 4 degrees of
 * freedom, less with more. */
static double student_point(double freedom) {
    const double z = normal_point, z3 = z * z * z, z5 = z3 * z * z, f = freedom;
    return z + (z3 + z) / (4.0 * f) +
           (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * f * f) +
           (3.0 * z5 * z * z + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * f * f * f);
}

/* How many of the resamples lie beyond an end of the interval. Of few tasks they are too much
 * alike, by the factor (m - 1)/m of a variance, and a normal tail is too light: percentiles
 * farther out make up for both (Hesterberg 2015, "expanded"). */
static size_t beyond(size_t tasks) {
    const double m = (double)tasks;
    const double point = sqrt(m / (m - 1.0)) * student_point(m - 1.0);
    const double share = 0.5 * erfc(point * sqrt(0.5));
    const size_t count = (size_t)(share * BB_RESAMPLES);
    return count ? count - 1 : 0;
}

/* NAN of fewer than LEAST_TASKS: those have no percentile that is far enough out. */
static void percentiles(double *value, size_t tasks, double range[2]) {
    enum { LEAST_TASKS = 5 };
    range[0] = range[1] = NAN;
    if (tasks < LEAST_TASKS) return;
    const size_t out = beyond(tasks);
    qsort(value, BB_RESAMPLES, sizeof *value, by_value);
    range[0] = value[out];
    range[1] = value[BB_RESAMPLES - 1 - out];
}

/* Of a share of so many tasks (Wilson 1927), which is one where all of them gain, too. */
static void score_interval(double share, size_t tasks, double range[2]) {
    const double m = (double)tasks, square = normal_point * normal_point;
    const double middle = (share + square / (2.0 * m)) / (1.0 + square / m);
    const double half = normal_point *
                        sqrt(share * (1.0 - share) / m + square / (4.0 * m * m)) /
                        (1.0 + square / m);
    range[0] = fmax(middle - half, 0.0);
    range[1] = fmin(middle + half, 1.0);
}

/* -- resamples -- */

/* Where the same tasks are counted, the same resamples. */
static bb_status open_resamples(bb_random *random) {
    return bb_random_open_stream(random, 1, BB_FOR_BOOTSTRAP, 0, 0);
}

bb_status bb_metrics_gain_range(bb_loss loss, size_t tasks, const double *score,
                                const double *baseline, const bb_metric_part *part,
                                bb_gain *out) {
    const double nothing = squared_nothing(loss, tasks, part);
    double *value = NULL;
    size_t *compared = NULL, count = 0;
    bb_random random;
    *out = bb_metrics_compare(loss, tasks, score, baseline, part);
    if (out->tasks < 2) return BB_OK;
    bb_status status = open_resamples(&random);
    if (status) return status;
    status = bb_allocate(&value, BB_RESAMPLES, sizeof *value, "the resamples");
    if (!status)
        status = bb_allocate(&compared, tasks, sizeof *compared, "the resamples");
    for (size_t i = 0; i < tasks && !status; i++)
        if (!isnan(score[i]) && !isnan(baseline[i])) compared[count++] = i;
    for (size_t k = 0; k < BB_RESAMPLES && !status; k++) {
        balance sum = {0};
        for (size_t t = 0; t < count; t++) {
            const size_t i = compared[bb_random_below(&random, count)];
            weigh(&sum, loss, score[i], baseline[i],
                  part ? nothing * part[i].weight : 0.0);
        }
        value[k] = improvement(&sum, loss);
    }
    if (!status) status = bb_random_check(&random);
    if (!status) {
        score_interval(out->better, out->tasks, out->better_range);
        percentiles(value, out->tasks, out->improvement_range);
    }
    bb_random_close(&random);
    free(value);
    free(compared);
    return status;
}

bb_status bb_metrics_range(bb_loss loss, size_t tasks, const bb_metric_part *part,
                           double range[2]) {
    double *value = NULL;
    size_t *scored = NULL, count = 0;
    bool finite = true;
    bb_random random;
    range[0] = range[1] = NAN;
    bb_status status = bb_allocate(&scored, tasks, sizeof *scored, "the resamples");
    if (!status)
        status = bb_allocate(&value, BB_RESAMPLES, sizeof *value, "the resamples");
    for (size_t i = 0; i < tasks && !status; i++)
        if (part[i].weight > 0.0) scored[count++] = i;
    if (status || count < 2) goto done;
    status = open_resamples(&random);
    if (status) goto done;
    for (size_t k = 0; k < BB_RESAMPLES; k++) {
        bb_metric_part sum = {0};
        for (size_t t = 0; t < count; t++)
            add_part(&sum, &part[scored[bb_random_below(&random, count)]]);
        value[k] = bb_metrics_of_parts(loss, &sum);
        finite = finite && isfinite(value[k]);
    }
    status = bb_random_check(&random);
    if (!status && finite) percentiles(value, count, range);
    bb_random_close(&random);
done:
    free(value);
    free(scored);
    return status;
}
