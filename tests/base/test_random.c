#include "base/random.h"
#include "test.h"

#include <openssl/evp.h>

/* The keystream's first `size` bytes from byte `skip` on. */
static void keystream(bb_random *random, size_t skipped, unsigned char *bytes,
                      size_t size) {
    for (size_t i = 0; i < skipped / 8; i++) bb_random_bits(random);
    for (size_t i = 0; i < size; i += 8) {
        const uint64_t bits = bb_random_bits(random);
        memcpy(bytes + i, &bits, 8);
    }
}

/* RFC 8439, appendix A.1, test vectors 1, 2, 4 and 3: the keys there are all but zero,
 * as are those of the streams (seed, purpose, a, b) below; block counters are
 * positions. */
static void a_stream_is_chacha20(void **state) {
    (void)state;
    const struct {
        uint64_t seed, b;
        size_t block;
        unsigned char start[8];
    } vectors[] = {
        {0, 0, 0, {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90}},
        {0, 0, 1, {0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a}},
        {0xff00, 0, 2, {0x72, 0xd5, 0x4d, 0xfb, 0xf1, 0x2e, 0xc4, 0x4b}},
        {0, (uint64_t)1 << 56, 1, {0x3a, 0xeb, 0x52, 0x24, 0xec, 0xf8, 0x49, 0x92}}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        unsigned char bytes[8];
        bb_random random = {0};
        assert_ok(bb_random_open_stream(&random, vectors[i].seed, (bb_purpose)0, 0,
                                        vectors[i].b));
        keystream(&random, 64 * vectors[i].block, bytes, sizeof bytes);
        assert_memory_equal(bytes, vectors[i].start, sizeof bytes);
        assert_false(random.secure);
        bb_random_close(&random);
    }
}

/* However many words a refill makes, they are the keystream of one call of OpenSSL's. */
static void a_stream_has_no_seams(void **state) {
    (void)state;
    enum { WORDS = 5 * BB_RANDOM_BUFFER + 3 };
    static unsigned char zeros[8 * WORDS], expected[8 * WORDS], found[8 * WORDS];
    const uint64_t words[4] = {21, BB_FOR_TEST, 22, 23};
    const unsigned char iv[16] = {0};
    unsigned char key[32];
    int length = 0;
    bb_random random = {0};
    memcpy(key, words, sizeof key);
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    assert_int_equal(EVP_EncryptInit_ex(cipher, EVP_chacha20(), NULL, key, iv), 1);
    assert_int_equal(
        EVP_EncryptUpdate(cipher, expected, &length, zeros, (int)sizeof zeros), 1);
    EVP_CIPHER_CTX_free(cipher);
    assert_ok(bb_random_open_stream(&random, 21, BB_FOR_TEST, 22, 23));
    for (int turn = 0; turn < 2; turn++) {
        keystream(&random, 0, found, sizeof found);
        assert_memory_equal(found, expected, sizeof found);
        assert_ok(bb_random_restart(&random, 21, BB_FOR_TEST, 22, 23));
    }
    bb_random_close(&random);
}

static void a_restarted_stream_is_a_fresh_one(void **state) {
    (void)state;
    bb_random one = {0}, other = {0};
    assert_ok(bb_random_open_stream(&one, 5, BB_FOR_TEST, 1, 2));
    assert_ok(bb_random_open_stream(&other, 6, BB_FOR_SPLIT, 3, 4));
    bb_random_bits(&other);
    assert_ok(bb_random_restart(&other, 5, BB_FOR_TEST, 1, 2));
    for (int i = 0; i < 3 * BB_RANDOM_BUFFER; i++)
        assert_true(bb_random_bits(&one) == bb_random_bits(&other));
    bb_random_close(&one);
    bb_random_close(&other);
}

/* Chi-square of 60,000 draws of mean 1 and 12 against the law, what is rarer than 20 draws
 * in one class; fixed seeds. Bounds: 1 - 1e-6 of 8 and 24 degrees of freedom. */
