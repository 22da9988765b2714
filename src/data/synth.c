#include "data/synth.h"

#include "base/memory.h"
#include "base/random.h"
#include "data/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 5, GROUP = 4 };
static const double outlier_rate = 0.05, anomaly = 100.0;

/* The streams of a world, beside the number of a block or task. */
enum { MODELS = 0, TRAINING = 1, TEST = 2, FEATURES = 3, OUTLIERS = 4 };

static size_t block_of(size_t task, size_t tasks) {
    const size_t size = tasks * 75 / 320;
    const size_t block = size ? task / size : BLOCKS - 1;
    return block < BLOCKS - 1 ? block : BLOCKS - 1;
}

static bb_status draw_low_rank(const bb_synth_options *o, bb_random *random,
                               size_t task, double *w) {
    bb_status status = bb_random_restart(random, o->seed, BB_FOR_SYNTHETIC, MODELS,
                                         block_of(task, o->tasks));
    for (size_t k = 0; !status && k < o->features; k++)
        w[k] = 10.24 * bb_random_normal(random);
    return status;
}

/* Uniform on [-50, -1] and [1, 50]. */
static double draw_entry(bb_random *random) {
    const double size = 1 + 49 * bb_random_uniform(random);
    return bb_random_bits(random) & 1 ? size : -size;
}

static bb_status add_outliers(const bb_synth_options *o, bb_random *random, size_t task,
                              double *w) {
    const bb_status status =
        bb_random_restart(random, o->seed, BB_FOR_SYNTHETIC, OUTLIERS, task);
    for (size_t k = 0; !status && k < o->features; k++)
        if (bb_random_uniform(random) < outlier_rate) w[k] += draw_entry(random);
    return status;
}

static bb_status draw_group_sparse(const bb_synth_options *o, bb_random *random,
                                   const size_t *order, size_t task, double *w) {
    bb_status status =
        bb_random_restart(random, o->seed, BB_FOR_SYNTHETIC, MODELS, task);
    for (size_t k = 0; k < o->features; k++) w[k] = 0;
    for (size_t g = 0; !status && g < GROUP && g < o->features; g++)
        w[order[g]] = draw_entry(random);
    return status;
}

static bb_status draw_anomaly(const bb_synth_options *o, bb_random *random, size_t task,
                              double *w) {
    const bb_status status =
        bb_random_restart(random, o->seed, BB_FOR_SYNTHETIC, MODELS, task);
    for (size_t k = 0; !status && k < o->features; k++)
        w[k] = (task + 1 == o->tasks ? anomaly : 1.0) * bb_random_uniform(random);
    return status;
}

static bb_status draw_model(const bb_synth_options *o, bb_random *random,
                            const size_t *order, size_t task, double *w) {
    if (o->world == BB_WORLD_ANOMALY) return draw_anomaly(o, random, task, w);
    if (o->world == BB_WORLD_GROUP_SPARSE)
        return draw_group_sparse(o, random, order, task, w);
    const bb_status status = draw_low_rank(o, random, task, w);
    return status || o->world != BB_WORLD_OUTLIERS ? status
                                                   : add_outliers(o, random, task, w);
}

/* noise: its standard deviation. */
static void draw_row(bb_random *random, const double *w, double noise, size_t d,
                     double *x, double *y) {
    double squares = 0, product = 0;
    for (size_t k = 0; k < d; k++) {
        x[k] = bb_random_normal(random);
        squares += x[k] * x[k];
    }
    for (size_t k = 0; k < d; k++) {
        x[k] /= sqrt(squares);
        product += x[k] * w[k];
    }
    *y = product + noise * bb_random_normal(random);
}

static bb_status draw_rows(const bb_synth_options *o, bb_random *random,
                           uint64_t stream, size_t task, size_t n, const double *w,
                           bb_dataset *data) {
    const size_t d = o->features, begin = task * n;
    const double noise = o->world == BB_WORLD_ANOMALY ? 0.0 : 1.0;
    bb_status status =
        bb_random_restart(random, o->seed, BB_FOR_SYNTHETIC, stream, task);
    for (size_t r = begin; !status && r < begin + n; r++) {
        draw_row(random, w, noise, d, data->x + r * d, data->y + r);
        data->line[r] = (uint32_t)(r + 2); /* as written, below a header */
    }
    data->first[task + 1] = begin + n;
    return status;
}

