/* Files that runs go on from: whole or not at all, their owner's alone, and refused when
 * a single bit is not as it was written. */
#include "base/memory.h"
#include "core/checkpoint.h"
#include "folder.h"
#include "torture.h"

#include <sys/stat.h>

static const uint8_t about[] = "which run", curator[] = {1, 2, 3, 0, 5},
                     silo[300] = {7, [299] = 9};
static const bb_checkpoint some = {.about = {about, sizeof about},
                                   .curator = {curator, sizeof curator},
                                   .silo = {silo, sizeof silo}};

static bool is_same(bb_bytes a, bb_bytes b) {
    return a.length == b.length && (!a.length || memcmp(a.at, b.at, a.length) == 0);
}

static void assert_is(const char *path, const bb_checkpoint *expected) {
    bb_checkpoint c = {0};
    bb_map map = {0};
    assert_ok(bb_checkpoint_read(path, &c, &map));
    assert_true(is_same(c.about, expected->about));
    assert_true(is_same(c.curator, expected->curator));
    assert_true(is_same(c.silo, expected->silo));
    for (size_t k = 0; k < BB_SILO_STORED; k++)
        assert_true(is_same(c.stored[k].bytes, expected->stored[k].bytes));
    bb_map_close(&map);
}

static void assert_is_some(const char *path) {
    assert_is(path, &some);
}

static void it_comes_back(void **state) {
    (void)state;
    struct stat there;
    const mode_t mask = umask(0);
    assert_ok(bb_checkpoint_write("c", &some));
    umask(mask);
    assert_is_some("c");
    assert_int_equal(stat("c", &there), 0);
    assert_int_equal(there.st_mode & 07777, 0600);
    const bb_checkpoint none = {.about = {NULL, 0}};
    assert_ok(bb_checkpoint_write("c", &none));
    assert_is("c", &none);
    assert_int_equal(remove("c"), 0);
    assert_int_equal(folder_entries("."), 0);
}

/* Readable by others, a link to a file of theirs: what a dead process left in the way. */
static void leftovers_are_replaced(void **state) {
    (void)state;
    char text[20];
    struct stat there;
    FILE *file = fopen("theirs", "w");
    assert_true(file && fputs("theirs", file) >= 0 && !fclose(file));
    assert_int_equal(symlink("theirs", "c.new"), 0);
    assert_ok(bb_checkpoint_write("c", &some));
    assert_string_equal(folder_read(text, sizeof text, "theirs"), "theirs");
    assert_int_equal(lstat("c", &there), 0);
    assert_true(S_ISREG(there.st_mode));
    assert_is_some("c");
    assert_int_equal(remove("c") || remove("theirs"), 0);
    assert_int_equal(folder_entries("."), 0);
}

static size_t read_bytes(const char *path, uint8_t *bytes, size_t room) {
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(bytes, 1, room, file) : 0;
    if (file) fclose(file);
    return size;
}

static void write_bytes(const char *path, const uint8_t *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(bytes, 1, size, file) == size && !fclose(file));
}

static bb_status read_again(void) {
    bb_checkpoint c = {.about = {about, 77}};
    bb_map map = {0};
    const bb_status status = bb_checkpoint_read("c", &c, &map);
    assert_true(!status || (c.about.length == 77 && !map.at));
    bb_map_close(&map);
    return status;
}

/* Every byte of it. */
static void what_is_spoilt_is_refused(void **state) {
    (void)state;
    uint8_t good[600], bad[601];
    assert_ok(bb_checkpoint_write("c", &some));
    const size_t size = read_bytes("c", good, sizeof good);
    assert_int_equal(size, 48 + sizeof about + sizeof curator + sizeof silo + 32);
    for (size_t k = 0; k < size; k++) {
        memcpy(bad, good, size);
        bad[k] ^= k % 2 ? 0x80 : 1;
        write_bytes("c", bad, size);
        assert_fails(read_again(), BB_EDATA,
                     k < 4    ? "is no checkpoint"
                     : k < 8  ? "this program knows 2"
                     : k < 48 ? "is damaged"
                              : "damaged");
    }
    for (size_t k = 0; k < size; k++) {
        write_bytes("c", good, k);
        assert_fails(read_again(), BB_EDATA, "c: ");
    }
    memcpy(bad, good, size);
    bad[size] = 0;
    write_bytes("c", bad, size + 1);
    assert_fails(read_again(), BB_EDATA, "not as many as it says");
    assert_int_equal(remove("c"), 0);
    assert_fails(read_again(), BB_EIO, "c: cannot be opened");
    assert_int_equal(mkdir("c", 0777), 0);
    assert_fails(read_again(), BB_EIO, "expected a plain file");
    assert_int_equal(rmdir("c"), 0);
}

/* -- what lies in files -- */

enum { FIRST = 3000, SECOND = 70001 };

static void fill(char *at, size_t size, unsigned seed) {
    for (size_t k = 0; k < size; k++) at[k] = (char)(k * k + seed);
}

/* Copied at that moment, from file to file, and durable later; a copy that is not, is not
 * there. */
