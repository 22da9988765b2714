/* billboard helper: the second door of a run of several places. */
#include "talk.h"

typedef billboard_experimental_helper helper;

static billboard_status help(place *p, carrier *c, FILE *stream) {
    helper *h = NULL;
    bool heard;
    billboard_status status =
        billboard_experimental_helper_open(p->job, p->roster, &p->watch, &h);
    if (!status) status = carrier_hold(c);
    const talk with_curator = {.place = p, .carrier = c, .helper = h};
    /* this run's key is drawn, and kept before anybody hears of it */
    if (!status && p->checkpoint) status = billboard_experimental_helper_keep(h);
    if (!status) status = talk_run(&with_curator);
    if (!status && p->checkpoint) status = billboard_experimental_helper_keep(h);
    if (!status && p->output && !p->stored)
        status = billboard_experimental_helper_store(h, p->output);
    if (!status) status = talk_bye(&with_curator, &heard);
    if (!status) billboard_experimental_helper_forget(h);
    if (!status) {
        const uint32_t rounds = billboard_experimental_helper_rounds(h);
        fprintf(stream,
                "%u round%s answered, each once and with this door's own noise\n",
                rounds, cmd_plural(rounds));
    }
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
