#include "base/memory.h"
#include "privacy/ledger/amount.h"
#include "privacy/ledger/ledger_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sums are compared with the budget times 1 + 2^-40 (ledger.h). */
enum { SLACK_BITS = 40 };

typedef struct spending {
    bb_u128 epsilon, delta, cost;
} spending;

/* A cost of NAN is none. */
static spending spending_of(double epsilon, double delta, double cost) {
    return (spending){bb_amount(epsilon, BB_AMOUNT_EPSILON_BITS),
                      bb_amount(delta, BB_AMOUNT_DELTA_BITS),
                      isnan(cost) ? 0 : bb_amount(cost, BB_AMOUNT_COST_BITS)};
}

static bool counts_costs(const bb_ledger *ledger) {
    return ledger->terms.kind != BB_LEDGER_SUM;
}

static bool exceeds(bb_u128 spent, bb_u128 budget) {
    return spent > budget + (budget >> SLACK_BITS);
}

/* Reads one row and checks it: entries are numbered 1, 2, 3, ... without a gap. */
static bb_status take_row(const bb_ledger *ledger, sqlite3_stmt *row, long long number,
                          bb_ledger_entry *entry) {
    entry->id = sqlite3_column_int64(row, 0);
    entry->epsilon = sqlite3_column_double(row, 1);
    entry->delta = sqlite3_column_double(row, 2);
    entry->cost = counts_costs(ledger) ? sqlite3_column_double(row, 3) : NAN;
    if (entry->id != number)
        return bb_fail(BB_EDATA, "ledger %s is damaged: entry %lld is missing",
                       ledger->path, number);
    if (!bb_ledger_price_is_valid(entry->epsilon, entry->delta))
        return bb_fail(BB_EDATA,
                       "ledger %s is damaged: entry %lld has epsilon = %g, delta = %g",
                       ledger->path, number, entry->epsilon, entry->delta);
    if (counts_costs(ledger) &&
        !(entry->cost > 0.0 && entry->cost <= BB_LEDGER_MOST_COST))
        return bb_fail(BB_EDATA, "ledger %s is damaged: entry %lld has the cost %g",
                       ledger->path, number, entry->cost);
    return BB_OK;
}

static bb_status select_rows(const bb_ledger *ledger, sqlite3_stmt **query) {
    return bb_ledger_prepare(
        ledger,
        counts_costs(ledger)
            ? "SELECT id, epsilon, delta, cost, time, description FROM entries"
              " ORDER BY id"
            : "SELECT id, epsilon, delta, NULL, time, description FROM entries"
              " ORDER BY id",
        query);
}

static bb_status add_up(const bb_ledger *ledger, spending *spent) {
    sqlite3_stmt *query = NULL;
    spending sum = {0};
    int code = SQLITE_DONE;
    bb_status status = select_rows(ledger, &query);
    for (long long number = 1; !status; number++) {
        bb_ledger_entry entry;
        code = sqlite3_step(query);
        if (code != SQLITE_ROW) break;
        status = take_row(ledger, query, number, &entry);
        if (status) break;
        const spending one = spending_of(entry.epsilon, entry.delta, entry.cost);
        sum.epsilon = bb_amount_add(sum.epsilon, one.epsilon);
        sum.delta = bb_amount_add(sum.delta, one.delta);
        sum.cost = bb_amount_add(sum.cost, one.cost);
    }
    if (!status && code != SQLITE_DONE) status = bb_ledger_complain(ledger, code);
    sqlite3_finalize(query);
    if (!status) *spent = sum;
    return status;
}

/* For messages: what is within the tolerance counts as nothing. */
static double left_of(bb_u128 budget, bb_u128 spent, int bits) {
    if (spent >= budget - (budget >> SLACK_BITS)) return 0.0;
    return bb_amount_real(budget - spent, bits);
}

static bb_status refuse_sum(const bb_ledger *ledger, const bb_ledger_charge *charge,
                            const spending *budget, const spending *spent) {
    return bb_fail(
        BB_EBUDGET,
        "ledger %s of population \"%s\" refuses (epsilon = %.6g, delta = %.6g): "
        "of its budget (%.6g, %.6g) only (%.6g, %.6g) is left",
        ledger->path, ledger->terms.population, charge->epsilon, charge->delta,
        ledger->terms.epsilon, ledger->terms.delta,
        left_of(budget->epsilon, spent->epsilon, BB_AMOUNT_EPSILON_BITS),
        left_of(budget->delta, spent->delta, BB_AMOUNT_DELTA_BITS));
}

