#include "base/file.h"
#include "folder.h"
#include "test.h"
#include "torture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_text(const char *path, const char *text) {
    assert_ok(bb_file_write(path, text, strlen(text)));
}

static void names_are_joined(void **state) {
    (void)state;
    char *name = NULL;
    assert_ok(bb_file_join(&name, "run/public", "privacy.json"));
    assert_string_equal(name, "run/public/privacy.json");
    free(name);
}

static void a_file_is_replaced_whole(void **state) {
    (void)state;
    char contents[100];
    struct stat info;
    const mode_t mask = umask(027);
    write_text("a", "first\n");
    umask(mask);
    assert_int_equal(stat("a", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_string_equal(folder_read(contents, sizeof contents, "a"), "first\n");
    write_text("./a", "2");
    assert_string_equal(folder_read(contents, sizeof contents, "a"), "2");
    write_text("a", "");
    assert_string_equal(folder_read(contents, sizeof contents, "a"), "");
    assert_int_equal(folder_entries("."), 1);
    assert_int_equal(unlink("a"), 0);
}

static void links_and_pipes_stay(void **state) {
    (void)state;
    char contents[100];
    struct stat info;
    write_text("a", "first\n");
    assert_int_equal(symlink("a", "link"), 0);
    write_text("link", "second\n");
    assert_int_equal(lstat("link", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_string_equal(folder_read(contents, sizeof contents, "a"), "second\n");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    const int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    write_text("pipe", "through");
    assert_int_equal(read(reader, contents, sizeof contents), 7);
    assert_memory_equal(contents, "through", 7);
    close(reader);
    assert_int_equal(lstat("pipe", &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    write_text("/dev/null", "nothing");
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_int_equal(unlink("a") | unlink("link") | unlink("pipe"), 0);
}

static void a_place_that_does_not_exist_is_named(void **state) {
    (void)state;
    assert_fails(bb_file_write("none/a", "x", 1), BB_EIO, "none/a: cannot be created");
    assert_fails(bb_file_write(".", "x", 1), BB_EIO, ".: cannot be replaced");
    assert_fails(bb_file_write("-", "x", 1), BB_EUSAGE, "-: this goes to a file");
    assert_fails(bb_file_sync_directory("none"), BB_EIO,
                 "none: cannot be opened: No such");
    assert_int_equal(folder_entries("."), 0);
}

/* Fills a begun directory with a public half and an operator half. */
static bb_status fill(const char *folder) {
    char *half = NULL, *name = NULL;
    bb_status status = bb_file_join(&half, folder, "public");
    if (!status && mkdir(half, 0777)) status = bb_fail(BB_EIO, "%s", half);
    if (!status) status = bb_file_join(&name, half, "privacy.json");
    if (!status) status = bb_file_write(name, "{}\n", 3);
    free(name);
    free(half);
    return status;
}

static bb_status make_run(void *context) {
    const char *const path = context;
    char *temporary = NULL;
    bb_status status = bb_directory_begin(&temporary, path);
    if (status) return status;
    status = fill(temporary);
    if (!status) status = bb_directory_commit(temporary, path);
    /* what discarding says about a directory that is in place already is of no use */
    if (status && access(temporary, F_OK) == 0) {
        const bb_status discarded = bb_directory_discard(temporary);
        if (discarded) status = discarded;
    }
    free(temporary);
    return status;
}

static void remove_run(const char *path) {
    char name[100];
    assert_int_equal(folder_entries(path), 1);
    snprintf(name, sizeof name, "%s/public/privacy.json", path);
    assert_int_equal(unlink(name), 0);
    snprintf(name, sizeof name, "%s/public", path);
    assert_int_equal(rmdir(name), 0);
    assert_int_equal(rmdir(path), 0);
}

static void a_run_directory_appears_whole(void **state) {
    (void)state;
    char run[] = "run", slash[] = "run/";
    assert_ok(make_run(run));
    assert_int_equal(folder_entries("."), 1);
    assert_fails(make_run(run), BB_EUSAGE, "run: exists already");
    assert_fails(make_run(slash), BB_EUSAGE, "run/: exists already");
    remove_run(run);
    assert_ok(make_run(slash));
    remove_run(run);
    char deep[] = "none/run";
    assert_fails(make_run(deep), BB_EIO, "none/run: cannot be created: No such file");
    assert_int_equal(folder_entries("."), 0);
}

static void discarding_follows_no_links_and_takes_no_other_name(void **state) {
    (void)state;
    char *temporary = NULL, *name = NULL, contents[10];
    write_text("kept", "kept");
    assert_ok(bb_directory_begin(&temporary, "run"));
    assert_memory_equal(temporary, "run.tmp-", 8);
    assert_ok(fill(temporary));
    assert_ok(bb_file_join(&name, temporary, "link"));
    assert_int_equal(symlink("../kept", name), 0);
    assert_int_equal(folder_entries(temporary), 2);
    assert_ok(bb_directory_discard(temporary));
    assert_string_equal(folder_read(contents, sizeof contents, "kept"), "kept");
    assert_fails(bb_directory_discard("kept"), BB_EUSAGE, "kept: is not a temporary");
    assert_fails(bb_directory_discard(".tmp-12345678"), BB_EUSAGE, "not a temporary");
    assert_fails(bb_directory_discard(temporary), BB_EIO, "cannot be walked");
    free(name);
    free(temporary);
    assert_int_equal(unlink("kept"), 0);
    assert_int_equal(folder_entries("."), 0);
}

static bb_status replace(void *context) {
    (void)context;
    return bb_file_write("a", "new contents", 12);
}

static void old_or_new(void *context, bb_status status) {
    size_t *const news = context;
    char contents[20];
    folder_read(contents, sizeof contents, "a");
    if (strcmp(contents, "new contents") == 0)
        *news += status != BB_OK;
    else
        assert_string_equal(contents, status ? "old" : "new contents");
    assert_int_equal(folder_entries("."), 1);
    write_text("a", "old");
}

static void writing_survives_torture(void **state) {
    (void)state;
    size_t news = 0;
    const bb_torture torture = {
        .attempt = replace, .check = old_or_new, .context = &news};
    write_text("a", "old");
    assert_true(torture_memory(torture) >= 1);
    assert_true(torture_disk(torture) >= 10);
    assert_true(torture_files(torture) >= 4);
    /* new although it failed: only where making the folder durable failed */
    assert_in_range(news, 1, 3);
    assert_int_equal(unlink("a"), 0);
}

static void whole_or_absent(void *context, bb_status status) {
    const char *const path = context;
    if (access(path, F_OK) == 0)
        remove_run(path);
    else
        assert_true(status != BB_OK);
    assert_int_equal(folder_entries("."), 0);
}

static void a_run_directory_survives_torture(void **state) {
    (void)state;
    char path[] = "run";
    const bb_torture torture = {
        .attempt = make_run, .check = whole_or_absent, .context = path};
    assert_true(torture_memory(torture) >= 5);
    assert_true(torture_disk(torture) >= 3);
    assert_true(torture_files(torture) >= 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_joined),
        cmocka_unit_test(a_file_is_replaced_whole),
        cmocka_unit_test(links_and_pipes_stay),
        cmocka_unit_test(a_place_that_does_not_exist_is_named),
        cmocka_unit_test(a_run_directory_appears_whole),
        cmocka_unit_test(discarding_follows_no_links_and_takes_no_other_name),
        cmocka_unit_test(writing_survives_torture),
        cmocka_unit_test(a_run_directory_survives_torture),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
