/* The rules of the ledger, and files that are none. */
#include "ledgers.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const bb_ledger_terms terms = {.population = "schools",
                                      .tasks = 139,
                                      .adjacency = BB_REPLACE_ONE,
                                      .epsilon = 1.0,
                                      .delta = 1e-5};

static bb_status reserve(bb_ledger *ledger, double epsilon, double delta,
                         const char *what, long long *id) {
    const bb_ledger_charge charge = {.epsilon = epsilon, .delta = delta};
    return bb_ledger_reserve(ledger, &charge, what, id);
}

static void spends_and_refuses(void **state) {
    bb_ledger *ledger = NULL;
    long long id = 0;
    double epsilon = 0.0, delta = 0.0;
    assert_ok(bb_ledger_open(&ledger, file_of(state), &terms));
    assert_ok(bb_ledger_spent(ledger, &epsilon, &delta));
    assert_true(epsilon == 0.0 && delta == 0.0);
    const bb_ledger_charge whole = {.epsilon = 1.0, .delta = 1e-5};
    assert_ok(bb_ledger_check(ledger, &whole)); /* which takes nothing */
    assert_ok(reserve(ledger, 0.75, 4e-6, "mp-prior, gaussian, 1 round", &id));
    assert_int_equal(id, 1);
    assert_fails(bb_ledger_check(ledger, &whole), BB_EBUDGET, "only (0.25, 6e-06)");
    assert_fails(reserve(ledger, 0.5, 1e-6, "too much", &id), BB_EBUDGET,
                 "only (0.25, 6e-06) is left");
    assert_fails(reserve(ledger, 0.1, 7e-6, "too much", &id), BB_EBUDGET,
                 "delta = 7e-06");
    assert_int_equal(id, 1);
    assert_ok(reserve(ledger, 0.25, 6e-6, "the rest", &id));
    assert_int_equal(id, 2);
    assert_fails(reserve(ledger, 1e-9, 0.0, "x", &id), BB_EBUDGET, "only (0, 0)");
    assert_ok(bb_ledger_spent(ledger, &epsilon, &delta));
    assert_true(epsilon == 1.0);
    assert_relative(delta, 1e-5, 1e-15);
    bb_ledger_close(ledger);
}

static void survives_closing(void **state) {
    bb_ledger *ledger = NULL;
    bb_ledger_entry *entry = NULL;
    bb_ledger_terms found;
    size_t count = 0;
    long long id;
    for (int k = 0; k < 3; k++) {
        assert_ok(bb_ledger_open(&ledger, file_of(state), &terms));
        assert_ok(reserve(ledger, 0.125, 1e-6, k ? "again" : "first", &id));
        assert_int_equal(id, k + 1);
        bb_ledger_close(ledger);
    }
    assert_ok(bb_ledger_read(&ledger, file_of(state), &found));
    assert_string_equal(found.population, "schools");
    assert_int_equal(found.tasks, 139);
    assert_int_equal(found.adjacency, BB_REPLACE_ONE);
    assert_true(found.epsilon == 1.0 && found.delta == 1e-5);
    assert_ok(bb_ledger_entries(ledger, &entry, &count));
    assert_int_equal(count, 3);
    assert_int_equal(entry[2].id, 3);
    assert_string_equal(entry[0].description, "first");
    assert_string_equal(entry[2].description, "again");
    assert_true(entry[1].epsilon == 0.125 && entry[1].delta == 1e-6);
    assert_int_equal(strlen(entry[0].time), strlen("2000-01-01T00:00:00Z"));
    assert_int_equal(entry[0].time[19], 'Z');
    bb_ledger_entries_free(entry, count);
    bb_ledger_close(ledger);
}

/* The double 0.1 is above 1/10, and ten of them above 1: they fit all the same, and so
 * do three thirds; but the tolerance is one for all runs together. */
static void tolerance(void **state) {
    bb_ledger *ledger = NULL;
    long long id;
    double epsilon, delta;
    assert_ok(bb_ledger_open(&ledger, file_of(state), &terms));
    for (int k = 0; k < 10; k++) assert_ok(reserve(ledger, 0.1, 1e-6, "run", &id));
    assert_fails(reserve(ledger, 1e-12, 0.0, "run", &id), BB_EBUDGET, "left");
    /* crumbs below the tolerance add up, too */
    int crumbs = 0;
    while (crumbs < 100 && reserve(ledger, 1e-13, 0.0, "crumb", &id) == BB_OK) crumbs++;
    assert_in_range(crumbs, 1, 9);
    assert_ok(bb_ledger_spent(ledger, &epsilon, &delta));
    assert_true(epsilon <= 1.0 + 0x1p-40 && delta <= 1e-5 * (1.0 + 0x1p-40));
    bb_ledger_close(ledger);
}

