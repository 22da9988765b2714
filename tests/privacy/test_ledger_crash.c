/* The ledger under several processes and under kill -9: whoever was told "reserved" is
 * in the file, and the budget is never overspent; in every kind. */
#include "ledgers.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { RACERS = 4, SHARES = 40, KILLS = 40, WRITERS = 2 };

static const bb_ledger_terms terms_of[] = {
    [BB_LEDGER_SUM] = {.tasks = 100,
                       .adjacency = BB_ADD_REMOVE,
                       .epsilon = 10.0,
                       .delta = 1e-3,
                       .kind = BB_LEDGER_SUM},
    [BB_LEDGER_GDP] = {.tasks = 100,
                       .adjacency = BB_ADD_REMOVE,
                       .epsilon = 10.0,
                       .delta = 1e-3,
                       .kind = BB_LEDGER_GDP},
    [BB_LEDGER_RDP] = {.tasks = 100,
                       .adjacency = BB_ADD_REMOVE,
                       .epsilon = 10.0,
                       .delta = 1e-3,
                       .kind = BB_LEDGER_RDP,
                       .order = 4.0}};

/* Reserves one of `shares` equal parts of the budget. */
static bb_status reserve_share(bb_ledger *ledger, const bb_ledger_terms *terms,
                               double shares, long long *id) {
    double limit, total;
    const bb_status status = bb_ledger_total(ledger, &limit, &total);
    if (status) return status;
    if (terms->kind == BB_LEDGER_RDP) limit *= 2.0 / terms->order;
    const double mu = sqrt(limit / shares);
    const bb_ledger_charge charge = {.epsilon = terms->epsilon / shares,
                                     .delta = 1e-6 / shares,
                                     .rounds = terms->kind != BB_LEDGER_SUM,
                                     .mu = &mu};
    return bb_ledger_reserve(ledger, &charge, "share", id);
}

/* How much of the budget is spent. */
static double spent(bb_ledger *ledger, const bb_ledger_terms *terms) {
    double limit, total, delta;
    if (terms->kind == BB_LEDGER_SUM) {
        assert_ok(bb_ledger_spent(ledger, &total, &delta));
        return total / terms->epsilon;
    }
    assert_ok(bb_ledger_total(ledger, &limit, &total));
    return total / limit;
}

/* Tries to reserve more shares than there are, and exits with the number it got. */
static void race(const char *file, const bb_ledger_terms *terms) {
    bb_ledger *ledger = NULL;
    long long id;
    int got = 0;
    if (bb_ledger_open(&ledger, file, terms)) _exit(255);
    for (int k = 0; k < SHARES; k++) {
        const bb_status status = reserve_share(ledger, terms, SHARES, &id);
        if (status == BB_EBUDGET) break;
        if (status) _exit(254);
        got++;
    }
    bb_ledger_close(ledger);
    _exit(got);
}

/* All start at once on a file that does not exist yet. */
static void racers(const char *file, const bb_ledger_terms *terms) {
    pid_t child[RACERS];
    int got = 0, busy = 0;
    for (int k = 0; k < RACERS; k++) {
        child[k] = fork();
        assert_true(child[k] >= 0);
        if (child[k] == 0) race(file, terms);
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
    assert_ok(bb_ledger_read(&ledger, file, &found));
    assert_int_equal(found.kind, terms->kind);
    assert_relative(spent(ledger, terms), 1.0, 1e-13);
    bb_ledger_close(ledger);
}

/* Reserves for ever, and says each number it was given. */
static void reserve_for_ever(const char *file, const bb_ledger_terms *terms, int out) {
    bb_ledger *ledger = NULL;
    long long id;
    if (bb_ledger_open(&ledger, file, terms)) _exit(1);
    while (reserve_share(ledger, terms, 1e7, &id) == BB_OK)
        if (write(out, &id, sizeof id) != (ssize_t)sizeof id) _exit(2);
    _exit(3);
}

static void start_writers(const char *file, const bb_ledger_terms *terms, int link[2],
                          pid_t *child) {
    assert_int_equal(pipe(link), 0);
    for (int k = 0; k < WRITERS; k++) {
        child[k] = fork();
        assert_true(child[k] >= 0);
        if (child[k] == 0) {
            close(link[0]);
            reserve_for_ever(file, terms, link[1]);
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

static void killed(const char *file, const bb_ledger_terms *terms) {
    long long count = 0, before = 0;
    unsigned random = 12345;
    for (int round = 0; round < KILLS; round++) {
        int link[2];
        pid_t child[WRITERS];
        start_writers(file, terms, link, child);
        /* every other time not before somebody was told: the machine may be busy */
        struct pollfd first = {.fd = link[0], .events = POLLIN};
        if (round % 2) assert_int_equal(poll(&first, 1, 60000), 1);
        random = random * 1103515245 + 12345; /* 0 to 40 ms, at creation, too */
        const struct timespec nap = {.tv_nsec = (long)(random >> 4) % 40000000};
        nanosleep(&nap, NULL);
        kill_writers(child);
        const long long most = told(link[0], &count);

        bb_ledger *ledger = NULL;
        bb_ledger_entry *entry = NULL;
        size_t entries = 0;
        assert_ok(bb_ledger_open(&ledger, file, terms));
        assert_ok(bb_ledger_entries(ledger, &entry, &entries)); /* 1, 2, 3, ... */
        /* everyone who was told is in the file, and at most one more for each killed */
        assert_true((long long)entries >= most && (long long)entries >= before);
        assert_true((long long)entries >= count);
        assert_true((long long)entries <= count + (long long)WRITERS * (round + 1));
        assert_relative(spent(ledger, terms), 1e-7 * (double)entries, 1e-12);
        before = (long long)entries;
        bb_ledger_entries_free(entry, entries);
        bb_ledger_close(ledger);
    }
    assert_true(count >= KILLS / 2); /* else the test would show nothing */
}

static void racers_sum(void **state) {
    racers(file_of(state), &terms_of[BB_LEDGER_SUM]);
}

static void racers_gdp(void **state) {
    racers(file_of(state), &terms_of[BB_LEDGER_GDP]);
}

static void racers_rdp(void **state) {
    racers(file_of(state), &terms_of[BB_LEDGER_RDP]);
}

static void killed_sum(void **state) {
    killed(file_of(state), &terms_of[BB_LEDGER_SUM]);
}

static void killed_gdp(void **state) {
    killed(file_of(state), &terms_of[BB_LEDGER_GDP]);
}

static void killed_rdp(void **state) {
    killed(file_of(state), &terms_of[BB_LEDGER_RDP]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(racers_sum, begin, end),
        cmocka_unit_test_setup_teardown(racers_gdp, begin, end),
        cmocka_unit_test_setup_teardown(racers_rdp, begin, end),
        cmocka_unit_test_setup_teardown(killed_sum, begin, end),
        cmocka_unit_test_setup_teardown(killed_gdp, begin, end),
        cmocka_unit_test_setup_teardown(killed_rdp, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
