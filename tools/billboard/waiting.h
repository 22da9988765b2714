/* waiting.h - whom a curator waits for, and what its log says of it. */
#ifndef BILLBOARD_WAITING_H
#define BILLBOARD_WAITING_H

#include "place.h"

typedef struct waiting {
    place *place;
    const billboard_experimental_curator *curator; /* set by hand, once it is open */
    bool *missed; /* silos + 1: the log has named them since they said something, */
    bool *lost;   /* and so it has those that a round has gone on without */
    double asked; /* seconds: when the round began, */
    time_t since; /* and by the clock on the wall */
    double told;  /* seconds: when the log has last said who is waited for, */
    double pause; /* and how long it then says nothing of it */
} waiting;

/* To be closed also after a failure. */
BILLBOARD_CHECK billboard_status waiting_open(waiting *w, place *p);
void waiting_close(waiting *w); /* takes a zeroed one, too */
/* A round is asked for, or the joining, or the end. */
void waiting_begin(waiting *w);
/* This silo has said something. */
void waiting_heard(waiting *w, uint32_t silo);
/* Who is waited for: now and then, once it takes long. */
void waiting_tell(waiting *w);
/* Whom a round was published without (run: how far the curator is): once, until they are
 * back. */
void waiting_tell_lost(waiting *w, const billboard_answer *run);
/* Whether the run has begun without this place, which is told so when it says something. */
bool waiting_is_too_late(const waiting *w, uint32_t silo);

#endif
