/* csv.c - comma-separated values with a header line (RFC 4180, any line ends). */
#include "base/memory.h"
#include "data/columns.h"
#include "data/csv_cells.h"
#include "data/encode.h"
#include "data/labels.h"
#include "data/readers.h"
#include "data/scan.h"
#include "data/slice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 100000 };

typedef struct csv {
    bb_text *text;
    const bb_read_options *options;
    bb_csv_cells cells;
    bb_names header;
    bb_columns columns;
    bb_encoding encoding;
    bb_builder builder;
    char advice[256];      /* text columns of the first row, "city,name" */
    bb_csv_cell text_cell; /* the first of them; its text is in `shown` */
    size_t text_column;
    char shown[BB_SHOWN_BYTES];
    size_t dropped; /* rows with a missing value, left out */
    bool later;     /* a slice behind the file's first row */
} csv;

/* One row while it is read. */
typedef struct row {
    double *x;    /* all its features */
    bool dropped; /* a value is missing, and such rows are left out */
} row;

/* Leaves out spaces at both ends. */
static void trim(bb_csv_cell *c) {
    while (c->length && *c->text == ' ') c->text++, c->length--;
    while (c->length && c->text[c->length - 1] == ' ') c->length--;
}

/* Adds one name to the header; an unnamed column gets a name that no list can mean. */
static bb_status add_name(csv *c, const bb_csv_cell *from) {
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
        return bb_csv_bad(&c->cells, from->line, column, words);
    }
    if (!bb_is_utf8(text, length))
        return bb_csv_bad(&c->cells, from->line, column,
                          "the column's name is not UTF-8");
    if (length == 0 && !c->options->features)
        return bb_csv_bad(
            &c->cells, from->line, column,
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
    return bb_csv_bad(&c->cells, from->line, column, words);
}

static bb_status read_header(csv *c) {
    static const char bom[] = "\xef\xbb\xbf";
    bb_text *const t = c->text;
    if (strncmp(t->at, bom, 3) == 0) t->at += 3;
    if (strncmp(t->at, "\xff\xfe", 2) == 0 || strncmp(t->at, "\xfe\xff", 2) == 0)
        return bb_fail(BB_EDATA, "%s: the file is UTF-16; save it as UTF-8", t->path);
    bool ended;
    bb_status status = bb_csv_at_end(&c->cells, &ended);
    if (status) return status;
    if (ended) return bb_fail(BB_EDATA, "%s: the file is empty", t->path);
    bb_csv_cell name = {0};
    do {
        status = bb_csv_cell_take(&c->cells, c->header.count, &name);
        if (!status) status = add_name(c, &name);
        if (status) return status;
    } while (name.end == BB_CSV_END_CELL);
    if (c->header.count == 1 && !c->options->separator &&
        strpbrk(bb_names_at(&c->header, 0), ";\t"))
        return bb_csv_bad(
            &c->cells, name.line, 0,
            "one column only; columns are separated by commas, or as --separator says");
    status = bb_columns_open(&c->columns, t->path, &c->header, c->options);
    if (status) return status;
    return bb_encoding_open(&c->encoding, t->path, &c->header, c->options, &c->columns);
}

/* Remembers a text in the first row: its column is no feature, and so are others. */
static void note_text(csv *c, const bb_csv_cell *from, size_t column) {
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
        bb_csv_place(&c->cells, c->text_cell.line, c->text_column, where), c->shown,
        c->advice);
}

static bb_status fail_missing(const csv *c, const bb_csv_cell *from, size_t column) {
    char where[BB_WHERE_BYTES], shown[BB_SHOWN_BYTES];
    const char *const kind =
        bb_encoding_category(&c->encoding, column) ? "level" : "number";
    bb_csv_place(&c->cells, from->line, column, where);
    if (from->length == 0)
        return bb_fail(BB_EDATA, "%s: expected a %s, found an empty cell", where, kind);
    return bb_fail(BB_EDATA, "%s: expected a %s, found a missing value (%s)", where,
                   kind, bb_shown(shown, from->text, from->length));
}

/* A cell that is no plain number: quoted, missing, or wrong. */
static bb_status take_number(csv *c, size_t column, row *r, double *value,
                             bb_csv_end *end) {
    bb_csv_cell from;
    bb_status status = bb_csv_cell_take(&c->cells, column, &from);
    if (status) return status;
    *end = from.end;
    const bb_cell kind = bb_scan_cell(from.text, from.length, value);
    if (kind == BB_CELL_NUMBER) return BB_OK;
    const bool feature = c->columns.role[column] == BB_ROLE_FEATURE;
    const bool kept =
        c->options->keep_missing || (!feature && c->options->target_missing);
    if (kind == BB_CELL_MISSING && bb_encoding_missing(&c->encoding, column, r->x)) {
        *value = 0; /* a constant that the indicator goes with */
        return BB_OK;
    }
    if (kind == BB_CELL_MISSING && c->encoding.drop &&
        (feature || !c->options->target_missing)) {
        r->dropped = true;
        return BB_OK;
    }
    if (kind == BB_CELL_MISSING && kept) return BB_OK;
    if (kind == BB_CELL_MISSING) return fail_missing(c, &from, column);
    if (kind == BB_CELL_TEXT && feature && c->builder.rows == 0 && !c->later) {
        note_text(c, &from, column);
        return BB_OK;
    }
    char where[BB_WHERE_BYTES], shown[BB_SHOWN_BYTES];
    bb_shown(shown, from.text, from.length);
    bb_csv_place(&c->cells, from.line, column, where);
    return bb_fail(BB_EDATA, "%s: expected a %snumber, found %s", where,
                   kind == BB_CELL_INFINITE ? "finite " : "", shown);
}

