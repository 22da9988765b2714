#include "train/silo.h"

#include "api/place.h"
#include "base/memory.h"
#include "data/names.h"
#include "methods/registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct billboard_experimental_silo {
    bb_api_place place;
    bb_train_silo *silo;
    bb_silo *core;
};

static bb_status take_adjacencies(const char *text, unsigned *bits) {
    bb_names names = {0};
    bb_status status = bb_names_parse(&names, text, "a policy's adjacencies");
    for (size_t k = 0; k < names.count && !status; k++) {
        const char *name = bb_names_at(&names, k);
        unsigned bit = 0;
        for (int a = BB_REPLACE_ONE; a <= BB_ADD_REMOVE; a++)
            if (strcmp(name, bb_adjacency_name((bb_adjacency)a)) == 0) bit = 1U << a;
        *bits |= bit;
        if (!bit)
            status = bb_fail(BB_EUSAGE,
                             "a policy's adjacencies: expected %s or %s, got \"%s\"",
                             bb_adjacency_name(BB_REPLACE_ONE),
                             bb_adjacency_name(BB_ADD_REMOVE), name);
    }
    bb_names_free(&names);
    return status;
}

/* What a policy borrows. */
typedef struct policy_parts {
    bb_names names;
    const char **method;
    uint8_t (*curator)[BB_SIGN_KEY], (*helper)[BB_SIGN_KEY];
} policy_parts;

static void drop_parts(policy_parts *parts) {
    bb_names_free(&parts->names);
    free(parts->method);
    free(parts->curator);
    free(parts->helper);
}

/* Public keys with commas between them; `what` they are. */
static bb_status take_keys(const char *text, const char *what,
                           uint8_t (**key)[BB_SIGN_KEY], size_t *count) {
    bb_names names = {0};
    if (!text) return BB_OK;
    bb_status status = bb_names_parse(&names, text, what);
    if (!status) status = bb_allocate(key, names.count, BB_SIGN_KEY, "a policy");
    for (size_t k = 0; k < names.count && !status; k++)
        if (!bb_sign_parse(bb_names_at(&names, k), (*key)[k]))
            status = bb_fail(BB_EUSAGE,
                             "%s: expected public keys, ed25519: and "
                             "64 hexadecimal digits, got \"%s\"",
                             what, bb_names_at(&names, k));
    *count = names.count;
    bb_names_free(&names);
    return status;
}

static bb_status take_policy(bb_silo_policy *own,
                             const billboard_experimental_policy *given,
                             policy_parts *parts) {
    billboard_experimental_policy p = {.struct_size = sizeof p};
    bb_names *names = &parts->names;
    const char ***method = &parts->method;
    bb_status status =
        given ? bb_call_struct(&p, sizeof p, given, "billboard_experimental_policy")
              : BB_OK;
    if (!status && !(p.most_epsilon >= 0.0 && p.most_delta >= 0.0))
        status = bb_fail(BB_EUSAGE,
                         "billboard_experimental_policy: epsilon %g, delta "
                         "%g: expected numbers from 0",
                         p.most_epsilon, p.most_delta);
    if (!status) status = bb_names_parse(names, p.methods, "a policy's methods");
    if (!status && p.methods)
        status = bb_allocate(method, names->count, sizeof **method, "a policy");
    for (size_t k = 0; *method && k < names->count && !status; k++) {
        (*method)[k] = bb_names_at(names, k);
        if (!bb_method_find((*method)[k]))
            status = bb_fail(BB_EUSAGE, "a policy's methods: there is no method \"%s\"",
                             (*method)[k]);
    }
    unsigned adjacencies = 0;
    if (!status) status = take_adjacencies(p.adjacencies, &adjacencies);
    *own = (bb_silo_policy){.most_epsilon = p.most_epsilon,
                            .most_delta = p.most_delta,
                            .fewest_tasks = p.fewest_tasks,
                            .fewest_silos = p.fewest_silos,
                            .method = *method,
                            .methods = names->count,
                            .adjacencies = adjacencies,
                            .allow_open = p.allow_open != 0};
    if (!status)
        status = take_keys(p.curators, "a policy's curators", &parts->curator,
                           &own->curators);
    if (!status)
        status =
            take_keys(p.helpers, "a policy's helpers", &parts->helper, &own->helpers);
    own->curator = (const uint8_t(*)[BB_SIGN_KEY])parts->curator;
    own->helper = (const uint8_t(*)[BB_SIGN_KEY])parts->helper;
    return status;
}

bb_status bb_api_policy_check(const billboard_experimental_policy *policy) {
    bb_silo_policy own;
    policy_parts parts = {.method = NULL};
    const bb_status status = take_policy(&own, policy, &parts);
    drop_parts(&parts);
    return status;
}

