/* billboard silo: one place's part of a run. */
#include "place.h"

#include <stdlib.h>
#include <string.h>

typedef billboard_experimental_silo silo;

/* What there is to tell the curator: kept before it leaves. */
static billboard_status answer(const place *p, silo *s, carrier *c) {
    const void *frame;
    size_t size;
    billboard_status status = billboard_experimental_silo_give(s, &frame, &size);
    if (status || !frame) return status;
    if (p->checkpoint) status = billboard_experimental_silo_keep(s);
    if (!status) status = billboard_experimental_silo_give(s, &frame, &size);
    if (!status) status = carrier_send(c, 0, frame, size);
    if (!status) billboard_experimental_silo_gave(s);
    return status;
}

/* What has nothing that must be kept. */
static billboard_status say(silo *s, carrier *c) {
    const void *frame;
    size_t size;
    billboard_status status = billboard_experimental_silo_give(s, &frame, &size);
    if (!status && frame) status = carrier_send(c, 0, frame, size);
    if (!status && frame) billboard_experimental_silo_gave(s);
    return status;
}

static billboard_status say_hello(silo *s, carrier *c) {
    const billboard_status status = billboard_experimental_silo_hello(s);
    return status ? status : say(s, c);
}

/* What was said has to leave before the process ends. */
static billboard_status see_it_leave(const place *p, carrier *c, int seconds) {
    message got;
    billboard_status status = BILLBOARD_OK;
    for (int k = 0; k < seconds && !status && !carrier_is_empty(c); k++)
        if (!*p->watch.stop) status = carrier_receive(c, 1.0, &got);
    return status;
}

/* -- a run -- */

/* The curator was told why this silo does not take part, and so is whoever reads the
 * message of this process, `words`, which are freed. */
static billboard_status end_refused(const place *p, carrier *c, billboard_status status,
                                    billboard_status why, char *words) {
    if (!status) status = see_it_leave(p, c, 5);
    if (!status && words) status = cmd_fail(why, "%s", words);
    free(words);
    return status ? status : cmd_fail(BILLBOARD_FAILED, "no memory for a message");
}

static billboard_status refuse(const place *p, silo *s, carrier *c,
                               billboard_status why) {
    char *words = strdup(billboard_error());
    return end_refused(p, c, say(s, c), why, words);
}

/* A frame that is none for this silo now changes nothing, and is told. *works: it was a
 * new round, or the end. */
static billboard_status take(place *p, silo *s, carrier *c, const message *got,
                             bool *works) {
    billboard_status status =
        billboard_experimental_silo_take(s, got->frame, got->size);
    const bool failed =
        billboard_experimental_silo_state(s) == BILLBOARD_EXPERIMENTAL_FAILED;
    if (status && failed) return refuse(p, s, c, status);
    if (status) place_say(p, "a message was left out: %s", billboard_error());
    *works =
        !status && billboard_experimental_silo_state(s) == BILLBOARD_EXPERIMENTAL_WORK;
    if (*works && (status = billboard_experimental_silo_work(s))) return status;
    return answer(p, s, c);
}

/* Seconds without a message after which it says again that it is there: what it said, or
 * was to be told, may have been lost, or its curator killed. More and more while nothing new
 * comes. */
static const int ask_again_first = 5, ask_again_most = 300;

typedef struct silence {
    int quiet, ask_again; /* seconds */
    bool heard;           /* anything, ever */
} silence;

static bool is_time_to_ask(place *p, silence *of, message_kind got) {
    of->heard = of->heard || got == MESSAGE_FRAME;
    of->quiet = got == MESSAGE_NONE ? of->quiet + 1 : 0;
    if (!of->heard && of->quiet == ask_again_first)
        place_say(p,
                  "no word from the curator yet: it is not there, or leaves out what "
                  "this place says, and says why");
    if (got != MESSAGE_AGAIN && of->quiet < of->ask_again) return false;
    of->ask_again = got == MESSAGE_AGAIN ? ask_again_first : 2 * of->ask_again;
    if (of->ask_again > ask_again_most) of->ask_again = ask_again_most;
    of->quiet = 0;
    return true;
}

