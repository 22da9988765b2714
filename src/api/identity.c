/* Keys of places, and the roster of them. */
#include "api/call.h"
#include "api/place.h"
#include "base/memory.h"
#include "train/keys.h"

#include <stdlib.h>

/* What may be told of a private key. */
static bb_status tell(const uint8_t key[BB_SIGN_KEY], billboard_answer **answer) {
    uint8_t public_key[BB_SIGN_KEY];
    char text[BB_SIGN_KEY_TEXT];
    const bb_status status = bb_sign_public(key, public_key);
    if (status) return status;
    bb_sign_text(public_key, text);
    return bb_answer_open(answer, json_pack("{s:s}", "public", text));
}

billboard_status billboard_experimental_identity_new(const char *path,
                                                     billboard_answer **answer) {
    static const char function[] = "billboard_experimental_identity_new";
    uint8_t key[BB_SIGN_KEY] = {0};
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = bb_call_given(answer, function, "answer");
    if (!status) status = bb_sign_new(key);
    if (!status) status = bb_sign_write_file(path, key);
    if (!status) status = tell(key, answer);
    bb_sign_forget(key);
    return bb_call_end(&call, status);
}

billboard_status billboard_experimental_identity_read(const char *path,
                                                      billboard_answer **answer) {
    static const char function[] = "billboard_experimental_identity_read";
    uint8_t key[BB_SIGN_KEY] = {0};
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = bb_call_given(answer, function, "answer");
    if (!status) status = bb_sign_read_file(path, key);
    if (!status) status = tell(key, answer);
    bb_sign_forget(key);
    return bb_call_end(&call, status);
}

billboard_status billboard_experimental_keys_write(const char *path, const char *key,
                                                   const char *helper, size_t silos,
                                                   const char *const *name,
                                                   const char *const *public_key) {
    static const char function[] = "billboard_experimental_keys_write";
    uint8_t own[BB_SIGN_KEY] = {0};
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = bb_call_given(key, function, "key");
    for (size_t k = 0; k < silos && !status; k++) {
        status = bb_call_given(name ? name[k] : NULL, function, "name");
        if (!status)
            status = bb_call_given(public_key ? public_key[k] : NULL, function,
                                   "public_key");
    }
    if (!status) status = bb_sign_read_file(key, own);
    if (!status) status = bb_keys_write(path, own, helper, silos, name, public_key);
    bb_sign_forget(own);
    return bb_call_end(&call, status);
}

static json_t *say_keys(const bb_keys *keys) {
    char text[BB_SIGN_KEY_TEXT];
    json_t *list = json_array();
    for (size_t k = 0; k < keys->silos; k++) {
        bb_sign_text(keys->silo[k], text);
        bb_json_append(&list,
                       json_pack("{s:s,s:s}", "name", keys->name[k], "public", text));
    }
    char helper[BB_SIGN_KEY_TEXT];
    bb_sign_text(keys->curator, text);
    bb_sign_text(keys->helper, helper);
    return list ? json_pack("{s:s,s:s?,s:o}", "curator", text, "helper",
                            keys->has_helper ? helper : NULL, "silos", list)
                : NULL;
}

billboard_status billboard_experimental_keys_read(const char *path,
                                                  billboard_answer **answer) {
    static const char function[] = "billboard_experimental_keys_read";
    bb_keys keys = {.silos = 0};
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = bb_call_given(answer, function, "answer");
    if (!status) status = bb_keys_read(&keys, path);
    if (!status) status = bb_answer_open(answer, say_keys(&keys));
    bb_keys_close(&keys);
    return bb_call_end(&call, status);
}

/* -- a place that a program opens itself -- */

static bb_status open_identity(billboard_experimental_identity **out, const char *key,
                               const char *keys, uint32_t silos,
                               const char *const *name, uint32_t number) {
    billboard_experimental_identity *identity = NULL;
    bb_status status = bb_allocate(&identity, 1, sizeof *identity, "an identity");
    if (status || !identity) return status;
    status = bb_identity_open(&identity->own, key, keys, silos, name, number);
    if (status)
        billboard_experimental_identity_free(identity);
    else
        *out = identity;
    return status;
}

billboard_status
billboard_experimental_identity_open(const char *key, const char *keys, uint32_t silos,
                                     const char *const *name, uint32_t number,
                                     billboard_experimental_identity **identity) {
    static const char function[] = "billboard_experimental_identity_open";
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(key, function, "key");
    if (!status) status = bb_call_given(keys, function, "keys");
    if (!status) status = bb_call_given(identity, function, "identity");
    for (uint32_t k = 0; k < silos && !status; k++)
        status = bb_call_given(name ? name[k] : NULL, function, "name");
    if (!status && number > silos && number - silos > 1)
        status = bb_fail(BB_EUSAGE, "silo number %u of %u", number, silos);
    if (!status) status = open_identity(identity, key, keys, silos, name, number);
    return bb_call_end(&call, status);
}

void billboard_experimental_identity_free(billboard_experimental_identity *identity) {
    if (!identity) return;
    bb_identity_close(&identity->own);
    free(identity);
}
