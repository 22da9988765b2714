/* progress.h - a progress bar on stderr, if stderr is a terminal. */
#ifndef BILLBOARD_PROGRESS_H
#define BILLBOARD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool terminal, drawn;
    double last; /* when it was drawn, in seconds */
} progress;

progress progress_open(void);
/* A step that has no measure: "reading data.csv". */
void progress_say(progress *p, const char *what);
/* Has the shape of bb_observer.progress; draws at most ten times a second. */
void progress_round(void *self, uint32_t round, uint32_t rounds);
/* The same for bb_observer.at_home. */
void progress_home(void *self, const char *method, uint32_t done, uint32_t tasks);
/* Clears the line. */
void progress_close(progress *p);

#endif
