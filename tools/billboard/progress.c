#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 30 };
static const double interval = 0.1;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

progress progress_open(void) {
    return (progress){.terminal = isatty(STDERR_FILENO) == 1};
}

void progress_say(progress *p, const char *what) {
    if (!p->terminal) return;
    fprintf(stderr, "\r\033[K%s", what);
    fflush(stderr);
    p->drawn = true;
    p->last = now();
}

void progress_round(void *self, uint32_t round, uint32_t rounds) {
    progress *p = self;
    char bar[WIDTH + 1];
    if (!p->terminal || (now() - p->last < interval && round < rounds)) return;
    const uint32_t done = rounds ? (uint32_t)((uint64_t)round * WIDTH / rounds) : 0;
    for (uint32_t k = 0; k < WIDTH; k++) bar[k] = k < done ? '#' : '.';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r\033[Kround %u of %u [%s]", round, rounds, bar);
    fflush(stderr);
    p->drawn = true;
    p->last = now();
}

void progress_close(progress *p) {
    if (p->drawn) fputs("\r\033[K", stderr);
    p->drawn = false;
}
