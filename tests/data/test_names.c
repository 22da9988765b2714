#include "data/names.h"
#include "test.h"

static void add_and_find(void **state) {
    (void)state;
    bb_names names = {0};
    char text[32];
    size_t index = 0;
    assert_true(bb_names_find(&names, "x", 1) == SIZE_MAX);
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < 5000; i++) {
            const int length = snprintf(text, sizeof text, "name %zu", i * i);
            assert_ok(bb_names_add(&names, text, (size_t)length, &index));
            assert_int_equal(index, i);
        }
    assert_int_equal(names.count, 5000);
    assert_int_equal(bb_names_find(&names, "name 49", 7), 7);
    assert_true(bb_names_find(&names, "name 50", 7) == SIZE_MAX);
    assert_true(bb_names_find(&names, "name 49", 6) != 7);
    assert_string_equal(bb_names_at(&names, 4999), "name 24990001");
    char **list;
    assert_ok(bb_names_list(&list, &names));
    bb_names_free(&names);
    assert_string_equal(list[0], "name 0");
    assert_string_equal(list[4999], "name 24990001");
    free(list);
}

static void odd_names(void **state) {
    (void)state;
    bb_names names = {0};
    size_t a, b, c;
    assert_ok(bb_names_add(&names, "", 0, &a));
    assert_ok(bb_names_add(&names, "a\0b", 3, &b));
    assert_ok(bb_names_add(&names, "a", 1, &c));
    assert_int_equal(a, 0);
    assert_int_equal(b, 1);
    assert_int_equal(c, 2);
    assert_int_equal(bb_names_find(&names, "a\0b", 3), 1);
    bb_names_free(&names);
}

static void lists(void **state) {
    (void)state;
    static const char *const name[] = {"a", "b, or \"B\"", "\"", "c d"};
    bb_names names = {0};
    char *list = NULL;
    for (size_t k = 0; k < 4; k++) assert_ok(bb_names_append(&list, name[k]));
    assert_string_equal(list, "a,\"b, or \"\"B\"\"\",\"\"\"\",c d");
    assert_ok(bb_names_parse(&names, list, "--list"));
    assert_int_equal(names.count, 4);
    for (size_t k = 0; k < 4; k++) assert_string_equal(bb_names_at(&names, k), name[k]);
    bb_names_free(&names);
    free(list);
    static const char *const bad[] = {"",   "a,",     "a,,b",   "\"a",
                                      "\"", "\"a\"b", "a,\"a\""};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_fails(bb_names_parse(&names, bad[k], "--list"), BB_EUSAGE, "--list: ");
        bb_names_free(&names);
    }
}

static void blocks(void **state) {
    (void)state;
    char one[] = "one", none[] = "", *const name[] = {one, none};
    char **copy;
    assert_ok(bb_names_copy(&copy, 2, name));
    assert_string_equal(copy[0], "one");
    assert_string_equal(copy[1], "");
    free(copy);
    assert_ok(bb_names_count(&copy, 12, "x"));
    assert_string_equal(copy[0], "x1");
    assert_string_equal(copy[11], "x12");
    free(copy);
    assert_ok(bb_names_copy(&copy, 0, NULL));
    free(copy);
}

static void utf8(void **state) {
    (void)state;
    static const char *const good[] = {"",
                                       "abc",
                                       "\xc3\xa9",
                                       "\xe2\x82\xac",
                                       "\xf0\x9f\x98\x80",
                                       "\xed\x9f\xbf",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {
        "\x80",         "\xc3",         "\xc0\xaf",
        "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xff",         "a\xe2\x82",    "\xf8\x88\x80\x80"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(bb_is_utf8(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(bb_is_utf8(bad[i], strlen(bad[i])));
}

static void shown_texts(void **state) {
    (void)state;
    char text[BB_SHOWN_BYTES], euros[301] = "";
    for (size_t i = 0; i < 100; i++) memcpy(euros + 3 * i, "\xe2\x82\xac", 4);
    assert_string_equal(bb_shown(text, "abc", 3), "\"abc\"");
    assert_string_equal(bb_shown(text, "", 0), "\"\"");
    assert_string_equal(bb_shown(text, "a\nb\x7f\xff", 5), "\"a?b??\"");
    bb_shown(text, euros, 300);
    assert_true(strlen(text) < BB_SHOWN_BYTES);
    assert_true(bb_is_utf8(text, strlen(text)));
    assert_non_null(strstr(text, "\xe2\x82\xac...\""));
}

static void names_that_look_the_same(void **state) {
    (void)state;
    static const struct {
        const char *a, *b, *how; /* part of what is said; NULL: nothing */
    } pair[] = {
        {"ward3", "ward3 ", "blanks"},
        {"\tward 3", "ward 3", "blanks"},
        {"ward3", "ward4 ", NULL},
        {"ward3", "ward 3", NULL},
        {"1", "1.0", "same number"},
        {"100000", "1e+05", "same number"},
        {"1", "1.5", NULL},
        {"9007199254740993", "9007199254740992", NULL},
        {"K\xc3\xb6ln", "Ko\xcc\x88ln", "normal form"},
        {"Ko\xcc\x88ln", "K\xc3\xb6ln", "normal form"},
        {"\xea\xb0\x81", "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8", "normal form"},
        {"\xe3\x81\x8c", "\xe3\x81\x8b\xe3\x82\x99", "normal form"},
        {"e\xcc\x81", "\xc3\xa9", "normal form"},
        {"Ko\xcc\x88ln", "Koln", NULL},
        {"Ko\xcc\x88ln", "K\xc3\xb6le", NULL},
        {"Ko\xcc\x88ln", "Ka\xcc\x88ln", NULL},
        {"K\xc3\xb6ln", "K\xc3\xa4ln", NULL},
        {"\xcc\x88", "", NULL},
    };
    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) {
        char alike[BB_ALIKE_BYTES];
        bb_names names = {0};
        size_t at;
        assert_ok(bb_names_add(&names, "another", 7, &at));
        assert_ok(bb_names_add(&names, pair[k].a, strlen(pair[k].a), &at));
        bb_names_alike(alike, &names, pair[k].b, "is one");
        assert_int_equal(*alike != '\0', pair[k].how != NULL);
        if (pair[k].how) assert_non_null(strstr(alike, pair[k].how));
        if (k == 0)
            assert_string_equal(alike, "; \"ward3\" is one, which differs in blanks at "
                                       "its ends");
        bb_names_free(&names);
    }
}

static void blanks_at_the_ends(void **state) {
    (void)state;
    static const char *const text[] = {"ward 3", " \tward 3\r\n", "ward 3 "};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        const char *bare = text[k];
        size_t length = strlen(bare);
        bb_trim(&bare, &length);
        assert_int_equal(length, 6);
        assert_memory_equal(bare, "ward 3", 6);
    }
    const char *none = " \t ";
    size_t length = 3;
    bb_trim(&none, &length);
    assert_int_equal(length, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_and_find),
        cmocka_unit_test(odd_names),
        cmocka_unit_test(lists),
        cmocka_unit_test(blocks),
        cmocka_unit_test(utf8),
        cmocka_unit_test(shown_texts),
        cmocka_unit_test(names_that_look_the_same),
        cmocka_unit_test(blanks_at_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
