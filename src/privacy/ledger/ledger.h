/* ledger.h - what a population has already spent, on disk, before anything is
 * published.
 *
 * A ledger is created once per population with a budget (E, D), an adjacency, the
 * number of tasks, and a kind: the currency that it counts in. A run reserves its whole
 * plan in one transaction before its first release, and gets nothing back: the total
 * never exceeds the budget, and a crash may waste budget, never under-count. (SQLite,
 * WAL, synchronous=FULL: keep the file on a local disk, and copy it only together with
 * its -wal file.)
 *
 * What a run costs is what it costs one task, whoever else takes part: charges of runs
 * with more or fewer tasks add up as well. But another number is also what other tasks
 * look like (pupils in place of schools), whose charges do not add up, so that somebody
 * has to say that they are the same: bb_ledger_add_tasks.
 *
 * kind  a run reserves        accepted iff, itself included
 * sum   its (epsilon, delta)  sum epsilon <= E and sum delta <= D
 * gdp   sum mu_t^2            sum mu^2 <= mu^2(E, D) (bb_gdp_mu)
 * rdp   RDP at one order a,   sum RDP(a) <= E - log(1 - 1/a)
 *       fixed at creation       + (log D + log a) / (a - 1) (bb_rdp_limit)
 *
 * Each kind bounds all runs together by (E, D), although every run is chosen after
 * seeing what earlier ones published: simple composition (Rogers, Roth, Ullman, Vadhan
 * 2016), Gaussian DP (Smith, Thakurta 2022) and RDP at one fixed order (Feldman, Zrnic
 * 2021) have filters that allow it. Privacy loss distributions do not: stopping when
 * the composed curve reaches (E, D) is not (E, D)-private, nor is picking kind or order
 * after outputs were seen. So there is no kind pld, and kind and order never change.
 *
 * Sums are exact (128-bit fixed point, each charge rounded up), whatever the order and
 * the number of runs. They are compared with the limit times 1 + 2^-40, so that
 * ten runs of the double 0.1, which is a little more than 1/10, fit in 1: an excess
 * of 9.1e-13 of the budget for all runs together, not for each. */
#ifndef BB_PRIVACY_LEDGER_H
#define BB_PRIVACY_LEDGER_H

#include "base/status.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/rdp.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct bb_ledger bb_ledger;

/* The most epsilon a budget or a run may have. */
#define BB_LEDGER_MOST_EPSILON 0x1p20

typedef enum bb_ledger_kind {
    BB_LEDGER_ANY, /* joins any, creates sum; with an order, the same as rdp */
    BB_LEDGER_SUM,
    BB_LEDGER_GDP,
    BB_LEDGER_RDP
} bb_ledger_kind;
const char *bb_ledger_kind_name(bb_ledger_kind kind); /* "sum", "gdp", "rdp" */
/* By which sampling what such a ledger adds up holds, in words: kind sum adds what runs with
 * their sampling cost, others what they cost if every task took part in all rounds. */
const char *bb_ledger_sampling(bb_ledger_kind kind);
/* The kind of this name; NULL gives BB_LEDGER_ANY. BB_EUSAGE for others, with the
 * reason for "pld". */
BB_MUST_CHECK bb_status bb_ledger_kind_find(const char *name, bb_ledger_kind *kind);

typedef struct bb_ledger_terms {
    const char *population; /* a name, never a hash of data */
    size_t tasks;           /* >= 1 */
    bb_adjacency adjacency;
    double epsilon, delta; /* the budget (E, D): 0 < E <= 2^20, 0 <= D < 1; D > 0 but
                              for kind sum */
    bb_ledger_kind kind;
    double order; /* kind rdp: > 1; 0 joins any and creates bb_ledger_order(E, D) */
} bb_ledger_terms;

/* What a plan costs. */
typedef struct bb_ledger_charge {
    double epsilon, delta; /* the run's own statement, recorded in every kind */
    size_t rounds;
    const double *mu; /* rounds: mu_t of the Gaussian releases of round t, in which all
                         tasks take part; NULL: none */
    const double *pure; /* rounds: the pure epsilon_t of its selections; NULL: none */
} bb_ledger_charge;

/* Of the run that an entry was reserved for. It says nothing about the budget, which an
 * entry keeps however its run ended. */
typedef enum bb_ledger_state {
    BB_LEDGER_UNKNOWN, /* an older program's, or another machine's or container's */
    BB_LEDGER_RUNNING,
    BB_LEDGER_DONE, /* its run directory was complete */
    BB_LEDGER_DIED  /* its process is gone: it failed, was stopped, or was killed */
} bb_ledger_state;
const char *bb_ledger_state_name(bb_ledger_state state); /* "running" */

typedef struct bb_ledger_entry {
    long long id;
    char *time;        /* UTC, ISO 8601 */
    char *description; /* method, mechanism, rounds */
    char *directory;   /* absolute; "" if not known */
    bb_ledger_state state;
    double epsilon, delta;
    double cost; /* mu^2 or RDP; NAN in kind sum */
} bb_ledger_entry;

/* The order at which one Gaussian release may be largest, a mu^2 / 2 = limit(a), of the
 * orders 1 + n 10^k with n of two digits. E > 0, 0 < D < 1. */
