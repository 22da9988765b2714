/* csv.c - comma-separated values with a header line (RFC 4180, any line ends). */
#include "base/memory.h"
#include "data/columns.h"
#include "data/labels.h"
#include "data/readers.h"
#include "data/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 100000 };

typedef enum ending { END_CELL, END_ROW, END_FILE } ending;

/* One cell: its text is valid until the next one is taken. */
typedef struct cell {
    const char *text;
    size_t length, line; /* where it begins */
    bool quoted;
    ending end;
} cell;

typedef struct csv {
    bb_text *text;
    const bb_read_options *options;
    bb_names header;
    bb_columns columns;
    bb_builder builder;
    char *unquoted;
    size_t unquoted_room;
    char advice[256]; /* text columns of the first row, "city,name" */
    cell text_cell;   /* the first of them; its text is in `shown` */
    size_t text_column;
    char shown[BB_SHOWN_BYTES];
} csv;

/* "data.csv:2:4" or, with the column's name, "data.csv:2:4 (column "city")". */
static const char *place(const csv *c, size_t line, size_t column,
                         char text[BB_WHERE_BYTES]) {
    char shown[BB_SHOWN_BYTES];
    const int used =
        snprintf(text, BB_WHERE_BYTES, "%s:%zu:%zu", c->text->path, line, column + 1);
    if (column < c->header.count && used > 0 && used < BB_WHERE_BYTES) {
        const char *const name = bb_names_at(&c->header, column);
        snprintf(text + used, (size_t)(BB_WHERE_BYTES - used), " (column %s)",
                 bb_shown(shown, name, strlen(name)));
    }
    return text;
}

static bb_status bad(const csv *c, size_t line, size_t column, const char *words) {
    char where[BB_WHERE_BYTES];
    return bb_fail(BB_EDATA, "%s: %s", place(c, line, column, where), words);
}

/* What a 0 at p means: the end of what was read, which then goes on, or an error. */
static bb_status go_on(csv *c, size_t column, const char *p) {
    if (p < c->text->end)
        return bad(c, c->text->line, column, "a zero byte: this is no text");
    return bb_text_more(c->text);
}

/* The length of a plain cell. */
static bb_status find_end(csv *c, size_t column, size_t *length) {
    *length = 0;
    for (;;) {
        const char *p = c->text->at + *length;
        while (*p != ',' && *p != '\n' && *p != '\r' && *p != '\0') p++;
        *length = (size_t)(p - c->text->at);
        if (*p != '\0' || (p == c->text->end && c->text->ended)) return BB_OK;
        bb_status status = go_on(c, column, p);
        if (status) return status;
    }
}

/* Makes sure that at[length] and at[length + 1] were read, if they exist. */
static bb_status look_ahead(csv *c, size_t length) {
    while (!c->text->ended && (size_t)(c->text->end - c->text->at) < length + 2) {
        bb_status status = bb_text_more(c->text);
        if (status) return status;
    }
    return BB_OK;
}

/* What at[length] ends; moves `at` behind it. */
static bb_status finish_cell(csv *c, size_t column, size_t length, cell *out) {
    bb_text *const t = c->text;
    const char *const p = t->at + length;
    size_t consumed = length + 1;
    if (p == t->end) {
        out->end = END_FILE;
        consumed = length;
    } else if (*p == ',') {
        out->end = END_CELL;
    } else if (*p == '\n' || *p == '\r') {
        out->end = END_ROW;
        consumed += *p == '\r' && p[1] == '\n';
        t->line++;
    } else {
        return bad(c, t->line, column,
                   "expected a comma or the end of the line after the closing quote");
    }
    t->at += consumed;
    return BB_OK;
}

