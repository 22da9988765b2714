/* The torture itself: it must find what it is for. */
#include "base/memory.h"
#include "test.h"
#include "torture.h"

static bb_status three_allocations(void *context) {
    size_t *const attempts = context;
    char *piece[3] = {NULL};
    bb_status status = BB_OK;
    ++*attempts;
    for (size_t i = 0; i < 3 && !status; i++)
        status = bb_allocate(&piece[i], 10, 1, "a piece");
    for (size_t i = 0; i < 3; i++) free(piece[i]);
    return status;
}

static void count_failures(void *context, bb_status status) {
    size_t *const attempts = context;
    if (status) *attempts += 100;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    size_t attempts = 0;
    const bb_torture torture = {
        .attempt = three_allocations, .check = count_failures, .context = &attempts};
    assert_int_equal(torture_memory(torture), 3);
    assert_int_equal(attempts, 8 + 600);
}

static void an_armed_allocation_fails_and_only_that_one(void **state) {
    (void)state;
    torture_arm_memory(2);
    /* volatile, or the compiler does without the allocations */
    void *volatile first = malloc(1);
    void *volatile second = malloc(1);
    void *volatile third = calloc(1, 1);
    assert_true(torture_disarm());
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    free(first);
    free(third);
    torture_arm_memory(5);
    first = malloc(1);
    free(first);
    assert_false(torture_disarm());
}

static bb_status write_stream(void *context) {
    (void)context;
    FILE *const file = fopen("stream.txt", "w");
    if (!file) return bb_fail(BB_EIO, "stream.txt");
    for (int i = 0; i < 100; i++) fprintf(file, "row %d of a table\n", i);
    const int bad = ferror(file);
    if (fclose(file) || bad) return bb_fail(BB_EIO, "stream.txt: cannot be written");
    return BB_OK;
}

static void a_stream_is_seen_by_both(void **state) {
    (void)state;
    const bb_torture torture = {.attempt = write_stream};
    assert_int_equal(torture_files(torture), 1);
    assert_true(torture_disk(torture) > 30);
    assert_int_equal(unlink("stream.txt"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(an_armed_allocation_fails_and_only_that_one),
        cmocka_unit_test(a_stream_is_seen_by_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
