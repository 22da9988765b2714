/* ledger_file.h - the ledger's database, shared by the two halves of its code. */
#ifndef BB_PRIVACY_LEDGER_FILE_H
#define BB_PRIVACY_LEDGER_FILE_H

#include "privacy/ledger.h"

#include <sqlite3.h>

#include <stdbool.h>

struct bb_ledger {
    sqlite3 *db;
    char *path, *population;
    bb_ledger_terms terms;
};

/* Records SQLite's words for what went wrong. */
bb_status bb_ledger_complain(const bb_ledger *ledger, int code);
/* Runs statements without results; waits for others where SQLite itself does not. */
BB_MUST_CHECK bb_status bb_ledger_execute(const bb_ledger *ledger, const char *sql);
/* Ends a transaction that is still open, if any. */
void bb_ledger_roll_back(const bb_ledger *ledger);
BB_MUST_CHECK bb_status bb_ledger_prepare(const bb_ledger *ledger, const char *sql,
                                          sqlite3_stmt **out);
/* 0 <= epsilon <= BB_LEDGER_MOST_EPSILON and 0 <= delta < 1. */
bool bb_ledger_price_is_valid(double epsilon, double delta);

#endif
