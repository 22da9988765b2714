/* csv_cells.c - the cells of a table as text, RFC 4180 with any line ends. */
#include "data/csv_cells.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "data.csv:2:4" or, with the column's name, "data.csv:2:4 (column "city")". */
const char *bb_csv_place(const bb_csv_cells *c, size_t line, size_t column,
                         char text[BB_WHERE_BYTES]) {
    char shown[BB_SHOWN_BYTES];
    const int used =
        snprintf(text, BB_WHERE_BYTES, "%s:%zu:%zu", c->text->path, line, column + 1);
    if (column < c->header->count && used > 0 && used < BB_WHERE_BYTES) {
        const char *const name = bb_names_at(c->header, column);
        snprintf(text + used, (size_t)(BB_WHERE_BYTES - used), " (column %s)",
                 bb_shown(shown, name, strlen(name)));
    }
    return text;
}

bb_status bb_csv_bad(const bb_csv_cells *c, size_t line, size_t column,
                     const char *words) {
    char where[BB_WHERE_BYTES];
    return bb_fail(BB_EDATA, "%s: %s", bb_csv_place(c, line, column, where), words);
}

/* What a 0 at p means: the end of what was read, which then goes on, or an error. */
static bb_status go_on(bb_csv_cells *c, size_t column, const char *p) {
    if (p < c->text->end)
        return bb_csv_bad(c, c->text->line, column, "a zero byte: this is no text");
    return bb_text_more(c->text);
}

/* The length of a plain cell. */
static bb_status find_end(bb_csv_cells *c, size_t column, size_t *length) {
    *length = 0;
    for (;;) {
        const char *p = c->text->at + *length;
        while (*p != c->separator && *p != '\n' && *p != '\r' && *p != '\0') p++;
        *length = (size_t)(p - c->text->at);
        if (*length > BB_TEXT_TOKEN) return bb_text_endless(c->text);
        if (*p != '\0' || (p == c->text->end && c->text->ended)) return BB_OK;
        bb_status status = go_on(c, column, p);
        if (status) return status;
    }
}

/* Makes sure that at[length] and at[length + 1] were read, if they exist. */
static bb_status look_ahead(bb_csv_cells *c, size_t length) {
    while (!c->text->ended && (size_t)(c->text->end - c->text->at) < length + 2) {
        bb_status status = bb_text_more(c->text);
        if (status) return status;
    }
    return BB_OK;
}

/* What is wrong with a byte there. */
static const char *after_quote(char separator, char found) {
    if (separator != ',')
        return "expected the separator or the end of the line after the closing quote";
    if (found == ';')
        return "expected a comma or the end of the line after the closing "
               "quote; " BB_CSV_SEPARATED ": --separator ';'";
    if (found == '\t')
        return "expected a comma or the end of the line after the closing "
               "quote; " BB_CSV_SEPARATED ": --separator tab";
    return "expected a comma or the end of the line after the closing quote";
}

/* What at[length] ends; moves `at` behind it. */
static bb_status finish_cell(bb_csv_cells *c, size_t column, size_t length,
                             bb_csv_cell *out) {
    bb_text *const t = c->text;
    const char *const p = t->at + length;
    size_t consumed = length + 1;
    if (p == t->end) {
        out->end = BB_CSV_END_FILE;
        consumed = length;
    } else if (*p == c->separator) {
        out->end = BB_CSV_END_CELL;
    } else if (*p == '\n' || *p == '\r') {
        out->end = BB_CSV_END_ROW;
        consumed += *p == '\r' && p[1] == '\n';
        t->line++;
    } else {
        return bb_csv_bad(c, t->line, column, after_quote(c->separator, *p));
    }
    t->at += consumed;
    return BB_OK;
}

/* Copies what is in quotes up to the next quote, or the end of what was read. */
static bb_status copy_quoted(bb_csv_cells *c, size_t *used) {
    bb_text *const t = c->text;
    const size_t line = t->line;
    char *p = t->at;
    while (*p != '"' && *p != '\0') t->line += *p++ == '\n';
    c->torn = c->torn || t->line != line;
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
static bb_status take_quoted(bb_csv_cells *c, size_t column, bb_csv_cell *out) {
    bb_text *const t = c->text;
    size_t used = 0;
    out->quoted = true;
    t->at++;
    for (;;) {
        bb_status status = copy_quoted(c, &used);
        if (!status) status = look_ahead(c, 0);
        if (status) return status;
        if (used > BB_TEXT_TOKEN || (t->at == t->end && t->ended))
            return bb_csv_bad(c, out->line, column,
                              "the quote that opens here never ends");
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

bb_status bb_csv_cell_take(bb_csv_cells *c, size_t column, bb_csv_cell *out) {
    *out = (bb_csv_cell){.line = c->text->line};
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
bb_status bb_csv_at_end(bb_csv_cells *c, bool *ended) {
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

void bb_csv_cells_close(bb_csv_cells *c) {
    free(c->unquoted);
    *c = (bb_csv_cells){0};
}