/* Copies what is in quotes up to the next quote, or the end of what was read. */
static bb_status copy_quoted(csv *c, size_t *used) {
    bb_text *const t = c->text;
    char *p = t->at;
    while (*p != '"' && *p != '\0') t->line += *p++ == '\n';
    const size_t length = (size_t)(p - t->at);
    bb_status status = bb_grow(&c->unquoted, &c->unquoted_room, *used + length + 1, 1,
                               "a quoted cell");
    if (status) return status;
    memcpy(c->unquoted + *used, t->at, length);
    *used += length;
    t->at = p;
    return BB_OK;
}

/* A cell in quotes, `at` on the opening one: "" inside is one quote. */
static bb_status take_quoted(csv *c, size_t column, cell *out) {
    bb_text *const t = c->text;
    size_t used = 0;
    out->quoted = true;
    t->at++;
    for (;;) {
        bb_status status = copy_quoted(c, &used);
        if (!status) status = look_ahead(c, 0);
        if (status) return status;
        if (used > BB_TEXT_TOKEN || (t->at == t->end && t->ended))
            return bad(c, out->line, column, "the quote that opens here never ends");
        if (*t->at == '"' && t->at[1] != '"') break;
        if (*t->at == '"') {
            c->unquoted[used++] = '"';
            t->at += 2;
        } else if (*t->at == '\0') {
            status = go_on(c, column, t->at);
            if (status) return status;
        }
    }
    t->at++;
    out->text = c->unquoted;
    out->length = used;
    bb_status status = look_ahead(c, 0);
    return status ? status : finish_cell(c, column, 0, out);
}

static bb_status take_cell(csv *c, size_t column, cell *out) {
    *out = (cell){.line = c->text->line};
    if (*c->text->at == '"') return take_quoted(c, column, out);
    size_t length = 0;
    bb_status status = find_end(c, column, &length);
    if (!status) status = look_ahead(c, length);
    if (status) return status;
    out->text = c->text->at;
    out->length = length;
    return finish_cell(c, column, length, out);
}

/* Is nothing left? Skips empty lines first. */
static bb_status at_end(csv *c, bool *ended) {
    bb_text *const t = c->text;
    for (;;) {
        bb_status status = look_ahead(c, 0);
        if (status) return status;
        *ended = t->at == t->end;
        if (*ended || (*t->at != '\n' && *t->at != '\r')) return BB_OK;
        t->line += *t->at == '\n';
        t->at++;
    }
}

/* Adds one name to the header; an unnamed column gets a name that no list can mean. */
static bb_status add_name(csv *c, const cell *from) {
    const size_t column = c->header.count;
    const char *text = from->text;
    size_t length = from->length, index;
    char unnamed[40], words[128], shown[BB_SHOWN_BYTES];
    while (!from->quoted && length && *text == ' ') text++, length--;
    while (!from->quoted && length && text[length - 1] == ' ') length--;
    if (column == MOST_COLUMNS) {
        snprintf(words, sizeof words,
                 "more than %d columns; LIBSVM files can have more features",
                 MOST_COLUMNS);
        return bad(c, from->line, column, words);
    }
    if (!bb_is_utf8(text, length))
        return bad(c, from->line, column, "the column's name is not UTF-8");
    if (length == 0 && !c->options->features)
        return bad(c, from->line, column,
                   "the column has no name; name it, or choose columns by --features");
    if (length == 0) {
        length = (size_t)snprintf(unnamed, sizeof unnamed, "(column %zu, unnamed)",
                                  column + 1);
        text = unnamed;
    }
    bb_status status = bb_names_add(&c->header, text, length, &index);
    if (status || c->header.count > column) return status;
    snprintf(words, sizeof words, "the name %s is that of column %zu already",
             bb_shown(shown, text, length), index + 1);
    return bad(c, from->line, column, words);
}

