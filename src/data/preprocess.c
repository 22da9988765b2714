#include "data/preprocess.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "data/encode.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void bb_preprocess_free(bb_preprocess *p) {
    free(p->name);
    free(p->range);
    free(p->told);
    bb_map_release(&p->mean_at, p->mean);
    bb_map_release(&p->factor_at, p->factor);
    bb_map_release(&p->unit_at, p->target_unit);
    *p = (bb_preprocess){0};
}

static bb_status name_columns(bb_preprocess *p, char *const *feature_name) {
    bb_names names = {0};
    bb_status status = BB_OK;
    for (size_t k = 0; !status && k < p->width; k++) {
        const char *const name = k < p->features ? feature_name[k] : BB_CONSTANT_NAME;
        size_t index;
        status = bb_names_add(&names, name, strlen(name), &index);
    }
    /* with no constant either: whoever reads the models takes it for that */
    if (!status &&
        bb_names_find(&names, BB_CONSTANT_NAME, strlen(BB_CONSTANT_NAME)) < p->features)
        status = bb_fail(BB_EDATA, "a column has the constant's name, \"%s\"",
                         BB_CONSTANT_NAME);
    if (!status) status = bb_names_list(&p->name, &names);
    bb_names_free(&names);
    return status;
}

/* The first range of no feature, which may have been meant for one; "" if there is none. */
static const char *say_idle(const bb_ranges *ranges, size_t features,
                            char *const *feature_name, char text[2 * BB_SHOWN_BYTES]) {
    *text = '\0';
    for (size_t k = 0; k < ranges->count && !*text; k++) {
        const char *const name = ranges->name[k];
        char shown[BB_SHOWN_BYTES];
        size_t f = 0;
        while (f < features && strcmp(feature_name[f], name) != 0) f++;
        if (f == features)
            snprintf(text, 2 * BB_SHOWN_BYTES, ", and that of %s is of no feature",
                     bb_shown(shown, name, strlen(name)));
    }
    return text;
}

/* The range of every column, in the order of the columns. */
static bb_status find_ranges(bb_preprocess *p, const bb_preprocess_options *options,
                             char *const *feature_name) {
    const bb_ranges none = {.has_others = true, .others = {-INFINITY, INFINITY}};
    const bb_ranges *const ranges = options->scale ? options->scale : &none;
    bb_names names = {0};
    bb_status status = bb_allocate(&p->range, p->features, sizeof *p->range, "ranges");
    if (!status) status = bb_names_add_all(&names, ranges->count, ranges->name);
    for (size_t k = 0; !status && k < p->features; k++) {
        const char *const name = feature_name[k];
        const size_t at = bb_names_find(&names, name, strlen(name));
        char shown[BB_SHOWN_BYTES], idle[2 * BB_SHOWN_BYTES];
        if (at < ranges->count)
            p->range[k] = ranges->column[at];
        else if (k + options->binary >= p->features)
            p->range[k] = (bb_range){options->units ? -1 : 0, 1};
        else if (ranges->has_others)
            p->range[k] = ranges->others;
        else
            status = bb_fail(
                BB_EDATA,
                "%s: no range is given for column %s%s: give one, or \"others\": "
                "\"open\" where nobody knows it",
                options->scale_source, bb_shown(shown, name, strlen(name)),
                say_idle(ranges, p->features, feature_name, idle));
    }
    bb_names_free(&names);
    return status;
}

bb_status bb_preprocess_names(const bb_preprocess *p, bb_names *names) {
    return bb_names_add_all(names, p->features, p->name);
}

/* Such columns are the last, in the order of those of which they tell, which are read as they
 * are: the first that is not so, a level whose text ends alike perhaps, is none. */