/* A level of a column of texts: a 1 among zeros, or zeros alone. */
static bb_status take_level(csv *c, size_t column, row *r, bb_csv_end *end) {
    bb_csv_cell from;
    double number;
    bb_status status = bb_csv_cell_take(&c->cells, column, &from);
    if (status) return status;
    *end = from.end;
    trim(&from);
    if (bb_encoding_level(&c->encoding, column, from.text, from.length, r->x))
        return BB_OK;
    if (bb_scan_cell(from.text, from.length, &number) != BB_CELL_MISSING ||
        bb_encoding_missing(&c->encoding, column, r->x))
        return BB_OK;
    if (!c->encoding.drop) return fail_missing(c, &from, column);
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

static bb_status take_task(csv *c, size_t column, size_t *task, bb_csv_end *end) {
    bb_csv_cell from;
    bb_status status = bb_csv_cell_take(&c->cells, column, &from);
    if (status) return status;
    *end = from.end;
    trim(&from);
    if (from.length == 0)
        return bb_csv_bad(&c->cells, from.line, column,
                          "expected a task's name, found an empty cell");
    if (!bb_is_utf8(from.text, from.length))
        return bb_csv_bad(&c->cells, from.line, column, "the task's name is not UTF-8");
    return bb_builder_task(&c->builder, from.text, from.length, task);
}

static bb_status take_labels(csv *c, size_t column, bb_csv_end *end) {
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

static bb_status take_ignored(csv *c, size_t column, bb_csv_end *end) {
    bb_csv_cell from;
    bb_status status = bb_csv_cell_take(&c->cells, column, &from);
    if (!status) *end = from.end;
    return status;
}

/* A row with too few or, counted to its end, too many cells. */
static bb_status fail_ragged(csv *c, size_t line, size_t found, bb_csv_end end) {
    while (end == BB_CSV_END_CELL) {
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
    const char separator = c->cells.separator;
    row r = {0};
    double *x, y = NAN;
    size_t task = 0, column = 0;
    bb_csv_end end = BB_CSV_END_CELL;
    bb_status status = bb_builder_row(&c->builder, &r.x);
    if (!status) bb_encoding_begin(&c->encoding, columns, r.x);
    x = r.x;
    for (; !status && end == BB_CSV_END_CELL && column < columns->count; column++) {
        const unsigned char role = columns->role[column];
        if (role == BB_ROLE_TASK) {
            status = take_task(c, column, &task, &end);
        } else if (role == BB_ROLE_TARGET && c->builder.multilabel) {
            status = take_labels(c, column, &end);
        } else if (role == BB_ROLE_IGNORED) {
            status = take_ignored(c, column, &end);
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
    if (*c->advice) return fail_text(c);
    if (!r.dropped) return bb_builder_commit(&c->builder, task, y, line);
    c->dropped++;
    bb_builder_drop(&c->builder);
    return BB_OK;
}

/* Moves the rows and names into a data set. */
static bb_status finish(csv *c, bb_dataset *out) {
    bb_dataset data = {0};
    bb_status status = bb_labels_finish(&c->builder, c->options, c->text->path, &data);
    if (status) return status;
    status = bb_duplicate(&data.source, c->text->path, strlen(c->text->path));
    data.has_lines = true;
    data.dropped = c->dropped;
    data.binary = c->encoding.binary;
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

static bb_status go_to_slice(csv *c) {
    bb_slice *slice = c->options->slice;
    const bb_status status =
        bb_text_part(c->text, slice->from, slice->to, slice->line, &slice->first);
    c->later = !slice->first;
    return status;
}

/* What other parts have to know of this one. */
static void describe_slice(const csv *c, bb_status status) {
    bb_slice *slice = c->options->slice;
    slice->lines = c->text->line - (slice->first ? 1 : slice->line);
    slice->whole = c->cells.torn;
    slice->failed = status == BB_EDATA;
}

bb_status bb_read_csv(bb_text *text, const bb_read_options *options, bb_dataset *out) {
    csv c = {.text = text, .options = options};
    bool ended = false;
    c.cells = (bb_csv_cells){.text = text, .header = &c.header};
    bb_status status = bb_csv_separator(options->separator, &c.cells.separator);
    if (!status) status = read_header(&c);
    if (!status && options->slice) status = go_to_slice(&c);
    c.builder.features = c.columns.features;
    c.builder.multilabel = options->multilabel && c.columns.target != SIZE_MAX;
    while (!status && !ended) {
        status = bb_csv_at_end(&c.cells, &ended);
        if (!status && !ended) status = read_row(&c);
    }
    if (!status && c.builder.rows == 0 && !options->slice)
        status = bb_fail(BB_EDATA,
                         c.dropped ? "%s: every row has a missing value"
                                   : "%s: no row follows the header",
                         text->path);
    if (!status) status = finish(&c, out);
    if (options->slice) describe_slice(&c, status);
    bb_builder_free(&c.builder);
    bb_columns_close(&c.columns);
    bb_names_free(&c.header);
    bb_encoding_close(&c.encoding);
    bb_csv_cells_close(&c.cells);
    return status;
}
