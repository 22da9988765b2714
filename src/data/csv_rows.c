#include "data/csv_rows.h"

#include "base/memory.h"
#include "data/labels.h"
#include "data/scan.h"

#include <stdio.h>
#include <string.h>

/* One row while it is read. */
typedef struct row {
    double *x;    /* all its features */
    bool dropped; /* a value is missing, and such rows are left out */
} row;

/* Remembers a text in the first row: its column is no feature, and so are others. */
static bb_status note_text(bb_csv *c, const bb_csv_cell *from, size_t column) {
    if (!c->advice) {
        c->text_cell = *from;
        c->text_column = column;
        bb_shown(c->shown, from->text, from->length);
    }
    return bb_names_append(&c->advice, bb_names_at(c->header, column));
}

static bb_status fail_text(const bb_csv *c) {
    char where[BB_WHERE_BYTES];
    const char *quote = bb_is_word(c->advice) ? "" : "'"; /* for the shell */
    return bb_fail(
        BB_EDATA, "%s: expected a number, found %s; %s: --ignore %s%s%s",
        bb_csv_place(&c->cells, c->text_cell.line, c->text_column, where), c->shown,
        c->options->for_run
            ? "the run was trained without levels of such texts; columns that it did "
              "not "
              "learn from are left out"
            : "texts want levels that are public: --categories FILE, which `billboard "
              "info' drafts, or are left out",
        quote, c->advice, quote);
}

static bb_status fail_missing(const bb_csv *c, const bb_csv_cell *from, size_t column) {
    char where[BB_WHERE_BYTES], shown[BB_SHOWN_BYTES], found[BB_SHOWN_BYTES + 24];
    const bool target = c->columns->role[column] == BB_ROLE_TARGET;
    const char *kind = bb_encoding_category(c->encoding, column) ? "level" : "number";
    if (target && c->encoding->classes.name.count) kind = "class";
    if (from->length == 0)
        snprintf(found, sizeof found, "an empty cell");
    else
        snprintf(found, sizeof found, "a missing value (%s)",
                 bb_shown(shown, from->text, from->length));
    return bb_fail(BB_EDATA, "%s: expected a %s, found %s; %s",
                   bb_csv_place(&c->cells, from->line, column, where), kind, found,
                   c->options->for_run ? "the run was trained without a rule for it "
                                         "(train --missing), so that such "
                                         "rows have to be left out of the file"
                                       : "--missing drop-rows leaves its row out");
}

/* A missing target: none, a row that is left out, or an error. */
static bb_status take_no_target(const bb_csv *c, const bb_csv_cell *from, size_t column,
                                row *r) {
    const bool leave_out = c->encoding->drop || c->encoding->indicator;
    if (leave_out && !c->options->target_missing) {
        r->dropped = true;
        return BB_OK;
    }
    if (c->options->keep_missing || c->options->target_missing) return BB_OK;
    return fail_missing(c, from, column);
}

/* What to do about a cell that is none; first: of the first row, so that others may be alike. */
static const char *remedy(const bb_csv *c, const bb_csv_cell *cell, bool first) {
    if (bb_scan_comma(cell->text, cell->length))
        return "; numbers are read with decimal points, and without other commas";
    if (!first || c->options->for_run) return "";
    if (bb_scan_date(cell->text, cell->length))
        return "; of dates make numbers before, of days, say";
    return "; texts of the target are classes, whose names are public: --categories "
           "FILE, which `billboard info' drafts where they are few";
}

