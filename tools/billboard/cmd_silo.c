/* billboard silo: one place's part of a run. */
#include "talk.h"

#include <string.h>

typedef billboard_experimental_silo silo;

/* Kept first: a ledger that says that the run is done, and a run directory that cannot be
 * written now, leave what is needed to write it later. */
static billboard_status store(const place *p, silo *s, FILE *stream) {
    billboard_result *result = NULL;
    billboard_status status =
        p->checkpoint ? billboard_experimental_silo_keep(s) : BILLBOARD_OK;
    if (!status) status = billboard_experimental_silo_result(s, &result);
    if (!status) status = place_store(p, result, stream);
    billboard_result_free(result);
    return status;
}

/* A curator that may wait for this place has to hear of it once more. */
static void end(place *p, silo *s, bool heard) {
    if (heard)
        billboard_experimental_silo_forget(s);
    else
        place_say(
            p,
            "the curator has not said that it knows that the models are here: %s is "
            "kept; start this again with it if it waits for this place",
            p->checkpoint);
}

/* Before there is a silo, and before a row is read. */
static billboard_status
check_policy(place *p, const billboard_experimental_policy *policy, carrier *c) {
    enum { TRIES = 3 };
    unsigned char refusal[BILLBOARD_EXPERIMENTAL_REFUSAL];
    size_t size = 0;
    const billboard_status looked = place_look_for_ledger(p);
    if (looked) return looked;
    const billboard_status why = billboard_experimental_policy_check(
        p->job, p->roster, p->way.silo, policy, refusal, &size);
    place_say_ledger(p);
    if (!size) return why;
    message got;
    char *words = strdup(billboard_error());
    billboard_status status = BILLBOARD_OK;
    for (int k = 0; k < TRIES && !status && !carrier_reaches(c, 0); k++)
        if (!*p->watch.stop) status = carrier_receive(c, 1.0, &got);
    if (!status) status = carrier_send(c, 0, refusal, size);
    return talk_end_refused(p, c, status, why, words);
}

static billboard_status take_part(place *p, carrier *c, FILE *stream) {
    billboard_experimental_policy policy = {.struct_size = sizeof policy};
    billboard_data *data = NULL;
    silo *s = NULL;
    bool heard = false;
    billboard_status status =
        billboard_experimental_agreement_policy(p->agreement, p->policy, &policy);
    if (!status) status = check_policy(p, &policy, c);
    if (!status) status = billboard_data_from_file(p->data, &data);
    if (!status)
        status = billboard_experimental_silo_open(p->job, p->roster, p->way.silo, data,
                                                  &policy, &p->watch, &s);
    const talk with_curator = {.place = p, .carrier = c, .silo = s};
    if (!status && !p->stored) status = talk_run(&with_curator);
    if (!status && !p->stored) status = store(p, s, stream);
    if (!status) status = talk_bye(&with_curator, &heard);
    if (!status && p->checkpoint) end(p, s, heard);
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
    if (!status && p.over) return place_end(&p, &output, status);
    if (!status) status = carrier_open(&c, &p.way);
    if (!status) status = take_part(&p, c, output.stream);
    carrier_close(c);
    return place_end(&p, &output, status);
}
