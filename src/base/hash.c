#include "base/hash.h"

#include <openssl/evp.h>

#include <endian.h>
#include <string.h>

enum { DIGEST_BYTES = 32, CHUNK = 256 };

bb_status bb_hash_open(bb_hash *hash) {
    EVP_MD_CTX *const context = EVP_MD_CTX_new();
    if (!context || EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1) {
        EVP_MD_CTX_free(context);
        return bb_fail(BB_ENOMEM, "no memory for a SHA-256 hash");
    }
    *hash = (bb_hash){.context = context};
    return BB_OK;
}

void bb_hash_add(bb_hash *hash, const void *bytes, size_t size) {
    if (EVP_DigestUpdate(hash->context, bytes, size) != 1) hash->failed = true;
}

/* `words` points to count items of 8 bytes. */
static void add_words(bb_hash *hash, const char *words, size_t count) {
    uint64_t chunk[CHUNK];
    while (count) {
        const size_t n = count < CHUNK ? count : CHUNK;
        memcpy(chunk, words, n * sizeof *chunk);
        for (size_t i = 0; i < n; i++) chunk[i] = htole64(chunk[i]);
        bb_hash_add(hash, chunk, n * sizeof *chunk);
        words += n * sizeof *chunk;
        count -= n;
    }
}

void bb_hash_add_doubles(bb_hash *hash, const double *number, size_t count) {
    add_words(hash, (const char *)number, count);
}

void bb_hash_add_integers(bb_hash *hash, const int64_t *number, size_t count) {
    add_words(hash, (const char *)number, count);
}

bb_status bb_hash_text(const bb_hash *hash, char text[BB_HASH_TEXT]) {
    static const char digit[] = "0123456789abcdef";
    unsigned char digest[DIGEST_BYTES];
    unsigned int length = 0;
    EVP_MD_CTX *const copy = EVP_MD_CTX_new();
    const int done = copy && !hash->failed &&
                     EVP_MD_CTX_copy_ex(copy, hash->context) == 1 &&
                     EVP_DigestFinal_ex(copy, digest, &length) == 1;
    EVP_MD_CTX_free(copy);
    if (!done || length != DIGEST_BYTES)
        return bb_fail(BB_ENOMEM, "OpenSSL could not finish a SHA-256 hash");
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        text[2 * i] = digit[digest[i] >> 4];
        text[2 * i + 1] = digit[digest[i] & 15];
    }
    text[BB_HASH_TEXT - 1] = '\0';
    return BB_OK;
}

void bb_hash_close(bb_hash *hash) {
    EVP_MD_CTX_free(hash->context);
    *hash = (bb_hash){0};
}
