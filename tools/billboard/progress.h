/* progress.h - one line on stderr that says how far a run is, if stderr is a terminal. */
#ifndef BILLBOARD_PROGRESS_H
#define BILLBOARD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { PROGRESS_WORD = 64 };

typedef struct progress {
    bool terminal, drawn;
    double opened, last;      /* seconds: when it began, and was last drawn */
    char what[PROGRESS_WORD]; /* the stage that is shown, ... */
    double since;             /* ... when it began, ... */
    uint32_t done;            /* ... and how much of it is done */
} progress;

progress progress_open(void);
/* A step that has no measure: "reading data.csv". */
void progress_say(progress *p, const char *what);
/* As billboard_watch has it: a step that has no measure, or, at most ten times a second, how
 * much is done, the time since the start of all, and what the stage will still take. */
void progress_watch(void *self, const char *what, uint32_t done, uint32_t all);
/* Clears the line. */
void progress_close(progress *p);

#endif
