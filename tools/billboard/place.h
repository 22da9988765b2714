/* place.h - what `billboard silo', `curator' and `helper' have in common: their command
 * lines, and what they agreed on. */
#ifndef BILLBOARD_PLACE_H
#define BILLBOARD_PLACE_H

#define BILLBOARD_EXPERIMENTAL
#include "carrier.h"
#include "flags.h"
#include "progress.h"

#include <time.h>

typedef enum place_kind { PLACE_CURATOR, PLACE_SILO, PLACE_HELPER } place_kind;

typedef struct place {
    place_kind kind;
    cmd_flags flags; /* of train; names belong to it */
    cmd_options given;
    const char *data, *plan, *policy, *name;
    const char *key, *keys; /* files: this place's own, the roster; NULL: not signed */
    double patience;        /* seconds; 0: without end */
    int page;               /* a port, 0: any that is free; -1: none */
    bool json;
    carrier_way way;
    bool has_way;
    billboard_experimental_agreement *agreement;
    const billboard_experimental_roster *roster;
    billboard_job *job;
    const char *output, *checkpoint;
    bool check;  /* only says whether it could take part */
    bool stored; /* the run directory and the checkpoint are both there: this place has
                    its result, and went before it could say so */
    bool over;   /* only the first is, of this run: the place was done with it before */
    progress bar;
    billboard_watch watch;
} place;

/* Reads the line of a place of this kind, and the plan. To be ended (place_end) also after a
 * failure. BILLBOARD_USAGE: something is missing, or RUN is there already. */
BILLBOARD_CHECK billboard_status place_open(place *p, int argc, char **argv,
                                            place_kind kind);
/* On stderr, above the progress. */
void place_say(place *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What a silo, or the helper, is called in messages. */
const char *place_silo(const place *p, uint32_t silo);
/* A time as people of this machine say it: the hour and the minute, and the day unless it is
 * today. */
enum { PLACE_CLOCK = 32 };
void place_clock(time_t at, char text[PLACE_CLOCK]);
/* Stores the result as the run directory, and writes what it says to `stream`. */
BILLBOARD_CHECK billboard_status place_store(const place *p,
                                             const billboard_result *result,
                                             FILE *stream);
/* Says what is in the output: on stderr where stdout carries frames. The exit code. */
int place_end(place *p, cmd_output *output, billboard_status status);

#endif
