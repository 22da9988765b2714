#include "train/intervals.h"

#include "base/memory.h"
#include "data/names.h"
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bb_status bb_intervals_check(const bb_train_request *r) {
    const bb_phase *last = &r->phase[r->phases - 1];
    const bool follows = r->phases > 1;
    if (!r->options.intervals || last->method->spread) return BB_OK;
    return bb_fail(
        BB_EUSAGE,
        "--intervals: method mp-mixed says how uncertain its models are, found "
        "%s%s%s",
        last[follows ? -1 : 0].method->name,
        follows ? ", whose models are finetuned by " : "",
        follows ? last->method->name : "");
}

/* -- what is kept -- */

static const char freedom_column[] = "freedom";

/* The columns: degrees of freedom, and `parts` times an intercept and the features. */
static bb_status name_columns(bb_names *names, const bb_models *one, size_t parts) {
    size_t at;
    bb_status status = bb_names_add(names, freedom_column, strlen(freedom_column), &at);
    for (size_t k = 0; k < parts * (one->features + 1) && !status; k++) {
        const size_t part = k / (one->features + 1), j = k % (one->features + 1);
        const char *of = j ? one->feature_name[j - 1] : "";
        const size_t size = strlen(of) + 24;
        char *name = NULL;
        status = bb_allocate(&name, size, 1, "a column's name");
        if (status) break;
        snprintf(name, size, "%zu%s%s", part + 1, j ? " " : "", of);
        status = bb_names_add(names, name, strlen(name), &at);
        free(name);
    }
    return status;
}

static bb_status open_kept(bb_models *kept, const bb_models *one, size_t parts) {
    bb_names names = {0};
    char **name = NULL;
    bb_status status = name_columns(&names, one, parts);
    if (!status) status = bb_names_list(&name, &names);
    const bb_dataset shape = {.tasks = one->tasks,
                              .task_name = one->task_name,
                              .features = names.count,
                              .feature_name = name};
    if (!status) status = bb_models_open(kept, &shape);
    free(name);
    bb_names_free(&names);
    return status;
}

/* direction (tasks x d x d) <- each task's C as a sum of products of its rows. */
static bb_status split(const double *spread, size_t tasks, size_t d,
                       double *direction) {
    const size_t length = BB_MIXED_SPREAD_MATRIX + d * d;
    double *value = NULL;
    bb_status status = bb_allocate(&value, d + bb_eigen_work(d) / sizeof *value + 1,
                                   sizeof *value, "intervals");
    for (size_t i = 0; i < tasks && !status; i++) {
        double *own = direction + i * d * d;
        memcpy(own, spread + i * length + BB_MIXED_SPREAD_MATRIX, d * d * sizeof *own);
        if (!isfinite(spread[i * length]) || bb_eigen(d, own, value, value + d)) {
            memset(own, 0, d * d * sizeof *own);
            continue;
        }
        for (size_t k = 0; k < d; k++)
            bb_scale(d, sqrt(fmax(0.0, value[k])), own + k * d);
    }
    free(value);
    return status;
}

/* Not known: of a task without variance and rows, or where numbers are not finite. */
static void forget_unknown(bb_models *kept) {
    for (size_t i = 0; i < kept->tasks; i++) {
        double *own = kept->weight + i * kept->features;
        if (bb_all_finite(kept->features, own) && isfinite(kept->intercept[i]))
            continue;
        memset(own, 0, kept->features * sizeof *own);
        kept->intercept[i] = own[0] = -1.0;
    }
}

/* Direction k of all tasks as models, without what the target's range adds to every
 * model: `none` are those of no weight at all. */
static bb_status add_part(const bb_population *p, const double *direction, size_t k,
                          double *weight, const bb_models *none, bb_models *kept) {
    const size_t d = p->prepared.features, each = none->features + 1;
    bb_models part = {0};
    for (size_t i = 0; i < none->tasks; i++)
        memcpy(weight + i * d, direction + (i * d + k) * d, d * sizeof *weight);
    const bb_status status = bb_population_models(p, weight, NULL, &part);
    for (size_t i = 0; i < none->tasks && !status; i++) {
        double *to = kept->weight + i * kept->features + 1 + k * each;
        to[0] = part.intercept[i] - none->intercept[i];
        memcpy(to + 1, part.weight + i * part.features, part.features * sizeof *to);
    }
    bb_models_free(&part);
    return status;
}

