/* OpenSSL's one-shot interface cannot keep a hash that is not finished; the older one,
 * whose state is a public struct, can. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/hash.h"

#include <openssl/sha.h>

#include <assert.h>
#include <endian.h>
#include <string.h>

enum { CHUNK = 256 };

static_assert(sizeof(SHA256_CTX) <= sizeof(bb_hash), "room for OpenSSL's state");
static_assert(BB_HASH_SAVED == 8 * 4 + 2 * 4 + 64 + 4, "a state's bytes");

static SHA256_CTX *context_of(bb_hash *hash) {
    return (SHA256_CTX *)(void *)hash->context;
}

void bb_hash_open(bb_hash *hash) {
    *hash = (bb_hash){.context = {0}};
    SHA256_Init(context_of(hash));
}

void bb_hash_add(bb_hash *hash, const void *bytes, size_t size) {
    SHA256_Update(context_of(hash), bytes, size);
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

void bb_hash_digest(const bb_hash *hash, uint8_t digest[BB_HASH_BYTES]) {
    bb_hash copy = *hash;
    SHA256_Final(digest, context_of(&copy));
}

static const char digit[] = "0123456789abcdef";

void bb_hash_digits(const uint8_t *bytes, size_t size, char *text) {
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digit[bytes[i] >> 4];
        text[2 * i + 1] = digit[bytes[i] & 15];
    }
    text[2 * size] = '\0';
}

bool bb_hash_parse(const char *text, uint8_t *bytes, size_t size) {
    if (strlen(text) != 2 * size || strspn(text, digit) != 2 * size) return false;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)((strchr(digit, text[2 * i]) - digit) << 4 |
                             (strchr(digit, text[2 * i + 1]) - digit));
    return true;
}

void bb_hash_text(const bb_hash *hash, char text[BB_HASH_TEXT]) {
    uint8_t digest[BB_HASH_BYTES];
    bb_hash_digest(hash, digest);
    bb_hash_digits(digest, sizeof digest, text);
}

static uint8_t *put(uint8_t *at, uint32_t word) {
    word = htole32(word);
    memcpy(at, &word, sizeof word);
    return at + sizeof word;
}

static const uint8_t *get(const uint8_t *at, uint32_t *word) {
    memcpy(word, at, sizeof *word);
    *word = le32toh(*word);
    return at + sizeof *word;
}

void bb_hash_save(const bb_hash *hash, uint8_t saved[BB_HASH_SAVED]) {
    SHA256_CTX context;
    uint8_t *at = saved;
    memcpy(&context, hash->context, sizeof context);
    for (size_t k = 0; k < 8; k++) at = put(at, context.h[k]);
    at = put(put(at, context.Nl), context.Nh);
    memset(at, 0, 64); /* what is behind `num` bytes is left over */
    memcpy(at, context.data, context.num);
    put(at + 64, context.num);
}

bb_status bb_hash_restore(bb_hash *hash, const uint8_t saved[BB_HASH_SAVED]) {
    SHA256_CTX context;
    const uint8_t *at = saved;
    uint32_t word;
    SHA256_Init(&context);
    for (size_t k = 0; k < 8; k++) {
        at = get(at, &word);
        context.h[k] = word;
    }
    at = get(at, &word);
    context.Nl = word;
    at = get(at, &word);
    context.Nh = word;
    get(at + 64, &word);
    if (word >= 64) return bb_fail(BB_EDATA, "no state of a SHA-256 hash");
    memcpy(context.data, at, 64);
    context.num = word;
    memcpy(hash->context, &context, sizeof context);
    return BB_OK;
}
