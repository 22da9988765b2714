#include "base/hash.h"
#include "test.h"

static void known_answers_of_fips_180(void **state) {
    (void)state;
    char text[BB_HASH_TEXT];
    bb_hash hash = {0};
    assert_ok(bb_hash_open(&hash));
    assert_ok(bb_hash_text(&hash, text));
    assert_string_equal(
        text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    bb_hash_add(&hash, "ab", 2);
    bb_hash_add(&hash, "c", 1);
    assert_ok(bb_hash_text(&hash, text));
    assert_string_equal(
        text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    bb_hash_close(&hash);
    bb_hash_close(&hash);
}

/* Numbers are their bytes, least significant first, however they are cut into calls. */
static void numbers_are_little_endian(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    double number[COUNT];
    int64_t integer[COUNT];
    char cut[BB_HASH_TEXT], bytes[BB_HASH_TEXT];
    bb_hash one = {0}, other = {0};
    assert_ok(bb_hash_open(&one));
    assert_ok(bb_hash_open(&other));
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
    assert_ok(bb_hash_text(&one, cut));
    assert_ok(bb_hash_text(&other, bytes));
    assert_string_equal(cut, bytes);
    bb_hash_add_integers(&other, integer, 1);
    assert_ok(bb_hash_text(&other, bytes));
    assert_string_not_equal(cut, bytes);
    bb_hash_close(&one);
    bb_hash_close(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers_of_fips_180),
        cmocka_unit_test(numbers_are_little_endian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
