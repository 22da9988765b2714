/* Reading a file of rows.
 *
 *   bench_read DATA [threads]
 *
 * One line: bytes, seconds on the clock, processor seconds. */
#include "data/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int count, char **word) {
    struct stat file;
    bb_dataset data;
    if (count < 2 || stat(word[1], &file)) {
        fprintf(stderr, "usage: bench_read DATA [threads]\n");
        return 2;
    }
    const bb_read_options options = {.threads =
                                         count > 2 ? strtoul(word[2], NULL, 10) : 0};
    const double start = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
    if (bb_read(word[1], &options, &data)) {
        fprintf(stderr, "bench_read: %s\n", bb_last_error());
        return 1;
    }
    printf("%lld %.6f %.6f\n", (long long)file.st_size, now(CLOCK_MONOTONIC) - start,
           now(CLOCK_PROCESS_CPUTIME_ID) - used);
    bb_dataset_free(&data);
    return 0;
}
