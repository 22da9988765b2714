#include "privacy/ledger/ledger.h"

#include "base/file.h"
#include "base/memory.h"
#include "privacy/ledger/ledger_file.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* "BBLG", so that no other program's database is taken for a ledger. */
#define APPLICATION_ID 1111641159
enum { PATIENCE_MS = 10000, NOTICE_MS = 1000, NAP_MS = 5 };

bb_status bb_ledger_complain(const bb_ledger *ledger, int code) {
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return bb_fail(BB_ENOMEM, "no memory for ledger %s", ledger->path);
    case SQLITE_NOTADB:
        return bb_fail(BB_EDATA, "%s is not a ledger: it is no SQLite database",
                       ledger->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return bb_fail(BB_EIO, "ledger %s was locked by others for %d seconds",
                       ledger->path, PATIENCE_MS / 1000);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return bb_fail(BB_EDATA, "ledger %s is damaged: %s", ledger->path,
                       sqlite3_errmsg(ledger->db));
    default:
        return bb_fail(BB_EIO, "ledger %s: %s", ledger->path,
                       sqlite3_errmsg(ledger->db));
    }
}

/* Who hears of locks that this thread waits for. */
static _Thread_local struct {
    void (*say)(void *self, const char *path);
    void *self;
} listener;

void bb_ledger_on_wait(void (*say)(void *self, const char *path), void *self) {
    listener.say = say;
    listener.self = self;
}

/* The k-th nap of a wait; false: it was long enough. SQLite's busy handler. */
static int nap(void *self, int k) {
    const bb_ledger *ledger = self;
    const struct timespec time = {.tv_nsec = NAP_MS * 1000000L};
    if (k >= PATIENCE_MS / NAP_MS) return 0;
    if (k == NOTICE_MS / NAP_MS && listener.say)
        listener.say(listener.self, ledger->path);
    nanosleep(&time, NULL);
    return 1;
}

/* Waits by itself: SQLite does not where it fears a deadlock. */
bb_status bb_ledger_execute(const bb_ledger *ledger, const char *sql) {
    bb_ledger *waiting = (bb_ledger *)(uintptr_t)ledger;
    int code, k = 0;
    sqlite3_busy_handler(ledger->db, NULL, NULL);
    do code = sqlite3_exec(ledger->db, sql, NULL, NULL, NULL);
    while ((code & 0xff) == SQLITE_BUSY && nap(waiting, k++));
    sqlite3_busy_handler(ledger->db, nap, waiting);
    return code == SQLITE_OK ? BB_OK : bb_ledger_complain(ledger, code);
}

void bb_ledger_roll_back(const bb_ledger *ledger) {
    if (!sqlite3_get_autocommit(ledger->db))
        sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
}

bb_status bb_ledger_prepare(const bb_ledger *ledger, const char *sql,
                            sqlite3_stmt **out) {
    const int code = sqlite3_prepare_v2(ledger->db, sql, -1, out, NULL);
    return code == SQLITE_OK ? BB_OK : bb_ledger_complain(ledger, code);
}

bb_status bb_ledger_integer(const bb_ledger *ledger, const char *sql, long long *out) {
    sqlite3_stmt *query = NULL;
    bb_status status = bb_ledger_prepare(ledger, sql, &query);
    if (status) return status;
    const int code = sqlite3_step(query);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(query, 0);
    else
        status =
            bb_ledger_complain(ledger, code == SQLITE_DONE ? SQLITE_CORRUPT : code);
    sqlite3_finalize(query);
    return status;
}

/* Is the database empty, a ledger of a known version, or something else (BB_EDATA)? To
 * be asked inside a transaction: another process may be creating it. */
static bb_status look(bb_ledger *ledger, bool *empty) {
    long long tables = 0, application = 0, version = 0;
    bb_status status =
        bb_ledger_integer(ledger, "SELECT count(*) FROM sqlite_schema", &tables);
    if (!status)
        status = bb_ledger_integer(ledger, "PRAGMA application_id", &application);
    if (!status) status = bb_ledger_integer(ledger, "PRAGMA user_version", &version);
    if (status) return status;
    *empty = tables == 0 && application == 0 && version == 0;
    if (*empty) return BB_OK;
    if (application != APPLICATION_ID)
        return bb_fail(BB_EDATA, "%s is an SQLite database, but not a ledger",
                       ledger->path);
    if (version != BB_LEDGER_VERSION_SUM && version != BB_LEDGER_VERSION_COST)
        return bb_fail(
            BB_EDATA, "ledger %s has version %lld, this program knows versions %d, %d",
            ledger->path, version, BB_LEDGER_VERSION_SUM, BB_LEDGER_VERSION_COST);
    ledger->version = (int)version;
    return BB_OK;
}

static bb_status identify(bb_ledger *ledger, bool *empty) {
    bb_status status = bb_ledger_execute(ledger, "BEGIN");
    if (!status) status = look(ledger, empty);
    if (!status) status = bb_ledger_execute(ledger, "COMMIT");
    if (status) bb_ledger_roll_back(ledger);
    return status;
}

