#include "base/memory.h"
#include "test.h"
#include "torture.h"

static void memory_is_zeroed_and_aligned(void **state) {
    (void)state;
    for (size_t count = 0; count < 300; count++) {
        unsigned char *bytes = NULL;
        assert_ok(bb_allocate(&bytes, count, 3, "bytes"));
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % 64, 0);
        for (size_t i = 0; i < 3 * count; i++) assert_int_equal(bytes[i], 0);
        if (count) memset(bytes, 0xff, 3 * count);
        free(bytes);
    }
}

static void too_much_memory_is_refused(void **state) {
    (void)state;
    char mark, *kept = &mark;
    assert_fails(bb_allocate(&kept, SIZE_MAX / 2, 3, "rows"), BB_ENOMEM, "for rows");
    assert_fails(bb_allocate(&kept, 2, SIZE_MAX / 2 + 1, "rows"), BB_ENOMEM, "rows");
    assert_fails(bb_allocate(&kept, SIZE_MAX, 1, "rows"), BB_ENOMEM, "rows");
    torture_arm_memory(1);
    const bb_status status = bb_allocate(&kept, 4, 1, "rows");
    assert_true(torture_disarm());
    assert_int_equal(status, BB_ENOMEM);
    assert_string_equal(bb_last_error(), "no memory for rows (64 bytes)");
    assert_ptr_equal(kept, &mark);
}

static void a_growing_array_keeps_its_items(void **state) {
    (void)state;
    uint32_t *array = NULL;
    size_t capacity = 0, moves = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        const size_t before = capacity;
        assert_ok(bb_grow(&array, &capacity, i + 1, sizeof *array, "items"));
        moves += capacity != before;
        array[i] = i * i;
    }
    assert_in_range(moves, 1, 12);
    for (uint32_t i = 0; i < 10000; i++) assert_int_equal(array[i], i * i);
    const size_t before = capacity;
    assert_fails(bb_grow(&array, &capacity, SIZE_MAX / 2, 4, "items"), BB_ENOMEM,
                 "items");
    torture_arm_memory(1);
    const bb_status status = bb_grow(&array, &capacity, capacity + 1, 4, "items");
    assert_true(torture_disarm());
    assert_int_equal(status, BB_ENOMEM);
    assert_int_equal(capacity, before);
    assert_int_equal(array[9999], 9999u * 9999u);
    free(array);
}

static void a_duplicate_ends_where_it_should(void **state) {
    (void)state;
    char *copy = NULL;
    assert_ok(bb_duplicate(&copy, "hello world", 5));
    assert_string_equal(copy, "hello");
    free(copy);
    assert_ok(bb_duplicate(&copy, "", 0));
    assert_string_equal(copy, "");
    free(copy);
}

static void an_arena_holds_what_was_asked_for(void **state) {
    (void)state;
    const size_t counts[] = {1, 100, 0, 7, 64};
    enum { PIECES = sizeof counts / sizeof *counts };
    double *piece[PIECES];
    bb_arena arena = {0};
    for (size_t i = 0; i < PIECES; i++)
        bb_arena_need(&arena, counts[i], sizeof(double));
    assert_ok(bb_arena_open(&arena, "a run"));
    for (size_t i = 0; i < PIECES; i++) {
        piece[i] = bb_arena_take(&arena, counts[i], sizeof(double));
        assert_int_equal((uintptr_t)piece[i] % 64, 0);
        for (size_t k = 0; k < counts[i]; k++) {
            assert_true(piece[i][k] == 0.0);
            piece[i][k] = (double)i;
        }
    }
    assert_int_equal(arena.used, arena.size);
    for (size_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < counts[i]; k++) assert_true(piece[i][k] == (double)i);
    bb_arena_close(&arena);
    assert_null(arena.base);
    bb_arena_close(&arena);
}

static void an_arena_that_overflows_cannot_be_opened(void **state) {
    (void)state;
    bb_arena arena = {0};
    bb_arena_need(&arena, SIZE_MAX / 16, 8);
    bb_arena_need(&arena, SIZE_MAX / 16, 8);
    bb_arena_need(&arena, 1, 8);
    assert_fails(bb_arena_open(&arena, "a run"), BB_ENOMEM, "a run");
    assert_null(arena.base);
    bb_arena_close(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(too_much_memory_is_refused),
        cmocka_unit_test(a_growing_array_keeps_its_items),
        cmocka_unit_test(a_duplicate_ends_where_it_should),
        cmocka_unit_test(an_arena_holds_what_was_asked_for),
        cmocka_unit_test(an_arena_that_overflows_cannot_be_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
