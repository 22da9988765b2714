/* The terms of a ledger: what they may be, how they are kept, whether they agree. */
#include "base/memory.h"
#include "privacy/ledger/ledger_file.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TERMS                                                                          \
    "CREATE TABLE terms(one INTEGER PRIMARY KEY CHECK(one = 1), kind TEXT NOT NULL,"   \
    " population TEXT NOT NULL, tasks INTEGER NOT NULL CHECK(tasks >= 1),"             \
    " adjacency TEXT NOT NULL, epsilon REAL NOT NULL CHECK(epsilon > 0),"              \
    " delta REAL NOT NULL CHECK(delta >= 0 AND delta < 1), created TEXT NOT NULL"
#define ENTRIES                                                                        \
    "CREATE TABLE entries(id INTEGER PRIMARY KEY, time TEXT NOT NULL,"                 \
    " description TEXT NOT NULL, epsilon REAL NOT NULL CHECK(epsilon >= 0),"           \
    " delta REAL NOT NULL CHECK(delta >= 0 AND delta < 1)"
#define RULES                                                                          \
    "CREATE TRIGGER terms_stay BEFORE UPDATE ON terms"                                 \
    " BEGIN SELECT raise(ABORT, 'the terms of a ledger never change'); END;"           \
    "CREATE TRIGGER entries_stay BEFORE UPDATE ON entries"                             \
    " BEGIN SELECT raise(ABORT, 'what was reserved stays reserved'); END;"             \
    "CREATE TRIGGER entries_kept BEFORE DELETE ON entries"                             \
    " BEGIN SELECT raise(ABORT, 'what was reserved stays reserved'); END;"             \
    "PRAGMA application_id = 1111641159;"

static const char schema_sum[] =
    TERMS ") STRICT;" ENTRIES ") STRICT;" RULES "PRAGMA user_version = 1;";
static const char schema_cost[] = TERMS
    ", renyi_order REAL) STRICT;" ENTRIES
    ", cost REAL NOT NULL CHECK(cost > 0)) STRICT;" RULES "PRAGMA user_version = 2;";

/* ---- kinds ---- */

static const char *const kind_name[] = {"any", "sum", "gdp", "rdp"};

const char *bb_ledger_sampling(bb_ledger_kind kind) {
    return kind == BB_LEDGER_SUM ? "each run's own" : "all; of an entry its run's own";
}

const char *bb_ledger_kind_name(bb_ledger_kind kind) {
    return kind_name[kind];
}

/* BB_LEDGER_ANY: unknown. */
static bb_ledger_kind find_kind(const char *name) {
    bb_ledger_kind kind = BB_LEDGER_RDP;
    while (kind > BB_LEDGER_ANY && strcmp(name, kind_name[kind]) != 0) kind--;
    return kind;
}

bb_status bb_ledger_kind_find(const char *name, bb_ledger_kind *kind) {
    *kind = name ? find_kind(name) : BB_LEDGER_ANY;
    if (!name || *kind) return BB_OK;
    if (strcmp(name, "pld") == 0)
        return bb_fail(BB_EUSAGE,
                       "no ledger is of kind pld: composed privacy loss distributions "
                       "do not bound budgets that depend on earlier results; kinds "
                       "are sum, gdp, rdp");
    return bb_fail(BB_EUSAGE, "a ledger's kind is sum, gdp or rdp, got \"%s\"", name);
}

/* Which kind is meant. */
static bb_ledger_kind kind_of(const bb_ledger_terms *terms) {
    return terms->kind == BB_LEDGER_ANY && terms->order != 0.0 ? BB_LEDGER_RDP
                                                               : terms->kind;
}

/* ---- what they may be ---- */

/* The terms of a new ledger, with everything that was left open. */
static bb_ledger_terms complete(const bb_ledger_terms *asked) {
    bb_ledger_terms terms = *asked;
    terms.kind = kind_of(asked);
    if (!terms.population) terms.population = "default";
    if (terms.kind == BB_LEDGER_ANY) terms.kind = BB_LEDGER_SUM;
    if (terms.kind == BB_LEDGER_RDP && terms.order == 0.0 && terms.delta > 0.0)
        terms.order = bb_ledger_order(terms.epsilon, terms.delta);
    return terms;
}

