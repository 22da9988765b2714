#include "talk.h"

#include <stdlib.h>
#include <string.h>

/* -- a silo, or the helper -- */

static billboard_experimental_state state_of(const talk *t) {
    return t->silo ? billboard_experimental_silo_state(t->silo)
                   : billboard_experimental_helper_state(t->helper);
}

static billboard_status put_hello(const talk *t) {
    return t->silo ? billboard_experimental_silo_hello(t->silo)
                   : billboard_experimental_helper_hello(t->helper);
}

static billboard_status put_bye(const talk *t) {
    return t->silo ? billboard_experimental_silo_leave(t->silo)
                   : billboard_experimental_helper_leave(t->helper);
}

static billboard_status keep(const talk *t) {
    return t->silo ? billboard_experimental_silo_keep(t->silo)
                   : billboard_experimental_helper_keep(t->helper);
}

static billboard_status give(const talk *t, const void **frame, size_t *size) {
    return t->silo ? billboard_experimental_silo_give(t->silo, frame, size)
                   : billboard_experimental_helper_give(t->helper, frame, size);
}

static void gave(const talk *t) {
    if (t->silo)
        billboard_experimental_silo_gave(t->silo);
    else
        billboard_experimental_helper_gave(t->helper);
}

static billboard_status take_frame(const talk *t, const message *got) {
    return t->silo
               ? billboard_experimental_silo_take(t->silo, got->frame, got->size)
               : billboard_experimental_helper_take(t->helper, got->frame, got->size);
}

/* *worked: it had something new to do. The helper does it where it takes the frame. */
static billboard_status work(const talk *t, uint32_t rounds_before, bool *worked) {
    *worked = t->silo ? state_of(t) == BILLBOARD_EXPERIMENTAL_WORK
                      : billboard_experimental_helper_rounds(t->helper) > rounds_before;
    if (!t->silo || !*worked) return BILLBOARD_OK;
    return billboard_experimental_silo_work(t->silo);
}

/* -- what is said -- */

/* What has nothing that must be kept. */
static billboard_status say(const talk *t) {
    const void *frame;
    size_t size;
    billboard_status status = give(t, &frame, &size);
    if (!status && frame) status = carrier_send(t->carrier, 0, frame, size);
    if (!status && frame) gave(t);
    return status;
}

/* What there is to tell the curator: kept before it leaves. */
static billboard_status answer(const talk *t) {
    const void *frame;
    size_t size;
    billboard_status status = give(t, &frame, &size);
    if (status || !frame) return status;
    if (t->place->checkpoint) status = keep(t);
    return status ? status : say(t);
}

static billboard_status say_hello(const talk *t) {
    const billboard_status status = put_hello(t);
    return status ? status : say(t);
}

/* -- a run -- */

/* What was said has to leave before the process ends. */
static billboard_status see_it_leave(const place *p, carrier *c) {
    enum { SECONDS = 5 };
    message got;
    billboard_status status = BILLBOARD_OK;
    for (int k = 0; k < SECONDS && !status && !carrier_is_empty(c); k++)
        if (!*p->watch.stop) status = carrier_receive(c, 1.0, &got);
    return status;
}

billboard_status talk_end_refused(const place *p, carrier *c, billboard_status status,
                                  billboard_status why, char *words) {
    if (!status) status = see_it_leave(p, c);
    if (!status && words) status = cmd_fail(why, "%s", words);
    free(words);
    return status ? status : cmd_fail(BILLBOARD_FAILED, "no memory for a message");
}

static billboard_status refuse(const talk *t, billboard_status why) {
    char *words = strdup(billboard_error());
    return talk_end_refused(t->place, t->carrier, say(t), why, words);
}

/* A frame that is none for this place now changes nothing, and is told. */
static billboard_status take(const talk *t, const message *got, bool *worked) {
    const uint32_t before =
        t->helper ? billboard_experimental_helper_rounds(t->helper) : 0;
    billboard_status status = take_frame(t, got);
    if (status && state_of(t) == BILLBOARD_EXPERIMENTAL_FAILED)
        return refuse(t, status);
    if (status)
        place_say(t->place, "a message was left out: %s", billboard_error());
    else
        status = work(t, before, worked);
    if (*worked && status) return status;
    return answer(t);
}

/* Seconds without a message after which it says again that it is there: what it said, or
 * was to be told, may have been lost, or its curator killed. More and more while nothing new
 * comes. */
static const int ask_again_first = 5, ask_again_most = 300;

typedef struct silence {
    int quiet, ask_again; /* seconds */
    bool heard;           /* anything, ever */
    time_t since;         /* when, last; before, when this place began */
    bool asked;           /* and since then, again, which it would have answered */
    bool worked;          /* has answered a round, or learned its models */
    time_t idle;          /* when it last did, or first heard the curator */
} silence;

