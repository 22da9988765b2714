/* numpy.c - data sets from .npy (one table) and .npz (arrays X, y, task). */
#include "base/memory.h"
#include "data/builder.h"
#include "data/columns.h"
#include "data/npy.h"
#include "data/numpy_file.h"
#include "data/readers.h"
#include "data/slice.h"

#include <zlib.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASK_BYTES = 1024 };

typedef struct numpy {
    const char *path;
    const bb_read_options *options;
    bb_numpy_file file;
    bb_builder builder;
    size_t from, to; /* rows: to - 1 is the last one that is read */
} numpy;

/* The arrays of an archive: X, y, task. */
typedef struct arrays {
    const char *name[BB_SLICE_MEMBERS];
    bb_npy of[BB_SLICE_MEMBERS];
    unsigned char *unpacked[BB_SLICE_MEMBERS]; /* where the whole file is read */
    bb_npz_place place[BB_SLICE_MEMBERS];      /* where a part of it is */
} arrays;

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
    for (size_t r = s->from; r < s->to; r++) {
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

/* -- the rows that are read: all, or those of a slice, which are cut beforehand -- */

static void take_rows(numpy *s, size_t rows) {
    const bb_slice *const slice = s->options->slice;
    s->from = slice ? slice->from : 0;
    s->to = slice ? slice->to : rows;
    if (s->to > rows) s->to = rows; /* of a file that has become another since */
    if (s->from > s->to) s->from = s->to;
}

static bool in_parts(const bb_npy *a) {
    return !a->fortran || a->columns == 1;
}

static size_t row_bytes(const bb_npy *a) {
    return a->columns * a->width;
}

static bb_status fetch_rows(const numpy *s, const bb_npy *a) {
    const size_t data = (size_t)(a->data - s->file.bytes), bytes = row_bytes(a);
    if (!s->file.handle) return BB_OK;
    return bb_numpy_file_fetch(&s->file, data + s->from * bytes,
                               (s->to - s->from) * bytes);
}

/* -- tables -- */

static bb_status open_table(const numpy *s, bb_npy *table) {
    bb_status status = bb_npy_open(table, s->path, s->file.bytes, s->file.size);
    if (!status) status = check_numeric(s, table, "the table");
    if (!status && (table->rank != 2 || table->rows == 0))
        status =
            bb_fail(BB_EDATA,
                    "%s: expected a table with rows and columns; name those of task "
                    "and target by their 0-based index: --task 0 --target 1",
                    s->path);
    return status;
}

static bb_status read_table(numpy *s, bb_dataset *out) {
    bb_npy table = {0};
    bb_names header = {0};
    bb_columns columns = {0};
    bb_status status = open_table(s, &table);
    if (!status && (!s->options->task || !s->options->target))
        status =
            bb_fail(BB_EDATA,
                    "%s: name the columns of task and target by their 0-based index: "
                    "--task 0 --target 1",
                    s->path);
    if (!status) status = name_columns(&header, table.columns);
    if (!status)
        status = bb_columns_open(&columns, s->path, &header, false, s->options);
    take_rows(s, table.rows);
    if (!status) status = fetch_rows(s, &table);
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

/* -- archives -- */

/* An array of which only parts will be read: as far as what it says of itself. */
static bb_status open_place(const numpy *s, const char *where, const char *name,
                            bb_npz_place *place, bb_npy *array) {
    const bb_numpy_file *const f = &s->file;
    bb_status status = bb_npz_find(s->path, f->bytes, f->size, name, place);
    if (!status && !place->stored) return bb_fail(BB_EDATA, "%s: is packed", where);
    if (!status) status = bb_numpy_file_fetch(f, place->local, 2 * BB_NPZ_LOCAL);
    if (!status) status = bb_npz_locate(s->path, f->bytes, f->size, place);
    return status ? status
                  : bb_npy_open(array, where, f->bytes + place->from, place->size);
}

static bb_status open_member(const numpy *s, arrays *a, size_t k) {
    const bb_numpy_file *const f = &s->file;
    char where[BB_WHERE_BYTES];
    size_t size = 0;
    snprintf(where, sizeof where, "%s: %s", s->path, a->name[k]);
    if (f->handle) return open_place(s, where, a->name[k], &a->place[k], &a->of[k]);
    const bb_status status =
        bb_npz_member(s->path, f->bytes, f->size, a->name[k], &a->unpacked[k], &size);
    return status ? status : bb_npy_open(&a->of[k], where, a->unpacked[k], size);
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
    for (size_t r = s->from; r < s->to; r++) {
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

static bb_status open_arrays(const numpy *s, arrays *a) {
    const bb_read_options *const o = s->options;
    *a = (arrays){.name = {o->features ? o->features : "X", o->target ? o->target : "y",
                           o->task ? o->task : "task"}};
    const bb_npy *const x = &a->of[0], *const y = &a->of[1], *const task = &a->of[2];
    bb_status status = BB_OK;
    if (o->ignore)
        return bb_fail(BB_EUSAGE, "%s: --ignore does not apply to .npz files", s->path);
    for (size_t k = 0; k < BB_SLICE_MEMBERS && !status; k++)
        status = open_member(s, a, k);
    if (!status) status = check_numeric(s, x, a->name[0]);
    if (!status) status = check_numeric(s, y, a->name[1]);
    if (!status && (x->rank != 2 || x->rows == 0 || x->columns == 0))
        status = bb_fail(BB_EDATA, "%s: %s: expected a table with rows and columns",
                         s->path, a->name[0]);
    if (!status) status = check_vector(s, y, a->name[1], x->rows);
    return status ? status : check_vector(s, task, a->name[2], x->rows);
}

static void close_arrays(arrays *a) {
    for (size_t k = 0; k < BB_SLICE_MEMBERS; k++) free(a->unpacked[k]);
}

/* The checksum of what this part has of a member: what is before and behind its rows goes
 * with the first one and the last. */
static bb_status sum_part(const numpy *s, const bb_npy *a, const bb_npz_place *place,
                          bb_slice_member *out) {
    const size_t data = (size_t)(a->data - s->file.bytes), bytes = row_bytes(a);
    const size_t end = place->from + place->size;
    size_t from = data + s->from * bytes, to = data + s->to * bytes;
    if (s->from == 0 && s->to > 0) from = place->from;
    if (s->to == a->rows && s->from < s->to) to = end;
    const bb_status status = bb_numpy_file_fetch(&s->file, from, to - from);
    *out = (bb_slice_member){.expected = place->checksum, .length = to - from};
    if (!status) out->sum = (uint32_t)crc32_z(0, s->file.bytes + from, to - from);
    return status;
}

static bb_status fetch_arrays(const numpy *s, const arrays *a) {
    bb_slice *const slice = s->options->slice;
    bb_status status = BB_OK;
    for (size_t k = 0; k < BB_SLICE_MEMBERS && !status && s->file.handle; k++)
        status = sum_part(s, &a->of[k], &a->place[k], &slice->member[k]);
    return status;
}

static bb_status read_archive(numpy *s, bb_dataset *out) {
    arrays a;
    bb_status status = open_arrays(s, &a);
    take_rows(s, a.of[0].rows);
    if (!status) status = fetch_arrays(s, &a);
    if (!status) status = add_arrays(s, &a.of[0], &a.of[1], &a.of[2]);
    if (!status) status = bb_builder_finish(&s->builder, out);
    if (!status) status = bb_names_count(&out->feature_name, out->features, "x");
    if (!status) status = bb_duplicate(&out->target_name, a.name[1], strlen(a.name[1]));
    close_arrays(&a);
    return status;
}

static bool is_archive(const numpy *s) {
    return s->file.size >= 4 && memcmp(s->file.bytes, "PK", 2) == 0;
}

/* -- parts of a file -- */

/* How many rows there are; BB_EDATA, BB_EUSAGE: so that they cannot be read in parts. */
static bb_status count_rows(const numpy *s, size_t *rows) {
    arrays a = {0};
    bb_npy table = {0};
    const bool archive = is_archive(s);
    bb_status status = archive ? open_arrays(s, &a) : open_table(s, &table);
    const bb_npy *const x = archive ? &a.of[0] : &table;
    if (!status && !in_parts(x))
        status = bb_fail(BB_EDATA, "%s: is stored by columns", s->path);
    *rows = x->rows;
    close_arrays(&a);
    return status;
}

bb_status bb_numpy_cut(const char *path, const bb_read_options *options, size_t number,
                       size_t count, bb_slice *slice) {
    numpy s = {.path = path, .options = options};
    size_t rows = 0;
    bb_status status = bb_numpy_file_open(&s.file, path);
    slice->size = s.file.size;
    if (!status) status = count_rows(&s, &rows);
    const size_t each = rows / count, rest = rows % count;
    slice->from = each * number + rest * number / count;
    slice->to = each * (number + 1) + rest * (number + 1) / count;
    bb_numpy_file_close(&s.file);
    /* who reads it as a whole says what is wrong */
    slice->whole = status == BB_EDATA || status == BB_EUSAGE;
    return slice->whole ? BB_OK : status;
}

bb_status bb_read_npy(const char *path, const bb_read_options *options,
                      bb_dataset *out) {
    numpy s = {.path = path, .options = options};
    bb_slice *const slice = options->slice;
    bb_dataset data = {0};
    bb_status status =
        slice ? bb_numpy_file_open(&s.file, path) : bb_numpy_file_read(&s.file, path);
    if (!status)
        status = is_archive(&s) ? read_archive(&s, &data) : read_table(&s, &data);
    if (!status) status = bb_duplicate(&data.source, path, strlen(path));
    if (slice) slice->failed = slice->whole = status == BB_EDATA;
    bb_builder_free(&s.builder);
    bb_numpy_file_close(&s.file);
    if (status)
        bb_dataset_free(&data);
    else
        *out = data;
    return status;
}
