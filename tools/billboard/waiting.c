#include "waiting.h"

#include <stdlib.h>
#include <string.h>

static const double pause_first = 10.0, pause_most = 600.0; /* seconds */

billboard_status waiting_open(waiting *w, place *p) {
    const size_t places = (size_t)p->way.silos + 1;
    *w = (waiting){.place = p, .pause = pause_first};
    w->missed = calloc(places, sizeof *w->missed);
    w->lost = calloc(places, sizeof *w->lost);
    return w->missed && w->lost ? BILLBOARD_OK
                                : cmd_fail(BILLBOARD_FAILED, "no memory for the silos");
}

void waiting_close(waiting *w) {
    free(w->missed);
    free(w->lost);
}

void waiting_heard(waiting *w, uint32_t silo) {
    w->missed[silo] = w->lost[silo] = false;
}

void waiting_begin(waiting *w) {
    const double now = cmd_now();
    if (now - w->asked < pause_first) w->pause = pause_first; /* that went well */
    w->asked = now;
    w->since = time(NULL);
}

static const char *part_of(const waiting *w, const billboard_answer *run,
                           uint32_t silo) {
    char path[30] = "helper";
    if (silo <= w->place->roster->silos)
        snprintf(path, sizeof path, "silos.%u", silo - 1);
    return billboard_answer_text(run, path);
}

/* Whether the run needs something of this place; the helper is asked when silos have
 * answered. */
static bool is_needed(const waiting *w, const billboard_answer *run, uint32_t silo) {
    const char *stage = billboard_answer_text(run, "state");
    const char *state = part_of(w, run, silo);
    if (strcmp(stage, "joining") == 0) return strcmp(state, "away") == 0;
    if (strcmp(stage, "rounds") == 0) return strcmp(state, "joined") == 0;
    return billboard_experimental_curator_waits_for(w->curator, silo);
}

/* The first of them by name, the others by number. */
static void name_needed(waiting *w, const billboard_answer *run, char *text,
                        size_t size) {
    enum { NAMED = 8 };
    const place *p = w->place;
    const bool rounds = strcmp(billboard_answer_text(run, "state"), "rounds") == 0;
    uint32_t needed = 0;
    size_t used = 0;
    *text = '\0';
    for (uint32_t s = 1; s <= p->way.silos; s++) {
        if (!is_needed(w, run, s)) continue;
        if (rounds && needed && s > p->roster->silos) continue;
        w->missed[s] = true;
        if (++needed > NAMED || used >= size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 needed > 1 ? ", " : "", place_silo(p, s));
    }
    if (needed > NAMED && used < size)
        snprintf(text + used, size - used, " and %u other%s", needed - NAMED,
                 cmd_plural(needed - NAMED));
}

void waiting_tell(waiting *w) {
    char names[400], since[PLACE_CLOCK], round[30] = "their good-bye";
    billboard_answer *run = NULL;
    const double now = cmd_now();
    if (now - w->asked < pause_first || now - w->told < w->pause) return;
    if (billboard_experimental_curator_progress(w->curator, &run)) return;
    const char *stage = billboard_answer_text(run, "state");
    if (strcmp(stage, "joining") == 0) snprintf(round, sizeof round, "to join");
    if (strcmp(stage, "rounds") == 0)
        snprintf(round, sizeof round, "round %.0f",
                 billboard_answer_number(run, "round"));
    name_needed(w, run, names, sizeof names);
    place_clock(w->since, since);
    if (*names)
        place_say(w->place, "waiting for %s since %s (%s)", names, since, round);
    billboard_answer_free(run);
    w->told = now;
    w->pause = 2.0 * w->pause < pause_most ? 2.0 * w->pause : pause_most;
}

bool waiting_is_too_late(const waiting *w, uint32_t silo) {
    billboard_answer *run = NULL;
    if (billboard_experimental_curator_progress(w->curator, &run)) return false;
    const bool late = strcmp(billboard_answer_text(run, "state"), "joining") != 0 &&
                      strcmp(part_of(w, run, silo), "away") == 0;
    billboard_answer_free(run);
    return late;
}

void waiting_tell_lost(waiting *w, const billboard_answer *run) {
    for (uint32_t s = 1; s <= w->place->roster->silos; s++) {
        if (w->lost[s] || !is_needed(w, run, s)) continue;
        w->lost[s] = w->missed[s] = true;
        place_say(
            w->place,
            "round %.0f goes on without %s, which is waited for again when it says "
            "something",
            billboard_answer_number(run, "round"), place_silo(w->place, s));
    }
}
