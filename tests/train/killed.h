/* killed.h - whole runs in processes of their own, which kill themselves at the n-th thing
 * that they do: what they tell, or do to a file. */
#ifndef BB_TESTS_KILLED_H
#define BB_TESTS_KILLED_H

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "test.h"
#include "train/train.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FLAGS = 24, KILLED = 256 };

static char killed_folder[64];

static inline int killed_open(void **state) {
    (void)state;
    strcpy(killed_folder, "/tmp/billboard-test-XXXXXX");
    return !mkdtemp(killed_folder) || chdir(killed_folder);
}

static inline int killed_close(void **state) {
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", killed_folder);
    return chdir("/") || system(command);
}

static inline bool exists(const char *path) {
    struct stat there;
    return lstat(path, &there) == 0;
}

static inline void shell(const char *command) {
    if (system(command)) fail_msg("%s", command);
}

/* -- dying -- */

static int die_at, deeds; /* 0: never */

static inline void deed(void) {
    if (++deeds == die_at) raise(SIGKILL);
}

#define DIES(type, name, arguments, given)                                             \
    type __real_##name arguments;                                                      \
    type __wrap_##name arguments;                                                      \
    type __wrap_##name arguments {                                                     \
        deed();                                                                        \
        return __real_##name given;                                                    \
    }
DIES(int, rename, (const char *from, const char *to), (from, to))
DIES(int, fsync, (int file), (file))
DIES(int, unlink, (const char *path), (path))
DIES(int, mkdir, (const char *path, mode_t mode), (path, mode))
DIES(int, ftruncate, (int file, off_t size), (file, size))

static inline void killed_say(void *self, const char *what) {
    (void)self, (void)what;
    deed();
}

static inline void killed_count(void *self, uint32_t round, uint32_t rounds) {
    (void)self, (void)round, (void)rounds;
    deed();
}

static inline void killed_home(void *self, const char *method, uint32_t done,
                               uint32_t tasks) {
    (void)self, (void)method, (void)done, (void)tasks;
    deed();
}

/* -- running -- */

/* Options and values, separated by spaces; those of `more` after them. */
static inline bb_status killed_train(const char *options, const char *more,
                                     const bb_watch *watch) {
    static char text[1200];
    bb_train_flag flag[MOST_FLAGS];
    size_t flags = 0;
    bb_train_request request = {0};
    bb_report report;
    const char *data = NULL;
    snprintf(text, sizeof text, "%s %s", options, more);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        assert_true(flags < MOST_FLAGS);
        flag[flags].name = word;
        flag[flags++].text = strtok(NULL, " ");
    }
    bb_status status = bb_train_resolve(&request, flag, flags);
    if (!status) data = json_string_value(json_object_get(request.resumed, "data"));
    if (!status)
        status = bb_train_run(&request, data ? data : "data.csv", watch, &report);
    bb_train_request_free(&request);
    return status;
}

/* In another process: its status, or KILLED. What it has to say is in the file `said`. */
static inline int killed_run(const char *options, const char *more, int at) {
    int result;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const bb_watch watch = {
            .say = killed_say, .progress = killed_count, .at_home = killed_home};
        deeds = 0;
        die_at = at;
        const bb_status status = killed_train(options, more, &watch);
        const int said = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        (void)!write(said, bb_last_error(), strlen(bb_last_error()));
        _exit((int)status);
    }
    assert_int_equal(waitpid(pid, &result, 0), pid);
    if (WIFSIGNALED(result)) assert_int_equal(WTERMSIG(result), SIGKILL);
    return WIFSIGNALED(result) ? KILLED : WEXITSTATUS(result);
}

static inline const char *killed_said(void) {
    static char text[1000];
    FILE *file = fopen("said", "r");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file) fclose(file);
    return text;
}

static inline void must_run(const char *options, const char *more) {
    const int status = killed_run(options, more, 0);
    if (status) fail_msg("%s %s: %d: %s", options, more, status, killed_said());
}

