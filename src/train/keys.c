#include "train/keys.h"

#include "base/json.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* What a curator signs: that it is a roster, of which version, its own key, and who has
 * which. */
static bb_status put_roster(const bb_keys *keys, bb_writer *out) {
    bb_put_text(out, "billboard roster");
    bb_put_u32(out, BB_WIRE_VERSION);
    bb_put_bytes(out, keys->curator, BB_SIGN_KEY);
    bb_put_u64(out, keys->silos);
    for (size_t k = 0; k < keys->silos; k++) {
        bb_put_text(out, keys->name[k]);
        bb_put_bytes(out, keys->silo[k], BB_SIGN_KEY);
    }
    bb_put_u32(out, keys->has_helper);
    if (keys->has_helper) bb_put_bytes(out, keys->helper, BB_SIGN_KEY);
    return out->status;
}

static int compare(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* Silos in the order of their names, whatever order the file has. */
static bb_status take_silos(bb_keys *keys, const char *path) {
    json_t *silos = json_object_get(keys->json, "silos");
    const char *name;
    json_t *value;
    size_t k = 0;
    keys->silos = json_object_size(silos);
    if (!keys->silos)
        return bb_fail(BB_EUSAGE, "%s: \"silos\": expected names and their keys", path);
    bb_status status =
        bb_allocate(&keys->name, keys->silos, sizeof *keys->name, "a roster");
    if (!status)
        status = bb_allocate(&keys->silo, keys->silos, BB_SIGN_KEY, "a roster");
    if (status) return status;
    json_object_foreach(silos, name, value) keys->name[k++] = name;
    qsort(keys->name, keys->silos, sizeof *keys->name, compare);
    for (k = 0; k < keys->silos; k++) {
        const char *text = json_string_value(json_object_get(silos, keys->name[k]));
        if (!text || !bb_sign_parse(text, keys->silo[k]))
            return bb_fail(BB_EUSAGE,
                           "%s: \"%s\": expected a public key, ed25519: and 64 "
                           "hexadecimal digits",
                           path, keys->name[k]);
    }
    return BB_OK;
}

static bb_status take_helper(bb_keys *keys, const char *path) {
    const json_t *helper = json_object_get(keys->json, "helper");
    const char *text = json_string_value(helper);
    keys->has_helper = helper != NULL;
    if (!helper || (text && bb_sign_parse(text, keys->helper))) return BB_OK;
    return bb_fail(BB_EUSAGE,
                   "%s: \"helper\": expected a public key, ed25519: and 64 hexadecimal "
                   "digits",
                   path);
}

static bb_status take(bb_keys *keys, const char *path,
                      uint8_t signature[BB_SIGN_BYTES]) {
    const char *curator = json_string_value(json_object_get(keys->json, "curator"));
    const char *sign = json_string_value(json_object_get(keys->json, "signature"));
    bb_status status = take_helper(keys, path);
    if (status) return status;
    if (json_object_size(keys->json) != 3U + keys->has_helper || !curator || !sign)
        return bb_fail(BB_EUSAGE,
                       "%s: expected a roster of keys: curator, silos, signature and, "
                       "with two doors, helper",
                       path);
    if (!bb_sign_parse(curator, keys->curator))
        return bb_fail(BB_EUSAGE,
                       "%s: \"curator\": expected a public key, ed25519: and 64 "
                       "hexadecimal digits",
                       path);
    if (!bb_hash_parse(sign, signature, BB_SIGN_BYTES))
        return bb_fail(BB_EUSAGE, "%s: \"signature\": expected 128 hexadecimal digits",
                       path);
    return take_silos(keys, path);
}

static bb_status check(bb_keys *keys, const char *path,
                       const uint8_t signature[BB_SIGN_BYTES]) {
    bb_writer said = {0};
    bb_hash hash;
    bb_status status = put_roster(keys, &said);
    if (!status && !bb_sign_holds(keys->curator, said.at, said.length, signature))
        status = bb_fail(
            BB_EDATA, "%s: the curator that it names has not signed it as it is", path);
    if (!status) {
        bb_hash_open(&hash);
        bb_hash_add(&hash, said.at, said.length);
        bb_hash_digest(&hash, keys->digest);
    }
    bb_writer_close(&said);
    return status;
}

bb_status bb_keys_read(bb_keys *keys, const char *path) {
    uint8_t signature[BB_SIGN_BYTES];
    *keys = (bb_keys){.silos = 0};
    bb_status status = bb_json_read_file(&keys->json, path);
    if (!status) status = take(keys, path, signature);
    return status ? status : check(keys, path, signature);
}

void bb_keys_close(bb_keys *keys) {
    free(keys->name);
    free(keys->silo);
    json_decref(keys->json);
    *keys = (bb_keys){.silos = 0};
}

/* -- writing -- */

static bb_status make(bb_keys *keys, const char *helper, size_t silos,
                      const char *const *name, const char *const *text) {
    char curator[BB_SIGN_KEY_TEXT];
    bb_sign_text(keys->curator, curator);
    keys->json = json_pack("{s:s,s:{}}", "curator", curator, "silos");
    json_t *list = json_object_get(keys->json, "silos");
    if (helper && list &&
        json_object_set_new(keys->json, "helper", json_string(helper)))
        return bb_fail(BB_EUSAGE, "a roster of keys: the helper's: expected UTF-8");
    if (!list) return bb_fail(BB_ENOMEM, "no memory for a roster");
    for (size_t k = 0; k < silos; k++) {
        if (!*name[k] || json_object_get(list, name[k]))
            return bb_fail(BB_EUSAGE, "a roster of keys: silo \"%s\" %s", name[k],
                           *name[k] ? "is there twice" : "has no name");
        if (json_object_set_new(list, name[k], json_string(text[k])))
            return bb_fail(BB_EUSAGE, "a roster of keys: \"%s\": expected UTF-8",
                           name[k]);
    }
    const bb_status status = take_helper(keys, "a roster of keys");
    return status ? status : take_silos(keys, "a roster of keys");
}

bb_status bb_keys_write(const char *path, const uint8_t key[BB_SIGN_KEY],
                        const char *helper, size_t silos, const char *const *name,
                        const char *const *text) {
    uint8_t signature[BB_SIGN_BYTES];
    char digits[2 * BB_SIGN_BYTES + 1];
    bb_keys keys = {.silos = 0};
    bb_writer said = {0};
    bb_status status = bb_sign_public(key, keys.curator);
    if (!status) status = make(&keys, helper, silos, name, text);
    if (!status) status = put_roster(&keys, &said);
    if (!status) status = bb_sign(key, said.at, said.length, signature);
    if (!status) {
        bb_hash_digits(signature, sizeof signature, digits);
        if (json_object_set_new(keys.json, "signature", json_string(digits)))
            status = bb_fail(BB_ENOMEM, "no memory for a roster");
    }
    if (!status) status = bb_json_write_file(path, keys.json);
    bb_writer_close(&said);
    bb_keys_close(&keys);
    return status;
}

/* -- a place -- */

static bb_status find_silos(bb_identity *identity, const bb_keys *keys,
                            const char *path, size_t silos, const char *const *name) {
    const bb_status status =
        bb_allocate(&identity->silo, silos, BB_SIGN_KEY, "an identity");
    for (size_t k = 0; k < silos && !status; k++) {
        const char *const *at =
            bsearch(&name[k], keys->name, keys->silos, sizeof *keys->name, compare);
        if (!at)
            return bb_fail(BB_EUSAGE, "%s: there is no key of silo \"%s\" in it", path,
                           name[k]);
        memcpy(identity->silo[k], keys->silo[at - keys->name], BB_SIGN_KEY);
    }
    return status;
}

static bb_status check_own(const bb_identity *identity, const char *key,
                           const char *roster, size_t silos, const char *const *name,
                           uint32_t number) {
    uint8_t own[BB_SIGN_KEY];
    const bool helps = number > silos;
    const uint8_t *is = helps    ? identity->helper
                        : number ? identity->silo[number - 1]
                                 : identity->curator;
    const bb_status status = bb_sign_public(identity->key, own);
    const bool there = !helps || identity->has_helper;
    if (status || (there && memcmp(own, is, sizeof own) == 0)) return status;
    return bb_fail(BB_EUSAGE, "%s: is not the key that %s has for %s%s", key, roster,
                   helps    ? "the helper"
                   : number ? "silo "
                            : "the curator",
                   number && !helps ? name[number - 1] : "");
}

bb_status bb_identity_open(bb_identity *identity, const char *key, const char *roster,
                           size_t silos, const char *const *name, uint32_t number) {
    bb_keys keys = {.silos = 0};
    *identity = (bb_identity){.silo = NULL};
    bb_status status = bb_sign_read_file(key, identity->key);
    if (!status) status = bb_keys_read(&keys, roster);
    if (!status) status = find_silos(identity, &keys, roster, silos, name);
    memcpy(identity->curator, keys.curator, BB_SIGN_KEY);
    memcpy(identity->helper, keys.helper, BB_SIGN_KEY);
    identity->has_helper = keys.has_helper;
    memcpy(identity->roster, keys.digest, BB_HASH_BYTES);
    if (!status) status = check_own(identity, key, roster, silos, name, number);
    bb_keys_close(&keys);
    return status;
}

void bb_identity_close(bb_identity *identity) {
    bb_sign_forget(identity->key);
    free(identity->silo);
    *identity = (bb_identity){.silo = NULL};
}
