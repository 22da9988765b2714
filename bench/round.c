/* One iteration of MP-MTL (mp-lowrank, Gaussian mechanism on the grid, the whole loop:
 * local steps, clip, exact sums, noise, eigendecomposition) on a data set.
 *
 *   bench_round DATA.csv [threads]
 *
 * Prints one line a repetition: microseconds an iteration, from runs of 200 and 2,200
 * rounds, so that reading and setting up do not count. bench/round.sh compares it with
 * NumPy. */
#include "base/parallel.h"
#include "core/run.h"
#include "data/read.h"
#include "linalg/linalg.h"
#include "methods/registry.h"
#include "train/locals.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPETITIONS = 9, FEW = 200, MANY = 2200 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(bb_status status) {
    if (!status) return;
    fprintf(stderr, "bench_round: %s: %s\n", bb_status_text(status), bb_last_error());
    exit(1);
}

static double train(bb_run run, uint32_t rounds) {
    bb_result result = {0};
    run.phase[0].rounds = rounds;
    const double start = now();
    must(bb_run_train(&run, &result));
    const double seconds = now() - start;
    bb_result_free(&result);
    return seconds;
}

/* Rows of unit norm, as in the papers' experiments. */
static void unit_rows(bb_dataset *data) {
    for (size_t j = 0; j < data->rows; j++) {
        double *x = data->x + j * data->features;
        const double norm = bb_norm(data->features, x);
        if (norm > 0.0) bb_scale(data->features, 1.0 / norm, x);
    }
}

int main(int count, char **word) {
    if (count < 2) {
        fprintf(stderr, "usage: bench_round DATA.csv [threads]\n");
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
    must(bb_read(word[1], NULL, &data));
    unit_rows(&data);
    must(bb_locals_open(&local, &data, &problem, NULL, &engine));
    must(bb_options_default(method->options, options));
    must(bb_options_set(method->options, options, method->name, "clip", "60"));
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
    for (int r = 0; r < REPETITIONS; r++)
        printf("%.2f\n", 1e6 * (train(run, MANY) - train(run, FEW)) / (MANY - FEW));
    bb_locals_close(local, data.tasks);
    bb_dataset_free(&data);
    free(options);
    return 0;
}
