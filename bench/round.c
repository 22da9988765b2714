/* One iteration of MP-MTL (mp-lowrank, Gaussian mechanism on the grid, the whole loop:
 * local steps, clip, exact sums, noise, eigendecomposition) on a data set.
 *
 *   bench_round DATA.csv|MxNxD [threads [rounds [repetitions]]]
 *
 * MxNxD: M made-up tasks of N rows and D features. Prints one line a repetition: the
 * microseconds of an iteration on the clock, and those of all processors, from runs of
 * a tenth of the rounds (2,000 if nothing is said) and of eleven tenths, so that reading
 * and setting up do not count; then the processor microseconds of its arithmetic alone, by the
 * same kernels on one thread. bench/round.sh compares it with NumPy. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "core/run.h"
#include "data/read.h"
#include "linalg/linalg.h"
#include "methods/registry.h"
#include "train/locals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPETITIONS = 9, ROUNDS = 2000 };

typedef struct cost {
    double wall, processor;
} cost;

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(bb_status status) {
    if (!status) return;
    fprintf(stderr, "bench_round: %s: %s\n", bb_status_text(status), bb_last_error());
    exit(1);
}

static cost train(bb_run run, uint32_t rounds) {
    bb_result result = {0};
    run.phase[0].rounds = rounds;
    const cost start = {now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID)};
    must(bb_run_train(&run, &result));
    const cost spent = {now(CLOCK_MONOTONIC) - start.wall,
                        now(CLOCK_PROCESS_CPUTIME_ID) - start.processor};
    bb_result_free(&result);
    return spent;
}

static void *room(size_t count, size_t size) {
    void *at = calloc(count, size);
    if (!at) exit(1);
    return at;
}

/* Whether the word is MxNxD; then its rows, uniform numbers, and targets. */
static bool make(const char *word, bb_dataset *data) {
    size_t m, n, d;
    char more;
    if (sscanf(word, "%zux%zux%zu%c", &m, &n, &d, &more) != 3) return false;
    uint64_t state = 1;
    *data = (bb_dataset){.tasks = m, .rows = m * n, .features = d};
    data->x = room(data->rows * d, sizeof *data->x);
    data->y = room(data->rows, sizeof *data->y);
    data->first = room(m + 1, sizeof *data->first);
    for (size_t i = 0; i <= m; i++) data->first[i] = i * n;
    for (size_t k = 0; k < data->rows * d; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        data->x[k] = (double)(state >> 11) * 0x1p-52 - 1.0;
    }
    for (size_t j = 0; j < data->rows * d; j++) data->y[j / d] += data->x[j];
    return true;
}

/* Rows of unit norm, as in the papers' experiments. */
static void unit_rows(bb_dataset *data) {
    for (size_t j = 0; j < data->rows; j++) {
        double *x = data->x + j * data->features;
        const double norm = bb_norm(data->features, x);
        if (norm > 0.0) bb_scale(data->features, 1.0 / norm, x);
    }
}

static double *numbers(size_t count) {
    double *at;
    must(bb_allocate(&at, count, sizeof *at, "the arithmetic"));
    return at;
}

/* The public matrix from the models W (m x d): their sum of squares, uniform noise, its
 * eigenvectors, weights. work: bb_eigen_work(d) bytes and 2 d*d + d numbers. */
static void share(size_t m, size_t d, const double *W, bb_random *random, double *M,
                  double *work) {
    double *vector = work, *value = vector + d * d, *scratch = value + d;
    bb_gram(m, d, 1.0, W, 0.0, vector);
    for (size_t j = 0; j < d; j++)
        for (size_t k = j; k < d; k++)
            vector[k * d + j] = vector[j * d + k] += bb_random_uniform(random);
    must(bb_eigen(d, vector, value, scratch + d * d));
    for (size_t k = 0; k < d; k++)
        value[k] = value[k] > 1.0 ? 1.0 - 1.0 / value[k] : 0.0;
    bb_spectral(d, d, vector, value, M, scratch);
}

/* Seconds of processors that a round takes of which there is nothing but what it computes: no
 * clip, no sums on the grid, no exact noise, nothing between tasks and what is public. */
