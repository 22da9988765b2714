/* The ledger under several processes and under kill -9: whoever was told "reserved" is
 * in the file, and the budget is never overspent. */
#include "privacy/ledger.h"
#include "scratch.h"
#include "test.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { RACERS = 4, SHARES = 40, KILLS = 40, WRITERS = 2 };

static const bb_ledger_terms terms = {
    .tasks = 100, .adjacency = BB_ADD_REMOVE, .epsilon = 10.0, .delta = 1e-3};

static int begin(void **state) {
    scratch *s = calloc(1, sizeof *s);
    *state = s;
    return s && scratch_open(s) ? 0 : -1;
}

static int end(void **state) {
    scratch_close(*state);
    free(*state);
    return 0;
}

/* Tries to reserve more shares than there are, and exits with the number it got. */
static void race(const char *file) {
    bb_ledger *ledger = NULL;
    long long id;
    int got = 0;
    if (bb_ledger_open(&ledger, file, &terms)) _exit(255);
    for (int k = 0; k < SHARES; k++) {
        const bb_status status =
            bb_ledger_reserve(ledger, terms.epsilon / SHARES, 1e-9, "share", &id);
        if (status == BB_EBUDGET) break;
        if (status) _exit(254);
        got++;
    }
    bb_ledger_close(ledger);
    _exit(got);
}

/* All start at once on a file that does not exist yet. */
static void racers(void **state) {
    const char *file = ((scratch *)*state)->file;
    pid_t child[RACERS];
    int got = 0, busy = 0;
    for (int k = 0; k < RACERS; k++) {
        child[k] = fork();
        assert_true(child[k] >= 0);
        if (child[k] == 0) race(file);
    }
    for (int k = 0; k < RACERS; k++) {
        int result;
        assert_int_equal(waitpid(child[k], &result, 0), child[k]);
        assert_true(WIFEXITED(result));
        assert_in_range(WEXITSTATUS(result), 0, SHARES);
        got += WEXITSTATUS(result);
        busy += WEXITSTATUS(result) > 0;
    }
    assert_int_equal(got, SHARES);
    assert_true(busy >= 1);
    bb_ledger *ledger = NULL;
    bb_ledger_terms found;
    double epsilon, delta;
    assert_ok(bb_ledger_read(&ledger, file, &found));
    assert_ok(bb_ledger_spent(ledger, &epsilon, &delta));
    assert_relative(epsilon, terms.epsilon, 1e-14);
    bb_ledger_close(ledger);
}

/* Reserves for ever, and says each number it was given. */
static void reserve_for_ever(const char *file, int out) {
    bb_ledger *ledger = NULL;
    long long id;
    if (bb_ledger_open(&ledger, file, &terms)) _exit(1);
    while (bb_ledger_reserve(ledger, 1e-6, 1e-12, "run", &id) == BB_OK)
        if (write(out, &id, sizeof id) != (ssize_t)sizeof id) _exit(2);
    _exit(3);
}

static void start_writers(const char *file, int link[2], pid_t *child) {
    assert_int_equal(pipe(link), 0);
    for (int k = 0; k < WRITERS; k++) {
        child[k] = fork();
        assert_true(child[k] >= 0);
        if (child[k] == 0) {
            close(link[0]);
            reserve_for_ever(file, link[1]);
        }
    }
    close(link[1]);
}

/* Kills every writer; a writer that ended by itself had an error. */
static void kill_writers(const pid_t *child) {
    for (int k = 0; k < WRITERS; k++) kill(child[k], SIGKILL);
    for (int k = 0; k < WRITERS; k++) {
        int result;
        assert_int_equal(waitpid(child[k], &result, 0), child[k]);
        assert_true(WIFSIGNALED(result));
    }
}

/* The largest number that a writer was told, and how many; each fits one atomic write.
 */
static long long told(int in, long long *count) {
    long long id, most = 0;
    while (read(in, &id, sizeof id) == (ssize_t)sizeof id) {
        if (id > most) most = id;
        *count += 1;
    }
    close(in);
    return most;
}

static void killed(void **state) {
    const char *file = ((scratch *)*state)->file;
    long long count = 0, before = 0;
    unsigned random = 12345;
    for (int round = 0; round < KILLS; round++) {
        int link[2];
        pid_t child[WRITERS];
        start_writers(file, link, child);
        random = random * 1103515245 + 12345; /* 0 to 40 ms, at creation, too */
        const struct timespec nap = {.tv_nsec = (long)(random >> 4) % 40000000};
        nanosleep(&nap, NULL);
        kill_writers(child);
        const long long most = told(link[0], &count);

        bb_ledger *ledger = NULL;
        bb_ledger_entry *entry = NULL;
        size_t entries = 0;
        double epsilon, delta;
        assert_ok(bb_ledger_open(&ledger, file, &terms));
        assert_ok(bb_ledger_entries(ledger, &entry, &entries)); /* 1, 2, 3, ... */
        assert_ok(bb_ledger_spent(ledger, &epsilon, &delta));
        /* everyone who was told is in the file, and at most one more for each killed */
        assert_true((long long)entries >= most && (long long)entries >= before);
        assert_true((long long)entries >= count);
        assert_true((long long)entries <= count + (long long)WRITERS * (round + 1));
        assert_relative(epsilon, 1e-6 * (double)entries, 1e-12);
        before = (long long)entries;
        bb_ledger_entries_free(entry, entries);
        bb_ledger_close(ledger);
    }
    assert_true(count > KILLS); /* else the test would show nothing */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(racers, begin, end),
        cmocka_unit_test_setup_teardown(killed, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