static bb_status check_budget(const bb_ledger_terms *terms) {
    if (!isnan(terms->epsilon) &&
        !(terms->epsilon > 0.0 && terms->epsilon <= BB_LEDGER_MOST_EPSILON))
        return bb_fail(BB_EUSAGE,
                       "a ledger's budget epsilon must be in (0, %g], got %g",
                       BB_LEDGER_MOST_EPSILON, terms->epsilon);
    if (!isnan(terms->delta) && !(terms->delta >= 0.0 && terms->delta < 1.0))
        return bb_fail(BB_EUSAGE, "a ledger's budget delta must be in [0, 1), got %g",
                       terms->delta);
    return BB_OK;
}

bb_status bb_ledger_check_terms(const bb_ledger_terms *terms) {
    double limit;
    if (terms->population && *terms->population == '\0')
        return bb_fail(BB_EUSAGE, "the population of a ledger needs a name");
    if (terms->tasks < 1)
        return bb_fail(BB_EUSAGE, "a ledger is for at least one task");
    if (terms->order != 0.0 && kind_of(terms) != BB_LEDGER_RDP)
        return bb_fail(BB_EUSAGE, "a ledger of kind %s has no Renyi order",
                       bb_ledger_kind_name(terms->kind));
    const bb_status status = check_budget(terms);
    if (status || isnan(terms->epsilon) || isnan(terms->delta)) return status;
    const bb_ledger_terms whole = complete(terms);
    return whole.kind == BB_LEDGER_SUM ? BB_OK : bb_ledger_limit(&whole, &limit);
}

/* ---- how they are kept ---- */

static bb_status insert(const bb_ledger *ledger, const bb_ledger_terms *terms) {
    sqlite3_stmt *statement = NULL;
    bb_status status =
        bb_ledger_prepare(ledger,
                          terms->kind == BB_LEDGER_SUM
                              ? "INSERT INTO terms VALUES(1, ?1, ?2, ?3, ?4, ?5,"
                                " ?6, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))"
                              : "INSERT INTO terms VALUES(1, ?1, ?2, ?3, ?4, ?5,"
                                " ?6, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?7)",
                          &statement);
    if (status) return status;
    sqlite3_bind_text(statement, 1, bb_ledger_kind_name(terms->kind), -1,
                      SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, terms->population, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, (long long)terms->tasks);
    sqlite3_bind_text(statement, 4, bb_adjacency_name(terms->adjacency), -1,
                      SQLITE_STATIC);
    sqlite3_bind_double(statement, 5, terms->epsilon);
    sqlite3_bind_double(statement, 6, terms->delta);
    if (terms->kind == BB_LEDGER_RDP) sqlite3_bind_double(statement, 7, terms->order);
    const int code = sqlite3_step(statement);
    if (code != SQLITE_DONE) status = bb_ledger_complain(ledger, code);
    sqlite3_finalize(statement);
    return status;
}

bb_status bb_ledger_write_terms(bb_ledger *ledger, const bb_ledger_terms *asked) {
    const bb_ledger_terms terms = complete(asked);
    const bool sum = terms.kind == BB_LEDGER_SUM;
    const bb_status status = bb_ledger_execute(ledger, sum ? schema_sum : schema_cost);
    ledger->version = sum ? BB_LEDGER_VERSION_SUM : BB_LEDGER_VERSION_COST;
    return status ? status : insert(ledger, &terms);
}

static bb_status take_kind(bb_ledger *ledger, const char *kind,
                           bb_ledger_terms *terms) {
    terms->kind = find_kind(kind);
    if (terms->kind == BB_LEDGER_ANY ||
        (terms->kind == BB_LEDGER_SUM) != (ledger->version == BB_LEDGER_VERSION_SUM))
        return bb_fail(BB_EDATA,
                       "ledger %s is of kind \"%s\", which its version %d "
                       "does not know",
                       ledger->path, kind, ledger->version);
    return BB_OK;
}

static bb_status take_budget(bb_ledger *ledger, const bb_ledger_terms *terms) {
    const bool ordered = terms->kind == BB_LEDGER_RDP;
    if (ordered ? !(terms->order > 1.0 && isfinite(terms->order)) : terms->order != 0.0)
        return bb_fail(BB_EDATA, "ledger %s is damaged: its Renyi order is %g",
                       ledger->path, terms->order);
    ledger->limit = NAN;
    if (!bb_ledger_price_is_valid(terms->epsilon, terms->delta) ||
        terms->epsilon == 0.0 ||
        (terms->kind != BB_LEDGER_SUM && bb_ledger_limit(terms, &ledger->limit)))
        return bb_fail(BB_EDATA, "ledger %s is damaged: its budget makes no sense",
                       ledger->path);
    return BB_OK;
}

