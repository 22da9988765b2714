/* libsvm.c - "target qid:TASK index:value ...", one row a line, '#' begins a comment;
 * indices from 1 and ascending, zeros left out. With lists of labels the target is
 * "3,17,25", or missing. */
#include "base/memory.h"
#include "base/number.h"
#include "data/labels.h"
#include "data/readers.h"
#include "data/scan.h"

#include <stdio.h>
#include <string.h>

enum { MOST_FEATURES = 1 << 24 };

typedef struct libsvm {
    bb_text *text;
    const bb_read_options *options;
    bb_builder builder;
    size_t field; /* of the line, from 1 */
    size_t most;  /* largest index allowed */
} libsvm;

static bb_status bad(const libsvm *s, const char *expected, const char *found,
                     size_t length) {
    char shown[BB_SHOWN_BYTES];
    if (length && memchr(found, '\0', length))
        return bb_fail(BB_EDATA, "%s:%zu:%zu: a zero byte: this is no text",
                       s->text->path, s->text->line, s->field);
    return bb_fail(BB_EDATA, "%s:%zu:%zu: expected %s, found %s", s->text->path,
                   s->text->line, s->field, expected,
                   length ? bb_shown(shown, found, length) : "the end of the line");
}

static bool ends_token(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '#';
}

/* The next field of the line, or length 0 at its end, `at` then on the line's end. */
static bb_status take_field(libsvm *s, const char **field, size_t *length) {
    bb_text *const t = s->text;
    size_t n = 0;
    bool comment = false;
    for (;;) {
        while (n == 0 && t->at < t->end && *t->at != '\n' && *t->at != '\r' &&
               (comment || *t->at == ' ' || *t->at == '\t' || *t->at == '#')) {
            comment = comment || *t->at == '#';
            t->at++;
        }
        while (t->at + n < t->end && !ends_token(t->at[n])) n++;
        if (t->at + n < t->end || t->ended) break;
        bb_status status = bb_text_more(t);
        if (status) return status;
    }
    *field = t->at;
    *length = n;
    t->at += n;
    s->field++;
    return BB_OK;
}

/* A number that fills the whole of a field's part. */
static bb_status take_value(libsvm *s, const char *text, size_t length, bool kept,
                            double *value) {
    const char *at = text;
    if (length && bb_scan_number(&at, value) && at == text + length) return BB_OK;
    const bb_cell kind = bb_scan_cell(text, length, value);
    if (kind == BB_CELL_NUMBER) return BB_OK;
    if (kind == BB_CELL_MISSING && kept) return BB_OK;
    return bad(s, kind == BB_CELL_INFINITE ? "a finite number" : "a number", text,
               length);
}

static bool is_task(const char *field, size_t length) {
    return length >= 4 && memcmp(field, "qid:", 4) == 0;
}

/* The target of a line, and the field after it. */
static bb_status take_target(libsvm *s, const char **field, size_t *length, double *y) {
    char words[BB_LABELS_BYTES] = "";
    bb_status status;
    if (!s->options->multilabel && !s->options->target_ignored)
        status = take_value(s, *field, *length,
                            s->options->keep_missing || s->options->target_missing, y);
    else if (is_task(*field, *length))
        return BB_OK;
    else if (s->options->target_ignored)
        status = BB_OK;
    else
        status = bb_labels_take(&s->builder, s->options, *field, *length, ',', words);
    if (!status && *words)
        status = bb_fail(BB_EDATA, "%s:%zu:%zu: %s", s->text->path, s->text->line,
                         s->field, words);
    return status ? status : take_field(s, field, length);
}

/* The target and the task of a line. */
static bb_status take_head(libsvm *s, const char *field, size_t length, double *y,
                           size_t *task) {
    bb_status status = take_target(s, &field, &length, y);
    if (status) return status;
    if (length < 5 || !is_task(field, length))
        return bad(s, "the task as qid:NAME", field, length);
    if (!bb_is_utf8(field, length) || memchr(field, '\0', length))
        return bad(s, "the task's name in UTF-8", field, length);
    return bb_builder_task(&s->builder, field + 4, length - 4, task);
}