static bb_status refuse_cost(const bb_ledger *ledger, const bb_ledger_charge *charge,
                             double cost, const spending *budget,
                             const spending *spent) {
    return bb_fail(
        BB_EBUDGET,
        "ledger %s of population \"%s\" refuses (epsilon = %.6g, delta = %.6g): it "
        "costs %s = %.6g, and of its budget (%.6g, %.6g), %.6g, only %.6g is left",
        ledger->path, ledger->terms.population, charge->epsilon, charge->delta,
        ledger->terms.kind == BB_LEDGER_GDP ? "mu^2" : "RDP", cost,
        ledger->terms.epsilon, ledger->terms.delta, ledger->limit,
        left_of(budget->cost, spent->cost, BB_AMOUNT_COST_BITS));
}

/* Would the budget hold this one as well? */
static bb_status check_budget(const bb_ledger *ledger, const bb_ledger_charge *charge,
                              double cost) {
    const spending budget =
        spending_of(ledger->terms.epsilon, ledger->terms.delta, ledger->limit);
    const spending asked = spending_of(charge->epsilon, charge->delta, cost);
    spending spent;
    const bb_status status = add_up(ledger, &spent);
    if (status) return status;
    if (counts_costs(ledger))
        return exceeds(bb_amount_add(spent.cost, asked.cost), budget.cost)
                   ? refuse_cost(ledger, charge, cost, &budget, &spent)
                   : BB_OK;
    if (exceeds(bb_amount_add(spent.epsilon, asked.epsilon), budget.epsilon) ||
        exceeds(bb_amount_add(spent.delta, asked.delta), budget.delta))
        return refuse_sum(ledger, charge, &budget, &spent);
    return BB_OK;
}

static bb_status insert(const bb_ledger *ledger, const bb_ledger_charge *charge,
                        double cost, const char *description) {
    sqlite3_stmt *statement = NULL;
    const bb_status status = bb_ledger_prepare(
        ledger,
        counts_costs(ledger)
            ? "INSERT INTO entries VALUES((SELECT count(*) + 1 FROM entries),"
              " strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?1, ?2, ?3, ?4)"
            : "INSERT INTO entries VALUES((SELECT count(*) + 1 FROM entries),"
              " strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?1, ?2, ?3)",
        &statement);
    if (status) return status;
    sqlite3_bind_text(statement, 1, description, -1, SQLITE_STATIC);
    sqlite3_bind_double(statement, 2, charge->epsilon);
    sqlite3_bind_double(statement, 3, charge->delta);
    if (counts_costs(ledger)) sqlite3_bind_double(statement, 4, cost);
    const int code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? BB_OK : bb_ledger_complain(ledger, code);
}

/* A run that held the file open while somebody replaced it would reserve in a file that
 * nobody sees any more. */
