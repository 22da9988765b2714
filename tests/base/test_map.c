#include "base/map.h"
#include "base/memory.h"
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Files are read by blocks, and the last one is shorter: what lies in memory behind a map
 * is somebody else's. */
static void passes_end_with_the_map(void **state) {
    (void)state;
    const size_t size = (size_t)8 << 20;
    bb_map map = {0};
    /* a map is mostly placed right below the one before it */
    char *other = mmap(NULL, 4 * size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(other != MAP_FAILED);
    memset(other, 1, 4 * size);
    assert_ok(bb_map_scratch(&map, size / 2));
    memset(map.at, 2, size / 2);
    bb_map_passed(&map, map.at, map.at + 3 * size);
    for (size_t k = 0; k < 4 * size; k += 512) assert_int_equal(other[k], 1);
    for (size_t k = 0; k < size / 2; k += 512) assert_int_equal(map.at[k], 2);
    bb_map_close(&map);
    munmap(other, 4 * size);
}

static void blocks_are_where_there_is_room(void **state) {
    (void)state;
    bb_map map[3] = {{0}};
    double *x = NULL, *y = NULL, *z = NULL;
    const size_t count = (size_t)3 << 20;
    assert_ok(bb_map_block(&map[0], 0, &x, count, sizeof *x, "numbers"));
    assert_ok(bb_map_block(&map[1], 1 << 20, &y, count, sizeof *y, "numbers"));
    assert_ok(bb_map_block(&map[2], 1 << 20, &z, (1 << 20) / 64, sizeof *z, "numbers"));
    assert_null(map[0].at);
    assert_true(bb_map_has(&map[1], y));
    assert_null(map[2].at);
    for (size_t k = 0; k < count; k++) assert_true(x[k] == 0.0 && y[k] == 0.0);
    for (size_t k = 0; k < count; k++) x[k] = (double)k;
    bb_map_copy(&map[1], y, &map[0], x, count * sizeof *x);
    assert_memory_equal(x, y, count * sizeof *x);
    bb_map_release(&map[0], x);
    bb_map_release(&map[1], y);
    bb_map_release(&map[2], z);
    bb_map_release(&map[2], NULL);
    assert_null(map[1].at);
}

static void a_full_disk_is_one_message(void **state) {
    (void)state;
    bb_map map = {0};
    char *at = NULL;
    assert_int_equal(bb_map_block(&map, 1, &at, (size_t)1 << 61, 1, "the models"),
                     BB_EIO);
    assert_non_null(strstr(bb_last_error(), "the models"));
    assert_non_null(strstr(bb_last_error(), "no room for a temporary file"));
    assert_null(at);
    assert_null(map.at);
    assert_int_equal(bb_map_block(&map, 1, &at, SIZE_MAX, 16, "the models"), BB_ENOMEM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_end_with_the_map),
        cmocka_unit_test(blocks_are_where_there_is_room),
        cmocka_unit_test(a_full_disk_is_one_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
