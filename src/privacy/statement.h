/* statement.h - what a run promises, for machines and in plain words.
 *
 * A number never stands alone: epsilon comes with delta, adjacency, sampling, mechanism
 * and rounds, and with what is not covered. A claim that does not hold says so first.
 */
#ifndef BB_PRIVACY_STATEMENT_H
#define BB_PRIVACY_STATEMENT_H

#include "base/status.h"
#include "privacy/accounting/accountant.h"

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

/* One promise. Strings are borrowed. */
typedef struct bb_guarantee {
    const char *unit;      /* "task": all of a task's data; "instance": one row */
    double epsilon, delta; /* what was asked for; a claim only, if not valid */
    bb_adjacency adjacency;
    char sampling[64];       /* "all": every task takes part in every round */
    const char *mechanism;   /* "gaussian", "wishart-published", ... */
    const char *accountant;  /* how it was counted: "gdp", "pld", "kov" (account.h) */
    size_t rounds;           /* with a release */
    double noise_multiplier; /* the least standard deviation over U; NAN: none */
    bool valid;
    double true_delta_at_least; /* if not valid: at every epsilon; NAN: not known */
    bool hidden_cohort;         /* not against who sees which tasks were asked */
    bool one_door;   /* of two, each with its own noise: also from whoever keeps one */
    bool both_doors; /* from whoever keeps neither: a second promise, beside that one */
    const char *note;   /* one more sentence, or NULL */
    size_t lifted_rows; /* > 0: unit "task", by group privacy from a guarantee for rows:
                           so many of a task's rows count at most */
} bb_guarantee;

enum { BB_GUARANTEES_MOST = 4 };

/* All that a run says about privacy; no guarantee: a run without privacy. */
typedef struct bb_statement {
    const char *method;
    size_t tasks;
    size_t silos; /* that hold the rows, each its own; 0: one operator holds all */
    const char *ledger; /* the file's name; NULL: this run only */
    bool alone;         /* the method shares nothing: no noise is needed */
    bool seeded;        /* the noise can be computed again: not private */
    bool data_ranges;  /* rows were scaled by ranges taken from the data: not private */
    bool data_options; /* options were chosen by looking at the data: not private */
    size_t count;
    bb_guarantee guarantee[BB_GUARANTEES_MOST];
} bb_statement;

/* Whether guarantee k holds for this very run: valid, secure noise, public ranges,
 * public options. */
bool bb_statement_holds(const bb_statement *statement, size_t k);
/* At least one guarantee, and all hold. */
bool bb_statement_is_private(const bb_statement *statement);

/* {private, method, tasks, ledger, exchanged, seeded, ranges_from_data, options_from_data,
 * guarantees[], warnings[], statement}. exchanged: not every task learned alone. A guarantee
 * that does not hold has valid false, epsilon and delta null, and its claim under
 * claimed_epsilon, claimed_delta; `adversary` says against whom it is. NULL when out of
 * memory. */
json_t *bb_statement_json(const bb_statement *statement);

/* The statement in plain words, UTF-8, lines ended by newlines; short for a run without
 * privacy. To be freed with free(). */
BB_MUST_CHECK bb_status bb_statement_text(const bb_statement *statement, char **out);

/* The warnings alone (delta >= 1/tasks, fewer than 30 tasks) as new strings in a JSON
 * array; NULL when out of memory. */
json_t *bb_statement_warnings(const bb_statement *statement);

/* delta from an option's text: NULL gives bb_delta_default, "paper" bb_delta_paper (at
 * least two tasks), a number in (0, 1) itself. BB_EUSAGE for anything else. */
BB_MUST_CHECK bb_status bb_delta_choose(const char *text, size_t tasks, double *delta);

#endif
