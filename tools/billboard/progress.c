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

static void draw(progress *p, const char *what, uint32_t done, uint32_t all) {
    char bar[WIDTH + 1];
    if (!p->terminal || (now() - p->last < interval && done < all)) return;
    const uint32_t full = all ? (uint32_t)((uint64_t)done * WIDTH / all) : 0;
    for (uint32_t k = 0; k < WIDTH; k++) bar[k] = k < full ? '#' : '.';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r\033[K%s %u of %u [%s]", what, done, all, bar);
    fflush(stderr);
    p->drawn = true;
    p->last = now();
}

void progress_round(void *self, uint32_t round, uint32_t rounds) {
    draw(self, "round", round, rounds);
}

void progress_home(void *self, const char *method, uint32_t done, uint32_t tasks) {
    char what[64];
    snprintf(what, sizeof what, "%s: task", method);
    draw(self, what, done, tasks);
}

void progress_close(progress *p) {
    if (p->drawn) fputs("\r\033[K", stderr);
    p->drawn = false;
}
