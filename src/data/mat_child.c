#include "base/part.h"
#include "data/mat.h"

#include <matio.h>

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    __typeof__(Mat_Open) *open;
    __typeof__(Mat_GetDir) *directory;
    __typeof__(Mat_VarRead) *read;
} matio;

typedef struct source {
    int pipe;
    const char *path;
} source;

/* A broken pipe means that the parent has given up, and knows why. */
static bool send_bytes(const source *s, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size) {
        const ssize_t sent = write(s->pipe, at, size);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

static bool send_record(const source *s, bb_mat_record record) {
    return send_bytes(s, &record, sizeof record);
}

static bool send_failure(const source *s, bb_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool send_failure(const source *s, bb_status code, const char *format, ...) {
    char words[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    const size_t length = strlen(words);
    if (send_record(s, (bb_mat_record){BB_MAT_FAILED, length, code, 0}))
        send_bytes(s, words, length);
    return false;
}

/* Bytes of a number of this type, 0 if it is none. */
static size_t width_of(enum matio_types type) {
    switch (type) {
    case MAT_T_INT8:
    case MAT_T_UINT8:
        return 1;
    case MAT_T_INT16:
    case MAT_T_UINT16:
        return 2;
    case MAT_T_INT32:
    case MAT_T_UINT32:
    case MAT_T_SINGLE:
        return 4;
    case MAT_T_INT64:
    case MAT_T_UINT64:
    case MAT_T_DOUBLE:
        return 8;
    default:
        return 0;
    }
}

static double number_at(const void *data, size_t i, enum matio_types type) {
    switch (type) {
    case MAT_T_INT8:
        return ((const signed char *)data)[i];
    case MAT_T_UINT8:
        return ((const unsigned char *)data)[i];
    case MAT_T_INT16:
        return ((const int16_t *)data)[i];
    case MAT_T_UINT16:
        return ((const uint16_t *)data)[i];
    case MAT_T_INT32:
        return ((const int32_t *)data)[i];
    case MAT_T_UINT32:
        return ((const uint32_t *)data)[i];
    case MAT_T_INT64:
        return (double)((const int64_t *)data)[i];
    case MAT_T_UINT64:
        return (double)((const uint64_t *)data)[i];
    case MAT_T_SINGLE:
        return (double)((const float *)data)[i];
    default:
        return ((const double *)data)[i];
    }
}

static bool send_numbers(const source *s, const void *data, size_t count,
                         enum matio_types type) {
    double piece[4096];
    for (size_t i = 0; i < count;) {
        size_t n = 0;
        for (; n < 4096 && i < count; n++, i++) piece[n] = number_at(data, i, type);
        if (!send_bytes(s, piece, n * sizeof *piece)) return false;
    }
    return true;
}

static bool send_dense(const source *s, const matvar_t *cell) {
    const size_t rows = cell->dims[0], columns = cell->dims[1];
    const size_t width = width_of(cell->data_type);
    const size_t held = width ? cell->nbytes / width : 0;
    const bool empty = rows == 0 || columns == 0;
    if (!empty && (!cell->data || rows > held / columns))
        return send_failure(s, BB_EDATA, "the numbers are cut off");
    return send_record(s, (bb_mat_record){BB_MAT_DENSE, rows, columns, 0}) &&
           (empty || send_numbers(s, cell->data, rows * columns, cell->data_type));
}

static bool send_sparse(const source *s, const matvar_t *cell) {
    const size_t rows = cell->dims[0], columns = cell->dims[1];
    const mat_sparse_t *const m = cell->data;
    const size_t entries = m && m->njc == columns + 1 && m->jc ? m->jc[columns] : 0;
    if (!m || !m->jc || m->njc != columns + 1 || entries > m->nir ||
        entries > m->ndata || width_of(cell->data_type) == 0)
        return send_failure(s, BB_EDATA, "the sparse matrix is damaged");
    return send_record(s, (bb_mat_record){BB_MAT_SPARSE, rows, columns, entries}) &&
           send_bytes(s, m->jc, (columns + 1) * sizeof *m->jc) &&
           send_bytes(s, m->ir, entries * sizeof *m->ir) &&
           send_numbers(s, m->data, entries, cell->data_type);
}

static bool send_cell(const source *s, const char *name, const matvar_t *array,
                      size_t i) {
    const matvar_t *const cell = ((matvar_t **)array->data)[i];
    const bool sparse = cell && cell->class_type == MAT_C_SPARSE;
    if (!cell || cell->class_type == MAT_C_EMPTY)
        return send_record(s, (bb_mat_record){BB_MAT_DENSE, 0, 0, 0});
    if (!sparse && (cell->class_type < MAT_C_DOUBLE || cell->class_type > MAT_C_UINT64))
        return send_failure(s, BB_EDATA, "%s{%zu}: expected a matrix of numbers", name,
                            i + 1);
    if (cell->isComplex)
        return send_failure(
            s, BB_EDATA, "%s{%zu}: expected real numbers, found complex", name, i + 1);
    if (cell->rank != 2 || !cell->dims)
        return send_failure(s, BB_EDATA, "%s{%zu}: expected 2 dimensions, found %d",
                            name, i + 1, cell->rank);
    return sparse ? send_sparse(s, cell) : send_dense(s, cell);
}

/* Why a variable could not be read: it is not there, or it is damaged. */
static void fail_variable(const source *s, mat_t *file, const char *name,
                          const char *option) {
    char all[300] = "";
    size_t count = 0, used = 0;
    char *const *const there = matio.directory(file, &count);
    for (size_t i = 0; there && i < count; i++) {
        if (strcmp(there[i], name) == 0) {
            send_failure(s, BB_EDATA, "the variable \"%s\" is damaged", name);
            return;
        }
        if (used + 80 < sizeof all)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s\"%.60s\"",
                                     i ? ", " : "", there[i]);
    }
    send_failure(s, BB_EDATA, "no variable \"%s\" for %s; the file has %s", name,
                 option, *all ? all : "none");
}

static matvar_t *read_cells(const source *s, mat_t *file, const char *name,
                            const char *option) {
    matvar_t *const array = matio.read(file, name);
    if (!array) {
        fail_variable(s, file, name, option);
        return NULL;
    }
    if (array->class_type != MAT_C_CELL) {
        send_failure(s, BB_EDATA, "\"%s\": expected a cell array, one cell a task",
                     name);
        return NULL;
    }
    return array;
}

static size_t cells_of(const matvar_t *array) {
    return array->data && array->data_size == (int)sizeof(matvar_t *)
               ? array->nbytes / sizeof(matvar_t *)
               : 0;
}

bool bb_mat_load(int pipe) {
    static const char *const names[] = {"Mat_Open", "Mat_GetDir", "Mat_VarRead", NULL};
    static const bb_part part = {"MATLAB files", BB_MATIO_LIBRARY, BB_MATIO_PACKAGE,
                                 names};
    if (!bb_part_load(&part, &matio)) return true;
    return send_failure(&(source){.pipe = pipe}, BB_EIO, "%s", bb_last_error());
}

void bb_mat_child(int pipe, const char *path, const char *x, const char *y) {
    const source s = {pipe, path};
    mat_t *const file = matio.open(path, MAT_ACC_RDONLY);
    if (!file) {
        send_failure(&s, BB_EDATA, "the file is no MATLAB file, or damaged");
        return;
    }
    const matvar_t *const xs = read_cells(&s, file, x, "--features");
    const matvar_t *const ys = xs ? read_cells(&s, file, y, "--target") : NULL;
    if (!ys) return;
    const size_t cells = cells_of(xs);
    if (cells != cells_of(ys)) {
        send_failure(&s, BB_EDATA, "%s has %zu cell%s, but %s has %zu", x, cells,
                     bb_plural((double)cells), y, cells_of(ys));
        return;
    }
    bool going = send_record(&s, (bb_mat_record){BB_MAT_START, cells, 0, 0});
    for (size_t i = 0; going && i < cells; i++)
        going = send_cell(&s, x, xs, i) && send_cell(&s, y, ys, i);
    if (going) send_record(&s, (bb_mat_record){BB_MAT_END, 0, 0, 0});
}