static bb_status take_row(bb_ledger *ledger, sqlite3_stmt *row) {
    const char *kind = (const char *)sqlite3_column_text(row, 0);
    const char *population = (const char *)sqlite3_column_text(row, 1);
    const char *adjacency = (const char *)sqlite3_column_text(row, 3);
    if (!kind || !population || !adjacency)
        return bb_ledger_complain(ledger, SQLITE_NOMEM);
    bb_ledger_terms terms = {.tasks = (size_t)sqlite3_column_int64(row, 2),
                             .adjacency = BB_REPLACE_ONE,
                             .epsilon = sqlite3_column_double(row, 4),
                             .delta = sqlite3_column_double(row, 5),
                             .order = sqlite3_column_double(row, 6)}; /* NULL: 0 */
    bb_status status = take_kind(ledger, kind, &terms);
    if (status) return status;
    if (strcmp(adjacency, bb_adjacency_name(BB_ADD_REMOVE)) == 0)
        terms.adjacency = BB_ADD_REMOVE;
    else if (strcmp(adjacency, bb_adjacency_name(BB_REPLACE_ONE)) != 0)
        return bb_fail(BB_EDATA, "ledger %s has the unknown adjacency \"%s\"",
                       ledger->path, adjacency);
    if (sqlite3_column_int64(row, 2) < 1)
        return bb_fail(BB_EDATA, "ledger %s is damaged: it is for no task",
                       ledger->path);
    status = take_budget(ledger, &terms);
    if (status) return status;
    free(ledger->population);
    ledger->population = NULL;
    status = bb_duplicate(&ledger->population, population, strlen(population));
    terms.population = ledger->population;
    if (!status) ledger->terms = terms;
    return status;
}

bb_status bb_ledger_load_terms(bb_ledger *ledger) {
    sqlite3_stmt *query = NULL;
    bb_status status = bb_ledger_prepare(
        ledger,
        ledger->version == BB_LEDGER_VERSION_SUM
            ? "SELECT kind, population, tasks, adjacency, epsilon, delta, NULL"
              " FROM terms"
            : "SELECT kind, population, tasks, adjacency, epsilon, delta, renyi_order"
              " FROM terms",
        &query);
    if (status) return status;
    const int code = sqlite3_step(query);
    if (code == SQLITE_ROW)
        status = take_row(ledger, query);
    else if (code == SQLITE_DONE)
        status =
            bb_fail(BB_EDATA, "ledger %s is damaged: it has no terms", ledger->path);
    else
        status = bb_ledger_complain(ledger, code);
    sqlite3_finalize(query);
    return status;
}

/* ---- other numbers of tasks ----
 *
 * A table of its own, made with the first of them: terms never change, and programs that do
 * not know it refuse the runs that it is for. */
static const char sizes[] = "CREATE TABLE IF NOT EXISTS sizes(tasks INTEGER PRIMARY KEY"
                            " CHECK(tasks >= 1), time TEXT NOT NULL) STRICT";

/* Runs sql, in which ?1 is a number of tasks. */
static bb_status change_sizes(const bb_ledger *ledger, const char *sql, size_t tasks) {
    sqlite3_stmt *statement = NULL;
    const bb_status status = bb_ledger_prepare(ledger, sql, &statement);
    if (status) return status;
    sqlite3_bind_int64(statement, 1, (long long)tasks);
    const int code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? BB_OK : bb_ledger_complain(ledger, code);
}

bb_status bb_ledger_add_tasks(bb_ledger *ledger, size_t tasks) {
    if (tasks < 1 || tasks > INT64_MAX)
        return bb_fail(BB_EUSAGE, "a ledger is for at least one task");
    if (tasks == ledger->terms.tasks) return BB_OK;
    bb_status status = bb_ledger_execute(ledger, "BEGIN IMMEDIATE");
    if (!status) status = bb_ledger_execute(ledger, sizes);
    if (!status)
        status = change_sizes(ledger,
                              "INSERT OR IGNORE INTO sizes VALUES(?1,"
                              " strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
                              tasks);
    if (!status) status = bb_ledger_execute(ledger, "COMMIT");
    if (status) bb_ledger_roll_back(ledger);
    return status;
}

