/* csv.c - comma-separated values with a header line (RFC 4180, any line ends). */
#include "base/memory.h"
#include "data/csv_rows.h"
#include "data/labels.h"
#include "data/readers.h"
#include "data/scan.h"
#include "data/slice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 100000 };

typedef struct csv {
    bb_names header;
    bb_columns columns;
    bb_encoding encoding;
    bb_csv rows;
    bool row_names; /* the first column has no name, and is left out */
} csv;

/* Adds one name to the header; an unnamed column gets a name that no list can mean. The
 * first may be one: R and pandas write rows' names there. */
static bb_status add_name(csv *c, const bb_csv_cell *from) {
    const size_t column = c->header.count;
    bb_csv_cell name = *from;
    if (!name.quoted) bb_trim(&name.text, &name.length);
    const char *text = name.text;
    size_t length = name.length, index;
    char unnamed[40], words[128], shown[BB_SHOWN_BYTES];
    if (column == MOST_COLUMNS) {
        snprintf(words, sizeof words,
                 "more than %d columns; LIBSVM files can have more features",
                 MOST_COLUMNS);
        return bb_csv_bad(&c->rows.cells, from->line, column, words);
    }
    if (!bb_is_utf8(text, length))
        return bb_csv_bad(&c->rows.cells, from->line, column,
                          "the column's name is not UTF-8");
    if (length == 0 && column > 0 && !c->rows.options->features)
        return bb_csv_bad(
            &c->rows.cells, from->line, column,
            "the column has no name; name it, or choose columns by --features");
    if (length == 0) {
        c->row_names = c->row_names || column == 0;
        length = (size_t)snprintf(unnamed, sizeof unnamed, "(column %zu, unnamed)",
                                  column + 1);
        text = unnamed;
    }
    bb_status status = bb_names_add(&c->header, text, length, &index);
    if (status || c->header.count > column) return status;
    snprintf(words, sizeof words, "the name %s is that of column %zu already",
             bb_shown(shown, text, length), index + 1);
    return bb_csv_bad(&c->rows.cells, from->line, column, words);
}

static bb_status read_header(csv *c) {
    static const char bom[] = "\xef\xbb\xbf";
    bb_text *const t = c->rows.text;
    if (strncmp(t->at, bom, 3) == 0) t->at += 3;
    if (strncmp(t->at, "\xff\xfe", 2) == 0 || strncmp(t->at, "\xfe\xff", 2) == 0)
        return bb_fail(BB_EDATA, "%s: the file is UTF-16; save it as UTF-8", t->path);
    bool ended;
    bb_status status = bb_csv_at_end(&c->rows.cells, &ended);
    if (status) return status;
    if (ended) return bb_fail(BB_EDATA, "%s: the file is empty", t->path);
    bb_csv_cell name = {0};
    do {
        status = bb_csv_cell_take(&c->rows.cells, c->header.count, &name);
        if (!status) status = add_name(c, &name);
        if (status) return status;
    } while (name.end == BB_CSV_END_CELL);
    const char *const other =
        c->header.count == 1 ? strpbrk(bb_names_at(&c->header, 0), ";\t,") : NULL;
    if (other && *other == ';')
        return bb_csv_bad(&c->rows.cells, name.line, 0,
                          "one column only; " BB_CSV_SEPARATED ": --separator ';'");
    if (other && *other == '\t')
        return bb_csv_bad(&c->rows.cells, name.line, 0,
                          "one column only; " BB_CSV_SEPARATED ": --separator tab");
    if (other && c->rows.cells.separator != ',')
        return bb_csv_bad(&c->rows.cells, name.line, 0,
                          "one column only; " BB_CSV_SEPARATED ": --separator ,");
    status = bb_columns_open(&c->columns, t->path, &c->header, c->row_names,
                             c->rows.options);
    if (status) return status;
    return bb_encoding_open(&c->encoding, t->path, &c->header, c->rows.options,
                            &c->columns);
}

static bb_status name_texts(csv *c, bb_text_counts *out) {
    const bb_encoding *e = &c->encoding;
    bb_names names = {0};
    bb_status status = BB_OK;
    for (size_t k = 0; k < e->categories && !status; k++) {
        const char *const name = bb_names_at(&c->header, e->category[k].column);
        size_t index;
        status = bb_names_add(&names, name, strlen(name), &index);
        c->rows.texts[k].levels = e->category[k].level.name.count;
    }
    if (!status) status = bb_names_list(&out->name, &names);
    bb_names_free(&names);
    if (status) return status;
    out->columns = e->categories;
    out->count = c->rows.texts;
    c->rows.texts = NULL;
    return BB_OK;
}

