#include "base/cells.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bb_status bb_cells_read(const char *path, char **out) {
    char *text = NULL;
    size_t capacity = 0, size = 0, got = 0;
    bb_status status = BB_OK;
    FILE *file = fopen(path, "rb");
    if (!file)
        return bb_fail(BB_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    do {
        size += got;
        status = bb_grow(&text, &capacity, size + 4096, 1, path);
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

bb_status bb_cells_bad(const bb_text_cells *c, const char *expected) {
    return bb_fail(BB_EDATA, "%s: line %zu: expected %s", c->path, c->line, expected);
}

bb_status bb_cells_next(bb_text_cells *c, char **cell, bool *last) {
    char *to = c->at, *from = c->at;
    *cell = to;
    c->line += c->line_ended;
    c->line_ended = false;
    if (*from == '"') {
        for (from++; *from && !(from[0] == '"' && from[1] != '"'); from++) {
            from += *from == '"';
            *to++ = *from;
        }
        if (*from++ != '"') return bb_cells_bad(c, "a closing quote");
    } else {
        from += strcspn(from, ",\n");
        to = from;
    }
    if (*from != ',' && *from != '\n' && *from)
        return bb_cells_bad(c, "a comma after a quote");
    *last = *from != ',';
    c->line_ended = *from == '\n';
    c->at = *from ? from + 1 : from;
    *to = '\0';
    return BB_OK;
}
