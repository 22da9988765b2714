#include "experiments/registry.h"

#include "base/memory.h"

#include <sqlite3.h>

#include <stdlib.h>
#include <string.h>

struct bb_registry {
    sqlite3 *db; /* serialized: calls of several threads wait for each other */
    char *path;
};

/* "BBEX", so that no other program's database is taken for one. */
#define APPLICATION_ID "1111639384"
enum { PATIENCE_MS = 10000 };

static bb_status complain(const bb_registry *r, int code) {
    if ((code & 0xff) == SQLITE_NOMEM)
        return bb_fail(BB_ENOMEM, "no memory for %s", r->path);
    if ((code & 0xff) == SQLITE_NOTADB)
        return bb_fail(BB_EDATA, "%s is no registry of an experiment", r->path);
    return bb_fail(BB_EIO, "%s: %s", r->path,
                   r->db ? sqlite3_errmsg(r->db) : sqlite3_errstr(code));
}

static bb_status execute(const bb_registry *r, const char *sql) {
    const int code = sqlite3_exec(r->db, sql, NULL, NULL, NULL);
    return code ? complain(r, code) : BB_OK;
}

static bb_status prepare(const bb_registry *r, const char *sql, const char *key,
                         sqlite3_stmt **out) {
    int code = sqlite3_prepare_v2(r->db, sql, -1, out, NULL);
    if (!code && key) code = sqlite3_bind_text(*out, 1, key, -1, SQLITE_STATIC);
    return code ? complain(r, code) : BB_OK;
}

/* Whose file it is; 0 is nobody's yet. */
static bb_status check_owner(const bb_registry *r) {
    sqlite3_stmt *query = NULL;
    bb_status status = prepare(r, "PRAGMA application_id", NULL, &query);
    if (!status && sqlite3_step(query) != SQLITE_ROW)
        status = complain(r, sqlite3_errcode(r->db));
    const char *id = status ? NULL : (const char *)sqlite3_column_text(query, 0);
    if (id && strcmp(id, "0") != 0 && strcmp(id, APPLICATION_ID) != 0)
        status = bb_fail(BB_EDATA, "%s is no registry of an experiment", r->path);
    sqlite3_finalize(query);
    return status;
}

bb_status bb_registry_open(bb_registry **out, const char *path) {
    bb_registry *r = NULL;
    bb_status status = bb_allocate(&r, 1, sizeof *r, "a registry");
    if (status) return status;
    status = bb_duplicate(&r->path, path, strlen(path));
    if (!status) {
        const int code = sqlite3_open_v2(
            path, &r->db,
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL);
        if (code) status = complain(r, code);
    }
    if (!status) {
        sqlite3_busy_timeout(r->db, PATIENCE_MS);
        status = check_owner(r);
    }
    if (!status)
        status = execute(r, "PRAGMA application_id = " APPLICATION_ID ";"
                            /* a power cut may lose the last cells, and no more */
                            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                            "CREATE TABLE IF NOT EXISTS cell (key TEXT PRIMARY KEY, "
                            "result TEXT NOT NULL, seconds REAL NOT NULL)");
    if (status)
        bb_registry_close(r);
    else
        *out = r;
    return status;
}

void bb_registry_close(bb_registry *r) {
    if (!r) return;
    sqlite3_close(r->db);
    free(r->path);
    free(r);
}

bb_status bb_registry_get(bb_registry *r, const char *key, char **result) {
    sqlite3_stmt *query = NULL;
    char *copy = NULL;
    bb_status status = prepare(r, "SELECT result FROM cell WHERE key = ?", key, &query);
    const int step = status ? SQLITE_DONE : sqlite3_step(query);
    if (step == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(query, 0);
        status =
            text ? bb_duplicate(&copy, text, strlen(text)) : complain(r, SQLITE_NOMEM);
    } else if (step != SQLITE_DONE)
        status = complain(r, step);
    sqlite3_finalize(query);
    if (!status) *result = copy;
    return status;
}

bb_status bb_registry_put(bb_registry *r, const char *key, const char *result,
                          double seconds) {
    sqlite3_stmt *query = NULL;
    bb_status status =
        prepare(r, "INSERT OR REPLACE INTO cell VALUES (?, ?, ?)", key, &query);
    int code = SQLITE_OK;
    if (!status) code = sqlite3_bind_text(query, 2, result, -1, SQLITE_STATIC);
    if (!status && !code) code = sqlite3_bind_double(query, 3, seconds);
    if (!status && !code) code = sqlite3_step(query);
    if (!status && code != SQLITE_DONE) status = complain(r, code);
    sqlite3_finalize(query);
    return status;
}

bb_status bb_registry_count(bb_registry *r, size_t *cells, double *seconds) {
    sqlite3_stmt *query = NULL;
    bb_status status =
        prepare(r, "SELECT count(*), total(seconds) FROM cell", NULL, &query);
    const int step = status ? SQLITE_ROW : sqlite3_step(query);
    if (step != SQLITE_ROW) status = complain(r, step);
    if (!status) {
        *cells = (size_t)sqlite3_column_int64(query, 0);
        *seconds = sqlite3_column_double(query, 1);
    }
    sqlite3_finalize(query);
    return status;
}