/* Of numbers that were added; one that was not is no number that could be meant. */
bb_status bb_ledger_remove_tasks(bb_ledger *ledger, size_t tasks) {
    size_t *added = NULL, count = 0;
    bool was_added = false;
    bb_status status = bb_ledger_added_tasks(ledger, &added, &count);
    for (size_t k = 0; k < count && !status; k++)
        was_added = was_added || added[k] == tasks;
    free(added);
    if (!status && !was_added)
        status =
            bb_fail(BB_EUSAGE,
                    "ledger %s: %zu task%s cannot be taken back: it was begun for "
                    "%zu, and only a number that was added since can",
                    ledger->path, tasks, bb_plural((double)tasks), ledger->terms.tasks);
    return status ? status
                  : change_sizes(ledger, "DELETE FROM sizes WHERE tasks = ?1", tasks);
}

bb_status bb_ledger_added_tasks(const bb_ledger *ledger, size_t **tasks,
                                size_t *count) {
    sqlite3_stmt *query = NULL;
    long long tables = 0;
    size_t capacity = 0;
    int code = SQLITE_DONE;
    *tasks = NULL;
    *count = 0;
    bb_status status = bb_ledger_integer(
        ledger, "SELECT count(*) FROM sqlite_schema WHERE name = 'sizes'", &tables);
    if (status || !tables) return status;
    status =
        bb_ledger_prepare(ledger, "SELECT tasks FROM sizes ORDER BY tasks", &query);
    while (!status && (code = sqlite3_step(query)) == SQLITE_ROW) {
        status = bb_grow(tasks, &capacity, *count + 1, sizeof **tasks, "a ledger");
        if (!status) (*tasks)[(*count)++] = (size_t)sqlite3_column_int64(query, 0);
    }
    if (!status && code != SQLITE_DONE) status = bb_ledger_complain(ledger, code);
    sqlite3_finalize(query);
    return status;
}

/* ---- whether they agree ---- */

static bb_status compare_tasks(const bb_ledger *ledger, size_t asked) {
    size_t *added = NULL, count = 0;
    bb_status status = bb_ledger_added_tasks(ledger, &added, &count);
    bool is_for = asked == ledger->terms.tasks;
    for (size_t k = 0; k < count && !status; k++) is_for = is_for || asked == added[k];
    free(added);
    if (status || is_for) return status;
    return bb_fail(
        BB_EUSAGE,
        "ledger %s is for %zu task%s, this run has %zu; if they are the same "
        "tasks with some more or fewer, `billboard ledger %s --tasks %zu' "
        "lets it charge such runs, too",
        ledger->path, ledger->terms.tasks, bb_plural((double)ledger->terms.tasks),
        asked, ledger->path, asked);
}

static bb_status compare_kind(const bb_ledger *ledger, const bb_ledger_terms *asked) {
    const bb_ledger_terms *kept = &ledger->terms;
    const bb_ledger_kind kind = kind_of(asked);
    if (kind != BB_LEDGER_ANY && kind != kept->kind)
        return bb_fail(BB_EUSAGE, "ledger %s is of kind %s, not %s", ledger->path,
                       bb_ledger_kind_name(kept->kind), bb_ledger_kind_name(kind));
    if (asked->order != 0.0 && asked->order != kept->order)
        return bb_fail(BB_EUSAGE, "ledger %s counts at Renyi order %.17g, not %.17g",
                       ledger->path, kept->order, asked->order);
    return BB_OK;
}

bb_status bb_ledger_compare_terms(const bb_ledger *ledger,
                                  const bb_ledger_terms *asked) {
    const bb_ledger_terms *kept = &ledger->terms;
    if (asked->population && strcmp(kept->population, asked->population) != 0)
        return bb_fail(BB_EUSAGE, "ledger %s is for population \"%s\", not \"%s\"",
                       ledger->path, kept->population, asked->population);
    const bb_status status = compare_tasks(ledger, asked->tasks);
    if (status) return status;
    if (kept->adjacency != asked->adjacency)
        return bb_fail(BB_EUSAGE, "ledger %s counts in adjacency %s, asked for %s",
                       ledger->path, bb_adjacency_name(kept->adjacency),
                       bb_adjacency_name(asked->adjacency));
    if (!isnan(asked->epsilon) && kept->epsilon != asked->epsilon)
        return bb_fail(BB_EUSAGE, "ledger %s has the budget epsilon = %.17g, not %.17g",
                       ledger->path, kept->epsilon, asked->epsilon);
    if (!isnan(asked->delta) && kept->delta != asked->delta)
        return bb_fail(BB_EUSAGE, "ledger %s has the budget delta = %.17g, not %.17g",
                       ledger->path, kept->delta, asked->delta);
    return compare_kind(ledger, asked);
}
