/* billboard helper: the second door of a run of several places. */
#include "place.h"

typedef billboard_experimental_helper helper;

/* What there is to tell the curator: kept before it leaves. */
static billboard_status answer(const place *p, helper *h, carrier *c) {
    const void *frame;
    size_t size;
    billboard_status status = billboard_experimental_helper_give(h, &frame, &size);
    if (status || !frame) return status;
    if (p->checkpoint) status = billboard_experimental_helper_keep(h);
    if (!status) status = billboard_experimental_helper_give(h, &frame, &size);
    if (!status) status = carrier_send(c, 0, frame, size);
    if (!status) billboard_experimental_helper_gave(h);
    return status;
}

/* What has nothing that must be kept. */
static billboard_status say(helper *h, carrier *c) {
    const void *frame;
    size_t size;
    billboard_status status = billboard_experimental_helper_give(h, &frame, &size);
    if (!status && frame) status = carrier_send(c, 0, frame, size);
    if (!status && frame) billboard_experimental_helper_gave(h);
    return status;
}

static billboard_status say_hello(helper *h, carrier *c) {
    const billboard_status status = billboard_experimental_helper_hello(h);
    return status ? status : say(h, c);
}

/* What was said has to leave before the process ends. */
static void see_it_leave(const place *p, carrier *c) {
    message got;
    for (int k = 0; k < 5 && !carrier_is_empty(c) && !*p->watch.stop; k++)
        if (carrier_receive(c, 1.0, &got)) return;
}

static billboard_experimental_state state_of(const helper *h) {
    return billboard_experimental_helper_state(h);
}

/* A frame that is none for this helper now changes nothing, and is told. */
static billboard_status take(place *p, helper *h, carrier *c, const message *got) {
    const billboard_status status =
        billboard_experimental_helper_take(h, got->frame, got->size);
    if (status && state_of(h) == BILLBOARD_EXPERIMENTAL_FAILED) {
        const void *frame;
        size_t size;
        /* why it takes no part, if it has something to say */
        if (!billboard_experimental_helper_give(h, &frame, &size) && frame &&
            !carrier_send(c, 0, frame, size))
            see_it_leave(p, c);
        return status;
    }
    if (status) place_say(p, "a message was left out: %s", billboard_error());
    return answer(p, h, c);
}

/* Seconds without a message after which it says again that it is there. */
static const int ask_again_first = 5, ask_again_most = 300;

static billboard_status run(place *p, helper *h, carrier *c) {
    int quiet = 0, ask_again = ask_again_first;
    message got;
    billboard_status status = say_hello(h, c);
    while (!status && state_of(h) == BILLBOARD_EXPERIMENTAL_WAITS) {
        if (*p->watch.stop)
            return cmd_fail(BILLBOARD_INTERRUPTED,
                            p->checkpoint ? "interrupted: start it again as it was"
                                          : "interrupted");
        status = carrier_receive(c, 1.0, &got);
        quiet = got.kind == MESSAGE_NONE ? quiet + 1 : 0;
        if (!status && got.kind == MESSAGE_FRAME) status = take(p, h, c, &got);
        if (status || (got.kind != MESSAGE_AGAIN && quiet < ask_again)) continue;
        ask_again = quiet < ask_again ? ask_again_first : 2 * ask_again;
        if (ask_again > ask_again_most) ask_again = ask_again_most;
        quiet = 0;
        if (carrier_reaches(c, 0)) status = say_hello(h, c);
    }
    return status;
}

static billboard_status say_that_it_goes(helper *h, carrier *c) {
    billboard_status status = say_hello(h, c);
    if (!status) status = billboard_experimental_helper_leave(h);
    return status ? status : say(h, c);
}

/* Until the curator has heard it, or for a while. */
static billboard_status say_bye(const place *p, helper *h, carrier *c) {
    enum { TRIES = 30, SAY_AGAIN = 5 };
    message got = {.kind = MESSAGE_NONE};
    bool heard = false;
    billboard_status status = BILLBOARD_OK;
    for (int k = 0; k < TRIES && !status && !heard && !*p->watch.stop; k++) {
        if (k % SAY_AGAIN == 0 && carrier_reaches(c, 0))
            status = say_that_it_goes(h, c);
        if (!status && carrier_receive(c, 1.0, &got)) break; /* nobody is there */
        if (got.kind == MESSAGE_AGAIN) status = say_that_it_goes(h, c);
        if (got.kind == MESSAGE_BYE)
            heard = billboard_experimental_helper_take(h, got.frame, got.size) ==
                    BILLBOARD_OK;
    }
    return status;
}

static billboard_status help(place *p, carrier *c, FILE *stream) {
    helper *h = NULL;
    billboard_status status =
        billboard_experimental_helper_open(p->job, p->roster, &p->watch, &h);
    /* this run's key is drawn, and kept before anybody hears of it */
    if (!status && p->checkpoint) status = billboard_experimental_helper_keep(h);
    if (!status) status = run(p, h, c);
    if (!status && p->checkpoint) status = billboard_experimental_helper_keep(h);
    if (!status) status = say_bye(p, h, c);
    if (!status) billboard_experimental_helper_forget(h);
    if (!status)
        fprintf(stream,
                "%u rounds answered, each once and with this door's own noise\n",
                billboard_experimental_helper_rounds(h));
    billboard_experimental_helper_free(h);
    return status;
}

int cmd_helper(int argc, char **argv) {
    place p;
    carrier *c = NULL;
    cmd_output output = {0};
    billboard_status status = place_open(&p, argc, argv, PLACE_HELPER);
    if (!status) status = cmd_open(&output);
    if (!status) status = carrier_open(&c, &p.way);
    if (!status) status = help(&p, c, output.stream);
    carrier_close(c);
    return place_end(&p, &output, status);
}
