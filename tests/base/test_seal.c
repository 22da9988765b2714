#include "base/seal.h"
#include "test.h"

/* One reader, one context, and no other. */
static void test_opens(void **state) {
    (void)state;
    uint8_t key[BB_SEAL_KEY], reader[BB_SEAL_KEY], other[BB_SEAL_KEY],
        none[BB_SEAL_KEY];
    uint8_t secret[BB_SEAL_SECRET], found[BB_SEAL_SECRET] = {0};
    uint8_t sealed[BB_SEAL_BYTES], again[BB_SEAL_BYTES], context[BB_HASH_BYTES] = {1};
    for (size_t k = 0; k < sizeof secret; k++) secret[k] = (uint8_t)(3 * k);
    assert_ok(bb_seal_new(key, reader));
    assert_ok(bb_seal_new(other, none));
    assert_ok(bb_seal(reader, context, secret, sealed));
    assert_ok(bb_seal(reader, context, secret, again));
    assert_memory_not_equal(sealed, again, sizeof sealed);
    assert_ok(bb_seal_open(key, context, sealed, found));
    assert_memory_equal(found, secret, sizeof secret);
    assert_fails(bb_seal_open(other, context, sealed, found), BB_EDATA,
                 "does not open");
    context[31] ^= 1;
    assert_fails(bb_seal_open(key, context, sealed, found), BB_EDATA, "open");
    context[31] ^= 1;
    for (size_t k = 0; k < sizeof sealed; k++) {
        if (k == 31) continue; /* X25519 does not look at the highest bit of a key */
        sealed[k] ^= 4;
        assert_fails(bb_seal_open(key, context, sealed, found), BB_EDATA, "open");
        sealed[k] ^= 4;
    }
}

/* A key of small order gives the same secret to everybody: it is none. */
static void test_keys_that_are_none(void **state) {
    (void)state;
    const uint8_t order[2][BB_SEAL_KEY] = {{0}, {1}};
    const uint8_t secret[BB_SEAL_SECRET] = {1}, context[BB_HASH_BYTES] = {0};
    uint8_t sealed[BB_SEAL_BYTES];
    for (size_t k = 0; k < 2; k++)
        assert_fails(bb_seal(order[k], context, secret, sealed), BB_EDATA,
                     "no public key");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opens),
        cmocka_unit_test(test_keys_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
