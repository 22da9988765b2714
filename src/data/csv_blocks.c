/* csv_blocks.c - the rows of a CSV file by several threads: what was read of the text is
 * cut at ends of lines, every piece is read on its own, and the rows are put behind each
 * other in order. That lines end where rows do is seen while a piece is read, as long as
 * it is so in those before it. */
#include "base/memory.h"
#include "base/parallel.h"
#include "data/csv_rows.h"
#include "data/scan.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 19, PIECES_OF_A_THREAD = 2 }; /* bytes */

typedef struct piece {
    const char *from;
    size_t length;
    bb_text text; /* a copy of it, with a 0 behind */
    bb_csv rows;
    bb_status status;
} piece;

typedef struct blocks {
    bb_csv *csv;
    bb_engine engine;
    size_t count;
    piece *piece; /* count */
} blocks;

static bb_status open_pieces(blocks *b) {
    const bb_csv *csv = b->csv;
    b->count = PIECES_OF_A_THREAD * b->engine.workers;
    const bb_status status =
        bb_allocate(&b->piece, b->count, sizeof *b->piece, "parts of a file");
    for (size_t k = 0; k < b->count && !status; k++) {
        piece *p = &b->piece[k];
        p->rows = (bb_csv){.text = &p->text,
                           .options = csv->options,
                           .header = csv->header,
                           .columns = csv->columns,
                           .encoding = csv->encoding,
                           .later = true};
        p->rows.cells = (bb_csv_cells){
            .text = &p->text, .separator = csv->cells.separator, .header = csv->header};
        p->rows.builder.features = csv->builder.features;
        p->rows.builder.multilabel = csv->builder.multilabel;
    }
    return status;
}

static void close_pieces(blocks *b) {
    for (size_t k = 0; k < b->count && b->piece; k++) {
        free(b->piece[k].text.buffer);
        bb_builder_free(&b->piece[k].rows.builder);
        bb_csv_cells_close(&b->piece[k].rows.cells);
    }
    free(b->piece);
}

/* Behind the last line that ends before `to`; the whole text where nothing follows. */
static const char *line_end(const bb_text *text, const char *from, const char *to) {
    if (to >= text->end && text->ended) return text->end;
    if (to > text->end) to = text->end;
    while (to > from && to[-1] != '\n') to--;
    return to;
}

/* Cuts what was read; false: too little for several threads. */
static bool cut(const blocks *b) {
    const bb_text *text = b->csv->text;
    const char *from = text->at;
    size_t used = 0;
    for (size_t k = 0; k < b->count; k++) {
        piece *p = &b->piece[k];
        const char *end = line_end(text, from, from + PIECE);
        p->from = from;
        p->length = (size_t)(end - from);
        used += p->length > 0;
        from = end;
    }
    return used > 1;
}

static bb_status copy_text(piece *p, const char *path) {
    bb_text *text = &p->text;
    size_t capacity = text->capacity;
    const bb_status status = bb_grow(&text->buffer, &capacity,
                                     p->length + BB_SCAN_BEHIND, 1, "reading a file");
    if (status) return status;
    *text = (bb_text){.path = path,
                      .buffer = text->buffer,
                      .capacity = capacity,
                      .at = text->buffer,
                      .end = text->buffer + p->length,
                      .ended = true,
                      .line = 1};
    memcpy(text->buffer, p->from, p->length);
    *text->end = '\0';
    return BB_OK;
}

static void read_piece(void *context, size_t item, size_t worker) {
    const blocks *b = context;
    piece *p = &b->piece[item];
    bool ended = p->length == 0;
    (void)worker;
    bb_builder_clear(&p->rows.builder);
    p->rows.dropped = 0;
    p->rows.cells.torn = false;
    p->status = copy_text(p, b->csv->text->path);
    while (!p->status && !ended) {
        p->status = bb_csv_at_end(&p->rows.cells, &ended);
        if (!p->status && !ended) p->status = bb_csv_row(&p->rows);
    }
}

/* Puts the rows behind each other, up to the first piece that cannot stand alone. */
static bb_status join(const blocks *b, bool *clean) {
    bb_csv *csv = b->csv;
    bb_status status = BB_OK;
    for (size_t k = 0; k < b->count && !status; k++) {
        const piece *p = &b->piece[k];
        *clean = !p->status && !p->rows.cells.torn;
        if (!*clean) return BB_OK;
        status =
            bb_builder_append(&csv->builder, &p->rows.builder, csv->text->line - 1);
        csv->dropped += p->rows.dropped;
        csv->text->at += p->length;
        csv->text->line += p->length ? p->text.line - 1 : 0;
    }
    return status;
}

bb_status bb_csv_blocks(bb_csv *csv, size_t threads) {
    blocks b = {.csv = csv, .engine = bb_engine_threads(threads)};
    bool clean = true;
    if (b.engine.workers == 1) return BB_OK;
    bb_status status = open_pieces(&b);
    while (!status && clean) {
        status = bb_text_fill(csv->text, b.count * PIECE);
        if (status || !cut(&b)) break;
        b.engine.each(&b.engine, b.count, read_piece, &b);
        status = join(&b, &clean);
    }
    close_pieces(&b);
    return status;
}
