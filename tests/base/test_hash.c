#include "base/hash.h"
#include "test.h"

static void known_answers_of_fips_180(void **state) {
    (void)state;
    char text[BB_HASH_TEXT];
    bb_hash hash = {0};
    bb_hash_open(&hash);
    bb_hash_text(&hash, text);
    assert_string_equal(
        text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    bb_hash_add(&hash, "ab", 2);
    bb_hash_add(&hash, "c", 1);
    bb_hash_text(&hash, text);
    assert_string_equal(
        text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* Numbers are their bytes, least significant first, however they are cut into calls. */
static void numbers_are_little_endian(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    double number[COUNT];
    int64_t integer[COUNT];
    char cut[BB_HASH_TEXT], bytes[BB_HASH_TEXT];
    bb_hash one = {0}, other = {0};
    bb_hash_open(&one);
    bb_hash_open(&other);
    for (int i = 0; i < COUNT; i++) {
        number[i] = i / 7.0;
        integer[i] = -i * (int64_t)1000003;
    }
    bb_hash_add_doubles(&one, number, 300);
    bb_hash_add_doubles(&one, number + 300, COUNT - 300);
    bb_hash_add_doubles(&one, NULL, 0);
    bb_hash_add_integers(&one, integer, COUNT);
    for (int i = 0; i < 2 * COUNT; i++) {
        uint64_t word;
        unsigned char little[8];
        memcpy(&word, i < COUNT ? (void *)&number[i] : (void *)&integer[i - COUNT], 8);
        for (int k = 0; k < 8; k++) little[k] = (unsigned char)(word >> 8 * k);
        bb_hash_add(&other, little, 8);
    }
    bb_hash_text(&one, cut);
    bb_hash_text(&other, bytes);
    assert_string_equal(cut, bytes);
    bb_hash_add_integers(&other, integer, 1);
    bb_hash_text(&other, bytes);
    assert_string_not_equal(cut, bytes);
}

/* A hash kept as bytes anywhere on the way goes on as if nothing had happened. */
static void a_hash_goes_on_from_its_bytes(void **state) {
    (void)state;
    char whole[BB_HASH_TEXT], again[BB_HASH_TEXT];
    uint8_t saved[BB_HASH_SAVED], bytes[300];
    bb_hash hash, other;
    for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (uint8_t)(k * 7);
    bb_hash_open(&hash);
    bb_hash_add(&hash, bytes, sizeof bytes);
    bb_hash_text(&hash, whole);
    for (size_t cut = 0; cut <= sizeof bytes; cut++) {
        bb_hash_open(&hash);
        bb_hash_add(&hash, bytes, cut);
        bb_hash_save(&hash, saved);
        assert_ok(bb_hash_restore(&other, saved));
        bb_hash_add(&other, bytes + cut, sizeof bytes - cut);
        bb_hash_text(&other, again);
        assert_string_equal(whole, again);
    }
    saved[BB_HASH_SAVED - 4] = 64;
    assert_fails(bb_hash_restore(&other, saved), BB_EDATA, "SHA-256");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers_of_fips_180),
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(a_hash_goes_on_from_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