/* Moves the rows and names into a data set. */
static bb_status finish(csv *c, bb_dataset *out) {
    bb_dataset data = {0};
    bb_status status =
        bb_labels_finish(&c->rows.builder, c->rows.options, c->rows.text->path, &data);
    if (status) return status;
    status = bb_duplicate(&data.source, c->rows.text->path, strlen(c->rows.text->path));
    data.has_lines = true;
    data.dropped = c->rows.dropped;
    data.spelt = c->rows.spelt;
    data.binary = c->encoding.binary;
    if (!status && c->columns.target != SIZE_MAX) {
        const char *const name = bb_names_at(&c->header, c->columns.target);
        status = bb_duplicate(&data.target_name, name, strlen(name));
        data.target_column = (uint32_t)c->columns.target + 1;
    }
    if (!status && c->encoding.categories) status = name_texts(c, &data.texts);
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
    bb_slice *slice = c->rows.options->slice;
    const bb_status status =
        bb_text_part(c->rows.text, slice->from, slice->to, slice->line, &slice->first);
    c->rows.later = !slice->first;
    return status;
}

/* What other parts have to know of this one. */
static void describe_slice(const csv *c, bb_status status) {
    bb_slice *slice = c->rows.options->slice;
    slice->lines = c->rows.text->line - (slice->first ? 1 : slice->line);
    slice->whole = c->rows.cells.torn;
    slice->failed = status == BB_EDATA;
}

static bb_status open_csv(csv *c, bb_text *text, const bb_read_options *options) {
    *c = (csv){.rows = {.text = text, .options = options}};
    c->rows.cells = (bb_csv_cells){.text = text, .header = &c->header};
    c->rows.header = &c->header;
    c->rows.columns = &c->columns;
    c->rows.encoding = &c->encoding;
    const bb_status status =
        bb_csv_separator(options->separator, &c->rows.cells.separator);
    return status ? status : read_header(c);
}

static void close_csv(csv *c) {
    bb_builder_free(&c->rows.builder);
    free(c->rows.texts);
    free(c->rows.advice);
    bb_columns_close(&c->columns);
    bb_names_free(&c->header);
    bb_encoding_close(&c->encoding);
    bb_csv_cells_close(&c->rows.cells);
}

bb_status bb_read_csv(bb_text *text, const bb_read_options *options, bb_dataset *out) {
    csv c;
    bool ended = false;
    bb_status status = open_csv(&c, text, options);
    if (!status && options->slice) status = go_to_slice(&c);
    c.rows.builder.features = c.columns.features;
    c.rows.builder.multilabel = options->multilabel && c.columns.target != SIZE_MAX;
    if (!status) status = bb_csv_open_texts(&c.rows);
    if (!status) status = bb_csv_blocks(&c.rows, options->threads);
    while (!status && !ended) {
        status = bb_csv_at_end(&c.rows.cells, &ended);
        if (!status && !ended) status = bb_csv_row(&c.rows);
    }
    if (!status && c.rows.builder.rows == 0 && !options->slice)
        status = bb_fail(BB_EDATA,
                         c.rows.dropped ? "%s: every row has a missing value"
                                        : "%s: no row follows the header",
                         text->path);
    if (!status) status = finish(&c, out);
    if (options->slice) describe_slice(&c, status);
    close_csv(&c);
    return status;
}

/* -- columns of texts -- */

/* What a column of features, or the target, has said so far. */
typedef struct seen {
    size_t cells, texts, commas, dates; /* not missing; no numbers; of these */
    size_t line;                        /* of the first text, which is `first' */
    char first[BB_SHOWN_BYTES];
    bb_names level; /* its different cells, up to one more than MOST_LEVELS */
} seen;

/* What a column with texts is. */
typedef enum column_kind {
    KIND_TEXTS,
    KIND_NUMBERS,
    KIND_COMMAS,
    KIND_DATES
} column_kind;

enum { MOST_LEVELS = 50 };

static void see_text(seen *s, const bb_csv_cell *cell) {
    if (s->texts++ == 0) {
        s->line = cell->line;
        bb_shown(s->first, cell->text, cell->length);
    }
    s->commas += bb_scan_comma(cell->text, cell->length);
    s->dates += bb_scan_date(cell->text, cell->length);
}

static bb_status see(seen *s, bb_csv_cell *cell) {
    double number;
    size_t index;
    bb_trim(&cell->text, &cell->length);
    const bb_cell kind = bb_scan_cell(cell->text, cell->length, &number);
    const bool none = kind == BB_CELL_MISSING &&
                      bb_scan_missing(cell->text, cell->length) == BB_SCAN_NONE;
    if (kind == BB_CELL_MISSING && !none) return BB_OK;
    s->cells += !none; /* a level where others are texts; else missing */
    if (kind == BB_CELL_TEXT && !bb_scan_truth(cell->text, cell->length, &number))
        see_text(s, cell);
    if (s->level.count > MOST_LEVELS || !bb_is_utf8(cell->text, cell->length))
        return BB_OK;
    return bb_names_add(&s->level, cell->text, cell->length, &index);
}