static bb_status find_indicators(bb_preprocess *p,
                                 const bb_preprocess_options *options) {
    if (!options->indicators || !options->binary) return BB_OK;
    const size_t d = p->features;
    bb_names names = {0};
    bb_status status = bb_preprocess_names(p, &names);
    if (!status)
        status = bb_allocate(&p->told, d, sizeof *p->told, "columns of missing values");
    const size_t first = options->binary < d ? d - options->binary : 0;
    size_t before = first;
    for (size_t j = d; !status && j-- > first;) {
        const size_t length = bb_encoding_tells_of(p->name[j]);
        const size_t k = bb_names_find(&names, p->name[j], length);
        if (!length || k == SIZE_MAX) continue; /* that of a text */
        if (k >= before) break;
        before = k;
        if (bb_preprocess_has_range(p, k)) p->told[k] = j;
    }
    bb_names_free(&names);
    return status;
}

bb_status bb_preprocess_open_public(bb_preprocess *p,
                                    const bb_preprocess_options *options,
                                    size_t features, char *const *feature_name) {
    bb_preprocess made = {.features = features,
                          .width = features + options->constant,
                          .reach = fmax(options->reach, 1),
                          .constant = options->constant,
                          .threads = options->threads};
    if (options->standardize == BB_STANDARDIZE_UNIT_ROWS)
        made.rows = BB_ROWS_UNIT;
    else if (options->standardize == BB_STANDARDIZE_MAGNITUDE ||
             (options->standardize == BB_STANDARDIZE_NONE && options->scale &&
              !options->network))
        made.rows = BB_ROWS_BALL;
    bb_status status = name_columns(&made, feature_name);
    if (!status && options->scale) {
        made.has_target = options->scale_target && options->scale->has_target;
        made.target = options->scale->target;
    }
    if (!status && (options->scale || (options->units && options->binary)))
        status = find_ranges(&made, options, feature_name);
    if (!status && made.range) status = find_indicators(&made, options);
    if (status)
        bb_preprocess_free(&made);
    else
        *p = made;
    return status;
}

static double clamp(double x, double low, double high) {
    return fmin(fmax(x, low), high);
}

static double middle_of(bb_range range) {
    return range.low / 2 + range.high / 2;
}

static double half_of(bb_range range) {
    return range.high / 2 - range.low / 2;
}

/* The range becomes [-1, 1]; what lies farther than `reach` from 0 is moved there. */
static double to_unit(double x, bb_range range, double reach) {
    if (range.low >= range.high) return 0;
    return clamp((x - middle_of(range)) / half_of(range), -reach, reach);
}

bool bb_preprocess_has_range(const bb_preprocess *p, size_t k) {
    return p->range && !bb_range_is_open(p->range[k]);
}

bool bb_preprocess_is_zero_one(const bb_preprocess *p, size_t k) {
    return p->range && p->range[k].low == 0.0 && p->range[k].high == 1.0;
}

double bb_preprocess_stretch(const bb_preprocess *p, size_t k) {
    const bb_range range = p->range[k];
    return range.low < range.high ? 1 / half_of(range) : 0;
}

static double shift_of(bb_range range) {
    return range.low < range.high ? middle_of(range) / half_of(range) : 0;
}

double bb_preprocess_shift(const bb_preprocess *p, size_t k) {
    return shift_of(p->range[k]);
}

double bb_preprocess_target_shift(const bb_preprocess *p) {
    return p->has_target ? shift_of(p->target) : 0;
}

bool bb_preprocess_is_missing(const bb_preprocess *p, const double *x, size_t k) {
    return p->told && p->told[k] && x[p->told[k]] > 0;
}

/* Step 1 on the number in column k of a row. */
static double scale_number(const bb_preprocess *p, const double *x, size_t k) {
    if (!bb_preprocess_has_range(p, k)) return x[k];
    const bb_range range = p->range[k];
    const double middle = middle_of(range), most = p->reach * half_of(range);
    const double value = bb_preprocess_is_missing(p, x, k) ? middle : x[k];
    if (!p->folded) return to_unit(value, range, p->reach);
    return clamp(value, middle - most, middle + most);
}

/* Step 1 and 2 on one dense row. */
static void scale_row(const bb_preprocess *p, const double *x, double *z) {
    if (!p->range) memcpy(z, x, p->features * sizeof *z);
    for (size_t k = 0; p->range && k < p->features; k++) z[k] = scale_number(p, x, k);
    if (p->constant) z[p->features] = 1;
}

