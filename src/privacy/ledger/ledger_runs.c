/* Which run an entry is for: its directory, the process that it was, and how it ended.
 * Nothing here changes what was spent. */
#include "base/memory.h"
#include "privacy/ledger/ledger_file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A table of its own, made with the first entry that needs it: files of both versions
 * stay what older programs read and write, whose own entries have no row here. */
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS runs(entry INTEGER PRIMARY KEY,"
    " directory TEXT NOT NULL, process TEXT NOT NULL, done INTEGER NOT NULL) STRICT";

const char *bb_ledger_state_name(bb_ledger_state state) {
    static const char *const name[] = {"unknown", "running", "done", "died"};
    return name[state];
}

/* Runs that other processes may go on with. */
static const char tokens[] = "CREATE TABLE IF NOT EXISTS tokens("
                             "token TEXT PRIMARY KEY, entry INTEGER NOT NULL) STRICT";

/* ---- processes ----
 *
 * "HOST BOOT NAMESPACE PID START": a number may be given again to another process, but
 * not with the same start, in clock ticks since the machine's; and numbers mean nothing
 * on another machine or in another container. */
enum { HOST, BOOT, NAMESPACE, PID, START, WORDS };
enum { WORD = 80, TEXT = 512 };

typedef struct process {
    char word[WORDS][WORD]; /* "": not known */
} process;

static void read_line(const char *path, char *line, size_t size) {
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, (int)size, file)) *line = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (file) fclose(file);
}

/* The start and the state of a process; "" if /proc does not say. The second word of the
 * line, in brackets, is a name that may hold anything. */
static void look_up(const char *pid, char start[WORD], char *state) {
    enum { STATE_FIELD = 3, START_FIELD = 22 };
    char path[WORD + 16], line[1024];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    read_line(path, line, sizeof line);
    const char *at = strrchr(line, ')');
    *start = *state = '\0';
    if (!at || !at[1]) return;
    *state = at[2];
    at++;
    for (int field = STATE_FIELD; at && field < START_FIELD; field++)
        at = strchr(at + 1, ' ');
    if (at) snprintf(start, WORD, "%.*s", (int)strcspn(at + 1, " "), at + 1);
}

static process this_process(void) {
    process self = {0};
    struct utsname machine;
    char state;
    if (uname(&machine) == 0)
        snprintf(self.word[HOST], WORD, "%.79s", machine.nodename);
    read_line("/proc/sys/kernel/random/boot_id", self.word[BOOT], WORD);
    if (readlink("/proc/self/ns/pid", self.word[NAMESPACE], WORD - 1) < 0)
        self.word[NAMESPACE][0] = '\0';
    snprintf(self.word[PID], WORD, "%ld", (long)getpid());
    look_up(self.word[PID], self.word[START], &state);
    return self;
}

/* "" if a word is not known. */
static void write_process(const process *p, char text[TEXT]) {
    size_t used = 0;
    *text = '\0';
    for (int k = 0; k < WORDS; k++)
        if (!*p->word[k]) return;
    for (int k = 0; k < WORDS; k++)
        used += (size_t)snprintf(text + used, TEXT - used, "%s%s", k ? " " : "",
                                 p->word[k]);
}

static bool read_process(const char *text, process *p) {
    if (!text) return false;
    for (int k = 0; k < WORDS; k++) {
        const size_t length = strcspn(text, " ");
        if (length == 0 || length >= WORD) return false;
        memcpy(p->word[k], text, length);
        p->word[k][length] = '\0';
        text += length + (text[length] == ' ');
    }
    return *text == '\0' && strspn(p->word[PID], "0123456789") == strlen(p->word[PID]);
}

/* A process that may hide from /proc is there if it could be signalled. */
static bool is_hidden(const char *pid) {
    const long number = strtol(pid, NULL, 10);
    return number > 0 && (kill((pid_t)number, 0) == 0 || errno == EPERM);
}

static bb_ledger_state state_of(const char *text) {
    const process self = this_process();
    process other;
    char start[WORD], state;
    if (!read_process(text, &other) || strcmp(self.word[HOST], other.word[HOST]) != 0)
        return BB_LEDGER_UNKNOWN;
    if (strcmp(self.word[BOOT], other.word[BOOT]) != 0) return BB_LEDGER_DIED;
    if (strcmp(self.word[NAMESPACE], other.word[NAMESPACE]) != 0)
        return BB_LEDGER_UNKNOWN;
    look_up(other.word[PID], start, &state);
    if (!*start) return is_hidden(other.word[PID]) ? BB_LEDGER_UNKNOWN : BB_LEDGER_DIED;
    const bool gone =
        strcmp(start, other.word[START]) != 0 || state == 'Z' || state == 'X';
    return gone ? BB_LEDGER_DIED : BB_LEDGER_RUNNING;
}

/* ---- the table ---- */

static bb_status note_token(const bb_ledger *ledger, long long entry) {
    sqlite3_stmt *statement = NULL;
    bb_status status = bb_ledger_execute(ledger, tokens);
    if (!status)
        status = bb_ledger_prepare(
            ledger, "INSERT OR REPLACE INTO tokens VALUES(?1, ?2)", &statement);
    if (status) return status;
    sqlite3_bind_text(statement, 1, ledger->token, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, entry);
    const int code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? BB_OK : bb_ledger_complain(ledger, code);
}