bb_status bb_intervals_models(const bb_population *p, const double *spread,
                              bb_models *out) {
    const size_t m = p->prepared.tasks, d = p->prepared.features;
    const size_t length = BB_MIXED_SPREAD_MATRIX + d * d;
    double *direction = NULL, *weight = NULL;
    bb_models none = {0}, kept = {0};
    bb_status status =
        bb_allocate(&direction, m * d, d * sizeof *direction, "intervals");
    if (!status) status = bb_allocate(&weight, m * d, sizeof *weight, "intervals");
    if (!status) status = bb_population_models(p, weight, NULL, &none);
    if (!status) status = open_kept(&kept, &none, d);
    if (!status) status = split(spread, m, d, direction);
    for (size_t i = 0; i < m && !status; i++) {
        const double unit = bb_preprocess_target_unit(&p->steps, i);
        kept.intercept[i] = spread[i * length + BB_MIXED_SPREAD_NOISE] * unit * unit;
        kept.weight[i * kept.features] = spread[i * length + BB_MIXED_SPREAD_FREEDOM];
    }
    for (size_t k = 0; k < d && !status; k++)
        status = add_part(p, direction, k, weight, &none, &kept);
    if (!status) forget_unknown(&kept);
    free(direction);
    free(weight);
    bb_models_free(&none);
    if (status)
        bb_models_free(&kept);
    else
        *out = kept;
    return status;
}

/* -- intervals -- */

/* P(|t| <= q) for q = sqrt(df) tan(angle): the integral of cos^(df - 1) up to the angle,
 * by Gauss and Legendre's rule of 5 points on 64 pieces, over that up to pi / 2. */
static double integral(double angle, double df) {
    static const double node[] = {-0.9061798459386640, -0.5384693101056831, 0.0,
                                  0.5384693101056831, 0.9061798459386640};
    static const double weight[] = {0.2369268850561891, 0.4786286704993665,
                                    0.5688888888888889, 0.4786286704993665,
                                    0.2369268850561891};
    enum { PIECES = 64 };
    const double half = 0.5 * angle / PIECES;
    double sum = 0.0;
    for (size_t k = 0; k < PIECES; k++)
        for (size_t j = 0; j < 5; j++)
            sum += weight[j] *
                   pow(cos(half * (2.0 * (double)k + 1.0 + node[j])), df - 1.0);
    return sum * half;
}

/* The quantile of Student's t with df > 0 degrees of freedom: P(|t| <= q) = level. */
static double student(double level, double df) {
    const double most = acos(0.0);
    /* beyond this angle there is nothing; with many degrees all is near 0 */
    const double last = df > 100.0 ? fmin(most, 40.0 / sqrt(df)) : most;
    const double whole = integral(last, df);
    double low = 0.0, high = last;
    for (int k = 0; k < 60; k++) {
        const double middle = 0.5 * (low + high);
        if (integral(middle, df) < level * whole)
            low = middle;
        else
            high = middle;
    }
    return sqrt(df) * tan(0.5 * (low + high));
}

enum { SMALL = 256 };

/* Of the task's own degrees of freedom. */
static double quantile_for(const bb_models *kept, size_t at, double level,
                           double quantile[SMALL]) {
    const double freedom = kept->weight[at * kept->features];
    const size_t n = freedom < (double)SMALL ? (size_t)freedom : SMALL;
    if (n == SMALL || freedom != (double)n) return student(level, freedom);
    if (quantile[n] == 0.0) quantile[n] = student(level, freedom);
    return quantile[n];
}

/* One task's rows, of which the models read the first f columns; the columns of `kept`
 * behind the first one are parts of `each`. */
static void task_half(const bb_models *kept, size_t f, const bb_dataset *rows, size_t i,
                      size_t at, double quantile, double *half) {
    const size_t each = f + 1, parts = (kept->features - 1) / each;
    const double *own = kept->weight + at * kept->features;
    const double noise = kept->intercept[at];
    for (size_t j = rows->first[i]; j < rows->first[i + 1]; j++) {
        double square = noise;
        for (size_t k = 0; k < parts; k++) {
            const double *part = own + 1 + k * each;
            const double s =
                part[0] + bb_dot(f, part + 1, rows->x + j * rows->features);
            square += s * s;
        }
        half[j] = quantile * sqrt(square);
    }
}

bb_status bb_intervals_half(const bb_models *kept, size_t features,
                            const bb_dataset *rows, double level, double *half) {
    bb_names names = {0};
    bb_status status = BB_OK;
    double quantile[SMALL] = {0}; /* of tasks with few rows, each once */
    if (!rows->x || kept->features < 2 || features > rows->features ||
        (kept->features - 1) % (features + 1) ||
        strcmp(kept->feature_name[0], freedom_column) != 0)
        return bb_fail(BB_EDATA, "intervals.csv and the models have different columns");
    for (size_t j = 0; j < rows->rows; j++) half[j] = NAN;
    for (size_t i = 0; i < kept->tasks && !status; i++) {
        size_t at;
        status =
            bb_names_add(&names, kept->task_name[i], strlen(kept->task_name[i]), &at);
    }
    for (size_t i = 0; i < rows->tasks && !status; i++) {
        const char *name = rows->task_name[i];
        const size_t at = bb_names_find(&names, name, strlen(name));
        if (at != SIZE_MAX && kept->intercept[at] >= 0.0 &&
            rows->first[i + 1] > rows->first[i])
            task_half(kept, features, rows, i, at,
                      quantile_for(kept, at, level, quantile), half);
    }
    bb_names_free(&names);
    return status;
}
