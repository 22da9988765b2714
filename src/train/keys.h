/* keys.h - who signs in runs of several places: keys in files, and the roster of them, a
 * JSON file that the curator has signed. Public, but for a place's own key.
 *
 *     {"curator": "ed25519:...", "silos": {"north": "ed25519:...", ...},
 *      "helper": "ed25519:...", "signature": 128 hexadecimal digits}
 *
 * The helper is there in runs with two doors. */
#ifndef BB_TRAIN_KEYS_H
#define BB_TRAIN_KEYS_H

#include "core/wire.h"

#include <jansson.h>

typedef struct bb_keys {
    uint8_t curator[BB_SIGN_KEY], helper[BB_SIGN_KEY];
    bool has_helper;
    size_t silos;
    const char **name;             /* silos: ascending; they belong to the JSON */
    uint8_t (*silo)[BB_SIGN_KEY];  /* theirs */
    uint8_t digest[BB_HASH_BYTES]; /* SHA-256 of what is signed */
    json_t *json;
} bb_keys;

/* BB_EUSAGE: it is no roster of keys; BB_EDATA: it is no JSON, or its curator has not
 * signed it as it is; BB_EIO. To be closed also after a failure. */
BB_MUST_CHECK bb_status bb_keys_read(bb_keys *keys, const char *path);
void bb_keys_close(bb_keys *keys); /* takes a zeroed one, too */
/* Signs these silos' public keys, and the helper's (NULL: there is none), with the curator's
 * own, and writes them. BB_EUSAGE: no
 * name, one that is there twice, a text that is no key; BB_EIO. */
BB_MUST_CHECK bb_status bb_keys_write(const char *path, const uint8_t key[BB_SIGN_KEY],
                                      const char *helper, size_t silos,
                                      const char *const *name, const char *const *text);

/* Who signs at a place: its key from one file, the others' from a roster, for a run of
 * these silos. `number`: which of them it is, from 1; 0: the curator; silos + 1: the
 * helper. BB_EUSAGE: the roster has no key of a silo, or the key is not that of the place;
 * errors of both files. To be closed also after a failure. */
BB_MUST_CHECK bb_status bb_identity_open(bb_identity *identity, const char *key,
                                         const char *roster, size_t silos,
                                         const char *const *name, uint32_t number);
void bb_identity_close(bb_identity *identity); /* takes a zeroed one, too */

#endif