/* Equal numbers have no deviation, though their rounded mean may differ. */
static bool is_constant(const bb_preprocess *p, const bb_dataset *data, size_t begin,
                        size_t end, size_t k) {
    const size_t d = p->features;
    const double first = scale_number(p, data->x + begin * d, k);
    for (size_t r = begin + 1; r < end; r++)
        if (scale_number(p, data->x + r * d, k) != first) return false;
    return true;
}

/* With public ranges, in which columns are in [-1, 1]: a deviation below this is taken for
 * it. Else a column that hardly varies in a task's training rows, or that a range cuts,
 * would make of another value in a test row a number without any bound. */
static const double least_deviation = 0.05;

/* Mean and 1 / standard deviation of the columns in rows begin .. end-1; two passes. */
static void measure(const bb_preprocess *p, const bb_dataset *data, size_t begin,
                    size_t end, double *row, double *mean, double *inverse) {
    const size_t d = p->features, n = end - begin;
    for (size_t r = begin; r < end; r++) {
        scale_row(p, data->x + r * d, row);
        for (size_t k = 0; k < d; k++) mean[k] += row[k] / (double)n;
    }
    for (size_t r = begin; r < end; r++) {
        scale_row(p, data->x + r * d, row);
        for (size_t k = 0; k < d; k++)
            inverse[k] += (row[k] - mean[k]) * (row[k] - mean[k]);
    }
    for (size_t k = 0; k < d; k++) {
        const double least = p->range ? least_deviation : 0;
        if (inverse[k] <= 0 || is_constant(p, data, begin, end, k)) /* or no rows */
            inverse[k] = 0;
        else
            inverse[k] = 1 / fmax(least, sqrt(inverse[k] / ((double)n - 1)));
    }
}

/* The least power of ten that is no less; 0 of 0. */
static double magnitude(double most) {
    static const double rounding = 1e-9;
    return most > 0 ? pow(10, ceil(log10(most) - rounding)) : 0;
}

/* What lies closer together than this part of its magnitude, as times in seconds do, is looked
 * at from its mean: squares of such numbers have no digits left for what differs. */
static const double narrow = 1e-4;
/* Fewer rows are close together by chance, as numbers of cases that follow each other are, or
 * are one number but for its last digits, and the next may be anywhere: such a column stays as
 * small as it is beside its magnitude. */
enum { LEAST_NARROW = 30 };

static bb_range seen_of(const bb_dataset *data, size_t begin, size_t end, size_t k) {
    bb_range seen = {INFINITY, -INFINITY};
    for (size_t r = begin; r < end; r++) {
        seen.low = fmin(seen.low, data->x[r * data->features + k]);
        seen.high = fmax(seen.high, data->x[r * data->features + k]);
    }
    return seen;
}

static double farthest(bb_range seen, double from) {
    return fmax(fabs(seen.low - from), fabs(seen.high - from));
}

/* The mean of a column that begins at `low'. */
static double mean_of(const bb_dataset *data, size_t begin, size_t end, size_t k,
                      double low) {
    double mean = 0;
    for (size_t r = begin; r < end; r++)
        mean += (data->x[r * data->features + k] - low) / (double)(end - begin);
    return low + mean;
}

/* Task i's means of narrow columns, which the constant column takes up, and 1 / the magnitudes
 * of what is left, `zeros' where there is none. Columns that have a range stay. */
static bb_status measure_magnitudes(bb_preprocess *p, const bb_dataset *train, size_t i,
                                    double zeros) {
    const size_t d = p->features, begin = train->first[i], end = train->first[i + 1];
    for (size_t k = 0; k < d; k++) {
        if (bb_preprocess_has_range(p, k)) {
            p->factor[i * d + k] = 1;
            continue;
        }
        if (begin == end) continue;
        const bb_range seen = seen_of(train, begin, end, k);
        const double spread = seen.high - seen.low;
        double from = 0;
        if (p->constant && spread > 0 && spread < narrow * farthest(seen, 0)) {
            bb_status status = BB_OK;
            if (!p->mean)
                status = bb_map_block(&p->mean_at, train->memory, &p->mean,
                                      p->tasks * d, sizeof *p->mean, "means");
            if (status) return status;
            from = p->mean[i * d + k] = mean_of(train, begin, end, k, seen.low);
        }
        const bool few = end - begin < LEAST_NARROW;
        const double unit = magnitude(farthest(seen, few ? 0 : from));
        p->factor[i * d + k] = isnormal(unit) ? 1 / unit : zeros;
    }
    return BB_OK;
}

