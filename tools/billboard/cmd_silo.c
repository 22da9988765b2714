/* billboard silo: one place's part of a run. */
#include "place.h"

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

/* A frame that is none for this silo now changes nothing, and is told. */
static billboard_status take(place *p, silo *s, carrier *c, const message *got) {
    billboard_status status =
        billboard_experimental_silo_take(s, got->frame, got->size);
    if (status &&
        billboard_experimental_silo_state(s) != BILLBOARD_EXPERIMENTAL_FAILED) {
        place_say(p, "a message was left out: %s", billboard_error());
        return BILLBOARD_OK;
    }
    if (!status && billboard_experimental_silo_state(s) == BILLBOARD_EXPERIMENTAL_WORK)
        status = billboard_experimental_silo_work(s);
    return status ? status : answer(p, s, c);
}

static billboard_status run(place *p, silo *s, carrier *c) {
    message got;
    billboard_status status = carrier_say(c, MESSAGE_HELLO);
    while (!status &&
           billboard_experimental_silo_state(s) != BILLBOARD_EXPERIMENTAL_DONE) {
        if (*p->watch.stop)
            return cmd_fail(BILLBOARD_INTERRUPTED,
                            p->checkpoint ? "interrupted: start it again as it was"
                                          : "interrupted");
        status = carrier_receive(c, 1.0, &got);
        if (!status && got.kind == MESSAGE_FRAME) status = take(p, s, c, &got);
        if (!status && got.kind == MESSAGE_AGAIN)
            status = carrier_say(c, MESSAGE_HELLO);
    }
    return status;
}

/* What was said has to leave before the process ends. A curator that is not there has
 * ended, or is about to be started again. */
static billboard_status say_bye(const place *p, carrier *c) {
    enum { TRIES = 30 };
    message got;
    billboard_status status = BILLBOARD_OK;
    for (int k = 0; k < TRIES && !status && !carrier_reaches(c, 0); k++)
        if (!*p->watch.stop) status = carrier_receive(c, 1.0, &got);
    if (!status) status = carrier_say(c, MESSAGE_BYE);
    while (!status && !carrier_is_empty(c) && !*p->watch.stop)
        status = carrier_receive(c, 1.0, &got);
    return status;
}

static billboard_status store(const place *p, silo *s, FILE *stream) {
    billboard_result *result = NULL;
    billboard_status status = billboard_experimental_silo_result(s, &result);
    if (!status) status = place_store(p, result, stream);
    billboard_result_free(result);
    return status;
}

static billboard_status take_part(place *p, carrier *c, FILE *stream) {
    billboard_experimental_policy policy = {.struct_size = sizeof policy};
    billboard_data *data = NULL;
    silo *s = NULL;
    billboard_status status =
        billboard_experimental_agreement_policy(p->agreement, p->policy, &policy);
    if (!status) status = billboard_data_from_file(p->data, &data);
    if (!status)
        status = billboard_experimental_silo_open(p->job, p->roster, p->way.silo, data,
                                                  &policy, &p->watch, &s);
    if (!status && !p->stored) status = run(p, s, c);
    if (!status && !p->stored) status = store(p, s, stream);
    if (!status) status = say_bye(p, c);
    if (!status && p->checkpoint) billboard_experimental_silo_forget(s);
    billboard_experimental_silo_free(s);
    billboard_data_free(data);
    return status;
}

int cmd_silo(int argc, char **argv) {
    place p;
    carrier *c = NULL;
    cmd_output output = {0};
    billboard_status status = place_open(&p, argc, argv, true);
    if (!status) status = cmd_open(&output);
    if (!status) status = carrier_open(&c, &p.way);
    if (!status) status = take_part(&p, c, output.stream);
    carrier_close(c);
    return place_end(&p, &output, status);
}