static void pure_budget(void **state) {
    bb_ledger *ledger = NULL;
    bb_ledger_terms pure = terms;
    long long id;
    pure.delta = 0.0;
    assert_ok(bb_ledger_open(&ledger, file_of(state), &pure));
    assert_fails(reserve(ledger, 0.1, 1e-30, "x", &id), BB_EBUDGET, "left");
    assert_ok(reserve(ledger, 1.0, 0.0, "x", &id));
    bb_ledger_close(ledger);
}

static void nonsense(void **state) {
    bb_ledger *ledger = NULL;
    long long id = 77;
    const double bad[][2] = {{0.0, 0.0}, {-0.1, 1e-6}, {0.1, -1e-9},     {NAN, 0.0},
                             {0.1, NAN}, {0.1, 1.0},   {INFINITY, 1e-9}, {1e300, 0.0}};
    assert_ok(bb_ledger_open(&ledger, file_of(state), &terms));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_fails(reserve(ledger, bad[k][0], bad[k][1], "x", &id), BB_EUSAGE,
                     "cannot reserve");
    assert_int_equal(id, 77);
    bb_ledger_close(ledger);

    bb_ledger_terms wrong = terms;
    wrong.epsilon = 0.0;
    assert_fails(bb_ledger_open(&ledger, file_of(state), &wrong), BB_EUSAGE, "epsilon");
    wrong = terms;
    wrong.delta = 1.0;
    assert_fails(bb_ledger_open(&ledger, file_of(state), &wrong), BB_EUSAGE, "delta");
    wrong = terms;
    wrong.tasks = 0;
    assert_fails(bb_ledger_open(&ledger, file_of(state), &wrong), BB_EUSAGE, "task");
    assert_fails(bb_ledger_open(&ledger, ":memory:", &terms), BB_EUSAGE, "name");
    assert_fails(bb_ledger_open(&ledger, "", &terms), BB_EUSAGE, "name");
    /* a URI could ask SQLite for a database in memory, new for every run */
    assert_fails(bb_ledger_open(&ledger, "file:x?mode=memory", &terms), BB_EUSAGE,
                 "name");
}

static void other_terms(void **state) {
    bb_ledger *ledger = NULL;
    bb_ledger_close(fresh(file_of(state), &terms));
    bb_ledger_terms other = terms;
    other.population = "clinics";
    assert_fails(bb_ledger_open(&ledger, file_of(state), &other), BB_EUSAGE,
                 "population \"schools\", not \"clinics\"");
    other = terms;
    other.tasks = 140;
    assert_fails(bb_ledger_open(&ledger, file_of(state), &other), BB_EUSAGE,
                 "139 tasks");
    other = terms;
    other.adjacency = BB_ADD_REMOVE;
    assert_fails(bb_ledger_open(&ledger, file_of(state), &other), BB_EUSAGE,
                 "replace-one, asked for add-remove");
    other = terms;
    other.epsilon = 2.0;
    assert_fails(bb_ledger_open(&ledger, file_of(state), &other), BB_EUSAGE,
                 "epsilon = 1, not 2");
    other = terms;
    other.delta = 2e-5;
    assert_fails(bb_ledger_open(&ledger, file_of(state), &other), BB_EUSAGE, "delta");
}

/* Whoever names neither population nor budget joins what is there, and creates nothing.
 */
static void joining(void **state) {
    bb_ledger *ledger = NULL;
    const bb_ledger_terms any = {.tasks = terms.tasks,
                                 .adjacency = terms.adjacency,
                                 .epsilon = NAN,
                                 .delta = NAN};
    bb_ledger_terms found;
    assert_fails(bb_ledger_open(&ledger, file_of(state), &any), BB_EUSAGE,
                 "there is no ledger yet");
    FILE *there = fopen(file_of(state), "rb");
    assert_null(there);
    bb_ledger_close(fresh(file_of(state), &terms));
    assert_ok(bb_ledger_open(&ledger, file_of(state), &any));
    bb_ledger_close(ledger);
    assert_ok(bb_ledger_read(&ledger, file_of(state), &found));
    assert_string_equal(found.population, "schools");
    assert_true(found.epsilon == terms.epsilon && found.delta == terms.delta);
    bb_ledger_close(ledger);
}