static double target_magnitude(const bb_dataset *data, size_t begin, size_t end) {
    double most = 0;
    for (size_t r = begin; r < end; r++) most = fmax(most, fabs(data->y[r]));
    const double unit = magnitude(most);
    return isnormal(unit) ? unit : 1;
}

bool bb_preprocess_is_own(const bb_preprocess *p) {
    return p->factor || p->target_unit;
}

void bb_preprocess_passed(const bb_preprocess *p, size_t i) {
    const size_t d = p->features;
    if (!p->factor) return;
    bb_map_passed(&p->factor_at, p->factor + i * d, p->factor + (i + 1) * d);
    if (p->mean) bb_map_passed(&p->mean_at, p->mean + i * d, p->mean + (i + 1) * d);
}

bool bb_preprocess_is_plain(const bb_preprocess *p) {
    return !p->range && !p->factor && !p->constant && p->rows == BB_ROWS_PLAIN;
}

typedef struct scoring {
    bb_preprocess *p;
    const bb_dataset *train;
    double *row; /* workers x width */
} scoring;

static void score_task(void *context, size_t i, size_t worker) {
    const scoring *s = context;
    const bb_preprocess *p = s->p;
    const size_t d = p->features, begin = s->train->first[i];
    const size_t end = s->train->first[i + 1];
    measure(p, s->train, begin, end, s->row + worker * p->width, p->mean + i * d,
            p->factor + i * d);
    bb_dataset_passed(s->train, begin, end);
    bb_preprocess_passed(p, i);
}

static bb_status open_scores(bb_preprocess *p, const bb_dataset *train) {
    const size_t d = p->features;
    const bb_engine engine = bb_engine_threads(p->threads);
    scoring s = {.p = p, .train = train};
    bb_status status =
        bb_allocate(&s.row, engine.workers * p->width, sizeof *s.row, "rows");
    p->tasks = train->tasks;
    if (!status)
        status = bb_map_block(&p->mean_at, train->memory, &p->mean, p->tasks * d,
                              sizeof *p->mean, "z-scores");
    if (!status)
        status = bb_map_block(&p->factor_at, train->memory, &p->factor, p->tasks * d,
                              sizeof *p->factor, "z-scores");
    if (!status) engine.each(&engine, p->tasks, score_task, &s);
    free(s.row);
    return status;
}

static bb_status open_magnitudes(bb_preprocess *p, const bb_dataset *train, bool target,
                                 double zeros) {
    const size_t d = p->features;
    bb_status status = BB_OK;
    p->tasks = train->tasks;
    if (train->x)
        status = bb_map_block(&p->factor_at, train->memory, &p->factor, p->tasks * d,
                              sizeof *p->factor, "powers of ten");
    if (!status && target)
        status = bb_map_block(&p->unit_at, train->memory, &p->target_unit, p->tasks,
                              sizeof *p->target_unit, "powers of ten");
    for (size_t i = 0; !status && i < p->tasks; i++) {
        const size_t begin = train->first[i], end = train->first[i + 1];
        if (train->x) status = measure_magnitudes(p, train, i, zeros);
        if (target) p->target_unit[i] = target_magnitude(train, begin, end);
        bb_dataset_passed(train, begin, end);
        bb_preprocess_passed(p, i);
    }
    return status;
}