static double arithmetic(const bb_dataset *data, uint32_t rounds) {
    const size_t m = data->tasks, d = data->features;
    const size_t stride = (bb_strips_length(d) + 7) / 8 * 8;
    double *S = numbers(m * stride), *c = numbers(m * d), *M = numbers(d * d),
           *W = numbers(m * d), *previous = numbers(m * d);
    double *work = numbers(2 * d * d + 3 * d + bb_eigen_work(d) / sizeof *work + 1);
    bb_random random;
    must(bb_random_open_stream(&random, 1, BB_FOR_NOISE, 0, 0));
    for (size_t i = 0; i < m; i++) {
        const size_t first = data->first[i], rows = data->first[i + 1] - first;
        const double *x = data->x + first * d;
        bb_gram(rows, d, 1.0 / (double)rows, x, 0.0, M);
        bb_strips_pack(d, M, S + i * stride);
        bb_multiply_transposed(rows, d, 1.0 / (double)rows, x, data->y + first, 0.0,
                               c + i * d);
    }
    memcpy(W, c, m * d * sizeof *W);
    const double start = now(CLOCK_PROCESS_CPUTIME_ID);
    for (uint32_t t = 0; t < rounds; t++) {
        share(m, d, W, &random, M, work);
        for (size_t i = 0; i < m; i++)
            bb_accelerated_step(d, M, S + i * stride, c + i * d, t / (t + 3.0), 1.0,
                                0.0, W + i * d, previous + i * d, work);
    }
    const double spent = (now(CLOCK_PROCESS_CPUTIME_ID) - start) / rounds;
    bb_random_close(&random);
    double *const all[] = {S, c, M, W, previous, work};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    return spent;
}

int main(int count, char **word) {
    if (count < 2) {
        fprintf(stderr,
                "usage: bench_round DATA.csv|MxNxD [threads [rounds [repetitions]]]\n");
        return 2;
    }
    const bb_engine engine =
        bb_engine_threads(count > 2 ? strtoul(word[2], NULL, 10) : 1);
    const bb_method *method = bb_method_find("mp-lowrank");
    const bb_public problem = {.loss = BB_LOSS_SQUARED};
    bb_dataset data = {0};
    bb_local *local = NULL;
    void *options = calloc(1, method->options_size);
    must(bb_linalg_start());
    const bool made = make(word[1], &data);
    if (!made) must(bb_read(word[1], NULL, &data));
    unit_rows(&data);
    must(bb_locals_open(&local, NULL, &data, &problem, NULL, true, &engine));
    must(bb_options_default(method->options, options));
    must(bb_options_set(method->options, options, method->name, "clip", "60"));
    must(bb_options_set(method->options, options, method->name, "keep", "own"));
    const bb_run run = {.phases = 1,
                        .phase = {{.method = method, .options = options}},
                        .pub = {.tasks = data.tasks,
                                .features = data.features,
                                .adjacency = BB_REPLACE_ONE,
                                .epsilon = 1.0,
                                .delta = 1e-5},
                        .mechanism = &bb_mechanism_gaussian,
                        .engine = &engine,
                        .local = local};
    fprintf(stderr, "%zu tasks, %zu features, %zu threads, %s kernels\n", data.tasks,
            data.features, engine.workers, bb_linalg_core());
    const uint32_t rounds = count > 3 ? (uint32_t)strtoul(word[3], NULL, 10) : ROUNDS;
    const unsigned long repetitions =
        count > 4 ? strtoul(word[4], NULL, 10) : REPETITIONS;
    for (unsigned long r = 0; r < repetitions; r++) {
        const cost many = train(run, rounds + rounds / 10),
                   few = train(run, rounds / 10);
        printf("%.2f %.2f %.2f\n", 1e6 * (many.wall - few.wall) / rounds,
               1e6 * (many.processor - few.processor) / rounds,
               1e6 * arithmetic(&data, rounds));
    }
    bb_locals_close(local, NULL, data.tasks);
    bb_dataset_free(&data);
    free(options);
    return 0;
}
