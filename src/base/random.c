#include "base/random.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <endian.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>

enum { KEY_BYTES = 32, IV_BYTES = 16, FIRST_WORDS = 8 /* one block of ChaCha20 */ };

static bb_status start(bb_random *random, const unsigned char *key,
                       const unsigned char *iv) {
    random->used = BB_RANDOM_BUFFER;
    random->next = FIRST_WORDS;
    if (EVP_EncryptInit_ex(random->cipher, NULL, NULL, key, iv) != 1)
        bb_random_fail(random, "OpenSSL refused to start ChaCha20");
    return bb_random_check(random);
}

static bb_status open_cipher(bb_random *random) {
    *random = (bb_random){.cipher = EVP_CIPHER_CTX_new()};
    if (!random->cipher ||
        EVP_EncryptInit_ex(random->cipher, EVP_chacha20(), NULL, NULL, NULL) != 1) {
        bb_random_close(random);
        return bb_fail(BB_ENOMEM, "no memory for a random stream");
    }
    return BB_OK;
}

bb_status bb_random_open_secure(bb_random *random) {
    unsigned char key[KEY_BYTES], iv[IV_BYTES] = {0};
    if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key)
        return bb_fail(BB_EIO, "the operating system gave no random seed");
    bb_status status = open_cipher(random);
    if (!status) status = start(random, key, iv);
    explicit_bzero(key, sizeof key);
    random->secure = 1;
    if (status) bb_random_close(random);
    return status;
}

bb_status bb_random_secret(uint8_t *bytes, size_t size) {
    return getrandom(bytes, size, 0) == (ssize_t)size
               ? BB_OK
               : bb_fail(BB_EIO, "the operating system gave no random bits");
}

bb_status bb_random_open_stream(bb_random *random, uint64_t seed, bb_purpose purpose,
                                uint64_t a, uint64_t b) {
    bb_status status = open_cipher(random);
    if (!status) status = bb_random_restart(random, seed, purpose, a, b);
    if (status) bb_random_close(random);
    return status;
}

bb_status bb_random_open_key(bb_random *random, const uint8_t key[BB_RANDOM_KEY]) {
    static const unsigned char iv[IV_BYTES];
    bb_status status = open_cipher(random);
    if (!status) status = start(random, key, iv);
    if (status) bb_random_close(random);
    return status;
}

void bb_random_mask(bb_random *random, bool subtract, size_t n, int64_t *sum) {
    while (n) {
        if (random->used == BB_RANDOM_BUFFER) bb_random_refill(random);
        const uint64_t *word = random->buffer + random->used;
        size_t count = BB_RANDOM_BUFFER - random->used;
        if (count > n) count = n;
        for (size_t k = 0; k < count && !subtract; k++)
            sum[k] = (int64_t)((uint64_t)sum[k] + le64toh(word[k]));
        for (size_t k = 0; k < count && subtract; k++)
            sum[k] = (int64_t)((uint64_t)sum[k] - le64toh(word[k]));
        random->used += count;
        sum += count;
        n -= count;
    }
}

bb_status bb_random_restart(bb_random *random, uint64_t seed, bb_purpose purpose,
                            uint64_t a, uint64_t b) {
    const uint64_t words[4] = {seed, (uint64_t)purpose, a, b};
    unsigned char key[KEY_BYTES], iv[IV_BYTES] = {0};
    memcpy(key, words, sizeof key);
    random->secure = 0;
    return start(random, key, iv);
}

void bb_random_close(bb_random *random) {
    EVP_CIPHER_CTX_free(random->cipher);
    explicit_bzero(random, sizeof *random);
}

bb_status bb_random_key(const char *name, uint64_t *key) {
    uint64_t digest[SHA256_DIGEST_LENGTH / sizeof(uint64_t)];
    if (!SHA256((const unsigned char *)name, strlen(name), (unsigned char *)digest))
        return bb_fail(BB_ENOMEM, "no memory for a SHA-256 hash");
    *key = le64toh(digest[0]);
    return BB_OK;
}

void bb_random_fail(bb_random *random, const char *why) {
    if (!random->failure) random->failure = why;
}

bb_status bb_random_check(const bb_random *random) {
    if (!random->failure) return BB_OK;
    return bb_fail(BB_EIO, "the random generator failed: %s", random->failure);
}

/* Numbers that look random, so that loops end (splitmix64 of a counter, from where the
 * last buffer ended). */
static void fill_for_nothing(bb_random *random) {
    uint64_t state = random->buffer[BB_RANDOM_BUFFER - 1];
    for (size_t k = 0; k < BB_RANDOM_BUFFER; k++) {
        uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        random->buffer[k] = z ^ z >> 31;
    }
}

void bb_random_refill(bb_random *random) {
    static const unsigned char zeros[sizeof random->buffer];
    const size_t words = random->next;
    const int size = (int)(words * sizeof *random->buffer);
    int length = 0;
    random->used = BB_RANDOM_BUFFER - words;
    random->next = 2 * words < BB_RANDOM_BUFFER ? 2 * words : BB_RANDOM_BUFFER;
    if (EVP_EncryptUpdate(random->cipher,
                          (unsigned char *)(random->buffer + random->used), &length,
                          zeros, size) != 1 ||
        length != size)
        bb_random_fail(random, "OpenSSL's ChaCha20 gave no bits");
    if (random->failure) fill_for_nothing(random);
}

double bb_random_uniform(bb_random *random) {
    return (double)(bb_random_bits(random) >> 11) * 0x1p-53;
}

uint64_t bb_random_below(bb_random *random, uint64_t n) {
    const uint64_t limit = UINT64_MAX - (UINT64_MAX % n + 1) % n;
    uint64_t bits;
    do bits = bb_random_bits(random);
    while (bits > limit);
    return bits % n;
}

/* Mean 1: a game of records, with whole numbers only. */
static uint64_t poisson_one(bb_random *random) {
    uint64_t count = 1, record = 0;
    for (uint64_t n = 1;; n++) {
        const uint64_t drawn = 1 + bb_random_below(random, n + 1);
        if (drawn == n + 1) {
            count++;
        } else if (drawn > record) {
            count--;
            record = n + 1;
        } else {
            return count;
        }
    }
}

uint64_t bb_random_poisson(bb_random *random, uint64_t mean) {
    uint64_t count = 0;
    for (uint64_t k = 0; k < mean; k++) count += poisson_one(random);
    return count;
}

double bb_random_normal(bb_random *random) {
    /* Marsaglia's polar method; the second value is dropped to keep no state */
    double u, v, s;
    do {
        u = 2.0 * bb_random_uniform(random) - 1.0;
        v = 2.0 * bb_random_uniform(random) - 1.0;
        s = u * u + v * v;
    } while (s >= 1.0 || s == 0.0);
    return u * sqrt(-2.0 * log(s) / s);
}

void bb_random_shuffle(bb_random *random, size_t *index, size_t n) {
    for (size_t i = n; i > 1; i--) {
        const size_t j = (size_t)bb_random_below(random, i), kept = index[i - 1];
        index[i - 1] = index[j];
        index[j] = kept;
    }
}
