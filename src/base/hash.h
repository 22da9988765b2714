/* hash.h - SHA-256 over numbers and texts, for the fingerprints of billboards and
 * models.
 *
 * Numbers are hashed as their 8 bytes, least significant first, on every machine. */
#ifndef BB_BASE_HASH_H
#define BB_BASE_HASH_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BB_HASH_TEXT = 65 }; /* 64 hexadecimal digits and a zero */

typedef struct bb_hash {
    void *context; /* EVP_MD_CTX */
    bool failed;   /* OpenSSL refused to add something */
} bb_hash;

BB_MUST_CHECK bb_status bb_hash_open(bb_hash *hash);
/* What could not be added makes bb_hash_text fail. */
void bb_hash_add(bb_hash *hash, const void *bytes, size_t size);
void bb_hash_add_doubles(bb_hash *hash, const double *number, size_t count);
void bb_hash_add_integers(bb_hash *hash, const int64_t *number, size_t count);
/* Writes the digest of everything added so far, which may go on afterwards. */
BB_MUST_CHECK bb_status bb_hash_text(const bb_hash *hash, char text[BB_HASH_TEXT]);
/* Takes a zeroed or closed hash, too. */
void bb_hash_close(bb_hash *hash);

#endif
