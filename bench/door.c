/* What the door makes of one update of 1.2 million parameters: clip, round to the grid,
 * check in integers, add. Beside it the same without privacy in mind: norm, and
 * sum += factor * v in floating point, which is as fast as memory is.
 *
 *   bench_door [parameters]
 *
 * Prints nanoseconds a parameter, medians, one thread; and of publishing the sum, which
 * is once a round: exact noise, and the hash. */
#include "core/door.h"

#include "linalg/linalg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 41 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *time, double parameters) {
    qsort(time, REPEATS, sizeof *time, ascending);
    return time[REPEATS / 2] / parameters;
}

static void must(bb_status status) {
    if (!status) return;
    fprintf(stderr, "bench_door: %s: %s\n", bb_status_text(status), bb_last_error());
    exit(1);
}

int main(int argc, char **argv) {
    const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1200000;
    const bb_method method = {.name = "bench", .kind = BB_METHOD_PRIVATE};
    const bb_engine engine = {.name = "none", .workers = 1};
    const bb_layout layout = {1, {{"update", BB_FORM_VECTOR, n, 1.0, 1.0}}};
    bb_run run = {.phases = 1,
                  .phase = {{.method = &method}},
                  .pub = {.tasks = 1000, .epsilon = 1.0, .delta = 1e-5},
                  .mechanism = &bb_mechanism_gaussian,
                  .engine = &engine};
    bb_plan plan = {0};
    bb_arena arena = {0};
    bb_door door;
    bb_release release;
    double ours[REPEATS], plain[REPEATS], publish[REPEATS];
    double *v = malloc(n * sizeof *v), *copy = malloc(n * sizeof *v);
    double *sum = calloc(n, sizeof *v);
    if (!v || !copy || !sum || bb_linalg_start()) return 1;
    for (size_t k = 0; k < n; k++)
        v[k] = (double)(k * 2654435761u % 1000003) / 1e6 - 0.5;
    must(bb_plan_rounds(&plan, REPEATS));
    bb_plan_room(&plan, &run.pub, &layout);
    for (uint32_t t = 0; t < REPEATS; t++) plan.mu[t] = 0.1;
    bb_door_need(&run, &plan, &arena);
    bb_hits_need(&arena, run.mechanism, &plan, 1);
    must(bb_arena_open(&arena, "the bench"));
    must(bb_door_open(&door, &run, &plan, &arena));
    must(bb_door_charge(&door, &run));
    bb_hits_open(&hits, &arena, run.mechanism, &plan, run.pub.tasks, 1);
    for (size_t r = 0; r < REPEATS; r++) {
        must(bb_door_ask(&door, &layout));
        bb_hits_begin(&hits, &door.ask);
        memcpy(copy, v, n * sizeof *v);
        double start = now();
        bb_hits_add(&hits, 0, 0, NULL, (double *const[BB_MOST_BLOCKS]){copy});
        ours[r] = now() - start;
        start = now();
        bb_hits_end(&hits);
        bb_door_add(&door, &hits);
        must(bb_door_publish(&door, &release));
        publish[r] = now() - start;
        memcpy(copy, v, n * sizeof *v);
        start = now();
        bb_axpy(n, 1.0 / bb_norm(n, copy), copy, sum);
        plain[r] = now() - start;
    }
    const double a = median(ours, (double)n), b = median(plain, (double)n);
    printf(
        "door %.2f ns a parameter, floating point %.2f, ratio %.2f; publishing %.2f\n",
        a, b, a / b, median(publish, (double)n));
    bb_door_close(&door);
    bb_arena_close(&arena);
    bb_plan_free(&plan);
    free(v);
    free(copy);
    free(sum);
    return 0;
}
