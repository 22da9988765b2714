#include "base/file.h"
#include "base/json.h"
#include "test.h"
#include "torture.h"
#include "train/rundir.h"

#include <sys/stat.h>

static char folder[64];

static int open_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/billboard-test-XXXXXX");
    return !mkdtemp(folder) || chdir(folder);
}

static int close_folder(void **state) {
    (void)state;
    return chdir("/") || rmdir(folder);
}

static bool exists(const char *path) {
    struct stat there;
    return lstat(path, &there) == 0;
}

static void remove_run(const char *path) {
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", path);
    assert_int_equal(system(command), 0);
}

/* Is there anything but RUN in the folder? */
static bool is_littered(void) {
    return system("ls | grep -qv '^run$'") == 0;
}

/* A run with one release of three blocks. */
static bb_status write_run(const char *path, bool force, double value) {
    const bb_layout layout = {3,
                              {{"sum", BB_FORM_VECTOR, 3, 1.0, 0.5},
                               {"moments", BB_FORM_OUTER, 2, 2.0, 0.5},
                               {"winner", BB_FORM_SELECTION, 2, INFINITY, 0.0}}};
    const double sum[] = {value, -0.5, 1e300}, moments[] = {1, 2, 2, 3},
                 winner[] = {0, 1};
    const bb_release release = {.round = 1,
                                .layout = &layout,
                                .value = {sum, moments, winner},
                                .noise = {3.5, 4.5, 0.0},
                                .winner = {0, 0, 1}};
    bb_rundir dir = {0};
    bb_status status = bb_rundir_begin(&dir, path, force);
    if (!status) status = bb_rundir_release(&dir, &release, 10);
    if (!status)
        status = bb_rundir_json(&dir, "public/options.json",
                                json_pack("{s:s}", "program", "billboard"));
    if (!status) status = bb_rundir_text(&dir, "public/statement.txt", "nothing\n");
    if (!status) status = bb_rundir_commit(&dir);
    bb_rundir_close(&dir);
    return status;
}

static double first_number(void) {
    double value = NAN;
    FILE *file = fopen("run/public/billboard.bin", "rb");
    assert_non_null(file);
    assert_int_equal(fread(&value, sizeof value, 1, file), 1);
    fclose(file);
    return value;
}

static void what_is_written_is_indexed(void **state) {
    (void)state;
    json_t *index = NULL;
    struct stat there;
    assert_ok(write_run("run", false, 0.25));
    assert_int_equal(stat("run/operator", &there), 0);
    assert_int_equal(there.st_mode & 0777, 0700); /* its owner's only */
    assert_ok(bb_rundir_read("run", "public/billboard.json", &index));
    assert_int_equal(json_integer_value(json_object_get(index, "count")), 3 + 4 + 2);
    const json_t *release = json_array_get(json_object_get(index, "releases"), 0);
    const json_t *blocks = json_object_get(release, "blocks");
    assert_int_equal(json_array_size(blocks), 3);
    const json_t *last = json_array_get(blocks, 2);
    assert_int_equal(json_integer_value(json_object_get(last, "at")), 7);
    assert_int_equal(json_integer_value(json_object_get(last, "winner")), 1);
    assert_true(json_is_null(json_object_get(last, "clip")));
    assert_close(first_number(), 0.25, 0.0);
    json_decref(index);
    remove_run("run");
}

static void only_runs_are_replaced_and_only_by_force(void **state) {
    (void)state;
    json_t *json = NULL;
    assert_ok(write_run("run", false, 1.0));
    assert_fails(write_run("run", false, 2.0), BB_EUSAGE, "--force");
    assert_close(first_number(), 1.0, 0.0);
    assert_ok(write_run("run", true, 2.0));
    assert_close(first_number(), 2.0, 0.0);
    assert_ok(write_run("run/", true, 3.0));
    assert_close(first_number(), 3.0, 0.0);
    assert_false(is_littered());
    assert_int_equal(unlink("run/public/options.json"), 0);
    assert_fails(write_run("run", true, 4.0), BB_EUSAGE, "not a run directory");
    assert_fails(bb_rundir_read("run", "operator/run.json", &json), BB_EDATA,
                 "not a run directory");
    remove_run("run");
    assert_fails(write_run("no/run", false, 1.0), BB_EIO, "no/run");
}

