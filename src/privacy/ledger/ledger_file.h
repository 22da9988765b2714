/* ledger_file.h - the ledger's database, shared by the parts of its code. */
#ifndef BB_PRIVACY_LEDGER_FILE_H
#define BB_PRIVACY_LEDGER_FILE_H

#include "privacy/ledger/ledger.h"

#include <sqlite3.h>

#include <stdbool.h>

/* Version 1 of the file knows kind sum only, version 2 the other kinds only: programs
 * that know version 1 read and write what they always did, and refuse the rest. */
enum { BB_LEDGER_VERSION_SUM = 1, BB_LEDGER_VERSION_COST = 2 };

struct bb_ledger {
    sqlite3 *db;
    char *path, *population;
    char *directory;    /* of the run that reserves; NULL: not named */
    char *token;        /* under which it is charged once; NULL: each time */
    long long reserved; /* the last entry made through this handle; 0: none */
    int version;
    bb_ledger_terms terms; /* the kind is never BB_LEDGER_ANY */
    double limit;          /* of kinds gdp and rdp */
    bool in_memory;        /* there is no file yet: its first charge makes one, */
    bb_ledger_terms asked; /* with these terms, as they were asked for */
    char *asked_population;
};

/* Records SQLite's words for what went wrong. */
bb_status bb_ledger_complain(const bb_ledger *ledger, int code);
/* Runs statements without results; waits for others where SQLite itself does not. */
BB_MUST_CHECK bb_status bb_ledger_execute(const bb_ledger *ledger, const char *sql);
/* Ends a transaction that is still open, if any. */
void bb_ledger_roll_back(const bb_ledger *ledger);
BB_MUST_CHECK bb_status bb_ledger_prepare(const bb_ledger *ledger, const char *sql,
                                          sqlite3_stmt **out);
/* The integer that a query has for an answer. */
BB_MUST_CHECK bb_status bb_ledger_integer(const bb_ledger *ledger, const char *sql,
                                          long long *out);
/* 0 <= epsilon <= BB_LEDGER_MOST_EPSILON and 0 <= delta < 1. */
bool bb_ledger_price_is_valid(double epsilon, double delta);

/* From memory into its file, if another process was faster, or to `make` it. Errors of
 * bb_ledger_open. */
BB_MUST_CHECK bb_status bb_ledger_begin(bb_ledger *ledger, bool make);

/* ---- terms: ledger_terms.c ---- */

/* BB_EUSAGE unless a ledger could have these terms. */
BB_MUST_CHECK bb_status bb_ledger_check_terms(const bb_ledger_terms *terms);
/* Writes schema and terms into an empty database, in the caller's transaction. */
BB_MUST_CHECK bb_status bb_ledger_write_terms(bb_ledger *ledger,
                                              const bb_ledger_terms *terms);
/* Reads terms and limit. */
BB_MUST_CHECK bb_status bb_ledger_load_terms(bb_ledger *ledger);
/* BB_EUSAGE, naming what differs, unless the ledger has the terms that are asked for.
 */
BB_MUST_CHECK bb_status bb_ledger_compare_terms(const bb_ledger *ledger,
                                                const bb_ledger_terms *asked);

/* ---- the runs behind entries: ledger_runs.c ---- */

/* Notes that the entry is this process's, in the caller's transaction; and its token. */
BB_MUST_CHECK bb_status bb_ledger_note_run(const bb_ledger *ledger, long long entry);
/* The entry that was reserved under the ledger's token, 0: none, and whether its run is
 * done; in the caller's transaction. */
BB_MUST_CHECK bb_status bb_ledger_find_token(const bb_ledger *ledger, long long *entry,
                                             bool *done);
/* Fills state and directory of an entry that has its number. */
BB_MUST_CHECK bb_status bb_ledger_load_run(const bb_ledger *ledger,
                                           bb_ledger_entry *entry);

/* ---- costs in the currency of kinds gdp and rdp: ledger_cost.c ---- */

/* A larger cost than any limit; costs stop there. */
#define BB_LEDGER_MOST_COST 0x1p26
/* RDP at order a > 1 of a pure epsilon-DP release: at most that of randomized response,
 * log(p^a q^(1-a) + q^a p^(1-a)) / (a - 1) with p = e^epsilon / (1 + e^epsilon) = 1 - q
 * (Mironov 2017, proposition 5), which dominates every other (Kairouz, Oh, Viswanath
 * 2015). Rounded up. epsilon >= 0. */
double bb_ledger_rdp_of_pure(double epsilon, double order);
/* The largest total, rounded down, for terms of kind gdp or rdp with a budget and an
 * order; BB_EUSAGE if there is none. */
BB_MUST_CHECK bb_status bb_ledger_limit(const bb_ledger_terms *terms, double *limit);
/* The charge's cost, rounded up. BB_EUSAGE if it has none, or none in this ledger. */
BB_MUST_CHECK bb_status bb_ledger_cost(const bb_ledger *ledger,
                                       const bb_ledger_charge *charge, double *cost);
/* The epsilon at delta = D that a total of costs amounts to. */
double bb_ledger_epsilon(const bb_ledger_terms *terms, double total);

#endif
