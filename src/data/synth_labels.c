#include "data/synth_labels.h"

#include "base/memory.h"
#include "base/random.h"
#include "data/builder.h"
#include "data/synth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ONES = 20, LABELS_A_ROW = 3 };

/* The streams of a world, beside the number of a task. */
enum { MODELS = 0, TRAINING = 1, TEST = 2, SHARED = 3 };

typedef struct drawer {
    const bb_label_world *world;
    bb_random random;
    double *shared, *own;         /* classes: classes x features scores */
    size_t marks;                 /* lists: features of a label */
    uint32_t *shared_mark, *mark; /* labels x marks */
    unsigned char *seen;          /* features of the row */
    bb_builder train, test;
} drawer;

static bb_status open_drawer(drawer *g, const bb_label_world *w) {
    *g = (drawer){.world = w};
    const double marks =
        rint((double)LABELS_A_ROW * (double)w->features / (ONES * (double)w->labels));
    g->marks = marks < 1 ? 1 : (size_t)marks;
    const size_t scores = w->lists ? 0 : w->labels * w->features,
                 all = w->lists ? w->labels * g->marks : 0;
    bb_status status = bb_allocate(&g->shared, scores, sizeof *g->shared, "a model");
    if (!status) status = bb_allocate(&g->own, scores, sizeof *g->own, "a model");
    if (!status)
        status = bb_allocate(&g->shared_mark, all, sizeof *g->shared_mark, "a model");
    if (!status) status = bb_allocate(&g->mark, all, sizeof *g->mark, "a model");
    if (!status) status = bb_allocate(&g->seen, w->features, 1, "a row");
    if (!status)
        status =
            bb_random_open_stream(&g->random, w->seed, BB_FOR_SYNTHETIC, SHARED, 0);
    g->train.multilabel = g->test.multilabel = w->lists;
    g->train.features = g->test.features = w->features;
    if (status) return status;
    for (size_t k = 0; k < scores; k++) g->shared[k] = bb_random_normal(&g->random);
    for (size_t k = 0; k < all; k++)
        g->shared_mark[k] = (uint32_t)bb_random_below(&g->random, w->features);
    return BB_OK;
}

static void close_drawer(drawer *g) {
    bb_random_close(&g->random);
    bb_builder_free(&g->train);
    bb_builder_free(&g->test);
    free(g->shared);
    free(g->own);
    free(g->shared_mark);
    free(g->mark);
    free(g->seen);
}

static bb_status draw_model(drawer *g, size_t task) {
    const bb_label_world *const w = g->world;
    bb_status status =
        bb_random_restart(&g->random, w->seed, BB_FOR_SYNTHETIC, MODELS, task);
    if (status) return status;
    for (size_t k = 0; !w->lists && k < w->labels * w->features; k++)
        g->own[k] = g->shared[k] + bb_random_normal(&g->random) / 2;
    for (size_t k = 0; w->lists && k < w->labels * g->marks; k++)
        g->mark[k] = bb_random_uniform(&g->random) < 0.2
                         ? (uint32_t)bb_random_below(&g->random, w->features)
                         : g->shared_mark[k];
    return BB_OK;
}

static int compare(const void *a, const void *b) {
    const uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    return (p > q) - (p < q);
}

static bb_status draw_list(drawer *g, bb_builder *to) {
    const bb_label_world *const w = g->world;
    const size_t ones = w->features < ONES ? w->features : ONES;
    uint32_t one[ONES];
    bb_status status = BB_OK;
    for (size_t n = 0; n < ones;) {
        const uint32_t k = (uint32_t)bb_random_below(&g->random, w->features);
        if (g->seen[k]) continue;
        g->seen[k] = 1;
        one[n++] = k;
    }
    qsort(one, ones, sizeof *one, compare);
    for (size_t n = 0; !status && n < ones; n++)
        status = bb_builder_entry(to, one[n], 1);
    for (size_t c = 0; !status && c < w->labels; c++) {
        bool meant = false;
        for (size_t k = 0; k < g->marks; k++)
            meant = meant || g->seen[g->mark[c * g->marks + k]];
        if (bb_random_uniform(&g->random) < (meant ? 0.95 : 0.002))
            status = bb_builder_label(to, (uint32_t)c);
    }
    for (size_t n = 0; n < ones; n++) g->seen[one[n]] = 0;
    return status;
}

