#include "progress.h"

#include "cmd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BAR = 30, LEAST_BAR = 5, LINE = 256, TIME = 32 };
static const double interval = 0.1;

progress progress_open(void) {
    const double start = cmd_now();
    return (progress){
        .terminal = isatty(STDERR_FILENO) == 1, .opened = start, .since = start};
}

/* The last column stays free: a full line would wrap on some terminals. */
static size_t room(void) {
    const size_t width = cmd_width(STDERR_FILENO);
    return width > LINE ? LINE - 1 : width - 1;
}

static void show(progress *p, const char *line) {
    fprintf(stderr, "\r\033[K%.*s", (int)room(), line);
    fflush(stderr);
    p->drawn = true;
    p->last = cmd_now();
}

static void begin_stage(progress *p, const char *what) {
    snprintf(p->what, sizeof p->what, "%s", what);
    p->since = cmd_now();
    p->done = 0;
}

void progress_say(progress *p, const char *what) {
    if (!p->terminal) return;
    begin_stage(p, what);
    show(p, what);
}

/* 75 s as 1:15, and 3 h 5 s as 3:00:05. */
static void time_text(double seconds, char text[TIME]) {
    const unsigned long s = seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 0;
    if (s < 3600)
        snprintf(text, TIME, "%lu:%02lu", s / 60, s % 60);
    else
        snprintf(text, TIME, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
}

/* " [###..]", or nothing where there is no room for one. */
static void bar_text(uint32_t done, uint32_t all, size_t space,
                     char text[MOST_BAR + 4]) {
    const size_t frame = strlen(" []"), width = space > frame ? space - frame : 0;
    const size_t length = width > MOST_BAR ? MOST_BAR : width;
    const size_t full = (size_t)((uint64_t)done * length / all);
    *text = '\0';
    if (length < LEAST_BAR) return;
    memset(text, '.', length + frame);
    memcpy(text, " [", 2);
    memset(text + 2, '#', full);
    memcpy(text + 2 + length, "]", 2);
}

/* What does not fit is left out: first the bar, then the times. */
static void draw(progress *p, const char *what, uint32_t done, uint32_t all) {
    char head[PROGRESS_WORD + 32], times[2 * TIME + 16], bar[MOST_BAR + 4];
    char passed[TIME], left[TIME], line[LINE];
    if (!p->terminal || done == 0) return;
    if (strcmp(p->what, what) != 0 || done < p->done) {
        const double since = p->last > 0.0 ? p->last : p->opened;
        begin_stage(p, what);
        p->since = since; /* the stage began when the one before was last seen */
    }
    p->done = done;
    const double at = cmd_now();
    if (at - p->last < interval && done < all) return;
    time_text(at - p->opened, passed);
    time_text((at - p->since) / done * (all - done), left);
    snprintf(head, sizeof head, "%s %u of %u", what, done, all);
    snprintf(times, sizeof times, " %s, %s left", passed, left);
    if (strlen(head) + strlen(times) > room()) *times = '\0';
    const size_t fixed = strlen(head) + strlen(times);
    bar_text(done, all, room() > fixed ? room() - fixed : 0, bar);
    snprintf(line, sizeof line, "%s%s%s", head, bar, times);
    show(p, line);
}

void progress_watch(void *self, const char *what, uint32_t done, uint32_t all) {
    if (all)
        draw(self, what, done, all);
    else
        progress_say(self, what);
}

void progress_close(progress *p) {
    if (p->drawn) fputs("\r\033[K", stderr);
    p->drawn = false;
}