/* A cell that is no plain number: quoted, missing, or wrong. */
static bb_status take_number(bb_csv *c, size_t column, row *r, double *value,
                             bb_csv_end *end) {
    bb_csv_cell from;
    bb_status status = bb_csv_cell_take(&c->cells, column, &from);
    if (status) return status;
    *end = from.end;
    const bb_cell kind = bb_scan_cell(from.text, from.length, value);
    if (kind == BB_CELL_MISSING)
        c->spelt |= 1U << bb_scan_missing(from.text, from.length);
    if (kind == BB_CELL_NUMBER ||
        (kind == BB_CELL_TEXT && bb_scan_truth(from.text, from.length, value)))
        return BB_OK;
    const bool feature = c->columns->role[column] == BB_ROLE_FEATURE;
    if (kind == BB_CELL_MISSING && !feature) return take_no_target(c, &from, column, r);
    if (kind == BB_CELL_MISSING && bb_encoding_missing(c->encoding, column, r->x)) {
        *value = 0; /* a constant that the indicator goes with */
        return BB_OK;
    }
    if (kind == BB_CELL_MISSING && c->encoding->drop) {
        r->dropped = true;
        return BB_OK;
    }
    if (kind == BB_CELL_MISSING && c->options->keep_missing) return BB_OK;
    if (kind == BB_CELL_MISSING) return fail_missing(c, &from, column);
    const bool first = c->builder.rows == 0 && !c->later;
    if (kind == BB_CELL_TEXT && feature && first &&
        !bb_scan_comma(from.text, from.length))
        return note_text(c, &from, column);
    char where[BB_WHERE_BYTES], shown[BB_SHOWN_BYTES];
    bb_shown(shown, from.text, from.length);
    bb_csv_place(&c->cells, from.line, column, where);
    return bb_fail(BB_EDATA, "%s: expected a %snumber, found %s%s", where,
                   kind == BB_CELL_INFINITE ? "finite " : "", shown,
                   kind == BB_CELL_TEXT ? remedy(c, &from, first) : "");
}

/* Among texts `none' is one of them. */
static bool is_missing_text(bb_csv *c, const bb_csv_cell *from) {
    const size_t spelling = bb_scan_missing(from->text, from->length);
    if (spelling == BB_SCAN_SPELLINGS || spelling == BB_SCAN_NONE) return false;
    c->spelt |= 1U << spelling;
    return true;
}

/* One of the classes' names. */
static bb_status take_class(bb_csv *c, size_t column, row *r, double *y,
                            bb_csv_end *end) {
    bb_csv_cell from;
    char words[BB_SHOWN_BYTES + 80], shown[BB_SHOWN_BYTES];
    bb_status status = bb_csv_cell_take(&c->cells, column, &from);
    if (status) return status;
    *end = from.end;
    bb_trim(&from.text, &from.length);
    const size_t class = bb_levels_find(&c->encoding->classes, from.text, from.length);
    if (class != SIZE_MAX) {
        *y = (double)class;
        return BB_OK;
    }
    if (is_missing_text(c, &from)) return take_no_target(c, &from, column, r);
    snprintf(words, sizeof words, "expected a class that %s, found %s",
             c->options->for_run ? "the run knows" : "--categories names",
             bb_shown(shown, from.text, from.length));
    return bb_csv_bad(&c->cells, from.line, column, words);
}

bb_status bb_csv_open_texts(bb_csv *c) {
    return bb_allocate(&c->texts, c->encoding->categories, sizeof *c->texts,
                       "the levels");
}

/* unknown: what is no level of it, or NULL. */
static void count_text(const bb_csv *c, size_t column, const bb_csv_cell *unknown) {
    const bb_category *category = bb_encoding_category(c->encoding, column);
    bb_text_count *count = &c->texts[category - c->encoding->category];
    count->texts++;
    if (!unknown) return;
    const bb_text_count one = {.unknown = 1,
                               .other = bb_names_hash(unknown->text, unknown->length)};
    bb_text_counts_add(1, count, &one);
}

/* A level of a column of texts: a 1 among zeros, or zeros alone. */
static bb_status take_level(bb_csv *c, size_t column, row *r, bb_csv_end *end) {
    bb_csv_cell from;
    bb_status status = bb_csv_cell_take(&c->cells, column, &from);
    if (status) return status;
    *end = from.end;
    bb_trim(&from.text, &from.length);
    const bool known =
        bb_encoding_level(c->encoding, column, from.text, from.length, r->x);
    if (known || !is_missing_text(c, &from)) {
        count_text(c, column, known ? NULL : &from);
        return BB_OK;
    }
    if (bb_encoding_missing(c->encoding, column, r->x)) return BB_OK;
    if (c->options->keep_missing && !c->encoding->drop) {
        r->x[bb_encoding_category(c->encoding, column)->first] = NAN;
        return BB_OK;
    }
    if (!c->encoding->drop) return fail_missing(c, &from, column);
    r->dropped = true;
    return BB_OK;
}

