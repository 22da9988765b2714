#include "api/place.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Names that are numbers, as texts in one block. */
static bb_status number_texts(size_t count, const int64_t *number, char **text,
                              const char ***name) {
    enum { MOST = 24 };
    bb_status status = bb_allocate(text, count, MOST, "a roster");
    if (!status) status = bb_allocate(name, count, sizeof **name, "a roster");
    for (size_t i = 0; i < count && !status; i++) {
        snprintf(*text + i * MOST, MOST, "%lld", (long long)number[i]);
        (*name)[i] = *text + i * MOST;
    }
    return status;
}

static bb_status take_roster(bb_roster *out,
                             const billboard_experimental_roster *given) {
    billboard_experimental_roster r;
    char *text = NULL;
    const char **name = NULL;
    bb_status status =
        bb_call_struct(&r, sizeof r, given, "billboard_experimental_roster");
    if (status) return status;
    if ((r.task_name != NULL) == (r.task_number != NULL))
        return bb_fail(BB_EUSAGE, "billboard_experimental_roster: expected either "
                                  "task_name or task_number");
    if (r.silos < 1 || r.fewest_silos > r.silos)
        return bb_fail(BB_EUSAGE,
                       "billboard_experimental_roster: %u silos, of which every round "
                       "needs %u",
                       r.silos, r.fewest_silos);
    if (r.task_number) status = number_texts(r.tasks, r.task_number, &text, &name);
    if (!status)
        status = bb_roster_open(out, r.tasks, r.task_number ? name : r.task_name,
                                r.cluster, r.features, r.feature_name);
    if (!status) {
        out->silos = r.silos;
        out->fewest = r.fewest_silos;
        out->silo_name = r.silo_name;
        out->identity = r.identity ? &r.identity->own : NULL;
    }
    if (!status && r.target_name)
        status = bb_duplicate(&out->target, r.target_name, strlen(r.target_name));
    free(text);
    free(name);
    return status;
}

bb_status bb_api_place_open(bb_api_place *place, const billboard_job *job,
                            const billboard_experimental_roster *roster,
                            const billboard_watch *watch) {
    bb_status status = bb_watch_take(&place->watch, watch);
    place->watching = bb_watching(&place->watch);
    bb_ledger_on_wait(bb_watch_waits, &place->watch);
    if (!status) status = take_roster(&place->roster, roster);
    if (!status)
        status = bb_allocate(&place->result, 1, sizeof *place->result, "a result");
    return status ? status : bb_job_resolve(job, &place->result->request);
}

void bb_api_place_close(bb_api_place *place) {
    billboard_result_free(place->result);
    bb_roster_close(&place->roster);
    bb_writer_close(&place->saved);
}

bb_status bb_api_place_result(bb_api_place *place, bb_training *training,
                              billboard_result **result) {
    billboard_result *made = place->result;
    made->training = training;
    place->result = NULL;
    const bb_status status = bb_result_fill(made);
    if (status)
        billboard_result_free(made);
    else
        *result = made;
    return status;
}

bb_status bb_api_place_begin(bb_call *call, bb_api_place *place) {
    const bb_status status = bb_call_begin(call, true);
    bb_ledger_on_wait(bb_watch_waits, &place->watch);
    return status;
}

billboard_status bb_api_place_end(bb_call *call, bb_status status) {
    bb_ledger_on_wait(NULL, NULL);
    return bb_call_end(call, status);
}

bb_status bb_api_place_given(const billboard_job *job,
                             const billboard_experimental_roster *roster,
                             const void *out, const char *what, const char *function) {
    bb_status status = bb_call_given(job, function, "job");
    if (!status) status = bb_call_given(roster, function, "roster");
    return status ? status : bb_call_given(out, function, what);
}

bb_status bb_api_begin_bytes(bb_call *call, const void **at, size_t *size,
                             const char *at_is, const char *function) {
    bb_status status = bb_call_begin(call, false);
    if (!status) status = bb_call_given(at, function, at_is);
    return status ? status : bb_call_given(size, function, "size");
}

void bb_api_frame(bb_bytes frame, bool there, const void **at, size_t *size) {
    *at = there ? frame.at : NULL;
    *size = there ? frame.length : 0;
}

bb_status bb_api_bytes(const void *at, size_t size, const char *function,
                       bb_bytes *bytes) {
    *bytes = (bb_bytes){at, size};
    return size ? bb_call_given(at, function, "bytes") : BB_OK;
}
