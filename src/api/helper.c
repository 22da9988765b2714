#include "train/helper.h"

#include "api/place.h"
#include "base/memory.h"

#include <stdlib.h>

struct billboard_experimental_helper {
    bb_api_place place;
    bb_train_helper *helper;
    bb_helper *core;
};

static bb_status open_helper(billboard_experimental_helper **out,
                             const billboard_job *job,
                             const billboard_experimental_roster *roster,
                             const billboard_watch *watch) {
    billboard_experimental_helper *h = NULL;
    bb_status status = bb_allocate(&h, 1, sizeof *h, "a helper");
    if (status || !h) return status;
    status = bb_api_place_open(&h->place, job, roster, watch);
    if (!status)
        status = bb_train_helper_open(&h->helper, &h->place.result->request,
                                      &h->place.roster, &h->place.watching);
    if (!status) h->core = bb_train_helper_core(h->helper);
    if (status)
        billboard_experimental_helper_free(h);
    else
        *out = h;
    return status;
}

billboard_status billboard_experimental_helper_open(
    const billboard_job *job, const billboard_experimental_roster *roster,
    const billboard_watch *watch, billboard_experimental_helper **helper) {
    static const char function[] = "billboard_experimental_helper_open";
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_api_place_given(job, roster, helper, "helper", function);
    if (!status) status = open_helper(helper, job, roster, watch);
    return bb_api_place_end(&call, status);
}

void billboard_experimental_helper_free(billboard_experimental_helper *h) {
    if (!h) return;
    bb_train_helper_close(h->helper);
    bb_api_place_close(&h->place);
    free(h);
}

billboard_experimental_state
billboard_experimental_helper_state(const billboard_experimental_helper *h) {
    switch (bb_helper_now(h->core)) {
    case BB_HELPER_WAITING:
        return BILLBOARD_EXPERIMENTAL_WAITS;
    case BB_HELPER_DONE:
        return BILLBOARD_EXPERIMENTAL_DONE;
    default:
        return BILLBOARD_EXPERIMENTAL_FAILED;
    }
}

uint32_t billboard_experimental_helper_rounds(const billboard_experimental_helper *h) {
    return bb_helper_rounds(h->core);
}

billboard_status billboard_experimental_helper_take(billboard_experimental_helper *h,
                                                    const void *frame, size_t size) {
    static const char function[] = "billboard_experimental_helper_take";
    bb_bytes bytes = {0};
    bb_call call;
    bool news;
    bb_status status = bb_api_place_begin(&call, &h->place);
    if (!status) status = bb_api_bytes(frame, size, function, &bytes);
    if (!status) status = bb_helper_take(h->core, bytes, &news);
    return bb_api_place_end(&call, status);
}

billboard_status billboard_experimental_helper_give(billboard_experimental_helper *h,
                                                    const void **frame, size_t *size) {
    static const char function[] = "billboard_experimental_helper_give";
    bb_bytes bytes = {0};
    bool given = false;
    bb_call call;
    bb_status status = bb_api_begin_bytes(&call, frame, size, "frame", function);
    if (!status) given = bb_helper_give(h->core, &bytes);
    if (!status) bb_api_frame(bytes, given, frame, size);
    return bb_call_end(&call, status);
}

void billboard_experimental_helper_gave(billboard_experimental_helper *h) {
    bb_helper_gave(h->core);
}

billboard_status billboard_experimental_helper_hello(billboard_experimental_helper *h) {
    bb_call call;
    const bb_status status = bb_call_begin(&call, false);
    if (!status) bb_helper_hello(h->core);
    return bb_call_end(&call, status);
}

billboard_status billboard_experimental_helper_leave(billboard_experimental_helper *h) {
    bb_call call;
    const bb_status status = bb_call_begin(&call, false);
    if (!status) bb_helper_leave(h->core);
    return bb_call_end(&call, status);
}

billboard_status billboard_experimental_helper_keep(billboard_experimental_helper *h) {
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_train_helper_keep(h->helper);
    return bb_call_end(&call, status);
}

billboard_status billboard_experimental_helper_store(billboard_experimental_helper *h,
                                                     const char *path) {
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status)
        status = bb_call_given(path, "billboard_experimental_helper_store", "path");
    if (!status) status = bb_train_helper_store(h->helper, path);
    return bb_call_end(&call, status);
}

void billboard_experimental_helper_forget(billboard_experimental_helper *h) {
    bb_train_helper_forget(h->helper);
}