bool bb_ledger_price_is_valid(double epsilon, double delta) {
    return epsilon >= 0.0 && epsilon <= BB_LEDGER_MOST_EPSILON && delta >= 0.0 &&
           delta < 1.0;
}

static bb_status check_path(const char *path) {
    /* SQLite keeps such a database in memory, or may be told to by a URI's parameters:
     * a budget that nobody remembers */
    if (*path == '\0' || *path == ':' || strncmp(path, "file:", 5) == 0)
        return bb_fail(BB_EUSAGE, "\"%s\" cannot be the name of a ledger", path);
    return BB_OK;
}

/* What the system says of a file that could not be opened tells more than SQLite does. */
static const char *why_closed(sqlite3 *db) {
    const int number = sqlite3_system_errno(db);
    return number ? strerror(number) : sqlite3_errmsg(db);
}

/* `file`: where the database of the ledger at `path` is. */
static bb_status open_database(bb_ledger **out, const char *path, const char *file,
                               int flags) {
    bb_ledger *ledger = NULL;
    bb_status status = check_path(path);
    if (!status) status = bb_allocate(&ledger, 1, sizeof *ledger, "a ledger");
    if (!status) status = bb_duplicate(&ledger->path, path, strlen(path));
    if (status) goto done;
    const int code =
        sqlite3_open_v2(file, &ledger->db, flags | SQLITE_OPEN_READWRITE, NULL);
    if (code != SQLITE_OK) {
        status = ledger->db ? bb_fail(BB_EIO, "cannot open ledger %s: %s", path,
                                      why_closed(ledger->db))
                            : bb_ledger_complain(ledger, SQLITE_NOMEM);
        goto done;
    }
    sqlite3_busy_handler(ledger->db, nap, ledger);
done:
    if (status) {
        bb_ledger_close(ledger);
        return status;
    }
    *out = ledger;
    return BB_OK;
}

/* Schema and terms in one transaction: a crash leaves an empty file or a ledger.
 * Another process may have been faster. */
static bb_status create(bb_ledger *ledger, const bb_ledger_terms *terms) {
    bool empty;
    bb_status status = bb_ledger_execute(ledger, "BEGIN IMMEDIATE");
    if (!status) status = look(ledger, &empty);
    if (!status && empty) status = bb_ledger_write_terms(ledger, terms);
    if (!status) status = bb_ledger_execute(ledger, "COMMIT");
    if (status) bb_ledger_roll_back(ledger);
    return status;
}

static bb_status no_ledger_yet(const char *path) {
    return bb_fail(BB_EUSAGE,
                   "%s: there is no ledger yet; --budget-epsilon and --budget-delta "
                   "create one",
                   path);
}

bool bb_ledger_is_missing(const char *path) {
    struct stat there;
    if (stat(path, &there)) return errno == ENOENT || errno == ENOTDIR;
    return S_ISREG(there.st_mode) && there.st_size == 0;
}

/* *out stays NULL where nothing is in the file, unless it is to be made. */
static bb_status open_ledger(bb_ledger **out, const char *path, const char *file,
                             const bb_ledger_terms *terms, bool make) {
    const bool can_create = !isnan(terms->epsilon) && !isnan(terms->delta);
    bb_ledger *ledger = NULL;
    bool empty;
    bb_status status = bb_ledger_check_terms(terms);
    if (!status && !can_create && access(path, F_OK)) status = no_ledger_yet(path);
    if (!status)
        status =
            open_database(&ledger, path, file, can_create ? SQLITE_OPEN_CREATE : 0);
    if (status) return status;
    status = identify(ledger, &empty); /* before anything is written */
    if (!status && empty && !can_create) status = no_ledger_yet(path);
    if (!status && empty && !make) {
        bb_ledger_close(ledger);
        return BB_OK;
    }
    if (!status) status = bb_ledger_execute(ledger, "PRAGMA journal_mode = WAL");
    if (!status) status = bb_ledger_execute(ledger, "PRAGMA synchronous = FULL");
    if (!status && empty) status = create(ledger, terms);
    if (!status) status = bb_ledger_load_terms(ledger);
    if (!status) status = bb_ledger_compare_terms(ledger, terms);
    if (status) {
        bb_ledger_close(ledger);
        return status;
    }
    *out = ledger;
    return BB_OK;
}

/* Terms as they were asked for, until there is a file to compare them with. */
static bb_status remember(bb_ledger *ledger, const bb_ledger_terms *terms) {
    ledger->in_memory = true;
    ledger->asked = *terms;
    if (!terms->population) return BB_OK;
    const bb_status status = bb_duplicate(&ledger->asked_population, terms->population,
                                          strlen(terms->population));
    ledger->asked.population = ledger->asked_population;
    return status;
}

