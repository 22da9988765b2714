/* Keys, what they sign, and their files: against the published vectors of Ed25519. */
#include "base/file.h"
#include "base/hash.h"
#include "base/sign.h"
#include "folder.h"
#include "test.h"

#include <string.h>
#include <sys/stat.h>

/* RFC 8032, 7.1: tests 1 and 3. */
static const struct {
    const char *key, *public_key, *message, *signature;
} vector[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac"
     "c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290"
     "ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"}};

static void test_vectors(void **state) {
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        uint8_t key[BB_SIGN_KEY], public_key[BB_SIGN_KEY], message[4] = {0};
        uint8_t signature[BB_SIGN_BYTES], expected[BB_SIGN_BYTES];
        const size_t size = strlen(vector[k].message) / 2;
        assert_true(bb_hash_parse(vector[k].key, key, sizeof key));
        assert_true(bb_hash_parse(vector[k].public_key, expected, BB_SIGN_KEY));
        assert_ok(bb_sign_public(key, public_key));
        assert_memory_equal(public_key, expected, sizeof public_key);
        assert_true(bb_hash_parse(vector[k].message, message, size));
        assert_true(bb_hash_parse(vector[k].signature, expected, sizeof expected));
        assert_ok(bb_sign(key, message, size, signature));
        assert_memory_equal(signature, expected, sizeof signature);
        assert_true(bb_sign_holds(public_key, message, size, signature));
        assert_false(bb_sign_holds(public_key, message, size + 1, signature));
        signature[5] ^= 1;
        assert_false(bb_sign_holds(public_key, message, size, signature));
        signature[5] ^= 1;
        public_key[0] ^= 1;
        assert_false(bb_sign_holds(public_key, message, size, signature));
    }
}

static void test_texts(void **state) {
    (void)state;
    uint8_t key[BB_SIGN_KEY], same[BB_SIGN_KEY];
    char text[BB_SIGN_KEY_TEXT];
    assert_ok(bb_sign_new(key));
    bb_sign_text(key, text);
    assert_true(bb_sign_parse(text, same));
    assert_memory_equal(key, same, sizeof key);
    assert_false(bb_sign_parse(text + 1, same));
    assert_false(bb_sign_parse("ed25519:", same));
    text[20] = 'G';
    assert_false(bb_sign_parse(text, same));
}

static void test_files(void **state) {
    (void)state;
    static const char path[] = "own.key", other[] = "other.key";
    uint8_t key[BB_SIGN_KEY], same[BB_SIGN_KEY];
    struct stat there;
    assert_ok(bb_sign_new(key));
    assert_ok(bb_sign_write_file(path, key));
    assert_int_equal(stat(path, &there), 0);
    assert_int_equal(there.st_mode & 0777, 0600);
    assert_ok(bb_sign_read_file(path, same));
    assert_memory_equal(key, same, sizeof key);
    assert_fails(bb_sign_write_file(path, key), BB_EUSAGE, "exists already");
    assert_int_equal(chmod(path, 0640), 0);
    assert_fails(bb_sign_read_file(path, same), BB_EUSAGE,
                 "others may read (mode 0640)");
    const bb_piece words = {"-----BEGIN PRIVATE KEY-----\nno\n", 31};
    assert_ok(bb_file_write_private(other, &words, 1));
    assert_fails(bb_sign_read_file(other, same), BB_EDATA, "expected a private key");
    assert_fails(bb_sign_read_file("none.key", same), BB_EIO, "none.key");
    unlink(path);
    unlink(other);
    bb_sign_forget(key);
    for (size_t k = 0; k < sizeof key; k++) assert_int_equal(key[k], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