bb_status bb_ledger_note_run(const bb_ledger *ledger, long long entry) {
    const process self = this_process();
    char text[TEXT];
    sqlite3_stmt *statement = NULL;
    bb_status status = bb_ledger_execute(ledger, schema);
    if (!status)
        status = bb_ledger_prepare(
            ledger, "INSERT OR REPLACE INTO runs VALUES(?1, ?2, ?3, 0)", &statement);
    if (status) return status;
    write_process(&self, text);
    sqlite3_bind_int64(statement, 1, entry);
    sqlite3_bind_text(statement, 2, ledger->directory ? ledger->directory : "", -1,
                      SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, text, -1, SQLITE_STATIC);
    const int code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) return bb_ledger_complain(ledger, code);
    return ledger->token ? note_token(ledger, entry) : BB_OK;
}

/* Where both tables are there. */
static bb_status look_up_token(const bb_ledger *ledger, long long *entry, bool *done) {
    sqlite3_stmt *query = NULL;
    const bb_status status =
        bb_ledger_prepare(ledger,
                          "SELECT entry, done FROM tokens JOIN runs USING (entry) "
                          "WHERE token = ?1",
                          &query);
    if (status) return status;
    sqlite3_bind_text(query, 1, ledger->token, -1, SQLITE_STATIC);
    const int code = sqlite3_step(query);
    if (code == SQLITE_ROW) *entry = sqlite3_column_int64(query, 0);
    if (code == SQLITE_ROW) *done = sqlite3_column_int(query, 1) != 0;
    sqlite3_finalize(query);
    return code == SQLITE_ROW || code == SQLITE_DONE ? BB_OK
                                                     : bb_ledger_complain(ledger, code);
}

bb_status bb_ledger_find_token(const bb_ledger *ledger, long long *entry, bool *done) {
    *entry = 0;
    *done = false;
    if (!ledger->token) return BB_OK;
    bb_status status = bb_ledger_execute(ledger, tokens);
    if (!status) status = bb_ledger_execute(ledger, schema);
    return status ? status : look_up_token(ledger, entry, done);
}

bb_status bb_ledger_has_token(const bb_ledger *ledger, bool *has) {
    long long tables = 0, entry = 0;
    bool done;
    bb_status status = bb_ledger_integer(ledger,
                                         "SELECT count(*) FROM sqlite_schema "
                                         "WHERE name IN ('tokens', 'runs')",
                                         &tables);
    if (!status && tables == 2 && ledger->token)
        status = look_up_token(ledger, &entry, &done);
    *has = entry != 0;
    return status;
}

bb_status bb_ledger_load_run(const bb_ledger *ledger, bb_ledger_entry *entry) {
    long long tables = 0;
    sqlite3_stmt *query = NULL;
    entry->state = BB_LEDGER_UNKNOWN;
    bb_status status = bb_ledger_integer(
        ledger, "SELECT count(*) FROM sqlite_schema WHERE name = 'runs'", &tables);
    if (!status && tables)
        status = bb_ledger_prepare(
            ledger, "SELECT directory, process, done FROM runs WHERE entry = ?1",
            &query);
    if (status || !tables)
        return status ? status : bb_duplicate(&entry->directory, "", 0);
    sqlite3_bind_int64(query, 1, entry->id);
    const int code = sqlite3_step(query);
    const bool there = code == SQLITE_ROW;
    const char *directory = there ? (const char *)sqlite3_column_text(query, 0) : "";
    const char *text = there ? (const char *)sqlite3_column_text(query, 1) : "";
    if (!there && code != SQLITE_DONE)
        status = bb_ledger_complain(ledger, code);
    else if (!directory || !text)
        status = bb_ledger_complain(ledger, SQLITE_NOMEM);
    else
        status = bb_duplicate(&entry->directory, directory, strlen(directory));
    if (!status && there)
        entry->state = sqlite3_column_int(query, 2) ? BB_LEDGER_DONE : state_of(text);
    sqlite3_finalize(query);
    return status;
}

/* ---- what a run says ---- */

bb_status bb_ledger_name_run(bb_ledger *ledger, const char *directory) {
    char *here = NULL, *whole = NULL;
    size_t size = 0;
    bb_status status = BB_OK;
    if (*directory != '/') here = getcwd(NULL, 0);
    FILE *stream = open_memstream(&whole, &size);
    if (stream && here) fprintf(stream, "%s/", here);
    if (stream) fputs(directory, stream);
    if (!stream || fclose(stream))
        status = bb_fail(BB_ENOMEM, "no memory for the name of a run directory");
    free(here);
    if (status) {
        free(whole);
        return status;
    }
    free(ledger->directory);
    ledger->directory = whole;
    return BB_OK;
}

bb_status bb_ledger_name_token(bb_ledger *ledger, const char *token) {
    char *own = NULL;
    const bb_status status = bb_duplicate(&own, token, strlen(token));
    if (status) return status;
    free(ledger->token);
    ledger->token = own;
    return BB_OK;
}

long long bb_ledger_reserved(const bb_ledger *ledger) {
    return ledger->reserved;
}

bb_status bb_ledger_finish(bb_ledger *ledger) {
    sqlite3_stmt *statement = NULL;
    if (!ledger->reserved) return BB_OK;
    const bb_status status = bb_ledger_prepare(
        ledger, "UPDATE runs SET done = 1 WHERE entry = ?1", &statement);
    if (status) return status;
    sqlite3_bind_int64(statement, 1, ledger->reserved);
    const int code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? BB_OK : bb_ledger_complain(ledger, code);
}