static bb_status open_train(billboard_experimental_silo *s, uint32_t number,
                            const billboard_data *data,
                            const billboard_experimental_policy *policy) {
    const bb_source rows = bb_data_source(data);
    bb_silo_policy own;
    policy_parts parts = {.method = NULL};
    bb_status status = take_policy(&own, policy, &parts);
    if (!status)
        status =
            bb_train_silo_open(&s->silo, &s->place.result->request, &s->place.roster,
                               number, &rows, &own, &s->place.watching);
    if (!status) s->core = bb_train_silo_core(s->silo);
    drop_parts(&parts);
    return status;
}

static bb_status check_policy(const billboard_job *job,
                              const billboard_experimental_roster *roster,
                              uint32_t number,
                              const billboard_experimental_policy *policy,
                              bb_writer *refusal) {
    bb_api_place place = {.result = NULL};
    bb_silo_policy own;
    policy_parts parts = {.method = NULL};
    bb_status status = bb_api_place_open(&place, job, roster, NULL);
    if (!status) status = take_policy(&own, policy, &parts);
    if (!status)
        status = bb_train_silo_check(&place.result->request, &place.roster, number,
                                     &own, &place.watching, refusal);
    drop_parts(&parts);
    bb_api_place_close(&place);
    return status;
}

static_assert(BILLBOARD_EXPERIMENTAL_REFUSAL >= BB_FRAME_HEADER + 8 + BB_MOST_REASON,
              "room for a refusal");

billboard_status billboard_experimental_policy_check(
    const billboard_job *job, const billboard_experimental_roster *roster,
    uint32_t number, const billboard_experimental_policy *policy, void *refusal,
    size_t *size) {
    static const char function[] = "billboard_experimental_policy_check";
    bb_writer made = {0};
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_api_place_given(job, roster, policy, "policy", function);
    if (!status && size) status = bb_call_given(refusal, function, "refusal");
    if (!status && refusal) status = bb_call_given(size, function, "size");
    if (size) *size = 0;
    if (!status)
        status = check_policy(job, roster, number, policy, refusal ? &made : NULL);
    if (size && made.length && !made.status) {
        memcpy(refusal, made.at, made.length);
        *size = made.length;
    }
    bb_writer_close(&made);
    return bb_api_place_end(&call, status);
}

static bb_status open_silo(billboard_experimental_silo **out, const billboard_job *job,
                           const billboard_experimental_roster *roster, uint32_t number,
                           const billboard_data *data,
                           const billboard_experimental_policy *policy,
                           const billboard_watch *watch) {
    billboard_experimental_silo *s = NULL;
    bb_status status = bb_allocate(&s, 1, sizeof *s, "a silo");
    if (status || !s) return status;
    status = bb_api_place_open(&s->place, job, roster, watch);
    if (!status) status = open_train(s, number, data, policy);
    if (status)
        billboard_experimental_silo_free(s);
    else
        *out = s;
    return status;
}

billboard_status billboard_experimental_silo_open(
    const billboard_job *job, const billboard_experimental_roster *roster,
    uint32_t number, const billboard_data *data,
    const billboard_experimental_policy *policy, const billboard_watch *watch,
    billboard_experimental_silo **silo) {
    static const char function[] = "billboard_experimental_silo_open";
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_api_place_given(job, roster, data, "data", function);
    if (!status) status = bb_call_given(silo, function, "silo");
    if (!status) status = open_silo(silo, job, roster, number, data, policy, watch);
    return bb_api_place_end(&call, status);
}

static bb_status look(const billboard_job *job,
                      const billboard_experimental_roster *roster, uint32_t number,
                      const billboard_data *data,
                      const billboard_experimental_policy *policy,
                      const billboard_watch *watch, json_t **about) {
    const bb_source rows = bb_data_source(data);
    bb_api_place place = {.result = NULL};
    bb_silo_policy own;
    policy_parts parts = {.method = NULL};
    bb_status status = bb_api_place_open(&place, job, roster, watch);
    if (!status) status = take_policy(&own, policy, &parts);
    if (!status)
        status = bb_train_silo_look(&place.result->request, &place.roster, number,
                                    &rows, &own, &place.watching, about);
    drop_parts(&parts);
    bb_api_place_close(&place);
    return status;
}

billboard_status billboard_experimental_silo_look(
    const billboard_job *job, const billboard_experimental_roster *roster,
    uint32_t number, const billboard_data *data,
    const billboard_experimental_policy *policy, const billboard_watch *watch,
    billboard_answer **about) {
    static const char function[] = "billboard_experimental_silo_look";
    json_t *json = NULL;
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_api_place_given(job, roster, data, "data", function);
    if (!status) status = bb_call_given(about, function, "about");
    if (!status) status = look(job, roster, number, data, policy, watch, &json);
    if (!status) status = bb_answer_open(about, json);
    return bb_api_place_end(&call, status);
}

