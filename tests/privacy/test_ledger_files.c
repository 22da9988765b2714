/* Files of the first version, and damaged ones that count mu^2 or Renyi divergence. */
#include "ledgers.h"

#include <math.h>
#include <string.h>

static const bb_ledger_terms any = {.population = "schools",
                                    .tasks = 139,
                                    .adjacency = BB_REPLACE_ONE,
                                    .epsilon = 1.0,
                                    .delta = 1e-5};

static bb_ledger_terms of_kind(bb_ledger_kind kind) {
    bb_ledger_terms terms = any;
    terms.kind = kind;
    return terms;
}

/* What the first version of the program wrote, word by word. */
static const char first_version[] =
    "CREATE TABLE terms(one INTEGER PRIMARY KEY CHECK(one = 1), kind TEXT NOT NULL,"
    " population TEXT NOT NULL, tasks INTEGER NOT NULL CHECK(tasks >= 1),"
    " adjacency TEXT NOT NULL, epsilon REAL NOT NULL CHECK(epsilon > 0),"
    " delta REAL NOT NULL CHECK(delta >= 0 AND delta < 1), created TEXT NOT NULL) "
    "STRICT;"
    "CREATE TABLE entries(id INTEGER PRIMARY KEY, time TEXT NOT NULL,"
    " description TEXT NOT NULL, epsilon REAL NOT NULL CHECK(epsilon >= 0),"
    " delta REAL NOT NULL CHECK(delta >= 0 AND delta < 1)) STRICT;"
    "CREATE TRIGGER terms_stay BEFORE UPDATE ON terms"
    " BEGIN SELECT raise(ABORT, 'the terms of a ledger never change'); END;"
    "CREATE TRIGGER entries_stay BEFORE UPDATE ON entries"
    " BEGIN SELECT raise(ABORT, 'what was reserved stays reserved'); END;"
    "CREATE TRIGGER entries_kept BEFORE DELETE ON entries"
    " BEGIN SELECT raise(ABORT, 'what was reserved stays reserved'); END;"
    "PRAGMA application_id = 1111641159;"
    "PRAGMA user_version = 1;"
    "INSERT INTO terms VALUES(1, 'sum', 'schools', 139, 'replace-one', 1, 1e-5,"
    " '2024-01-01T00:00:00Z');"
    "INSERT INTO entries VALUES(1, '2024-01-01T00:00:00Z', 'run', 0.75, 4e-6);";

/* All of the file's schema, less the table of runs that newer programs add beside it, as
 * one text to be freed by sqlite3_free. */
static char *schema_of(const char *file) {
    sqlite3 *db = NULL;
    char **cell = NULL, *text = NULL;
    int rows, columns;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_get_table(db,
                                       "SELECT group_concat(sql, ';') || user_version"
                                       " FROM sqlite_schema, pragma_user_version"
                                       " WHERE name <> 'runs'",
                                       &cell, &rows, &columns, NULL),
                     SQLITE_OK);
    text = sqlite3_mprintf("%s", cell[1]);
    sqlite3_free_table(cell);
    sqlite3_close(db);
    return text;
}

static void first_version_works_on(void **state) {
    const char *file = file_of(state);
    bb_ledger *ledger = NULL;
    const bb_ledger_terms gdp = of_kind(BB_LEDGER_GDP);
    double epsilon, delta, limit, total;
    tamper(file, first_version);
    char *before = schema_of(file);
    assert_fails(bb_ledger_open(&ledger, file, &gdp), BB_EUSAGE,
                 "is of kind sum, not gdp");
    assert_ok(bb_ledger_open(&ledger, file, &any));
    assert_ok(bb_ledger_spent(ledger, &epsilon, &delta));
    assert_true(epsilon == 0.75 && delta == 4e-6);
    assert_ok(bb_ledger_total(ledger, &limit, &total));
    assert_true(isnan(limit) && isnan(total));
    const bb_ledger_charge half = {.epsilon = 0.5, .delta = 1e-6};
    const bb_ledger_charge rest = {.epsilon = 0.25, .delta = 1e-6};
    long long id = 0;
    assert_fails(bb_ledger_reserve(ledger, &half, "x", &id), BB_EBUDGET,
                 "only (0.25, 6e-06) is left");
    assert_ok(bb_ledger_reserve(ledger, &rest, "x", &id));
    assert_int_equal(id, 2);
    bb_ledger_entry *entry = NULL;
    size_t entries = 0;
    assert_ok(bb_ledger_entries(ledger, &entry, &entries));
    assert_int_equal(entry[0].state, BB_LEDGER_UNKNOWN); /* nobody noted its run */
    assert_string_equal(entry[0].directory, "");
    assert_int_equal(entry[1].state, BB_LEDGER_RUNNING);
    bb_ledger_entries_free(entry, entries);
    bb_ledger_close(ledger);
    char *after = schema_of(file);
    assert_string_equal(before, after);
    sqlite3_free(after);
    /* and a new ledger of kind sum is just such a file */
    bb_ledger_close(fresh(file, &any));
    after = schema_of(file);
    assert_string_equal(before, after);
    sqlite3_free(before);
    sqlite3_free(after);
}