static billboard_status run(place *p, silo *s, carrier *c) {
    silence of_curator = {.ask_again = ask_again_first};
    message got;
    billboard_status status = say_hello(s, c);
    while (!status &&
           billboard_experimental_silo_state(s) != BILLBOARD_EXPERIMENTAL_DONE) {
        bool works = false;
        if (*p->watch.stop)
            return cmd_fail(BILLBOARD_INTERRUPTED,
                            p->checkpoint ? "interrupted: start it again as it was"
                                          : "interrupted");
        status = carrier_receive(c, 1.0, &got);
        if (!status && got.kind == MESSAGE_FRAME) status = take(p, s, c, &got, &works);
        if (works) of_curator.ask_again = ask_again_first;
        if (!status && is_time_to_ask(p, &of_curator, got.kind) &&
            carrier_reaches(c, 0))
            status = say_hello(s, c);
    }
    return status;
}

/* The curator has to know first who this is. */
static billboard_status say_models_are_stored(silo *s, carrier *c) {
    billboard_status status = say_hello(s, c);
    if (!status) status = billboard_experimental_silo_leave(s);
    return status ? status : say(s, c);
}

/* Until the curator has heard it, or for a while: one that is not there has ended, or is
 * about to be started again. */
static billboard_status say_bye(const place *p, silo *s, carrier *c) {
    static const double for_a_while = 30.0, say_again = 5.0;
    const double from = cmd_now();
    double said = from - say_again;
    message got = {.kind = MESSAGE_NONE};
    bool heard = false;
    billboard_status status = BILLBOARD_OK;
    while (cmd_now() - from < for_a_while && !status && !heard && !*p->watch.stop) {
        if (cmd_now() - said >= say_again && carrier_reaches(c, 0)) {
            said = cmd_now();
            status = say_models_are_stored(s, c);
        }
        if (!status && carrier_receive(c, 1.0, &got)) break; /* nobody is there */
        if (got.kind == MESSAGE_AGAIN) status = say_models_are_stored(s, c);
        if (got.kind == MESSAGE_BYE)
            heard = billboard_experimental_silo_take(s, got.frame, got.size) ==
                    BILLBOARD_OK;
    }
    return status;
}

static billboard_status store(const place *p, silo *s, FILE *stream) {
    billboard_result *result = NULL;
    billboard_status status = billboard_experimental_silo_result(s, &result);
    if (!status) status = place_store(p, result, stream);
    billboard_result_free(result);
    return status;
}

/* Before there is a silo, and before a row is read. */
static billboard_status
check_policy(const place *p, const billboard_experimental_policy *policy, carrier *c) {
    enum { TRIES = 3 };
    unsigned char refusal[BILLBOARD_EXPERIMENTAL_REFUSAL];
    size_t size = 0;
    const billboard_status why = billboard_experimental_policy_check(
        p->job, p->roster, p->way.silo, policy, refusal, &size);
    if (!size) return why;
    message got;
    char *words = strdup(billboard_error());
    billboard_status status = BILLBOARD_OK;
    for (int k = 0; k < TRIES && !status && !carrier_reaches(c, 0); k++)
        if (!*p->watch.stop) status = carrier_receive(c, 1.0, &got);
    if (!status) status = carrier_send(c, 0, refusal, size);
    return end_refused(p, c, status, why, words);
}

static billboard_status take_part(place *p, carrier *c, FILE *stream) {
    billboard_experimental_policy policy = {.struct_size = sizeof policy};
    billboard_data *data = NULL;
    silo *s = NULL;
    billboard_status status =
        billboard_experimental_agreement_policy(p->agreement, p->policy, &policy);
    if (!status) status = check_policy(p, &policy, c);
    if (!status) status = billboard_data_from_file(p->data, &data);
    if (!status)
        status = billboard_experimental_silo_open(p->job, p->roster, p->way.silo, data,
                                                  &policy, &p->watch, &s);
    if (!status && !p->stored) status = run(p, s, c);
    if (!status && !p->stored) status = store(p, s, stream);
    if (!status) status = say_bye(p, s, c);
    if (!status && p->checkpoint) billboard_experimental_silo_forget(s);
    billboard_experimental_silo_free(s);
    billboard_data_free(data);
    return status;
}

int cmd_silo(int argc, char **argv) {
    place p;
    carrier *c = NULL;
    cmd_output output = {0};
    billboard_status status = place_open(&p, argc, argv, PLACE_SILO);
    if (!status) status = cmd_open(&output);
    if (!status) status = carrier_open(&c, &p.way);
    if (!status) status = take_part(&p, c, output.stream);
    carrier_close(c);
    return place_end(&p, &output, status);
}
