/* talk.h - what a silo or the helper says to the curator, and when. */
#ifndef BILLBOARD_TALK_H
#define BILLBOARD_TALK_H

#include "place.h"

/* Who talks: a silo, or the helper; the other one is NULL. */
typedef struct talk {
    place *place;
    carrier *carrier;
    billboard_experimental_silo *silo;
    billboard_experimental_helper *helper;
} talk;

/* Until the run is over for this place. Where there is a checkpoint, what there is to tell is
 * kept before it leaves. BILLBOARD_INTERRUPTED, and why a run ended early. */
BILLBOARD_CHECK billboard_status talk_run(const talk *t);
/* Says that it needs nothing more, until the curator has heard it, or for a while: one that
 * is not there has ended, or is about to be started again. */
BILLBOARD_CHECK billboard_status talk_bye(const talk *t, bool *heard);
/* This process ends with `why` and `words`, which are freed, when what the curator was told
 * about it has left; or with `status`, if telling it failed. */
BILLBOARD_CHECK billboard_status talk_end_refused(const place *p, carrier *c,
                                                  billboard_status status,
                                                  billboard_status why, char *words);

#endif