bb_status bb_preprocess_open(bb_preprocess *p, const bb_preprocess_options *options,
                             const bb_dataset *train) {
    const bool scores = options->standardize == BB_STANDARDIZE_TASK,
               magnitudes = options->standardize == BB_STANDARDIZE_MAGNITUDE;
    if (!train->x && (scores || options->scale))
        return bb_fail(BB_EUSAGE,
                       "%s would fill the zeros of sparse data; use --standardize "
                       "unit-rows",
                       scores ? "--standardize task" : "--scale");
    bb_preprocess made = {0};
    bb_preprocess_options all = *options;
    all.binary = train->binary;
    all.units = options->units && train->x;
    if (magnitudes && !train->x) all.standardize = BB_STANDARDIZE_UNIT_ROWS;
    bb_status status =
        bb_preprocess_open_public(&made, &all, train->features, train->feature_name);
    if (!status && scores) status = open_scores(&made, train);
    if (!status && magnitudes)
        status =
            open_magnitudes(&made, train, options->scale_target && !made.has_target,
                            options->units ? 1 : 0);
    if (status)
        bb_preprocess_free(&made);
    else
        *p = made;
    return status;
}

/* The 2-norm without overflow: `most` is the largest magnitude, the norm most * root.
 */
static double root_of(const double *z, size_t n, double *most) {
    double squares = 0;
    *most = 0;
    for (size_t k = 0; k < n; k++) *most = fmax(*most, fabs(z[k]));
    for (size_t k = 0; k<n && * most> 0; k++) squares += z[k] / *most * (z[k] / *most);
    return sqrt(squares);
}

/* What step 3 divides all rows by. */
static double root_of_rows(const bb_preprocess *p) {
    return p->rows == BB_ROWS_BALL ? sqrt((double)p->width) : 1;
}

/* What step 3 does to one row by itself. */
static void divide_row(const bb_preprocess *p, double *z, size_t n) {
    double most = 1, root = 1;
    if (p->rows == BB_ROWS_BALL && !p->folded)
        root = root_of_rows(p);
    else if (p->rows == BB_ROWS_UNIT)
        root = root_of(z, n, &most);
    if (most > 0 && (most != 1 || root != 1))
        for (size_t k = 0; k < n; k++) z[k] = z[k] / most / root;
}

typedef struct applying {
    const bb_preprocess *p;
    const bb_dataset *data;
    bb_dataset *out;
} applying;

static void apply_to_task(void *context, size_t i, size_t worker) {
    const applying *a = context;
    const bb_preprocess *p = a->p;
    const size_t d = p->features, begin = a->data->first[i];
    const size_t end = a->data->first[i + 1];
    (void)worker;
    for (size_t r = begin; r < end; r++) {
        double *const z = a->out->x + r * p->width;
        scale_row(p, a->data->x + r * d, z);
        for (size_t k = 0; p->mean && k < d; k++) z[k] -= p->mean[i * d + k];
        for (size_t k = 0; p->factor && k < d; k++) z[k] *= p->factor[i * d + k];
        divide_row(p, z, p->width);
    }
    bb_dataset_passed(a->data, begin, end);
    bb_dataset_passed(a->out, begin, end);
    bb_preprocess_passed(p, i);
}

static void apply_dense(const bb_preprocess *p, const bb_dataset *data,
                        bb_dataset *out) {
    const bb_engine engine = bb_engine_threads(p->threads);
    applying a = {p, data, out};
    engine.each(&engine, data->tasks, apply_to_task, &a);
}

static void apply_sparse(const bb_preprocess *p, const bb_dataset *data,
                         bb_dataset *out) {
    size_t to = 0;
    for (size_t r = 0; r < data->rows; r++) {
        const size_t begin = to;
        for (size_t e = data->sparse_first[r]; e < data->sparse_first[r + 1];
             e++, to++) {
            out->sparse_column[to] = data->sparse_column[e];
            out->sparse_value[to] = data->sparse_value[e];
        }
        if (p->constant) {
            out->sparse_column[to] = (uint32_t)p->features;
            out->sparse_value[to++] = 1;
        }
        divide_row(p, out->sparse_value + begin, to - begin);
        out->sparse_first[r + 1] = to;
        bb_dataset_passed(data, r, r + 1);
        bb_dataset_passed(out, r, r + 1);
    }
}

static void map_targets(const bb_preprocess *p, bb_dataset *data) {
    for (size_t r = 0; p->has_target && r < data->rows; r++)
        data->y[r] = to_unit(data->y[r], p->target, p->reach);
    for (size_t i = 0; p->target_unit && i < data->tasks; i++)
        for (size_t r = data->first[i]; r < data->first[i + 1]; r++)
            data->y[r] /= p->target_unit[i];
}

