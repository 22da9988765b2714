#include "train/curator.h"

#include "api/place.h"
#include "base/memory.h"

#include <stdlib.h>

struct billboard_experimental_curator {
    bb_api_place place;
    bb_train_curator *curator;
    bb_curator *core;
};

static bb_status open_curator(billboard_experimental_curator **out,
                              const billboard_job *job,
                              const billboard_experimental_roster *roster,
                              const billboard_watch *watch, const bb_bytes *saved) {
    billboard_experimental_curator *c = NULL;
    bb_status status = bb_allocate(&c, 1, sizeof *c, "a curator");
    if (status || !c) return status;
    status = bb_api_place_open(&c->place, job, roster, watch);
    if (!status)
        status = bb_train_curator_open(&c->curator, &c->place.result->request,
                                       &c->place.roster, &c->place.watching, saved);
    if (!status) c->core = bb_train_curator_core(c->curator);
    if (status)
        billboard_experimental_curator_free(c);
    else
        *out = c;
    return status;
}

billboard_status billboard_experimental_curator_open(
    const billboard_job *job, const billboard_experimental_roster *roster,
    const billboard_watch *watch, billboard_experimental_curator **curator) {
    static const char function[] = "billboard_experimental_curator_open";
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_api_place_given(job, roster, curator, "curator", function);
    if (!status) status = open_curator(curator, job, roster, watch, NULL);
    return bb_api_place_end(&call, status);
}

billboard_status billboard_experimental_curator_restore(
    const billboard_job *job, const billboard_experimental_roster *roster,
    const billboard_watch *watch, const void *bytes, size_t size,
    billboard_experimental_curator **curator) {
    static const char function[] = "billboard_experimental_curator_restore";
    bb_bytes saved = {0};
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_api_place_given(job, roster, curator, "curator", function);
    if (!status) status = bb_api_bytes(bytes, size, function, &saved);
    if (!status) status = open_curator(curator, job, roster, watch, &saved);
    return bb_api_place_end(&call, status);
}

void billboard_experimental_curator_free(billboard_experimental_curator *c) {
    if (!c) return;
    bb_train_curator_close(c->curator);
    bb_api_place_close(&c->place);
    free(c);
}

billboard_experimental_state
billboard_experimental_curator_state(const billboard_experimental_curator *c) {
    switch (bb_curator_now(c->core)) {
    case BB_CURATOR_WAITS:
        return BILLBOARD_EXPERIMENTAL_WAITS;
    case BB_CURATOR_COMPLETE:
        return BILLBOARD_EXPERIMENTAL_COMPLETE;
    case BB_CURATOR_PUBLISHED:
        return BILLBOARD_EXPERIMENTAL_PUBLISHED;
    case BB_CURATOR_DONE:
        return bb_curator_gave_all(c->core) ? BILLBOARD_EXPERIMENTAL_DONE
                                            : BILLBOARD_EXPERIMENTAL_WAITS;
    default:
        return BILLBOARD_EXPERIMENTAL_FAILED;
    }
}

billboard_status billboard_experimental_curator_take(billboard_experimental_curator *c,
                                                     const void *frame, size_t size) {
    static const char function[] = "billboard_experimental_curator_take";
    bb_bytes bytes = {0};
    bb_call call;
    bool news;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_api_bytes(frame, size, function, &bytes);
    if (!status) status = bb_curator_take(c->core, bytes, &news);
    return bb_call_end(&call, status);
}

billboard_status
billboard_experimental_curator_close_round(billboard_experimental_curator *c) {
    bb_call call;
    bb_status status = bb_api_place_begin(&call, &c->place);
    if (!status) status = bb_train_curator_close_round(c->curator);
    return bb_api_place_end(&call, status);
}

billboard_status
billboard_experimental_curator_go_on(billboard_experimental_curator *c) {
    const uint32_t round = bb_curator_round(c->core);
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_curator_go_on(c->core);
    if (!status)
        bb_watch_say(&c->place.watch, "round", round, bb_curator_plan(c->core)->rounds);
    return bb_call_end(&call, status);
}

billboard_status billboard_experimental_curator_give(billboard_experimental_curator *c,
                                                     uint32_t silo, const void **frame,
                                                     size_t *size) {
    static const char function[] = "billboard_experimental_curator_give";
    bb_bytes bytes = {0};
    bb_call call;
    bool given = false;
    bb_status status = bb_api_begin_bytes(&call, frame, size, "frame", function);
    if (!status) status = bb_curator_give(c->core, silo, &bytes, &given);
    if (!status) bb_api_frame(bytes, given, frame, size);
    return bb_call_end(&call, status);
}

void billboard_experimental_curator_again(billboard_experimental_curator *c,
                                          uint32_t silo) {
    bb_curator_again(c->core, silo);
}

int billboard_experimental_curator_waits_for(const billboard_experimental_curator *c,
                                             uint32_t silo) {
    return bb_curator_waits_for(c->core, silo);
}

billboard_status
billboard_experimental_curator_progress(const billboard_experimental_curator *c,
                                        billboard_answer **answer) {
    static const char function[] = "billboard_experimental_curator_progress";
    json_t *json = NULL;
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(answer, function, "answer");
    if (!status) status = bb_train_curator_progress(c->curator, &json);
    if (!status) status = bb_answer_open(answer, json);
    return bb_call_end(&call, status);
}

void billboard_experimental_curator_stop(billboard_experimental_curator *c,
                                         billboard_status why) {
    switch (why) {
    case BILLBOARD_BUDGET:
        bb_curator_stop(c->core, BB_STOP_BUDGET);
        break;
    case BILLBOARD_INTERRUPTED:
        bb_curator_stop(c->core, BB_STOP_CANCELLED);
        break;
    case BILLBOARD_USAGE:
        bb_curator_stop(c->core, BB_STOP_SILOS);
        break;
    default:
        bb_curator_stop(c->core, BB_STOP_FAILED);
        break;
    }
}

billboard_status billboard_experimental_curator_save(billboard_experimental_curator *c,
                                                     const void **bytes, size_t *size) {
    static const char function[] = "billboard_experimental_curator_save";
    bb_call call;
    bb_status status = bb_api_begin_bytes(&call, bytes, size, "bytes", function);
    bb_writer_close(&c->place.saved);
    if (!status) status = bb_train_curator_save(c->curator, &c->place.saved);
    if (!status) *bytes = c->place.saved.at;
    if (!status) *size = c->place.saved.length;
    return bb_call_end(&call, status);
}

billboard_status
billboard_experimental_curator_keep(billboard_experimental_curator *c) {
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_train_curator_keep(c->curator);
    return bb_call_end(&call, status);
}

void billboard_experimental_curator_forget(billboard_experimental_curator *c) {
    bb_train_curator_forget(c->curator);
}

billboard_status
billboard_experimental_curator_result(billboard_experimental_curator *c,
                                      billboard_result **result) {
    static const char function[] = "billboard_experimental_curator_result";
    bb_training *training = NULL;
    bb_call call;
    bb_status status = bb_api_place_begin(&call, &c->place);
    if (!status) status = bb_call_given(result, function, "result");
    if (!status) status = bb_train_curator_result(c->curator, &training);
    if (!status) status = bb_api_place_result(&c->place, training, result);
    return bb_api_place_end(&call, status);
}
