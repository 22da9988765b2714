/* numpy.c - data sets from .npy (one table) and .npz (arrays X, y, task). */
#include "base/memory.h"
#include "data/builder.h"
#include "data/columns.h"
#include "data/npy.h"
#include "data/readers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASK_BYTES = 1024 };

typedef struct numpy {
    const char *path;
    const bb_read_options *options;
    unsigned char *bytes; /* the file */
    size_t size;
    bb_builder builder;
} numpy;

static bb_status read_bytes(numpy *s) {
    FILE *const file = fopen(s->path, "rb");
    if (!file) return bb_fail(BB_EIO, "%s: %s", s->path, strerror(errno));
    size_t room = 0, got;
    bb_status status;
    do {
        status = bb_grow(&s->bytes, &room, s->size + (1 << 16), 1, "a NumPy file");
        got = status ? 0 : fread(s->bytes + s->size, 1, room - s->size, file);
        s->size += got;
    } while (got);
    if (!status && ferror(file))
        status = bb_fail(BB_EIO, "%s: %s", s->path, strerror(errno));
    fclose(file);
    return status;
}

/* Do missing numbers become NAN? */
static bool kept(const numpy *s, unsigned char role) {
    return s->options->keep_missing ||
           (role == BB_ROLE_TARGET && s->options->target_missing);
}

static bb_status take_number(const numpy *s, const bb_npy *a, size_t row, size_t column,
                             const char *name, bool kept, double *out) {
    *out = bb_npy_number(a, row, column);
    if (isfinite(*out) || (kept && isnan(*out))) return BB_OK;
    return bb_fail(BB_EDATA,
                   "%s: %s, row %zu, column %zu: expected a finite number, found %g",
                   s->path, name, row, column, *out);
}

static bb_status take_task(numpy *s, const bb_npy *a, size_t row, size_t column,
                           const char *name, size_t *task) {
    char text[TASK_BYTES];
    const size_t length = bb_npy_text(a, row, column, text, sizeof text);
    if (length == SIZE_MAX || length == 0)
        return bb_fail(BB_EDATA, "%s: %s, row %zu: expected a task's name or number",
                       s->path, name, row);
    return bb_builder_task(&s->builder, text, length, task);
}

static bb_status check_numeric(const numpy *s, const bb_npy *a, const char *name) {
    if (a->kind != 'S' && a->kind != 'U') return BB_OK;
    return bb_fail(BB_EDATA, "%s: %s: expected numbers, found texts", s->path, name);
}

static bb_status add_table(numpy *s, const bb_npy *a, const bb_columns *columns) {
    s->builder.features = columns->features;
    for (size_t r = 0; r < a->rows; r++) {
        double *x, y = NAN;
        size_t task = 0;
        bb_status status = bb_builder_row(&s->builder, &x);
        for (size_t k = 0; !status && k < a->columns; k++) {
            const unsigned char role = columns->role[k];
            if (role == BB_ROLE_TASK)
                status = take_task(s, a, r, k, "the table", &task);
            else if (role != BB_ROLE_IGNORED)
                status = take_number(s, a, r, k, "the table", kept(s, role),
                                     role == BB_ROLE_TARGET ? &y : x++);
        }
        if (!status) status = bb_builder_commit(&s->builder, task, y, r);
        if (status) return status;
    }
    return BB_OK;
}

/* The columns of a table are named by their index, from 0. */
static bb_status name_columns(bb_names *header, size_t columns) {
    for (size_t k = 0; k < columns; k++) {
        char digits[24];
        size_t index;
        const int length = snprintf(digits, sizeof digits, "%zu", k);
        bb_status status = bb_names_add(header, digits, (size_t)length, &index);
        if (status) return status;
    }
    return BB_OK;
}

static bb_status read_table(numpy *s, bb_dataset *out) {
    bb_npy table;
    bb_names header = {0};
    bb_columns columns = {0};
    bb_status status = bb_npy_open(&table, s->path, s->bytes, s->size);
    if (!status) status = check_numeric(s, &table, "the table");
    if (!status && (table.rank != 2 || table.rows == 0))
        status =
            bb_fail(BB_EDATA,
                    "%s: expected a table with rows and columns; name those of task "
                    "and target by their 0-based index: --task 0 --target 1",
                    s->path);
    if (!status && (!s->options->task || !s->options->target))
        status =
            bb_fail(BB_EDATA,
                    "%s: name the columns of task and target by their 0-based index: "
                    "--task 0 --target 1",
                    s->path);
    if (!status) status = name_columns(&header, table.columns);
    if (!status) status = bb_columns_open(&columns, s->path, &header, s->options);
    if (!status) status = add_table(s, &table, &columns);
    if (!status) status = bb_builder_finish(&s->builder, out);
    if (!status) {
        out->feature_name = columns.feature_name;
        columns.feature_name = NULL;
        if (!s->options->target_ignored)
            status = bb_duplicate(&out->target_name, s->options->target,
                                  strlen(s->options->target));
    }
    bb_columns_close(&columns);
    bb_names_free(&header);
    return status;
}