/* The common case: a short decimal number and a separator or line feed. */
static inline bool take_fast(bb_text *t, char separator, double *value,
                             bb_csv_end *end) {
    const char *p = t->at;
    if (!bb_scan_number(&p, value) || (*p != separator && *p != '\n')) return false;
    *end = *p == separator ? BB_CSV_END_CELL : BB_CSV_END_ROW;
    t->line += *p == '\n';
    t->at += p + 1 - t->at;
    return true;
}

static bb_status take_task(bb_csv *c, size_t column, size_t *task, bb_csv_end *end) {
    bb_csv_cell from;
    bb_status status = bb_csv_cell_take(&c->cells, column, &from);
    if (status) return status;
    *end = from.end;
    bb_trim(&from.text, &from.length);
    if (from.length == 0)
        return bb_csv_bad(&c->cells, from.line, column,
                          "expected a task's name, found an empty cell: a row belongs "
                          "to a task, so give it a name, or take the line out");
    if (!bb_is_utf8(from.text, from.length))
        return bb_csv_bad(&c->cells, from.line, column, "the task's name is not UTF-8");
    return bb_builder_task(&c->builder, from.text, from.length, task);
}

static bb_status take_labels(bb_csv *c, size_t column, bb_csv_end *end) {
    bb_csv_cell from;
    char words[BB_LABELS_BYTES];
    bb_status status = bb_csv_cell_take(&c->cells, column, &from);
    if (!status)
        status =
            bb_labels_take(&c->builder, c->options, from.text, from.length, ';', words);
    if (status) return status;
    *end = from.end;
    return *words ? bb_csv_bad(&c->cells, from.line, column, words) : BB_OK;
}

static bb_status take_ignored(bb_csv *c, size_t column, bb_csv_end *end) {
    bb_csv_cell from;
    bb_status status = bb_csv_cell_take(&c->cells, column, &from);
    if (!status) *end = from.end;
    return status;
}

/* A row with too few or, counted to its end, too many cells. */
static bb_status fail_ragged(bb_csv *c, size_t line, size_t found, bb_csv_end end) {
    while (end == BB_CSV_END_CELL) {
        bb_status status = take_ignored(c, found++, &end);
        if (status) return status;
    }
    const size_t count = c->columns->count;
    return bb_fail(BB_EDATA, "%s:%zu:%zu: expected %zu columns, found %zu",
                   c->text->path, line, (found < count ? found : count) + 1, count,
                   found);
}

bb_status bb_csv_row(bb_csv *c) {
    const bb_columns *const columns = c->columns;
    const size_t line = c->text->line;
    const char separator = c->cells.separator;
    row r = {0};
    double *x, y = NAN;
    size_t task = 0, column = 0;
    bb_csv_end end = BB_CSV_END_CELL;
    bb_status status = bb_builder_row(&c->builder, &r.x);
    if (!status) bb_encoding_begin(c->encoding, columns, r.x);
    x = r.x;
    for (; !status && end == BB_CSV_END_CELL && column < columns->count; column++) {
        const unsigned char role = columns->role[column];
        if (role == BB_ROLE_TASK) {
            status = take_task(c, column, &task, &end);
        } else if (role == BB_ROLE_TARGET && c->builder.multilabel) {
            status = take_labels(c, column, &end);
        } else if (role == BB_ROLE_IGNORED) {
            status = take_ignored(c, column, &end);
        } else if (role == BB_ROLE_TARGET && c->encoding->classes.name.count) {
            status = take_class(c, column, &r, &y, &end);
        } else if (role == BB_ROLE_LEVELS) {
            status = take_level(c, column, &r, &end);
        } else {
            double *const value = role == BB_ROLE_TARGET ? &y : x++;
            if (!take_fast(c->text, separator, value, &end))
                status = take_number(c, column, &r, value, &end);
        }
    }
    if (status) return status;
    if (column < columns->count || end == BB_CSV_END_CELL)
        return fail_ragged(c, line, column, end);
    if (c->advice) return fail_text(c);
    if (!r.dropped) return bb_builder_commit(&c->builder, task, y, line);
    c->dropped++;
    bb_builder_drop(&c->builder);
    return BB_OK;
}
