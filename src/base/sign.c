#include "base/sign.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char kind[] = "ed25519:";

static_assert(BB_SIGN_KEY_TEXT == sizeof kind - 1 + 2 * BB_SIGN_KEY + 1,
              "a key's text");

static bb_status failed(const char *deed) {
    return bb_fail(BB_ENOMEM, "a key could not be %s", deed);
}

bb_status bb_sign_new(uint8_t key[BB_SIGN_KEY]) {
    return bb_random_secret(key, BB_SIGN_KEY);
}

bb_status bb_sign_public(const uint8_t key[BB_SIGN_KEY],
                         uint8_t public_key[BB_SIGN_KEY]) {
    size_t size = BB_SIGN_KEY;
    EVP_PKEY *pair =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, key, BB_SIGN_KEY);
    const bool done = pair && EVP_PKEY_get_raw_public_key(pair, public_key, &size) == 1;
    EVP_PKEY_free(pair);
    return done ? BB_OK : failed("used");
}

bb_status bb_sign(const uint8_t key[BB_SIGN_KEY], const void *bytes, size_t size,
                  uint8_t signature[BB_SIGN_BYTES]) {
    size_t length = BB_SIGN_BYTES;
    EVP_PKEY *pair =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, key, BB_SIGN_KEY);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool done = pair && context &&
                      EVP_DigestSignInit(context, NULL, NULL, NULL, pair) == 1 &&
                      EVP_DigestSign(context, signature, &length, bytes, size) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(pair);
    return done ? BB_OK : failed("used to sign");
}

bool bb_sign_holds(const uint8_t public_key[BB_SIGN_KEY], const void *bytes,
                   size_t size, const uint8_t signature[BB_SIGN_BYTES]) {
    EVP_PKEY *key =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, BB_SIGN_KEY);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool holds =
        key && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
        EVP_DigestVerify(context, signature, BB_SIGN_BYTES, bytes, size) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return holds;
}

void bb_sign_forget(uint8_t key[BB_SIGN_KEY]) {
    OPENSSL_cleanse(key, BB_SIGN_KEY);
}

/* -- files -- */

bb_status bb_sign_write_file(const char *path, const uint8_t key[BB_SIGN_KEY]) {
    struct stat there;
    char *text = NULL;
    if (!lstat(path, &there)) return bb_fail(BB_EUSAGE, "%s: exists already", path);
    EVP_PKEY *pair =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, key, BB_SIGN_KEY);
    BIO *memory = BIO_new(BIO_s_secmem());
    const bool done =
        pair && memory &&
        PEM_write_bio_PKCS8PrivateKey(memory, pair, NULL, NULL, 0, NULL, NULL) == 1;
    const long size = done ? BIO_get_mem_data(memory, &text) : 0;
    const bb_piece piece = {text, (size_t)size};
    const bb_status status =
        done ? bb_file_write_private(path, &piece, 1) : failed("written");
    BIO_free(memory);
    EVP_PKEY_free(pair);
    return status;
}

/* OpenSSL would ask for it at the terminal. */
static int no_password(char *at, int size, int writes, void *context) {
    (void)at, (void)size, (void)writes, (void)context;
    return -1;
}

/* Nobody else's to read, as ssh wants its keys. */
static bb_status check_mode(const char *path) {
    struct stat there;
    if (stat(path, &there) || !S_ISREG(there.st_mode) || !(there.st_mode & 077))
        return BB_OK; /* what is not there is told where it is read */
    return bb_fail(BB_EUSAGE,
                   "%s: a private key that others may read (mode %04o): make another, "
                   "or see to it that nobody did, and chmod 600 it",
                   path, (unsigned)there.st_mode & 07777);
}

bb_status bb_sign_read_file(const char *path, uint8_t key[BB_SIGN_KEY]) {
    uint8_t *bytes = NULL;
    size_t size = 0, length = BB_SIGN_KEY;
    bb_status status = check_mode(path);
    if (!status) status = bb_file_read(path, &bytes, &size);
    if (status) return status;
    BIO *memory = BIO_new_mem_buf(bytes, size > INT32_MAX ? 0 : (int)size);
    EVP_PKEY *pair =
        memory ? PEM_read_bio_PrivateKey(memory, NULL, no_password, NULL) : NULL;
    if (!pair || EVP_PKEY_get_id(pair) != EVP_PKEY_ED25519 ||
        EVP_PKEY_get_raw_private_key(pair, key, &length) != 1)
        status = bb_fail(BB_EDATA,
                         "%s: expected a private key (Ed25519, PEM, without a "
                         "password), as `billboard identity new' makes one",
                         path);
    EVP_PKEY_free(pair);
    BIO_free(memory);
    OPENSSL_cleanse(bytes, size);
    free(bytes);
    return status;
}

/* -- public keys as text -- */

void bb_sign_text(const uint8_t public_key[BB_SIGN_KEY], char text[BB_SIGN_KEY_TEXT]) {
    memcpy(text, kind, sizeof kind - 1);
    bb_hash_digits(public_key, BB_SIGN_KEY, text + sizeof kind - 1);
}

bool bb_sign_parse(const char *text, uint8_t public_key[BB_SIGN_KEY]) {
    return strncmp(text, kind, sizeof kind - 1) == 0 &&
           bb_hash_parse(text + sizeof kind - 1, public_key, BB_SIGN_KEY);
}