static bb_status read_header(csv *c) {
    static const char bom[] = "\xef\xbb\xbf";
    bb_text *const t = c->text;
    if (strncmp(t->at, bom, 3) == 0) t->at += 3;
    if (strncmp(t->at, "\xff\xfe", 2) == 0 || strncmp(t->at, "\xfe\xff", 2) == 0)
        return bb_fail(BB_EDATA, "%s: the file is UTF-16; save it as UTF-8", t->path);
    bool ended;
    bb_status status = at_end(c, &ended);
    if (status) return status;
    if (ended) return bb_fail(BB_EDATA, "%s: the file is empty", t->path);
    cell name = {0};
    do {
        status = take_cell(c, c->header.count, &name);
        if (!status) status = add_name(c, &name);
        if (status) return status;
    } while (name.end == END_CELL);
    if (c->header.count == 1 && strpbrk(bb_names_at(&c->header, 0), ";\t"))
        return bad(c, name.line, 0,
                   "one column only; columns must be separated by commas");
    return bb_columns_open(&c->columns, t->path, &c->header, c->options);
}

/* Remembers a text in the first row: its column is no feature, and so are others. */
static void note_text(csv *c, const cell *from, size_t column) {
    const char *const name = bb_names_at(&c->header, column);
    const size_t used = strlen(c->advice);
    if (used == 0) {
        c->text_cell = *from;
        c->text_column = column;
        bb_shown(c->shown, from->text, from->length);
    }
    snprintf(c->advice + used, sizeof c->advice - used, "%s%s", used ? "," : "", name);
}

static bb_status fail_text(const csv *c) {
    char where[BB_WHERE_BYTES];
    return bb_fail(
        BB_EDATA,
        "%s: expected a number, found %s; text cannot be a feature, leave it "
        "out: --ignore %s",
        place(c, c->text_cell.line, c->text_column, where), c->shown, c->advice);
}

/* A cell that is no plain number: quoted, missing, or wrong. */
static bb_status take_number(csv *c, size_t column, double *value, ending *end) {
    cell from;
    bb_status status = take_cell(c, column, &from);
    if (status) return status;
    *end = from.end;
    const bb_cell kind = bb_scan_cell(from.text, from.length, value);
    if (kind == BB_CELL_NUMBER) return BB_OK;
    const bool feature = c->columns.role[column] == BB_ROLE_FEATURE;
    const bool kept =
        c->options->keep_missing || (!feature && c->options->target_missing);
    if (kind == BB_CELL_MISSING && kept) return BB_OK;
    if (kind == BB_CELL_TEXT && feature && c->builder.rows == 0) {
        note_text(c, &from, column);
        return BB_OK;
    }
    char where[BB_WHERE_BYTES], shown[BB_SHOWN_BYTES];
    bb_shown(shown, from.text, from.length);
    place(c, from.line, column, where);
    if (kind == BB_CELL_MISSING && from.length == 0)
        return bb_fail(BB_EDATA, "%s: expected a number, found an empty cell", where);
    if (kind == BB_CELL_MISSING)
        return bb_fail(BB_EDATA, "%s: expected a number, found a missing value (%s)",
                       where, shown);
    return bb_fail(BB_EDATA, "%s: expected a %snumber, found %s", where,
                   kind == BB_CELL_INFINITE ? "finite " : "", shown);
}

/* The common case: a short decimal number and a comma or line feed. */
static inline bool take_fast(bb_text *t, double *value, ending *end) {
    const char *p = t->at;
    if (!bb_scan_number(&p, value) || (*p != ',' && *p != '\n')) return false;
    *end = *p == ',' ? END_CELL : END_ROW;
    t->line += *p == '\n';
    t->at += p + 1 - t->at;
    return true;
}

static bb_status take_task(csv *c, size_t column, size_t *task, ending *end) {
    cell from;
    bb_status status = take_cell(c, column, &from);
    if (status) return status;
    *end = from.end;
    while (from.length && *from.text == ' ') from.text++, from.length--;
    while (from.length && from.text[from.length - 1] == ' ') from.length--;
    if (from.length == 0)
        return bad(c, from.line, column, "expected a task's name, found an empty cell");
    if (!bb_is_utf8(from.text, from.length))
        return bad(c, from.line, column, "the task's name is not UTF-8");
    return bb_builder_task(&c->builder, from.text, from.length, task);
}

