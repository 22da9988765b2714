/* The certified solvers of mtl-trace and mtl-l21 on nine problems.
 *
 *   bench_mtl SCHOOL.csv [threads] [tolerance]
 *
 * One line a problem: its name, seconds (median of 9: Gram matrices and solve) and seconds
 * of the solve alone, rounds, objective above the optimum and certified gap, both relative.
 * bench/mtl.sh compares with MALSAR's algorithm. */
#include "core/run.h"
#include "engines/threads.h"
#include "linalg/linalg.h"
#include "methods/registry.h"
#include "mtl_problems.h"

#include <time.h>

enum { REPETITIONS = 9 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(bool fine) {
    if (fine) return;
    fprintf(stderr, "bench_mtl: %s\n", bb_last_error());
    exit(1);
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v) {
    qsort(v, REPETITIONS, sizeof *v, compare);
    return v[REPETITIONS / 2];
}

static void measure(const mtl_problem *p, const char *school, const bb_engine *engine,
                    const char *tolerance) {
    const bb_method *method =
        bb_method_find(p->trace ? "mtl-trace" : "mtl-l21");
    mtl_data data = {0};
    double total[REPETITIONS], solve[REPETITIONS];
    bb_result result = {0};
    must(mtl_data_make(p->world, school, &data));
    void *options = mtl_room(1, method->options_size);
    must(!bb_options_default(method->options, options));
    must(!bb_options_set(method->options, options, "bench", "lambda", p->lambda));
    must(!bb_options_set(method->options, options, "bench", "tolerance", tolerance));
    for (int r = 0; r < REPETITIONS; r++) {
        bb_result_free(&result);
        const double start = now();
        bb_local *local = mtl_locals_open(&data, p->loss);
        must(local);
        const double opened = now();
        const bb_run run = {.method = method,
                            .options = options,
                            .pub = {.tasks = data.tasks,
                                    .features = data.features,
                                    .loss = p->loss,
                                    .intercept = p->loss == BB_LOSS_LOGISTIC,
                                    .scale_sum = p->loss == BB_LOSS_SQUARED},
                            .mechanism = &bb_mechanism_none,
                            .engine = engine,
                            .local = local};
        must(!bb_run_train(&run, &result));
        solve[r] = now() - opened;
        total[r] = now() - start;
        mtl_locals_close(local, data.tasks);
    }
    printf("%-28s %8.5f %8.5f %5u %9.1e %9.1e %s\n", p->name, median(total),
           median(solve), result.rounds, result.outcome.objective / p->optimum - 1.0,
           result.outcome.gap / result.outcome.objective,
           result.outcome.converged ? "" : "not converged");
    bb_result_free(&result);
    free(options);
    mtl_data_free(&data);
}

int main(int count, char **word) {
    if (count < 2) {
        fprintf(stderr, "usage: bench_mtl SCHOOL.csv [threads] [tolerance]\n");
        return 2;
    }
    const bb_engine engine =
        bb_engine_threads(count > 2 ? strtoul(word[2], NULL, 10) : 1);
    must(!bb_linalg_start());
    for (int k = 0; k < MTL_PROBLEMS; k++)
        measure(&mtl_problems[k], word[1], &engine, count > 3 ? word[3] : "1e-6");
    return 0;
}