/* -- what is left -- */

/* What a process that was killed has let others see of its billboard must be what they
 * see in the end, or its beginning. */
static inline void keep_what_is_seen(void) {
    shell(
        "for f in run.tmp-*/public/billboard.bin run.new.tmp-*/public/billboard.bin; "
        "do if [ -s \"$f\" ]; then n=$(ls | grep -c '^seen'); cp $f seen$n; fi; done");
}

static inline void check_what_was_seen(void) {
    shell("for f in seen*; do [ ! -e $f ] || head -c $(wc -c <$f) "
          "run/public/billboard.bin | cmp - $f || exit 1; done; rm -f seen*");
}

/* The run in place is whole: its billboard is what the door published, each round once. */
static inline void check_whole(void) {
    json_t *run = NULL, *index = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0, numbers = 0;
    char digest[BB_HASH_TEXT];
    bb_hash hash;
    assert_ok(bb_json_read_file(&run, "run/operator/run.json"));
    assert_ok(bb_json_read_file(&index, "run/public/billboard.json"));
    assert_ok(bb_file_read("run/public/billboard.bin", &bytes, &size));
    bb_hash_open(&hash);
    bb_hash_add(&hash, bytes, size);
    bb_hash_text(&hash, digest);
    json_t *releases = json_object_get(index, "releases");
    const size_t rounds = json_array_size(releases);
    for (size_t t = 0; t < rounds; t++) {
        json_t *release = json_array_get(releases, t), *block;
        size_t b;
        assert_int_equal(json_integer_value(json_object_get(release, "round")), t + 1);
        json_array_foreach(json_object_get(release, "blocks"), b, block) {
            size_t count = 1, k;
            json_t *side;
            assert_int_equal(json_integer_value(json_object_get(block, "at")), numbers);
            json_array_foreach(json_object_get(block, "shape"), k, side) count *=
                (size_t)json_integer_value(side);
            numbers += count;
        }
    }
    assert_int_equal(json_integer_value(json_object_get(index, "count")), numbers);
    assert_int_equal(size, 8 * numbers);
    if (rounds) { /* else it may be an open method's, which has none */
        assert_string_equal(json_string_value(json_object_get(run, "billboard_sha256")),
                            digest);
        assert_int_equal(json_integer_value(json_object_get(run, "rounds")), rounds);
    }
    free(bytes);
    json_decref(run);
    json_decref(index);
}

static inline void check_nothing_is_left(void) {
    glob_t found = {0};
    const char *const pattern[] = {"c*", "run.*", "seen*"};
    for (size_t k = 0; k < 3; k++)
        if (glob(pattern[k], 0, NULL, &found) != GLOB_NOMATCH)
            fail_msg("%s is left", found.gl_pathv[0]);
}

/* Runs until it is in place: killed at the first-th deed, and three times at the then-th
 * after that (0: never again). Returns how often it was killed. */
static inline int run_to_the_end(const char *options, int first, int then) {
    static const char fresh[] = "output run checkpoint c checkpoint-every 0";
    int kills = 0, at = first;
    for (;;) {
        const bool there = exists("c");
        const int status =
            killed_run(there ? "resume c" : options, there ? "" : fresh, at);
        if (!status) break;
        if (status != KILLED) {
            /* it had ended before it was killed: only its file was left */
            if (!exists("run") || !strstr(killed_said(), "exists already"))
                fail_msg("%s, killed at %d: %s", options, first, killed_said());
            shell("rm -f c* run.lock; rm -rf run.tmp-*");
            break;
        }
        keep_what_is_seen();
        at = ++kills < 4 ? then : 0;
    }
    check_what_was_seen();
    if (first && !kills) return 0;
    /* before anything is kept, a directory may be left */
    shell("rm -rf run.tmp-*");
    return kills;
}

#endif