/* index:value, the index above `last`. */
static bb_status take_entry(libsvm *s, const char *field, size_t length, size_t *last) {
    size_t index = 0, digits = 0;
    while (digits < length && digits < 9 && field[digits] >= '0' &&
           field[digits] <= '9')
        index = 10 * index + (size_t)(field[digits++] - '0');
    const bool long_index =
        digits == 9 && digits < length && field[digits] >= '0' && field[digits] <= '9';
    if (digits == 0 || digits == length || (!long_index && field[digits] != ':'))
        return bad(s, "index:value", field, length);
    if (!long_index && index == 0) return bad(s, "an index from 1", field, length);
    char expected[64];
    if (long_index || index > s->most) {
        snprintf(expected, sizeof expected, "an index of at most %zu", s->most);
        return bad(s, expected, field, length);
    }
    if (index <= *last) {
        snprintf(expected, sizeof expected, "an index above %zu", *last);
        return bad(s, expected, field, length);
    }
    double value;
    bb_status status = take_value(s, field + digits + 1, length - digits - 1,
                                  s->options->keep_missing, &value);
    *last = index;
    return status ? status
                  : bb_builder_entry(&s->builder, (uint32_t)(index - 1), value);
}

/* One line, perhaps empty, without its end. */
static bb_status read_line(libsvm *s) {
    const char *field;
    size_t length, task = 0, last = 0;
    double y = NAN;
    s->field = 0;
    bb_status status = take_field(s, &field, &length);
    if (status || length == 0) return status;
    status = take_head(s, field, length, &y, &task);
    while (!status) {
        status = take_field(s, &field, &length);
        if (status || length == 0) break;
        status = take_entry(s, field, length, &last);
    }
    return status ? status : bb_builder_commit(&s->builder, task, y, s->text->line);
}

static bb_status read_lines(libsvm *s) {
    bb_text *const t = s->text;
    while (t->at < t->end || !t->ended) {
        bb_status status = read_line(s);
        if (status) return status;
        /* `at` is on the line's end or on the file's */
        t->line += t->at < t->end && *t->at == '\n';
        t->at += t->at < t->end;
    }
    if (s->builder.rows == 0)
        return bb_fail(BB_EDATA, "%s: the file has no rows", t->path);
    if (s->builder.features == 0)
        return bb_fail(BB_EDATA, "%s: no row has a feature", t->path);
    return BB_OK;
}

/* The number of features, if it is given: then it does not depend on any task's rows.
 */
static bb_status take_options(libsvm *s) {
    const bb_read_options *o = s->options;
    uint64_t count = MOST_FEATURES;
    if (o->ignore || o->task || o->target)
        return bb_fail(BB_EUSAGE,
                       "%s: LIBSVM files have no column names; --task, --target and "
                       "--ignore do not apply",
                       s->text->path);
    if (o->public_shape && !o->features)
        return bb_fail(BB_EUSAGE,
                       "%s: a private run must be told how many features there are, "
                       "which is public: --features N",
                       s->text->path);
    if (o->features &&
        !(bb_number_count(o->features, &count) && count >= 1 && count <= MOST_FEATURES))
        return bb_fail(BB_EUSAGE,
                       "%s: for a LIBSVM file --features expects how many there are, 1 "
                       "to %d, got \"%s\"",
                       s->text->path, MOST_FEATURES, o->features);
    s->most = (size_t)count;
    return BB_OK;
}

bb_status bb_read_libsvm(bb_text *text, const bb_read_options *options,
                         bb_dataset *out) {
    libsvm s = {.text = text, .options = options};
    bb_dataset data = {0};
    s.builder.multilabel = options->multilabel && !options->target_ignored;
    bb_status status = take_options(&s);
    if (!status) status = read_lines(&s);
    if (!status && options->features) s.builder.features = s.most;
    if (!status) status = bb_labels_finish(&s.builder, options, text->path, &data);
    if (!status) status = bb_names_count(&data.feature_name, data.features, "x");
    if (!status && !options->target_ignored)
        status = bb_duplicate(&data.target_name, "y", 1);
    if (!status) status = bb_duplicate(&data.source, text->path, strlen(text->path));
    data.has_lines = true;
    data.target_column = 1;
    bb_builder_free(&s.builder);
    if (status)
        bb_dataset_free(&data);
    else
        *out = data;
    return status;
}