static bb_status check_place(const bb_ledger *ledger) {
    int moved = 0;
    if (sqlite3_file_control(ledger->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
            SQLITE_OK &&
        moved)
        return bb_fail(BB_EIO, "ledger %s was moved or deleted while it was open",
                       ledger->path);
    return BB_OK;
}

/* The entry of this number is this process's, if nothing failed. */
static bb_status end_reserving(bb_ledger *ledger, bb_status status, long long number,
                               long long *id) {
    if (!status) status = bb_ledger_note_run(ledger, number);
    if (!status) status = bb_ledger_execute(ledger, "COMMIT");
    if (status)
        bb_ledger_roll_back(ledger);
    else
        *id = ledger->reserved = number;
    return status;
}

static bb_status nothing_to_go_on_with(const bb_ledger *ledger, long long number) {
    return bb_fail(
        BB_EUSAGE,
        "ledger %s: this run, entry %lld, is done: there is nothing to go on "
        "with",
        ledger->path, number);
}

/* Begins a transaction, in which there is room for the charge, or the entry *number that it
 * has already; cost: what it is in kinds gdp and rdp. */
static bb_status begin_reserving(bb_ledger *ledger, const bb_ledger_charge *charge,
                                 double *cost, long long *number) {
    const double epsilon = charge->epsilon, delta = charge->delta;
    bool done = false;
    bb_status status = BB_OK;
    *cost = NAN;
    *number = 0;
    if (!bb_ledger_price_is_valid(epsilon, delta) || (epsilon == 0.0 && delta == 0.0))
        return bb_fail(BB_EUSAGE,
                       "cannot reserve epsilon = %g, delta = %g: expected epsilon in "
                       "[0, %g], delta in [0, 1), not both 0",
                       epsilon, delta, BB_LEDGER_MOST_EPSILON);
    if (ledger->in_memory && !bb_ledger_is_missing(ledger->path))
        status = bb_ledger_begin(ledger, false);
    if (!status && counts_costs(ledger)) status = bb_ledger_cost(ledger, charge, cost);
    if (!status) status = bb_ledger_execute(ledger, "BEGIN IMMEDIATE");
    if (!status) status = check_place(ledger);
    if (!status) status = bb_ledger_find_token(ledger, number, &done);
    if (!status && done) status = nothing_to_go_on_with(ledger, *number);
    if (!status && !*number) status = check_budget(ledger, charge, *cost);
    return status;
}

bb_status bb_ledger_check(bb_ledger *ledger, const bb_ledger_charge *charge) {
    double cost;
    long long number;
    const bb_status status = begin_reserving(ledger, charge, &cost, &number);
    bb_ledger_roll_back(ledger);
    return status;
}

bb_status bb_ledger_reserve(bb_ledger *ledger, const bb_ledger_charge *charge,
                            const char *description, long long *id) {
    double cost;
    long long number;
    bb_status status = begin_reserving(ledger, charge, &cost, &number);
    if (!status && ledger->in_memory) { /* it has room: now its file is made */
        bb_ledger_roll_back(ledger);
        status = bb_ledger_begin(ledger, true);
        if (!status) status = begin_reserving(ledger, charge, &cost, &number);
    }
    if (!status && !number) {
        status = insert(ledger, charge, cost, description);
        number = sqlite3_last_insert_rowid(ledger->db);
    }
    return end_reserving(ledger, status, number, id);
}

bb_status bb_ledger_take_up(bb_ledger *ledger, bool over) {
    long long number = 0, id;
    bool done = false;
    if (ledger->in_memory)
        return bb_fail(
            BB_EUSAGE,
            "ledger %s is not there, and has charged the run that is to go on: "
            "it is not begun anew; start this again where it is",
            ledger->path);
    bb_status status = bb_ledger_execute(ledger, "BEGIN IMMEDIATE");
    if (!status) status = check_place(ledger);
    if (!status) status = bb_ledger_find_token(ledger, &number, &done);
    if (!status && done && over) { /* and stays so */
        bb_ledger_roll_back(ledger);
        ledger->reserved = number;
        return BB_OK;
    }
    if (!status && done) status = nothing_to_go_on_with(ledger, number);
    if (!status && !number)
        status = bb_fail(BB_EUSAGE,
                         "ledger %s has no charge of the run that is to go on: it is "
                         "another ledger, or an older copy",
                         ledger->path);
    return end_reserving(ledger, status, number, &id);
}

bb_status bb_ledger_spent(bb_ledger *ledger, double *epsilon, double *delta) {
    spending spent;
    const bb_status status = add_up(ledger, &spent);
    if (status) return status;
    if (counts_costs(ledger)) {
        const double total = bb_amount_real(spent.cost, BB_AMOUNT_COST_BITS);
        *epsilon = bb_ledger_epsilon(&ledger->terms, total);
        *delta = ledger->terms.delta;
    } else {
        *epsilon = bb_amount_real(spent.epsilon, BB_AMOUNT_EPSILON_BITS);
        *delta = bb_amount_real(spent.delta, BB_AMOUNT_DELTA_BITS);
    }
    return BB_OK;
}

bb_status bb_ledger_total(bb_ledger *ledger, double *limit, double *total) {
    spending spent;
    const bb_status status = add_up(ledger, &spent);
    if (status) return status;
    *limit = ledger->limit;
    *total =
        counts_costs(ledger) ? bb_amount_real(spent.cost, BB_AMOUNT_COST_BITS) : NAN;
    return BB_OK;
}

static bb_status copy_text(sqlite3_stmt *row, int column, char **out) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    return bb_duplicate(out, text ? text : "", text ? strlen(text) : 0);
}

static bb_status append(const bb_ledger *ledger, sqlite3_stmt *row,
                        bb_ledger_entry **list, size_t *capacity, size_t *count) {
    bb_status status = bb_grow(list, capacity, *count + 1, sizeof **list, "a ledger");
    if (status) return status;
    bb_ledger_entry *entry = *list + *count;
    *entry = (bb_ledger_entry){0};
    status = take_row(ledger, row, (long long)*count + 1, entry);
    *count += 1;
    if (!status) status = copy_text(row, 4, &entry->time);
    if (!status) status = copy_text(row, 5, &entry->description);
    if (!status) status = bb_ledger_load_run(ledger, entry);
    return status;
}

bb_status bb_ledger_entries(bb_ledger *ledger, bb_ledger_entry **entries,
                            size_t *count) {
    sqlite3_stmt *query = NULL;
    bb_ledger_entry *list = NULL;
    size_t capacity = 0, found = 0;
    int code = SQLITE_DONE;
    bb_status status = select_rows(ledger, &query);
    while (!status && (code = sqlite3_step(query)) == SQLITE_ROW)
        status = append(ledger, query, &list, &capacity, &found);
    if (!status && code != SQLITE_DONE) status = bb_ledger_complain(ledger, code);
    sqlite3_finalize(query);
    if (status) {
        bb_ledger_entries_free(list, found);
        return status;
    }
    *entries = list;
    *count = found;
    return BB_OK;
}

void bb_ledger_entries_free(bb_ledger_entry *entries, size_t count) {
    for (size_t k = 0; k < count; k++) {
        free(entries[k].time);
        free(entries[k].description);
        free(entries[k].directory);
    }
    free(entries);
}