static bb_status open_member(const numpy *s, const char *name, unsigned char **bytes,
                             bb_npy *array) {
    char where[BB_WHERE_BYTES];
    size_t size = 0;
    snprintf(where, sizeof where, "%s: %s", s->path, name);
    bb_status status = bb_npz_member(s->path, s->bytes, s->size, name, bytes, &size);
    return status ? status : bb_npy_open(array, where, *bytes, size);
}

static bb_status check_vector(const numpy *s, const bb_npy *a, const char *name,
                              size_t rows) {
    if (a->columns == 1 && a->rows == rows) return BB_OK;
    return bb_fail(BB_EDATA,
                   "%s: %s: expected %zu elements, one a row of X, found %zu x %zu",
                   s->path, name, rows, a->rows, a->columns);
}

static bb_status add_arrays(numpy *s, const bb_npy *x, const bb_npy *y,
                            const bb_npy *task) {
    s->builder.features = x->columns;
    for (size_t r = 0; r < x->rows; r++) {
        double *z, target = NAN;
        size_t i = 0;
        bb_status status = bb_builder_row(&s->builder, &z);
        for (size_t k = 0; !status && k < x->columns; k++)
            status = take_number(s, x, r, k, "X", kept(s, BB_ROLE_FEATURE), z + k);
        if (!status)
            status = take_number(s, y, r, 0, "y", kept(s, BB_ROLE_TARGET), &target);
        if (!status) status = take_task(s, task, r, 0, "task", &i);
        if (!status) status = bb_builder_commit(&s->builder, i, target, r);
        if (status) return status;
    }
    return BB_OK;
}

static bb_status read_archive(numpy *s, bb_dataset *out) {
    const bb_read_options *const o = s->options;
    unsigned char *bytes[3] = {0};
    bb_npy x, y, task;
    const char *const target = o->target ? o->target : "y";
    const char *const tasks = o->task ? o->task : "task";
    const char *const features = o->features ? o->features : "X";
    bb_status status = BB_OK;
    if (o->ignore)
        return bb_fail(BB_EUSAGE, "%s: --ignore does not apply to .npz files", s->path);
    status = open_member(s, features, &bytes[0], &x);
    if (!status) status = open_member(s, target, &bytes[1], &y);
    if (!status) status = open_member(s, tasks, &bytes[2], &task);
    if (!status) status = check_numeric(s, &x, features);
    if (!status) status = check_numeric(s, &y, target);
    if (!status && (x.rank != 2 || x.rows == 0 || x.columns == 0))
        status = bb_fail(BB_EDATA, "%s: %s: expected a table with rows and columns",
                         s->path, features);
    if (!status) status = check_vector(s, &y, target, x.rows);
    if (!status) status = check_vector(s, &task, tasks, x.rows);
    if (!status) status = add_arrays(s, &x, &y, &task);
    if (!status) status = bb_builder_finish(&s->builder, out);
    if (!status) status = bb_names_count(&out->feature_name, out->features, "x");
    if (!status) status = bb_duplicate(&out->target_name, target, strlen(target));
    for (size_t i = 0; i < 3; i++) free(bytes[i]);
    return status;
}

bb_status bb_read_npy(const char *path, const bb_read_options *options,
                      bb_dataset *out) {
    numpy s = {.path = path, .options = options};
    bb_dataset data = {0};
    bb_status status = read_bytes(&s);
    const bool archive = s.size >= 4 && memcmp(s.bytes, "PK", 2) == 0;
    if (!status) status = archive ? read_archive(&s, &data) : read_table(&s, &data);
    if (!status) status = bb_duplicate(&data.source, path, strlen(path));
    bb_builder_free(&s.builder);
    free(s.bytes);
    if (status)
        bb_dataset_free(&data);
    else
        *out = data;
    return status;
}
