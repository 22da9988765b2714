/* The certified solvers of mtl-trace and mtl-l21 on nine problems.
 *
 *   bench_mtl SCHOOL.csv [threads] [tolerance]
 *
 * One line a problem: name, MALSAR's seconds in the reference, then medians of 9:
 * processor seconds (preparing the tasks' problems and solving) and those on the clock;
 * rounds, objective, its certified gap and its distance from the optimum, both
 * relative. bench/mtl.sh compares with MALSAR's algorithm. */
#include "base/parallel.h"
#include "core/run.h"
#include "linalg/linalg.h"
#include "methods/registry.h"
#include "mtl_problems.h"

#include <time.h>

enum { REPETITIONS = 9 };

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
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
    const bb_method *method = bb_method_find(p->trace ? "mtl-trace" : "mtl-l21");
    mtl_data data = {0};
    double processor[REPETITIONS], wall[REPETITIONS];
    bb_result result = {0};
    must(mtl_data_make(p->world, school, &data));
    void *options = mtl_room(1, method->options_size);
    must(!bb_options_default(method->options, options));
    must(!bb_options_set(method->options, options, "bench", "centre", "zero"));
    must(!bb_options_set(method->options, options, "bench", "lambda", p->lambda));
    must(!bb_options_set(method->options, options, "bench", "tolerance", tolerance));
    for (int r = 0; r < REPETITIONS; r++) {
        bb_result_free(&result);
        const double start = now(CLOCK_PROCESS_CPUTIME_ID);
        const double begun = now(CLOCK_MONOTONIC);
        bb_local *local = mtl_locals_open(&data, p->loss);
        must(local != NULL);
        const bb_run run = {.phases = 1,
                            .phase = {{.method = method, .options = options}},
                            .pub = {.tasks = data.tasks,
                                    .features = data.features,
                                    .loss = p->loss,
                                    .intercept = p->loss == BB_LOSS_LOGISTIC,
                                    .scale_sum = p->loss == BB_LOSS_SQUARED},
                            .mechanism = &bb_mechanism_none,
                            .engine = engine,
                            .local = local};
        must(!bb_run_train(&run, &result));
        processor[r] = now(CLOCK_PROCESS_CPUTIME_ID) - start;
        wall[r] = now(CLOCK_MONOTONIC) - begun;
        mtl_locals_close(local, data.tasks);
    }
    const bb_outcome reached = result.outcome;
    printf("%-28s %5.3f %8.5f %8.5f %5u %.13g %9.1e %9.1e%s\n", p->name,
           p->malsar_seconds, median(processor), median(wall), result.rounds,
           reached.objective, reached.gap / reached.objective,
           reached.objective / p->optimum - 1.0,
           reached.converged ? "" : " not converged");
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
