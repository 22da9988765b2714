/* sign.h - signatures by Ed25519 (RFC 8032, OpenSSL's), and the files that keys are in.
 *
 * A private key is a PEM file in PKCS #8, as `openssl genpkey -algorithm ed25519' makes
 * one, which nobody but its owner may read. A public key is written "ed25519:" and 64
 * hexadecimal digits. */
#ifndef BB_BASE_SIGN_H
#define BB_BASE_SIGN_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BB_SIGN_KEY = 32,      /* bytes of a key, private or public */
    BB_SIGN_BYTES = 64,    /* of a signature */
    BB_SIGN_KEY_TEXT = 73, /* "ed25519:", digits and a zero */
};

/* A new private key, by the operating system's entropy. BB_EIO. */
BB_MUST_CHECK bb_status bb_sign_new(uint8_t key[BB_SIGN_KEY]);
BB_MUST_CHECK bb_status bb_sign_public(const uint8_t key[BB_SIGN_KEY],
                                       uint8_t public_key[BB_SIGN_KEY]);
/* BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_sign(const uint8_t key[BB_SIGN_KEY], const void *bytes,
                                size_t size, uint8_t signature[BB_SIGN_BYTES]);
/* Whether the owner of the key has signed these bytes. */
bool bb_sign_holds(const uint8_t public_key[BB_SIGN_KEY], const void *bytes,
                   size_t size, const uint8_t signature[BB_SIGN_BYTES]);
/* Overwrites a private key. */
void bb_sign_forget(uint8_t key[BB_SIGN_KEY]);

/* BB_EUSAGE: there is a file; BB_EIO. */
BB_MUST_CHECK bb_status bb_sign_write_file(const char *path,
                                           const uint8_t key[BB_SIGN_KEY]);
/* BB_EUSAGE: others may read it; BB_EDATA: no such key, or one behind a password;
 * BB_EIO. */
BB_MUST_CHECK bb_status bb_sign_read_file(const char *path, uint8_t key[BB_SIGN_KEY]);

void bb_sign_text(const uint8_t public_key[BB_SIGN_KEY], char text[BB_SIGN_KEY_TEXT]);
/* False: it is no public key. */
bool bb_sign_parse(const char *text, uint8_t public_key[BB_SIGN_KEY]);

#endif