void billboard_experimental_silo_free(billboard_experimental_silo *s) {
    if (!s) return;
    bb_train_silo_close(s->silo);
    bb_api_place_close(&s->place);
    free(s);
}

billboard_experimental_state
billboard_experimental_silo_state(const billboard_experimental_silo *s) {
    switch (bb_silo_now(s->core)) {
    case BB_SILO_WAITING:
        return BILLBOARD_EXPERIMENTAL_WAITS;
    case BB_SILO_WORK:
        return BILLBOARD_EXPERIMENTAL_WORK;
    case BB_SILO_DONE:
        return BILLBOARD_EXPERIMENTAL_DONE;
    default:
        return BILLBOARD_EXPERIMENTAL_FAILED;
    }
}

billboard_status billboard_experimental_silo_take(billboard_experimental_silo *s,
                                                  const void *frame, size_t size) {
    static const char function[] = "billboard_experimental_silo_take";
    bb_bytes bytes = {0};
    bb_call call;
    bool news;
    bb_status status = bb_api_place_begin(&call, &s->place);
    if (!status) status = bb_api_bytes(frame, size, function, &bytes);
    if (!status) status = bb_silo_take(s->core, bytes, &news);
    return bb_api_place_end(&call, status);
}

billboard_status billboard_experimental_silo_work(billboard_experimental_silo *s) {
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_silo_work(s->core);
    return bb_call_end(&call, status);
}

billboard_status billboard_experimental_silo_give(billboard_experimental_silo *s,
                                                  const void **frame, size_t *size) {
    static const char function[] = "billboard_experimental_silo_give";
    bb_bytes bytes = {0};
    bool given = false;
    bb_call call;
    bb_status status = bb_api_begin_bytes(&call, frame, size, "frame", function);
    if (!status) given = bb_silo_give(s->core, &bytes);
    if (!status) bb_api_frame(bytes, given, frame, size);
    return bb_call_end(&call, status);
}

billboard_status billboard_experimental_silo_hello(billboard_experimental_silo *s) {
    bb_call call;
    const bb_status status = bb_call_begin(&call, false);
    if (!status) bb_silo_hello(s->core);
    return bb_call_end(&call, status);
}

billboard_status billboard_experimental_silo_leave(billboard_experimental_silo *s) {
    bb_call call;
    const bb_status status = bb_call_begin(&call, false);
    if (!status) bb_silo_leave(s->core);
    return bb_call_end(&call, status);
}

void billboard_experimental_silo_gave(billboard_experimental_silo *s) {
    bb_silo_gave(s->core);
}

billboard_status billboard_experimental_silo_save(billboard_experimental_silo *s,
                                                  const void **bytes, size_t *size) {
    static const char function[] = "billboard_experimental_silo_save";
    bb_call call;
    bb_status status = bb_api_begin_bytes(&call, bytes, size, "bytes", function);
    bb_writer_close(&s->place.saved);
    if (!status) bb_silo_save(s->core, &s->place.saved);
    if (!status) status = s->place.saved.status;
    if (!status) *bytes = s->place.saved.at;
    if (!status) *size = s->place.saved.length;
    return bb_call_end(&call, status);
}

billboard_status billboard_experimental_silo_restore(billboard_experimental_silo *s,
                                                     const void *bytes, size_t size) {
    static const char function[] = "billboard_experimental_silo_restore";
    bb_bytes saved = {0};
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_api_bytes(bytes, size, function, &saved);
    if (!status) status = bb_silo_restore(s->core, saved, NULL);
    return bb_call_end(&call, status);
}

billboard_status billboard_experimental_silo_keep(billboard_experimental_silo *s) {
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_train_silo_keep(s->silo);
    return bb_call_end(&call, status);
}

void billboard_experimental_silo_forget(billboard_experimental_silo *s) {
    bb_train_silo_forget(s->silo);
}

billboard_status billboard_experimental_silo_result(billboard_experimental_silo *s,
                                                    billboard_result **result) {
    static const char function[] = "billboard_experimental_silo_result";
    bb_training *training = NULL;
    bb_call call;
    bb_status status = bb_api_place_begin(&call, &s->place);
    if (!status) status = bb_call_given(result, function, "result");
    if (!status) status = bb_train_silo_result(s->silo, &training);
    if (!status) status = bb_api_place_result(&s->place, training, result);
    return bb_api_place_end(&call, status);
}