static void files_are_copied(void **state) {
    (void)state;
    bb_map map[BB_SILO_STORED] = {{0}};
    bb_checkpoint_copy copy = {0};
    char first[FIRST], *second = malloc(SECOND);
    assert_non_null(second);
    assert_ok(bb_map_scratch(&map[0], FIRST));
    assert_ok(bb_map_scratch(&map[1], SECOND + 100));
    fill(first, FIRST, 1);
    fill(second, SECOND, 2);
    memcpy(map[0].at, first, FIRST);
    memcpy(map[1].at + 100, second, SECOND);
    bb_checkpoint c = some;
    c.stored[0] = (bb_silo_stored){&map[0], {(uint8_t *)map[0].at, FIRST}};
    c.stored[1] = (bb_silo_stored){&map[1], {(uint8_t *)map[1].at + 100, SECOND}};
    assert_ok(bb_checkpoint_write("c", &some));
    assert_ok(bb_checkpoint_begin(&copy, "c", &c));
    assert_is_some("c");
    fill(map[0].at, FIRST, 3); /* the run goes on */
    fill(map[1].at, SECOND, 4);
    assert_ok(bb_checkpoint_commit(&copy, "c"));
    const bb_checkpoint then = {.about = some.about,
                                .curator = some.curator,
                                .silo = some.silo,
                                .stored = {{NULL, {(uint8_t *)first, FIRST}},
                                           {NULL, {(uint8_t *)second, SECOND}}}};
    assert_is("c", &then);
    assert_ok(bb_checkpoint_begin(&copy, "c", &c));
    assert_ok(bb_checkpoint_begin(&copy, "c", &some));
    bb_checkpoint_drop(&copy);
    bb_checkpoint_drop(&copy);
    assert_is("c", &then);
    assert_int_equal(folder_entries("."), 1);
    c.stored[0].bytes.length = 0;
    assert_ok(bb_checkpoint_write("c", &c));
    assert_is("c", &(bb_checkpoint){.about = some.about,
                                    .curator = some.curator,
                                    .silo = some.silo,
                                    .stored = {{NULL, {NULL, 0}}, c.stored[1]}});
    assert_int_equal(remove("c"), 0);
    for (size_t k = 0; k < BB_SILO_STORED; k++) bb_map_close(&map[k]);
    free(second);
}

/* A bit of what was copied. */
static void spoilt_copies_are_refused(void **state) {
    (void)state;
    enum { MOST = 3 * BB_MAP_BLOCK };
    static uint8_t bytes[MOST];
    bb_map map = {0};
    bb_checkpoint c = some;
    assert_ok(bb_map_scratch(&map, FIRST));
    fill(map.at, FIRST, 7);
    c.stored[1] = (bb_silo_stored){&map, {(uint8_t *)map.at, FIRST}};
    assert_ok(bb_checkpoint_write("c", &c));
    const size_t size = read_bytes("c", bytes, sizeof bytes);
    assert_int_equal(size, BB_MAP_BLOCK + FIRST + 32);
    for (size_t k = 0; k < size; k += 97) {
        bytes[k] ^= 4;
        write_bytes("c", bytes, size);
        assert_fails(read_again(), BB_EDATA, "c: ");
        bytes[k] ^= 4;
    }
    write_bytes("c", bytes, size - FIRST);
    assert_fails(read_again(), BB_EDATA, "not as many as it says");
    assert_int_equal(remove("c"), 0);
    bb_map_close(&map);
}

/* -- whole or not at all -- */

static const bb_checkpoint other = {.silo = {silo, sizeof silo}};

static bb_status attempt(void *context) {
    (void)context;
    return bb_checkpoint_write("c", &other);
}

static bb_status attempt_copy(void *context) {
    const bb_map *map = context;
    bb_checkpoint c = other;
    c.stored[0] = (bb_silo_stored){map, {(uint8_t *)map->at, FIRST}};
    return bb_checkpoint_write("c", &c);
}

static void old_or_new(void *context, bb_status status) {
    bb_checkpoint c = {0};
    bb_map map = {0};
    (void)context;
    if (status) {
        /* only making the folder durable may fail behind it */
        assert_ok(bb_checkpoint_read("c", &c, &map));
        const bool is_new = !c.about.length;
        assert_true(is_same(c.about, some.about) || is_new);
        bb_map_close(&map);
        if (!is_new) assert_is_some("c");
    }
    assert_int_equal(folder_entries("."), 1);
    assert_ok(bb_checkpoint_write("c", &some));
}

static void a_failure_leaves_the_old_one(void **state) {
    (void)state;
    const bb_torture torture = {.attempt = attempt, .check = old_or_new};
    assert_ok(bb_checkpoint_write("c", &some));
    assert_true(torture_memory(torture) >= 2);
    assert_true(torture_files(torture) >= 3);
    assert_true(torture_disk(torture) >= 10);
    bb_map map = {0};
    assert_ok(bb_map_scratch(&map, FIRST));
    const bb_torture copied = {
        .attempt = attempt_copy, .check = old_or_new, .context = &map};
    assert_true(torture_memory(copied) >= 2);
    assert_true(torture_files(copied) >= 3);
    assert_true(torture_disk(copied) >= 10);
    bb_map_close(&map);
    assert_int_equal(remove("c"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_back),
        cmocka_unit_test(leftovers_are_replaced),
        cmocka_unit_test(what_is_spoilt_is_refused),
        cmocka_unit_test(files_are_copied),
        cmocka_unit_test(spoilt_copies_are_refused),
        cmocka_unit_test(a_failure_leaves_the_old_one),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