static void counts_are_poisson(void **state) {
    (void)state;
    enum { DRAWS = 60000, MOST = 60 };
    static const double bound[] = {43.0, 71.0};
    static const uint64_t mean[] = {1, 12};
    bb_random random = {0};
    assert_ok(bb_random_open_stream(&random, 17, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < 2; i++) {
        size_t count[MOST] = {0};
        double chi_square = 0.0, rest = DRAWS, seen = DRAWS;
        for (size_t k = 0; k < DRAWS; k++) {
            const uint64_t drawn = bb_random_poisson(&random, mean[i]);
            assert_true(drawn < MOST);
            count[drawn]++;
        }
        double due = DRAWS * exp(-(double)mean[i]);
        for (size_t k = 0; k < MOST; k++, due *= (double)mean[i] / (double)k) {
            if (due < 20.0) continue;
            chi_square += ((double)count[k] - due) * ((double)count[k] - due) / due;
            rest -= due;
            seen -= (double)count[k];
        }
        if (rest > 1.0) chi_square += (seen - rest) * (seen - rest) / rest;
        assert_true(chi_square < bound[i]);
    }
    assert_int_equal(bb_random_poisson(&random, 0), 0);
    bb_random_close(&random);
}

/* Words of streams whose names differ in one place agree in about half of their bits:
 * of 512 * 64 bits 50 % +- 6 standard deviations (false alarms: 2e-9 a pair). */
static void streams_of_different_names_are_independent(void **state) {
    (void)state;
    const uint64_t name[][4] = {{1, BB_FOR_NOISE, 0, 0}, {2, BB_FOR_NOISE, 0, 0},
                                {1, BB_FOR_LOCAL, 0, 0}, {1, BB_FOR_SPLIT, 0, 0},
                                {1, BB_FOR_NOISE, 1, 0}, {1, BB_FOR_NOISE, 0, 1}};
    enum { NAMES = sizeof name / sizeof *name, WORDS = 512, BITS = 64 * WORDS };
    static uint64_t words[NAMES + 2][WORDS];
    for (size_t i = 0; i < NAMES + 2; i++) {
        bb_random random = {0};
        if (i < NAMES)
            assert_ok(bb_random_open_stream(&random, name[i][0], (bb_purpose)name[i][1],
                                            name[i][2], name[i][3]));
        else
            assert_ok(bb_random_open_secure(&random));
        assert_int_equal(random.secure, i >= NAMES);
        for (size_t k = 0; k < WORDS; k++) words[i][k] = bb_random_bits(&random);
        bb_random_close(&random);
    }
    for (size_t i = 0; i < NAMES + 2; i++)
        for (size_t j = 0; j < i; j++) {
            int different = 0;
            for (size_t k = 0; k < WORDS; k++)
                different += __builtin_popcountll(words[i][k] ^ words[j][k]);
            assert_close(different, BITS / 2.0, 6.0 * sqrt(BITS) / 2.0);
        }
}

/* Chi-square of 140,000 draws below 7, fixed seed: 6 degrees of freedom, 1 -
 * 1e-6: 38.3. */
static void draws_below_n_are_uniform(void **state) {
    (void)state;
    enum { SIDES = 7, DRAWS = 140000 };
    size_t count[SIDES] = {0};
    double chi_square = 0.0;
    bb_random random = {0};
    assert_ok(bb_random_open_stream(&random, 11, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < DRAWS; i++) {
        const uint64_t side = bb_random_below(&random, SIDES);
        assert_true(side < SIDES);
        count[side]++;
    }
    for (size_t i = 0; i < SIDES; i++) {
        const double due = (double)DRAWS / SIDES, off = (double)count[i] - due;
        chi_square += off * off / due;
    }
    assert_in_range((size_t)(1000.0 * chi_square), 1, 38300);
    for (int i = 0; i < 100; i++) assert_true(bb_random_below(&random, 1) == 0);
    bb_random_close(&random);
}

/* For n = 3 * 2^62 a plain remainder would give the first third twice as often. */
static void a_large_n_is_uniform_too(void **state) {
    (void)state;
    const uint64_t n = (uint64_t)3 << 62;
    size_t first_third = 0;
    enum { DRAWS = 30000 };
    bb_random random = {0};
    assert_ok(bb_random_open_stream(&random, 12, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < DRAWS; i++)
        first_third += bb_random_below(&random, n) < n / 3;
    assert_close((double)first_third, DRAWS / 3.0, 6.0 * sqrt(DRAWS * 2.0 / 9.0));
    bb_random_close(&random);
}

/* Moments of 200,000 draws within 6 standard deviations, and the tail beyond 3. */
static void normal_and_uniform_have_their_moments(void **state) {
    (void)state;
    enum { DRAWS = 200000 };
    const double n = DRAWS, tail = 0.0026997960632601866;
    double sum = 0.0, square = 0.0, uniform = 0.0, beyond = 0.0;
    bb_random random = {0};
    assert_ok(bb_random_open_stream(&random, 13, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < DRAWS; i++) {
        const double z = bb_random_normal(&random), u = bb_random_uniform(&random);
        assert_true(u >= 0.0 && u < 1.0);
        sum += z;
        square += z * z;
        uniform += u;
        beyond += fabs(z) > 3.0;
    }
    assert_close(sum / n, 0.0, 6.0 / sqrt(n));
    assert_close(square / n, 1.0, 6.0 * sqrt(2.0 / n));
    assert_close(uniform / n, 0.5, 6.0 / sqrt(12.0 * n));
    assert_close(beyond / n, tail, 6.0 * sqrt(tail / n));
    bb_random_close(&random);
}

/* Each of the 24 orders of four things, chi-square with 23 degrees, 1 - 1e-6: 72. */
static void every_order_is_as_likely(void **state) {
    (void)state;
    enum { ITEMS = 4, ORDERS = 256, SHUFFLES = 48000 };
    size_t count[ORDERS] = {0}, orders = 0;
    double chi_square = 0.0;
    bb_random random = {0};
    assert_ok(bb_random_open_stream(&random, 14, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < SHUFFLES; i++) {
        size_t index[ITEMS] = {0, 1, 2, 3}, code = 0;
        bb_random_shuffle(&random, index, ITEMS);
        for (size_t k = 0; k < ITEMS; k++) code = ITEMS * code + index[k];
        assert_true(code < ORDERS);
        count[code]++;
    }
    for (size_t i = 0; i < ORDERS; i++) {
        if (!count[i]) continue;
        const double due = SHUFFLES / 24.0, off = (double)count[i] - due;
        orders++;
        chi_square += off * off / due;
    }
    assert_int_equal(orders, 24);
    assert_true(chi_square < 72.0);
    bb_random_close(&random);
}

static void a_closed_generator_keeps_nothing(void **state) {
    (void)state;
    bb_random random = {0};
    const bb_random zero = {0};
    assert_ok(bb_random_open_secure(&random));
    bb_random_bits(&random);
    bb_random_close(&random);
    assert_memory_equal(&random, &zero, sizeof random);
}

/* SHA-256 of nothing begins with e3b0c44298fc1c14, that of "abc" with ba7816bf8f01cfea
 * (FIPS 180-2). */
static void a_name_is_a_key(void **state) {
    (void)state;
    uint64_t key;
    assert_ok(bb_random_key("", &key));
    assert_true(key == 0x141cfc9842c4b0e3U);
    assert_ok(bb_random_key("abc", &key));
    assert_true(key == 0xeacf018fbf1678baU);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_chacha20),
        cmocka_unit_test(a_stream_has_no_seams),
        cmocka_unit_test(a_restarted_stream_is_a_fresh_one),
        cmocka_unit_test(streams_of_different_names_are_independent),
        cmocka_unit_test(a_name_is_a_key),
        cmocka_unit_test(draws_below_n_are_uniform),
        cmocka_unit_test(counts_are_poisson),
        cmocka_unit_test(a_large_n_is_uniform_too),
        cmocka_unit_test(normal_and_uniform_have_their_moments),
        cmocka_unit_test(every_order_is_as_likely),
        cmocka_unit_test(a_closed_generator_keeps_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