bb_status bb_preprocess_apply(const bb_preprocess *p, const bb_dataset *data,
                              bool target, bb_dataset *out) {
    assert(data->features == p->features);
    assert(!bb_preprocess_is_own(p) || data->tasks == p->tasks);
    assert(data->x || (!p->range && !p->factor));
    const size_t added = p->constant ? data->rows : 0;
    const bb_shape shape = {
        .tasks = data->tasks,
        .task_name = data->task_name,
        .features = p->width,
        .feature_name = p->name,
        .rows = data->rows,
        .entries = data->x ? 0 : data->sparse_first[data->rows] + added,
        .listed = data->label_first ? data->label_first[data->rows] : 0};
    bb_dataset copy;
    const bb_status status = bb_dataset_open(&copy, data, shape);
    if (status) return status;
    memcpy(copy.first, data->first, (data->tasks + 1) * sizeof *data->first);
    if (data->label_first) {
        memcpy(copy.label_first, data->label_first,
               (data->rows + 1) * sizeof *data->label_first);
        memcpy(copy.label, data->label, shape.listed * sizeof *data->label);
    }
    for (size_t r = 0; r < data->rows; r++) {
        copy.line[r] = data->line[r];
        copy.y[r] = data->y[r];
    }
    if (target && !data->label_first) map_targets(p, &copy);
    if (data->x)
        apply_dense(p, data, &copy);
    else
        apply_sparse(p, data, &copy);
    *out = copy;
    return BB_OK;
}

/* There is room for the means of all tasks as soon as one has any, and what is done for a
 * task depends on its own alone. */
static bool has_mean(const bb_preprocess *p, size_t i, size_t k) {
    return p->mean && p->mean[i * p->features + k] != 0;
}

void bb_preprocess_fold(const bb_preprocess *p, size_t i, double *w, double *b) {
    const size_t d = p->features;
    const double unit = bb_preprocess_target_unit(p, i), root = root_of_rows(p);
    for (size_t k = 0; p->factor && k < d; k++) w[k] *= p->factor[i * d + k];
    for (size_t k = 0; k < d; k++)
        if (has_mean(p, i, k)) *b -= w[k] * p->mean[i * d + k] / root;
    for (size_t k = 0; k < p->width; k++) w[k] *= unit;
    *b *= unit;
    if (p->has_target) *b += middle_of(p->target);
}

void bb_preprocess_fold_outputs(const bb_preprocess *p, size_t i, size_t outputs,
                                double *W) {
    const size_t d = p->features;
    double *constant = W + d * outputs;
    assert(p->constant || !p->mean);
    for (size_t k = 0; k < d; k++)
        for (size_t c = 0; c < outputs; c++) {
            double *w = W + k * outputs + c;
            if (p->factor) *w *= p->factor[i * d + k];
            if (has_mean(p, i, k)) constant[c] -= *w * p->mean[i * d + k];
        }
}

double bb_preprocess_target_unit(const bb_preprocess *p, size_t i) {
    if (p->target_unit) return p->target_unit[i];
    return p->has_target ? half_of(p->target) : 1;
}

double bb_preprocess_target(const bb_preprocess *p, size_t i, double z) {
    z *= bb_preprocess_target_unit(p, i);
    return p->has_target ? z + middle_of(p->target) : z;
}

bool bb_preprocess_can_fold(const bb_preprocess *p) {
    return p->rows == BB_ROWS_BALL || (p->range && p->rows == BB_ROWS_PLAIN);
}

void bb_preprocess_fold_columns(const bb_preprocess *p, double *w, double *b) {
    const double root = root_of_rows(p);
    assert(bb_preprocess_can_fold(p));
    for (size_t k = 0; k < p->width; k++) w[k] /= root;
    for (size_t k = 0; k < p->features; k++) {
        if (!bb_preprocess_has_range(p, k)) continue;
        const double half = half_of(p->range[k]);
        w[k] = half > 0 ? w[k] / half : 0;
        *b -= w[k] * middle_of(p->range[k]);
    }
}