static bb_status open_world(const bb_synth_options *o, size_t samples,
                            bb_dataset *out) {
    static char source[] = "synth", target[] = "y";
    const bb_dataset like = {
        .source = source, .target_name = target, .has_lines = true, .target_column = 2};
    char **task = NULL, **feature = NULL;
    bb_status status = bb_names_count(&task, o->tasks, "");
    if (!status) status = bb_names_count(&feature, o->features, "x");
    const bb_shape shape = {.tasks = o->tasks,
                            .task_name = task,
                            .features = o->features,
                            .feature_name = feature,
                            .rows = o->tasks * samples};
    if (!status) status = bb_dataset_open(out, &like, shape);
    free(task);
    free(feature);
    return status;
}

static bb_status draw_world(const bb_synth_options *o, bb_random *random, size_t *order,
                            double *w, bb_dataset *train, bb_dataset *test,
                            double *model) {
    bb_status status =
        bb_random_open_stream(random, o->seed, BB_FOR_SYNTHETIC, FEATURES, 0);
    if (status) return status;
    for (size_t k = 0; k < o->features; k++) order[k] = k;
    bb_random_shuffle(random, order, o->features);
    for (size_t i = 0; !status && i < o->tasks; i++) {
        status = draw_model(o, random, order, i, w);
        if (!status) status = draw_rows(o, random, TRAINING, i, o->samples, w, train);
        if (!status)
            status = draw_rows(o, random, TEST, i, BB_SYNTH_TEST * o->samples, w, test);
        if (model) memcpy(model + i * o->features, w, o->features * sizeof *w);
    }
    return status;
}

bb_status bb_synth(const bb_synth_options *o, bb_dataset *train, bb_dataset *test,
                   double *model) {
    const double rows = (double)o->tasks * BB_SYNTH_TEST * (double)o->samples;
    if (!o->tasks || !o->samples || !o->features || rows > 4e9 || o->features > 1000000)
        return bb_fail(
            BB_EUSAGE,
            "a synthetic world needs tasks, samples and features >= 1, at most "
            "4e9 test rows and 1e6 features; got %zu, %zu and %zu",
            o->tasks, o->samples, o->features);
    bb_dataset training = {0}, other = {0};
    bb_random random = {0};
    size_t *order = NULL;
    double *w = NULL;
    bb_status status = bb_allocate(&order, o->features, sizeof *order, "features");
    if (!status) status = bb_allocate(&w, o->features, sizeof *w, "a model");
    if (!status) status = open_world(o, o->samples, &training);
    if (!status) status = open_world(o, BB_SYNTH_TEST * o->samples, &other);
    if (!status) status = draw_world(o, &random, order, w, &training, &other, model);
    if (!status) status = bb_random_check(&random);
    bb_random_close(&random);
    free(order);
    free(w);
    if (status) {
        bb_dataset_free(&training);
        bb_dataset_free(&other);
        return status;
    }
    *train = training;
    *test = other;
    return BB_OK;
}

bb_status bb_synth_test_name(char **out, const char *path) {
    static const char *const extension[] = {".csv", ".svm", ".libsvm"};
    static const char word[] = ".test";
    const size_t length = strlen(path);
    size_t stem = length;
    for (size_t i = 0; i < sizeof extension / sizeof *extension; i++) {
        const size_t tail = strlen(extension[i]);
        if (length > tail && strcmp(path + length - tail, extension[i]) == 0)
            stem = length - tail;
    }
    char *name;
    const bb_status status = bb_allocate(&name, length + sizeof word, 1, "a file name");
    if (status) return status;
    memcpy(name, path, stem);
    memcpy(name + stem, word, sizeof word - 1);
    memcpy(name + stem + sizeof word - 1, path + stem, length - stem);
    *out = name;
    return BB_OK;
}
