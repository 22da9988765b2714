#include "base/status.h"
#include "test.h"

static void every_code_has_a_text_and_an_exit_code(void **state) {
    (void)state;
    const struct {
        bb_status status;
        int exit_code;
    } expected[] = {{BB_OK, 0},      {BB_EUSAGE, 2},        {BB_EDATA, 1},
                    {BB_EIO, 1},     {BB_ENOMEM, 1},        {BB_ENUMERIC, 1},
                    {BB_EBUDGET, 3}, {BB_EINTERRUPTED, 130}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(expected[i].status, i);
        assert_int_equal(bb_status_exit_code(expected[i].status),
                         expected[i].exit_code);
        assert_true(strlen(bb_status_text(expected[i].status)) > 3);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(bb_status_text(expected[i].status),
                                    bb_status_text(expected[k].status));
    }
}

static void a_message_is_kept_and_put_in_context(void **state) {
    (void)state;
    assert_int_equal(bb_fail(BB_EDATA, "row %d of %s", 7, "x.csv"), BB_EDATA);
    assert_string_equal(bb_last_error(), "row 7 of x.csv");
    assert_int_equal(bb_fail_context(BB_EIO, "reading %s", "y"), BB_EIO);
    assert_string_equal(bb_last_error(), "reading y: row 7 of x.csv");
}

static void the_last_message_may_be_an_argument(void **state) {
    (void)state;
    assert_int_equal(bb_fail(BB_EDATA, "first"), BB_EDATA);
    assert_int_equal(bb_fail(BB_EDATA, "second after %s", bb_last_error()), BB_EDATA);
    assert_string_equal(bb_last_error(), "second after first");
}

static void a_long_message_is_cut_at_its_end(void **state) {
    (void)state;
    char words[3000];
    memset(words, 'x', sizeof words);
    words[sizeof words - 1] = '\0';
    assert_int_equal(bb_fail(BB_EDATA, "%s", words), BB_EDATA);
    const size_t most = strlen(bb_last_error());
    assert_in_range(most, 500, sizeof words - 2);
    assert_int_equal(bb_fail_context(BB_EDATA, "context"), BB_EDATA);
    assert_int_equal(strlen(bb_last_error()), most);
    assert_memory_equal(bb_last_error(), "context: xxx", 12);
    assert_int_equal(bb_fail_context(BB_EDATA, "%s", words), BB_EDATA);
    assert_int_equal(strlen(bb_last_error()), most);
    assert_memory_equal(bb_last_error(), "xxx", 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_text_and_an_exit_code),
        cmocka_unit_test(a_message_is_kept_and_put_in_context),
        cmocka_unit_test(the_last_message_may_be_an_argument),
        cmocka_unit_test(a_long_message_is_cut_at_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