/* A row of norm 1, and the largest of its scores with Gumbel noise, which is a draw
 * from the softmax of the scores. */
static bb_status draw_class(drawer *g, bb_builder *to, double *y) {
    const size_t d = g->world->features;
    double *x, squares = 0, best = -INFINITY;
    bb_status status = bb_builder_row(to, &x);
    if (status) return status;
    for (size_t k = 0; k < d; k++) {
        x[k] = bb_random_normal(&g->random);
        squares += x[k] * x[k];
    }
    for (size_t k = 0; k < d; k++) x[k] /= sqrt(squares);
    *y = 0;
    for (size_t c = 0; c < g->world->labels; c++) {
        double score = -log(-log(bb_random_uniform(&g->random)));
        for (size_t k = 0; k < d; k++) score += 5 * x[k] * g->own[c * d + k];
        if (score > best) {
            best = score;
            *y = (double)c;
        }
    }
    return BB_OK;
}

static bb_status draw_rows(drawer *g, uint64_t stream, size_t task, size_t n,
                           bb_builder *to) {
    const bb_label_world *const w = g->world;
    char name[32];
    size_t index = 0;
    const int length = snprintf(name, sizeof name, "%zu", task + 1);
    bb_status status = bb_builder_task(to, name, (size_t)length, &index);
    if (!status)
        status = bb_random_restart(&g->random, w->seed, BB_FOR_SYNTHETIC, stream, task);
    for (size_t j = 0; !status && j < n; j++) {
        double y = NAN;
        status = w->lists ? draw_list(g, to) : draw_class(g, to, &y);
        /* lines as written: CSV has a header */
        if (!status) status = bb_builder_commit(to, index, y, to->rows + 2 - w->lists);
    }
    return status;
}

static bb_status finish(const bb_label_world *w, bb_builder *from, bb_dataset *out) {
    bb_dataset data = {0};
    bb_status status = bb_builder_finish(from, &data);
    if (!status) status = bb_names_count(&data.feature_name, w->features, "x");
    if (!status) status = bb_duplicate(&data.target_name, "y", 1);
    if (!status) status = bb_duplicate(&data.source, "synth", 5);
    data.labels = w->lists ? w->labels : 0;
    data.has_lines = true;
    data.target_column = w->lists ? 1 : 2;
    if (status)
        bb_dataset_free(&data);
    else
        *out = data;
    return status;
}

bb_status bb_synth_labels(const bb_label_world *w, bb_dataset *train,
                          bb_dataset *test) {
    const double rows = (double)w->tasks * BB_SYNTH_TEST * (double)w->samples;
    if (!w->tasks || !w->samples || !w->features || w->labels < 2 || rows > 4e9 ||
        w->features > 1000000 || w->labels > BB_MOST_CLASSES)
        return bb_fail(BB_EUSAGE,
                       "a synthetic world needs tasks, samples and features >= 1, at "
                       "most 4e9 test rows, 1e6 features and 2 to %d labels; got %zu, "
                       "%zu, %zu and %zu",
                       BB_MOST_CLASSES, w->tasks, w->samples, w->features, w->labels);
    drawer g;
    bb_dataset training = {0}, other = {0};
    bb_status status = open_drawer(&g, w);
    for (size_t i = 0; !status && i < w->tasks; i++) {
        status = draw_model(&g, i);
        if (!status) status = draw_rows(&g, TRAINING, i, w->samples, &g.train);
        if (!status)
            status = draw_rows(&g, TEST, i, BB_SYNTH_TEST * w->samples, &g.test);
    }
    if (!status) status = bb_random_check(&g.random);
    if (!status) status = finish(w, &g.train, &training);
    if (!status) status = finish(w, &g.test, &other);
    close_drawer(&g);
    if (status) {
        bb_dataset_free(&training);
        return status;
    }
    *train = training;
    *test = other;
    return BB_OK;
}