static bb_status take_labels(csv *c, size_t column, ending *end) {
    cell from;
    char words[BB_LABELS_BYTES];
    bb_status status = take_cell(c, column, &from);
    if (!status)
        status =
            bb_labels_take(&c->builder, c->options, from.text, from.length, ';', words);
    if (status) return status;
    *end = from.end;
    return *words ? bad(c, from.line, column, words) : BB_OK;
}

static bb_status take_ignored(csv *c, size_t column, ending *end) {
    cell from;
    bb_status status = take_cell(c, column, &from);
    if (!status) *end = from.end;
    return status;
}

/* A row with too few or, counted to its end, too many cells. */
static bb_status fail_ragged(csv *c, size_t line, size_t found, ending end) {
    while (end == END_CELL) {
        bb_status status = take_ignored(c, found++, &end);
        if (status) return status;
    }
    const size_t count = c->columns.count;
    return bb_fail(BB_EDATA, "%s:%zu:%zu: expected %zu columns, found %zu",
                   c->text->path, line, (found < count ? found : count) + 1, count,
                   found);
}

static bb_status read_row(csv *c) {
    const bb_columns *const columns = &c->columns;
    const size_t line = c->text->line;
    double *x, y = NAN;
    size_t task = 0, column = 0;
    ending end = END_CELL;
    bb_status status = bb_builder_row(&c->builder, &x);
    for (; !status && end == END_CELL && column < columns->count; column++) {
        const unsigned char role = columns->role[column];
        if (role == BB_ROLE_TASK) {
            status = take_task(c, column, &task, &end);
        } else if (role == BB_ROLE_TARGET && c->builder.multilabel) {
            status = take_labels(c, column, &end);
        } else if (role == BB_ROLE_IGNORED) {
            status = take_ignored(c, column, &end);
        } else {
            double *const value = role == BB_ROLE_TARGET ? &y : x++;
            if (!take_fast(c->text, value, &end))
                status = take_number(c, column, value, &end);
        }
    }
    if (status) return status;
    if (column < columns->count || end == END_CELL)
        return fail_ragged(c, line, column, end);
    if (*c->advice) return fail_text(c);
    return bb_builder_commit(&c->builder, task, y, line);
}

/* Moves the rows and names into a data set. */
static bb_status finish(csv *c, bb_dataset *out) {
    bb_dataset data = {0};
    bb_status status = bb_labels_finish(&c->builder, c->options, c->text->path, &data);
    if (status) return status;
    status = bb_duplicate(&data.source, c->text->path, strlen(c->text->path));
    data.has_lines = true;
    if (!status && c->columns.target != SIZE_MAX) {
        const char *const name = bb_names_at(&c->header, c->columns.target);
        status = bb_duplicate(&data.target_name, name, strlen(name));
        data.target_column = (uint32_t)c->columns.target + 1;
    }
    if (status) {
        bb_dataset_free(&data);
        return status;
    }
    data.feature_name = c->columns.feature_name;
    c->columns.feature_name = NULL;
    *out = data;
    return BB_OK;
}

bb_status bb_read_csv(bb_text *text, const bb_read_options *options, bb_dataset *out) {
    csv c = {.text = text, .options = options};
    bool ended = false;
    bb_status status = read_header(&c);
    c.builder.features = c.columns.features;
    c.builder.multilabel = options->multilabel && c.columns.target != SIZE_MAX;
    while (!status && !ended) {
        status = at_end(&c, &ended);
        if (!status && !ended) status = read_row(&c);
    }
    if (!status && c.builder.rows == 0)
        status = bb_fail(BB_EDATA, "%s: no row follows the header", text->path);
    if (!status) status = finish(&c, out);
    bb_builder_free(&c.builder);
    bb_columns_close(&c.columns);
    bb_names_free(&c.header);
    free(c.unquoted);
    return status;
}
