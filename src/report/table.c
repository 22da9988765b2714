#include "report/table.h"

#include "base/cells.h"
#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bb_status add_text(const char ***list, size_t *room, size_t count, char *text) {
    const bb_status status = bb_grow(list, room, count + 1, sizeof **list, "a table");
    if (!status) (*list)[count] = text;
    return status;
}

static bb_status read_header(bb_table *t, bb_text_cells *c) {
    bool last = false;
    char *cell;
    bb_status status = bb_cells_next(c, &cell, &last);
    while (!status && !last) {
        status = bb_cells_next(c, &cell, &last);
        if (!status) status = add_text(&t->column, &t->column_room, t->columns, cell);
        if (!status) t->columns++;
    }
    return status;
}

static bb_status read_row(bb_table *t, bb_text_cells *c) {
    static const char whole[] = "as many cells as the header has";
    bool last = false;
    char *cell;
    bb_status status = bb_cells_next(c, &cell, &last);
    if (!status) status = add_text(&t->name, &t->name_room, t->rows, cell);
    if (!status)
        status = bb_grow(&t->value, &t->value_room, (t->rows + 1) * t->columns + 1,
                         sizeof *t->value, "a table");
    for (size_t k = 0; k < t->columns && !status; k++) {
        double *value = t->value + t->rows * t->columns + k;
        status = last ? bb_cells_bad(c, whole) : bb_cells_next(c, &cell, &last);
        if (!status && !bb_number_real(cell, value)) *value = NAN;
    }
    if (!status && !last) status = bb_cells_bad(c, whole);
    if (!status) t->rows++;
    return status;
}

bb_status bb_table_read(bb_table *out, const char *path) {
    bb_table t = {0};
    bb_status status = bb_cells_read(path, &t.text);
    if (status) return status;
    bb_text_cells cells = {.path = path, .at = t.text, .line = 1};
    status = read_header(&t, &cells);
    while (!status && *cells.at) status = read_row(&t, &cells);
    if (status)
        bb_table_free(&t);
    else
        *out = t;
    return status;
}

void bb_table_free(bb_table *t) {
    free((void *)t->column);
    free((void *)t->name);
    free(t->value);
    free(t->text);
    *t = (bb_table){0};
}

size_t bb_table_column(const bb_table *t, const char *name) {
    for (size_t k = 0; k < t->columns; k++)
        if (strcmp(t->column[k], name) == 0) return k;
    return SIZE_MAX;
}
