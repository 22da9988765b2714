/* table.h - reading the reference values of the privacy tests: CSV without quotes. */
#ifndef BB_TESTS_PRIVACY_TABLE_H
#define BB_TESTS_PRIVACY_TABLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_COLUMNS = 16, TABLE_LINE = 1 << 16 };

typedef struct table {
    FILE *file;
    char *line, *name_line;
    char *name[TABLE_COLUMNS], *cell[TABLE_COLUMNS];
    size_t columns, rows;
} table;

static inline size_t table_split(char *line, char **cell) {
    size_t count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    while (count < TABLE_COLUMNS) {
        cell[count++] = line;
        line = strchr(line, ',');
        if (!line) break;
        *line++ = '\0';
    }
    return count;
}

static inline int table_open(table *t, const char *path) {
    *t = (table){.file = fopen(path, "r"),
                 .line = malloc(TABLE_LINE),
                 .name_line = malloc(TABLE_LINE)};
    if (!t->file || !t->line || !t->name_line) return 0;
    if (!fgets(t->name_line, TABLE_LINE, t->file)) return 0;
    t->columns = table_split(t->name_line, t->name);
    return 1;
}

static inline int table_next(table *t) {
    if (!fgets(t->line, TABLE_LINE, t->file)) return 0;
    t->rows++;
    return table_split(t->line, t->cell) == t->columns;
}

/* Read to its end, with so many rows at least: neither cut short nor malformed. */
static inline int table_complete(const table *t, size_t least) {
    return feof(t->file) && t->rows >= least;
}

static inline const char *table_text(const table *t, const char *name) {
    for (size_t k = 0; k < t->columns; k++)
        if (strcmp(t->name[k], name) == 0) return t->cell[k];
    return "nan";
}

static inline double table_real(const table *t, const char *name) {
    return strtod(table_text(t, name), NULL);
}

/* The numbers of a cell "0.1 0.2 0.3". */
static inline size_t table_list(const table *t, const char *name, double *out,
                                size_t most) {
    const char *at = table_text(t, name);
    size_t count = 0;
    for (char *end; count < most; at = end) {
        const double x = strtod(at, &end);
        if (end == at) break;
        out[count++] = x;
    }
    return count;
}

static inline void table_close(table *t) {
    if (t->file) fclose(t->file);
    free(t->line);
    free(t->name_line);
}

#endif