double bb_ledger_order(double epsilon, double delta);

/* Calls `say` once whenever a ledger that the calling thread opens or uses has been locked
 * by others for a second, before waiting on; NULL says nothing. */
void bb_ledger_on_wait(void (*say)(void *self, const char *path), void *self);

/* Joins the ledger, or is one with `terms` if there is none yet (no file, or an empty one):
 * in memory, until the first charge makes its file, so that a run that never charges fixes no
 * terms. Terms that differ from an existing ledger's are BB_EUSAGE and name what differs. A
 * population of NULL joins any and creates "default"; a budget of NAN joins any and creates
 * none (BB_EUSAGE if there is no ledger yet). A file that is no ledger is BB_EDATA
 * and stays as it is; one that cannot be opened or made, or is locked for more than ten
 * seconds, BB_EIO. */
BB_MUST_CHECK bb_status bb_ledger_open(bb_ledger **out, const char *path,
                                       const bb_ledger_terms *terms);
/* Its terms, whose strings belong to it. */
bb_ledger_terms bb_ledger_terms_of(const bb_ledger *ledger);
/* Whether there was none when it was opened, and none has charged through this handle yet. */
bool bb_ledger_is_new(const bb_ledger *ledger);
/* Whether there is none at `path` yet: no file, or an empty one. */
bool bb_ledger_is_missing(const char *path);
/* Opens an existing ledger for reading, also where the file or its folder may not be written:
 * as it is then. *terms gets its terms (strings owned by ledger). */
BB_MUST_CHECK bb_status bb_ledger_read(bb_ledger **out, const char *path,
                                       bb_ledger_terms *terms);
/* From now on also runs of so many tasks are charged to it, which are those that it is for
 * with some more or fewer, each still the same one. BB_EUSAGE: of no task. */
BB_MUST_CHECK bb_status bb_ledger_add_tasks(bb_ledger *ledger, size_t tasks);
/* From now on they are not, as if that number had not been added: what was charged stays.
 * BB_EUSAGE: it was not. */
BB_MUST_CHECK bb_status bb_ledger_remove_tasks(bb_ledger *ledger, size_t tasks);
/* The numbers that were added, ascending; free with free(). */
BB_MUST_CHECK bb_status bb_ledger_added_tasks(const bb_ledger *ledger, size_t **tasks,
                                              size_t *count);
/* Reserves the charge durably. BB_EUSAGE if it is nothing or no number (epsilon > 0 or
 * delta > 0, both finite), or has no price in the ledger: a selection in kind gdp.
 * BB_EBUDGET if it would overspend: nothing changes and the message
 * says what was asked, what is left. *id gets the entry's number. After BB_EIO the
 * entry may be in the file all the same: then nothing may be published and its budget
 * is wasted. */
BB_MUST_CHECK bb_status bb_ledger_reserve(bb_ledger *ledger,
                                          const bb_ledger_charge *charge,
                                          const char *description, long long *id);
/* Whether it would be, as things are: reserves nothing. Errors as bb_ledger_reserve. */
BB_MUST_CHECK bb_status bb_ledger_check(bb_ledger *ledger,
                                        const bb_ledger_charge *charge);
/* Names the run directory that is noted with what is reserved from now on. */
BB_MUST_CHECK bb_status bb_ledger_name_run(bb_ledger *ledger, const char *directory);
/* For a run that another process may go on with: what is reserved from now on is charged
 * once under this token, however often and by whom it is asked for. Whoever asks again
 * has the entry from then on; BB_EUSAGE if its run is done. */
BB_MUST_CHECK bb_status bb_ledger_name_token(bb_ledger *ledger, const char *token);
/* Has the entry that was reserved under the token, without a charge. BB_EUSAGE: there is
 * none, or no ledger, or its run is done, and whoever asks is not `over`, with nothing left to
 * publish. */
BB_MUST_CHECK bb_status bb_ledger_take_up(bb_ledger *ledger, bool over);
/* Whether that run is charged already. */
BB_MUST_CHECK bb_status bb_ledger_has_token(const bb_ledger *ledger, bool *has);
/* The last entry that was reserved through this handle; 0: none. */
long long bb_ledger_reserved(const bb_ledger *ledger);
/* Its run is done. An entry that is not marked so is running while its process lives,
 * and died after. */
BB_MUST_CHECK bb_status bb_ledger_finish(bb_ledger *ledger);
/* What all entries together amount to, rounded up. Kind sum: the sums; kinds gdp and
 * rdp: the epsilon that their total is at delta = D. */
BB_MUST_CHECK bb_status bb_ledger_spent(bb_ledger *ledger, double *epsilon,
                                        double *delta);
/* Limit and total in the currency of the kinds gdp and rdp; both NAN in kind sum. */
BB_MUST_CHECK bb_status bb_ledger_total(bb_ledger *ledger, double *limit,
                                        double *total);
/* All entries, oldest first; free with bb_ledger_entries_free. */
BB_MUST_CHECK bb_status bb_ledger_entries(bb_ledger *ledger, bb_ledger_entry **entries,
                                          size_t *count);
void bb_ledger_entries_free(bb_ledger_entry *entries, size_t count);
void bb_ledger_close(bb_ledger *ledger); /* NULL is allowed */

#endif
