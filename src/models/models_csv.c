#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "data/names.h"
#include "models/models_file.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* -- writing -- */

void bb_write_field(FILE *stream, const char *text) {
    const bool plain = *text && *text != '#' && *text != ' ' && *text != '\t' &&
                       !strpbrk(text, ",\"\r\n") && text[strlen(text) - 1] != ' ';
    if (plain) {
        fputs(text, stream);
        return;
    }
    putc('"', stream);
    for (; *text; text++) {
        if (*text == '"') putc('"', stream);
        putc(*text, stream);
    }
    putc('"', stream);
}

static void write_rows(const bb_models *m, FILE *stream) {
    fputs("task,intercept", stream);
    for (size_t k = 0; k < m->features; k++) {
        putc(',', stream);
        bb_write_field(stream, m->feature_name[k]);
    }
    putc('\n', stream);
    for (size_t i = 0; i < m->tasks; i++) {
        bb_write_field(stream, m->task_name[i]);
        fprintf(stream, ",%.17g", m->intercept[i]);
        for (size_t k = 0; k < m->features; k++)
            fprintf(stream, ",%.17g", m->weight[i * m->features + k]);
        putc('\n', stream);
    }
}

bb_status bb_models_write_csv(const bb_models *models, const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return bb_fail(BB_ENOMEM, "%s: no memory for its text", path);
    write_rows(models, stream);
    const bool whole = !ferror(stream);
    bb_status status = BB_OK;
    if (fclose(stream) || !whole)
        status = bb_fail(BB_ENOMEM, "%s: no memory for its text", path);
    if (!status) status = bb_file_write(path, text, size);
    free(text);
    return status;
}

/* -- reading -- */

static bb_status read_text(const char *path, char **out) {
    char *text = NULL;
    size_t capacity = 0, size = 0, got = 0;
    bb_status status = BB_OK;
    FILE *file = fopen(path, "rb");
    if (!file)
        return bb_fail(BB_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    do {
        size += got;
        status = bb_grow(&text, &capacity, size + 4096, 1, "a file of models");
        if (status) break;
        got = fread(text + size, 1, capacity - size - 1, file);
    } while (got > 0);
    if (!status && ferror(file)) status = bb_fail(BB_EIO, "%s: cannot be read", path);
    fclose(file);
    if (status) {
        free(text);
        return status;
    }
    text[size] = '\0';
    *out = text;
    return BB_OK;
}

/* Where reading is; fields are cut out of the text in place. */
typedef struct cursor {
    const char *path;
    char *at;
    size_t line;
    bool line_ended; /* behind the last field */
} cursor;

static bb_status bad(const cursor *c, const char *expected) {
    return bb_fail(BB_EDATA, "%s: line %zu: expected %s", c->path, c->line, expected);
}

/* Cuts the next field; *last says that a line or the file ends behind it. */
static bb_status next_field(cursor *c, char **field, bool *last) {
    char *to = c->at, *from = c->at;
    *field = to;
    c->line += c->line_ended;
    c->line_ended = false;
    if (*from == '"') {
        for (from++; *from && !(from[0] == '"' && from[1] != '"'); from++) {
            from += *from == '"';
            *to++ = *from;
        }
        if (*from++ != '"') return bad(c, "a closing quote");
    } else {
        from += strcspn(from, ",\n");
        to = from;
    }
    if (*from != ',' && *from != '\n' && *from) return bad(c, "a comma after a quote");
    *last = *from != ',';
    c->line_ended = *from == '\n';
    c->at = *from ? from + 1 : from;
    *to = '\0';
    return BB_OK;
}

/* Everything read so far. */
typedef struct reading {
    bb_names task, feature;
    double *intercept, *weight;
    size_t intercept_room, weight_room;
} reading;

static bb_status add_name(bb_names *names, const cursor *c, const char *name) {
    const size_t before = names->count;
    size_t index;
    const bb_status status = bb_names_add(names, name, strlen(name), &index);
    if (!status && names->count == before) return bad(c, "names that differ");
    return status;
}

static bb_status read_header(reading *r, cursor *c) {
    static const char *const fixed[] = {"task", "intercept"};
    bb_status status = BB_OK;
    bool last = false;
    char *field;
    for (size_t k = 0; k < 2 && !status; k++) {
        status = last ? bad(c, "the header task,intercept,...")
                      : next_field(c, &field, &last);
        if (!status && strcmp(field, fixed[k]) != 0)
            status = bad(c, "the header task,intercept,...");
    }
    while (!status && !last) {
        status = next_field(c, &field, &last);
        if (!status) status = add_name(&r->feature, c, field);
    }
    return status;
}

static bb_status read_number(cursor *c, bool *last, double *out) {
    char *field;
    if (*last) return bad(c, "as many fields as the header has");
    const bb_status status = next_field(c, &field, last);
    if (status) return status;
    return bb_number_real(field, out) ? BB_OK : bad(c, "a number");
}

static bb_status read_task(reading *r, cursor *c) {
    const size_t i = r->task.count, d = r->feature.count;
    bool last = false;
    char *field;
    bb_status status = next_field(c, &field, &last);
    if (!status) status = add_name(&r->task, c, field);
    if (!status)
        status = bb_grow(&r->intercept, &r->intercept_room, i + 1, sizeof(double),
                         "the models");
    if (!status)
        status = bb_grow(&r->weight, &r->weight_room, (i + 1) * d + 1, sizeof(double),
                         "the models");
    if (!status) status = read_number(c, &last, &r->intercept[i]);
    for (size_t k = 0; k < d && !status; k++)
        status = read_number(c, &last, &r->weight[i * d + k]);
    if (!status && !last) status = bad(c, "as many fields as the header has");
    return status;
}

static bb_status read_all(reading *r, cursor *c) {
    while (*c->at == '#') {
        c->at += strcspn(c->at, "\n");
        c->at += *c->at == '\n';
        c->line++;
    }
    bb_status status = read_header(r, c);
    while (!status && *c->at) status = read_task(r, c);
    return status;
}

bb_status bb_models_read_csv(bb_models *out, const char *path) {
    bb_models m = {0};
    reading r = {0};
    char *text = NULL;
    bb_status status = read_text(path, &text);
    if (status) return status;
    assert(text);
    status = read_all(&r, &(cursor){.path = path, .at = text, .line = 1});
    if (!status) status = bb_names_list(&m.task_name, &r.task);
    if (!status) status = bb_names_list(&m.feature_name, &r.feature);
    if (!status) {
        m.tasks = r.task.count;
        m.features = r.feature.count;
        m.outputs = 1;
        m.weight = r.weight;
        m.intercept = r.intercept;
        r.weight = r.intercept = NULL;
        *out = m;
    } else {
        bb_models_free(&m);
    }
    bb_names_free(&r.task);
    bb_names_free(&r.feature);
    free(r.weight);
    free(r.intercept);
    free(text);
    return status;
}
