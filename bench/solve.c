/* One certified optimum of mtl-trace or mtl-l21 on rows from a file, with the sum of
 * squares.
 *
 *   bench_solve WORLD trace|l21 LAMBDA [threads]
 *
 * WORLD: three 64-bit numbers (tasks, rows of each, features), then the rows and the
 * targets as doubles (bench/table/table.py writes it). One line: processor seconds and
 * those on the clock (preparing the tasks' problems, and solving to a relative gap of
 * 1e-6), rounds, objective, certified relative gap, processor seconds of as many products of
 * all tasks' rows with one vector. */
#include "base/parallel.h"
#include "core/run.h"
#include "linalg/linalg.h"
#include "methods/registry.h"
#include "mtl_problems.h"

#include <time.h>

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(bool fine, const char *what) {
    if (fine) return;
    fprintf(stderr, "bench_solve: %s: %s\n", what, bb_last_error());
    exit(1);
}

static mtl_data read_world(const char *path) {
    uint64_t size[3];
    FILE *file = fopen(path, "rb");
    must(file && fread(size, sizeof *size, 3, file) == 3, path);
    mtl_data data = {.tasks = size[0], .features = size[2]};
    const size_t rows = size[0] * size[1];
    data.first = mtl_room(data.tasks + 1, sizeof *data.first);
    data.x = mtl_room(rows, data.features * sizeof *data.x);
    data.y = mtl_room(rows, sizeof *data.y);
    for (size_t i = 0; i <= data.tasks; i++) data.first[i] = i * size[1];
    must(fread(data.x, sizeof *data.x, rows * data.features, file) ==
             rows * data.features,
         path);
    must(fread(data.y, sizeof *data.y, rows, file) == rows, path);
    (void)fclose(file);
    return data;
}

/* The least that a round takes which looks at every row: seconds of one product, of five. */
static double one_look(const mtl_data *data) {
    enum { LOOKS = 5 };
    const size_t rows = data->first[data->tasks], d = data->features;
    double *w = mtl_room(d, sizeof *w), *out = mtl_room(rows, sizeof *out);
    const double start = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int k = 0; k < LOOKS; k++) bb_multiply(rows, d, 1.0, data->x, w, 0.0, out);
    const double spent = (now(CLOCK_PROCESS_CPUTIME_ID) - start) / LOOKS;
    free(w);
    free(out);
    return spent;
}

int main(int count, char **word) {
    if (count < 4) {
        fprintf(stderr, "usage: bench_solve WORLD trace|l21 LAMBDA [threads]\n");
        return 2;
    }
    const bb_engine engine =
        bb_engine_threads(count > 4 ? strtoul(word[4], NULL, 10) : 1);
    const bb_method *method =
        bb_method_find(strcmp(word[2], "trace") ? "mtl-l21" : "mtl-trace");
    void *options = mtl_room(1, method->options_size);
    must(!bb_linalg_start(), "start");
    mtl_data data = read_world(word[1]);
    must(!bb_options_default(method->options, options), "options");
    must(!bb_options_set(method->options, options, "bench", "centre", "zero"),
         "centre");
    must(!bb_options_set(method->options, options, "bench", "lambda", word[3]),
         "lambda");
    must(!bb_options_set(method->options, options, "bench", "tolerance", "1e-6"),
         "tolerance");
    const double start = now(CLOCK_PROCESS_CPUTIME_ID), begun = now(CLOCK_MONOTONIC);
    bb_local *local = mtl_locals_open(&data, BB_LOSS_SQUARED);
    must(local != NULL, "rows");
    const bb_run run = {
        .phases = 1,
        .phase = {{.method = method, .options = options}},
        .pub = {.tasks = data.tasks, .features = data.features, .scale_sum = true},
        .mechanism = &bb_mechanism_none,
        .engine = &engine,
        .local = local};
    bb_result result = {0};
    must(!bb_run_train(&run, &result), "solve");
    printf("%.6f %.6f %u %.15g %.3g", now(CLOCK_PROCESS_CPUTIME_ID) - start,
           now(CLOCK_MONOTONIC) - begun, result.rounds, result.outcome.objective,
           result.outcome.gap / result.outcome.objective);
    printf(" %.6f\n", result.rounds * one_look(&data));
    bb_result_free(&result);
    mtl_locals_close(local, data.tasks);
    mtl_data_free(&data);
    free(options);
    return 0;
}