static bb_status see_row(csv *c, seen *column) {
    bb_csv_cell cell = {0};
    for (size_t k = 0; k < c->columns.count; k++) {
        bb_status status = bb_csv_cell_take(&c->rows.cells, k, &cell);
        const unsigned char role = c->columns.role[k];
        if (!status && (role == BB_ROLE_FEATURE || role == BB_ROLE_TARGET))
            status = see(&column[k], &cell);
        if (status) return status;
        if ((cell.end == BB_CSV_END_CELL) != (k + 1 < c->columns.count))
            return bb_csv_bad(&c->rows.cells, cell.line, k,
                              "the row has another number of columns than the header");
    }
    return BB_OK;
}

/* Nearly all cells say so. */
static column_kind kind_of(const seen *s) {
    const size_t numbers = s->cells - s->texts;
    const struct {
        size_t cells;
        column_kind is;
    } way[] = {{numbers, KIND_NUMBERS},
               {s->commas ? numbers + s->commas : 0, KIND_COMMAS},
               {s->dates, KIND_DATES}};
    for (size_t k = 0; k < sizeof way / sizeof *way; k++)
        if (way[k].cells && 20 * way[k].cells >= 19 * s->cells) return way[k].is;
    return KIND_TEXTS;
}

/* What is to be said of such a column; NULL: no memory. */
static json_t *say_kind(column_kind is, const seen *s, const char *name) {
    char shown[BB_SHOWN_BYTES];
    bb_shown(shown, name, strlen(name));
    if (is == KIND_NUMBERS)
        return json_sprintf("column %s: %zu of %zu cells %s not a number: line %zu, "
                            "%s; left out until %s mended",
                            shown, s->texts, s->cells, s->texts == 1 ? "is" : "are",
                            s->line, s->first, s->texts == 1 ? "it is" : "they are");
    if (is == KIND_COMMAS)
        return json_sprintf(
            "column %s: numbers with commas, decimal or of thousands: line %zu, %s; "
            "no option reads them: left out until the file has decimal points alone",
            shown, s->line, s->first);
    return json_sprintf(
        "column %s: dates: line %zu, %s; left out, but a number of days, say, "
        "can be made of them",
        shown, s->line, s->first);
}

static int by_name(const void *a, const void *b) {
    return bb_names_compare(*(char *const *)a, *(char *const *)b);
}

/* Levels are wanted of features, and of a target, whose classes they are, if it has few. */
static bool wants_levels(const csv *c, size_t column, const seen *s) {
    if (c->columns.role[column] != BB_ROLE_TARGET) return s->texts;
    return s->texts && s->level.count <= MOST_LEVELS && !c->rows.options->multilabel &&
           kind_of(s) == KIND_TEXTS;
}

/* The levels in order, null if there are too many; NULL: no memory. */
static json_t *levels_json(const bb_names *level) {
    if (level->count > MOST_LEVELS) return json_null();
    char **name = NULL;
    json_t *list = json_array();
    if (bb_names_list(&name, level)) {
        json_decref(list);
        return NULL;
    }
    qsort(name, level->count, sizeof *name, by_name);
    for (size_t k = 0; k < level->count; k++)
        if (json_array_append_new(list, json_string(name[k]))) {
            json_decref(list);
            list = NULL;
        }
    free(name);
    return list;
}

/* As bb_read_texts says; NULL: no memory. */
static json_t *text_json(const seen *s, const char *name) {
    const column_kind is = kind_of(s);
    if (is == KIND_TEXTS) return levels_json(&s->level);
    return json_pack("{s:o}", "note", say_kind(is, s, name));
}

bb_status bb_csv_texts(bb_text *text, const bb_read_options *options, json_t **out) {
    csv c;
    seen *column = NULL;
    json_t *all = json_object();
    bool ended = false;
    bb_status status = open_csv(&c, text, options);
    const size_t count = status ? 0 : c.columns.count;
    if (!status) status = bb_allocate(&column, count, sizeof *column, "the columns");
    while (!status && !ended) {
        status = bb_csv_at_end(&c.rows.cells, &ended);
        if (!status && !ended) status = see_row(&c, column);
    }
    for (size_t k = 0; column && k < count; k++) {
        if (!status && wants_levels(&c, k, &column[k]) &&
            json_object_set_new(all, bb_names_at(&c.header, k),
                                text_json(&column[k], bb_names_at(&c.header, k))))
            status = bb_fail(BB_ENOMEM, "no memory for the levels of texts");
        bb_names_free(&column[k].level);
    }
    free(column);
    close_csv(&c);
    if (status)
        json_decref(all);
    else
        *out = all;
    return status;
}
