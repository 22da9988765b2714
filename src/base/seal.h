/* seal.h - a secret of 32 bytes that one reader can open, in one context: X25519 with a key
 * of its own for every secret, SHA-256, ChaCha20-Poly1305 (OpenSSL's). Who has sealed it is
 * not said. */
#ifndef BB_BASE_SEAL_H
#define BB_BASE_SEAL_H

#include "base/hash.h"
#include "base/status.h"

#include <stdint.h>

enum {
    BB_SEAL_KEY = 32,                        /* bytes of a key, private or public */
    BB_SEAL_SECRET = 32,                     /* of what is sealed */
    BB_SEAL_BYTES = 32 + BB_SEAL_SECRET + 16 /* and of that, sealed */
};

/* A new private key, by the operating system's entropy, and the public one of it. BB_EIO,
 * BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_seal_new(uint8_t key[BB_SEAL_KEY],
                                    uint8_t public_key[BB_SEAL_KEY]);
/* For the owner of the key, who must name the same context (32 bytes, public) to open it.
 * BB_EDATA: it is no public key; BB_EIO, BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_seal(const uint8_t public_key[BB_SEAL_KEY],
                                const uint8_t context[BB_HASH_BYTES],
                                const uint8_t secret[BB_SEAL_SECRET],
                                uint8_t sealed[BB_SEAL_BYTES]);
/* BB_EDATA: it is for somebody else, or another context, or was changed. */
BB_MUST_CHECK bb_status bb_seal_open(const uint8_t key[BB_SEAL_KEY],
                                     const uint8_t context[BB_HASH_BYTES],
                                     const uint8_t sealed[BB_SEAL_BYTES],
                                     uint8_t secret[BB_SEAL_SECRET]);

#endif