bb_status bb_ledger_open(bb_ledger **out, const char *path,
                         const bb_ledger_terms *terms) {
    bb_ledger *ledger = NULL;
    bb_status status = BB_OK;
    if (!bb_ledger_is_missing(path))
        status = open_ledger(&ledger, path, path, terms, false);
    if (!status && ledger) *out = ledger;
    if (status || ledger) return status;
    status = open_ledger(&ledger, path, ":memory:", terms, true);
    if (!status) status = bb_file_check_folder(path);
    if (!status && access(path, W_OK) && errno != ENOENT)
        status = bb_fail(BB_EIO, "cannot open ledger %s: %s", path, strerror(errno));
    if (!status) status = remember(ledger, terms);
    if (status) {
        bb_ledger_close(ledger);
        return status;
    }
    *out = ledger;
    return BB_OK;
}

bb_ledger_terms bb_ledger_terms_of(const bb_ledger *ledger) {
    return ledger->terms;
}

bool bb_ledger_is_new(const bb_ledger *ledger) {
    return ledger->in_memory;
}

bb_status bb_ledger_begin(bb_ledger *ledger, bool make) {
    bb_ledger *made = NULL;
    const bb_status status =
        open_ledger(&made, ledger->path, ledger->path, &ledger->asked, make);
    if (status || !made) return status;
    sqlite3_close(ledger->db);
    free(ledger->population);
    ledger->db = made->db;
    ledger->population = made->population;
    ledger->version = made->version;
    ledger->terms = made->terms;
    ledger->limit = made->limit;
    ledger->in_memory = false;
    sqlite3_busy_handler(ledger->db, nap, ledger);
    made->db = NULL;
    made->population = NULL;
    bb_ledger_close(made);
    return BB_OK;
}

/* -- without write access --
 *
 * SQLite reads a ledger that a process has open, whose -wal is there; of one that nobody has
 * open it would have to write that itself, beside it. */

static bool has_wal(const char *path) {
    static const char word[] = "-wal";
    const size_t length = strlen(path);
    char *name = malloc(length + sizeof word);
    if (!name) return true; /* and SQLite says what fails */
    memcpy(name, path, length);
    memcpy(name + length, word, sizeof word);
    const bool there = access(name, F_OK) == 0;
    free(name);
    return there;
}

static bool is_to_be_copied(const char *path) {
    const bool may_write = access(path, W_OK) == 0 && !bb_file_check_folder(path);
    return access(path, R_OK) == 0 && !may_write && !has_wal(path);
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Into the database in memory, if nobody has written meanwhile. */
static bb_status copy_file(bb_ledger *ledger, bool *whole) {
    enum { WRITES = 18, READS = 19, ROLLBACK = 1, HEADER = 100 };
    struct stat before, after;
    uint8_t *bytes = NULL;
    size_t size;
    *whole = false;
    if (stat(ledger->path, &before)) return BB_OK;
    const bb_status status = bb_file_read(ledger->path, &bytes, &size);
    if (status) return status;
    *whole = stat(ledger->path, &after) == 0 && is_same(&before, &after) &&
             !has_wal(ledger->path);
    uint8_t *copy = *whole && size ? sqlite3_malloc64(size) : NULL;
    if (copy) memcpy(copy, bytes, size); /* NOLINT: of that size */
    free(bytes);
    if (!*whole || !size) return BB_OK;
    if (!copy) return bb_ledger_complain(ledger, SQLITE_NOMEM);
    if (size >= HEADER) copy[WRITES] = copy[READS] = ROLLBACK; /* in memory: no WAL */
    const int code = sqlite3_deserialize(
        ledger->db, "main", copy, (sqlite3_int64)size, (sqlite3_int64)size,
        SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
    return code == SQLITE_OK ? BB_OK : bb_ledger_complain(ledger, code);
}

static bb_status open_to_read(bb_ledger **out, const char *path) {
    bb_ledger *ledger = NULL;
    bool whole = false;
    if (!is_to_be_copied(path)) return open_database(out, path, path, 0);
    bb_status status = open_database(&ledger, path, ":memory:", 0);
    for (int k = 0; !status && !whole; k++) {
        status = copy_file(ledger, &whole);
        if (!status && !whole && !nap(ledger, k))
            status = bb_ledger_complain(ledger, SQLITE_BUSY);
    }
    if (status)
        bb_ledger_close(ledger);
    else
        *out = ledger;
    return status;
}

bb_status bb_ledger_read(bb_ledger **out, const char *path, bb_ledger_terms *terms) {
    bb_ledger *ledger = NULL;
    bool empty;
    bb_status status = open_to_read(&ledger, path);
    if (status) return status;
    status = identify(ledger, &empty);
    if (!status && empty)
        status = bb_fail(BB_EDATA, "%s is empty: it holds no ledger", path);
    if (!status) status = bb_ledger_execute(ledger, "PRAGMA synchronous = FULL");
    if (!status) status = bb_ledger_load_terms(ledger);
    if (status) {
        bb_ledger_close(ledger);
        return status;
    }
    *terms = ledger->terms;
    *out = ledger;
    return BB_OK;
}

void bb_ledger_close(bb_ledger *ledger) {
    if (!ledger) return;
    sqlite3_close(ledger->db);
    free(ledger->path);
    free(ledger->population);
    free(ledger->asked_population);
    free(ledger->directory);
    free(ledger->token);
    free(ledger);
}
