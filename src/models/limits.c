#include "models/limits.h"

#include "base/cells.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- the rule -- */

/* The part of the targets' variance that the model leaves. */
static double left_over(size_t n, size_t p, const double *y, const double *fitted) {
    double mean = 0.0, around = 0.0, rest = 0.0;
    if (n <= p + 1) return 1.0;
    for (size_t j = 0; j < n; j++) mean += y[j] / (double)n;
    for (size_t j = 0; j < n; j++) {
        around += (y[j] - mean) * (y[j] - mean);
        rest += (y[j] - fitted[j]) * (y[j] - fitted[j]);
    }
    const double q = (rest / (double)(n - p - 1)) / (around / (double)(n - 1));
    return fmin(1.0, fmax(1e-12, q));
}

static void find_one(size_t n, size_t p, bool own_units, const double *y,
                     const double *fitted, double limit[2]) {
    double low = INFINITY, high = -INFINITY;
    for (size_t j = 0; j < n; j++) {
        low = fmin(low, y[j]);
        high = fmax(high, y[j]);
    }
    const double span = high - low;
    limit[0] = -INFINITY;
    limit[1] = INFINITY;
    if (!(span > 0.0)) return; /* one row, or none, has none */
    const double few = (own_units ? 3.0 : 6.0) / (double)(n - 1);
    const double room = span * (1.0 + few * few) / sqrt(left_over(n, p, y, fitted));
    limit[0] = low - room;
    limit[1] = high + room;
}

void bb_limits_find(const bb_dataset *rows, size_t features, bool own_units,
                    const double *fitted, double *limit) {
    for (size_t i = 0; i < rows->tasks; i++) {
        const size_t first = rows->first[i];
        find_one(rows->first[i + 1] - first, features, own_units, rows->y + first,
                 fitted + first, limit + 2 * i);
    }
}

double bb_limited(const double *limit, size_t i, double z) {
    if (!limit || !isfinite(z)) return z;
    if (z < limit[2 * i]) return limit[2 * i];
    return z > limit[2 * i + 1] ? limit[2 * i + 1] : z;
}

/* -- the file -- */

static const char header[] = "task,low,high\n";

static void write_line(const bb_models *m, size_t i, FILE *stream) {
    bb_write_field(stream, m->task_name[i]);
    for (size_t side = 0; side < 2; side++) {
        const double value = m->limit[2 * i + side];
        char text[1 + BB_NUMBER_BYTES] = ",";
        const size_t size = isfinite(value) ? bb_number_write(value, text + 1) : 0;
        fwrite(text, 1, 1 + size, stream);
    }
    putc('\n', stream);
}

bb_status bb_limits_write(const bb_models *models, const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return bb_fail(BB_ENOMEM, "no memory for " BB_LIMITS_FILE);
    fputs(header, stream);
    for (size_t i = 0; i < models->tasks; i++) write_line(models, i, stream);
    const bool whole = !ferror(stream);
    bb_status status = BB_OK;
    if (fclose(stream) || !whole)
        status = bb_fail(BB_ENOMEM, "no memory for " BB_LIMITS_FILE);
    if (!status) status = bb_file_write(path, text, size);
    free(text);
    return status;
}

static bb_status read_side(bb_text_cells *c, bool *last, double none, double *out) {
    char *cell;
    if (*last) return bb_cells_bad(c, "task, low and high");
    const bb_status status = bb_cells_next(c, &cell, last);
    if (status) return status;
    *out = none;
    return !*cell || bb_number_real(cell, out)
               ? BB_OK
               : bb_cells_bad(c, "a number, or nothing");
}

static bb_status read_line(bb_text_cells *c, const char *task, double limit[2]) {
    bool last = false;
    char *cell = NULL;
    bb_status status = bb_cells_next(c, &cell, &last);
    if (!status && strcmp(cell, task) != 0)
        status = bb_cells_bad(c, "the tasks of models.csv");
    if (!status) status = read_side(c, &last, -INFINITY, &limit[0]);
    if (!status) status = read_side(c, &last, INFINITY, &limit[1]);
    if (!status && !last) status = bb_cells_bad(c, "task, low and high");
    return status;
}

bb_status bb_limits_read(bb_models *models, const char *path) {
    const size_t length = sizeof header - 1;
    char *text = NULL;
    double *limit = NULL;
    bb_status status = bb_cells_read(path, &text);
    if (status) return status;
    bb_text_cells c = {.path = path, .at = text, .line = 1};
    if (strncmp(text, header, length) != 0)
        status = bb_cells_bad(&c, "the header task,low,high");
    if (!status)
        status = bb_allocate(&limit, models->tasks, 2 * sizeof *limit, "the limits");
    c.at += status ? 0 : length;
    c.line++;
    for (size_t i = 0; i < models->tasks && !status; i++)
        status = read_line(&c, models->task_name[i], limit + 2 * i);
    if (!status && *c.at) status = bb_cells_bad(&c, "the tasks of models.csv");
    if (!status) {
        free(models->limit);
        models->limit = limit;
        limit = NULL;
    }
    free(limit);
    free(text);
    return status;
}
