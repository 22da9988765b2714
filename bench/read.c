/* Reading a file of rows.
 *
 *   bench_read DATA [threads]
 *
 * One line: bytes, seconds on the clock, processor seconds, and those of the floor: the
 * file read and nothing made of it, and as much memory as the rows take touched once. */
#include "data/read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double floor_of(const char *path, size_t bytes) {
    enum { PIECE = 1 << 18, PAGE = 4096 };
    static char piece[PIECE];
    const double used = now(CLOCK_PROCESS_CPUTIME_ID);
    const int file = open(path, O_RDONLY);
    volatile char *rows = malloc(bytes + 1);
    while (file >= 0 && read(file, piece, PIECE) > 0) continue;
    for (size_t k = 0; rows && k < bytes; k += PAGE) rows[k] = 1;
    const double floor = now(CLOCK_PROCESS_CPUTIME_ID) - used;
    free((void *)rows);
    close(file);
    return floor;
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
    printf("%lld %.6f %.6f", (long long)file.st_size, now(CLOCK_MONOTONIC) - start,
           now(CLOCK_PROCESS_CPUTIME_ID) - used);
    const size_t bytes = data.x ? data.rows * data.features * sizeof *data.x : 0;
    bb_dataset_free(&data);
    printf(" %.6f\n", floor_of(word[1], bytes));
    return 0;
}
