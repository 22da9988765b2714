/* hash.h - SHA-256 over numbers and texts, for the fingerprints of billboards and
 * models, and of frames (core/wire.h).
 *
 * Numbers are hashed as their 8 bytes, least significant first, on every machine. A hash
 * that is not finished can be kept as bytes and go on in another process. */
#ifndef BB_BASE_HASH_H
#define BB_BASE_HASH_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BB_HASH_BYTES = 32,
    BB_HASH_TEXT = 65,  /* 64 hexadecimal digits and a zero */
    BB_HASH_SAVED = 108 /* see bb_hash_save */
};

typedef struct bb_hash {
    uint64_t context[14]; /* OpenSSL's SHA256_CTX */
} bb_hash;

void bb_hash_open(bb_hash *hash);
void bb_hash_add(bb_hash *hash, const void *bytes, size_t size);
void bb_hash_add_doubles(bb_hash *hash, const double *number, size_t count);
void bb_hash_add_integers(bb_hash *hash, const int64_t *number, size_t count);
/* The digest of everything added so far, which may go on afterwards. */
void bb_hash_digest(const bb_hash *hash, uint8_t digest[BB_HASH_BYTES]);
/* The same as text. */
void bb_hash_text(const bb_hash *hash, char text[BB_HASH_TEXT]);
/* Any bytes as hexadecimal digits (2 size, and a zero), and back: false if they are not
 * such digits, that many. */
void bb_hash_digits(const uint8_t *bytes, size_t size, char *text);
bool bb_hash_parse(const char *text, uint8_t *bytes, size_t size);
/* Where the hash stands, the same bytes on every machine. */
void bb_hash_save(const bb_hash *hash, uint8_t saved[BB_HASH_SAVED]);
/* BB_EDATA: no bytes of bb_hash_save. */
BB_MUST_CHECK bb_status bb_hash_restore(bb_hash *hash,
                                        const uint8_t saved[BB_HASH_SAVED]);

#endif
