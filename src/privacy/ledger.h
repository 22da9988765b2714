/* ledger.h - what a population has already spent, on disk, before anything is
 * published.
 *
 * A ledger is created once per population with a budget (E, D), an adjacency and the
 * number of tasks. A run reserves its plan's whole (epsilon, delta) in one transaction
 * before its first release, and gets nothing back: sum epsilon <= E and sum delta <= D
 * always hold, and a crash may waste budget, never under-count. (SQLite, WAL,
 * synchronous=FULL: keep the file on a local disk, and copy it only together with its
 * -wal file.)
 *
 * Sums are exact (128-bit fixed point, each charge rounded up), whatever the order and
 * the number of runs. They are compared with E (1 + 2^-40) and D (1 + 2^-40), so that
 * ten runs of the double 0.1, which is a little more than 1/10, fit in 1: an excess
 * of 9.1e-13 of the budget for all runs together, not for each. */
#ifndef BB_PRIVACY_LEDGER_H
#define BB_PRIVACY_LEDGER_H

#include "base/status.h"
#include "privacy/accountant.h"

#include <stddef.h>

typedef struct bb_ledger bb_ledger;

/* The most epsilon a budget or a run may have. */
#define BB_LEDGER_MOST_EPSILON 0x1p20

typedef struct bb_ledger_terms {
    const char *population; /* a name, never a hash of data */
    size_t tasks;           /* >= 1 */
    bb_adjacency adjacency;
    double epsilon, delta; /* the budget (E, D): 0 < E <= 2^20, 0 <= D < 1 */
} bb_ledger_terms;

typedef struct bb_ledger_entry {
    long long id;
    char *time;        /* UTC, ISO 8601 */
    char *description; /* method, mechanism, rounds */
    double epsilon, delta;
} bb_ledger_entry;

/* Creates the ledger with `terms` (also in an empty file), or joins it; terms that
 * differ from an existing ledger's are BB_EUSAGE and name what differs. A population of
 * NULL joins any and creates "default"; a budget of NAN joins any and creates none
 * (BB_EUSAGE if there is no ledger yet). A file that is no ledger is BB_EDATA
 * and stays as it is; one that cannot be opened, or is locked for more than ten
 * seconds, BB_EIO. */
BB_MUST_CHECK bb_status bb_ledger_open(bb_ledger **out, const char *path,
                                       const bb_ledger_terms *terms);
/* Opens an existing ledger for reading; *terms gets its terms (strings owned by
 * ledger). */
BB_MUST_CHECK bb_status bb_ledger_read(bb_ledger **out, const char *path,
                                       bb_ledger_terms *terms);
/* Reserves (epsilon, delta) durably: epsilon > 0 or delta > 0, both finite, else
 * BB_EUSAGE. BB_EBUDGET if it would overspend: nothing changes and the message says
 * what was asked, what is left. *id gets the entry's number. After BB_EIO the entry may
 * be in the file all the same: then nothing may be published and its budget is wasted.
 */
BB_MUST_CHECK bb_status bb_ledger_reserve(bb_ledger *ledger, double epsilon,
                                          double delta, const char *description,
                                          long long *id);
/* The sums over all entries, rounded up to a double. */
BB_MUST_CHECK bb_status bb_ledger_spent(bb_ledger *ledger, double *epsilon,
                                        double *delta);
/* All entries, oldest first; free with bb_ledger_entries_free. */
BB_MUST_CHECK bb_status bb_ledger_entries(bb_ledger *ledger, bb_ledger_entry **entries,
                                          size_t *count);
void bb_ledger_entries_free(bb_ledger_entry *entries, size_t count);
void bb_ledger_close(bb_ledger *ledger); /* NULL is allowed */

#endif
