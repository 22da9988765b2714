/* Which run an entry is for, and how it ended; and what is said while a ledger is locked.
 * Whatever becomes of a run, its charge stays. */
#include "ledgers.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

static const bb_ledger_terms terms = {.population = "schools",
                                      .tasks = 139,
                                      .adjacency = BB_REPLACE_ONE,
                                      .epsilon = 1.0,
                                      .delta = 1e-5};
static const bb_ledger_charge quarter = {.epsilon = 0.25, .delta = 1e-6};

/* The state of entry `id`, and that the budget counts all of `count`. */
static bb_ledger_state state_of(const char *file, long long id, size_t count) {
    bb_ledger *ledger = NULL;
    bb_ledger_terms found;
    bb_ledger_entry *entry = NULL;
    size_t entries = 0;
    double epsilon, delta;
    assert_ok(bb_ledger_read(&ledger, file, &found));
    assert_ok(bb_ledger_entries(ledger, &entry, &entries));
    assert_ok(bb_ledger_spent(ledger, &epsilon, &delta));
    assert_int_equal(entries, count);
    assert_true(epsilon == 0.25 * (double)count);
    const bb_ledger_state state = entry[id - 1].state;
    bb_ledger_entries_free(entry, entries);
    bb_ledger_close(ledger);
    return state;
}

static void running_then_done(void **state) {
    const char *file = file_of(state);
    bb_ledger *ledger = fresh(file, &terms);
    bb_ledger_entry *entry = NULL;
    size_t entries = 0;
    long long id;
    assert_int_equal(bb_ledger_reserved(ledger), 0);
    assert_ok(bb_ledger_finish(ledger)); /* of nothing */
    assert_ok(bb_ledger_name_run(ledger, "/data/run one"));
    assert_ok(bb_ledger_reserve(ledger, &quarter, "first", &id));
    assert_int_equal(bb_ledger_reserved(ledger), 1);
    assert_int_equal(state_of(file, 1, 1), BB_LEDGER_RUNNING);
    assert_ok(bb_ledger_finish(ledger));
    assert_int_equal(state_of(file, 1, 1), BB_LEDGER_DONE);
    assert_ok(bb_ledger_name_run(ledger, "runs/two"));
    assert_ok(bb_ledger_reserve(ledger, &quarter, "second", &id));
    assert_int_equal(state_of(file, 1, 2), BB_LEDGER_DONE);
    assert_int_equal(state_of(file, 2, 2), BB_LEDGER_RUNNING);
    assert_ok(bb_ledger_entries(ledger, &entry, &entries));
    assert_string_equal(entry[0].directory, "/data/run one");
    assert_int_equal(entry[1].directory[0], '/'); /* wherever the reader is */
    const char *end = strstr(entry[1].directory, "/runs/two");
    assert_true(end && !end[strlen("/runs/two")]);
    bb_ledger_entries_free(entry, entries);
    bb_ledger_close(ledger);
}