/* A run that never charges fixes nothing, and whoever is faster begins the file. */
static void a_file_begins_with_the_first_charge(void **state) {
    bb_ledger *first = NULL, *second = NULL, *other = NULL;
    bb_ledger_terms any = terms, less = terms;
    long long id;
    any.population = NULL;
    less.epsilon = 0.5;
    assert_ok(bb_ledger_open(&other, file_of(state), &less));
    assert_ok(bb_ledger_open(&first, file_of(state), &terms));
    assert_ok(bb_ledger_open(&second, file_of(state), &any));
    assert_true(bb_ledger_is_new(first));
    assert_fails(reserve(first, 2.0, 1e-6, "run", &id), BB_EBUDGET, "only (1, 1e-05)");
    assert_fails(bb_ledger_take_up(first, false), BB_EUSAGE, "is not there, and has");
    assert_true(bb_ledger_is_missing(file_of(state)));
    tamper(file_of(state),
           "PRAGMA journal_mode = WAL"); /* what a full disk may leave */
    assert_fails(reserve(first, 2.0, 1e-6, "run", &id), BB_EBUDGET, "only (1, 1e-05)");
    assert_true(bb_ledger_is_new(first));
    bb_ledger_close(other);
    assert_ok(bb_ledger_open(&other, file_of(state), &less));
    assert_true(bb_ledger_is_new(other));
    assert_ok(reserve(first, 0.75, 1e-6, "run", &id));
    assert_false(bb_ledger_is_new(first));
    assert_fails(reserve(second, 0.75, 1e-6, "run", &id), BB_EBUDGET,
                 "population \"schools\" refuses");
    assert_ok(reserve(second, 0.25, 1e-6, "run", &id));
    assert_int_equal(id, 2);
    assert_fails(reserve(other, 0.25, 1e-6, "run", &id), BB_EUSAGE,
                 "epsilon = 1, not 0.5");
    bb_ledger_close(first);
    bb_ledger_close(second);
    bb_ledger_close(other);
}