/* Makes a ledger with one entry, damages it, and expects `words`. */
static void damaged(const char *file, const bb_ledger_terms *terms, const char *sql,
                    const char *words) {
    const double mu = 0.01;
    const bb_ledger_charge charge = {.epsilon = 0.1, .rounds = 1, .mu = &mu};
    long long id;
    bb_ledger *ledger = fresh(file, terms);
    assert_ok(bb_ledger_reserve(ledger, &charge, "run", &id));
    bb_ledger_close(ledger);
    ledger = NULL;
    tamper(file, sql);
    bb_status status = bb_ledger_open(&ledger, file, terms);
    if (!status) status = bb_ledger_reserve(ledger, &charge, "run", &id);
    bb_ledger_close(ledger);
    if (status != BB_EDATA || !strstr(bb_last_error(), words))
        fail_msg("after %s: \"%s\", not \"%s\"", sql, bb_last_error(), words);
}

#define TERMS                                                                          \
    "DROP TRIGGER terms_stay; PRAGMA ignore_check_constraints = 1; UPDATE terms SET "
#define ENTRIES                                                                        \
    "DROP TRIGGER entries_stay; PRAGMA ignore_check_constraints = 1; UPDATE entries "  \
    "SET "

static void damage(void **state) {
    const bb_ledger_terms gdp = of_kind(BB_LEDGER_GDP), rdp = of_kind(BB_LEDGER_RDP);
    const char *file = file_of(state);
    damaged(file, &gdp, TERMS "kind = 'pld'", "\"pld\"");
    damaged(file, &gdp, TERMS "kind = 'any'", "\"any\"");
    damaged(file, &gdp, TERMS "kind = 'sum'", "\"sum\"");
    damaged(file, &gdp, TERMS "kind = 'rdp'", "Renyi order is 0");
    damaged(file, &gdp, TERMS "renyi_order = 7", "Renyi order is 7");
    damaged(file, &gdp, TERMS "delta = 0", "budget makes no sense");
    damaged(file, &gdp, TERMS "epsilon = 9e999", "budget makes no sense");
    damaged(file, &gdp, TERMS "tasks = 0", "for no task");
    damaged(file, &gdp, "PRAGMA user_version = 1", "\"gdp\"");
    damaged(file, &gdp, "PRAGMA user_version = 3", "version 3");
    damaged(file, &rdp, TERMS "renyi_order = NULL", "Renyi order is 0");
    damaged(file, &rdp, TERMS "renyi_order = 1", "Renyi order is 1");
    damaged(file, &rdp, TERMS "renyi_order = 0.5", "Renyi order is 0.5");
    damaged(file, &rdp, TERMS "renyi_order = 9e999", "Renyi order is inf");
    damaged(file, &rdp, TERMS "renyi_order = 2", "budget makes no sense");
    damaged(file, &rdp, ENTRIES "cost = 0", "entry 1 has the cost 0");
    damaged(file, &rdp, ENTRIES "cost = -1", "entry 1 has the cost -1");
    damaged(file, &rdp, ENTRIES "cost = 9e999", "entry 1 has the cost inf");
    damaged(file, &rdp, "ALTER TABLE entries RENAME cost TO price", "damaged");
    damaged(file, &rdp,
            "DROP TRIGGER entries_kept; DELETE FROM entries;"
            "INSERT INTO entries VALUES(2, 'now', 'x', 0.1, 0, 0.1)",
            "entry 1 is missing");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(first_version_works_on, begin, end),
        cmocka_unit_test_setup_teardown(damage, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