/* Reserves in another process, which then waits for ever; under a token, or none. */
static pid_t start_run(const char *file, const char *token) {
    int told[2];
    char byte;
    assert_int_equal(pipe(told), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        bb_ledger *ledger = NULL;
        long long id;
        const bool good = !bb_ledger_open(&ledger, file, &terms) &&
                          (!token || !bb_ledger_name_token(ledger, token)) &&
                          !bb_ledger_reserve(ledger, &quarter, "child", &id);
        if (!good || write(told[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    close(told[1]);
    assert_int_equal(read(told[0], &byte, 1), 1);
    close(told[0]);
    return pid;
}

static void a_process_that_is_gone_died(void **state) {
    const char *file = file_of(state);
    int result;
    bb_ledger_close(fresh(file, &terms));
    const pid_t pid = start_run(file, NULL);
    assert_int_equal(state_of(file, 1, 1), BB_LEDGER_RUNNING);
    kill(pid, SIGKILL);
    siginfo_t info; /* dead, though its number is still taken */
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(state_of(file, 1, 1), BB_LEDGER_DIED);
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_int_equal(state_of(file, 1, 1), BB_LEDGER_DIED);
}

/* A run that is killed and gone on with is charged once, and is the second process's. */
static void a_token_is_charged_once(void **state) {
    const char *file = file_of(state);
    bb_ledger *ledger = fresh(file, &terms);
    long long id = 77;
    int result;
    assert_ok(bb_ledger_name_token(ledger, "of another run"));
    assert_ok(bb_ledger_reserve(ledger, &quarter, "another", &id));
    bb_ledger_close(ledger);
    for (int k = 0; k < 3; k++) {
        const pid_t pid = start_run(file, "a");
        assert_int_equal(state_of(file, 2, 2), BB_LEDGER_RUNNING);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &result, 0), pid);
        assert_int_equal(state_of(file, 2, 2), BB_LEDGER_DIED);
    }
    assert_ok(bb_ledger_open(&ledger, file, &terms));
    assert_fails(bb_ledger_take_up(ledger, false), BB_EUSAGE, "no charge of the run");
    assert_ok(bb_ledger_name_token(ledger, "b"));
    assert_fails(bb_ledger_take_up(ledger, false), BB_EUSAGE, "no charge of the run");
    assert_int_equal(bb_ledger_reserved(ledger), 0);
    assert_ok(bb_ledger_name_token(ledger, "a"));
    assert_ok(bb_ledger_name_run(ledger, "/data/run"));
    assert_ok(bb_ledger_take_up(ledger, false));
    assert_int_equal(bb_ledger_reserved(ledger), 2);
    assert_int_equal(state_of(file, 2, 2), BB_LEDGER_RUNNING);
    assert_ok(bb_ledger_finish(ledger));
    assert_int_equal(state_of(file, 2, 2), BB_LEDGER_DONE);
    /* whoever goes on from an old copy would publish its rounds again */
    assert_fails(bb_ledger_take_up(ledger, false), BB_EUSAGE, "entry 2, is done");
    assert_fails(bb_ledger_reserve(ledger, &quarter, "again", &id), BB_EUSAGE,
                 "entry 2, is done");
    /* and whoever has nothing to publish may say good-bye */
    assert_ok(bb_ledger_take_up(ledger, true));
    assert_int_equal(bb_ledger_reserved(ledger), 2);
    assert_int_equal(state_of(file, 2, 2), BB_LEDGER_DONE);
    assert_int_equal(state_of(file, 1, 2), BB_LEDGER_RUNNING);
    bb_ledger_close(ledger);
}

/* A run that has its charge goes on where there is no room for another. */
static void a_token_needs_no_room(void **state) {
    const char *file = file_of(state);
    bb_ledger *ledger = fresh(file, &terms);
    const bb_ledger_charge rest = {.epsilon = 0.75, .delta = 1e-6};
    long long id = 77;
    assert_ok(bb_ledger_name_token(ledger, "a"));
    assert_ok(bb_ledger_reserve(ledger, &quarter, "first", &id));
    assert_ok(bb_ledger_name_token(ledger, "b"));
    assert_ok(bb_ledger_reserve(ledger, &rest, "the rest", &id));
    assert_ok(bb_ledger_name_token(ledger, "a"));
    assert_ok(bb_ledger_reserve(ledger, &quarter, "first", &id));
    assert_int_equal(id, 1);
    assert_ok(bb_ledger_name_token(ledger, "c"));
    assert_fails(bb_ledger_reserve(ledger, &quarter, "too much", &id), BB_EBUDGET,
                 "refuses");
    assert_fails(bb_ledger_take_up(ledger, false), BB_EUSAGE, "no charge of the run");
    bb_ledger_close(ledger);
}

/* This very process, of which one word is another's. */
static void another_process_is_not_taken_for_it(void **state) {
    const char *file = file_of(state);
    bb_ledger *ledger = fresh(file, &terms);
    long long id;
    static const struct {
        const char *sql;
        bb_ledger_state state;
    } other[] = {
        {"process || '0'", BB_LEDGER_DIED}, /* the number, given again later */
        {"replace(process, substr(process, instr(process, ' '), 9), ' 00000000')",
         BB_LEDGER_DIED}, /* the machine started anew */
        {"replace(process, 'pid:[', 'pid:[1')", BB_LEDGER_UNKNOWN},
        {"'x' || process", BB_LEDGER_UNKNOWN}, /* another machine */
        {"process || ' x'", BB_LEDGER_UNKNOWN},
        {"replace(process, ' ', '')", BB_LEDGER_UNKNOWN},
        {"''", BB_LEDGER_UNKNOWN},
        {"'a b c d e'", BB_LEDGER_UNKNOWN},
    };
    assert_ok(bb_ledger_reserve(ledger, &quarter, "first", &id));
    bb_ledger_close(ledger);
    tamper(file, "CREATE TABLE kept AS SELECT process FROM runs");
    for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
        char sql[300];
        snprintf(sql, sizeof sql, "UPDATE runs SET process = %s", other[k].sql);
        assert_int_equal(state_of(file, 1, 1), BB_LEDGER_RUNNING);
        tamper(file, sql);
        if (state_of(file, 1, 1) != other[k].state) fail_msg("after %s", sql);
        tamper(file, "UPDATE runs SET process = (SELECT process FROM kept)");
    }
}

/* What another process does that has the file locked, until somebody complains. */
typedef struct locker {
    sqlite3 *db;
    int heard;
} locker;

static void let_go(void *self, const char *path) {
    locker *l = self;
    assert_non_null(strstr(path, "ledger"));
    l->heard++;
    assert_int_equal(sqlite3_exec(l->db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
}

static void a_lock_is_told(void **state) {
    const char *file = file_of(state);
    bb_ledger *ledger = fresh(file, &terms);
    locker l = {0};
    long long id;
    assert_int_equal(sqlite3_open(file, &l.db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(l.db, "BEGIN IMMEDIATE", NULL, NULL, NULL),
                     SQLITE_OK);
    bb_ledger_on_wait(let_go, &l);
    assert_ok(bb_ledger_reserve(ledger, &quarter, "late", &id));
    assert_int_equal(l.heard, 1);
    assert_ok(bb_ledger_reserve(ledger, &quarter, "at once", &id));
    assert_int_equal(l.heard, 1);
    bb_ledger_on_wait(NULL, NULL);
    sqlite3_close(l.db);
    bb_ledger_close(ledger);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(running_then_done, begin, end),
        cmocka_unit_test_setup_teardown(a_process_that_is_gone_died, begin, end),
        cmocka_unit_test_setup_teardown(a_token_is_charged_once, begin, end),
        cmocka_unit_test_setup_teardown(a_token_needs_no_room, begin, end),
        cmocka_unit_test_setup_teardown(another_process_is_not_taken_for_it, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_lock_is_told, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