static void write_file(const char *file, const char *text, size_t size) {
    FILE *out = fopen(file, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

static void no_ledger(void **state) {
    bb_ledger *ledger = NULL;
    bb_ledger_terms found;
    const char *file = file_of(state);
    assert_fails(bb_ledger_read(&ledger, file, &found), BB_EIO, "cannot open");
    assert_fails(bb_ledger_open(&ledger, "/nonexistent/ledger", &terms), BB_EIO,
                 "/nonexistent/ledger");
    assert_fails(bb_ledger_open(&ledger, "/tmp", &terms), BB_EIO, "/tmp");
    write_file(file, "", 0);
    assert_fails(bb_ledger_read(&ledger, file, &found), BB_EDATA, "holds no ledger");
    bb_ledger_terms any = terms;
    any.epsilon = NAN;
    assert_fails(bb_ledger_open(&ledger, file, &any), BB_EUSAGE, "no ledger yet");
    assert_ok(bb_ledger_open(&ledger, file, &terms)); /* an empty file becomes one */
    bb_ledger_close(ledger);
    const char text[] = "task,y,x1\n1,2,3\n1,2,4\n";
    write_file(file, text, sizeof text);
    assert_fails(bb_ledger_open(&ledger, file, &terms), BB_EDATA, "no SQLite database");
    char back[sizeof text];
    FILE *in = fopen(file, "rb");
    assert_non_null(in);
    assert_int_equal(fread(back, 1, sizeof back, in), sizeof text);
    fclose(in);
    assert_memory_equal(back, text, sizeof text); /* untouched */
    unlink(file);
    tamper(file, "CREATE TABLE mine(x); INSERT INTO mine VALUES(1);");
    assert_fails(bb_ledger_open(&ledger, file, &terms), BB_EDATA, "but not a ledger");
}

/* Whoever may only read it, as somebody else on the machine. */
static void read_as_another(const char *file, size_t entries) {
    bb_ledger *ledger = NULL;
    bb_ledger_terms found;
    bb_ledger_entry *entry = NULL;
    size_t count = 0;
    int code;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const bool other = geteuid() || !(setgid(65534) || setuid(65534));
        const bool read = other && access(file, W_OK) &&
                          !bb_ledger_read(&ledger, file, &found) &&
                          !bb_ledger_entries(ledger, &entry, &count) &&
                          bb_ledger_add_tasks(ledger, 77) == BB_EIO;
        _exit(read ? (int)count : 99);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(WIFEXITED(code) ? WEXITSTATUS(code) : -1, (int)entries);
}

static void reading_needs_no_more(void **state) {
    const char *file = file_of(state);
    char *folder = strdup(file);
    long long id;
    assert_non_null(folder);
    *strrchr(folder, '/') = '\0';
    bb_ledger *ledger = fresh(file, &terms);
    assert_ok(reserve(ledger, 0.1, 1e-6, "run", &id));
    bb_ledger_close(ledger);
    assert_int_equal(chmod(file, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    read_as_another(file, 1);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(file, 0644), 0);
    ledger = NULL; /* while a run has it open */
    assert_ok(bb_ledger_open(&ledger, file, &terms));
    assert_ok(reserve(ledger, 0.1, 1e-6, "run", &id));
    if (!geteuid()) read_as_another(file, 2);
    bb_ledger_close(ledger);
    free(folder);
}

/* Makes a ledger with one entry, damages it, and expects `words`. */
static void damaged(const char *file, const char *sql, const char *words) {
    bb_ledger *ledger = NULL;
    long long id;
    unlink(file);
    assert_ok(bb_ledger_open(&ledger, file, &terms));
    assert_ok(reserve(ledger, 0.1, 1e-6, "run", &id));
    assert_ok(reserve(ledger, 0.1, 1e-6, "run", &id));
    bb_ledger_close(ledger);
    ledger = NULL;
    tamper(file, sql);
    bb_status status = bb_ledger_open(&ledger, file, &terms);
    if (!status) status = reserve(ledger, 0.1, 1e-6, "run", &id);
    bb_ledger_close(ledger);
    if (status != BB_EDATA || !strstr(bb_last_error(), words))
        fail_msg("after %s: \"%s\", not \"%s\"", sql, bb_last_error(), words);
}

static void damage(void **state) {
    const char *file = file_of(state);
    damaged(file, "PRAGMA user_version = 3", "version 3");
    damaged(file, "PRAGMA user_version = 2", "damaged");
    damaged(file, "PRAGMA application_id = 5", "not a ledger");
    damaged(file, "DELETE FROM terms", "no terms");
    damaged(file, "DROP TABLE terms", "damaged");
    damaged(file, "DROP TABLE entries", "damaged");
    damaged(file, "DROP TRIGGER terms_stay; UPDATE terms SET kind = 'rdp'", "\"rdp\"");
    damaged(file, "DROP TRIGGER terms_stay; UPDATE terms SET kind = 'pld'", "\"pld\"");
    damaged(file, "DROP TRIGGER terms_stay; UPDATE terms SET adjacency = 'x'",
            "adjacency \"x\"");
    damaged(file, "DROP TRIGGER terms_stay; UPDATE terms SET epsilon = 9e999", "sense");
    damaged(file, "DROP TRIGGER entries_kept; DELETE FROM entries WHERE id = 1",
            "entry 1 is missing");
    damaged(file, "DROP TRIGGER entries_stay; UPDATE entries SET epsilon = 9e999",
            "entry 1 has epsilon");
    damaged(file,
            "DROP TRIGGER entries_stay; PRAGMA ignore_check_constraints = 1;"
            "UPDATE entries SET epsilon = -1",
            "entry 1 has epsilon");
}

static void entries_stay(void **state) {
    bb_ledger *ledger = NULL;
    long long id;
    sqlite3 *db = NULL;
    assert_ok(bb_ledger_open(&ledger, file_of(state), &terms));
    assert_ok(reserve(ledger, 0.1, 1e-6, "run", &id));
    bb_ledger_close(ledger);
    assert_int_equal(sqlite3_open(file_of(state), &db), SQLITE_OK);
    const char *sql[] = {"DELETE FROM entries", "UPDATE entries SET epsilon = 0",
                         "UPDATE terms SET epsilon = 100",
                         "INSERT INTO entries VALUES(2, 'now', 'x', 'much', 0)"};
    for (size_t k = 0; k < sizeof sql / sizeof *sql; k++)
        assert_int_not_equal(sqlite3_exec(db, sql[k], NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void replaced_file(void **state) {
    bb_ledger *ledger = NULL;
    long long id;
    assert_ok(bb_ledger_open(&ledger, file_of(state), &terms));
    assert_ok(reserve(ledger, 0.1, 1e-6, "run", &id));
    unlink(file_of(state));
    assert_fails(reserve(ledger, 0.1, 1e-6, "run", &id), BB_EIO, "moved");
    bb_ledger_close(ledger);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(spends_and_refuses, begin, end),
        cmocka_unit_test_setup_teardown(survives_closing, begin, end),
        cmocka_unit_test_setup_teardown(tolerance, begin, end),
        cmocka_unit_test_setup_teardown(pure_budget, begin, end),
        cmocka_unit_test_setup_teardown(nonsense, begin, end),
        cmocka_unit_test_setup_teardown(other_terms, begin, end),
        cmocka_unit_test_setup_teardown(joining, begin, end),
        cmocka_unit_test_setup_teardown(reading_needs_no_more, begin, end),
        cmocka_unit_test_setup_teardown(a_file_begins_with_the_first_charge, begin,
                                        end),
        cmocka_unit_test_setup_teardown(no_ledger, begin, end),
        cmocka_unit_test_setup_teardown(damage, begin, end),
        cmocka_unit_test_setup_teardown(entries_stay, begin, end),
        cmocka_unit_test_setup_teardown(replaced_file, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
