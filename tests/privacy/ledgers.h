/* ledgers.h - what the ledger's tests share: a file of their own, and what may happen
 * to it behind the ledger's back. */
#ifndef BB_TESTS_PRIVACY_LEDGERS_H
#define BB_TESTS_PRIVACY_LEDGERS_H

#include "privacy/ledger/ledger_file.h"
#include "scratch.h"
#include "test.h"

#include <sqlite3.h>

static inline int begin(void **state) {
    scratch *s = calloc(1, sizeof *s);
    *state = s;
    return s && scratch_open(s) ? 0 : -1;
}

static inline int end(void **state) {
    scratch_close(*state);
    free(*state);
    return 0;
}

static inline const char *file_of(void **state) {
    return ((scratch *)*state)->file;
}

/* A new ledger in place of whatever is there, whose file is begun. */
static inline bb_ledger *fresh(const char *file, const bb_ledger_terms *terms) {
    bb_ledger *ledger = NULL;
    scratch_clear(file);
    assert_ok(bb_ledger_open(&ledger, file, terms));
    assert_ok(bb_ledger_begin(ledger, true));
    return ledger;
}

/* Runs SQL on the file. */
static inline void tamper(const char *file, const char *sql) {
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message ? message : "?");
    sqlite3_close(db);
}

#endif
