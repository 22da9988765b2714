#include "torture.h"

#include "test.h"

#include <jansson.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <sys/resource.h>
#include <sys/stat.h>

typedef enum kind { MEMORY, FILES, KINDS } kind;

/* The failures that are armed; tests may run threads, so these are atomic. */
static atomic_bool armed[KINDS], persistent, reached;
static atomic_size_t seen, target;

static bool fails(kind what) {
    if (!atomic_load(&armed[what])) return false;
    const size_t n = atomic_fetch_add(&seen, 1) + 1, at = atomic_load(&target);
    if (n != at && !(n > at && atomic_load(&persistent))) return false;
    atomic_store(&reached, true);
    errno = what == MEMORY ? ENOMEM : ENOSPC;
    return true;
}

static void arm(kind what, size_t n, bool all_later) {
    atomic_store(&seen, 0);
    atomic_store(&target, n);
    atomic_store(&persistent, all_later);
    atomic_store(&reached, false);
    atomic_store(&armed[what], true);
}

void torture_arm_memory(size_t n) {
    json_set_alloc_funcs(malloc, free);
    arm(MEMORY, n, false);
}

bool torture_disarm(void) {
    atomic_store(&armed[MEMORY], false);
    atomic_store(&armed[FILES], false);
    return atomic_load(&reached);
}

/* The linker's option --wrap=f sends calls of f to __wrap_f; __real_f is the original.
 */
#define WRAP(type, name, what, failure, parameters, arguments)                         \
    type __real_##name parameters;                                                     \
    type __wrap_##name parameters;                                                     \
    type __wrap_##name parameters {                                                    \
        return fails(what) ? (failure) : __real_##name arguments;                      \
    }

WRAP(void *, malloc, MEMORY, NULL, (size_t n), (n))
WRAP(void *, calloc, MEMORY, NULL, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, MEMORY, NULL, (void *old, size_t n), (old, n))
WRAP(void *, aligned_alloc, MEMORY, NULL, (size_t alignment, size_t n), (alignment, n))
WRAP(char *, strdup, MEMORY, NULL, (const char *text), (text))
WRAP(char *, strndup, MEMORY, NULL, (const char *text, size_t n), (text, n))
WRAP(ssize_t, write, FILES, -1, (int file, const void *bytes, size_t n),
     (file, bytes, n))
WRAP(int, fsync, FILES, -1, (int file), (file))
WRAP(int, rename, FILES, -1, (const char *from, const char *to), (from, to))
WRAP(int, mkdir, FILES, -1, (const char *path, mode_t mode), (path, mode))

int __real_fflush(FILE *stream);
int __wrap_fflush(FILE *stream);
int __wrap_fflush(FILE *stream) {
    const bool written = stream && __fwriting(stream);
    return written && fails(FILES) ? EOF : __real_fflush(stream);
}

int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream);
int __wrap_fclose(FILE *stream) {
    const bool failing = __fwriting(stream) && fails(FILES);
    const int result = __real_fclose(stream);
    if (!failing) return result;
    errno = ENOSPC;
    return EOF;
}

/* LeakSanitizer's, where there is one. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static void check_leaks(void) {
    if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check())
        fail_msg("an attempt that failed left memory unfreed");
}

static void check(bb_torture torture, bb_status status) {
    if (torture.check) torture.check(torture.context, status);
}

/* One pass over n = 1, 2, ...; beyond 64 in steps of 1/64, since time is quadratic. */
static size_t pass(bb_torture torture, kind what, bool all_later) {
    for (size_t n = 1;; n += 1 + n / 64) {
        arm(what, n, all_later);
        const bb_status status = torture.attempt(torture.context);
        const bool failed = torture_disarm();
        const bb_status due = what == MEMORY ? BB_ENOMEM : BB_EIO;
        const bool spared = !failed || what == MEMORY;
        if (status != due && !(status == BB_OK && spared))
            fail_msg("failure %zu (%s) gave \"%s\": %s", n,
                     all_later ? "and on" : "once", bb_status_text(status),
                     bb_last_error());
        if (status && !failed)
            fail_msg("failed with nothing injected: %s", bb_last_error());
        check(torture, status);
        if (!failed) return n - 1;
    }
}

static size_t both(bb_torture torture, kind what) {
    const size_t once = pass(torture, what, false);
    pass(torture, what, true);
    check_leaks();
    return once;
}

size_t torture_memory(bb_torture torture) {
    json_set_alloc_funcs(torture.spare_json ? __real_malloc : malloc, free);
    return both(torture, MEMORY);
}

size_t torture_files(bb_torture torture) {
    return both(torture, FILES);
}

/* One attempt under a file size limit. */
static bb_status attempt_limited(bb_torture torture, size_t bytes) {
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = bytes;
    void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    const bb_status status = torture.attempt(torture.context);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    return status;
}

size_t torture_disk(bb_torture torture) {
    for (size_t bytes = 0, failures = 0;; bytes += 1 + bytes / 8, failures++) {
        const bb_status status = attempt_limited(torture, bytes);
        if (status != BB_OK && status != BB_EIO)
            fail_msg("a disk full at %zu bytes gave \"%s\": %s", bytes,
                     bb_status_text(status), bb_last_error());
        check(torture, status);
        if (!status) {
            check_leaks();
            return failures;
        }
    }
}
