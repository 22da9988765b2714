#include "base/seal.h"

#include "base/random.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <string.h>

enum { TAG = 16, NONCE = 12 };

static bb_status public_of(const uint8_t key[BB_SEAL_KEY],
                           uint8_t public_key[BB_SEAL_KEY]) {
    size_t size = BB_SEAL_KEY;
    EVP_PKEY *pair =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, key, BB_SEAL_KEY);
    const bool done = pair && EVP_PKEY_get_raw_public_key(pair, public_key, &size) == 1;
    EVP_PKEY_free(pair);
    return done ? BB_OK : bb_fail(BB_ENOMEM, "a key could not be used");
}

bb_status bb_seal_new(uint8_t key[BB_SEAL_KEY], uint8_t public_key[BB_SEAL_KEY]) {
    const bb_status status = bb_random_secret(key, BB_SEAL_KEY);
    return status ? status : public_of(key, public_key);
}

/* What both sides can compute. False also for a public key of small order, whose secret
 * everybody knows (RFC 7748, section 6.1). */
static bool share(const uint8_t key[BB_SEAL_KEY], const uint8_t other[BB_SEAL_KEY],
                  uint8_t secret[BB_SEAL_KEY]) {
    size_t size = BB_SEAL_KEY;
    EVP_PKEY *own =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, key, BB_SEAL_KEY);
    EVP_PKEY *peer =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, other, BB_SEAL_KEY);
    EVP_PKEY_CTX *derive = own ? EVP_PKEY_CTX_new(own, NULL) : NULL;
    const bool done = peer && derive && EVP_PKEY_derive_init(derive) == 1 &&
                      EVP_PKEY_derive_set_peer(derive, peer) == 1 &&
                      EVP_PKEY_derive(derive, secret, &size) == 1 &&
                      size == BB_SEAL_KEY;
    EVP_PKEY_CTX_free(derive);
    EVP_PKEY_free(peer);
    EVP_PKEY_free(own);
    return done;
}

/* The cipher's key, of this secret alone: its nonce may be zero. */
static void cipher_key(const uint8_t shared[BB_SEAL_KEY],
                       const uint8_t once[BB_SEAL_KEY],
                       const uint8_t reader[BB_SEAL_KEY],
                       const uint8_t context[BB_HASH_BYTES],
                       uint8_t key[BB_HASH_BYTES]) {
    static const char purpose[16] = "billboard seal";
    bb_hash hash;
    bb_hash_open(&hash);
    bb_hash_add(&hash, purpose, sizeof purpose);
    bb_hash_add(&hash, shared, BB_SEAL_KEY);
    bb_hash_add(&hash, once, BB_SEAL_KEY);
    bb_hash_add(&hash, reader, BB_SEAL_KEY);
    bb_hash_add(&hash, context, BB_HASH_BYTES);
    bb_hash_digest(&hash, key);
    OPENSSL_cleanse(&hash, sizeof hash);
}

/* ChaCha20-Poly1305 (RFC 8439) of 32 bytes; `box` is they and the tag. */
static bool encrypt(const uint8_t key[BB_HASH_BYTES],
                    const uint8_t secret[BB_SEAL_SECRET],
                    uint8_t box[BB_SEAL_SECRET + TAG]) {
    static const uint8_t nonce[NONCE];
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int size = 0;
    const bool done =
        cipher &&
        EVP_EncryptInit_ex(cipher, EVP_chacha20_poly1305(), NULL, key, nonce) == 1 &&
        EVP_EncryptUpdate(cipher, box, &size, secret, BB_SEAL_SECRET) == 1 &&
        EVP_EncryptFinal_ex(cipher, box + size, &size) == 1 &&
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, TAG, box + BB_SEAL_SECRET) ==
            1;
    EVP_CIPHER_CTX_free(cipher);
    return done;
}

static bool decrypt(const uint8_t key[BB_HASH_BYTES],
                    const uint8_t box[BB_SEAL_SECRET + TAG],
                    uint8_t secret[BB_SEAL_SECRET]) {
    static const uint8_t nonce[NONCE];
    uint8_t tag[TAG];
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int size = 0;
    memcpy(tag, box + BB_SEAL_SECRET, TAG);
    const bool done =
        cipher &&
        EVP_DecryptInit_ex(cipher, EVP_chacha20_poly1305(), NULL, key, nonce) == 1 &&
        EVP_DecryptUpdate(cipher, secret, &size, box, BB_SEAL_SECRET) == 1 &&
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, TAG, tag) == 1 &&
        EVP_DecryptFinal_ex(cipher, secret + size, &size) == 1;
    EVP_CIPHER_CTX_free(cipher);
    if (!done) OPENSSL_cleanse(secret, BB_SEAL_SECRET);
    return done;
}

bb_status bb_seal(const uint8_t public_key[BB_SEAL_KEY],
                  const uint8_t context[BB_HASH_BYTES],
                  const uint8_t secret[BB_SEAL_SECRET], uint8_t sealed[BB_SEAL_BYTES]) {
    uint8_t once[BB_SEAL_KEY], shared[BB_SEAL_KEY], key[BB_HASH_BYTES];
    bb_status status = bb_seal_new(once, sealed);
    if (!status && !share(once, public_key, shared))
        status = bb_fail(BB_EDATA, "no public key that a secret can be sealed for");
    if (!status) {
        cipher_key(shared, sealed, public_key, context, key);
        if (!encrypt(key, secret, sealed + BB_SEAL_KEY))
            status = bb_fail(BB_ENOMEM, "a secret could not be sealed");
    }
    OPENSSL_cleanse(once, sizeof once);
    OPENSSL_cleanse(shared, sizeof shared);
    OPENSSL_cleanse(key, sizeof key);
    return status;
}

bb_status bb_seal_open(const uint8_t key[BB_SEAL_KEY],
                       const uint8_t context[BB_HASH_BYTES],
                       const uint8_t sealed[BB_SEAL_BYTES],
                       uint8_t secret[BB_SEAL_SECRET]) {
    uint8_t own[BB_SEAL_KEY], shared[BB_SEAL_KEY], opens[BB_HASH_BYTES];
    bool done = false;
    const bb_status status = public_of(key, own);
    if (status) return status;
    if (share(key, sealed, shared)) {
        cipher_key(shared, sealed, own, context, opens);
        done = decrypt(opens, sealed + BB_SEAL_KEY, secret);
    }
    OPENSSL_cleanse(shared, sizeof shared);
    OPENSSL_cleanse(opens, sizeof opens);
    return done ? BB_OK
                : bb_fail(BB_EDATA,
                          "a sealed secret that does not open: it is for "
                          "somebody else, for another purpose, or was changed");
}