/* Also in one process; a file that a dead one left is nobody's reservation. */
static void a_place_is_one_run_s(void **state) {
    (void)state;
    bb_rundir first = {0}, second = {0};
    FILE *left = fopen("run.lock", "w");
    assert_non_null(left);
    fclose(left);
    assert_ok(bb_rundir_begin(&first, "run", false));
    assert_fails(bb_rundir_begin(&second, "run", false), BB_EUSAGE, "another run");
    assert_fails(bb_rundir_begin(&second, "./run/", true), BB_EUSAGE, "another run");
    assert_true(exists("run.lock"));
    bb_rundir_close(&first);
    assert_ok(bb_rundir_begin(&second, "run", false));
    bb_rundir_close(&second);
    assert_false(exists("run.lock") || exists("run"));
}

/* What comes after the commit goes to the run in place. */
/* Room that is not there is missed when it is taken, and nothing stays of it. */
static void room_is_taken_and_given(void **state) {
    (void)state;
    bb_rundir dir;
    assert_ok(bb_rundir_begin(&dir, "run", false));
    char *name = NULL;
    assert_ok(bb_rundir_name(&dir, "operator/room", &name));
    struct stat there;
    assert_ok(bb_rundir_take_room(&dir, 100000));
    assert_int_equal(stat(name, &there), 0);
    assert_true(there.st_blocks * 512 >= 100000);
    assert_ok(bb_rundir_give_room(&dir));
    assert_false(exists(name));
    assert_ok(bb_rundir_give_room(&dir));
    assert_fails(bb_rundir_take_room(&dir, SIZE_MAX / 4), BB_EIO, "no room for");
    bb_rundir_close(&dir);
    assert_false(exists(name));
    free(name);
    assert_false(is_littered());
}

static void files_may_follow_the_commit(void **state) {
    (void)state;
    bb_rundir dir = {0};
    assert_ok(bb_rundir_begin(&dir, "run", false));
    assert_ok(bb_rundir_commit(&dir));
    assert_true(exists("run/public/billboard.json") && exists("run.lock"));
    assert_ok(bb_rundir_text(&dir, "operator/late.txt", "late\n"));
    bb_rundir_close(&dir);
    assert_true(exists("run/operator/late.txt"));
    assert_false(is_littered());
    remove_run("run");
}

static bb_status attempt_new(void *context) {
    (void)context;
    return write_run("run", false, 1.0);
}

static void all_or_nothing(void *context, bb_status status) {
    (void)context;
    assert_false(is_littered());
    if (!exists("run")) {
        assert_int_not_equal(status, BB_OK);
        return;
    }
    /* complete; after a failure only its folder may not be durable */
    assert_true(status == BB_OK || status == BB_EIO);
    assert_true(exists("run/public/billboard.json"));
    assert_close(first_number(), 1.0, 0.0);
    remove_run("run");
}

/* A replacement that fails leaves the old run. */
static bb_status attempt_replacement(void *context) {
    (void)context;
    return write_run("run", true, 2.0);
}

static void old_or_new(void *context, bb_status status) {
    (void)context;
    assert_false(is_littered());
    assert_true(exists("run/public/billboard.json"));
    if (!status || first_number() == 2.0) { /* for the next attempt */
        assert_close(first_number(), 2.0, 0.0);
        remove_run("run");
        assert_ok(write_run("run", false, 1.0));
    }
    assert_close(first_number(), 1.0, 0.0);
}

static void a_run_survives_torture(void **state) {
    (void)state;
    const bb_torture fresh = {.attempt = attempt_new, .check = all_or_nothing};
    const bb_torture replacement = {
        .attempt = attempt_replacement, .check = old_or_new, .spare_json = true};
    assert_true(torture_memory(fresh) >= 20);
    assert_true(torture_files(fresh) >= 10);
    assert_true(torture_disk(fresh) >= 3);
    assert_ok(write_run("run", false, 1.0));
    assert_true(torture_memory(replacement) >= 8);
    assert_true(torture_disk(replacement) >= 3);
    remove_run("run");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_indexed),
        cmocka_unit_test(a_place_is_one_run_s),
        cmocka_unit_test(files_may_follow_the_commit),
        cmocka_unit_test(room_is_taken_and_given),
        cmocka_unit_test(only_runs_are_replaced_and_only_by_force),
        cmocka_unit_test(a_run_survives_torture),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