/* On a terminal: for whom, until there is something to do. */
static void show_waiting(const talk *t, const silence *of) {
    place *p = t->place;
    char text[200], since[PLACE_CLOCK];
    const bool unanswered = of->asked && of->quiet > 1;
    const bool away = !of->heard || unanswered || !carrier_reaches(t->carrier, 0);
    place_clock(away ? of->since : of->idle, since);
    if (away)
        snprintf(text, sizeof text, "waiting for the curator (%s) since %s",
                 p->way.path, since);
    else
        snprintf(text, sizeof text, "waiting for the other places%s since %s",
                 of->worked ? "" : " to join", since);
    progress_say(&p->bar, text);
}

/* That nobody is at a socket is another matter than a curator who does not answer. */
static void say_no_word(const talk *t) {
    if (carrier_reaches(t->carrier, 0))
        place_say(
            t->place,
            "no word from the curator yet (%s): it is not there, or leaves out what "
            "this place says, and says why",
            t->place->way.path);
    else
        place_say(
            t->place,
            "no word from the curator yet: nobody is at the socket %s: the curator "
            "was not started, or its socket is another one",
            t->place->way.path);
}

static bool is_time_to_ask(const talk *t, silence *of, message_kind got) {
    place *p = t->place;
    if (got == MESSAGE_FRAME) {
        if (!of->heard) of->idle = time(NULL);
        of->heard = true;
        of->since = time(NULL);
        of->asked = false;
    }
    of->quiet = got == MESSAGE_NONE ? of->quiet + 1 : 0;
    if (!of->heard && of->quiet == ask_again_first) say_no_word(t);
    if (got != MESSAGE_AGAIN && of->quiet < of->ask_again) return false;
    if (of->heard && of->asked && got != MESSAGE_AGAIN) {
        char since[PLACE_CLOCK];
        place_clock(of->since, since);
        place_say(p, "no word from the curator (%s) since %s", p->way.path, since);
    }
    of->asked = true;
    of->ask_again = got == MESSAGE_AGAIN ? ask_again_first : 2 * of->ask_again;
    if (of->ask_again > ask_again_most) of->ask_again = ask_again_most;
    of->quiet = 0;
    return true;
}

billboard_status talk_run(const talk *t) {
    silence of_curator = {.ask_again = ask_again_first, .since = time(NULL)};
    message got;
    billboard_status status = say_hello(t);
    while (!status && state_of(t) != BILLBOARD_EXPERIMENTAL_DONE) {
        bool worked = false;
        if (*t->place->watch.stop)
            return cmd_fail(BILLBOARD_INTERRUPTED,
                            t->place->checkpoint
                                ? "interrupted: start it again as it was"
                                : "interrupted");
        status = carrier_receive(t->carrier, 1.0, &got);
        if (got.kind == MESSAGE_FRAME) progress_close(&t->place->bar);
        if (!status && got.kind == MESSAGE_FRAME) status = take(t, &got, &worked);
        if (worked) {
            of_curator.ask_again = ask_again_first;
            of_curator.worked = true;
            of_curator.idle = time(NULL);
        }
        if (!status && is_time_to_ask(t, &of_curator, got.kind) &&
            carrier_reaches(t->carrier, 0))
            status = say_hello(t);
        if (!status && got.kind == MESSAGE_NONE) show_waiting(t, &of_curator);
    }
    return status;
}

/* The curator has to know first who this is. */
static billboard_status say_bye(const talk *t) {
    billboard_status status = say_hello(t);
    if (!status) status = put_bye(t);
    return status ? status : say(t);
}

billboard_status talk_bye(const talk *t, bool *heard) {
    static const double for_a_while = 30.0, say_again = 5.0;
    const double from = cmd_now();
    double said = from - say_again;
    message got = {.kind = MESSAGE_NONE};
    billboard_status status = BILLBOARD_OK;
    *heard = false;
    while (cmd_now() - from < for_a_while && !status && !*heard &&
           !*t->place->watch.stop) {
        if (cmd_now() - said >= say_again && carrier_reaches(t->carrier, 0)) {
            said = cmd_now();
            status = say_bye(t);
        }
        if (!status && carrier_receive(t->carrier, 1.0, &got)) break; /* nobody there */
        if (got.kind == MESSAGE_NONE)
            progress_say(&t->place->bar,
                         "waiting for the curator to hear that this place is done");
        if (got.kind == MESSAGE_AGAIN) status = say_bye(t);
        if (got.kind == MESSAGE_BYE) *heard = take_frame(t, &got) == BILLBOARD_OK;
    }
    return status;
}
