#include "base/cells.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "data/names.h"
#include "models/models_file.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- writing -- */

void bb_write_field(FILE *stream, const char *text) {
    const bool plain = *text && *text != '#' && !strpbrk(text, ",\"\r\n") &&
                       !bb_is_blank(*text) && !bb_is_blank(text[strlen(text) - 1]);
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

static void write_header(const bb_models *m, FILE *stream) {
    fputs("task,intercept", stream);
    for (size_t k = 0; k < m->features; k++) {
        putc(',', stream);
        bb_write_field(stream, m->feature_name[k]);
    }
    putc('\n', stream);
}

static void write_number(double value, FILE *stream) {
    char text[1 + BB_NUMBER_BYTES] = ",";
    fwrite(text, 1, 1 + bb_number_write(value, text + 1), stream);
}

static void write_line(const bb_models *m, size_t i, FILE *stream) {
    bb_write_field(stream, m->task_name[i]);
    write_number(m->intercept[i], stream);
    for (size_t k = 0; k < m->features; k++)
        write_number(m->weight[i * m->features + k], stream);
    putc('\n', stream);
    bb_models_passed(m, i);
}

/* Lines are made by all workers, some parts for each at once, and written in their order. A
 * loop asks for help behind its first item (base/parallel.h), so one part for each would be
 * nobody's but the first worker's. */
enum { NUMBERS_OF_A_PART = 4096, PARTS_OF_A_WORKER = 16, MOST_PARTS = 256 };

typedef struct making {
    const bb_models *models;
    size_t lines; /* of a part */
    size_t first;
    char *text[MOST_PARTS];
    size_t size[MOST_PARTS];
    bool made[MOST_PARTS];
} making;

static void make_part(void *context, size_t part, size_t worker) {
    making *m = context;
    const size_t first = m->first + part * m->lines;
    const size_t left = m->models->tasks - first;
    FILE *stream = open_memstream(&m->text[part], &m->size[part]);
    (void)worker;
    m->made[part] = stream;
    if (!stream) return;
    for (size_t i = 0; i < m->lines && i < left; i++)
        write_line(m->models, first + i, stream);
    m->made[part] = !ferror(stream);
    if (fclose(stream)) m->made[part] = false;
}

static bb_status write_lines(const bb_models *models, size_t threads, FILE *stream) {
    const bb_engine engine = bb_engine_threads(threads);
    const size_t lines = 1 + NUMBERS_OF_A_PART / (models->features + 1);
    const size_t all = (models->tasks + lines - 1) / lines;
    const size_t wanted = PARTS_OF_A_WORKER * engine.workers;
    const size_t most = wanted < MOST_PARTS ? wanted : MOST_PARTS;
    bool whole = true;
    for (size_t from = 0; from < all && whole; from += most) {
        making m = {.models = models, .lines = lines, .first = from * lines};
        const size_t parts = all - from < most ? all - from : most;
        engine.each(&engine, parts, make_part, &m);
        for (size_t k = 0; k < parts; k++) {
            whole = whole && m.made[k];
            if (whole) fwrite(m.text[k], 1, m.size[k], stream);
            free(m.text[k]);
        }
    }
    return whole ? BB_OK : bb_fail(BB_ENOMEM, "no memory for models.csv");
}

bb_status bb_models_lines(const bb_models *models, size_t threads, char **text,
                          size_t *size) {
    FILE *stream = open_memstream(text, size);
    if (!stream) return bb_fail(BB_ENOMEM, "no memory for models.csv");
    const bb_status status = write_lines(models, threads, stream);
    const bool whole = !ferror(stream);
    if (!fclose(stream) && whole) return status;
    return status ? status : bb_fail(BB_ENOMEM, "no memory for models.csv");
}

bb_status bb_models_write_csv(const bb_models *models, const bb_piece *lines,
                              size_t threads, const char *path) {
    bb_file_new file;
    bb_status status = bb_file_begin(&file, path);
    if (status) return status;
    const int descriptor = dup(file.descriptor);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (stream) write_header(models, stream);
    if (stream && lines) fwrite(lines->at, 1, lines->size, stream);
    if (stream && !lines) status = write_lines(models, threads, stream);
    const bool whole = stream && !ferror(stream);
    if (((stream && fclose(stream)) || !whole) && !status)
        status = bb_fail(BB_EIO, "%s: cannot be written: %s", path, strerror(errno));
    if (!stream && descriptor >= 0) close(descriptor);
    return bb_file_end(&file, path, status);
}

/* -- reading -- */

/* Everything read so far. */
typedef struct reading {
    bb_names task, feature;
    double *intercept, *weight;
    size_t intercept_room, weight_room;
} reading;

static bb_status add_name(bb_names *names, const bb_text_cells *c, const char *name) {
    const size_t before = names->count;
    size_t index;
    const bb_status status = bb_names_add(names, name, strlen(name), &index);
    if (!status && names->count == before) return bb_cells_bad(c, "names that differ");
    return status;
}

static bb_status read_header(reading *r, bb_text_cells *c) {
    static const char *const fixed[] = {"task", "intercept"};
    bb_status status = BB_OK;
    bool last = false;
    char *field;
    for (size_t k = 0; k < 2 && !status; k++) {
        status = last ? bb_cells_bad(c, "the header task,intercept,...")
                      : bb_cells_next(c, &field, &last);
        if (!status && strcmp(field, fixed[k]) != 0)
            status = bb_cells_bad(c, "the header task,intercept,...");
    }
    while (!status && !last) {
        status = bb_cells_next(c, &field, &last);
        if (!status) status = add_name(&r->feature, c, field);
    }
    return status;
}

static bb_status read_number(bb_text_cells *c, bool *last, double *out) {
    char *field;
    if (*last) return bb_cells_bad(c, "as many fields as the header has");
    const bb_status status = bb_cells_next(c, &field, last);
    if (status) return status;
    return bb_number_real(field, out) ? BB_OK : bb_cells_bad(c, "a number");
}

static bb_status read_task(reading *r, bb_text_cells *c) {
    const size_t i = r->task.count, d = r->feature.count;
    bool last = false;
    char *field;
    bb_status status = bb_cells_next(c, &field, &last);
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
    if (!status && !last) status = bb_cells_bad(c, "as many fields as the header has");
    return status;
}

static bb_status read_all(reading *r, bb_text_cells *c) {
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
    bb_status status = bb_cells_read(path, &text);
    if (status) return status;
    assert(text);
    status = read_all(&r, &(bb_text_cells){.path = path, .at = text, .line = 1});
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
